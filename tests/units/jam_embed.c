/* Tests a node that uses the JAM host only through penta/jam.h: accounts by callbacks or set in
 * advance, work reports from packages into blocks, and many hosts in many threads.
 *
 *     jam_embed [THREADS] */
#include "support.h"
#include "penta/jam.h"
#include <stdio.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SERVICE = 7, HASH = PENTA_JAM_HASH, SEGMENT = PENTA_JAM_SEGMENT, KEY = PENTA_JAM_KEY };
enum { ENTRIES = 32 };

/* Refine does what the first byte of its payload says. Accumulate counts its runs under "key". */
static const char service_text[] = "    jump @refine %size 5\n"
                                   "    jump @accumulate %size 5\n"
                                   "@refine:\n"
                                   "    a3 = u8 [a0 + 4]\n"
                                   "    jump @panic if a3 == 1\n"
                                   "    jump @export if a3 == 2\n"
                                   "    jump @huge if a3 == 3\n"
                                   "    a0 = 0x20000\n"
                                   "    a1 = 2\n"
                                   "    ret\n"
                                   "@panic:\n"
                                   "    trap\n"
                                   "@export:\n"
                                   "    a0 = 0x20000\n"
                                   "    a1 = 3\n"
                                   "    ecalli 7\n"
                                   "    a0 = 0x20000\n"
                                   "    a1 = 3\n"
                                   "    ret\n"
                                   "@huge:\n"
                                   "    a0 = 0x20000\n"
                                   "    a1 = 49149\n"
                                   "    ret\n"
                                   "@accumulate:\n"
                                   "    a0 = -1\n"
                                   "    a1 = 0x20000\n"
                                   "    a2 = 3\n"
                                   "    a3 = 0x21000\n"
                                   "    a4 = 0\n"
                                   "    a5 = 8\n"
                                   "    ecalli 3\n"
                                   "    a0 = u64 [0x21000]\n"
                                   "    a0 = a0 + 1\n"
                                   "    u64 [0x21000] = a0\n"
                                   "    a0 = 0x20000\n"
                                   "    a1 = 3\n"
                                   "    a2 = 0x21000\n"
                                   "    a3 = 8\n"
                                   "    ecalli 4\n"
                                   "    a0 = 0x21000\n"
                                   "    a1 = 32\n"
                                   "    ret\n";
/* These authorizers say "ok", refuse, or return a trace that no report can hold. */
static const char granting_text[] = "    a0 = 0x20000\n    a1 = 2\n    ret\n";
static const char refusing_text[] = "    trap\n";
static const char talking_text[] = "    a0 = 0x20000\n    a1 = 49153\n    ret\n";

static penta_buffer jam_embed_assemble(const char *body)
{
    char text[4000];
    penta_buffer out = {0};
    penta_error err;
    snprintf(text, sizeof text,
             "%%dialect = jam\n%%isa = latest64\n%%metadata = 00\n%%stack_size = 4096\n"
             "%%heap_pages = 16\n%%rw_data = 6b6579\n%s",
             body);
    penta_module *module = assembled("pvm", text);
    CHECK(penta_encode(module, &out, &err));
    penta_close(module);
    return out;
}

struct store {
    struct entry {
        uint8_t key[KEY];
        uint8_t *value; /* NULL when the value is absent */
        size_t size;
    } entries[ENTRIES];
    size_t count;
    unsigned asked;
};

static void store_set(struct store *s, const uint8_t *key, penta_bytes value)
{
    size_t i = 0;
    while (i < s->count && memcmp(s->entries[i].key, key, KEY)) i++;
    if (i == ENTRIES) return;
    if (i == s->count) memcpy(s->entries[s->count++].key, key, KEY);
    free(s->entries[i].value);
    s->entries[i].value = value.data ? malloc(value.size + 1) : NULL;
    s->entries[i].size = value.size;
    if (value.size) memcpy(s->entries[i].value, value.data, value.size);
}

static bool store_get(void *user, const uint8_t *key, penta_bytes *value)
{
    struct store *s = user;
    s->asked++;
    for (size_t i = 0; i < s->count; i++)
        if (s->entries[i].value && !memcmp(s->entries[i].key, key, KEY)) {
            *value = (penta_bytes){s->entries[i].value, s->entries[i].size};
            return true;
        }
    return false;
}

static void store_free(struct store *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->entries[i].value);
}

/* Adds an account with these codes as preimages. The first code is its own. */
static void store_service(struct store *s, const penta_buffer *codes, size_t count)
{
    static const uint8_t since[] = {1, 0, 0, 0, 0};
    uint8_t key[KEY], record[89] = {0}, hash[HASH];
    put_bytes(record + 33, 1000000000, 8);
    for (size_t i = 0; i < count; i++) {
        penta_bytes code = {codes[i].data, codes[i].size};
        penta_jam_hash(code, hash);
        if (!i) memcpy(record + 1, hash, HASH);
        penta_jam_preimage_key(SERVICE, hash, key);
        store_set(s, key, code);
        penta_jam_request_key(SERVICE, hash, (uint32_t)code.size, key);
        store_set(s, key, (penta_bytes){since, sizeof since});
    }
    penta_jam_account_key(SERVICE, key);
    store_set(s, key, (penta_bytes){record, sizeof record});
}

static void take_change(void *user, const uint8_t *key, penta_bytes name, const penta_bytes *before,
                        const penta_bytes *now)
{
    (void)name, (void)before;
    store_set(user, key, now ? *now : (penta_bytes){0});
}

/* Returns what the service has counted. */
static uint64_t jam_embed_counted(struct store *s)
{
    uint8_t key[KEY];
    penta_bytes value = {0};
    uint64_t n = 0;
    penta_jam_storage_key(SERVICE, (penta_bytes){(const uint8_t *)"key", 3}, key);
    if (!store_get(s, key, &value)) return 0;
    for (unsigned i = 0; i < 8; i++) n |= (uint64_t)value.data[i] << 8 * i;
    return n;
}

static uint64_t run_node(const char *engine, penta_buffer code, bool callbacks, unsigned runs)
{
    struct store store = {.count = 0};
    penta_error err;
    penta_option options[] = {{"chain", "tiny"}, {"engine", engine}};
    penta_jam_source source = {&store, store_get};
    store_service(&store, &code, 1);
    penta_jam_host *host = penta_jam_host_new((penta_bytes){0}, options, 2, &err);
    penta_jam_state *state = penta_jam_state_new(host, callbacks ? &source : NULL, &err);
    for (size_t i = 0; !callbacks && i < store.count; i++)
        penta_jam_state_set(state, store.entries[i].key,
                            (penta_bytes){store.entries[i].value, store.entries[i].size}, &err);
    bool ok = penta_jam_state_commit(state, &err);
    penta_jam_accumulation input = {.service = SERVICE, .gas = 100000};
    penta_jam_result result = {0};
    uint64_t gas = 0;
    for (unsigned i = 0; i < runs; i++) {
        input.slot = 10 + i;
        ok = ok && penta_jam_accumulate(host, state, &input, &result, &err) &&
             result.exit == PENTA_JAM_HALT && result.output.size == HASH &&
             result.output.data[0] == (uint8_t)(i + 1);
        gas += result.gas_used;
        penta_jam_state_changes(state, take_change, &store);
        ok = ok && jam_embed_counted(&store) == i + 1 && penta_jam_state_commit(state, &err);
    }
    /* What the node rolls back is removed, and has not changed its accounts. */
    ok = ok && penta_jam_accumulate(host, state, &input, &result, &err);
    penta_jam_state_rollback(state);
    penta_jam_state_changes(state, take_change, &store);
    ok = ok && jam_embed_counted(&store) == runs && (!callbacks || store.asked > runs);
    penta_jam_result_free(&result);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
    store_free(&store);
    return ok ? gas : 0;
}

struct item {
    const uint8_t *code;
    uint8_t payload, exports;
};

static size_t package_of(uint8_t *out, const uint8_t *authorizer, const struct item *items,
                         size_t count)
{
    uint8_t *p = put_bytes(out, SERVICE, 4);
    memcpy(p, authorizer, HASH);
    memset(p + HASH, 0, 4 * HASH);
    p = put_bytes(p + 5 * HASH, 10, 4);
    p = put_bytes(p, 0, 2); /* no prerequisites, no token */
    memcpy(p, "\3cfg", 4);
    p = put_bytes(p + 4, count, 1);
    for (size_t i = 0; i < count; i++) {
        p = put_bytes(p, SERVICE, 4);
        memcpy(p, items[i].code, HASH);
        p = put_bytes(p + HASH, 100000, 8);
        p = put_bytes(p, 50000, 8);
        p = put_bytes(p, items[i].exports, 2);
        p = put_bytes(p, 1, 1);
        p = put_bytes(p, items[i].payload, 1);
        p = put_bytes(p, 0, 2);
    }
    return (size_t)(p - out);
}

static void run_reports(const char *engine, const penta_buffer *codes, size_t count)
{
    static const uint8_t missing[HASH] = {1};
    uint8_t hashes[5][HASH], bytes[2000], config[HASH + 3], hash[HASH], zeros[SEGMENT] = {0};
    struct store store = {.count = 0};
    penta_error err;
    /* The last code is larger than this chain allows. */
    penta_option options[] = {{"chain", "{\"base\": \"tiny\", \"code_size\": 1000}"},
                              {"engine", engine}};
    penta_jam_source source = {&store, store_get};
    penta_jam_host *host = penta_jam_host_new((penta_bytes){0}, options, 2, &err);
    penta_jam_state *state = penta_jam_state_new(host, &source, &err);
    store_service(&store, codes, count);
    for (size_t i = 0; i < count; i++) penta_jam_hash(view_of(&codes[i]), hashes[i]);
    const struct item items[] = {
        {hashes[0], 0, 0}, /* succeeds */
        {hashes[0], 1, 0}, /* panics */
        {hashes[0], 2, 1}, /* exports as many segments as it promised */
        {hashes[0], 2, 2}, /* exports fewer segments than it promised */
        {hashes[0], 1, 1}, /* panics before it exports */
        {hashes[0], 3, 0}, /* does not fit with what is in the report already */
        {missing, 0, 0},   {hashes[4], 0, 0},
    };
    static const penta_jam_exit exits[] = {
        PENTA_JAM_HALT,        PENTA_JAM_PANIC,    PENTA_JAM_HALT,    PENTA_JAM_BAD_EXPORTS,
        PENTA_JAM_BAD_EXPORTS, PENTA_JAM_OVERSIZE, PENTA_JAM_NO_CODE, PENTA_JAM_BIG_CODE,
    };
    enum { ITEMS = sizeof items / sizeof *items };
    penta_jam_report report = {0};
    penta_jam_availability where = {.bundle_size = 5};
    penta_jam_package package = {.core = 0};
    package.encoded = (penta_bytes){bytes, package_of(bytes, hashes[1], items, ITEMS)};
    CHECK(penta_jam_report_make(host, state, &package, &where, &report, &err), "a report is made");
    CHECK(report.authorized.exit == PENTA_JAM_HALT && report.authorized.output.size == 2 &&
              report.authorized.gas_used == 3,
          "the authorizer grants");
    bool same = report.item_count == ITEMS;
    for (size_t i = 0; same && i < ITEMS; i++) same = report.items[i].exit == exits[i];
    CHECK(same, "results of the items");
    CHECK(same && report.items[0].output.size == 2 && !report.items[5].output.size,
          "only what is ok has an output");
    CHECK(same && report.items[6].gas_used == 0 && report.items[1].gas_used == 4,
          "gas of failures");
    CHECK(report.exports.size == 4 * SEGMENT && !memcmp(report.exports.data, "key", 3) &&
              !memcmp(report.exports.data + SEGMENT, zeros, SEGMENT),
          "what failed exports zeros");
    penta_jam_segments_root(view_of(&report.exports), hash);
    CHECK(!memcmp(hash, report.exports_root, HASH), "root of the exports");
    memcpy(config, hashes[1], HASH);
    memcpy(config + HASH, "cfg", 3);
    penta_jam_hash((penta_bytes){config, sizeof config}, hash);
    CHECK(!memcmp(hash, report.authorizer, HASH), "hash of the authorizer");
    penta_jam_hash(package.encoded, hash);
    CHECK(report.encoded.size > HASH && !memcmp(hash, report.encoded.data, HASH),
          "the report starts with the hash of its package");

    /* A block takes the report as it is. All its items are of one service, which runs once. */
    penta_bytes encoded = {report.encoded.data, report.encoded.size};
    penta_jam_block block = {.slot = 12, .reports = &encoded, .report_count = 1};
    penta_jam_outcome outcome = {0};
    CHECK(penta_jam_block_run(host, state, &block, &outcome, &err) && outcome.reports == 1 &&
              outcome.runs == 1 && outcome.service_count == 1 && outcome.services[0].items == ITEMS,
          "a block accumulates the report");
    penta_jam_state_changes(state, take_change, &store);
    CHECK(jam_embed_counted(&store) == 1, "and its service has run");
    penta_jam_outcome_free(&outcome);

    for (unsigned i = 2; i < 4; i++) {
        package.encoded.size = package_of(bytes, hashes[i], items, 1);
        CHECK(penta_jam_report_make(host, state, &package, NULL, &report, &err) &&
                  report.authorized.exit == (i == 2 ? PENTA_JAM_PANIC : PENTA_JAM_OVERSIZE) &&
                  !report.encoded.size && !report.item_count,
              "no report without an authorization");
    }
    package.encoded.size -= 1;
    CHECK(!penta_jam_report_make(host, state, &package, NULL, &report, &err) && err.code,
          "a package that is none is an error");
    penta_jam_report_free(&report);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
    store_free(&store);
}

struct thread {
    pthread_t id;
    unsigned number;
    const penta_buffer *codes;
    uint64_t gas;
};

static void *run_thread(void *user)
{
    static const char *const engines[] = {"jit", "interp", "both"};
    struct thread *t = user;
    t->gas = run_node(engines[t->number % 3], t->codes[0], t->number & 1, 40);
    return NULL;
}

int main(int count, char **words)
{
    enum { MOST = 64, CODES = 5 };
    static const char *const engines[] = {"interp", "jit", "both"};
    unsigned threads = count > 1 ? (unsigned)atoi(words[1]) : 8;
    struct thread list[MOST];
    char big[3500] = "";
    for (unsigned i = 0; i < 200; i++) strcat(big, "    a2 = 70000\n");
    penta_buffer codes[CODES] = {jam_embed_assemble(service_text),
                                 jam_embed_assemble(granting_text),
                                 jam_embed_assemble(refusing_text),
                                 jam_embed_assemble(talking_text), jam_embed_assemble(big)};
    uint64_t gas = run_node("interp", codes[0], true, 40);
    CHECK(gas, "a node answers for its accounts");
    for (unsigned i = 0; i < 3; i++) {
        CHECK(run_node(engines[i], codes[0], true, 40) == gas, "by callbacks");
        CHECK(run_node(engines[i], codes[0], false, 40) == gas, "handed over");
        run_reports(engines[i], codes, CODES);
    }
    if (threads > MOST) threads = MOST;
    for (unsigned i = 0; i < threads; i++) {
        list[i] = (struct thread){.number = i, .codes = codes};
        if (pthread_create(&list[i].id, NULL, run_thread, &list[i])) return 2;
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(list[i].id, NULL);
        CHECK(list[i].gas == gas, "a node in a thread of its own");
    }
    for (unsigned i = 0; i < CODES; i++) penta_buffer_free(&codes[i]);
    return checks_end();
}
