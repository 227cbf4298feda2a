/* The files of this folder share this struct, which is the host's side of a device. */
#pragma once
#include <pthread.h>
#include "base/json/json_write.h"
#include "gpu/channel.h"
#include "gpu/host/child_process.h"

/* This is the largest size of a transfer in either direction: the default of the device, which
 * the host never changes. */
#define TRANSFER_LIMIT (UINT64_C(256) << 20)

enum { FAILURE_BYTES = 120 };

struct gpu_emulator {
    /* Threads are served in the order of their calls. With a mutex alone, a thread that waits in
     * slices could take it again and again. */
    pthread_mutex_t mutex;
    pthread_cond_t next_thread;
    uint64_t next_ticket, serving;

    struct child child;
    struct channel channel;
    /* `down` is true after shutdown. `lost` is true if the child has ended, is silent or breaks
     * the protocol. */
    bool down, lost;
    char failure[FAILURE_BYTES]; /* why the device was lost, or an empty text */
    int64_t patience_ms;         /* how long an answer may take, or CHANNEL_PATIENT for any time */
    uint32_t mode;
    uint32_t newest;           /* the newest launch id */
    struct writer reply;       /* the data of a response whose size the device chooses */
    struct wire_fault *faults; /* faults that were fetched and that the caller has not taken yet */
    size_t fault_count;
    int trace; /* file descriptor of the trace, or -1 */
    struct writer line;
};

/* Waits until calls of other threads are over. If it returns GPU_OK, the device can be used, and
 * emulator_leave must be called afterwards. */
gpu_status emulator_enter(gpu_emulator *dev);
gpu_status emulator_leave(gpu_emulator *dev, gpu_status status); /* returns its argument `status` */
/* Exchanges a request and its response. If `into` is not NULL, a successful response must have
 * exactly `size` bytes, which are written there; otherwise the bytes go to dev->reply. A device
 * that does not answer in time is lost. */
gpu_status emulator_exchange(gpu_emulator *dev, const struct wire_request *request,
                             const void *payload, void *into, size_t size);
/* Ends the child, records why, and marks the device as lost. */
gpu_status emulator_lose(gpu_emulator *dev, enum transport why, uint32_t command);
/* Does what gpu_emulator_open does. `failure`, which has FAILURE_BYTES, gets the reason of a
 * failure. */
gpu_status emulator_open(gpu_emulator **out, const gpu_emulator_options *opt, char *failure);

/* trace.c writes {"call":NAME,"args":{...},"status":STATUS,...} on a line. Without a trace these
 * functions do nothing. */
bool trace_open(gpu_emulator *dev, const gpu_emulator_options *opt);
struct json trace_begin(gpu_emulator *dev, const char *call);
void trace_status(struct json *line, gpu_status status);
void trace_end(gpu_emulator *dev, struct json *line);
/* Writes the line of a call that has no arguments and no results. */
void trace_plain(gpu_emulator *dev, const char *call, gpu_status status);
void trace_close(gpu_emulator *dev);
