/* One instruction to bytes: what decode.c reads, in the shortest form. */
#pragma once
#include "pvm/format/decode.h"

enum { PVM_INSN_BYTES = 32 };

/* Writes the instruction as it is at in->pc and returns its size, 0 if the ISA does not have it.
 * length 0 asks for the shortest form. For another length the last immediate is stored wider and
 * zeros fill the rest (in doc programs there is no such filling); the size is 0 if the instruction
 * cannot have that length. */
unsigned pvm_insn_write(enum pvm_isa isa, bool doc, const struct pvm_insn *in, unsigned length,
                        uint8_t out[PVM_INSN_BYTES]);
