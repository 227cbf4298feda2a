/* The assembler makes a program from source text (PVM 11). It reads the syntax of PolkaVM's
 * assembler, and directives for what that syntax cannot say:
 *
 *     %isa = latest64                     revive_v1, latest32, latest64, jam_v1
 *     %dialect = jam                      polkavm, doc, jam; without it polkavm
 *     %ro_data_size = 8192                also rw_data_size, stack_size; jam: heap_pages
 *     %ro_data = 00 ff                    hex; += appends; also rw_data, metadata (jam),
 *                                         debug_strings, debug_lines, debug_ranges, trailing
 *     %import "name"                      in order; doc: "name" = PC where it is first used
 *     %export "name" = @label             or a number
 *     %jump_table = @a @b 17              further lines append
 *     pub @f:                             a label that is an export too
 *     @f: %no_fallthrough                 without the fallthrough that a label inserts if needed
 *     a0 = a1 + 7                         all are in forms.def; or by name: add_imm_64 a0, a1, 7
 *     jump @f %size 5                     padded to so many bytes
 *     %insn 83 87 07 00                   an instruction by its bytes
 *     %hole 00 00                         bytes of code where no instruction starts
 *
 * These directives are for files that no writer would make:
 *     %jump_table_entry_size = 3, %jump_table_count = 5, %length = 100, %form = generic (jam),
 *     %fields = exports (doc: the last part present), %bitmask = 01 (doc),
 *     %section 9 = 00 (payload of a section), %varint 3 = 80 05 (bytes of the third number),
 *     %file = .. (everything) */
#pragma once
#include "pvm/code/assembly.h"
#include "pvm/text/forms.h"

/* Assembles text without instructions around code that exists already. In this way the
 * disassembler checks everything that it prints besides the instructions. */
bool pvm_assemble_around(struct source *s, const struct pvm_code *code, struct writer *out,
                         penta_error *err);

/* Reads a label or a number. */
bool pvm_reference_read(struct pvm_assembly *a, struct pvm_reference *out);
/* Reads a line after its '%' (directives.c). */
bool pvm_directive(struct pvm_assembly *a);
bool pvm_add_export(struct pvm_assembly *a, penta_bytes name, struct pvm_reference place);
