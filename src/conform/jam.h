/* The forms of JAM vectors share these parts: a state, a block, the expected state, and messages
 * that name the account, key or gas that differs. */
#pragma once
#include "conform/trial.h"
#include "pvm/host/jam_json/json.h"

enum { JAM_TEXT = 200 };

struct jam_case {
    struct trial trial;
    char name[JAM_TEXT];
    char folder[4096]; /* folder of the files that the document names */
    penta_jam_host *host;
    penta_jam_state *state, *expected;
    penta_jam_block block;
    struct jam_slices reports, blobs;
    penta_jam_preimage *preimages;
    penta_jam_outcome outcome;
    struct jam_json json;
    penta_error err;
    char want[JAM_TEXT], got[JAM_TEXT];
};

/* Opens a case. The member "gp" of the document is the version of the Gray Paper; without it,
 * the default version is used. */
bool jam_case_open(struct jam_case *c, struct conform *conform, const struct json_object *root,
                   const char *chain);
void jam_case_close(struct jam_case *c); /* gives the verdict of the case and frees it */
/* Makes the case fail, with the expected value (c->want) and the computed one (c->got). Later
 * differences are ignored. */
void jam_case_differs(struct jam_case *c, const char *what);
void jam_case_bytes(char *text, penta_bytes bytes); /* writes bytes as text for a message */

void jam_case_chapter(struct jam_case *c, penta_jam_state *state, uint8_t chapter,
                      struct writer *w); /* the function frees w */
void jam_case_reports(struct jam_case *c, const struct json_object *list);
void jam_case_preimages(struct jam_case *c, const struct json_object *list);
void jam_case_block(struct jam_case *c, uint64_t slot, const struct json_object *entropy);
void jam_case_prior_slot(struct jam_case *c, uint64_t slot);
/* An object has values by state keys. json_each calls a function for each of them, with this
 * struct as user data. A value is null if its key was removed. */
struct jam_case_members {
    struct jam_case *c;
    penta_jam_state *one, *two; /* the states that get the values; `two` may be NULL */
};
void jam_case_member(void *user, const char *key, const struct json_object *value);
bool jam_case_run(struct jam_case *c);

void jam_case_states(struct jam_case *c);
void jam_case_gas(struct jam_case *c, uint32_t id, uint64_t items, uint64_t gas);
void jam_case_count(struct jam_case *c, size_t services);
