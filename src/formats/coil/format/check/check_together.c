/* Checks the rules about several operands of an instruction: lanes, conversions, shapes and
 * members. */
#include "coil/format/check/check_state.h"

static uint64_t lanes_of(const struct coil_type *t)
{
    if (is_matrix(t) || (t && coil_types[t->op].family == COIL_F_TENSOR))
        return t->elem && t->elem->size ? t->size / t->elem->size : 0;
    return t ? coil_lanes(t) : 0;
}

/* Checks an operation that works lane by lane: all operands must have the same number of lanes, and
 * one of them must have a lane type. */
static void check_lanes(struct coil_check *c, const struct coil_insn *insn, const struct seen *s,
                        bool need_type)
{
    uint64_t lanes = 0, size = 0;
    bool vectors = false, untyped = false;
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_type *t = s->type[i];
        if (!is_array(t) || insn->operands[i].form == COIL_TYPE_ONLY) continue;
        uint64_t n = lanes_of(t);
        vectors = true;
        if (size && t->size != size && (!n || !lanes))
            REPORT(c, COIL_LANES, insn->operands[i].at, "vectors of %llu and %llu bytes",
                   (unsigned long long)size, (unsigned long long)t->size);
        size = t->size;
        untyped |= !n;
        if (n && lanes && n != lanes)
            REPORT(c, COIL_LANES, insn->operands[i].at, "%llu lanes, but another operand has %llu",
                   (unsigned long long)n, (unsigned long long)lanes);
        if (n) lanes = n;
    }
    if (vectors && need_type && !lanes && untyped && c->m)
        REPORT(c, COIL_LANE_UNKNOWN, insn->at, "no operand says what the lanes are");
}

/* Checks the conversion of a value to the type of its destination, by the rules of MOV. */
static void check_conversion(struct coil_check *c, const struct coil_insn *insn,
                             const struct seen *s, unsigned to, unsigned from)
{
    const struct coil_type *d = s->type[to], *v = s->type[from];
    uint32_t at = insn->operands[from].at;
    if (s->reg[to] || s->reg[from]) {
        const struct coil_type *other = s->reg[to] ? v : d;
        if (other && !coil_is_scalar(other->op))
            REPORT(c, COIL_OPERAND_TYPE, at, "a %s does not fit a register",
                   coil_types[other->op].name);
        return;
    }
    if (!d || !v) return;
    if ((coil_is_scalar(d->op) || coil_is_wide(d)) && (coil_is_scalar(v->op) || coil_is_wide(v)))
        return;
    if (is_vector(d) && coil_is_scalar(v->op)) {
        if (!lanes_of(d) && c->m)
            REPORT(c, COIL_LANE_UNKNOWN, at, "no operand says what the lanes are");
        return;
    }
    if (is_vector(d) && is_vector(v)) {
        check_lanes(c, insn, s, false);
        return;
    }
    if (!coil_type_equal(d, v))
        REPORT(c, COIL_OPERAND_TYPE, at, "a %s does not convert to %s", coil_types[v->op].name,
               coil_types[d->op].name);
}

static bool type_numeric(const struct coil_type *t)
{
    return !t || coil_is_scalar(t->op) || coil_is_wide(t) ||
           (is_array(t) && (!t->elem || coil_is_scalar(t->elem->op) || t->elem->op == COIL_T_VOID));
}

static void check_arithmetic(struct coil_check *c, const struct coil_insn *insn,
                             const struct seen *s, const char *form)
{
    uint8_t group = coil_ops[insn->opcode].group;
    bool arrays = false, wide = false, registers = false;
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_type *t = s->type[i];
        wide |= coil_is_wide(t);
        registers |= s->reg[i];
        if (!type_numeric(t))
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "%s cannot compute with %s",
                   coil_ops[insn->opcode].name, coil_types[t->op].name);
        else if (group == COIL_G_BITS && t && form[i] == 'W' && !int_lanes(t))
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "%s needs integers",
                   coil_ops[insn->opcode].name);
        arrays |= is_array(t) && form[i] != 'S';
    }
    if (c->errors) return;
    if (wide && (arrays || registers))
        REPORT(c, COIL_OPERAND_TYPE, insn->at, "a CINT or CUNT does not fit a %s",
               arrays ? "vector" : "register");
    else if (arrays) {
        bool product = insn->opcode == COIL_OP_MUL;
        for (unsigned i = 0; i < insn->count; i++) product &= is_matrix(s->type[i]);
        if (registers)
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "vectors do not fit a register");
        else if (s->type[0] && coil_is_scalar(s->type[0]->op) && group != COIL_G_COMPARE)
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[0].at, "the result is a vector");
        else if (!product)
            check_lanes(c, insn, s, group != COIL_G_BITS);
        else {
            unsigned r0, c0, r1, c1, rd, cd;
            const struct coil_type *left = s->type[insn->count - 2],
                                   *right = s->type[insn->count - 1];
            coil_matrix_shape(left, &r0, &c0);
            coil_matrix_shape(right, &r1, &c1);
            coil_matrix_shape(s->type[0], &rd, &cd);
            if (c0 != r1 || rd != r0 || cd != c1)
                REPORT(c, COIL_LANES, insn->at, "a product of %ux%u and %ux%u is not %ux%u", r0, c0,
                       r1, c1, rd, cd);
        }
    }
}

static void check_member(struct coil_check *c, const struct coil_insn *insn, struct seen *s)
{
    bool put = insn->opcode == COIL_OP_MEMPUT;
    unsigned aggregate = put ? 0 : 1;
    uint64_t id = insn->operands[put ? 1 : 2].value;
    const struct coil_type *t = s->type[aggregate];
    if (!t) return;
    const struct coil_member *member = coil_type_member(t, id);
    if (!member) {
        REPORT(c, COIL_MEMBER, insn->operands[put ? 1 : 2].at, "there is no member %llu",
               (unsigned long long)id);
        return;
    }
    if (insn->opcode == COIL_OP_MEMADDR) return;
    s->type[aggregate] = member->type;
    check_conversion(c, insn, s, put ? 0 : 0, put ? 2 : 1);
}

static void check_vector(struct coil_check *c, const struct coil_insn *insn, struct seen *s)
{
    const struct coil_type *t0 = s->type[0], *t1 = insn->count > 1 ? s->type[1] : NULL;
    switch (insn->opcode) {
    case COIL_OP_CROSS:
        check_lanes(c, insn, s, true);
        for (unsigned i = 0; i < 3; i++)
            if (s->type[i] && lanes_of(s->type[i]) && lanes_of(s->type[i]) != 3)
                REPORT(c, COIL_LANES, insn->operands[i].at, "CROSS has 3 lanes, not %llu",
                       (unsigned long long)lanes_of(s->type[i]));
        break;
    case COIL_OP_DOT:
    case COIL_OP_NORM:
    case COIL_OP_LEN:
    case COIL_OP_SHUF: check_lanes(c, insn, s, true); break;
    case COIL_OP_INV:
    case COIL_OP_DET: {
        unsigned rows, columns;
        const struct coil_type *m = insn->opcode == COIL_OP_DET ? t1 : t0;
        if (!m) break;
        coil_matrix_shape(m, &rows, &columns);
        if (rows != columns)
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "%s needs a square matrix",
                   coil_ops[insn->opcode].name);
        if (t1 && insn->opcode == COIL_OP_INV && t1->size != t0->size)
            REPORT(c, COIL_LANES, insn->at, "matrices of different sizes");
        break;
    }
    case COIL_OP_TRANS: {
        unsigned r0, c0, r1, c1;
        if (!t0) break;
        coil_matrix_shape(t0, &r0, &c0);
        coil_matrix_shape(t1 ? t1 : t0, &r1, &c1);
        if (r0 != c1 || c0 != r1)
            REPORT(c, COIL_LANES, insn->at, "a transposed %ux%u is not %ux%u", r1, c1, r0, c0);
        break;
    }
    default: break;
    }
    for (unsigned i = 0; i < insn->count; i++)
        if (!type_numeric(s->type[i]) || coil_is_wide(s->type[i]))
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at,
                   "%s cannot compute with this operand", coil_ops[insn->opcode].name);
}

void coil_check_together(struct coil_check *c, const struct coil_insn *insn, struct seen *s,
                         const char *form)
{
    switch ((enum coil_group)coil_ops[insn->opcode].group) {
    case COIL_G_MOVE:
        if (insn->opcode == COIL_OP_VAR) {
            if (insn->count == 3) check_conversion(c, insn, s, 1, 2);
        } else {
            check_conversion(c, insn, s, 0, insn->count - 1u);
        }
        break;
    case COIL_G_ARITH:
    case COIL_G_BITS:
    case COIL_G_COMPARE: check_arithmetic(c, insn, s, form); break;
    case COIL_G_MEMBER: check_member(c, insn, s); break;
    case COIL_G_VECTOR: check_vector(c, insn, s); break;
    case COIL_G_ATOMIC:
        for (unsigned i = 0; i < insn->count; i++)
            if (s->type[i] && !coil_is_scalar(s->type[i]->op))
                REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "atomics work on scalars");
        break;
    case COIL_G_MEMORY:
        if (insn->opcode == COIL_OP_XCHG && s->type[0] && s->type[1] &&
            s->type[0]->size != s->type[1]->size)
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "XCHG of different sizes");
        if (insn->opcode == COIL_OP_CAS)
            for (unsigned i = 0; i < 3; i++)
                if (s->type[i] && !coil_is_scalar(s->type[i]->op))
                    REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "CAS works on scalars");
        break;
    case COIL_G_STACK:
        if (!s->reg[0] && s->type[0] && !type_sized(s->type[0]))
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "a value without a size");
        break;
    case COIL_G_PORT: {
        const struct coil_type *value = s->type[insn->opcode == COIL_OP_OUTPORT];
        if (value && !coil_is_scalar(value->op))
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "ports carry scalars");
        break;
    }
    case COIL_G_NEVER:
        REPORT(c, COIL_UNSUPPORTED, insn->at, "%s has no meaning in this version",
               coil_ops[insn->opcode].name);
        break;
    default: break;
    }
}
