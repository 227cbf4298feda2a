/* Prints values without offsets: the facts of `info`, and the state of a machine. */
#include <stdio.h>
#include <string.h>
#include "base/sanitize.h"
#include "core/views/views.h"

enum { LINE_VALUES = 64 }; /* how many values of a list are shown; the others are counted */

static bool state_enter(void *user, const penta_node *node)
{
    struct state_view *s = user;
    if (s->open) writer_char(s->out, '\n');
    path_enter(&s->path, node->name, node->list);
    unsigned depth = s->path.depth;
    bool item = depth <= PATH_DEPTH && s->path.at[depth - 1].item;
    if (item && s->items_max && s->path.at[depth - 1].index >= s->items_max) {
        path_leave(&s->path); /* The list tells at its end how many records it has. */
        s->open = false;
        return false;
    }
    writer_print(s->out, "%*s%s", (int)(depth - 1) * 2, "", s->palette->bold);
    writer_safe_text(s->out, node->name);
    if (item) writer_print(s->out, "[%llu]", (unsigned long long)s->path.at[depth - 1].index);
    writer_text(s->out, s->palette->off);
    s->open = node->list; /* The values of a list may follow on the same line. */
    s->values = s->hidden = 0;
    if (node->items && *node->items > LINE_VALUES) {
        s->hidden = *node->items - LINE_VALUES;
        *node->items = LINE_VALUES;
    }
    s->column = (unsigned)strlen(node->name) + (depth - 1) * 2;
    if (item)
        s->column +=
            (unsigned)snprintf(NULL, 0, "[%llu]", (unsigned long long)s->path.at[depth - 1].index);
    if (!s->open) writer_char(s->out, '\n');
    return true;
}

static void state_field(void *user, const penta_field *field)
{
    struct state_view *s = user;
    const struct palette *p = s->palette;
    if (s->open && s->path.depth <= PATH_DEPTH && s->path.at[s->path.depth - 1].list) {
        int gap = s->values ? 1 : s->column < 18 ? 19 - (int)s->column : 1;
        path_leaf(&s->path);
        if (s->values++ >= LINE_VALUES) return;
        writer_print(s->out, "%*s%s", gap, "", p->value);
        view_value(s->out, field, 64);
        writer_text(s->out, p->off);
        return;
    }
    int indent = (int)s->path.depth * 2, width = 18 - indent > 0 ? 18 - indent : 0;
    path_leaf(&s->path);
    writer_print(s->out, "%*s", indent, "");
    size_t start = s->out->out.size;
    view_styled(s->out, p->name, field->name, p);
    size_t used = s->out->out.size - start - strlen(p->name) - strlen(p->off);
    writer_print(s->out, "%*s %s", used < (size_t)width ? width - (int)used : 0, "", p->value);
    view_value(s->out, field, 64);
    writer_text(s->out, p->off);
    view_note(s->out, field, p);
    writer_char(s->out, '\n');
}

static void state_leave(void *user, const penta_node *node)
{
    struct state_view *s = user;
    (void)node;
    unsigned depth = s->path.depth;
    uint64_t children = depth <= PATH_DEPTH ? s->path.at[depth - 1].children : 0;
    if (!s->open && s->items_max && children > s->items_max && s->path.at[depth - 1].list)
        writer_print(s->out, "%*s.. %llu more\n", (int)depth * 2, "",
                     (unsigned long long)(children - s->items_max));
    path_leave(&s->path);
    if (!s->open) return;
    if (s->values > LINE_VALUES) s->hidden += s->values - LINE_VALUES;
    if (s->hidden) writer_print(s->out, " .. %llu more", (unsigned long long)s->hidden);
    writer_char(s->out, '\n');
    s->open = false;
}

penta_visitor state_visitor(struct state_view *view)
{
    return (penta_visitor){view, state_enter, state_field, state_leave};
}
