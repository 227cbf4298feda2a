/* Implements the command train, which learns the weights of a network from samples. */
#include "penta/train.h"
#include "cli/machine/machine.h"
#include "cli/output.h"
#include "cli/terminal/terminal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
    struct cli *cli;
    bool headed; /* The names of the columns have been printed. */
};

static double train_percent(size_t right, size_t of)
{
    return of ? 100.0 * (double)right / (double)of : 0;
}

/* Prints a line on standard error when an epoch ends. */
static void tell_epoch(struct report *r, const penta_tvmr_epoch *e)
{
    char test[32] = "";
    if (r->cli->value[OPT_QUIET]) return;
    if (!r->headed) terminal_say(r->cli, "epoch  learnt    test   seconds");
    r->headed = true;
    if (e->tested)
        snprintf(test, sizeof test, "%.1f %%", train_percent(e->tested_right, e->tested));
    terminal_say(r->cli, "%5zu %5.1f %% %7s %9.2f%s", e->number,
                 train_percent(e->right, e->trained), test, e->seconds, e->best ? "  best" : "");
}

static void epoch_json(struct json *j, const penta_tvmr_epoch *e, bool timed)
{
    json_object(j, NULL);
    json_uint(j, "epoch", e->number);
    json_uint(j, "trained", e->trained);
    json_uint(j, "right", e->right);
    json_float(j, "error", e->error);
    if (e->tested) {
        json_uint(j, "tested", e->tested);
        json_uint(j, "tested_right", e->tested_right);
        json_float(j, "tested_error", e->tested_error);
    }
    json_bool(j, "best", e->best);
    if (timed) json_float(j, "seconds", e->seconds);
    json_end(j);
}

static bool on_epoch(void *user, const penta_tvmr_epoch *e)
{
    struct report *r = user;
    if (r->cli->value[OPT_JSON])
        epoch_json(&r->cli->json, e, !r->cli->captured);
    else
        tell_epoch(r, e);
    return true;
}

static void print_confusion(struct writer *out, const penta_tvmr_judged *judged)
{
    size_t n = judged->classes;
    if (n < 2 || n > 40) return;
    writer_text(out, "what it is (rows) and what it was taken for (columns)\n     ");
    for (size_t i = 0; i < n; i++) writer_print(out, " %5zu", i);
    for (size_t i = 0; i < n; i++) {
        writer_print(out, "\n%5zu", i);
        for (size_t k = 0; k < n; k++)
            writer_print(out, " %5llu", (unsigned long long)judged->confusion[i * n + k]);
    }
    writer_char(out, '\n');
}

static bool was_stopped(const penta_tvmr_trained *t) { return !strcmp(t->ended, "stopped"); }

/* Returns why training ended, in the words of other commands: "deadline" or "interrupt" if it
 * was stopped. */
static const char *train_ended(const struct machine *m, const penta_tvmr_trained *t)
{
    penta_stop stop = {.kind = PENTA_STOP_INTERRUPT};
    return was_stopped(t) ? stop_name(m, &stop) : t->ended;
}

static void print_result(struct cli *c, const struct machine *m, const penta_tvmr_trained *t,
                         bool test)
{
    writer_print(&c->out, "%zu epochs, ended by %s; best after %zu\n", t->epochs, train_ended(m, t),
                 t->best);
    writer_print(&c->out, "%s: %zu of %zu right, %.1f %%; mean difference %.2f\n",
                 test ? "test" : "data", t->judged.right, t->judged.rows, 100 * t->judged.accuracy,
                 t->judged.error);
    print_confusion(&c->out, &t->judged);
}

static void result_json(struct json *j, const struct machine *m, const penta_tvmr_trained *t,
                        bool timed)
{
    const penta_tvmr_judged *judged = &t->judged;
    json_uint(j, "epochs_done", t->epochs);
    json_uint(j, "best", t->best);
    json_text(j, "ended", train_ended(m, t));
    if (timed) json_float(j, "seconds", t->seconds);
    json_uint(j, "rows", judged->rows);
    json_uint(j, "right", judged->right);
    json_float(j, "accuracy", judged->accuracy);
    json_float(j, "error", judged->error);
    json_list(j, "confusion");
    for (size_t i = 0; i < judged->classes; i++) {
        json_list(j, NULL);
        for (size_t k = 0; k < judged->classes; k++)
            json_uint(j, NULL, judged->confusion[i * judged->classes + k]);
        json_end(j);
    }
    json_end(j);
}

static bool train_network(struct cli *c, struct machine *m, penta_tvmr_trained *out)
{
    struct report report = {c, false};
    penta_error err = {0};
    size_t count = 0;
    penta_option *options = options_for(c, penta_module_format(m->in.module), OPTION_TRAIN, &count);
    bool ok = machine_arm(c, m);
    if (c->value[OPT_JSON]) json_list(&c->json, "epochs");
    if (ok) {
        ok = penta_tvmr_train(penta_session_vm(m->session), NULL, options, count, out, on_epoch,
                              &report, &err);
        machine_disarm(m);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (err.code) cli_error(c, m->in.name, &err);
    free(options);
    return ok;
}

static const char *train_option(const struct cli *c, const char *key)
{
    return option_text(c->format_options, c->format_option_count, key);
}

/* Tells whether the state may be saved. The tables are read when training starts, later than
 * other inputs are noted. */
static bool save_allowed(struct cli *c)
{
    static const char *const read[] = {"data", "targets", "test-data", "test-targets"};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (output_same_file(train_option(c, "save"), train_option(c, read[i]))) {
            cli_usage(c, NULL, "--save and --%s name the same file", read[i]);
            return false;
        }
    return true;
}

void command_TRAIN(struct cli *c)
{
    struct machine m;
    penta_tvmr_trained trained = {0};
    if (!save_allowed(c) || !machine_open(c, &m)) return;
    bool ok = train_network(c, &m, &trained), test = train_option(c, "test-data");
    if (ok) machine_findings(c, &m);
    if (ok && was_stopped(&trained)) cli_fail(c, m.timed_out ? EXIT_DEADLINE : EXIT_INTERRUPTED);
    if (ok && c->value[OPT_JSON])
        result_json(&c->json, &m, &trained, !c->captured);
    else if (ok)
        print_result(c, &m, &trained, test);
    penta_tvmr_trained_free(&trained);
    machine_close(&m);
}
