/* Compares two describe trees. Both are read into memory with hashes first, so that equal parts
 * are skipped quickly. */
#include "core/views/diff.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "core/driver.h"

/* A describe tree in memory. The hash of a node covers everything but the offsets. */
struct tree {
    const char *name;
    bool leaf, list;
    bool selected; /* The selector matches the node, or a node above it. Without a selector it is
                    * always set. */
    penta_field field;
    uint64_t offset, hash;
    struct tree *child, *last, *next, *parent;
    size_t children;
};

struct builder {
    struct arena arena;
    struct tree *at;
    bool selecting; /* A selector is given. */
    bool found;     /* At least one node is selected. */
    struct selector_walk walk;
    penta_error err;
};

static uint64_t diff_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, penta_bytes bytes)
{
    h = diff_mix(h, bytes.size);
    for (size_t i = 0; i < bytes.size; i++) h = diff_mix(h, bytes.data[i]);
    return h;
}

static struct tree *diff_add(struct builder *b, const char *name)
{
    struct tree *t = arena_alloc(&b->arena, 1, sizeof *t, &b->err);
    if (!t) return NULL;
    t->name = arena_copy(&b->arena, bytes_of(name), &b->err);
    t->parent = b->at;
    t->selected = b->at->selected;
    if (b->at->last)
        b->at->last->next = t;
    else
        b->at->child = t;
    b->at->last = t;
    b->at->children++;
    return t;
}

static bool build_enter(void *user, const penta_node *node)
{
    struct builder *b = user;
    struct tree *t = b->err.code ? NULL : diff_add(b, node->name);
    if (!t) return false;
    if (b->selecting && selector_enter(&b->walk, node->name, node->list) == SELECTOR_YES)
        t->selected = b->found = true;
    t->list = node->list;
    t->offset = node->offset;
    t->hash = mix_bytes(1, bytes_of(node->name));
    b->at = t;
    return true;
}

static void build_field(void *user, const penta_field *field)
{
    struct builder *b = user;
    if (field->name == field_incomplete) error_at(&b->err, BASE_MEMORY, 0, "no memory to compare");
    struct tree *t = b->err.code ? NULL : diff_add(b, field->name);
    if (!t) return;
    if (b->selecting) {
        if (selector_leaf(&b->walk, field->name)) t->selected = b->found = true;
        path_leaf(&b->walk.path);
    }
    t->leaf = true;
    t->field = *field;
    t->offset = field->offset;
    t->hash = diff_mix(mix_bytes(2, bytes_of(field->name)), (uint64_t)field->kind);
    if (field->kind == PENTA_TEXT || field->kind == PENTA_RAW) {
        const uint8_t *copy = arena_copy(&b->arena, field->as.bytes, &b->err);
        t->field.as.bytes.data = copy;
        t->hash = mix_bytes(t->hash, field->as.bytes);
    } else {
        t->hash = diff_mix(t->hash, field->as.u);
    }
    t->field.name = t->name;
    t->field.note = NULL;
    b->at->hash = diff_mix(b->at->hash, t->hash);
}

static void build_leave(void *user, const penta_node *node)
{
    struct builder *b = user;
    (void)node;
    if (b->selecting) selector_leave(&b->walk);
    struct tree *t = b->at;
    b->at = t->parent;
    b->at->hash = diff_mix(b->at->hash, t->hash);
}

static struct tree *diff_build(struct builder *b, const penta_module *module,
                               const struct selector *selector)
{
    struct tree *root = arena_alloc(&b->arena, 1, sizeof *root, &b->err);
    if (!root) return NULL;
    b->at = root;
    b->selecting = selector && selector->count;
    root->selected = !b->selecting;
    if (b->selecting) selector_start(&b->walk, selector);
    penta_visitor visitor = {b, build_enter, build_field, build_leave};
    module->driver->describe(module, &visitor);
    return b->err.code ? NULL : root;
}

struct compare {
    struct writer path;
    penta_difference_report *report;
    void *user;
    size_t count;
    bool failed; /* Memory ran out. */
};

static size_t diff_push(struct compare *c, const struct tree *t, bool item, size_t index)
{
    size_t before = c->path.out.size;
    writer_char(&c->path, '/');
    writer_text(&c->path, t->name);
    if (item) writer_print(&c->path, "[%zu]", index);
    return before;
}

static void diff_tell(struct compare *c, char sign, const struct tree *a, const struct tree *b)
{
    c->count++;
    writer_char(&c->path, 0);
    c->path.out.size--;
    penta_difference d = {
        .sign = sign,
        .path = (const char *)c->path.out.data,
        .a = a && a->leaf ? &a->field : NULL,
        .b = b && b->leaf ? &b->field : NULL,
        .offset_a = a ? a->offset : 0,
        .offset_b = b ? b->offset : 0,
    };
    c->report(c->user, &d);
}

static void compare_children(struct compare *c, const struct tree *a, const struct tree *b);

static void diff_only(struct compare *c, char sign, const struct tree *t, bool item, size_t index);

/* Reports that a node is in one file only or, when it is not selected itself, which selected
 * nodes below it are. */
static void tell_lone_node(struct compare *c, char sign, const struct tree *t)
{
    if (t->selected) {
        diff_tell(c, sign, sign == '-' ? t : NULL, sign == '+' ? t : NULL);
        return;
    }
    size_t i = 0;
    for (const struct tree *x = t->child; x; x = x->next) diff_only(c, sign, x, t->list, i++);
}

static void compare_nodes(struct compare *c, const struct tree *a, const struct tree *b, bool item,
                          size_t index)
{
    if (a->hash == b->hash) return;
    size_t before = diff_push(c, a, item, index);
    if (!a->leaf && !b->leaf) {
        compare_children(c, a, b);
    } else if (a->selected && b->selected) {
        diff_tell(c, '~', a, b);
    } else {
        tell_lone_node(c, '-', a);
        tell_lone_node(c, '+', b);
    }
    c->path.out.size = before;
}

static void diff_only(struct compare *c, char sign, const struct tree *t, bool item, size_t index)
{
    size_t before = diff_push(c, t, item, index);
    tell_lone_node(c, sign, t);
    c->path.out.size = before;
}

struct span { /* A range of items in each of two lists. */
    const struct tree **a, **b;
    size_t m, n, index; /* `index` is the number of a[0] and b[0] in their lists. */
};

static void pair_nodes(struct compare *c, struct span s, size_t i0, size_t i1, size_t j0, size_t j1)
{
    for (; i0 < i1 && j0 < j1; i0++, j0++) compare_nodes(c, s.a[i0], s.b[j0], true, s.index + i0);
    for (; i0 < i1; i0++) diff_only(c, '-', s.a[i0], true, s.index + i0);
    for (; j0 < j1; j0++) diff_only(c, '+', s.b[j0], true, s.index + j0);
}

/* Aligns the items by their longest common subsequence when its table is not too large, else in pairs. Removed and
 * added items between common ones pair up as changes. */
static void diff_align(struct compare *c, struct span s)
{
    enum { CELLS_MAX = 16 << 20 };
    size_t width = s.n + 1;
    uint16_t *length = NULL;
    if (s.m && s.n && s.m < 60000 && s.n < 60000 && (s.m + 1) * width <= CELLS_MAX)
        length = calloc((s.m + 1) * width, sizeof *length);
    if (!length) {
        pair_nodes(c, s, 0, s.m, 0, s.n);
        return;
    }
    for (size_t i = s.m; i-- > 0;)
        for (size_t j = s.n; j-- > 0;) {
            uint16_t down = length[(i + 1) * width + j], right = length[i * width + j + 1];
            length[i * width + j] = s.a[i]->hash == s.b[j]->hash
                                        ? (uint16_t)(length[(i + 1) * width + j + 1] + 1)
                                        : (down > right ? down : right);
        }
    size_t i = 0, j = 0, i0 = 0, j0 = 0;
    while (i < s.m && j < s.n) {
        if (s.a[i]->hash == s.b[j]->hash) {
            pair_nodes(c, s, i0, i, j0, j);
            i0 = ++i;
            j0 = ++j;
        } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) {
            i++;
        } else {
            j++;
        }
    }
    pair_nodes(c, s, i0, s.m, j0, s.n);
    free(length);
}

/* Compares the items of two lists. Equal items at both ends are cut off first, so that the table stays small. */
static void compare_items(struct compare *c, struct span s)
{
    while (s.m && s.n && s.a[s.m - 1]->hash == s.b[s.n - 1]->hash) s.m--, s.n--;
    while (s.m && s.n && s.a[0]->hash == s.b[0]->hash) s.a++, s.b++, s.m--, s.n--, s.index++;
    diff_align(c, s);
}

static void compare_lists(struct compare *c, const struct tree *a, const struct tree *b)
{
    const struct tree **items = malloc((a->children + b->children + 1) * sizeof *items);
    if (!items) {
        c->failed = true;
        return;
    }
    struct span s = {.a = items, .b = items + a->children, .m = a->children, .n = b->children};
    size_t i = 0;
    for (const struct tree *x = a->child; x; x = x->next) s.a[i++] = x;
    i = 0;
    for (const struct tree *x = b->child; x; x = x->next) s.b[i++] = x;
    compare_items(c, s);
    free(items);
}

/* A member of a node. Members pair up by name. Several members of one name, such as the operands
 * of an instruction or the gaps of a file, are compared like the items of a list. */
struct member {
    const struct tree *node;
    size_t order; /* the order in the file; all members of a come before those of b */
};
struct group { /* The members of both sides that share a name. */
    size_t from, of_a, of_b, order;
};

static int by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcmp(x->node->name, y->node->name);
    return order ? order : x->order < y->order ? -1 : 1;
}

static int by_order(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->order < y->order ? -1 : 1;
}

static size_t find_groups(const struct member *members, size_t n, size_t of_a, struct group *groups)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!i || strcmp(members[i - 1].node->name, members[i].node->name))
            groups[count++] = (struct group){.from = i, .order = members[i].order};
        struct group *g = &groups[count - 1];
        if (members[i].order < of_a)
            g->of_a++;
        else
            g->of_b++;
    }
    return count;
}

static void compare_group(struct compare *c, const struct tree **items, const struct group *g)
{
    struct span s = {items + g->from, items + g->from + g->of_a, g->of_a, g->of_b, 0};
    if (g->of_a > 1 || g->of_b > 1)
        compare_items(c, s);
    else if (!g->of_b)
        diff_only(c, '-', s.a[0], false, 0);
    else if (!g->of_a)
        diff_only(c, '+', s.b[0], false, 0);
    else
        compare_nodes(c, s.a[0], s.b[0], false, 0);
}

static void compare_members(struct compare *c, const struct tree *a, const struct tree *b)
{
    size_t n = 0, total = a->children + b->children;
    struct member *members = malloc((total + 1) * sizeof *members);
    struct group *groups = malloc((total + 1) * sizeof *groups);
    const struct tree **items = malloc((total + 1) * sizeof *items);
    if (members && groups && items) {
        for (const struct tree *x = a->child; x; x = x->next, n++)
            members[n] = (struct member){x, n};
        for (const struct tree *x = b->child; x; x = x->next, n++)
            members[n] = (struct member){x, n};
        qsort(members, n, sizeof *members, by_name);
        for (size_t i = 0; i < n; i++) items[i] = members[i].node;
        size_t count = find_groups(members, n, a->children, groups);
        qsort(groups, count, sizeof *groups, by_order);
        for (size_t i = 0; i < count; i++) compare_group(c, items, &groups[i]);
    } else {
        c->failed = true;
    }
    free(members);
    free(groups);
    free(items);
}

static void compare_children(struct compare *c, const struct tree *a, const struct tree *b)
{
    if (a->list && b->list)
        compare_lists(c, a, b);
    else
        compare_members(c, a, b);
}

size_t diff_modules(const penta_module *a, const penta_module *b, const struct selector *selector,
                    penta_difference_report *report, void *user, penta_error *err)
{
    struct builder *both = calloc(2, sizeof *both);
    struct compare c = {.report = report, .user = user, .failed = !both};
    if (both) {
        struct tree *ta = diff_build(&both[0], a, selector);
        struct tree *tb = diff_build(&both[1], b, selector);
        c.failed = !ta || !tb;
        if (!c.failed && both[0].selecting && !both[0].found && !both[1].found)
            selector_missing(&both[0].walk, err);
        else if (!c.failed)
            compare_children(&c, ta, tb);
        arena_free(&both[0].arena);
        arena_free(&both[1].arena);
    }
    if (c.failed) error_at(err, BASE_MEMORY, 0, "no memory to compare the files");
    writer_free(&c.path);
    free(both);
    return c.count;
}
