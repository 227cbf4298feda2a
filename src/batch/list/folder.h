/* Declares a walk over all files in a folder and the folders below it, in the order of the bytes
 * of their names. */
#pragma once
#include "base/error.h"

struct folder_walk;
struct folder_walk *folder_open(const char *path, penta_error *err);
void folder_close(struct folder_walk *w);
/* Returns which part of the walk is done, from 0 to 1. It counts all entries of a folder as
 * equally large. */
double folder_part(const struct folder_walk *w);
/* Gives the path of the next file, which is borrowed until the next call. For a folder that
 * cannot be read, a loop of links, or a link to nothing, *problem gets an error instead. Returns
 * false at the end, or with *err when memory ran out. */
bool folder_next(struct folder_walk *w, const char **path, penta_error *problem, penta_error *err);
