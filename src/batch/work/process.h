/* A worker process: the tool, started with a channel and a page of shared memory. */
#pragma once
#include <sys/types.h>
#include "base/writer.h"
#include "batch/work/protocol.h"

struct chunk;
enum { WORKER_QUEUE = 2 }; /* requests that a worker has at once: it need not wait for the next */

struct process {
    pid_t pid; /* 0: none */
    int channel;
    struct batch_page *page;
    struct chunk *chunks[WORKER_QUEUE]; /* in the order of their requests */
    size_t chunk_count;
    struct writer out, in; /* what is still to be sent; an incomplete reply */
    size_t sent;           /* of out */
    uint32_t seen;         /* what the page said last */
    uint64_t seen_at;      /* microseconds */
    bool timed_out;
};

/* arguments: those of the worker, NULL after the last. */
bool process_start(struct process *p, const char *program, char *const *arguments,
                   penta_error *err);
/* Kills it, waits for it, and gives its status; what it had is for the caller to take back. */
int process_end(struct process *p);
void process_free(struct process *p);
/* The path of the tool: given, PENTA_TOOL, or the one installed beside this library. False:
 * there is none. */
bool process_program(const char *given, char *path, size_t size, penta_error *err);
