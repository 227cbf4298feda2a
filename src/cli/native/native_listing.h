/* Declares listings of guest instructions with the machine code that they became. */
#pragma once
#include "base/json/json_write.h"
#include "penta/pvm.h"

/* Prints all instructions that start in from .. to, as text or, when json is not NULL, as a list
 * `instructions`. */
void native_listing(struct writer *out, struct json *json, const penta_module *module,
                    const penta_pvm_compiled *compiled, uint32_t from, uint32_t to);
/* Prints what differs in a machine of engine "both" whose engines disagree, and the block with
 * its native code. Prints nothing for any other machine. */
void native_listing_difference(const penta_vm *vm, struct writer *out, struct json *json);
