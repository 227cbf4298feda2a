/* Declares libpenta for a caller that can pass only numbers and bytes, as through WebAssembly. A
 * request is a JSON object with the name of the call, and so is an answer. Bytes can go with
 * both. Files and machines are numbers. Every call gives an answer. When a request is wrong, or
 * memory ran out, the answer says so. */
#pragma once
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "penta/debug.h"
#include "penta/structure.h"
#include "penta/views.h"

struct web_listing;
struct web_file {
    char *name;
    uint8_t *bytes;
    penta_module *module;
    struct web_listing *listing; /* NULL until it is needed */
    unsigned machines;           /* number of open machines of the file */
};

struct web_machine {
    uint64_t file; /* handle of the file that the machine runs */
    const struct web_file *of;
    penta_session *session;
    penta_debugger *debugger;
    penta_stop stop;           /* the stop at which the machine is */
    struct writer log;         /* the messages of points, as items of a JSON list */
    struct web_values *before; /* the values of the state when the page asked last */
};

enum web_kind { WEB_NOTHING, WEB_FILE, WEB_MACHINE };
struct web_handle {
    enum web_kind kind;
    union {
        struct web_file *file;
        struct web_machine *machine;
    };
};

struct web {
    struct web_handle *handles; /* handle n is at n - 1; a number is never used again */
    size_t count, capacity;
    uint64_t steps_max;          /* the most steps of one move forwards; 0 for no limit */
    struct writer answer, bytes; /* the answer and the bytes of the last call */
    penta_bytes result;          /* the text of the answer */
};

struct web_call {
    struct web *web;
    const struct json_object *args;
    penta_bytes data;     /* the bytes that came with the request */
    struct json *j;       /* the answer, which is an open object */
    struct writer *bytes; /* the bytes that go with the answer */
    penta_error err;      /* code 0 when the call succeeds */
};

/* web.c defines what this block declares. */
/* Makes one call. The answer and its bytes are in web->result and web->bytes until the next call. */
void web_call(struct web *web, penta_bytes request, penta_bytes data);
void web_end(struct web *web); /* Closes all files and machines. */

uint64_t web_uint(const struct web_call *c, const char *key, uint64_t otherwise);
/* Returns NULL when the request has no such text. */
const char *web_text(const struct web_call *c, const char *key);
bool web_flag(const struct web_call *c, const char *key);
/* These functions fail with an error when there is no such argument. */
const char *web_need_text(struct web_call *c, const char *key);
struct web_file *web_file_of(struct web_call *c, const char *key);
struct web_machine *web_machine_of(struct web_call *c);
/* Makes a new handle. Returns 0 with an error. */
uint64_t web_handle_new(struct web_call *c, struct web_handle handle);
/* Writes a finding as an object. If `module` or `text` is given, the object tells more about the
 * place. */
void web_finding(struct json *j, const penta_error *e, const penta_module *module,
                 const penta_place *place, const char *path, const penta_bytes *text);
void web_error(struct web_call *c, const penta_error *e); /* Makes it the error of the call. */

/* The argument "options" of a call is an object of keys and values. options.c reads it. */
struct web_options {
    penta_option *list;
    char **texts;
    size_t count, capacity, text_count, text_capacity;
};
bool web_options_read(struct web_call *c, const char *key, struct web_options *out);
void web_options_free(struct web_options *o);

/* file.c and machine.c define these functions. */
void web_file_free(struct web_file *file);
void web_machine_free(struct web_machine *machine);

/* listing.c defines what this block declares. */
struct web_row {
    uint64_t pc;
    const char *label; /* NULL when the row is an instruction */
};
/* Returns the rows of the code, or NULL with an error. A file without code has no rows. */
const struct web_row *web_rows(const struct web_file *file, size_t *count, penta_error *err);
/* Finds the row of the instruction at pc. Returns false when there is none. */
bool web_row_of(const struct web_file *file, uint64_t pc, size_t *row);
void web_listing_free(struct web_listing *listing);
/* Writes the source line of an instruction as "FILE:LINE", when it is known. */
void web_source_line(struct json *j, const struct web_file *file, uint64_t pc);

/* Writes where the machine is, as members of the answer. machine.c defines it. */
void web_stop(struct web_call *c, struct web_machine *m);

/* Frees the values of a state, which are kept to see what changed. state.c defines it. */
void web_values_free(struct web_values *values);

#define CALL(name) void web_##name(struct web_call *c);
#include "web/calls.def"
