/* Inputs in the forms of kernels.h. Each instruction set's file includes this with its own TARGET:
 * loops without branches over whole blocks of 32 columns, which compilers turn into vector code. */

/* Bits that some element needs besides its sign, and the sum of all. */
TARGET static uint32_t input_range(const int32_t *x, size_t count, int64_t *sum)
{
    uint32_t all = 0;
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        all |= (uint32_t)(x[i] ^ x[i] >> 31);
        total += x[i];
    }
    *sum = total;
    return all;
}

/* One byte of every element, with some bits flipped; a missing element is 0, columns behind the
 * last have no weight. */
TARGET static void byte_plane(const int32_t *x, size_t count, unsigned shift, uint8_t flip,
                              uint8_t *plane, size_t stride)
{
    for (size_t i = 0; i < count; i++)
        plane[i] = (uint8_t)((uint32_t)x[i] >> shift) ^ flip;
    memset(plane + count, flip, stride - count);
}

/* Numbers as 16-bit parts: themselves, or the upper half and the lower one flipped. */
TARGET static void put_parts(const int32_t v[32], unsigned parts, int16_t *low, size_t high)
{
    if (parts == 1) {
        for (int i = 0; i < 32; i++)
            low[i] = (int16_t)v[i];
        return;
    }
    for (int i = 0; i < 32; i++) {
        low[i] = (int16_t)(v[i] ^ TVMR_PART_FLIP);
        low[high + (size_t)i] = (int16_t)(v[i] >> TVMR_PART_BITS);
    }
}

/* The four versions of 32 elements, 0 where the gate is shut. Conductances are multiples of 5, so
 * that |x| c / 255 with |x| = 51 q + r is q c' + r c' / 51 for c' = c / 5, in 32 bits. The rest b
 * of that division is kept as 65536 b / 255 rounded up: for |v| <= 255 the upper half of its
 * product with |v| is |v| b / 255. */
TARGET static void core_block(const int32_t x[32], unsigned parts, int16_t *block)
{
    uint32_t q[32], r[32], level[32];
    int16_t *rests = block + 128 * parts;
    for (int i = 0; i < 32; i++) {
        uint32_t magnitude = x[i] < 0 ? 0u - (uint32_t)x[i] : (uint32_t)x[i];
        q[i] = magnitude / 51;
        r[i] = magnitude - q[i] * 51;
        level[i] = magnitude;
        rests[96 + i] = (int16_t)((x[i] > 0) - (x[i] < 0));
    }
    for (unsigned t = 0; t < 4; t++) {
        uint32_t c = (uint32_t)tvmr_conductance[t] / 5, threshold = (uint32_t)tvmr_threshold[t];
        int32_t a[32];
        uint16_t b[32];
        for (int i = 0; i < 32; i++) {
            uint32_t n = r[i] * c, quotient = n * 20561 >> 20; /* n / 51 */
            uint32_t open = level[i] >= threshold ? UINT32_MAX : 0;
            uint32_t whole = (q[i] * c + quotient) & open, rest = (n - quotient * 51) & open;
            a[i] = (int32_t)(x[i] < 0 ? 0u - whole : whole);
            b[i] = (uint16_t)((rest * 65536 + 50) / 51); /* of 5 b by 255 */
        }
        put_parts(a, parts, block + 32 * t, 128);
        if (t) memcpy(rests + 32 * (t - 1), b, sizeof b);
    }
}

/* Here the gate looks at the low 8 bits of the magnitude, and weights are scaled already. */
TARGET static void extension_block(const int32_t x[32], unsigned parts, int16_t *block)
{
    for (unsigned t = 0; t < 4; t++) {
        uint32_t threshold = (uint32_t)tvmr_threshold[t];
        int32_t a[32];
        for (int i = 0; i < 32; i++) {
            uint32_t magnitude = x[i] < 0 ? 0u - (uint32_t)x[i] : (uint32_t)x[i];
            a[i] = (magnitude & 255) >= threshold ? x[i] : 0;
        }
        put_parts(a, parts, block + 32 * t, 128);
    }
}

TARGET static void input_fill(struct tvmr_input *in, const struct tvmr_weights *w, const int32_t *x,
                              size_t count)
{
    uint32_t all = input_range(x, count, &in->sum);
    if (w->form <= TVMR_FORM_NINE) {
        in->planes = all < 1u << 7 ? 1 : all < 1u << 15 ? 2 : all < 1u << 23 ? 3 : 4;
        for (unsigned k = 0; k < in->planes; k++)
            byte_plane(x, count, 8 * k, k + 1 < in->planes ? 0x80 : 0, in->bytes + k * in->stride,
                       in->stride);
        return;
    }
    in->planes = all < 1u << 15 ? 1 : 2;
    for (size_t at = 0; at < in->stride; at += 32) {
        int32_t last[32] = {0};
        bool whole = at + 32 <= count;
        if (!whole && at < count) memcpy(last, x + at, (count - at) * sizeof *x);
        const int32_t *from = whole ? x + at : last;
        if (w->form == TVMR_FORM_CORE)
            core_block(from, in->planes, in->parts + at * (4 * in->planes + 4));
        else if (w->form == TVMR_FORM_EXTENSION)
            extension_block(from, in->planes, in->parts + at * 4 * in->planes);
        else
            put_parts(from, in->planes, in->parts + at, in->stride);
    }
}
