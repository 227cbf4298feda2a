/* Declares a comparison of interpreter and compiler on one random program. */
#pragma once
#include "pvm_programs.h"
#include <stdio.h>

struct tally { /* The counts of all trials so far. */
    uint64_t programs, machines, stops[16];
    uint64_t compiled[PVM_ISAS][PVM_OPS], executed[PVM_ISAS][PVM_OPS];
    uint64_t patterns[PATTERN_COUNT]; /* how many instructions of each pattern were executed */
    uint64_t traps[4], gas_places;
};

/* Runs a trial. Aborts, after a report, when the engines differ. tally may be NULL. Returns
 * false when this host has no compiler. */
bool trial_run(struct choices *c, struct tally *tally);
extern struct program trial_program; /* the program of the last trial */
/* Prints what was covered. Returns the number of instructions that were never compiled and
 * executed. */
unsigned tally_print(const struct tally *tally, FILE *out);
/* Reports a difference and ends the process. The program that links this file defines it. */
void trial_failed(const char *what, const struct program *program);
