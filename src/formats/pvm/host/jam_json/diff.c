/* Shows what changed in a state, as lines of text or as JSON. */
#include "base/bytes.h"
#include "pvm/host/jam_json/json.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 64 }; /* the most bytes of a value that a line shows */

struct diff {
    struct writer *w;
    struct json *j; /* the JSON document, or NULL when the output is lines of text */
};

struct text {
    char text[2 * SHOWN + 40];
};

static struct text diff_number(uint64_t n)
{
    struct text t;
    snprintf(t.text, sizeof t.text, "%" PRIu64, n);
    return t;
}

static struct text diff_bytes(const penta_bytes *v)
{
    struct text t = {"none"};
    size_t at = 0;
    if (!v) return t;
    snprintf(t.text, sizeof t.text, "empty");
    for (size_t i = 0; i < v->size && i < SHOWN; i++)
        at += (size_t)snprintf(t.text + at, sizeof t.text - at, "%02x", v->data[i]);
    if (v->size > SHOWN) snprintf(t.text + at, sizeof t.text - at, ".. (%zu bytes)", v->size);
    return t;
}

static void diff_change(struct diff *d, const char *whose, uint32_t id, const char *what,
                        struct text before, struct text now)
{
    if (d->j) {
        json_object(d->j, NULL);
        if (whose) json_uint(d->j, whose, id);
        json_text(d->j, "what", what);
        json_text(d->j, "before", before.text);
        json_text(d->j, "now", now.text);
        json_end(d->j);
        return;
    }
    if (whose) writer_print(d->w, "%s %" PRIu32 " ", whose, id);
    writer_print(d->w, "%s: %s -> %s\n", what, before.text, now.text);
}

static void diff_account(struct diff *d, uint32_t id, const penta_bytes *before,
                         const penta_bytes *now)
{
    struct jam_account x = {0}, y = {0};
    if (before) jam_account_decode(*before, &x);
    if (now) jam_account_decode(*now, &y);
    if (!before || !now) {
        diff_change(d, "account", id, "itself", diff_number(before != NULL),
                    diff_number(now != NULL));
        if (!now) return;
    }
    if (memcmp(x.code_hash, y.code_hash, JAM_HASH)) {
        penta_bytes a = {x.code_hash, JAM_HASH}, b = {y.code_hash, JAM_HASH};
        diff_change(d, "account", id, "code_hash", diff_bytes(before ? &a : NULL), diff_bytes(&b));
    }
    const char *name;
    uint64_t old, new;
    for (unsigned i = 0; jam_account_number(&x, i, &name, &old); i++)
        if (jam_account_number(&y, i, &name, &new) && old != new)
            diff_change(d, "account", id, name, diff_number(old), diff_number(new));
}

static struct text diff_slots(const penta_bytes *v)
{
    struct text t = {"none"};
    struct jam_request request;
    size_t at = 0;
    if (!v || !jam_request_decode(*v, &request)) return t;
    at += (size_t)snprintf(t.text, sizeof t.text, "[");
    for (unsigned i = 0; i < request.count; i++)
        at += (size_t)snprintf(t.text + at, sizeof t.text - at, i ? " %u" : "%u", request.slots[i]);
    snprintf(t.text + at, sizeof t.text - at, "]");
    return t;
}

static const char *chapter_name(uint8_t number)
{
    switch (number) {
    case JAM_QUEUES: return "auth_queues";
    case JAM_STAGING: return "staging";
    case JAM_SLOT: return "slot";
    case JAM_PRIVILEGES: return "privileges";
    case JAM_READY: return "ready";
    case JAM_ACCUMULATED: return "accumulated";
    case JAM_OUTPUTS: return "outputs";
    default: return "chapter";
    }
}

static void diff_one(void *user, const uint8_t *key, penta_bytes name, const penta_bytes *before,
                     const penta_bytes *now)
{
    struct diff *d = user;
    const penta_bytes *some = now ? now : before;
    uint32_t id = 0;
    struct jam_value *value = malloc(sizeof *value + name.size + some->size);
    if (!value) {
        (d->j ? d->j->out : d->w)->failed = true;
        return;
    }
    *value = (struct jam_value){.name_size = (uint32_t)name.size, .size = some->size};
    bytes_copy(value->bytes, name);
    bytes_copy(value->bytes + name.size, *some);
    enum jam_kind kind = jam_key_kind(key, value, &id);
    free(value);
    penta_bytes shown = kind == JAM_IS_STORAGE ? name : (penta_bytes){key, JAM_KEY};
    if (kind == JAM_IS_REQUEST) shown = bytes_slice(name, 0, JAM_HASH);
    struct text hex = diff_bytes(&shown);
    char what[sizeof hex.text + 40];
    switch (kind) {
    case JAM_IS_RECORD: diff_account(d, id, before, now); return;
    case JAM_IS_CHAPTER:
        if (key[0] == JAM_SLOT)
            diff_change(d, NULL, 0, "slot", diff_number(before ? bytes_get32(before->data) : 0),
                        diff_number(now ? bytes_get32(now->data) : 0));
        else
            diff_change(d, NULL, 0, chapter_name(key[0]), diff_bytes(before), diff_bytes(now));
        return;
    case JAM_IS_REQUEST:
        snprintf(what, sizeof what, "request %s+%" PRIu32, hex.text,
                 bytes_get32(name.data + JAM_HASH));
        diff_change(d, "account", id, what, diff_slots(before), diff_slots(now));
        return;
    case JAM_IS_STORAGE: snprintf(what, sizeof what, "storage %s", hex.text); break;
    case JAM_IS_PREIMAGE: snprintf(what, sizeof what, "preimage %s", hex.text); break;
    default: snprintf(what, sizeof what, "key %s", hex.text);
    }
    diff_change(d, "account", id, what, diff_bytes(before), diff_bytes(now));
}

void jam_state_diff(struct penta_jam_state *state, struct writer *w, struct json *j,
                    const char *key)
{
    struct diff d = {w, j};
    if (j) json_list(j, key);
    if (!penta_jam_state_changes(state, diff_one, &d)) (j ? j->out : w)->failed = true;
    if (j) json_end(j);
}

bool penta_jam_state_diff(penta_jam_state *state, bool json, penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    struct json j = {.out = &w};
    *err = (penta_error){0};
    jam_state_diff(state, &w, json ? &j : NULL, NULL);
    if (json) json_finish(&j);
    return writer_give(&w, true, out, err);
}
