/* Whole files in and out, with limits and clear errors. "-" is not special here. */
#pragma once
#include "base/error.h"

/* Reads all of a file or stream into *out (free it). More than limit bytes: BASE_LIMIT, and never
 * more memory than that. A directory or a missing file: BASE_IO. */
bool file_read(const char *path, uint64_t limit, penta_buffer *out, penta_error *err);
/* The same for a name that comes out of a file: only a regular file, never a pipe or device, which
 * could block. Anything else: BASE_IO. */
bool file_read_regular(const char *path, uint64_t limit, penta_buffer *out, penta_error *err);
/* The same from an open descriptor; name is for messages. */
bool file_read_fd(int fd, const char *name, uint64_t limit, penta_buffer *out, penta_error *err);
/* All or nothing: other processes see the old bytes or the new ones, also after a kill or a power
 * failure. When it returns, the new bytes are on the disk. A replaced file keeps its mode, its
 * owner where that is permitted, and the symbolic links that lead to it; hard links to it keep the
 * old bytes. Pipes and devices are written to directly. */
bool file_write(const char *path, penta_bytes bytes, penta_error *err);
/* Whether file_write to the one name and to the other writes the same file, which need not exist yet: names
 * with "./" in them, links and other names of an existing file. False for pipes and devices. */
bool file_same_target(const char *a, const char *b);
/* The file is gone from the disk when it returns. A missing file is no error. */
bool file_remove(const char *path, penta_error *err);
/* Waits until the folder that path lies in is on the disk, with the names of its files. */
bool file_sync_folder_of(const char *path, penta_error *err);
