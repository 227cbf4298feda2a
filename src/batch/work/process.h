/* Declares a worker process, which is the tool, started with a channel and a page of shared
 * memory. */
#pragma once
#include <sys/types.h>
#include "base/writer.h"
#include "batch/work/protocol.h"

struct chunk;
/* A worker has this many requests at once, so that it need not wait for the next. */
enum { WORKER_QUEUE = 2 };

struct process {
    pid_t pid; /* 0 when no process runs */
    int channel;
    struct batch_page *page;
    struct chunk *chunks[WORKER_QUEUE]; /* the chunks of the worker, in the order of their
                                         * requests */
    size_t chunk_count;
    struct writer out, in; /* `out` has what is still to be sent, `in` an incomplete reply. */
    size_t sent;           /* how many bytes of `out` have been sent */
    uint32_t seen;         /* the item that the page showed last */
    uint64_t seen_at;      /* when the page last changed, in microseconds */
    bool timed_out;
};

/* Starts a worker. `arguments` end with NULL. */
bool process_start(struct process *p, const char *program, char *const *arguments,
                   penta_error *err);
/* Kills the worker, waits for it, and returns its status. The caller must take back the chunks
 * that it had. */
int process_end(struct process *p);
void process_free(struct process *p);
/* Finds the path of the tool: the given one, PENTA_TOOL, or the tool installed beside this
 * library. Returns false when none exists. */
bool process_program(const char *given, char *path, size_t size, penta_error *err);
