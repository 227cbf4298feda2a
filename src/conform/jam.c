/* Has the functions that the forms of vectors with blocks of JAM share, and runs the steps of
 * traces. */
#include "conform/jam.h"
#include "base/bytes.h"
#include "base/number.h"
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Finds the folder with the files that a vector names: `blobs` beside the folder of the vectors,
 * or beside the vector. */
static void find_folder(struct jam_case *c)
{
    char path[3000];
    struct stat st;
    snprintf(path, sizeof path, "%s", c->trial.c->path);
    const char *folder = dirname(path);
    snprintf(c->folder, sizeof c->folder, "%s/../blobs", folder);
    if (stat(c->folder, &st)) snprintf(c->folder, sizeof c->folder, "%s", folder);
}

bool jam_case_open(struct jam_case *c, struct conform *conform, const struct json_object *root,
                   const char *chain)
{
    char path[3000];
    const struct json_object *gp = json_get(root, "gp");
    const char *version = gp ? json_as_text(gp) : JAM_VERSION_DEFAULT;
    penta_option options[] = {
        {"chain", chain}, {"version", version ? version : ""}, {"engine", conform->engine}};
    *c = (struct jam_case){.trial = {.c = conform}};
    c->json = (struct jam_json){.folder = c->folder, .err = &c->err};
    snprintf(path, sizeof path, "%s", conform->path);
    snprintf(c->name, sizeof c->name, "%.150s", basename(path));
    c->trial.name = c->name;
    find_folder(c);
    c->host = penta_jam_host_new((penta_bytes){0}, options, conform->engine ? 3 : 2, &c->err);
    if (c->host) c->state = penta_jam_state_new(c->host, NULL, &c->err);
    if (c->state) c->expected = penta_jam_state_new(c->host, NULL, &c->err);
    return c->expected;
}

void jam_case_close(struct jam_case *c)
{
    jam_json_done(&c->json);
    if (c->err.code)
        trial_fail(&c->trial, "a vector that can be run", "%s%s%s", c->err.message,
                   *c->err.note ? ", " : "", c->err.note);
    trial_end(&c->trial);
    jam_slices_free(&c->reports);
    jam_slices_free(&c->blobs);
    free(c->preimages);
    penta_jam_outcome_free(&c->outcome);
    penta_jam_state_free(c->expected);
    penta_jam_state_free(c->state);
    penta_jam_host_free(c->host);
}

void jam_case_differs(struct jam_case *c, const char *what)
{
    char want[2 * JAM_TEXT + 10];
    snprintf(want, sizeof want, "%s %s", what, c->want);
    trial_fail(&c->trial, want, "%s", c->got);
}

void jam_case_bytes(char *text, penta_bytes bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < bytes.size && i < 40; i++)
        at += (size_t)snprintf(text + at, JAM_TEXT - at, "%02x", bytes.data[i]);
    if (bytes.size > 40) snprintf(text + at, JAM_TEXT - at, ".. (%zu bytes)", bytes.size);
    if (!bytes.size) snprintf(text, JAM_TEXT, "no bytes");
}

static void compare_accounts(struct jam_case *c, uint32_t id, penta_bytes want, penta_bytes got)
{
    struct jam_account x = {0}, y = {0};
    char what[JAM_TEXT];
    jam_account_decode(want, &x);
    jam_account_decode(got, &y);
    const char *name;
    uint64_t expected, found;
    for (unsigned i = 0;
         jam_account_number(&x, i, &name, &expected) && jam_account_number(&y, i, &name, &found);
         i++) {
        if (expected == found) continue;
        snprintf(what, sizeof what, "account %" PRIu32 " %s", id, name);
        snprintf(c->want, JAM_TEXT, "%" PRIu64, expected);
        snprintf(c->got, JAM_TEXT, "%" PRIu64, found);
        jam_case_differs(c, what);
        return;
    }
    snprintf(what, sizeof what, "account %" PRIu32 " code hash", id);
    jam_case_bytes(c->want, (penta_bytes){x.code_hash, JAM_HASH});
    jam_case_bytes(c->got, (penta_bytes){y.code_hash, JAM_HASH});
    jam_case_differs(c, what);
}

static void name_key(char *text, const uint8_t *key, penta_bytes name)
{
    static const char *const chapters[] = {
        [JAM_QUEUES] = "authorizer queues",       [JAM_STAGING] = "staging set",
        [JAM_PRIVILEGES] = "privileges",          [JAM_READY] = "ready queue",
        [JAM_ACCUMULATED] = "accumulated hashes", [JAM_OUTPUTS] = "outputs"};
    uint32_t id;
    bool record;
    char hex[JAM_TEXT] = "";
    if (!jam_key_service(key, &id, &record)) {
        const char *chapter = key[0] <= JAM_OUTPUTS ? chapters[key[0]] : NULL;
        snprintf(text, JAM_TEXT, "%s", chapter ? chapter : "chapter");
        return;
    }
    jam_case_bytes(hex, name.size ? name : (penta_bytes){key, JAM_KEY});
    snprintf(text, JAM_TEXT,
             record      ? "account %" PRIu32
             : name.size ? "account %" PRIu32 " storage %.90s"
                         : "account %" PRIu32 " key %.90s",
             id, hex);
}

static void compare_key(struct jam_case *c, const uint8_t *key, const struct jam_value *want,
                        const struct jam_value *got)
{
    penta_bytes x = want ? jam_value_bytes(want) : (penta_bytes){0};
    penta_bytes y = got ? jam_value_bytes(got) : (penta_bytes){0};
    uint32_t id;
    bool record = false;
    char what[JAM_TEXT];
    if (!want == !got && x.size == y.size && (!x.size || !memcmp(x.data, y.data, x.size))) return;
    if (want && got && jam_key_service(key, &id, &record) && record) {
        compare_accounts(c, id, x, y);
        return;
    }
    name_key(what, key, want ? jam_value_name(want) : jam_value_name(got));
    jam_case_bytes(c->want, x);
    jam_case_bytes(c->got, y);
    if (!want) snprintf(c->want, JAM_TEXT, "not to be there");
    if (!got) snprintf(c->got, JAM_TEXT, "it is not there");
    jam_case_differs(c, what);
}

/* Compares all keys of both states except the slot, which comes from the block. */
void jam_case_states(struct jam_case *c)
{
    struct jam_layer *want = &c->expected->base, *got = &c->state->base;
    struct jam_layer *sides[] = {want, got};
    for (unsigned side = 0; side < 2; side++) {
        size_t count;
        const struct jam_entry **list = jam_layer_sorted(sides[side], &count);
        for (size_t i = 0; list && i < count && !c->trial.judged; i++)
            if (list[i]->key[0] != JAM_SLOT || list[i]->key[8])
                compare_key(c, list[i]->key, jam_layer_find(want, list[i]->key),
                            jam_layer_find(got, list[i]->key));
        free(list);
    }
}

void jam_case_gas(struct jam_case *c, uint32_t id, uint64_t items, uint64_t gas)
{
    char what[JAM_TEXT];
    const penta_jam_service_gas *row = NULL;
    for (size_t i = 0; i < c->outcome.service_count; i++)
        if (c->outcome.services[i].service == id) row = &c->outcome.services[i];
    uint64_t got_items = row ? row->items : 0, got_gas = row ? row->gas : 0;
    if (got_items == items && got_gas == gas) return;
    bool by_gas = got_gas != gas;
    snprintf(what, sizeof what, "service %" PRIu32 " %s", id, by_gas ? "gas" : "items");
    snprintf(c->want, JAM_TEXT, "%" PRIu64, by_gas ? gas : items);
    snprintf(c->got, JAM_TEXT, "%" PRIu64, by_gas ? got_gas : got_items);
    jam_case_differs(c, what);
}

void jam_case_count(struct jam_case *c, size_t services)
{
    if (c->outcome.service_count == services) return;
    snprintf(c->want, JAM_TEXT, "%zu", services);
    snprintf(c->got, JAM_TEXT, "%zu", c->outcome.service_count);
    jam_case_differs(c, "services with statistics:");
}

void jam_case_chapter(struct jam_case *c, penta_jam_state *state, uint8_t chapter, struct writer *w)
{
    uint8_t key[JAM_KEY];
    penta_jam_key(chapter, key);
    if (!c->err.code && w->out.size) penta_jam_state_set(state, key, writer_view(w), &c->err);
    writer_free(w);
}

void jam_case_reports(struct jam_case *c, const struct json_object *list)
{
    for (size_t i = 0; i < json_length(list) && !c->err.code; i++) {
        size_t mark = jam_json_enter(&c->json, "reports", i);
        jam_json_report(&c->json, json_item(list, i), &c->reports.bytes);
        jam_slices_end(&c->json, &c->reports);
        jam_json_leave(&c->json, mark);
    }
    jam_slices_done(&c->json, &c->reports);
    c->block.reports = c->reports.list;
    c->block.report_count = c->reports.count;
}

void jam_case_block(struct jam_case *c, uint64_t slot, const struct json_object *entropy)
{
    struct writer w = {0};
    c->block.slot = (uint32_t)slot;
    jam_json_bytes(&c->json, entropy, "entropy", JAM_HASH, &w);
    if (!c->err.code) memcpy(c->block.entropy, w.out.data, JAM_HASH);
    writer_free(&w);
}

void jam_case_prior_slot(struct jam_case *c, uint64_t slot)
{
    struct writer w = {0};
    writer_uint(&w, slot, 4);
    jam_case_chapter(c, c->state, JAM_SLOT, &w);
}

bool jam_case_run(struct jam_case *c)
{
    return !c->err.code &&
           penta_jam_block_run(c->host, c->state, &c->block, &c->outcome, &c->err) &&
           penta_jam_state_commit(c->state, &c->err) &&
           penta_jam_state_commit(c->expected, &c->err);
}

void jam_case_member(void *user, const char *key, const struct json_object *value)
{
    struct jam_case_members *m = user;
    struct jam_case *c = m->c;
    struct writer bytes = {0};
    size_t size = 0;
    uint8_t *k = hex_parse(bytes_of(strncmp(key, "0x", 2) ? key : key + 2), &size, &c->err);
    if (!k || size != JAM_KEY) error_at(&c->err, BASE_JSON, 0, "'%.70s' is not a state key", key);
    if (value) jam_json_bytes(&c->json, value, "value", JAM_ANY_SIZE, &bytes);
    writer_char(&bytes, 0);
    penta_bytes view = {value ? bytes.out.data : NULL, value ? bytes.out.size - 1 : 0};
    if (!c->err.code) penta_jam_state_set(m->one, k, view, &c->err);
    if (!c->err.code && m->two) penta_jam_state_set(m->two, k, view, &c->err);
    free(k);
    writer_free(&bytes);
}

/* Reads preimages, which are pairs of a service and its bytes. */
void jam_case_preimages(struct jam_case *c, const struct json_object *list)
{
    size_t count = json_length(list);
    c->preimages = calloc(count + 1, sizeof *c->preimages);
    for (size_t i = 0; i < count && !c->err.code; i++) {
        jam_json_bytes(&c->json, json_item(json_item(list, i), 1), "preimage", JAM_ANY_SIZE,
                       &c->blobs.bytes);
        jam_slices_end(&c->json, &c->blobs);
    }
    if (!jam_slices_done(&c->json, &c->blobs) || !c->preimages) return;
    for (size_t i = 0; i < count; i++) {
        uint64_t id = 0;
        if (!json_as_uint(json_item(json_item(list, i), 0), &id) || id > UINT32_MAX)
            error_at(&c->err, BASE_JSON, 0, "preimages are pairs of a service and a hex string");
        c->preimages[i] = (penta_jam_preimage){(uint32_t)id, c->blobs.list[i]};
    }
    c->block.preimages = c->preimages;
    c->block.preimage_count = count;
}

static void read_chapters(struct jam_case *c, penta_jam_state *state, const struct json_object *v)
{
    static const struct {
        const char *key;
        uint8_t chapter;
    } chapters[] = {{"privileges", JAM_PRIVILEGES},   {"ready", JAM_READY},
                    {"accumulated", JAM_ACCUMULATED}, {"auth_queues", JAM_QUEUES},
                    {"staging", JAM_STAGING},         {"outputs", JAM_OUTPUTS}};
    for (unsigned i = 0; i < sizeof chapters / sizeof *chapters; i++) {
        struct writer w = {0};
        const struct json_object *member = json_get(v, chapters[i].key);
        if (member) jam_json_bytes(&c->json, member, chapters[i].key, JAM_ANY_SIZE, &w);
        jam_case_chapter(c, state, chapters[i].chapter, &w);
    }
}

static void compare_row(void *user, const char *key, const struct json_object *value)
{
    struct jam_case *c = user;
    uint64_t id = 0, items = 0, gas = 0;
    if (!number_parse(key, &id) || id > UINT32_MAX || json_length(value) != 2 ||
        !json_as_uint(json_item(value, 0), &items) || !json_as_uint(json_item(value, 1), &gas))
        error_at(&c->err, BASE_JSON, 0, "gas of '%.20s' is not a pair of items and gas", key);
    if (!c->err.code) jam_case_gas(c, (uint32_t)id, items, gas);
}

static void count_row(void *user, const char *key, const struct json_object *value)
{
    (void)key, (void)value;
    ++*(size_t *)user;
}

static bool trace_matches(const struct json_object *root)
{
    return json_has(root, "prior_slot") && json_has(root, "reports") && json_has(root, "state") &&
           json_has(root, "expect");
}

static void trace_run(struct conform *conform, const struct json_object *root)
{
    const char *chain = json_as_text(json_get(root, "chain"));
    struct jam_case c;
    if (jam_case_open(&c, conform, root, chain ? chain : "tiny")) {
        const struct json_object *expect = jam_json_object(&c.json, root, "expect");
        struct jam_case_members both = {&c, c.state, c.expected};
        struct jam_case_members changes = {&c, c.expected, NULL};
        size_t rows = 0;
        jam_case_block(&c, jam_json_uint(&c.json, root, "slot", 32), json_get(root, "entropy"));
        jam_case_reports(&c, jam_json_list(&c.json, root, "reports"));
        jam_case_preimages(&c, jam_json_list(&c.json, root, "preimages"));
        json_each(jam_json_object(&c.json, root, "state"), jam_case_member, &both);
        read_chapters(&c, c.state, root);
        read_chapters(&c, c.expected, root);
        jam_case_prior_slot(&c, jam_json_uint(&c.json, root, "prior_slot", 32));
        json_each(jam_json_object(&c.json, expect, "state"), jam_case_member, &changes);
        read_chapters(&c, c.expected, expect);
        if (jam_case_run(&c)) {
            const struct json_object *gas = jam_json_object(&c.json, expect, "gas");
            json_each(gas, compare_row, &c);
            json_each(gas, count_row, &rows);
            if (!c.trial.judged && !c.err.code) jam_case_count(&c, rows);
            jam_case_states(&c);
        }
    }
    jam_case_close(&c);
}

DOCUMENT_FORM(jam_trace, trace_matches, trace_run)
