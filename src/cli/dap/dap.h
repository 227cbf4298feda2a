/* Implements the Debug Adapter Protocol over penta/debug.h: what an editor asks, without knowledge
 * of a format.
 *
 * Messages come and go through struct dap_io, so that a test can be the other side. A conversation
 * has one program, one thread of it, and one client. While the program runs, messages wait, except
 * those that end the run. */
#pragma once
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "penta/debug.h"
#include "penta/record.h"

struct dap_io {
    void *user;
    /* Waits for some bytes. Returns 0 when the input has ended. */
    size_t (*read)(void *user, void *into, size_t size);
    bool (*pending)(void *user); /* Tells whether read would return without waiting. */
    bool (*write)(void *user, penta_bytes bytes);
    bool (*file)(void *user, const char *path, penta_buffer *out, penta_error *err);
    bool (*knows)(void *user, penta_bytes token); /* Checks a token; NULL when none is needed. */
    /* Is called with the machine before it runs and with NULL after, so that the connection can
     * interrupt it when input arrives. */
    void (*running)(void *user, penta_vm *vm);
    uint64_t steps_max; /* the longest motion in steps; UINT64_MAX for no limit */
};

enum dap_group { /* The kinds of breakpoints. A request replaces all of one kind. */
                 DAP_SOURCE,
                 DAP_FUNCTION,
                 DAP_INSTRUCTION,
                 DAP_DATA,
};
struct dap_point {
    unsigned number;
    enum dap_group group;
    char *source; /* the path that the client gave, for DAP_SOURCE */
};

enum dap_shown { DAP_LOCALS, DAP_GLOBALS, DAP_REGISTERS, DAP_TREE, DAP_ARRAY };
struct dap_handle { /* What a variablesReference stands for, until the machine moves. */
    enum dap_shown shown;
    size_t frame;
    char *path;           /* the path of the node, for DAP_TREE; "" is the root */
    bool list;            /* The children of the node are items. */
    penta_variable array; /* the array, for DAP_ARRAY */
};

struct dap {
    const struct dap_io *io;
    penta_buffer in; /* bytes that were received and not read yet */
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
    uint64_t *pcs; /* the pcs of all instructions, in ascending order */
    size_t pc_count, pc_capacity;
    bool stop_on_entry, stop_on_exit, no_debug;
    bool continuing; /* The current motion can be resumed, so any message may end it. */
    bool resumes;    /* The motion is resumed when the messages are answered. */
    penta_stop stop;
    struct dap_point *points;
    size_t point_count, point_capacity;
    struct dap_handle *handles;
    size_t handle_count, handle_capacity;
};

struct dap_answer { /* The answer to one request. */
    const struct json_object *args;
    struct json *body;
    penta_error err; /* its code is 0 when the request succeeds */
};

/* Begins a conversation with a client that must give the token first. Returns NULL when memory
 * ran out. dap.c defines the functions of this block. */
struct dap *dap_begin(const struct dap_io *io);
/* Answers messages that came before the token. Returns true when the message with the token has
 * come, and dap_converse must answer it. When d->ended is set, the caller closes the connection. */
bool dap_hear(struct dap *d, penta_bytes bytes);
/* Conducts the conversation until the client leaves. Returns false when its input could not be
 * read. */
bool dap_converse(struct dap *d);
void dap_end(struct dap *d);             /* `d` may be NULL. */
bool dap_serve(const struct dap_io *io); /* Calls the three functions for a client that needs no
                                          * token. */
void dap_event(struct dap *d, const char *name, void (*body)(struct json *j, const void *user),
               const void *user);
void dap_output(struct dap *d, const char *category, penta_bytes text);
/* Tells whether the request ends a motion. pause, terminate, disconnect and restart do. */
bool dap_ends_run(const struct json_object *message);
bool dap_wants_to_stop(struct dap *d); /* Reads what has come while the machine runs. */
uint64_t dap_uint(const struct json_object *args, const char *key, uint64_t otherwise);
/* Returns NULL when the text is absent. */
const char *dap_text(const struct json_object *args, const char *key);
/* These functions write a number as text that starts with 0x, and read it back. */
void dap_reference(struct json *j, const char *key, uint64_t value);
bool dap_address(const struct json_object *args, const char *key, uint64_t *value,
                 penta_error *err);

/* Receives one message. Returns NULL at the end, or when the input is not a message (d->failed).
 * message.c defines the functions of this block. */
struct json_doc *dap_receive(struct dap *d);
/* Tells whether the received bytes are a whole message, or cannot become one. */
bool dap_received(const struct dap *d);
void dap_send(struct dap *d, const struct writer *message);
bool dap_has_message(struct dap *d);

/* source.c defines what this block declares. */
void dap_source_ref(const struct dap *d, struct json *j, const char *key, penta_bytes file);
/* Returns the file of the line table that the client's path means, or an empty text. */
penta_bytes dap_table_file(const struct dap *d, const char *path);

/* move.c defines what this block declares. */
void dap_stopped(struct dap *d, const char *reason);
void dap_forget(struct dap *d); /* Drops the handles after the machine has moved. */
/* values.c defines what this block declares. */
void dap_value_text(struct writer *out, const penta_field *field, bool hex);
uint64_t dap_handle(struct dap *d, struct dap_handle handle);
const struct dap_handle *dap_handle_of(const struct dap *d, uint64_t reference);
bool dap_has_children(struct dap *d, const char *path); /* Tells whether a node of the machine's
                                                         * tree has children. */
void dap_tree(struct dap *d, const char *path, uint64_t start, uint64_t count, bool hex,
              struct json *j);

#define DOES_first(name) void dap_##name(struct dap *d, struct dap_answer *a);
#define DOES_then(name) void dap_then_##name(struct dap *d, const struct json_object *args);
#define DOES_both(name) DOES_first(name) DOES_then(name)
#define REQUEST(name, does, ...) DOES_##does(name)
#include "cli/dap/requests.def"
