/* A run whose instructions are counted or sampled: what profile, cover and report share. */
#pragma once
#include "cli/machine/machine.h"
#include "penta/profile.h"

struct counted {
    struct machine machine;
    penta_profile *profile;
    penta_stop stop;
};

/* Opens the program and runs it to its end. What it prints is not shown: the result is the
 * profile. False: an error has been reported. */
bool counted_run(struct cli *c, struct counted *run);
/* Like counted_run, but takes samples where the engine compiles the program, since compiled code
 * cannot count. */
bool sampled_run(struct cli *c, struct counted *run);
/* The exit code of the command is that of the run. */
void counted_end(struct cli *c, struct counted *run);
