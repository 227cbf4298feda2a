/* The tree with offsets, as text and as JSON. */
#include <inttypes.h>
#include "core/views/views.h"

static void margin(struct tree_view *t, uint64_t offset, uint64_t size, bool computed)
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
    margin(t, node->offset, node->size, !node->size);
    view_styled(t->out, t->palette->bold, node->name, t->palette);
    writer_char(t->out, '\n');
    t->depth++;
    return true;
}

static void tree_field(void *user, const penta_field *field)
{
    struct tree_view *t = user;
    const struct palette *p = t->palette;
    margin(t, field->offset, field->size, !field->size);
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

static bool json_enter(void *user, const penta_node *node)
{
    struct json *j = ((struct tree_json_view *)user)->json;
    json_object(j, NULL);
    json_text(j, "name", node->name);
    json_uint(j, "offset", node->offset);
    json_uint(j, "size", node->size);
    if (node->decoded) json_bool(j, "decoded", true);
    if (node->list) json_bool(j, "list", true);
    json_list(j, "children");
    return true;
}

static void json_field(void *user, const penta_field *field)
{
    static const char *const kinds[] = {"uint", "word", "sint", "float", "bool", "text", "raw"};
    struct json *j = ((struct tree_json_view *)user)->json;
    json_object(j, NULL);
    json_text(j, "name", field->name);
    json_uint(j, "offset", field->offset);
    json_uint(j, "size", field->size);
    json_text(j, "kind", kinds[field->kind]);
    view_json_value(j, "value", field);
    if (field->note) json_text(j, "note", field->note);
    json_end(j);
}

static void json_leave(void *user, const penta_node *node)
{
    struct json *j = ((struct tree_json_view *)user)->json;
    (void)node;
    json_end(j);
    json_end(j);
}

penta_visitor tree_json_visitor(struct tree_json_view *view)
{
    return (penta_visitor){view, json_enter, json_field, json_leave};
}
