/* Compiles calls: of the machine's host, of functions, of Serial, and of helpers in the library. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

enum { PIN_NONE = -1, RESULT_VOID = 0, RESULT_INT, RESULT_UNSIGNED };
#define PIN_0 0
static const struct builtin {
    const char *name;
    uint8_t opcode, arguments, result;
    int8_t pin; /* which argument is a pin, or PIN_NONE */
} builtins[] = {
#define CALL(name, opcode, arguments, result, pin, use, feature)                                   \
    {name, CVBC_OP_##opcode, arguments, RESULT_##result, PIN_##pin},
#include "cvbc/compile/calls.def"
};

/* ---- texts ---- */

bool compiler_literal(struct compiler *c, penta_bytes *text)
{
    const struct word *w = compiler_word(c);
    penta_error err = {0};
    const struct symbol *s = w->kind == WORD_NAME ? compiler_find(c, w) : NULL;
    if (s && s->kind == SYMBOL_TEXT) {
        c->pos++;
        *text = s->text;
        return true;
    }
    bool wrapped = compiler_accept(c, '('); /* the macro F leaves a parenthesis */
    struct writer all = {0};
    bool ok = true;
    for (; ok && compiler_word(c)->kind == WORD_STRING; c->pos++) {
        penta_bytes one;
        ok = word_string(&c->words, compiler_word(c), &c->arena, &one, &err);
        if (ok) writer_bytes(&all, one.data, one.size);
    }
    if (ok) {
        *text = (penta_bytes){arena_copy(&c->arena, writer_view(&all), &err), all.out.size};
        ok = text->data && !all.failed;
        c->failed |= !ok;
    } else {
        compiler_error(c, err.code, (uint32_t)err.offset, "%s", err.message);
    }
    writer_free(&all);
    return ok && (!wrapped || compiler_expect(c, ')', "')'"));
}

/* Emits PRINTF of a string whose arguments are on the stack. */
static bool calls_print(struct compiler *c, const struct word *at, penta_bytes text, int32_t count)
{
    int32_t id = compiler_string(c, text);
    if (count > 8)
        return compiler_error(c, CVBC_LIMIT, at->offset, "printf takes at most 8 values");
    if (id < 0) return compiler_error(c, CVBC_LIMIT, at->offset, "more than 65535 strings");
    compiler_op(c, CVBC_OP_PUSH, (uint16_t)count);
    compiler_emit(c, CVBC_OP_PRINTF, 0, (uint16_t)id, RELOC_NONE);
    c->depth -= count + 1;
    return true;
}

/* Prints a text as it is, by doubling percent signs. */
static bool print_text(struct compiler *c, const struct word *at, penta_bytes text, bool line)
{
    struct writer w = {0};
    penta_error err = {0};
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '%') writer_char(&w, '%');
        writer_char(&w, (char)text.data[i]);
    }
    if (line) writer_char(&w, '\n');
    const uint8_t *copy = arena_copy(&c->arena, writer_view(&w), &err);
    penta_bytes whole = {copy, w.out.size};
    c->failed |= !copy;
    writer_free(&w);
    return copy && (!whole.size || calls_print(c, at, whole, 0));
}

static bool call_printf(struct compiler *c, const struct word *name)
{
    penta_bytes text;
    int32_t count = 0;
    if (compiler_word(c)->kind != WORD_STRING)
        return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset,
                              "printf wants a string first");
    if (!compiler_literal(c, &text)) return false;
    while (!compiler_accept(c, ')')) {
        if (!compiler_expect(c, ',', "',' or ')'") || !compiler_expression(c)) return false;
        count++;
    }
    return calls_print(c, name, text, count);
}

/* ---- Serial ---- */

/* Tells whether the next words are COND ? "a" : "b". */
static bool chooses_text(const struct compiler *c)
{
    size_t open = 0;
    for (size_t i = c->pos; c->words.at[i].kind != WORD_END; i++) {
        const struct word *w = &c->words.at[i];
        if (w->kind != WORD_SIGN) continue;
        open += w->value == '(';
        if (w->value == ')' && !open--) return false;
        if (w->value == ';') return false;
        if (w->value == '?' && !open) return c->words.at[i + 1].kind == WORD_STRING;
    }
    return false;
}

static bool print_choice(struct compiler *c, const struct word *at, bool line)
{
    penta_bytes text;
    if (!compiler_condition(c) || !compiler_expect(c, '?', "'?'")) return false;
    size_t otherwise = compiler_jump(c, CVBC_OP_JMP_FALSE, 0);
    if (!compiler_literal(c, &text) || !print_text(c, at, text, line) ||
        !compiler_expect(c, ':', "':'"))
        return false;
    size_t end = compiler_jump(c, CVBC_OP_JMP, 0);
    compiler_patch(c, otherwise);
    if (!compiler_literal(c, &text) || !print_text(c, at, text, line)) return false;
    compiler_patch(c, end);
    return true;
}

static bool print_number(struct compiler *c, const struct word *at, bool line)
{
    if (!compiler_expression(c)) return false;
    struct type type = c->value.type;
    uint32_t base = 10;
    if (compiler_accept(c, ',') && !compiler_constant_expression(c, &base)) return false;
    if (base < 2 || base > 36)
        return compiler_error(c, BASE_SYNTAX, at->offset, "a base is 2 to 36: BIN, OCT, DEC, HEX");
    if (base != 10 && base != 16) {
        compiler_constant(c, base);
        compiler_helper(c, "__base");
        compiler_op(c, CVBC_OP_POP, 0);
        return print_text(c, at, (penta_bytes){NULL, 0}, line);
    }
    bool wide = type.is_unsigned && type.bits == 32;
    const char *format = base == 16 ? "%X\n" : type.is_char ? "%c\n" : wide ? "%u\n" : "%d\n";
    return calls_print(c, at, bytes_slice(bytes_of(format), 0, line ? 3 : 2), 1);
}

static bool print_value(struct compiler *c, const struct word *at, bool line)
{
    const struct word *w = compiler_word(c);
    const struct symbol *s = w->kind == WORD_NAME ? compiler_find(c, w) : NULL;
    penta_bytes text;
    if (w->kind == WORD_SIGN && w->value == ')')
        return print_text(c, at, (penta_bytes){NULL, 0}, line);
    if (w->kind == WORD_STRING || (s && s->kind == SYMBOL_TEXT))
        return compiler_literal(c, &text) && print_text(c, at, text, line);
    return chooses_text(c) ? print_choice(c, at, line) : print_number(c, at, line);
}

bool compiler_method(struct compiler *c, const struct word *name, bool *leaves)
{
    c->pos++; /* the point */
    const struct word *what = compiler_word(c);
    *leaves = false;
    if (!word_is(&c->words, name, "Serial"))
        return compiler_error(c, BASE_NAME_UNKNOWN, name->offset,
                              "'%.*s' has no parts; only Serial does", WORD_ARG(c, name));
    c->pos += what->kind != WORD_END;
    if (!compiler_expect(c, '(', "'('")) return false;
    bool line = word_is(&c->words, what, "println");
    if (line || word_is(&c->words, what, "print"))
        return print_value(c, what, line) && compiler_expect(c, ')', "')'");
    if (word_is(&c->words, what, "printf")) return call_printf(c, what);
    if (word_is(&c->words, what, "write"))
        return compiler_expression(c) && calls_print(c, what, bytes_of("%c"), 1) &&
               compiler_expect(c, ')', "')'");
    if (word_is(&c->words, what, "begin") || word_is(&c->words, what, "flush") ||
        word_is(&c->words, what, "end")) { /* the host's output needs no opening or closing */
        while (!compiler_accept(c, ')')) {
            if (!compiler_expression(c)) return false;
            compiler_op(c, CVBC_OP_POP, 0);
            if (compiler_word(c)->kind == WORD_END) return compiler_expect(c, ')', "')'");
            compiler_accept(c, ',');
        }
        return true;
    }
    return compiler_error(c, BASE_NAME_UNKNOWN, what->offset,
                          "Serial.%.*s is not there: the machine has no serial input; known are "
                          "begin, print, println, printf, write",
                          WORD_ARG(c, what));
}

/* ---- functions ---- */

/* Compiles ( a, b ). Returns how many arguments there are, or -1 after an error. Each argument is converted to the
 * type of its parameter. */
static int32_t calls_arguments(struct compiler *c, const struct function *f, struct value *first)
{
    int32_t count = 0;
    const struct type *types = f ? f->types : NULL;
    uint32_t parameters = f ? f->parameters : 0;
    while (!compiler_accept(c, ')')) {
        if (count && !compiler_expect(c, ',', "',' or ')'")) return -1;
        if (!compiler_expression(c)) return -1;
        if (types && (uint32_t)count < parameters) compiler_convert(c, types[count]);
        if (!count++) *first = c->value;
    }
    return count;
}

static bool check_pin(struct compiler *c, const struct builtin *b, const struct word *at,
                      struct value pin)
{
    enum { PINS = 20 }; /* the pins of the machine */
    if (b->pin == PIN_NONE || !pin.known) return true;
    if (pin.number >= PINS)
        return compiler_error(c, CVBC_PIN_UNDECLARED, at->offset, "%s of pin %d; pins are 0 to %d",
                              b->name, (int)pin.number, PINS - 1);
    if (c->pins && !c->pins[pin.number])
        return compiler_error(c, CVBC_PIN_UNDECLARED, at->offset,
                              "%s of pin %d, which is not declared", b->name, (int)pin.number);
    return true;
}

static bool call_builtin(struct compiler *c, const struct builtin *b, const struct word *name)
{
    struct value first = {0};
    const struct word *at = compiler_word(c);
    int32_t count = calls_arguments(c, NULL, &first);
    if (count < 0) return false;
    if (count != b->arguments)
        return compiler_error(c, BASE_SYNTAX, name->offset, "%s takes %d arguments, not %d",
                              b->name, b->arguments, (int)count);
    compiler_op(c, b->opcode, 0);
    c->value = (struct value){.type = b->result == RESULT_UNSIGNED ? type_unsigned : type_int};
    return check_pin(c, b, at, first);
}

static struct function *function_named(struct compiler *c, penta_bytes name)
{
    for (size_t i = c->function_count; i-- > 0;) /* those of the library are the last */
        if (bytes_equal(c->functions[i].name, name)) return &c->functions[i];
    return NULL;
}

void compiler_helper(struct compiler *c, const char *name)
{
    struct function *f = function_named(c, bytes_of(name));
    if (!f) return;
    f->called = true;
    compiler_op(c, CVBC_OP_PUSH, 0);
    compiler_op(c, CVBC_OP_LOAD_LOCAL, 2);
    compiler_op(c, CVBC_OP_LOAD_LOCAL, 2);
    compiler_emit(c, CVBC_OP_CALL, 0, (uint16_t)(f - c->functions), RELOC_FUNCTION);
    compiler_op(c, CVBC_OP_POP, 0);
    compiler_op(c, CVBC_OP_POP, 0);
    compiler_op(c, CVBC_OP_STORE_LOCAL, 1);
    compiler_op(c, CVBC_OP_POP, 0);
    c->value = (struct value){.type = type_unsigned};
}

/* Chooses the function by the number of arguments: random has one or two. */
static struct function *calls_overload(struct compiler *c, const struct word *name)
{
    size_t open = 0, commas = 0;
    if (!word_is(&c->words, name, "random")) return NULL;
    for (size_t i = c->pos; c->words.at[i].kind != WORD_END; i++) {
        if (c->words.at[i].kind != WORD_SIGN) continue;
        open += c->words.at[i].value == '(';
        if (c->words.at[i].value == ')' && !open--) break;
        commas += c->words.at[i].value == ',' && !open;
    }
    return function_named(c, bytes_of(commas ? "__random2" : "__random1"));
}

bool compiler_call(struct compiler *c, const struct word *name, bool *leaves)
{
    c->pos++; /* the parenthesis */
    const struct symbol *s = compiler_find(c, name);
    *leaves = false;
    if (!s && word_is(&c->words, name, "printf")) return call_printf(c, name);
    for (size_t i = 0; !s && i < sizeof builtins / sizeof *builtins; i++)
        if (word_is(&c->words, name, builtins[i].name)) {
            *leaves = builtins[i].result != RESULT_VOID;
            return call_builtin(c, &builtins[i], name);
        }
    struct function *f = s && s->kind == SYMBOL_FUNCTION ? &c->functions[s->place] : NULL;
    if (!s) f = calls_overload(c, name);
    if (!f && !s && compiler_refused(c, name)) return false;
    if (!f)
        return compiler_error(c, BASE_NAME_UNKNOWN, name->offset, "'%.*s' is not a function",
                              WORD_ARG(c, name));
    f->called = true;
    struct function callee = *f;
    struct value first;
    uint16_t index = (uint16_t)(f - c->functions);
    if (callee.result.bits) compiler_op(c, CVBC_OP_PUSH, 0);
    int32_t count = calls_arguments(c, &callee, &first);
    if (count < 0) return false;
    if ((uint32_t)count != callee.parameters)
        return compiler_error(c, BASE_SYNTAX, name->offset, "%.*s takes %u arguments, not %d",
                              WORD_ARG(c, name), (unsigned)callee.parameters, (int)count);
    compiler_emit(c, CVBC_OP_CALL, 0, index, RELOC_FUNCTION);
    for (int32_t i = 0; i < count; i++) compiler_op(c, CVBC_OP_POP, 0);
    *leaves = callee.result.bits;
    c->value = (struct value){.type = callee.result};
    return true;
}
