/* Writes the record of a run while it runs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/codec/checksum.h"
#include "base/json/json_write.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "penta/record/record_struct.h"

enum { ROUNDS_KEPT = 4096 }; /* a repeat is written at least after so many rounds */

struct recorded_line {  /* a call that was written, or that a repeat has */
    struct writer body; /* its members except `step` */
    uint64_t steps;
};

struct recorder {
    penta_piece *take;
    void *user;
    penta_buffer before; /* the machine at the call that is being answered, or empty */
    penta_buffer change; /* what the host changed itself during that call, or empty */
    char *name; /* the name of that call, which the machine does not know after the answer */
    /* The last calls; call n is at n % RECORD_ROUND_MAX. */
    struct recorded_line lines[RECORD_ROUND_MAX];
    uint64_t count;
    /* A repeat that is not written yet: `matched` calls were as those `round` calls before, each
     * `steps` steps later. 0 as `round`: there is none. */
    uint64_t round, matched, steps;
    bool flushed; /* a part of the repeat is the last line of the record; more of it may follow */
    uint64_t written; /* number of calls that stand in the record since the last repeat */
};

const char *const record_ends[] = {"goes on", "ends", "traps", "unpaid", NULL};

uint64_t record_program(const penta_module *module) { return checksum_xxh64(module->file); }

void recorder_free(struct recorder *r)
{
    if (!r) return;
    penta_buffer_free(&r->before);
    penta_buffer_free(&r->change);
    for (size_t i = 0; i < RECORD_ROUND_MAX; i++) writer_free(&r->lines[i].body);
    free(r->name);
    free(r);
}

static bool is_text(penta_bytes bytes)
{
    uint32_t point;
    for (size_t n; bytes.size; bytes = bytes_slice(bytes, n, SIZE_MAX))
        if (!(n = utf8_next(bytes, &point))) return false;
    return true;
}

/* Writes the member NAME for text, NAME_hex for other bytes, and none when it is empty. */
static void write_text(struct json *j, const char *name, const char *name_hex, penta_bytes text)
{
    if (!text.size) return;
    if (is_text(text))
        json_string(j, name, text);
    else
        json_hex(j, name_hex, text);
}

static void write_steps(struct json *j, const char *name, uint64_t steps)
{
    if (steps != UINT64_MAX) json_uint(j, name, steps);
}

/* Writes out a complete line. When that is impossible, the session fails. */
static bool record_write_give(struct penta_session *s, struct json *j, penta_error *err)
{
    json_finish(j);
    bool ok = writer_ok(j->out, err);
    if (ok) s->recorder->take(s->recorder->user, writer_view(j->out));
    writer_free(j->out);
    return ok;
}

/* Writes the options. Those that name files to write are left out, because repeating the run writes no files. */
static void write_options(struct json *j, const char *format, const penta_option *options,
                          size_t count)
{
    json_list(j, "options");
    for (size_t i = 0; i < count; i++) {
        const penta_option_info *row = penta_option_find(format, options[i].key, PENTA_USE_RUN);
        if (row && (row->uses & (PENTA_USE_WRITES | PENTA_USE_REWRITES))) continue;
        json_list(j, NULL);
        json_text(j, NULL, options[i].key);
        json_text(j, NULL, options[i].value);
        json_end(j);
    }
    json_end(j);
}

bool penta_session_record(penta_session *s, const penta_option *options, size_t count,
                          penta_piece *take, void *user, penta_error *err)
{
    *err = (penta_error){0};
    const char *format = s->module->driver->name;
    struct writer line = {0};
    struct json j = {.out = &line};
    penta_buffer state = {0};
    if (s->repeats)
        return error_at(err, BASE_STATE, 0, "a run that repeats a record is not recorded itself");
    if (!penta_vm_save(s->vm, &state, err)) return false;
    recorder_free(s->recorder);
    s->recorder = calloc(1, sizeof *s->recorder);
    if (s->recorder) {
        *s->recorder = (struct recorder){.take = take, .user = user};
        json_object(&j, NULL);
        json_text(&j, "penta", "record");
        json_uint(&j, "version", RECORD_VERSION);
        json_text(&j, "format", format);
        json_word(&j, "program", record_program(s->module));
        write_steps(&j, "step", s->steps);
        json_bool(&j, "console", s->opened.console);
        write_options(&j, format, options, count);
        json_hex(&j, "state", (penta_bytes){state.data, state.size});
        record_write_give(s, &j, err);
    } else {
        error_at(err, BASE_MEMORY, 0, "no memory for the record");
    }
    penta_buffer_free(&state);
    if (!err->code) return true;
    recorder_free(s->recorder);
    s->recorder = NULL;
    return false;
}

void recorder_waits(struct penta_session *s)
{
    penta_error err = {0};
    if (s->recorder->before.size) return;
    effect_host_state(s->vm, &s->recorder->before, &err);
    error_keep_first(&s->failure, &err);
}

void recorder_answers(struct penta_session *s)
{
    struct recorder *r = s->recorder;
    penta_bytes before = {r->before.data, r->before.size};
    penta_buffer_free(&r->change);
    if (before.size) effect_host_find(s->vm, before, &r->change, &s->failure);
    penta_buffer_free(&r->before);
}

void recorder_asked(struct penta_session *s)
{
    const char *name = penta_vm_detail_name(s->vm, &s->stop);
    penta_buffer_free(&s->recorder->before);
    free(s->recorder->name);
    s->recorder->name = name ? strdup(name) : NULL;
    if (name && !s->recorder->name)
        error_at(&s->failure, BASE_MEMORY, 0, "no memory for the record");
    if (s->ask || s->stop_at_calls || s->opened.changes_machine) recorder_waits(s);
}

static void write_writes(struct json *j, penta_bytes pokes)
{
    if (!pokes.size) return;
    json_list(j, "writes");
    while (pokes.size) {
        size_t size = (size_t)bytes_get64(pokes.data + 8);
        json_object(j, NULL);
        json_word(j, "address", bytes_get64(pokes.data));
        json_hex(j, "bytes", bytes_slice(pokes, 16, size));
        json_end(j);
        pokes = bytes_slice(pokes, 16 + size, SIZE_MAX);
    }
    json_end(j);
}

/* Writes the members of a call. `steps` is left out if it is NULL. */
static void write_call(struct json *j, const struct penta_session *s, const uint64_t *steps)
{
    const struct answer *a = &s->answer;
    const struct recorder *r = s->recorder;
    int args = 6;
    json_object(j, NULL);
    json_uint(j, "call", s->stop.detail);
    json_text(j, "name", r->name);
    json_uint(j, "pc", s->stop.pc);
    if (steps) write_steps(j, "step", *steps);
    while (args && !s->stop.args[args - 1]) args--;
    json_list(j, "args");
    for (int i = 0; i < args; i++) json_word(j, NULL, s->stop.args[i]);
    json_end(j);
    json_list(j, "results");
    for (size_t i = 0; i < a->count; i++) json_word(j, NULL, a->results[i]);
    json_end(j);
    write_writes(j, writer_view(&a->pokes));
    if (r->change.size) json_hex(j, "host_change", (penta_bytes){r->change.data, r->change.size});
    if (a->gas) json_uint(j, "gas", a->gas);
    if (a->end != CALL_GOES_ON) json_text(j, "end", record_ends[a->end]);
    if (a->between) json_bool(j, "between", true);
    write_text(j, "output", "output_hex", writer_view(&a->output));
    write_text(j, "errors", "errors_hex", writer_view(&a->errors));
    write_text(j, "note", "note_hex", writer_view(&a->note));
}

/* Writes the whole rounds of a repeat. The calls of a round that was begun are then calls again. */
static void write_repeat(struct penta_session *s)
{
    struct recorder *r = s->recorder;
    uint64_t times = r->round ? r->matched / r->round : 0;
    uint64_t begun = r->round ? r->matched % r->round : 0;
    struct writer line = {0};
    struct json j = {.out = &line};
    if (times) {
        json_object(&j, NULL);
        json_uint(&j, "repeat", times);
        json_uint(&j, "calls", r->round);
        if (s->steps != UINT64_MAX) json_uint(&j, "steps", r->steps);
        record_write_give(s, &j, &s->failure);
        r->written = 0;
    }
    for (uint64_t i = r->count - begun; i < r->count; i++) {
        const struct recorded_line *l = &r->lines[i % RECORD_ROUND_MAX];
        struct writer whole = {0};
        writer_bytes(&whole, l->body.out.data, l->body.out.size - 1); /* without its brace */
        if (l->steps != UINT64_MAX) writer_print(&whole, ",\"step\":%" PRIu64, l->steps);
        writer_text(&whole, "}\n");
        if (writer_ok(&whole, &s->failure)) r->take(r->user, writer_view(&whole));
        writer_free(&whole);
        r->written++;
    }
    r->matched = 0;
}

static bool lines_equal(const struct recorded_line *a, const struct recorded_line *b)
{
    return bytes_equal(writer_view(&a->body), writer_view(&b->body));
}

/* Tells whether the newest call is as the one `round` calls before it, `*steps` steps later. */
static bool line_repeats(const struct recorder *r, uint64_t round, uint64_t *steps)
{
    const struct recorded_line *now = &r->lines[r->count % RECORD_ROUND_MAX],
                               *then = &r->lines[(r->count - round) % RECORD_ROUND_MAX];
    *steps = now->steps - then->steps;
    return lines_equal(now, then);
}

/* Begins a repeat with the newest call if it is as one of those that stand in the record, with the
 * shortest round that fits. */
static bool repeat_begins(struct recorder *r)
{
    for (uint64_t round = 1; round < RECORD_ROUND_MAX && round <= r->written; round++) {
        if (!line_repeats(r, round, &r->steps)) continue;
        r->round = round;
        r->matched = 1;
        return true;
    }
    return false;
}

/* Tells whether the newest call, which is in r->lines, belongs to a repeat. Else it is to be written. */
static bool recorder_repeats(struct penta_session *s)
{
    struct recorder *r = s->recorder;
    uint64_t steps;
    if (r->matched || r->flushed) {
        if (line_repeats(r, r->round, &steps) && steps == r->steps) {
            r->matched++;
            return true;
        }
        if (r->flushed && r->matched < r->round) r->written = 0;
        write_repeat(s);
        r->flushed = false;
    }
    return repeat_begins(r);
}

void recorder_answered(struct penta_session *s)
{
    struct recorder *r = s->recorder;
    struct recorded_line *line = &r->lines[r->count % RECORD_ROUND_MAX];
    struct json body = {.out = &line->body};
    line->body.out.size = 0;
    line->steps = s->steps;
    write_call(&body, s, NULL);
    json_end(&body);
    if (!writer_ok(&line->body, &s->failure)) return;
    bool repeats = recorder_repeats(s);
    r->count++;
    if (repeats) {
        if (r->matched < ROUNDS_KEPT * r->round || r->matched % r->round) return;
        write_repeat(s);
        r->flushed = true;
        return;
    }
    struct writer text = {0};
    struct json j = {.out = &text};
    write_call(&j, s, &s->steps);
    record_write_give(s, &j, &s->failure);
    if (r->written < RECORD_ROUND_MAX) r->written++;
}

bool recorder_ended(struct penta_session *s, const penta_stop *stop, bool json, penta_bytes report,
                    penta_error *err)
{
    struct writer line = {0};
    struct json j = {.out = &line};
    write_repeat(s);
    json_object(&j, NULL);
    json_text(&j, "stop", penta_stop_name(stop->kind));
    json_uint(&j, "detail", stop->detail);
    json_uint(&j, "pc", stop->pc);
    write_steps(&j, "steps", s->steps);
    json_word(&j, "value", stop->args[0]);
    if (json)
        json_raw(&j, "report_json", report);
    else
        write_text(&j, "report", "report_hex", report);
    return record_write_give(s, &j, err);
}
