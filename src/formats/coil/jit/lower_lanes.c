/* Lowers operations on the lanes of vectors: this file chooses the processor's instruction for
 * an operation that the interpreter does lane by lane. lower_vector.c has the operands, and
 * divides them into pieces. */
#include "coil/jit/vector.h"

/* The kinds of lanes are eight integer types, in the order of their opcodes, then FP32 and FP64. */
enum { KINDS = 10 };

static unsigned kind_of(uint8_t type)
{
    return type <= COIL_T_UNT64 ? type : 8u + (type == COIL_T_FP64);
}
static bool is_real(uint8_t type) { return coil_types[type].family == COIL_F_REAL; }

/* clang-format off */
#define V(name) X64_P##name
static const struct row {
    /* Per kind of lane: the processor's instruction; 0 if there is none. */
    uint8_t opcode, op[KINDS];
} wrapping[] = {
    {COIL_OP_ADD, {V(ADDB), V(ADDB), V(ADDW), V(ADDW), V(ADDD), V(ADDD), V(ADDQ), V(ADDQ), X64_ADDPS, X64_ADDPD}},
    {COIL_OP_SUB, {V(SUBB), V(SUBB), V(SUBW), V(SUBW), V(SUBD), V(SUBD), V(SUBQ), V(SUBQ), X64_SUBPS, X64_SUBPD}},
    {COIL_OP_MUL, {0, 0, V(MULLW), V(MULLW), V(MULLD), V(MULLD), 0, 0, X64_MULPS, X64_MULPD}},
    {COIL_OP_DIV, {0, 0, 0, 0, 0, 0, 0, 0, X64_DIVPS, X64_DIVPD}},
    {COIL_OP_SQRT, {0, 0, 0, 0, 0, 0, 0, 0, X64_SQRTPS, X64_SQRTPD}},
    {COIL_OP_MIN, {V(MINSB), V(MINUB), V(MINSW), V(MINUW), V(MINSD), V(MINUD), 0, 0, X64_MINPS, X64_MINPD}},
    {COIL_OP_MAX, {V(MAXSB), V(MAXUB), V(MAXSW), V(MAXUW), V(MAXSD), V(MAXUD), 0, 0, X64_MAXPS, X64_MAXPD}},
    {COIL_OP_ABS, {V(ABSB), 0, V(ABSW), 0, V(ABSD), 0, 0, 0, 0, 0}},
    {COIL_OP_AND, {V(AND), V(AND), V(AND), V(AND), V(AND), V(AND), V(AND), V(AND), 0, 0}},
    {COIL_OP_OR, {V(OR), V(OR), V(OR), V(OR), V(OR), V(OR), V(OR), V(OR), 0, 0}},
    {COIL_OP_XOR, {V(XOR), V(XOR), V(XOR), V(XOR), V(XOR), V(XOR), V(XOR), V(XOR), 0, 0}},
    {COIL_OP_SHL, {0, 0, V(SLLW), V(SLLW), V(SLLD), V(SLLD), V(SLLQ), V(SLLQ), 0, 0}},
    {COIL_OP_SAL, {0, 0, V(SLLW), V(SLLW), V(SLLD), V(SLLD), V(SLLQ), V(SLLQ), 0, 0}},
    {COIL_OP_SHR, {0, 0, V(SRLW), V(SRLW), V(SRLD), V(SRLD), V(SRLQ), V(SRLQ), 0, 0}},
    {COIL_OP_SAR, {0, 0, V(SRAW), V(SRAW), V(SRAD), V(SRAD), 0, 0, 0, 0}},
    {COIL_OP_CMP, {V(CMPEQB), V(CMPEQB), V(CMPEQB), V(CMPEQB), V(CMPEQB), V(CMPEQB), V(CMPEQB), V(CMPEQB), X64_CMPPS, X64_CMPPD}},
}, saturating[] = {
    {COIL_OP_ADD, {V(ADDSB), V(ADDUSB), V(ADDSW), V(ADDUSW), 0, 0, 0, 0, 0, 0}},
    {COIL_OP_SUB, {V(SUBSB), V(SUBUSB), V(SUBSW), V(SUBUSW), 0, 0, 0, 0, 0, 0}},
};
#undef V
/* clang-format on */

static enum x64_vector lower_lanes_find(const struct coil_lower *l, const struct row *rows,
                                        size_t count, uint8_t opcode, uint8_t type)
{
    for (size_t i = 0; i < count; i++) {
        enum x64_vector op = (enum x64_vector)rows[i].op[kind_of(type)];
        if (rows[i].opcode == opcode) return x64_needs_vex(op) && !l->f->avx2 ? X64_NO_VECTOR : op;
    }
    return X64_NO_VECTOR;
}

static enum x64_vector lower_lanes_instruction(const struct coil_lower *l,
                                               const struct coil_lane_op *o, uint8_t opcode)
{
    if (o->saturate && coil_clamps(opcode) && !is_real(o->type))
        return lower_lanes_find(l, saturating, sizeof saturating / sizeof *saturating, opcode,
                                o->type);
    return lower_lanes_find(l, wrapping, sizeof wrapping / sizeof *wrapping, opcode, o->type);
}

static uint32_t lane_with_number(struct coil_lower *l, uint32_t value, enum x64_vector op,
                                 uint8_t imm)
{
    if (value) l->f->insns[value].imm = (int64_t)op | (int64_t)imm << 8;
    return value;
}

uint32_t coil_lane1(struct coil_lower *l, enum x64_vector op, enum ssa_type piece, uint32_t a,
                    uint8_t imm)
{
    return lane_with_number(l, ssa_op1(l->f, SSA_LANE1, piece, a), op, imm);
}

uint32_t coil_lane2(struct coil_lower *l, enum x64_vector op, enum ssa_type piece, uint32_t a,
                    uint32_t b, uint8_t imm)
{
    return lane_with_number(l, ssa_op2(l->f, SSA_LANE2, piece, false, a, b), op, imm);
}

uint32_t coil_lane_fill(struct coil_lower *l, enum ssa_type piece, uint32_t value, unsigned bytes)
{
    /* These constants say which of the low groups of four bytes goes to each of the four places. */
    enum { FIRST = 0x00, FIRST_TWO = 0x44 };
    if (piece == SSA_V256)
        return coil_lane1(l, bytes == 8 ? X64_PBROADCASTQ : X64_PBROADCASTD, piece, value, 0);
    return coil_lane1(l, X64_PSHUFD, piece, value, bytes == 8 ? FIRST_TWO : FIRST);
}

uint32_t coil_lane_bits(struct coil_lower *l, enum ssa_type piece, uint64_t bits)
{
    uint32_t word = ssa_const(l->f, (int64_t)bits);
    return coil_lane_fill(l, piece, ssa_op1(l->f, SSA_REAL, SSA_F64, word), 8);
}

uint32_t coil_lane_zero(struct coil_lower *l, enum ssa_type piece)
{
    uint32_t zero = ssa_const(l->f, 0);
    if (zero) l->f->insns[zero].type = (uint8_t)piece;
    return zero;
}

/* Makes a vector that has the same bits in every lane. */
static uint32_t lower_lanes_mask(struct coil_lower *l, enum ssa_type piece, uint8_t type,
                                 uint64_t bits)
{
    return coil_lane_bits(l, piece, coil_types[type].bytes == 4 ? bits | bits << 32 : bits);
}

static uint64_t sign_bit(uint8_t type) { return UINT64_C(1) << (8 * coil_types[type].bytes - 1); }

/* Makes NaNs quiet, because the interpreter does so: it computes FP32 in FP64. Adding -0.0 makes
 * a NaN quiet and changes no other value. */
static uint32_t lower_lanes_quiet(struct coil_lower *l, const struct coil_lane_op *o,
                                  enum ssa_type piece, uint32_t a)
{
    if (o->type != COIL_T_FP32) return a;
    return coil_lane2(l, X64_ADDPS, piece, a,
                      lower_lanes_mask(l, piece, o->type, sign_bit(o->type)), 0);
}

/* Makes MIN and MAX of floats. The processor returns its second operand if both are equal or one
 * is a NaN. The result must be the second operand of the COIL instruction if the first one is a
 * NaN. */
static uint32_t pick_real(struct coil_lower *l, const struct coil_lane_op *o, enum ssa_type piece,
                          uint32_t a, uint32_t b)
{
    enum { UNORDERED = 3 };
    enum x64_vector compare = o->type == COIL_T_FP32 ? X64_CMPPS : X64_CMPPD;
    uint32_t picked = coil_lane2(l, lower_lanes_instruction(l, o, o->opcode), piece, b, a, 0),
             none = coil_lane2(l, compare, piece, a, a, UNORDERED),
             other = coil_lane2(l, X64_PAND, piece, none, lower_lanes_quiet(l, o, piece, b), 0),
             kept = coil_lane2(l, X64_PANDN, piece, none, picked, 0);
    return coil_lane2(l, X64_POR, piece, other, kept, 0);
}

static uint32_t sign_changed(struct coil_lower *l, const struct coil_lane_op *o,
                             enum ssa_type piece, uint32_t a)
{
    uint32_t sign = lower_lanes_mask(l, piece, o->type, sign_bit(o->type));
    enum x64_vector op = o->opcode == COIL_OP_NEG ? X64_PXOR : X64_PANDN;
    return coil_lane2(l, op, piece, sign, lower_lanes_quiet(l, o, piece, a), 0);
}

static uint32_t lower_lanes_plain(struct coil_lower *l, const struct coil_lane_op *o,
                                  enum ssa_type piece, uint8_t opcode, uint32_t a, uint32_t b)
{
    enum x64_vector op = lower_lanes_instruction(l, o, opcode);
    if (!op) return 0;
    return b ? coil_lane2(l, op, piece, a, b, 0) : coil_lane1(l, op, piece, a, (uint8_t)o->count);
}

uint32_t coil_lane_compute(struct coil_lower *l, const struct coil_lane_op *o, enum ssa_type piece,
                           uint32_t a, uint32_t b, uint32_t c)
{
    bool real = is_real(o->type);
    switch (o->opcode) {
    case COIL_OP_INC: return lower_lanes_plain(l, o, piece, COIL_OP_ADD, a, b);
    case COIL_OP_DEC: return lower_lanes_plain(l, o, piece, COIL_OP_SUB, a, b);
    case COIL_OP_NOT:
        return coil_lane2(l, X64_PXOR, piece, a, coil_lane_bits(l, piece, UINT64_MAX), 0);
    case COIL_OP_NEG:
        if (real) return sign_changed(l, o, piece, a);
        return lower_lanes_plain(l, o, piece, COIL_OP_SUB, coil_lane_zero(l, piece), a);
    case COIL_OP_ABS:
        if (real) return sign_changed(l, o, piece, a);
        return o->saturate ? 0 : lower_lanes_plain(l, o, piece, COIL_OP_ABS, a, 0);
    case COIL_OP_MIN:
    case COIL_OP_MAX:
        return real ? pick_real(l, o, piece, a, b)
                    : lower_lanes_plain(l, o, piece, o->opcode, a, b);
    case COIL_OP_CLAMP:
        a = real ? 0 : lower_lanes_plain(l, o, piece, COIL_OP_MAX, a, b);
        return a ? lower_lanes_plain(l, o, piece, COIL_OP_MIN, a, c) : 0;
    default: return lower_lanes_plain(l, o, piece, o->opcode, a, b);
    }
}
