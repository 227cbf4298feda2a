/* One instruction to bytes: what decode.c reads, in the shortest form. */
#pragma once
#include "pvm/format/decode.h"

enum { PVM_INSN_BYTES = 32 };

/* The bytes of an instruction at in->pc; their number, 0 when the ISA does not have it. length 0 is
 * the shortest form; with another one the last immediate is stored wider and zeros fill the rest
 * (0 when the instruction is longer than that already). Doc programs have no such filling. */
unsigned pvm_insn_write(enum pvm_isa isa, bool doc, const struct pvm_insn *in, unsigned length,
                        uint8_t out[PVM_INSN_BYTES]);
