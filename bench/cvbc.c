/* Containers: full verification of a signed file of 16 MiB against just the hashes that the format
 * needs on the same bytes; the machine on three programs; and compiling, signing and verifying a
 * small program. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/codec/checksum.h"
#include "bench.h"
#include "crypto/hash.h"
#include "cvbc/compile/compile.h"
#include "cvbc/vm/vm.h"

enum { ROUNDS = 9 };

static void ignore_finding(void *user, const penta_error *finding) { (void)user, (void)finding; }

static void build_file(struct cvbc_build *b, struct writer *out)
{
    penta_error err = {0};
    if (cvbc_build_write(b, out, &err)) return;
    fprintf(stderr, "%s\n", err.message);
    abort();
}

static void bench_verify(struct private_key *key)
{
    enum { STRINGS = 255, LENGTH = 65785 }; /* just below the 16 MiB that a section may have */
    struct cvbc_build b = {.sign_key = key};
    uint8_t *text = malloc(LENGTH);
    for (size_t i = 0; i < LENGTH; i++) text[i] = (uint8_t)(i * 7 % 251 + 1);
    for (int i = 0; i < STRINGS; i++) cvbc_build_string(&b, (penta_bytes){text, LENGTH - 5});
    cvbc_build_inst(&b, CVBC_OP_HALT, 0, 0);
    struct writer file = {0};
    build_file(&b, &file);
    double ours[ROUNDS], plain[ROUNDS];
    penta_bytes bytes = writer_view(&file);
    uint8_t digest[32];
    uint32_t sink = 0;
    for (int round = 0; round < ROUNDS; round++) {
        penta_error err = {0};
        double start = bench_now();
        hash_sha256(bytes, digest);
        sink += digest[0] + checksum_crc32(bytes);
        hash_sha256(bytes, digest);
        plain[round] = bench_now() - start;
        start = bench_now();
        penta_module *module = cvbc_parse(bytes, NULL, 0, &err);
        struct cvbc_module *m = (struct cvbc_module *)module;
        struct public_key trusted = *key_public_of(key);
        m->policy.trusted = malloc(sizeof trusted);
        *m->policy.trusted = trusted;
        m->policy.trusted_count = 1;
        m->policy.require_signature = true;
        if (cvbc_open(m)->failure.code) abort();
        ours[round] = bench_now() - start;
        penta_close(module);
    }
    if (sink == 1) puts(""); /* uses the result, so that the hashes are not optimised away */
    double mine = bench_median(ours, ROUNDS), floor = bench_median(plain, ROUNDS);
    printf("cvbc verify %.1f MiB, signed            %6.2f ms, two SHA-256 and a CRC %6.2f ms, "
           "ratio %.2f (goal 1.2)\n",
           (double)bytes.size / (1 << 20), mine * 1e3, floor * 1e3, mine / floor);
    writer_free(&file);
    cvbc_build_fini(&b);
    free(text);
}

/* Seconds of a run with hints. */
static double bench_machine(const char *name, const char *source)
{
    struct cvbc_build b = {0};
    struct writer debug = {0}, file = {0};
    struct findings f = {.rules = cvbc_rules, .report = ignore_finding};
    struct cvbc_compilation how = {.strip = true};
    penta_error err = {0};
    if (!cvbc_compile(bytes_of(source), &how, &b, &debug, &f)) abort();
    build_file(&b, &file);
    penta_module *module = cvbc_parse(writer_view(&file), NULL, 0, &err);
    double rates[2][ROUNDS]; /* with the hints that the compiler wrote; without */
    double steps = 0;
    bool proved = false;
    for (int round = 0; round < 2 * ROUNDS; round++) {
        const penta_option options[] = {{"budget", "4000000000"}, {"plain", "1"}};
        penta_vm *vm = penta_vm_new(module, NULL, options, round % 2 ? 2 : 1, NULL, &err);
        penta_stop stop;
        if (!vm) abort();
        proved = cvbc_vm(vm)->proved;
        double start = bench_cpu();
        penta_vm_run(vm, UINT64_MAX, &stop);
        steps = (double)stop.steps;
        rates[round % 2][round / 2] = (double)stop.steps / (bench_cpu() - start);
        if (stop.kind != PENTA_STOP_HALT) abort();
        penta_vm_free(vm);
    }
    double hinted = bench_median(rates[0], ROUNDS), plain = bench_median(rates[1], ROUNDS);
    printf("cvbc machine, %-22s   %6.0f million/s%s (goal 250), without hints %.0f, ratio %.2f\n",
           name, hinted * 1e-6, proved ? ", proved" : ", checked", plain * 1e-6, hinted / plain);
    penta_close(module);
    writer_free(&file);
    writer_free(&debug);
    cvbc_build_fini(&b);
    return steps / hinted;
}

static void bench_demo(struct private_key *key)
{
    static const char demo[] = "int n = 10;\nint square(int x) { return x * x; }\nvoid setup() {\n"
                               "  for (int i = 0; i < n; i++) printf(\"%d\\n\", square(i));\n}\n";
    double times[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct cvbc_build b = {.sign_key = key, .flags = CVBC_COMPRESSED};
        struct writer debug = {0}, file = {0};
        struct findings f = {.rules = cvbc_rules, .report = ignore_finding};
        struct cvbc_compilation how = {.file = "demo.ino"};
        penta_error err = {0};
        double start = bench_now();
        if (!cvbc_compile(bytes_of(demo), &how, &b, &debug, &f)) abort();
        b.debug = writer_view(&debug);
        build_file(&b, &file);
        penta_module *module = cvbc_parse(writer_view(&file), NULL, 0, &err);
        if (cvbc_open(cvbc_module(module))->failure.code) abort();
        times[round] = bench_now() - start;
        penta_close(module);
        writer_free(&file);
        writer_free(&debug);
        cvbc_build_fini(&b);
    }
    printf("cvbc compile, sign, verify             %6.2f ms    (goal 20)\n",
           bench_median(times, ROUNDS) * 1e3);
}

int main(void)
{
    penta_error err = {0};
    struct private_key *key = key_generate(KEY_ED25519, NULL, &err);
    if (!key) abort();
    bench_verify(key);
    bench_machine(
        "sum of globals",
        "int i; int s; void main() { i = 0; while (i < 5000000) { s = s + i; i = i + 1; } }");
    bench_machine(
        "sieve, nested loops",
        "int t[64]; int k; void main() { for (int r = 0; r < 20000; r++) { "
        "for (int i = 2; i < 64; i++) { t[i] = 0; } for (int i = 2; i < 8; i++) { if (!t[i]) { "
        "for (int j = i * i; j < 64; j += i) { t[j] = 1; } } } } }");
    bench_machine("calls", "int f(int a, int b) { return a + b; } void main() { int s = 0; "
                           "for (int i = 0; i < 2000000; i++) { s = f(s, i); } }");
    double loop = bench_machine("clearing an array",
                                "int t[64]; void main() { for (int r = 0; r < 20000; r++) "
                                "for (int i = 0; i < 64; i++) t[i] = 0; }");
    double unrolled = bench_machine("the same, unrolled by 4",
                                    "int t[64]; void main() { for (int r = 0; r < 20000; r++) "
                                    "for (int i = 0; i < 64; i += 4) { t[i] = 0; t[i + 1] = 0; t[i "
                                    "+ 2] = 0; t[i + 3] = 0; } }");
    printf("cvbc machine, time of the loop over the unrolled one %.2f\n", loop / unrolled);
    bench_demo(key);
    key_private_free(key);
    return 0;
}
