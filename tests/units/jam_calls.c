/* Tests every host call of JAM, in every version, at every entry, on every engine: its results in
 * the order in which their conditions are tested, its cost, and that memory which the program may
 * not access makes it panic before anything else happens. The rows were written from the text of
 * the Gray Paper and, where the public vectors differ from it (JAM 13.1), from these. They were not
 * written from the host's tables, which are tested here.
 *
 *     jam_calls STATE.json */
#include "penta/jam.h"
#include "support.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { V067 = 1, V070 = 2, V071 = 4, V072 = 8, V08 = 16, ALL = 31 };
enum {
    BEFORE_071 = V067 | V070,
    BEFORE_072 = V067 | V070 | V071,
    FROM_071 = V071 | V072 | V08,
    FROM_072 = V072 | V08
};
static const char *const version_names[] = {"0.6.7", "0.7.0", "0.7.1", "0.7.2", "0.8-draft"};
enum { VERSIONS = 5, HASH = PENTA_JAM_HASH, SLOT = 50 };
enum { AUTHORIZE = 1, REFINE = 2, ACCUMULATE = 4, TRANSFERS = 8 };

/* These are addresses in the program's memory, which is writable from DATA to END. */
#define DATA 0x20000u
#define KNOWN (DATA + 0x20)  /* the hash of BLOB */
#define OLD (DATA + 0x40)    /* the hash aa.., which accounts 10 to 12 hold */
#define ASKED (DATA + 0x60)  /* the hash bb.., with the request [] */
#define GONE (DATA + 0x80)   /* the hash cc.., with the request [1 2] */
#define BACK (DATA + 0xa0)   /* the hash dd.., with the request [1 2 3] */
#define HERE (DATA + 0xc0)   /* the hash ee.., with the request [40] */
#define NOBODY (DATA + 0xe0) /* the hash ff.., without a request */
#define BLOB (DATA + 0x100)
#define WANTED (DATA + 0x110) /* four bytes that account 9 waits for */
#define MEMO (DATA + 0x120)
#define PROGRAM (DATA + 0x200)
#define FRAME (DATA + 0x280)
#define ZEROS 0x21000u
#define END 0x25000u
#define SELF UINT64_MAX
#define WIDE UINT64_C(0x100000000)
#define FREE UINT64_MAX /* the cost of a call that costs nothing */

static const uint8_t inner_program[] = {0, 0,  15, 0xc8, 0x87, 7, 0x3b, 7, 0, 0,
                                        1, 10, 5,  0x33, 9,    9, 0x32, 0, 9, 0x25};

#define MACHINE "a0 = 0x20200\na1 = 20\na2 = 0\necalli 8\n"
#define PAGE(mode) "a0 = 0\na1 = 16\na2 = 1\na3 = " mode "\necalli 11\n"

static const struct call {
    const char *name;
    int number; /* the number of the call in versions up to 0.7.2 */
    int entries;
} calls[] = {
    {"gas", 0, AUTHORIZE | REFINE | ACCUMULATE | TRANSFERS},
    {"fetch", 1, AUTHORIZE | REFINE | ACCUMULATE | TRANSFERS},
    {"lookup", 2, ACCUMULATE | TRANSFERS},
    {"read", 3, ACCUMULATE | TRANSFERS},
    {"write", 4, ACCUMULATE | TRANSFERS},
    {"info", 5, ACCUMULATE | TRANSFERS},
    {"historical_lookup", 6, REFINE},
    {"export", 7, REFINE},
    {"machine", 8, REFINE},
    {"peek", 9, REFINE},
    {"poke", 10, REFINE},
    {"pages", 11, REFINE},
    {"invoke", 12, REFINE},
    {"expunge", 13, REFINE},
    {"bless", 14, ACCUMULATE},
    {"assign", 15, ACCUMULATE},
    {"designate", 16, ACCUMULATE},
    {"checkpoint", 17, ACCUMULATE},
    {"new", 18, ACCUMULATE},
    {"upgrade", 19, ACCUMULATE},
    {"transfer", 20, ACCUMULATE},
    {"eject", 21, ACCUMULATE},
    {"query", 22, ACCUMULATE},
    {"solicit", 23, ACCUMULATE},
    {"forget", 24, ACCUMULATE},
    {"yield", 25, ACCUMULATE},
    {"provide", 26, ACCUMULATE},
    {"log", 100, AUTHORIZE | REFINE | ACCUMULATE | TRANSFERS},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* One call. In results, $gas is the gas left after it, and $id the first id of a new service. */
static const struct row {
    int versions, entry;
    uint32_t service;
    const char *call;
    uint64_t r[6]; /* the registers r7 to r12 */
    const char *result;
    uint64_t cost;     /* 0 means 10; FREE means none */
    const char *setup; /* lines before the call, or NULL */
} rows[] = {
#include "jam_calls.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* A range of memory that a call names: the register of the address, and the size. */
static const struct range {
    int versions;
    const char *call;
    unsigned address;
    unsigned size, size_register; /* one of the two is 0 */
    bool write;
    uint64_t most; /* the largest size; 0 for any */
} ranges[] = {
    {ALL, "lookup", 8, 32, 0, false, 0},
    {ALL, "read", 8, 0, 9, false, 0},
    {ALL, "write", 7, 0, 8, false, 0},
    {ALL, "write", 9, 0, 10, false, 0},
    {ALL, "historical_lookup", 8, 32, 0, false, 0},
    {ALL, "export", 7, 0, 8, false, 4104},
    {ALL, "machine", 7, 0, 8, false, 0},
    {ALL, "peek", 8, 0, 10, true, 0},
    {ALL, "poke", 8, 0, 10, false, 0},
    {ALL, "invoke", 8, 112, 0, true, 0},
    {ALL, "bless", 8, 8, 0, false, 0},
    {FROM_071, "bless", 11, 0, 12, false, 0},
    {BEFORE_071, "bless", 10, 0, 11, false, 0},
    {ALL, "assign", 8, 2560, 0, false, 0},
    {ALL, "designate", 7, 2016, 0, false, 0},
    {ALL, "new", 7, 32, 0, false, 0},
    {ALL, "upgrade", 7, 32, 0, false, 0},
    {ALL, "transfer", 10, 128, 0, false, 0},
    {ALL, "eject", 8, 32, 0, false, 0},
    {ALL, "query", 7, 32, 0, false, 0},
    {ALL, "solicit", 7, 32, 0, false, 0},
    {ALL, "forget", 7, 32, 0, false, 0},
    {ALL, "yield", 7, 32, 0, false, 0},
    {ALL, "provide", 8, 0, 9, false, 0},
    /* These are the ranges to which results are copied, where there is a result of that size. */
    {ALL, "fetch", 7, 134, 0, true, 0},
    {ALL, "lookup", 9, 4, 0, true, 0},
    {ALL, "read", 10, 1, 0, true, 0},
    {ALL, "info", 8, 96, 0, true, 0},
    {ALL, "historical_lookup", 9, 4, 0, true, 0},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

static const uint64_t gas_limit = 100000, authorize_gas = 50000000;

static void fill_memory(uint8_t *m)
{
    static const uint8_t blob[] = {1, 2, 3, 4}, wanted[] = {5, 6, 7, 8};
    static const uint8_t bytes[] = {0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    memset(m, 0, 0x300);
    memcpy(m, "key", 3);
    penta_jam_hash((penta_bytes){blob, 4}, m + 0x20);
    for (unsigned i = 0; i < 6; i++) memset(m + 0x40 + 32 * i, bytes[i], 32);
    memcpy(m + 0x100, blob, 4);
    memcpy(m + 0x110, wanted, 4);
    memcpy(m + 0x200, inner_program, sizeof inner_program);
    put_bytes(m + 0x280, 1000, 8);       /* the gas of the inner machine */
    put_bytes(m + 0x288, 0xffff0000, 8); /* the address to which its program returns */
}

/* Returns the number of a call. Setup lines have the numbers up to 0.7.2; those of the draft are
 * one higher. */
static int number_in(const char *name, unsigned version)
{
    if (!strcmp(name, "grow_heap")) return 1;
    for (unsigned i = 0; i < CALLS; i++)
        if (!strcmp(calls[i].name, name)) {
            int n = calls[i].number;
            return version == 4 && n && n < 100 ? n + 1 : n;
        }
    return (int)strtol(name, NULL, 10);
}

/* Adds setup lines. Returns the gas that they use up to 0.7.2. */
static unsigned add_setup(char *text, size_t size, const char *setup, unsigned version)
{
    unsigned gas = 0;
    for (size_t at = strlen(text); setup && *setup; at = strlen(text)) {
        int length = (int)strcspn(setup, "\n"), n;
        if (sscanf(setup, "ecalli %d", &n) == 1) {
            snprintf(text + at, size - at, "ecalli %d\n", version == 4 ? n + 1 : n);
            gas += 10;
        } else {
            snprintf(text + at, size - at, "%.*s\n", length, setup);
        }
        gas++;
        setup += length + 1;
    }
    return gas;
}

/* Returns the file of a program that makes this call. *gas becomes what it uses up to the call. */
static penta_buffer program_of(const struct row *row, unsigned version, unsigned *gas)
{
    static const char *const registers[] = {"a0", "a1", "a2", "a3", "a4", "a5"};
    char text[6000];
    uint8_t memory[0x300];
    penta_buffer out = {0};
    penta_error err;
    fill_memory(memory);
    snprintf(text, sizeof text,
             "%%dialect = jam\n%%isa = %s\n%%metadata = 00\n%%stack_size = 4096\n"
             "%%heap_pages = 4\n%%rw_data = ",
             version == 4 ? "jam_v1" : "latest64");
    for (unsigned i = 0; i < sizeof memory; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%02x", memory[i]);
    strcat(text, "\njump @start %size 5\njump @start %size 5\njump @start %size 5\n@start:\n");
    *gas = 1 + 6 + 1 + add_setup(text, sizeof text, row->setup, version);
    for (unsigned i = 0; i < 6; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s = 0x%" PRIx64 "\n",
                 registers[i], row->r[i]);
    snprintf(text + strlen(text), sizeof text - strlen(text), "ecalli %d\na0 = 0\na1 = 0\nret\n",
             number_in(row->call, version));
    penta_module *module = assembled("pvm", text);
    CHECK(penta_encode(module, &out, &err));
    penta_close(module);
    return out;
}

struct stage { /* A host with the state from which every call starts. */
    penta_jam_host *host;
    penta_jam_state *state;
    unsigned version;
    const char *engine;
    char line[1000]; /* the line of the last call */
};

static void jam_calls_called(void *user, uint32_t service, const char *line)
{
    struct stage *b = user;
    (void)service;
    snprintf(b->line, sizeof b->line, "%s", line);
}

/* Gives the service this code, available since slot 1. */
static void set_code(struct stage *b, uint32_t service, penta_bytes code, uint8_t *hash)
{
    static const uint8_t since[] = {1, 1, 0, 0, 0};
    uint8_t key[PENTA_JAM_KEY], record[89];
    penta_bytes old;
    penta_error err;
    penta_jam_hash(code, hash);
    penta_jam_account_key(service, key);
    if (!penta_jam_state_get(b->state, key, &old) || old.size > sizeof record) return;
    memcpy(record, old.data, old.size);
    memcpy(record + old.size - 88, hash, HASH);
    penta_jam_state_set(b->state, key, (penta_bytes){record, old.size}, &err);
    penta_jam_preimage_key(service, hash, key);
    penta_jam_state_set(b->state, key, code, &err);
    penta_jam_request_key(service, hash, (uint32_t)code.size, key);
    penta_jam_state_set(b->state, key, (penta_bytes){since, sizeof since}, &err);
}

static size_t package_of(uint8_t *out, uint32_t service, const uint8_t *hash)
{
    uint8_t *p = out;
    memset(out, 0, 400);
    put_bytes(p, service, 4);
    memcpy(p + 4, hash, HASH);
    p += 4 + 5 * HASH;
    put_bytes(p, 30, 4); /* the slot of the lookup anchor; then no prerequisites */
    p += 5;
    memcpy(p, "\2ab\3cde\1", 8); /* token, configuration, one item */
    p += 8;
    put_bytes(p, service, 4);
    memcpy(p + 4, hash, HASH);
    put_bytes(p + 36, gas_limit, 8);
    put_bytes(p + 44, 1000, 8);
    p += 54 + 1 + 2; /* no exports, payload, imports, extrinsics */
    return (size_t)(p - out);
}

static bool jam_calls_invoke(struct stage *b, const struct row *row, const uint8_t *hash,
                             penta_jam_result *out)
{
    penta_error err;
    uint8_t package[400], item[160] = {0};
    if (row->entry == AUTHORIZE || row->entry == REFINE) {
        penta_jam_package given = {.trace = {(const uint8_t *)"ok", 2}};
        given.encoded = (penta_bytes){package, package_of(package, row->service, hash)};
        if (row->entry == REFINE) return penta_jam_refine(b->host, b->state, &given, 0, out, &err);
        return penta_jam_is_authorized(b->host, b->state, &given, out, &err);
    }
    bool tagged = b->version > 1;
    penta_bytes items[1] = {{item, 140 + tagged}};
    penta_jam_accumulation input = {
        .slot = SLOT, .service = row->service, .gas = gas_limit, .items = items, .item_count = 1};
    if (row->entry == TRANSFERS) {
        items[0].size = 152;
        return penta_jam_on_transfer(b->host, b->state, &input, out, &err);
    }
    put_bytes(item + tagged + 130, 8, 1); /* a result of eight bytes */
    return penta_jam_accumulate(b->host, b->state, &input, out, &err);
}

static void count_change(void *user, const uint8_t *key, penta_bytes name,
                         const penta_bytes *before, const penta_bytes *now)
{
    (void)key, (void)name, (void)before, (void)now;
    ++*(unsigned *)user;
}

static uint32_t new_id(unsigned version, uint32_t service)
{
    uint8_t bytes[2 + HASH] = {0}, hash[HASH];
    uint64_t first = version < 2 ? 256 : 65536, drawn = 0;
    bytes[0] = (uint8_t)service;
    bytes[1 + HASH] = SLOT;
    penta_jam_hash((penta_bytes){bytes, sizeof bytes}, hash);
    for (unsigned i = 0; i < 4; i++) drawn |= (uint64_t)hash[i] << 8 * i;
    return (uint32_t)(first + drawn % (WIDE - first - 256));
}

static void run_row(struct stage *b, const struct row *row)
{
    unsigned before, changes = 0;
    uint64_t cost = row->cost == FREE ? 0 : row->cost ? row->cost : 10;
    bool authorizer = row->entry == AUTHORIZE;
    char want[100];
    uint8_t hash[HASH];
    penta_jam_result result = {0};
    penta_buffer file = program_of(row, b->version, &before);
    penta_bytes code = {file.data, file.size};
    snprintf(want, sizeof want, "%s", row->result);
    if (!strcmp(row->result, "$gas"))
        snprintf(want, sizeof want, "%" PRIu64,
                 (authorizer ? authorize_gas : gas_limit) - before - cost);
    if (!strcmp(row->result, "$id"))
        snprintf(want, sizeof want, "%" PRIu32, new_id(b->version, row->service));
    b->line[0] = 0;
    penta_jam_state_rollback(b->state);
    set_code(b, row->service, code, hash);
    bool ok = jam_calls_invoke(b, row, hash, &result);
    const char *got = strstr(b->line, "-> ");
    got = got ? got + 3 : "no call";
    bool panic = !strcmp(want, "panic"), oog = !strcmp(want, "out of gas");
    bool gas_known = b->version < 4;
    uint64_t used = oog ? gas_limit : before + cost + (panic ? 0 : 3);
    ok = ok && (!strcmp(got, want) || (b->version == 4 && !strcmp(row->result, "$gas")));
    ok = ok && result.exit == (panic ? PENTA_JAM_PANIC : oog ? PENTA_JAM_OUT_OF_GAS : 0);
    ok = ok && (!gas_known || result.gas_used == used);
    penta_jam_state_changes(b->state, count_change, &changes);
    unsigned own = 3; /* These are the record, the preimage and the request of the code. */
    if ((panic || oog) && changes != own && row->entry != TRANSFERS) ok = false;
    CHECK(ok,
          "%s %s entry %d service %u: %s; want %s and %" PRIu64 " gas, got exit %d, %" PRIu64
          " gas, %u changes",
          version_names[b->version], b->engine, row->entry, row->service, b->line, want, used,
          (int)result.exit, result.gas_used, changes);
    penta_jam_result_free(&result);
    penta_buffer_free(&file);
}

static void run_rows(struct stage *b)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (rows[i].versions & 1 << b->version) run_row(b, &rows[i]);
}

/* Checks that a call that an entry does not offer returns WHAT and costs ten. */
static void run_offers(struct stage *b)
{
    static const char *const unknown[] = {"28", "99", "101", "127", "128", "4000000000"};
    for (int entry = 1; entry <= TRANSFERS; entry *= 2) {
        if (entry == TRANSFERS && b->version > 1) continue;
        struct row row = {.entry = entry, .service = 7, .result = "WHAT"};
        for (unsigned i = 0; i < CALLS; i++) {
            row.call = calls[i].name;
            if (!(calls[i].entries & entry)) run_row(b, &row);
        }
        for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++) {
            row.call = unknown[i];
            run_row(b, &row);
        }
        row.call = b->version == 4 ? "129" : "27";
        run_row(b, &row);
    }
}

/* Runs every row again, with the memory that it names not accessible. */
static void run_ranges(struct stage *b)
{
    for (unsigned i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        if (!(row->versions & 1 << b->version) || !strcmp(row->result, "out of gas")) continue;
        for (unsigned k = 0; k < RANGES; k++) {
            const struct range *range = &ranges[k];
            if (!(range->versions & 1 << b->version) || strcmp(range->call, row->call)) continue;
            uint64_t size = range->size ? range->size : row->r[range->size_register - 7];
            if (range->most && size > range->most) size = range->most;
            if (!strcmp(range->call, "bless") && range->size_register) size *= 12;
            bool copied = range->write && strcmp(row->call, "peek") && strcmp(row->call, "invoke");
            if (!size || (copied && strtoull(row->result, NULL, 10) != size)) continue;
            if (copied && !strcmp(row->call, "info") && row->r[1] != ZEROS) continue;
            if (copied && !strcmp(row->call, "info") && row->r[2]) continue;
            const uint64_t places[] = {0x10000000,   END - size + 1,
                                       ZEROS + WIDE, WIDE - 1,
                                       UINT64_MAX,   range->write ? 0xfeff0000 : 0xffff};
            for (unsigned p = 0; p < sizeof places / sizeof *places; p++) {
                struct row broken = *row;
                broken.r[range->address - 7] = places[p];
                broken.result = "panic";
                bool prepaid = !strcmp(row->call, "transfer") && b->version < 3;
                broken.cost = prepaid ? 10 + row->r[2] : 10;
                run_row(b, &broken);
            }
            if (range->size_register && !range->most) {
                struct row broken = *row;
                broken.result = "panic";
                broken.r[range->size_register - 7] = UINT64_MAX;
                run_row(b, &broken);
                broken.r[range->size_register - 7] = WIDE;
                run_row(b, &broken);
            }
        }
    }
}

static void open_stage(struct stage *b, penta_bytes json, unsigned version, const char *engine)
{
    static const uint8_t wanted[] = {5, 6, 7, 8}, none[] = {0};
    penta_option options[] = {
        {"chain", "tiny"}, {"version", version_names[version]}, {"engine", engine}};
    uint8_t key[PENTA_JAM_KEY], hash[HASH];
    penta_error err = {0};
    *b = (struct stage){.version = version, .engine = engine};
    b->host = penta_jam_host_new((penta_bytes){0}, options, 3, &err);
    if (b->host) b->state = penta_jam_state_new(b->host, NULL, &err);
    REQUIRE(b->state && penta_jam_state_read(b->state, json, NULL, &err), "%s", err.message);
    penta_jam_hash((penta_bytes){wanted, 4}, hash);
    penta_jam_request_key(9, hash, 4, key);
    penta_jam_state_set(b->state, key, (penta_bytes){none, 1}, &err);
    penta_jam_state_commit(b->state, &err);
    penta_jam_on_call(b->host, jam_calls_called, b);
}

int main(int count, char **words)
{
    static const char *const engines[] = {"interp", "jit", "both"};
    if (count < 2) return 2;
    penta_bytes json = file_of(words[1]);
    for (unsigned version = 0; version < VERSIONS; version++)
        for (unsigned i = 0; i < 3; i++) {
            struct stage b;
            open_stage(&b, json, version, engines[i]);
            run_rows(&b);
            run_offers(&b);
            if (version != 0) run_ranges(&b);
            penta_jam_state_free(b.state);
            penta_jam_host_free(b.host);
        }
    file_free(json);
    return checks_end();
}
