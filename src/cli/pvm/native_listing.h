/* Guest instructions with the machine code they became. */
#pragma once
#include "base/json/json_write.h"

struct pvm_native;

struct native_listing {
    struct writer *out;
    struct json *json; /* a list of items is written here instead; or NULL */
    const penta_module *module;
    const struct pvm_native *native;
};

/* The instruction at this code offset. */
void native_listing_instruction(struct native_listing *l, uint32_t pc);
/* All that start in from .. to. */
void native_listing_range(struct native_listing *l, uint32_t from, uint32_t to);
/* A machine of engine "both" whose engines disagree: what differs, and the block with its native
 * code. Nothing for any other machine. */
void native_listing_difference(const penta_vm *vm, struct writer *out, struct json *json);
