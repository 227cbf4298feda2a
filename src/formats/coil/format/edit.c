/* What an edit of an object repairs: the places of its tables and sections, and the numbers in tables that are places
 * in sections or in the string table. */
#include <stdlib.h>
#include "coil/coil.h"
#include "coil/format/pieces.h"
#include "core/edit/edit.h"

enum { TABLE_OFFSETS = 44, TABLE_ALIGN = 8 };
enum { SECTION_OFFSET = 8, SECTION_SIZE = 16, SECTION_NAME = 40 };
enum { SYMBOL_VALUE = 8, SYMBOL_SIZE = 16 };

static struct edit_number number_at(const struct coil_module *m, uint64_t at, unsigned size)
{
    return (struct edit_number){at, size, m->big_endian ? PENTA_BIG : PENTA_LITTLE};
}

/* The index of a string, which is a place in the string table. */
static void string_measure(struct edit *e, const struct coil_module *m, uint64_t at, uint32_t index)
{
    if (index < m->strings.size)
        edit_place(e, number_at(m, at, 4), m->header.string_offset + index,
                   m->header.string_offset);
}

/* The section with this number, counted from 1, if it has bytes in the file. */
static const struct coil_section *stored_section(const struct coil_module *m, uint64_t number)
{
    if (!number || number > m->section_count) return NULL;
    return coil_contents(m, (size_t)number - 1).size ? &m->sections[number - 1] : NULL;
}

static void symbols_measure(struct edit *e, const struct coil_module *m)
{
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        const struct coil_section *in = stored_section(m, s->section_idx);
        uint64_t at = m->header.symbol_offset + i * coil_symbol_bytes;
        string_measure(e, m, at, s->name_idx);
        if (!in || m->header.flags & COIL_FILE_EXEC || s->value > in->size ||
            s->size > in->size - s->value)
            continue;
        uint64_t from = in->offset + s->value;
        edit_place(e, number_at(m, at + SYMBOL_VALUE, 8), from, in->offset);
        edit_length(e, number_at(m, at + SYMBOL_SIZE, 8), from, s->size, 1);
    }
}

static void relocs_measure(struct edit *e, const struct coil_module *m)
{
    for (size_t i = 0; i < m->reloc_count; i++) {
        uint64_t where = m->relocs[i].offset, offset = where & UINT32_MAX;
        const struct coil_section *in = stored_section(m, where >> 32);
        if (in && offset <= in->size)
            edit_place(e, number_at(m, m->header.reloc_offset + i * coil_reloc_bytes, 8),
                       in->offset + offset, in->offset);
    }
}

/* Keeps each piece at the alignment that it has, by the zeros before it. */
static void pieces_align(struct edit *e, const struct coil_module *m)
{
    size_t count;
    struct coil_piece *pieces = coil_pieces(m, &count);
    uint64_t end = 0;
    for (size_t i = 0; pieces && i < count; i++) {
        const struct coil_piece *p = &pieces[i];
        uint64_t align = p->kind == COIL_PIECE_CONTENTS ? m->sections[p->index].align : TABLE_ALIGN;
        if (i && p->from >= end) edit_align(e, end, p->from, align);
        end = p->from + p->size;
    }
    free(pieces);
}

static void object_measures(struct edit *e)
{
    const struct coil_module *m = (const struct coil_module *)e->module;
    const struct coil_header *h = &m->header;
    const uint64_t tables[] = {h->section_offset, h->symbol_offset, h->string_offset,
                               h->reloc_offset};
    uint64_t at = TABLE_OFFSETS + (m->natural ? 4 : 0);
    size_t step = m->natural ? COIL_NATURAL_SECTION : coil_section_bytes;
    if (m->raw) return;
    pieces_align(e, m);
    for (size_t i = 0; i < 4; i++)
        if (tables[i]) edit_place(e, number_at(m, at + 8 * i, 8), tables[i], 0);
    for (size_t i = 0; i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        uint64_t entry = h->section_offset + i * step;
        string_measure(e, m, entry + SECTION_NAME, s->name_idx);
        if (!stored_section(m, i + 1)) continue;
        edit_place(e, number_at(m, entry + SECTION_OFFSET, 8), s->offset, 0);
        edit_length(e, number_at(m, entry + SECTION_SIZE, 8), s->offset, s->size, 1);
    }
    symbols_measure(e, m);
    relocs_measure(e, m);
}

const struct driver_edit coil_edit = {.measures = object_measures};
