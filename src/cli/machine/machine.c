/* Opens a program with its machine and host, interrupts the machine at Ctrl-C and at a deadline,
 * and prints how a run ended. */
#include "cli/machine/machine.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/machine/deadline.h"
#include "cli/output.h"
#include "cli/terminal/terminal.h"

static bool machine_passes(struct cli *c, const struct input *in)
{
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    sink.module = in->module;
    bool ok = penta_check_run(in->module, c->value[OPT_UNVERIFIED], finding_sink_add, &sink);
    if (!ok) {
        finding_sink_finish(&sink);
        cli_fail(c, sink.exit > EXIT_NO ? sink.exit : EXIT_NO);
    }
    finding_sink_drop(&sink);
    return ok;
}

/* Checks the outputs before the program runs, because a refusal afterwards would waste the run. */
static bool outputs_allowed(struct cli *c)
{
    static const enum option files[] = {OPT_OUTPUT, OPT_TRACE, OPT_RECORD, OPT_SAVE};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = c->value[files[i]];
        if (path && strcmp(path, "-") && !output_allowed(c, path)) return false;
    }
    return output_options_allowed(c);
}

static const char *engine_for(const struct cli *c, const penta_module *module)
{
    static const enum option steps[] = {OPT_FUEL, OPT_TRACE, OPT_RECORD, OPT_SAVE, OPT_LOAD};
    bool stepping = false;
    if (c->value[OPT_ENGINE] || c->command != COMMAND_RUN) return c->value[OPT_ENGINE];
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        stepping |= c->value[steps[i]] != NULL;
    return penta_engine_for_run(penta_module_format(module), stepping);
}

static void told_engine(struct cli *c, const struct machine *m)
{
    const char *wanted = m->record ? c->value[OPT_ENGINE] : engine_for(c, m->in.module),
               *runs = penta_vm_engine(penta_session_vm(m->session));
    if (wanted && strcmp(wanted, runs) && !c->value[OPT_QUIET])
        terminal_say(c, "note: engine %s cannot run this program here; %s runs instead", wanted,
                     runs);
}

/* Tells whether the program may run. Programs that no machine opens get their error when they
 * are opened. */
static bool program_may_run(struct cli *c, struct machine *m)
{
    const penta_module *module = m->in.module;
    return penta_module_damage(module) || !penta_engine_name(penta_module_format(module), 0) ||
           machine_passes(c, &m->in);
}

static penta_vm *volatile interrupted_vm;
static void machine_interrupt(void)
{
    if (interrupted_vm) penta_vm_interrupt(interrupted_vm);
}

/* The message of a deadline while no machine exists. The deadline then ends the process, as
 * Ctrl-C does. Reading a pipe, stretching a password and inflating cannot be ended in other
 * ways, and nothing has been written yet. */
static struct {
    char text[400];
    volatile size_t size; /* 0 when a machine exists, or no deadline */
    bool is_result;
} early;

static void machine_deadline(void)
{
    if (early.size) terminal_last_words(early.is_result, early.text, early.size, EXIT_DEADLINE);
    machine_interrupt();
}

static void early_prepare(const struct cli *c)
{
    struct writer text = {0};
    bool json = c->value[OPT_JSON] && !c->out_is_file;
    if (json) {
        struct json document = {.out = &text};
        char schema[40];
        snprintf(schema, sizeof schema, "penta.%s/1", commands[c->command].name);
        json_object(&document, NULL);
        json_text(&document, "schema", schema);
        json_text(&document, c->command == COMMAND_TRAIN ? "ended" : "stop", "deadline");
        json_bool(&document, "ok", false);
        json_uint(&document, "exit", EXIT_DEADLINE);
        json_finish(&document);
    } else {
        writer_text(&text, "penta: deadline before ");
        writer_safe(&text, bytes_of(strcmp(c->words[0], "-") ? c->words[0] : "standard input"));
        if (text.out.size > sizeof early.text - 40) text.out.size = sizeof early.text - 40;
        writer_text(&text, " could run\n");
    }
    early.is_result = json;
    if (text.out.size <= sizeof early.text) {
        bytes_copy(early.text, writer_view(&text));
        early.size = text.out.size;
    }
    writer_free(&text);
}

static void machine_deadline_end(void)
{
    deadline_end();
    early.size = 0;
}

static void on_signal(int number)
{
    (void)number;
    machine_interrupt();
}

void machine_close(struct machine *m)
{
    machine_deadline_end();
    penta_session_free(m->session);
    penta_record_free(m->record);
    input_close(&m->in);
}

static void open_session(struct cli *c, struct machine *m, const penta_option *options,
                         size_t count)
{
    penta_error err = {0};
    if (!program_may_run(c, m)) return;
    m->session =
        penta_session_new(m->in.module, engine_for(c, m->in.module), options, count, NULL, &err);
    if (!m->session) cli_error(c, m->in.name, &err);
}

/* Checks the options of a replay. Options about how the file is read must be given again; those
 * of the run are in the record. */
static bool replay_alone(struct cli *c, const char *format, const penta_option *options,
                         size_t count)
{
    enum option other = c->value[OPT_LOAD] ? OPT_LOAD : OPT_RECORD;
    const char *given = NULL;
    for (size_t i = 0; i < count && !given; i++)
        if (!penta_option_find(format, options[i].key, PENTA_USE_OPEN)) given = options[i].key;
    if (c->value[other])
        cli_usage(c, NULL, "--replay and --%s exclude each other", tool_options[other].row.key);
    else if (given)
        cli_usage(c, NULL, "--replay: option '--%s' comes from the record", given);
    return !c->value[other] && !given;
}

static void open_replay(struct cli *c, struct machine *m)
{
    const char *path = c->value[OPT_REPLAY];
    struct input text;
    penta_error err = {0};
    if (!input_read(c, path, &text)) return;
    m->record = penta_record_new(input_bytes(&text), &err);
    input_close(&text);
    if (!m->record) {
        cli_error(c, path, &err);
        return;
    }
    bool same_format = !strcmp(penta_record_format(m->record), penta_module_format(m->in.module));
    if (same_format && !program_may_run(c, m)) return;
    m->session = penta_session_replay(m->in.module, c->value[OPT_ENGINE], m->record, &err);
    if (!m->session)
        cli_error(c, path, &err);
    else if (!penta_record_is_of(m->record, m->in.module) && !c->value[OPT_QUIET])
        terminal_say(c, "note: the record is of another version of this program");
}

static bool load_snapshot(struct cli *c, struct machine *m)
{
    const char *path = c->value[OPT_LOAD];
    struct input saved;
    penta_error err = {0};
    if (!path) return true;
    if (!input_read(c, path, &saved)) return false;
    bool loaded = penta_session_load(m->session, input_bytes(&saved), &err);
    if (!loaded) cli_error(c, path, &err);
    input_close(&saved);
    return loaded;
}

void machine_fuel(const struct cli *c, const struct machine *m, uint64_t *fuel)
{
    penta_stop end;
    uint64_t steps = penta_session_steps(m->session);
    if (c->value[OPT_FUEL] || !m->record || !penta_record_end(m->record, &end)) return;
    bool outside = end.kind == PENTA_STOP_FUEL || end.kind == PENTA_STOP_INTERRUPT;
    if (outside && end.steps != UINT64_MAX && end.steps >= steps) *fuel = end.steps - steps;
}

bool machine_open(struct cli *c, struct machine *m)
{
    *m = (struct machine){0};
    if (!deadline_begin(c, machine_deadline)) return false;
    if (c->value[OPT_TIMEOUT]) early_prepare(c);
    if (!input_open(c, c->words[0], &m->in)) {
        machine_deadline_end();
        return false;
    }
    size_t count = 0;
    const char *format = penta_module_format(m->in.module);
    penta_option *options = options_for(c, format, OPTION_RUN, &count);
    if (!c->value[OPT_REPLAY])
        open_session(c, m, options, count);
    else if (replay_alone(c, format, options, count))
        open_replay(c, m);
    free(options);
    if (m->session && load_snapshot(c, m) && outputs_allowed(c)) {
        told_engine(c, m);
        return true;
    }
    machine_deadline_end();
    machine_close(m);
    return false;
}

bool machine_arm(struct cli *c, struct machine *m)
{
    struct sigaction action = {.sa_handler = on_signal};
    interrupted_vm = penta_session_vm(m->session);
    early.size = 0;
    sigaction(SIGINT, &action, NULL);
    return deadline_begin(c, machine_deadline);
}

void machine_disarm(struct machine *m)
{
    m->timed_out = *deadline_flag();
    machine_deadline_end();
    signal(SIGINT, SIG_DFL);
    interrupted_vm = NULL;
}

void machine_findings(struct cli *c, const struct machine *m)
{
    struct finding_sink sink;
    finding_sink_init(&sink, c, m->in.name);
    sink.module = m->in.module;
    penta_vm_findings(penta_session_vm(m->session), finding_sink_add, &sink);
    if (sink.count)
        finding_sink_tell(&sink);
    else
        finding_sink_drop(&sink);
}

bool machine_shows_inner(const struct cli *c)
{
    return option_text(c->format_options, c->format_option_count, "inner-trace");
}

void machine_finish(struct cli *c, struct machine *m, const penta_stop *stop, bool told)
{
    bool json = c->value[OPT_JSON];
    penta_buffer text = {0};
    penta_error err = {0};
    if (!penta_session_finish(m->session, stop, json, &text, &err))
        cli_error(c, m->in.name, &err);
    else if (told && json)
        json_members_of(&c->json, (penta_bytes){text.data, text.size});
    else if (told)
        writer_bytes(&c->out, text.data, text.size);
    penta_buffer_free(&text);
}

void machine_save_state(struct cli *c, struct machine *m)
{
    const char *path = option_text(c->format_options, c->format_option_count, "save-state");
    const char *from = option_text(c->format_options, c->format_option_count, "state");
    penta_buffer state = {0};
    penta_error err = {0};
    if (!path) return;
    penta_bytes bytes;
    bool saved = penta_session_save_host(m->session, &state, &err);
    bytes = (penta_bytes){state.data, state.size};
    if (!saved && err.code != BASE_UNSUPPORTED)
        cli_error(c, m->in.name, &err);
    else if (saved && output_same_file(path, from))
        output_rewrite(c, path, bytes);
    else if (saved)
        output_write(c, path, bytes);
    penta_buffer_free(&state);
}

const char *stop_name(const struct machine *m, const penta_stop *stop)
{
    bool deadline = m->timed_out && stop->kind == PENTA_STOP_INTERRUPT;
    return deadline ? "deadline" : penta_stop_name(stop->kind);
}

void stop_print(struct writer *out, const struct machine *m, const penta_stop *stop)
{
    const char *detail = penta_vm_detail_name(penta_session_vm(m->session), stop);
    uint64_t steps = penta_session_steps(m->session);
    writer_text(out, stop_name(m, stop));
    if (detail) {
        writer_char(out, ' ');
        writer_safe_text(out, detail);
    } else if (stop->kind == PENTA_STOP_HOST) {
        writer_print(out, " %" PRIu32, stop->detail);
    } else if (stop->kind == PENTA_STOP_FAULT) {
        writer_print(out, " %s 0x%" PRIx64, stop->args[1] ? "write" : "read", stop->args[0]);
    }
    writer_print(out, " pc=%" PRIu64, stop->pc);
    if (steps != UINT64_MAX) writer_print(out, " steps=%" PRIu64, steps);
    writer_char(out, '\n');
}

bool stop_is_failure(const penta_stop *stop)
{
    return stop->kind == PENTA_STOP_TRAP || stop->kind == PENTA_STOP_FAULT ||
           stop->kind == PENTA_STOP_GAS || stop->kind == PENTA_STOP_HOST ||
           stop->kind == PENTA_STOP_DISAGREE;
}

int stop_exit(const struct machine *m, const penta_stop *stop)
{
    switch (stop->kind) {
    case PENTA_STOP_HALT: return EXIT_YES;
    case PENTA_STOP_TRAP: return EXIT_TRAP;
    case PENTA_STOP_GAS: return EXIT_GAS;
    case PENTA_STOP_FAULT: return EXIT_FAULT;
    case PENTA_STOP_HOST: return EXIT_HOST;
    case PENTA_STOP_FUEL: return EXIT_FUEL;
    case PENTA_STOP_INTERRUPT: return m->timed_out ? EXIT_DEADLINE : EXIT_INTERRUPTED;
    case PENTA_STOP_BREAK: return EXIT_YES;
    case PENTA_STOP_DISAGREE: return EXIT_DISAGREE;
    }
    return EXIT_BUG;
}

void state_print(struct cli *c, const penta_vm *vm)
{
    penta_option options[4] = {{"without", "pc"}, {"hint", "--show-memory"}};
    size_t count = 2 + cli_colors(c, options + 2);
    penta_buffer text = {0};
    penta_error err = {0};
    if (c->value[OPT_SHOW_MEMORY]) options[count++] = (penta_option){"show-memory", "1"};
    if (!penta_vm_text(vm, options, count, &text, &err)) cli_error(c, NULL, &err);
    writer_bytes(&c->out, text.data, text.size);
    penta_buffer_free(&text);
}

struct state_filter {
    penta_visitor next;
    unsigned depth;
    bool output; /* The machine has a member of this name. */
};

static bool filter_enter(void *user, const penta_node *node)
{
    struct state_filter *f = user;
    if (!f->depth && !strcmp(node->name, "output")) f->output = true;
    f->depth++;
    return f->next.enter(f->next.user, node);
}

static void filter_field(void *user, const penta_field *field)
{
    struct state_filter *f = user;
    bool told = !strcmp(field->name, "pc") || !strcmp(field->name, "host_calls");
    if (!f->depth && !strcmp(field->name, "output")) f->output = true;
    if (f->depth || !told) f->next.field(f->next.user, field);
}

static void filter_leave(void *user, const penta_node *node)
{
    struct state_filter *f = user;
    f->depth--;
    f->next.leave(f->next.user, node);
}

bool state_json(struct json *j, const penta_vm *vm)
{
    struct state_filter f = {.next = json_state_visitor(j)};
    penta_visitor visitor = {&f, filter_enter, filter_field, filter_leave};
    penta_vm_describe(vm, &visitor);
    return f.output;
}
