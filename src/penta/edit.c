/* Changes fields of a file: finds the fields, makes their bytes, lets the format repair what no longer fits. */
#include "penta/edit.h"
#include "base/bytes.h"
#include "base/options.h"
#include "core/driver.h"
#include "core/edit/edit.h"
#include "core/views/selection.h"

struct changing {
    struct edit edit;
    const char *value;
    penta_error err;
};

/* A node has no value, only bytes. */
static bool change_node(struct changing *c, const penta_selected *part, penta_bytes stored,
                        struct writer *out)
{
    penta_field whole = {.name = part->path,
                         .offset = part->offset,
                         .size = part->size,
                         .kind = PENTA_RAW,
                         .as.bytes = stored};
    if (strncmp(c->value, "hex:", 4))
        return error_at(&c->err, BASE_FIELD_VALUE, part->offset,
                        "%.60s is no field; all its bytes are given as hex:...", part->path);
    return edit_value(&whole, stored, part->path, c->value, out, &c->err);
}

static void change_part(void *user, const penta_selected *part)
{
    struct changing *c = user;
    struct writer out = {0};
    penta_bytes file = c->edit.file;
    if (c->err.code) return;
    if (part->decoded || !part->size || part->offset > file.size ||
        part->size > file.size - part->offset) {
        error_at(&c->err, BASE_FIELD_VALUE, part->offset, "%.60s cannot be changed: %s", part->path,
                 part->decoded ? "it is stored encoded" : "it has no bytes of its own");
        error_note(&c->err, part->decoded ? "penta open or penta convert writes the file plain"
                                          : "it is computed from other fields");
        return;
    }
    penta_bytes stored = bytes_slice(file, (size_t)part->offset, (size_t)part->size);
    bool ok = part->field ? edit_value(part->field, stored, part->path, c->value, &out, &c->err)
                          : change_node(c, part, stored, &out);
    if (ok && writer_ok(&out, &c->err))
        edit_put(&c->edit, part->offset, part->size, writer_view(&out), true);
    writer_free(&out);
}

static bool changes_take(struct changing *c, const penta_option *changes, size_t count,
                         penta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        c->value = changes[i].value;
        if (!penta_select(c->edit.module, changes[i].key, change_part, c, NULL, err)) return false;
        if (c->err.code) {
            *err = c->err;
            return false;
        }
    }
    return true;
}

static const penta_option_info edit_options[] = {
    OPTION_ROW("no-repair", SWITCH, OPTION_CONVERT, ""), {.key = NULL}};

bool penta_edit(const penta_module *module, const penta_option *changes, size_t change_count,
                const penta_option *options, size_t count, penta_buffer *out, penta_report *report,
                void *user, penta_error *err)
{
    const struct driver *driver = module->driver;
    struct findings findings = {.rules = driver->rules, .report = report, .user = user};
    struct changing c = {
        .edit = {.module = module, .file = module->file, .findings = &findings, .err = &c.err}};
    struct writer w = {0};
    *err = (penta_error){0};
    if (!options_check(options, count, edit_options, OPTION_CONVERT, err)) return false;
    bool repairs = !option_given(options, count, "no-repair");
    bool ok = changes_take(&c, changes, change_count, err);
    if (ok) {
        ok = (repairs ? edit_repair(&c.edit) : edit_sort(&c.edit)) && !c.err.code &&
             edit_write(&c.edit, &w, &c.err);
        *err = c.err;
    }
    if (ok && repairs && driver->edit && driver->edit->sums)
        driver->edit->sums(&c.edit, w.out.data, w.out.size);
    edit_free(&c.edit);
    return writer_give(&w, ok, out, err);
}
