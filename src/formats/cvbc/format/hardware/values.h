/* Finds which values the arguments of host calls may have, without running the program. */
#pragma once
#include "base/long_work.h"
#include "cvbc/cvbc.h"

/* A range has the numbers from low to high; below 64 it has only those whose bits are set. */
struct cvbc_range {
    int64_t low, high;
    uint64_t bits; /* 0 unless low is at least 0 and high below 64 */
};
static inline bool cvbc_range_small(const struct cvbc_range *r)
{
    return r->low >= 0 && r->high < 64 && r->low <= r->high;
}

enum { CVBC_CALL_ARGS = 2 };
struct cvbc_call { /* an instruction of hardware.def that may be executed */
    uint32_t at;
    struct cvbc_range args[CVBC_CALL_ARGS]; /* the words that it pops, the lowest first */
};
struct cvbc_calls {
    struct cvbc_call *list; /* in ascending order; the caller frees it */
    size_t count;
};
/* Finds the calls. If the stack cannot be followed, arguments may be any number. The result is
 * right as long as the program's functions return to where they were called. Returns false if
 * memory ran out, or the work was ended. */
bool cvbc_calls_find(const struct cvbc_program *p, struct long_work *work, struct cvbc_calls *out);
