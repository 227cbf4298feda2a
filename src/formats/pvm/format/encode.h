/* Writes one instruction as bytes that decode.c can read, in the shortest form. */
#pragma once
#include "pvm/format/decode.h"

enum { PVM_INSN_BYTES = 32 };

/* Writes the instruction as it is at in->pc. Returns its size, or 0 when the ISA does not have
 * the instruction. A length of 0 asks for the shortest form. For another length the last
 * immediate is stored in more bytes, and zeros fill the rest (doc programs have no such
 * filling). The function returns 0, too, when the instruction cannot have this length. */
unsigned pvm_insn_write(enum pvm_isa isa, bool doc, const struct pvm_insn *in, unsigned length,
                        uint8_t out[PVM_INSN_BYTES]);
