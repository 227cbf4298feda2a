/* Which values the arguments of host calls may have: what can be said of a program without running it. */
#pragma once
#include "base/long_work.h"
#include "cvbc/cvbc.h"

/* The numbers from low to high; of those below 64 only the ones whose bits are set. */
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
    struct cvbc_range args[CVBC_CALL_ARGS]; /* the lowest of the words that it pops come first */
};
struct cvbc_calls {
    struct cvbc_call *list; /* ascending; the caller frees it */
    size_t count;
};
/* Finds the calls. Where the stack cannot be followed, arguments are any number. The result is what the program does as
 * long as its functions return where they were called. False: no memory, or the work was ended. */
bool cvbc_calls_find(const struct cvbc_program *p, struct long_work *work, struct cvbc_calls *out);
