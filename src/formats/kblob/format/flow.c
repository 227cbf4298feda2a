/* Checks the branches and loops of version 2 (KBLOB 2.6): loops must be nested and end, and
 * branches must go forwards. */
#include <stdlib.h>
#include "kblob/kblob.h"

struct loop {
    /* `first` is the first instruction of the body, and `next` its NEXT instruction, which is
     * the last one. */
    uint32_t first, next;
    uint32_t outer; /* index of the loop around this one, or NONE */
};
#define NONE UINT32_MAX

struct check {
    const struct kblob_module *m;
    struct findings *f;
    struct loop *loops;
    uint32_t loop_count, open; /* open: the innermost loop that is open at this point, or NONE */
    uint32_t *inside; /* per instruction: the innermost loop whose body contains it, or NONE */
    uint32_t kept[KBLOB_REGISTERS]; /* per register: how many open loops need it unchanged */
};

static uint64_t flow_place(const struct check *c, uint32_t i)
{
    return c->m->code_offset + (uint64_t)i * kblob_inst_bytes;
}

static bool flow_branches(const struct kblob_inst *in)
{
    return in->opcode >= KBLOB_FIRST_2 && in->opcode < KBLOB_OP_DEFINED &&
           kblob_uses(&kblob_ops[in->opcode]) & KBLOB_FIELD_TARGET;
}

/* Tells whether a LOOP and its NEXT are in the right places and refer to each other. */
static bool flow_closed(const struct check *c, uint32_t i)
{
    const struct kblob_inst *loop = &c->m->insts[i];
    uint32_t end = loop->arg1;
    if (end < i + 2 || end > c->m->count) return false;
    const struct kblob_inst *next = &c->m->insts[end - 1];
    if (c->open != NONE && end - 1 >= c->loops[c->open].next) return false;
    return next->opcode == KBLOB_OP_NEXT && next->flags == loop->flags &&
           next->reserved == loop->reserved && next->arg0 == loop->arg0 && next->arg1 == i + 1;
}

static void flow_keep(struct check *c, uint32_t i, int more)
{
    const struct kblob_inst *in = &c->m->insts[i];
    if (kblob_d(in) < KBLOB_REGISTERS) c->kept[kblob_d(in)] += (uint32_t)more;
    if (kblob_b(in) < KBLOB_REGISTERS) c->kept[kblob_b(in)] += (uint32_t)more;
}

static void on_loop(struct check *c, uint32_t i)
{
    if (!flow_closed(c, i)) {
        findings_add(c->f, KBLOB_BAD_LOOP, flow_place(c, i), NULL,
                     "no NEXT of this LOOP is before instruction %u",
                     (unsigned)c->m->insts[i].arg1);
        return;
    }
    const struct kblob_inst *in = &c->m->insts[i];
    if (kblob_d(in) == kblob_b(in))
        findings_add(c->f, KBLOB_BAD_LOOP, flow_place(c, i), NULL,
                     "r%u is the counter and the limit", kblob_d(in));
    c->loops[c->loop_count] = (struct loop){i + 1, in->arg1 - 1, c->open};
    c->open = c->loop_count++;
    flow_keep(c, i, 1);
}

static void on_next(struct check *c, uint32_t i)
{
    if (c->open == NONE || c->loops[c->open].next != i) {
        findings_add(c->f, KBLOB_BAD_LOOP, flow_place(c, i), NULL, "this NEXT has no LOOP");
        return;
    }
    flow_keep(c, i, -1);
    c->open = c->loops[c->open].outer;
}

static void check_loops(struct check *c)
{
    for (uint32_t i = 0; i < c->m->count; i++) {
        const struct kblob_inst *in = &c->m->insts[i];
        c->inside[i] = c->open;
        if (in->opcode < KBLOB_FIRST_2 || in->opcode >= KBLOB_OP_DEFINED) continue;
        unsigned d = kblob_d(in);
        bool writes = kblob_uses(&kblob_ops[in->opcode]) & KBLOB_FIELD_D && d < KBLOB_REGISTERS;
        if (writes && in->opcode != KBLOB_OP_NEXT && c->kept[d])
            findings_add(c->f, KBLOB_BAD_LOOP, flow_place(c, i) + 1, NULL,
                         "%s writes r%u, which counts a loop around it",
                         kblob_ops[in->opcode].mnemonic, d);
        if (in->opcode == KBLOB_OP_LOOP) on_loop(c, i);
        if (in->opcode == KBLOB_OP_NEXT) on_next(c, i);
    }
}

static void check_branch(struct check *c, uint32_t i)
{
    const struct kblob_inst *in = &c->m->insts[i];
    const char *name = kblob_ops[in->opcode].mnemonic;
    uint32_t to = in->arg1;
    /* The target is the end of the program, or wrong, which was reported. */
    if (to >= c->m->count) return;
    uint32_t loop = c->inside[to];
    if (loop != NONE && (i < c->loops[loop].first || i > c->loops[loop].next))
        findings_add(c->f, KBLOB_BAD_LOOP, flow_place(c, i) + 12, NULL,
                     "%s enters the loop around instruction %u", name, (unsigned)to);
    else if (to <= i && !(c->m->header.flags & KBLOB_FUELLED))
        findings_add(c->f, KBLOB_UNBOUNDED, flow_place(c, i) + 12,
                     "use LOOP and NEXT, or the header flag 1 for fuel",
                     "%s goes back to instruction %u", name, (unsigned)to);
}

void kblob_verify_flow(const struct kblob_module *m, struct findings *f)
{
    struct check c = {.m = m, .f = f, .open = NONE};
    size_t loops = 1;
    for (size_t i = 0; i < m->count; i++) loops += m->insts[i].opcode == KBLOB_OP_LOOP;
    c.loops = malloc(loops * sizeof *c.loops);
    c.inside = malloc((m->count + 1) * sizeof *c.inside);
    if (c.loops && c.inside) {
        check_loops(&c);
        for (uint32_t i = 0; i < m->count; i++) {
            uint8_t op = m->insts[i].opcode;
            if (op != KBLOB_OP_LOOP && op != KBLOB_OP_NEXT && flow_branches(&m->insts[i]))
                check_branch(&c, i);
        }
    } else {
        findings_add(f, BASE_MEMORY, m->code_offset, NULL, "no memory to check %zu instructions",
                     m->count);
    }
    free(c.loops);
    free(c.inside);
}

/* The functions below find instructions that never run. */

/* Marks the instructions that can be reached. Returns how many cannot be reached, and in *first
 * the first of these. */
static size_t flow_unreached(const struct kblob_module *m, uint8_t *seen, uint32_t *work,
                             size_t *first)
{
    size_t waiting = 0, reached = 0;
    if (m->count) work[waiting++] = 0, seen[0] = 1;
    while (waiting) {
        uint32_t i = work[--waiting];
        const struct kblob_inst *in = &m->insts[i];
        uint32_t next[2] = {i + 1, flow_branches(in) ? in->arg1 : UINT32_MAX};
        if (in->opcode == KBLOB_OP_HALT || in->opcode == KBLOB_OP_JMP) next[0] = UINT32_MAX;
        reached++;
        for (int n = 0; n < 2; n++)
            if (next[n] < m->count && !seen[next[n]]) seen[work[waiting++] = next[n]] = 1;
    }
    for (*first = 0; *first < m->count && seen[*first];) ++*first;
    return m->count - reached;
}

void kblob_warn_unreached(const struct kblob_module *m, struct findings *f)
{
    uint8_t *seen = calloc(m->count + 1, 1);
    uint32_t *work = malloc((m->count + 1) * sizeof *work);
    size_t first = 0, count = seen && work ? flow_unreached(m, seen, work, &first) : 0;
    if (!seen || !work)
        findings_add(f, BASE_MEMORY, m->code_offset, NULL, "no memory to check %zu instructions",
                     m->count);
    if (count)
        findings_add(f, KBLOB_CODE_AFTER_HALT, m->code_offset + first * kblob_inst_bytes, NULL,
                     "%zu instruction%s never reached", count, count == 1 ? " is" : "s are");
    free(seen);
    free(work);
}
