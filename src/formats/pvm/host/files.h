/* Files of a program, all of them below one folder: no name leads out of it. Errors are negative
 * numbers, the same on every host; they are part of the console's interface. */
#pragma once
#include "penta/penta.h"

/* of an open */
enum pvm_file_flag {
    PVM_FILE_READ = 1,
    PVM_FILE_WRITE = 2,
    PVM_FILE_CREATE = 4,
    PVM_FILE_TRUNCATE = 8,
    PVM_FILE_APPEND = 16,
    PVM_FILE_EXCLUSIVE = 32, /* with CREATE: it must not exist */
    PVM_FILE_FLAGS = 63,
};

/* clang-format off */
enum pvm_file_error { /* what a program gets, negated */
    PVM_ENOENT = 2, PVM_EINTR = 4, PVM_EIO = 5, PVM_EBADF = 9, PVM_EACCES = 13, PVM_EFAULT = 14,
    PVM_EEXIST = 17, PVM_ENOTDIR = 20, PVM_EISDIR = 21, PVM_EINVAL = 22, PVM_EMFILE = 24,
    PVM_ENOSPC = 28, PVM_ENAMETOOLONG = 36,
};
/* clang-format on */

/* What the host's errno is to a program; negative. */
int pvm_file_error(int host_errno);
/* root is a descriptor of the folder, or -1 for none: then nothing is permitted. A path is relative
 * to it, whether it starts with '/' or not; "..", symbolic links and what is no regular file are
 * refused. */
int pvm_file_open(int root, penta_bytes path, unsigned flags); /* a descriptor, or an error */
int pvm_file_remove(int root, penta_bytes path);               /* 0, or an error */
int pvm_file_rename(int root, penta_bytes from, penta_bytes to);
