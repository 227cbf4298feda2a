/* What the forms of TVMR vectors share: one case under way, and the state it is compared with. */
#pragma once
#include "conform/conform.h"
#include "tvmr/host/script.h"

struct trial { /* one case under way */
    struct conform *c;
    const char *name;
    bool judged;
};

/* The verdict "failed", once; false, so that a caller fails in one line. */
bool trial_fail(struct trial *t, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void trial_settle(struct trial *t); /* passed, unless it failed */

struct comparing { /* for walks over members */
    struct trial *t;
    struct tvmr_vm *vm;
    size_t members;
};

bool trial_numbers(struct trial *t, const char *what, const struct json_object *list,
                   const int32_t *data, size_t count);
/* Nothing when the vector does not say. */
void trial_number(struct trial *t, const struct json_object *v, const char *what, int64_t got);
/* Registers, pc and the rest of the machine against "expect". */
void trial_state(struct trial *t, struct tvmr_vm *vm, const struct json_object *expect);
