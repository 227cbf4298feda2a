/* Reads JSON documents of the JAM host. After an error every function does nothing; the first
 * error stays and names the member that is wrong. */
#pragma once
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "pvm/host/jam/host.h"

struct jam_json {
    /* This is the folder of the files that values "@NAME" name. When it is NULL, no file may be
     * named. */
    const char *folder;
    penta_error *err;
    /* `path` is the path of the member that is read now, or, after an error, of the wrong
     * member. */
    char path[100];
};

enum { JAM_ANY_SIZE = -1 };
#define JAM_NO_INDEX SIZE_MAX

/* jam_json_enter adds a member, or an item of it, to the path; jam_json_leave takes it away
 * again. */
size_t jam_json_enter(struct jam_json *j, const char *key, size_t index);
void jam_json_leave(struct jam_json *j, size_t mark);
/* Adds the path to the error, if there is one. Returns false when there is an error. */
bool jam_json_done(struct jam_json *j);

/* These functions return a member that is a list, or an object. They return NULL when it is
 * missing or there is an error. */
const struct json_object *jam_json_list(struct jam_json *j, const struct json_object *v,
                                        const char *key);
const struct json_object *jam_json_object(struct jam_json *j, const struct json_object *v,
                                          const char *key);

/* Appends the bytes of a hex string, with or without 0x, or of a file. */
void jam_json_bytes(struct jam_json *j, const struct json_object *v, const char *what, int64_t size,
                    struct writer *out);
/* These functions read a member that must be there: 32 bytes, or a number of so many bits. */
void jam_json_hash(struct jam_json *j, const struct json_object *v, const char *key,
                   struct writer *out);
uint64_t jam_json_uint(struct jam_json *j, const struct json_object *v, const char *key,
                       unsigned bits);
/* Reads a number as jam_json_uint does. A member that is missing has the value `missing`. */
uint64_t jam_json_uint_or(struct jam_json *j, const struct json_object *v, const char *key,
                          unsigned bits, uint64_t missing);

/* These functions encode a document. A hex string counts as the encoding itself. */
void jam_json_report(struct jam_json *j, const struct json_object *v, struct writer *out);
void jam_json_package(struct jam_json *j, const struct json_object *v, struct writer *out);
void jam_json_item(struct jam_json *j, const struct json_object *v,
                   const struct penta_jam_host *host, struct writer *out);
void jam_json_privileges(struct jam_json *j, const struct json_object *v,
                         const struct penta_jam_host *host, struct writer *out);
/* Reads a list that has an item for each slot of an epoch. */
void jam_json_ready(struct jam_json *j, const struct json_object *v, uint64_t slots,
                    struct writer *out);
void jam_json_accumulated(struct jam_json *j, const struct json_object *v, uint64_t slots,
                          struct writer *out);

/* Adds the accounts, chapters and keys of a state document (JAM 2.3) to the changes of a state. */
void jam_json_state(struct jam_json *j, const struct json_object *v, struct penta_jam_state *state);

/* Writes the member "chain". */
void jam_chain_write(const struct jam_chain *chain, struct json *j);

/* Writes the changes of the state as lines, or as a list in JSON. */
void jam_state_diff(struct penta_jam_state *state, struct writer *w, struct json *j,
                    const char *key);

/* An enum jam_kind says what a key is for, as far as the key and its value show. */
enum jam_kind {
    JAM_IS_CHAPTER,
    JAM_IS_RECORD,
    JAM_IS_STORAGE,
    JAM_IS_PREIMAGE,
    JAM_IS_REQUEST,
    JAM_IS_UNKNOWN,
};
enum jam_kind jam_key_kind(const uint8_t *key, const struct jam_value *value, uint32_t *service);

/* A struct jam_slices is a list of items whose bytes lie one after the other. */
struct jam_slices {
    struct writer bytes;
    size_t *ends;
    penta_bytes *list; /* the items as slices, which jam_slices_done makes */
    size_t count, capacity;
};
/* Ends an item of the list. It is called after the bytes of each item. */
void jam_slices_end(struct jam_json *j, struct jam_slices *s);
bool jam_slices_done(struct jam_json *j, struct jam_slices *s);
void jam_slices_free(struct jam_slices *s);
