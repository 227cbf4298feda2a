/* Builds an object and writes it as a file (COIL 8.8): header, section table, symbol table,
 * strings, relocations and contents. */
#include "coil/format/object.h"
#include "base/array.h"
#include "base/number.h"
#include "text/labels.h"
#include <stdlib.h>

void coil_object_init(struct coil_object *o)
{
    *o = (struct coil_object){.header = {.version = COIL_VERSION_1,
                                         .flags = COIL_FILE_RELOC,
                                         .target_pu = 1,
                                         .target_mode = 0x83}};
    memcpy(o->header.magic, "COIL", 4);
}

void coil_object_free(struct coil_object *o)
{
    for (size_t i = 0; i < o->section_count; i++) writer_free(&o->sections[i].data);
    free(o->sections);
    free(o->symbols);
    free(o->relocs);
    free(o->literals);
    *o = (struct coil_object){0};
}

int64_t coil_object_section(struct coil_object *o, penta_bytes name, struct coil_section head,
                            penta_error *err)
{
    if (!ARRAY_GROW(o->sections, o->section_capacity, o->section_count, err)) return -1;
    o->sections[o->section_count] = (struct coil_out_section){
        .name = name, .head = head, .data = {.big_endian = o->big_endian}};
    return (int64_t)o->section_count++;
}

int64_t coil_object_symbol(struct coil_object *o, penta_bytes name, struct coil_symbol head,
                           penta_error *err)
{
    if (!ARRAY_GROW(o->symbols, o->symbol_capacity, o->symbol_count, err)) return -1;
    o->symbols[o->symbol_count] = (struct coil_out_symbol){name, head};
    return (int64_t)o->symbol_count++;
}

bool coil_object_reloc(struct coil_object *o, struct coil_reloc reloc, penta_error *err)
{
    if (!ARRAY_GROW(o->relocs, o->reloc_capacity, o->reloc_count, err)) return false;
    o->relocs[o->reloc_count++] = reloc;
    return true;
}

bool coil_object_literal(struct coil_object *o, struct coil_literal literal, penta_error *err)
{
    if (!ARRAY_GROW(o->literals, o->literal_capacity, o->literal_count, err)) return false;
    o->literals[o->literal_count++] = literal;
    return true;
}

uint64_t coil_pad(struct coil_out_section *s, uint64_t align)
{
    uint64_t size = coil_out_size(s), gap = align > 1 ? (align - size % align) % align : 0;
    if (s->head.type == COIL_S_BSS) {
        s->zeros += gap;
        return gap;
    }
    if (!coil_is_code(&s->head)) {
        writer_fill(&s->data, 0, (size_t)gap);
        return gap;
    }
    if (gap == 1) gap += align; /* The shortest instruction has two bytes. */
    uint64_t nops = gap;
    if (gap % 2) nops -= 3;
    writer_fill(&s->data, 0, (size_t)nops);
    if (gap % 2) writer_bytes(&s->data, "\xff\0\0", 3);
    return gap;
}

bool coil_object_count_filler(struct coil_object *o, uint64_t bytes, uint64_t at, penta_error *err)
{
    if (bytes > COIL_FILLER_MAX - o->filler) {
        error_at(err, BASE_LIMIT, at, "more than %u MiB of zeros and padding in a file",
                 (unsigned)(COIL_FILLER_MAX >> 20));
        return error_note(err, "zeros of a .bss section take no bytes of the file");
    }
    o->filler += bytes;
    return true;
}

struct strings {
    struct labels index;
    struct writer table;
};

static uint32_t string_offset(struct strings *s, penta_bytes text, penta_error *err)
{
    if (!text.size) return 0;
    int64_t i = labels_intern(&s->index, text, err);
    if (i < 0) return 0;
    struct label *l = &s->index.items[i];
    if (!l->defined) {
        l->defined = true;
        l->value = s->table.out.size;
        writer_bytes(&s->table, text.data, text.size);
        writer_uint(&s->table, 0, 1);
    }
    return (uint32_t)l->value;
}

static void collect_strings(struct coil_object *o, struct strings *s, penta_error *err)
{
    writer_uint(&s->table, 0, 1);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == o->linked)
            for (size_t i = 0; i < o->section_count; i++)
                o->sections[i].head.name_idx = string_offset(s, o->sections[i].name, err);
        else
            for (size_t i = 0; i < o->symbol_count; i++)
                o->symbols[i].head.name_idx = string_offset(s, o->symbols[i].name, err);
    }
    for (size_t i = 0; i < o->literal_count; i++) {
        const struct coil_literal *l = &o->literals[i];
        writer_patch(&o->sections[l->section].data, (size_t)l->at, string_offset(s, l->text, err),
                     l->width);
    }
}

static bool object_place(struct coil_object *o, uint64_t strings, penta_error *err)
{
    struct coil_header *h = &o->header;
    h->section_count = (uint32_t)o->section_count;
    h->symbol_count = (uint32_t)o->symbol_count;
    h->reloc_count = (uint32_t)o->reloc_count;
    h->endianness = o->big_endian;
    h->section_offset = COIL_NATURAL_HEADER;
    uint64_t at = h->section_offset +
                  o->section_count * (o->natural ? COIL_NATURAL_SECTION : coil_section_bytes);
    h->symbol_offset = round_up(at, 8);
    h->string_offset = h->symbol_offset + o->symbol_count * coil_symbol_bytes;
    h->reloc_offset = round_up(h->string_offset + strings, 8);
    at = h->reloc_offset + o->reloc_count * coil_reloc_bytes;
    for (size_t i = 0; i < o->section_count; i++) {
        struct coil_section *s = &o->sections[i].head;
        s->size = coil_out_size(&o->sections[i]);
        s->offset = 0;
        if (s->type == COIL_S_BSS) continue;
        if (s->align > 1 << 20)
            return error_at(err, COIL_ALIGN, 0, "an alignment of %llu in a file",
                            (unsigned long long)s->align);
        s->offset = s->align > 1 ? round_up(at, s->align) : at;
        if (!coil_object_count_filler(o, s->offset - at, 0, err)) return false;
        at = s->offset;
        at += s->size;
    }
    return true;
}

static void fill_to(struct writer *out, size_t start, uint64_t at)
{
    size_t now = out->out.size - start;
    if (at > now) writer_fill(out, 0, (size_t)at - now);
}

bool coil_object_write(struct coil_object *o, struct writer *out, penta_error *err)
{
    struct strings strings = {0};
    size_t start = out->out.size;
    collect_strings(o, &strings, err);
    bool ok = !err->code && object_place(o, strings.table.out.size, err);
    if (ok) {
        bool order = out->big_endian;
        out->big_endian = o->big_endian;
        coil_header_put(out, &o->header, o->natural);
        fill_to(out, start, o->header.section_offset);
        for (size_t i = 0; i < o->section_count; i++) {
            coil_section_write(out, &o->sections[i].head);
            if (o->natural) writer_fill(out, 0, COIL_NATURAL_SECTION - coil_section_bytes);
            out->failed |= o->sections[i].data.failed;
        }
        fill_to(out, start, o->header.symbol_offset);
        for (size_t i = 0; i < o->symbol_count; i++) coil_symbol_write(out, &o->symbols[i].head);
        writer_append(out, &strings.table);
        fill_to(out, start, o->header.reloc_offset);
        for (size_t i = 0; i < o->reloc_count; i++) coil_reloc_write(out, &o->relocs[i]);
        for (size_t i = 0; i < o->section_count; i++) {
            const struct coil_out_section *s = &o->sections[i];
            if (s->head.type == COIL_S_BSS) continue;
            fill_to(out, start, s->head.offset);
            writer_append(out, &s->data);
        }
        out->big_endian = order;
        out->failed |= strings.table.failed;
    }
    labels_free(&strings.index);
    writer_free(&strings.table);
    return ok && writer_ok(out, err);
}
