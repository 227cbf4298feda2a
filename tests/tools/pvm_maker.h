/* Shared by pvm_programs.c and pvm_patterns.c, which write a random program slot by slot. */
#pragma once
#include "pvm_programs.h"

struct maker {
    struct choices *c;
    struct program *p;
    unsigned left;  /* slots that may still be written */
    unsigned avoid; /* registers that must keep their values, a bit each */
};

enum { PATTERN_SLOTS = 24 }; /* slots that the longest pattern needs */

static inline bool has(const struct program *p, uint8_t op)
{
    return pvm_ops[op].number[p->isa] >= 0;
}
static inline unsigned any_register(struct choices *c) { return (unsigned)below(c, PVM_REGISTERS); }

/* pvm_programs.c */
unsigned maker_destination(struct maker *m); /* a register that may be written */
struct slot *maker_add(struct maker *m, uint8_t op, enum pattern pattern);
void maker_any(struct maker *m, bool inside_block);

/* pvm_patterns.c */
void maker_pattern(struct maker *m);
