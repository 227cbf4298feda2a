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
#include "pvm/text/forms.h"
#include "pvm/pvm.h"
#include "text/labels.h"

enum pvm_item_kind { PVM_ITEM_INSN, PVM_ITEM_RAW, PVM_ITEM_HOLE };

struct pvm_item {
    struct pvm_insn in;
    enum pvm_item_kind kind;
    uint32_t size; /* INSN: the bytes asked for, 0 for the shortest form; RAW, HOLE: its bytes */
    size_t raw;    /* RAW, HOLE: where the bytes are in pvm_assembly.raw */
    int64_t label; /* the label of the target; -1: none */
    /* 1 + the index in pvm_assembly.taken of the label whose address it loads; 0: it loads none. */
    size_t entry;
    uint64_t offset; /* an offset in the source */
};

struct pvm_reference { /* an offset in the code, by label or by number */
    int64_t label;     /* -1: value is the offset */
    uint64_t value;
    uint64_t offset;
};

struct pvm_hex { /* a part that is given as hex */
    struct writer bytes;
    bool given;
};

struct pvm_assembly {
    struct source *s;
    struct findings *findings;
    /* A value is the index of the item after the label; the arena in it holds the names. */
    struct labels labels;
    struct pvm_program program;
    bool isa_given, isa_missed, sizes_given[3], fields_given;
    struct pvm_item *items;
    size_t count, capacity;
    struct writer raw;
    /* The entries of %jump_table; the labels whose address is taken. */
    struct pvm_reference *table, *taken;
    size_t table_count, table_capacity, taken_count, taken_capacity;
    struct pvm_import *imports;
    size_t import_capacity;
    bool *import_given; /* whether %import gave a pc */
    size_t import_given_capacity;
    struct pvm_export *exports;
    struct pvm_reference *export_places;
    size_t export_capacity, export_place_capacity;
    struct pvm_section *sections;
    size_t section_capacity;
    struct pvm_varint *varints;
    size_t varint_capacity;
    bool entry_size_given, table_count_given;
    bool blocks_only; /* doc: labels set no bits of the bitmask */
    uint8_t entry_size;
    uint32_t table_count_wanted;
    struct pvm_hex ro_data, rw_data, metadata, strings, lines, ranges, trailing, mask, file;
    struct writer code, code_mask, code_table;
    const struct pvm_code *given; /* NULL, or a program whose bytes and bitmask are the code */
};

/* Assembles text without instructions around code that exists already. In this way the
 * disassembler checks everything that it prints besides the instructions. */
bool pvm_assemble_around(struct source *s, const struct pvm_code *code, struct writer *out,
                         penta_error *err);

/* Reads a label or a number. */
bool pvm_reference_read(struct pvm_assembly *a, struct pvm_reference *out);
/* directives.c: reads a line after its '%'. */
bool pvm_directive(struct pvm_assembly *a);
bool pvm_add_export(struct pvm_assembly *a, penta_bytes name, struct pvm_reference place);
bool pvm_add_item(struct pvm_assembly *a, struct pvm_item item);
/* assign_offsets.c: gives items their lengths and offsets, and then makes the code, the bitmask
 * and the jump table. */
bool pvm_place_code(struct pvm_assembly *a, penta_error *err);
void pvm_assembly_free(struct pvm_assembly *a);
/* Finds the offset in the code that a reference means. Call it when offsets are assigned. */
bool pvm_reference_pc(const struct pvm_assembly *a, const struct pvm_reference *r, uint64_t *pc,
                      penta_error *err);
