/* Gives a program its files and folders: the paths that it has, what lies there, its
 * descriptors, and how much it may store. Errors are negative numbers. They are part of the
 * console's interface, so they are the same on every host. */
#pragma once
#include "penta/penta.h"

/* These are the flags of pvm_files_open. */
enum pvm_file_flag {
    PVM_FILE_READ = 1,
    PVM_FILE_WRITE = 2,
    PVM_FILE_CREATE = 4,
    PVM_FILE_TRUNCATE = 8,
    PVM_FILE_APPEND = 16,
    PVM_FILE_EXCLUSIVE = 32, /* With PVM_FILE_CREATE, the file must not exist yet. */
    /* A folder is opened for its entries; no other flag goes with this one. */
    PVM_FILE_FOLDER = 64,
};

/* clang-format off */
enum pvm_file_error { /* A program gets these numbers negated. */
    PVM_ENOENT = 2, PVM_EINTR = 4, PVM_EIO = 5, PVM_EBADF = 9, PVM_ENOMEM = 12, PVM_EACCES = 13,
    PVM_EFAULT = 14, PVM_EBUSY = 16, PVM_EEXIST = 17, PVM_EXDEV = 18, PVM_ENOTDIR = 20,
    PVM_EISDIR = 21, PVM_EINVAL = 22, PVM_EMFILE = 24, PVM_ENOSPC = 28, PVM_ESPIPE = 29,
    PVM_EROFS = 30, PVM_ENAMETOOLONG = 36, PVM_ENOTEMPTY = 39,
};
/* clang-format on */

enum { PVM_MODE_FOLDER = 0040000, PVM_MODE_FILE = 0100000, PVM_MODE_PIPE = 0010000 };

struct pvm_file_stat {
    uint64_t number;   /* the number of the file, which stays the same as long as the run lasts */
    uint64_t size;     /* the size in bytes */
    uint64_t modified; /* when the file was changed, in nanoseconds since 1970 */
    uint32_t mode;     /* kind and rights, in the bits of POSIX */
    /* `folder` is the index of the folder that has the file: 0 is the first that was given. */
    uint32_t folder;
};
enum { PVM_STAT_BYTES = 32, PVM_ENTRY_BYTES = 10 };

struct pvm_files;
/* Opens the folders that the options 'files' name; without such options, every path is refused.
 * Returns NULL with an error when that fails. */
struct pvm_files *pvm_files_new(const penta_option *options, size_t count, penta_error *err);
void pvm_files_free(struct pvm_files *f); /* f may be NULL. */

/* Opens a file and returns a descriptor or an error. A path starts at the root, with or without
 * '/'. "." and ".." are taken out of its text. */
int64_t pvm_files_open(struct pvm_files *f, penta_bytes path, unsigned flags);
int64_t pvm_files_close(struct pvm_files *f, int64_t fd);
int64_t pvm_files_read(struct pvm_files *f, int64_t fd, uint8_t *to, size_t size);
int64_t pvm_files_write(struct pvm_files *f, int64_t fd, penta_bytes bytes);
/* Moves the position. `whence` says from where: 0 from the start, 1 from the position, 2 from
 * the end. */
int64_t pvm_files_seek(struct pvm_files *f, int64_t fd, int64_t offset, uint64_t whence);
int64_t pvm_files_truncate(struct pvm_files *f, int64_t fd, uint64_t size);
int64_t pvm_files_sync(struct pvm_files *f, int64_t fd);
int64_t pvm_files_stat(struct pvm_files *f, penta_bytes path, struct pvm_file_stat *out);
int64_t pvm_files_fstat(struct pvm_files *f, int64_t fd, struct pvm_file_stat *out);
/* Stores as many whole entries as fit, each {u64 number, u8 kind as in POSIX, u8 size of the
 * name, name}. */
int64_t pvm_files_entries(struct pvm_files *f, int64_t fd, uint8_t *to, size_t size);
int64_t pvm_files_remove(struct pvm_files *f, penta_bytes path, bool folder);
int64_t pvm_files_make_folder(struct pvm_files *f, penta_bytes path);
int64_t pvm_files_rename(struct pvm_files *f, penta_bytes from, penta_bytes to);

/* The declarations below are for the world outside of the program. */

struct json;
/* The state of these functions is a struct pvm_files. */
extern const struct host_files pvm_host_files;
