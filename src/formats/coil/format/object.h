/* An object under construction. The assembler, the linker, the converter and the builder fill it,
 * and coil_object_write is the only writer that lays it out as a file. */
#pragma once
#include "coil/coil.h"

struct coil_out_section {
    penta_bytes name;
    struct coil_section head; /* offset, size and name are filled in on writing */
    struct writer data;
    uint64_t zeros; /* size of a BSS section */
};
struct coil_out_symbol {
    penta_bytes name;
    struct coil_symbol head;
};
struct coil_literal { /* a place where the offset of a string is filled in */
    size_t section;
    uint64_t at;
    uint32_t width;
    penta_bytes text;
};
struct coil_object {
    struct coil_header header; /* version, flags, target and entry point */
    bool natural, big_endian;
    bool linked; /* symbol names come before section names in the string table */
    struct coil_out_section *sections;
    struct coil_out_symbol *symbols;
    struct coil_reloc *relocs;
    struct coil_literal *literals;
    size_t section_count, symbol_count, reloc_count, literal_count;
    size_t section_capacity, symbol_capacity, reloc_capacity, literal_capacity;
    uint64_t filler; /* bytes counted by coil_object_count_filler */
};

/* The most zeros and padding that a file may hold because a short text or an alignment asks for
 * them. */
#define COIL_FILLER_MAX (UINT64_C(256) << 20)

void coil_object_init(struct coil_object *o);
void coil_object_free(struct coil_object *o);
/* These return the index of the new item, or -1 if there is no memory. Names and texts are
 * borrowed. */
int64_t coil_object_section(struct coil_object *o, penta_bytes name, struct coil_section head,
                            penta_error *err);
int64_t coil_object_symbol(struct coil_object *o, penta_bytes name, struct coil_symbol head,
                           penta_error *err);
bool coil_object_reloc(struct coil_object *o, struct coil_reloc reloc, penta_error *err);
bool coil_object_literal(struct coil_object *o, struct coil_literal literal, penta_error *err);
/* Counts more zeros and padding. Returns false if they exceed COIL_FILLER_MAX. */
bool coil_object_count_filler(struct coil_object *o, uint64_t bytes, uint64_t at, penta_error *err);
bool coil_object_write(struct coil_object *o, struct writer *out, penta_error *err);
static inline uint64_t coil_out_size(const struct coil_out_section *s)
{
    return s->head.type == COIL_S_BSS ? s->zeros : s->data.out.size;
}
/* Pads a section to a multiple of `align`: with zeros, or in code with NOPs and at most one vendor
 * no-op. Returns the number of bytes. */
uint64_t coil_pad(struct coil_out_section *s, uint64_t align);
