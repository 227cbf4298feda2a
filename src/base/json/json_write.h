/* A streaming JSON writer cannot produce an invalid document: it places the commas, escapes
 * every string, replaces invalid UTF-8, and closes what is open. Inside objects every value has
 * a key, inside lists none (NULL). A member whose key the object has already is called NAME_2,
 * so that readers keep both. */
#pragma once
#include "base/json/members.h"
#include "base/writer.h"

enum { JSON_DEPTH = 256 };

struct json {
    struct writer *out;
    unsigned depth;
    bool in_list[JSON_DEPTH], has_items[JSON_DEPTH];
    struct json_members members; /* The names are freed when the outermost value ends. */
    size_t members_before[JSON_DEPTH];
    uint64_t serial,
        /* `serial` says how many objects there were so far, `objects` has the number of each
         * open one. */
        objects[JSON_DEPTH];
};

void json_object(struct json *j, const char *key);
void json_list(struct json *j, const char *key);
void json_end(struct json *j);    /* Ends the innermost object or list. */
void json_finish(struct json *j); /* Ends all open objects and lists, and the line. */

/* A value of NULL writes null. */
void json_text(struct json *j, const char *key, const char *value);
void json_string(struct json *j, const char *key, penta_bytes value);
/* A number above 2^53 is written as a string. */
void json_uint(struct json *j, const char *key, uint64_t value);
void json_sint(struct json *j, const char *key, int64_t value);
/* Writes a number as a string such as "0x2a". */
void json_word(struct json *j, const char *key, uint64_t value);
/* Infinities and NaN are written as strings. */
void json_float(struct json *j, const char *key, double value);
void json_hex(struct json *j, const char *key, penta_bytes value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* Inserts a value that was written elsewhere, without its newline at the end. */
void json_raw(struct json *j, const char *key, penta_bytes value);
/* Inserts into the open object the members of another object, which this writer wrote elsewhere. */
void json_members_of(struct json *j, penta_bytes object);
/* Inserts the value that another struct json has written into a buffer of its own, after closing
 * it. */
void json_embed(struct json *j, const char *key, struct json *value);
