/* What the forms of TVMR vectors share: the comparison of a machine's state. */
#pragma once
#include "conform/trial.h"
#include "tvmr/vm/vm.h"

struct comparing { /* the user data of walks over members */
    struct trial *t;
    struct tvmr_vm *vm;
    size_t members;
};

bool trial_numbers(struct trial *t, const char *what, const struct json_object *list,
                   const int32_t *data, size_t count);
/* Compares a number. Checks nothing when v is NULL. */
void trial_number(struct trial *t, const struct json_object *v, const char *what, int64_t got);
/* Compares registers, pc and all other state of the machine with "expect". */
void trial_state(struct trial *t, struct tvmr_vm *vm, const struct json_object *expect);

/* tvmr_json.c */
/* Reads a list of numbers within i32 into a new array, which the caller frees. NULL when it is no such list. */
int32_t *trial_number_list(const struct json_object *list, size_t *count);
/* Reads a register such as "C12" as its byte. False when the name is no register. */
bool trial_register(const char *name, uint8_t *reg);
/* Gives the machine the answer {"write": {register: numbers}, "stop": true, "fail": "text"}; NULL does nothing.
 * False when the answer is malformed. */
bool trial_answer(struct tvmr_vm *vm, const struct json_object *answer);
