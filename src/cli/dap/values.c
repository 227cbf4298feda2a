/* Values as text, what references stand for, and the machine's tree level by level. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "cli/dap/dap.h"

void dap_value_text(struct writer *out, const penta_field *field, bool hex)
{
    enum { SHOWN = 64 };
    penta_buffer text = {0};
    if (field->kind == PENTA_TEXT) {
        writer_bytes(out, field->as.bytes.data, field->as.bytes.size);
    } else if (field->kind == PENTA_RAW) {
        writer_hex(out, bytes_slice(field->as.bytes, 0, SHOWN));
        if (field->as.bytes.size > SHOWN) writer_text(out, "...");
    } else {
        penta_value value = {.kind = field->kind, .as.u = field->as.u};
        if (field->kind == PENTA_FLOAT) value.as.f = field->as.f;
        if (penta_value_text(&value, hex ? 16 : 0, &text)) writer_bytes(out, text.data, text.size);
        penta_buffer_free(&text);
    }
}

uint64_t dap_handle(struct dap *d, struct dap_handle handle)
{
    if (!ARRAY_RESERVE(d->handles, d->handle_capacity, d->handle_count + 1)) {
        free(handle.path);
        return 0;
    }
    d->handles[d->handle_count++] = handle;
    return d->handle_count;
}

const struct dap_handle *dap_handle_of(const struct dap *d, uint64_t reference)
{
    return reference && reference <= d->handle_count ? &d->handles[reference - 1] : NULL;
}

/* ---- the tree ---- */

struct child {
    char *name;
    bool node, list;
    uint64_t items; /* the length of a list; 0: it is not known */
    char *value, *type;
};

enum { DEPTH = 32 };
struct level {
    uint64_t children;
    bool list;
};

struct walk {
    const char *wanted;
    struct writer path; /* the path of the node that the walk is at */
    size_t sizes[DEPTH];
    struct level levels[DEPTH];
    unsigned depth;
    bool inside; /* the node under way is the wanted one */
    uint64_t start, end;
    bool hex;
    struct child *children;
    size_t count, capacity;
};

/* name, or name[i] in a list. */
static void add_name(struct walk *w, const char *name, struct writer *out)
{
    const struct level *l = &w->levels[w->depth];
    writer_text(out, name);
    if (l->list) writer_print(out, "[%" PRIu64 "]", l->children);
}

static char *dap_values_taken(struct writer *w)
{
    writer_char(w, 0);
    if (w->failed) writer_free(w);
    return (char *)w->out.data;
}

static void child_free(struct child *c)
{
    free(c->name);
    free(c->value);
    free(c->type);
}

static void keep_child(struct walk *w, struct child c)
{
    if (c.name && ARRAY_RESERVE(w->children, w->capacity, w->count + 1)) {
        w->children[w->count++] = c;
        return;
    }
    child_free(&c);
}

static bool wanted_index(const struct walk *w)
{
    uint64_t i = w->levels[w->depth].children;
    return i >= w->start && i < w->end;
}

/* What is in this node of the tree, unless it is a node or text itself. */
static bool can_be_set(const char *path)
{
    return !strcmp(path, "/registers") || !strcmp(path, "/variables");
}

/* The wanted path is below or at the one under way. */
static bool dap_values_leads(const struct walk *w, bool *there)
{
    penta_bytes at = writer_view(&w->path);
    size_t size = strlen(w->wanted);
    if (at.size > size || memcmp(at.data, w->wanted, at.size)) return false;
    *there = at.size == size;
    return *there || w->wanted[at.size] == '/';
}

static bool tree_enter(void *user, const penta_node *node)
{
    struct walk *w = user;
    bool there = false;
    if (w->inside) { /* this node is a child to be shown */
        struct writer name = {0};
        if (wanted_index(w)) {
            add_name(w, node->name, &name);
            keep_child(w, (struct child){.name = dap_values_taken(&name),
                                         .node = true,
                                         .list = node->list,
                                         .items = node->items ? *node->items : 0});
        }
        w->levels[w->depth].children++;
        return false;
    }
    size_t before = w->path.out.size;
    writer_char(&w->path, '/');
    add_name(w, node->name, &w->path);
    w->levels[w->depth].children++;
    if (w->depth + 1 == DEPTH || w->path.failed || !dap_values_leads(w, &there)) {
        w->path.out.size = before;
        return false;
    }
    w->depth++;
    w->sizes[w->depth] = before;
    w->levels[w->depth] = (struct level){0, node->list};
    w->inside = there;
    if (there && node->items && *node->items > w->end) *node->items = (size_t)w->end;
    return true;
}

static void tree_field(void *user, const penta_field *field)
{
    struct walk *w = user;
    struct writer name = {0}, value = {0};
    if (w->inside && wanted_index(w)) {
        add_name(w, field->name, &name);
        dap_value_text(&value, field, w->hex);
        bool typed = field->note && can_be_set(w->wanted);
        if (field->note && !typed) writer_print(&value, "  %s", field->note);
        keep_child(w, (struct child){.name = dap_values_taken(&name),
                                     .value = dap_values_taken(&value),
                                     .type = typed ? strdup(field->note) : NULL});
    }
    w->levels[w->depth].children++;
}

static void tree_leave(void *user, const penta_node *node)
{
    struct walk *w = user;
    (void)node;
    w->path.out.size = w->sizes[w->depth--];
    w->inside = false;
}

static void tell_child(struct dap *d, const struct dap_handle *h, struct child *c, struct json *j)
{
    struct writer path = {0};
    writer_print(&path, "%s/%s", h->path, c->name);
    char *whole = dap_values_taken(&path);
    json_object(j, NULL);
    json_text(j, "name", c->name);
    json_text(j, "value", c->value ? c->value : c->list ? "[...]" : "{...}");
    json_text(j, "evaluateName", whole);
    if (c->type) json_text(j, "type", c->type);
    if (!c->node && !can_be_set(h->path)) {
        json_object(j, "presentationHint");
        json_list(j, "attributes");
        json_text(j, NULL, "readOnly");
        json_end(j);
        json_end(j);
    }
    if (c->node) {
        json_uint(j, "variablesReference",
                  whole ? dap_handle(d, (struct dap_handle){.shown = DAP_TREE,
                                                            .path = strdup(whole),
                                                            .list = c->list})
                        : 0);
        if (c->items) json_uint(j, "indexedVariables", c->items);
    } else {
        json_uint(j, "variablesReference", 0);
    }
    json_end(j);
    free(whole);
}

bool dap_has_children(struct dap *d, const char *path)
{
    struct walk w = {.wanted = path, .inside = !*path, .end = 1};
    penta_visitor visitor = {&w, tree_enter, tree_field, tree_leave};
    penta_vm_describe(penta_session_vm(d->session), &visitor);
    bool found = w.count;
    for (size_t i = 0; i < w.count; i++) child_free(&w.children[i]);
    writer_free(&w.path);
    free(w.children);
    return found;
}

void dap_tree(struct dap *d, const struct dap_handle *h, uint64_t start, uint64_t count, bool hex,
              struct json *j)
{
    struct dap_handle own = *h; /* the list of handles grows */
    struct walk w = {.wanted = own.path,
                     .inside = !*own.path,
                     .start = start,
                     .end = count > UINT64_MAX - start ? UINT64_MAX : start + count,
                     .hex = hex};
    own.path = strdup(own.path);
    w.wanted = own.path;
    penta_visitor visitor = {&w, tree_enter, tree_field, tree_leave};
    if (own.path) penta_vm_describe(penta_session_vm(d->session), &visitor);
    for (size_t i = 0; i < w.count; i++) {
        tell_child(d, &own, &w.children[i], j);
        child_free(&w.children[i]);
    }
    writer_free(&w.path);
    free(w.children);
    free(own.path);
}
