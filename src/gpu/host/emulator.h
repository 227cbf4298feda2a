/* The host's side of a device, shared by the files of this folder. */
#pragma once
#include <pthread.h>
#include "base/json/json_write.h"
#include "gpu/channel.h"
#include "gpu/host/child_process.h"

/* The most data in either direction: the default of the device, which the host never changes. */
#define TRANSFER_LIMIT (UINT64_C(256) << 20)

enum { FAILURE_BYTES = 120 };

struct gpu_emulator {
    /* Threads are served in the order of their calls: with a plain mutex, a thread that waits in
     * slices could take it again and again. */
    pthread_mutex_t mutex;
    pthread_cond_t next_thread;
    uint64_t next_ticket, serving;

    struct child child;
    struct channel channel;
    bool down, lost; /* shut down; the child is gone, is silent or breaks the protocol */
    char failure[FAILURE_BYTES]; /* why it was lost, or "" */
    int64_t patience_ms;         /* how long an answer may take; CHANNEL_PATIENT: for ever */
    uint32_t mode;
    uint32_t newest;           /* launch id */
    struct writer reply;       /* data of a response whose size the device chooses */
    struct wire_fault *faults; /* fetched, but not yet taken by the caller */
    size_t fault_count;
    int trace; /* descriptor, -1: none */
    struct writer line;
};

/* Waits until calls of other threads are over. GPU_OK: the device is usable, and leave must
 * follow. */
gpu_status emulator_enter(gpu_emulator *dev);
gpu_status emulator_leave(gpu_emulator *dev, gpu_status status); /* returns status */
/* One request and its response. With into, success must bring exactly size bytes, which go there;
 * without, they go to dev->reply. A device that does not answer in time is lost. */
gpu_status emulator_exchange(gpu_emulator *dev, const struct wire_request *request,
                             const void *payload, void *into, size_t size);
/* Ends the child, which from now on is lost; says why. */
gpu_status emulator_lose(gpu_emulator *dev, enum transport why, uint32_t command);
/* As gpu_emulator_open; failure has the reason, of FAILURE_BYTES. */
gpu_status emulator_open(gpu_emulator **out, const gpu_emulator_options *opt, char *failure);

/* trace.c: {"call":NAME,"args":{...},"status":STATUS,...} in one line. All of it does nothing
 * without a trace. */
bool trace_open(gpu_emulator *dev, const gpu_emulator_options *opt);
struct json trace_begin(gpu_emulator *dev, const char *call);
void trace_status(struct json *line, gpu_status status);
void trace_end(gpu_emulator *dev, struct json *line);
/* For calls without arguments or results. */
void trace_plain(gpu_emulator *dev, const char *call, gpu_status status);
void trace_close(gpu_emulator *dev);
