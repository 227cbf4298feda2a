/* Finds the instruction of the program to which an offset in compiled code belongs. */
#include <stdlib.h>
#include <string.h>
#include "pvm/jit/jit.h"

/* A place is a pc at which an instruction is. The functions below find places. */

enum { LONGEST = PVM_SKIP_MAX + 1 };

/* Tells whether the first place is at or before `first`, and no gap after it is longer than an
 * instruction may be. `bits` has the places in 64 bytes of code. */
static bool places_all_near(uint64_t bits, uint64_t first)
{
    uint64_t near = bits | bits << 1;
    near |= near << 2;
    near |= near << 4;
    /* Now 16 bits are set from each place on; the next line makes that LONGEST bits. */
    near |= near << 8;
    near |= near << (LONGEST - 16);
    return bits && first < 64 && !(~near >> first);
}

/* Fills word i of the places where the program has a hole: there an invalid instruction counts
 * as a place every LONGEST bytes. Returns where the next place has to be at the latest. */
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
    uint64_t next = 0; /* the latest pc at which an instruction has to be */
    for (size_t i = 0; i < words; i++) {
        uint64_t bits = n->places[i], base = 64 * (uint64_t)i;
        if (!places_all_near(bits, next - base))
            next = fill_gaps(n, i, next);
        else
            next = base + 63 - (uint64_t)__builtin_clzll(bits) + LONGEST;
        n->numbers[i] = n->count;
        n->count += pvm_count_bits(n->places[i]);
    }
    return true;
}

/* Returns the pc of the instruction with this number. */
static uint32_t code_map_place(const struct pvm_native *n, uint32_t number)
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

/* The functions below lead from native offsets to instructions. */

/* Returns this instruction, or the last one before it that has code of its own. */
static uint32_t instruction_with_code(const struct pvm_native *n, uint32_t number)
{
    while (number && !n->offsets[number]) number--;
    return number;
}

/* Returns the last instruction whose code starts at or before `at`. */
static uint32_t instruction_at(const struct pvm_native *n, uint32_t at)
{
    uint32_t low = 0, high = n->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (n->offsets[instruction_with_code(n, middle)] <= at)
            low = middle;
        else
            high = middle;
    }
    return instruction_with_code(n, low);
}

/* Returns the copied instruction to which native offset `at` belongs. Returns NULL unless
 * instruction `number`, whose code contains `at`, is a jump that a copy replaces. */
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

/* Returns the first instruction of the next block if `at` is in the charge of that block, else
 * instruction `number`. */
static uint32_t skip_charge(const struct pvm_native *n, uint32_t at, uint32_t number)
{
    uint32_t next = number + 1;
    while (next < n->count && !n->offsets[next]) next++;
    bool inside = next < n->count && pvm_bit(n->block_starts, code_map_place(n, next)) &&
                  at >= n->offsets[next] - n->charge_size;
    return inside ? next : number;
}

uint32_t pvm_native_pc(const struct pvm_native *n, uint32_t at)
{
    if (at >= n->cold_start) return n->cold[(at - n->cold_start) / PVM_COLD_BYTES].pc;
    uint32_t number = instruction_at(n, at), next = skip_charge(n, at, number);
    const struct pvm_copy *copy = next == number ? copy_at(n, at, number) : NULL;
    return copy ? copy->pc : code_map_place(n, next);
}

bool pvm_native_between(const struct pvm_native *n, uint32_t at, uint32_t *pc, bool *paid)
{
    if (at < n->body || at >= n->cold_start) return false;
    uint32_t before = instruction_at(n, at), number = skip_charge(n, at, before);
    if (number == before && copy_at(n, at, before)) return false;
    *pc = code_map_place(n, number);
    *paid = n->offsets[number] == at;
    return *paid || (pvm_bit(n->block_starts, *pc) && n->offsets[number] - n->charge_size == at);
}
