/* Scripted answers to domain operations (TVMR 19.1). */
#pragma once
#include "tvmr/vm/vm.h"

struct tvmr_script;
struct tvmr_script *tvmr_script_open(const char *path, penta_error *err);
void tvmr_script_close(struct tvmr_script *script);
/* Answers the operation that waits; beyond the last answer it does nothing. False: no memory. */
bool tvmr_script_answer(struct tvmr_script *script, struct tvmr_vm *vm);
/* A register as an answer says: H replaced, C by value, P the number, S a shape. */
bool tvmr_script_write(struct tvmr_vm *vm, uint8_t reg, const int32_t *data, size_t count);
