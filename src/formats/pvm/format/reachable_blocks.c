/* Warns about code that control cannot reach from pc 0, the exports or the jump table. */
#include <stdlib.h>
#include "pvm/format/code_bits.h"
#include "base/array.h"
#include "base/long_work.h"
#include "pvm/pvm.h"

struct reach {
    const struct pvm_code *code;
    /* After the instructions in this set control need not go on (pvm_code_bits.stops). */
    const uint64_t *stops;
    uint64_t *seen; /* a bit for each pc that control can reach */
    uint32_t *todo;
    size_t count, capacity;
    bool failed;
    struct long_work *work;
};

static void reachable_blocks_mark(uint64_t *bits, uint32_t pc)
{
    bits[pc / 64] |= UINT64_C(1) << pc % 64;
}

static void reachable_blocks_remember(struct reach *r, uint32_t pc)
{
    if (!ARRAY_RESERVE(r->todo, r->capacity, r->count + 1)) {
        r->failed = true;
        return;
    }
    reachable_blocks_mark(r->seen, pc);
    r->todo[r->count++] = pc;
}

static inline void reachable_blocks_push(struct reach *r, uint64_t pc)
{
    if (pc < r->code->bytes.size && !pvm_word_bit(r->seen, (uint32_t)pc) &&
        pvm_bit(r->code->starts, (uint32_t)pc))
        reachable_blocks_remember(r, (uint32_t)pc);
}

/* Marks the instructions from pc to the end of its block; *end is the last one. Returns false
 * when the rest of the block was marked before. */
static bool mark_block(struct reach *r, uint32_t pc, uint32_t *end)
{
    for (;;) {
        uint64_t from = ~UINT64_C(0) << pc % 64, stops = r->stops[pc / 64] & from;
        r->seen[pc / 64] |= stops ? from & (stops ^ (stops - 1)) : from;
        pc = pc / 64 * 64;
        *end = pc + (stops ? (uint32_t)__builtin_ctzll(stops) : 0);
        if (stops) return true;
        pc += 64;
        if (pvm_word_bit(r->seen, pc)) return false;
    }
}

/* Follows control from pc on until it comes to instructions that are already marked. */
static void reachable_blocks_follow(struct reach *r, uint32_t pc)
{
    const struct pvm_code *code = r->code;
    const uint8_t *ops = pvm_isas[code->isa].op;
    struct pvm_insn in;
    do {
        if (!mark_block(r, pc, &pc)) return;
        enum pvm_op op = ops[code->bytes.data[pc]];
        if (code->doc) {
            pvm_decode(code, pc, &in);
            if (pvm_has_target(in.op)) reachable_blocks_push(r, in.target);
            op = in.op;
            pc += in.length;
        } else {
            unsigned skip = pvm_skip(code, pc);
            if (pvm_has_target(op)) reachable_blocks_push(r, pvm_jump_target(code, pc, skip));
            pc += 1 + skip;
        }
        if (!pvm_falls_through(op)) return;
    } while (pvm_starts(code, pc) && !pvm_word_bit(r->seen, pc) && !long_work_over(r->work, 1));
}

/* Returns how many instructions are never reached; *first is the first of them. */
static size_t count_lost(const struct reach *r, uint32_t *first)
{
    const struct pvm_code *code = r->code;
    const uint8_t *op = pvm_isas[code->isa].op;
    size_t lost = 0;
    for (uint32_t base = 0; base < code->bytes.size; base += 64) {
        uint64_t bits = pvm_start_word(code, base) & ~r->seen[base / 64];
        for (; bits; bits &= bits - 1) {
            uint32_t pc = base + (uint32_t)__builtin_ctzll(bits);
            /* Linkers put traps between functions, so these do not count. */
            if (op[code->bytes.data[pc]] == PVM_OP_trap) continue;
            if (!lost++) *first = pc;
        }
    }
    return lost;
}

void pvm_reach_verify(const struct pvm_module *m, const struct pvm_code_bits *bits,
                      struct findings *f)
{
    const struct pvm_program *p = &m->program;
    struct reach r = {.code = &p->code,
                      .stops = bits->stops,
                      .work = f->work,
                      .seen = calloc(p->code.bytes.size / 64 + 1, sizeof *r.seen)};
    r.failed = !r.seen;
    if (r.failed) {
        findings_add(f, BASE_MEMORY, m->code_offset, NULL, "no memory to check the code");
        return;
    }
    reachable_blocks_push(&r, 0);
    /* Pc 5 is the entry point accumulate. */
    if (p->dialect == PVM_JAM && p->spi) reachable_blocks_push(&r, 5);
    for (size_t i = 0; i < p->export_count; i++) reachable_blocks_push(&r, p->exports[i].pc);
    for (uint32_t i = 0; p->code.table_entry && i < p->code.table_count; i++) {
        uint64_t pc;
        if (pvm_table_entry(&p->code, i, &pc)) reachable_blocks_push(&r, pc);
    }
    while (r.count && !long_work_over(r.work, 1)) reachable_blocks_follow(&r, r.todo[--r.count]);
    uint32_t first = 0;
    size_t lost = count_lost(&r, &first);
    if (r.failed)
        findings_add(f, BASE_MEMORY, m->code_offset, NULL, "no memory to check the code");
    else if (lost)
        findings_add(f, PVM_UNREACHABLE, m->code_offset + first, NULL,
                     "%zu instruction%s cannot be reached; the first is at pc %u", lost,
                     lost == 1 ? "" : "s", (unsigned)first);
    free(r.seen);
    free(r.todo);
}
