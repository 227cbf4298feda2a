/* Assembles instructions: parses the operands that the shape of the opcode requires (KBLOB 4.4). */
#include "kblob/text/assembly.h"
#include "base/suggest.h"
#include "text/expr.h"

bool assembly_number(struct assembly *a, unsigned bits, uint64_t *value)
{
    return expr_field(a->s, labels_value, &a->names, bits, value);
}

/* The functions below parse operands of version 2. */

static bool is_register(const struct assembly *a, struct token t, unsigned *number)
{
    penta_bytes name = token_text(a->s, t);
    if (t.kind != TOKEN_NAME || name.size < 2 || name.size > 3) return false;
    if (name.data[0] != 'r' && name.data[0] != 'R') return false;
    unsigned value = 0;
    for (size_t i = 1; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9') return false;
        value = value * 10 + (name.data[i] - (unsigned)'0');
    }
    *number = value;
    return name.size == 2 || name.data[1] != '0';
}

bool assembly_register(struct assembly *a, unsigned *number)
{
    struct token t = source_next(a->s);
    if (!is_register(a, t, number)) return source_unexpected(a->s, t, "a register, r0 to r31");
    if (*number < KBLOB_REGISTERS) return true;
    return error_at(a->s->err, BASE_NUMBER, t.offset, "the last register is r%d",
                    KBLOB_REGISTERS - 1);
}

bool assembly_register_or_constant(struct assembly *a, unsigned *number, uint64_t *constant)
{
    *constant = 0;
    if (is_register(a, source_peek(a->s), number)) return assembly_register(a, number);
    *number = KBLOB_CONSTANT;
    return assembly_number(a, 64, constant);
}

/* Parses [a], [a + OFFSET] or [a - OFFSET]. */
static bool operands_memory(struct assembly *a, unsigned *number, uint64_t *offset)
{
    if (!source_expect(a->s, '[') || !assembly_register(a, number)) return false;
    struct token t = source_peek(a->s);
    bool minus = t.kind == TOKEN_PUNCT && t.as.punct == '-'; /* The minus belongs to the number. */
    if ((minus || source_accept(a->s, '+')) && !assembly_number(a, 64, offset)) return false;
    return source_expect(a->s, ']');
}

static bool operands_special(struct assembly *a, uint32_t *number)
{
    struct token t = source_next(a->s);
    struct suggest near = {.word = token_text(a->s, t)};
    for (*number = 0; *number < KBLOB_SPECIALS; ++*number) {
        if (t.kind == TOKEN_NAME && token_is(a->s, t, kblob_specials[*number])) return true;
        suggest_offer(&near, kblob_specials[*number]);
    }
    error_at(a->s->err, BASE_NAME_UNKNOWN, t.offset, "ID knows no '%.*s'",
             BYTES_ARG(near.word, 40));
    return near.best ? error_note(a->s->err, "did you mean '%s'?", near.best)
                     : error_note(a->s->err, "for example thread.x, block.x, global");
}

static bool operands_comma(struct assembly *a, bool *first)
{
    bool ok = *first || source_expect(a->s, ',');
    *first = false;
    return ok;
}

static bool instruction_2(struct assembly *a, unsigned opcode)
{
    unsigned uses = kblob_uses(&kblob_ops[opcode]), d = 0, ra = 0, b = 0;
    struct kblob_inst in = {.opcode = (uint8_t)opcode};
    uint64_t constant = 0, at = source_peek(a->s).offset;
    bool first = true, in_memory = uses & KBLOB_FIELD_OFFSET;
    if (uses & KBLOB_FIELD_D && (!operands_comma(a, &first) || !assembly_register(a, &d)))
        return false;
    if (in_memory && (!operands_comma(a, &first) || !operands_memory(a, &ra, &in.arg0)))
        return false;
    if (uses & KBLOB_FIELD_A && !in_memory &&
        (!operands_comma(a, &first) || !assembly_register(a, &ra)))
        return false;
    if (uses & KBLOB_FIELD_B_REGISTER && (!operands_comma(a, &first) || !assembly_register(a, &b)))
        return false;
    if (uses & KBLOB_FIELD_B) {
        if (!operands_comma(a, &first) || !assembly_register_or_constant(a, &b, &constant))
            return false;
        if (b == KBLOB_CONSTANT) in.arg0 = constant;
    }
    in.flags = (uint8_t)d;
    in.reserved = (uint16_t)(ra | b << 8);
    if (uses & KBLOB_FIELD_SPECIAL &&
        (!operands_comma(a, &first) || !operands_special(a, &in.arg1)))
        return false;
    if (uses & KBLOB_FIELD_TARGET) {
        struct token t = source_peek(a->s);
        bool here = t.kind == TOKEN_LINE || t.kind == TOKEN_END;
        if (opcode == KBLOB_OP_LOOP && here) return assembly_loop(a, &in, at);
        if (!operands_comma(a, &first) || !assembly_target(a, &in.arg1)) return false;
    }
    return assembly_emit(a, &in);
}

/* The functions below parse operands of version 1. */

/* Parses the value of WRITE64. *wide becomes true if the value does not fit the 32 bits of the
 * instruction. */
static bool wide_value(struct assembly *a, uint64_t *value, bool *wide)
{
    struct token t = source_peek(a->s);
    struct source ahead = *a->s;
    penta_error ignored = {0};
    ahead.err = &ignored;
    *wide =
        (t.kind == TOKEN_INT && t.as.u > UINT32_MAX) ||
        (!expr_field(&ahead, labels_value, &a->names, 32, value) && ignored.code == BASE_NUMBER);
    if (!assembly_number(a, *wide ? 64 : 32, value)) return false;
    *wide = *value > UINT32_MAX;
    return true;
}

/* Emits several instructions for one line: a WRITE64 of the low half, which clears the upper
 * half, then instructions that write the bytes of the upper half. */
static bool write_wide(struct assembly *a, uint64_t address, uint64_t value)
{
    struct kblob_inst in = {.opcode = KBLOB_OP_WRITE64, .arg0 = address, .arg1 = (uint32_t)value};
    if (!assembly_emit(a, &in)) return false;
    for (unsigned i = 4; i < 8; i++) {
        in = (struct kblob_inst){
            .opcode = KBLOB_OP_WRITE8, .arg0 = address + i, .arg1 = (uint8_t)(value >> 8 * i)};
        if (in.arg1 && !assembly_emit(a, &in)) return false;
    }
    return true;
}

bool assembly_instruction(struct assembly *a, unsigned opcode)
{
    if (opcode >= KBLOB_FIRST_2) return instruction_2(a, opcode);
    unsigned uses = kblob_uses(&kblob_ops[opcode]);
    uint64_t arg0 = 0, arg1 = 0;
    bool wide = false, both = uses & KBLOB_FIELD_ARG0 && uses & KBLOB_FIELD_ARG1;
    if (uses & KBLOB_FIELD_ARG0 && !assembly_number(a, 64, &arg0)) return false;
    if (both && !source_expect(a->s, ',')) return false;
    if (uses & KBLOB_FIELD_ARG1 &&
        !(opcode == KBLOB_OP_WRITE64 ? wide_value(a, &arg1, &wide) : assembly_number(a, 32, &arg1)))
        return false;
    if (wide) return write_wide(a, arg0, arg1);
    struct kblob_inst in = {.opcode = (uint8_t)opcode, .arg0 = arg0, .arg1 = (uint32_t)arg1};
    return assembly_emit(a, &in);
}
