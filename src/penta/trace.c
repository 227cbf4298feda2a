/* Prints a run instruction by instruction. What an instruction changed is found by comparing the described state
 * before and after it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "base/sanitize.h"
#include "core/views/changes.h"
#include "penta/session_struct.h"

enum {
    TRACE_VALUES = 8,   /* The most items shown of a long list that changed. */
    LAST_MAX = 10000000 /* The most lines that can be kept from the end of a run. */
};

struct tracer {
    struct penta_session *session;
    bool json;
    uint64_t from;        /* the first step to show */
    uint64_t count;       /* the most lines to show */
    const char *match;    /* text that the instruction must contain, or NULL */
    uint64_t shown;       /* how many lines have been shown */
    struct changes state; /* the state before the current step */
    struct writer insn, text;
    penta_piece *line;
    void *user;
    penta_buffer *ring; /* the last lines, or NULL */
    uint64_t ring_size, ring_count;
    bool failed; /* memory ran out for the lines */
};

static void trace_give(struct tracer *t, penta_bytes line)
{
    if (!t->ring) {
        t->line(t->user, line);
        return;
    }
    struct writer copy = {.out = t->ring[t->ring_count++ % t->ring_size]};
    copy.out.size = 0;
    writer_bytes(&copy, line.data, line.size);
    t->ring[(t->ring_count - 1) % t->ring_size] = copy.out;
    t->failed |= copy.failed;
}

static void give_last_lines(struct tracer *t)
{
    uint64_t from = t->ring_count > t->ring_size ? t->ring_count - t->ring_size : 0;
    for (uint64_t i = from; i < t->ring_count; i++) {
        const penta_buffer *slot = &t->ring[i % t->ring_size];
        t->line(t->user, (penta_bytes){slot->data, slot->size});
    }
}

struct change_line { /* Where the changes of a step are written: a line of text or a JSON object. */
    struct json *json;
    struct writer *out;
    bool any;
};

static bool trace_uninteresting(const char *path) /* Tells whether a value is a counter that
                                                   * changes with every instruction. */
{
    return !strcmp(path, "/pc") || !strcmp(path, "/executed");
}

static void change_line(void *user, const char *path, penta_bytes value)
{
    struct change_line *l = user;
    if (trace_uninteresting(path)) return;
    if (l->json) {
        json_string(l->json, path, value);
        return;
    }
    writer_text(l->out, l->any ? " " : "  ; ");
    writer_safe_text(l->out, path + 1);
    writer_char(l->out, '=');
    writer_bytes(l->out, value.data, value.size);
    l->any = true;
}

static void write_json(struct tracer *t, uint64_t step, const penta_stop *stop, uint64_t pc,
                       struct writer *out)
{
    struct json j = {.out = out};
    json_object(&j, NULL);
    json_uint(&j, "step", step);
    json_uint(&j, "pc", pc);
    json_string(&j, "text", writer_view(&t->insn));
    json_object(&j, "changes");
    changes_take(&t->state, t->session->vm, change_line, &(struct change_line){.json = &j});
    json_end(&j);
    if (stop->kind != PENTA_STOP_FUEL) json_text(&j, "stop", penta_stop_name(stop->kind));
    json_end(&j);
}

static void write_text(struct tracer *t, uint64_t step, const penta_stop *stop, uint64_t pc,
                       struct writer *out)
{
    writer_print(out, "%8" PRIu64 " %6" PRIu64 "  %-32.*s", step, pc, (int)t->insn.out.size,
                 (const char *)t->insn.out.data);
    changes_take(&t->state, t->session->vm, change_line, &(struct change_line){.out = out});
    while (out->out.size && out->out.data[out->out.size - 1] == ' ') out->out.size--;
    if (stop->kind != PENTA_STOP_FUEL) writer_print(out, "  ; %s", penta_stop_name(stop->kind));
}

static bool trace_wanted(const struct tracer *t, uint64_t step)
{
    if (step < t->from || t->shown >= t->count) return false;
    if (!t->match) return true;
    return t->insn.out.size &&
           memmem(t->insn.out.data, t->insn.out.size, t->match, strlen(t->match));
}

static void trace_emit(struct tracer *t, uint64_t step, const penta_stop *stop, uint64_t pc)
{
    t->text.out.size = 0;
    if (t->json)
        write_json(t, step, stop, pc, &t->text);
    else
        write_text(t, step, stop, pc, &t->text);
    t->shown++;
    t->failed |= t->text.failed;
    trace_give(t, writer_view(&t->text));
}

/* Prints the lines that a host call gave about machines inside the machine, before the line of the call. */
static void inner_lines(void *user, const penta_call *call)
{
    struct tracer *t = user;
    if (t->session->steps < t->from) return;
    penta_bytes left = call->output;
    while (left.size) {
        const uint8_t *end = memchr(left.data, '\n', left.size);
        size_t size = end ? (size_t)(end - left.data) : left.size;
        t->text.out.size = 0;
        if (t->json) {
            struct json j = {.out = &t->text};
            json_object(&j, NULL);
            json_string(&j, "inner", bytes_slice(left, 0, size));
            json_end(&j);
        } else {
            writer_bytes(&t->text, left.data, size);
        }
        trace_give(t, writer_view(&t->text));
        left = bytes_slice(left, size + (end != NULL), SIZE_MAX);
    }
}

static void trace_run(struct tracer *t, uint64_t fuel, penta_stop *stop)
{
    struct penta_session *s = t->session;
    const struct driver *driver = s->module->driver;
    uint64_t start = s->steps;
    if (t->from > s->steps) { /* Steps that are not shown run at full speed. */
        uint64_t skip = t->from - s->steps;
        penta_session_run(s, skip < fuel ? skip : fuel, stop);
        if (stop->kind != PENTA_STOP_FUEL || s->steps - start >= fuel) return;
    }
    penta_vm_run(s->vm, 0, stop);
    t->state.list_max = t->json ? 0 : TRACE_VALUES;
    changes_take(&t->state, s->vm, NULL, NULL);
    while (s->steps - start < fuel) {
        uint64_t pc = stop->pc, step = s->steps;
        if (t->shown >= t->count && t->count != UINT64_MAX) {
            penta_session_run(s, fuel - (s->steps - start), stop);
            return;
        }
        t->insn.out.size = 0;
        if (driver->print_at) driver->print_at(s->module, pc, &t->insn);
        penta_session_run(s, 1, stop);
        bool moved = stop->steps || stop->kind == PENTA_STOP_TRAP;
        if (moved && trace_wanted(t, step))
            trace_emit(t, step, stop, pc);
        else
            changes_take(&t->state, s->vm, NULL, NULL);
        if (stop->kind != PENTA_STOP_FUEL) return;
        penta_stop here;
        penta_vm_run(s->vm, 0, &here); /* Running 0 steps only asks for the pc of the next
                                        * instruction. */
        stop->pc = here.pc;
    }
}

static const penta_option_info trace_options[] = {
    OPTION_ROW("json", SWITCH, OPTION_RUN, ""),
    OPTION_ROW("from", SIZE("N", NULL), OPTION_RUN, ""),
    OPTION_ROW("count", SIZE("N", NULL), OPTION_RUN, ""),
    OPTION_ROW("last", SIZE("N", NULL), OPTION_RUN, ""),
    OPTION_ROW("match", TEXT("TEXT"), OPTION_RUN, ""),
    OPTION_ROW("inner", SWITCH, OPTION_RUN, ""),
    {.key = NULL}};

static bool read_options(struct tracer *t, const penta_option *options, size_t count,
                         penta_error *err)
{
    if (!options_check(options, count, trace_options, OPTION_RUN, err) ||
        !option_uint(options, count, "from", &t->from, err) ||
        !option_uint(options, count, "count", &t->count, err) ||
        !option_uint(options, count, "last", &t->ring_size, err))
        return false;
    if (t->ring_size > LAST_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'last' keeps at most %u lines",
                        LAST_MAX);
    t->json = option_text(options, count, "json");
    t->match = option_text(options, count, "match");
    if (t->ring_size) t->ring = calloc((size_t)t->ring_size, sizeof *t->ring);
    return !t->ring_size || t->ring || error_at(err, BASE_MEMORY, 0, "no memory for the lines");
}

bool penta_trace_lines(penta_session *s, uint64_t fuel, const penta_option *options, size_t count,
                       penta_piece *line, void *user, penta_stop *stop, penta_error *err)
{
    *err = (penta_error){0};
    struct tracer t = {.session = s, .count = UINT64_MAX, .line = line, .user = user};
    if (!read_options(&t, options, count, err)) return false;
    penta_call_report *report = s->report;
    void *report_user = s->report_user;
    if (option_text(options, count, "inner")) penta_session_on_call(s, inner_lines, &t);
    trace_run(&t, fuel, stop);
    penta_session_on_call(s, report, report_user);
    if (t.ring) give_last_lines(&t);
    for (uint64_t i = 0; t.ring && i < t.ring_size; i++) penta_buffer_free(&t.ring[i]);
    free(t.ring);
    bool ok = !t.failed && !t.state.failed && !t.insn.failed;
    changes_free(&t.state);
    writer_free(&t.insn);
    writer_free(&t.text);
    return ok || error_at(err, BASE_MEMORY, 0, "no memory for all lines of the trace");
}

static void add_line(void *user, penta_bytes line)
{
    writer_bytes(user, line.data, line.size);
    writer_char(user, '\n');
}

bool penta_trace(penta_session *s, uint64_t fuel, const penta_option *options, size_t count,
                 penta_buffer *out, penta_stop *stop, penta_error *err)
{
    struct writer w = {0};
    bool ok = penta_trace_lines(s, fuel, options, count, add_line, &w, stop, err);
    return writer_give(&w, ok, out, err);
}
