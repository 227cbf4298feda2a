/* Encodes and decodes the messages of the wire protocol, and has the names of its numbers. */
#include "gpu/protocol.h"

#define LAYOUT(x) wire_##x
#define LAYOUT_FILE "gpu/records.def"
#include "core/layout/tables.h"

/* The installed header cannot include protocol.def, so this checks that the two agree. */
#define STATUS(number, name, text) _Static_assert(name == number, text);
#define TASK_STATE(number, name) _Static_assert(GPU_TASK_##name == number, #name);
#include "gpu/protocol.def"
_Static_assert(wire_request_bytes == 24 && wire_response_bytes == 9, "fixed by the protocol");
_Static_assert(wire_fault_bytes == 56 && wire_task_bytes == 80, "fixed by the protocol");
_Static_assert(wire_race_bytes == 40 && wire_kernel_bytes == 40, "fixed by the protocol");
_Static_assert(wire_grid_bytes == 32 && wire_task_grid_bytes == 44, "fixed by the protocol");
_Static_assert(wire_race_threads_bytes == 56, "fixed by the protocol");
_Static_assert(wire_setting_bytes == 12 && wire_refusal_bytes == 5, "fixed by the protocol");

const char *command_name(uint32_t command)
{
    static const char *const names[] = {
#define COMMAND(number, name, text, payload) [number] = text,
#include "gpu/protocol.def"
    };
    return command < COMMANDS ? names[command] : NULL;
}

bool command_has_payload(uint32_t command)
{
    static const bool has[] = {
#define COMMAND(number, name, text, payload) [number] = payload,
#include "gpu/protocol.def"
    };
    return command < COMMANDS && has[command];
}

static const char *const statuses[] = {
#define STATUS(number, name, text) [number] = text,
#include "gpu/protocol.def"
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

const char *gpu_status_string(gpu_status s)
{
    return (unsigned)s < STATUSES ? statuses[s] : "UndefinedStatus";
}

bool status_parse(const char *name, gpu_status *out)
{
    for (unsigned i = 0; i < STATUSES; i++)
        if (!strcmp(name, statuses[i])) {
            *out = (gpu_status)i;
            return true;
        }
    return false;
}

const char *task_state_name(uint32_t state)
{
    static const char *const names[] = {
#define TASK_STATE(number, name) [number] = #name,
#include "gpu/protocol.def"
    };
    return state < sizeof names / sizeof *names ? names[state] : NULL;
}

const char *race_kind_name(uint32_t kind)
{
    static const char *const names[] = {
#define RACE_KIND(number, name) [number] = name,
#include "gpu/protocol.def"
    };
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

void request_encode(struct writer *out, const struct wire_request *request, const void *payload)
{
    wire_request_write(out, request);
    if (command_has_payload(request->command)) writer_bytes(out, payload, (size_t)request->size);
}

bool request_decode(penta_bytes in, struct wire_request *request, penta_bytes *payload)
{
    penta_error err = {0};
    struct reader r = {.in = in, .err = &err};
    wire_request_read(&r, request);
    if (err.code) return false;
    *payload = bytes_slice(in, wire_request_bytes, in.size);
    return payload->size == (command_has_payload(request->command) ? request->size : 0);
}

void response_encode(struct writer *out, gpu_status status, penta_bytes data)
{
    struct wire_response response = {(uint8_t)status, data.size};
    wire_response_write(out, &response);
    writer_bytes(out, data.data, data.size);
}

bool response_decode(penta_bytes in, gpu_status *status, penta_bytes *data)
{
    penta_error err = {0};
    struct reader r = {.in = in, .err = &err};
    struct wire_response response;
    wire_response_read(&r, &response);
    if (err.code || response.status >= STATUSES) return false;
    *status = (gpu_status)response.status;
    *data = bytes_slice(in, wire_response_bytes, in.size);
    return data->size == response.size;
}
