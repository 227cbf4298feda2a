/* Counts the checks of CHECK and prints failures (check.h). */
#include "check.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRINTED_MAX = 100, SKIPPED = 77 };

const char *check_note;
static atomic_ulong passed, failed;

bool check_one(bool holds, const char *file, int line, const char *text, const char *format, ...)
{
    va_list args;
    if (holds) {
        passed++;
        return true;
    }
    if (failed++ >= PRINTED_MAX) return false;
    bool note = check_note && *check_note;
    flockfile(stdout);
    printf("FAIL %s:%d:", file, line);
    va_start(args, format);
    format[1] ? vprintf(format, args) : printf(" %s", text);
    va_end(args);
    printf(note ? " (%s)\n" : "%s\n", note ? check_note : "");
    funlockfile(stdout);
    return false;
}

unsigned long checks_failed(void) { return atomic_load(&failed); }

int checks_end(void)
{
    printf("%lu passed, %lu failed\n", atomic_load(&passed), atomic_load(&failed));
    return failed || !passed;
}

void checks_exit(void) { exit(checks_end()); }

void checks_skip(const char *why)
{
    printf("skipped: %s\n", why);
    exit(SKIPPED);
}
