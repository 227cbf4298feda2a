/* Assembles the metadata section (TVMR 4.6, TVMR 10.5). The section is written from .meta,
 * .projection and the labels. When .image gives the bytes of the section, only the members that
 * the text changes are replaced in them. */
#include "base/codec/checksum.h"
#include "base/json/json_write.h"
#include "tvmr/text/assemble.h"
#include <ctype.h>
#include <stdlib.h>

/* Writes the declared shape of a register, or [1] when it has none. */
static void shape_json(struct assembly *a, struct json *j, const char *key, int reg, int64_t said)
{
    const uint8_t *def;
    json_list(j, key);
    if (reg >= 0 && asm_registers_declared(a, (uint8_t)reg, &def)) {
        uint64_t total = 1;
        for (unsigned i = 0; i < def[4]; i++) {
            json_uint(j, NULL, bytes_get16(def + 5 + 2 * i));
            total *= bytes_get16(def + 5 + 2 * i);
        }
        if (said >= 0 && (uint64_t)said != total)
            findings_add(a->findings, TVMR_DIMENSION, a->last_line, NULL,
                         "%.5s_dim is %lld, the register has %llu elements", key, (long long)said,
                         (unsigned long long)total);
    } else {
        json_uint(j, NULL, 1);
    }
    json_end(j);
}

static void projection_json(const struct tvmr_projection *p, struct json *j)
{
    json_object(j, NULL);
    json_text(j, "target", p->target);
    json_text(j, "bundle", p->bundle);
    json_sint(j, "weight", p->weight);
    json_uint(j, "delay", p->delay);
    json_float(j, "density", strtod(p->density, NULL));
    json_text(j, "mapping", p->mapping);
    json_text(j, "modulator", p->modulator);
    json_end(j);
}

static void projections_json(const struct tvmr_meta *m, struct json *j, const char *key)
{
    json_list(j, key);
    for (size_t i = 0; i < m->projection_count; i++) projection_json(&m->projections[i], j);
    json_end(j);
}

static void skull_json(const struct tvmr_meta *m, struct json *j, const char *key)
{
    json_list(j, key);
    for (int i = 0; i < 3; i++) json_uint(j, NULL, (uint64_t)m->skull[i]);
    json_end(j);
}

void asm_metadata(struct assembly *a, struct writer *out)
{
    struct json j = {.out = out};
    const struct tvmr_meta *m = &a->meta;
    json_object(&j, NULL);
    if (a->has_name) json_text(&j, "name", m->name);
    json_uint(&j, "version", m->version);
    if (m->domain) json_text(&j, "domain", m->domain);
    if (m->input_dim >= 0) json_uint(&j, "input_dim", (uint64_t)m->input_dim);
    if (m->output_dim >= 0) json_uint(&j, "output_dim", (uint64_t)m->output_dim);
    shape_json(a, &j, "input_shape", a->input_reg, m->input_dim);
    shape_json(a, &j, "output_shape", a->output_reg, m->output_dim);
    json_object(&j, "labels");
    for (size_t i = 0; i < a->labels.count; i++) {
        char *name = arena_copy(&a->arena, a->labels.items[i].name, &a->err);
        if (name && a->labels.items[i].defined) json_uint(&j, name, a->labels.items[i].value);
    }
    json_end(&j);
    if (a->skull[0]) skull_json(m, &j, "skull");
    if (m->projection_count) projections_json(m, &j, "projections");
    json_finish(&j);
    if (out->out.size && out->out.data[out->out.size - 1] == '\n') out->out.size--;
}

/* The functions below find what the text changes in a section that .image gives. */

static bool assemble_metadata_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_word(const char *a, const char *b)
{
    return a && b ? span_is((struct span){(const uint8_t *)a, strlen(a)}, b) : a == b;
}

static bool same_projection(const struct tvmr_projection *a, const struct tvmr_projection *b)
{
    return assemble_metadata_same(a->target, b->target) &&
           assemble_metadata_same(a->bundle, b->bundle) && a->weight == b->weight &&
           a->delay == b->delay && same_word(a->mapping, b->mapping) &&
           same_word(a->modulator, b->modulator) && a->density && b->density &&
           strtod(a->density, NULL) == strtod(b->density, NULL);
}

/* Tells whether the text changes the projections. It does not when a listing leaves one out. */
static bool projections_differ(const struct tvmr_meta *now, const struct tvmr_meta *old)
{
    bool differ = now->projection_count != old->projection_count;
    for (size_t i = 0; i < old->projection_count; i++) {
        const struct tvmr_projection *p = &old->projections[i];
        if (!p->target || !p->bundle || !tvmr_line_text(bytes_of(p->target)) ||
            !tvmr_line_text(bytes_of(p->bundle)))
            return false;
        differ = differ || !same_projection(p, &now->projections[i]);
    }
    return differ && now->projection_count;
}

static const struct label *label_named(const struct assembly *a, const char *name)
{
    for (size_t i = 0; i < a->labels.count; i++)
        if (a->labels.items[i].defined && bytes_equal(a->labels.items[i].name, bytes_of(name)))
            return &a->labels.items[i];
    return NULL;
}

/* The disassembler prints at most this many labels, so the text cannot change more. */
enum { LABELS_MAX = 1024 };

static bool labels_differ(const struct assembly *a, const struct tvmr_meta *old)
{
    for (size_t i = 0; i < old->label_count && old->label_count <= LABELS_MAX; i++) {
        const struct label *l = label_named(a, old->labels[i].name);
        if (l && l->value != old->labels[i].index) return true;
    }
    return false;
}

static void labels_json(const struct assembly *a, const struct tvmr_meta *old, struct json *j)
{
    json_object(j, "labels");
    for (size_t i = 0; i < old->label_count; i++) {
        const struct label *l = label_named(a, old->labels[i].name);
        json_uint(j, old->labels[i].name, l ? l->value : old->labels[i].index);
    }
    json_end(j);
}

/* Writes an object with only the members that the text changes. */
static void assemble_metadata_changes(const struct assembly *a, const struct tvmr_meta *old,
                                      struct json *j)
{
    const struct tvmr_meta *now = &a->meta;
    bool skull = false;
    json_object(j, NULL);
    if (a->has_name && !assemble_metadata_same(now->name, old->name))
        json_text(j, "name", now->name);
    if (a->has_version && (!old->has_version || now->version != old->version))
        json_uint(j, "version", now->version);
    if (now->domain && !assemble_metadata_same(now->domain, old->domain))
        json_text(j, "domain", now->domain);
    if (now->input_dim >= 0 && now->input_dim != old->input_dim)
        json_uint(j, "input_dim", (uint64_t)now->input_dim);
    if (now->output_dim >= 0 && now->output_dim != old->output_dim)
        json_uint(j, "output_dim", (uint64_t)now->output_dim);
    for (int i = 0; i < 3; i++) skull |= now->skull[i] != old->skull[i];
    if (a->skull[0] && skull) skull_json(now, j, "skull");
    if (projections_differ(now, old)) projections_json(now, j, "projections");
    if (labels_differ(a, old)) labels_json(a, old, j);
    json_finish(j);
}

/* The functions below walk through the members of a JSON object. The text is known to be valid
 * JSON. */

struct member {
    penta_bytes key, value; /* The key has its quotes. */
};

static size_t skip_blanks(penta_bytes text, size_t at)
{
    while (at < text.size && strchr(" \t\r\n,:{", text.data[at]) && text.data[at]) at++;
    return at;
}

static size_t skip_value(penta_bytes text, size_t at)
{
    size_t depth = 0;
    while (at < text.size) {
        uint8_t c = text.data[at];
        if (c == '"')
            for (at++; at < text.size && text.data[at] != '"'; at++) at += text.data[at] == '\\';
        depth += c == '[' || c == '{';
        if ((c == ']' || c == '}') && depth-- == 0) break;
        if (c == ',' && !depth) break;
        at++;
        if ((c == '"' || c == ']' || c == '}') && !depth) break;
    }
    return at < text.size ? at : text.size;
}

/* Reads the next member of an object. Only blanks and a colon are skipped before the value,
 * because skip_blanks would also enter an object. */
static bool next_member(penta_bytes text, size_t *at, struct member *m)
{
    size_t key = skip_blanks(text, *at);
    if (key >= text.size || text.data[key] != '"') return false;
    size_t key_end = skip_value(text, key), value = key_end;
    while (value < text.size && strchr(" \t\r\n:", text.data[value])) value++;
    size_t end = skip_value(text, value);
    *at = end;
    m->key = bytes_slice(text, key, key_end - key);
    while (end > value && isspace(text.data[end - 1])) end--;
    m->value = bytes_slice(text, value, end - value);
    return true;
}

static bool member_of(penta_bytes object, penta_bytes key, struct member *m)
{
    size_t at = 0;
    while (next_member(object, &at, m))
        if (bytes_equal(m->key, key)) return true;
    return false;
}

/* Writes the members of the old text with their new values, and then the changed members that
 * the old text lacks. */
static void assemble_metadata_merge(penta_bytes old, penta_bytes changed, struct writer *out)
{
    struct member m, other;
    bool first = true;
    writer_char(out, '{');
    for (int pass = 0; pass < 2; pass++) {
        penta_bytes from = pass ? changed : old;
        size_t at = 0;
        while (next_member(from, &at, &m)) {
            bool both = member_of(pass ? old : changed, m.key, &other);
            if (pass && both) continue;
            if (!first) writer_char(out, ',');
            first = false;
            writer_bytes(out, m.key.data, m.key.size);
            writer_char(out, ':');
            penta_bytes value = both ? other.value : m.value;
            writer_bytes(out, value.data, value.size);
        }
    }
    writer_char(out, '}');
}

bool asm_metadata_edit(struct assembly *a, struct writer *out)
{
    penta_bytes section = a->metadata, json = bytes_slice(section, 4, section.size - 12);
    struct tvmr_meta old = {.input_dim = -1, .output_dim = -1, .skull = {-1, -1, -1}};
    penta_error why = {0};
    if (section.size < 12 || bytes_get32(section.data) != json.size ||
        bytes_get64(json.data + json.size) != checksum_xxh64(json) ||
        !tvmr_metadata_read(json, &old, &a->arena, &why))
        return false;
    struct writer changed = {0};
    struct json j = {.out = &changed};
    struct member first;
    size_t at = 0;
    assemble_metadata_changes(a, &old, &j);
    bool any = next_member(writer_view(&changed), &at, &first);
    if (any) assemble_metadata_merge(json, writer_view(&changed), out);
    out->failed |= changed.failed;
    writer_free(&changed);
    return any;
}
