/* Declares what pvm_differ and coil_differ share. They run random programs on the interpreter and
 * the compiler, and compare the results.
 *
 *     NAME [--seconds N] [--seed S] [--first N] [--count N] [FLAG]
 *
 * Program number n of a seed is always the same, so that a failed program is run again by --seed S
 * --first N --count 1. The exit status is 0 without a difference, 1 for a difference or a program
 * that hangs, 2 for a wrong option, and 77 when this host has no compiler. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct differ {
    const char *name, *flag;
    /* Runs one program, and calls differ_failed() when the engines differ. Returns false when
     * this host has no compiler. */
    bool (*trial)(uint64_t seed, uint64_t number, bool flag);
    void (*show)(void); /* prints a program that hangs; may be NULL */
};

/* Runs programs, a minute long unless the options say how many. Returns an exit status. *flag
 * tells whether FLAG was given. */
int differ_run(const struct differ *d, int argc, char **argv, bool *flag);

/* Reports what is wrong with the program that runs, and how to run it again, and ends the
 * process. */
_Noreturn void differ_failed(const char *what);
