/* Stands in for files.c where the system has no such folders. There a program has no files, only
 * its standard input and output. */
#include "pvm/host/files.h"
#include <errno.h>

int pvm_file_error(int host_errno) { return (void)host_errno, -PVM_EIO; }

int pvm_folder_open(const char *path)
{
    (void)path;
    errno = ENOTSUP;
    return -1;
}

int pvm_file_open(int root, penta_bytes path, unsigned flags)
{
    (void)root, (void)path, (void)flags;
    return -PVM_EACCES;
}

int pvm_file_remove(int root, penta_bytes path) { return (void)root, (void)path, -PVM_EACCES; }

int pvm_file_rename(int root, penta_bytes from, penta_bytes to)
{
    (void)root, (void)from, (void)to;
    return -PVM_EACCES;
}
