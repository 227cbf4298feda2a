/* Runs random programs on the interpreter and the compiler and compares.
 *
 *     coil_differ [--seconds N] [--seed S] [--first N] [--count N] [--print]
 *
 * Program number n of a seed is always the same: what failed is printed again by --seed S --first N
 * --count 1 --print. Exit status 0: no difference; 1: a difference, or a hang; 77: no compiler. */
#include "coil_programs.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HANG_SECONDS = 20 };

static uint64_t seed, number;

static void on_alarm(int signal)
{
    (void)signal;
    fprintf(stderr, "a program hangs: coil_differ --seed %llu --first %llu --count 1 --print\n",
            (unsigned long long)seed, (unsigned long long)number);
    _exit(1);
}

int main(int argc, char **argv)
{
    uint64_t count = 1000, first = 0, seconds = 0, ran = 0, valid = 0;
    bool print = false;
    for (int i = 1; i < argc; i++) {
        uint64_t *to = !strcmp(argv[i], "--seed")      ? &seed
                       : !strcmp(argv[i], "--first")   ? &first
                       : !strcmp(argv[i], "--count")   ? &count
                       : !strcmp(argv[i], "--seconds") ? &seconds
                                                       : NULL;
        if (!strcmp(argv[i], "--print"))
            print = true;
        else if (to && i + 1 < argc)
            *to = strtoull(argv[++i], NULL, 0);
    }
    time_t end = time(NULL) + (time_t)seconds;
    if (seconds) count = UINT64_MAX;
    signal(SIGALRM, on_alarm);
    for (number = first; number - first < count && (!seconds || time(NULL) < end); number++) {
        struct writer w = {0};
        char note[160];
        bool okay;
        struct coil_choices c = {.state = (seed * UINT64_C(0x9E3779B97F4A7C15)) ^
                                          (number * UINT64_C(0xBF58476D1CE4E5B9))};
        coil_program_write(&c, &w);
        if (print) fwrite(w.out.data, 1, w.out.size, stdout);
        alarm(HANG_SECONDS);
        const char *wrong = coil_trial(writer_view(&w), &okay, note, sizeof note);
        alarm(0);
        writer_free(&w);
        valid += okay;
        ran++;
        if (print) printf("; %s\n", note);
        if (!wrong) continue;
        fprintf(stderr, "%s: %s\nagain: coil_differ --seed %llu --first %llu --count 1 --print\n",
                wrong, note, (unsigned long long)seed, (unsigned long long)number);
        return 1;
    }
    printf("%llu programs, %llu of them valid\n", (unsigned long long)ran,
           (unsigned long long)valid);
    return valid ? 0 : 77;
}
