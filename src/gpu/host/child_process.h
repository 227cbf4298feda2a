/* Starting and ending the device process. */
#pragma once
#include <sys/types.h>
#include "gpu/protocol.h"

struct child {
    pid_t pid;          /* 0: reaped, or never started */
    int socket;         /* the host's end, close-on-exec; -1: closed */
    uint64_t worked_ns; /* its processor time when child_works was asked last */
};

/* Finds and starts the device executable, or forks when there is none and this process has one
 * thread. trace: an open descriptor for the child's events, or -1. */
bool child_start(struct child *child, const char *device_path, int trace);
/* Whether the process has used processor time since this was asked last: one that is stopped or waits
 * for something that never comes has not. */
bool child_works(struct child *child);
/* Closes the channel, waits so many ms for the process to end by itself, then kills it; reaps. */
void child_end(struct child *child, uint64_t patience_ms);

/* What the device process runs; returns its exit code. */
int child_main(int in, int out, int trace);
