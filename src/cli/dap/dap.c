/* Conducts the conversation: finds a request in requests.def, answers it, and does what follows. */
#include "cli/dap/dap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"

enum { NOTHING, PROGRAM };
#define DO_first(name) dap_##name, NULL
#define DO_then(name) NULL, dap_then_##name
#define DO_both(name) dap_##name, dap_then_##name
static const struct request {
    const char *name;
    void (*answer)(struct dap *d, struct dap_answer *a); /* makes the response, or NULL */
    /* Does what follows the response; may be NULL. */
    void (*then)(struct dap *d, const struct json_object *args);
    int needs;
} requests[] = {
#define REQUEST(name, does, needs) {#name, DO_##does(name), needs},
#include "cli/dap/requests.def"
};
enum { REQUESTS = sizeof requests / sizeof *requests };

uint64_t dap_uint(const struct json_object *args, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return json_as_uint(json_get(args, key), &value) ? value : otherwise;
}

const char *dap_text(const struct json_object *args, const char *key)
{
    const struct json_object *v = json_get(args, key);
    const char *text = json_as_text(v);
    return text && strlen(text) == json_text_size(v) ? text : NULL;
}

void dap_reference(struct json *j, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    json_text(j, key, text);
}

/* Reads a memory reference of the client and adds `offset` bytes to it. */
bool dap_address(const struct json_object *args, const char *key, uint64_t *value, penta_error *err)
{
    int64_t offset = 0;
    const char *text = dap_text(args, key);
    if (!text || !number_parse(text, value))
        return error_at(err, BASE_OPTION_VALUE, 0, "%s is no address", key);
    if (json_as_sint(json_get(args, "offset"), &offset)) *value += (uint64_t)offset;
    return true;
}

static struct json dap_message_begin(struct dap *d, struct writer *out, const char *type)
{
    struct json j = {.out = out};
    json_object(&j, NULL);
    json_uint(&j, "seq", ++d->seq);
    json_text(&j, "type", type);
    return j;
}

static void dap_message_finish(struct dap *d, struct json *j)
{
    json_finish(j);
    dap_send(d, j->out);
    writer_free(j->out);
}

void dap_event(struct dap *d, const char *name, void (*body)(struct json *j, const void *user),
               const void *user)
{
    struct writer out = {0};
    struct json j = dap_message_begin(d, &out, "event");
    json_text(&j, "event", name);
    if (body) {
        json_object(&j, "body");
        body(&j, user);
        json_end(&j);
    }
    dap_message_finish(d, &j);
}

struct output {
    const char *category;
    penta_bytes text;
};

static void output_body(struct json *j, const void *user)
{
    const struct output *o = user;
    json_text(j, "category", o->category);
    json_string(j, "output", o->text);
}

void dap_output(struct dap *d, const char *category, penta_bytes text)
{
    if (text.size) dap_event(d, "output", output_body, &(struct output){category, text});
}

static void dap_request_respond(struct dap *d, const struct json_object *message,
                                const char *command, struct dap_answer *a, struct writer *body)
{
    struct writer out = {0};
    struct json j = dap_message_begin(d, &out, "response");
    json_uint(&j, "request_seq", dap_uint(message, "seq", 0));
    json_bool(&j, "success", !a->err.code);
    json_text(&j, "command", command);
    if (a->err.code) {
        char text[sizeof a->err.message + sizeof a->err.note + 2];
        snprintf(text, sizeof text, "%s%s%s", a->err.message, *a->err.note ? "; " : "",
                 a->err.note);
        json_text(&j, "message", text);
        json_object(&j, "body");
        json_object(&j, "error");
        json_uint(&j, "id", a->err.code);
        json_text(&j, "format", text);
        json_bool(&j, "showUser", false);
    } else {
        json_raw(&j, "body", writer_view(body));
    }
    dap_message_finish(d, &j);
}

static const struct request *dap_request_find(const char *name)
{
    for (size_t i = 0; i < REQUESTS; i++)
        if (!strcmp(requests[i].name, name)) return &requests[i];
    return NULL;
}

/* Tells whether a request may be answered. Launch and attach bring the token. Before that only
 * initialize and leaving are answered. */
static bool dap_request_trusted(struct dap *d, const char *name, const struct json_object *args,
                                penta_error *err)
{
    enum { TRIES = 3 };
    const char *token = dap_text(args, "token");
    if (!d->io->knows || d->trusted) return true;
    if (!strcmp(name, "initialize") || !strcmp(name, "disconnect")) return true;
    d->trusted = token && d->io->knows(d->io->user, bytes_of(token));
    if (d->trusted) return true;
    if (++d->refused >= TRIES) d->ended = true;
    return error_at(err, BASE_STATE, 0, "the argument 'token' is not the one of this server");
}

static void dap_request_answer(struct dap *d, const struct json_object *message)
{
    const char *type = dap_text(message, "type"), *name = dap_text(message, "command");
    struct writer body = {0};
    struct json j = {.out = &body};
    struct dap_answer a = {.args = json_get(message, "arguments"), .body = &j};
    if (!type || strcmp(type, "request") || !name) return; /* The message cannot be answered. */
    const struct request *r = dap_request_find(name);
    json_object(&j, NULL);
    if (!dap_request_trusted(d, name, a.args, &a.err)) {
    } else if (!r) {
        error_at(&a.err, BASE_NAME_UNKNOWN, 0, "there is no request '%.40s'", name);
    } else if (r->needs == PROGRAM && !d->debugger) {
        error_at(&a.err, BASE_STATE, 0, "no program was launched");
    } else if (r->answer) {
        r->answer(d, &a);
    }
    json_finish(&j);
    while (body.out.size && body.out.data[body.out.size - 1] == '\n') body.out.size--;
    dap_request_respond(d, message, name, &a, &body);
    writer_free(&body);
    if (r && r->then && !a.err.code && !d->ended) r->then(d, a.args);
}

bool dap_ends_run(const struct json_object *message)
{
    const char *name = dap_text(message, "command");
    return name && (!strcmp(name, "pause") || !strcmp(name, "disconnect") ||
                    !strcmp(name, "terminate") || !strcmp(name, "restart"));
}

bool dap_wants_to_stop(struct dap *d)
{
    bool ends = false;
    penta_error err = {0};
    while (!ends && dap_has_message(d)) {
        struct json_doc *doc = dap_receive(d);
        if (!doc || !ARRAY_GROW(d->queue, d->queue_capacity, d->queue_count, &err)) {
            json_doc_free(doc);
            d->ended = true;
            return true;
        }
        d->queue[d->queue_count++] = doc;
        ends = d->continuing || dap_ends_run(json_root(doc));
    }
    return ends;
}

static struct json_doc *next_message(struct dap *d)
{
    if (!d->queue_count) return dap_receive(d);
    struct json_doc *doc = d->queue[0];
    memmove(d->queue, d->queue + 1, --d->queue_count * sizeof *d->queue);
    return doc;
}

static void close_program(struct dap *d)
{
    penta_debugger_free(d->debugger);
    penta_session_free(d->session);
    penta_record_free(d->record);
    penta_close(d->module);
    penta_buffer_free(&d->bytes);
    dap_forget(d);
    for (size_t i = 0; i < d->point_count; i++) free(d->points[i].source);
    free(d->points);
    free(d->handles);
    free(d->pcs);
    free(d->program);
}

struct dap *dap_begin(const struct dap_io *io)
{
    struct dap *d = calloc(1, sizeof *d);
    if (d) d->io = io;
    return d;
}

bool dap_hear(struct dap *d, penta_bytes bytes)
{
    /* the most bytes that a connection may send before its token */
    enum { GUEST_BYTES = 64 << 10 };
    penta_error err = {0};
    size_t before = d->in.size;
    penta_buffer_append(&d->in, bytes);
    d->ended |= d->in.size != before + bytes.size || d->in.size > GUEST_BYTES;
    while (!d->ended && dap_received(d)) {
        struct json_doc *doc = dap_receive(d);
        const struct json_object *message = doc ? json_root(doc) : NULL;
        const char *token = dap_text(json_get(message, "arguments"), "token");
        if (token && d->io->knows(d->io->user, bytes_of(token)) &&
            ARRAY_GROW(d->queue, d->queue_capacity, d->queue_count, &err)) {
            d->queue[d->queue_count++] = doc;
            return true;
        }
        if (doc) dap_request_answer(d, message);
        d->ended |= !doc;
        json_doc_free(doc);
    }
    return false;
}

bool dap_converse(struct dap *d)
{
    while (!d->ended) {
        if (d->resumes && !d->queue_count) {
            d->resumes = false;
            dap_then_continue(d, NULL);
            continue;
        }
        struct json_doc *doc = next_message(d);
        if (!doc) break;
        dap_request_answer(d, json_root(doc));
        json_doc_free(doc);
    }
    return !d->failed;
}

void dap_end(struct dap *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->queue_count; i++) json_doc_free(d->queue[i]);
    free(d->queue);
    close_program(d);
    penta_buffer_free(&d->in);
    free(d);
}

bool dap_serve(const struct dap_io *io)
{
    struct dap *d = dap_begin(io);
    bool ok = d && dap_converse(d);
    dap_end(d);
    return ok;
}
