/* Answers the calls about the tree of a file, for views that show a screen of it: some children
 * of one node, and the fields of a range of bytes. Walks enter only the nodes that are needed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "web/web.h"

static const char *kind_name(penta_kind kind)
{
    static const char *const names[] = {
        [PENTA_UINT] = "uint",   [PENTA_WORD] = "word", [PENTA_SINT] = "sint",
        [PENTA_FLOAT] = "float", [PENTA_BOOL] = "bool", [PENTA_TEXT] = "text",
        [PENTA_RAW] = "raw"};
    return names[kind];
}

/* A path as the library writes it, such as /code/insn[3], where items of a list are numbered. A
 * path that is too long ends in the name that did not fit. */
struct path {
    char text[2048];
    size_t size;
};

static size_t path_add(struct path *p, const char *name, bool item, uint64_t index)
{
    size_t before = p->size, left = sizeof p->text - p->size;
    int n = item ? snprintf(p->text + p->size, left, "/%s[%" PRIu64 "]", name, index)
                 : snprintf(p->text + p->size, left, "/%s", name);
    if (n > 0) p->size += (size_t)n < left ? (size_t)n : left - 1;
    return before;
}

static void path_cut(struct path *p, size_t size)
{
    p->size = size;
    p->text[size] = 0;
}

enum { LEVELS = 64 };

struct level {
    bool list;
    bool shown; /* The children of the node are written. */
    uint64_t children;
    size_t path; /* length of the path before this node */
};

struct tree {
    struct json *j;
    struct path path;
    struct level levels[LEVELS];
    unsigned depth, most; /* `depth` counts the open nodes below the wanted one; `most` limits
                           * it. */
    uint64_t from, count;
    const char *asked; /* the path of the wanted node, or NULL for the file */
};

/* Gives the index of the next child of the innermost open node. Tells whether it is written: at
 * most `count` children of a node are, and of the wanted node those from `from` on. */
static bool next_child(struct tree *t, uint64_t *index)
{
    if (!t->depth) return *index = 0, true; /* This is the wanted node itself. */
    struct level *l = &t->levels[t->depth - 1];
    uint64_t from = t->depth == 1 ? t->from : 0;
    *index = l->children++;
    return l->shown && *index >= from && *index - from < t->count;
}

static bool in_list(const struct tree *t) { return t->depth && t->levels[t->depth - 1].list; }

static void open_level(struct tree *t, bool list, size_t path)
{
    struct level *l = &t->levels[t->depth];
    *l = (struct level){.list = list, .shown = t->depth < t->most, .path = path};
    t->depth++;
    if (!l->shown) return;
    json_uint(t->j, "from", t->depth == 1 ? t->from : 0);
    json_list(t->j, "children");
}

static void close_level(struct tree *t)
{
    struct level *l = &t->levels[--t->depth];
    if (l->shown) {
        json_end(t->j);
        json_uint(t->j, "total", l->children);
    }
    json_end(t->j);
    path_cut(&t->path, l->path);
}

/* Appends a node to the path. The path of the wanted node is the one that the page gave; other paths continue
 * it. */
static size_t path_go_down(struct tree *t, const char *name, uint64_t index)
{
    if (t->depth || !t->asked) return path_add(&t->path, name, in_list(t), index);
    return path_add(&t->path, t->asked + (*t->asked == '/'), false, 0);
}

static bool tree_enter(void *user, const penta_node *node)
{
    struct tree *t = user;
    uint64_t index;
    if (!next_child(t, &index)) return false;
    size_t path = path_go_down(t, node->name, index);
    json_object(t->j, t->depth ? NULL : "node");
    json_text(t->j, "name", node->name);
    json_text(t->j, "path", t->path.text);
    json_uint(t->j, "offset", node->offset);
    json_uint(t->j, "size", node->size);
    if (node->decoded) json_bool(t->j, "decoded", true);
    json_bool(t->j, "list", node->list);
    if (t->depth < t->most && t->depth < LEVELS) {
        open_level(t, node->list, path);
        return true;
    }
    json_end(t->j);
    path_cut(&t->path, path);
    return false;
}

static void tree_field(void *user, const penta_field *field)
{
    enum { SHOWN = 256 };
    struct tree *t = user;
    uint64_t index;
    if (!next_child(t, &index)) return;
    size_t path = path_go_down(t, field->name, index);
    bool bytes = field->kind == PENTA_TEXT || field->kind == PENTA_RAW;
    json_object(t->j, t->depth ? NULL : "node");
    json_text(t->j, "name", field->name);
    json_text(t->j, "path", t->path.text);
    json_uint(t->j, "offset", field->offset);
    json_uint(t->j, "size", field->size);
    json_text(t->j, "kind", kind_name(field->kind));
    switch (field->kind) {
    case PENTA_UINT: json_uint(t->j, "value", field->as.u); break;
    case PENTA_WORD: json_word(t->j, "value", field->as.u); break;
    case PENTA_SINT: json_sint(t->j, "value", field->as.i); break;
    case PENTA_FLOAT: json_float(t->j, "value", field->as.f); break;
    case PENTA_BOOL: json_bool(t->j, "value", field->as.u != 0); break;
    case PENTA_TEXT: json_string(t->j, "value", bytes_slice(field->as.bytes, 0, SHOWN)); break;
    case PENTA_RAW: json_hex(t->j, "value", bytes_slice(field->as.bytes, 0, SHOWN)); break;
    }
    if (bytes && field->as.bytes.size > SHOWN) json_uint(t->j, "cut", field->as.bytes.size);
    if (field->note) json_text(t->j, "note", field->note);
    json_end(t->j);
    path_cut(&t->path, path);
}

static void tree_leave(void *user, const penta_node *node)
{
    (void)node;
    close_level(user);
}

void web_tree(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    const char *path = web_text(c, "path");
    uint64_t depth = web_uint(c, "depth", 1);
    if (!file) return;
    struct tree *t = calloc(1, sizeof *t);
    if (!t) {
        error_at(&c->err, BASE_MEMORY, 0, "no memory for the tree");
        return;
    }
    *t = (struct tree){.j = c->j,
                       .most = depth < LEVELS ? (unsigned)depth : LEVELS,
                       .from = web_uint(c, "from", 0),
                       .count = web_uint(c, "count", 200),
                       .asked = path && *path ? path : NULL};
    penta_visitor visitor = {t, tree_enter, tree_field, tree_leave};
    if (t->asked) {
        if (!penta_describe_part(file->module, path, 0, &visitor))
            error_at(&c->err, BASE_OPTION_VALUE, 0, "no part is called '%.60s'", path);
    } else {
        size_t size;
        penta_module_bytes(file->module, &size);
        json_object(c->j, "node");
        json_text(c->j, "name", file->name);
        json_text(c->j, "path", "");
        json_uint(c->j, "offset", 0);
        json_uint(c->j, "size", size);
        json_bool(c->j, "list", false);
        open_level(t, false, 0);
        penta_describe(file->module, &visitor);
        close_level(t);
    }
    free(t);
}

enum { FIELDS_MAX = 4096 };

struct fields {
    struct json *j;
    struct path path;
    struct level levels[LEVELS];
    unsigned depth, decoded;
    uint64_t from, to, top, next; /* `next` is where the next walk continues. */
    size_t count;
};

static uint64_t *children_of(struct fields *f)
{
    return f->depth && f->depth <= LEVELS ? &f->levels[f->depth - 1].children : &f->top;
}

static bool is_item(const struct fields *f)
{
    return f->depth && f->depth <= LEVELS && f->levels[f->depth - 1].list;
}

static bool fields_enter(void *user, const penta_node *node)
{
    struct fields *f = user;
    uint64_t index = (*children_of(f))++;
    bool outside = node->size && (node->offset >= f->to || node->offset + node->size <= f->from);
    if (!outside && f->count == FIELDS_MAX && f->next == UINT64_MAX) f->next = node->offset;
    if (node->decoded || outside || f->count == FIELDS_MAX || f->depth >= LEVELS) return false;
    size_t path = path_add(&f->path, node->name, is_item(f), index);
    f->levels[f->depth++] = (struct level){.list = node->list, .path = path};
    return true;
}

static void fields_field(void *user, const penta_field *field)
{
    struct fields *f = user;
    uint64_t index = (*children_of(f))++;
    if (!field->size || field->offset >= f->to || field->offset + field->size <= f->from) return;
    if (f->count == FIELDS_MAX) {
        if (f->next == UINT64_MAX) f->next = field->offset;
        return;
    }
    f->count++;
    size_t path = path_add(&f->path, field->name, is_item(f), index);
    json_object(f->j, NULL);
    json_uint(f->j, "offset", field->offset);
    json_uint(f->j, "size", field->size);
    json_text(f->j, "path", f->path.text);
    json_text(f->j, "kind", kind_name(field->kind));
    json_uint(f->j, "depth", f->depth);
    json_end(f->j);
    path_cut(&f->path, path);
}

static void fields_leave(void *user, const penta_node *node)
{
    struct fields *f = user;
    (void)node;
    path_cut(&f->path, f->levels[--f->depth].path);
}

void web_fields(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    uint64_t from = web_uint(c, "offset", 0), length = web_uint(c, "length", 0);
    if (!file) return;
    struct fields *f = calloc(1, sizeof *f);
    if (!f) {
        error_at(&c->err, BASE_MEMORY, 0, "no memory for the fields");
        return;
    }
    *f = (struct fields){.j = c->j,
                         .from = from,
                         .to = length < UINT64_MAX - from ? from + length : UINT64_MAX,
                         .next = UINT64_MAX};
    penta_visitor visitor = {f, fields_enter, fields_field, fields_leave};
    json_list(c->j, "fields");
    penta_describe(file->module, &visitor);
    json_end(c->j);
    if (f->next == UINT64_MAX)
        json_null(c->j, "next");
    else
        json_uint(c->j, "next", f->next);
    free(f);
}
