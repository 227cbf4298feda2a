/* Runs random programs on the interpreter and the compiler and compares.
 *
 *     pvm_differ [--seconds N] [--seed S] [--first N] [--count N] [--cover]
 *
 * Program number n of a seed is always the same: what failed is run again by --seed S --first N
 * --count 1. Exit status 0: no difference; 1: a difference, or a hang; 2: a wrong option; 3: with
 * --cover, some instruction or pattern was never executed; 77: no compiler for this host. */
#include "pvm_trial.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HANG_SECONDS = 20, REPORT_SECONDS = 60 };

static uint64_t seed, number;
static struct tally tally;

static void name_program(const char *what)
{
    fprintf(stderr, "%s\nagain: pvm_differ --seed %llu --first %llu --count 1\n", what,
            (unsigned long long)seed, (unsigned long long)number);
}

static void list(const struct program *p)
{
    fprintf(stderr, "isa %s, %u bytes:\n", pvm_isas[p->isa].name, (unsigned)p->size);
    for (uint32_t pc = 0; pc < p->size; pc++) {
        struct pvm_insn in;
        if (!pvm_starts(&p->view, pc)) continue;
        pvm_decode(&p->view, pc, &in);
        fprintf(stderr, "%5u  %-34s", pc, in.op ? pvm_ops[in.op].name : "invalid");
        fprintf(stderr, " a=%u b=%u d=%u imm=0x%llx,0x%llx target=%u\n", in.a, in.b, in.d,
                (unsigned long long)in.imm1, (unsigned long long)in.imm2, in.target);
    }
}

void trial_failed(const char *what, const struct program *p)
{
    fprintf(stderr, "does not hold: %s\n", what);
    list(p);
    name_program("the engines differ");
    _exit(1);
}

static void on_alarm(int signal)
{
    (void)signal;
    list(&trial_program);
    name_program("a program hangs");
    _exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Mixes the bits, so that programs with neighbouring numbers have nothing in common. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) | 1;
}

static uint64_t value_of(const char *text)
{
    char *end;
    unsigned long long v = text ? strtoull(text, &end, 0) : 0;
    if (!text || end == text || *end) {
        fprintf(stderr, "pvm_differ: '%s' is not a number\n", text ? text : "");
        exit(2);
    }
    return v;
}

int main(int argc, char **argv)
{
    uint64_t seconds = 0, first = 0, count = UINT64_MAX;
    bool cover = false;
    seed = (uint64_t)time(NULL);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--cover")) {
            cover = true;
            continue;
        }
        if (!strcmp(argv[i], "--seconds"))
            seconds = value_of(value);
        else if (!strcmp(argv[i], "--seed"))
            seed = value_of(value);
        else if (!strcmp(argv[i], "--first"))
            first = value_of(value);
        else if (!strcmp(argv[i], "--count"))
            count = value_of(value);
        else {
            fprintf(stderr, "pvm_differ [--seconds N] [--seed S] [--first N] [--count N] "
                            "[--cover]\n");
            return 2;
        }
        i++;
    }
    if (!seconds && count == UINT64_MAX) seconds = 60;
    printf("seed %llu\n", (unsigned long long)seed);
    signal(SIGALRM, on_alarm);
    double start = now(), said = start;
    for (number = first; number - first < count; number++) {
        struct choices c = {.state = mix(seed * UINT64_C(0x9e3779b97f4a7c15) + number)};
        if (number == first || !(number & 15)) alarm(HANG_SECONDS);
        if (!trial_run(&c, &tally)) {
            printf("no compiled code on this host\n");
            return 77;
        }
        double t = now();
        if (seconds && t - start >= (double)seconds) break;
        if (t - said < (double)REPORT_SECONDS) continue;
        said = t;
        printf("%.0f s, %llu programs\n", t - start, (unsigned long long)tally.programs);
        fflush(stdout);
    }
    alarm(0);
    unsigned missing = tally_print(&tally, stdout);
    printf("%llu programs, %llu machines, seed %llu, %.0f s, no difference\n",
           (unsigned long long)tally.programs, (unsigned long long)tally.machines,
           (unsigned long long)seed, now() - start);
    return cover && missing ? 3 : 0;
}
