/* Folds constants and identities. An instruction whose result is known becomes a constant or a
 * copy, and an instruction that has a simpler form gets it. Blocks are visited in the order of
 * their numbers, so that arguments are simplified before their users, except around loops. */
#include "ssa/ssa.h"

static int64_t fold_cut(bool narrow, uint64_t v) { return (int64_t)(narrow ? (uint32_t)v : v); }

bool ssa_cond_holds(enum ssa_cond cond, bool narrow, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)fold_cut(narrow, (uint64_t)a),
             y = (uint64_t)fold_cut(narrow, (uint64_t)b);
    int64_t s = narrow ? (int32_t)a : a, t = narrow ? (int32_t)b : b;
    switch (cond) {
    case SSA_EQ: return x == y;
    case SSA_NE: return x != y;
    case SSA_LT: return s < t;
    case SSA_LE: return s <= t;
    case SSA_GT: return s > t;
    case SSA_GE: return s >= t;
    case SSA_B: return x < y;
    case SSA_BE: return x <= y;
    case SSA_A: return x > y;
    default: return x >= y;
    }
}

static bool fold_compute(const struct ssa_insn *in, int64_t a, int64_t b, int64_t *out)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    unsigned mask = in->narrow ? 31 : 63, n = (unsigned)y & mask;
    if (in->narrow) x = (uint32_t)x;
    uint64_t r;
    switch (in->op) {
    case SSA_ADD: r = x + y; break;
    case SSA_SUB: r = x - y; break;
    case SSA_MUL: r = x * y; break;
    case SSA_AND: r = x & y; break;
    case SSA_OR: r = x | y; break;
    case SSA_XOR: r = x ^ y; break;
    case SSA_SHL: r = x << n; break;
    case SSA_SHR: r = x >> n; break;
    case SSA_SAR: r = (uint64_t)((in->narrow ? (int64_t)(int32_t)x : (int64_t)x) >> n); break;
    case SSA_NEG: r = 0 - x; break;
    case SSA_NOT: r = ~x; break;
    case SSA_SEXT8: r = (uint64_t)(int64_t)(int8_t)x; break;
    case SSA_SEXT16: r = (uint64_t)(int64_t)(int16_t)x; break;
    case SSA_SEXT32: r = (uint64_t)(int64_t)(int32_t)x; break;
    case SSA_ZEXT8: r = (uint8_t)x; break;
    case SSA_ZEXT16: r = (uint16_t)x; break;
    case SSA_ZEXT32: r = (uint32_t)x; break;
    case SSA_SET: r = ssa_cond_holds((enum ssa_cond)in->cond, in->narrow, a, b); break;
    default: return false;
    }
    *out = fold_cut(in->narrow, r);
    return true;
}

static void become_const(struct ssa_insn *in, int64_t imm)
{
    in->op = SSA_CONST;
    in->imm = imm;
    in->arg[0] = in->arg[1] = in->arg[2] = 0;
    in->narrow = false;
}

static void become_copy(struct ssa_insn *in, uint32_t value)
{
    in->op = SSA_COPY;
    in->arg[0] = value;
    in->arg[1] = in->arg[2] = 0;
    in->narrow = false;
}

/* Tells whether the upper half of a value is known to be zero. */
static bool upper_zero(const struct ssa_function *f, uint32_t value)
{
    const struct ssa_insn *in = &f->insns[value];
    if (in->op == SSA_CONST) return in->imm >= 0 && in->imm <= UINT32_MAX;
    if (in->op == SSA_LOAD) return in->mem == SSA_U8 || in->mem == SSA_U16 || in->mem == SSA_U32;
    return (in->narrow && ssa_has(in->op, 'w')) || (in->op >= SSA_ZEXT8 && in->op <= SSA_ZEXT32) ||
           in->op == SSA_SET || in->op == SSA_FSET;
}

/* Returns the value under extensions of its low half, because these do not change the low half. */
static uint32_t low_half(const struct ssa_function *f, uint32_t value)
{
    const struct ssa_insn *in = &f->insns[value];
    while (in->op == SSA_SEXT32 || in->op == SSA_ZEXT32 || in->op == SSA_COPY) {
        value = in->arg[0];
        in = &f->insns[value];
    }
    return value;
}

static bool takes_low_half(const struct ssa_insn *in, unsigned arg)
{
    if (in->op == SSA_SEXT32 || in->op == SSA_ZEXT32) return true;
    if (in->op >= SSA_SEXT8 && in->op <= SSA_ZEXT16) return true;
    if (in->op == SSA_STORE) return arg == 2 && in->mem <= SSA_U32;
    return in->narrow && (ssa_has(in->op, 'w') || ssa_has(in->op, 'k'));
}

static void fold_identities(struct ssa_function *f, struct ssa_insn *in, int64_t b)
{
    uint32_t a = in->arg[0];
    bool same = !in->narrow || upper_zero(f, a);
    switch (in->op) {
    case SSA_ADD:
    case SSA_SUB:
    case SSA_OR:
    case SSA_XOR:
    case SSA_SHL:
    case SSA_SHR:
    case SSA_SAR:
    case SSA_ROL:
    case SSA_ROR:
        if (!b && same) become_copy(in, a);
        break;
    case SSA_MUL:
        if (b == 1 && same)
            become_copy(in, a);
        else if (!b)
            become_const(in, 0);
        break;
    case SSA_AND:
        if (!b)
            become_const(in, 0);
        else if (b == -1 && same)
            become_copy(in, a);
        break;
    default: break;
    }
}

/* Turns (x + c) + d into x + (c + d), and a multiplication by a power of two into a shift. */
static void fold_rearrange(struct ssa_function *f, uint32_t value)
{
    int64_t b, c;
    struct ssa_insn *in = &f->insns[value];
    if (!ssa_is_const(f, in->arg[1], &b)) return;
    b = fold_cut(in->narrow, (uint64_t)b);
    if (in->op == SSA_MUL && b > 1 && !(b & (b - 1))) {
        uint32_t count = ssa_const_before(f, value, (uint64_t)__builtin_ctzll((uint64_t)b));
        if (!count) return;
        in = &f->insns[value];
        in->op = SSA_SHL;
        in->arg[1] = count;
        return;
    }
    if (in->op != SSA_ADD && in->op != SSA_SUB) return;
    const struct ssa_insn *x = &f->insns[in->arg[0]];
    bool sum = (x->op == SSA_ADD || x->op == SSA_SUB) && x->narrow == in->narrow;
    if (!sum || !ssa_is_const(f, x->arg[1], &c)) return;
    uint64_t total = (in->op == SSA_ADD ? (uint64_t)b : 0 - (uint64_t)b) +
                     (x->op == SSA_ADD ? (uint64_t)c : 0 - (uint64_t)c);
    uint32_t from = x->arg[0],
             made = ssa_const_before(f, value, (uint64_t)fold_cut(in->narrow, total));
    if (!made) return;
    in = &f->insns[value];
    in->op = SSA_ADD;
    in->arg[0] = from;
    in->arg[1] = made;
}

static void fold_simplify(struct ssa_function *f, uint32_t value)
{
    struct ssa_insn *in = &f->insns[value];
    unsigned args = ssa_ops[in->op].args;
    int64_t a = 0, b = 0, r;
    for (unsigned i = 0; i < args; i++) {
        in->arg[i] = ssa_origin(f, in->arg[i]);
        if (in->arg[i] && takes_low_half(in, i)) in->arg[i] = low_half(f, in->arg[i]);
    }
    if (!ssa_has(in->op, 'p') || in->type != SSA_INT || ssa_has(in->op, 'a')) return;
    bool ka = args > 0 && ssa_is_const(f, in->arg[0], &a),
         kb = args > 1 && ssa_is_const(f, in->arg[1], &b);
    if (args && ka && (args == 1 || kb) && fold_compute(in, a, b, &r)) {
        become_const(in, r);
        return;
    }
    if (ka && !kb && args == 2 && ssa_has(in->op, 'c')) {
        uint32_t first = in->arg[0];
        in->arg[0] = in->arg[1];
        in->arg[1] = first;
        kb = true;
        b = a;
    }
    if (in->op == SSA_SUB && ka && !a) {
        in->op = SSA_NEG;
        in->arg[0] = in->arg[1];
        in->arg[1] = 0;
        return;
    }
    if (in->op == SSA_ZEXT32 && upper_zero(f, in->arg[0])) {
        become_copy(in, in->arg[0]);
        return;
    }
    if (in->op == SSA_BITS && f->insns[in->arg[0]].op == SSA_REAL) {
        const struct ssa_insn *x = &f->insns[in->arg[0]];
        if (x->type == SSA_F64) become_copy(in, x->arg[0]);
        return;
    }
    if (kb) fold_identities(f, in, b);
    if (kb && f->insns[value].op != SSA_COPY) fold_rearrange(f, value);
}

void ssa_pass_fold(struct ssa_function *f)
{
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i && !f->failed; i = f->insns[i].next) {
            struct ssa_insn *in = &f->insns[i];
            if (in->op == SSA_REAL && f->insns[ssa_origin(f, in->arg[0])].op == SSA_BITS) {
                const struct ssa_insn *x = &f->insns[ssa_origin(f, in->arg[0])];
                if (f->insns[ssa_origin(f, x->arg[0])].type == in->type) {
                    become_copy(in, ssa_origin(f, x->arg[0]));
                    continue;
                }
            }
            int64_t imm;
            if (in->op == SSA_REAL && ssa_is_const(f, in->arg[0], &imm)) {
                in->op = SSA_CONST;
                in->imm = in->type == SSA_F32 ? (int64_t)(uint32_t)imm : imm;
                in->arg[0] = 0;
                continue;
            }
            fold_simplify(f, i);
        }
    ssa_pass_copies(f);
}
