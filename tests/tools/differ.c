/* Runs the loop of pvm_differ and coil_differ (differ.h). */
#include "differ.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HANG_SECONDS = 20, REPORT_SECONDS = 60, RUN_SECONDS = 60, NO_COMPILER = 77 };

static const struct differ *differ;
static uint64_t seed, number;

void differ_failed(const char *what)
{
    fprintf(stderr, "%s\nagain: %s --seed %llu --first %llu --count 1 %s\n", what, differ->name,
            (unsigned long long)seed, (unsigned long long)number, differ->flag);
    _exit(1);
}

static void on_alarm(int signal)
{
    (void)signal;
    if (differ->show) differ->show();
    differ_failed("a program hangs");
}

static uint64_t value_of(const char *text)
{
    char *end;
    unsigned long long v = text ? strtoull(text, &end, 0) : 0;
    if (!text || end == text || *end) {
        fprintf(stderr, "%s: '%s' is not a number\n", differ->name, text ? text : "");
        exit(2);
    }
    return v;
}

int differ_run(const struct differ *d, int argc, char **argv, bool *flag)
{
    uint64_t seconds = 0, first = 0, count = UINT64_MAX, ran = 0;
    struct {
        const char *name;
        uint64_t *value;
    } options[] = {
        {"--seconds", &seconds}, {"--seed", &seed}, {"--first", &first}, {"--count", &count}};
    enum { OPTIONS = sizeof options / sizeof *options };
    differ = d;
    seed = (uint64_t)time(NULL);
    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        while (k < OPTIONS && strcmp(argv[i], options[k].name)) k++;
        if (k < OPTIONS) {
            *options[k].value = value_of(argv[++i]);
        } else if (!strcmp(argv[i], d->flag)) {
            *flag = true;
        } else {
            fprintf(stderr, "%s [--seconds N] [--seed S] [--first N] [--count N] [%s]\n", d->name,
                    d->flag);
            return 2;
        }
    }
    if (!seconds && count == UINT64_MAX) seconds = RUN_SECONDS;
    printf("seed %llu\n", (unsigned long long)seed);
    signal(SIGALRM, on_alarm);
    time_t start = time(NULL), said = start;
    for (number = first; ran < count; number++) {
        alarm(HANG_SECONDS);
        if (!d->trial(seed, number, *flag)) {
            printf("no compiled code on this host\n");
            return NO_COMPILER;
        }
        alarm(0);
        ran++;
        time_t now = time(NULL);
        if (seconds && (uint64_t)(now - start) >= seconds) break;
        if (now - said < REPORT_SECONDS) continue;
        said = now;
        printf("%ld s, %llu programs\n", (long)(now - start), (unsigned long long)ran);
        fflush(stdout);
    }
    printf("%llu programs, seed %llu, %ld s, no difference\n", (unsigned long long)ran,
           (unsigned long long)seed, (long)(time(NULL) - start));
    return 0;
}
