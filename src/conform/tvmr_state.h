/* What the forms of TVMR vectors share: comparing the machine's state. */
#pragma once
#include "conform/trial.h"
#include "tvmr/vm/vm.h"

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

/* tvmr_json.c */
/* A list of numbers within i32, into a new array (free it); NULL: it is not one. */
int32_t *trial_number_list(const struct json_object *list, size_t *count);
/* "C12" into its byte; false when it is no register. */
bool trial_register(const char *name, uint8_t *reg);
/* {"write": {register: numbers}, "stop": true, "fail": "text"}, done to the machine; NULL does
 * nothing. False: the answer is malformed. */
bool trial_answer(struct tvmr_vm *vm, const struct json_object *answer);
