/* Keeps the path of the node that a walk is in. */
#include "core/views/path.h"

static uint64_t *path_children(struct path *p)
{
    if (!p->depth) return &p->top;
    unsigned i = p->depth < PATH_DEPTH ? p->depth : PATH_DEPTH;
    return &p->at[i - 1].children;
}

void path_enter(struct path *p, const char *name, bool list)
{
    uint64_t index = (*path_children(p))++;
    bool item = p->depth && p->depth <= PATH_DEPTH && p->at[p->depth - 1].list;
    if (p->depth < PATH_DEPTH) {
        p->at[p->depth].name = name;
        p->at[p->depth].index = index;
        p->at[p->depth].children = 0;
        p->at[p->depth].item = item;
        p->at[p->depth].list = list;
    }
    p->depth++;
}

void path_leave(struct path *p) { p->depth--; }

void path_leaf(struct path *p) { ++*path_children(p); }

void path_print(const struct path *p, const char *leaf, struct writer *out)
{
    unsigned n = p->depth < PATH_DEPTH ? p->depth : PATH_DEPTH;
    for (unsigned i = 0; i < n; i++) {
        /* The name of a part that a selector selected is a path already. */
        if (p->at[i].name[0] != '/') writer_char(out, '/');
        writer_text(out, p->at[i].name);
        if (!p->at[i].item) continue;
        writer_char(out, '[');
        writer_dec(out, p->at[i].index);
        writer_char(out, ']');
    }
    if (!leaf) return;
    writer_char(out, '/');
    writer_text(out, leaf);
    if (!n || n != p->depth || !p->at[n - 1].list) return;
    writer_char(out, '[');
    writer_dec(out, p->at[n - 1].children);
    writer_char(out, ']');
}
