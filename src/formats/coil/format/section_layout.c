/* Tells what the name of a section says about it, which addresses sections have when a program
 * runs, and what other tables say about places in sections: the entry point, source lines, and
 * the widths of relocations. */
#include "coil/format/section_layout.h"
#include <stdlib.h>

struct coil_section coil_section_kind(penta_bytes name)
{
    static const struct {
        const char *stem;
        uint32_t type, flags;
        uint64_t align;
    } kinds[] = {{".text", COIL_S_TEXT, COIL_ALLOC | COIL_EXEC, 1},
                 {".data", COIL_S_DATA, COIL_ALLOC | COIL_WRITE, 8},
                 {".rodata", COIL_S_RODATA, COIL_ALLOC, 8},
                 {".bss", COIL_S_BSS, COIL_ALLOC | COIL_WRITE, 8},
                 {".init", COIL_S_INIT, COIL_ALLOC | COIL_EXEC, 1},
                 {".fini", COIL_S_FINI, COIL_ALLOC | COIL_EXEC, 1},
                 {".debug", COIL_S_DEBUG, COIL_INFO, 1},
                 {".comment", COIL_S_COMMENT, COIL_INFO, 1},
                 {".coil", COIL_S_COMMENT, COIL_INFO, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].stem);
        if (name.size >= n && !memcmp(name.data, kinds[i].stem, n) &&
            (name.size == n || name.data[n] == '.'))
            return (struct coil_section){
                .type = kinds[i].type, .flags = kinds[i].flags, .align = kinds[i].align};
    }
    return (struct coil_section){.type = COIL_S_DATA, .flags = COIL_ALLOC | COIL_WRITE, .align = 8};
}

unsigned coil_section_rank(uint32_t type)
{
    switch (type) {
    case COIL_S_TEXT: return 0;
    case COIL_S_INIT: return 1;
    case COIL_S_FINI: return 2;
    case COIL_S_RODATA: return 3;
    case COIL_S_DATA: return 4;
    case COIL_S_BSS: return 5;
    default: return 6;
    }
}

/* Computes the addresses of all sections. It stores only those of the sections from `from` to
 * `to` - 1, and returns the first free address. */
static uint64_t place_sections(const struct coil_module *m, size_t from, size_t to, uint64_t *out)
{
    uint64_t at = COIL_PAGE;
    if (m->header.flags & COIL_FILE_EXEC) {
        for (size_t i = 0; i < m->section_count; i++) {
            const struct coil_section *s = &m->sections[i];
            if (i >= from && i < to) out[i - from] = s->addr;
            if (s->flags & COIL_ALLOC && s->addr + s->size > at && s->addr + s->size >= s->addr)
                at = s->addr + s->size;
        }
        return at;
    }
    for (unsigned rank = 0; rank < 7; rank++)
        for (size_t i = 0; i < m->section_count; i++) {
            const struct coil_section *s = &m->sections[i];
            if (coil_section_rank(s->type) != rank) continue;
            uint64_t align = s->align > COIL_PAGE ? s->align : COIL_PAGE;
            bool placed = s->flags & COIL_ALLOC;
            if (placed) at = (at + align - 1) / align * align;
            if (i >= from && i < to) out[i - from] = placed ? at : 0;
            if (placed) at += s->size < UINT64_C(1) << 48 ? s->size : UINT64_C(1) << 48;
        }
    return at;
}

uint64_t coil_section_addresses(const struct coil_module *m, uint64_t *out)
{
    return place_sections(m, 0, m->section_count, out);
}

uint64_t coil_section_address(const struct coil_module *m, size_t i)
{
    uint64_t address = 0;
    place_sections(m, i, i + 1, &address);
    return address;
}

bool coil_reloc_entry(const struct coil_module *m, size_t *section, uint64_t *offset)
{
    uint64_t number = m->header.entry_point >> 32;
    *offset = m->header.entry_point & UINT32_MAX;
    if (m->header.flags & COIL_FILE_EXEC || !m->header.entry_point) return false;
    for (size_t i = 0; i < m->symbol_count && !number; i++)
        if (m->symbols[i].type == COIL_FUNC && m->symbols[i].value == *offset)
            number = m->symbols[i].section_idx;
    *section = (size_t)number - 1;
    return number && number <= m->section_count && coil_is_code(&m->sections[*section]) &&
           *offset < m->sections[*section].size;
}

bool coil_source_line(const struct coil_module *m, size_t section, uint64_t offset,
                      penta_bytes *file, uint64_t *line)
{
    bool found = false;
    for (size_t i = 0; i < m->section_count; i++) {
        penta_bytes name = coil_string(m, m->sections[i].name_idx), rows = coil_contents(m, i);
        if (name.size != 10 || memcmp(name.data, ".coil.line", 10)) continue;
        for (size_t at = 0; at + 16 <= rows.size; at += 16) {
            if (bytes_uint(rows.data + at, 4, m->big_endian) != section + 1 ||
                bytes_uint(rows.data + at + 4, 4, m->big_endian) > offset)
                continue;
            *file = coil_string(m, bytes_uint(rows.data + at + 8, 4, m->big_endian));
            *line = bytes_uint(rows.data + at + 12, 4, m->big_endian);
            found = true;
        }
    }
    return found;
}

unsigned coil_reloc_width(uint32_t type)
{
    unsigned width = type >> 8 ? type >> 8 : 8;
    return (type & 255) <= COIL_RELOC_REL && (width == 1 || width == 2 || width == 4 || width == 8)
               ? width
               : 0;
}

bool coil_reloc_fits(uint32_t type, uint64_t value)
{
    unsigned bits = 8 * coil_reloc_width(type);
    if (bits == 64 || !bits) return true;
    int64_t v = (int64_t)value;
    bool as_signed = v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
    return as_signed || ((type & 255) == COIL_RELOC_ABS && value >> bits == 0);
}
