/* Reads those members of the metadata section (TVMR 4.6) that tools use. Other members of its
 * JSON are ignored, but they stay in the bytes. */
#include "base/json/json_read.h"
#include "tvmr/tvmr.h"
#include <stdio.h>
#include <string.h>

struct reading {
    struct arena *arena;
    penta_error *err;
    struct tvmr_meta *meta;
};

static const char *metadata_text(struct reading *r, const struct json_object *v)
{
    const char *text = json_as_text(v);
    if (!text || strlen(text) != json_text_size(v))
        return NULL; /* A text with a NUL inside cannot be a C string. */
    return arena_copy(r->arena, bytes_of(text), r->err);
}

static int64_t metadata_integer(const struct json_object *v, int64_t otherwise)
{
    int64_t n;
    return json_is_int(v) && json_as_sint(v, &n) ? n : otherwise;
}

static uint32_t *metadata_shape(struct reading *r, const struct json_object *v, size_t *rank)
{
    *rank = json_length(v);
    if (!*rank) return NULL;
    uint32_t *dims = arena_alloc(r->arena, *rank, sizeof *dims, r->err);
    for (size_t i = 0; dims && i < *rank; i++)
        dims[i] = (uint32_t)metadata_integer(json_item(v, i), 0);
    return dims;
}

static void count_member(void *user, const char *key, const struct json_object *value)
{
    (void)key, (void)value;
    ++*(size_t *)user;
}

static void add_label(void *user, const char *key, const struct json_object *value)
{
    struct reading *r = user;
    int64_t index = metadata_integer(value, -1);
    if (index < 0 || index > UINT32_MAX) return;
    const char *name = arena_copy(r->arena, bytes_of(key), r->err);
    if (name) r->meta->labels[r->meta->label_count++] = (struct tvmr_label){name, (uint32_t)index};
}

static const char *metadata_density(struct reading *r, const struct json_object *v)
{
    char text[40] = "0.3";
    if (json_is_text(v)) return metadata_text(r, v);
    if (v) snprintf(text, sizeof text, "%.9g", json_as_float(v));
    return arena_copy(r->arena, bytes_of(text), r->err);
}

static void add_projection(struct reading *r, const struct json_object *v)
{
    r->meta->projections[r->meta->projection_count++] =
        (struct tvmr_projection){.target = metadata_text(r, json_get(v, "target")),
                                 .bundle = metadata_text(r, json_get(v, "bundle")),
                                 .mapping = metadata_text(r, json_get(v, "mapping")),
                                 .modulator = metadata_text(r, json_get(v, "modulator")),
                                 .weight = (int8_t)metadata_integer(json_get(v, "weight"), 50),
                                 .delay = (uint8_t)metadata_integer(json_get(v, "delay"), 1),
                                 .density = metadata_density(r, json_get(v, "density"))};
}

static void read_members(struct reading *r, const struct json_object *root)
{
    struct tvmr_meta *m = r->meta;
    m->name = metadata_text(r, json_get(root, "name"));
    m->domain = metadata_text(r, json_get(root, "domain"));
    m->has_version = json_is_int(json_get(root, "version"));
    m->version = (uint32_t)metadata_integer(json_get(root, "version"), 1);
    m->input_dim = metadata_integer(json_get(root, "input_dim"), -1);
    m->output_dim = metadata_integer(json_get(root, "output_dim"), -1);
    for (size_t i = 0; i < 3; i++)
        m->skull[i] = metadata_integer(json_item(json_get(root, "skull"), i), -1);
    m->input_shape = metadata_shape(r, json_get(root, "input_shape"), &m->input_rank);
    m->output_shape = metadata_shape(r, json_get(root, "output_shape"), &m->output_rank);
    size_t labels = 0;
    json_each(json_get(root, "labels"), count_member, &labels);
    m->labels = arena_alloc(r->arena, labels, sizeof *m->labels, r->err);
    if (m->labels) json_each(json_get(root, "labels"), add_label, r);
    const struct json_object *projections = json_get(root, "projections");
    m->projections =
        arena_alloc(r->arena, json_length(projections), sizeof *m->projections, r->err);
    for (size_t i = 0; m->projections && i < json_length(projections); i++)
        add_projection(r, json_item(projections, i));
}

bool tvmr_metadata_read(penta_bytes json, struct tvmr_meta *meta, struct arena *arena,
                        penta_error *err)
{
    penta_error parsing = {0};
    struct json_doc *doc = json_parse(json, &parsing);
    if (!doc) {
        if (parsing.code == BASE_MEMORY) *err = parsing;
        return error_at(err, TVMR_METADATA, parsing.offset, "metadata: %.100s", parsing.message);
    }
    if (!json_is_object(json_root(doc))) {
        error_at(err, TVMR_METADATA, 0, "the metadata is not a JSON object");
    } else {
        struct reading r = {arena, err, meta};
        read_members(&r, json_root(doc));
    }
    json_doc_free(doc);
    return !err->code;
}

bool tvmr_card_read(penta_bytes json, struct tvmr_card *card, struct arena *arena, penta_error *err)
{
    penta_error parsing = {0};
    struct json_doc *doc = json_parse(json, &parsing);
    if (!doc) {
        if (parsing.code == BASE_MEMORY) *err = parsing;
        return error_at(err, TVMR_CARD, parsing.offset, "the JSON of the card: %.80s",
                        parsing.message);
    }
    const struct json_object *root = json_root(doc);
    struct reading r = {arena, err, NULL};
    if (!json_is_object(root)) error_at(err, TVMR_CARD, 0, "the JSON of the card is no object");
    card->id = metadata_text(&r, json_get(root, "id"));
    card->payload_size = metadata_integer(json_get(root, "payload_size"), -1);
    json_doc_free(doc);
    return !err->code;
}
