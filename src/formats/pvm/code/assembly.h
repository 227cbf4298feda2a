/* A struct pvm_assembly is a program that is being made of instructions. Its code is a list of
 * items whose places are not known yet. The assembler makes one from text, the conversion to
 * another dialect from a program. */
#pragma once
#include "pvm/pvm.h"
#include "text/labels.h"

enum pvm_item_kind { PVM_ITEM_INSN, PVM_ITEM_RAW, PVM_ITEM_HOLE };

struct pvm_item {
    struct pvm_insn in;
    enum pvm_item_kind kind;
    /* INSN: the size that the text asks for, 0 for the shortest form; RAW, HOLE: how many bytes
     * it has */
    uint32_t size;
    size_t raw;    /* RAW, HOLE: the offset of the bytes in pvm_assembly.raw */
    int64_t label; /* the index of the label that is the target, or -1 when there is none */
    /* This is 1 + the index in pvm_assembly.taken of the label whose address the instruction
     * loads, or 0 when it loads none. */
    size_t entry;
    uint64_t offset; /* the offset of the item in the source */
};

struct pvm_reference { /* A reference is an offset in the code, by label or by number. */
    int64_t label;     /* the index of a label, or -1 when `value` is the offset */
    uint64_t value;
    uint64_t offset;
};

struct pvm_hex { /* A struct pvm_hex is a part of the program that is given as hex. */
    struct writer bytes;
    bool given;
};

struct pvm_assembly {
    struct source *s;
    struct findings *findings;
    /* The value of a label is the index of the item after it. The arena in `labels` holds the
     * names. */
    struct labels labels;
    struct pvm_program program;
    bool isa_given, isa_missed, sizes_given[3], fields_given;
    struct pvm_item *items;
    size_t count, capacity;
    struct writer raw;
    /* `table` has the entries of %jump_table, `taken` the labels whose addresses are loaded. */
    struct pvm_reference *table, *taken;
    size_t table_count, table_capacity, taken_count, taken_capacity;
    struct pvm_import *imports;
    size_t import_capacity;
    bool *import_given; /* for each import: whether %import gave a pc */
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
    const struct pvm_code *given; /* a program whose bytes and bitmask are the code, or NULL */
};

bool pvm_add_item(struct pvm_assembly *a, struct pvm_item item);
/* Fills `parts` with the parts that were given as hex, and returns how many they are. */
size_t pvm_hex_parts(struct pvm_assembly *a, struct writer *parts[static 10]);
void pvm_assembly_free(struct pvm_assembly *a);

/* Gives items their lengths and offsets, and then makes the code, the bitmask and the jump table
 * (assign_offsets.c). */
bool pvm_place_code(struct pvm_assembly *a, penta_error *err);
/* Finds the offset in the code that a reference means. It may be called when the items have
 * their offsets. */
bool pvm_reference_pc(const struct pvm_assembly *a, const struct pvm_reference *r, uint64_t *pc,
                      penta_error *err);

/* Makes the line programs and ranges for code that was written anew (debug_move.c). new_pc has
 * the new place of each byte of the old code and of its end. Returns false when something is
 * damaged. The caller always frees the writers. */
bool pvm_debug_move(const struct pvm_program *from, const uint32_t *new_pc, struct writer *lines,
                    struct writer *ranges);
