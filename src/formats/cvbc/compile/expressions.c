/* Expressions (CVBC 16.5). Each function leaves exactly one word on the stack and counts it in
 * depth. */
#include <string.h>
#include "cvbc/compile/compiler.h"

/* ---- small pieces ---- */

static void op(struct compiler *c, uint8_t opcode, uint16_t immediate)
{
    const struct cvbc_op_info *info = &cvbc_ops[opcode];
    compiler_emit(c, opcode, 0, immediate, RELOC_NONE);
    c->depth += info->pushes - info->pops;
}

static size_t jump(struct compiler *c, uint8_t opcode)
{
    size_t at = compiler_emit(c, opcode, 0, 0, RELOC_BUFFER);
    c->depth -= cvbc_ops[opcode].pops;
    return at;
}

void compiler_constant(struct compiler *c, uint32_t value)
{
    int32_t v = (int32_t)value;
    uint16_t low = (uint16_t)value, high = (uint16_t)(value >> 16);
    if (value <= UINT16_MAX) {
        op(c, CVBC_OP_PUSH, low);
    } else if (v >= INT16_MIN && v < 0 && !c->portable) {
        compiler_emit(c, CVBC_OP_PUSH, CVBC_S, low, RELOC_NONE);
        c->depth++;
    } else if (v >= INT16_MIN && v < 0) {
        op(c, CVBC_OP_PUSH, 0);
        op(c, CVBC_OP_PUSH, (uint16_t)-v);
        op(c, CVBC_OP_SUB, 0);
    } else if (!c->portable) {
        op(c, CVBC_OP_PUSH, low);
        compiler_emit(c, CVBC_OP_PUSH, CVBC_W, high, RELOC_NONE);
    } else {
        op(c, CVBC_OP_PUSH, high);
        op(c, CVBC_OP_PUSH, 256);
        op(c, CVBC_OP_MUL, 0);
        op(c, CVBC_OP_PUSH, 256);
        op(c, CVBC_OP_MUL, 0);
        op(c, CVBC_OP_PUSH, low);
        op(c, CVBC_OP_ADD, 0);
    }
}

/* Where a local lies below a top of so many words. Arguments are counted down from the return
 * index: place -1 is the last one. */
static uint16_t below(int32_t depth, int32_t place) { return (uint16_t)(depth - 1 - place); }

static bool load(struct compiler *c, const struct symbol *s)
{
    if (s->kind == SYMBOL_GLOBAL)
        op(c, CVBC_OP_LOAD_GLOBAL, (uint16_t)s->place);
    else
        op(c, CVBC_OP_LOAD_LOCAL, below(c->depth, s->place));
    return true;
}

bool compiler_store(struct compiler *c, const struct symbol *s)
{
    if (s->kind == SYMBOL_GLOBAL)
        op(c, CVBC_OP_STORE_GLOBAL, (uint16_t)s->place);
    else
        op(c, CVBC_OP_STORE_LOCAL, below(c->depth - 1, s->place));
    return true;
}

/* ---- calls ---- */

static const struct builtin {
    const char *name;
    uint8_t opcode, arguments;
    /* clang-format off */
} builtins[] = {
    {"pinMode", CVBC_OP_PIN_MODE, 2},           {"digitalWrite", CVBC_OP_DIGITAL_WRITE, 2},
    {"digitalRead", CVBC_OP_DIGITAL_READ, 1},   {"analogWrite", CVBC_OP_ANALOG_WRITE, 2},
    {"analogRead", CVBC_OP_ANALOG_READ, 1},     {"delay", CVBC_OP_DELAY, 1},
    {"millis", CVBC_OP_MILLIS, 0},              {"micros", CVBC_OP_MICROS, 0},
    {"printf", CVBC_OP_PRINTF, 0},
};
/* clang-format on */

/* ( a, b ): how many, or -1 after an error. */
static int32_t arguments(struct compiler *c, int32_t count)
{
    while (!compiler_accept(c, ')')) {
        if (count && !compiler_expect(c, ',', "',' or ')'")) return -1;
        if (!compiler_expression(c)) return -1;
        count++;
    }
    return count;
}

static bool call_printf(struct compiler *c, const struct word *name)
{
    const struct word *text = compiler_word(c);
    penta_bytes string;
    penta_error err = {0};
    if (text->kind != WORD_STRING)
        return compiler_error(c, BASE_SYNTAX, text->offset, "printf wants a string first");
    if (!word_string(&c->words, text, &c->arena, &string, &err))
        return compiler_error(c, err.code, (uint32_t)err.offset, "%s", err.message);
    c->pos++;
    int32_t id = compiler_string(c, string), count = 0;
    while (!compiler_accept(c, ')')) {
        if (!compiler_expect(c, ',', "',' or ')'") || !compiler_expression(c)) return false;
        count++;
    }
    if (count > 8)
        return compiler_error(c, CVBC_LIMIT, name->offset, "printf takes at most 8 values");
    if (id < 0) return compiler_error(c, CVBC_LIMIT, name->offset, "more than 65535 strings");
    op(c, CVBC_OP_PUSH, (uint16_t)count);
    compiler_emit(c, CVBC_OP_PRINTF, 0, (uint16_t)id, RELOC_NONE);
    c->depth -= count + 1;
    return true;
}

static bool call_builtin(struct compiler *c, const struct builtin *b, const struct word *name)
{
    if (b->opcode == CVBC_OP_PRINTF) return call_printf(c, name);
    int32_t count = arguments(c, 0);
    if (count < 0) return false;
    if (count != b->arguments)
        return compiler_error(c, BASE_SYNTAX, name->offset, "%s takes %d arguments, not %d",
                              b->name, b->arguments, (int)count);
    op(c, b->opcode, 0);
    return true;
}

/* Result slot, arguments, CALL, and the arguments popped again; *leaves: a word stays. */
static bool call(struct compiler *c, const struct word *name, bool *leaves)
{
    c->pos++; /* the parenthesis */
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (word_is(&c->words, name, builtins[i].name)) {
            *leaves = cvbc_ops[builtins[i].opcode].pushes;
            return call_builtin(c, &builtins[i], name);
        }
    const struct symbol *s = compiler_find(c, name);
    if (!s || s->kind != SYMBOL_FUNCTION)
        return compiler_error(c, BASE_NAME_UNKNOWN, name->offset, "'%.*s' is not a function",
                              (int)(name->size > 60 ? 60 : name->size),
                              (const char *)c->words.text.data + name->offset);
    uint16_t index = (uint16_t)s->place;
    const struct function *f = &c->functions[index];
    if (f->returns) op(c, CVBC_OP_PUSH, 0);
    int32_t count = arguments(c, 0);
    if (count < 0) return false;
    f = &c->functions[index];
    if ((uint32_t)count != f->parameters)
        return compiler_error(c, BASE_SYNTAX, name->offset, "%.*s takes %u arguments, not %d",
                              BYTES_ARG(f->name, 40), (unsigned)f->parameters, (int)count);
    compiler_emit(c, CVBC_OP_CALL, 0, index, RELOC_FUNCTION);
    for (int32_t i = 0; i < count; i++) op(c, CVBC_OP_POP, 0);
    *leaves = f->returns;
    return true;
}

/* ---- primary and unary ---- */

static bool name_value(struct compiler *c, const struct word *name)
{
    static const struct {
        const char *name;
        uint16_t value;
    } known[] = {{"INPUT", 0},          {"OUTPUT", 1}, {"INPUT_PULLUP", 2},
                 {"INPUT_PULLDOWN", 3}, {"LOW", 0},    {"HIGH", 1}};
    const struct symbol *s = compiler_find(c, name);
    if (!s)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (word_is(&c->words, name, known[i].name)) {
                op(c, CVBC_OP_PUSH, known[i].value);
                return true;
            }
    int size = (int)(name->size > 60 ? 60 : name->size);
    const char *text = (const char *)c->words.text.data + name->offset;
    if (!s)
        return compiler_error(c, BASE_NAME_UNKNOWN, name->offset, "'%.*s' is not declared", size,
                              text);
    if (s->kind == SYMBOL_FUNCTION)
        return compiler_error(c, BASE_SYNTAX, name->offset, "'%.*s' is a function", size, text);
    if (s->kind != SYMBOL_ARRAY) return load(c, s);
    uint16_t id = (uint16_t)s->place;
    if (!compiler_expect(c, '[', "'[': it is an array") || !compiler_expression(c) ||
        !compiler_expect(c, ']', "']'"))
        return false;
    op(c, CVBC_OP_LOAD_ARRAY, id);
    return true;
}

static bool primary(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (w->kind == WORD_NUMBER) {
        c->pos++;
        compiler_constant(c, w->value);
        return true;
    }
    if (compiler_accept(c, '(')) return compiler_expression(c) && compiler_expect(c, ')', "')'");
    if (w->kind == WORD_NAME) {
        c->pos++;
        const struct word *next = compiler_word(c);
        if (next->kind != WORD_SIGN || next->value != '(') return name_value(c, w);
        bool leaves = false;
        if (!call(c, w, &leaves)) return false;
        return leaves || compiler_error(c, BASE_SYNTAX, w->offset, "this call has no value");
    }
    return compiler_error(c, BASE_SYNTAX, w->offset,
                          w->kind == WORD_STRING ? "strings are for printf only"
                                                 : "expected a value");
}

static bool unary(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (!compiler_enter(c)) return false;
    bool ok;
    if (compiler_accept(c, '-')) {
        const struct word *number = compiler_word(c);
        if (number->kind == WORD_NUMBER) {
            c->pos++;
            compiler_constant(c, 0u - number->value);
            ok = true;
        } else {
            op(c, CVBC_OP_PUSH, 0);
            ok = unary(c);
            op(c, CVBC_OP_SUB, 0);
        }
    } else if (compiler_accept(c, '+')) {
        ok = unary(c);
    } else if (compiler_accept(c, '!')) {
        ok = unary(c);
        op(c, CVBC_OP_NOT, 0);
    } else if (compiler_accept(c, '~')) {
        ok = unary(c);
        op(c, CVBC_OP_BITWISE_NOT, 0);
    } else if (w->kind == WORD_SIGN &&
               (w->value == SIGN2('+', '+') || w->value == SIGN2('-', '-'))) {
        ok = compiler_error(c, BASE_SYNTAX, w->offset, "++ and -- are statements here, not values");
    } else {
        ok = primary(c);
    }
    compiler_leave(c);
    return ok;
}

/* ---- binary operators by precedence ---- */

static const struct operator
{
    uint32_t sign;
    uint8_t level, opcode;
    /* clang-format off */
} operators[] = {
    {'|', 1, CVBC_OP_BITWISE_OR},          {'^', 2, CVBC_OP_BITWISE_XOR},
    {'&', 3, CVBC_OP_BITWISE_AND},         {SIGN2('=', '='), 4, CVBC_OP_EQ},
    {SIGN2('!', '='), 4, CVBC_OP_NE},      {'<', 5, CVBC_OP_LT_S},
    {'>', 5, CVBC_OP_GT_S},                {SIGN2('<', '='), 5, CVBC_OP_LE_S},
    {SIGN2('>', '='), 5, CVBC_OP_GE_S},    {SIGN2('<', '<'), 6, CVBC_OP_SHIFT_LEFT},
    {SIGN2('>', '>'), 6, CVBC_OP_SHIFT_RIGHT}, {'+', 7, CVBC_OP_ADD},
    {'-', 7, CVBC_OP_SUB},                 {'*', 8, CVBC_OP_MUL},
    {'/', 8, CVBC_OP_DIV},                 {'%', 8, CVBC_OP_MOD},
};
/* clang-format on */

static const struct operator* operator_here(const struct compiler *c)
{
    const struct word *w = compiler_word(c);
    for (size_t i = 0; w->kind == WORD_SIGN && i < sizeof operators / sizeof *operators; i++)
        if (operators[i].sign == w->value) return &operators[i];
    return NULL;
}

static bool binary(struct compiler *c, unsigned level)
{
    if (!unary(c)) return false;
    for (const struct operator* o; (o = operator_here(c)) && o->level >= level;) {
        c->pos++;
        if (!binary(c, o->level + 1u)) return false;
        op(c, o->opcode, 0);
    }
    return true;
}

/* a && b, a || b: one word, 0 or 1, whichever way it was found. */
static bool logical(struct compiler *c, bool either)
{
    uint32_t sign = either ? SIGN2('|', '|') : SIGN2('&', '&');
    uint8_t branch = either ? CVBC_OP_JMP_TRUE : CVBC_OP_JMP_FALSE;
    if (!(either ? logical(c, false) : binary(c, 1))) return false;
    while (compiler_accept(c, sign)) {
        size_t first = jump(c, branch);
        if (!(either ? logical(c, false) : binary(c, 1))) return false;
        size_t second = jump(c, branch);
        op(c, CVBC_OP_PUSH, !either);
        size_t end = jump(c, CVBC_OP_JMP);
        compiler_patch(c, first);
        compiler_patch(c, second);
        c->depth--; /* the other way pushes it too */
        op(c, CVBC_OP_PUSH, either);
        compiler_patch(c, end);
    }
    return true;
}

static bool conditional(struct compiler *c)
{
    if (!logical(c, true)) return false;
    if (!compiler_accept(c, '?')) return true;
    size_t otherwise = jump(c, CVBC_OP_JMP_FALSE);
    if (!compiler_expression(c) || !compiler_expect(c, ':', "':'")) return false;
    size_t end = jump(c, CVBC_OP_JMP);
    compiler_patch(c, otherwise);
    c->depth--;
    if (!compiler_enter(c)) return false;
    bool ok = conditional(c);
    compiler_leave(c);
    compiler_patch(c, end);
    return ok;
}

/* ---- assignment ---- */

/* clang-format off */
static const struct { uint32_t sign; uint8_t opcode; } assignments[] = {
    {'=', 0},                            {SIGN2('+', '='), CVBC_OP_ADD},
    {SIGN2('-', '='), CVBC_OP_SUB},      {SIGN2('*', '='), CVBC_OP_MUL},
    {SIGN2('/', '='), CVBC_OP_DIV},      {SIGN2('%', '='), CVBC_OP_MOD},
    {SIGN2('&', '='), CVBC_OP_BITWISE_AND}, {SIGN2('|', '='), CVBC_OP_BITWISE_OR},
    {SIGN2('^', '='), CVBC_OP_BITWISE_XOR}, {SIGN3('<', '<', '='), CVBC_OP_SHIFT_LEFT},
    {SIGN3('>', '>', '='), CVBC_OP_SHIFT_RIGHT},
};
/* clang-format on */

static bool assigns(const struct word *w, uint8_t *opcode)
{
    for (size_t i = 0; w->kind == WORD_SIGN && i < sizeof assignments / sizeof *assignments; i++)
        if (assignments[i].sign == w->value) {
            *opcode = assignments[i].opcode;
            return true;
        }
    return false;
}

/* The word after the ] that closes the [ at pos + 1. */
static size_t after_index(const struct compiler *c)
{
    size_t at = c->pos + 2, open = 1;
    for (; open && c->words.at[at].kind != WORD_END; at++)
        if (c->words.at[at].kind == WORD_SIGN)
            open = open + (c->words.at[at].value == '[') - (c->words.at[at].value == ']');
    return at;
}

static bool assign_element(struct compiler *c, const struct symbol *s, bool wanted, uint8_t opcode,
                           size_t value)
{
    size_t index = c->pos + 2, end;
    uint16_t id = (uint16_t)s->place;
    if (opcode)
        return compiler_error(c, BASE_SYNTAX, c->words.at[value - 1].offset,
                              "elements of arrays take only =");
    c->pos = value; /* the value is pushed first, the index on top of it */
    if (!compiler_expression(c)) return false;
    end = c->pos;
    if (wanted) op(c, CVBC_OP_LOAD_LOCAL, 0);
    c->pos = index;
    if (!compiler_expression(c) || !compiler_expect(c, ']', "']'")) return false;
    if (c->pos + 1 != value)
        return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "expected '='");
    op(c, CVBC_OP_STORE_ARRAY, id);
    c->pos = end;
    return true;
}

/* NAME op= value, NAME[i] = value; *did false: the text is something else. */
static bool assignment(struct compiler *c, bool wanted, bool *did)
{
    const struct word *name = compiler_word(c), *next = name + (name->kind != WORD_END);
    uint8_t opcode = 0;
    *did = false;
    if (name->kind != WORD_NAME) return true;
    bool element = next->kind == WORD_SIGN && next->value == '[';
    size_t sign = element ? after_index(c) : c->pos + 1;
    if (sign >= c->words.count || !assigns(&c->words.at[sign], &opcode)) return true;
    const struct symbol *s = compiler_find(c, name);
    *did = true;
    bool fits = s && (element ? s->kind == SYMBOL_ARRAY
                              : s->kind == SYMBOL_GLOBAL || s->kind == SYMBOL_LOCAL);
    if (!fits)
        return compiler_error(c, s ? BASE_SYNTAX : BASE_NAME_UNKNOWN, name->offset, "'%.*s' %s",
                              (int)(name->size > 60 ? 60 : name->size),
                              (const char *)c->words.text.data + name->offset,
                              s ? "cannot be assigned to like this" : "is not declared");
    if (element) return assign_element(c, s, wanted, opcode, sign + 1);
    struct symbol variable = *s;
    c->pos = sign + 1;
    if (opcode) load(c, &variable);
    if (!compiler_expression(c)) return false;
    if (opcode) op(c, opcode, 0);
    compiler_store(c, &variable);
    return !wanted || load(c, &variable);
}

bool compiler_expression(struct compiler *c)
{
    bool did;
    if (!compiler_enter(c)) return false;
    bool ok = assignment(c, true, &did);
    if (ok && !did) ok = conditional(c);
    compiler_leave(c);
    return ok;
}

/* ++x, x++ and their opposites. */
static bool step(struct compiler *c, bool *did)
{
    const struct word *a = compiler_word(c), *b = a + (a->kind != WORD_END);
    bool before = a->kind == WORD_SIGN && b->kind == WORD_NAME;
    const struct word *name = before ? b : a, *sign = before ? a : b;
    uint32_t plus = SIGN2('+', '+'), minus = SIGN2('-', '-');
    *did = name->kind == WORD_NAME && sign->kind == WORD_SIGN &&
           (sign->value == plus || sign->value == minus);
    if (!*did) return true;
    const struct symbol *s = compiler_find(c, name);
    if (!s || (s->kind != SYMBOL_GLOBAL && s->kind != SYMBOL_LOCAL))
        return compiler_error(c, s ? BASE_SYNTAX : BASE_NAME_UNKNOWN, name->offset,
                              "'%.*s' is not a variable", (int)(name->size > 60 ? 60 : name->size),
                              (const char *)c->words.text.data + name->offset);
    c->pos += 2;
    load(c, s);
    op(c, CVBC_OP_PUSH, 1);
    op(c, sign->value == plus ? CVBC_OP_ADD : CVBC_OP_SUB, 0);
    return compiler_store(c, s);
}

bool compiler_expression_statement(struct compiler *c)
{
    bool did, leaves;
    if (!step(c, &did)) return false;
    if (did) return true;
    if (!assignment(c, false, &did)) return false;
    if (did) return true;
    const struct word *w = compiler_word(c), *next = w + (w->kind != WORD_END);
    int32_t before = c->depth;
    if (w->kind == WORD_NAME && next->kind == WORD_SIGN &&
        next->value == '(') { /* a call, perhaps alone */
        size_t pos = c->pos, count = c->out->count;
        c->pos++;
        if (!call(c, w, &leaves)) return false;
        if (!leaves) return true;
        const struct word *end = compiler_word(c);
        if (end->kind == WORD_SIGN &&
            (end->value == ';' || end->value == ')' || end->value == ',')) {
            op(c, CVBC_OP_POP, 0);
            return true;
        }
        c->pos = pos; /* the start of something longer: again, as an expression */
        c->out->count = count;
        c->depth = before;
    }
    if (!compiler_expression(c)) return false;
    op(c, CVBC_OP_POP, 0);
    return true;
}
