/* Lowers operations on integers of up to 64 bits. Values have the form that the interpreter
 * uses: extended to 64 bits according to their own type. */
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"

static bool is_signed(uint8_t op) { return coil_types[op].family == COIL_F_SIGNED; }
static unsigned bits_of(uint8_t op) { return 8u * coil_types[op].bytes; }

static uint8_t unsigned_of(uint8_t op)
{
    static const uint8_t types[] = {COIL_T_UNT8,  COIL_T_UNT8,  COIL_T_UNT16, COIL_T_UNT16,
                                    COIL_T_UNT32, COIL_T_UNT32, COIL_T_UNT64, COIL_T_UNT64};
    return op < sizeof types ? types[op] : COIL_T_UNT8; /* BIT is handled as UNT8. */
}

static uint32_t lower_integer_op2(struct coil_lower *l, enum ssa_op op, uint32_t a, uint32_t b)
{
    return ssa_op2(l->f, op, SSA_INT, false, a, b);
}

uint32_t coil_lower_select(struct coil_lower *l, uint32_t truth, uint32_t yes, uint32_t no)
{
    uint32_t chosen = lower_integer_op2(l, SSA_SELECT, truth, yes);
    if (chosen) l->f->insns[chosen].arg[2] = no;
    return chosen;
}

static uint32_t lower_integer_pick(struct coil_lower *l, uint8_t type, bool larger, uint32_t a,
                                   uint32_t b)
{
    enum ssa_cond cond = larger            ? (is_signed(type) ? SSA_GT : SSA_A)
                         : is_signed(type) ? SSA_LT
                                           : SSA_B;
    return coil_lower_select(l, ssa_compare(l->f, SSA_SET, cond, false, a, b), a, b);
}

/* Limits an exact value to the range of type `to`. The value is signed, or of the unsigned type
 * `from`. */
uint32_t coil_lower_clamp(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to)
{
    struct ssa_function *f = l->f;
    unsigned n = bits_of(to) - is_signed(to);
    uint8_t order = from == COIL_T_UNT64 ? COIL_T_UNT64 : COIL_T_INT64;
    if (is_signed(from)) {
        int64_t least = is_signed(to) ? INT64_MIN >> (63 - n) : 0;
        if (least != INT64_MIN)
            value = lower_integer_pick(l, order, true, value, ssa_const(f, least));
    }
    if (n < 64 && !(n == 63 && order == COIL_T_INT64))
        value = lower_integer_pick(l, order, false, value,
                                   ssa_const(f, (int64_t)(UINT64_MAX >> (64 - n))));
    return value;
}

static uint32_t lower_integer_quotient(struct coil_lower *l, bool divides, uint8_t type, uint32_t a,
                                       uint32_t b)
{
    struct ssa_function *f = l->f;
    bool is = is_signed(type);
    enum ssa_op op = divides ? (is ? SSA_DIVS : SSA_DIVU) : is ? SSA_REMS : SSA_REMU;
    bool narrow = coil_types[type].bytes == 4;
    int64_t known;
    if (ssa_is_const(f, b, &known) && known && known != -1) {
        uint32_t r = ssa_op2(f, op, SSA_INT, narrow, a, b);
        return narrow ? coil_lower_canon(l, r, type) : r;
    }
    uint32_t zero = ssa_const(f, 0), one = ssa_const(f, 1), minus = ssa_const(f, -1);
    uint32_t none = ssa_compare(f, SSA_SET, SSA_EQ, false, b, zero), bad = none, negates = 0;
    if (is) {
        negates = ssa_compare(f, SSA_SET, SSA_EQ, false, b, minus);
        bad = lower_integer_op2(l, SSA_OR, none, negates);
    }
    uint32_t r = ssa_op2(f, op, SSA_INT, narrow, a, coil_lower_select(l, bad, one, b));
    if (is) {
        uint32_t other = divides ? lower_integer_op2(l, SSA_SUB, zero, a) : zero;
        r = coil_lower_select(l, negates, other, r);
    }
    return coil_lower_canon(l, coil_lower_select(l, none, zero, r), type);
}

/* Reads a shift count or bit number, which is an unsigned value of its own type. */
static uint32_t count_of(struct coil_lower *l, const struct coil_place *p)
{
    uint8_t type = p->at == COIL_AT_REGISTER ? COIL_T_UNT64 : p->op;
    if (!coil_is_int(type)) return 0;
    if (p->at == COIL_AT_CONST)
        return ssa_const(l->f, (int64_t)(p->value & (UINT64_MAX >> (64 - bits_of(type)))));
    uint32_t n = coil_lower_place(l, p, type, type);
    return n ? coil_lower_canon(l, n, unsigned_of(type)) : 0;
}

/* Shifts a value. If the count is the width or more, SHL and SHR give 0, and SAR gives the sign. */
static uint32_t lower_integer_shifted(struct coil_lower *l, uint8_t opcode, uint8_t type,
                                      uint32_t a, uint32_t n)
{
    struct ssa_function *f = l->f;
    unsigned bits = bits_of(type);
    bool narrow = bits <= 32;
    enum ssa_op op = opcode == COIL_OP_SHR ? SSA_SHR : opcode == COIL_OP_SAR ? SSA_SAR : SSA_SHL;
    static const uint8_t signed_of[] = {COIL_T_INT8,  COIL_T_INT8,  COIL_T_INT16, COIL_T_INT16,
                                        COIL_T_INT32, COIL_T_INT32, COIL_T_INT64, COIL_T_INT64};
    if (opcode == COIL_OP_SHR) a = coil_lower_canon(l, a, unsigned_of(type));
    if (opcode == COIL_OP_SAR) a = coil_lower_canon(l, a, signed_of[type]);
    int64_t known;
    if (ssa_is_const(f, n, &known)) {
        if ((uint64_t)known >= bits) {
            if (op != SSA_SAR) return ssa_const(f, 0);
            n = ssa_const(f, bits - 1);
        }
        return coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, a, n), type);
    }
    uint32_t far = ssa_compare(f, SSA_SET, SSA_AE, false, n, ssa_const(f, bits));
    if (op == SSA_SAR) {
        uint32_t most = coil_lower_select(l, far, ssa_const(f, bits - 1), n);
        return coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, a, most), type);
    }
    uint32_t r = ssa_op2(f, op, SSA_INT, narrow, a, n);
    return coil_lower_canon(l, coil_lower_select(l, far, ssa_const(f, 0), r), type);
}

/* Rotates a value. If the count is not constant, or the width is less than 32 bits, this takes
 * two shifts. */
static uint32_t lower_integer_turned(struct coil_lower *l, bool left, uint8_t type, uint32_t a,
                                     uint32_t n)
{
    struct ssa_function *f = l->f;
    unsigned bits = bits_of(type);
    bool narrow = bits <= 32;
    int64_t known;
    if (ssa_is_const(f, n, &known) && bits >= 32) {
        uint32_t by = ssa_const(f, (int64_t)((uint64_t)known % bits));
        return coil_lower_canon(l, ssa_op2(f, left ? SSA_ROL : SSA_ROR, SSA_INT, narrow, a, by),
                                type);
    }
    uint32_t by = lower_integer_op2(l, SSA_AND, n, ssa_const(f, bits - 1)),
             rest = lower_integer_op2(l, SSA_SUB, ssa_const(f, bits), by);
    a = coil_lower_canon(l, a, unsigned_of(type));
    /* If `rest` is 32 or 64, the processor shifts by 0, which gives the same result here. */
    uint32_t up = ssa_op2(f, SSA_SHL, SSA_INT, narrow, a, left ? by : rest),
             down = ssa_op2(f, SSA_SHR, SSA_INT, narrow, a, left ? rest : by);
    return coil_lower_canon(l, lower_integer_op2(l, SSA_OR, up, down), type);
}

static uint32_t bit_number(struct coil_lower *l, uint8_t opcode, uint8_t type, uint32_t a,
                           uint32_t n)
{
    struct ssa_function *f = l->f;
    uint32_t one = ssa_const(f, 1);
    n = lower_integer_op2(l, SSA_AND, n, ssa_const(f, bits_of(type) - 1));
    if (opcode == COIL_OP_BITCHK)
        return lower_integer_op2(l, SSA_AND, lower_integer_op2(l, SSA_SHR, a, n), one);
    uint32_t mask = lower_integer_op2(l, SSA_SHL, one, n);
    if (opcode == COIL_OP_BITCLR) mask = lower_integer_op2(l, SSA_XOR, mask, ssa_const(f, -1));
    enum ssa_op op = opcode == COIL_OP_BITSET   ? SSA_OR
                     : opcode == COIL_OP_BITCLR ? SSA_AND
                                                : SSA_XOR;
    return coil_lower_canon(l, lower_integer_op2(l, op, a, mask), type);
}

static uint32_t lower_integer_counted(struct coil_lower *l, uint8_t opcode, uint8_t type,
                                      uint32_t a, uint32_t n)
{
    if (!n) return 0;
    switch (opcode) {
    case COIL_OP_ROL: return lower_integer_turned(l, true, type, a, n);
    case COIL_OP_ROR: return lower_integer_turned(l, false, type, a, n);
    case COIL_OP_BITSET:
    case COIL_OP_BITCLR:
    case COIL_OP_BITTGL:
    case COIL_OP_BITCHK: return bit_number(l, opcode, type, a, n);
    default: return lower_integer_shifted(l, opcode, type, a, n);
    }
}

static uint32_t high_half(struct coil_lower *l, uint8_t type, uint32_t a, uint32_t b)
{
    bool is = is_signed(type);
    if (coil_types[type].bytes == 8) return lower_integer_op2(l, is ? SSA_MULHS : SSA_MULHU, a, b);
    uint32_t product = lower_integer_op2(l, SSA_MUL, a, b), n = ssa_const(l->f, bits_of(type));
    return coil_lower_canon(l, lower_integer_op2(l, is ? SSA_SAR : SSA_SHR, product, n), type);
}

static uint32_t lower_integer_swapped(struct coil_lower *l, uint8_t type, uint32_t a)
{
    unsigned bits = bits_of(type);
    if (bits == 8) return a;
    uint32_t r = ssa_op2(l->f, SSA_BSWAP, SSA_INT, bits <= 32, a, 0);
    if (bits == 16) r = lower_integer_op2(l, SSA_SHR, r, ssa_const(l->f, 16));
    return coil_lower_canon(l, r, type);
}

static uint32_t lower_integer_magnitude(struct coil_lower *l, uint8_t type, uint32_t a)
{
    if (!is_signed(type)) return a;
    uint32_t zero = ssa_const(l->f, 0), below = ssa_compare(l->f, SSA_SET, SSA_LT, false, a, zero);
    return coil_lower_select(l, below, lower_integer_op2(l, SSA_SUB, zero, a), a);
}

uint32_t coil_lower_integer(struct coil_lower *l, const struct coil_step *s,
                            const struct coil_roles *r, uint8_t type, const uint32_t v[3])
{
    struct ssa_function *f = l->f;
    bool narrow = coil_types[type].bytes == 4;
    uint32_t a = v[0], b = v[1];
    enum ssa_op op = SSA_NONE;
    if (coil_keeps_value_type(s->opcode) && r->b >= 0)
        return lower_integer_counted(l, s->opcode, type, a, count_of(l, &s->places[r->b]));
    switch (s->opcode) {
    case COIL_OP_ADD:
    case COIL_OP_INC: op = SSA_ADD; break;
    case COIL_OP_SUB:
    case COIL_OP_DEC: op = SSA_SUB; break;
    case COIL_OP_MUL: op = SSA_MUL; break;
    case COIL_OP_AND: op = SSA_AND; break;
    case COIL_OP_OR: op = SSA_OR; break;
    case COIL_OP_XOR: op = SSA_XOR; break;
    case COIL_OP_NEG:
        return coil_lower_canon(l, ssa_op2(f, SSA_SUB, SSA_INT, narrow, ssa_const(f, 0), a), type);
    case COIL_OP_NOT:
        return coil_lower_canon(l, lower_integer_op2(l, SSA_XOR, a, ssa_const(f, -1)), type);
    case COIL_OP_ABS: return coil_lower_canon(l, lower_integer_magnitude(l, type, a), type);
    case COIL_OP_CEIL:
    case COIL_OP_FLOR:
    case COIL_OP_ROND: return a;
    case COIL_OP_DIV:
    case COIL_OP_DIVMOD:
    case COIL_OP_MOD:
        if (l->vm->divide_trap) return 0;
        return lower_integer_quotient(l, s->opcode != COIL_OP_MOD, type, a, b);
    case COIL_OP_MIN: return lower_integer_pick(l, type, false, a, b);
    case COIL_OP_MAX: return lower_integer_pick(l, type, true, a, b);
    case COIL_OP_CLAMP:
        return lower_integer_pick(l, type, false, lower_integer_pick(l, type, true, a, b), v[2]);
    case COIL_OP_FMA:
        return coil_lower_canon(
            l, lower_integer_op2(l, SSA_ADD, lower_integer_op2(l, SSA_MUL, a, b), v[2]), type);
    case COIL_OP_MULH: return high_half(l, type, a, b);
    case COIL_OP_POPCNT:
        return ssa_op1(f, SSA_POPCNT, SSA_INT, coil_lower_canon(l, a, unsigned_of(type)));
    case COIL_OP_BSWAP: return lower_integer_swapped(l, type, a);
    default: return 0;
    }
    return coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, a, b), type);
}

uint32_t coil_lower_remainder(struct coil_lower *l, uint8_t type, uint32_t a, uint32_t b)
{
    return lower_integer_quotient(l, false, type, a, b);
}

/* Computes the exact result in 64 bits and limits it to the range of the destination. Returns 0
 * if 64 bits may not be enough. */
uint32_t coil_lower_saturated(struct coil_lower *l, const struct coil_step *s, uint8_t type,
                              uint8_t to, uint32_t a, uint32_t b)
{
    uint32_t exact = 0;
    if (coil_types[type].bytes > 4 || to == COIL_T_BIT) return 0;
    switch (s->opcode) {
    case COIL_OP_ADD:
    case COIL_OP_INC: exact = lower_integer_op2(l, SSA_ADD, a, b); break;
    case COIL_OP_SUB:
    case COIL_OP_DEC: exact = lower_integer_op2(l, SSA_SUB, a, b); break;
    case COIL_OP_MUL:
        if (type == COIL_T_UNT32) return 0;
        exact = lower_integer_op2(l, SSA_MUL, a, b);
        break;
    case COIL_OP_NEG: exact = lower_integer_op2(l, SSA_SUB, ssa_const(l->f, 0), a); break;
    case COIL_OP_ABS: exact = lower_integer_magnitude(l, type, a); break;
    default: return 0;
    }
    return coil_lower_clamp(l, exact, COIL_T_INT64, to);
}

/* Adds or subtracts two integers with a carry, and stores the new carry in *carry. */
uint32_t coil_lower_chained(struct coil_lower *l, bool adds, uint8_t type, const uint32_t v[3],
                            uint32_t *carry)
{
    struct ssa_function *f = l->f;
    bool narrow = coil_types[type].bytes == 4;
    enum ssa_op op = adds ? SSA_ADD : SSA_SUB;
    uint32_t first = coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, v[0], v[1]), type),
             result = coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, first, v[2]), type);
    /* At most one of the two steps has a carry. Sign extension keeps the unsigned order of
     * values. */
    uint32_t one = ssa_compare(f, SSA_SET, SSA_B, narrow, adds ? first : v[0], adds ? v[0] : v[1]),
             two =
                 ssa_compare(f, SSA_SET, SSA_B, narrow, adds ? result : first, adds ? first : v[2]);
    *carry = lower_integer_op2(l, SSA_OR, one, two);
    return result;
}
