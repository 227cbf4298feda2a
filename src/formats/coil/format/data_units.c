/* Finds which bytes of data sections form a number together (data_units.h), by looking at
 * relocations, at the operands of all instructions, at tables of SWITCH, and at the rows of
 * .coil.type. It relies on insn.c to read the code. */
#include "coil/format/data_units.h"
#include "coil/format/section_layout.h"
#include <stdlib.h>

/* Tells whether a section contains data of the program, with bytes in the file. */
static bool is_data(const struct coil_section *s)
{
    return s->flags & COIL_ALLOC && s->type != COIL_S_BSS && !coil_is_code(s);
}

static bool data_units_spend(struct coil_data_units *u, uint64_t bytes)
{
    if (bytes > u->budget)
        return error_at(&u->err, BASE_LIMIT, 0, "the code names too much data to look at");
    u->budget -= bytes;
    return true;
}

/* Marks the bytes that form one number. */
static void data_units_mark(struct coil_data_units *u, uint64_t at, uint64_t width, uint64_t end)
{
    uint8_t *marks = u->marks + at;
    bool known = false,
         same = at + width >= end || (marks[width] & COIL_UNIT_MASK) != COIL_UNIT_REST;
    for (uint64_t i = 0; i < width; i++) {
        uint8_t now = marks[i] & COIL_UNIT_MASK;
        known |= now != COIL_UNIT_UNKNOWN;
        same &= now == (i ? COIL_UNIT_REST : COIL_UNIT_FIRST);
    }
    for (uint64_t i = 0; i < width; i++) {
        if (known && !same) marks[i] |= COIL_UNIT_CONFLICT;
        if (!known) marks[i] = i ? COIL_UNIT_REST : COIL_UNIT_FIRST;
    }
}

/* Marks the numbers in a value of a type at an offset of the file. Types that do not say how
 * their bytes form numbers mark nothing. */
static void mark_type(struct coil_data_units *u, const struct coil_type *t, uint64_t at,
                      uint64_t end)
{
    const struct coil_type_info *info = &coil_types[t->op];
    if (coil_is_scalar(t->op) || info->family == COIL_F_WIDE) {
        data_units_mark(u, at, t->size, end);
    } else if (t->member_count) {
        for (uint32_t i = 0; i < t->member_count; i++)
            mark_type(u, t->members[i].type, at + t->members[i].offset, end);
    } else if (t->elem && t->elem->size) {
        for (uint64_t k = 0; k + t->elem->size <= t->size; k += t->elem->size)
            mark_type(u, t->elem, at + k, end);
    }
}

/* Finds where the data of a symbol begin and end in the file. Returns false if the symbol has no
 * data. */
static bool data_units_extent(const struct coil_module *m, uint64_t symbol, uint64_t *from,
                              uint64_t *end, uint64_t *section_end)
{
    if (symbol >= m->symbol_count) return false;
    const struct coil_symbol *s = &m->symbols[symbol];
    if (!s->section_idx || s->section_idx > m->section_count) return false;
    const struct coil_section *in = &m->sections[s->section_idx - 1];
    uint64_t offset = s->value - (m->header.flags & COIL_FILE_EXEC ? in->addr : 0);
    if (!is_data(in) || offset > in->size) return false;
    *from = in->offset + offset;
    *section_end = in->offset + in->size;
    *end = s->size && s->size <= in->size - offset ? *from + s->size : *section_end;
    return true;
}

static bool mark_at(struct coil_data_units *u, const struct coil_type *t, uint64_t from,
                    uint64_t end, uint64_t step)
{
    if (!t || t->open || !t->size) return true;
    for (uint64_t at = from; at <= end && t->size <= end - at; at += step) {
        if (!data_units_spend(u, t->size)) return false;
        mark_type(u, t, at, end);
        if (!step) break;
    }
    return true;
}

static bool look_at_operand(struct coil_data_units *u, const struct coil_operand *o)
{
    uint64_t from, end, section_end;
    if (o->form == COIL_SYM && data_units_extent(u->m, o->value, &from, &end, &section_end))
        return mark_at(u, o->type, from, section_end, 0);
    if (o->form != COIL_MEM || o->parts[0].form != COIL_ADDR) {
        for (unsigned i = 0; i < o->parts_count; i++)
            if (!look_at_operand(u, &o->parts[i])) return false;
        return true;
    }
    if (!data_units_extent(u->m, o->parts[0].value, &from, &end, &section_end)) return true;
    uint64_t disp =
        o->parts_count == 2 || o->parts_count == 4 ? o->parts[o->parts_count - 1].value : 0;
    uint64_t step = o->parts_count > 2 ? o->parts[2].value : 0;
    /* The address is before the symbol or outside of the section. */
    if (disp > section_end - from) return true;
    /* The elements overlap, so they do not tell which bytes form a number. */
    if (step && o->type && step < o->type->size) return true;
    return mark_at(u, o->type, from + disp, step ? end : section_end, step);
}

/* Marks a table of SWITCH: the count, the default target, and `count` targets, each of 8 bytes. */
static bool look_at_switch(struct coil_data_units *u, const struct coil_operand *o)
{
    uint64_t from, end, section_end;
    if (o->form != COIL_ADDR || !data_units_extent(u->m, o->value, &from, &end, &section_end))
        return true;
    if (section_end - from < 8) return true;
    uint64_t count = bytes_uint(u->m->base.file.data + from, 8, u->m->big_endian);
    if (count > (section_end - from) / 8) return true;
    for (uint64_t i = 0; i < count + 2 && from + 8 * i + 8 <= section_end; i++) {
        if (!data_units_spend(u, 8)) return false;
        data_units_mark(u, from + 8 * i, 8, section_end);
    }
    return true;
}

static bool look_at_code(struct coil_data_units *u, size_t section, struct coil_insn *insn)
{
    penta_error broken = {0};
    struct reader r = coil_code_reader(u->m, section, &broken);
    while (reader_left(&r) && coil_insn_read(&r, insn)) {
        for (unsigned i = 0; i < insn->count; i++)
            if (!look_at_operand(u, &insn->operands[i])) return false;
        if (insn->opcode == COIL_OP_SWITCH && insn->count == 2 &&
            !look_at_switch(u, &insn->operands[1]))
            return false;
    }
    return true;
}

static bool look_at_rows(struct coil_data_units *u, penta_bytes rows)
{
    const struct coil_module *m = u->m;
    for (size_t at = 0; at + COIL_TYPE_ROW <= rows.size; at += COIL_TYPE_ROW) {
        uint64_t field[4];
        for (unsigned k = 0; k < 4; k++)
            field[k] = bytes_uint(rows.data + at + 4 * k, 4, m->big_endian);
        if (!field[0] || field[0] > m->section_count || field[2] > 255) continue;
        const struct coil_section *in = &m->sections[field[0] - 1];
        uint64_t size = coil_is_scalar((uint8_t)field[2]) ? coil_types[field[2]].bytes : 0;
        if (!is_data(in) || !size || field[1] > in->size || field[3] > (in->size - field[1]) / size)
            continue;
        if (!data_units_spend(u, size * field[3])) return false;
        for (uint64_t i = 0; i < field[3]; i++)
            data_units_mark(u, in->offset + field[1] + i * size, size, in->offset + in->size);
    }
    return true;
}

static void look_at_relocs(struct coil_data_units *u)
{
    for (size_t i = 0; i < u->m->reloc_count; i++) {
        const struct coil_reloc *r = &u->m->relocs[i];
        uint64_t number = r->offset >> 32, at = r->offset & UINT32_MAX;
        unsigned width = coil_reloc_width(r->type);
        if (!number || number > u->m->section_count || !width) continue;
        const struct coil_section *in = &u->m->sections[number - 1];
        if (is_data(in) && at + width <= in->size)
            data_units_mark(u, in->offset + at, width, in->offset + in->size);
    }
}

bool coil_data_units_find(const struct coil_module *m, struct coil_data_units *u, bool all)
{
    *u = (struct coil_data_units){.m = m, .budget = 4096 + 64 * (uint64_t)m->base.file.size};
    struct coil_insn *insn = calloc(1, sizeof *insn);
    u->marks = calloc(m->base.file.size + 1, 1);
    bool ok = (insn && u->marks) || error_at(&u->err, BASE_MEMORY, 0, "no memory to convert");
    if (ok) look_at_relocs(u);
    for (size_t i = 0; ok && all && i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        penta_bytes name = coil_string(m, s->name_idx);
        if (coil_is_code(s))
            ok = look_at_code(u, i, insn);
        else if (bytes_equal(name, bytes_of(".coil.type")) && s->type == COIL_S_DEBUG)
            ok = look_at_rows(u, coil_contents(m, i));
        else if (is_data(s) && s->flags & COIL_STRINGS)
            memset(u->marks + s->offset, COIL_UNIT_FIRST, (size_t)s->size);
    }
    if (insn) coil_insn_free(insn);
    free(insn);
    return ok;
}

void coil_data_units_free(struct coil_data_units *u) { free(u->marks); }

/* Returns the name of the symbol whose data contain a byte, or else the name of the section. */
static penta_bytes data_units_owner(const struct coil_module *m, size_t section, uint64_t offset)
{
    penta_bytes name = coil_string(m, m->sections[section].name_idx);
    uint64_t base = m->header.flags & COIL_FILE_EXEC ? m->sections[section].addr : 0, best = 0;
    bool found = false;
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        uint64_t at = s->value - base;
        if (s->section_idx != section + 1 || at > offset || (found && at < best)) continue;
        best = at;
        found = true;
        name = coil_symbol_name(m, i);
    }
    return name;
}

bool coil_data_units_check(const struct coil_data_units *u, struct findings *f)
{
    enum { TOLD_MAX = 20 };
    const struct coil_module *m = u->m;
    const uint8_t *file = m->base.file.data;
    unsigned told = 0;
    for (size_t i = 0; i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        penta_bytes last = {NULL, 0};
        if (!is_data(s)) continue;
        for (uint64_t at = s->offset; at < s->offset + s->size && told < TOLD_MAX; at++) {
            bool conflict = u->marks[at] & COIL_UNIT_CONFLICT;
            if (!file[at] || (u->marks[at] && !conflict)) continue;
            penta_bytes name = data_units_owner(m, i, at - s->offset);
            if (name.data == last.data) continue;
            last = name;
            told++;
            if (conflict)
                findings_add(f, COIL_DATA_CONFLICT, at, "option 'keep-data' leaves data as it is",
                             "the code uses the bytes of '%.*s' as numbers of different sizes",
                             BYTES_ARG(name, 40));
            else
                findings_add(f, COIL_DATA_UNKNOWN, at, "option 'keep-data' leaves data as it is",
                             "nothing says what the data of '%.*s' is", BYTES_ARG(name, 40));
        }
    }
    return !told;
}

void coil_data_units_swap(const struct coil_data_units *u, uint8_t *image)
{
    size_t size = u->m->base.file.size;
    for (size_t at = 0; at < size; at++) {
        if ((u->marks[at] & COIL_UNIT_MASK) != COIL_UNIT_FIRST) continue;
        size_t end = at + 1;
        while (end < size && (u->marks[end] & COIL_UNIT_MASK) == COIL_UNIT_REST) end++;
        for (size_t low = at, high = end - 1; low < high; low++, high--) {
            uint8_t byte = image[low];
            image[low] = image[high];
            image[high] = byte;
        }
    }
}
