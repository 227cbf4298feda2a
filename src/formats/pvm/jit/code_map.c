/* From places in compiled code back to the program. */
#include <stdlib.h>
#include <string.h>
#include "pvm/jit/jit.h"

/* ---- places ---- */

enum { LONGEST = PVM_SKIP_MAX + 1 };

/* No gap in these 64 bytes is longer than an instruction may be; the first ends `first` bytes after
 * their start at the latest. */
static bool all_near(uint64_t bits, uint64_t first)
{
    uint64_t near = bits | bits << 1;
    near |= near << 2;
    near |= near << 4;
    near |= near << 8; /* 16 bytes from each place on, and with these LONGEST */
    near |= near << (LONGEST - 16);
    return bits && first < 64 && !(~near >> first);
}

/* Where the program's mask has none, every LONGEST bytes is a place, of no instruction. Up to the
 * end of word i; where the next one has to be. */
static uint64_t fill_gaps(struct pvm_native *n, size_t i, uint64_t next)
{
    for (uint64_t pc = 64 * (uint64_t)i; pc < 64 * (uint64_t)i + 64 && pc <= n->size; pc++) {
        uint64_t bit = UINT64_C(1) << (pc & 63);
        if (pc == next) n->places[i] |= bit;
        if (n->places[i] & bit) next = pc + LONGEST;
    }
    return next;
}

bool pvm_native_places(struct pvm_native *n, const struct pvm_code *code)
{
    size_t words = n->size / 64 + 1;
    n->places = calloc(words, sizeof *n->places);
    n->numbers = calloc(words, sizeof *n->numbers);
    if (!n->places || !n->numbers) return false;
    memcpy(n->places, code->starts, (n->size + 7) / 8);
    uint64_t *last = &n->places[n->size >> 6], below = (UINT64_C(1) << (n->size & 63)) - 1;
    *last = (*last & below) | UINT64_C(1) << (n->size & 63);
    uint64_t next = 0; /* where an instruction has to be at the latest */
    for (size_t i = 0; i < words; i++) {
        uint64_t bits = n->places[i], base = 64 * (uint64_t)i;
        if (!all_near(bits, next - base))
            next = fill_gaps(n, i, next);
        else
            next = base + 63 - (uint64_t)__builtin_clzll(bits) + LONGEST;
        n->numbers[i] = n->count;
        n->count += pvm_count_bits(n->places[i]);
    }
    return true;
}

/* Where the instruction with this number is. */
static uint32_t place(const struct pvm_native *n, uint32_t number)
{
    size_t low = 0, high = n->size / 64 + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (n->numbers[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    uint64_t bits = n->places[low];
    for (uint32_t i = n->numbers[low]; i < number; i++) bits &= bits - 1;
    return (uint32_t)(64 * low) + (uint32_t)__builtin_ctzll(bits);
}

/* ---- native code to places ---- */

/* The last instruction up to this one that has code of its own. */
static uint32_t with_code(const struct pvm_native *n, uint32_t number)
{
    while (number && !n->offsets[number]) number--;
    return number;
}

/* The last instruction that starts at or before `at`. */
static uint32_t instruction_at(const struct pvm_native *n, uint32_t at)
{
    uint32_t low = 0, high = n->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (n->offsets[with_code(n, middle)] <= at)
            low = middle;
        else
            high = middle;
    }
    return with_code(n, low);
}

/* The copy that `at` is in, which is the code of this jump; NULL: none. */
static const struct pvm_copy *copy_at(const struct pvm_native *n, uint32_t at, uint32_t number)
{
    uint32_t low = 0, high = n->copy_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->copies[middle].native <= at)
            low = middle + 1;
        else
            high = middle;
    }
    bool inside = low && n->copies[low - 1].native >= n->offsets[number];
    return inside ? &n->copies[low - 1] : NULL;
}

/* The block after this instruction, if `at` is in its charge; else the same. */
static uint32_t skip_charge(const struct pvm_native *n, uint32_t at, uint32_t number)
{
    uint32_t next = number + 1;
    while (next < n->count && !n->offsets[next]) next++;
    bool inside = next < n->count && pvm_bit(n->block_starts, place(n, next)) &&
                  at >= n->offsets[next] - n->charge_size;
    return inside ? next : number;
}

uint32_t pvm_native_pc(const struct pvm_native *n, uint32_t at)
{
    if (at >= n->cold_start) return n->cold[(at - n->cold_start) / PVM_COLD_BYTES].pc;
    uint32_t number = instruction_at(n, at), next = skip_charge(n, at, number);
    const struct pvm_copy *copy = next == number ? copy_at(n, at, number) : NULL;
    return copy ? copy->pc : place(n, next);
}

bool pvm_native_between(const struct pvm_native *n, uint32_t at, uint32_t *pc, bool *paid)
{
    if (at < n->body || at >= n->cold_start) return false;
    uint32_t before = instruction_at(n, at), number = skip_charge(n, at, before);
    if (number == before && copy_at(n, at, before)) return false;
    *pc = place(n, number);
    *paid = n->offsets[number] == at;
    return *paid || (pvm_bit(n->block_starts, *pc) && n->offsets[number] - n->charge_size == at);
}
