/* Writes the row of an option as members of a JSON object, for `penta formats` and for help. */
#include "base/options/json.h"

static const char *const kinds[] = {
    [PENTA_OPTION_SWITCH] = "switch", [PENTA_OPTION_WORDS] = "words",
    [PENTA_OPTION_NUMBER] = "number", [PENTA_OPTION_REAL] = "real",
    [PENTA_OPTION_SIZE] = "size",     [PENTA_OPTION_HEX] = "hex",
    [PENTA_OPTION_FILE] = "file",     [PENTA_OPTION_OUTPUT] = "output",
    [PENTA_OPTION_FOLDER] = "folder", [PENTA_OPTION_TEXT] = "text",
    [PENTA_OPTION_FORM] = "form"};

const char *option_kind_name(penta_option_kind kind)
{
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : NULL;
}

static void option_json_bounds(struct json *j, const penta_option_info *o)
{
    switch (o->kind) {
    case PENTA_OPTION_REAL:
        json_float(j, "least", (double)o->least / 1000);
        json_float(j, "most", (double)o->most / 1000);
        break;
    case PENTA_OPTION_NUMBER:
    case PENTA_OPTION_SIZE:
    case PENTA_OPTION_HEX:
    case PENTA_OPTION_FORM:
        json_sint(j, "least", o->least);
        json_uint(j, "most", o->most);
        break;
    default: return;
    }
    if (o->unit) json_text(j, "unit", o->unit);
}

void option_json_members(struct json *j, const penta_option_info *o)
{
    char accepts[100];
    option_accepts(o, accepts, sizeof accepts);
    json_text(j, "argument", o->argument);
    json_text(j, "help", o->help);
    json_text(j, "kind", option_kind_name(o->kind));
    if (o->items == PENTA_ITEMS_ANY)
        json_text(j, "items", "any");
    else
        json_uint(j, "items", o->items ? o->items : 1);
    option_json_bounds(j, o);
    json_text(j, "accepts", accepts);
}
