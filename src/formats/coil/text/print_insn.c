/* Prints one instruction as text. Every type is written, so that the text assembles to the same
 * bytes even without the program that contains the instruction. */
#include "coil/coil.h"
#include "text/quote.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_qualifiers(struct writer *out, uint8_t ext)
{
    for (int i = 0; i < 4; i++)
        if (ext >> i & 1) writer_print(out, "%s ", coil_qualifiers[i]);
}

static void print_type(struct writer *out, const struct coil_type *t)
{
    const struct coil_type_info *info = &coil_types[t->op];
    print_qualifiers(out, t->ext);
    if (t->op == COIL_T_ALIAS && !t->elem) {
        writer_print(out, "typeid<%llu>", (unsigned long long)t->id);
        return;
    }
    writer_text(out, info->text);
    if (t->member_count) {
        for (uint32_t i = 0; i < t->member_count; i++) {
            writer_text(out, i ? ", " : "{");
            writer_dec(out, t->members[i].id);
            writer_char(out, ':');
            print_type(out, t->members[i].type);
        }
        writer_char(out, '}');
        return;
    }
    if (!t->elem && !t->rank) return;
    writer_char(out, '<');
    if (t->elem) print_type(out, t->elem);
    bool list = info->data == COIL_D_DIMS;
    for (unsigned i = 0; i < t->rank; i++) {
        if (i || t->elem) writer_char(out, ',');
        if (list && !i) writer_char(out, '[');
        writer_dec(out, t->dims[i]);
    }
    writer_text(out, list ? "]>" : ">");
}

/* Tells whether a literal exists for a value. There is none for NaNs other than the usual one. */
static bool literal_says(uint8_t op, uint64_t bits)
{
    if (op == COIL_T_FP32) return (bits & 0x7fffffff) <= 0x7f800000 || bits == 0x7fc00000;
    if (op == COIL_T_FP64)
        return (bits & INT64_MAX) <= UINT64_C(0x7ff0000000000000) ||
               bits == UINT64_C(0x7ff8000000000000);
    return op != COIL_T_BIT || bits <= 1;
}

static void print_scalar(struct writer *out, uint8_t op, uint64_t bits)
{
    float single;
    double wide;
    uint32_t half = (uint32_t)bits;
    switch (op) {
    case COIL_T_FP32:
        memcpy(&single, &half, 4);
        coil_print_real(out, single, true);
        return;
    case COIL_T_FP64:
        memcpy(&wide, &bits, 8);
        coil_print_real(out, wide, false);
        return;
    default: break;
    }
    unsigned shift = 64 - 8u * coil_types[op].bytes;
    if (coil_types[op].family == COIL_F_SIGNED)
        writer_print(out, "%lld", (long long)((int64_t)(bits << shift) >> shift));
    else
        writer_dec(out, bits);
}

static bool lanes_say(const struct coil_type *t, penta_bytes image, bool big_endian)
{
    if (coil_types[t->op].family != COIL_F_VECTOR || !t->elem || !coil_is_scalar(t->elem->op) ||
        t->elem->ext)
        return false;
    size_t step = (size_t)t->elem->size;
    for (size_t at = 0; at < image.size; at += step)
        if (!literal_says(t->elem->op, bytes_uint(image.data + at, step, big_endian))) return false;
    return true;
}

/* Prints a CINT or CUNT as a number, if a sign and 64 bits are enough for it. Returns false if
 * it printed nothing. */
static bool print_wide(struct writer *out, const struct coil_type *t, penta_bytes image,
                       bool big_endian)
{
    if (!coil_is_wide(t)) return false;
    unsigned bits = t->dims[0];
    uint8_t bytes[16] = {0};
    for (size_t i = 0; i < image.size; i++)
        bytes[i] = image.data[big_endian ? image.size - 1 - i : i];
    bool minus = t->op == COIL_T_CINT && bytes[(bits - 1) / 8] >> (bits - 1) % 8 & 1;
    uint64_t low = bytes_get64(bytes);
    for (size_t i = image.size; i < 16; i++) bytes[i] = minus ? 0xff : 0;
    if (minus && image.size < 8) low |= UINT64_MAX << 8 * image.size;
    if (bytes_get64(bytes + 8) != (minus ? UINT64_MAX : 0) || (minus && !low)) return false;
    if (bits < 64 && (minus ? ~low : low) >> (minus ? bits - 1 : bits)) return false;
    if (minus) writer_char(out, '-');
    writer_dec(out, minus ? 0 - low : low);
    return true;
}

static void print_immediate(struct writer *out, const struct coil_operand *o, bool big_endian)
{
    const struct coil_type *t = o->type;
    if (coil_is_scalar(t->op) && literal_says(t->op, o->value)) {
        print_scalar(out, t->op, o->value);
        return;
    }
    uint8_t bytes[8];
    penta_bytes image = o->image;
    if (coil_is_scalar(t->op)) {
        size_t n = (size_t)t->size;
        for (size_t i = 0; i < n; i++)
            bytes[big_endian ? n - 1 - i : i] = (uint8_t)(o->value >> 8 * i);
        image = (penta_bytes){bytes, n};
    }
    if (o->image.data && lanes_say(t, image, big_endian)) {
        size_t step = (size_t)t->elem->size;
        for (size_t at = 0; at < image.size; at += step) {
            writer_text(out, at ? ", " : "{");
            print_scalar(out, t->elem->op, bytes_uint(image.data + at, step, big_endian));
        }
        writer_char(out, '}');
        return;
    }
    if (o->image.data && print_wide(out, t, image, big_endian)) return;
    writer_text(out, "hex:");
    writer_hex(out, image);
}

static void print_symbol(struct writer *out, const struct coil_module *m, uint64_t index)
{
    writer_char(out, '@');
    if (m && index < m->symbol_count && m->plain[index]) {
        penta_bytes name = coil_symbol_name(m, (size_t)index);
        writer_bytes(out, name.data, name.size);
    } else {
        writer_print(out, "#%llu", (unsigned long long)index);
    }
}

static void print_string(struct writer *out, const struct coil_module *m, uint64_t offset)
{
    if (!m || m->raw || offset >= m->strings.size || (offset && m->strings.data[offset - 1])) {
        writer_print(out, "str %llu", (unsigned long long)offset);
        return;
    }
    writer_quoted(out, coil_string(m, offset));
}

static void print_memory(struct writer *out, const struct coil_module *m,
                         const struct coil_operand *o)
{
    print_qualifiers(out, o->ext);
    print_type(out, o->type);
    writer_text(out, " [");
    const struct coil_operand *p = o->parts;
    if (p[0].form == COIL_IMM)
        writer_0x(out, p[0].value);
    else
        coil_print_operand(out, m, &p[0]);
    if (o->parts_count > 2) {
        writer_text(out, " + ");
        coil_print_operand(out, m, &p[1]);
        writer_char(out, '*');
        writer_dec(out, p[2].value);
    }
    if (o->parts_count == 2 || o->parts_count == 4) {
        const struct coil_operand *disp = &p[o->parts_count - 1];
        unsigned shift = 64 - 8u * coil_types[disp->op].bytes;
        int64_t value = (int64_t)(disp->value << shift) >> shift;
        writer_text(out, value < 0 ? " - " : " + ");
        writer_dec(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    }
    writer_char(out, ']');
}

static void print_typed(struct writer *out, const struct coil_module *m,
                        const struct coil_operand *o)
{
    print_qualifiers(out, o->ext);
    if (o->type->ext) { /* The qualifiers of the operand have been printed already. */
        struct coil_type bare = *o->type;
        bare.ext = 0;
        print_type(out, &bare);
    } else {
        print_type(out, o->type);
    }
    if (o->form == COIL_TYPE_ONLY) return;
    writer_char(out, ' ');
    if (o->form == COIL_IMM)
        print_immediate(out, o, m && m->big_endian);
    else if (o->form == COIL_SYM)
        print_symbol(out, m, o->value);
    else
        writer_print(out, "%c%llu", o->form == COIL_VAR ? '%' : '$', (unsigned long long)o->value);
}

void coil_print_operand(struct writer *out, const struct coil_module *m,
                        const struct coil_operand *o)
{
    switch ((enum coil_form)o->form) {
    case COIL_ADDR: print_symbol(out, m, o->value); break;
    case COIL_VARID: writer_print(out, "varid %llu", (unsigned long long)o->value); break;
    case COIL_DEFID: writer_print(out, "defid %llu", (unsigned long long)o->value); break;
    case COIL_STRING: print_string(out, m, o->value); break;
    case COIL_REGISTER:
        writer_print(out, "%s%u", o->value < COIL_REGISTERS ? "v" : "reg ", (unsigned)o->value);
        break;
    case COIL_PARAM:
        writer_print(out, "param%u %u", COIL_T_PARAM0 - o->op, (unsigned)o->value);
        break;
    case COIL_MEASURE:
        writer_text(out, coil_types[o->op].text);
        writer_char(out, '(');
        print_type(out, o->type);
        writer_char(out, ')');
        break;
    case COIL_MEM: print_memory(out, m, o); break;
    default: print_typed(out, m, o);
    }
}

/* Returns the mnemonic of an instruction, or NULL if it has none. */
static const char *mnemonic_of(const struct coil_module *m, const struct coil_insn *insn)
{
    unsigned unit = m ? m->header.target_pu : COIL_UNIT_CPU, least, most;
    const struct coil_unit_op *special = NULL;
    if (insn->opcode >= 0xA0 && insn->opcode <= 0xDF)
        special = coil_unit_op(unit ? unit : COIL_UNIT_CPU, insn->opcode);
    else if (m && m->abi)
        special = coil_unit_op(COIL_UNIT_ABI, insn->opcode);
    if (special)
        return insn->count >= special->least && insn->count <= special->most ? special->name : NULL;
    if (!coil_ops[insn->opcode].name) return NULL;
    coil_op_counts(insn->opcode, &least, &most);
    return insn->count >= least && insn->count <= most ? coil_ops[insn->opcode].name : NULL;
}

static bool takes_condition(const struct coil_insn *insn, unsigned i)
{
    if (i) return false;
    return insn->opcode == COIL_OP_RET ||
           ((insn->opcode == COIL_OP_BR || insn->opcode == COIL_OP_CALL) && insn->count == 2);
}

void coil_print_insn(struct writer *out, const struct coil_module *m, const struct coil_insn *insn)
{
    const char *name = insn->opcode == COIL_OP_VENDOR ? NULL : mnemonic_of(m, insn);
    const char *separator = " ";
    if (name) {
        writer_text(out, name);
    } else if (insn->opcode == COIL_OP_VENDOR) {
        writer_print(out, "VENDOR.0x%02x", insn->extended);
    } else {
        writer_print(out, ".opcode 0x%02x", insn->opcode);
        separator = ", ";
    }
    bool atomic = coil_ops[insn->opcode].group == COIL_G_ATOMIC;
    for (unsigned i = 0; i < insn->count; i++, separator = ", ") {
        const struct coil_operand *o = &insn->operands[i];
        writer_text(out, separator);
        if (name && o->op == COIL_T_PARAM0 && takes_condition(insn, i) &&
            o->value < COIL_CONDITIONS)
            writer_text(out, coil_conditions[o->value]);
        else if (name && o->op == COIL_T_PARAM0 && atomic && o->value < 5)
            writer_text(out, coil_orders[o->value]);
        else if (name && insn->opcode == COIL_OP_VAR && !i && o->form == COIL_VARID)
            writer_print(out, "%%%llu", (unsigned long long)o->value);
        else
            coil_print_operand(out, m, o);
    }
}
