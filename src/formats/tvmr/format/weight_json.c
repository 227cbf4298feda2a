/* Reads weights from JSON (TVMR 15.5), such as {"entries": [{"key": "w", "shape": [2, 2],
 * "weights": [1, -2, 0, [0, 7]], "temperatures": [0, 1, 2, 3]}]}. */
#include "base/json/json_read.h"
#include "base/utf8.h"
#include "tvmr/format/weights.h"

struct reading {
    struct writer dims, signals, temps;
    size_t entry;
    penta_error *err;
};

static bool weight_json_wrong(struct reading *r, const char *what)
{
    return error_at(r->err, TVMR_WEIGHTS, 0, "entry %zu: %s", r->entry, what);
}

static bool weight_json_number(const struct json_object *v, int64_t low, int64_t high, int64_t *out)
{
    return json_is_int(v) && json_as_sint(v, out) && *out >= low && *out <= high;
}

static bool read_shape(struct reading *r, const struct json_object *list, uint64_t *count)
{
    size_t rank = json_length(list);
    *count = 1;
    if (!json_is_list(list) || rank > 255)
        return weight_json_wrong(r, "'shape' is a list of dimensions");
    for (size_t i = 0; i < rank; i++) {
        int64_t dim;
        if (!weight_json_number(json_item(list, i), 0, UINT16_MAX, &dim))
            return weight_json_wrong(r, "dimensions are 0 to 65535");
        writer_uint(&r->dims, (uint64_t)dim, 2);
        *count = *count > UINT32_MAX ? *count : *count * (uint64_t)dim;
    }
    return true;
}

static bool read_weight(struct reading *r, const struct json_object *v)
{
    int64_t value = 0, magnitude = 0;
    bool pair = json_is_list(v) && json_length(v) == 2;
    if (pair ? !weight_json_number(json_item(v, 0), -128, 127, &value) ||
                   !weight_json_number(json_item(v, 1), 0, 255, &magnitude)
             : !weight_json_number(v, -255, 255, &value))
        return weight_json_wrong(r, "a weight is -255 to 255, or polarity and magnitude");
    struct tvmr_signal s = tvmr_signal_of((int32_t)value);
    if (pair) s = (struct tvmr_signal){(int8_t)value, (uint8_t)magnitude};
    writer_uint(&r->signals, (uint8_t)s.polarity, 1);
    writer_uint(&r->signals, s.magnitude, 1);
    return true;
}

static bool read_entry(struct reading *r, const struct json_object *v, struct writer *out)
{
    const struct json_object *weights = json_get(v, "weights"),
                             *temps = json_get(v, "temperatures");
    const char *key = json_as_text(json_get(v, "key"));
    size_t key_size = key ? json_text_size(json_get(v, "key")) : 0;
    uint64_t count;
    r->dims.out.size = r->signals.out.size = r->temps.out.size = 0;
    if (!key || key_size > 255) return weight_json_wrong(r, "'key' is a text of at most 255 bytes");
    if (!utf8_valid((penta_bytes){(const uint8_t *)key, key_size}))
        return weight_json_wrong(r, "'key' is not UTF-8");
    if (!read_shape(r, json_get(v, "shape"), &count)) return false;
    if (!json_is_list(weights) || json_length(weights) != count)
        return weight_json_wrong(r, "'weights' has other elements than 'shape' says");
    for (size_t i = 0; i < count; i++)
        if (!read_weight(r, json_item(weights, i))) return false;
    if (temps && (!json_is_list(temps) || json_length(temps) != count))
        return weight_json_wrong(r, "'temperatures' has one for each weight");
    for (size_t i = 0; temps && i < count; i++) {
        int64_t n;
        if (!weight_json_number(json_item(temps, i), 0, 255, &n))
            return weight_json_wrong(r, "temperatures are 0 to 255");
        writer_uint(&r->temps, (uint64_t)n, 1);
    }
    if (!writer_ok(&r->dims, r->err) || !writer_ok(&r->signals, r->err) ||
        !writer_ok(&r->temps, r->err))
        return false;
    struct tvmr_entry e = {.key = {(const uint8_t *)key, key_size},
                           .dims = writer_view(&r->dims),
                           .weights = writer_view(&r->signals),
                           .temps = writer_view(&r->temps),
                           .has_temps = temps != NULL};
    tvmr_entry_write(out, &e);
    return true;
}

bool tvmr_weights_from_json(penta_bytes text, struct writer *out, penta_error *err)
{
    struct json_doc *doc = json_parse(text, err);
    if (!doc) return false;
    const struct json_object *list = json_get(json_root(doc), "entries");
    struct reading r = {.err = err};
    if (!json_is_list(list) || json_length(list) > UINT16_MAX)
        error_at(err, TVMR_WEIGHTS, 0, "'entries' is a list of weights");
    tvmr_weights_begin(out, json_length(list));
    for (; !err->code && r.entry < json_length(list); r.entry++)
        read_entry(&r, json_item(list, r.entry), out);
    tvmr_weights_end(out);
    json_doc_free(doc);
    writer_free(&r.dims);
    writer_free(&r.signals);
    writer_free(&r.temps);
    return !err->code && writer_ok(out, err);
}
