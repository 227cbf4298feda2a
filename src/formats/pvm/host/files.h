/* The files of a program. All of them are below one folder, which no path can leave. Errors are
 * negative numbers. They are part of the console's interface, so they are the same on every host. */
#pragma once
#include "penta/penta.h"

/* The flags of pvm_file_open. */
enum pvm_file_flag {
    PVM_FILE_READ = 1,
    PVM_FILE_WRITE = 2,
    PVM_FILE_CREATE = 4,
    PVM_FILE_TRUNCATE = 8,
    PVM_FILE_APPEND = 16,
    PVM_FILE_EXCLUSIVE = 32, /* with CREATE: the file must not exist yet */
    PVM_FILE_FLAGS = 63,
};

/* clang-format off */
enum pvm_file_error { /* a program gets these numbers negated */
    PVM_ENOENT = 2, PVM_EINTR = 4, PVM_EIO = 5, PVM_EBADF = 9, PVM_EACCES = 13, PVM_EFAULT = 14,
    PVM_EEXIST = 17, PVM_ENOTDIR = 20, PVM_EISDIR = 21, PVM_EINVAL = 22, PVM_EMFILE = 24,
    PVM_ENOSPC = 28, PVM_ENAMETOOLONG = 36,
};
/* clang-format on */

/* Returns the negative number that a program gets for this errno of the host. */
int pvm_file_error(int host_errno);
/* Returns a descriptor, the `root` below; -1: errno says why. */
int pvm_folder_open(const char *path);
/* root is a descriptor of the program's folder, or -1 when the program has none; then every call
 * is refused. A path is relative to root, whether it starts with '/' or not. "..", symbolic
 * links and everything that is not a regular file are refused. */
/* Opens a file. Returns a descriptor or an error. */
int pvm_file_open(int root, penta_bytes path, unsigned flags);
int pvm_file_remove(int root, penta_bytes path); /* returns 0 or an error */
int pvm_file_rename(int root, penta_bytes from, penta_bytes to);
