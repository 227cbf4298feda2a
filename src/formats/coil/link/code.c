/* Renumbers everything that refers to symbols and strings by number (COIL 9.5, COIL 9.6):
 * operands in code, source lines and prototypes. Then it applies relocations, or keeps them if
 * the output is relocatable. */
#include "coil/format/proto.h"
#include "coil/link/state.h"
#include "base/array.h"
#include <stdlib.h>

static void code_patch(struct writer *w, uint64_t at, uint64_t value)
{
    writer_patch(w, (size_t)at, value, 8);
}

static bool renumber_operand(struct state *s, size_t input, const struct placement *p,
                             const struct coil_operand *o)
{
    const struct coil_module *m = MODULE(s, input);
    struct writer *w = &s->object.sections[p->section].data;
    if (o->form == COIL_SYM || o->form == COIL_ADDR) {
        if (o->value >= m->symbol_count)
            return error_at(&s->err, COIL_SYM_INDEX, m->base.file.size,
                            "symbol %llu in code of %.60s", (unsigned long long)o->value,
                            NAME(s, input));
        code_patch(w, p->offset + o->at + o->size - 8, s->symbols[input][o->value]);
    } else if (o->form == COIL_STRING) {
        struct coil_literal literal = {p->section, p->offset + o->at + 2, 8,
                                       coil_string(m, o->value)};
        return coil_object_literal(&s->object, literal, &s->err);
    }
    for (unsigned i = 0; i < o->parts_count; i++)
        if (!renumber_operand(s, input, p, &o->parts[i])) return false;
    return true;
}

static bool renumber_code(struct state *s, size_t input, size_t section)
{
    const struct placement *p = &s->sections[input][section];
    penta_error err = {0};
    struct reader r = coil_code_reader(MODULE(s, input), section, &err);
    while (reader_left(&r)) {
        if (!coil_insn_read(&r, s->insn)) {
            findings_pass(found_in(s, input), &err);
            return true;
        }
        for (unsigned i = 0; i < s->insn->count; i++)
            if (!renumber_operand(s, input, p, &s->insn->operands[i])) return false;
    }
    return true;
}

static bool code_mentions(const struct coil_operand *o, size_t symbol)
{
    if ((o->form == COIL_SYM || o->form == COIL_ADDR) && o->value == symbol) return true;
    for (unsigned i = 0; i < o->parts_count; i++)
        if (code_mentions(&o->parts[i], symbol)) return true;
    return false;
}

bool coil_link_find_use(struct state *s, size_t input, size_t symbol, size_t *section,
                        uint64_t *offset)
{
    const struct coil_module *m = MODULE(s, input);
    for (*section = 0; *section < m->section_count; ++*section) {
        if (!coil_is_code(&m->sections[*section])) continue;
        penta_error err = {0};
        struct reader r = coil_code_reader(m, *section, &err);
        while (reader_left(&r)) {
            *offset = r.pos;
            if (!coil_insn_read(&r, s->insn)) break;
            for (unsigned i = 0; i < s->insn->count; i++)
                if (code_mentions(&s->insn->operands[i], symbol)) return true;
        }
    }
    for (size_t i = 0; i < m->reloc_count; i++)
        if (m->relocs[i].symbol_idx == symbol) {
            *section = (size_t)(m->relocs[i].offset >> 32) - 1;
            *offset = m->relocs[i].offset & UINT32_MAX;
            return true;
        }
    return false;
}

/* The functions below process the code in the order of the output, then the rows about the code.
 * This order gives the order of strings. */

struct job {
    size_t input, section;
    const struct placement *to;
};

static int by_output(const void *x, const void *y)
{
    const struct placement *a = ((const struct job *)x)->to, *b = ((const struct job *)y)->to;
    if (a->section != b->section) return a->section < b->section ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* A row of .coil.line, .coil.var or .coil.type begins with a section and an offset in it. After
 * these it has a file name and a line, a variable's name and id, or a type and a count. */
struct row {
    uint64_t section, offset, count;
    penta_bytes file;
    uint32_t type;
    size_t order; /* number of the row, so that sorting keeps the order of rows at the same place */
};
enum { ROW_BYTES = 16 };

static int by_row(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    if (a->section != b->section) return a->section < b->section ? -1 : 1;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

struct rows {
    struct row *items;
    size_t count, capacity;
};

static bool take_rows(struct state *s, size_t input, size_t section, struct rows *rows)
{
    const struct coil_module *m = MODULE(s, input);
    penta_bytes in = coil_contents(m, section);
    for (size_t at = 0; at + ROW_BYTES <= in.size; at += ROW_BYTES) {
        uint64_t field[4];
        for (unsigned k = 0; k < 4; k++)
            field[k] = bytes_uint(in.data + at + 4 * k, 4, m->big_endian);
        if (!field[0] || field[0] > m->section_count) continue;
        const struct placement *p = &s->sections[input][field[0] - 1];
        if (!ARRAY_GROW(rows->items, rows->capacity, rows->count, &s->err)) return false;
        rows->items[rows->count] = (struct row){.section = p->section + 1,
                                                .offset = field[1] + p->offset,
                                                .count = field[3],
                                                .file = coil_string(m, field[2]),
                                                .type = (uint32_t)field[2],
                                                .order = rows->count};
        rows->count++;
    }
    return true;
}

/* Writes the rows of all sections with this name, from all inputs, into one sorted list in the
 * output. */
static bool renumber_rows(struct state *s, const char *name, bool lines)
{
    struct rows rows = {0};
    size_t output = SIZE_MAX;
    bool ok = true;
    for (size_t i = 0; ok && i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        for (size_t k = 0; ok && s->link->inputs[i].used && k < m->section_count; k++) {
            if (m->sections[k].type != COIL_S_DEBUG ||
                !is_named(coil_string(m, m->sections[k].name_idx), name))
                continue;
            output = s->sections[i][k].section;
            ok = take_rows(s, i, k, &rows);
        }
    }
    if (ok && rows.count) qsort(rows.items, rows.count, sizeof *rows.items, by_row);
    struct writer *w = output == SIZE_MAX ? NULL : &s->object.sections[output].data;
    for (size_t i = 0; ok && w && i < w->out.size / ROW_BYTES; i++) {
        static const struct row none = {0};
        const struct row *r = i < rows.count ? &rows.items[i] : &none;
        size_t at = i * ROW_BYTES;
        writer_patch(w, at, r->section, 4);
        writer_patch(w, at + 4, r->offset, 4);
        writer_patch(w, at + 8, lines ? 0 : r->type, 4);
        writer_patch(w, at + 12, r->count, 4);
        struct coil_literal literal = {output, at + 8, 4, r->file};
        if (lines && r->section) ok = coil_object_literal(&s->object, literal, &s->err);
    }
    free(rows.items);
    return ok;
}

static void renumber_protos(struct state *s, size_t input, size_t section)
{
    const struct coil_module *m = MODULE(s, input);
    const struct placement *p = &s->sections[input][section];
    struct coil_proto proto;
    penta_error err = {0};
    for (size_t at = 0, from = 0; coil_proto_next(m, section, &at, &proto, &err); from = at)
        writer_patch(&s->object.sections[p->section].data, (size_t)p->offset + from,
                     s->symbols[input][proto.symbol], 4);
}

bool coil_link_renumber(struct state *s)
{
    struct job *jobs = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        for (size_t k = 0; ok && s->link->inputs[i].used && k < m->section_count; k++) {
            if (coil_is_proto(m, k)) renumber_protos(s, i, k);
            if (!coil_is_code(&m->sections[k])) continue;
            ok = ARRAY_GROW(jobs, capacity, count, &s->err);
            if (ok) jobs[count++] = (struct job){i, k, &s->sections[i][k]};
        }
    }
    if (ok && count) qsort(jobs, count, sizeof *jobs, by_output);
    for (size_t i = 0; ok && i < count; i++) ok = renumber_code(s, jobs[i].input, jobs[i].section);
    free(jobs);
    return ok && renumber_rows(s, ".coil.line", true) && renumber_rows(s, ".coil.var", true) &&
           renumber_rows(s, ".coil.type", false);
}

static bool code_relocate(struct state *s, size_t input, const struct coil_reloc *r)
{
    const struct coil_module *m = MODULE(s, input);
    size_t section = (size_t)(r->offset >> 32) - 1;
    const struct placement *p = &s->sections[input][section];
    uint64_t offset = p->offset + (r->offset & UINT32_MAX);
    size_t symbol = s->symbols[input][r->symbol_idx];
    unsigned width = coil_reloc_width(r->type);
    struct coil_out_section *to = &s->object.sections[p->section];
    if (s->link->relocatable) {
        struct coil_reloc kept = {(uint64_t)(p->section + 1) << 32 | offset, (uint32_t)symbol,
                                  r->type, r->addend};
        return coil_object_reloc(&s->object, kept, &s->err);
    }
    if (!width) {
        findings_add(found_in(s, input), COIL_RELOC_TYPE, m->header.reloc_offset, NULL,
                     "%.50s has a relocation of type 0x%x, for dynamic linking", NAME(s, input),
                     (unsigned)r->type);
        return true;
    }
    if ((r->type & 255) == COIL_RELOC_NONE) return true;
    uint64_t value = s->object.symbols[symbol].head.value + r->addend;
    if ((r->type & 255) == COIL_RELOC_REL) value -= to->head.addr + offset;
    penta_bytes name = s->object.symbols[symbol].name;
    if (!coil_reloc_fits(r->type, value))
        findings_add(found_in(s, input), COIL_RELOC_OVERFLOW, m->header.reloc_offset, NULL,
                     "'%.*s' is 0x%llx, which does not fit %u bytes in %.40s", SHORT(name),
                     (unsigned long long)value, width, NAME(s, input));
    writer_patch(&to->data, (size_t)offset, value, width);
    return true;
}

bool coil_link_relocate(struct state *s)
{
    for (size_t i = 0; i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        for (size_t k = 0; s->link->inputs[i].used && k < m->reloc_count; k++)
            if (!code_relocate(s, i, &m->relocs[k])) return false;
    }
    return true;
}
