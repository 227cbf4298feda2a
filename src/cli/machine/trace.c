#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/terminal/highlight.h"
#include "cli/machine/machine.h"
#include "cli/machine/tracer.h"
#include "cli/terminal/progress.h"

enum { TRACE_VALUES = 8 }; /* shown of a long list that changed */

/* ---- lines ---- */

struct change_line { /* where the changes of a step go: a line, or an object */
    struct json *json;
    struct writer *out;
    bool any;
};

static bool uninteresting(const char *path) /* counters that change with every instruction */
{
    return !strcmp(path, "/pc") || !strcmp(path, "/executed");
}

static void change_line(void *user, const char *path, penta_bytes value)
{
    struct change_line *l = user;
    if (uninteresting(path)) return;
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

static void write_line(struct tracer *t, uint64_t step, const penta_stop *stop, uint64_t pc,
                       struct writer *out)
{
    bool eventful = stop->kind != PENTA_STOP_FUEL;
    if (t->json) {
        struct json j = {.out = out};
        json_object(&j, NULL);
        json_uint(&j, "step", step);
        json_uint(&j, "pc", pc);
        json_string(&j, "text", writer_view(&t->insn));
        json_object(&j, "changes");
        changes_take(&t->state, t->session->vm, change_line, &(struct change_line){.json = &j});
        json_end(&j);
        if (eventful) json_text(&j, "stop", stop_kind_name(stop->kind));
        json_end(&j);
        return;
    }
    writer_print(out, "%8" PRIu64 " %6" PRIu64 "  %-32.*s", step, pc, (int)t->insn.out.size,
                 (const char *)t->insn.out.data);
    changes_take(&t->state, t->session->vm, change_line, &(struct change_line){.out = out});
    while (out->out.size && out->out.data[out->out.size - 1] == ' ') out->out.size--;
    if (eventful) writer_print(out, "  ; %s", stop_kind_name(stop->kind));
}

static bool wanted(const struct tracer *t, uint64_t step)
{
    if (step < t->from || t->shown >= t->count) return false;
    if (!t->match) return true;
    return t->insn.out.size &&
           memmem(t->insn.out.data, t->insn.out.size, t->match, strlen(t->match));
}

static void emit(struct tracer *t, uint64_t step, const penta_stop *stop, uint64_t pc)
{
    struct writer line = {0};
    write_line(t, step, stop, pc, &line);
    t->shown++;
    if (t->line) {
        t->line(t->user, writer_view(&line));
    } else {
        writer_bytes(t->out, line.out.data, line.out.size);
        writer_char(t->out, '\n');
    }
    writer_free(&line);
}

void tracer_run(struct tracer *t, uint64_t fuel, penta_stop *stop)
{
    struct session *s = t->session;
    uint64_t start = s->steps;
    if (t->from > s->steps) { /* steps that are not shown run at full speed */
        uint64_t skip = t->from - s->steps;
        session_run(s, skip < fuel ? skip : fuel, stop);
        if (stop->kind != PENTA_STOP_FUEL || s->steps - start >= fuel) return;
    }
    penta_vm_run(s->vm, 0, stop);
    t->state.list_max = t->json ? 0 : TRACE_VALUES;
    changes_take(&t->state, s->vm, NULL, NULL);
    while (s->steps - start < fuel) {
        uint64_t pc = stop->pc, step = s->steps;
        if (t->shown >= t->count && t->count != UINT64_MAX) {
            session_run(s, fuel - (s->steps - start), stop);
            return;
        }
        t->insn.out.size = 0;
        const struct driver *driver = s->module->driver;
        if (driver->print_at) driver->print_at(s->module, pc, &t->insn);
        session_run(s, 1, stop);
        bool moved = stop->steps || stop->kind == PENTA_STOP_TRAP;
        if (moved && wanted(t, step))
            emit(t, step, stop, pc);
        else
            changes_take(&t->state, s->vm, NULL, NULL);
        if (stop->kind != PENTA_STOP_FUEL) return;
        penta_stop here;
        penta_vm_run(s->vm, 0, &here); /* for the pc of the next instruction */
        stop->pc = here.pc;
    }
}

void tracer_fini(struct tracer *t)
{
    changes_free(&t->state);
    writer_free(&t->insn);
}

/* ---- the command ---- */

struct tail { /* the last lines, with --last */
    struct cli *cli;
    const struct driver *driver;
    penta_buffer *lines;
    uint64_t size, count;
    const struct tracer *tracer;
};

static void to_document(void *user, penta_bytes line)
{
    struct cli *c = user;
    struct writer w = {.out = {(uint8_t *)(uintptr_t)line.data, line.size, line.size}};
    struct json item = {.out = &w};
    json_embed(&c->json, NULL, &item);
}

static void show(const struct tail *t, penta_bytes line)
{
    struct cli *c = t->cli;
    if (c->value[OPT_JSON]) {
        to_document(c, line);
        return;
    }
    highlight(&c->out, cli_palette(c), t->driver, line);
    writer_char(&c->out, '\n');
}

static void keep_line(void *user, penta_bytes line)
{
    struct tail *t = user;
    if (!t->lines) {
        show(t, line);
        return;
    }
    penta_buffer *slot = &t->lines[t->count++ % t->size];
    penta_buffer_free(slot);
    slot->data = malloc(line.size + 1);
    if (!slot->data) return;
    bytes_copy(slot->data, line);
    slot->size = line.size;
}

static void show_tail(struct tail *t)
{
    uint64_t from = t->count > t->size ? t->count - t->size : 0;
    for (uint64_t i = from; i < t->count; i++) {
        penta_buffer *slot = &t->lines[i % t->size];
        show(t, (penta_bytes){slot->data, slot->size});
        penta_buffer_free(slot);
    }
    free(t->lines);
}

/* Machines inside the machine, instruction by instruction: before the line of the host call. */
static void inner_lines(void *user, const penta_stop *stop, const struct answer *answer)
{
    struct tail *t = user;
    (void)stop;
    if (!answer || t->tracer->session->steps < t->tracer->from) return;
    penta_bytes left = writer_view(&answer->output);
    while (left.size) {
        const uint8_t *end = memchr(left.data, '\n', left.size);
        size_t size = end ? (size_t)(end - left.data) : left.size;
        struct writer line = {0};
        struct json j = {.out = &line};
        if (t->tracer->json) {
            json_object(&j, NULL);
            json_string(&j, "inner", (penta_bytes){left.data, size});
            json_end(&j);
        } else {
            writer_bytes(&line, left.data, size);
        }
        keep_line(t, writer_view(&line));
        writer_free(&line);
        left = bytes_slice(left, size + (end != NULL), left.size);
    }
}

void command_TRACE(struct cli *c)
{
    struct tail tail = {.cli = c};
    struct machine m;
    struct tracer t = {.json = c->value[OPT_JSON] != NULL,
                       .count = UINT64_MAX,
                       .match = c->value[OPT_MATCH],
                       .line = keep_line,
                       .user = &tail};
    uint64_t fuel = UINT64_MAX;
    if (!cli_number(c, OPT_FUEL, &fuel) || !cli_number(c, OPT_FROM, &t.from) ||
        !cli_number(c, OPT_COUNT, &t.count) || !cli_number(c, OPT_LAST, &tail.size))
        return;
    if (tail.size > 10000000) {
        cli_usage(c, NULL, "--last keeps at most 10000000 lines");
        return;
    }
    if (!machine_open(c, &m)) return;
    if (tail.size) tail.lines = calloc((size_t)tail.size, sizeof *tail.lines);
    t.session = &m.session;
    tail.tracer = &t;
    if (machine_shows_inner(c)) {
        m.session.called = inner_lines;
        m.session.user = &tail;
    }
    tail.driver = m.in.module->driver;
    if (c->value[OPT_JSON]) {
        c->document_is_result = true;
        json_text(&c->json, "file", m.in.name);
        json_list(&c->json, "lines");
    }
    penta_stop stop = {0};
    bool armed = machine_arm(c, &m);
    progress_begin(c, "running", true);
    bool cut = c->bounded && t.count == UINT64_MAX && !t.match && !tail.lines;
    if (cut) t.count = SCREEN_LINES; /* the rest runs at full speed */
    if (armed) tracer_run(&t, fuel, &stop);
    progress_end(c);
    if (cut && m.session.steps > t.from + t.shown) c->hidden = m.session.steps - t.from - t.shown;
    machine_disarm(&m);
    if (tail.lines) show_tail(&tail);
    cli_unbound(c);
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (armed) {
        machine_findings(c, &m);
        if (c->value[OPT_JSON]) {
            json_text(&c->json, "stop", stop_kind_name(stop.kind));
            json_uint(&c->json, "pc", stop.pc);
            json_uint(&c->json, "steps", m.session.steps);
            machine_finish(c, &m, &stop, NULL, &c->json);
        } else {
            if (!c->value[OPT_QUIET]) stop_print(&c->out, &m.session, &stop);
            machine_finish(c, &m, &stop, &c->out, NULL);
        }
        machine_save_state(c, &m);
        cli_fail(c, stop_exit(&m, &stop));
    }
    tracer_fini(&t);
    machine_close(&m);
}
