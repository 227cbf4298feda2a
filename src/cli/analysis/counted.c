/* Runs a program to its end with counts of its instructions or with samples of its compiled
 * code. The commands profile and cover begin in this way. */
#include "cli/analysis/counted.h"
#include "cli/analysis/sampler.h"
#include "base/bytes.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"

static void counted_called(void *user, const penta_call *call) { (void)user, (void)call; }

/* Counts instructions or, with an engine that cannot count, prepares for samples. */
static bool counted_prepare(struct cli *c, struct counted *run, bool samples, bool *sampled)
{
    penta_session *session = run->machine.session;
    penta_error err = {0}, other = {0};
    *sampled = samples && penta_session_sample(session, &other);
    if (*sampled || penta_session_count(session, &err)) return true;
    cli_error(c, run->machine.in.name,
              other.code && other.code != BASE_UNSUPPORTED ? &other : &err);
    return false;
}

static bool counted_execute(struct cli *c, struct counted *run, uint64_t fuel, bool samples)
{
    struct machine *m = &run->machine;
    penta_error err = {0};
    bool sampled;
    penta_session_on_call(m->session, counted_called, NULL); /* The output of calls is not kept. */
    if (!counted_prepare(c, run, samples, &sampled)) return false;
    bool armed = machine_arm(c, m);
    progress_begin(c, "running", true);
    if (armed && sampled) armed = sampler_start(c, m->session);
    if (armed) penta_session_run(m->session, fuel, &run->stop);
    if (sampled) sampler_stop();
    progress_end(c);
    machine_disarm(m);
    if (!armed) return false;
    const penta_error *failure = penta_session_failure(m->session);
    if (failure) cli_error(c, m->in.name, failure);
    run->profile = penta_profile_new(m->session, &err);
    if (!run->profile) cli_error(c, m->in.name, &err);
    return run->profile;
}

static bool open_and_run(struct cli *c, struct counted *run, bool samples)
{
    *run = (struct counted){0};
    uint64_t fuel = cli_number(c, OPT_FUEL, UINT64_MAX);
    if (!machine_open(c, &run->machine)) return false;
    /* Compiled code does not count instructions, so with fuel it does not run. */
    if (counted_execute(c, run, fuel, samples && fuel == UINT64_MAX)) return true;
    machine_close(&run->machine);
    return false;
}

bool counted_run(struct cli *c, struct counted *run) { return open_and_run(c, run, false); }
bool sampled_run(struct cli *c, struct counted *run) { return open_and_run(c, run, true); }

/* Prints how the run ended to standard error, since standard output is for the results. */
static void tell_stop(struct cli *c, const struct counted *run)
{
    bool deadline = run->stop.kind == PENTA_STOP_INTERRUPT;
    struct writer line = {0};
    if (c->value[OPT_JSON] || (!deadline && !stop_is_failure(&run->stop))) return;
    stop_print(&line, &run->machine, &run->stop);
    cli_flush(c);
    if (line.out.size)
        terminal_say(c, "%.*s",
                     BYTES_ARG(bytes_slice(writer_view(&line), 0, line.out.size - 1), 200));
    writer_free(&line);
}

void counted_end(struct cli *c, struct counted *run)
{
    machine_findings(c, &run->machine);
    tell_stop(c, run);
    machine_finish(c, &run->machine, &run->stop, false);
    machine_save_state(c, &run->machine);
    cli_fail(c, stop_exit(&run->machine, &run->stop));
    penta_profile_free(run->profile);
    machine_close(&run->machine);
}
