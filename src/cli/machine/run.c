#include <inttypes.h>
#include <string.h>
#include "cli/machine/machine.h"
#include "cli/pvm/hint.h"
#include "cli/pvm/native_listing.h"
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "cli/machine/tracer.h"

enum { CALLS_SHOWN = 10000 }; /* host calls kept for the document */

struct run {
    struct cli *cli;
    struct machine machine;
    struct writer output; /* of the program, for the document */
    struct writer errors; /* its standard error, the same */
    struct writer calls;  /* host calls as a JSON list, inserted into the document at the end */
    struct json calls_json;
    uint64_t calls_count;
};

static void log_call(struct run *r, const penta_stop *stop, const struct answer *answer)
{
    struct cli *c = r->cli;
    const char *name = stop_detail_name(r->machine.session.vm, stop);
    writer_text(&c->out, "host ");
    if (answer && answer->note.out.size) {
        writer_safe(&c->out, writer_view(&answer->note));
        writer_char(&c->out, '\n');
        return;
    }
    if (name)
        writer_safe_text(&c->out, name);
    else
        writer_dec(&c->out, stop->detail);
    writer_print(&c->out, " pc=%" PRIu64 " (", stop->pc);
    for (int i = 0; i < 6; i++) {
        if (i) writer_text(&c->out, ", ");
        writer_0x(&c->out, stop->args[i]);
    }
    writer_text(&c->out, answer ? ") ->" : ") unanswered");
    for (size_t i = 0; answer && i < answer->count; i++) {
        writer_char(&c->out, ' ');
        writer_0x(&c->out, answer->results[i]);
    }
    writer_char(&c->out, '\n');
}

static void keep_call(struct run *r, const penta_stop *stop, const struct answer *answer)
{
    struct json *j = &r->calls_json;
    json_object(j, NULL);
    json_uint(j, "call", stop->detail);
    json_text(j, "name", stop_detail_name(r->machine.session.vm, stop));
    json_uint(j, "pc", stop->pc);
    json_list(j, "args");
    for (int i = 0; i < 6; i++) json_word(j, NULL, stop->args[i]);
    json_end(j);
    json_bool(j, "answered", answer != NULL);
    json_list(j, "results");
    for (size_t i = 0; answer && i < answer->count; i++) json_word(j, NULL, answer->results[i]);
    json_end(j);
    if (answer && answer->note.out.size) json_string(j, "note", writer_view(&answer->note));
    json_end(j);
}

static bool is_console(const struct session *s)
{
    return s->host && s->host->console && s->host->console(s->host_state);
}

static void called(void *user, const penta_stop *stop, const struct answer *answer)
{
    struct run *r = user;
    if (answer && answer->output.out.size) {
        penta_bytes text = writer_view(&answer->output);
        if (r->cli->value[OPT_JSON])
            writer_bytes(&r->output, text.data, text.size);
        else
            cli_program_output(r->cli, text);
        if (is_console(&r->machine.session)) cli_flush(r->cli); /* somebody may wait for it */
    }
    if (answer && answer->errors.out.size) {
        penta_bytes text = writer_view(&answer->errors);
        if (r->cli->value[OPT_JSON])
            writer_bytes(&r->errors, text.data, text.size);
        else
            cli_program_errors(r->cli, text);
    }
    if (answer && answer->between) return;
    if (r->cli->value[OPT_JSON]) {
        if (r->calls_count < CALLS_SHOWN) keep_call(r, stop, answer);
    } else if (r->cli->value[OPT_HOST_LOG]) {
        log_call(r, stop, answer);
    }
    r->calls_count++;
}

static void document(struct run *r, const penta_stop *stop)
{
    struct cli *c = r->cli;
    struct json *j = &c->json;
    const struct session *s = &r->machine.session;
    json_text(j, "file", r->machine.in.name);
    json_text(j, "format", penta_module_format(r->machine.in.module));
    json_text(j, "stop", r->machine.timed_out ? "deadline" : stop_kind_name(stop->kind));
    const char *detail = stop_detail_name(s->vm, stop);
    if (detail)
        json_text(j, "code", detail);
    else
        json_uint(j, "code", stop->detail);
    json_uint(j, "pc", stop->pc);
    if (s->steps != UINT64_MAX) json_uint(j, "steps", s->steps);
    bool has_output = state_json(j, s->vm);
    native_listing_difference(s->vm, NULL, j);
    json_uint(j, "host_call_count", r->calls_count);
    json_embed(j, "host_calls", &r->calls_json);
    json_string(j, has_output ? "printed" : "output", writer_view(&r->output));
    if (is_console(s)) json_string(j, "errors", writer_view(&r->errors));
    machine_finish(c, &r->machine, stop, NULL, j);
}

/* FILE.json and FILE.jsonl get one JSON object per line, others text. */
static bool names_json(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".json") || !strcmp(dot, ".jsonl"));
}

/* Checked before the program runs: --exit-value could not be honoured afterwards. */
static bool has_exit_value(struct cli *c, const struct machine *m)
{
    const struct driver *driver = m->in.module->driver;
    if (!c->value[OPT_EXIT_VALUE] || driver->exit_value || is_console(&m->session)) return true;
    cli_usage(c, NULL, "--exit-value: programs of the format %s have no value", driver->name);
    return false;
}

void command_RUN(struct cli *c)
{
    struct run r = {.cli = c};
    uint64_t fuel = UINT64_MAX;
    if (!cli_number(c, OPT_FUEL, &fuel) || !machine_open(c, &r.machine)) return;
    if (!has_exit_value(c, &r.machine)) {
        machine_close(&r.machine);
        return;
    }
    struct session *s = &r.machine.session;
    s->called = called;
    s->user = &r;
    r.calls_json.out = &r.calls;
    json_list(&r.calls_json, NULL);
    penta_stop stop = {0};
    struct tracer tracer = {0};
    if (machine_arm(c, &r.machine)) {
        progress_begin(c, "running", true);
        if (c->value[OPT_TRACE]) {
            struct writer file = {0};
            tracer = (struct tracer){.session = s, .out = &file, .count = UINT64_MAX};
            tracer.json = names_json(c->value[OPT_TRACE]);
            tracer_run(&tracer, fuel, &stop);
            tracer_fini(&tracer);
            output_write(c, c->value[OPT_TRACE], writer_view(&file));
            writer_free(&file);
        } else {
            session_run(s, fuel, &stop);
        }
        progress_end(c);
        machine_disarm(&r.machine);
        if (s->failure.code) cli_error(c, r.machine.in.name, &s->failure);
        machine_findings(c, &r.machine);
        bool exited = stop.kind == PENTA_STOP_HALT;
        const char *hint = pvm_hint(c, r.machine.in.module, &stop);
        if (c->value[OPT_JSON]) {
            document(&r, &stop);
        } else if (!exited || !is_console(s)) {
            stop_print(&c->out, s, &stop);
            if (!c->value[OPT_QUIET]) {
                state_print(c, &c->out, s->vm);
                native_listing_difference(s->vm, &c->out, NULL);
            }
            machine_finish(c, &r.machine, &stop, &c->out, NULL);
        }
        machine_save_state(c, &r.machine);
        if (hint && c->value[OPT_JSON]) json_text(&c->json, "hint", hint);
        if (hint && !c->value[OPT_JSON] && !c->value[OPT_QUIET]) {
            cli_flush(c);
            terminal_say(c, "note: %s", hint);
        }
        bool value = exited && (c->value[OPT_EXIT_VALUE] || is_console(s));
        cli_fail(c, value ? (int)(stop.args[0] & 255) : stop_exit(&r.machine, &stop));
    }
    writer_free(&r.output);
    writer_free(&r.errors);
    writer_free(&r.calls);
    machine_close(&r.machine);
}
