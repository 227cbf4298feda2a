/* Whole files in and out, with limits and clear errors. "-" is not special here. */
#pragma once
#include "base/error.h"

/* Reads all of a file or stream into *out (free it). More than limit bytes: BASE_LIMIT, and never
 * more memory than that. A directory or a missing file: BASE_IO. */
bool file_read(const char *path, uint64_t limit, penta_buffer *out, penta_error *err);
/* The same from an open descriptor; name is for messages. */
bool file_read_fd(int fd, const char *name, uint64_t limit, penta_buffer *out, penta_error *err);
/* To a temporary name beside it, synced to disk, then renamed: all or nothing. */
bool file_write(const char *path, penta_bytes bytes, penta_error *err);
