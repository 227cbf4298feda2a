/* Finds the addresses of a program's sections, symbols and functions, and its entry. It relies on
 * section_layout.c for files that are not linked. */
#include "coil/format/section_layout.h"
#include "coil/vm/load/load.h"
#include <stdlib.h>

static int by_address(const void *a, const void *b)
{
    const struct coil_function *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

bool coil_load_functions(struct coil_loading *l)
{
    struct coil_program *p = l->p;
    const struct coil_module *m = l->m;
    p->functions = calloc(m->symbol_count + m->section_count + 1, sizeof *p->functions);
    if (!p->functions) return error_at(l->err, BASE_MEMORY, 0, "no memory for functions");
    for (size_t i = 0; i < m->symbol_count; i++) {
        uint32_t section = m->symbols[i].section_idx;
        if (m->symbols[i].type != COIL_FUNC || !section || section > m->section_count ||
            !coil_is_code(&m->sections[section - 1]))
            continue;
        /* A FUNC symbol begins a function only if instructions follow it. */
        if (p->symbols[i] - p->sections[section - 1] < m->sections[section - 1].size)
            p->functions[p->function_count++].address = p->symbols[i];
    }
    /* The code before the first FUNC symbol of a section is a function too. */
    for (size_t i = 0; i < m->section_count; i++)
        if (coil_is_code(&m->sections[i]) && m->sections[i].size)
            p->functions[p->function_count++].address = p->sections[i];
    qsort(p->functions, p->function_count, sizeof *p->functions, by_address);
    size_t n = 0;
    for (size_t i = 0; i < p->function_count; i++)
        if (!n || p->functions[n - 1].address != p->functions[i].address)
            p->functions[n++] = p->functions[i];
    p->function_count = n;
    /* Even a function without variables has slot 0. */
    for (size_t i = 0; i < n; i++) p->functions[i].slots = 1;
    return true;
}

struct placed {
    uint64_t address;
    size_t section;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return x->section < y->section ? -1 : x->section > y->section;
}

static bool order_sections(struct coil_program *p, const struct coil_module *m)
{
    struct placed *all = calloc(m->section_count + 1, sizeof *all);
    if (!all) return false;
    p->end = coil_section_addresses(m, p->sections);
    for (size_t i = 0; i < m->section_count; i++) all[i] = (struct placed){p->sections[i], i};
    qsort(all, m->section_count, sizeof *all, by_place);
    for (size_t i = 0; i < m->section_count; i++) p->order[i] = all[i].section;
    free(all);
    return true;
}

bool coil_load_symbols(struct coil_loading *l)
{
    struct coil_program *p = l->p;
    const struct coil_module *m = l->m;
    bool exec = m->header.flags & COIL_FILE_EXEC;
    p->symbols = calloc(m->symbol_count + 1, sizeof *p->symbols);
    p->sections = calloc(m->section_count + 1, sizeof *p->sections);
    p->order = calloc(m->section_count + 1, sizeof *p->order);
    if (!p->symbols || !p->sections || !p->order || !order_sections(p, m))
        return error_at(l->err, BASE_MEMORY, 0, "no memory for symbols");
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        p->symbols[i] = s->value;
        if (s->section_idx && s->section_idx <= m->section_count && !exec)
            p->symbols[i] = p->sections[s->section_idx - 1] + s->value;
        if (s->section_idx || exec) continue;
        if (s->type == COIL_COMMON) {
            uint64_t align =
                s->value && s->value <= 1 << 20 && !(s->value & (s->value - 1)) ? s->value : 16;
            p->end = (p->end + align - 1) / align * align;
            p->symbols[i] = p->end;
            p->end += s->size < UINT64_C(1) << 40 ? s->size : UINT64_C(1) << 40;
        } else if ((s->bind == COIL_WEAK && !l->how.object) || s->type == COIL_FILE ||
                   s->type == COIL_SECTION) {
            p->symbols[i] = 0;
        } else if (l->how.object) {
            p->symbols[i] = COIL_ELSEWHERE + 16 * i;
        } else {
            penta_bytes name = coil_symbol_name(m, i);
            error_at(l->err, COIL_UNDEFINED, m->header.symbol_offset + i * coil_symbol_bytes,
                     "'%.*s' is defined nowhere", BYTES_ARG(name, 60));
            return error_note(l->err, "link it with the object that defines it: penta link");
        }
    }
    return true;
}

bool coil_load_entry(struct coil_loading *l)
{
    struct coil_program *p = l->p;
    const struct coil_module *m = l->m;
    uint64_t address = m->header.entry_point;
    size_t section;
    uint64_t offset;
    bool found = m->header.flags & COIL_FILE_EXEC;
    if (coil_reloc_entry(m, &section, &offset)) {
        address = p->sections[section] + offset;
        found = true;
    }
    static const char *const names[] = {"_start", "main"};
    for (int k = 0; k < 2 && !found; k++)
        for (size_t i = 0; i < m->symbol_count && !found; i++) {
            penta_bytes name = coil_symbol_name(m, i);
            if (m->symbols[i].bind == COIL_LOCAL || !m->symbols[i].section_idx ||
                name.size != strlen(names[k]) || memcmp(name.data, names[k], name.size))
                continue;
            address = p->symbols[i];
            found = true;
        }
    if (m->raw && m->section_count && m->sections[0].size) {
        address = p->sections[0];
        found = true;
    }
    for (size_t i = 0; i < p->function_count; i++)
        if (found && p->functions[i].address == address) {
            p->entry = (uint32_t)i;
            return true;
        }
    if (l->how.object && !found) {
        p->entry = UINT32_MAX;
        return true;
    }
    error_at(l->err, COIL_ENTRY, 24, "there is no entry function");
    return error_note(l->err, "define _start or main as .global, or name the entry when linking");
}
