/* Which instructions a listing of a part of the code has, for its form as text (code.c) and as JSON (instructions.c). */
#pragma once
#include "core/driver.h"
#include "core/views/selection.h"

struct arrow_text;
struct listing_parts {
    penta_part *items; /* the parts, in the order of their pcs */
    size_t count, capacity;
};

struct source_text; /* defined in penta/source_text.h */

struct listing {
    const penta_module *module;
    struct listing_parts code, functions; /* functions: labels, too */
    uint64_t from, to;                    /* the wanted pcs, both included */
    const char *select;                   /* the selector of instructions, or NULL for all */
    struct selection selection;           /* their bytes */
    struct arrow_text *arrows;            /* NULL without arrows */
    struct source_text *source;           /* NULL without source lines */
    struct writer out;
    penta_error *err;
};

/* Chooses by the options function, range and select. listing_close follows also when it is false. */
bool listing_open(struct listing *l, const penta_module *module, const penta_option *options,
                  size_t count, penta_error *err);
void listing_close(struct listing *l);
/* Whether the instruction at pc, before the one at `next`, is wanted. */
bool listing_has(const struct listing *l, uint64_t pc, uint64_t next);
/* Fails when options have asked for instructions and there were no rows. */
bool listing_complete(const struct listing *l, size_t rows, const penta_option *options,
                      size_t count);
/* The pc after an instruction, or UINT64_MAX when the code ends there. */
uint64_t listing_next(const penta_module *module, uint64_t pc);
