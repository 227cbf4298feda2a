/* The forms of TVMR vectors share these functions, which compare a machine's state and read
 * parts of the JSON. */
#pragma once
#include "conform/trial.h"
#include "tvmr/vm/vm.h"

struct comparing { /* user data of functions that are called for each member */
    struct trial *t;
    struct tvmr_vm *vm;
    size_t members;
};

bool trial_numbers(struct trial *t, const char *what, const struct json_object *list,
                   const int32_t *data, size_t count);
/* Compares a number. If v is NULL, it checks nothing. */
void trial_number(struct trial *t, const struct json_object *v, const char *what, int64_t got);
/* Compares registers, pc and all other state of the machine with "expect". */
void trial_state(struct trial *t, struct tvmr_vm *vm, const struct json_object *expect);

/* tvmr_json.c defines the functions below. */
/* Reads a list of numbers that fit an i32 into a new array, which the caller frees. Returns NULL
 * if it is not such a list. */
int32_t *trial_number_list(const struct json_object *list, size_t *count);
/* Converts the name of a register, such as "C12", to its byte. Returns false if the name is no
 * register. */
bool trial_register(const char *name, uint8_t *reg);
/* Gives the machine the answer {"write": {register: numbers}, "stop": true, "fail": "text"};
 * NULL does nothing. Returns false if the answer is malformed. */
bool trial_answer(struct tvmr_vm *vm, const struct json_object *answer);
