/* All files in a folder and the folders below it, in the order of the bytes of their names. */
#pragma once
#include "base/error.h"

struct folder_walk;
struct folder_walk *folder_open(const char *path, penta_error *err);
void folder_close(struct folder_walk *w);
/* Which part of the walk is done, 0 to 1, if all folders of one folder were alike. */
double folder_part(const struct folder_walk *w);
/* Gives the path of the next file, borrowed until the next call. *problem is set instead, code
 * not 0, for a folder that cannot be read, a loop of links, or a link that leads nowhere. False
 * at the end, or when memory ran out: then *err says so. */
bool folder_next(struct folder_walk *w, const char **path, penta_error *problem, penta_error *err);
