/* Reads the record of a run. The first line of JSON tells which run it is. Then one line follows
 * for each call of its host, and the last line is about the end of the run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "penta/record/record_struct.h"

struct record_reader {
    penta_record *record;
    uint64_t line;   /* number of the line, from 1 */
    uint64_t offset; /* the offset of the first byte of the line */
    penta_error *err;
};

static bool record_read_wrong(struct record_reader *r, const char *what, const char *name)
{
    return error_at(r->err, BASE_RECORD, r->offset, "line %" PRIu64 ": %s '%.40s'", r->line, what,
                    name);
}

static bool no_memory(struct record_reader *r)
{
    return error_at(r->err, BASE_MEMORY, 0, "no memory for the record");
}

/* Reads a number. An absent member leaves the value as it is. */
static bool read_uint(struct record_reader *r, const struct json_object *v, const char *name,
                      bool required, uint64_t *out)
{
    if (!json_has(v, name)) return !required || record_read_wrong(r, "there is no member", name);
    return json_as_uint(json_get(v, name), out) || record_read_wrong(r, "this is no number:", name);
}

static bool read_bool(struct record_reader *r, const struct json_object *v, const char *name,
                      bool *out)
{
    if (!json_has(v, name)) return true;
    *out = json_as_bool(json_get(v, name));
    return json_is_bool(json_get(v, name)) ||
           record_read_wrong(r, "this is neither true nor false:", name);
}

static bool read_hex(struct record_reader *r, const struct json_object *v, const char *name,
                     penta_buffer *out)
{
    if (!json_has(v, name)) return true;
    out->data = json_as_hex(json_get(v, name), &out->size);
    out->capacity = out->size;
    return out->data || record_read_wrong(r, "these are no bytes in hexadecimal:", name);
}

/* Reads text from the member NAME, or bytes from NAME_hex. */
static bool read_text(struct record_reader *r, const struct json_object *v, const char *name,
                      const char *name_hex, penta_buffer *out)
{
    const struct json_object *text = json_get(v, name);
    struct writer w = {0};
    if (!json_has(v, name)) return read_hex(r, v, name_hex, out);
    if (!json_is_text(text)) return record_read_wrong(r, "this is no text:", name);
    if (json_has(v, name_hex)) return record_read_wrong(r, "this is there in two forms:", name);
    writer_bytes(&w, json_as_text(text), json_text_size(text));
    *out = w.out;
    return !w.failed || no_memory(r);
}

static bool read_words(struct record_reader *r, const struct json_object *v, const char *name,
                       size_t least, size_t most, uint64_t *out, size_t *count)
{
    const struct json_object *list = json_get(v, name);
    *count = json_length(list);
    if (!json_is_list(list) || *count < least || *count > most)
        return record_read_wrong(r, "this is no list of so many numbers:", name);
    for (size_t i = 0; i < *count; i++)
        if (!json_as_uint(json_item(list, i), &out[i]))
            return record_read_wrong(r, "no number is in", name);
    return true;
}

static bool record_read_text(struct record_reader *r, const struct json_object *v, const char *name,
                             bool required, char **out)
{
    const char *text = json_as_text(json_get(v, name));
    if (!text && (required || !json_is_null(json_get(v, name))))
        return record_read_wrong(r, "this is no text:", name);
    *out = text ? strdup(text) : NULL;
    return !text || *out || no_memory(r);
}

struct member_check {
    const char *const *known;
    const char *unknown;
};

static void check_member(void *user, const char *key, const struct json_object *value)
{
    struct member_check *c = user;
    (void)value;
    for (const char *const *k = c->known; *k; k++)
        if (!strcmp(*k, key)) return;
    c->unknown = key;
}

static bool only_members(struct record_reader *r, const struct json_object *v,
                         const char *const *known)
{
    struct member_check c = {.known = known};
    json_each(v, check_member, &c);
    return !c.unknown || record_read_wrong(r, "nothing is known of the member", c.unknown);
}

static bool read_options(struct record_reader *r, const struct json_object *v)
{
    penta_record *record = r->record;
    const struct json_object *list = json_get(v, "options");
    if (!json_is_list(list)) return record_read_wrong(r, "this is no list:", "options");
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json_object *pair = json_item(list, i);
        const char *key = json_as_text(json_item(pair, 0)),
                   *value = json_as_text(json_item(pair, 1));
        if (json_length(pair) != 2 || !key || !value)
            return record_read_wrong(r, "an option is a list of key and value, in", "options");
        if (!ARRAY_GROW(record->options, record->option_capacity, record->option_count, r->err))
            return false;
        penta_option *o = &record->options[record->option_count++];
        *o = (penta_option){strdup(key), strdup(value)};
        if (!o->key || !o->value) return no_memory(r);
    }
    return true;
}

static bool read_first_line(struct record_reader *r, const struct json_object *v)
{
    static const char *const known[] = {"penta",   "version", "format", "program", "step",
                                        "console", "options", "state",  NULL};
    penta_record *record = r->record;
    const char *kind = json_as_text(json_get(v, "penta"));
    uint64_t version = 0;
    if (!kind || strcmp(kind, "record"))
        return error_at(r->err, BASE_RECORD, 0,
                        "this is no record of a run: its first line does not say so");
    if (!read_uint(r, v, "version", true, &version)) return false;
    if (version < 1 || version > RECORD_VERSION)
        return error_at(r->err, BASE_RECORD, 0,
                        "the record has version %" PRIu64 ", this library reads version %d",
                        version, RECORD_VERSION);
    record->step = UINT64_MAX;
    return only_members(r, v, known) && record_read_text(r, v, "format", true, &record->format) &&
           read_uint(r, v, "program", true, &record->program) &&
           read_uint(r, v, "step", false, &record->step) &&
           read_bool(r, v, "console", &record->console) && read_options(r, v) &&
           (json_has(v, "state") || record_read_wrong(r, "there is no member", "state")) &&
           read_hex(r, v, "state", &record->state);
}

static bool read_writes(struct record_reader *r, const struct json_object *v, penta_buffer *out)
{
    const struct json_object *list = json_get(v, "writes");
    struct writer w = {0};
    bool ok = !json_has(v, "writes") || json_is_list(list) ||
              record_read_wrong(r, "this is no list:", "writes");
    for (size_t i = 0; ok && i < json_length(list); i++) {
        const struct json_object *item = json_item(list, i);
        uint64_t address;
        penta_buffer bytes = {0};
        ok = read_uint(r, item, "address", true, &address) &&
             (json_has(item, "bytes") || record_read_wrong(r, "there is no member", "bytes")) &&
             read_hex(r, item, "bytes", &bytes);
        writer_uint(&w, address, 8);
        writer_uint(&w, bytes.size, 8);
        writer_bytes(&w, bytes.data, bytes.size);
        penta_buffer_free(&bytes);
    }
    *out = w.out;
    return ok && (!w.failed || no_memory(r));
}

static bool read_call_end(struct record_reader *r, const struct json_object *v, enum call_end *end)
{
    const char *word = json_as_text(json_get(v, "end"));
    if (!json_has(v, "end")) return true;
    for (int i = 0; word && record_ends[i]; i++) {
        if (strcmp(word, record_ends[i])) continue;
        *end = (enum call_end)i;
        return true;
    }
    return record_read_wrong(r, "no call ends like this:", word ? word : "end");
}

static bool read_answer(struct record_reader *r, const struct json_object *v,
                        struct recorded_answer *a)
{
    if (!read_words(r, v, "results", 0, 16, a->results, &a->count) ||
        !read_writes(r, v, &a->pokes) || !read_uint(r, v, "gas", false, &a->gas) ||
        !read_call_end(r, v, &a->end) || !read_hex(r, v, "change", &a->effect))
        return false;
    r->record->changes |= a->effect.size != 0;
    return true;
}

static bool read_call(struct record_reader *r, const struct json_object *v)
{
    static const char *const known[] = {
        "call",        "name",       "pc",   "step",     "args",    "results", "writes",
        "host_change", "gas",        "end",  "change",   "between", "output",  "output_hex",
        "errors",      "errors_hex", "note", "note_hex", NULL};
    penta_record *record = r->record;
    uint64_t number = 0;
    size_t args = 0;
    if (!ARRAY_GROW(record->calls, record->capacity, record->count, r->err)) return false;
    struct recorded_call *c = &record->calls[record->count++];
    *c = (struct recorded_call){.stop = {.kind = PENTA_STOP_HOST, .steps = UINT64_MAX}};
    if (!only_members(r, v, known) || !read_uint(r, v, "call", true, &number) ||
        !record_read_text(r, v, "name", false, &c->name) ||
        !read_uint(r, v, "pc", true, &c->stop.pc) ||
        !read_uint(r, v, "step", false, &c->stop.steps) ||
        !read_words(r, v, "args", 0, 6, c->stop.args, &args) || !read_answer(r, v, &c->answer) ||
        !read_hex(r, v, "host_change", &c->host_change) ||
        !read_bool(r, v, "between", &c->between) ||
        !read_text(r, v, "output", "output_hex", &c->output) ||
        !read_text(r, v, "errors", "errors_hex", &c->errors) ||
        !read_text(r, v, "note", "note_hex", &c->note))
        return false;
    c->stop.detail = (uint32_t)number;
    record->changes |= c->host_change.size != 0;
    return number <= UINT32_MAX || record_read_wrong(r, "this is no number of a call:", "call");
}

/* Reads a line {"repeat": times, "calls": round, "steps": steps}. Several lines about the same calls
 * in a row are one repeat. */
static bool read_repeat(struct record_reader *r, const struct json_object *v)
{
    static const char *const known[] = {"repeat", "calls", "steps", NULL};
    penta_record *record = r->record;
    uint64_t times = 0, round = 0, steps = 0;
    if (!only_members(r, v, known) || !read_uint(r, v, "repeat", true, &times) ||
        !read_uint(r, v, "calls", true, &round) || !read_uint(r, v, "steps", false, &steps))
        return false;
    uint64_t all = record_call_count(record);
    if (!times || !round || round > RECORD_ROUND_MAX || round > record->count ||
        times > (INT64_MAX - all) / round || (steps && times > INT64_MAX / steps))
        return record_read_wrong(r, "nothing can be repeated like this:", "repeat");
    struct record_repeat *last =
        record->repeat_count ? &record->repeats[record->repeat_count - 1] : NULL;
    record->repeated += times * round;
    if (last && last->after == record->count) {
        if (last->round != round || last->steps != steps)
            return record_read_wrong(r, "other calls are repeated already:", "repeat");
        last->times += times;
        return true;
    }
    if (!ARRAY_GROW(record->repeats, record->repeat_capacity, record->repeat_count, r->err))
        return false;
    record->repeats[record->repeat_count++] =
        (struct record_repeat){record->count, (size_t)round, all, times, steps};
    return true;
}

/* Writes a value that was read in the form of the library's own writer. */
static void write_value(struct json *j, const char *key, const struct json_object *v);

static void write_member(void *user, const char *key, const struct json_object *value)
{
    write_value(user, key, value);
}

static void write_value(struct json *j, const char *key, const struct json_object *v)
{
    int64_t number = 0;
    uint64_t large = 0;
    if (json_is_object(v)) {
        json_object(j, key);
        json_each(v, write_member, j);
        json_end(j);
    } else if (json_is_list(v)) {
        json_list(j, key);
        for (size_t i = 0; i < json_length(v); i++) write_value(j, NULL, json_item(v, i));
        json_end(j);
    } else if (json_is_text(v)) {
        json_string(j, key, (penta_bytes){(const uint8_t *)json_as_text(v), json_text_size(v)});
    } else if (json_is_bool(v)) {
        json_bool(j, key, json_as_bool(v));
    } else if (json_is_null(v)) {
        json_null(j, key);
    } else if (!json_is_int(v)) {
        json_float(j, key, json_as_float(v));
    } else if (json_as_sint(v, &number)) {
        json_sint(j, key, number);
    } else if (json_as_uint(v, &large)) {
        json_uint(j, key, large);
    }
}

static bool read_last_line(struct record_reader *r, const struct json_object *v)
{
    static const char *const known[] = {"stop",   "detail",     "pc",          "steps", "value",
                                        "report", "report_hex", "report_json", NULL};
    penta_record *record = r->record;
    penta_stop *end = &record->end;
    const char *word = json_as_text(json_get(v, "stop")), *name = NULL;
    uint64_t detail = 0;
    int kind = 0;
    for (; word && (name = penta_stop_name((penta_stop_kind)kind)); kind++)
        if (!strcmp(name, word)) break;
    if (!word || !name) return record_read_wrong(r, "no run ends like this:", word ? word : "stop");
    end->kind = (penta_stop_kind)kind;
    end->steps = UINT64_MAX;
    record->ended = true;
    record->report_is_json = json_has(v, "report_json");
    if (!only_members(r, v, known) || !read_uint(r, v, "detail", true, &detail) ||
        !read_uint(r, v, "pc", true, &end->pc) || !read_uint(r, v, "steps", false, &end->steps) ||
        !read_uint(r, v, "value", false, &end->args[0]))
        return false;
    end->detail = (uint32_t)detail;
    if (detail > UINT32_MAX) return record_read_wrong(r, "this number is too large:", "detail");
    if (!record->report_is_json) return read_text(r, v, "report", "report_hex", &record->report);
    const struct json_object *report = json_get(v, "report_json");
    if (!json_is_object(report)) return record_read_wrong(r, "this is no object:", "report_json");
    struct writer w = {0};
    struct json j = {.out = &w};
    write_value(&j, NULL, report);
    json_finish(&j);
    record->report = w.out;
    return !w.failed || no_memory(r);
}

static bool read_line(struct record_reader *r, penta_bytes text)
{
    penta_error why = {0};
    struct json_doc *doc = json_parse(text, &why);
    if (!doc) {
        if (why.code == BASE_MEMORY) return no_memory(r);
        return error_at(r->err, BASE_RECORD, r->offset + why.offset, "line %" PRIu64 ": %.80s",
                        r->line, why.message);
    }
    const struct json_object *v = json_root(doc);
    bool ok;
    if (r->line == 1)
        ok = read_first_line(r, v);
    else if (r->record->ended)
        ok = error_at(r->err, BASE_RECORD, r->offset,
                      "line %" PRIu64 ": there is a line after the one for the end", r->line);
    else if (json_has(v, "repeat"))
        ok = read_repeat(r, v);
    else if (json_has(v, "stop"))
        ok = read_last_line(r, v);
    else
        ok = read_call(r, v);
    json_doc_free(doc);
    return ok;
}

penta_record *penta_record_new(penta_bytes text, penta_error *err)
{
    *err = (penta_error){0};
    penta_record *record = calloc(1, sizeof *record);
    struct record_reader r = {.record = record, .err = err};
    if (!record)
        no_memory(&r);
    else if (!text.size)
        error_at(err, BASE_RECORD, 0, "the record is empty");
    for (size_t at = 0; at < text.size && !err->code;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
        r.line++;
        r.offset = at;
        read_line(&r, bytes_slice(text, at, size));
        at += size + 1;
    }
    if (!err->code) return record;
    penta_record_free(record);
    return NULL;
}

void penta_record_free(penta_record *record)
{
    if (!record) return;
    for (size_t i = 0; i < record->count; i++) {
        struct recorded_call *c = &record->calls[i];
        penta_buffer *parts[] = {&c->answer.pokes, &c->answer.effect, &c->host_change,
                                 &c->output,       &c->errors,        &c->note};
        for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
            penta_buffer_free(parts[part]);
        free(c->name);
    }
    for (size_t i = 0; i < record->option_count; i++) {
        free((char *)(uintptr_t)record->options[i].key);
        free((char *)(uintptr_t)record->options[i].value);
    }
    free(record->calls);
    free(record->repeats);
    free(record->options);
    free(record->format);
    penta_buffer_free(&record->state);
    penta_buffer_free(&record->report);
    free(record);
}

const char *penta_record_format(const penta_record *record) { return record->format; }
size_t penta_record_calls(const penta_record *record)
{
    uint64_t all = record_call_count(record);
    return all > SIZE_MAX ? SIZE_MAX : (size_t)all;
}

uint64_t record_call_count(const penta_record *record) { return record->count + record->repeated; }

const struct recorded_call *record_call_at(const penta_record *record, uint64_t i, uint64_t *steps)
{
    size_t k;
    ARRAY_SEARCH(k, 0, record->repeat_count, record->repeats[k].first > i);
    const struct record_repeat *r = k ? &record->repeats[k - 1] : NULL;
    uint64_t at = r ? i - r->first : i, rounds = 0;
    size_t entry = (size_t)at;
    if (r && at < r->times * r->round) {
        entry = r->after - r->round + (size_t)(at % r->round);
        rounds = at / r->round + 1;
    } else if (r) {
        entry = r->after + (size_t)(at - r->times * r->round);
    }
    const struct recorded_call *c = &record->calls[entry];
    *steps = c->stop.steps == UINT64_MAX ? UINT64_MAX : c->stop.steps + rounds * (r ? r->steps : 0);
    return c;
}

const penta_option *penta_record_options(const penta_record *record, size_t *count)
{
    *count = record->option_count;
    return record->options;
}

bool penta_record_end(const penta_record *record, penta_stop *stop)
{
    *stop = record->end;
    return record->ended;
}
