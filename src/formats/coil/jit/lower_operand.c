/* Reads, writes and converts operands, and computes addresses. Integers have the form that the
 * interpreter uses: extended to 64 bits according to their own type. A function that returns 0
 * or false has found no simple form; what it has emitted before that has no effect. */
#include "coil/jit/left_to_native.h"

static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }
static bool is_signed(uint8_t op) { return coil_types[op].family == COIL_F_SIGNED; }

/* Makes a value of an integer type from the low bits of a value. */
uint32_t coil_lower_canon(struct coil_lower *l, uint32_t value, uint8_t type)
{
    enum ssa_op op;
    switch (type) {
    case COIL_T_INT8: op = SSA_SEXT8; break;
    case COIL_T_BIT:
    case COIL_T_UNT8: op = SSA_ZEXT8; break;
    case COIL_T_INT16: op = SSA_SEXT16; break;
    case COIL_T_UNT16: op = SSA_ZEXT16; break;
    case COIL_T_INT32: op = SSA_SEXT32; break;
    case COIL_T_UNT32: op = SSA_ZEXT32; break;
    case COIL_T_INT64:
    case COIL_T_UNT64: return value;
    default: return 0;
    }
    return ssa_op1(l->f, op, SSA_INT, value);
}

/* Tells whether every value of type `from` has the same 64-bit form in type `to`. */
static bool lower_operand_contains(uint8_t to, uint8_t from)
{
    unsigned wide = coil_types[to].bytes, narrow = coil_types[from].bytes;
    if (wide == 8) return true;
    if (is_signed(from)) return is_signed(to) && wide >= narrow;
    return is_signed(to) ? wide > narrow : wide >= narrow;
}

uint32_t coil_lower_convert(struct coil_lower *l, uint32_t value, uint8_t from, uint8_t to)
{
    struct ssa_function *f = l->f;
    if (!value) return 0;
    if (to == COIL_T_BIT && !is_real(from))
        return ssa_compare(f, SSA_SET, SSA_NE, false, value, ssa_const(f, 0));
    if (from == to) return value;
    if (is_real(from) && is_real(to))
        return ssa_op1(f, to == COIL_T_FP64 ? SSA_FWIDEN : SSA_FNARROW, coil_ssa_type(to), value);
    if (is_real(from)) return coil_lower_from_real(l, value, from, to);
    if (is_real(to)) return coil_lower_to_real(l, value, from, to);
    return lower_operand_contains(to, from) ? value : coil_lower_canon(l, value, to);
}

enum ssa_mem coil_lower_mem(uint8_t op)
{
    switch (op) {
    case COIL_T_INT8: return SSA_I8;
    case COIL_T_BIT:
    case COIL_T_UNT8: return SSA_U8;
    case COIL_T_INT16: return SSA_I16;
    case COIL_T_UNT16: return SSA_U16;
    case COIL_T_INT32: return SSA_I32;
    case COIL_T_UNT32: return SSA_U32;
    case COIL_T_FP32: return SSA_MF32;
    case COIL_T_FP64: return SSA_MF64;
    default: return SSA_X64;
    }
}

uint32_t coil_lower_fixed(struct coil_lower *l, enum ssa_fixed which)
{
    if (l->native && which == SSA_CONTEXT) coil_native_uses_context(l->native);
    return ssa_fixed(l->f, which);
}

static uint32_t context_word(struct coil_lower *l, size_t offset)
{
    return ssa_load(
        l->f, SSA_X64,
        (struct ssa_address){.base = coil_lower_fixed(l, SSA_CONTEXT), .disp = (int64_t)offset});
}

uint32_t coil_lower_register(struct coil_lower *l, uint32_t reg)
{
    if (reg < l->passed) return coil_lower_get(l, l->flow.slots + reg);
    return context_word(l, offsetof(struct coil_vm, v) + 8 * reg);
}

static uint32_t lower_operand_term(struct coil_lower *l, const struct coil_term *t)
{
    switch (t->at) {
    case COIL_AT_CONST:
        return l->native && t->symbol ? coil_native_address(l, t->symbol - 1)
                                      : ssa_const(l->f, (int64_t)t->value);
    case COIL_AT_SLOT:
        return coil_ssa_type(l->flow.types[t->slot]) == SSA_INT ? coil_lower_get(l, t->slot) : 0;
    case COIL_AT_REGISTER: return coil_lower_register(l, t->slot);
    default: return 0;
    }
}

bool coil_lower_address(struct coil_lower *l, const struct coil_place *p, struct ssa_address *at)
{
    *at = (struct ssa_address){0};
    if (p->at == COIL_AT_FRAME && l->native) {
        at->base = coil_lower_fixed(l, SSA_FRAME);
        at->disp = p->slot;
        return true;
    }
    if (p->at == COIL_AT_FRAME) {
        at->base =
            l->frame_top ? l->frame_top : context_word(l, offsetof(struct coil_vm, frame_top));
        at->disp = p->slot;
        return true;
    }
    if (p->at != COIL_AT_MEMORY) return false;
    at->base = lower_operand_term(l, &p->base);
    if (!at->base) return false;
    uint64_t disp = p->value;
    if (p->base.at == COIL_AT_CONST &&
        /* A constant base becomes a part of the displacement, if the sum fits. */
        !(l->native && p->base.symbol)) {
        disp += p->base.value;
        at->base = 0;
    }
    if ((int64_t)disp == (int32_t)disp) {
        at->disp = (int64_t)disp;
    } else {
        uint32_t far = ssa_const(l->f, (int64_t)disp);
        at->base = at->base ? ssa_op2(l->f, SSA_ADD, SSA_INT, false, at->base, far) : far;
    }
    if (p->index.at == COIL_AT_NONE) return true;
    uint32_t index = lower_operand_term(l, &p->index);
    if (!index) return false;
    bool shifts = p->scale == 1 || p->scale == 2 || p->scale == 4 || p->scale == 8;
    at->index =
        shifts ? index
               : ssa_op2(l->f, SSA_MUL, SSA_INT, false, index, ssa_const(l->f, (int64_t)p->scale));
    at->scale = shifts ? (uint8_t)__builtin_ctzll(p->scale) : 0;
    return true;
}

bool coil_lower_reach(struct coil_lower *l, const struct coil_place *p, enum ssa_mem mem,
                      bool write, struct ssa_address *at)
{
    struct ssa_function *f = l->f;
    if (!coil_lower_address(l, p, at)) return false;
    if (l->native) return true;
    /* The addresses of variables are known to be right, so only other accesses are checked. */
    if (p->at != COIL_AT_FRAME) {
        /* Each base has its own window, because accesses through the same variable usually stay
         * in one region. */
        uint32_t number =
            (p->base.at == COIL_AT_SLOT ? p->base.slot : p->base.slot + 17) * 2 + write;
        number %= COIL_WINDOWS;
        uint32_t window = (uint32_t)(offsetof(struct coil_jit, windows) +
                                     number * sizeof(struct ssa_window)),
                 disp = at->disp ? ssa_const(f, at->disp) : 0;
        uint32_t exit = coil_lower_exit(l, COIL_EXIT_CHECK | (uint32_t)ssa_mem_bits[mem] << 8 |
                                               (uint32_t)write << 11 | (uint32_t)at->scale << 12 |
                                               number << 16);
        if (at->base) ssa_keep(f, COIL_KEY_BASE, at->base);
        if (at->index) ssa_keep(f, COIL_KEY_INDEX, at->index);
        if (disp) ssa_keep(f, COIL_KEY_DISP, disp);
        ssa_window(f, mem, *at, write, window, exit);
    }
    uint32_t memory = coil_lower_fixed(l, SSA_MEMORY);
    at->base = at->base ? ssa_op2(f, SSA_ADD, SSA_INT, false, memory, at->base) : memory;
    return true;
}

static uint32_t lower_operand_constant(struct coil_lower *l, const struct coil_place *p, uint8_t as)
{
    if (!coil_is_scalar(p->op) && p->form != COIL_ADDR && p->form != COIL_MEASURE) return 0;
    if (l->native && p->symbol) {
        uint32_t address = coil_native_address(l, p->symbol - 1);
        return coil_lower_convert(l, address, COIL_T_UNT64, as);
    }
    uint8_t from = coil_is_scalar(p->op) ? p->op : COIL_T_UNT64;
    uint32_t bits = ssa_const(l->f, (int64_t)coil_convert_bits(p->value, from, as, false));
    return is_real(as) ? ssa_op1(l->f, SSA_REAL, coil_ssa_type(as), bits) : bits;
}

static uint32_t from_bits(struct coil_lower *l, uint32_t bits, uint8_t as)
{
    if (is_real(as)) return ssa_op1(l->f, SSA_REAL, coil_ssa_type(as), bits);
    return coil_lower_canon(l, bits, as);
}

/* Returns the value of a place, converted to the type `as`. `own` is the type in which a
 * register is read. */
uint32_t coil_lower_place(struct coil_lower *l, const struct coil_place *p, uint8_t own, uint8_t as)
{
    struct ssa_address at;
    if (!coil_is_scalar(as)) return 0;
    switch (p->at) {
    case COIL_AT_CONST: return lower_operand_constant(l, p, as);
    case COIL_AT_REGISTER:
        return coil_lower_convert(l, from_bits(l, coil_lower_register(l, p->slot), own), own, as);
    case COIL_AT_SLOT: {
        uint8_t declared = l->flow.types[p->slot];
        uint32_t value = coil_lower_get(l, p->slot);
        /* The integer type of the operand may differ from that of the slot if both have the same
         * width. */
        if (p->op != declared) {
            if (!coil_is_int(p->op) || !coil_is_int(declared)) return 0;
            value = coil_lower_canon(l, value, p->op);
        }
        return coil_lower_convert(l, value, p->op, as);
    }
    case COIL_AT_FRAME:
    case COIL_AT_MEMORY:
        if (!coil_is_scalar(p->op) || l->vm->m->big_endian ||
            p->ext & (COIL_VOLATILE | COIL_ATOMIC) ||
            !coil_lower_reach(l, p, coil_lower_mem(p->op), false, &at))
            return 0;
        return coil_lower_convert(l, ssa_load(l->f, coil_lower_mem(p->op), at), p->op, as);
    default: return 0;
    }
}

uint32_t coil_lower_read(struct coil_lower *l, const struct coil_step *s, unsigned i, uint8_t as)
{
    const struct coil_place *p = &s->places[i];
    return coil_lower_place(l, p, p->at == COIL_AT_REGISTER ? coil_step_type(s) : p->op, as);
}

/* Stores a value of type `from` at a place, with the conversion that MOV does. */
bool coil_lower_write(struct coil_lower *l, const struct coil_place *p, uint32_t value,
                      uint8_t from)
{
    struct ssa_function *f = l->f;
    struct ssa_address at;
    if (!value) return false;
    if (p->at == COIL_AT_REGISTER) {
        if (is_real(from)) value = ssa_op1(f, SSA_BITS, SSA_INT, value);
        if (p->slot < l->passed)
            coil_lower_set(l, l->flow.slots + p->slot, value);
        else
            ssa_store(f, SSA_X64,
                      (struct ssa_address){.base = coil_lower_fixed(l, SSA_CONTEXT),
                                           .disp = (int64_t)offsetof(struct coil_vm, v) +
                                                   8 * (int64_t)p->slot},
                      value);
        return true;
    }
    if (!coil_is_scalar(p->op)) return false;
    bool ints = coil_is_int(from) && coil_is_int(p->op) && p->op != COIL_T_BIT;
    if (ints && p->ext & COIL_SATURATE) {
        value = coil_lower_clamp(l, value, from, p->op);
        from = p->op;
    }
    if (p->at == COIL_AT_SLOT) {
        uint8_t declared = l->flow.types[p->slot];
        value = coil_lower_convert(l, value, from, p->op);
        if (value && p->op != declared) {
            if (!coil_is_int(p->op) || !coil_is_int(declared)) return false;
            value = coil_lower_canon(l, value, declared);
        }
        if (value) coil_lower_set(l, p->slot, value);
        return value != 0;
    }
    if ((p->at != COIL_AT_FRAME && p->at != COIL_AT_MEMORY) || l->vm->m->big_endian ||
        p->ext & (COIL_VOLATILE | COIL_ATOMIC))
        return false;
    /* Integers need no conversion, because the store writes only the low bytes. */
    if (!ints) value = coil_lower_convert(l, value, from, p->op);
    if (!value || !coil_lower_reach(l, p, coil_lower_mem(p->op), true, &at)) return false;
    ssa_store(f, coil_lower_mem(p->op), at, value);
    return true;
}
