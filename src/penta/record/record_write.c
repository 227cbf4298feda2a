/* Writes the record of a run while it runs. */
#include <stdlib.h>
#include <string.h>
#include "base/codec/checksum.h"
#include "base/json/json_write.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "penta/record/record_struct.h"

struct recorder {
    penta_piece *take;
    void *user;
    penta_buffer before; /* the machine at the call that is being answered, or empty */
    char *name;          /* the name of the call that is being answered, because the machine does
                          * not know it afterwards */
};

const char *const record_ends[] = {"goes on", "ends", "traps", "unpaid", NULL};

uint64_t record_program(const penta_module *module) { return checksum_xxh64(module->file); }

void recorder_free(struct recorder *r)
{
    if (!r) return;
    penta_buffer_free(&r->before);
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
    penta_error err;
    if (s->recorder->before.size) return;
    penta_vm_save(s->vm, &s->recorder->before, &err);
    error_keep_first(&s->failure, &err);
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

static void write_call(struct json *j, const struct penta_session *s)
{
    const struct answer *a = &s->answer;
    json_uint(j, "call", s->stop.detail);
    json_text(j, "name", s->recorder->name);
    json_uint(j, "pc", s->stop.pc);
    write_steps(j, "step", s->steps);
    json_list(j, "args");
    for (int i = 0; i < 6; i++) json_word(j, NULL, s->stop.args[i]);
    json_end(j);
    json_list(j, "results");
    for (size_t i = 0; i < a->count; i++) json_word(j, NULL, a->results[i]);
    json_end(j);
    write_writes(j, writer_view(&a->pokes));
    if (a->gas) json_uint(j, "gas", a->gas);
    if (a->end != CALL_GOES_ON) json_text(j, "end", record_ends[a->end]);
    if (a->between) json_bool(j, "between", true);
    write_text(j, "output", "output_hex", writer_view(&a->output));
    write_text(j, "errors", "errors_hex", writer_view(&a->errors));
    write_text(j, "note", "note_hex", writer_view(&a->note));
}

void recorder_answered(struct penta_session *s)
{
    struct recorder *r = s->recorder;
    struct writer line = {0};
    struct json j = {.out = &line};
    penta_buffer effect = {0};
    json_object(&j, NULL);
    write_call(&j, s);
    penta_bytes before = {r->before.data, r->before.size};
    if (before.size) effect_find(s->vm, before, &effect, &s->failure);
    if (effect.size) json_hex(&j, "change", (penta_bytes){effect.data, effect.size});
    record_write_give(s, &j, &s->failure);
    penta_buffer_free(&effect);
    penta_buffer_free(&r->before);
}

bool recorder_ended(struct penta_session *s, const penta_stop *stop, bool json, penta_bytes report,
                    penta_error *err)
{
    struct writer line = {0};
    struct json j = {.out = &line};
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
