/* Declares a run whose instructions are counted or sampled, for the commands profile and cover. */
#pragma once
#include "cli/machine/machine.h"
#include "penta/profile.h"

struct counted {
    struct machine machine;
    penta_profile *profile;
    penta_stop stop;
};

/* Opens the program and runs it to its end. What it prints is not shown, because the result is
 * the profile. Returns false when an error has been reported. */
bool counted_run(struct cli *c, struct counted *run);
/* Runs a program as counted_run does, but takes samples if the engine compiles the program,
 * since compiled code cannot count. */
bool sampled_run(struct cli *c, struct counted *run);
/* Closes the run. The exit code of the command is that of the run. */
void counted_end(struct cli *c, struct counted *run);
