/* Reads and writes whole files, with limits and clear errors. The name "-" has no special
 * meaning here. */
#pragma once
#include "base/error.h"

/* Reads all of a file or stream into *out, which the caller frees. A file of more than `limit`
 * bytes is the error BASE_LIMIT and never takes more memory than that; a folder or a missing
 * file is BASE_IO. */
bool file_read(const char *path, uint64_t limit, penta_buffer *out, penta_error *err);
/* Reads a file whose name comes out of another file, as file_read does. Only a regular file is
 * read, because a pipe or device could block; anything else is BASE_IO. */
bool file_read_regular(const char *path, uint64_t limit, penta_buffer *out, penta_error *err);
/* Reads from an open descriptor, as file_read does. `name` is for messages. */
bool file_read_fd(int fd, const char *name, uint64_t limit, penta_buffer *out, penta_error *err);
/* Writes all of a file or nothing: other processes see the old bytes or the new ones, also after
 * a kill or a power failure. When the function returns, the new bytes are on the disk. A
 * replaced file keeps its mode, its owner where that is permitted, and the symbolic links that
 * lead to it; hard links to it keep the old bytes. Pipes and devices are written to directly. */
bool file_write(const char *path, penta_bytes bytes, penta_error *err);
/* Tells whether file_write would write the same file under both names: names with "./" in them,
 * links, other names of one file. The file need not exist yet. For pipes and devices the answer
 * is no. */
bool file_same_target(const char *a, const char *b);
/* Removes a file; when the function returns, the name is gone from the disk. A missing file is
 * no error. */
bool file_remove(const char *path, penta_error *err);
/* Waits until the folder that `path` lies in, with the names of its files, is on the disk. */
bool file_sync_folder_of(const char *path, penta_error *err);
