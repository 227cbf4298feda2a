/* The loops of elements.def for one instruction set: TARGET and SET(name) say which. No include
 * guard: elements.c includes it once for each. */

#define UNARY(name, expression)                                                                    \
    TARGET static void SET(name)(int32_t *restrict r, const int32_t *restrict x, size_t n,         \
                                 int32_t p, int32_t q)                                             \
    {                                                                                              \
        (void)p, (void)q;                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            int32_t v = x[i];                                                                      \
            r[i] = expression;                                                                     \
        }                                                                                          \
    }
#define BINARY(name, expression)                                                                   \
    TARGET static void SET(name)(int32_t *restrict r, const int32_t *x, const int32_t *y,          \
                                 size_t n)                                                         \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            int32_t a = x[i], b = y[i];                                                            \
            r[i] = expression;                                                                     \
        }                                                                                          \
    }
#include "tvmr/elements.def"

/* A value is at most 128 * 255, whatever bytes the polarity has: the product fits 32 bits. */
TARGET static void SET(bias)(int32_t *restrict r, const int32_t *restrict x,
                             const struct tvmr_signal *restrict w, size_t n, int32_t p)
{
    for (size_t i = 0; i < n; i++) {
        int32_t b = w[i].polarity * w[i].magnitude * p;
        r[i] = saturate(x[i], b, (uint32_t)x[i] + (uint32_t)b);
    }
}

TARGET static int32_t SET(largest)(const int32_t *x, size_t n)
{
    int32_t m = n ? x[0] : 0;
    for (size_t i = 1; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

TARGET static int64_t SET(total)(const int32_t *x, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

TARGET static int64_t SET(dot)(const int32_t *x, const int32_t *y, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)((int64_t)x[i] * y[i]);
    return (int64_t)sum;
}

static const struct tvmr_elements SET(loops) = {
#define UNARY(name, ...) .name = SET(name),
#define BINARY(name, ...) .name = SET(name),
#include "tvmr/elements.def"
    .bias = SET(bias), .largest = SET(largest), .total = SET(total), .dot = SET(dot)};
