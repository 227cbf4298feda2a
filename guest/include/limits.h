/* Defines the compiler's limits and those of POSIX. */
#pragma once
#include_next <limits.h>
#define PATH_MAX 4096
#define NAME_MAX 255
#define OPEN_MAX 64
#define IOV_MAX 1024
#define SSIZE_MAX LONG_MAX
#ifndef MB_LEN_MAX
#define MB_LEN_MAX 4
#endif
