/* These functions encode and decode the messages between host and device. They do no I/O.
 *
 *     request   command u32 | kernelId u32 | size u64 | ptr u64 | payload (of some commands)
 *     response  status u8 | size u64 | data (size bytes)
 *
 * Each request has one response, strictly in order. DEVICE 5.2 describes the commands. Wait
 * uses two more fields: kernelId is a launch id (0: all tasks; WAIT_FENCE: none, the scheduler of
 * the deterministic modes runs what it can), ptr the newest launch id to wait for (0: any). */
#pragma once
#include "core/layout/layout.h"
#include "gpu_emulator.h"

#undef LAYOUT /* A format that was included before may have defined LAYOUT. */
#undef LAYOUT_FILE
#define LAYOUT(x) wire_##x
#define LAYOUT_FILE "gpu/records.def"
#include "core/layout/structs.h"
#undef LAYOUT
#undef LAYOUT_FILE

enum command {
#define COMMAND(number, name, text, payload) COMMAND_##name = number,
#include "gpu/protocol.def"
    COMMANDS
};

enum setting {
#define SETTING(number, name, ...) SETTING_##name = number,
#include "gpu/protocol.def"
};

#define WAIT_FENCE UINT32_MAX
#define WAIT_FOREVER UINT32_MAX
/* Stands for the index of no instruction, and for the number of no task. */
#define NO_INDEX UINT32_MAX

const char *command_name(uint32_t command); /* returns NULL if the command is unknown */
bool command_has_payload(uint32_t command);
const char *task_state_name(uint32_t state); /* returns NULL if the state is unknown */
const char *race_kind_name(uint32_t kind);   /* returns NULL if the kind is unknown */
bool status_parse(const char *name, gpu_status *out);

/* Writes a whole request with its payload, whose size is request->size. */
void request_encode(struct writer *out, const struct wire_request *request, const void *payload);
/* Reads a whole request. Returns false if it is too short or too long, or if its payload has
 * another size than announced. */
bool request_decode(penta_bytes in, struct wire_request *request, penta_bytes *payload);
void response_encode(struct writer *out, gpu_status status, penta_bytes data);
bool response_decode(penta_bytes in, gpu_status *status, penta_bytes *data);
