/* Compiles expressions (CVBC 16.6). Each function leaves exactly one word on the stack, counts it in `depth`, and
 * notes in c->value what is known about it. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

/* ---- constants and variables ---- */

void compiler_constant(struct compiler *c, uint32_t value)
{
    int32_t v = (int32_t)value;
    uint16_t low = (uint16_t)value, high = (uint16_t)(value >> 16);
    if (value <= UINT16_MAX) {
        compiler_op(c, CVBC_OP_PUSH, low);
    } else if (v >= INT16_MIN && v < 0 && !c->portable) {
        compiler_emit(c, CVBC_OP_PUSH, CVBC_S, low, RELOC_NONE);
        c->depth++;
    } else if (v >= INT16_MIN && v < 0) {
        compiler_op(c, CVBC_OP_PUSH, 0);
        compiler_op(c, CVBC_OP_PUSH, (uint16_t)-v);
        compiler_op(c, CVBC_OP_SUB, 0);
    } else if (!c->portable) {
        compiler_op(c, CVBC_OP_PUSH, low);
        compiler_emit(c, CVBC_OP_PUSH, CVBC_W, high, RELOC_NONE);
    } else {
        compiler_op(c, CVBC_OP_PUSH, high);
        compiler_op(c, CVBC_OP_PUSH, 256);
        compiler_op(c, CVBC_OP_MUL, 0);
        compiler_op(c, CVBC_OP_PUSH, 256);
        compiler_op(c, CVBC_OP_MUL, 0);
        compiler_op(c, CVBC_OP_PUSH, low);
        compiler_op(c, CVBC_OP_ADD, 0);
    }
    c->value = (struct value){.type = type_int, .known = true, .number = value};
}

/* The distance of a local below the top when the frame has `depth` words. Arguments are counted down from the
 * return index: place -1 is the last one. */
static uint16_t sketch_expression_below(int32_t depth, int32_t place)
{
    return (uint16_t)(depth - 1 - place);
}

static void sketch_expression_load(struct compiler *c, const struct symbol *s)
{
    if (s->kind == SYMBOL_GLOBAL)
        compiler_op(c, CVBC_OP_LOAD_GLOBAL, (uint16_t)s->place);
    else
        compiler_op(c, CVBC_OP_LOAD_LOCAL, sketch_expression_below(c->depth, s->place));
    c->value = (struct value){.type = s->type};
}

void compiler_store(struct compiler *c, const struct symbol *s)
{
    compiler_convert(c, s->type);
    if (s->kind == SYMBOL_GLOBAL)
        compiler_op(c, CVBC_OP_STORE_GLOBAL, (uint16_t)s->place);
    else
        compiler_op(c, CVBC_OP_STORE_LOCAL, sketch_expression_below(c->depth - 1, s->place));
}

/* Compiles [i][j] as one number. An index that is known must be inside the array. */
static bool index_of(struct compiler *c, const struct symbol *s)
{
    for (unsigned d = 0; d < DIMENSIONS && s->dims[d]; d++) {
        const struct word *at = compiler_word(c);
        if (!compiler_expect(c, '[',
                             d ? "'[': the array has more dimensions" : "'[': it is an array"))
            return false;
        if (d) {
            compiler_constant(c, s->dims[d]);
            compiler_op(c, CVBC_OP_MUL, 0);
        }
        if (!compiler_expression(c)) return false;
        if (c->value.known && c->value.number >= s->dims[d])
            return compiler_error(c, CVBC_ARRAY_INDEX, at->offset,
                                  "index %d of '%.*s', which has %u", (int)c->value.number,
                                  BYTES_ARG(s->name, 40), s->dims[d]);
        if (d) compiler_op(c, CVBC_OP_ADD, 0);
        if (!compiler_expect(c, ']', "']'")) return false;
    }
    return true;
}

/* ---- assignment ---- */

/* clang-format off */
static const struct { uint32_t sign; char operator_[3]; } assignments[] = {
    {'=', ""},               {SIGN2('+', '='), "+"},  {SIGN2('-', '='), "-"},  {SIGN2('*', '='), "*"},
    {SIGN2('/', '='), "/"},  {SIGN2('%', '='), "%"},  {SIGN2('&', '='), "&"},  {SIGN2('|', '='), "|"},
    {SIGN2('^', '='), "^"},  {SIGN3('<', '<', '='), "<<"}, {SIGN3('>', '>', '='), ">>"},
};
static const struct operator { uint32_t sign; uint8_t level, opcode; } operators[] = {
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

/* Finds the operator of an assignment, which is NULL for '='. False when the word is no assignment. */
static bool sketch_expression_assigns(const struct word *w, const struct operator** found)
{
    for (size_t i = 0; w->kind == WORD_SIGN && i < sizeof assignments / sizeof *assignments; i++) {
        if (assignments[i].sign != w->value) continue;
        const char *text = assignments[i].operator_;
        uint32_t sign = text[0] ? SIGN1(text[0]) | SIGN1(text[1]) << 8 : 0;
        *found = NULL;
        for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
            if (sign && operators[k].sign == sign) *found = &operators[k];
        return true;
    }
    return false;
}

static bool sketch_expression_compare(struct compiler *c, const struct operator* o)
{
    static const char *const helpers[] = {"__ult", "__ule"};
    bool swapped = o->opcode == CVBC_OP_GT_S || o->opcode == CVBC_OP_GE_S;
    bool equal = o->opcode == CVBC_OP_LE_S ||
                 o->opcode == CVBC_OP_GT_S; /* a > b is computed as not a <= b */
    if (o->level != 5) return false;
    if (c->portable) {
        compiler_helper(c, helpers[equal]);
        if (swapped) compiler_op(c, CVBC_OP_NOT, 0);
    } else { /* LE and GE compare unsigned numbers; a < b is computed as not a >= b */
        bool direct = o->opcode == CVBC_OP_LE_S || o->opcode == CVBC_OP_GE_S;
        compiler_op(c, equal ? CVBC_OP_LE : CVBC_OP_GE, 0);
        if (!direct) compiler_op(c, CVBC_OP_NOT, 0);
    }
    return true;
}

static bool sketch_expression_fold(const struct operator* o, bool is_unsigned, uint32_t a,
                                   uint32_t b, uint32_t *r)
{
    int32_t x = (int32_t)a, y = (int32_t)b;
    switch (o->opcode) {
    case CVBC_OP_BITWISE_OR: *r = a | b; return true;
    case CVBC_OP_BITWISE_XOR: *r = a ^ b; return true;
    case CVBC_OP_BITWISE_AND: *r = a & b; return true;
    case CVBC_OP_EQ: *r = a == b; return true;
    case CVBC_OP_NE: *r = a != b; return true;
    case CVBC_OP_LT_S: *r = is_unsigned ? a < b : x < y; return true;
    case CVBC_OP_GT_S: *r = is_unsigned ? a > b : x > y; return true;
    case CVBC_OP_LE_S: *r = is_unsigned ? a <= b : x <= y; return true;
    case CVBC_OP_GE_S: *r = is_unsigned ? a >= b : x >= y; return true;
    case CVBC_OP_ADD: *r = a + b; return true;
    case CVBC_OP_SUB: *r = a - b; return true;
    case CVBC_OP_MUL: *r = a * b; return true;
    case CVBC_OP_SHIFT_LEFT: *r = a << (b & 31); return b < 32;
    case CVBC_OP_SHIFT_RIGHT:
        *r = is_unsigned ? a >> (b & 31) : (uint32_t)(x >> (b & 31));
        return b < 32;
    default: break;
    }
    bool divides = b && (is_unsigned || x != INT32_MIN || y != -1);
    if (!divides) return false; /* the machine does it, which traps or wraps */
    if (o->opcode == CVBC_OP_DIV) *r = is_unsigned ? a / b : (uint32_t)(x / y);
    if (o->opcode == CVBC_OP_MOD) *r = is_unsigned ? a % b : (uint32_t)(x % y);
    return true;
}

/* Applies an operator: [a b -> a o b]. The code of a begins at `start`, with the stack at `depth`. */
static void sketch_expression_apply(struct compiler *c, const struct operator* o, struct value a,
                                    struct value b, size_t start, int32_t depth)
{
    bool shift = o->level == 6, compares = o->level == 4 || o->level == 5;
    bool wide = (a.type.is_unsigned && a.type.bits == 32) ||
                (!shift && b.type.is_unsigned && b.type.bits == 32);
    uint32_t result = 0;
    if (a.known && b.known && sketch_expression_fold(o, wide, a.number, b.number, &result)) {
        c->out->count = start;
        c->depth = depth;
        compiler_constant(c, result);
    } else {
        const char *helper = !wide                              ? NULL
                             : o->opcode == CVBC_OP_DIV         ? "__udiv"
                             : o->opcode == CVBC_OP_MOD         ? "__umod"
                             : o->opcode == CVBC_OP_SHIFT_RIGHT ? "__ushr"
                                                                : NULL;
        if (helper)
            compiler_helper(c, helper);
        else if (!wide || !sketch_expression_compare(c, o))
            compiler_op(c, o->opcode, 0);
        c->value = (struct value){0};
    }
    c->value.type = compares ? type_bool : wide ? type_unsigned : type_int;
}

/* A variable or element that the text names, and the word after it. */
struct target {
    struct symbol s;
    size_t sign; /* the word after the name and its indices */
};

static bool target_here(const struct compiler *c, struct target *t)
{
    const struct word *name = compiler_word(c);
    if (name->kind != WORD_NAME) return false;
    const struct symbol *s = compiler_find(c, name);
    t->sign = c->pos + 1;
    if (!s || s->kind == SYMBOL_FUNCTION) return false;
    t->s = *s;
    size_t open = 0;
    for (; c->words.at[t->sign].kind == WORD_SIGN; t->sign++) {
        uint32_t sign = c->words.at[t->sign].value;
        if (!open && sign != '[') break;
        open = open + (sign == '[') - (sign == ']');
        while (open && c->words.at[t->sign + 1].kind != WORD_SIGN &&
               c->words.at[t->sign + 1].kind != WORD_END)
            t->sign++;
    }
    return c->words.at[t->sign].kind != WORD_END;
}

static bool sketch_expression_assignable(struct compiler *c, const struct target *t,
                                         const struct word *name)
{
    if (t->s.kind == SYMBOL_CONSTANT || t->s.kind == SYMBOL_TEXT || t->s.type.is_const)
        return compiler_error(c, BASE_SYNTAX, name->offset, "'%.*s' is constant",
                              WORD_ARG(c, name));
    if (t->s.kind == SYMBOL_ARRAY && t->sign == c->pos + 1)
        return compiler_error(c, BASE_SYNTAX, name->offset,
                              "'%.*s' is an array: assign to its elements", WORD_ARG(c, name));
    return true;
}

/* Compiles NAME = value and NAME op= value. */
static bool assign_variable(struct compiler *c, const struct target *t, const struct operator* o,
                            bool wanted)
{
    size_t start = c->out->count;
    int32_t depth = c->depth;
    c->pos = t->sign + 1;
    if (o) sketch_expression_load(c, &t->s);
    struct value old = c->value;
    if (!compiler_expression(c)) return false;
    if (o) sketch_expression_apply(c, o, old, c->value, start, depth);
    compiler_store(c, &t->s);
    if (wanted) sketch_expression_load(c, &t->s);
    return true;
}

/* Compiles NAME[i] = value. The value is pushed first, the index on top of it. */
static bool assign_element(struct compiler *c, const struct target *t, bool wanted)
{
    size_t index = c->pos + 1;
    c->pos = t->sign + 1;
    if (!compiler_expression(c)) return false;
    compiler_convert(c, t->s.type);
    struct value value = c->value;
    size_t end = c->pos;
    if (wanted) compiler_op(c, CVBC_OP_LOAD_LOCAL, 0);
    c->pos = index;
    if (!index_of(c, &t->s)) return false;
    if (c->pos != t->sign) return compiler_expect(c, '=', "'='");
    compiler_op(c, CVBC_OP_STORE_ARRAY, (uint16_t)t->s.place);
    c->pos = end;
    c->value = (struct value){.type = value.type};
    return true;
}

/* Compiles NAME[i] op= value and NAME[i]++. The index is computed once and stays below. `after` says that the old
 * value is the result. */
static bool change_element(struct compiler *c, const struct target *t, const struct operator* o,
                           bool wanted, bool after)
{
    bool step = !o;
    const struct word *sign = &c->words.at[t->sign];
    const struct operator* how = o;
    for (size_t i = 0; step && i < sizeof operators / sizeof *operators; i++)
        if (operators[i].sign == (sign->value & 255)) how = &operators[i];
    c->pos++;
    if (!index_of(c, &t->s)) return false;
    compiler_op(c, CVBC_OP_LOAD_LOCAL, 0); /* stack: i i */
    compiler_op(c, CVBC_OP_LOAD_ARRAY, (uint16_t)t->s.place);
    struct value old = {.type = t->s.type};
    if (wanted && after) compiler_op(c, CVBC_OP_LOAD_LOCAL, 0); /* stack: i old old */
    c->pos = t->sign + 1;
    if (step)
        compiler_constant(c, 1);
    else if (!compiler_expression(c))
        return false;
    sketch_expression_apply(c, how, old, c->value, c->out->count, c->depth);
    compiler_convert(c, t->s.type);
    struct value value = {.type = t->s.type};
    if (wanted && !after) compiler_op(c, CVBC_OP_LOAD_LOCAL, 0); /* stack: i new new */
    compiler_op(c, CVBC_OP_LOAD_LOCAL, wanted ? 2 : 1);
    compiler_op(c, CVBC_OP_STORE_ARRAY, (uint16_t)t->s.place);
    if (wanted)
        compiler_op(c, CVBC_OP_STORE_LOCAL, 0); /* the result replaces the index */
    else
        compiler_op(c, CVBC_OP_POP, 0);
    c->value = value;
    return true;
}

/* Compiles x++ and ++x of a variable. The next word is its name. */
static bool step_variable(struct compiler *c, const struct target *t, uint32_t sign, bool wanted,
                          bool after)
{
    size_t start = c->out->count;
    int32_t depth = c->depth;
    sketch_expression_load(c, &t->s);
    if (wanted && after) sketch_expression_load(c, &t->s);
    struct value old = c->value;
    compiler_constant(c, 1);
    const struct operator* how = operators;
    while (how->sign != (sign & 255)) how++;
    sketch_expression_apply(c, how, old, c->value, start, depth);
    compiler_store(c, &t->s);
    if (wanted && !after) sketch_expression_load(c, &t->s);
    c->value = (struct value){.type = t->s.type};
    return true;
}

static bool is_step(const struct word *w)
{
    return w->kind == WORD_SIGN && (w->value == SIGN2('+', '+') || w->value == SIGN2('-', '-'));
}

/* Compiles assignments and steps. *did is false when the text is something else. */
static bool sketch_expression_assignment(struct compiler *c, bool wanted, bool *did)
{
    struct target t;
    const struct operator* o = NULL;
    *did = false;
    if (is_step(compiler_word(c))) {
        const struct word *sign = compiler_word(c);
        c->pos++;
        const struct word *name = compiler_word(c);
        *did = true;
        if (!target_here(c, &t))
            return compiler_error(c, BASE_SYNTAX, sign->offset, "expected a variable after %.*s",
                                  WORD_ARG(c, sign));
        if (!sketch_expression_assignable(c, &t, name)) return false;
        if (t.s.kind == SYMBOL_ARRAY) { /* the sign stands before it, so this is += 1 */
            struct word saved = c->words.at[t.sign], one = *sign;
            c->words.at[t.sign] = one;
            size_t after = t.sign;
            bool ok = change_element(c, &t, NULL, wanted, false);
            c->words.at[after] = saved;
            c->pos = after;
            return ok;
        }
        c->pos++;
        return step_variable(c, &t, sign->value, wanted, false);
    }
    if (!target_here(c, &t)) {
        const struct word *name = compiler_word(c), *next = name + (name->kind == WORD_NAME);
        if (next == name || !(sketch_expression_assigns(next, &o) || is_step(next))) return true;
        *did = true;
        return compiler_error(c, BASE_NAME_UNKNOWN, name->offset, "'%.*s' is not %s",
                              WORD_ARG(c, name),
                              compiler_find(c, name) ? "a variable" : "declared");
    }
    const struct word *name = compiler_word(c), *sign = &c->words.at[t.sign];
    bool assign = sketch_expression_assigns(sign, &o);
    *did = assign || is_step(sign);
    if (!*did) return true;
    if (!sketch_expression_assignable(c, &t, name)) return false;
    if (t.s.kind == SYMBOL_ARRAY)
        return assign && !o ? assign_element(c, &t, wanted)
                            : change_element(c, &t, o, wanted, !assign);
    if (t.sign != c->pos + 1)
        return compiler_error(c, BASE_SYNTAX, name->offset, "'%.*s' is not an array",
                              WORD_ARG(c, name));
    if (assign) return assign_variable(c, &t, o, wanted);
    c->pos += 2;
    return step_variable(c, &t, sign->value, wanted, true);
}

/* ---- primary and unary ---- */

/* Reads a binary number such as B1010, as old sketches write it. */
static bool binary_name(penta_bytes name, uint16_t *value)
{
    *value = 0;
    if (name.size < 2 || name.size > 9 || name.data[0] != 'B') return false;
    for (size_t i = 1; i < name.size; i++) {
        if (name.data[i] != '0' && name.data[i] != '1') return false;
        *value = (uint16_t)(*value * 2 + (name.data[i] - '0'));
    }
    return true;
}

static bool name_value(struct compiler *c, const struct word *name)
{
    static const struct {
        const char *name;
        uint16_t value;
    } known[] = {{"INPUT", 0},  {"OUTPUT", 1},   {"INPUT_PULLUP", 2}, {"INPUT_PULLDOWN", 3},
                 {"LOW", 0},    {"HIGH", 1},     {"false", 0},        {"true", 1},
                 {"DEC", 10},   {"HEX", 16},     {"BIN", 2},          {"OCT", 8},
                 {"Serial", 1}, {"MSBFIRST", 1}, {"LSBFIRST", 0}};
    const struct symbol *s = compiler_find(c, name);
    uint16_t binary;
    if (!s && binary_name(compiler_text(c, name), &binary)) {
        compiler_constant(c, binary);
        return true;
    }
    for (size_t i = 0; !s && i < sizeof known / sizeof *known; i++)
        if (word_is(&c->words, name, known[i].name)) {
            compiler_constant(c, known[i].value);
            return true;
        }
    if (!s && compiler_refused(c, name)) return false;
    if (!s)
        return compiler_error(c, BASE_NAME_UNKNOWN, name->offset, "'%.*s' is not declared",
                              WORD_ARG(c, name));
    if (s->kind == SYMBOL_FUNCTION)
        return compiler_error(c, BASE_SYNTAX, name->offset, "'%.*s' is a function",
                              WORD_ARG(c, name));
    if (s->kind == SYMBOL_TEXT)
        return compiler_error(c, BASE_SYNTAX, name->offset, "a text has no number: print it");
    if (s->kind == SYMBOL_CONSTANT) {
        struct type type = s->type;
        compiler_constant(c, s->number);
        c->value.type = type;
        return true;
    }
    struct symbol copy = *s;
    if (copy.kind == SYMBOL_ARRAY) {
        if (!index_of(c, &copy)) return false;
        compiler_op(c, CVBC_OP_LOAD_ARRAY, (uint16_t)copy.place);
        c->value = (struct value){.type = copy.type};
    } else {
        sketch_expression_load(c, &copy);
    }
    return true;
}

/* Computes sizeof for name, (name), name[0], (name)[0][0] and *name. */
static bool size_of_variable(struct compiler *c, uint32_t *size)
{
    unsigned open = 0, indices = compiler_accept(c, '*');
    uint32_t ignored;
    while (compiler_accept(c, '(')) open++;
    const struct word *w = compiler_word(c);
    const struct symbol *s = w->kind == WORD_NAME ? compiler_find(c, w) : NULL;
    if (!s || s->kind == SYMBOL_FUNCTION)
        return compiler_error(c, BASE_NAME_UNKNOWN, w->offset, "sizeof wants a type or a variable");
    c->pos++;
    for (;;) {
        if (open && compiler_accept(c, ')')) {
            open--;
        } else if (compiler_accept(c, '[')) {
            if (!compiler_constant_expression(c, &ignored) || !compiler_expect(c, ']', "']'"))
                return false;
            indices++;
        } else {
            break;
        }
    }
    *size =
        s->kind == SYMBOL_TEXT && !indices ? (uint32_t)s->text.size + 1 : compiler_size_of(s->type);
    for (unsigned d = indices; s->kind == SYMBOL_ARRAY && d < DIMENSIONS && s->dims[d]; d++)
        *size *= s->dims[d];
    return !open || compiler_expect(c, ')', "')'");
}

static bool size_of(struct compiler *c)
{
    struct type type;
    uint32_t size = 0;
    if (!compiler_expect(c, '(', "'('")) return false;
    if (compiler_is_type(c, compiler_word(c))) {
        if (!compiler_type(c, &type)) return false;
        size = compiler_size_of(type);
    } else if (!size_of_variable(c, &size)) {
        return false;
    }
    compiler_constant(c, size);
    c->value.type = type_unsigned;
    return compiler_expect(c, ')', "')'");
}

static bool sketch_expression_unary(struct compiler *c);

/* Compiles (type) value and type(value). */
static bool sketch_expression_cast(struct compiler *c, bool before)
{
    struct type type;
    if (!compiler_type(c, &type)) return false;
    if (!compiler_expect(c, before ? ')' : '(', before ? "')'" : "'('")) return false;
    if (!(before ? sketch_expression_unary(c) : compiler_expression(c))) return false;
    compiler_convert(c, type);
    c->value.type.is_const = false;
    return before || compiler_expect(c, ')', "')'");
}

static bool sketch_expression_primary(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (w->kind == WORD_NUMBER) {
        c->pos++;
        compiler_constant(c, w->value);
        c->value.type = w->is_unsigned ? type_unsigned : type_int;
        c->value.type.is_char = w->is_char;
        return true;
    }
    if (compiler_accept(c, '(')) {
        if (compiler_is_type(c, compiler_word(c))) return sketch_expression_cast(c, true);
        return compiler_expression(c) && compiler_expect(c, ')', "')'");
    }
    if (compiler_is_type(c, w)) return sketch_expression_cast(c, false);
    if (w->kind == WORD_NAME) {
        bool leaves = false;
        c->pos++;
        if (word_is(&c->words, w, "sizeof")) return size_of(c);
        const struct word *next = compiler_word(c);
        bool method = next->kind == WORD_SIGN && next->value == '.';
        if (!method && (next->kind != WORD_SIGN || next->value != '(')) return name_value(c, w);
        if (!(method ? compiler_method : compiler_call)(c, w, &leaves)) return false;
        return leaves || compiler_error(c, BASE_SYNTAX, w->offset, "this call has no value");
    }
    if (compiler_refused(c, w)) {
        if (w->kind != WORD_REAL) return false;
        c->pos++; /* reported; the rest of the expression may be right */
        compiler_constant(c, 0);
        return true;
    }
    return compiler_error(c, BASE_SYNTAX, w->offset,
                          w->kind == WORD_STRING ? "a text is for printing only"
                                                 : "expected a value");
}

/* Applies an operator with one operand, at compile time when the value is known. */
static void sketch_expression_negated(struct compiler *c, uint32_t sign, size_t start,
                                      int32_t depth)
{
    struct value v = c->value;
    if (v.known) {
        c->out->count = start;
        c->depth = depth;
        compiler_constant(c, sign == '-' ? 0u - v.number : sign == '!' ? !v.number : ~v.number);
    } else if (sign == '!') {
        compiler_op(c, CVBC_OP_NOT, 0);
    } else if (sign == '~') {
        compiler_op(c, CVBC_OP_BITWISE_NOT, 0);
    } else {
        compiler_op(c, CVBC_OP_SUB, 0); /* subtracts it from the 0 below */
    }
    bool wide = v.type.is_unsigned && v.type.bits == 32;
    c->value.known = v.known;
    c->value.type = sign == '!' ? type_bool : wide ? type_unsigned : type_int;
}

static bool sketch_expression_unary(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (!compiler_enter(c)) return false;
    size_t start = c->out->count;
    int32_t depth = c->depth;
    bool ok, did = false;
    if (w->kind == WORD_SIGN && (w->value == '-' || w->value == '!' || w->value == '~')) {
        c->pos++;
        if (w->value == '-') compiler_op(c, CVBC_OP_PUSH, 0);
        ok = sketch_expression_unary(c);
        if (ok) sketch_expression_negated(c, w->value, start, depth);
    } else if (compiler_accept(c, '+')) {
        ok = sketch_expression_unary(c);
    } else if (w->kind == WORD_SIGN && (w->value == '&' || w->value == '*')) {
        ok = compiler_error(c, BASE_SYNTAX, w->offset,
                            "addresses and pointers are not part of the language");
    } else {
        ok = sketch_expression_assignment(c, true, &did);
        if (ok && !did) ok = sketch_expression_primary(c);
    }
    compiler_leave(c);
    return ok;
}

/* ---- binary operators by precedence ---- */

static const struct operator* operator_here(const struct compiler *c)
{
    const struct word *w = compiler_word(c);
    for (size_t i = 0; w->kind == WORD_SIGN && i < sizeof operators / sizeof *operators; i++)
        if (operators[i].sign == w->value) return &operators[i];
    return NULL;
}

static bool sketch_expression_binary(struct compiler *c, unsigned level)
{
    size_t start = c->out->count;
    int32_t depth = c->depth;
    if (!sketch_expression_unary(c)) return false;
    for (const struct operator* o; (o = operator_here(c)) && o->level >= level;) {
        struct value left = c->value;
        c->pos++;
        if (!sketch_expression_binary(c, o->level + 1u)) return false;
        sketch_expression_apply(c, o, left, c->value, start, depth);
    }
    return true;
}

/* Compiles a && b and a || b. Both ways leave one word, 0 or 1. */
static bool sketch_expression_logical(struct compiler *c, bool either)
{
    uint32_t sign = either ? SIGN2('|', '|') : SIGN2('&', '&');
    uint8_t branch = either ? CVBC_OP_JMP_TRUE : CVBC_OP_JMP_FALSE;
    if (!(either ? sketch_expression_logical(c, false) : sketch_expression_binary(c, 1)))
        return false;
    while (compiler_accept(c, sign)) {
        size_t first = compiler_jump(c, branch, 0);
        if (!(either ? sketch_expression_logical(c, false) : sketch_expression_binary(c, 1)))
            return false;
        size_t second = compiler_jump(c, branch, 0);
        compiler_op(c, CVBC_OP_PUSH, !either);
        size_t end = compiler_jump(c, CVBC_OP_JMP, 0);
        compiler_patch(c, first);
        compiler_patch(c, second);
        c->depth--; /* the other way pushes the word as well */
        compiler_op(c, CVBC_OP_PUSH, either);
        compiler_patch(c, end);
        c->value = (struct value){.type = type_bool};
    }
    return true;
}

bool compiler_condition(struct compiler *c) { return sketch_expression_logical(c, true); }

static bool sketch_expression_conditional(struct compiler *c)
{
    if (!sketch_expression_logical(c, true)) return false;
    if (!compiler_accept(c, '?')) return true;
    size_t otherwise = compiler_jump(c, CVBC_OP_JMP_FALSE, 0);
    if (!compiler_expression(c) || !compiler_expect(c, ':', "':'")) return false;
    struct type first = c->value.type;
    size_t end = compiler_jump(c, CVBC_OP_JMP, 0);
    compiler_patch(c, otherwise);
    c->depth--;
    if (!compiler_enter(c)) return false;
    bool ok = sketch_expression_conditional(c);
    compiler_leave(c);
    compiler_patch(c, end);
    struct type type = c->value.type;
    if (first.is_unsigned && first.bits == 32) type = first;
    c->value = (struct value){.type = type};
    return ok;
}

bool compiler_expression(struct compiler *c)
{
    if (!compiler_enter(c)) return false;
    bool ok = sketch_expression_conditional(c);
    compiler_leave(c);
    return ok;
}

bool compiler_constant_expression(struct compiler *c, uint32_t *value)
{
    const struct word *at = compiler_word(c);
    size_t start = c->out->count;
    int32_t depth = c->depth;
    if (!compiler_expression(c)) return false;
    c->out->count = start;
    c->depth = depth;
    *value = c->value.number;
    return c->value.known ||
           compiler_error(c, BASE_SYNTAX, at->offset, "this must be known at compile time");
}

bool compiler_expression_statement(struct compiler *c)
{
    bool did, leaves;
    if (!sketch_expression_assignment(c, false, &did)) return false;
    if (did) return true;
    const struct word *w = compiler_word(c), *next = w + (w->kind != WORD_END);
    int32_t before = c->depth;
    bool method = next->kind == WORD_SIGN && next->value == '.';
    if (w->kind == WORD_NAME && !compiler_is_type(c, w) && next->kind == WORD_SIGN &&
        (method || next->value == '(')) { /* a call, which may be the whole statement */
        size_t pos = c->pos, count = c->out->count;
        c->pos++;
        if (!(method ? compiler_method : compiler_call)(c, w, &leaves)) return false;
        if (!leaves) return true;
        const struct word *end = compiler_word(c);
        if (end->kind == WORD_SIGN &&
            (end->value == ';' || end->value == ')' || end->value == ',')) {
            compiler_op(c, CVBC_OP_POP, 0);
            return true;
        }
        c->pos = pos; /* the call begins a longer expression: goes back and compiles that */
        c->out->count = count;
        c->depth = before;
    }
    if (!compiler_expression(c)) return false;
    compiler_op(c, CVBC_OP_POP, 0);
    return true;
}
