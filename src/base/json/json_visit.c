/* Writes what a describe function reports as JSON: as a tree with offsets, or as plain members
 * and arrays. */
#include "base/json/json_visit.h"

const char field_incomplete[] = "incomplete";

void json_field(struct json *j, const char *key, const penta_field *field)
{
    if (field->name == field_incomplete) j->out->failed = true;
    switch (field->kind) {
    case PENTA_UINT: json_uint(j, key, field->as.u); break;
    case PENTA_WORD: json_word(j, key, field->as.u); break;
    case PENTA_SINT: json_sint(j, key, field->as.i); break;
    case PENTA_FLOAT: json_float(j, key, field->as.f); break;
    case PENTA_BOOL: json_bool(j, key, field->as.u != 0); break;
    case PENTA_TEXT: json_string(j, key, field->as.bytes); break;
    case PENTA_RAW: json_hex(j, key, field->as.bytes); break;
    }
}

static const char *field_key(const struct json *j, const char *name)
{
    return j->in_list[j->depth - 1] ? NULL : name;
}

static bool state_enter(void *user, const penta_node *node)
{
    struct json *j = user;
    const char *key = field_key(j, node->name);
    if (node->list)
        json_list(j, key);
    else
        json_object(j, key);
    return true;
}

static void state_field(void *user, const penta_field *field)
{
    json_field(user, field_key(user, field->name), field);
}

static void state_leave(void *user, const penta_node *node)
{
    (void)node;
    json_end(user);
}

penta_visitor json_state_visitor(struct json *j)
{
    return (penta_visitor){j, state_enter, state_field, state_leave};
}

static bool tree_enter(void *user, const penta_node *node)
{
    struct json *j = user;
    json_object(j, NULL);
    json_text(j, "name", node->name);
    json_uint(j, "offset", node->offset);
    json_uint(j, "size", node->size);
    if (node->decoded) json_bool(j, "decoded", true);
    if (node->list) json_bool(j, "list", true);
    json_list(j, "children");
    return true;
}

static void tree_field(void *user, const penta_field *field)
{
    static const char *const kinds[] = {
        [PENTA_UINT] = "uint",   [PENTA_WORD] = "word", [PENTA_SINT] = "sint",
        [PENTA_FLOAT] = "float", [PENTA_BOOL] = "bool", [PENTA_TEXT] = "text",
        [PENTA_RAW] = "raw"};
    struct json *j = user;
    json_object(j, NULL);
    json_text(j, "name", field->name);
    json_uint(j, "offset", field->offset);
    json_uint(j, "size", field->size);
    json_text(j, "kind", kinds[field->kind]);
    json_field(j, "value", field);
    if (field->note) json_text(j, "note", field->note);
    json_end(j);
}

static void tree_leave(void *user, const penta_node *node)
{
    (void)node;
    json_end(user);
    json_end(user);
}

penta_visitor json_tree_visitor(struct json *j)
{
    return (penta_visitor){j, tree_enter, tree_field, tree_leave};
}
