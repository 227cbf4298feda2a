/* A strict JSON reader over json-c takes one document. Integers are exact (a number outside
 * -2^63 .. 2^64-1 is an error), keys are unique, depth is bounded, and comments are errors. */
#pragma once
#include "base/error.h"

struct json_doc; /* The document owns all of its values. */
/* A value is a struct json_object; NULL stands for JSON null and for an absent value. */
struct json_object;

struct json_doc *json_parse(penta_bytes text, penta_error *err);
const struct json_object *json_root(const struct json_doc *doc);
void json_doc_free(struct json_doc *doc);

/* All functions below accept NULL and values of another type. */
bool json_is_object(const struct json_object *v);
bool json_is_list(const struct json_object *v);
bool json_is_text(const struct json_object *v);
bool json_is_int(const struct json_object *v);
bool json_is_null(const struct json_object *v);
bool json_is_bool(const struct json_object *v);

bool json_has(const struct json_object *v, const char *key);
const struct json_object *json_get(const struct json_object *v, const char *key);
/* Returns the length of a list, and 0 for other values. */
size_t json_length(const struct json_object *v);
const struct json_object *json_item(const struct json_object *v, size_t i);

/* Returns NULL when the value is no string. */
const char *json_as_text(const struct json_object *v);
size_t json_text_size(const struct json_object *v);
bool json_as_bool(const struct json_object *v);
double json_as_float(const struct json_object *v);
bool json_as_sint(const struct json_object *v, int64_t *out);
/* Returns a string, number or boolean (true is "1", false is "") as text, which the caller
 * frees. Returns NULL when the value is none of these or memory ran out. */
char *json_scalar_text(const struct json_object *v);
/* Reads an unsigned integer, or a string that holds one ("0x2a" or "42"). */
bool json_as_uint(const struct json_object *v, uint64_t *out);
/* Returns the bytes of a hex string, in a new buffer of *size bytes that the caller frees.
 * Returns NULL when the value is no hex string. */
uint8_t *json_as_hex(const struct json_object *v, size_t *size);

/* Calls a function with each member of an object, in order. */
typedef void json_member_fn(void *user, const char *key, const struct json_object *value);
void json_each(const struct json_object *v, json_member_fn *fn, void *user);
