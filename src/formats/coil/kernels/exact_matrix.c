/* Computes determinants and inverses of integer matrices exactly (exact_matrix.h). The
 * determinant is computed modulo 2^64, the inverse with numbers of any size: every element is
 * exact before it is reduced to 64 bits. */
#include "coil/kernels/exact_matrix.h"
#include <stdlib.h>
#include <string.h>
#include "base/u128.h"

/* Returns 1 / odd modulo 2^64. Each round doubles the number of correct bits, which is 3 at the
 * start. */
static uint64_t odd_inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 5; i++) x *= 2 - odd * x;
    return x;
}

/* Does Gauss elimination with integers modulo 2^64, where odd numbers have inverses. The pivot
 * is the element of the column with the fewest factors of two, because it divides all others. */
enum coil_exact coil_exact_determinant(uint64_t *a, unsigned n, struct coil_exact_poll poll,
                                       uint64_t *out)
{
    uint64_t determinant = 1;
    for (unsigned c = 0; c < n; c++) {
        if (poll_work(poll.poll, poll.flag, n)) return COIL_EXACT_INTERRUPTED;
        unsigned pivot = c, twos = 64;
        for (unsigned r = c; r < n; r++) {
            uint64_t value = a[(size_t)r * n + c];
            unsigned own = value ? (unsigned)__builtin_ctzll(value) : 64;
            if (own >= twos) continue;
            twos = own;
            pivot = r;
        }
        if (twos == 64) {
            *out = 0;
            return COIL_EXACT_DONE;
        }
        uint64_t *top = a + (size_t)c * n, *found = a + (size_t)pivot * n;
        for (unsigned k = c; k < n && pivot != c; k++) {
            uint64_t kept = top[k];
            top[k] = found[k];
            found[k] = kept;
        }
        if (pivot != c) determinant = -determinant;
        determinant *= top[c];
        uint64_t unit = odd_inverse(top[c] >> twos);
        for (unsigned r = c + 1; r < n; r++) {
            uint64_t *row = a + (size_t)r * n, factor = (row[c] >> twos) * unit;
            if (poll_work(poll.poll, poll.flag, n / 16 + 1)) return COIL_EXACT_INTERRUPTED;
            for (unsigned k = c; k < n && factor; k++) row[k] -= factor * top[k];
        }
    }
    *out = determinant;
    return COIL_EXACT_DONE;
}

/* The functions below compute with numbers of any size, which are a sign and a magnitude. The
 * magnitude consists of 64-bit limbs, the lowest first. */

/* Fraction-free elimination needs only minors of [A | 1] and products of two of them. A minor
 * has at most n * (64 + log2(n) / 2) bits (Hadamard). */
enum { LIMBS = COIL_EXACT_ROWS + 3, PRODUCT = 2 * LIMBS };

struct number {
    uint32_t size; /* number of limbs in use; 0 for the number zero */
    bool negative;
    uint64_t limb[LIMBS];
};
struct product {
    uint32_t size;
    bool negative;
    uint64_t limb[PRODUCT];
};

static uint32_t exact_matrix_trimmed(const uint64_t *limb, uint32_t size)
{
    while (size && !limb[size - 1]) size--;
    return size;
}

static void exact_matrix_multiply(struct product *to, const struct number *x,
                                  const struct number *y)
{
    memset(to->limb, 0, (x->size + y->size) * sizeof *to->limb);
    for (uint32_t i = 0; i < x->size; i++) {
        uint64_t carry = 0;
        for (uint32_t k = 0; k < y->size; k++) {
            u128 sum = u128_add(u128_product(x->limb[i], y->limb[k]), u128_of(to->limb[i + k]));
            sum = u128_add(sum, u128_of(carry));
            to->limb[i + k] = u128_low(sum);
            carry = u128_high(sum);
        }
        to->limb[i + y->size] = carry;
    }
    to->size = x->size && y->size ? exact_matrix_trimmed(to->limb, x->size + y->size) : 0;
    to->negative = x->negative != y->negative;
}

static int exact_matrix_compare(const uint64_t *x, uint32_t xs, const uint64_t *y, uint32_t ys)
{
    if (xs != ys) return xs < ys ? -1 : 1;
    while (xs-- > 0)
        if (x[xs] != y[xs]) return x[xs] < y[xs] ? -1 : 1;
    return 0;
}

/* Computes x -= y. x must not be less than y. */
static uint32_t limbs_subtract(uint64_t *x, uint32_t xs, const uint64_t *y, uint32_t ys)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < xs; i++) {
        uint64_t other = i < ys ? y[i] : 0, left = x[i] - other - borrow;
        borrow = x[i] < other || (x[i] == other && borrow);
        x[i] = left;
    }
    return exact_matrix_trimmed(x, xs);
}

static void exact_matrix_subtract(struct product *x, struct product *y)
{
    if (x->negative == y->negative) {
        bool swap = exact_matrix_compare(x->limb, x->size, y->limb, y->size) < 0;
        struct product *large = swap ? y : x, *small = swap ? x : y;
        uint32_t size = limbs_subtract(large->limb, large->size, small->limb, small->size);
        if (swap) memcpy(x->limb, y->limb, size * sizeof *x->limb);
        x->negative = x->negative != swap;
        x->size = size;
        return;
    }
    uint32_t most = x->size > y->size ? x->size : y->size;
    uint64_t carry = 0;
    for (uint32_t i = 0; i < most; i++) {
        u128 sum =
            u128_add(u128_of(i < x->size ? x->limb[i] : 0), u128_of(i < y->size ? y->limb[i] : 0));
        sum = u128_add(sum, u128_of(carry));
        x->limb[i] = u128_low(sum);
        carry = u128_high(sum);
    }
    if (carry && most < PRODUCT) x->limb[most++] = carry;
    x->size = most;
}

/* Computes to = x / y, which must leave no remainder, and destroys x. It begins at the low end,
 * where each limb of the quotient can be computed without guessing. */
static void number_divide_exactly(struct number *to, struct product *x, const struct number *y)
{
    uint32_t skip = 0, size = x->size >= y->size ? x->size - y->size + 1 : 0;
    /* `skip` is the number of low limbs of y that are zero. The low limbs of x are zero too. */
    while (!y->limb[skip]) skip++;
    unsigned twos = (unsigned)__builtin_ctzll(y->limb[skip]);
    uint64_t odd[LIMBS];
    uint32_t ys = y->size - skip;
    for (uint32_t i = 0; i < ys; i++)
        odd[i] = y->limb[skip + i] >> twos |
                 (twos && i + 1 < ys ? y->limb[skip + i + 1] << (64 - twos) : 0);
    uint64_t *r = x->limb + skip, unit = odd_inverse(odd[0]);
    uint32_t rs = x->size - (x->size ? skip : 0);
    for (uint32_t i = 0; i < rs; i++)
        r[i] = r[i] >> twos | (twos && i + 1 < rs ? r[i + 1] << (64 - twos) : 0);
    for (uint32_t i = 0; i < size; i++) {
        uint64_t q = r[i] * unit, carry = 0, borrow = 0;
        to->limb[i] = q;
        for (uint32_t k = 0; i + k < rs && (k < ys || carry || borrow); k++) {
            u128 part = u128_add(u128_product(q, k < ys ? odd[k] : 0), u128_of(carry));
            uint64_t low = u128_low(part), left = r[i + k] - low - borrow;
            borrow = r[i + k] < low || (r[i + k] == low && borrow);
            carry = u128_high(part);
            r[i + k] = left;
        }
    }
    to->size = exact_matrix_trimmed(to->limb, size);
    to->negative = to->size && x->negative != y->negative;
}

/* Returns x / y, rounded toward zero, modulo 2^64. It works bit by bit, which is slow, but is
 * used only once per element. */
static uint64_t exact_matrix_quotient(const struct number *x, const struct number *y)
{
    uint64_t rest[LIMBS + 1] = {0}, result = 0;
    uint32_t size = 0;
    if (exact_matrix_compare(x->limb, x->size, y->limb, y->size) < 0) return 0;
    for (uint32_t bit = x->size * 64; bit-- > 0;) {
        uint64_t in = x->limb[bit / 64] >> bit % 64 & 1;
        for (uint32_t i = 0; i < size; i++) {
            uint64_t out = rest[i] >> 63;
            rest[i] = rest[i] << 1 | in;
            in = out;
        }
        if (in) rest[size++] = in;
        result <<= 1;
        if (exact_matrix_compare(rest, size, y->limb, y->size) < 0) continue;
        size = limbs_subtract(rest, size, y->limb, y->size);
        result |= 1;
    }
    return x->negative == y->negative ? result : -result;
}

static struct number number_of(uint64_t value, bool is_unsigned)
{
    struct number x = {.size = value != 0, .negative = !is_unsigned && (int64_t)value < 0};
    x.limb[0] = x.negative ? -value : value;
    return x;
}

static void swap_rows(struct number *m, unsigned width, unsigned a, unsigned b)
{
    for (unsigned k = 0; k < width && a != b; k++) {
        struct number kept = m[a * width + k];
        m[a * width + k] = m[b * width + k];
        m[b * width + k] = kept;
    }
}

/* These are the amounts of work for multiplying and dividing two of these numbers: some
 * nanoseconds for each pair of limbs. */
enum { ELEMENT_WORK = LIMBS * LIMBS / 8, QUOTIENT_WORK = LIMBS * LIMBS * 2 };

/* Does the step of fraction-free Gauss-Jordan elimination for one column: x = (pivot * x - head
 * * top) / the previous pivot. Returns false if it was interrupted. */
static bool clear_column(struct number *m, unsigned n, unsigned c, const struct number *before,
                         struct coil_exact_poll poll)
{
    struct product left, right;
    const struct number *top = m + (size_t)c * 2 * n, *pivot = top + c;
    for (unsigned r = 0; r < n; r++) {
        struct number *row = m + (size_t)r * 2 * n, head = row[c];
        if (poll_work(poll.poll, poll.flag, 2 * n * ELEMENT_WORK)) return false;
        for (unsigned k = c + 1; k < 2 * n && r != c; k++) {
            if (!row[k].size && !(head.size && top[k].size)) continue;
            exact_matrix_multiply(&left, pivot, &row[k]);
            exact_matrix_multiply(&right, &head, &top[k]);
            exact_matrix_subtract(&left, &right);
            number_divide_exactly(&row[k], &left, before);
        }
    }
    return true;
}

/* Turns [A | 1] into [d | d / A]. d is the determinant except for its sign. */
enum coil_exact coil_exact_inverse(const uint64_t *a, unsigned n, bool is_unsigned,
                                   struct coil_exact_poll poll, uint64_t *out)
{
    enum coil_exact done = COIL_EXACT_DONE;
    unsigned width = 2 * n;
    struct number *m = calloc((size_t)n * width, sizeof *m), before = number_of(1, true);
    if (!m) return COIL_EXACT_NO_MEMORY;
    for (unsigned r = 0; r < n; r++) {
        for (unsigned k = 0; k < n; k++) m[r * width + k] = number_of(a[r * n + k], is_unsigned);
        m[r * width + n + r] = before;
    }
    for (unsigned c = 0; c < n; c++) {
        unsigned pivot = c;
        while (pivot < n && !m[pivot * width + c].size) pivot++;
        if (pivot == n) {
            free(m);
            return COIL_EXACT_SINGULAR;
        }
        swap_rows(m, width, c, pivot);
        if (!clear_column(m, n, c, &before, poll)) {
            free(m);
            return COIL_EXACT_INTERRUPTED;
        }
        before = m[c * width + c];
    }
    for (unsigned i = 0; i < n * n && done == COIL_EXACT_DONE; i++)
        if (poll_work(poll.poll, poll.flag, QUOTIENT_WORK))
            done = COIL_EXACT_INTERRUPTED;
        else
            out[i] = exact_matrix_quotient(&m[i / n * width + n + i % n], &before);
    free(m);
    return done;
}
