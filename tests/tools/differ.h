/* What pvm_differ and coil_differ share: they run random programs on the interpreter and the compiler, and compare.
 *
 *     NAME [--seconds N] [--seed S] [--first N] [--count N] [FLAG]
 *
 * Program number n of a seed is always the same: what failed is run again by --seed S --first N --count 1. Exit status
 * 0: no difference; 1: a difference, or a program hangs; 2: a wrong option; 77: no compiler for this host. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct differ {
    const char *name, *flag;
    /* One program. False: this host has no compiler. It calls differ_failed() when the engines differ. */
    bool (*trial)(uint64_t seed, uint64_t number, bool flag);
    void (*show)(void); /* prints the program that hangs; or NULL */
};

/* Runs programs, a minute long unless the options say how many; returns an exit status, *flag whether FLAG was given. */
int differ_run(const struct differ *d, int argc, char **argv, bool *flag);

/* Says what is wrong with the program that runs, and how to run it again, and ends the process. */
_Noreturn void differ_failed(const char *what);
