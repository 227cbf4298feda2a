/* Makes the sections of the output (COIL 9.2, COIL 9.4): merges them by name in the order of the
 * inputs, and gives them addresses later. */
#include "coil/link/state.h"
#include <stdlib.h>

static int64_t out_section(struct state *s, struct labels *index, size_t input, size_t k)
{
    const struct coil_module *m = MODULE(s, input);
    const struct coil_section *from = &m->sections[k];
    penta_bytes name = coil_string(m, from->name_idx);
    int64_t known = labels_intern(index, name, &s->err);
    if (known < 0) return -1;
    struct label *l = &index->items[known];
    if (!l->defined) {
        struct coil_section head = {.type = from->type,
                                    .flags = from->flags,
                                    .align = from->align,
                                    .link = from->link,
                                    .info = from->info};
        int64_t i = coil_object_section(&s->object, name, head, &s->err);
        l->defined = i >= 0;
        l->value = (uint64_t)i;
        return i;
    }
    struct coil_out_section *to = &s->object.sections[l->value];
    if (to->head.type != from->type)
        findings_add(found_in(s, input), COIL_LINK_SECTION_TYPE, from->offset, NULL,
                     "%.*s is %s in %.50s, and %s before", SHORT(name),
                     from->type < COIL_SECTION_TYPES ? coil_section_names[from->type] : "?",
                     NAME(s, input),
                     to->head.type < COIL_SECTION_TYPES ? coil_section_names[to->head.type] : "?");
    else if ((to->head.flags ^ from->flags) & (COIL_WRITE | COIL_EXEC))
        findings_add(found_in(s, input), COIL_LINK_SECTION_FLAGS, from->offset, NULL,
                     "%.*s has flags 0x%x in %.50s, and 0x%x before", SHORT(name),
                     (unsigned)from->flags, NAME(s, input), (unsigned)to->head.flags);
    to->head.flags |= from->flags;
    if (from->align > to->head.align) to->head.align = from->align;
    return (int64_t)l->value;
}

static void write_extensions(struct state *s)
{
    for (size_t i = 0; i < s->object.section_count; i++) {
        struct coil_out_section *to = &s->object.sections[i];
        if (!is_named(to->name, ".coil.ext")) continue;
        writer_uint(&to->data, (uint64_t)__builtin_popcountll(s->extensions), 4);
        for (unsigned id = 0; id < 64; id++)
            if (s->extensions >> id & 1) writer_uint(&to->data, id, 4);
    }
}

bool coil_link_merge_sections(struct state *s)
{
    struct labels index = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        if (!s->link->inputs[i].used) continue;
        s->sections[i] = calloc(m->section_count + 1, sizeof **s->sections);
        ok = s->sections[i] || error_at(&s->err, BASE_MEMORY, 0, "no memory for sections");
        for (size_t k = 0; ok && k < m->section_count; k++) {
            int64_t out = out_section(s, &index, i, k);
            ok = out >= 0;
            if (!ok) break;
            struct coil_out_section *to = &s->object.sections[out];
            uint64_t align = m->sections[k].align ? m->sections[k].align : 1;
            if (align > 1 << 20) align = 1 << 20;
            uint64_t gap = coil_out_size(to) ? coil_pad(to, align) : 0;
            ok = to->head.type == COIL_S_BSS ||
                 coil_object_count_filler(&s->object, gap, 0, &s->err);
            if (!ok) break;
            s->sections[i][k] = (struct placement){(size_t)out, coil_out_size(to)};
            penta_bytes bytes = coil_contents(m, k);
            if (to->head.type == COIL_S_BSS)
                to->zeros += m->sections[k].size;
            else if (!is_named(to->name, ".coil.ext"))
                writer_bytes(&to->data, bytes.data, bytes.size);
            for (size_t at = 4; is_named(to->name, ".coil.ext") && at + 4 <= bytes.size; at += 4) {
                uint64_t id = bytes_uint(bytes.data + at, 4, m->big_endian);
                if (id < 64) s->extensions |= UINT64_C(1) << id;
            }
        }
    }
    labels_free(&index);
    write_extensions(s);
    return ok && !s->findings->errors;
}

void coil_link_place_addresses(struct state *s)
{
    uint64_t at = COIL_PAGE;
    for (unsigned rank = 0; rank < 7; rank++)
        for (size_t i = 0; i < s->object.section_count; i++) {
            struct coil_out_section *to = &s->object.sections[i];
            if (coil_section_rank(to->head.type) != rank || !(to->head.flags & COIL_ALLOC))
                continue;
            uint64_t align = to->head.align > COIL_PAGE ? to->head.align : COIL_PAGE;
            at = (at + align - 1) / align * align;
            to->head.addr = at;
            at += coil_out_size(to);
        }
    for (size_t i = 0; i < s->object.symbol_count; i++) {
        struct coil_symbol *sym = &s->object.symbols[i].head;
        if (sym->section_idx && sym->section_idx != COIL_ABSOLUTE)
            sym->value += s->object.sections[sym->section_idx - 1].head.addr;
    }
}
