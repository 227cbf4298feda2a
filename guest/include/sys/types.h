#pragma once
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef __PTRDIFF_TYPE__ ssize_t;
typedef long long off_t;
typedef unsigned mode_t;
typedef int pid_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned id_t;
typedef unsigned long long dev_t;
typedef unsigned long long ino_t;
typedef unsigned nlink_t;
typedef long blksize_t;
typedef long long blkcnt_t;
typedef unsigned useconds_t;
typedef long suseconds_t;
typedef int clockid_t;
typedef long long time_t;
typedef long long clock_t;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
#ifdef __cplusplus
}
#endif
