/* Removes extensions that are not needed. Variables of 8, 16 and 32 bits are kept extended to 64
 * bits, by an instruction after each computation. If nothing uses the bits that the instruction
 * sets, it is removed. If a loop counter cannot leave its type, it counts in 64 bits, so that it
 * can be an index without an extension. */
#include "coil/jit/jit.h"
#include <stdlib.h>

struct counter {
    uint32_t phi, next, init; /* next: the value of the sum after its extension */
    bool down;
};

static bool is_sum_by_one(const struct ssa_function *f, uint32_t value, struct counter *c)
{
    const struct ssa_insn *next = &f->insns[value], *sum = &f->insns[next->arg[0]];
    int64_t step;
    c->next = value;
    c->down = sum->op == SSA_SUB;
    return next->op == SSA_SEXT32 && sum->narrow && (sum->op == SSA_ADD || c->down) &&
           sum->arg[0] == c->phi && ssa_is_const(f, sum->arg[1], &step) && step == 1;
}

/* Tells whether the branch at the end of block `from` leads to block `to` only if the value is
 * less than some 32-bit number, or greater for a counter that goes down. */
static bool extension_bounds(const struct ssa_function *f, uint32_t from, uint32_t to,
                             uint32_t value, const struct counter *c)
{
    const struct ssa_block *b = &f->blocks[from];
    const struct ssa_insn *in = &f->insns[b->last];
    int64_t bound = 0, init;
    if (in->op != SSA_BRANCH || !in->narrow || b->to[0] == b->to[1]) return false;
    if (in->arg[0] != value && !(value == c->next && in->arg[0] == f->insns[value].arg[0]))
        return false;
    uint8_t cond = b->to[0] == to ? in->cond : ssa_cond_not[in->cond];
    bool known = ssa_is_const(f, in->arg[1], &bound);
    if (cond == (c->down ? SSA_GT : SSA_LT)) return true;
    if (cond == SSA_LE && !c->down) return known && bound < INT32_MAX;
    if (cond == SSA_GE && c->down) return known && bound > INT32_MIN;
    return cond == SSA_NE && known && ssa_is_const(f, c->init, &init) &&
           (c->down ? init > bound : init < bound);
}

static bool begins_inside(const struct ssa_function *f, uint32_t from, uint32_t header,
                          const struct counter *c)
{
    int64_t init;
    if (!ssa_is_const(f, c->init, &init)) return extension_bounds(f, from, header, c->init, c);
    return init == (int32_t)init && init != (c->down ? INT32_MIN : INT32_MAX);
}

static void count_in_64_bits(struct ssa_function *f, uint32_t latch, const struct counter *c)
{
    struct ssa_insn *next = &f->insns[c->next], *end = &f->insns[f->blocks[latch].last];
    const struct ssa_insn *sum = &f->insns[next->arg[0]];
    int64_t bound;
    next->op = sum->op;
    next->arg[1] = sum->arg[1];
    next->arg[0] = c->phi;
    end->arg[0] = c->next;
    if (ssa_is_const(f, end->arg[1], &bound)) end->narrow = bound != (int32_t)bound;
}

static void widen_counters(struct ssa_function *f, uint32_t header)
{
    const struct ssa_block *h = &f->blocks[header];
    for (uint32_t i = h->first; i && f->insns[i].op == SSA_PHI; i = f->insns[i].next)
        for (uint32_t k = 0; k < 2 && f->insns[i].type == SSA_INT; k++) {
            const uint32_t *values = f->pool + f->insns[i].list;
            struct counter c = {.phi = i, .init = values[!k]};
            if (is_sum_by_one(f, values[k], &c) &&
                extension_bounds(f, h->preds[k], header, c.next, &c) &&
                begins_inside(f, h->preds[!k], header, &c))
                count_in_64_bits(f, h->preds[k], &c);
        }
}

/* How much of a value is needed, counted from its low end. */
enum { NONE, BYTE, WORD, HALF, WHOLE };

struct needs {
    struct ssa_function *f;
    uint8_t *of;    /* of[v]: how much of value v is needed */
    uint32_t *work; /* values whose operands must still be looked at */
    uint8_t *waits; /* waits[v]: 1 if value v is in `work` */
    uint32_t count;
};

static void extension_need(struct needs *n, uint32_t value, uint8_t much)
{
    if (n->of[value] >= much) return;
    n->of[value] = much;
    if (n->waits[value]) return;
    n->waits[value] = 1;
    n->work[n->count++] = value;
}

static uint8_t extension_least(uint8_t a, uint8_t b) { return a < b ? a : b; }

static uint8_t bits_kept_by(uint8_t extension)
{
    static const uint8_t much[] = {BYTE, WORD, HALF, BYTE, WORD, HALF};
    _Static_assert(SSA_ZEXT32 - SSA_SEXT8 == 5, "sext8 sext16 sext32 zext8 zext16 zext32");
    return extension >= SSA_SEXT8 && extension <= SSA_ZEXT32 ? much[extension - SSA_SEXT8] : NONE;
}

/* Tells whether the low bits of a result depend only on the same number of low bits of the
 * operands. */
static bool bits_pass_on(uint8_t op)
{
    switch (op) {
    case SSA_PHI:
    case SSA_COPY:
    case SSA_ADD:
    case SSA_SUB:
    case SSA_MUL:
    case SSA_AND:
    case SSA_OR:
    case SSA_XOR: return true;
    default: return bits_kept_by(op) != NONE;
    }
}

static void needs_pass_on(struct needs *n, uint32_t value)
{
    const struct ssa_insn *in = &n->f->insns[value];
    uint8_t much = extension_least(n->of[value], in->narrow ? HALF : WHOLE),
            kept = bits_kept_by(in->op);
    if (!bits_pass_on(in->op)) return;
    if (kept) much = extension_least(much, kept);
    for (unsigned k = 0; k < ssa_ops[in->op].args; k++) extension_need(n, in->arg[k], much);
    for (uint32_t k = 0; k < in->count; k++) extension_need(n, n->f->pool[in->list + k], much);
}

/* Finds which bits the state at an exit needs. At an exit, variables are extended according to
 * their types. Only the types of the exit's own function are looked up; values after
 * SSA_KEY_CALLER belong to a function that it is inlined in, and are needed whole. */
static void exit_need_state(struct needs *n, const struct coil_jit *j, const struct ssa_exit *e)
{
    static const uint8_t of_bytes[] = {WHOLE, BYTE, WORD, WHOLE, HALF, WHOLE, WHOLE, WHOLE, WHOLE};
    bool inner = j != NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct ssa_state *s = &n->f->states[e->first + i];
        inner &= s->key != SSA_KEY_CALLER;
        uint8_t type = inner && s->key < COIL_KEY_REGISTER
                           ? j->slot_types[j->slot_first[e->function] + s->key]
                           : COIL_T_VOID;
        extension_need(n, s->value, coil_is_int(type) ? of_bytes[coil_types[type].bytes] : WHOLE);
    }
}

static void extension_look(struct needs *n, const struct coil_jit *j, uint32_t value)
{
    static const uint8_t stored[] = {BYTE, BYTE, WORD, WORD, HALF, HALF};
    const struct ssa_insn *in = &n->f->insns[value];
    if (in->exit) exit_need_state(n, j, &n->f->exits[in->exit - 1]);
    if (bits_pass_on(in->op)) return;
    uint8_t much = in->narrow ? HALF : WHOLE;
    bool cuts = in->op == SSA_STORE && in->mem <= SSA_U32;
    for (unsigned k = 0; k < ssa_ops[in->op].args; k++)
        if (in->arg[k]) extension_need(n, in->arg[k], cuts && k == 2 ? stored[in->mem] : much);
    for (uint32_t k = 0; in->op != SSA_SWITCH && k < in->count; k++)
        if (n->f->pool[in->list + k]) extension_need(n, n->f->pool[in->list + k], WHOLE);
}

static bool has_extensions(const struct ssa_function *f)
{
    for (size_t i = 1; i < f->count; i++)
        if (bits_kept_by(f->insns[i].op)) return true;
    return false;
}

/* Removes the needless extensions of a function. j is the machine for which the code is made, or
 * NULL if the code is for an object file. */
void coil_drop_extensions(struct ssa_function *f, const struct coil_jit *j)
{
    if (!has_extensions(f)) return;
    /* Phis that are not needed would hide uses of a value, so they are removed first. */
    ssa_pass_copies(f);
    struct needs n = {.f = f, .of = calloc(f->count + 1, 1), .waits = calloc(f->count + 1, 1)};
    n.work = malloc((f->count + 1) * sizeof *n.work);
    bool ok = n.of && n.waits && n.work;
    for (size_t b = 0; ok && b < f->block_count; b++)
        if (f->blocks[b].pred_count == 2) widen_counters(f, (uint32_t)b);
    for (size_t b = 0; ok && b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) extension_look(&n, j, i);
    while (ok && n.count) {
        uint32_t value = n.work[--n.count];
        n.waits[value] = 0;
        needs_pass_on(&n, value);
    }
    for (size_t b = 0; ok && b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next)
            if (bits_kept_by(f->insns[i].op) && n.of[i] <= bits_kept_by(f->insns[i].op))
                f->insns[i].op = SSA_COPY;
    free(n.of);
    free(n.waits);
    free(n.work);
}
