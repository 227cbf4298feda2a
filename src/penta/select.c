/* Selects parts of a file, and gives them as a list, as JSON, or as their bytes. */
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "core/driver.h"
#include "core/views/selection.h"

bool penta_select(const penta_module *module, const char *selector, penta_select_report *report,
                  void *user, size_t *parts, penta_error *err)
{
    struct selector parsed;
    *err = (penta_error){0};
    return selector_parse(&parsed, selector, err) &&
           selection_walk(module, &parsed, report, user, parts, err);
}

static void select_json(void *user, const penta_selected *part)
{
    struct json *j = user;
    json_object(j, NULL);
    json_text(j, "path", part->path);
    json_uint(j, "offset", part->offset);
    json_uint(j, "size", part->size);
    if (part->decoded) json_bool(j, "decoded", true);
    if (part->field) json_field(j, "value", part->field);
    if (part->field && part->field->note) json_text(j, "note", part->field->note);
    json_end(j);
}

bool penta_select_json(const penta_module *module, const char *selector, penta_buffer *out,
                       penta_error *err)
{
    struct writer w = {0};
    struct json j = {.out = &w};
    json_list(&j, NULL);
    bool ok = penta_select(module, selector, select_json, &j, NULL, err);
    json_finish(&j);
    return writer_give(&w, ok, out, err);
}

struct select_bytes {
    const penta_module *module;
    struct writer out;
    penta_error err;
};

/* Appends the stored bytes of a part. Of parts that are stored encoded, only texts and bytes are
 * available, as their values. */
static void select_bytes_of(void *user, const penta_selected *part)
{
    struct select_bytes *s = user;
    const penta_field *f = part->field;
    penta_bytes file = s->module->file;
    if (part->size && !part->decoded && part->offset <= file.size) {
        penta_bytes stored = bytes_slice(file, (size_t)part->offset, (size_t)part->size);
        writer_bytes(&s->out, stored.data, stored.size);
    } else if (f && (f->kind == PENTA_TEXT || f->kind == PENTA_RAW)) {
        writer_bytes(&s->out, f->as.bytes.data, f->as.bytes.size);
    } else {
        error_at(&s->err, BASE_UNSUPPORTED, part->offset,
                 "%.80s has no bytes of its own in the file", part->path);
        error_note(&s->err, part->decoded ? "it is stored encoded" : "it is computed from others");
    }
}

bool penta_select_bytes(const penta_module *module, const char *selector, penta_buffer *out,
                        penta_error *err)
{
    struct select_bytes s = {.module = module};
    bool ok = penta_select(module, selector, select_bytes_of, &s, NULL, err);
    if (ok && s.err.code) {
        *err = s.err;
        ok = false;
    }
    return writer_give(&s.out, ok, out, err);
}
