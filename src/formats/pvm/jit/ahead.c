/* The fast way through a program, see ahead.h. Each step is a loop of its own, so that what it
 * needs stays in registers: find where instructions start; find those that need the general way,
 * and where blocks end; copy the code of the others; fill in jumps and charges. */
#include <immintrin.h>
#include "pvm/jit/ahead.h"

/* More bytes than the native code of a window can have. */
enum { WINDOW_ROOM = JIT_AHEAD * 32 };

uint32_t pvm_jit_ahead_from = 4096;

/* ---- filling the window ---- */

/* Lists where instructions start; returns their number, without the last one, whose end is not
 * known. */
static uint32_t find_starts(uint32_t *to, const uint8_t *starts, uint32_t pc, uint32_t end)
{
    enum { USUAL = 24 }; /* instructions in 64 bytes; more than these take one more branch */
    uint32_t *const first = to;
    uint64_t bits = jit_word(starts + (pc >> 3)) >> (pc & 7) << (pc & 7);
    for (uint32_t base = pc & ~7u; base < end; base += 64) {
        uint32_t count = (uint32_t)__builtin_popcountll(bits), k = 0;
#pragma GCC unroll 8
        for (; k < USUAL; k++, bits &= bits - 1) to[k] = base + (uint32_t)_tzcnt_u64(bits);
        for (; k < count; k++, bits &= bits - 1) to[k] = base + (uint32_t)_tzcnt_u64(bits);
        to += count;
        bits = jit_word(starts + (base >> 3) + 8);
    }
    return (uint32_t)(to - first) - 1;
}

void pvm_jit_find_instructions(struct jit_window *w, const struct jit *j, uint32_t pc, uint32_t end)
{
    const uint8_t *const bytes = j->decoder.bytes, *const all_flags = j->rules->flags;
    const size_t count = find_starts(w->pc, j->decoder.starts, pc, end);
    uint16_t *ends = w->all_ends, *looks = w->looks, *lates = w->all_lates;
    size_t i = 0;
    for (; i < count; i++) {
        uint32_t length = w->pc[i + 1] - w->pc[i];
        if (length > PVM_SKIP_MAX) break;
        w->length[i] = (uint8_t)length;
        size_t flags = all_flags[bytes[w->pc[i]]];
        *ends = *looks = *lates = (uint16_t)i;
        ends += flags & JIT_ENDS;
        looks += flags / JIT_LOOK & 1;
        lates += flags / JIT_LATE;
    }
    w->count = (uint32_t)i;
    w->all_end_count = (uint32_t)(ends - w->all_ends);
    w->look_count = (uint32_t)(looks - w->looks);
    w->all_late_count = (uint32_t)(lates - w->all_lates);
}

static unsigned guest_register(unsigned bits) { return (bits & 15) < 12 ? bits & 15 : 12; }

/* Which groups (fuse.h) these two instructions may form, as bits of `joins`; the general way checks
 * it exactly. All bits are computed without a branch, which would be mispredicted. */
static unsigned groups(const uint8_t *at, const uint8_t *next)
{
    unsigned a = guest_register(at[1]), d = guest_register(at[2]);
    unsigned low = guest_register(next[1]), high = guest_register(next[1] >> 4);
    unsigned load = (low == d) & (high == low), shift = (low == a) & (high == low);
    unsigned add = (guest_register(next[2]) == a) & (at[2] <= 3), branch = (low == a) | (low == d);
    unsigned any = (at[2] - 1u) > 30;
    return JIT_TO_LOAD * load | JIT_TO_ADD * add | JIT_TO_SHIFT * shift | JIT_TO_BRANCH * branch |
           JIT_TO_ANY * any;
}

/* Lists the instructions for the general way. */
static void find_others(struct jit_window *w, const struct jit *j)
{
    const uint8_t *const bytes = j->decoder.bytes;
    const struct jit_rules *const rules = j->rules;
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->look_count; k++) {
        uint32_t i = w->looks[k];
        const uint8_t *at = bytes + w->pc[i], *next = bytes + w->pc[i + 1];
        unsigned joins = rules->traits[at[0]].leads & rules->traits[next[0]].joins;
        w->others[n] = (uint16_t)i;
        n += ((rules->flags[at[0]] & JIT_OTHER) | (joins & groups(at, next))) != 0;
    }
    w->others[n] = (uint16_t)w->count;
}

/* Lists the instructions that write_late() completes: those with two immediates, and load_imm64. A
 * load_imm64 that has a shorter form gets no known code. */
static void find_lates(struct jit_window *w, const struct jit *j)
{
    const struct jit_rules *const rules = j->rules;
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->all_late_count; k++) {
        uint32_t i = w->all_lates[k];
        const uint8_t *at = j->decoder.bytes + w->pc[i];
        const struct jit_op_traits *traits = &rules->traits[at[0]];
        unsigned first = 2u + rules->sizes[at[1] >> traits->shift & traits->sizes];
        uint64_t value = jit_word(at + 2);
        bool shorter = (value <= UINT32_MAX) | (value + (UINT64_C(1) << 31) <= UINT32_MAX);
        shorter &= traits->whole;
        w->length[i] = (uint8_t)(shorter ? 0 : traits->whole ? 10 : first);
        w->lates[n] = (uint16_t)i;
        n += !shorter;
    }
    w->lates[n] = UINT16_MAX;
}

void pvm_jit_find_ends(struct jit_window *w, struct jit *j, uint32_t first)
{
    const uint8_t *const bytes = j->decoder.bytes;
    const struct jit_rules *const rules = j->rules;
    uint8_t *const block_starts = j->n->block_starts;
    const uint32_t size = j->size, count = w->all_end_count;
    const bool general = j->general;
    uint32_t odds = 0, ends = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = w->all_ends[k], pc = w->pc[i], next = w->pc[i + 1];
        const uint8_t *at = bytes + pc;
        const struct jit_op_traits *traits = &rules->traits[at[0]];
        unsigned flags = rules->flags[at[0]], sized = rules->sizes[at[1] >> 4 & traits->sizes];
        unsigned used = traits->bytes + sized;
        int left = (int)(next - pc - 1 - used);
        unsigned row = rules->immediates[JIT_IMMEDIATE + 2 + (left < 0 ? 0 : left)];
        uint32_t offset = (uint32_t)jit_immediate(at + 1 + used, row);
        uint32_t jumps = -(uint32_t)(flags / JIT_JUMPS & 1); /* all ones, or none: no branch */
        uint32_t target = pc + (offset & jumps) + ((next - pc) & ~jumps);
        uint32_t back = -(uint32_t)(target <= pc);
        bool valid = !general || rules->flags[bytes[next]] & JIT_VALID;
        w->length[i] = (uint8_t)(2 + sized);
        if (flags & JIT_OTHER) {
            if (at[0] == rules->jump_indirect) pvm_jit_dispatch(j, pc, at[1]);
            valid &= flags / JIT_VALID & 1;
        } else if (!valid || target >= size || !pvm_jit_may_go(j, target & back) ||
                   (target == first && flags & JIT_BRANCHES) ||
                   (flags & back & JIT_COPIES && pvm_jit_may_copy(j, target))) {
            w->odds[odds++] = (uint16_t)i;
        } else {
            w->ends[ends] = (uint16_t)i;
            w->targets[ends++] = target | (~jumps & JIT_NO_TARGET);
        }
        block_starts[next >> 3] |= (uint8_t)((unsigned)valid << (next & 7));
        first = next;
    }
    w->odds[odds] = w->ends[ends] = UINT16_MAX;
}

void pvm_jit_find_codes(struct jit_window *w, const struct jit *j)
{
    const uint8_t *const bytes = j->decoder.bytes;
    const struct jit_rules *const rules = j->rules;
    const _Atomic uint16_t *const memo = pvm_jit_memo[j->narrow];
    for (size_t i = 0; i < w->count; i++) {
        const uint8_t *at = bytes + w->pc[i];
        jit_rule rule = rules->rule[at[0]];
        unsigned row = rules->immediates[jit_row(rule, w->length[i])];
        int32_t value = jit_immediate(at + 2, row);
        w->value[i] = value;
        w->code[i] = atomic_load_explicit(memo + jit_entry(rule, jit_registers(at), row, value),
                                          memory_order_acquire);
        w->charge[i] = (uint8_t)jit_charge(rule);
    }
}

static bool look_ahead(struct jit_window *w, struct jit *j, const struct jit_block *block,
                       uint32_t pc)
{
    const bool wide = j->rules->wide;
    uint32_t limit = j->decoder.limit;
    w->at = w->count = w->other = w->odd = w->end = w->late = 0;
    if (pc >= limit || limit - pc < 64 || !pvm_bit(j->decoder.starts, pc)) return false;
    uint32_t end = limit - pc < JIT_AHEAD ? limit - 64 : pc + JIT_AHEAD - 64;
    end = end > (pc & ~7u) ? end : pc + 1; /* at least once */
    w->number = pvm_native_number(j->n, pc);
    (wide ? pvm_jit_find_instructions_wide : pvm_jit_find_instructions)(w, j, pc, end);
    find_others(w, j);
    find_lates(w, j);
    (wide ? pvm_jit_find_ends_wide : pvm_jit_find_ends)(w, j, block->first);
    (wide ? pvm_jit_find_codes_wide : pvm_jit_find_codes)(w, j);
    return w->count;
}

/* ---- writing ---- */

/* Copies the code of the instructions up to `end`, or up to the first one without known code;
 * returns where it stopped. */
static uint32_t copy_known(struct jit *j, const struct jit_window *w, uint32_t end)
{
    const struct jit_code *const codes = pvm_jit_codes;
    uint32_t *const offsets = j->n->offsets + w->number;
    uint8_t *const start = j->e.start;
    uint64_t here = x64_here(&j->e);
    size_t i = w->at;
    for (; i < end && w->code[i]; i++) {
        const struct jit_code *code = &codes[w->code[i]];
        uint8_t *to = start + here;
        uint64_t front = atomic_load_explicit(&code->front, memory_order_relaxed);
        uint64_t after = atomic_load_explicit(&code->after, memory_order_relaxed);
        offsets[i] = (uint32_t)here;
        memcpy(to, &front, 8);
        memcpy(to + (front >> 56), &w->value[i], 4);
        memcpy(to + (after >> 56 & 15), &after, 8);
        here += (after >> 56 & 15) + (after >> 60 & 7) + w->charge[i];
    }
    j->e.at = start + here;
    return (uint32_t)i;
}

/* Fills in the distances of backward jumps, and lists forward jumps for later. */
static void aim_jumps(struct jit *j, const struct jit_window *w, uint32_t from, uint32_t end)
{
    struct pvm_native *n = j->n;
    const uint32_t charge = n->charge_size, *const offsets = n->offsets;
    const uint32_t nowhere = x64_here(&j->e) + 8; /* written for what does not jump: no branch */
    uint8_t *const start = j->e.start;
    struct jit_fixup *fixup = j->fixups + j->fixup_count;
    for (uint32_t k = from; k < end; k++) {
        uint32_t i = w->ends[k], target = w->targets[k];
        bool jumps = !(target & JIT_NO_TARGET), back = target <= w->pc[i];
        uint32_t after = offsets[w->number + i + 1] - charge;
        uint32_t to = offsets[pvm_native_number(n, back ? target : w->pc[i])] - charge;
        uint32_t distance = to - after;
        memcpy(start + (jumps ? after - 4 : nowhere), &distance, 4);
        *fixup = (struct jit_fixup){after - 4, target};
        fixup += jumps & !back;
    }
    j->fixup_count = (uint32_t)(fixup - j->fixups);
}

/* Fills in the cost in the charge of each block, and writes the charge of the next block. */
static void charge_blocks(struct jit *j, const struct jit_window *w, struct jit_block *block,
                          uint32_t from, uint32_t end)
{
    struct pvm_native *n = j->n;
    uint32_t before = w->at - block->count;
    for (uint32_t k = from; k < end; k++) {
        uint32_t i = w->ends[k] + 1u, next = w->pc[i];
        uint32_t cost = j->p->wide_charges ? pvm_jit_cost(j, block->first) : i - before;
        memcpy(j->e.start + block->start + JIT_CHARGE_NUMBER, &cost, 4);
        before = i;
        block->first = next;
        block->start = n->offsets[w->number + i] - n->charge_size;
        uint8_t *to = j->e.start + block->start;
        if (n->async) {
            memcpy(to, j->charge, JIT_CHARGE_ASYNC);
        } else {
            memcpy(to, j->charge, JIT_CHARGE_SYNC);
            uint32_t site = block->start + JIT_CHARGE_JUMP;
            n->cold[n->cold_count++] =
                (struct pvm_cold){.site = site, .pc = next & 0xfffffff, .kind = PVM_COLD_GAS};
        }
    }
}

/* Writes the second immediates, and the upper halves of 64-bit ones, of instructions before
 * `end`. */
static void write_late(struct jit *j, struct jit_window *w, uint32_t end)
{
    for (; w->lates[w->late] < end; w->late++) {
        uint32_t i = w->lates[w->late];
        const uint8_t *at = j->decoder.bytes + w->pc[i];
        const struct jit_op_traits *traits = &j->rules->traits[at[0]];
        unsigned used = traits->whole ? 6 : w->length[i], length = w->pc[i + 1] - w->pc[i];
        unsigned left = length > used ? length - used : 0;
        unsigned row = traits->whole ? 0 : j->rules->immediates[JIT_IMMEDIATE + 2 + left];
        int32_t value = jit_immediate(at + used, row);
        uint8_t *to = j->e.start + j->n->offsets[w->number + i + 1] - traits->late;
        if (traits->late == 4)
            memcpy(to, &value, 4);
        else if (traits->late == 2)
            memcpy(to, &value, 2);
        else
            memcpy(to, &value, 1);
    }
}

/* Does all that copy_known() left open, up to instruction i. */
static void finish(struct jit *j, struct jit_window *w, struct jit_block *block, uint32_t i)
{
    uint32_t from = w->end, end = from;
    j->n->offsets[w->number + i] = x64_here(&j->e); /* the end of the one before i */
    while (w->ends[end] < i) end++;
    aim_jumps(j, w, from, end);
    write_late(j, w, i);
    if (j->n->metered) charge_blocks(j, w, block, from, end);
    if (end > from) {
        uint32_t last = w->ends[end - 1] + 1u;
        block->first = w->pc[last];
        block->start = j->n->offsets[w->number + last] - j->n->charge_size;
        block->count = i - last;
    } else {
        block->count += i - w->at;
    }
    w->end = end;
    w->at = i;
}

static bool lacks(uint32_t count, uint32_t capacity) { return capacity - count < 2 * JIT_AHEAD; }

static bool has_room(struct jit *j)
{
    if (j->e.limit - j->e.at < WINDOW_ROOM) return false;
    bool enough =
        !lacks(j->fixup_count, j->fixup_capacity) && !lacks(j->n->cold_count, j->cold_capacity);
    return enough || pvm_jit_room(j, 2 * JIT_AHEAD);
}

uint32_t pvm_jit_ahead(struct jit *j, struct jit_block *block, uint32_t pc)
{
    struct jit_window *const w = j->window;
    while (w->at < w->count && w->pc[w->at] < pc) w->at++; /* these went the general way */
    if (w->at < w->count && w->pc[w->at] != pc) w->count = 0;
    for (;;) {
        if (w->at >= w->count && !look_ahead(w, j, block, pc)) return pc;
        if (!has_room(j) || block->compared == pc) return pc;
        while (w->others[w->other] < w->at) w->other++;
        while (w->odds[w->odd] < w->at) w->odd++;
        while (w->ends[w->end] < w->at) w->end++;
        while (w->lates[w->late] < w->at) w->late++;
        uint32_t other = w->others[w->other], odd = w->odds[w->odd];
        uint32_t stop = other < odd ? other : odd, i = copy_known(j, w, stop);
        finish(j, w, block, i);
        pc = w->pc[i];
        if (i < stop ? !(w->code[i] = pvm_jit_learn(j, pc, w->length[i])) : i < w->count) return pc;
    }
}
