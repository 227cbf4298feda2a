/* Selects members of documents. The members are found in the text of a document, which is not
 * parsed into a tree. */
#include "batch/lines/fields.h"
#include <stdlib.h>
#include <string.h>
#include "base/number.h"
#include "batch/lines/record.h"

static const char *const field_members[] = {"verdict", "size", "format", "findings", "document"};

static bool field_known(const char *name)
{
    for (size_t i = 0; i < sizeof field_members / sizeof *field_members; i++)
        if (!strcmp(field_members[i], name)) return true;
    /* Every line has the members n, source, digest and exit. */
    return !strcmp(name, "n") || !strcmp(name, "source") || !strcmp(name, "digest") ||
           !strcmp(name, "exit") || (!strncmp(name, "document.", 9) && name[9]);
}

bool fields_parse(const char *list, struct fields *out, penta_error *err)
{
    *out = (struct fields){0};
    if (!list) return true;
    char *rest = out->text = strdup(list);
    if (!out->text) return error_at(err, BASE_MEMORY, 0, "no memory for a list of fields");
    for (char *name; (name = strsep(&rest, ","));) {
        if (out->count < FIELDS_MAX && field_known(name)) {
            out->names[out->count++] = name;
            continue;
        }
        error_at(err, BASE_OPTION_VALUE, 0, "option 'fields': '%.40s' is no part of a result",
                 name);
        error_note(err, "verdict, size, format, findings, document, document.MEMBER...");
        fields_free(out);
        return false;
    }
    return true;
}

void fields_free(struct fields *f)
{
    free(f->text);
    *f = (struct fields){0};
}

/* Returns the value at a path such as "info.title" in a document; its data is NULL when it is
 * absent. */
static penta_bytes field_find(penta_bytes object, const char *path)
{
    char member[128];
    while (object.data) {
        size_t size = strcspn(path, ".");
        if (size >= sizeof member) return (penta_bytes){0};
        memcpy(member, path, size);
        member[size] = 0;
        object = json_member_text(object, member);
        if (!path[size]) return object;
        path += size + 1;
    }
    return object;
}

static void field_write(struct json *j, penta_bytes object, const char *name)
{
    penta_bytes value = field_find(object, name);
    if (value.data) json_raw(j, name, value);
}

void fields_write(const struct fields *f, struct json *j, penta_bytes object)
{
    if (object.size < 2) return;
    if (!f->count) {
        /* All members follow the digest, without changes. */
        writer_char(j->out, ',');
        writer_bytes(j->out, object.data + 1, object.size - 2);
        return;
    }
    field_write(j, object, "exit");
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->names[i], "exit")) field_write(j, object, f->names[i]);
}

uint32_t fields_exit(penta_bytes object)
{
    penta_bytes text = json_member_text(object, "exit");
    uint64_t value = 0;
    return text.data && number_parse_bytes(text, &value) && value < 256 ? (uint32_t)value : 0;
}
