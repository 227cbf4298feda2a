/* COIL: assembling, decoding and validating; and the interpreter on three programs against the same
 * programs in C, compiled by the compiler of this build at -O0. The two alternate, and their
 * results are compared; prints medians and ratios.
 *
 *     bench_coil [ROUNDS [PROGRAM]] */
#include "base/file/file.h"
#include "base/writer.h"
#include "bench.h"
#include "penta/session.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 9, FUNCTIONS = 20000 };

/* A text of many small functions, as a compiler would write it. */
static void make_text(struct writer *w)
{
    writer_text(w, ".global main\n.func main\n    RET\n.endfunc\n");
    for (int i = 0; i < FUNCTIONS; i++)
        writer_print(w,
                     ".func f%d\n    VAR %%a, i64, %d\n    VAR %%b, i64\n    MOV %%b, v0\n.next:\n "
                     "   ADD %%b, %%a\n"
                     "    MUL %%a, %%b, 3\n    DEC %%a\n    CMP %%a, 10\n    BR GT, @.next\n    "
                     "MOV i32 [@word + %%a*4 + 8], 7\n"
                     "    MOV v0, %%b\n    RET\n.endfunc\n",
                     i, i);
    writer_text(w, ".data\nword:\n    .zero 64\n");
}

static void measure_tools(void)
{
    struct writer text = {0};
    double times[ROUNDS], decode[ROUNDS];
    size_t lines = 0, bytes = 0;
    make_text(&text);
    for (size_t i = 0; i < text.out.size; i++) lines += text.out.data[i] == '\n';
    for (int round = 0; round < ROUNDS; round++) {
        penta_error err = {0};
        penta_buffer file = {0};
        double start = bench_now();
        penta_module *m = penta_assemble(writer_view(&text), "coil", NULL, 0, NULL, NULL);
        times[round] = bench_now() - start;
        if (!m || !penta_encode(m, &file, &err)) bench_die("assemble", err.message);
        penta_close(m);
        start = bench_now();
        m = penta_open((penta_bytes){file.data, file.size}, "coil", NULL, 0, &err);
        bool valid = m && penta_validate(m, NULL, NULL);
        decode[round] = bench_now() - start;
        bytes = file.size;
        if (!valid) bench_die("decode", err.message);
        penta_close(m);
        penta_buffer_free(&file);
    }
    printf("coil assemble            %8.2f M lines/s\n",
           (double)lines / bench_median(times, ROUNDS) / 1e6);
    printf("coil decode+validate     %8.0f MB/s\n",
           (double)bytes / bench_median(decode, ROUNDS) / 1e6);
    writer_free(&text);
}

int coil_native(int argc, char **argv);
static const char *const programs[] = {"sieve", "fib", "matmul"}; /* numbered as in native.c */
enum { PROGRAMS = sizeof programs / sizeof *programs, ROUNDS_MAX = 99, RESULT = 64 };

/* The program prints its result, so standard output is a file while it runs. */
static double run_native(int which, char *result)
{
    char number[2] = {(char)('0' + which), 0}, *argv[] = {(char *)"native", number, NULL};
    FILE *file = tmpfile();
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    if (!file || kept < 0 || dup2(fileno(file), STDOUT_FILENO) < 0)
        bench_die("native", "no output file");
    double start = bench_now();
    coil_native(2, argv);
    double took = bench_now() - start;
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(file);
    result[fread(result, 1, RESULT - 1, file)] = 0;
    fclose(file);
    return took;
}

static double run_interp(const penta_module *m, const char *expected)
{
    penta_error err = {0};
    penta_stop stop;
    penta_buffer printed = {0};
    penta_session *s = penta_session_new(m, "interp", NULL, 0, NULL, &err);
    if (!s) bench_die("machine", err.message);
    double start = bench_now();
    penta_session_run(s, UINT64_MAX, &stop);
    double took = bench_now() - start;
    if (stop.kind != PENTA_STOP_HALT) bench_die("run", "did not halt");
    penta_session_output(s, &printed, NULL, &err);
    if (printed.size != strlen(expected) || memcmp(printed.data, expected, printed.size))
        bench_die("run", "another result than native code");
    penta_buffer_free(&printed);
    penta_session_free(s);
    return took;
}

/* The ratio of the medians. */
static double compare_native(int which, int rounds)
{
    double native[ROUNDS_MAX], interp[ROUNDS_MAX];
    char path[1024], expected[RESULT];
    penta_buffer text = {0};
    penta_error err = {0};
    snprintf(path, sizeof path, "%s/%s.casm", COIL_PROGRAMS, programs[which]);
    if (!file_read(path, 1 << 20, &text, &err)) bench_die(path, err.message);
    penta_module *m =
        penta_assemble((penta_bytes){text.data, text.size}, "coil", NULL, 0, NULL, NULL);
    if (!m) bench_die(path, "does not assemble");
    for (int round = 0; round < rounds; round++) {
        native[round] = run_native(which, expected);
        interp[round] = run_interp(m, expected);
    }
    double plain = bench_median(native, (size_t)rounds),
           ours = bench_median(interp, (size_t)rounds);
    printf("coil %-9s native -O0 %7.3f s   interp %7.3f s   %6.2f times\n", programs[which], plain,
           ours, ours / plain);
    fflush(stdout);
    penta_close(m);
    penta_buffer_free(&text);
    return ours / plain;
}

static void measure_machine(int rounds, const char *only)
{
    double sum = 0;
    int ran = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        if (only && strcmp(only, programs[i])) continue;
        sum += log(compare_native(i, rounds));
        ran++;
    }
    if (ran > 1)
        printf("coil geometric mean                                   %6.2f times\n",
               exp(sum / ran));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 3;
    if (argc < 3) measure_tools();
    measure_machine(rounds, argc > 2 ? argv[2] : NULL);
    return 0;
}
