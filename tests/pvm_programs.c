#include "pvm_programs.h"
#include <string.h>

const char *const pattern_names[PATTERN_COUNT] = {
#define P(name) #name,
    PATTERNS(P)
#undef P
};

static const uint64_t edges[] = {
    0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000,
    0xffff, 0x10000, 0x10ff8, 0x10ffc, 0x10fff, 0x20000, 0x20010, 0x2fff8, 0x30000, 0x30ffd,
    0x31ff9, 0x32000, 0x3ffc, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xffff0000,
    0xfffffff8, 0xfffffffc, 0xfffffffe, 0xffffffff, UINT64_C(0x100000000),
    UINT64_C(0x100030000), UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000),
    UINT64_C(0x8000000000000001), UINT64_C(0xffffffff80000000), UINT64_C(0xffffffff7fffffff),
    UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 7, UINT64_MAX - 0xfff};
enum { EDGES = sizeof edges / sizeof *edges };

uint64_t choices_next(struct choices *c)
{
    uint64_t steer = c->at < c->size ? c->data[c->at++] : 0;
    c->state ^= steer + UINT64_C(0x9e3779b97f4a7c15);
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return c->state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

uint64_t choices_number(struct choices *c)
{
    switch (below(c, 3)) {
    case 0: return edges[below(c, EDGES)];
    case 1: return below(c, 256) - 128 * below(c, 2);
    default: return choices_next(c) << 16 ^ choices_next(c);
    }
}

/* ---- single instructions ---- */

struct maker {
    struct choices *c;
    struct program *p;
    unsigned room;           /* slots that may still be written */
    unsigned avoid;          /* registers that must keep their values, a bit each */
};

static bool has(const struct program *p, uint8_t op) { return pvm_ops[op].number[p->isa] >= 0; }

static unsigned any_register(struct choices *c) { return (unsigned)below(c, PVM_REGISTERS); }

/* ra and sp hold good addresses and are seldom written. */
static unsigned destination(struct maker *m)
{
    for (;;) {
        unsigned r = any_register(m->c);
        if (r < 2 && below(m->c, 16)) r += 5;
        if (!(m->avoid >> r & 1)) return r;
    }
}

static bool accesses(uint8_t op)
{
    const char *name = pvm_ops[op].name;
    return (!strncmp(name, "load_", 5) && strncmp(name, "load_imm", 8)) ||
           !strncmp(name, "store_", 6);
}

/* Where slot `from` may jump: mostly to the start of a block. */
static unsigned target(struct maker *m, unsigned from)
{
    const struct program *p = m->p;
    unsigned low = p->forward ? from + 1 : 0;
    unsigned to = low + (unsigned)below(m->c, p->count - low);
    for (unsigned k = to; k > low; k--)
        if (pvm_ends_block(p->slots[k - 1].op)) {
            to = k;
            break;
        }
    while (p->forward && to + 1 < p->count && p->slots[to].head) to++;
    return to;
}

static struct slot *add(struct maker *m, uint8_t op, enum pattern pattern)
{
    struct slot *s = &m->p->slots[m->p->count++];
    m->room--;
    *s = (struct slot){.op = op, .pattern = (uint8_t)pattern, .to = -1};
    return s;
}

/* d = a op b, or d = a op x */
static void add3(struct maker *m, uint8_t op, unsigned d, unsigned a, unsigned b, enum pattern why)
{
    struct slot *s = add(m, op, why);
    s->d = (uint8_t)d;
    s->a = (uint8_t)a;
    s->b = (uint8_t)b;
}
static void add_imm(struct maker *m, uint8_t op, unsigned d, unsigned source, uint64_t x,
                    enum pattern why)
{
    struct slot *s = add(m, op, why);
    s->a = (uint8_t)d;
    s->b = (uint8_t)source;
    s->x = x;
}

/* Operands of any instruction; the target comes when all slots are there. */
static void operands(struct maker *m, struct slot *s)
{
    struct choices *c = m->c;
    bool access = accesses(s->op), store = !strncmp(pvm_ops[s->op].name, "store", 5);
    bool absolute = pvm_ops[s->op].shape == PVM_IMM_IMM || pvm_ops[s->op].shape == PVM_REG_IMM;
    s->a = (uint8_t)(store || pvm_has_target(s->op) ? any_register(c) : destination(m));
    s->b = (uint8_t)any_register(c);
    s->d = (uint8_t)destination(m);
    s->x = choices_number(c);
    s->y = choices_number(c);
    switch ((enum pvm_shape)pvm_ops[s->op].shape) {
    case PVM_REG_REG:
    case PVM_REG_REG_REG: s->a = (uint8_t)any_register(c); break;
    case PVM_REG_IMM_OFFSET:
        if (s->op == PVM_OP_load_imm_and_jump) s->a = (uint8_t)destination(m);
        break;
    case PVM_REG_IMM_IMM:
        if (below(c, 8)) s->a = (uint8_t)below(c, 2);
        break;
    case PVM_REG_REG_IMM:
        if (!access && !below(c, 3)) s->b = s->a;
        break;
    case PVM_IMM: s->x = below(c, 8); break;
    default: break;
    }
    if (access && below(c, 8)) s->b = (uint8_t)below(c, 2);
    if (access && below(c, 4)) s->x = absolute ? 0x30000 + below(c, 0x2000) : below(c, 64);
    if (pvm_ops[s->op].flow == PVM_FLOW_DYNAMIC) {
        bool second = s->op == PVM_OP_load_imm_and_jump_indirect;
        if (below(c, 3)) *(second ? &s->y : &s->x) = 2 * below(c, TABLE_MAX + 2);
    }
}

static void any_instruction(struct maker *m, bool inside_block)
{
    const struct program *p = m->p;
    for (;;) {
        uint8_t op = (uint8_t)(1 + below(m->c, PVM_OPS - 1));
        bool dynamic = pvm_ops[op].flow == PVM_FLOW_DYNAMIC;
        if (!has(p, op) || (p->forward && dynamic)) continue;
        if (inside_block && pvm_ops[op].flow != PVM_FLOW_NEXT) continue;
        if ((op == PVM_OP_trap || op == PVM_OP_memset || dynamic) && below(m->c, 8)) continue;
        if (op == PVM_OP_memset && m->avoid) continue;
        operands(m, add(m, op, PATTERN_none));
        return;
    }
}

/* ---- patterns ---- */

static uint8_t word_op(const struct program *p, uint8_t wide, uint8_t narrow)
{
    return has(p, wide) ? wide : narrow;
}

static uint8_t load_op(struct maker *m)
{
    for (;;) {
        uint8_t op = (uint8_t)(PVM_OP_load_indirect_u8 +
                               below(m->c, PVM_OP_load_indirect_u64 - PVM_OP_load_indirect_u8 + 1));
        if (has(m->p, op)) return op;
    }
}

/* The register itself, or now and then another one: what is nearly the pattern matters too. */
static unsigned nearly(struct maker *m, unsigned reg)
{
    return below(m->c, 8) ? reg : destination(m);
}

static uint64_t offset(struct maker *m)
{
    return below(m->c, 4) ? below(m->c, 64) : choices_number(m->c);
}

/* d = i << 1..3; d = d + base; d = [d + offset]. The index is small if the load shall succeed. */
static void index_load(struct maker *m, enum pattern why)
{
    struct choices *c = m->c;
    const struct program *p = m->p;
    unsigned d = destination(m), i = below(c, 3) ? destination(m) : d, base = (unsigned)below(c, 2);
    if (!below(c, 8)) base = any_register(c);
    if (why == PATTERN_add_load) {
        uint8_t op = below(c, 8) ? word_op(p, PVM_OP_add_64, PVM_OP_add_32) : PVM_OP_add_32;
        if (below(c, 4)) add_imm(m, PVM_OP_load_imm, i, 0, below(c, 64), why);
        bool first = below(c, 2);
        add3(m, op, d, first ? base : i, first ? i : base, why);
    } else {
        uint8_t shift = word_op(p, PVM_OP_shift_logical_left_imm_64, PVM_OP_shift_logical_left_imm_32);
        if (!below(c, 8)) shift = PVM_OP_shift_logical_left_imm_32;
        if (below(c, 4)) add_imm(m, PVM_OP_load_imm, i, 0, below(c, 64), why);
        add_imm(m, shift, d, i, below(c, 16) ? 1 + below(c, 3) : below(c, 70), why);
        bool first = below(c, 2);
        add3(m, word_op(p, PVM_OP_add_64, PVM_OP_add_32), nearly(m, d), first ? base : nearly(m, d),
             first ? nearly(m, d) : base, why);
        if (why == PATTERN_index_add) return;
    }
    add_imm(m, load_op(m), nearly(m, d), nearly(m, d), offset(m), why);
}

static void low_half(struct maker *m)
{
    unsigned d = destination(m), s = below(m->c, 2) ? any_register(m->c) : d;
    uint8_t back = below(m->c, 2) ? PVM_OP_shift_logical_right_imm_64
                                  : PVM_OP_shift_arithmetic_right_imm_64;
    if (!has(m->p, back)) return;
    uint64_t by = below(m->c, 8) ? 32 : below(m->c, 66);
    add_imm(m, PVM_OP_shift_logical_left_imm_64, d, s, by, PATTERN_low_half);
    add_imm(m, back, nearly(m, d), nearly(m, d), below(m->c, 8) ? by : below(m->c, 66),
            PATTERN_low_half);
}

/* A block that branches to itself: a counter of its own ends it, a 32-bit variable goes by steps
 * from an edge, and whatever else is in between. */
static void loop(struct maker *m, enum pattern why)
{
    struct choices *c = m->c;
    unsigned counter = destination(m), avoid = m->avoid, rounds = 1 + (unsigned)below(c, 12);
    m->avoid |= 1u << counter;
    unsigned d = destination(m);
    unsigned step = below(c, 2) ? destination(m) : d;
    add_imm(m, PVM_OP_load_imm, counter, 0, rounds, why);
    add_imm(m, PVM_OP_load_imm, d, 0, choices_number(c), why);
    if (step != d) add_imm(m, PVM_OP_load_imm, step, 0, choices_number(c), why);
    add(m, PVM_OP_fallthrough, why);
    unsigned head = m->p->count, inside = (unsigned)below(c, 4);
    if (why == PATTERN_widened_loop) m->avoid |= 1u << d | (below(c, 8) ? 1u << step : 0);
    unsigned before = (unsigned)below(c, inside + 1);
    for (unsigned i = 0; i < before && m->room > 8; i++) any_instruction(m, true);
    if (why == PATTERN_widened_loop) {
        if (step != d && below(c, 4)) {
            bool first = below(c, 2);
            add3(m, PVM_OP_add_32, d, first ? d : step, first ? step : d, why);
        } else {
            add_imm(m, PVM_OP_add_imm_32, d, d, choices_number(c), why);
        }
        if (below(c, 2)) add_imm(m, load_op(m), destination(m), nearly(m, d), offset(m), why);
    }
    for (unsigned i = before; i < inside && m->room > 8; i++) any_instruction(m, true);
    add_imm(m, word_op(m->p, PVM_OP_add_imm_64, PVM_OP_add_imm_32), counter, counter, UINT64_MAX,
            why);
    struct slot *s = add(m, below(c, 2) ? PVM_OP_branch_not_eq_imm : PVM_OP_branch_greater_signed_imm,
                         why);
    s->a = (uint8_t)counter;
    s->to = (int)head;
    m->p->slots[head].head = true;
    m->p->loops = true;
    m->avoid = avoid;
}

/* A jump back to a chain that ends with a jump through the table. */
static void dispatch(struct maker *m)
{
    struct choices *c = m->c;
    if (m->p->forward) return;
    unsigned d = 2 + (unsigned)below(c, 11);
    add(m, PVM_OP_fallthrough, PATTERN_dispatch);
    unsigned head = m->p->count;
    add_imm(m, PVM_OP_and_imm, d, any_register(c), 2 * below(c, 32), PATTERN_dispatch);
    for (uint64_t i = below(c, 4); i; i--) any_instruction(m, true);
    if (below(c, 2)) {
        struct slot *s = add(m, PVM_OP_branch_eq, PATTERN_dispatch);
        s->a = (uint8_t)any_register(c);
        s->b = (uint8_t)any_register(c);
    }
    struct slot *s = add(m, PVM_OP_jump_indirect, PATTERN_dispatch);
    s->a = (uint8_t)d;
    s->x = below(c, 2) ? 0 : 2 * below(c, 8);
    for (uint64_t i = below(c, 4); i; i--) any_instruction(m, true);
    add(m, PVM_OP_jump, PATTERN_dispatch)->to = (int)head;
}

static uint8_t compare_op(struct choices *c)
{
    return below(c, 2) ? PVM_OP_set_less_than_unsigned : PVM_OP_set_less_than_signed;
}

static void compare(struct maker *m, bool branch)
{
    struct choices *c = m->c;
    unsigned d = destination(m);
    if (below(c, 3)) add3(m, compare_op(c), d, any_register(c), any_register(c),
                          branch ? PATTERN_compare_branch : PATTERN_compare_move);
    else add_imm(m, PVM_OP_set_greater_than_signed_imm, d, any_register(c), choices_number(c),
                 branch ? PATTERN_compare_branch : PATTERN_compare_move);
    if (branch) {
        struct slot *s = add(m, below(c, 2) ? PVM_OP_branch_eq_imm : PVM_OP_branch_not_eq_imm,
                             PATTERN_compare_branch);
        s->a = (uint8_t)nearly(m, d);
        s->x = below(c, 4) ? 0 : choices_number(c);
    } else {
        add3(m, below(c, 2) ? PVM_OP_cmov_if_zero : PVM_OP_cmov_if_not_zero, destination(m),
             any_register(c), nearly(m, d), PATTERN_compare_move);
    }
}

/* A constant that the next instruction uses. */
static void constant(struct maker *m)
{
    unsigned d = destination(m);
    add_imm(m, PVM_OP_load_imm, d, 0, choices_number(m->c), PATTERN_constant);
    unsigned at = m->p->count;
    any_instruction(m, true);
    struct slot *s = &m->p->slots[at];
    s->pattern = PATTERN_constant;
    if (pvm_ops[s->op].shape == PVM_REG_REG_REG) *(below(m->c, 2) ? &s->a : &s->b) = (uint8_t)d;
    else if (pvm_ops[s->op].shape == PVM_REG_REG_IMM) s->b = (uint8_t)d;
}

/* Two results of the same operands. */
static void pair(struct maker *m, enum pattern why)
{
    struct choices *c = m->c;
    unsigned a = any_register(c), b = any_register(c);
    uint8_t first = why == PATTERN_both_halves ? word_op(m->p, PVM_OP_mul_64, PVM_OP_mul_32)
                                               : word_op(m->p, PVM_OP_div_signed_64, PVM_OP_div_signed_32);
    uint8_t second = why == PATTERN_both_halves
                         ? (uint8_t)(PVM_OP_mul_upper_signed_signed + below(c, 3))
                         : word_op(m->p, PVM_OP_rem_signed_64, PVM_OP_rem_signed_32);
    if (!has(m->p, second)) return;
    bool swap = below(c, 2);
    add3(m, swap ? second : first, destination(m), a, b, why);
    add3(m, swap ? first : second, destination(m), a, b, why);
}

static void call_return(struct maker *m)
{
    struct choices *c = m->c;
    if (m->p->forward) return;
    unsigned d = below(c, 2) ? 0 : destination(m);
    uint64_t back = below(c, 4) ? 2 + 2 * below(c, TABLE_MAX) : choices_number(c);
    if (below(c, 2)) {
        struct slot *s = add(m, PVM_OP_load_imm_and_jump, PATTERN_call_return);
        s->a = (uint8_t)d;
        s->x = back;
    } else {
        add_imm(m, PVM_OP_load_imm, d, 0, back, PATTERN_call_return);
    }
    if (below(c, 2)) add(m, PVM_OP_fallthrough, PATTERN_call_return);
    struct slot *s = add(m, below(c, 3) ? PVM_OP_jump_indirect : PVM_OP_load_imm_and_jump_indirect,
                         PATTERN_call_return);
    s->a = (uint8_t)(s->op == PVM_OP_jump_indirect ? d : below(c, 2) ? d : destination(m));
    s->b = (uint8_t)d;
    if (s->op == PVM_OP_load_imm_and_jump_indirect) s->x = choices_number(c);
}

static void halt(struct maker *m)
{
    if (m->p->forward && below(m->c, 2)) return;
    add_imm(m, PVM_OP_load_imm, 0, 0, 0xffff0000, PATTERN_halt);
    struct slot *s = add(m, PVM_OP_jump_indirect, PATTERN_halt);
    s->a = 0;
}

static void set_memory(struct maker *m)
{
    if (!has(m->p, PVM_OP_memset)) return;
    add_imm(m, PVM_OP_load_imm, 7, 0, 0x30000 + below(m->c, 0x2080), PATTERN_memset);
    add_imm(m, PVM_OP_load_imm, 9, 0, below(m->c, 4) ? below(m->c, 0x60) : choices_number(m->c) & 0xffff,
            PATTERN_memset);
    add(m, PVM_OP_memset, PATTERN_memset);
}

static void grow(struct maker *m)
{
    unsigned d = destination(m), s = destination(m);
    if (!has(m->p, PVM_OP_sbrk)) return;
    add_imm(m, PVM_OP_load_imm, s, 0, below(m->c, 3) ? below(m->c, 0x3000) : choices_number(m->c),
            PATTERN_sbrk);
    add3(m, PVM_OP_sbrk, d, s, 0, PATTERN_sbrk);
    if (below(m->c, 2)) add_imm(m, load_op(m), destination(m), d, 0 - below(m->c, 16), PATTERN_sbrk);
}

/* A value stored and read back, in other sizes and next to each other. */
static void load_store(struct maker *m)
{
    static const uint8_t stores[] = {PVM_OP_store_indirect_u8, PVM_OP_store_indirect_u16,
                                     PVM_OP_store_indirect_u32, PVM_OP_store_indirect_u64};
    struct choices *c = m->c;
    uint8_t store = stores[below(c, 4)];
    unsigned base = (unsigned)below(c, 2);
    uint64_t at = below(c, 0x40);
    if (!has(m->p, store)) store = PVM_OP_store_indirect_u32;
    add_imm(m, store, any_register(c), base, at, PATTERN_load_store);
    add_imm(m, load_op(m), destination(m), base, at + below(c, 8) - 4, PATTERN_load_store);
    if (below(c, 2)) add_imm(m, load_op(m), destination(m), base, at + 8, PATTERN_load_store);
}

/* 32-bit results that feed each other: where extensions may be left out. */
static void narrow_chain(struct maker *m)
{
    static const uint8_t ops[] = {
        PVM_OP_add_imm_32, PVM_OP_mul_imm_32, PVM_OP_shift_logical_left_imm_32,
        PVM_OP_shift_logical_right_imm_32, PVM_OP_shift_arithmetic_right_imm_32,
        PVM_OP_rotate_right_imm_32, PVM_OP_negate_and_add_imm_32, PVM_OP_and_imm, PVM_OP_xor_imm};
    unsigned d = destination(m);
    for (uint64_t i = 2 + below(m->c, 3); i; i--)
        add_imm(m, ops[below(m->c, sizeof ops)], d, d, choices_number(m->c), PATTERN_narrow_chain);
    if (below(m->c, 2))
        add3(m, below(m->c, 2) ? PVM_OP_add_32 : PVM_OP_xor, destination(m), d, any_register(m->c),
             PATTERN_narrow_chain);
}

static void move_chain(struct maker *m)
{
    unsigned d = destination(m);
    for (uint64_t i = 1 + below(m->c, 3); i; i--) {
        unsigned next = destination(m);
        add3(m, PVM_OP_move_reg, next, d, 0, PATTERN_move_chain);
        d = next;
    }
    unsigned at = m->p->count;
    any_instruction(m, true);
    struct slot *s = &m->p->slots[at];
    if (pvm_ops[s->op].shape == PVM_REG_REG_REG) s->a = (uint8_t)d;
}

enum { PATTERN_ROOM = 24 };  /* slots that the longest needs */

static void any_pattern(struct maker *m)
{
    enum pattern why = (enum pattern)(1 + below(m->c, PATTERN_COUNT - 1));
    switch (why) {
    case PATTERN_index_load:
    case PATTERN_index_add:
    case PATTERN_add_load: index_load(m, why); break;
    case PATTERN_low_half: low_half(m); break;
    case PATTERN_widened_loop:
    case PATTERN_counted_loop: loop(m, why); break;
    case PATTERN_dispatch: dispatch(m); break;
    case PATTERN_compare_branch: compare(m, true); break;
    case PATTERN_compare_move: compare(m, false); break;
    case PATTERN_constant: constant(m); break;
    case PATTERN_both_halves:
    case PATTERN_divide_and_rest: pair(m, why); break;
    case PATTERN_call_return: call_return(m); break;
    case PATTERN_memset: set_memory(m); break;
    case PATTERN_sbrk: grow(m); break;
    case PATTERN_load_store: load_store(m); break;
    case PATTERN_narrow_chain: narrow_chain(m); break;
    case PATTERN_move_chain: move_chain(m); break;
    case PATTERN_halt:
        if (!below(m->c, 4)) halt(m);
        break;
    default: break;
    }
}

/* ---- bytes ---- */

/* So many bytes of a number: mostly as few as hold it, now and then fewer unless it matters. */
static unsigned length_of(struct choices *c, const struct slot *s, uint64_t v)
{
    unsigned least = 0;
    int64_t value = (int64_t)(int32_t)(uint32_t)v;
    while (least < 4 && (least ? value >> (8 * least - 1) != value >> 63 : value != 0)) least++;
    if (s->pattern == PATTERN_none && !below(c, 4)) return (unsigned)below(c, 5);
    return least + (below(c, 2) ? 0 : (unsigned)below(c, 5 - least));
}

static uint8_t *put(uint8_t *at, uint64_t v, unsigned length)
{
    for (unsigned i = 0; i < length; i++) *at++ = (uint8_t)(v >> 8 * i);
    return at;
}

/* A nibble: those above 12 mean the last register. */
static unsigned nibble(struct choices *c, unsigned reg)
{
    return reg == 12 && !below(c, 4) ? 12 + (unsigned)below(c, 4) : reg;
}

/* Its bytes, up to the target's, which are two and are written when all places are known. */
static uint8_t *encode(struct choices *c, const struct program *p, const struct slot *s, uint8_t *at)
{
    unsigned first, a = nibble(c, s->a), b = nibble(c, s->b), d = nibble(c, s->d);
    *at++ = (uint8_t)pvm_ops[s->op].number[p->isa];
    switch ((enum pvm_shape)pvm_ops[s->op].shape) {
    case PVM_IMM: return put(at, s->x, length_of(c, s, s->x));
    case PVM_IMM_IMM:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)first;
        return put(put(at, s->x, first), s->y, length_of(c, s, s->y));
    case PVM_REG_IMM: *at++ = (uint8_t)a; return put(at, s->x, length_of(c, s, s->x));
    case PVM_REG_IMM_IMM:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)(a | first << 4);
        return put(put(at, s->x, first), s->y, length_of(c, s, s->y));
    case PVM_REG_IMM_OFFSET:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)(a | first << 4);
        return put(at, s->x, first);
    case PVM_REG_IMM64:
        *at++ = (uint8_t)a;
        return put(put(at, s->x, 4), s->y >> below(c, 33), 4);
    case PVM_REG_REG: *at++ = (uint8_t)(d | a << 4); return at;
    case PVM_REG_REG_IMM:
        *at++ = (uint8_t)(a | b << 4);
        return put(at, s->x, length_of(c, s, s->x));
    case PVM_REG_REG_OFFSET: *at++ = (uint8_t)(a | b << 4); return at;
    case PVM_REG_REG_IMM_IMM:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)(a | b << 4);
        *at++ = (uint8_t)first;
        return put(put(at, s->x, first), s->y, length_of(c, s, s->y));
    case PVM_REG_REG_REG:
        *at++ = (uint8_t)(a | b << 4);
        *at++ = (uint8_t)d;
        return at;
    default: return at;
    }
}

static void start_at(struct program *p, uint32_t at) { p->mask[at / 8] |= (uint8_t)(1u << at % 8); }

static void layout(struct maker *m)
{
    struct program *p = m->p;
    uint8_t *targets[INSNS_MAX];
    for (unsigned i = 0; i < p->count; i++) {
        struct slot *s = &p->slots[i];
        p->starts[i] = p->size;
        start_at(p, p->size);
        uint8_t *end = encode(m->c, p, s, p->code + p->size);
        targets[i] = end;
        if (pvm_has_target(s->op)) end += 2 + 2 * below(m->c, 2);
        /* more than anybody reads, or another number */
        if (s->pattern == PATTERN_none && !below(m->c, 64)) end += below(m->c, 4);
        p->size = (uint32_t)(end - p->code);
    }
    for (unsigned i = 0; i < p->count; i++) {
        struct slot *s = &p->slots[i];
        if (!pvm_has_target(s->op)) continue;
        if (s->to < 0) s->to = (int)target(m, i);
        uint32_t end = i + 1 < p->count ? p->starts[i + 1] : p->size;
        uint32_t distance = p->starts[s->to] - p->starts[i];
        put(targets[i], (uint64_t)(int64_t)(int32_t)distance,
            (uint32_t)(p->code + end - targets[i]));
    }
}

/* Bytes at random, starts at random: whatever they mean. */
static void noise(struct maker *m)
{
    struct program *p = m->p;
    unsigned each = 1 + (unsigned)below(m->c, 6);
    p->size = 1 + (uint32_t)below(m->c, 400);
    p->forward = false;
    for (uint32_t i = 0; i < p->size; i++) {
        uint8_t op = (uint8_t)(1 + below(m->c, PVM_OPS - 1));
        bool start = !i || !below(m->c, each);
        p->code[i] = (uint8_t)choices_next(m->c);
        if (start && has(p, op) && below(m->c, 16)) p->code[i] = (uint8_t)pvm_ops[op].number[p->isa];
        if (start) start_at(p, i);
        if (start && p->count < INSNS_MAX) p->starts[p->count++] = i;
    }
}

static void jump_table(struct maker *m)
{
    struct program *p = m->p;
    for (unsigned i = 0; i < TABLE_MAX; i++) {
        unsigned to = (unsigned)below(m->c, p->count);
        while (to && !pvm_ends_block(p->slots[to - 1].op) && below(m->c, 16)) to--;
        put(p->table + 2 * i, p->starts[to] + !below(m->c, 32), 2);
    }
}

void program_generate(struct choices *c, struct program *p)
{
    struct maker m = {.c = c, .p = p};
    memset(p, 0, sizeof *p);
    p->isa = (enum pvm_isa)below(c, PVM_ISAS);
    p->forward = !below(c, 3);
    if (!below(c, 24)) {
        noise(&m);
    } else {
        unsigned wanted = 1 + (unsigned)below(c, below(c, 2) ? 12 : INSNS_MAX - PATTERN_ROOM - 1);
        m.room = INSNS_MAX - 1;
        while (p->count < wanted) {
            if (below(c, 3)) any_instruction(&m, false);
            else any_pattern(&m);
        }
        add(&m, PVM_OP_trap, PATTERN_none);
        layout(&m);
        if (below(c, 2)) p->size += 100; /* not near the end of the code: as bytes that nobody enters */
    }
    jump_table(&m);
    p->view = (struct pvm_code){.isa = p->isa, .bytes = {p->code, p->size},
                                .mask = {p->mask, (p->size + 7) / 8}, .starts = p->mask,
                                .table = {p->table, 2 * TABLE_MAX}, .table_count = TABLE_MAX,
                                .table_entry = 2};
}
