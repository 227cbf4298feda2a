/* Has the rules of expressions: which operands an operator takes, which type its result has, and
 * what is computed at compile time. Every function makes one node from operands that exist
 * already. A wrong operand was reported before, so it gives a wrong node without another report. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"
#include "cvbc/compile/tree/real.h"

struct node *node_new(struct compiler *c, enum node_kind kind, uint32_t offset)
{
    struct node *n = compiler_new(c, sizeof *n);
    *n = (struct node){.kind = (uint8_t)(c->failed ? NODE_WRONG : kind),
                       .type = c->failed ? &type_wrong : &type_int,
                       .offset = offset,
                       .line = compiler_word(c)->line};
    return n;
}

struct node *node_wrong(struct compiler *c)
{
    struct node *n = node_new(c, NODE_WRONG, compiler_word(c)->offset);
    n->type = &type_wrong;
    return n;
}

static struct node *operator_error(struct compiler *c, uint32_t offset, const char *text)
{
    compiler_error(c, BASE_SYNTAX, offset, "%s", text);
    return node_wrong(c);
}

static bool node_is_wrong(const struct node *n)
{
    return n->kind == NODE_WRONG || n->type->kind == TYPE_WRONG;
}

/* Sets the operands of a node, and the height of the tree below it. */
static struct node *node_with(struct compiler *c, struct node *n, const struct type *type,
                              struct node *a, struct node *b)
{
    uint16_t height = a->height;
    if (b && b->height > height) height = b->height;
    n->height = (uint16_t)(height + 1);
    n->a = a;
    n->b = b;
    n->type = type;
    n->line = a->line;
    if (n->height < HEIGHT_MAX) return n;
    compiler_error(c, CVBC_LIMIT, n->offset, "an expression of more than %d operators in a row",
                   HEIGHT_MAX);
    return node_wrong(c);
}

struct node *node_number(struct compiler *c, const struct type *t, uint32_t value, uint32_t offset)
{
    struct node *n = node_new(c, NODE_NUMBER, offset);
    n->type = t;
    n->number = value;
    return n;
}

struct node *node_text(struct compiler *c, penta_bytes text, uint32_t offset)
{
    struct node *n = node_new(c, NODE_TEXT, offset);
    n->type = &type_text;
    n->text = text;
    return n;
}

struct node *node_variable(struct compiler *c, struct symbol *s, uint32_t offset)
{
    struct node *n = node_new(c, NODE_VARIABLE, offset);
    n->symbol = s;
    n->type = s->type;
    return n;
}

bool node_is_known(const struct node *n) { return n->kind == NODE_NUMBER; }

bool node_has_place(const struct node *n)
{
    switch (n->kind) {
    case NODE_VARIABLE:
    case NODE_AT: return true;
    case NODE_MEMBER:
    case NODE_INDEX: return node_has_place(n->a);
    default: return false;
    }
}

/* Returns the variable that an object is a part of, or NULL if a pointer leads to the object. */
static struct symbol *node_root(const struct node *n)
{
    while (n->kind == NODE_MEMBER || n->kind == NODE_INDEX) n = n->a;
    return n->kind == NODE_VARIABLE ? n->symbol : NULL;
}

struct node *node_helper(struct compiler *c, const char *name, const struct type *type,
                         struct node *a, struct node *b, uint32_t offset)
{
    struct function *f = scope_library(c, name);
    struct node *n = node_new(c, NODE_CALL, offset);
    if (!f || node_is_wrong(a) || (b && node_is_wrong(b))) return node_wrong(c);
    scope_want(c, f);
    n->function = f;
    n->count = b ? 2 : 1;
    n->items = compiler_array(c, n->count, sizeof *n->items);
    if (!n->items) return node_wrong(c);
    n->items[0] = a;
    if (b) n->items[1] = b;
    n = node_with(c, n, type, a, b);
    n->a = n->b = NULL;
    return n;
}

struct node *node_address(struct compiler *c, struct node *a, uint32_t offset)
{
    if (node_is_wrong(a)) return a;
    if (a->kind == NODE_FUNCTION) return a;
    if (!node_has_place(a)) return operator_error(c, offset, "this has no address");
    struct symbol *root = node_root(a);
    if (root) {
        root->addressed = root->changed = true;
        if (root->type->kind != TYPE_FUNCTION) c->memory = true;
    }
    if (a->kind == NODE_AT) return a->a;
    struct node *n = node_new(c, NODE_ADDRESS, offset);
    return node_with(c, n, type_pointer_to(c, a->type), a, NULL);
}

struct node *node_value(struct compiler *c, struct node *n)
{
    if (n->type->kind == TYPE_ARRAY) {
        const struct type *of = n->type->of;
        struct node *p = node_address(c, n, n->offset);
        if (!node_is_wrong(p)) {
            struct node *first = node_new(c, NODE_WRONG, n->offset);
            *first = *p;
            first->type = type_pointer_to(c, of);
            return first;
        }
        return p;
    }
    if (n->type->kind == TYPE_VOID) return operator_error(c, n->offset, "this call has no value");
    if (n->kind == NODE_VARIABLE && n->symbol->known && n->symbol->type->is_const)
        return node_number(c, n->type, n->symbol->number, n->offset);
    return n;
}

static struct node *convert_real(struct compiler *c, struct node *n, const struct type *to)
{
    const struct type *from = n->type;
    bool real = to->kind == TYPE_FLOAT;
    if (node_is_known(n)) {
        uint32_t v = n->number;
        if (real)
            v = type_is_wide_unsigned(from) ? real_from_unsigned(v) : real_from_int((int32_t)v);
        else if (to->bits == 1)
            v = (v & 0x7fffffff) != 0;
        else
            v = type_bounded(to, type_is_wide_unsigned(to) ? real_to_unsigned(v)
                                                           : (uint32_t)real_to_int(v));
        return node_number(c, to, v, n->offset);
    }
    if (real)
        return node_helper(c, type_is_wide_unsigned(from) ? "__f_from_unsigned" : "__f_from_int",
                           to, n, NULL, n->offset);
    if (to->bits == 1) return node_helper(c, "__f_truth", to, n, NULL, n->offset);
    struct node *whole =
        node_helper(c, type_is_wide_unsigned(to) ? "__f_to_unsigned" : "__f_to_int",
                    type_is_wide_unsigned(to) ? &type_unsigned : &type_int, n, NULL, n->offset);
    return node_convert(c, whole, to);
}

static struct node *convert_string(struct compiler *c, struct node *n)
{
    const struct type *t = n->type;
    c->memory = c->strings_used = true;
    if (t->kind == TYPE_POINTER && t->of->kind == TYPE_NUMBER && t->of->bits == 8)
        return node_helper(c, "__s_from_text", &type_string, n, NULL, n->offset);
    if (t->kind == TYPE_NUMBER && t->is_char)
        return node_helper(c, "__s_from_char", &type_string, n, NULL, n->offset);
    if (t->kind == TYPE_NUMBER) {
        struct node *base = node_number(c, &type_int, type_is_wide_unsigned(t) ? 10 : 0, n->offset);
        return node_helper(c, "__s_from_number", &type_string, n, base, n->offset);
    }
    if (t->kind == TYPE_FLOAT)
        return node_helper(c, "__s_from_float", &type_string, n,
                           node_number(c, &type_int, 2, n->offset), n->offset);
    return operator_error(c, n->offset, "this is no text and no number");
}

struct node *node_convert(struct compiler *c, struct node *n, const struct type *to)
{
    n = node_value(c, n);
    const struct type *from = n->type;
    if (node_is_wrong(n) || to->kind == TYPE_WRONG) return node_wrong(c);
    if (to->kind == TYPE_VOID) return n;
    if (from->kind == TYPE_FLOAT || to->kind == TYPE_FLOAT) {
        if (from->kind == to->kind) return n;
        if (type_is_arithmetic(from) && type_is_arithmetic(to)) return convert_real(c, n, to);
    }
    if (to->kind == TYPE_STRING) return from->kind == TYPE_STRING ? n : convert_string(c, n);
    if (to->kind == TYPE_RECORD && type_same(from, to)) return n;
    if (!type_is_scalar(to) || !type_is_scalar(from))
        return operator_error(c, n->offset, "this cannot be converted");
    if (from->kind == TYPE_POINTER && to->kind == TYPE_POINTER && to->of->kind != TYPE_VOID &&
        from->of->kind != TYPE_VOID && to->of->kind != TYPE_FUNCTION &&
        (type_words(from->of) != type_words(to->of) || type_bytes(from->of) != type_bytes(to->of)))
        return operator_error(c, n->offset,
                              "a pointer to another size: each number is a word of memory here");
    if (node_is_known(n)) return node_number(c, to, type_bounded(to, n->number), n->offset);
    c->mixed |= from->kind == TYPE_POINTER && to->kind == TYPE_POINTER &&
                from->of->kind == TYPE_NUMBER && to->of->kind == TYPE_NUMBER && to->of->bits < 32 &&
                from->of->is_unsigned != to->of->is_unsigned;
    if (to->kind == TYPE_POINTER || type_within(from, to)) {
        if (from->kind == to->kind && type_same(from, to) && from->is_char == to->is_char) return n;
        /* The type of a conversion says what it does, and the type of a place says what is
         * stored there, so these nodes keep their types. */
        if (n->kind != NODE_CONVERT && !node_has_place(n)) {
            struct node *same = node_new(c, NODE_WRONG, n->offset);
            *same = *n;
            same->type = to;
            return same;
        }
    }
    struct node *made = node_new(c, NODE_CONVERT, n->offset);
    return node_with(c, made, to, n, NULL);
}

/* Tells whether the value may be passed or stored as another type without an explicit
 * conversion. */
static bool operator_takes(const struct node *n, const struct type *to)
{
    const struct type *from = n->type;
    if (type_is_arithmetic(from) && type_is_arithmetic(to)) return true;
    if (to->kind == TYPE_STRING)
        return from->kind == TYPE_STRING || type_is_arithmetic(from) ||
               (from->kind == TYPE_POINTER && from->of->is_char);
    if (to->kind == TYPE_RECORD) return type_same(from, to);
    if (to->kind == TYPE_NUMBER && to->bits == 1) return from->kind == TYPE_POINTER;
    if (to->kind != TYPE_POINTER) return false;
    if (node_is_known(n) && !n->number) return true;
    if (from->kind == TYPE_FUNCTION) return type_same(from, to->of);
    if (from->kind != TYPE_POINTER) return false;
    if (to->of->kind == TYPE_VOID || from->of->kind == TYPE_VOID) return true;
    return type_same(from->of, to->of) ||
           (to->of->kind == TYPE_NUMBER && from->of->kind == TYPE_NUMBER &&
            to->of->bits == from->of->bits);
}

struct node *node_assignable(struct compiler *c, struct node *n, const struct type *to,
                             const char *what)
{
    char is[50], wanted[50];
    n = node_value(c, n);
    if (node_is_wrong(n) || to->kind == TYPE_WRONG) return node_wrong(c);
    if (operator_takes(n, to)) {
        bool drops = to->kind == TYPE_POINTER && n->type->kind == TYPE_POINTER &&
                     n->type->of->is_const && !to->of->is_const && n->kind != NODE_TEXT;
        if (!drops) return node_convert(c, n, to);
        return operator_error(c, n->offset,
                              "a pointer to what is constant becomes one to what is "
                              "not");
    }
    compiler_error(c, BASE_SYNTAX, n->offset, "%s is %s, not %s", what,
                   type_text_of(n->type, is, sizeof is), type_text_of(to, wanted, sizeof wanted));
    return node_wrong(c);
}

struct node *node_truth(struct compiler *c, struct node *n)
{
    n = node_value(c, n);
    if (node_is_wrong(n)) return n;
    if (n->type->kind == TYPE_FLOAT) return node_convert(c, n, &type_bool);
    if (type_is_scalar(n->type)) return n;
    return operator_error(c, n->offset, "this is neither true nor false");
}

static const struct type *operator_promoted(const struct type *t)
{
    return t->kind == TYPE_FLOAT      ? &type_float
           : type_is_wide_unsigned(t) ? &type_unsigned
                                      : &type_int;
}

struct node *node_unary(struct compiler *c, uint32_t sign, struct node *a, uint32_t offset)
{
    a = sign == '!' ? node_truth(c, a) : node_value(c, a);
    if (node_is_wrong(a)) return a;
    bool real = a->type->kind == TYPE_FLOAT;
    if (sign != '!' && (!type_is_arithmetic(a->type) || (real && sign == '~')))
        return operator_error(c, offset, "the operator takes numbers");
    const struct type *type = sign == '!' ? &type_bool : operator_promoted(a->type);
    if (sign == '+') return node_convert(c, a, type);
    if (node_is_known(a)) {
        uint32_t v = a->number;
        v = sign == '!' ? !v : sign == '~' ? ~v : real ? v ^ 0x80000000u : 0u - v;
        return node_number(c, type, v, offset);
    }
    if (real) {
        struct node *top = node_number(c, &type_unsigned, 0x80000000u, offset);
        struct node *n = node_new(c, NODE_BINARY, offset);
        n->opcode = CVBC_OP_BITWISE_XOR;
        return node_with(c, n, type, a, top);
    }
    struct node *n = node_new(c, NODE_UNARY, offset);
    n->opcode = sign == '!' ? CVBC_OP_NOT : sign == '~' ? CVBC_OP_BITWISE_NOT : CVBC_OP_SUB;
    return node_with(c, n, type, a, NULL);
}

static const struct operator_row {
    uint32_t sign;
    /* wide: the opcode for unsigned numbers, or 0 if a function of the library is needed. */
    uint8_t opcode, wide;
    bool compares, negated, real;
    const char *helper, *portable; /* the library's functions for unsigned numbers */
    const char *float_helper;
    /* clang-format off */
} operator_rows[] = {
    {'|', CVBC_OP_BITWISE_OR, CVBC_OP_BITWISE_OR, 0, 0, 0, 0, 0, 0},
    {'^', CVBC_OP_BITWISE_XOR, CVBC_OP_BITWISE_XOR, 0, 0, 0, 0, 0, 0},
    {'&', CVBC_OP_BITWISE_AND, CVBC_OP_BITWISE_AND, 0, 0, 0, 0, 0, 0},
    {SIGN2('=', '='), CVBC_OP_EQ, CVBC_OP_EQ, 1, 0, 1, 0, 0, "__f_eq"},
    {SIGN2('!', '='), CVBC_OP_NE, CVBC_OP_NE, 1, 0, 1, 0, 0, "__f_ne"},
    {'<', CVBC_OP_LT_S, CVBC_OP_GE, 1, 1, 1, 0, "__ult", "__f_lt"},
    {'>', CVBC_OP_GT_S, CVBC_OP_LE, 1, 1, 1, 0, "__ugt", "__f_gt"},
    {SIGN2('<', '='), CVBC_OP_LE_S, CVBC_OP_LE, 1, 0, 1, 0, "__ule", "__f_le"},
    {SIGN2('>', '='), CVBC_OP_GE_S, CVBC_OP_GE, 1, 0, 1, 0, "__uge", "__f_ge"},
    {SIGN2('<', '<'), CVBC_OP_SHIFT_LEFT, CVBC_OP_SHIFT_LEFT, 0, 0, 0, 0, 0, 0},
    {SIGN2('>', '>'), CVBC_OP_SHIFT_RIGHT, 0, 0, 0, 0, "__ushr", 0, 0},
    {'+', CVBC_OP_ADD, CVBC_OP_ADD, 0, 0, 1, 0, 0, "__f_add"},
    {'-', CVBC_OP_SUB, CVBC_OP_SUB, 0, 0, 1, 0, 0, "__f_sub"},
    {'*', CVBC_OP_MUL, CVBC_OP_MUL, 0, 0, 1, 0, 0, "__f_mul"},
    {'/', CVBC_OP_DIV, 0, 0, 0, 1, "__udiv", 0, "__f_div"},
    {'%', CVBC_OP_MOD, 0, 0, 0, 0, "__umod", 0, 0},
};
/* clang-format on */

static const struct operator_row *operator_row(uint32_t sign)
{
    for (size_t i = 0; i < sizeof operator_rows / sizeof *operator_rows; i++)
        if (operator_rows[i].sign == sign) return &operator_rows[i];
    return NULL;
}

static uint32_t operator_compute(uint8_t opcode, bool is_unsigned, uint32_t a, uint32_t b)
{
    int32_t sa = (int32_t)a, sb = (int32_t)b;
    switch (opcode) {
    case CVBC_OP_BITWISE_OR: return a | b;
    case CVBC_OP_BITWISE_XOR: return a ^ b;
    case CVBC_OP_BITWISE_AND: return a & b;
    case CVBC_OP_EQ: return a == b;
    case CVBC_OP_NE: return a != b;
    case CVBC_OP_LT_S: return is_unsigned ? a < b : sa < sb;
    case CVBC_OP_GT_S: return is_unsigned ? a > b : sa > sb;
    case CVBC_OP_LE_S: return is_unsigned ? a <= b : sa <= sb;
    case CVBC_OP_GE_S: return is_unsigned ? a >= b : sa >= sb;
    case CVBC_OP_SHIFT_LEFT: return a << b;
    case CVBC_OP_SHIFT_RIGHT: return is_unsigned ? a >> b : (uint32_t)(sa >> b);
    case CVBC_OP_ADD: return a + b;
    case CVBC_OP_SUB: return a - b;
    case CVBC_OP_MUL: return a * b;
    case CVBC_OP_DIV: return is_unsigned ? a / b : b == UINT32_MAX ? 0u - a : (uint32_t)(sa / sb);
    default: return is_unsigned ? a % b : b == UINT32_MAX ? 0 : (uint32_t)(sa % sb);
    }
}

/* Computes the result if both operands are known, unless the machine would stop at this
 * operation. */
static struct node *operator_folded(struct compiler *c, const struct operator_row *o,
                                    const struct type *type, bool is_unsigned, struct node *a,
                                    struct node *b, uint32_t offset)
{
    bool shifts = o->opcode == CVBC_OP_SHIFT_LEFT || o->opcode == CVBC_OP_SHIFT_RIGHT;
    bool divides = o->opcode == CVBC_OP_DIV || o->opcode == CVBC_OP_MOD;
    if (!node_is_known(a) || !node_is_known(b) || (shifts && b->number > 31) ||
        (divides && !b->number))
        return NULL;
    return node_number(c, type, operator_compute(o->opcode, is_unsigned, a->number, b->number),
                       offset);
}

static struct node *operator_real(struct compiler *c, const struct operator_row *o, struct node *a,
                                  struct node *b, uint32_t offset)
{
    if (!o->real) return operator_error(c, offset, "the operator takes whole numbers");
    a = node_convert(c, a, &type_float);
    b = node_convert(c, b, &type_float);
    if (node_is_wrong(a) || node_is_wrong(b)) return node_wrong(c);
    const struct type *type = o->compares ? &type_bool : &type_float;
    if (node_is_known(a) && node_is_known(b))
        return node_number(c, type,
                           real_compute((char)(o->sign & 255), o->sign > 255, a->number, b->number),
                           offset);
    return node_helper(c, o->float_helper, type, a, b, offset);
}

static struct node *operator_machine(struct compiler *c, uint8_t opcode, bool negated,
                                     const struct type *type, struct node *a, struct node *b,
                                     uint32_t offset)
{
    struct node *n = node_new(c, NODE_BINARY, offset);
    n->opcode = opcode;
    n->flag = negated;
    return node_with(c, n, type, a, b);
}

/* Makes the nodes for +, - and comparisons that have a pointer as operand. */
static struct node *operator_pointer(struct compiler *c, const struct operator_row *o,
                                     struct node *a, struct node *b, uint32_t offset)
{
    bool left = a->type->kind == TYPE_POINTER, right = b->type->kind == TYPE_POINTER;
    if (a->type->kind == TYPE_FUNCTION || b->type->kind == TYPE_FUNCTION || o->compares) {
        bool nulls = (node_is_known(a) && !a->number) || (node_is_known(b) && !b->number);
        if (!o->compares || !((left || a->type->kind == TYPE_FUNCTION || nulls) &&
                              (right || b->type->kind == TYPE_FUNCTION || nulls)))
            return operator_error(c, offset, "a pointer and a number are compared");
        return operator_machine(c, o->opcode, false, &type_bool, a, b, offset);
    }
    if (o->sign == '+' && right && !left) {
        struct node *other = a;
        a = b;
        b = other;
        right = false;
    } else if (o->sign != '+' && o->sign != '-') {
        return operator_error(c, offset, "the operator takes numbers");
    }
    uint32_t words = type_words(a->type->of);
    if (!words) return operator_error(c, offset, "a pointer to what has no size");
    if (right) {
        if (o->sign == '+' || !left || type_words(b->type->of) != words)
            return operator_error(c, offset, "pointers to different types");
        struct node *n = operator_machine(c, CVBC_OP_SUB, false, &type_int, a, b, offset);
        return words == 1 || node_is_wrong(n)
                   ? n
                   : operator_machine(c, CVBC_OP_DIV, false, &type_int, n,
                                      node_number(c, &type_int, words, offset), offset);
    }
    if (b->type->kind != TYPE_NUMBER)
        return operator_error(c, offset, "the operator takes whole numbers");
    if (words != 1)
        b = node_binary(c, '*', node_convert(c, b, &type_int),
                        node_number(c, &type_int, words, offset), offset);
    return operator_machine(c, o->opcode, false, a->type, a, b, offset);
}

static struct node *operator_string(struct compiler *c, const struct operator_row *o,
                                    struct node *a, struct node *b, uint32_t offset)
{
    if (o->sign == '+') {
        a = node_convert(c, a, &type_string);
        b = node_convert(c, b, &type_string);
        return node_helper(c, "__s_add", &type_string, a, b, offset);
    }
    if (!o->compares) return operator_error(c, offset, "the operator takes numbers");
    a = node_assignable(c, a, &type_string, "what a String is compared with");
    b = node_assignable(c, b, &type_string, "what a String is compared with");
    struct node *order = node_helper(c, "__s_compare", &type_int, a, b, offset);
    if (node_is_wrong(order)) return order;
    return operator_machine(c, o->opcode, false, &type_bool, order,
                            node_number(c, &type_int, 0, offset), offset);
}

struct node *node_binary(struct compiler *c, uint32_t sign, struct node *a, struct node *b,
                         uint32_t offset)
{
    const struct operator_row *o = operator_row(sign);
    a = node_value(c, a);
    b = node_value(c, b);
    if (node_is_wrong(a) || node_is_wrong(b)) return node_wrong(c);
    const struct type *ta = a->type, *tb = b->type;
    if (ta->kind == TYPE_STRING || tb->kind == TYPE_STRING)
        return operator_string(c, o, a, b, offset);
    if (ta->kind == TYPE_POINTER || tb->kind == TYPE_POINTER || ta->kind == TYPE_FUNCTION ||
        tb->kind == TYPE_FUNCTION)
        return operator_pointer(c, o, a, b, offset);
    if (!type_is_arithmetic(ta) || !type_is_arithmetic(tb))
        return operator_error(c, offset, "the operator takes numbers");
    if (ta->kind == TYPE_FLOAT || tb->kind == TYPE_FLOAT) return operator_real(c, o, a, b, offset);
    bool shifts = sign == SIGN2('<', '<') || sign == SIGN2('>', '>');
    bool wide = type_is_wide_unsigned(ta) || (!shifts && type_is_wide_unsigned(tb));
    const struct type *type = o->compares ? &type_bool : wide ? &type_unsigned : &type_int;
    struct node *known = operator_folded(c, o, type, wide, a, b, offset);
    if (known) return known;
    bool same = !wide || o->opcode == o->wide;
    if (same) return operator_machine(c, o->opcode, false, type, a, b, offset);
    const char *helper = c->how->portable && o->portable ? o->portable : o->helper;
    if (helper) return node_helper(c, helper, type, a, b, offset);
    return operator_machine(c, o->wide, o->negated, type, a, b, offset);
}

struct node *node_logical(struct compiler *c, bool either, struct node *a, struct node *b,
                          uint32_t offset)
{
    a = node_truth(c, a);
    b = node_truth(c, b);
    if (node_is_wrong(a) || node_is_wrong(b)) return node_wrong(c);
    if (node_is_known(a) && (a->number != 0) == either)
        return node_number(c, &type_bool, either, offset);
    if (node_is_known(a) && node_is_known(b))
        return node_number(c, &type_bool, b->number != 0, offset);
    struct node *n = node_new(c, NODE_BOTH, offset);
    n->flag = either;
    return node_with(c, n, &type_bool, a, b);
}

struct node *node_choice(struct compiler *c, struct node *a, struct node *b, struct node *d,
                         uint32_t offset)
{
    a = node_truth(c, a);
    bool nothing = b->type->kind == TYPE_VOID && d->type->kind == TYPE_VOID;
    if (!nothing) {
        b = node_value(c, b);
        d = node_value(c, d);
    }
    if (node_is_wrong(a) || node_is_wrong(b) || node_is_wrong(d)) return node_wrong(c);
    const struct type *type = b->type;
    if (nothing) {
        type = &type_void;
    } else if (b->type->kind == TYPE_STRING || d->type->kind == TYPE_STRING) {
        type = &type_string;
    } else if (type_is_arithmetic(b->type) && type_is_arithmetic(d->type)) {
        bool real = b->type->kind == TYPE_FLOAT || d->type->kind == TYPE_FLOAT;
        bool wide = type_is_wide_unsigned(b->type) || type_is_wide_unsigned(d->type);
        bool same = type_same(b->type, d->type) && b->type->is_char == d->type->is_char;
        type = real ? &type_float : same ? b->type : wide ? &type_unsigned : &type_int;
    } else if (node_is_known(b) && !b->number && d->type->kind == TYPE_POINTER) {
        type = d->type;
    }
    if (!nothing) {
        b = node_assignable(c, b, type, "a value of ?:");
        d = node_assignable(c, d, type, "a value of ?:");
        if (node_is_wrong(b) || node_is_wrong(d)) return node_wrong(c);
    }
    if (node_is_known(a)) return a->number ? b : d;
    struct node *n = node_new(c, NODE_CHOICE, offset);
    n = node_with(c, n, type, a, b);
    if (n->kind != NODE_CHOICE) return n;
    n->c = d;
    if (d->height >= n->height) n->height = (uint16_t)(d->height + 1);
    return n;
}

static bool operator_assignable(struct compiler *c, const struct node *a, uint32_t offset)
{
    struct symbol *root = node_root(a);
    if (!node_has_place(a)) {
        if (a->kind == NODE_FUNCTION)
            return compiler_error(c, BASE_SYNTAX, offset, "a function cannot be changed");
        return compiler_error(c, BASE_SYNTAX, offset, "this is a value and cannot be changed");
    }
    const struct type *t = a->type;
    while (t->kind == TYPE_ARRAY) t = t->of;
    bool is_const = t->is_const;
    for (const struct node *n = a; n->kind == NODE_MEMBER || n->kind == NODE_INDEX; n = n->a)
        is_const |= n->a->type->is_const;
    if (is_const && root)
        return compiler_error(c, BASE_SYNTAX, offset, "'%.*s' is constant",
                              BYTES_ARG(root->name, 40));
    if (is_const) return compiler_error(c, BASE_SYNTAX, offset, "this is constant");
    if (a->type->kind == TYPE_ARRAY)
        return compiler_error(c, BASE_SYNTAX, offset, "an array is not assigned as a whole");
    if (root) root->changed = true;
    return true;
}

/* Makes a = value. If `update` is true, `value` contains NODE_LOADED. */
static struct node *operator_store(struct compiler *c, struct node *a, struct node *value,
                                   bool update, bool post, uint32_t offset)
{
    if (node_is_wrong(value)) return value;
    struct node *n = node_new(c, NODE_ASSIGN, offset);
    n->flag = update;
    n->post = post;
    return node_with(c, n, a->type, a, value);
}

static struct node *operator_loaded(struct compiler *c, const struct node *a)
{
    struct node *n = node_new(c, NODE_LOADED, a->offset);
    n->type = a->type;
    return n;
}

struct node *node_assign(struct compiler *c, uint32_t sign, struct node *a, struct node *b,
                         uint32_t offset)
{
    if (node_is_wrong(a) || node_is_wrong(b)) return node_wrong(c);
    if (!operator_assignable(c, a, a->offset)) return node_wrong(c);
    if (!sign)
        return operator_store(c, a, node_assignable(c, b, a->type, "the value"), false, false,
                              offset);
    struct node *value = node_binary(c, sign, operator_loaded(c, a), b, offset);
    return operator_store(c, a, node_assignable(c, value, a->type, "the value"), true, false,
                          offset);
}

struct node *node_update(struct compiler *c, struct node *object, struct node *value,
                         uint32_t offset)
{
    if (node_is_wrong(object) || node_is_wrong(value)) return node_wrong(c);
    if (!operator_assignable(c, object, object->offset)) return node_wrong(c);
    return operator_store(c, object, value, true, false, offset);
}

struct node *node_step(struct compiler *c, bool up, bool post, struct node *a, uint32_t offset)
{
    if (node_is_wrong(a)) return a;
    if (!operator_assignable(c, a, a->offset)) return node_wrong(c);
    if (!type_is_scalar(a->type)) return operator_error(c, offset, "the operator takes numbers");
    struct node *value = node_binary(c, up ? '+' : '-', operator_loaded(c, a),
                                     node_number(c, &type_int, 1, offset), offset);
    return operator_store(c, a, node_convert(c, value, a->type), true, post, offset);
}

struct node *node_at(struct compiler *c, struct node *a, uint32_t offset)
{
    if (a->kind == NODE_FUNCTION) return a;
    a = node_value(c, a);
    if (node_is_wrong(a)) return a;
    if (a->type->kind != TYPE_POINTER) return operator_error(c, offset, "this is not a pointer");
    if (a->type->of->kind == TYPE_FUNCTION) return a;
    if (!type_words(a->type->of)) return operator_error(c, offset, "a pointer to what has no size");
    if (a->kind == NODE_ADDRESS && type_same(a->a->type, a->type->of)) return a->a;
    c->memory = true;
    struct node *n = node_new(c, NODE_AT, offset);
    return node_with(c, n, a->type->of, a, NULL);
}

struct node *node_index(struct compiler *c, struct node *a, struct node *b, uint32_t offset)
{
    b = node_value(c, b);
    if (node_is_wrong(a) || node_is_wrong(b)) return node_wrong(c);
    if (a->type->kind == TYPE_STRING) {
        struct node *index = node_assignable(c, b, &type_int, "an index");
        return node_helper(c, "__s_at", &type_char, a, index, offset);
    }
    if (a->type->kind != TYPE_ARRAY || !node_has_place(a)) {
        if (a->type->kind != TYPE_ARRAY && a->type->kind != TYPE_POINTER) {
            const struct symbol *root = node_root(a);
            if (!root) return operator_error(c, offset, "this is not an array");
            compiler_error(c, BASE_SYNTAX, a->offset, "'%.*s' is not an array",
                           BYTES_ARG(root->name, 40));
            return node_wrong(c);
        }
        return node_at(c, node_binary(c, '+', a, b, offset), offset);
    }
    if (b->type->kind != TYPE_NUMBER)
        return operator_error(c, b->offset, "an index is a whole number");
    if (node_is_known(b) && b->number >= a->type->count) {
        const struct symbol *root = node_root(a);
        penta_bytes name = root ? root->name : bytes_of("the array");
        compiler_error(c, CVBC_ARRAY_INDEX, b->offset, "index %d of '%.*s', which has %u",
                       (int)b->number, BYTES_ARG(name, 40), (unsigned)a->type->count);
        return node_wrong(c);
    }
    struct node *n = node_new(c, NODE_INDEX, offset);
    return node_with(c, n, a->type->of, a, b);
}

bool compiler_no_member(struct compiler *c, const struct record *r, const struct word *name)
{
    penta_error err = {.code = BASE_NAME_UNKNOWN, .offset = name->offset};
    struct suggest near = {.word = compiler_text(c, name)};
    for (size_t i = 0; i < r->count; i++) compiler_offer(c, &near, r->members[i].name);
    snprintf(err.message, sizeof err.message, "%s %.*s has no member '%.*s'",
             r->is_union ? "union" : "struct", BYTES_ARG(r->name, 30), WORD_ARG(c, name));
    if (near.best) snprintf(err.note, sizeof err.note, "did you mean '%s'?", near.best);
    compiler_report(c, &err);
    return false;
}

struct node *node_member(struct compiler *c, struct node *a, const struct word *name, bool arrow)
{
    if (arrow) a = node_at(c, a, name->offset);
    if (node_is_wrong(a)) return a;
    if (a->type->kind != TYPE_RECORD)
        return operator_error(c, name->offset,
                              arrow ? "-> wants a pointer to a struct" : "this is not a struct");
    const struct record *r = a->type->record;
    for (size_t i = 0; i < r->count; i++) {
        if (!bytes_equal(r->members[i].name, compiler_text(c, name))) continue;
        struct node *n = node_new(c, NODE_MEMBER, name->offset);
        n->number = r->members[i].word;
        return node_with(c, n, r->members[i].type, a, NULL);
    }
    compiler_no_member(c, r, name);
    return node_wrong(c);
}
