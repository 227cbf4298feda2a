/* What refers to symbols and strings by number (COIL 9.5, COIL 9.6): operands in code, source
 * lines, relocations. */
#include "coil/link/state.h"

/* ---- code ---- */

static void patch(struct writer *w, uint64_t at, uint64_t value)
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
        patch(w, p->offset + o->at + o->size - 8, s->symbols[input][o->value]);
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

static bool mentions(const struct coil_operand *o, size_t symbol)
{
    if ((o->form == COIL_SYM || o->form == COIL_ADDR) && o->value == symbol) return true;
    for (unsigned i = 0; i < o->parts_count; i++)
        if (mentions(&o->parts[i], symbol)) return true;
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
                if (mentions(&s->insn->operands[i], symbol)) return true;
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

/* Rows of .coil.line name a section, an offset in it and a string. */
static bool renumber_lines(struct state *s, size_t input, size_t section)
{
    const struct coil_module *m = MODULE(s, input);
    const struct placement *p = &s->sections[input][section];
    penta_bytes rows = coil_contents(m, section);
    struct writer *w = &s->object.sections[p->section].data;
    for (size_t at = 0; at + 16 <= rows.size; at += 16) {
        uint64_t number = bytes_uint(rows.data + at, 4, m->big_endian),
                 offset = bytes_uint(rows.data + at + 4, 4, m->big_endian);
        if (!number || number > m->section_count) continue;
        const struct placement *code = &s->sections[input][number - 1];
        writer_patch(w, (size_t)p->offset + at, code->section + 1, 4);
        writer_patch(w, (size_t)p->offset + at + 4, offset + code->offset, 4);
        struct coil_literal literal = {
            p->section, p->offset + at + 8, 4,
            coil_string(m, bytes_uint(rows.data + at + 8, 4, m->big_endian))};
        if (!coil_object_literal(&s->object, literal, &s->err)) return false;
    }
    return true;
}

bool coil_link_renumber(struct state *s)
{
    for (size_t i = 0; i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        for (size_t k = 0; s->link->inputs[i].used && k < m->section_count; k++) {
            bool ok = true;
            if (coil_is_code(&m->sections[k]))
                ok = renumber_code(s, i, k);
            else if (is_named(coil_string(m, m->sections[k].name_idx), ".coil.line") &&
                     m->sections[k].type == COIL_S_DEBUG)
                ok = renumber_lines(s, i, k);
            if (!ok) return false;
        }
    }
    return true;
}

/* ---- relocations ---- */

static bool relocate(struct state *s, size_t input, const struct coil_reloc *r)
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
            if (!relocate(s, i, &m->relocs[k])) return false;
    }
    return true;
}
