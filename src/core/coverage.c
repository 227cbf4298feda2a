/* Consumers that only look at places: the tiling check, the leaf at an offset, a subtree. */
#include <string.h>
#include "base/bytes.h"
#include "core/views.h"

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

/* ---- locate ---- */

struct search {
    struct located *out;
    struct path path;
    uint64_t offset;
    bool decoded;
    unsigned decoded_depth;
    uint64_t node_offset[PATH_DEPTH + 1], node_size[PATH_DEPTH + 1];
};

static bool search_enter(void *user, const penta_node *node)
{
    struct search *s = user;
    path_enter(&s->path, node->name, node->list);
    bool decoded = s->decoded_depth || node->decoded;
    bool inside = !node->size ||
                  (s->offset >= node->offset && s->offset - node->offset < node->size);
    /* A decoded subtree may hang below any stored node, so those are entered in any case. */
    if (s->out->found || (!inside && decoded == s->decoded)) {
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
    struct located *out = s->out;
    if (!out->found && field->size && s->decoded == (s->decoded_depth > 0) &&
        s->offset >= field->offset && s->offset - field->offset < field->size) {
        unsigned depth = s->path.depth < PATH_DEPTH ? s->path.depth : PATH_DEPTH;
        out->found = true;
        out->leaf_offset = field->offset;
        out->leaf_size = field->size;
        out->node_offset = s->node_offset[depth];
        out->node_size = depth ? s->node_size[depth] : 0;
        path_print(&s->path, field->name, &out->path);
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

void locate(const penta_module *module, uint64_t offset, bool decoded, struct located *out)
{
    struct search s = {.out = out, .offset = offset, .decoded = decoded};
    *out = (struct located){0};
    penta_visitor visitor = {&s, search_enter, search_field, search_leave};
    penta_describe(module, &visitor);
}

/* ---- select ---- */

static bool path_is(struct select_view *s, const char *leaf)
{
    s->scratch.out.size = 0;
    path_print(&s->path, leaf, &s->scratch);
    penta_bytes have = writer_view(&s->scratch), want = bytes_of(s->wanted);
    return have.size == want.size && !memcmp(have.data, want.data, want.size);
}

static bool select_enter(void *user, const penta_node *node)
{
    struct select_view *s = user;
    path_enter(&s->path, node->name, node->list);
    if (s->inside || path_is(s, NULL)) {
        s->found = true;
        if (!s->next.enter(s->next.user, node)) {
            path_leave(&s->path);
            return false;
        }
        s->inside++;
    }
    return true;
}

static void select_field(void *user, const penta_field *field)
{
    struct select_view *s = user;
    if (s->inside || path_is(s, field->name)) {
        s->found = true;
        s->next.field(s->next.user, field);
    }
    path_leaf(&s->path);
}

static void select_leave(void *user, const penta_node *node)
{
    struct select_view *s = user;
    path_leave(&s->path);
    if (!s->inside) return;
    s->inside--;
    s->next.leave(s->next.user, node);
}

penta_visitor select_visitor(struct select_view *view)
{
    return (penta_visitor){view, select_enter, select_field, select_leave};
}

void select_free(struct select_view *view) { writer_free(&view->scratch); }
