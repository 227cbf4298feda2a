/* Values without places: what `info` says of a file and a machine says of itself. */
#include <stdio.h>
#include "core/views.h"

static bool state_enter(void *user, const penta_node *node)
{
    struct state_view *s = user;
    path_enter(&s->path, node->name, node->list);
    unsigned depth = s->path.depth;
    bool item = depth <= PATH_DEPTH && s->path.at[depth - 1].item;
    if (item) {
        writer_print(s->out, "%*s%s%s[%llu]%s\n", (int)(depth - 1) * 2, "", s->palette->bold,
                     node->name, (unsigned long long)s->path.at[depth - 1].index, s->palette->off);
    } else {
        writer_print(s->out, "%*s%s%s%s\n", (int)(depth - 1) * 2, "", s->palette->bold, node->name,
                     s->palette->off);
    }
    return true;
}

static void state_field(void *user, const penta_field *field)
{
    struct state_view *s = user;
    const struct palette *p = s->palette;
    int indent = (int)s->path.depth * 2, width = 18 - indent > 0 ? 18 - indent : 0;
    path_leaf(&s->path);
    writer_print(s->out, "%*s%s%-*s%s %s", indent, "", p->name, width, field->name, p->off,
                 p->value);
    view_value(s->out, field, 64);
    writer_text(s->out, p->off);
    if (field->note) writer_print(s->out, "  %s%s%s", p->note, field->note, p->off);
    writer_char(s->out, '\n');
}

static void state_leave(void *user, const penta_node *node)
{
    (void)node;
    path_leave(&((struct state_view *)user)->path);
}

penta_visitor state_visitor(struct state_view *view)
{
    return (penta_visitor){view, state_enter, state_field, state_leave};
}

static bool in_list(const struct path *p)
{
    return p->depth && p->depth <= PATH_DEPTH && p->at[p->depth - 1].list;
}

static bool json_enter(void *user, const penta_node *node)
{
    struct state_json_view *s = user;
    const char *key = in_list(&s->path) ? NULL : node->name;
    path_enter(&s->path, node->name, node->list);
    if (node->list)
        json_list(s->json, key);
    else
        json_object(s->json, key);
    return true;
}

static void json_field(void *user, const penta_field *field)
{
    struct state_json_view *s = user;
    view_json_value(s->json, in_list(&s->path) ? NULL : field->name, field);
}

static void json_leave(void *user, const penta_node *node)
{
    struct state_json_view *s = user;
    (void)node;
    path_leave(&s->path);
    json_end(s->json);
}

penta_visitor state_json_visitor(struct state_json_view *view)
{
    return (penta_visitor){view, json_enter, json_field, json_leave};
}
