/* Computes the expression of an #if in one pass. A macro is looked up and computed where its
 * name stands. */
#include "cvbc/compile/text/condition.h"

enum {
    DEPTH_MAX = 64,
    MACROS_MAX = 10000
}; /* largest depth of nested parentheses, signs and macros; largest number of computed macros */

struct condition {
    const struct words *in;
    size_t at, end;
    condition_find *find;
    void *user;
    unsigned depth, *macros; /* macros: number of macros that were computed in all conditions */
    const struct word *wrong;
};

static int64_t condition_binary(struct condition *c, unsigned level);

static bool is_sign(const struct condition *c, uint32_t sign)
{
    const struct word *w = &c->in->at[c->at];
    return c->at < c->end && w->kind == WORD_SIGN && w->value == sign;
}

/* Records an error, unless there was one before. Evaluation continues with 0. */
static int64_t condition_fail(struct condition *c)
{
    size_t at = c->at < c->end ? c->at : c->end - 1;
    if (!c->wrong) c->wrong = &c->in->at[at];
    c->at = c->end;
    return 0;
}

/* Computes defined NAME and defined(NAME). */
static int64_t is_defined(struct condition *c)
{
    struct condition_macro ignored;
    bool open = is_sign(c, SIGN1('('));
    c->at += open;
    if (c->at >= c->end || c->in->at[c->at].kind != WORD_NAME) return condition_fail(c);
    bool there = c->find(c->user, &c->in->at[c->at++], &ignored);
    if (open && !is_sign(c, SIGN1(')'))) return condition_fail(c);
    c->at += open;
    return there;
}

/* Returns the value of a macro's words. A name that is no macro has the value 0, as in C. */
static int64_t condition_macro_value(struct condition *c, const struct word *name)
{
    struct condition_macro m;
    if (!c->find(c->user, name, &m) || m.from == m.to) return 0;
    if (++*c->macros > MACROS_MAX) return condition_fail(c);
    struct condition inside = *c;
    inside.at = m.from;
    inside.end = m.to;
    int64_t value = condition_binary(&inside, 0);
    if (!inside.wrong && inside.at == inside.end) return value;
    c->at--;
    return condition_fail(c);
}

static int64_t condition_primary(struct condition *c)
{
    if (c->at >= c->end) return condition_fail(c);
    const struct word *w = &c->in->at[c->at++];
    if (w->kind == WORD_NUMBER) return w->is_unsigned ? (int64_t)w->value : (int32_t)w->value;
    if (word_is(c->in, w, "defined")) return is_defined(c);
    if (w->kind == WORD_NAME) return condition_macro_value(c, w);
    if (w->kind == WORD_SIGN && w->value == SIGN1('(')) {
        int64_t value = condition_binary(c, 0);
        if (!is_sign(c, SIGN1(')'))) return condition_fail(c);
        c->at++;
        return value;
    }
    c->at--;
    return condition_fail(c);
}

static int64_t condition_unary(struct condition *c)
{
    static const char signs[] = "!-~+";
    if (c->depth == DEPTH_MAX) return condition_fail(c);
    c->depth++;
    int64_t value = 0;
    for (int i = 0; i < 5; i++) {
        if (i == 4) {
            value = condition_primary(c);
        } else if (is_sign(c, SIGN1(signs[i]))) {
            c->at++;
            value = condition_unary(c);
            value = i == 0   ? !value
                    : i == 1 ? (int64_t)(0 - (uint64_t)value)
                    : i == 2 ? ~value
                             : value;
            break;
        }
    }
    c->depth--;
    return value;
}

/* These are the operators by level, the one with the lowest precedence first. */
static const struct {
    uint32_t sign;
    unsigned level;
} operators[] = {
    {SIGN2('|', '|'), 0}, {SIGN2('&', '&'), 1}, {SIGN1('|'), 2},      {SIGN1('^'), 3},
    {SIGN1('&'), 4},      {SIGN2('=', '='), 5}, {SIGN2('!', '='), 5}, {SIGN1('<'), 6},
    {SIGN1('>'), 6},      {SIGN2('<', '='), 6}, {SIGN2('>', '='), 6}, {SIGN2('<', '<'), 7},
    {SIGN2('>', '>'), 7}, {SIGN1('+'), 8},      {SIGN1('-'), 8},      {SIGN1('*'), 9},
    {SIGN1('/'), 9},      {SIGN1('%'), 9},
};
enum { LEVELS = 10 };

static int64_t condition_apply(struct condition *c, uint32_t sign, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool divides = sign == SIGN1('/') || sign == SIGN1('%');
    if (divides && !b) return condition_fail(c);
    if (divides && b == -1) return sign == SIGN1('/') ? (int64_t)(0 - x) : 0;
    switch (sign) {
    case SIGN2('|', '|'): return a || b;
    case SIGN2('&', '&'): return a && b;
    case SIGN1('|'): return a | b;
    case SIGN1('^'): return a ^ b;
    case SIGN1('&'): return a & b;
    case SIGN2('=', '='): return a == b;
    case SIGN2('!', '='): return a != b;
    case SIGN1('<'): return a < b;
    case SIGN1('>'): return a > b;
    case SIGN2('<', '='): return a <= b;
    case SIGN2('>', '='): return a >= b;
    case SIGN2('<', '<'): return y < 64 ? (int64_t)(x << y) : 0;
    case SIGN2('>', '>'): return y < 64 ? a >> y : 0;
    case SIGN1('+'): return (int64_t)(x + y);
    case SIGN1('-'): return (int64_t)(x - y);
    case SIGN1('*'): return (int64_t)(x * y);
    case SIGN1('/'): return a / b;
    default: return a % b;
    }
}

static int64_t condition_binary(struct condition *c, unsigned level)
{
    if (level == LEVELS) return condition_unary(c);
    int64_t value = condition_binary(c, level + 1);
    for (;;) {
        uint32_t sign = 0;
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
            if (operators[i].level == level && is_sign(c, operators[i].sign))
                sign = operators[i].sign;
        if (!sign) return value;
        c->at++;
        int64_t right = condition_binary(c, level + 1);
        if (!c->wrong) value = condition_apply(c, sign, value, right);
    }
}

bool condition_truth(const struct words *in, size_t at, size_t end, condition_find *find,
                     void *user, const struct word **wrong)
{
    unsigned macros = 0;
    struct condition c = {
        .in = in, .at = at, .end = end, .find = find, .user = user, .macros = &macros};
    *wrong = NULL;
    if (at == end) {
        *wrong = &in->at[end - 1];
        return false;
    }
    int64_t value = condition_binary(&c, 0);
    if (!c.wrong && c.at < end) c.wrong = &in->at[c.at];
    *wrong = c.wrong;
    return !c.wrong && value;
}
