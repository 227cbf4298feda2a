/* A struct coil_object is an object under construction. The assembler, the linker, the converter
 * and the builder fill it, and coil_object_write writes it as a file. No other function decides
 * where the parts of a file lie. */
#pragma once
#include "coil/coil.h"

struct coil_out_section {
    penta_bytes name;
    struct coil_section head; /* its offset, size and name are set when the object is written */
    struct writer data;
    uint64_t zeros; /* size of a BSS section */
};
struct coil_out_symbol {
    penta_bytes name;
    struct coil_symbol head;
};
struct coil_literal { /* a place where the offset of a string will be filled in */
    size_t section;
    uint64_t at;
    uint32_t width;
    penta_bytes text;
};
struct coil_object {
    struct coil_header header; /* version, flags, target and entry point are set */
    bool natural, big_endian;
    bool linked; /* true if symbol names come before section names in the string table */
    struct coil_out_section *sections;
    struct coil_out_symbol *symbols;
    struct coil_reloc *relocs;
    struct coil_literal *literals;
    size_t section_count, symbol_count, reloc_count, literal_count;
    size_t section_capacity, symbol_capacity, reloc_capacity, literal_capacity;
    uint64_t filler; /* number of bytes counted by coil_object_count_filler */
};

/* A file may have at most this many zeros and bytes of padding that a short text or an alignment
 * asks for. */
#define COIL_FILLER_MAX (UINT64_C(256) << 20)

void coil_object_init(struct coil_object *o);
void coil_object_free(struct coil_object *o);
/* These functions return the index of the new section or symbol, or -1 if there is no memory.
 * They do not copy names and texts. */
int64_t coil_object_section(struct coil_object *o, penta_bytes name, struct coil_section head,
                            penta_error *err);
int64_t coil_object_symbol(struct coil_object *o, penta_bytes name, struct coil_symbol head,
                           penta_error *err);
bool coil_object_reloc(struct coil_object *o, struct coil_reloc reloc, penta_error *err);
bool coil_object_literal(struct coil_object *o, struct coil_literal literal, penta_error *err);
/* Adds to the number of zeros and padding bytes. Returns false if it exceeds COIL_FILLER_MAX. */
bool coil_object_count_filler(struct coil_object *o, uint64_t bytes, uint64_t at, penta_error *err);
bool coil_object_write(struct coil_object *o, struct writer *out, penta_error *err);
static inline uint64_t coil_out_size(const struct coil_out_section *s)
{
    return s->head.type == COIL_S_BSS ? s->zeros : s->data.out.size;
}
/* Pads a section to a multiple of `align` bytes: with zeros, or in code with NOPs and at most
 * one no-op of the vendor instructions. Returns the number of bytes added. */
uint64_t coil_pad(struct coil_out_section *s, uint64_t align);
