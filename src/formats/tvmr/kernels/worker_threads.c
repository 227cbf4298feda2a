/* Runs the threads that share the rows of a product. Products take microseconds to milliseconds
 * and come one after another, so a worker waits a while for the next one before it sleeps. */
#include "tvmr/kernels/kernels.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS_MAX = 64, SPINS = 2000 };

struct tvmr_pool {
    unsigned workers; /* number of threads besides the caller */
    pthread_t threads[THREADS_MAX];
    struct tvmr_job job;
    atomic_uint round; /* the number of the current job; workers wait until it changes */
    atomic_uint done;  /* how many workers have finished the current job */
    atomic_bool quit;
    atomic_uint sleepers;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

struct worker {
    struct tvmr_pool *pool;
    unsigned index;
};

static inline void worker_relax(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Computes the share of one of n threads. A share consists of whole groups of eight rows. */
static void worker_share(const struct tvmr_job *j, unsigned index, unsigned n)
{
    size_t groups = (j->to - j->from + 7) / 8;
    size_t from = j->from + groups * index / n * 8, to = j->from + groups * (index + 1) / n * 8;
    if (to > j->to) to = j->to;
    if (from < to) j->kernel(j->weights, j->input, from, to, j->out);
}

static void worker_await(struct tvmr_pool *p, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&p->round, memory_order_acquire) != seen) return;
        worker_relax();
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleepers, 1);
    while (atomic_load(&p->round) == seen) pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->sleepers, 1);
    pthread_mutex_unlock(&p->lock);
}

static void *worker_work(void *argument)
{
    struct worker me = *(struct worker *)argument;
    struct tvmr_pool *p = me.pool;
    free(argument);
    for (unsigned seen = 0;; seen++) {
        worker_await(p, seen);
        if (atomic_load(&p->quit)) return NULL;
        worker_share(&p->job, me.index + 1, p->workers + 1);
        atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
    }
}

static void worker_announce(struct tvmr_pool *p)
{
    atomic_fetch_add(&p->round, 1);
    if (!atomic_load(&p->sleepers)) return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

struct tvmr_pool *tvmr_pool_new(unsigned threads)
{
    struct tvmr_pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    for (unsigned i = 0; i + 1 < threads && i < THREADS_MAX; i++) {
        struct worker *w = malloc(sizeof *w);
        if (!w) break;
        *w = (struct worker){p, i};
        if (pthread_create(&p->threads[i], NULL, worker_work, w)) {
            free(w);
            break;
        }
        p->workers++;
    }
    if (p->workers) return p;
    tvmr_pool_free(p);
    return NULL;
}

void tvmr_pool_free(struct tvmr_pool *p)
{
    if (!p) return;
    atomic_store(&p->quit, true);
    worker_announce(p);
    for (unsigned i = 0; i < p->workers; i++) pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void tvmr_pool_rows(struct tvmr_pool *p, const struct tvmr_job *job)
{
    p->job = *job;
    atomic_store(&p->done, 0);
    worker_announce(p);
    worker_share(&p->job, 0, p->workers + 1);
    for (unsigned i = 0; atomic_load_explicit(&p->done, memory_order_acquire) != p->workers; i++) {
        if (i < SPINS)
            worker_relax();
        else
            sched_yield(); /* A worker may be waiting for this processor. */
    }
}
