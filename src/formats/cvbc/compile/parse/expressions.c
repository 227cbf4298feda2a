/* Reads expressions, by the precedence of operators (CVBC 16.4). */
#include "cvbc/compile/compiler.h"
#include <string.h>
#include "base/bytes.h"
#include "base/writer.h"

/* The functions below read single words of expressions. */

bool compiler_literal(struct compiler *c, penta_bytes *text)
{
    penta_error err = {0};
    struct writer all = {0};
    bool ok = true;
    for (; ok && compiler_word(c)->kind == WORD_STRING; c->pos++) {
        penta_bytes one;
        ok = word_string(&c->words, compiler_word(c), &c->arena, &one, &err);
        if (ok) writer_bytes(&all, one.data, one.size);
    }
    if (ok) {
        *text = (penta_bytes){arena_copy(&c->arena, writer_view(&all), &err), all.out.size};
        ok = (text->data && !all.failed) || compiler_no_memory(c);
    } else {
        compiler_error(c, err.code, (uint32_t)err.offset, "%s", err.message);
    }
    writer_free(&all);
    return ok;
}

/* Reads a binary number such as B1010, which old sketches use. */
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

static const struct {
    const char *name;
    uint16_t value;
} known_names[] = {{"INPUT", 0},     {"OUTPUT", 1},    {"INPUT_PULLUP", 2}, {"INPUT_PULLDOWN", 3},
                   {"LOW", 0},       {"HIGH", 1},      {"false", 0},        {"true", 1},
                   {"DEC", 10},      {"HEX", 16},      {"BIN", 2},          {"OCT", 8},
                   {"NULL", 0},      {"nullptr", 0},   {"MSBFIRST", 1},     {"LSBFIRST", 0},
                   {"CHANGE", 1},    {"FALLING", 2},   {"RISING", 3},       {"SPI_MODE0", 0},
                   {"SPI_MODE1", 4}, {"SPI_MODE2", 8}, {"SPI_MODE3", 12},   {"SS", 10},
                   {"MOSI", 11},     {"MISO", 12},     {"SCK", 13},         {"SDA", 18},
                   {"SCL", 19}};

const char *compiler_known_name(size_t i)
{
    return i < sizeof known_names / sizeof *known_names ? known_names[i].name : NULL;
}

static struct node *function_value(struct compiler *c, struct symbol *s, uint32_t offset)
{
    if (s->library) {
        compiler_error(c, BASE_SYNTAX, offset,
                       "'%.*s' is a function of the library, without an "
                       "address: call it",
                       BYTES_ARG(s->name, 30));
        return node_wrong(c);
    }
    struct node *n = node_new(c, NODE_FUNCTION, offset);
    n->function = s->function;
    n->type = type_pointer_to(c, s->type);
    scope_want(c, s->function);
    s->function->addressed = true;
    return n;
}

/* Declares an unknown name after its error was reported, so that no other use of it is an error. */
static struct node *name_unknown(struct compiler *c, const struct word *name)
{
    compiler_unknown(c, name, "declared", false);
    struct symbol *s = scope_add(c, name, SYMBOL_WRONG, &type_wrong);
    s->file_scope = false;
    return node_wrong(c);
}

static struct node *name_value(struct compiler *c, const struct word *name)
{
    struct symbol *s = scope_find(c, name);
    uint16_t binary;
    bool heap_end = word_is(&c->words, name, "__heap_end");
    if (!s && name->offset > c->source_size &&
        (heap_end || word_is(&c->words, name, "__heap_first"))) {
        struct node *n = node_new(c, NODE_HEAP, name->offset);
        n->flag = heap_end;
        return n;
    }
    if (!s && binary_name(compiler_text(c, name), &binary))
        return node_number(c, &type_int, binary, name->offset);
    for (size_t i = 0; !s && i < sizeof known_names / sizeof *known_names; i++)
        if (word_is(&c->words, name, known_names[i].name))
            return node_number(c, i == 6 || i == 7 ? &type_bool : &type_int, known_names[i].value,
                               name->offset);
    if (!s && compiler_is_object(c, name)) return node_number(c, &type_bool, 1, name->offset);
    if (!s && compiler_refused(c, name)) return node_wrong(c);
    if (!s) return name_unknown(c, name);
    switch (s->kind) {
    case SYMBOL_CONSTANT: return node_number(c, s->type, s->number, name->offset);
    case SYMBOL_FUNCTION: return function_value(c, s, name->offset);
    case SYMBOL_VARIABLE: break;
    default: return node_wrong(c);
    }
    struct node *n = node_variable(c, s, name->offset);
    return s->reference ? node_at(c, n, name->offset) : n;
}

bool compiler_declares(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (!compiler_is_type(c, w)) return false;
    if (w[1].kind != WORD_SIGN || w[1].value != '(') return true;
    if (w[2].kind != WORD_SIGN || w[2].value != '*') return false;
    size_t open = 1; /* int (*p)(int) is a declaration, and int(*p) is a value. */
    for (w += 2; open && w->kind != WORD_END; w++)
        if (w->kind == WORD_SIGN) open = open + (w->value == '(') - (w->value == ')');
    return w->kind == WORD_SIGN && (w->value == '(' || w->value == '[');
}

static struct node *expression_unary(struct compiler *c);

/* Reads a conversion, (type) value or type(value). */
static struct node *expression_cast(struct compiler *c, bool before)
{
    const struct type *type;
    const struct word *at = compiler_word(c);
    if (before) {
        if (!compiler_type_name(c, &type) || !compiler_expect(c, ')', "')'")) return node_wrong(c);
        return node_convert(c, expression_unary(c), type);
    }
    struct specifiers s;
    if (!compiler_specifiers(c, &s)) return node_wrong(c);
    if (s.type->is_settings) { /* Simulated devices do not look at these values. */
        struct node *ignored[3];
        uint32_t count;
        return compiler_values(c, ignored, 3, &count) ? node_number(c, s.type, 0, at->offset)
                                                      : node_wrong(c);
    }
    if (!compiler_expect(c, '(', "'('")) return node_wrong(c);
    if (compiler_accept(c, ')')) return node_number(c, s.type, 0, at->offset);
    struct node *n = compiler_assignment(c);
    if (s.type->kind == TYPE_STRING && compiler_accept(c, ',')) {
        struct node *more = node_assignable(c, compiler_assignment(c), &type_int, "the base");
        n = node_value(c, n);
        bool real = n->type->kind == TYPE_FLOAT;
        if (!real && n->type->kind != TYPE_NUMBER)
            n = node_assignable(c, n, &type_int, "the value");
        /* In the library function, base 10 is for a number without a sign, and base 0 for one
         * that may have a sign. */
        if (!real && node_is_known(more) && more->number == 10 && !type_is_wide_unsigned(n->type))
            more = node_number(c, &type_int, 0, at->offset);
        n = node_helper(c, real ? "__s_from_float" : "__s_from_number", &type_string, n, more,
                        at->offset);
    } else {
        n = node_convert(c, n, s.type);
    }
    return compiler_expect(c, ')', "')'") ? n : node_wrong(c);
}

/* Reads sizeof with a type, or with an expression that is not computed. */
static struct node *expression_size_of(struct compiler *c, uint32_t offset)
{
    const struct type *type = NULL;
    const struct word *w = compiler_word(c);
    if (compiler_sees(c, '(') && compiler_is_type(c, w + 1)) {
        c->pos++;
        if (!compiler_type_name(c, &type) || !compiler_expect(c, ')', "')'")) return node_wrong(c);
    } else {
        struct node *n = expression_unary(c);
        type = n->type;
        if (type->kind == TYPE_WRONG) return n;
        if (n->kind == NODE_TEXT)
            return node_number(c, &type_unsigned, (uint32_t)n->text.size + 1, offset);
    }
    if (type->kind == TYPE_STRING) type = &type_unsigned;
    return node_number(c, &type_unsigned, type_bytes(type), offset);
}

static bool word_is_sign(const struct word *w, uint32_t sign)
{
    return w->kind == WORD_SIGN && w->value == sign;
}

/* Tells whether the words after '(' are a type: byte(x) is a value, and int (*)(int) is a type. */
static bool expression_casts(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (!compiler_is_type(c, w)) return false;
    if (!word_is_sign(w + 1, '(')) return true;
    return word_is_sign(w + 2, '*') && word_is_sign(w + 3, ')');
}

static struct node *expression_primary(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (w->kind == WORD_NUMBER || w->kind == WORD_REAL) {
        c->pos++;
        const struct type *t = w->kind == WORD_REAL ? &type_float
                               : w->is_char         ? &type_char
                               : w->is_unsigned     ? &type_unsigned
                                                    : &type_int;
        return node_number(c, t, type_bounded(t, w->value), w->offset);
    }
    if (w->kind == WORD_STRING) {
        penta_bytes text;
        return compiler_literal(c, &text) ? node_text(c, text, w->offset) : node_wrong(c);
    }
    if (compiler_accept(c, '(')) {
        if (expression_casts(c)) return expression_cast(c, true);
        struct node *n = compiler_expression(c);
        return compiler_expect(c, ')', "')'") ? n : node_wrong(c);
    }
    if (compiler_is_type(c, w)) return expression_cast(c, false);
    if (w->kind != WORD_NAME) {
        compiler_error(c, BASE_SYNTAX, w->offset, "expected a value%s%.*s%s",
                       w->kind == WORD_END ? "" : " before '",
                       w->kind == WORD_END ? 0 : (int)(w->size > 30 ? 30 : w->size),
                       (const char *)c->words.text.data + w->offset,
                       w->kind == WORD_END ? "" : "'");
        return node_wrong(c);
    }
    c->pos++;
    if (word_is(&c->words, w, "sizeof")) return expression_size_of(c, w->offset);
    if (compiler_sees(c, '.') && compiler_is_object(c, w)) return compiler_object_method(c, w);
    if (compiler_sees(c, '(')) return compiler_call(c, w);
    return name_value(c, w);
}

/* Reads a call of a function through a pointer: p(1), table[i](1), (*p)(1). */
static struct node *expression_call_at(struct compiler *c, struct node *a, uint32_t offset)
{
    const struct type *t = a->type;
    a = node_value(c, a);
    t = a->type;
    if (t->kind == TYPE_POINTER) t = t->of;
    struct node *n = node_new(c, NODE_CALL_AT, offset);
    bool ok = t->kind == TYPE_FUNCTION || t->kind == TYPE_WRONG ||
              compiler_error(c, BASE_SYNTAX, offset, "this is not a function");
    n->items = compiler_array(c, t->parameter_count + 1, sizeof *n->items);
    uint32_t count = 0;
    uint16_t height = a->height;
    while (!compiler_accept(c, ')')) {
        if (count && !compiler_expect(c, ',', "',' or ')'")) return node_wrong(c);
        struct node *item = compiler_assignment(c);
        if (compiler_word(c)->kind == WORD_END) return node_wrong(c);
        if (ok && n->items && count < t->parameter_count)
            n->items[count] = node_assignable(c, item, t->parameters[count], "an argument");
        if (item->height > height) height = item->height;
        count++;
    }
    if (ok && t->kind == TYPE_FUNCTION && count != t->parameter_count)
        ok = compiler_error(c, BASE_SYNTAX, offset, "the function takes %u arguments, not %u",
                            (unsigned)t->parameter_count, (unsigned)count);
    if (!ok || t->kind != TYPE_FUNCTION) return node_wrong(c);
    n->a = a;
    n->count = count;
    n->type = t->of;
    n->height = (uint16_t)(height + 2);
    n->line = a->line;
    if (c->inside) c->inside->indirect = n;
    return n;
}

static struct node *expression_postfix(struct compiler *c)
{
    struct node *n = expression_primary(c);
    for (;;) {
        const struct word *w = compiler_word(c);
        if (compiler_over(c)) return node_wrong(c);
        if (compiler_accept(c, '[')) {
            struct node *index = compiler_expression(c);
            if (!compiler_expect(c, ']', "']'")) return node_wrong(c);
            n = node_index(c, n, index, w->offset);
        } else if (compiler_sees(c, '.') || compiler_sees(c, SIGN2('-', '>'))) {
            bool arrow = w->value != '.';
            const struct word *name = w + 1;
            c->pos++;
            if (name->kind != WORD_NAME) {
                compiler_error(c, BASE_SYNTAX, name->offset, "expected the name of a member");
                return node_wrong(c);
            }
            c->pos++;
            if (arrow && compiler_sees(c, '(') && n->type->kind == TYPE_POINTER &&
                n->type->of->kind == TYPE_STRING) {
                n = node_at(c, n, w->offset);
                arrow = false;
            }
            n = !arrow && (n->type->kind == TYPE_STRING) ? compiler_method(c, n, name)
                                                         : node_member(c, n, name, arrow);
        } else if (compiler_sees(c, SIGN2('+', '+')) || compiler_sees(c, SIGN2('-', '-'))) {
            c->pos++;
            n = node_step(c, w->value == SIGN2('+', '+'), true, n, w->offset);
        } else if (compiler_accept(c, '(')) {
            n = expression_call_at(c, n, w->offset);
        } else {
            return n;
        }
    }
}

static struct node *expression_unary(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (w->kind != WORD_SIGN || !compiler_enter(c)) return expression_postfix(c);
    struct node *n;
    switch (w->value) {
    case '-':
    case '!':
    case '~':
    case '+':
        c->pos++;
        n = node_unary(c, w->value, expression_unary(c), w->offset);
        break;
    case '&':
        c->pos++;
        n = node_address(c, expression_unary(c), w->offset);
        break;
    case '*':
        c->pos++;
        n = node_at(c, expression_unary(c), w->offset);
        break;
    case SIGN2('+', '+'):
    case SIGN2('-', '-'):
        c->pos++;
        n = node_step(c, w->value == SIGN2('+', '+'), false, expression_unary(c), w->offset);
        break;
    default: n = expression_postfix(c);
    }
    compiler_leave(c);
    return n;
}

static int binary_level(const struct compiler *c)
{
    static const struct {
        uint32_t sign;
        int level;
    } levels[] = {{SIGN2('|', '|'), 1},
                  {SIGN2('&', '&'), 2},
                  {'|', 3},
                  {'^', 4},
                  {'&', 5},
                  {SIGN2('=', '='), 6},
                  {SIGN2('!', '='), 6},
                  {'<', 7},
                  {'>', 7},
                  {SIGN2('<', '='), 7},
                  {SIGN2('>', '='), 7},
                  {SIGN2('<', '<'), 8},
                  {SIGN2('>', '>'), 8},
                  {'+', 9},
                  {'-', 9},
                  {'*', 10},
                  {'/', 10},
                  {'%', 10}};
    const struct word *w = compiler_word(c);
    for (size_t i = 0; w->kind == WORD_SIGN && i < sizeof levels / sizeof *levels; i++)
        if (levels[i].sign == w->value) return levels[i].level;
    return 0;
}

static struct node *expression_binary(struct compiler *c, int level)
{
    struct node *n = expression_unary(c);
    for (int here; (here = binary_level(c)) >= level && here;) {
        const struct word *sign = compiler_word(c);
        c->pos++;
        struct node *right = expression_binary(c, here + 1);
        n = here <= 2 ? node_logical(c, here == 1, n, right, sign->offset)
                      : node_binary(c, sign->value, n, right, sign->offset);
    }
    return n;
}

static struct node *expression_choice(struct compiler *c)
{
    struct node *n = expression_binary(c, 1);
    const struct word *sign = compiler_word(c);
    if (!compiler_accept(c, '?')) return n;
    if (!compiler_enter(c)) return node_wrong(c);
    struct node *yes = compiler_expression(c), *no = NULL;
    if (compiler_expect(c, ':', "':'")) no = compiler_assignment(c);
    compiler_leave(c);
    return no ? node_choice(c, n, yes, no, sign->offset) : node_wrong(c);
}

/* Tells whether the word is an assignment. *op becomes its operator, or 0 for =. */
static bool expression_assigns(const struct word *w, uint32_t *op)
{
    static const uint32_t signs[][2] = {
        {'=', 0},
        {SIGN2('+', '='), '+'},
        {SIGN2('-', '='), '-'},
        {SIGN2('*', '='), '*'},
        {SIGN2('/', '='), '/'},
        {SIGN2('%', '='), '%'},
        {SIGN2('&', '='), '&'},
        {SIGN2('|', '='), '|'},
        {SIGN2('^', '='), '^'},
        {SIGN3('<', '<', '='), SIGN2('<', '<')},
        {SIGN3('>', '>', '='), SIGN2('>', '>')},
    };
    for (size_t i = 0; w->kind == WORD_SIGN && i < sizeof signs / sizeof *signs; i++)
        if (signs[i][0] == w->value) {
            *op = signs[i][1];
            return true;
        }
    return false;
}

struct node *compiler_assignment(struct compiler *c)
{
    uint32_t op;
    if (!compiler_enter(c)) return node_wrong(c);
    struct node *n = expression_choice(c);
    const struct word *w = compiler_word(c);
    if (expression_assigns(w, &op)) {
        c->pos++;
        n = node_assign(c, op, n, compiler_assignment(c), w->offset);
    }
    compiler_leave(c);
    return n;
}

struct node *compiler_expression(struct compiler *c)
{
    struct node *n = compiler_assignment(c);
    while (compiler_sees(c, ',')) {
        const struct word *w = compiler_word(c);
        c->pos++;
        struct node *right = compiler_assignment(c);
        if (n->kind == NODE_WRONG || right->kind == NODE_WRONG) {
            n = node_wrong(c);
            continue;
        }
        struct node *both = node_new(c, NODE_COMMA, w->offset);
        if (both->kind == NODE_WRONG) return both;
        both->a = n;
        both->b = right;
        both->type = right->type;
        both->line = n->line;
        both->height = (uint16_t)((n->height > right->height ? n->height : right->height) + 1);
        if (both->height >= HEIGHT_MAX) {
            compiler_error(c, CVBC_LIMIT, w->offset,
                           "an expression of more than %d operators in a row", HEIGHT_MAX);
            return node_wrong(c);
        }
        n = both;
    }
    return n;
}

bool compiler_constant_expression(struct compiler *c, uint32_t *value)
{
    const struct word *at = compiler_word(c);
    struct node *n = node_value(c, compiler_assignment(c));
    if (n->kind == NODE_WRONG) return false;
    *value = n->number;
    return (node_is_known(n) && n->type->kind == TYPE_NUMBER) ||
           compiler_error(c, BASE_SYNTAX, at->offset, "this must be known at compile time");
}
