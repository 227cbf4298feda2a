/* Tests refinement and authorization on every engine, through penta/jam.h: the fib service, whose
 * export roots are known, and the null authorizer.
 *
 *     jam_refine FOLDER [all]      all: every known root instead of thirty */
#include "support.h"
#include "penta/jam.h"
#include <stdio.h>
#include <string.h>

enum { SERVICE = 15, HASH = PENTA_JAM_HASH };
static const uint64_t gas_limit = 1000000000;

static penta_bytes jam_file(const char *folder, const char *name)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_of(path);
}

/* Adds an account with this code, available since slot 0. */
static void add_service(penta_jam_state *state, penta_bytes code, uint8_t *hash)
{
    static const uint8_t since[] = {1, 0, 0, 0, 0};
    uint8_t key[PENTA_JAM_KEY], record[89] = {0};
    penta_error err;
    penta_jam_hash(code, hash);
    memcpy(record + 1, hash, HASH);
    put_bytes(record + 33, 1000000000, 8);
    penta_jam_account_key(SERVICE, key);
    penta_jam_state_set(state, key, (penta_bytes){record, sizeof record}, &err);
    penta_jam_preimage_key(SERVICE, hash, key);
    penta_jam_state_set(state, key, code, &err);
    penta_jam_request_key(SERVICE, hash, (uint32_t)code.size, key);
    penta_jam_state_set(state, key, (penta_bytes){since, sizeof since}, &err);
}

/* Makes a package of one item with four bytes of payload. */
static size_t make_package(uint8_t *out, const uint8_t *auth, const uint8_t *code, uint32_t n)
{
    uint8_t *p = put_bytes(out, SERVICE, 4);
    memcpy(p, auth, HASH);
    memset(p + HASH, 0, 4 * HASH);
    p = put_bytes(p + 5 * HASH, 10, 4); /* the slot of the lookup anchor */
    p = put_bytes(p, 0, 1);             /* no prerequisites */
    p = put_bytes(p, 0, 1);             /* no token */
    p = put_bytes(p, 0, 1);             /* no configuration */
    p = put_bytes(p, 1, 1);
    p = put_bytes(p, SERVICE, 4);
    memcpy(p, code, HASH);
    p = put_bytes(p + HASH, gas_limit, 8);
    p = put_bytes(p, 1000, 8);
    p = put_bytes(p, n, 2);
    p = put_bytes(p, 4, 1);
    p = put_bytes(p, n, 4);
    p = put_bytes(p, 0, 2); /* no imports, no extrinsics */
    return (size_t)(p - out);
}

static void root_of(penta_bytes roots, unsigned n, char *text)
{
    const char *at = (const char *)roots.data;
    for (unsigned i = 0; at && i <= n; i++) at = strstr(at + 2, "\"0x");
    snprintf(text, 65, "%.64s", at ? at + 3 : "");
}

static void run_engine(const char *engine, const char *folder, bool all)
{
    penta_error err;
    penta_option options[] = {{"chain", "tiny"}, {"engine", engine}};
    penta_jam_host *host = penta_jam_host_new((penta_bytes){0}, options, 2, &err);
    penta_jam_state *state = penta_jam_state_new(host, NULL, &err);
    penta_bytes bare = jam_file(folder, "fib.pvm"), null = jam_file(folder, "null-authorizer.jam"),
                roots = jam_file(folder, "fib-roots.json");
    penta_buffer fib = {0};
    penta_buffer_append(&fib, (penta_bytes){(const uint8_t *)"", 1}); /* no metadata */
    penta_buffer_append(&fib, bare);
    uint8_t fib_hash[HASH], null_hash[HASH], package[1000], root[HASH];
    add_service(state, null, null_hash);
    add_service(state, view_of(&fib), fib_hash);
    penta_jam_result result = {0};
    for (unsigned i = 0; i < (all ? 3072 : 30); i++) {
        unsigned n = all ? i + 1 : i < 20 ? i + 1 : (i - 19) * (i - 19) * 5;
        char want[65], got[65];
        penta_jam_package given = {.core = 0};
        given.encoded = (penta_bytes){package, make_package(package, null_hash, fib_hash, n)};
        bool ok = penta_jam_refine(host, state, &given, 0, &result, &err);
        CHECK(ok && result.exit == PENTA_JAM_HALT, "%s: fib halts for %u", engine, n);
        CHECK(ok && result.exports.size == (size_t)n * PENTA_JAM_SEGMENT, "%s: segments of fib %u",
              engine, n);
        penta_jam_segments_root(view_of(&result.exports), root);
        for (unsigned k = 0; k < HASH; k++) snprintf(got + 2 * k, 3, "%02x", root[k]);
        root_of(roots, n, want);
        CHECK(!strcmp(want, got), "%s: root of fib %u", engine, n);
    }
    penta_jam_package given = {.core = 0};
    given.encoded = (penta_bytes){package, make_package(package, null_hash, fib_hash, 1)};
    bool ok = penta_jam_is_authorized(host, state, &given, &result, &err);
    CHECK(ok && result.exit == PENTA_JAM_HALT && result.gas_used == 3 && !result.output.size,
          "%s: null authorizer, core %d", engine, 0);
    given.encoded = (penta_bytes){package, make_package(package, fib_hash, root, 1)};
    ok = penta_jam_refine(host, state, &given, 0, &result, &err);
    CHECK(ok && result.exit == PENTA_JAM_NO_CODE && !result.gas_used, "%s: missing code %d", engine,
          1);
    penta_jam_result_free(&result);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
    penta_buffer_free(&fib);
    file_free(bare);
    file_free(null);
    file_free(roots);
}

int main(int count, char **words)
{
    static const char *const engines[] = {"interp", "jit", "both"};
    if (count < 2) return 2;
    for (unsigned i = 0; i < 3; i++)
        run_engine(engines[i], words[1], count > 2 && !strcmp(words[2], "all"));
    return checks_end();
}
