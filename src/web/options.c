/* Reads options from a JSON object of keys and values. The value is a list when a key is given
 * more than once. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "web/web.h"

struct reading {
    struct web_options *out;
    penta_error *err;
};

static char *options_keep(struct reading *r, char *text)
{
    struct web_options *o = r->out;
    if (text && ARRAY_GROW(o->texts, o->text_capacity, o->text_count, r->err))
        return o->texts[o->text_count++] = text;
    free(text);
    return NULL;
}

static void options_add(struct reading *r, const char *key, const struct json_object *v)
{
    struct web_options *o = r->out;
    if (json_is_bool(v) && !json_as_bool(v))
        return; /* The value false means that the option is
                                                      * not set. */
    const char *name = options_keep(r, strdup(key)), *value = options_keep(r, json_scalar_text(v));
    if (!name || !value)
        error_at(r->err, BASE_OPTION_VALUE, 0, "option '%.40s' is no text, number or switch", key);
    else if (ARRAY_GROW(o->list, o->capacity, o->count, r->err))
        o->list[o->count++] = (penta_option){name, value};
}

static void options_take(void *user, const char *key, const struct json_object *v)
{
    if (!json_is_list(v)) options_add(user, key, v);
    for (size_t i = 0; i < json_length(v); i++) options_add(user, key, json_item(v, i));
}

bool web_options_read(struct web_call *c, const char *key, struct web_options *out)
{
    struct reading r = {out, &c->err};
    *out = (struct web_options){0};
    json_each(json_get(c->args, key), options_take, &r);
    return !c->err.code;
}

void web_options_free(struct web_options *o)
{
    for (size_t i = 0; i < o->text_count; i++) free(o->texts[i]);
    free(o->texts);
    free(o->list);
    *o = (struct web_options){0};
}
