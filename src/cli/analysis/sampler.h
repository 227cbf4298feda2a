/* Declares a timer that samples a session while it runs. */
#pragma once
#include "cli/cli.h"
#include "penta/profile.h"

/* Starts the timer. It must be called in the thread that runs the session next. Returns false
 * when an error has been reported. */
bool sampler_start(struct cli *c, penta_session *session);
void sampler_stop(void);
