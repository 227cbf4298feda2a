/* Runs steps of JAM traces in the form in which they are published: a block, and the whole state
 * before and after it, key by key. Only the effects of accumulation and preimages are computed
 * and compared. All other parts of a block are the work of a node. */
#include "base/bytes.h"
#include "base/number.h"
#include "conform/jam.h"
#include <stdlib.h>
#include <string.h>

enum { PENDING = 10, STATISTICS = 13, RECORD_NUMBERS = 10 };

/* Reads values from a list of pairs: the value of a chapter, or of any key. */
struct values {
    struct jam_case *c;
    penta_jam_state *state; /* gets the values that accumulation uses */
    struct writer pending, statistics, entropy, slot;
};

static struct writer *jam_import_kept(struct values *v, uint8_t chapter)
{
    switch (chapter) {
    case PENDING: return &v->pending;
    case STATISTICS: return &v->statistics;
    case JAM_ENTROPY: return &v->entropy;
    case JAM_SLOT: return &v->slot;
    default: return NULL;
    }
}

static bool jam_import_accumulated(uint8_t chapter)
{
    return chapter == JAM_QUEUES || chapter == JAM_STAGING || chapter == JAM_PRIVILEGES ||
           chapter == JAM_READY || chapter == JAM_ACCUMULATED || chapter == JAM_OUTPUTS;
}

static void read_state_pair(struct values *v, const struct json_object *pair)
{
    struct jam_json *j = &v->c->json;
    struct writer key = {0}, value = {0};
    uint32_t id;
    bool record;
    bool list = json_is_list(pair);
    jam_json_bytes(j, list ? json_item(pair, 0) : json_get(pair, "key"), "key", JAM_KEY, &key);
    jam_json_bytes(j, list ? json_item(pair, 1) : json_get(pair, "value"), "value", JAM_ANY_SIZE,
                   &value);
    if (!j->err->code) {
        bool service = jam_key_service(key.out.data, &id, &record);
        struct writer *part = service ? NULL : jam_import_kept(v, key.out.data[0]);
        if (part) writer_append(part, &value);
        writer_char(&value, 0); /* This gives an empty value a pointer other than NULL. */
        if (service || jam_import_accumulated(key.out.data[0]))
            penta_jam_state_set(v->state, key.out.data,
                                (penta_bytes){value.out.data, value.out.size - 1}, j->err);
    }
    writer_free(&key);
    writer_free(&value);
}

static void read_values(struct values *v, const struct json_object *root, const char *name)
{
    struct jam_json *j = &v->c->json;
    const struct json_object *list = jam_json_list(j, jam_json_object(j, root, name), "keyvals");
    size_t outer = jam_json_enter(j, name, JAM_NO_INDEX);
    for (size_t i = 0; i < json_length(list) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, "keyvals", i);
        read_state_pair(v, json_item(list, i));
        jam_json_leave(j, mark);
    }
    jam_json_leave(j, outer);
}

static void free_values(struct values *v)
{
    writer_free(&v->pending);
    writer_free(&v->statistics);
    writer_free(&v->entropy);
    writer_free(&v->slot);
}

/* The functions below find the reports that the block makes available. */

static uint64_t jam_import_majority(const struct jam_case *c)
{
    return 2 * c->host->chain.validators / 3 + 1;
}

/* Counts the validators which say that they have the report of this core. */
static uint64_t jam_import_assured(struct jam_case *c, const struct json_object *extrinsic,
                                   size_t core)
{
    const struct json_object *list = jam_json_list(&c->json, extrinsic, "assurances");
    uint64_t count = 0;
    for (size_t i = 0; i < json_length(list); i++) {
        struct writer bits = {0};
        jam_json_bytes(&c->json, json_get(json_item(list, i), "bitfield"), "bitfield", JAM_ANY_SIZE,
                       &bits);
        count += core / 8 < bits.out.size && bits.out.data[core / 8] >> core % 8 & 1;
        writer_free(&bits);
    }
    return count;
}

/* Tells whether this block has a verdict against the report. */
static bool jam_import_judged(struct jam_case *c, const struct json_object *extrinsic,
                              penta_bytes report)
{
    const struct json_object *disputes = jam_json_object(&c->json, extrinsic, "disputes");
    const struct json_object *list = jam_json_list(&c->json, disputes, "verdicts");
    uint8_t hash[JAM_HASH];
    bool against = false;
    penta_jam_hash(report, hash);
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json_object *votes = json_get(json_item(list, i), "votes");
        struct writer target = {0};
        uint64_t good = 0;
        jam_json_hash(&c->json, json_item(list, i), "target", &target);
        for (size_t k = 0; k < json_length(votes); k++)
            good += json_as_bool(json_get(json_item(votes, k), "vote"));
        if (!c->err.code && !memcmp(target.out.data, hash, JAM_HASH) &&
            good < jam_import_majority(c))
            against = true;
        writer_free(&target);
    }
    return against;
}

static void find_reports(struct jam_case *c, const struct json_object *extrinsic,
                         penta_bytes pending)
{
    struct reader r = {.in = pending, .err = &c->err};
    for (size_t core = 0; core < c->host->chain.cores && !c->err.code; core++) {
        if (!reader_uint(&r, 1)) continue;
        struct jam_report report;
        size_t start = r.pos;
        if (jam_take_report(&r, &report)) {
            penta_bytes bytes = bytes_slice(pending, start, r.pos - start);
            if (jam_import_assured(c, extrinsic, core) >= jam_import_majority(c) &&
                !jam_import_judged(c, extrinsic, bytes)) {
                writer_bytes(&c->reports.bytes, bytes.data, bytes.size);
                jam_slices_end(&c->json, &c->reports);
            }
        }
        reader_take(&r, 4);
        jam_report_free(&report);
    }
    jam_slices_done(&c->json, &c->reports);
    c->block.reports = c->reports.list;
    c->block.report_count = c->reports.count;
}

static void find_preimages(struct jam_case *c, const struct json_object *extrinsic)
{
    const struct json_object *list = jam_json_list(&c->json, extrinsic, "preimages");
    size_t count = json_length(list);
    c->preimages = calloc(count + 1, sizeof *c->preimages);
    for (size_t i = 0; i < count && !c->err.code; i++) {
        size_t mark = jam_json_enter(&c->json, "preimages", i);
        jam_json_bytes(&c->json, json_get(json_item(list, i), "blob"), "blob", JAM_ANY_SIZE,
                       &c->blobs.bytes);
        jam_slices_end(&c->json, &c->blobs);
        jam_json_leave(&c->json, mark);
    }
    if (!jam_slices_done(&c->json, &c->blobs) || !c->preimages) return;
    for (size_t i = 0; i < count; i++) {
        uint64_t id = jam_json_uint(&c->json, json_item(list, i), "requester", 32);
        c->preimages[i] = (penta_jam_preimage){(uint32_t)id, c->blobs.list[i]};
    }
    c->block.preimages = c->preimages;
    c->block.preimage_count = count;
}

/* Compares statistics. Those of validators and cores come first; the last two of each service
 * are about accumulation. */
static void compare_statistics(struct jam_case *c, penta_bytes bytes)
{
    const struct jam_chain *chain = &c->host->chain;
    struct reader r = {.in = bytes, .err = &c->err};
    size_t rows = 0;
    reader_take(&r, 2 * (size_t)chain->validators * 6 * 4);
    for (size_t i = 0; i < chain->cores * 8; i++) jam_take_nat(&r);
    size_t count = reader_count(&r, jam_take_nat(&r), 4 + RECORD_NUMBERS);
    for (size_t i = 0; i < count && !c->err.code && !c->trial.judged; i++) {
        uint64_t numbers[RECORD_NUMBERS];
        uint32_t service = (uint32_t)reader_uint(&r, 4);
        for (unsigned k = 0; k < RECORD_NUMBERS; k++) numbers[k] = jam_take_nat(&r);
        uint64_t items = numbers[RECORD_NUMBERS - 2], gas = numbers[RECORD_NUMBERS - 1];
        if (c->err.code || (!items && !gas)) continue;
        rows++;
        jam_case_gas(c, service, items, gas);
    }
    if (!c->trial.judged && !c->err.code) jam_case_count(c, rows);
}

static bool import_matches(const struct json_object *root)
{
    return json_has(json_get(root, "pre_state"), "keyvals") &&
           json_has(json_get(root, "post_state"), "keyvals") && json_has(root, "block");
}

/* Returns the name of the chain: the tiny chain has two cores. */
static const char *chain_of(const struct json_object *root)
{
    const struct json_object *list = json_get(json_get(root, "pre_state"), "keyvals");
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json_object *pair = json_item(list, i);
        bool in_list = json_is_list(pair);
        const struct json_object *value = in_list ? json_item(pair, 1) : json_get(pair, "value");
        const char *key = json_as_text(in_list ? json_item(pair, 0) : json_get(pair, "key"));
        if (key && !strncmp(key, "0x", 2)) key += 2;
        if (key && !strncmp(key, "0200000000", 10) && json_text_size(value) > 4 * 5120)
            return "full";
    }
    return "tiny";
}

/* Tells whether the block is refused. A refused block does not change the state. */
static bool jam_import_refused(const struct json_object *root)
{
    const char *before = json_as_text(json_get(json_get(root, "pre_state"), "state_root"));
    const char *after = json_as_text(json_get(json_get(root, "post_state"), "state_root"));
    return before && after && !strcmp(before, after);
}

static void run_step(struct jam_case *c, const struct json_object *root)
{
    struct jam_json *j = &c->json;
    const struct json_object *block = jam_json_object(j, root, "block");
    const struct json_object *header = jam_json_object(j, block, "header");
    const struct json_object *extrinsic = jam_json_object(j, block, "extrinsic");
    struct values pre = {.c = c, .state = c->state}, post = {.c = c, .state = c->expected};
    read_values(&pre, root, "pre_state");
    read_values(&post, root, "post_state");
    if (!c->err.code && (post.entropy.out.size < JAM_HASH || pre.slot.out.size != 4))
        error_at(&c->err, BASE_JSON, 0, "the states have no entropy or no slot");
    if (!c->err.code) {
        memcpy(c->block.entropy, post.entropy.out.data, JAM_HASH);
        jam_case_prior_slot(c, bytes_get32(pre.slot.out.data));
        c->block.slot = (uint32_t)jam_json_uint(j, header, "slot", 32);
        find_reports(c, extrinsic, writer_view(&pre.pending));
        find_preimages(c, extrinsic);
    }
    if (!jam_import_refused(root) && jam_case_run(c)) {
        compare_statistics(c, writer_view(&post.statistics));
        jam_case_states(c);
    }
    free_values(&pre);
    free_values(&post);
}

static void import_run(struct conform *conform, const struct json_object *root)
{
    struct jam_case c;
    if (jam_case_open(&c, conform, root, chain_of(root))) run_step(&c, root);
    jam_case_close(&c);
}

DOCUMENT_FORM(jam_import, import_matches, import_run)
