/* Shows that a long command still works, from a thread of its own, in one line that is erased
 * again. */
#include "cli/terminal/progress.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 500, TICK_MS = 200 };

struct progress {
    const char *what;
    bool working;
    struct timespec start;
    uint64_t cpu_ms; /* processor time of the process at the tick before */
    atomic_size_t passed, failed;
    char text[300]; /* the text to show instead of word and numbers; the lock guards it */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool over, shown, in_line;
};

static uint64_t ms_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void progress_put(const char *text, size_t size)
{
    /* A failure is ignored, because the line is not important. */
    if (write(STDERR_FILENO, text, size) < 0) return;
}

static void progress_erase(struct progress *p)
{
    if (p->shown) progress_put("\r\033[K", 4);
    p->shown = false;
}

static void progress_show(struct progress *p, uint64_t seconds)
{
    char line[340];
    size_t passed = atomic_load(&p->passed), failed = atomic_load(&p->failed);
    int n = snprintf(line, sizeof line, "\r\033[K%s, %llu s", p->what, (unsigned long long)seconds);
    if (passed || failed)
        n = snprintf(line, sizeof line, "\r\033[K%s: %zu passed, %zu failed, %llu s", p->what,
                     passed, failed, (unsigned long long)seconds);
    if (*p->text) n = snprintf(line, sizeof line, "\r\033[K%s", p->text);
    progress_put(line, (size_t)n);
    p->shown = true;
}

static void progress_tick(struct progress *p)
{
    uint64_t cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID), now = ms_of(CLOCK_MONOTONIC);
    uint64_t start = (uint64_t)p->start.tv_sec * 1000 + (uint64_t)p->start.tv_nsec / 1000000;
    bool idle = p->working && cpu - p->cpu_ms < TICK_MS / 10;
    p->cpu_ms = cpu;
    if (p->in_line || idle)
        progress_erase(p);
    else if (now - start >= FIRST_MS)
        progress_show(p, (now - start) / 1000);
}

static void *progress_watch(void *user)
{
    struct progress *p = user;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += TICK_MS * 1000000L;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->ended, &p->lock, &next);
        if (!p->over) progress_tick(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool progress_start(struct progress *p)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    clock_gettime(CLOCK_MONOTONIC, &p->start);
    p->cpu_ms = ms_of(CLOCK_PROCESS_CPUTIME_ID);
    sigfillset(&all); /* Signals are for the thread that works. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = !pthread_create(&p->thread, NULL, progress_watch, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void progress_discard(struct progress *p)
{
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->ended);
    free(p);
}

void progress_begin(struct cli *c, const char *what, bool working)
{
    const char *term = getenv("TERM");
    if (c->progress || c->value[OPT_QUIET] || !isatty(STDERR_FILENO)) return;
    if (!term || !strcmp(term, "dumb")) return;
    struct progress *p = calloc(1, sizeof *p);
    if (!p) return;
    p->what = what;
    p->working = working;
    if (progress_start(p))
        c->progress = p;
    else
        progress_discard(p);
}

void progress_count(struct cli *c, size_t passed, size_t failed)
{
    if (!c->progress) return;
    atomic_store(&c->progress->passed, passed);
    atomic_store(&c->progress->failed, failed);
}

void progress_text(struct cli *c, const char *text)
{
    if (!c->progress) return;
    pthread_mutex_lock(&c->progress->lock);
    snprintf(c->progress->text, sizeof c->progress->text, "%s", text);
    pthread_mutex_unlock(&c->progress->lock);
}

void progress_end(struct cli *c)
{
    struct progress *p = c->progress;
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    progress_erase(p);
    p->over = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    c->progress = NULL;
    progress_discard(p);
}

void progress_hold(const struct cli *c)
{
    if (!c->progress) return;
    pthread_mutex_lock(&c->progress->lock);
    progress_erase(c->progress);
}

void progress_release(const struct cli *c, bool in_line)
{
    if (!c->progress) return;
    c->progress->in_line = in_line;
    pthread_mutex_unlock(&c->progress->lock);
}
