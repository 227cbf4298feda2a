#include "cli/analysis/counted.h"
#include "cli/terminal/progress.h"

static void called(void *user, const penta_call *call) { (void)user, (void)call; }

static bool execute(struct cli *c, struct counted *run, uint64_t fuel)
{
    struct machine *m = &run->machine;
    penta_error err = {0};
    penta_session_on_call(m->session, called, NULL); /* its output is not kept */
    if (!penta_session_count(m->session, &err)) {
        cli_error(c, m->in.name, &err);
        return false;
    }
    bool armed = machine_arm(c, m);
    progress_begin(c, "running", true);
    if (armed) penta_session_run(m->session, fuel, &run->stop);
    progress_end(c);
    machine_disarm(m);
    if (!armed) return false;
    const penta_error *failure = penta_session_failure(m->session);
    if (failure) cli_error(c, m->in.name, failure);
    run->profile = penta_profile_new(m->session, &err);
    if (!run->profile) cli_error(c, m->in.name, &err);
    return run->profile;
}

bool counted_run(struct cli *c, struct counted *run)
{
    *run = (struct counted){0};
    uint64_t fuel = UINT64_MAX;
    if (!cli_number(c, OPT_FUEL, &fuel) || !machine_open(c, &run->machine)) return false;
    if (execute(c, run, fuel)) return true;
    machine_close(&run->machine);
    return false;
}

void counted_end(struct cli *c, struct counted *run)
{
    machine_findings(c, &run->machine);
    machine_finish(c, &run->machine, &run->stop, false);
    machine_save_state(c, &run->machine);
    cli_fail(c, stop_exit(&run->machine, &run->stop));
    penta_profile_free(run->profile);
    machine_close(&run->machine);
}
