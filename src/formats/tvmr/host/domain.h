/* A small world for programs to live in: what each domain operation means to the default host. */
#pragma once
#include "tvmr/vm/vm.h"

struct tvmr_world;
struct tvmr_world *tvmr_world_new(const char *folder, penta_error *err); /* folder may be NULL */
void tvmr_world_free(struct tvmr_world *world);
/* Does what the stop asks; false when this world does not know the operation. */
bool tvmr_world_answer(struct tvmr_world *world, struct tvmr_vm *vm, const penta_stop *stop,
                       struct writer *log);
