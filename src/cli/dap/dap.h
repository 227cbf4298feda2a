/* The Debug Adapter Protocol over penta/debug.h: what an editor asks, without knowledge of a format.
 *
 * Messages come and go through struct dap_io, so that a test can be the other side. One program, one thread
 * of it, one client. While the program runs, messages wait, except those that end the run. */
#pragma once
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "penta/debug.h"
#include "penta/record.h"

struct dap_io {
    void *user;
    /* Waits for some bytes; 0: the input has ended. */
    size_t (*read)(void *user, void *into, size_t size);
    bool (*pending)(void *user); /* read would not wait */
    bool (*write)(void *user, penta_bytes bytes);
    bool (*file)(void *user, const char *path, penta_buffer *out, penta_error *err);
    bool (*knows)(void *user, penta_bytes token); /* NULL: no token is needed */
    /* Called with the machine before it runs and with NULL after, so that the connection can interrupt it
     * when input arrives. */
    void (*running)(void *user, penta_vm *vm);
    uint64_t steps_max; /* the longest motion in steps; UINT64_MAX: no limit */
};

enum dap_group { /* the kinds of breakpoints; a request replaces all of one kind */
                 DAP_SOURCE,
                 DAP_FUNCTION,
                 DAP_INSTRUCTION,
                 DAP_DATA,
};
struct dap_point {
    unsigned number;
    enum dap_group group;
    char *source; /* DAP_SOURCE: the path that the client gave */
};

enum dap_shown { DAP_LOCALS, DAP_GLOBALS, DAP_REGISTERS, DAP_TREE, DAP_ARRAY };
struct dap_handle { /* what a variablesReference stands for, until the machine moves */
    enum dap_shown shown;
    size_t frame;
    char *path;           /* DAP_TREE: the path of the node; "" is the root */
    bool list;            /* its children are items */
    penta_variable array; /* DAP_ARRAY */
};

struct dap {
    const struct dap_io *io;
    penta_buffer in; /* received and not yet read */
    size_t in_at;
    struct json_doc **queue; /* messages that came while the machine ran */
    size_t queue_count, queue_capacity;
    uint64_t seq;
    unsigned refused; /* the number of wrong tokens so far */
    bool trusted, ended, failed;

    char *program; /* the path of the program */
    penta_buffer bytes;
    penta_module *module;
    penta_record *record;
    penta_session *session;
    penta_debugger *debugger;
    uint64_t *pcs; /* of all instructions, ascending */
    size_t pc_count, pc_capacity;
    bool stop_on_entry, stop_on_exit, no_debug;
    bool continuing; /* the motion under way can be taken up again, so any message may end it */
    bool resumes;    /* it is taken up again when the messages are answered */
    penta_stop stop;
    struct dap_point *points;
    size_t point_count, point_capacity;
    struct dap_handle *handles;
    size_t handle_count, handle_capacity;
};

struct dap_answer { /* the answer to one request */
    const struct json_object *args;
    struct json *body;
    penta_error err; /* code 0: it succeeds */
};

/* dap.c: a conversation with somebody who must give the token first; NULL: no memory. */
struct dap *dap_begin(const struct dap_io *io);
/* Answers messages that came before the token. True: the message with the token has come, and
 * dap_converse answers it. Where d->ended is set, the caller closes the connection. */
bool dap_hear(struct dap *d, penta_bytes bytes);
/* The conversation, until the client leaves. False: what it sent could not be read. */
bool dap_converse(struct dap *d);
void dap_end(struct dap *d);             /* accepts NULL */
bool dap_serve(const struct dap_io *io); /* the three, with somebody who needs no token */
void dap_event(struct dap *d, const char *name, void (*body)(struct json *j, const void *user),
               const void *user);
void dap_output(struct dap *d, const char *category, penta_bytes text);
/* Whether the request ends a motion: pause, terminate, disconnect and restart do. */
bool dap_ends_run(const struct json_object *message);
bool dap_wants_to_stop(struct dap *d); /* reads what has come while the machine runs */
uint64_t dap_uint(const struct json_object *args, const char *key, uint64_t otherwise);
const char *dap_text(const struct json_object *args, const char *key); /* or NULL */
/* A number as text that starts with 0x, and back. */
void dap_reference(struct json *j, const char *key, uint64_t value);
bool dap_address(const struct json_object *args, const char *key, uint64_t *value,
                 penta_error *err);

/* message.c: one message, or NULL at the end or when it is none (d->failed). */
struct json_doc *dap_receive(struct dap *d);
/* Whether the bytes that have come are a whole message, or no message. */
bool dap_received(const struct dap *d);
void dap_send(struct dap *d, const struct writer *message);
bool dap_has_message(struct dap *d);

/* source.c */
void dap_source_ref(const struct dap *d, struct json *j, const char *key, penta_bytes file);
/* The file of the line table that the client's path means; empty: none. */
penta_bytes dap_table_file(const struct dap *d, const char *path);

/* move.c */
void dap_stopped(struct dap *d, const char *reason);
void dap_forget(struct dap *d); /* drops the handles after the machine has moved */
/* values.c */
void dap_value_text(struct writer *out, const penta_field *field, bool hex);
uint64_t dap_handle(struct dap *d, struct dap_handle handle);
const struct dap_handle *dap_handle_of(const struct dap *d, uint64_t reference);
bool dap_has_children(struct dap *d, const char *path); /* of the machine's tree */
void dap_tree(struct dap *d, const char *path, uint64_t start, uint64_t count, bool hex,
              struct json *j);

#define DOES_first(name) void dap_##name(struct dap *d, struct dap_answer *a);
#define DOES_then(name) void dap_then_##name(struct dap *d, const struct json_object *args);
#define DOES_both(name) DOES_first(name) DOES_then(name)
#define REQUEST(name, does, ...) DOES_##does(name)
#include "cli/dap/requests.def"
