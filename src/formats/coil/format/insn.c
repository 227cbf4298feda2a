/* Reads the bytes of an instruction (COIL 3) into operands, and writes operands as bytes. This
 * file finds only errors of the level "bytes"; check.c decides whether the operands make sense. */
#include "coil/coil.h"
#include <stdio.h>

static uint8_t count_of(const char *forms, bool most)
{
    unsigned best = most ? 0 : 255, n = 0;
    for (const char *p = forms;; p++) {
        if (*p == '*') {
            /* A star means that the operand before it may be repeated. */
            if (most) return 255;
        } else if (*p == '|' || !*p) {
            if (most ? n > best : n < best) best = n;
            n = 0;
            if (!*p) return (uint8_t)best;
        } else {
            n++;
        }
    }
}

const struct coil_op_info coil_ops[256] = {
#define LETTER(text, letter, flag) (__builtin_strchr(text, letter) ? flag : 0)
#define CLEARS(text)                                                                               \
    (LETTER(text, 'z', COIL_Z) | LETTER(text, 's', COIL_S) | LETTER(text, 'c', COIL_C) |           \
     LETTER(text, 'v', COIL_V) | LETTER(text, 'd', COIL_D) | LETTER(text, 'n', COIL_N) |           \
     LETTER(text, 'p', COIL_P))
#define SETS(text)                                                                                 \
    (LETTER(text, 'Z', COIL_Z) | LETTER(text, 'S', COIL_S) | LETTER(text, 'C', COIL_C) |           \
     LETTER(text, 'V', COIL_V) | LETTER(text, 'D', COIL_D) | LETTER(text, 'N', COIL_N) |           \
     LETTER(text, 'P', COIL_P))
#define OP(code, name, forms, flags, group, meaning)                                               \
    [code] = {#name,        forms, flags, meaning, COIL_G_##group, SETS(flags) | CLEARS(flags),    \
              CLEARS(flags)},
#include "coil/isa.def"
};

void coil_count_text(unsigned least, unsigned most, char *text, size_t room)
{
    const char *plural = most == 1 ? "" : "s";
    if (least == most)
        snprintf(text, room, "%u operand%s", least, plural);
    else if (most < COIL_OPERANDS_MAX)
        snprintf(text, room, "%u to %u operand%s", least, most, plural);
    else
        snprintf(text, room, "%u or more operands", least);
}

void coil_op_counts(uint8_t opcode, unsigned *least, unsigned *most)
{
    *least = count_of(coil_ops[opcode].forms, false);
    *most = count_of(coil_ops[opcode].forms, true);
}

const struct coil_unit_op coil_unit_ops[] = {
#define UNIT_OP(unit, code, name, least, most) {COIL_UNIT_##unit, code, #name, least, most},
#include "coil/units.def"
    {0, 0, NULL, 0, 0}};

const struct coil_unit_op *coil_unit_op(unsigned unit, uint8_t code)
{
    for (const struct coil_unit_op *op = coil_unit_ops; op->name; op++)
        if (op->unit == unit && op->code == code) return op;
    return NULL;
}

const char *const coil_conditions[COIL_CONDITIONS] = {
#define CONDITION(name) #name,
#include "coil/kinds.def"
};
const char *const coil_qualifiers[4] = {"const", "volatile", "atomic", "sat"};
_Static_assert(COIL_CONST == 1 && COIL_VOLATILE == 2 && COIL_ATOMIC == 4 && COIL_SATURATE == 8,
               "the bit of a qualifier is its number");
const char *const coil_orders[COIL_ORDERS] = {
#define ORDER(name) #name,
#include "coil/kinds.def"
};

/* Reads an id. Most bytes of a program are ids, so this uses one load and not the loop of the
 * reader. */
static inline uint64_t read_id(struct reader *in)
{
    const uint8_t *p = reader_take(in, 8);
    if (!p) return 0;
    return in->big_endian ? __builtin_bswap64(bytes_get64(p)) : bytes_get64(p);
}

static bool read_operand(struct reader *in, struct coil_insn *insn, struct coil_operand *o,
                         bool part);

/* Tells whether a component of a MEM operand has the right kind: a scalar with a value, a SYMBOL
 * or a REG. An index cannot be an immediate, and a scale or displacement must be one. */
static bool component_fits(const struct coil_operand *o, unsigned i, unsigned count)
{
    bool scale = i == 2, disp = i > 0 && i == count - 1 && i != 2 && count != 3;
    if (o->form == COIL_MEM) return false;
    if (scale || disp) return o->form == COIL_IMM && coil_is_int(o->op);
    if (o->form == COIL_REGISTER) return true;
    bool word = o->op == COIL_T_INT64 || o->op == COIL_T_UNT64;
    if (i == 0)
        return o->form == COIL_ADDR || (word && (o->form == COIL_VAR || o->form == COIL_IMM)) ||
               (o->form == COIL_SYM && coil_is_int(o->op));
    return o->form == COIL_VAR && coil_is_int(o->op);
}

static bool read_memory(struct reader *in, struct coil_insn *insn, struct coil_operand *o)
{
    uint64_t at = reader_at(in) - 2;
    if (o->ext & COIL_VALUE_BITS)
        return error_at(in->err, COIL_EXT_CONFLICT, at, "MEM with value bits, 0x%02x", o->ext);
    o->form = COIL_MEM;
    o->type = coil_type_read(in, &insn->arena);
    if (!o->type) return false;
    uint64_t n = reader_uint(in, 1);
    if (in->err->code) return false;
    if (n < 1 || n > 4)
        return error_at(in->err, COIL_MEM_FORM, reader_at(in) - 1, "%u components", (unsigned)n);
    struct coil_operand *parts = &insn->parts[insn->parts_count];
    o->parts = parts;
    o->parts_count = (uint8_t)n;
    insn->parts_count += (size_t)n;
    for (unsigned i = 0; i < n; i++) {
        uint64_t part_at = reader_at(in);
        if (reader_left(in) && in->in.data[in->pos] == COIL_T_MEM)
            return error_at(in->err, COIL_MEM_COMPONENT, part_at, "a MEM within a MEM");
        if (!read_operand(in, insn, &parts[i], true)) return false;
        if (!component_fits(&parts[i], i, (unsigned)n))
            return error_at(in->err, COIL_MEM_COMPONENT, part_at,
                            "component %u of %u is of the wrong kind", i + 1, (unsigned)n);
    }
    return true;
}

static bool read_immediate(struct reader *in, struct coil_operand *o)
{
    const struct coil_type *t = o->type;
    if (t->open)
        return error_at(in->err, COIL_TYPE_ID_IMM, reader_at(in),
                        "an immediate of a type given by id");
    if (coil_is_scalar(t->op)) {
        o->value = reader_uint(in, (size_t)t->size);
    } else {
        o->image = reader_bytes(in, (size_t)t->size);
    }
    return !in->err->code;
}

static bool one_value_bit(struct reader *in, const struct coil_operand *o)
{
    unsigned bits = o->ext >> 4;
    return !(bits & (bits - 1)) || error_at(in->err, COIL_EXT_CONFLICT, reader_at(in) - 1,
                                            "extension byte 0x%02x says two things", o->ext);
}

static bool read_value(struct reader *in, struct coil_insn *insn, struct coil_operand *o)
{
    static const uint8_t forms[16] = {
        [0] = COIL_TYPE_ONLY, [1] = COIL_IMM, [2] = COIL_DEF, [4] = COIL_VAR, [8] = COIL_SYM};
    unsigned bits = o->ext >> 4;
    if (!one_value_bit(in, o)) return false;
    if (bits && o->op == COIL_T_VOID)
        return error_at(in->err, COIL_EXT_CONFLICT, reader_at(in) - 1, "VOID with a value, 0x%02x",
                        o->ext);
    o->form = forms[bits];
    bool reference = bits & ~1u;
    if (coil_types[o->op].data == COIL_D_NONE ||
        (coil_types[o->op].data == COIL_D_ELEM && reference))
        o->type = &coil_scalar_types[o->op];
    else
        o->type = coil_type_data(in, &insn->arena, o->op, o->ext);
    if (!o->type) return false;
    if (coil_types[o->op].data != COIL_D_NONE)
        insn->arena_used += 256 + o->type->member_count * sizeof(struct coil_member);
    if (reference) o->value = read_id(in);
    return o->form == COIL_IMM ? read_immediate(in, o) : !in->err->code;
}

static bool read_special(struct reader *in, struct coil_insn *insn, struct coil_operand *o)
{
    o->type = NULL;
    switch ((enum coil_data)coil_types[o->op].data) {
    case COIL_D_ID: {
        static const uint8_t forms[] = {COIL_VARID, COIL_ADDR, COIL_DEFID, COIL_STRING};
        o->form = forms[o->op - COIL_T_VARID];
        if (!one_value_bit(in, o)) return false;
        o->value = read_id(in);
        return !in->err->code;
    }
    case COIL_D_NUMBER:
        o->form = COIL_REGISTER;
        if (!one_value_bit(in, o)) return false;
        o->value = reader_uint(in, 2);
        return !in->err->code;
    case COIL_D_VALUE:
        o->form = COIL_PARAM;
        o->value = o->ext;
        return true;
    case COIL_D_MEASURED:
        o->form = COIL_MEASURE;
        if (o->ext & COIL_VALUE_BITS)
            return error_at(in->err, COIL_EXT_CONFLICT, reader_at(in) - 1, "%s with value bits",
                            coil_types[o->op].name);
        o->type = coil_type_read(in, &insn->arena);
        insn->arena_used += 256;
        return o->type != NULL;
    default: return read_memory(in, insn, o);
    }
}

static bool read_operand(struct reader *in, struct coil_insn *insn, struct coil_operand *o,
                         bool part)
{
    size_t from = in->pos;
    const uint8_t *p = reader_take(in, 2);
    (void)part;
    if (!p) return false;
    o->op = p[0];
    o->ext = p[1];
    o->at = (uint32_t)from;
    o->parts_count = 0;
    o->value = 0;
    o->image = (penta_bytes){NULL, 0};
    o->parts = NULL;
    const struct coil_type_info *info = &coil_types[o->op];
    if (!info->text)
        return error_at(in->err, COIL_TYPE_UNKNOWN, reader_at(in) - 2,
                        "type opcode 0x%02x is not assigned", o->op);
    bool ok = info->family == COIL_F_SPECIAL ? read_special(in, insn, o) : read_value(in, insn, o);
    o->size = (uint32_t)(in->pos - from);
    return ok;
}

/* Replaces the error of the reader, which only says how many bytes are missing, by one that says
 * which instruction is incomplete and where it begins. */
static bool insn_broken_off(struct reader *in, const struct coil_insn *insn, unsigned operand,
                            unsigned count)
{
    penta_error *err = in->err;
    if (err->code != BASE_TRUNCATED) return false;
    const char *name = coil_ops[insn->opcode].name;
    char where[40] = "before its number of operands";
    if (count) snprintf(where, sizeof where, "in operand %u of %u", operand + 1, count);
    uint64_t at = err->offset;
    *err = (penta_error){0};
    return error_at(err, BASE_TRUNCATED, at,
                    "the code ends within an instruction: %s at 0x%x breaks off %s",
                    name ? name : "one", (unsigned)insn->at, where);
}

bool coil_insn_read(struct reader *in, struct coil_insn *out)
{
    enum { ARENA_KEPT = 1 << 18 };
    if (out->arena_used > ARENA_KEPT) {
        arena_free(&out->arena);
        out->arena_used = 0;
    }
    out->at = (uint32_t)in->pos;
    out->parts_count = 0;
    out->count = 0;
    out->extended = 0;
    const uint8_t *head = reader_take(in, 1);
    out->opcode = head ? *head : 0;
    if (out->opcode == COIL_OP_VENDOR) out->extended = (uint8_t)reader_uint(in, 1);
    head = reader_take(in, 1);
    unsigned count = head ? *head : 0;
    if (!head) return insn_broken_off(in, out, 0, 0);
    for (unsigned i = 0; i < count; i++) {
        if (!read_operand(in, out, &out->operands[i], false))
            return insn_broken_off(in, out, i, count);
        out->count = (uint8_t)(i + 1);
    }
    out->size = (uint32_t)(in->pos - out->at);
    return true;
}

void coil_insn_free(struct coil_insn *insn)
{
    arena_free(&insn->arena);
    insn->arena_used = 0;
}

static void operand_write(struct writer *out, const struct coil_operand *o)
{
    writer_uint(out, o->op, 1);
    writer_uint(out, o->ext, 1);
    switch ((enum coil_form)o->form) {
    case COIL_ADDR:
    case COIL_VARID:
    case COIL_DEFID:
    case COIL_STRING: writer_uint(out, o->value, 8); return;
    case COIL_REGISTER: writer_uint(out, o->value, 2); return;
    case COIL_PARAM: return;
    case COIL_MEASURE: coil_type_write(out, o->type); return;
    case COIL_MEM:
        coil_type_write(out, o->type);
        writer_uint(out, o->parts_count, 1);
        for (unsigned i = 0; i < o->parts_count; i++) operand_write(out, &o->parts[i]);
        return;
    default: break;
    }
    bool reference = o->form == COIL_DEF || o->form == COIL_VAR || o->form == COIL_SYM;
    if (coil_types[o->op].data != COIL_D_NONE &&
        !(coil_types[o->op].data == COIL_D_ELEM && reference))
        coil_type_write_data(out, o->type);
    if (reference)
        writer_uint(out, o->value, 8);
    else if (o->form == COIL_IMM && o->image.data)
        writer_bytes(out, o->image.data, o->image.size);
    else if (o->form == COIL_IMM)
        writer_uint(out, o->value, (size_t)o->type->size);
}

void coil_insn_write(struct writer *out, const struct coil_insn *insn)
{
    writer_uint(out, insn->opcode, 1);
    if (insn->opcode == COIL_OP_VENDOR) writer_uint(out, insn->extended, 1);
    writer_uint(out, insn->count, 1);
    for (unsigned i = 0; i < insn->count; i++) operand_write(out, &insn->operands[i]);
}
