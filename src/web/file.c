/* Answers the calls about files: opening, facts, findings, places, differences. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "web/web.h"

void web_file_free(struct web_file *file)
{
    if (!file) return;
    web_listing_free(file->listing);
    penta_close(file->module);
    free(file->bytes);
    free(file->name);
    free(file);
}

static struct web_file *open_file(struct web_call *c, const struct web_options *o)
{
    struct web_file *file = calloc(1, sizeof *file);
    const char *name = web_text(c, "name");
    if (file) {
        file->name = strdup(name ? name : "");
        file->bytes = malloc(c->data.size + 1);
    }
    if (!file || !file->name || !file->bytes) {
        error_at(&c->err, BASE_MEMORY, 0, "no memory for the file");
        web_file_free(file);
        return NULL;
    }
    bytes_copy(file->bytes, c->data);
    file->module = penta_open((penta_bytes){file->bytes, c->data.size}, web_text(c, "format"),
                              o->list, o->count, &c->err);
    if (file->module) return file;
    web_file_free(file);
    return NULL;
}

void web_open(struct web_call *c)
{
    struct web_options o;
    struct web_file *file = web_options_read(c, "options", &o) ? open_file(c, &o) : NULL;
    web_options_free(&o);
    if (!file) return;
    uint64_t handle = web_handle_new(c, (struct web_handle){.kind = WEB_FILE, .file = file});
    if (!handle) {
        web_file_free(file);
        return;
    }
    const penta_error *damage = penta_module_damage(file->module);
    json_uint(c->j, "handle", handle);
    json_text(c->j, "format", penta_module_format(file->module));
    json_uint(c->j, "size", c->data.size);
    if (damage) {
        json_object(c->j, "damage");
        web_finding(c->j, damage, file->module, NULL, NULL, NULL);
        json_end(c->j);
    } else {
        json_null(c->j, "damage");
    }
}

void web_info(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    penta_buffer text = {0};
    if (file && penta_info_json(file->module, &text, &c->err))
        json_raw(c->j, "info", (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

static void write_findings(struct web_call *c, const penta_module *module, const penta_error *items,
                           size_t count)
{
    penta_place *places = calloc(count + 1, sizeof *places);
    penta_buffer paths = {0};
    if (!places) error_at(&c->err, BASE_MEMORY, 0, "no memory for the findings");
    if (places && penta_places(module, items, count, places, &paths, &c->err)) {
        json_list(c->j, "items");
        for (size_t i = 0; i < count; i++) {
            bool found = places[i].found;
            const char *path = found ? (const char *)paths.data + places[i].path : NULL;
            json_object(c->j, NULL);
            web_finding(c->j, &items[i], module, &places[i], path, NULL);
            json_end(c->j);
        }
        json_end(c->j);
    }
    penta_buffer_free(&paths);
    free(places);
}

void web_findings(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    if (!file) return;
    penta_findings *f = penta_findings_new();
    if (!f) {
        error_at(&c->err, BASE_MEMORY, 0, "no memory for the findings");
        return;
    }
    bool valid = penta_validate(file->module, penta_findings_add, f);
    size_t total = penta_findings_count(f);
    uint64_t limit = web_uint(c, "limit", 1000);
    json_bool(c->j, "valid", valid);
    json_uint(c->j, "total", total);
    write_findings(c, file->module, penta_findings_at(f, 0), total < limit ? total : (size_t)limit);
    penta_findings_free(f);
}

void web_bytes(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    if (!file) return;
    penta_bytes all;
    all.data = penta_module_bytes(file->module, &all.size);
    uint64_t from = web_uint(c, "offset", 0), length = web_uint(c, "length", UINT64_MAX);
    if (from > all.size) from = all.size;
    if (length > all.size - from) length = all.size - from;
    penta_bytes part = bytes_slice(all, (size_t)from, (size_t)length);
    writer_bytes(c->bytes, part.data, part.size);
}

void web_place(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    if (!file) return;
    penta_error at = {.code = 1, .offset = web_uint(c, "offset", 0)};
    penta_place place;
    penta_buffer paths = {0};
    uint64_t pc;
    if (!penta_places(file->module, &at, 1, &place, &paths, &c->err)) return;
    if (place.found) {
        json_object(c->j, "place");
        json_text(c->j, "path", (const char *)paths.data + place.path);
        json_uint(c->j, "offset", place.leaf_offset);
        json_uint(c->j, "size", place.leaf_size);
        json_uint(c->j, "node_offset", place.node_offset);
        json_uint(c->j, "node_size", place.node_size);
        if (penta_pc_of(file->module, at.offset, &pc)) json_uint(c->j, "pc", pc);
        json_end(c->j);
    } else {
        json_null(c->j, "place");
    }
    penta_buffer_free(&paths);
}

void web_symbols(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    penta_buffer text = {0};
    if (file && penta_parts_json(file->module, &text, &c->err))
        json_raw(c->j, "symbols", (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

struct differing {
    struct json *j;
    uint64_t limit;
};

static void file_side(struct json *j, const char *key, const char *offset_key,
                      const penta_field *field, uint64_t offset)
{
    enum { SHOWN = 64 };
    if (!field) return;
    json_uint(j, offset_key, offset);
    penta_field shown = *field;
    if (field->kind == PENTA_TEXT || field->kind == PENTA_RAW)
        shown.as.bytes = bytes_slice(field->as.bytes, 0, SHOWN);
    json_field(j, key, &shown);
}

static void file_differs(void *user, const penta_difference *d)
{
    struct differing *x = user;
    if (!x->limit) return;
    x->limit--;
    json_object(x->j, NULL);
    json_text(x->j, "change", d->sign == '~' ? "changed" : d->sign == '-' ? "removed" : "added");
    json_text(x->j, "path", d->path);
    file_side(x->j, "a", "offset_a", d->a, d->offset_a);
    file_side(x->j, "b", "offset_b", d->b, d->offset_b);
    if (!d->a && d->sign != '+') json_uint(x->j, "offset_a", d->offset_a);
    if (!d->b && d->sign != '-') json_uint(x->j, "offset_b", d->offset_b);
    json_end(x->j);
}

void web_diff(struct web_call *c)
{
    const struct web_file *a = web_file_of(c, "a"), *b = a ? web_file_of(c, "b") : NULL;
    struct differing x = {c->j, web_uint(c, "limit", 1000)};
    size_t total = 0;
    if (!b) return;
    json_list(c->j, "items");
    penta_diff_each(a->module, b->module, file_differs, &x, &total, &c->err);
    json_end(c->j);
    json_uint(c->j, "total", total);
}
