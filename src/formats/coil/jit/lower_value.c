/* Compiles instructions that compute: moves, members, exchanges, arithmetic, bits, comparisons
 * and addresses. The operations are in lower_integer.c and lower_real.c. If an instruction has
 * no simple form here, compiled code calls the interpreter's function for it. */
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"

static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }

static bool all_scalar(const struct coil_step *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->places[i].at != COIL_AT_NONE && s->places[i].at != COIL_AT_REGISTER &&
            !coil_is_scalar(s->places[i].op) && s->places[i].form != COIL_ADDR &&
            s->places[i].form != COIL_MEASURE)
            return false;
    return true;
}

static bool lower_value_move(struct coil_lower *l, const struct coil_step *s,
                             const struct coil_place *to, unsigned from)
{
    const struct coil_place *p = &s->places[from];
    uint8_t type = p->at == COIL_AT_REGISTER ? coil_step_type(s)
                   : coil_is_scalar(p->op)   ? p->op
                                             : COIL_T_UNT64;
    return coil_lower_write(l, to, coil_lower_place(l, p, type, type), type);
}

static bool lower_move(struct coil_lower *l, const struct coil_step *s)
{
    if (s->opcode == COIL_OP_VAR) {
        const struct coil_place *to = &s->places[1];
        if (to->at != COIL_AT_SLOT) return false;
        uint32_t zero = ssa_const(l->f, 0);
        enum ssa_type type = coil_ssa_type(l->flow.types[to->slot]);
        if (type != SSA_INT) zero = ssa_op1(l->f, SSA_REAL, type, zero);
        uint32_t before = coil_lower_get(l, to->slot);
        coil_lower_set(l, to->slot, zero);
        if (s->count < 3 || lower_value_move(l, s, to, 2)) return true;
        coil_lower_set(l, to->slot, before);
        return false;
    }
    if (s->opcode == COIL_OP_CAST && s->count == 3) {
        const struct coil_place *through = &s->places[1];
        if (!coil_is_scalar(through->op) || through->ext & COIL_SATURATE) return false;
        uint8_t type = coil_type_at(s, 2);
        uint32_t value = coil_lower_place(l, &s->places[2], type, type);
        value = coil_lower_convert(l, value, type, through->op);
        return coil_lower_write(l, &s->places[0], value, through->op);
    }
    return lower_value_move(l, s, &s->places[0], 1);
}

static bool write_address(struct coil_lower *l, const struct coil_place *of,
                          const struct coil_place *to)
{
    struct ssa_address at;
    if (of->at != COIL_AT_FRAME && of->at != COIL_AT_MEMORY) return false;
    if (!coil_lower_address(l, of, &at)) return false;
    uint32_t sum;
    if (!at.base && !at.index) {
        sum = ssa_const(l->f, at.disp);
    } else {
        sum = ssa_op2(l->f, SSA_ADDRESS, SSA_INT, false, at.base, at.index);
        if (!sum) return false;
        l->f->insns[sum].scale = at.scale;
        l->f->insns[sum].imm = at.disp;
    }
    return coil_lower_write(l, to, sum, COIL_T_UNT64);
}

static bool place_is_kept(const struct coil_place *p)
{
    return p->at == COIL_AT_SLOT || p->at == COIL_AT_REGISTER;
}

/* Makes an operation with two destinations. Neither may be in memory, because a trap between the
 * two writes would leave the operation half done. */
static bool lower_two_results(struct coil_lower *l, const struct coil_step *s, uint8_t type,
                              uint32_t a, uint32_t b, uint32_t first)
{
    if (!place_is_kept(&s->places[0]) || !place_is_kept(&s->places[1]) || is_real(type))
        return false;
    uint32_t second = coil_lower_remainder(l, type, a, b);
    return coil_lower_write(l, &s->places[0], first, type) &&
           coil_lower_write(l, &s->places[1], second, type);
}

/* Makes ADDC and SUBB. The carry is flag C, or the fourth operand, which is also written. */
static bool lower_chained(struct coil_lower *l, const struct coil_step *s, uint8_t type, uint32_t a,
                          uint32_t b)
{
    bool adds = s->opcode == COIL_OP_ADDC;
    uint8_t live = l->flow.flags_live[l->cell - l->flow.first] & coil_flags_written(l->p, l->cell);
    const struct coil_place *to = &s->places[3];
    uint32_t in = 0, out = 0;
    if (is_real(type) || live & ~COIL_C) return false;
    if (s->count == 3) {
        in = coil_lower_carry(l);
    } else if (place_is_kept(to) || to->at == COIL_AT_CONST) {
        uint8_t own = coil_type_at(s, 3);
        in = coil_lower_convert(l, coil_lower_place(l, to, own, own), own, COIL_T_BIT);
    }
    if (!in) return false;
    uint32_t result = coil_lower_chained(l, adds, type, (uint32_t[]){a, b, in}, &out);
    if (!coil_lower_write(l, &s->places[0], result, type)) return false;
    bool writes = s->count == 4 && to->at != COIL_AT_CONST && !(to->ext & COIL_CONST);
    if (writes && !coil_lower_write(l, to, out, COIL_T_UNT8)) return false;
    /* After this, later instructions can read flag C only. The pending comparison of 0 with the
     * carry gives it. */
    if (live)
        l->flags =
            (struct coil_pending_flags){COIL_OP_CMP, COIL_T_UNT64, ssa_const(l->f, 0), out, 0};
    return true;
}

/* Reads the operands and converts them to the type of the operation. Returns false if one of
 * them has no simple form. */
static bool read_operands(struct coil_lower *l, const struct coil_step *s,
                          const struct coil_roles *r, uint8_t type, uint32_t v[3])
{
    const int at[3] = {r->a, coil_keeps_value_type(s->opcode) ? -1 : r->b, r->c};
    for (int i = 0; i < 3; i++) {
        v[i] = at[i] >= 0 ? coil_lower_read(l, s, (unsigned)at[i], type) : 0;
        if (at[i] >= 0 && !v[i]) return false;
    }
    bool steps = s->opcode == COIL_OP_INC || s->opcode == COIL_OP_DEC;
    if (steps && !is_real(type)) v[1] = ssa_const(l->f, 1);
    return true;
}

static bool lower_arith(struct coil_lower *l, const struct coil_step *s)
{
    struct coil_roles r = coil_roles_of(s);
    uint8_t type = coil_operation_type(s, &r), written = type;
    uint32_t v[3], result = 0;
    if (!coil_is_scalar(type) || !read_operands(l, s, &r, type, v)) return false;
    if (s->opcode == COIL_OP_ADDC || s->opcode == COIL_OP_SUBB)
        return lower_chained(l, s, type, v[0], v[1]);
    uint8_t live = l->flow.flags_live[l->cell - l->flow.first] & coil_flags_written(l->p, l->cell);
    const struct coil_place *to = r.to >= 0 ? &s->places[r.to] : NULL;
    if (to && to->at != COIL_AT_REGISTER && to->ext & COIL_SATURATE && coil_clamps(s->opcode) &&
        coil_is_int(to->op) && coil_is_int(type)) {
        if (live) return false;
        result = coil_lower_saturated(l, s, type, to->op, v[0], v[1]);
        written = to->op;
    } else if (s->opcode == COIL_OP_TEST) {
        /* Values of narrow types are extended. Their upper bits take part in the operation but
         * do not change the result. */
        if (is_real(type)) return false;
        result = ssa_op2(l->f, SSA_AND, SSA_INT, coil_types[type].bytes == 4, v[0], v[1]);
        result = coil_lower_canon(l, result, type);
    } else if (s->opcode != COIL_OP_CMP) {
        /* The NaN that a processor's operation produces is the one that COIL 7.2 requires, so
         * both engines give the same bits. */
        result =
            is_real(type) ? coil_lower_real(l, s, type, v) : coil_lower_integer(l, s, &r, type, v);
        if (s->opcode == COIL_OP_BITCHK) written = COIL_T_UNT8;
    }
    struct coil_pending_flags flags = {s->opcode, type, v[0], v[1], result};
    if (s->opcode != COIL_OP_CMP && !result) return false;
    /* An operation whose flags nobody reads must not replace pending flags that are read. */
    if (live && !coil_lower_flags(&flags, live)) return false;
    if (s->opcode == COIL_OP_DIVMOD) {
        if (!lower_two_results(l, s, type, v[0], v[1], result)) return false;
    } else if (to && !coil_lower_write(l, to, result, written)) {
        return false;
    }
    if (live) l->flags = flags;
    return true;
}

static bool lower_member(struct coil_lower *l, const struct coil_step *s)
{
    bool put = s->opcode == COIL_OP_MEMPUT;
    struct coil_place member = s->places[put ? 0 : 1];
    const struct coil_member *found =
        member.type ? coil_type_member(member.type, s->places[put ? 1 : 2].value) : NULL;
    const struct coil_place *other = &s->places[put ? 2 : 0];
    bool scalar = other->at == COIL_AT_REGISTER || coil_is_scalar(other->op);
    if (!found || (member.at != COIL_AT_MEMORY && member.at != COIL_AT_FRAME) || !scalar)
        return false;
    if (member.at == COIL_AT_FRAME)
        member.slot += (uint32_t)found->offset;
    else
        member.value += found->offset;
    if (s->opcode == COIL_OP_MEMADDR) return write_address(l, &member, other);
    member.type = found->type;
    member.op = found->type->op;
    member.ext |= found->type->ext;
    if (!coil_is_scalar(member.op)) return false;
    uint8_t own = coil_step_type(s), type = put && other->at != COIL_AT_REGISTER ? other->op : own;
    if (put) return coil_lower_write(l, &member, coil_lower_place(l, other, type, type), type);
    uint32_t value = coil_lower_place(l, &member, member.op, member.op);
    return coil_lower_write(l, other, value, member.op);
}

/* Makes XCHG. The second operand is written last, so it must be a place whose write cannot trap. */
static bool lower_exchange(struct coil_lower *l, const struct coil_step *s)
{
    const struct coil_place *x = &s->places[0], *y = &s->places[1];
    uint8_t tx = coil_type_at(s, 0), ty = coil_type_at(s, 1);
    if (!all_scalar(s) || !place_is_kept(y) || !coil_is_int(tx) || !coil_is_int(ty)) return false;
    uint32_t a = coil_lower_place(l, x, tx, tx), b = coil_lower_place(l, y, ty, ty);
    if (!a || !b || (x->ext | y->ext) & COIL_SATURATE) return false;
    return coil_lower_write(l, x, coil_lower_canon(l, b, tx), tx) &&
           coil_lower_write(l, y, coil_lower_canon(l, a, ty), ty);
}

bool coil_lower_value(struct coil_lower *l, const struct coil_step *s)
{
    switch (coil_ops[s->opcode].group) {
    case COIL_G_MOVE: return all_scalar(s) ? lower_move(l, s) : coil_lower_vector(l, s);
    case COIL_G_ARITH:
    case COIL_G_BITS:
    case COIL_G_COMPARE: return all_scalar(s) ? lower_arith(l, s) : coil_lower_vector(l, s);
    case COIL_G_VECTOR: return coil_lower_vector(l, s);
    case COIL_G_MEMBER: return lower_member(l, s);
    case COIL_G_STACK: return coil_lower_stack(l, s);
    case COIL_G_MEMORY:
        if (s->opcode == COIL_OP_XCHG) return lower_exchange(l, s);
        return s->opcode == COIL_OP_LEA && write_address(l, &s->places[1], &s->places[0]);
    case COIL_G_TYPING: return s->opcode != COIL_OP_SIZEOF && s->opcode != COIL_OP_ALIGNOF;
    default: return false;
    }
}
