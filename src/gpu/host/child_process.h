/* Starts and ends the device process. */
#pragma once
#include <sys/types.h>
#include "gpu/protocol.h"

struct child {
    pid_t pid;          /* 0 if the process has ended or was never started */
    int socket;         /* the host's end of the socket, close-on-exec; -1 if closed */
    uint64_t worked_ns; /* processor time of the child at the last call of child_works */
};

/* Finds and starts the device executable. If there is none and this process has only one thread,
 * it forks instead. `trace` is an open descriptor for the child's events, or -1. */
bool child_start(struct child *child, const char *device_path, int trace);
/* Tells whether the process has used processor time since the last call. A process that is
 * stopped, or waits for something that never comes, has used none. */
bool child_works(struct child *child);
/* Closes the channel, waits `patience_ms` for the process to end by itself, and then kills it. */
void child_end(struct child *child, uint64_t patience_ms);

/* This is the main function of the device process. It returns the exit code. */
int child_main(int in, int out, int trace);
