/* Replaces json_read.c in builds without json-c. No text is read, so there are no values. It has the functions that
 * files of every build call. */
#include "base/json/json_read.h"

struct json_doc *json_parse(penta_bytes text, penta_error *err)
{
    (void)text;
    error_at(err, BASE_UNSUPPORTED, 0, "this build cannot read JSON");
    return NULL;
}
const struct json_object *json_root(const struct json_doc *doc)
{
    (void)doc;
    return NULL;
}
void json_doc_free(struct json_doc *doc) { (void)doc; }
bool json_is_object(const struct json_object *v)
{
    (void)v;
    return false;
}
const struct json_object *json_get(const struct json_object *v, const char *key)
{
    (void)v, (void)key;
    return NULL;
}
size_t json_length(const struct json_object *v)
{
    (void)v;
    return 0;
}
const struct json_object *json_item(const struct json_object *v, size_t i)
{
    (void)v, (void)i;
    return NULL;
}
const char *json_as_text(const struct json_object *v)
{
    (void)v;
    return NULL;
}
bool json_as_bool(const struct json_object *v)
{
    (void)v;
    return false;
}
bool json_as_sint(const struct json_object *v, int64_t *out)
{
    (void)v, (void)out;
    return false;
}
bool json_as_uint(const struct json_object *v, uint64_t *out)
{
    (void)v, (void)out;
    return false;
}
