/* Declares the queue of inputs for later runs. */
#pragma once
#include "tvmr/vm/vm.h"

/* Adds a run with this input to the queue. */
bool tvmr_inputs_add(struct tvmr_vm *vm, const int32_t *data, size_t count);
/* Adds a run for each row of a file, which is a JSON array of arrays, CSV, NPY or IDX. */
bool tvmr_inputs_read(struct tvmr_vm *vm, const char *path, penta_error *err);

/* inputs_json.c, or inputs_json_plain.c, defines what this block declares. */
bool tvmr_inputs_json(struct tvmr_vm *vm, penta_bytes text, penta_error *err);
