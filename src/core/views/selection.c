/* Walks over a file and reports what a selector selects. A selected node is reported as a whole, without what is
 * below it. */
#include "core/views/selection.h"
#include <stdlib.h>
#include "base/array.h"
#include "base/json/json_visit.h"
#include "core/driver.h"

struct selecting {
    struct selector_walk walk;
    unsigned decoded; /* how many open nodes have offsets in the decoded image */
    penta_select_report *report;
    void *user;
    struct writer path;
    size_t count;
    bool incomplete; /* Memory ran out during the walk. */
};

static void selecting_tell(struct selecting *s, const char *leaf, penta_selected part)
{
    s->path.out.size = 0;
    path_print(&s->walk.path, leaf, &s->path);
    writer_char(&s->path, 0);
    s->count++;
    if (s->path.failed) return;
    part.path = (const char *)s->path.out.data;
    s->report(s->user, &part);
}

static bool selecting_enter(void *user, const penta_node *node)
{
    struct selecting *s = user;
    enum selector_match match = selector_enter(&s->walk, node->name, node->list);
    bool decoded = s->decoded || node->decoded;
    if (match == SELECTOR_ABOVE) {
        s->decoded += decoded;
        return true;
    }
    if (match == SELECTOR_YES)
        selecting_tell(
            s, NULL,
            (penta_selected){.offset = node->offset, .size = node->size, .decoded = decoded});
    selector_leave(&s->walk);
    return false;
}

static void selecting_field(void *user, const penta_field *field)
{
    struct selecting *s = user;
    s->incomplete |= field->name == field_incomplete;
    if (selector_leaf(&s->walk, field->name))
        selecting_tell(s, field->name,
                       (penta_selected){.offset = field->offset,
                                        .size = field->size,
                                        .decoded = s->decoded > 0,
                                        .field = field});
    path_leaf(&s->walk.path);
}

static void selecting_leave(void *user, const penta_node *node)
{
    struct selecting *s = user;
    (void)node;
    s->decoded -= s->decoded > 0;
    selector_leave(&s->walk);
}

bool selection_walk(const penta_module *module, const struct selector *selector,
                    penta_select_report *report, void *user, size_t *parts, penta_error *err)
{
    struct selecting s = {.report = report, .user = user};
    selector_start(&s.walk, selector);
    if (!selector->count) {
        report(user, &(penta_selected){.path = "/", .size = module->file.size});
        s.count = 1;
    } else {
        penta_visitor visitor = {&s, selecting_enter, selecting_field, selecting_leave};
        module->driver->describe(module, &visitor);
    }
    if (parts) *parts = s.count;
    bool failed = s.incomplete || s.path.failed;
    writer_free(&s.path);
    if (failed) return error_at(err, BASE_MEMORY, 0, "no memory to select parts");
    return s.count || selector_missing(&s.walk, err);
}

struct ranging {
    struct selection *out;
    penta_error *err;
};

static void ranging_take(void *user, const penta_selected *part)
{
    struct ranging *r = user;
    struct selection *s = r->out;
    if (part->decoded || !part->size) return;
    struct selection_range *last = s->count ? &s->ranges[s->count - 1] : NULL;
    if (last && last->to == part->offset)
        last->to += part->size;
    else if (ARRAY_GROW(s->ranges, s->capacity, s->count, r->err))
        s->ranges[s->count++] = (struct selection_range){part->offset, part->offset + part->size};
}

static int range_order(const void *a, const void *b)
{
    const struct selection_range *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

bool selection_read(struct selection *s, const penta_module *module, const char *selector,
                    penta_error *err)
{
    struct selector parsed;
    struct ranging ranging = {s, err};
    *s = (struct selection){0};
    if (!selector_parse(&parsed, selector, err) ||
        !selection_walk(module, &parsed, ranging_take, &ranging, NULL, err))
        return false;
    if (s->count) qsort(s->ranges, s->count, sizeof *s->ranges, range_order);
    return !err->code;
}

bool selection_holds(const struct selection *s, uint64_t from, uint64_t size)
{
    size_t i;
    ARRAY_SEARCH(i, 0, s->count, s->ranges[i].to > from);
    return i < s->count && s->ranges[i].from < from + size;
}

void selection_free(struct selection *s) { free(s->ranges); }
