/* Interpreter against compiler, on one random program. */
#pragma once
#include "pvm_programs.h"
#include <stdio.h>

struct tally { /* of all trials so far */
    uint64_t programs, machines, stops[16];
    uint64_t compiled[PVM_ISAS][PVM_OPS], executed[PVM_ISAS][PVM_OPS];
    uint64_t patterns[PATTERN_COUNT]; /* instructions of them that were executed */
    uint64_t traps[4], gas_places;
};

/* Aborts, after a report, when the engines differ. tally may be NULL. False: this host has no
 * compiler. */
bool trial_run(struct choices *c, struct tally *tally);
extern struct program trial_program; /* the last one */
/* What was covered; the number of instructions that were not compiled and executed. */
unsigned tally_print(const struct tally *tally, FILE *out);
/* Defined by the program that links this: reports a difference and ends. */
void trial_failed(const char *what, const struct program *program);
