/* What the forms of TVMR vectors share: comparing the machine's state. */
#pragma once
#include "conform/trial.h"
#include "tvmr/host/script.h"

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
