/* Decides which objects are part of the program, and which definition a name stands for. The
 * rules are those of other linkers: a strong definition is preferred to a weak one, and a weak
 * one to a common one. Two strong definitions of one name are an error. Members of archives are
 * used when they define what is missing. */
#include "base/array.h"
#include "pvm/link/link.h"
#include <stdlib.h>

enum { LABELS_MAX = 64 }; /* the most labels between a function and a place in it */

/* The functions below keep the table of global names. */

static uint64_t name_hash(const char *name)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *name; name++) h = (h ^ (uint8_t)*name) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

static bool grow_names(struct link *l)
{
    size_t slots = l->name_slots ? l->name_slots * 2 : 1024;
    uint32_t *names = calloc(slots, sizeof *names);
    if (!names) return error_at(&l->err, BASE_MEMORY, 0, "no memory for symbols");
    for (size_t i = 0; i < l->global_count; i++) {
        size_t at = (size_t)name_hash(l->globals[i].name) & (slots - 1);
        while (names[at]) at = (at + 1) & (slots - 1);
        names[at] = (uint32_t)i + 1;
    }
    free(l->names);
    l->names = names;
    l->name_slots = slots;
    return true;
}

/* Returns the entry of a name, and makes it when there is none. Returns LINK_NONE when memory
 * ran out. */
static uint32_t name_global(struct link *l, const char *name, uint32_t object)
{
    if (l->global_count * 2 >= l->name_slots && !grow_names(l)) return LINK_NONE;
    size_t at = (size_t)name_hash(name) & (l->name_slots - 1);
    for (; l->names[at]; at = (at + 1) & (l->name_slots - 1))
        if (!strcmp(l->globals[l->names[at] - 1].name, name)) return l->names[at] - 1;
    if (!ARRAY_GROW(l->globals, l->global_capacity, l->global_count, &l->err)) return LINK_NONE;
    l->globals[l->global_count] = (struct link_global){.name = name,
                                                       .object = LINK_NONE,
                                                       .first_object = object,
                                                       .lazy_object = LINK_NONE,
                                                       .group_object = LINK_NONE,
                                                       .section = LINK_NONE};
    l->names[at] = (uint32_t)l->global_count + 1;
    return (uint32_t)l->global_count++;
}

/* The functions below enter the definitions of objects into the table. */

static bool symbols_counts(const struct link *l, const struct link_symbol *s)
{
    return s->place != LINK_UNDEFINED &&
           (s->place != LINK_DEFINED || !l->sections[s->section].discarded);
}

static void symbols_define(struct link *l, uint32_t object, uint32_t index)
{
    const struct link_symbol *s = &l->objects[object].symbols[index];
    struct link_global *g = &l->globals[s->global];
    bool common = s->place == LINK_COMMON;
    if (g->object != LINK_NONE) {
        struct link_symbol *old = &l->objects[g->object].symbols[g->symbol];
        /* The largest size and the largest alignment of a common symbol count. */
        if (common && g->common) {
            if (s->size > old->size) old->size = s->size;
            if (s->value > old->value) old->value = s->value;
            return;
        }
        if (s->weak || common) return;
        if (!g->weak && !g->common) {
            const char *first = l->objects[g->object].name;
            link_report_object(l, PVM_LINK_DUPLICATE, object, 0, NULL,
                               "%.40s is defined here and in %.50s", s->name, first);
            return;
        }
    }
    g->object = object;
    g->symbol = index;
    g->weak = s->weak;
    g->common = common;
}

/* Drops the section groups that an earlier object has. */
static bool choose_groups(struct link *l, uint32_t object)
{
    const struct link_object *o = &l->objects[object];
    for (size_t i = 0; i < l->group_count; i++) {
        const struct link_group *group = &l->groups[i];
        if (group->object != object) continue;
        uint32_t g = name_global(l, group->signature, object);
        if (g == LINK_NONE) return false;
        if (l->globals[g].group_object == LINK_NONE) l->globals[g].group_object = object;
        if (l->globals[g].group_object == object) continue;
        for (size_t k = 0; k < group->member_count; k++)
            if (group->members[k] < o->section_count)
                l->sections[o->section_first + group->members[k]].discarded = true;
    }
    return true;
}

/* Makes the object part of the program: the names that it defines and needs go into the table. */
static bool symbols_load(struct link *l, uint32_t object)
{
    struct link_object *o = &l->objects[object];
    o->lazy = false;
    if (!choose_groups(l, object)) return false;
    for (uint32_t i = 1; i < o->symbol_count; i++) {
        struct link_symbol *s = &o->symbols[i];
        if (s->global == LINK_NONE) continue;
        s->global = name_global(l, s->name, object);
        if (s->global == LINK_NONE) return false;
        if (symbols_counts(l, s))
            symbols_define(l, object, i);
        else if (!s->weak)
            l->globals[s->global].needed = true;
    }
    return true;
}

/* Notes the names that an archive member could define. */
static bool symbols_offer(struct link *l, uint32_t object)
{
    struct link_object *o = &l->objects[object];
    for (uint32_t i = 1; i < o->symbol_count; i++) {
        struct link_symbol *s = &o->symbols[i];
        if (s->global == LINK_NONE || s->place == LINK_UNDEFINED) continue;
        uint32_t g = name_global(l, s->name, object);
        if (g == LINK_NONE) return false;
        if (l->globals[g].lazy_object == LINK_NONE) l->globals[g].lazy_object = object;
    }
    return true;
}

/* Makes space for a common symbol: a section with only this symbol. */
static bool allocate_common(struct link *l, struct link_global *g)
{
    struct link_symbol *s = &l->objects[g->object].symbols[g->symbol];
    uint64_t align = s->value && !(s->value & (s->value - 1)) && s->value <= 65536 ? s->value : 16;
    if (!ARRAY_GROW(l->sections, l->section_capacity, l->section_count, &l->err)) return false;
    l->sections[l->section_count] = (struct link_section){.name = ".bss.common",
                                                          .object = g->object,
                                                          .use = LINK_ZERO_DATA,
                                                          .size = s->size,
                                                          .align = align};
    s->place = LINK_DEFINED;
    s->section = (uint32_t)l->section_count++;
    s->value = 0;
    return true;
}

bool link_resolve(struct link *l)
{
    for (uint32_t i = 0; i < l->object_count; i++)
        if (!(l->objects[i].lazy ? symbols_offer(l, i) : symbols_load(l, i))) return false;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < l->global_count; i++) {
            struct link_global *g = &l->globals[i];
            if (g->object != LINK_NONE || !g->needed || g->lazy_object == LINK_NONE ||
                !l->objects[g->lazy_object].lazy)
                continue;
            if (!symbols_load(l, g->lazy_object)) return false;
            more = true;
        }
    }
    for (size_t i = 0; i < l->global_count; i++)
        if (l->globals[i].object != LINK_NONE && l->globals[i].common &&
            !allocate_common(l, &l->globals[i]))
            return false;
    return true;
}

/* The functions below define the symbols that the linker provides. */

static const char *name_after_prefix(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) ? NULL : name + n;
}

/* Defines a symbol as the start of the first section of this name, or as the end of the last. */
static void provide_bound(struct link *l, struct link_global *g, const char *section, bool end)
{
    g->provided = true;
    for (size_t i = 0; i < l->order_count; i++) {
        const struct link_section *s = &l->sections[l->order[i]];
        size_t n = strlen(section);
        if (strncmp(s->name, section, n) || (s->name[n] && s->name[n] != '.')) continue;
        if (!end && g->section != LINK_NONE) continue;
        g->section = l->order[i];
        g->value = end ? s->size : 0;
    }
}

static void provide_use(struct link *l, struct link_global *g, enum link_use use, bool end)
{
    g->provided = true;
    for (size_t i = 0; i < l->order_count; i++) {
        const struct link_section *s = &l->sections[l->order[i]];
        if (s->use != use && !(end && s->use <= use && s->use >= LINK_RW_DATA)) continue;
        if (!end && g->section != LINK_NONE) continue;
        g->section = l->order[i];
        g->value = end ? s->size : 0;
    }
}

void link_provide(struct link *l)
{
    static const struct {
        const char *name, *section;
        bool end;
    } bounds[] = {
        {"__preinit_array_start", ".preinit_array", false},
        {"__preinit_array_end", ".preinit_array", true},
        {"__init_array_start", ".init_array", false},
        {"__init_array_end", ".init_array", true},
        {"__fini_array_start", ".fini_array", false},
        {"__fini_array_end", ".fini_array", true},
    };
    for (size_t i = 0; i < l->global_count; i++) {
        struct link_global *g = &l->globals[i];
        const char *name = g->name, *section;
        if (g->object != LINK_NONE) continue;
        for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
            if (!strcmp(name, bounds[k].name))
                provide_bound(l, g, bounds[k].section, bounds[k].end);
        if ((section = name_after_prefix(name, "__start_")) != NULL)
            provide_bound(l, g, section, false);
        if ((section = name_after_prefix(name, "__stop_")) != NULL)
            provide_bound(l, g, section, true);
        if (!strcmp(name, "__bss_start")) provide_use(l, g, LINK_ZERO_DATA, false);
        if (!strcmp(name, "_edata") || !strcmp(name, "edata"))
            provide_use(l, g, LINK_RW_DATA, true);
        if (!strcmp(name, "_end") || !strcmp(name, "end")) provide_use(l, g, LINK_ZERO_DATA, true);
        if (!strcmp(name, "__dso_handle") || !strcmp(name, "_GLOBAL_OFFSET_TABLE_"))
            g->provided = true;
    }
}

/* The functions below find the place that a relocation names. */

static bool symbols_undefined(struct link *l, uint32_t section, const struct link_reloc *reloc,
                              struct link_global *g)
{
    char where[100];
    if (g->told) return false;
    g->told = true;
    link_report(l, PVM_LINK_UNDEFINED, section, reloc->offset,
                "add the object or archive that defines it", "%.44s is not defined; first used %s",
                g->name, link_where(l, section, reloc->offset, where, sizeof where));
    return false;
}

bool link_target(struct link *l, uint32_t section, const struct link_reloc *reloc,
                 struct link_place *out)
{
    const struct link_object *o = &l->objects[l->sections[section].object];
    const struct link_symbol *s = &o->symbols[reloc->symbol];
    *out = (struct link_place){LINK_NONE, reloc->addend};
    if (s->tls) {
        char where[100];
        link_report(l, PVM_LINK_RELOCATION, section, reloc->offset, "the machine has one thread",
                    "%.44s is thread-local, %s", s->name,
                    link_where(l, section, reloc->offset, where, sizeof where));
        return false;
    }
    if (s->global != LINK_NONE) {
        struct link_global *g = &l->globals[s->global];
        if (g->object == LINK_NONE) {
            if (!g->provided && !s->weak && g->needed)
                return symbols_undefined(l, section, reloc, g);
            if (g->provided) {
                out->section = g->section;
                out->offset += (int64_t)g->value;
            }
            return true;
        }
        s = &l->objects[g->object].symbols[g->symbol];
    }
    if (s->place == LINK_DEFINED) out->section = s->section;
    out->offset = (int64_t)((uint64_t)reloc->addend + s->value);
    /* Only symbol 0 is undefined here, which stands for no symbol. */
    if (s->place == LINK_UNDEFINED) out->offset = reloc->addend;
    return true;
}

/* The functions below find the function around a place. */

static int symbols_by_place(const void *a, const void *b)
{
    const struct link_symbol *x = *(const struct link_symbol *const *)a;
    const struct link_symbol *y = *(const struct link_symbol *const *)b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->function - y->function;
}

/* Lists the symbols that can name code, sorted by place, without the labels that the compiler
 * makes. */
static bool index_functions(struct link *l, struct link_object *o)
{
    if (o->functions) return true;
    o->functions = arena_alloc(&l->arena, o->symbol_count, sizeof *o->functions, &l->err);
    for (size_t i = 0; o->functions && i < o->symbol_count; i++) {
        const struct link_symbol *s = &o->symbols[i];
        if (s->place == LINK_DEFINED && !s->section_symbol && *s->name && *s->name != '.' &&
            *s->name != '$' && l->sections[s->section].use == LINK_CODE)
            o->functions[o->function_count++] = s;
    }
    if (o->function_count)
        qsort(o->functions, o->function_count, sizeof *o->functions, symbols_by_place);
    return o->functions != NULL;
}

const struct link_symbol *link_function_at(struct link *l, uint32_t section, uint64_t offset)
{
    struct link_object *o = &l->objects[l->sections[section].object];
    size_t low;
    ARRAY_SEARCH(low, 0, index_functions(l, o) ? o->function_count : 0,
                 o->functions[low]->section > section ||
                     (o->functions[low]->section == section && o->functions[low]->value > offset));
    const struct link_symbol *nearest = NULL;
    for (size_t i = low; i-- > 0 && low - i <= LABELS_MAX;) {
        if (o->functions[i]->section != section) break;
        if (!nearest) nearest = o->functions[i];
        if (o->functions[i]->function) return o->functions[i];
    }
    return nearest;
}
