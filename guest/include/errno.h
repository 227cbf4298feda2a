#pragma once
#ifdef __cplusplus
extern "C" {
#endif
extern int errno;
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define EMFILE 24
#define ENOSPC 28
#define EDOM 33
#define ERANGE 34
#define ENAMETOOLONG 36
#define EILSEQ 84
#ifdef __cplusplus
}
#endif
