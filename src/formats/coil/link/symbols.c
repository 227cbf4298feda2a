/* Makes the symbols of the output (COIL 9.3): decides which definition a name stands for, places
 * common symbols, and finds the entry function. */
#include "coil/link/state.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/array.h"

static struct coil_symbol symbols_moved(const struct state *s, size_t input,
                                        const struct coil_symbol *from)
{
    struct coil_symbol to = *from;
    if (from->section_idx && from->section_idx != COIL_ABSOLUTE) {
        const struct placement *p = &s->sections[input][from->section_idx - 1];
        to.section_idx = (uint32_t)p->section + 1;
        to.value = from->value + p->offset;
    }
    return to;
}

static enum strength strength_of(const struct coil_symbol *sym)
{
    if (sym->type == COIL_COMMON && !sym->section_idx) return COMMON;
    if (!sym->section_idx) return UNDEFINED;
    return sym->bind == COIL_WEAK ? WEAK : STRONG;
}

static struct global *find_global(struct state *s, size_t input, penta_bytes name)
{
    int64_t k = labels_intern(&s->names, name, &s->err);
    if (k < 0) return NULL;
    struct label *l = &s->names.items[k];
    if (l->defined) return &s->globals[l->value];
    if (!ARRAY_GROW(s->globals, s->global_capacity, s->global_count, &s->err)) return NULL;
    int64_t out =
        coil_object_symbol(&s->object, l->name, (struct coil_symbol){.bind = COIL_WEAK}, &s->err);
    if (out < 0) return NULL;
    l->defined = true;
    l->value = s->global_count;
    s->globals[s->global_count] =
        (struct global){.out = (size_t)out, .owner = input, .referrer = input, .weak_only = true};
    return &s->globals[s->global_count++];
}

static bool symbols_resolve(struct state *s, size_t input, size_t index)
{
    const struct coil_module *m = MODULE(s, input);
    const struct coil_symbol *sym = &m->symbols[index];
    penta_bytes name = coil_symbol_name(m, index);
    struct global *g = find_global(s, input, name);
    if (!g) return false;
    s->symbols[input][index] = g->out;
    struct coil_symbol *to = &s->object.symbols[g->out].head;
    enum strength strength = strength_of(sym);
    g->weak_only &= sym->bind == COIL_WEAK;
    if (strength == UNDEFINED) {
        if (g->strength == UNDEFINED && sym->bind != COIL_WEAK && to->bind == COIL_WEAK) {
            to->bind = sym->bind;
            g->referrer = input;
            g->symbol = index;
        }
        return true;
    }
    if (strength == STRONG && g->strength == STRONG) {
        if (g->unique && sym->bind == COIL_UNIQUE) return true;
        findings_add(found_in(s, input), COIL_SYM_DUP,
                     m->header.symbol_offset + index * coil_symbol_bytes,
                     "make one of them .weak or .local", "'%.*s' is defined in %.30s and in %.30s",
                     SHORT(name), NAME(s, g->owner), NAME(s, input));
        return true;
    }
    if (strength == COMMON && g->strength == COMMON) {
        if (sym->size > to->size) to->size = sym->size;
        if (sym->value > to->value) to->value = sym->value;
        return true;
    }
    if (strength <= g->strength) return true;
    *to = symbols_moved(s, input, sym);
    g->strength = strength;
    g->owner = input;
    g->unique = sym->bind == COIL_UNIQUE;
    return true;
}

bool coil_link_merge_symbols(struct state *s)
{
    for (size_t i = 0; i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        if (!s->link->inputs[i].used) continue;
        s->symbols[i] = calloc(m->symbol_count + 1, sizeof **s->symbols);
        if (!s->symbols[i]) return error_at(&s->err, BASE_MEMORY, 0, "no memory for symbols");
        for (size_t k = 0; k < m->symbol_count; k++) {
            const struct coil_symbol *sym = &m->symbols[k];
            if (is_shared(sym)) {
                if (!symbols_resolve(s, i, k)) return false;
                continue;
            }
            int64_t out = coil_object_symbol(&s->object, coil_symbol_name(m, k),
                                             symbols_moved(s, i, sym), &s->err);
            if (out < 0) return false;
            s->symbols[i][k] = (size_t)out;
        }
    }
    return true;
}

/* Places common symbols at the end of .bss, in the order of their first appearance. */
bool coil_link_place_commons(struct state *s)
{
    size_t bss = SIZE_MAX;
    for (size_t i = 0; i < s->object.section_count; i++)
        if (is_named(s->object.sections[i].name, ".bss") &&
            s->object.sections[i].head.type == COIL_S_BSS)
            bss = i;
    for (size_t i = 0; i < s->object.symbol_count; i++) {
        struct coil_symbol *sym = &s->object.symbols[i].head;
        if (sym->type != COIL_COMMON || sym->section_idx) continue;
        if (bss == SIZE_MAX) {
            struct coil_section head = {
                .type = COIL_S_BSS, .flags = COIL_ALLOC | COIL_WRITE, .align = 8};
            int64_t made = coil_object_section(&s->object, bytes_of(".bss"), head, &s->err);
            if (made < 0) return false;
            bss = (size_t)made;
        }
        struct coil_out_section *to = &s->object.sections[bss];
        uint64_t align = sym->value && sym->value <= 1 << 20 && !(sym->value & (sym->value - 1))
                             ? sym->value
                             : 1;
        if (align > to->head.align) to->head.align = align;
        coil_pad(to, align);
        sym->section_idx = (uint32_t)bss + 1;
        sym->value = to->zeros;
        sym->type = COIL_OBJECT;
        to->zeros += sym->size;
    }
    return true;
}

/* Writes as text where the first input that needs a symbol uses it, if the input's tables say
 * that. Returns the offset of the use. */
static uint64_t describe_use(struct state *s, const struct global *g, char *text, size_t room)
{
    const struct coil_module *m = MODULE(s, g->referrer);
    size_t section, function = SIZE_MAX;
    uint64_t offset, line;
    penta_bytes file;
    *text = 0;
    if (!coil_link_find_use(s, g->referrer, g->symbol, &section, &offset))
        return m->header.symbol_offset + g->symbol * coil_symbol_bytes;
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *f = &m->symbols[i];
        if (f->type == COIL_FUNC && f->section_idx == section + 1 && f->value <= offset &&
            (function == SIZE_MAX || f->value >= m->symbols[function].value))
            function = i;
    }
    int n = 0;
    if (function != SIZE_MAX)
        n = snprintf(text, room, " in '%.*s'", SHORT(coil_symbol_name(m, function)));
    if (coil_source_line(m, section, offset, &file, &line))
        snprintf(text + n, room - (size_t)n, ", %.*s:%llu", SHORT(file), (unsigned long long)line);
    return m->sections[section].offset + offset;
}

void coil_link_report_undefined(struct state *s)
{
    for (size_t i = 0; i < s->global_count; i++) {
        struct global *g = &s->globals[i];
        struct coil_out_symbol *sym = &s->object.symbols[g->out];
        char use[160];
        if (g->strength != UNDEFINED) continue;
        if (g->weak_only) {
            sym->head.section_idx = COIL_ABSOLUTE;
            sym->head.value = 0;
            continue;
        }
        uint64_t at = describe_use(s, g, use, sizeof use);
        findings_add(found_in(s, g->referrer), COIL_UNDEFINED, at,
                     "give the linker the object or archive that defines it",
                     "'%.*s' is defined nowhere; %.40s refers to it%s", SHORT(sym->name),
                     NAME(s, g->referrer), use);
    }
}

/* Counts the inputs in use whose .entry names a function. *input gets the last of these inputs. */
size_t coil_link_count_entries(const struct state *s, size_t *input)
{
    size_t count = 0, section;
    uint64_t offset;
    for (size_t i = 0; i < s->link->count; i++) {
        if (!s->link->inputs[i].used || MODULE(s, i)->base.damage.code ||
            !coil_reloc_entry(MODULE(s, i), &section, &offset))
            continue;
        *input = i;
        count++;
    }
    return count;
}

/* Takes the entry from an input, if exactly one input names a function as entry. */
static bool take_entry(struct state *s)
{
    size_t input, section;
    uint64_t offset;
    if (s->link->entry || coil_link_count_entries(s, &input) != 1) return false;
    coil_reloc_entry(MODULE(s, input), &section, &offset);
    const struct placement *p = &s->sections[input][section];
    uint64_t base = s->link->relocatable ? (uint64_t)(p->section + 1) << 32
                                         : s->object.sections[p->section].head.addr;
    s->object.header.entry_point = base + p->offset + offset;
    return true;
}

void coil_link_choose_entry(struct state *s)
{
    size_t input;
    if (take_entry(s) || s->link->relocatable) return;
    const char *names[] = {s->link->entry ? s->link->entry : "_start", "main"};
    for (int i = 0; i < (s->link->entry ? 1 : 2); i++) {
        const struct label *l = labels_find(&s->names, bytes_of(names[i]));
        if (!l || !l->defined || s->globals[l->value].strength < WEAK) continue;
        const struct coil_symbol *sym = &s->object.symbols[s->globals[l->value].out].head;
        if (sym->section_idx == COIL_ABSOLUTE ||
            !coil_is_code(&s->object.sections[sym->section_idx - 1].head))
            continue;
        s->object.header.entry_point = sym->value;
        return;
    }
    if (!s->link->entry && coil_link_count_entries(s, &input) > 1) {
        findings_add(found_in(s, input), COIL_ENTRY, 24, "choose one by its name",
                     "several inputs name an entry; the last is %.60s", NAME(s, input));
        return;
    }
    s->link->where = NULL;
    findings_add(s->findings, COIL_ENTRY, 0, "name another function, or make this one .global",
                 "there is no entry function '%.60s'", s->link->entry ? s->link->entry : "main");
}
