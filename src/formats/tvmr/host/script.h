/* Declares scripts that answer domain operations (TVMR 19.1). */
#pragma once
#include "tvmr/vm/vm.h"

struct tvmr_script;
struct tvmr_script *tvmr_script_open(const char *path, penta_error *err);
void tvmr_script_close(struct tvmr_script *script);
/* Answers the domain operation that waits. After the last answer of the script it does nothing.
 * Returns false when memory ran out. */
bool tvmr_script_answer(struct tvmr_script *script, struct tvmr_vm *vm);
/* Writes a register as an answer does. H is replaced, C set by value, P set to the number, S set
 * to a shape. */
bool tvmr_script_write(struct tvmr_vm *vm, uint8_t reg, const int32_t *data, size_t count);
