/* Writes sequences that a compiler may treat as one instruction, and sequences that nearly are. */
#include "pvm_maker.h"

/* Writes d = a op b, or d = a op x. */
static void pvm_patterns_add3(struct maker *m, uint8_t op, unsigned d, unsigned a, unsigned b,
                              enum pattern why)
{
    struct slot *s = maker_add(m, op, why);
    s->d = (uint8_t)d;
    s->a = (uint8_t)a;
    s->b = (uint8_t)b;
}
static void add_imm(struct maker *m, uint8_t op, unsigned d, unsigned source, uint64_t x,
                    enum pattern why)
{
    struct slot *s = maker_add(m, op, why);
    s->a = (uint8_t)d;
    s->b = (uint8_t)source;
    s->x = x;
}

static uint8_t word_op(const struct program *p, uint8_t wide, uint8_t narrow)
{
    return program_has(p, wide) ? wide : narrow;
}

static uint8_t load_op(struct maker *m)
{
    for (;;) {
        uint8_t op =
            (uint8_t)(PVM_OP_load_indirect_u8 +
                      choices_below(m->c, PVM_OP_load_indirect_u64 - PVM_OP_load_indirect_u8 + 1));
        if (program_has(m->p, op)) return op;
    }
}

static void add_load(struct maker *m, unsigned to, unsigned base, uint64_t at, enum pattern why)
{
    uint8_t op = load_op(m);
    add_imm(m, op, to, base, at, why);
}

/* Returns the register itself, or now and then another one, so that the pattern nearly matches. */
static unsigned pvm_patterns_nearly(struct maker *m, unsigned reg)
{
    return choices_below(m->c, 8) ? reg : maker_destination(m);
}

static uint64_t pvm_patterns_offset(struct maker *m)
{
    return choices_below(m->c, 4) ? choices_below(m->c, 64) : choices_number(m->c);
}

/* Writes d = i << 1..3; d = d + base; d = [d + offset]. The index is small if the load shall
 * succeed. */
static void index_load(struct maker *m, enum pattern why)
{
    struct choices *c = m->c;
    const struct program *p = m->p;
    unsigned d = maker_destination(m), i = choices_below(c, 3) ? maker_destination(m) : d;
    unsigned base = (unsigned)choices_below(c, 2);
    if (!choices_below(c, 8)) base = any_register(c);
    if (why == PATTERN_add_load) {
        uint8_t op = choices_below(c, 8) ? word_op(p, PVM_OP_add_64, PVM_OP_add_32) : PVM_OP_add_32;
        if (choices_below(c, 4)) add_imm(m, PVM_OP_load_imm, i, 0, choices_below(c, 64), why);
        bool first = choices_below(c, 2);
        pvm_patterns_add3(m, op, d, first ? base : i, first ? i : base, why);
    } else {
        uint8_t shift =
            word_op(p, PVM_OP_shift_logical_left_imm_64, PVM_OP_shift_logical_left_imm_32);
        if (!choices_below(c, 8)) shift = PVM_OP_shift_logical_left_imm_32;
        if (choices_below(c, 4)) add_imm(m, PVM_OP_load_imm, i, 0, choices_below(c, 64), why);
        add_imm(m, shift, d, i,
                choices_below(c, 16) ? 1 + choices_below(c, 3) : choices_below(c, 70), why);
        bool first = choices_below(c, 2);
        unsigned to = pvm_patterns_nearly(m, d), shifted = pvm_patterns_nearly(m, d);
        pvm_patterns_add3(m, word_op(p, PVM_OP_add_64, PVM_OP_add_32), to, first ? base : shifted,
                          first ? shifted : base, why);
        if (why == PATTERN_index_add) return;
    }
    unsigned to = pvm_patterns_nearly(m, d), from = pvm_patterns_nearly(m, d);
    add_load(m, to, from, pvm_patterns_offset(m), why);
}

static void low_half(struct maker *m)
{
    unsigned d = maker_destination(m), s = choices_below(m->c, 2) ? any_register(m->c) : d;
    uint8_t back = choices_below(m->c, 2) ? PVM_OP_shift_logical_right_imm_64
                                          : PVM_OP_shift_arithmetic_right_imm_64;
    if (!program_has(m->p, back)) return;
    uint64_t by = choices_below(m->c, 8) ? 32 : choices_below(m->c, 66);
    add_imm(m, PVM_OP_shift_logical_left_imm_64, d, s, by, PATTERN_low_half);
    unsigned to = pvm_patterns_nearly(m, d), from = pvm_patterns_nearly(m, d);
    add_imm(m, back, to, from, choices_below(m->c, 8) ? by : choices_below(m->c, 66),
            PATTERN_low_half);
}

/* Writes a block that branches to itself. A counter of its own ends the loop, a 32-bit variable
 * changes in steps from an edge value, and other instructions are in between. */
static void pvm_patterns_loop(struct maker *m, enum pattern why)
{
    struct choices *c = m->c;
    unsigned counter = maker_destination(m), avoid = m->avoid,
             rounds = 1 + (unsigned)choices_below(c, 12);
    m->avoid |= 1u << counter;
    unsigned d = maker_destination(m);
    unsigned step = choices_below(c, 2) ? maker_destination(m) : d;
    add_imm(m, PVM_OP_load_imm, counter, 0, rounds, why);
    add_imm(m, PVM_OP_load_imm, d, 0, choices_number(c), why);
    if (step != d) add_imm(m, PVM_OP_load_imm, step, 0, choices_number(c), why);
    maker_add(m, PVM_OP_fallthrough, why);
    unsigned head = m->p->count, inside = (unsigned)choices_below(c, 4);
    if (why == PATTERN_widened_loop) m->avoid |= 1u << d | (choices_below(c, 8) ? 1u << step : 0);
    unsigned before = (unsigned)choices_below(c, inside + 1);
    for (unsigned i = 0; i < before && m->left > 8; i++) maker_any(m, true);
    if (why == PATTERN_widened_loop) {
        if (step != d && choices_below(c, 4)) {
            bool first = choices_below(c, 2);
            pvm_patterns_add3(m, PVM_OP_add_32, d, first ? d : step, first ? step : d, why);
        } else {
            add_imm(m, PVM_OP_add_imm_32, d, d, choices_number(c), why);
        }
        if (choices_below(c, 2)) {
            unsigned to = maker_destination(m), from = pvm_patterns_nearly(m, d);
            add_load(m, to, from, pvm_patterns_offset(m), why);
        }
    }
    for (unsigned i = before; i < inside && m->left > 8; i++) maker_any(m, true);
    add_imm(m, word_op(m->p, PVM_OP_add_imm_64, PVM_OP_add_imm_32), counter, counter, UINT64_MAX,
            why);
    bool equal = choices_below(c, 2);
    struct slot *s =
        maker_add(m, equal ? PVM_OP_branch_not_eq_imm : PVM_OP_branch_greater_signed_imm, why);
    s->a = (uint8_t)counter;
    s->to = (int)head;
    m->p->slots[head].head = true;
    m->p->loops = true;
    m->avoid = avoid;
}

/* Writes a jump back to a chain that ends with a jump through the table. */
static void pvm_patterns_dispatch(struct maker *m)
{
    struct choices *c = m->c;
    if (m->p->forward) return;
    unsigned d = 2 + (unsigned)choices_below(c, 11);
    maker_add(m, PVM_OP_fallthrough, PATTERN_dispatch);
    unsigned head = m->p->count;
    unsigned index = any_register(c);
    add_imm(m, PVM_OP_and_imm, d, index, 2 * choices_below(c, 32), PATTERN_dispatch);
    for (uint64_t i = choices_below(c, 4); i; i--) maker_any(m, true);
    if (choices_below(c, 2)) {
        struct slot *s = maker_add(m, PVM_OP_branch_eq, PATTERN_dispatch);
        s->a = (uint8_t)any_register(c);
        s->b = (uint8_t)any_register(c);
    }
    struct slot *s = maker_add(m, PVM_OP_jump_indirect, PATTERN_dispatch);
    s->a = (uint8_t)d;
    s->x = choices_below(c, 2) ? 0 : 2 * choices_below(c, 8);
    for (uint64_t i = choices_below(c, 4); i; i--) maker_any(m, true);
    maker_add(m, PVM_OP_jump, PATTERN_dispatch)->to = (int)head;
}

static uint8_t compare_op(struct choices *c)
{
    return choices_below(c, 2) ? PVM_OP_set_less_than_unsigned : PVM_OP_set_less_than_signed;
}

static void pvm_patterns_compare(struct maker *m, enum pattern why)
{
    struct choices *c = m->c;
    unsigned d = maker_destination(m), a = any_register(c), b = any_register(c);
    uint8_t op = compare_op(c);
    if (choices_below(c, 3))
        pvm_patterns_add3(m, op, d, a, b, why);
    else
        add_imm(m, PVM_OP_set_greater_than_signed_imm, d, a, choices_number(c), why);
    bool zero = choices_below(c, 2);
    unsigned result = pvm_patterns_nearly(m, d);
    if (why == PATTERN_compare_branch) {
        struct slot *s = maker_add(m, zero ? PVM_OP_branch_eq_imm : PVM_OP_branch_not_eq_imm, why);
        s->a = (uint8_t)result;
        s->x = choices_below(c, 4) ? 0 : choices_number(c);
    } else {
        unsigned to = maker_destination(m);
        pvm_patterns_add3(m, zero ? PVM_OP_cmov_if_zero : PVM_OP_cmov_if_not_zero, to, b, result,
                          why);
    }
}

/* Writes a constant that the next instruction uses. */
static void pvm_patterns_constant(struct maker *m)
{
    unsigned d = maker_destination(m);
    add_imm(m, PVM_OP_load_imm, d, 0, choices_number(m->c), PATTERN_constant);
    unsigned at = m->p->count;
    maker_any(m, true);
    struct slot *s = &m->p->slots[at];
    s->pattern = PATTERN_constant;
    if (pvm_ops[s->op].shape == PVM_REG_REG_REG)
        *(choices_below(m->c, 2) ? &s->a : &s->b) = (uint8_t)d;
    else if (pvm_ops[s->op].shape == PVM_REG_REG_IMM)
        s->b = (uint8_t)d;
}

/* Writes two results of the same operands. */
static void pvm_patterns_pair(struct maker *m, enum pattern why)
{
    struct choices *c = m->c;
    unsigned a = any_register(c), b = any_register(c);
    bool halves = why == PATTERN_both_halves, swap = choices_below(c, 2);
    uint8_t first = halves ? word_op(m->p, PVM_OP_mul_64, PVM_OP_mul_32)
                           : word_op(m->p, PVM_OP_div_signed_64, PVM_OP_div_signed_32);
    uint8_t second = halves ? (uint8_t)(PVM_OP_mul_upper_signed_signed + choices_below(c, 3))
                            : word_op(m->p, PVM_OP_rem_signed_64, PVM_OP_rem_signed_32);
    if (!program_has(m->p, second)) return;
    pvm_patterns_add3(m, swap ? second : first, maker_destination(m), a, b, why);
    pvm_patterns_add3(m, swap ? first : second, maker_destination(m), a, b, why);
}

static void call_return(struct maker *m)
{
    struct choices *c = m->c;
    if (m->p->forward) return;
    unsigned d = choices_below(c, 2) ? 0 : maker_destination(m);
    uint64_t back = choices_below(c, 4) ? 2 + 2 * choices_below(c, TABLE_MAX) : choices_number(c);
    if (choices_below(c, 2)) {
        struct slot *s = maker_add(m, PVM_OP_load_imm_and_jump, PATTERN_call_return);
        s->a = (uint8_t)d;
        s->x = back;
    } else {
        add_imm(m, PVM_OP_load_imm, d, 0, back, PATTERN_call_return);
    }
    if (choices_below(c, 2)) maker_add(m, PVM_OP_fallthrough, PATTERN_call_return);
    struct slot *s =
        maker_add(m, choices_below(c, 3) ? PVM_OP_jump_indirect : PVM_OP_load_imm_and_jump_indirect,
                  PATTERN_call_return);
    s->a = (uint8_t)(s->op == PVM_OP_jump_indirect ? d
                     : choices_below(c, 2)         ? d
                                                   : maker_destination(m));
    s->b = (uint8_t)d;
    if (s->op == PVM_OP_load_imm_and_jump_indirect) s->x = choices_number(c);
}

static void pvm_patterns_halt(struct maker *m)
{
    if (m->p->forward && choices_below(m->c, 2)) return;
    add_imm(m, PVM_OP_load_imm, 0, 0, 0xffff0000, PATTERN_halt);
    struct slot *s = maker_add(m, PVM_OP_jump_indirect, PATTERN_halt);
    s->a = 0;
}

static void set_memory(struct maker *m)
{
    if (!program_has(m->p, PVM_OP_memset)) return;
    add_imm(m, PVM_OP_load_imm, 7, 0, 0x30000 + choices_below(m->c, 0x2080), PATTERN_memset);
    uint64_t count =
        choices_below(m->c, 4) ? choices_below(m->c, 0x60) : choices_number(m->c) & 0xffff;
    add_imm(m, PVM_OP_load_imm, 9, 0, count, PATTERN_memset);
    maker_add(m, PVM_OP_memset, PATTERN_memset);
}

static void pvm_patterns_grow(struct maker *m)
{
    unsigned d = maker_destination(m), s = maker_destination(m);
    if (!program_has(m->p, PVM_OP_sbrk)) return;
    add_imm(m, PVM_OP_load_imm, s, 0,
            choices_below(m->c, 3) ? choices_below(m->c, 0x3000) : choices_number(m->c),
            PATTERN_sbrk);
    pvm_patterns_add3(m, PVM_OP_sbrk, d, s, 0, PATTERN_sbrk);
    if (choices_below(m->c, 2)) {
        unsigned to = maker_destination(m);
        add_load(m, to, d, 0 - choices_below(m->c, 16), PATTERN_sbrk);
    }
}

/* Writes a value that is stored and read back, in other sizes and next to each other. */
static void load_store(struct maker *m)
{
    static const uint8_t stores[] = {PVM_OP_store_indirect_u8, PVM_OP_store_indirect_u16,
                                     PVM_OP_store_indirect_u32, PVM_OP_store_indirect_u64};
    struct choices *c = m->c;
    uint8_t store = stores[choices_below(c, 4)];
    unsigned base = (unsigned)choices_below(c, 2);
    uint64_t at = choices_below(c, 0x40);
    if (!program_has(m->p, store)) store = PVM_OP_store_indirect_u32;
    add_imm(m, store, any_register(c), base, at, PATTERN_load_store);
    unsigned to = maker_destination(m);
    add_load(m, to, base, at + choices_below(c, 8) - 4, PATTERN_load_store);
    if (choices_below(c, 2)) add_load(m, maker_destination(m), base, at + 8, PATTERN_load_store);
}

/* Writes 32-bit results that feed each other, so that extensions may be left out. */
static void narrow_chain(struct maker *m)
{
    /* clang-format off */
    static const uint8_t ops[] = {
        PVM_OP_add_imm_32, PVM_OP_mul_imm_32, PVM_OP_shift_logical_left_imm_32,
        PVM_OP_shift_logical_right_imm_32, PVM_OP_shift_arithmetic_right_imm_32,
        PVM_OP_rotate_right_imm_32, PVM_OP_negate_and_add_imm_32, PVM_OP_and_imm, PVM_OP_xor_imm};
    /* clang-format on */
    unsigned d = maker_destination(m);
    for (uint64_t i = 2 + choices_below(m->c, 3); i; i--) {
        uint8_t op = ops[choices_below(m->c, sizeof ops)];
        add_imm(m, op, d, d, choices_number(m->c), PATTERN_narrow_chain);
    }
    if (!choices_below(m->c, 2)) return;
    unsigned to = maker_destination(m), other = any_register(m->c);
    pvm_patterns_add3(m, choices_below(m->c, 2) ? PVM_OP_add_32 : PVM_OP_xor, to, d, other,
                      PATTERN_narrow_chain);
}

static void move_chain(struct maker *m)
{
    unsigned d = maker_destination(m);
    for (uint64_t i = 1 + choices_below(m->c, 3); i; i--) {
        unsigned next = maker_destination(m);
        pvm_patterns_add3(m, PVM_OP_move_reg, next, d, 0, PATTERN_move_chain);
        d = next;
    }
    unsigned at = m->p->count;
    maker_any(m, true);
    struct slot *s = &m->p->slots[at];
    if (pvm_ops[s->op].shape == PVM_REG_REG_REG) s->a = (uint8_t)d;
}

void maker_pattern(struct maker *m)
{
    enum pattern why = (enum pattern)(1 + choices_below(m->c, PATTERN_COUNT - 1));
    switch (why) {
    case PATTERN_index_load:
    case PATTERN_index_add:
    case PATTERN_add_load: index_load(m, why); break;
    case PATTERN_low_half: low_half(m); break;
    case PATTERN_widened_loop:
    case PATTERN_counted_loop: pvm_patterns_loop(m, why); break;
    case PATTERN_dispatch: pvm_patterns_dispatch(m); break;
    case PATTERN_compare_branch:
    case PATTERN_compare_move: pvm_patterns_compare(m, why); break;
    case PATTERN_constant: pvm_patterns_constant(m); break;
    case PATTERN_both_halves:
    case PATTERN_divide_and_rest: pvm_patterns_pair(m, why); break;
    case PATTERN_call_return: call_return(m); break;
    case PATTERN_memset: set_memory(m); break;
    case PATTERN_sbrk: pvm_patterns_grow(m); break;
    case PATTERN_load_store: load_store(m); break;
    case PATTERN_narrow_chain: narrow_chain(m); break;
    case PATTERN_move_chain: move_chain(m); break;
    case PATTERN_halt:
        if (!choices_below(m->c, 4)) pvm_patterns_halt(m);
        break;
    default: break;
    }
}
