/* Replays a trace: makes the host calls again and compares every status and task event. */
#pragma once
#include "base/writer.h"

struct replay {
    uint64_t calls, events; /* in the trace */
    uint64_t differences;
};

/* text is a trace file. Differences go to out, at most 100. In SERIAL and SEEDED mode all lines
 * must be the same in the same order; in THREADS mode the calls, and the events of each task
 * without their times. False: it is not a trace, or the device failed to start; then err says
 * so. */
bool replay_run(penta_bytes text, const char *device_path, struct writer *out,
                struct replay *result, penta_error *err);
