/* Chooses specialised cells for the frequent cases: scalars in slots, and plain memory of
 * little-endian programs. Other instructions keep the general cell. */
#include "coil/vm/load/load.h"

static bool fast_slot(const struct coil_place *p)
{
    return p->at == COIL_AT_SLOT && p->op == p->type->op && p->op != COIL_T_BIT &&
           !(p->ext & COIL_SATURATE);
}
static bool int_slot(const struct coil_place *p) { return fast_slot(p) && coil_is_int(p->op); }
static bool const_scalar(const struct coil_place *p)
{
    return p->at == COIL_AT_CONST && coil_is_scalar(p->op) && !p->image;
}

static bool fast_memory(const struct coil_loading *l, const struct coil_place *p)
{
    if (p->at != COIL_AT_MEMORY || l->m->big_endian || !coil_is_scalar(p->op) ||
        p->op == COIL_T_BIT || p->ext & COIL_SATURATE || p->scale > 255)
        return false;
    bool base = p->base.at == COIL_AT_SLOT || p->base.at == COIL_AT_CONST;
    return base && (p->index.at == COIL_AT_SLOT || p->index.at == COIL_AT_NONE);
}

static void set_memory(struct coil_cell *c, const struct coil_place *p)
{
    c->b = p->base.at == COIL_AT_SLOT ? p->base.slot : 0;
    c->c = p->index.at == COIL_AT_SLOT ? p->index.slot : 0;
    c->x = (uint8_t)p->scale;
    c->imm = p->value + (p->base.at == COIL_AT_CONST ? p->base.value : 0);
}

/* The cells of an operation for the seven integer types are in this order. The cells with an
 * immediate follow after them. */
_Static_assert(COIL_CELL_CUT_U8 == COIL_CELL_CUT_I8 + 1 &&
                   COIL_CELL_CUT_W64 == COIL_CELL_CUT_I8 + 6 &&
                   COIL_CELL_ADD_VI_I8 == COIL_CELL_ADD_VV_I8 + 7,
               "cells in the order of widths");
static int width_of(uint8_t op)
{
    switch (op) {
    case COIL_T_INT8: return 0;
    case COIL_T_UNT8: return 1;
    case COIL_T_INT16: return 2;
    case COIL_T_UNT16: return 3;
    case COIL_T_INT32: return 4;
    case COIL_T_UNT32: return 5;
    default: return 6;
    }
}

static bool lower_move(const struct coil_loading *l, struct coil_cell *c,
                       const struct coil_place *to, const struct coil_place *from)
{
    bool same_real = to->op == from->op && coil_types[to->op].family == COIL_F_REAL;
    if (to->at == COIL_AT_REGISTER) {
        if (const_scalar(from))
            *c = (struct coil_cell){.op = COIL_CELL_REG_SET, .a = to->slot, .imm = from->value};
        else if (fast_slot(from))
            *c = (struct coil_cell){.op = COIL_CELL_REG_SLOT, .a = to->slot, .b = from->slot};
        else
            return false;
        return true;
    }
    if (fast_slot(to)) {
        bool wide = coil_types[to->op].bytes == 8;
        if (const_scalar(from)) {
            *c = (struct coil_cell){.op = COIL_CELL_SET,
                                    .a = to->slot,
                                    .imm = coil_convert_bits(from->value, from->op, to->op, false)};
        } else if (from->at == COIL_AT_REGISTER && wide) {
            *c = (struct coil_cell){.op = COIL_CELL_SLOT_REG, .a = to->slot, .b = from->slot};
        } else if (fast_slot(from) &&
                   (same_real || (coil_is_int(to->op) && coil_is_int(from->op)))) {
            bool plain = same_real || wide || to->op == from->op;
            *c = (struct coil_cell){
                .op = (uint16_t)(plain ? COIL_CELL_COPY : COIL_CELL_CUT_I8 + width_of(to->op)),
                .a = to->slot,
                .b = from->slot};
        } else if (fast_memory(l, from) &&
                   (same_real || (coil_is_int(to->op) && coil_is_int(from->op) &&
                                  (wide || to->op == from->op)))) {
            uint16_t op =
                (uint16_t)(from->op == COIL_T_FP32 ? COIL_CELL_LOAD_F32
                                                   : COIL_CELL_LOAD_I8 + width_of(from->op));
            *c = (struct coil_cell){.op = op, .a = to->slot};
            set_memory(c, from);
        } else {
            return false;
        }
        return true;
    }
    if (!fast_memory(l, to)) return false;
    int width = to->op == COIL_T_FP32 ? 5 : width_of(to->op);
    if (const_scalar(from)) {
        uint64_t value = coil_convert_bits(from->value, from->op, to->op, false);
        if (value > UINT32_MAX) return false;
        *c = (struct coil_cell){.op = (uint16_t)(COIL_CELL_STORE_I_I8 + width),
                                .a = (uint32_t)value};
    } else if (fast_slot(from) && (same_real || (coil_is_int(to->op) && coil_is_int(from->op)))) {
        *c = (struct coil_cell){.op = (uint16_t)(COIL_CELL_STORE_I8 + width), .a = from->slot};
    } else {
        return false;
    }
    set_memory(c, to);
    return true;
}

/* Tells whether the value of a slot can be used without converting it to the integer type of the
 * operation: the slot has this type, or the operation has 64 bits, to which every slot is
 * extended. */
static bool load_cells_fits(const struct coil_place *p, uint8_t type)
{
    return p->op == type || (coil_is_int(p->op) && coil_types[type].bytes == 8);
}

static bool lower_int(struct coil_cell *c, const struct coil_step *s, uint16_t first)
{
    static const struct coil_place one = {.at = COIL_AT_CONST, .op = COIL_T_INT8, .value = 1};
    bool unary = s->opcode == COIL_OP_INC || s->opcode == COIL_OP_DEC;
    const struct coil_place *to = &s->places[0], *a = s->count == 3 ? &s->places[1] : to,
                            *b = unary ? &one : &s->places[s->count - 1];
    bool value = const_scalar(b) && coil_is_int(b->op);
    if (!int_slot(to) || !int_slot(a) || !(value || int_slot(b))) return false;
    uint8_t type = unary ? to->op : coil_common(a->op, b->op);
    if (coil_types[to->op].bytes > coil_types[type].bytes || !load_cells_fits(a, type) ||
        !(value || load_cells_fits(b, type)))
        return false;
    *c = (struct coil_cell){.op = (uint16_t)(first + 7 * value + width_of(to->op)),
                            .y = type,
                            .a = to->slot,
                            .b = a->slot,
                            .c = b->slot,
                            .imm = value ? coil_convert_bits(b->value, b->op, type, false) : 0};
    return true;
}

/* Chooses a cell for an FP64 operation on slots; the second operand may be in memory. */
static bool lower_real(const struct coil_loading *l, struct coil_cell *c, const struct coil_step *s)
{
    const struct coil_place *to = &s->places[0], *a = s->count == 3 ? &s->places[1] : to,
                            *b = &s->places[s->count - 1];
    _Static_assert(COIL_OP_SUB == COIL_OP_ADD + 1 && COIL_OP_MUL == COIL_OP_ADD + 2 &&
                       COIL_OP_DIV == COIL_OP_ADD + 3 &&
                       COIL_CELL_FSUB_VV == COIL_CELL_FADD_VV + 1 &&
                       COIL_CELL_FMUL_VV == COIL_CELL_FADD_VV + 2 &&
                       COIL_CELL_FDIV_VV == COIL_CELL_FADD_VV + 3 &&
                       COIL_CELL_FSUB_VM == COIL_CELL_FADD_VM + 1 &&
                       COIL_CELL_FMUL_VM == COIL_CELL_FADD_VM + 2,
                   "cells in the order of opcodes");
    uint8_t which = (uint8_t)(s->opcode - COIL_OP_ADD);
    if (!fast_slot(to) || !fast_slot(a) || to->op != COIL_T_FP64 || a->op != COIL_T_FP64 ||
        b->op != COIL_T_FP64)
        return false;
    *c = (struct coil_cell){.a = to->slot, .b = a->slot, .c = b->slot};
    if (fast_slot(b)) {
        c->op = (uint16_t)(COIL_CELL_FADD_VV + which);
        return true;
    }
    if (!fast_memory(l, b) || a != to || s->opcode == COIL_OP_DIV) return false;
    c->op = (uint16_t)(COIL_CELL_FADD_VM + which);
    set_memory(c, b);
    return true;
}

static bool lower_compare(const struct coil_loading *l, struct coil_cell *c,
                          const struct coil_step *s)
{
    const struct coil_place *a = &s->places[0], *b = &s->places[1];
    bool value = const_scalar(b) && coil_is_int(b->op);
    if (!coil_is_int(a->op) || !(value || int_slot(b))) return false;
    uint8_t type = coil_common(a->op, b->op);
    bool wide = coil_types[type].bytes == 8;
    if ((a->op != type && !wide) || (!value && b->op != type && !wide)) return false;
    uint64_t imm = value ? coil_convert_bits(b->value, b->op, type, false) : 0;
    bool is_signed = coil_types[type].family == COIL_F_SIGNED;
    if (int_slot(a)) {
        uint16_t op = (uint16_t)(value       ? is_signed ? COIL_CELL_CMP_S_VI : COIL_CELL_CMP_U_VI
                                 : is_signed ? COIL_CELL_CMP_S_VV
                                             : COIL_CELL_CMP_U_VV);
        *c = (struct coil_cell){.op = op, .y = type, .b = a->slot, .c = b->slot, .imm = imm};
        return true;
    }
    if (!value || !fast_memory(l, a) || a->op != type || imm > UINT32_MAX) return false;
    *c = (struct coil_cell){
        .op = (uint16_t)(COIL_CELL_CMP_M_I8 + width_of(a->op)), .y = type, .a = (uint32_t)imm};
    set_memory(c, a);
    return true;
}

void coil_load_cell(const struct coil_loading *l, size_t i)
{
    struct coil_cell *c = &l->p->cells[i], cell = *c;
    const struct coil_step *s = l->cell_steps[i];
    static const uint16_t quick[COIL_CONDITIONS] = {
        [COIL_IF_EQ] = COIL_CELL_BR_EQ, [COIL_IF_NEQ] = COIL_CELL_BR_NEQ,
        [COIL_IF_GT] = COIL_CELL_BR_GT, [COIL_IF_GTE] = COIL_CELL_BR_GTE,
        [COIL_IF_LT] = COIL_CELL_BR_LT, [COIL_IF_LTE] = COIL_CELL_BR_LTE};
    if (c->op == COIL_CELL_BR && c->x < COIL_CONDITIONS && quick[c->x]) c->op = quick[c->x];
    if (c->op != COIL_CELL_STEP) return;
    bool done = false;
    switch (s->opcode) {
    case COIL_OP_VAR: {
        static const struct coil_place zero = {
            .at = COIL_AT_CONST, .op = COIL_T_INT64, .type = NULL};
        struct coil_place to = s->places[1];
        done = fast_slot(&to) && lower_move(l, &cell, &to, s->count == 3 ? &s->places[2] : &zero);
        break;
    }
    case COIL_OP_MOV: done = lower_move(l, &cell, &s->places[0], &s->places[1]); break;
    case COIL_OP_ADD:
        done = lower_int(&cell, s, COIL_CELL_ADD_VV_I8) || lower_real(l, &cell, s);
        break;
    case COIL_OP_SUB:
        done = lower_int(&cell, s, COIL_CELL_SUB_VV_I8) || lower_real(l, &cell, s);
        break;
    case COIL_OP_MUL:
        done = lower_int(&cell, s, COIL_CELL_MUL_VV_I8) || lower_real(l, &cell, s);
        break;
    case COIL_OP_DIV: done = lower_real(l, &cell, s); break;
    case COIL_OP_INC: done = lower_int(&cell, s, COIL_CELL_ADD_VV_I8); break;
    case COIL_OP_DEC: done = lower_int(&cell, s, COIL_CELL_SUB_VV_I8); break;
    case COIL_OP_AND: done = lower_int(&cell, s, COIL_CELL_AND_VV_I8); break;
    case COIL_OP_OR: done = lower_int(&cell, s, COIL_CELL_OR_VV_I8); break;
    case COIL_OP_XOR: done = lower_int(&cell, s, COIL_CELL_XOR_VV_I8); break;
    case COIL_OP_CMP: done = lower_compare(l, &cell, s); break;
    default: break;
    }
    if (done) *c = cell;
}
