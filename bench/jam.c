/* JAM services: the time of a service's accumulate, and of single host calls.
 *
 *     bench_jam SERVICE.jam */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "penta/jam.h"

enum { RUNS = 10000, SERVICE = 7 };

/* Processor time, which other processes on the machine do not change. */
static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static penta_bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return (penta_bytes){0};
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size + 1);
    size = fread(bytes, 1, size, file);
    fclose(file);
    return (penta_bytes){bytes, size};
}

static void put_bytes(uint8_t *p, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (uint8_t)(value >> 8 * i);
}

static void add_service(penta_jam_state *state, penta_bytes code)
{
    static const uint8_t since[] = {1, 0, 0, 0, 0};
    uint8_t key[PENTA_JAM_KEY], record[89] = {0}, hash[PENTA_JAM_HASH];
    penta_error err;
    penta_jam_hash(code, hash);
    memcpy(record + 1, hash, sizeof hash);
    put_bytes(record + 33, 1000000000, 8);
    penta_jam_account_key(SERVICE, key);
    penta_jam_state_set(state, key, (penta_bytes){record, sizeof record}, &err);
    penta_jam_preimage_key(SERVICE, hash, key);
    penta_jam_state_set(state, key, code, &err);
    penta_jam_request_key(SERVICE, hash, (uint32_t)code.size, key);
    penta_jam_state_set(state, key, (penta_bytes){since, sizeof since}, &err);
    penta_jam_state_commit(state, &err);
}

/* Seconds for so many runs; the state is the same for all. */
static double measure_run(const char *engine, penta_bytes code, unsigned runs, uint64_t gas,
                          penta_jam_result *result)
{
    penta_error err;
    penta_option options[] = {{"chain", "tiny"}, {"engine", engine}};
    penta_jam_host *host = penta_jam_host_new((penta_bytes){0}, options, 2, &err);
    penta_jam_state *state = penta_jam_state_new(host, NULL, &err);
    uint8_t item[143] = {0};
    penta_bytes items[1] = {{item, sizeof item}};
    add_service(state, code);
    put_bytes(item + 129, 10, 1); /* gas; then a result of 8 bytes, no trace */
    put_bytes(item + 131, 8, 1);
    penta_jam_accumulation input = {
        .slot = 50, .service = SERVICE, .gas = gas, .items = items, .item_count = 1};
    penta_jam_accumulate(host, state, &input, result, &err); /* prepares the program */
    double start = cpu_now();
    for (unsigned i = 0; i < runs; i++) {
        penta_jam_accumulate(host, state, &input, result, &err);
        penta_jam_state_rollback(state);
    }
    double took = cpu_now() - start;
    penta_jam_state_free(state);
    penta_jam_host_free(host);
    return took;
}

/* ---- single calls: a loop around one ecalli ---- */

static void print_finding(void *user, const penta_error *finding)
{
    (void)user;
    bench_die("assembling", finding->message);
}

/* A service that runs the body `count` times, as a file; free it. */
static penta_bytes loop_of(const char *body, unsigned count)
{
    char text[1000];
    penta_buffer out = {0};
    penta_error err;
    snprintf(text, sizeof text,
             "%%dialect = jam\n%%isa = latest64\n%%metadata = 00\n%%stack_size = 4096\n"
             "%%heap_pages = 2\n%%rw_data = 6b6579\n"
             "    trap\n    %%hole 00 00 00 00\n    s0 = %u\n    jump @again\n@again:\n%s"
             "    s0 = s0 - 1\n    jump @again if s0 != 0\n    a0 = 0\n    a1 = 0\n    ret\n",
             count, body);
    penta_module *module = penta_assemble((penta_bytes){(const uint8_t *)text, strlen(text)}, "pvm",
                                          NULL, 0, print_finding, NULL);
    if (!module || !penta_encode(module, &out, &err)) bench_die("assembling", "no program");
    penta_close(module);
    return (penta_bytes){out.data, out.size};
}

static void measure_calls(void)
{
    enum { COUNT = 20000, ROUNDS = 5 };
    static const struct {
        const char *name, *body;
    } rows[] = {
        {"none", ""},
        {"gas", "    ecalli 0\n"},
        {"fetch", "    a0 = 0x21000\n    a1 = 0\n    a2 = 134\n    a3 = 0\n    ecalli 1\n"},
        {"info", "    a0 = -1\n    a1 = 0x21000\n    a2 = 0\n    a3 = 96\n    ecalli 5\n"},
        {"write", "    a0 = 0x20000\n    a1 = 3\n    a2 = 0x20000\n    a3 = 3\n    ecalli 4\n"},
        {"read", "    a0 = -1\n    a1 = 0x20000\n    a2 = 3\n    a3 = 0x21000\n    a4 = 0\n"
                 "    a5 = 8\n    ecalli 3\n"},
        {"checkpoint", "    ecalli 17\n"},
    };
    double base = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        penta_bytes code = loop_of(rows[i].body, COUNT);
        double times[ROUNDS];
        penta_jam_result result = {0};
        for (unsigned k = 0; k < ROUNDS; k++)
            times[k] = measure_run("jit", code, 1, 10000000, &result);
        if (result.exit != PENTA_JAM_HALT) bench_die(rows[i].name, "did not halt");
        double took = bench_median(times, ROUNDS);
        if (i)
            printf("  %-12s %7.0f ns a call\n", rows[i].name, (took - base) / COUNT * 1e9);
        else
            base = took;
        penta_jam_result_free(&result);
        free((void *)code.data);
    }
}

int main(int count, char **words)
{
    static const char *const engines[] = {"interp", "jit"};
    printf("jam: host calls on compiled code, state in memory, processor time\n");
    measure_calls();
    penta_bytes code = count > 1 ? read_file(words[1]) : (penta_bytes){0};
    if (!code.data) return 0; /* the service is with the test data, which may be absent */
    printf("jam: %d times accumulate of %s\n", RUNS, words[1]);
    for (unsigned i = 0; i < 2; i++) {
        penta_jam_result result = {0};
        double took = measure_run(engines[i], code, RUNS, 1000000, &result);
        printf("  %-12s %7.3f s, %5.1f us each, %llu gas\n", engines[i], took, took / RUNS * 1e6,
               (unsigned long long)result.gas_used);
        penta_jam_result_free(&result);
    }
    free((void *)code.data);
    return 0;
}
