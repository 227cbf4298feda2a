/* Reads the words that make a type, converts numbers to a type, and knows what the language lacks. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

const struct type type_int = {.bits = 32}, type_unsigned = {.bits = 32, .is_unsigned = true},
                  type_bool = {.bits = 1, .is_unsigned = true};

enum { IS_SIGNED = 1, IS_UNSIGNED, IS_CHAR, IS_CONST, IS_STATIC, IS_NOTHING, IS_REFUSED };
static const struct {
    const char *name;
    uint8_t bits, what;
    /* clang-format off */
} specifiers[] = {
    {"void", 0, 0},              {"int", 32, 0},                  {"long", 32, 0},
    {"short", 16, 0},            {"char", 8, IS_CHAR},            {"bool", 1, IS_UNSIGNED},
    {"boolean", 1, IS_UNSIGNED}, {"byte", 8, IS_UNSIGNED},        {"word", 16, IS_UNSIGNED},
    {"unsigned", 32, IS_UNSIGNED}, {"signed", 32, IS_SIGNED},     {"int8_t", 8, 0},
    {"uint8_t", 8, IS_UNSIGNED}, {"int16_t", 16, 0},              {"uint16_t", 16, IS_UNSIGNED},
    {"int32_t", 32, 0},          {"uint32_t", 32, IS_UNSIGNED},   {"size_t", 32, IS_UNSIGNED},
    {"const", 0, IS_CONST},      {"static", 0, IS_STATIC},        {"volatile", 0, IS_NOTHING},
    {"inline", 0, IS_NOTHING},   {"constexpr", 0, IS_CONST},      {"PROGMEM", 0, IS_NOTHING},
    {"enum", 32, 0},             {"float", 32, IS_REFUSED},       {"double", 32, IS_REFUSED},
};
/* clang-format on */

static const struct {
    const char *name, *why;
} refused[] = {
    {"float", "float is not there: the machine computes with 32-bit integers; use smaller units, "
              "millivolts for volts"},
    {"double", "double is not there: the machine computes with 32-bit integers; use smaller units, "
               "millivolts for volts"},
    {"String", "String is not there: texts are literals and const char *"},
    {"struct", "struct is not part of the language: use variables or arrays"},
    {"class", "class is not part of the language"},
    {"union", "union is not part of the language"},
    {"goto", "goto is not part of the language"},
    {"new", "there is no memory to allocate"},
    {"malloc", "there is no memory to allocate"},
    {"attachInterrupt", "the machine has no interrupts: read the pin in loop()"},
    {"interrupts", "the machine has no interrupts: leave it out"},
    {"noInterrupts", "the machine has no interrupts: leave it out"},
    {"auto", "auto is not there: write the type"},
    {"template", "templates are not part of the language"},
    {"namespace", "namespaces are not part of the language"},
    {"using", "using is not part of the language"},
    {"int64_t", "int64_t is not there: numbers have 32 bits"},
    {"uint64_t", "uint64_t is not there: numbers have 32 bits"},
    {"pulseIn", "pulseIn is not there: wait with digitalRead() and micros()"},
    {"noTone", "the machine has no tones: use analogWrite"},
    {"tone", "the machine has no tones: use analogWrite"},
};

bool compiler_refused(struct compiler *c, const struct word *w)
{
    for (size_t i = 0; w->kind == WORD_NAME && i < sizeof refused / sizeof *refused; i++)
        if (word_is(&c->words, w, refused[i].name))
            return !compiler_error(c, BASE_SYNTAX, w->offset, "%s", refused[i].why);
    if (w->kind == WORD_REAL)
        return !compiler_error(c, BASE_SYNTAX, w->offset,
                               "'%.*s' is not a whole number: the machine computes with integers",
                               WORD_ARG(c, w));
    return false;
}

static int types_specifier(const struct compiler *c, const struct word *w)
{
    for (size_t i = 0; w->kind == WORD_NAME && i < sizeof specifiers / sizeof *specifiers; i++)
        if (word_is(&c->words, w, specifiers[i].name)) return (int)i;
    return -1;
}

static bool types_named(const struct compiler *c, const struct word *w)
{
    penta_bytes text = compiler_text(c, w);
    const struct name_index *x = &c->type_name_index;
    if (w->kind != WORD_NAME) return false;
    for (uint32_t i = name_index_first(x, text); i; i = x->older[i - 1])
        if (bytes_equal(text, c->type_names[i - 1])) return true;
    return false;
}

bool compiler_is_type(const struct compiler *c, const struct word *w)
{
    return types_specifier(c, w) >= 0 || types_named(c, w);
}

bool compiler_type(struct compiler *c, struct type *out)
{
    const struct word *first = compiler_word(c);
    *out = type_int;
    bool said = false, is_void = false;
    unsigned longs = 0;
    for (;; c->pos++) {
        const struct word *w = compiler_word(c);
        if (types_named(c, w)) {
            if (said) break; /* this is the name that is declared */
            said = true;
            continue;
        }
        int i = types_specifier(c, w);
        if (i < 0) break;
        switch (specifiers[i].what) {
        case IS_CONST: out->is_const = true; continue;
        case IS_STATIC: out->is_static = true; continue;
        case IS_NOTHING: continue;
        case IS_REFUSED: /* reported; the declared name stays known, so that its uses are no errors */
            compiler_refused(c, w);
            said = true;
            continue;
        default: break;
        }
        if (word_is(&c->words, w, "enum")) { /* an enum that is defined elsewhere */
            said = true;
            if (c->words.at[c->pos + 1].kind == WORD_NAME) c->pos++;
            continue;
        }
        said = true;
        is_void |= word_is(&c->words, w, "void");
        longs += word_is(&c->words, w, "long");
        if (longs == 2)
            compiler_error(c, BASE_SYNTAX, w->offset,
                           "long long is not there: numbers have 32 bits");
        out->is_unsigned |= specifiers[i].what == IS_UNSIGNED;
        out->is_char |= specifiers[i].what == IS_CHAR;
        bool modifier = specifiers[i].what == IS_SIGNED || word_is(&c->words, w, "unsigned") ||
                        word_is(&c->words, w, "int");
        if (!modifier) out->bits = specifiers[i].bits;
    }
    if (is_void) out->bits = 0;
    if (out->is_char && out->is_unsigned) out->is_char = false;
    if (compiler_refused(c, compiler_word(c))) return false;
    if (!said) return compiler_error(c, BASE_SYNTAX, first->offset, "expected a type");
    if (!compiler_accept(c, '*')) return true;
    out->is_text = out->is_char;
    compiler_accept(c, '*');
    if (compiler_is(c, "const")) c->pos++;
    return out->is_text ||
           compiler_error(c, BASE_SYNTAX, first->offset,
                          "pointers are not part of the language, except const char *");
}

unsigned compiler_size_of(struct type t) { return t.bits < 8 ? 1 : t.bits / 8u; }

/* Tells whether every number of one type is a number of the other. */
static bool types_within(struct type from, struct type to)
{
    if (to.bits == 32) return true;
    if (from.is_unsigned == to.is_unsigned) return from.bits <= to.bits;
    return from.is_unsigned && from.bits < to.bits;
}

static uint32_t types_bounded(struct type t, uint32_t v)
{
    switch (t.bits) {
    case 1: return v != 0;
    case 8: return t.is_unsigned ? (uint8_t)v : (uint32_t)(int8_t)v;
    case 16: return t.is_unsigned ? (uint16_t)v : (uint32_t)(int16_t)v;
    default: return v;
    }
}

void compiler_convert(struct compiler *c, struct type to)
{
    struct value v = c->value;
    bool fits = types_within(v.type, to) || (v.known && types_bounded(to, v.number) == v.number);
    c->value.type = to;
    c->value.number = types_bounded(to, v.number);
    if (fits) return;
    if (to.bits == 1) {
        compiler_op(c, CVBC_OP_NOT, 0);
        compiler_op(c, CVBC_OP_NOT, 0);
    } else if (to.is_unsigned) {
        compiler_op(c, CVBC_OP_PUSH, to.bits == 8 ? 255 : 65535);
        compiler_op(c, CVBC_OP_BITWISE_AND, 0);
    } else {
        compiler_op(c, CVBC_OP_PUSH, (uint16_t)(32 - to.bits));
        compiler_op(c, CVBC_OP_SHIFT_LEFT, 0);
        compiler_op(c, CVBC_OP_PUSH, (uint16_t)(32 - to.bits));
        compiler_op(c, CVBC_OP_SHIFT_RIGHT, 0);
    }
}
