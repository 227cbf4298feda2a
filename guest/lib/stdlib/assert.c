#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void penta_assert_failed(const char *what, const char *file, int line, const char *function)
{
    fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", file, line, function, what);
    abort();
}
