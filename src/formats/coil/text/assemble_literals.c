/* Reads the numbers of the text form and computes their bits in a type. If the type cannot hold
 * the number, there is an error. */
#include "coil/text/assemble.h"
#include <math.h>
#include <stdlib.h>

bool asm_is_literal(const struct source *s, struct token t)
{
    return t.kind == TOKEN_INT || t.kind == TOKEN_FLOAT ||
           (t.kind == TOKEN_PUNCT && t.as.punct == '-') || asm_word(s, t, "inf") ||
           asm_word(s, t, "nan");
}

bool asm_literal_parse(struct coil_asm *a, struct asm_literal *l)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    *l = (struct asm_literal){.at = t.offset};
    if (t.kind == TOKEN_PUNCT && t.as.punct == '-') {
        l->negative = true;
        t = source_next(s);
    }
    l->token = t;
    if (s->err->code) return false;
    if (t.kind == TOKEN_INT) {
        l->magnitude = t.as.u;
        return true;
    }
    l->real = t.kind == TOKEN_FLOAT || asm_word(s, t, "inf") || asm_word(s, t, "nan");
    return l->real || source_unexpected(s, t, "a number");
}

static double literal_double(const struct coil_asm *a, const struct asm_literal *l, bool single)
{
    double value;
    if (!l->real) {
        value = single ? (double)(float)l->magnitude : (double)l->magnitude;
    } else if (asm_word(a->s, l->token, "inf")) {
        value = INFINITY;
    } else if (asm_word(a->s, l->token, "nan")) {
        value = NAN;
    } else {
        char text[64];
        size_t n = l->token.size < sizeof text - 1 ? l->token.size : sizeof text - 1, k = 0;
        for (size_t i = 0; i < n; i++)
            if (a->s->text.data[l->token.offset + i] != '_')
                text[k++] = (char)a->s->text.data[l->token.offset + i];
        text[k] = 0;
        value = single ? (double)strtof(text, NULL) : strtod(text, NULL);
    }
    return l->negative && !isnan(value) ? -value : value;
}

bool asm_literal_bits(struct coil_asm *a, const struct asm_literal *l, uint8_t op, uint64_t *bits)
{
    penta_error *err = a->s->err;
    const struct coil_type_info *info = &coil_types[op];
    if (info->family == COIL_F_REAL) {
        double wide = literal_double(a, l, op == COIL_T_FP32);
        float single = (float)wide;
        uint32_t half;
        memcpy(&half, &single, 4);
        memcpy(bits, &wide, 8);
        if (op == COIL_T_FP32)
            *bits = isnan(wide) ? 0x7fc00000 : half;
        else if (isnan(wide))
            *bits = UINT64_C(0x7ff8000000000000);
        return true;
    }
    if (!coil_is_int(op))
        return error_at(err, COIL_IMM_TYPE, l->at, "a number cannot be a %s", info->name);
    if (l->real) {
        error_at(err, COIL_IMM_TYPE, l->at, "a float cannot stand for %s", info->text);
        return error_note(err, "write a whole number, or convert with CAST");
    }
    unsigned width = op == COIL_T_BIT ? 1 : 8u * info->bytes;
    uint64_t most = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint64_t least = op == COIL_T_BIT ? 0 : UINT64_C(1) << (width - 1);
    if (l->negative ? l->magnitude > least : l->magnitude > most) {
        error_at(err, COIL_IMM_RANGE, l->at, "%s%llu does not fit %s", l->negative ? "-" : "",
                 (unsigned long long)l->magnitude, info->text);
        return error_note(err, "%s holds %s%llu to %llu", info->text, least ? "-" : "",
                          (unsigned long long)least, (unsigned long long)most);
    }
    *bits = (l->negative ? 0 - l->magnitude : l->magnitude) & most;
    return true;
}

/* Stores a whole number as a CINT or CUNT: its bytes in memory, extended according to the sign. */
bool asm_wide_literal(struct coil_asm *a, const struct asm_literal *l, const struct coil_type *type,
                      struct coil_operand *o)
{
    penta_error *err = a->s->err;
    unsigned bits = type->dims[0];
    uint64_t most = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    uint64_t least = bits > 64 ? UINT64_MAX : UINT64_C(1) << (bits - 1);
    if (l->real) return error_at(err, COIL_IMM_TYPE, l->at, "a float cannot stand for an integer");
    if (l->negative ? l->magnitude > least : l->magnitude > most)
        return error_at(err, COIL_IMM_RANGE, l->at, "%s%llu does not fit %u bits",
                        l->negative ? "-" : "", (unsigned long long)l->magnitude, bits);
    size_t size = (size_t)type->size;
    uint8_t *image = arena_alloc(&a->arena, size, 1, err);
    if (!image) return false;
    uint64_t low = l->negative ? 0 - l->magnitude : l->magnitude;
    bool minus = (l->negative && l->magnitude) ||
                 (type->op == COIL_T_CINT && bits <= 64 && low >> (bits - 1) & 1);
    if (type->op == COIL_T_CUNT) minus = false; /* In a CUNT the bits above its width are zero. */
    if (bits < 64 && !minus) low &= most;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = i < 8 ? (uint8_t)(low >> 8 * i) : minus ? 0xff : 0;
        image[a->object.big_endian ? size - 1 - i : i] = byte;
    }
    if (minus && bits < 64)
        for (unsigned i = bits; i < 64 && i / 8 < size; i++)
            image[a->object.big_endian ? size - 1 - i / 8 : i / 8] |= (uint8_t)(1u << i % 8);
    o->image = (penta_bytes){image, size};
    return true;
}

bool asm_number(struct coil_asm *a, uint8_t type, uint64_t *bits)
{
    struct asm_literal l;
    return asm_literal_parse(a, &l) && asm_literal_bits(a, &l, type, bits);
}
