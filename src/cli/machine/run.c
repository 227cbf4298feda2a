/* The command run executes a program, and writes its trace, its record and its snapshot on the
 * way. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/machine/machine.h"
#include "cli/formats.h"
#include "cli/native/native_listing.h"
#include "base/bytes.h"
#include "cli/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"

enum { CALLS_SHOWN = 10000 }; /* the most host calls that the document keeps */

struct run {
    struct cli *cli;
    struct machine machine;
    struct writer output; /* the output of the program, for the document */
    struct writer errors; /* what the program wrote to standard error, for the document */
    struct writer calls;  /* host calls as a JSON list, which goes into the document at the end */
    struct json calls_json;
    uint64_t calls_count;
    struct writer trace, record; /* the contents of files that are written at the end */
    uint64_t save_at;
};

static bool is_console(const struct run *r) { return penta_session_is_console(r->machine.session); }

/* Tells whether somebody may wait for the output: at a console, or at a board that runs in real time. */
static bool run_is_watched(const struct run *r)
{
    const struct cli *c = r->cli;
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!strcmp(c->format_options[i].key, "realtime")) return true;
    return is_console(r);
}

/* Logs a call, for a document or, with --host-log, as a line. */
static void log_call(struct run *r, const penta_call *call)
{
    struct cli *c = r->cli;
    bool json = c->value[OPT_JSON];
    penta_buffer text = {0};
    penta_error err = {0};
    penta_call_print(r->machine.session, call, json, &text, &err);
    if (json)
        json_raw(&r->calls_json, NULL, (penta_bytes){text.data, text.size});
    else
        writer_bytes(&c->out, text.data, text.size);
    if (!json) writer_char(&c->out, '\n');
    penta_buffer_free(&text);
}

static void run_called(void *user, const penta_call *call)
{
    struct run *r = user;
    bool json = r->cli->value[OPT_JSON];
    if (call->output.size) {
        if (json)
            writer_bytes(&r->output, call->output.data, call->output.size);
        else
            cli_program_output(r->cli, call->output);
        if (run_is_watched(r)) cli_flush(r->cli);
    }
    if (call->errors.size) {
        if (json)
            writer_bytes(&r->errors, call->errors.data, call->errors.size);
        else
            cli_program_errors(r->cli, call->errors);
    }
    if (call->between) return;
    if (json ? r->calls_count < CALLS_SHOWN : r->cli->value[OPT_HOST_LOG] != NULL)
        log_call(r, call);
    r->calls_count++;
}

static void run_document(struct run *r, const penta_stop *stop)
{
    struct cli *c = r->cli;
    struct json *j = &c->json;
    const penta_session *s = r->machine.session;
    const penta_vm *vm = penta_session_vm(s);
    json_text(j, "file", r->machine.in.name);
    json_text(j, "format", penta_module_format(r->machine.in.module));
    json_text(j, "stop", stop_name(&r->machine, stop));
    const char *detail = penta_vm_detail_name(vm, stop);
    if (detail)
        json_text(j, "code", detail);
    else
        json_uint(j, "code", stop->detail);
    json_uint(j, "pc", stop->pc);
    if (penta_session_steps(s) != UINT64_MAX) json_uint(j, "steps", penta_session_steps(s));
    bool has_output = state_json(j, vm);
    native_listing_difference(vm, NULL, j);
    json_uint(j, "host_call_count", r->calls_count);
    json_embed(j, "host_calls", &r->calls_json);
    json_string(j, has_output ? "printed" : "output", writer_view(&r->output));
    if (is_console(r)) json_string(j, "errors", writer_view(&r->errors));
    machine_finish(c, &r->machine, stop, true);
}

/* Tells whether a file gets one JSON object per line: FILE.json and FILE.jsonl do, other files
 * get text. */
static bool names_json(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".json") || !strcmp(dot, ".jsonl"));
}

/* Checks --exit-value before the program runs, because a refusal afterwards would waste the run. */
static bool has_exit_value(const struct run *r)
{
    const char *format = penta_module_format(r->machine.in.module);
    if (!r->cli->value[OPT_EXIT_VALUE] || penta_format_exit_value(format) || is_console(r))
        return true;
    cli_usage(r->cli, NULL, "--exit-value: programs of the format %s have no value", format);
    return false;
}

static void add_line(void *user, penta_bytes line)
{
    writer_bytes(user, line.data, line.size);
    writer_char(user, '\n');
}

/* Runs at most `fuel` instructions, with a trace if the user wants one. */
static void execute_part(struct run *r, uint64_t fuel, penta_stop *stop)
{
    const char *path = r->cli->value[OPT_TRACE];
    penta_error err = {0};
    penta_option json = {"json", "1"};
    if (!path)
        penta_session_run(r->machine.session, fuel, stop);
    else if (!penta_trace_lines(r->machine.session, fuel, &json, names_json(path), add_line,
                                &r->trace, stop, &err))
        cli_error(r->cli, path, &err);
}

static void run_save(struct run *r)
{
    penta_buffer bytes = {0};
    penta_error err = {0};
    if (penta_vm_save(penta_session_vm(r->machine.session), &bytes, &err))
        output_write(r->cli, r->cli->value[OPT_SAVE], (penta_bytes){bytes.data, bytes.size});
    else
        cli_error(r->cli, r->machine.in.name, &err);
    penta_buffer_free(&bytes);
}

/* Runs to step `at`, saves the machine there, and runs on. */
static void execute_and_save(struct run *r, uint64_t at, uint64_t fuel, penta_stop *stop)
{
    penta_session *s = r->machine.session;
    uint64_t first = at - penta_session_steps(s);
    execute_part(r, first < fuel ? first : fuel, stop);
    if (stop->kind != PENTA_STOP_FUEL || penta_session_steps(s) != at) {
        penta_error err = {0};
        error_at(&err, BASE_STATE, 0, "the run ended before step %" PRIu64 ": nothing was saved",
                 at);
        cli_error(r->cli, r->machine.in.name, &err);
        return;
    }
    run_save(r);
    if (fuel > first) execute_part(r, fuel == UINT64_MAX ? fuel : fuel - first, stop);
}

static void run_execute(struct run *r, uint64_t fuel, penta_stop *stop)
{
    const struct cli *c = r->cli;
    if (c->value[OPT_SAVE_AT])
        execute_and_save(r, r->save_at, fuel, stop);
    else
        execute_part(r, fuel, stop);
    if (c->value[OPT_TRACE]) output_write(r->cli, c->value[OPT_TRACE], writer_view(&r->trace));
    if (c->value[OPT_SAVE] && !c->value[OPT_SAVE_AT]) run_save(r);
}

/* Tells whether the machine can be saved. It is asked before the program runs, so that a refusal
 * wastes no run. */
static bool can_save(struct run *r)
{
    struct cli *c = r->cli;
    uint64_t steps = penta_session_steps(r->machine.session);
    if (!c->value[OPT_SAVE_AT]) return true;
    r->save_at = cli_number(c, OPT_SAVE_AT, 0);
    if (!c->value[OPT_SAVE])
        cli_usage(c, NULL, "--save-at needs --save FILE");
    else if (r->save_at < steps)
        cli_usage(c, NULL, "--save-at: the run starts at step %" PRIu64, steps);
    return c->value[OPT_SAVE] && r->save_at >= steps;
}

static void add_piece(void *user, penta_bytes piece) { writer_bytes(user, piece.data, piece.size); }

static bool begin_record(struct run *r)
{
    struct cli *c = r->cli;
    penta_error err = {0};
    size_t count = 0;
    if (!c->value[OPT_RECORD]) return true;
    penta_option *options =
        options_for(c, penta_module_format(r->machine.in.module), OPTION_RUN, &count);
    bool ok = penta_session_record(r->machine.session, options, count, add_piece, &r->record, &err);
    if (!ok) cli_error(c, c->value[OPT_RECORD], &err);
    free(options);
    return ok;
}

static void end_record(struct run *r)
{
    penta_error err = {0};
    const char *path = r->cli->value[OPT_RECORD];
    if (!path) return;
    if (writer_ok(&r->record, &err))
        output_write(r->cli, path, writer_view(&r->record));
    else
        cli_error(r->cli, path, &err);
}

static void run_report(struct run *r, const penta_stop *stop)
{
    struct cli *c = r->cli;
    const penta_session *s = r->machine.session;
    bool exited = stop->kind == PENTA_STOP_HALT;
    const char *hint = format_hint(c, r->machine.in.module, stop);
    if (c->value[OPT_JSON]) {
        run_document(r, stop);
    } else if (!exited || !is_console(r)) {
        stop_print(&c->out, &r->machine, stop);
        if (!c->value[OPT_QUIET]) {
            state_print(c, penta_session_vm(s));
            native_listing_difference(penta_session_vm(s), &c->out, NULL);
        }
        machine_finish(c, &r->machine, stop, true);
    } else {
        machine_finish(c, &r->machine, stop, false);
    }
    machine_save_state(c, &r->machine);
    if (hint && c->value[OPT_JSON]) json_text(&c->json, "hint", hint);
    if (hint && !c->value[OPT_JSON] && !c->value[OPT_QUIET]) {
        cli_flush(c);
        terminal_say(c, "note: %s", hint);
    }
    bool value = exited && (c->value[OPT_EXIT_VALUE] || is_console(r));
    int guest = (int)(stop->args[0] & 255);
    if (value && c->value[OPT_JSON]) json_uint(&c->json, "guest_exit", (uint64_t)guest);
    cli_fail(c, value ? guest : stop_exit(&r->machine, stop));
}

void command_RUN(struct cli *c)
{
    struct run r = {.cli = c};
    uint64_t fuel = cli_number(c, OPT_FUEL, UINT64_MAX);
    if (!machine_open(c, &r.machine)) return;
    penta_session_on_call(r.machine.session, run_called, &r);
    r.calls_json.out = &r.calls;
    json_list(&r.calls_json, NULL);
    penta_stop stop = {0};
    machine_fuel(c, &r.machine, &fuel);
    if (has_exit_value(&r) && can_save(&r) && begin_record(&r) && machine_arm(c, &r.machine)) {
        progress_begin(c, "running", true);
        run_execute(&r, fuel, &stop);
        progress_end(c);
        machine_disarm(&r.machine);
        const penta_error *failure = penta_session_failure(r.machine.session);
        if (failure) cli_error(c, r.machine.in.name, failure);
        machine_findings(c, &r.machine);
        run_report(&r, &stop);
        end_record(&r);
    }
    while (r.calls_json.depth) json_end(&r.calls_json);
    writer_free(&r.output);
    writer_free(&r.errors);
    writer_free(&r.calls);
    writer_free(&r.trace);
    writer_free(&r.record);
    machine_close(&r.machine);
}
