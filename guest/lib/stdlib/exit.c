/* Ways to end a program. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "penta_console.h"

enum { FUNCTIONS = 64 };
static struct {
    void (*function)(void *);
    void *argument;
} at_exit[FUNCTIONS];
static unsigned count;

/* C++ registers destructors with this function. */
int __cxa_atexit(void (*function)(void *), void *argument, void *object)
{
    (void)object;
    if (count == FUNCTIONS) return -1;
    at_exit[count].function = function;
    at_exit[count++].argument = argument;
    return 0;
}

static void call_plain(void *function) { ((void (*)(void))function)(); }
int atexit(void (*function)(void)) { return __cxa_atexit(call_plain, (void *)function, NULL); }

void _Exit(int code)
{
    console_exit(code);
    penta_trap();
}
void _exit(int code) { _Exit(code); }

void exit(int code)
{
    while (count) {
        count--;
        at_exit[count].function(at_exit[count].argument);
    }
    fflush(NULL);
    _Exit(code);
}

void abort(void)
{
    fflush(NULL);
    penta_trap();
}

void penta_assert_failed(const char *what, const char *file, int line, const char *function)
{
    fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", file, line, function, what);
    abort();
}
