/* What the forms of TVMR vectors share: the case being run, and comparing the machine's state. */
#pragma once
#include "conform/conform.h"
#include "tvmr/host/script.h"

struct trial { /* the case being run */
    struct conform *c;
    const char *name;
    bool judged;
};

/* Fails the case, once; returns false, so that a caller fails in one line. */
bool trial_fail(struct trial *t, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void trial_settle(struct trial *t); /* passes the case unless it failed */

struct comparing { /* for walks over members */
    struct trial *t;
    struct tvmr_vm *vm;
    size_t members;
};

bool trial_numbers(struct trial *t, const char *what, const struct json_object *list,
                   const int32_t *data, size_t count);
/* Checks nothing when v is NULL. */
void trial_number(struct trial *t, const struct json_object *v, const char *what, int64_t got);
/* Registers, pc and the rest of the machine against "expect". */
void trial_state(struct trial *t, struct tvmr_vm *vm, const struct json_object *expect);
