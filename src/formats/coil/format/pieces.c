/* Lists the pieces of an object by their offsets: the tables, whose places are in the header,
 * and the contents of sections. */
#include "coil/format/pieces.h"
#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct coil_piece *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

struct coil_piece *coil_pieces(const struct coil_module *m, size_t *count)
{
    const struct coil_header *h = &m->header;
    size_t step = m->natural ? COIL_NATURAL_SECTION : coil_section_bytes, n = 0;
    const struct coil_piece tables[] = {
        {0, m->header_size, COIL_PIECE_HEADER, 0},
        {h->section_offset, m->section_count * step, COIL_PIECE_SECTIONS, 0},
        {h->symbol_offset, m->symbol_count * coil_symbol_bytes, COIL_PIECE_SYMBOLS, 0},
        {h->string_offset, m->strings.size, COIL_PIECE_STRINGS, 0},
        {h->reloc_offset, m->reloc_count * coil_reloc_bytes, COIL_PIECE_RELOCS, 0},
    };
    enum { TABLES = sizeof tables / sizeof *tables };
    struct coil_piece *pieces = calloc(m->section_count + TABLES, sizeof *pieces);
    if (!pieces) return NULL;
    for (size_t i = 0; i < TABLES && !m->raw; i++)
        if (tables[i].size) pieces[n++] = tables[i];
    for (size_t i = 0; i < m->section_count; i++) {
        struct coil_piece p = {m->sections[i].offset, coil_contents(m, i).size, COIL_PIECE_CONTENTS,
                               i};
        if (p.size) pieces[n++] = p;
    }
    qsort(pieces, n, sizeof *pieces, by_start);
    *count = n;
    return pieces;
}
