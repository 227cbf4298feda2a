/* Converts weights from and to the forms that other tools read (TVMR 15.5). NPY and CSV hold the values of one
 * entry, JSON holds a whole file. */
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "base/table/table.h"
#include "tvmr/format/weights.h"
#include <stdlib.h>

static struct tvmr_signal signal_at(const struct tvmr_entry *e, size_t i)
{
    return (struct tvmr_signal){(int8_t)e->weights.data[2 * i], e->weights.data[2 * i + 1]};
}

/* Tells whether the value of a signal determines the signal, so that a number can stand for it. */
static bool weight_forms_plain(struct tvmr_signal s)
{
    struct tvmr_signal of = tvmr_signal_of(tvmr_value(s));
    return of.polarity == s.polarity && of.magnitude == s.magnitude;
}

/* The functions below convert from other forms. */

static bool entry_from_table(const struct penta_table *t, const char *key, struct writer *out,
                             penta_error *err)
{
    struct writer signals = {0}, dims = {0};
    size_t count = t->rows * t->columns;
    struct tvmr_entry e = {.key = bytes_of(key)};
    bool ok =
        e.key.size <= 255 || error_at(err, BASE_OPTION_VALUE, 0, "a key has 255 bytes or less");
    for (size_t i = 0; ok && i < t->rank; i++) {
        if (t->dims[i] > UINT16_MAX)
            ok = error_at(err, TVMR_WEIGHTS, 0, "dimensions are 0 to 65535");
        writer_uint(&dims, t->dims[i], 2);
    }
    for (size_t i = 0; ok && i < count; i++) {
        int32_t v = t->numbers[i];
        if (v < -255 || v > 255)
            ok = error_at(err, TVMR_WEIGHTS, 0, "number %zu is %d; weights are -255 to 255", i, v);
        struct tvmr_signal s = tvmr_signal_of(v);
        writer_uint(&signals, (uint8_t)s.polarity, 1);
        writer_uint(&signals, s.magnitude, 1);
    }
    ok = ok && writer_ok(&signals, err) && writer_ok(&dims, err);
    e.weights = writer_view(&signals);
    e.dims = writer_view(&dims);
    if (ok) {
        tvmr_weights_begin(out, 1);
        tvmr_entry_write(out, &e);
        tvmr_weights_end(out);
    }
    writer_free(&signals);
    writer_free(&dims);
    return ok && writer_ok(out, err);
}

bool tvmr_weights_from(penta_bytes file, const char *form, const char *key, struct writer *out,
                       penta_error *err)
{
    struct penta_table t = {0};
    if (!strcmp(form, "json")) return tvmr_weights_from_json(file, out, err);
    if (strcmp(form, "npy") && strcmp(form, "csv"))
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "option 'read-as': '%.40s' is none of json, npy, csv", form);
    if (!key)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'entry' gives these weights a key");
    bool ok =
        (!strcmp(form, "npy") ? npy_is(file) || error_at(err, BASE_SYNTAX, 0, "this is no NPY file")
                              : true) &&
        (!strcmp(form, "npy") ? npy_read(file, 1, &t, err) : csv_read(file, 1, &t, err)) &&
        entry_from_table(&t, key, out, err);
    table_free(&t);
    return ok;
}

/* The functions below convert to other forms. */

static void entry_json(const struct tvmr_entry *e, struct json *j)
{
    size_t count = e->weights.size / 2;
    json_object(j, NULL);
    json_string(j, "key", e->key);
    json_list(j, "shape");
    for (size_t i = 0; i < e->dims.size; i += 2) json_uint(j, NULL, bytes_get16(e->dims.data + i));
    json_end(j);
    json_list(j, "weights");
    for (size_t i = 0; i < count; i++) {
        struct tvmr_signal s = signal_at(e, i);
        if (weight_forms_plain(s)) {
            json_sint(j, NULL, tvmr_value(s));
            continue;
        }
        json_list(j, NULL);
        json_sint(j, NULL, s.polarity);
        json_uint(j, NULL, s.magnitude);
        json_end(j);
    }
    json_end(j);
    if (e->temps.size) {
        json_list(j, "temperatures");
        for (size_t i = 0; i < e->temps.size; i++) json_uint(j, NULL, e->temps.data[i]);
        json_end(j);
    }
    json_end(j);
}

static void to_json(const struct tvmr_module *m, struct writer *out)
{
    struct json j = {.out = out};
    json_object(&j, NULL);
    json_text(&j, "schema", "penta.weights/1");
    json_list(&j, "entries");
    for (size_t i = 0; i < m->entry_count; i++) entry_json(&m->entries[i], &j);
    json_finish(&j);
}

static const struct tvmr_entry *entry_named(const struct tvmr_module *m, const char *key,
                                            penta_error *err)
{
    if (!key && m->entry_count == 1) return m->entries;
    for (size_t i = 0; key && i < m->entry_count; i++)
        if (bytes_equal(m->entries[i].key, bytes_of(key))) return &m->entries[i];
    if (key)
        error_at(err, BASE_NAME_UNKNOWN, 0, "no entry '%.60s'", key);
    else
        error_at(err, BASE_OPTION_VALUE, 0, "option 'entry' chooses one of %zu entries",
                 m->entry_count);
    char names[100] = "";
    for (size_t i = 0; i < m->entry_count; i++)
        tvmr_key_list_add(names, sizeof names, m->entries[i].key);
    error_note(err, *names ? "there are %s" : "the file has no entries", names);
    return NULL;
}

/* Reports what is lost because the form has only numbers. */
static void tell_losses(const struct tvmr_entry *e, struct findings *findings)
{
    if (e->temps.size)
        findings_add(findings, TVMR_WEIGHTS_LOST, e->offset, NULL, "the temperatures are left out");
    for (size_t i = 0; i < e->weights.size / 2; i++)
        if (!weight_forms_plain(signal_at(e, i))) {
            findings_add(findings, TVMR_WEIGHTS_LOST, e->offset, NULL,
                         "weight %zu is more than its value %d", i, tvmr_value(signal_at(e, i)));
            return;
        }
}

bool tvmr_weights_to(const struct tvmr_module *m, const char *to, const char *key,
                     struct writer *out, struct findings *findings, penta_error *err)
{
    if (!strcmp(to, "json")) {
        to_json(m, out);
        return writer_ok(out, err);
    }
    const struct tvmr_entry *e = entry_named(m, key, err);
    if (!e) return false;
    size_t count = e->weights.size / 2, rank = e->dims.size / 2,
           rows = rank ? bytes_get16(e->dims.data) : 1;
    int16_t *numbers = malloc((count + 1) * sizeof *numbers);
    uint64_t dims[255];
    if (!numbers) return error_at(err, BASE_MEMORY, 0, "no memory for the weights");
    for (size_t i = 0; i < count; i++) numbers[i] = (int16_t)tvmr_value(signal_at(e, i));
    for (size_t i = 0; i < rank; i++) dims[i] = bytes_get16(e->dims.data + 2 * i);
    tell_losses(e, findings);
    if (!strcmp(to, "npy"))
        npy_write(out, numbers, dims, rank);
    else
        csv_write(out, numbers, rows, rows ? count / rows : 0);
    if (!strcmp(to, "csv") && rank > 2)
        findings_add(findings, TVMR_WEIGHTS_LOST, e->offset, NULL, "%zu dimensions become two",
                     rank);
    free(numbers);
    return writer_ok(out, err);
}

bool tvmr_weights_merge(const struct tvmr_module *m, const char *path, struct writer *out,
                        penta_error *err)
{
    struct writer entries = {0};
    size_t count = m->entry_count;
    penta_buffer file = {0};
    for (size_t i = 0; i < count; i++) tvmr_entry_write(&entries, &m->entries[i]);
    if (path && file_read(path, UINT64_C(1) << 30, &file, err)) {
        penta_bytes bytes = {file.data, file.size};
        if (bytes.size < TVMW_HEAD + TVMW_SUM || !tvmr_is_weights(bytes) ||
            !tvmr_weights_sum_good(bytes))
            error_at(err, TVMR_WEIGHTS, 0, "'%.60s' is not a correct weight file", path);
        struct reader r = {
            .in = bytes_slice(bytes, 0, bytes.size < TVMW_SUM ? 0 : bytes.size - TVMW_SUM),
            .pos = TVMW_HEAD,
            .err = err};
        struct tvmr_entry e;
        for (size_t k = err->code ? 0 : bytes_get16(bytes.data + 6); k && tvmr_entry_read(&r, &e);
             k--) {
            bool known = false;
            for (size_t i = 0; i < m->entry_count; i++)
                known |= bytes_equal(m->entries[i].key, e.key);
            if (!known) tvmr_entry_write(&entries, &e);
            count += !known;
        }
    }
    if (!err->code && count > UINT16_MAX) error_at(err, BASE_LIMIT, 0, "more than 65535 entries");
    if (!err->code) {
        tvmr_weights_begin(out, count);
        writer_append(out, &entries);
        tvmr_weights_end(out);
    }
    writer_free(&entries);
    penta_buffer_free(&file);
    return !err->code && writer_ok(out, err);
}
