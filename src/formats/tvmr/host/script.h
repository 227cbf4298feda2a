/* Inputs and scripted answers from JSON files (TVMR 19). */
#pragma once
#include "tvmr/vm/vm.h"

/* One more run with this input. */
bool tvmr_script_add_input(struct tvmr_vm *vm, const int32_t *data, size_t count);
/* A JSON array of arrays: one run for each. */
bool tvmr_script_inputs(struct tvmr_vm *vm, const char *path, penta_error *err);

/* A JSON array of answers, in the order of the domain operations. */
struct tvmr_script;
struct tvmr_script *tvmr_script_open(const char *path, penta_error *err);
void tvmr_script_close(struct tvmr_script *script);
struct json_object;
/* Registers as one answer says: H replaced, C by value, P the number; also stop and fail. False:
 * the answer is malformed. NULL is an answer that does nothing. */
bool tvmr_script_apply(struct tvmr_vm *vm, const struct json_object *answer);
/* The next one; beyond the last it does nothing. */
bool tvmr_script_answer(struct tvmr_script *script, struct tvmr_vm *vm);
/* A list of numbers within i32, into a new array (free it); NULL: it is not one. */
int32_t *tvmr_script_numbers(const struct json_object *list, size_t *count);
/* "C12" into its byte; false when it is no register. */
bool tvmr_script_register(const char *name, uint8_t *reg);
