/* Warns about code that cannot be reached from pc 0, the exports or the jump table. */
#include <stdlib.h>
#include "pvm/pvm.h"

struct reach {
    const struct pvm_code *code;
    uint8_t *seen; /* bit per pc: the instruction there is reached */
    uint32_t *todo;
    size_t count, capacity;
    bool failed;
};

static void push(struct reach *r, uint64_t pc)
{
    if (r->failed || pc > UINT32_MAX || !pvm_starts(r->code, (uint32_t)pc) ||
        pvm_bit(r->seen, (uint32_t)pc))
        return;
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 256;
        uint32_t *more = realloc(r->todo, capacity * sizeof *more);
        if (!more) {
            r->failed = true;
            return;
        }
        r->todo = more;
        r->capacity = capacity;
    }
    r->seen[pc / 8] |= (uint8_t)(1u << pc % 8);
    r->todo[r->count++] = (uint32_t)pc;
}

/* Marks the instructions from pc on, up to one that was marked before or that control does not
 * pass. */
static void follow(struct reach *r, uint32_t pc)
{
    const struct pvm_code *code = r->code;
    const uint8_t *op = pvm_isas[code->isa].op;
    struct pvm_insn in;
    for (;;) {
        r->seen[pc / 8] |= (uint8_t)(1u << pc % 8);
        enum pvm_op here = op[code->bytes.data[pc]];
        enum pvm_flow flow = pvm_ops[here].flow;
        if (!code->doc && here != PVM_OP_invalid) {
            unsigned skip = pvm_skip(code, pc);
            if (pvm_has_target(here)) push(r, pvm_jump_target(code, pc, skip));
            if (flow > PVM_FLOW_BRANCH) return;
            pc += 1 + skip;
        } else {
            pvm_decode(code, pc, &in);
            if (pvm_has_target(in.op)) push(r, in.target);
            if (!pvm_falls_through(in.op)) return;
            pc += in.length;
        }
        if (!pvm_starts(code, pc) || pvm_bit(r->seen, pc)) return;
    }
}

void pvm_reach_verify(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    struct reach r = {.code = &p->code, .seen = calloc((p->code.bytes.size + 7) / 8 + 1, 1)};
    if (!r.seen) return; /* without memory, no warning */
    push(&r, 0);
    if (p->dialect == PVM_JAM && p->spi) push(&r, 5); /* accumulate */
    for (size_t i = 0; i < p->export_count; i++) push(&r, p->exports[i].pc);
    for (uint32_t i = 0; p->code.table_entry && i < p->code.table_count; i++) {
        uint64_t pc;
        if (pvm_table_entry(&p->code, i, &pc)) push(&r, pc);
    }
    while (r.count) follow(&r, r.todo[--r.count]);
    const uint8_t *op = pvm_isas[p->code.isa].op;
    uint32_t first = UINT32_MAX;
    size_t lost = 0;
    for (size_t i = 0; i < (p->code.bytes.size + 7) / 8; i++) {
        for (unsigned bits = p->code.starts[i] & ~r.seen[i] & 0xffu; bits; bits &= bits - 1) {
            uint32_t pc = (uint32_t)(8 * i) + (uint32_t)__builtin_ctz(bits);
            /* linkers put traps between functions; bits after the code are not instructions */
            if (pc >= p->code.bytes.size || op[p->code.bytes.data[pc]] == PVM_OP_trap) continue;
            if (first == UINT32_MAX) first = pc;
            lost++;
        }
    }
    if (lost && !r.failed)
        findings_add(f, PVM_UNREACHABLE, m->code_offset + first, NULL,
                     "%zu instruction%s cannot be reached, the first is at pc %u", lost,
                     lost == 1 ? "" : "s", (unsigned)first);
    free(r.seen);
    free(r.todo);
}
