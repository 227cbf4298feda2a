/* Tells what takes the bytes of a file: the parts at the top of its tree, functions, and data with names. */
#include <stdlib.h>
#include "base/array.h"
#include "base/json/json_visit.h"
#include "base/sanitize.h"
#include "core/driver.h"
#include "core/structure/code_map.h"

struct sizes {
    penta_size_report *report;
    void *user;
    struct writer name;
    bool failed;
};

static void sizes_tell(struct sizes *s, penta_size_kind kind, const char *name, uint64_t bytes)
{
    s->name.out.size = 0;
    writer_safe_text(&s->name, name);
    writer_char(&s->name, 0);
    s->failed |= s->name.failed;
    if (s->name.failed) return;
    s->report(s->user, &(penta_size){kind, (const char *)s->name.out.data, bytes});
}

const char *penta_size_name(penta_size_kind kind)
{
    static const char *const names[] = {"file", "section", "function", "data"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

static bool sizes_enter(void *user, const penta_node *node)
{
    if (node->size && !node->decoded) sizes_tell(user, PENTA_SIZE_SECTION, node->name, node->size);
    return false;
}

static void sizes_field(void *user, const penta_field *f)
{
    struct sizes *s = user;
    s->failed |= f->name == field_incomplete;
    if (f->size) sizes_tell(user, PENTA_SIZE_SECTION, f->name, f->size);
}

struct data {
    struct object {
        uint64_t from, to;
        char *name; /* NULL for a range of data */
    } * items;      /* in the order of addresses; a range comes before the objects in it */
    size_t count, capacity;
    penta_error *err;
};

static void take_data(void *user, const penta_part *part)
{
    struct data *d = user;
    struct writer name = {0};
    writer_safe(&name, part->name);
    writer_char(&name, 0);
    if (writer_ok(&name, d->err) && ARRAY_GROW(d->items, d->capacity, d->count, d->err))
        d->items[d->count++] = (struct object){part->from, part->to, (char *)name.out.data};
    else
        writer_free(&name);
    if (!d->err->code && !part->name.size) {
        writer_free(&name);
        d->items[d->count - 1].name = NULL;
    }
}

static int data_order(const void *a, const void *b)
{
    const struct object *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->name != NULL) - (y->name != NULL);
}

static void tell_data(struct sizes *s, const struct data *d)
{
    uint64_t end = 0; /* the end of the current range */
    for (size_t i = 0, next = 0; i < d->count; i++) {
        const struct object *o = &d->items[i];
        uint64_t to = o->to;
        if (!o->name) end = o->to;
        if (!o->name || o->from >= end) continue;
        while (next < d->count && d->items[next].from <= o->from) next++;
        if (to == o->from && next < d->count) to = d->items[next].from;
        if (to == o->from || to > end) to = end;
        sizes_tell(s, PENTA_SIZE_DATA, o->name, to - o->from);
    }
}

static void sizes_data(struct sizes *s, const penta_module *module, penta_error *err)
{
    struct data d = {.err = err};
    if (!module->driver->data || module->damage.code) return;
    module->driver->data(module, take_data, &d);
    if (d.count) qsort(d.items, d.count, sizeof *d.items, data_order);
    tell_data(s, &d);
    for (size_t i = 0; i < d.count; i++) free(d.items[i].name);
    free(d.items);
}

bool penta_sizes(const penta_module *module, penta_size_report *report, void *user,
                 penta_error *err)
{
    *err = (penta_error){0};
    struct sizes s = {.report = report, .user = user};
    penta_visitor visitor = {&s, sizes_enter, sizes_field, NULL};
    sizes_tell(&s, PENTA_SIZE_FILE, "file", module->file.size);
    module->driver->describe(module, &visitor);
    bool code = module->driver->parts && !module->damage.code;
    struct code_map *map = code ? code_map_new(module, err) : NULL;
    unsigned unit = module->driver->insn_bytes ? module->driver->insn_bytes : 1;
    for (size_t i = 0; map && i < map->function_count; i++)
        sizes_tell(&s, PENTA_SIZE_FUNCTION, map->functions[i].name,
                   (map->functions[i].to - map->functions[i].from) * unit);
    code_map_free(map);
    if (!err->code) sizes_data(&s, module, err);
    writer_free(&s.name);
    if (s.failed) error_at(err, BASE_MEMORY, 0, "no memory for names");
    return !err->code;
}
