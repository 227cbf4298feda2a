/* Declares what pvm_programs.c and pvm_patterns.c share, which write a random program slot by
 * slot. */
#pragma once
#include "pvm_programs.h"

struct maker {
    struct choices *c;
    struct program *p;
    unsigned left;  /* number of slots that may still be written */
    unsigned avoid; /* registers that must keep their values, with a bit for each */
};

enum { PATTERN_SLOTS = 24 }; /* number of slots that the longest pattern needs */

static inline bool program_has(const struct program *p, uint8_t op)
{
    return pvm_ops[op].number[p->isa] >= 0;
}
static inline unsigned any_register(struct choices *c)
{
    return (unsigned)choices_below(c, PVM_REGISTERS);
}

/* pvm_programs.c defines what this block declares. */
unsigned maker_destination(struct maker *m); /* Returns a register that may be written. */
struct slot *maker_add(struct maker *m, uint8_t op, enum pattern pattern);
void maker_any(struct maker *m, bool inside_block);

/* pvm_patterns.c defines what this block declares. */
void maker_pattern(struct maker *m);
