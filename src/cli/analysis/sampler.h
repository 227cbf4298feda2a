/* A timer that samples a session while it runs. */
#pragma once
#include "cli/cli.h"
#include "penta/profile.h"

/* In the thread that runs it next. False: an error has been reported. */
bool sampler_start(struct cli *c, penta_session *session);
void sampler_stop(void);
