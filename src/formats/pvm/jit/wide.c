/* The passes of ahead.h for processors that have AVX-512 with VBMI2. */
#include <immintrin.h>
#include "pvm/jit/ahead.h"

/* ---- 64 bytes of code at a time ---- */

/* Looks up 64 bytes at once in a table of 256. */
static __m512i look_up(const __m512i table[4], __m512i which)
{
    __m512i low = _mm512_permutex2var_epi8(table[0], which, table[1]);
    __m512i high = _mm512_permutex2var_epi8(table[2], which, table[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(which), high);
}

/* Adds the instructions of a set, the first of which has number n, to a list. */
static uint16_t *list(uint16_t *to, uint64_t set, __m512i each, uint32_t n)
{
    __m512i chosen = _mm512_maskz_compress_epi8(set, each), first = _mm512_set1_epi16((short)n);
    uint64_t count = (uint64_t)_mm_popcnt_u64(set);
    __m512i some = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(chosen));
    _mm512_storeu_si512(to, _mm512_add_epi16(some, first));
    if (count > 32) {
        some = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(chosen, 1));
        _mm512_storeu_si512(to + 32, _mm512_add_epi16(some, first));
    }
    return to + count;
}

/* Computes the lengths of the instructions; returns the number of those before one that is too
 * long. */
static uint32_t lengths(struct jit_window *w, uint32_t count)
{
    const __m512i longest = _mm512_set1_epi32(PVM_SKIP_MAX);
    for (uint32_t i = 0; i < count; i += 16) {
        __m512i length =
            _mm512_sub_epi32(_mm512_loadu_si512(w->pc + i + 1), _mm512_loadu_si512(w->pc + i));
        _mm_storeu_si128((__m128i *)(w->length + i), _mm512_cvtepi32_epi8(length));
        unsigned long_ones = _mm512_cmpgt_epu32_mask(length, longest);
        uint32_t first = i + (uint32_t)__builtin_ctz(long_ones | 1u << 16);
        if (first < count && long_ones) return first;
    }
    return count;
}

void pvm_jit_find_instructions_wide(struct jit_window *w, const struct jit *j, uint32_t pc,
                                    uint32_t end)
{
    static const uint8_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i each = _mm512_loadu_si512(numbers);
    __m512i flags[4];
    for (unsigned i = 0; i < 4; i++) flags[i] = _mm512_loadu_si512(j->rules->flags + 64 * i);
    uint16_t *ends = w->all_ends, *looks = w->looks, *lates = w->all_lates;
    uint32_t n = 0;
    uint64_t bits = jit_word(j->decoder.starts + (pc >> 3)) >> (pc & 7) << (pc & 7);
    for (uint32_t base = pc & ~7u; base < end; base += 64) {
        __m512i code = _mm512_loadu_si512(j->decoder.bytes + base);
        __m512i places = _mm512_maskz_compress_epi8(bits, each);
        __m512i of = look_up(flags, _mm512_maskz_compress_epi8(bits, code));
        __m512i at = _mm512_set1_epi32((int)base);
        uint32_t count = (uint32_t)_mm_popcnt_u64(bits);
        uint64_t all = _bzhi_u64(~UINT64_C(0), count > 63 ? 64 : count);
        for (uint32_t k = 0; k < count; k += 16) {
            __m512i pcs = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
            _mm512_storeu_si512(w->pc + n + k, _mm512_add_epi32(pcs, at));
            places = _mm512_alignr_epi64(places, places, 2);
        }
        ends = list(ends, all & _mm512_test_epi8_mask(of, _mm512_set1_epi8(JIT_ENDS)), each, n);
        looks = list(looks, all & _mm512_test_epi8_mask(of, _mm512_set1_epi8(JIT_LOOK)), each, n);
        lates = list(lates, all & _mm512_movepi8_mask(of), each, n); /* JIT_LATE is the sign bit */
        n += count;
        bits = jit_word(j->decoder.starts + (base >> 3) + 8);
    }
    w->count = lengths(w, n - 1);
    while (ends > w->all_ends && ends[-1] >= w->count) ends--;
    while (looks > w->looks && looks[-1] >= w->count) looks--;
    while (lates > w->all_lates && lates[-1] >= w->count) lates--;
    w->all_end_count = (uint32_t)(ends - w->all_ends);
    w->look_count = (uint32_t)(looks - w->looks);
    w->all_late_count = (uint32_t)(lates - w->all_lates);
}

/* ---- 16 instructions at a time ---- */

/* A mask of the instructions that are left, of 16. */
static __mmask16 lanes_of(uint32_t left)
{
    return (__mmask16)(left < 16 ? (1u << left) - 1 : 0xffff);
}

static __m512i gather(__mmask16 lanes, __m512i which, const void *base, int scale)
{
    __m512i none = _mm512_setzero_si512();
    switch (scale) { /* the intrinsic needs a constant */
    case 1: return _mm512_mask_i32gather_epi32(none, lanes, which, base, 1);
    case 2: return _mm512_mask_i32gather_epi32(none, lanes, which, base, 2);
    case 4: return _mm512_mask_i32gather_epi32(none, lanes, which, base, 4);
    default: return _mm512_mask_i32gather_epi32(none, lanes, which, base, 8);
    }
}

static __m512i byte_of(__m512i words, unsigned number)
{
    return _mm512_and_si512(_mm512_srli_epi32(words, 8 * number), _mm512_set1_epi32(0xff));
}

/* Sign-extends immediates; unused: how many upper bits of each word do not belong to it. */
static __m512i immediates(__m512i words, __m512i unused)
{
    return _mm512_srav_epi32(_mm512_sllv_epi32(words, unused), unused);
}

/* Computes where the instructions of all_ends go. */
static void find_targets(struct jit_window *w, const struct jit *j)
{
    _Static_assert(sizeof(struct jit_op_traits) == 8, "traits are gathered with scale 8");
    const struct jit_rules *const rules = j->rules;
    const uint8_t *const bytes = j->decoder.bytes;
    const __m512i one = _mm512_set1_epi32(1), four = _mm512_set1_epi32(4);
    for (uint32_t k = 0; k < w->all_end_count; k += 16) {
        __mmask16 lanes = lanes_of(w->all_end_count - k);
        __m512i i = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(w->all_ends + k)));
        __m512i pc = gather(lanes, i, w->pc, 4), next = gather(lanes, i, w->pc + 1, 4);
        __m512i start = gather(lanes, pc, bytes, 1), op = byte_of(start, 0);
        __m512i traits = gather(lanes, op, rules->traits, 8); /* its first four bytes */
        __m512i flags = byte_of(traits, 0), sizes = byte_of(traits, 2);
        __m512i size = _mm512_and_si512(_mm512_srli_epi32(byte_of(start, 1), 4), sizes);
        size = _mm512_min_epu32(size, four);
        __m512i used = _mm512_add_epi32(_mm512_add_epi32(byte_of(traits, 1), size), one);
        __m512i length = _mm512_sub_epi32(next, pc), left = _mm512_sub_epi32(length, used);
        left = _mm512_min_epi32(_mm512_max_epi32(left, _mm512_setzero_si512()), four);
        __m512i unused = _mm512_slli_epi32(_mm512_sub_epi32(four, left), 3);
        __m512i word = gather(lanes, _mm512_add_epi32(pc, used), bytes, 1);
        __mmask16 jumps = _mm512_test_epi32_mask(flags, _mm512_set1_epi32(JIT_JUMPS));
        __m512i offset = _mm512_mask_mov_epi32(length, jumps, immediates(word, unused));
        _mm512_storeu_si512(w->end_pc + k, pc);
        _mm512_storeu_si512(w->end_flags + k, flags);
        _mm512_storeu_si512(w->end_target + k, _mm512_add_epi32(pc, offset));
        _mm512_storeu_si512(w->before + k + 1, next);
        size = _mm512_add_epi32(size, _mm512_set1_epi32(2));
        _mm_storeu_si128((__m128i *)(w->end_length + k), _mm512_cvtepi32_epi8(size));
    }
}

/* Marks the blocks that start after the instructions of all_ends. */
static void mark_blocks(struct jit_window *w, struct jit *j)
{
    const struct jit_rules *const rules = j->rules;
    const uint8_t *const bytes = j->decoder.bytes;
    uint8_t *const block_starts = j->n->block_starts;
    for (uint32_t k = 0; k < w->all_end_count; k++) {
        uint32_t next = w->before[k + 1], pc = w->end_pc[k];
        unsigned valid = w->end_flags[k] / JIT_VALID & 1;
        if (j->general) valid &= rules->flags[bytes[next]] / JIT_VALID;
        block_starts[next >> 3] |= (uint8_t)(valid << (next & 7));
        w->length[w->all_ends[k]] = w->end_length[k];
        if (bytes[pc] == rules->jump_indirect) pvm_jit_dispatch(j, pc, bytes[pc + 1]);
    }
}

/* Which of the targets in `lanes` a jump may go to; their code is written. */
static __mmask16 may_go(const struct jit *j, __mmask16 lanes, __m512i target)
{
    __m512i bit =
        _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(target, _mm512_set1_epi32(7)));
    __m512i at = _mm512_srli_epi32(target, 3);
    __mmask16 starts = _mm512_test_epi32_mask(gather(lanes, at, j->n->block_starts, 1), bit);
    if (!j->odd) return starts;
    return starts & (__mmask16)~_mm512_test_epi32_mask(gather(lanes, at, j->odd, 1), bit);
}

void pvm_jit_find_ends_wide(struct jit_window *w, struct jit *j, uint32_t first)
{
    uint32_t odds = 0, ends = 0;
    w->before[0] = first;
    find_targets(w, j);
    mark_blocks(w, j);
    for (uint32_t k = 0; k < w->all_end_count; k += 16) {
        __mmask16 lanes = lanes_of(w->all_end_count - k);
        __m512i target = _mm512_loadu_si512(w->end_target + k);
        __m512i pc = _mm512_loadu_si512(w->end_pc + k);
        __m512i flags = _mm512_loadu_si512(w->end_flags + k);
        __m256i i = _mm256_loadu_si256((const __m256i *)(w->all_ends + k));
#define HAS(flag) _mm512_test_epi32_mask(flags, _mm512_set1_epi32(flag))
        __mmask16 inside = _mm512_cmplt_epu32_mask(target, _mm512_set1_epi32((int)j->size));
        __mmask16 back = lanes & _mm512_cmple_epu32_mask(target, pc) & inside;
        __mmask16 loops =
            HAS(JIT_BRANCHES) & _mm512_cmpeq_epi32_mask(target, _mm512_loadu_si512(w->before + k));
        __m512i written = _mm512_maskz_mov_epi32(back, target); /* pc 0 for forward jumps */
        __mmask16 odd = (__mmask16) ~(inside & may_go(j, lanes, written)) | loops;
        if (j->general) {
            __m512i next =
                gather(lanes, _mm512_loadu_si512(w->before + k + 1), j->decoder.bytes, 1);
            __m512i of = gather(lanes, byte_of(next, 0), j->rules->flags, 1);
            odd |= (__mmask16)~_mm512_test_epi32_mask(of, _mm512_set1_epi32(JIT_VALID));
        }
        for (unsigned some = HAS(JIT_COPIES) & back & (unsigned)~odd; some; some &= some - 1) {
            unsigned n = (unsigned)__builtin_ctz(some);
            if (pvm_jit_may_copy(j, w->end_target[k + n])) odd |= (__mmask16)(1u << n);
        }
        __mmask16 known = lanes & (__mmask16)~HAS(JIT_OTHER);
        __mmask16 good = known & (__mmask16)~odd;
        odd &= known;
        __m512i numbers = _mm512_cvtepu16_epi32(i);
        __m512i none = _mm512_set1_epi32((int)JIT_NO_TARGET);
        target = _mm512_mask_or_epi32(target, (__mmask16)~HAS(JIT_JUMPS), target, none);
#undef HAS
        _mm256_storeu_si256((__m256i *)(w->odds + odds),
                            _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(odd, numbers)));
        _mm256_storeu_si256((__m256i *)(w->ends + ends),
                            _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(good, numbers)));
        _mm512_storeu_si512(w->targets + ends, _mm512_maskz_compress_epi32(good, target));
        odds += (uint32_t)__builtin_popcount(odd);
        ends += (uint32_t)__builtin_popcount(good);
    }
    w->odds[odds] = w->ends[ends] = UINT16_MAX;
}

/* Does what pvm_jit_find_codes does, 16 instructions at a time. */
void pvm_jit_find_codes_wide(struct jit_window *w, const struct jit *j)
{
    const struct jit_rules *const rules = j->rules;
    const __m512i rows = _mm512_loadu_si512(rules->immediates);
    const __m512i more_rows = _mm512_loadu_si512(rules->immediates + JIT_IMMEDIATE);
    const __m512i twelve = _mm512_set1_epi32(0xfff);
    for (uint32_t i = 0; i < w->count; i += 16) {
        __mmask16 lanes = lanes_of(w->count - i);
        __m512i pc = _mm512_loadu_si512(w->pc + i);
        __m512i length = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(w->length + i)));
        __m512i start = gather(lanes, pc, j->decoder.bytes, 1);
        __m512i word = gather(lanes, pc, j->decoder.bytes + 2, 1);
        __m512i op = byte_of(start, 0);
        __m512i rule = gather(lanes, op, rules->rule, 4);
        __m512i from = _mm512_slli_epi32(_mm512_and_si512(rule, twelve), 8);
        __m512i bits = _mm512_and_si512(_mm512_srli_epi32(rule, 12), twelve);
        __mmask16 has = _mm512_test_epi32_mask(rule, _mm512_set1_epi32(1 << 24));
        __m512i row = _mm512_mask_add_epi32(length, has, length, _mm512_set1_epi32(JIT_IMMEDIATE));
        row = _mm512_permutex2var_epi16(rows, row, more_rows);
        __m512i unused = _mm512_and_si512(row, _mm512_set1_epi32(63));
        __m512i value = immediates(word, unused);
        __m512i kind = _mm512_add_epi32(
            _mm512_and_si512(row, _mm512_set1_epi32(0xff00)),
            _mm512_and_si512(_mm512_srli_epi32(value, 23), _mm512_set1_epi32(0x100)));
        __m512i registers = _mm512_and_si512(_mm512_srli_epi32(start, 8), bits);
        __m512i entry = _mm512_add_epi32(_mm512_add_epi32(from, kind), registers);
        __m512i code = gather(lanes, entry, (const void *)pvm_jit_memo[j->narrow], 2);
        _mm512_storeu_si512(w->value + i, value);
        _mm256_storeu_si256((__m256i *)(w->code + i), _mm512_cvtepi32_epi16(code));
        __m512i charge = _mm512_and_si512(_mm512_srli_epi32(rule, 25), _mm512_set1_epi32(15));
        _mm_storeu_si128((__m128i *)(w->charge + i), _mm512_cvtepi32_epi8(charge));
    }
}
