/* Writes the field tree into a report. Objects have n: name, o: offset, s: size. A leaf has v: value and t: note. A
 * node has c: its children and, when some are missing, l: how many, lo: their first offset, ls: their bytes. d says
 * that offsets count in the decoded image, i that the children are items of a list. */
#include "base/sanitize.h"
#include "core/views/views.h"
#include "penta/report/report.h"

enum { DEPTH = 100, VALUE_BYTES = 64 };

struct walk {
    struct report *r;
    struct level {
        uint64_t children, left, from, to; /* `left` is how many children are not in the page. */
    } at[DEPTH + 1];
    unsigned depth;
    uint64_t nodes, left;
    struct writer text;
};

static void text_member(struct walk *w, const char *key, const char *text)
{
    w->text.out.size = 0;
    writer_safe_text(&w->text, text);
    json_string(w->r->json, key, writer_view(&w->text));
}

/* Counts one more child of the innermost node. Returns false when the child is left out. */
static bool tree_take(struct walk *w, uint64_t offset, uint64_t size)
{
    struct level *l = &w->at[w->depth];
    uint64_t most = w->nodes < REPORT_NODES ? REPORT_ITEMS : REPORT_FEW;
    if (w->r->in->all || (l->children < most && w->depth < DEPTH)) {
        l->children++;
        w->nodes++;
        return true;
    }
    if (!l->left++ || offset < l->from) l->from = offset;
    if (offset + size > l->to) l->to = offset + size;
    w->left++;
    return false;
}

static void tree_head(struct walk *w, const char *name, uint64_t offset, uint64_t size)
{
    json_object(w->r->json, NULL);
    text_member(w, "n", name);
    json_uint(w->r->json, "o", offset);
    json_uint(w->r->json, "s", size);
}

static bool tree_enter(void *user, const penta_node *node)
{
    struct walk *w = user;
    if (w->depth >= DEPTH || !tree_take(w, node->offset, node->size)) return false;
    tree_head(w, node->name, node->offset, node->size);
    if (node->decoded) json_bool(w->r->json, "d", true);
    if (node->list) json_bool(w->r->json, "i", true);
    json_list(w->r->json, "c");
    w->at[++w->depth] = (struct level){0};
    return true;
}

static void tree_field(void *user, const penta_field *f)
{
    struct walk *w = user;
    if (!tree_take(w, f->offset, f->size)) return;
    tree_head(w, f->name, f->offset, f->size);
    w->text.out.size = 0;
    view_value(&w->text, f, VALUE_BYTES);
    json_string(w->r->json, "v", writer_view(&w->text));
    if (f->note) text_member(w, "t", f->note);
    json_end(w->r->json);
}

static void rest_of(struct walk *w)
{
    const struct level *l = &w->at[w->depth];
    if (!l->left) return;
    json_uint(w->r->json, "l", l->left);
    json_uint(w->r->json, "lo", l->from);
    json_uint(w->r->json, "ls", l->to - l->from);
}

static void tree_leave(void *user, const penta_node *node)
{
    struct walk *w = user;
    (void)node;
    json_end(w->r->json);
    rest_of(w);
    json_end(w->r->json);
    w->depth--;
}

void report_tree(struct report *r)
{
    struct walk w = {.r = r};
    penta_visitor visitor = {&w, tree_enter, tree_field, tree_leave};
    json_object(r->json, "tree");
    json_list(r->json, "c");
    penta_describe(r->in->module, &visitor);
    json_end(r->json);
    rest_of(&w);
    json_end(r->json);
    if (w.left)
        report_left_out(r, "%llu nodes and fields of the tree, with all below them",
                        (unsigned long long)w.left);
    r->json->out->failed |= w.text.failed;
    writer_free(&w.text);
}
