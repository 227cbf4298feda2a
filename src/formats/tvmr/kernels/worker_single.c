/* Replaces worker_threads.c on hosts without threads. No pool can be started there, so the
 * caller computes all rows. */
#include "tvmr/kernels/kernels.h"

struct tvmr_pool *tvmr_pool_new(unsigned threads) { return (void)threads, NULL; }
void tvmr_pool_free(struct tvmr_pool *pool) { (void)pool; }

void tvmr_pool_rows(struct tvmr_pool *pool, const struct tvmr_job *job)
{
    (void)pool;
    job->kernel(job->weights, job->input, job->from, job->to, job->out);
}
