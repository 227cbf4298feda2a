/* Prints a describe tree with offsets, as `penta inspect` does. */
#include <inttypes.h>
#include "core/views/views.h"

static void tree_view_margin(struct tree_view *t, uint64_t offset, uint64_t size, bool computed)
{
    const struct palette *p = t->palette;
    writer_text(t->out, p->dim);
    if (computed)
        writer_text(t->out, "       -        -");
    else
        writer_print(t->out, "%s%08" PRIx64 " %8" PRIu64, t->decoded ? "+" : "", offset, size);
    writer_print(t->out, "%s  %*s", p->off, (int)t->depth * 2, "");
}

static bool tree_enter(void *user, const penta_node *node)
{
    struct tree_view *t = user;
    if (node->decoded && !t->decoded) {
        t->decoded = true;
        t->decoded_depth = t->depth;
    }
    tree_view_margin(t, node->offset, node->size, !node->size);
    view_styled(t->out, t->palette->bold, node->name, t->palette);
    writer_char(t->out, '\n');
    t->depth++;
    return true;
}

static void tree_field(void *user, const penta_field *field)
{
    struct tree_view *t = user;
    const struct palette *p = t->palette;
    tree_view_margin(t, field->offset, field->size, !field->size);
    view_styled(t->out, p->name, field->name, p);
    writer_print(t->out, " = %s", p->value);
    view_value(t->out, field, 32);
    writer_text(t->out, p->off);
    view_note(t->out, field, p);
    writer_char(t->out, '\n');
}

static void tree_leave(void *user, const penta_node *node)
{
    struct tree_view *t = user;
    (void)node;
    t->depth--;
    if (t->decoded && t->depth == t->decoded_depth) t->decoded = false;
}

penta_visitor tree_visitor(struct tree_view *view)
{
    return (penta_visitor){view, tree_enter, tree_field, tree_leave};
}
