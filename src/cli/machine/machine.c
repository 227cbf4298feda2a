#include "cli/machine/machine.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "base/sanitize.h"
#include "cli/machine/memory_summary.h"
#include "cli/output.h"
#include "cli/terminal/terminal.h"
#include "core/engine.h"

/* Findings that keep a program from running, unless --unverified lets it. */
struct check {
    struct finding_sink *sink;
    const struct driver *driver;
    bool unverified, refused;
};

static void check_finding(void *user, const penta_error *finding)
{
    struct check *k = user;
    if (finding->severity != PENTA_ERROR) return;
    enum rule_scope scope = k->driver->scope ? k->driver->scope(finding->code) : SCOPE_CONTAINER;
    if (scope == SCOPE_RUNTIME || (scope == SCOPE_PROGRAM && k->unverified)) return;
    k->refused = true;
    finding_sink_add(k->sink, finding);
}

static bool passes(struct cli *c, const struct input *in)
{
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    sink.module = in->module;
    struct check check = {&sink, in->module->driver, c->value[OPT_UNVERIFIED] != NULL, false};
    penta_validate(in->module, check_finding, &check);
    const struct driver *driver = in->module->driver;
    if (!check.refused && driver->host && driver->host->check) {
        size_t count = 0;
        penta_option *options = options_for(c, driver, OPTION_RUN, &count);
        struct findings f = {.rules = driver->rules, .report = check_finding, .user = &check};
        driver->host->check(in->module, options, count, &f);
        free(options);
    }
    if (check.refused) {
        finding_sink_finish(&sink);
        cli_fail(c, sink.exit > EXIT_NO ? sink.exit : EXIT_NO);
    }
    finding_sink_drop(&sink);
    return !check.refused;
}

/* Checked before the program runs: afterwards a refusal would waste the run. */
static bool outputs_allowed(struct cli *c)
{
    static const enum option files[] = {OPT_OUTPUT, OPT_TRACE};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = c->value[files[i]];
        if (path && strcmp(path, "-") && !output_allowed(c, path)) return false;
    }
    return output_options_allowed(c);
}

bool machine_open(struct cli *c, struct machine *m)
{
    *m = (struct machine){0};
    if (!input_open(c, c->words[0], &m->in)) return false;
    const struct driver *driver = m->in.module->driver;
    penta_error err = {0};
    bool ok = m->in.module->damage.code || !driver->engines || passes(c, &m->in);
    if (ok) {
        size_t count = 0;
        penta_option *options = options_for(c, driver, OPTION_RUN, &count);
        ok = session_open(&m->session, m->in.module, c->value[OPT_ENGINE], options, count, &err);
        free(options);
        if (!ok) cli_error(c, m->in.name, &err);
        if (ok && !outputs_allowed(c)) {
            session_close(&m->session);
            ok = false;
        }
        const char *wanted = c->value[OPT_ENGINE];
        if (ok && wanted && strcmp(wanted, m->session.vm->engine->name) && !c->value[OPT_QUIET])
            terminal_say(c, "note: this host cannot run engine %s; %s runs instead", wanted,
                         m->session.vm->engine->name);
    }
    if (!ok) input_close(&m->in);
    return ok;
}

void machine_close(struct machine *m)
{
    session_close(&m->session);
    input_close(&m->in);
}

/* ---- signals: the only globals of the tool, and only while a machine runs ---- */

static penta_vm *volatile interrupted_vm;
static volatile sig_atomic_t deadline_passed;

static void on_signal(int number)
{
    if (number == SIGALRM) deadline_passed = 1;
    if (interrupted_vm) penta_vm_interrupt(interrupted_vm);
}

bool machine_arm(struct cli *c, struct machine *m)
{
    deadline_passed = 0;
    interrupted_vm = m->session.vm;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    const char *text = c->value[OPT_TIMEOUT];
    if (!text) return true;
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0 && seconds < 1e8)) {
        cli_usage(c, NULL, "--timeout: '%.40s' is not a number of seconds", text);
        return false;
    }
    struct itimerval timer = {
        .it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    if (!timer.it_value.tv_sec && !timer.it_value.tv_usec) timer.it_value.tv_usec = 1;
    timer.it_interval.tv_usec = 10000; /* repeated, in case the machine is between two runs */
    setitimer(ITIMER_REAL, &timer, NULL);
    return true;
}

void machine_disarm(struct machine *m)
{
    struct itimerval off = {0};
    setitimer(ITIMER_REAL, &off, NULL);
    signal(SIGALRM, SIG_IGN);
    signal(SIGINT, SIG_DFL);
    interrupted_vm = NULL;
    m->timed_out = deadline_passed;
}

void machine_findings(struct cli *c, const struct machine *m)
{
    struct finding_sink sink;
    finding_sink_init(&sink, c, m->in.name);
    sink.module = m->in.module;
    penta_vm_findings(m->session.vm, finding_sink_add, &sink);
    if (sink.count)
        finding_sink_tell(&sink);
    else
        finding_sink_drop(&sink);
}

bool machine_shows_inner(const struct cli *c)
{
    return option_text(c->format_options, c->format_option_count, "inner-trace");
}

void machine_finish(struct cli *c, struct machine *m, const penta_stop *stop, struct writer *text,
                    struct json *json)
{
    const struct session *s = &m->session;
    penta_error err = {0};
    if (s->host && s->host->finish &&
        !s->host->finish(s->host_state, s->vm, stop, text, json, &err))
        cli_error(c, m->in.name, &err);
}

void machine_save_state(struct cli *c, struct machine *m)
{
    const struct session *s = &m->session;
    const char *path = option_text(c->format_options, c->format_option_count, "save-state");
    const char *from = option_text(c->format_options, c->format_option_count, "state");
    struct writer state = {0};
    penta_error err = {0};
    if (!path || !s->host || !s->host->save) return;
    if (!s->host->save(s->host_state, &state, &err))
        cli_error(c, m->in.name, &err);
    else if (output_same_file(path, from))
        output_rewrite(c, path, writer_view(&state));
    else
        output_write(c, path, writer_view(&state));
    writer_free(&state);
}

/* ---- stops ---- */

void stop_print(struct writer *out, const struct session *s, const penta_stop *stop)
{
    const char *detail = stop_detail_name(s->vm, stop);
    writer_text(out, stop_kind_name(stop->kind));
    if (detail) {
        writer_char(out, ' ');
        writer_safe_text(out, detail);
    } else if (stop->kind == PENTA_STOP_HOST) {
        writer_print(out, " %" PRIu32, stop->detail);
    } else if (stop->kind == PENTA_STOP_FAULT) {
        writer_print(out, " %s 0x%" PRIx64, stop->args[1] ? "write" : "read", stop->args[0]);
    }
    writer_print(out, " pc=%" PRIu64, stop->pc);
    if (s->steps != UINT64_MAX) writer_print(out, " steps=%" PRIu64, s->steps);
    writer_char(out, '\n');
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

/* ---- the state, without what has been printed already ---- */

struct state_filter {
    penta_visitor next;
    unsigned depth;
    const char *left_out[2]; /* fields of the machine that the caller prints itself, or NULL */
    bool output;             /* the machine has a member of this name */
};

static bool filter_enter(void *user, const penta_node *node)
{
    struct state_filter *f = user;
    if (!f->depth && !strcmp(node->name, "output")) f->output = true;
    if (!f->next.enter(f->next.user, node)) return false;
    f->depth++;
    return true;
}

static void filter_field(void *user, const penta_field *field)
{
    struct state_filter *f = user;
    for (size_t i = 0; !f->depth && i < sizeof f->left_out / sizeof *f->left_out; i++)
        if (f->left_out[i] && !strcmp(field->name, f->left_out[i])) return;
    if (!f->depth && !strcmp(field->name, "output")) f->output = true;
    f->next.field(f->next.user, field);
}

static void filter_leave(void *user, const penta_node *node)
{
    struct state_filter *f = user;
    f->depth--;
    f->next.leave(f->next.user, node);
}

static void describe_filtered(const penta_vm *vm, struct state_filter *f)
{
    penta_visitor visitor = {f, filter_enter, filter_field, filter_leave};
    penta_vm_describe(vm, &visitor);
}

void state_print(struct cli *c, struct writer *out, const penta_vm *vm)
{
    struct state_view view = {.out = out, .palette = cli_palette(c)};
    struct memory_summary summary = {.next = state_visitor(&view), .out = out};
    bool all = c->value[OPT_SHOW_MEMORY] != NULL;
    struct state_filter f = {.next = all ? summary.next : memory_summary_visitor(&summary),
                             .left_out = {"pc"}};
    describe_filtered(vm, &f);
}

bool state_json(struct json *j, const penta_vm *vm)
{
    struct state_json_view view = {.json = j};
    struct state_filter f = {.next = state_json_visitor(&view), .left_out = {"pc", "host_calls"}};
    describe_filtered(vm, &f);
    return f.output;
}
