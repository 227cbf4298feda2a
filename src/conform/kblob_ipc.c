/* Runs vectors of messages of the device protocol. Each message is checked with the encoder and
 * decoder alone and on a new device. */
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include "conform/kblob.h"

enum { PATIENCE_MS = 10000, KERNEL = 7, FIXTURE_SIZE = 4096 };
static const uint64_t fixture_base = UINT64_C(0x123456789000);

struct message {
    struct trial trial;
    penta_bytes request, response;
    penta_bytes blob; /* the kernel that is registered before the message */
    struct wire_request call;
    gpu_status status;
};

/* Finds the status at the start of a note: "InvalidPointer", or "KernelNotFound, because ...". */
static bool kblob_ipc_stated(const char *note, gpu_status *status)
{
    char word[40];
    size_t n = note ? strcspn(note, " ,;:.") : 0;
    if (!n || n >= sizeof word) return false;
    memcpy(word, note, n);
    word[n] = 0;
    return status_parse(word, status);
}

static bool check_codec(struct message *m, const char *note)
{
    struct trial *k = &m->trial;
    penta_bytes payload, data;
    trial_where(k, "the codec");
    if (!request_decode(m->request, &m->call, &payload))
        return trial_malformed(k, "the request does not decode");
    if (!response_decode(m->response, &m->status, &data))
        return trial_malformed(k, "the response does not decode");
    struct writer request = {0}, response = {0};
    request_encode(&request, &m->call, payload.data);
    response_encode(&response, m->status, data);
    trial_bytes(k, "request", m->request, writer_view(&request));
    trial_bytes(k, "response", m->response, writer_view(&response));
    writer_free(&request);
    writer_free(&response);
    gpu_status named;
    if (!k->judged && kblob_ipc_stated(note, &named)) trial_status(k, named, m->status);
    return !k->judged;
}

/* Sends raw bytes and receives one whole response into *answer. */
static bool kblob_ipc_talk(struct message *m, struct child *child, struct channel *channel,
                           penta_bytes request, struct writer *answer)
{
    struct wire_response head;
    answer->out.size = 0;
    for (size_t sent = 0; sent < request.size;) {
        ssize_t n = write(child->socket, request.data + sent, request.size - sent);
        if (n <= 0) return trial_fail(&m->trial, "an open channel", "a closed one");
        sent += (size_t)n;
    }
    channel->left_ms = PATIENCE_MS;
    if (channel_receive_response(channel, &head))
        return trial_fail(&m->trial, "a response", "none");
    if (head.size > 1 << 20) return trial_fail(&m->trial, "a response", "one without end");
    uint8_t *data = malloc((size_t)head.size + 1);
    bool ok = data && !channel_read(channel, data, (size_t)head.size);
    if (ok) {
        wire_response_write(answer, &head);
        writer_bytes(answer, data, (size_t)head.size);
    }
    free(data);
    return ok || trial_fail(&m->trial, "the data of a response", "too little");
}

static bool kblob_ipc_call(struct message *m, struct child *child, struct channel *channel,
                           struct wire_request request, const void *payload)
{
    struct writer bytes = {0}, answer = {0};
    request_encode(&bytes, &request, payload);
    bool ok = kblob_ipc_talk(m, child, channel, writer_view(&bytes), &answer) &&
              (answer.out.size && !answer.out.data[0]);
    writer_free(&bytes);
    writer_free(&answer);
    return ok || trial_fail(&m->trial, "Success of the fixture", "another status for %s",
                            command_name(request.command));
}

static bool kblob_ipc_fixture(struct message *m, struct child *child, struct channel *channel)
{
    return kblob_ipc_call(m, child, channel, (struct wire_request){.command = COMMAND_INIT},
                          NULL) &&
           kblob_ipc_call(m, child, channel,
                          (struct wire_request){COMMAND_ALLOC_AT, 0, FIXTURE_SIZE, fixture_base},
                          NULL) &&
           kblob_ipc_call(m, child, channel,
                          (struct wire_request){COMMAND_WRITE, 0, 3, fixture_base}, "abc") &&
           kblob_ipc_call(m, child, channel,
                          (struct wire_request){COMMAND_REGISTER_KERNEL, KERNEL, m->blob.size, 0},
                          m->blob.data);
}

static bool compare_live(struct message *m, penta_bytes got)
{
    /* The device chooses the base of an allocation, so only the length of that response is
     * compared. */
    bool base = m->call.command == COMMAND_ALLOC && !m->status && m->response.size == got.size &&
                got.size == wire_response_bytes + 8;
    size_t size = base ? wire_response_bytes : m->response.size;
    return trial_bytes(&m->trial, "response", bytes_slice(m->response, 0, size),
                       base ? bytes_slice(got, 0, size) : got);
}

static void check_live(struct message *m)
{
    struct trial *k = &m->trial;
    struct child child;
    struct channel channel;
    struct writer answer = {0};
    trial_where(k, "a live device");
    if (!child_start(&child, k->c->device, -1)) {
        trial_fail(k, "a device", "none could be started");
        return;
    }
    bool first = m->call.command == COMMAND_INIT;
    if (channel_init(&channel, ROLE_HOST, child.socket, child.socket) &&
        (first || kblob_ipc_fixture(m, &child, &channel)) &&
        kblob_ipc_talk(m, &child, &channel, m->request, &answer) &&
        compare_live(m, writer_view(&answer))) {
        uint8_t byte;
        if (m->call.command !=
            COMMAND_SHUTDOWN) /* After any other command the device must still answer. */
            kblob_ipc_call(m, &child, &channel, (struct wire_request){.command = COMMAND_INIT},
                           NULL);
        else if (channel_read(&channel, &byte, 1) != TRANSPORT_CLOSED)
            trial_fail(k, "the end of the device", "more bytes");
    }
    writer_free(&answer);
    channel_fini(&channel);
    child_end(&child, PATIENCE_MS);
}

static void run_message(struct conform *c, const struct json_object *item, penta_bytes blob)
{
    struct message m = {.trial = trial_begin(c, item), .blob = blob};
    uint8_t *request = json_as_hex(json_get(item, "request"), &m.request.size);
    uint8_t *response = json_as_hex(json_get(item, "response"), &m.response.size);
    m.request.data = request;
    m.response.data = response;
    if (!request || !response)
        trial_malformed(&m.trial, "'request' or 'response' is not hex");
    else if (check_codec(&m, json_as_text(json_get(item, "note"))))
        check_live(&m);
    free(request);
    free(response);
    trial_end(&m.trial);
}

/* Returns the blob of the entry `register`, or a program with only a HALT if the document has
 * none. */
static uint8_t *fixture_blob(const struct json_object *root, penta_bytes *blob)
{
    static const uint8_t halt[] = {5, 0xb1, 5, 0xb1, 1, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0,
                                   8, 0,    0, 0,    0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0};
    *blob = (penta_bytes){halt, sizeof halt};
    for (size_t i = 0; i < json_length(root); i++) {
        const char *name = json_as_text(json_get(json_item(root, i), "name"));
        if (!name || strcmp(name, "register")) continue;
        penta_bytes all = {0};
        uint8_t *bytes = json_as_hex(json_get(json_item(root, i), "request"), &all.size);
        all.data = bytes;
        struct wire_request request;
        penta_bytes payload;
        if (bytes && request_decode(all, &request, &payload) &&
            request.command == COMMAND_REGISTER_KERNEL)
            *blob = payload;
        return bytes;
    }
    return NULL;
}

static void run_messages(struct conform *c, const struct json_object *root)
{
    penta_bytes blob;
    uint8_t *owner = fixture_blob(root, &blob);
    for (size_t i = 0; i < json_length(root); i++) run_message(c, json_item(root, i), blob);
    free(owner);
}

static bool is_messages(const struct json_object *root)
{
    return list_with(root, "request") && list_with(root, "response");
}

DOCUMENT_FORM(kblob_ipc, is_messages, run_messages)
