/* Implements visitors that look only at offsets and paths: the check that leaves tile the file,
 * the leaf at an offset, a subtree. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "core/describe.h"
#include "core/driver.h"
#include "core/views/views.h"

static bool cover_enter(void *user, const penta_node *node)
{
    struct coverage *c = user;
    if (c->decoded || node->decoded) c->decoded++;
    return true;
}

static void cover_field(void *user, const penta_field *field)
{
    struct coverage *c = user;
    if (c->decoded || c->broken || !field->size) return;
    if (field->offset != c->next) {
        c->broken = true;
        c->at = field->offset < c->next ? field->offset : c->next;
        return;
    }
    c->next += field->size;
}

static void cover_leave(void *user, const penta_node *node)
{
    struct coverage *c = user;
    (void)node;
    if (c->decoded) c->decoded--;
}

penta_visitor coverage_visitor(struct coverage *view)
{
    return (penta_visitor){view, cover_enter, cover_field, cover_leave};
}

bool coverage_complete(const struct coverage *view, uint64_t size)
{
    return !view->broken && view->next == size;
}

struct search {
    penta_place *out;
    struct writer *paths;
    size_t from; /* the offset of `paths` in the caller's buffer */
    const penta_error *wanted;
    size_t *order;       /* the wanted places in the order of (decoded, offset) */
    size_t count, plain; /* the first `plain` places are stored in the file */
    struct path path;
    unsigned decoded_depth;
    uint64_t node_offset[PATH_DEPTH + 1], node_size[PATH_DEPTH + 1];
};

/* Finds the first wanted place of a kind at or after an offset, as an index into `order`. */
static size_t first_from(const struct search *s, uint64_t offset, bool decoded)
{
    size_t low;
    ARRAY_SEARCH(low, decoded ? s->plain : 0, decoded ? s->count : s->plain,
                 s->wanted[s->order[low]].offset >= offset);
    return low;
}

static bool holds_any(const struct search *s, uint64_t offset, uint64_t size, bool decoded)
{
    size_t i = first_from(s, offset, decoded), end = decoded ? s->count : s->plain;
    return i < end && s->wanted[s->order[i]].offset - offset < size;
}

static bool search_enter(void *user, const penta_node *node)
{
    struct search *s = user;
    path_enter(&s->path, node->name, node->list);
    bool decoded = s->decoded_depth || node->decoded;
    /* A decoded subtree may be below any stored node, so all nodes are entered when a decoded place is wanted. */
    bool worth = !node->size || holds_any(s, node->offset, node->size, decoded) ||
                 (!decoded && s->plain < s->count);
    if (!worth) {
        path_leave(&s->path);
        return false;
    }
    if (decoded) s->decoded_depth++;
    unsigned depth = s->path.depth < PATH_DEPTH ? s->path.depth : PATH_DEPTH;
    s->node_offset[depth] = node->offset;
    s->node_size[depth] = node->size;
    return true;
}

static void search_field(void *user, const penta_field *field)
{
    struct search *s = user;
    if (field->name == field_incomplete) s->paths->failed = true;
    bool decoded = s->decoded_depth > 0;
    size_t i = field->size ? first_from(s, field->offset, decoded) : s->count;
    size_t end = decoded ? s->count : s->plain;
    for (; i < end && s->wanted[s->order[i]].offset - field->offset < field->size; i++) {
        penta_place *out = &s->out[s->order[i]];
        if (out->found) continue;
        unsigned depth = s->path.depth < PATH_DEPTH ? s->path.depth : PATH_DEPTH;
        out->found = true;
        out->leaf_offset = field->offset;
        out->leaf_size = field->size;
        out->node_offset = s->node_offset[depth];
        out->node_size = depth ? s->node_size[depth] : 0;
        out->path = s->from + s->paths->out.size;
        path_print(&s->path, field->name, s->paths);
        writer_char(s->paths, 0);
    }
    path_leaf(&s->path);
}

static void search_leave(void *user, const penta_node *node)
{
    struct search *s = user;
    (void)node;
    path_leave(&s->path);
    if (s->decoded_depth) s->decoded_depth--;
}

static bool places_before(const penta_error *a, const penta_error *b)
{
    return a->decoded != b->decoded ? b->decoded : a->offset < b->offset;
}

bool places_locate(const penta_module *module, const penta_error *findings, size_t count,
                   size_t from, penta_place *places, struct writer *paths, penta_error *err)
{
    struct search s = {
        .out = places, .paths = paths, .from = from, .wanted = findings, .count = count};
    for (size_t i = 0; i < count; i++) places[i] = (penta_place){0};
    s.order = malloc((count + 1) * sizeof *s.order);
    if (!s.order) return error_at(err, BASE_MEMORY, 0, "no memory for the places of findings");
    /* Findings are nearly sorted, so inserting them is cheap. */
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at && places_before(&findings[i], &findings[s.order[at - 1]]); at--)
            s.order[at] = s.order[at - 1];
        s.order[at] = i;
        s.plain += !findings[i].decoded;
    }
    penta_visitor visitor = {&s, search_enter, search_field, search_leave};
    if (count) module->driver->describe(module, &visitor);
    free(s.order);
    return true;
}

/* Returns the name of a selected part. It is its path, unless that is the selector itself. */
static const char *select_name(struct select_view *s, const char *name, const char *leaf)
{
    s->name.out.size = 0;
    path_print(&s->walk.path, leaf, &s->name);
    writer_char(&s->name, 0);
    const char *path = (const char *)s->name.out.data;
    if (s->name.failed || !strcmp(path, s->walk.selector->text)) return name;
    return path;
}

static bool select_too_deep(const struct select_view *s)
{
    return s->depth_max && s->inside >= s->depth_max;
}

static bool select_below(struct select_view *s, const penta_node *node)
{
    if (select_too_deep(s) || !describe_enter(&s->next, *node)) return false;
    s->inside++;
    return true;
}

static bool select_enter(void *user, const penta_node *node)
{
    struct select_view *s = user;
    if (!s->walk.selector || s->inside) return select_below(s, node);
    enum selector_match match = selector_enter(&s->walk, node->name, node->list);
    if (match == SELECTOR_ABOVE) return true;
    if (match == SELECTOR_YES) {
        penta_node root = *node;
        root.name = select_name(s, node->name, NULL);
        s->found = true;
        if (select_below(s, &root)) return true;
    }
    selector_leave(&s->walk);
    return false;
}

static void select_field(void *user, const penta_field *field)
{
    struct select_view *s = user;
    if (!s->walk.selector || s->inside) {
        if (!select_too_deep(s)) describe_field(&s->next, *field);
        return;
    }
    if (selector_leaf(&s->walk, field->name)) {
        penta_field root = *field;
        if (field->name != field_incomplete) root.name = select_name(s, field->name, field->name);
        s->found = true;
        describe_field(&s->next, root);
    } else if (field->name == field_incomplete) {
        describe_field(&s->next, *field);
    }
    path_leaf(&s->walk.path);
}

static void select_leave(void *user, const penta_node *node)
{
    struct select_view *s = user;
    if (s->inside) {
        s->inside--;
        describe_leave(&s->next, *node);
    }
    if (s->walk.selector && !s->inside) selector_leave(&s->walk);
}

penta_visitor select_visitor(struct select_view *view, const struct selector *selector)
{
    if (selector && selector->count) selector_start(&view->walk, selector);
    return (penta_visitor){view, select_enter, select_field, select_leave};
}

void select_free(struct select_view *view) { writer_free(&view->name); }
