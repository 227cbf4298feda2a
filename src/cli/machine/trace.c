/* The command trace prints each instruction with what it changed, for the part of the run that was
 * asked for. */
#include <stdio.h>
#include "cli/machine/compare.h"
#include "cli/machine/machine.h"
#include "cli/terminal/highlight.h"
#include "cli/terminal/progress.h"

struct trace {
    struct cli *cli;
    const char *format;
    uint64_t shown; /* number of lines that were shown */
    bool failed;    /* An option was wrong, or memory ran out. */
    penta_stop stop;
};

static void trace_show(void *user, penta_bytes line)
{
    struct trace *t = user;
    struct cli *c = t->cli;
    t->shown++;
    if (c->value[OPT_JSON]) {
        json_raw(&c->json, NULL, line);
        return;
    }
    highlight_text(&c->out, cli_palette(c), t->format, line);
    writer_char(&c->out, '\n');
}

struct trace_options {
    penta_option items[6];
    size_t count;
};

static void trace_add(struct trace_options *o, const char *key, const char *value)
{
    if (value) o->items[o->count++] = (penta_option){key, value};
}

/* Runs the machine with a trace. A terminal gets only the first lines, unless the user asked for
 * some; the rest runs at full speed. */
static void trace_run_machine(struct trace *t, struct machine *m, uint64_t fuel, uint64_t from)
{
    struct cli *c = t->cli;
    struct trace_options o = {0};
    char first[24];
    penta_error err = {0};
    bool cut = c->bounded && !c->value[OPT_COUNT] && !c->value[OPT_MATCH] && !c->value[OPT_LAST];
    snprintf(first, sizeof first, "%d", SCREEN_LINES);
    trace_add(&o, "json", c->value[OPT_JSON]);
    trace_add(&o, "from", c->value[OPT_FROM]);
    trace_add(&o, "count", cut ? first : c->value[OPT_COUNT]);
    trace_add(&o, "last", c->value[OPT_LAST]);
    trace_add(&o, "match", c->value[OPT_MATCH]);
    trace_add(&o, "inner", machine_shows_inner(c) ? "1" : NULL);
    t->failed =
        !penta_trace_lines(m->session, fuel, o.items, o.count, trace_show, t, &t->stop, &err);
    if (t->failed) cli_error(c, NULL, &err);
    uint64_t steps = penta_session_steps(m->session);
    if (cut && steps > from + t->shown) c->hidden = steps - from - t->shown;
}

void command_TRACE(struct cli *c)
{
    struct trace t = {.cli = c};
    struct machine m;
    uint64_t fuel = cli_number(c, OPT_FUEL, UINT64_MAX), from = cli_number(c, OPT_FROM, 0);
    if (c->value[OPT_COMPARE]) {
        trace_compare(c);
        return;
    }
    if (!machine_open(c, &m)) return;
    t.format = penta_module_format(m.in.module);
    if (c->value[OPT_JSON]) {
        c->document_is_result = true;
        json_text(&c->json, "file", m.in.name);
        json_list(&c->json, "lines");
    }
    bool armed = machine_arm(c, &m);
    progress_begin(c, "running", true);
    machine_fuel(c, &m, &fuel);
    if (armed) trace_run_machine(&t, &m, fuel, from);
    progress_end(c);
    machine_disarm(&m);
    cli_unbound(c);
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (armed && !t.failed) {
        machine_findings(c, &m);
        if (c->value[OPT_JSON]) {
            json_text(&c->json, "stop", stop_name(&m, &t.stop));
            json_uint(&c->json, "pc", t.stop.pc);
            uint64_t steps = penta_session_steps(m.session);
            if (steps != UINT64_MAX) json_uint(&c->json, "steps", steps);
        } else if (!c->value[OPT_QUIET] || stop_is_failure(&t.stop)) {
            stop_print(&c->out, &m, &t.stop);
        }
        machine_finish(c, &m, &t.stop, true);
        machine_save_state(c, &m);
        cli_fail(c, stop_exit(&m, &t.stop));
    }
    machine_close(&m);
}
