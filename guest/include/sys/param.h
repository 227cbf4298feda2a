#pragma once
#include <limits.h>
#include <sys/types.h>
#define MAXPATHLEN PATH_MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
