/* For hosts without threads: no pool can be started, and a product has all its rows computed by its caller. */
#include "tvmr/kernels/kernels.h"

struct tvmr_pool *tvmr_pool_new(unsigned threads) { return (void)threads, NULL; }
void tvmr_pool_free(struct tvmr_pool *pool) { (void)pool; }

void tvmr_pool_rows(struct tvmr_pool *pool, tvmr_kernel *kernel, const struct tvmr_weights *w,
                    const struct tvmr_input *in, int32_t *out)
{
    (void)pool;
    kernel(w, in, 0, w->rows, out);
}
