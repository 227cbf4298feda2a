/* Parses expressions by the strength of their operators and computes them at once. */
#include "text/expr.h"
#include "base/bytes.h"

enum { DEPTH = 64 };

struct expr {
    struct source *s;
    expr_name *lookup;
    void *user;
    unsigned depth;
};

static bool expr_sum(struct expr *e, unsigned least, uint64_t *value);

static bool expr_primary(struct expr *e, uint64_t *value)
{
    struct source *s = e->s;
    struct token t = source_next(s);
    if (s->err->code) return false;
    if (++e->depth > DEPTH)
        return error_at(s->err, BASE_LIMIT, t.offset, "expression nested more than %d deep", DEPTH);
    bool ok = true;
    if (t.kind == TOKEN_INT) {
        *value = t.as.u;
    } else if (t.kind == TOKEN_NAME) {
        penta_bytes name = token_text(s, t);
        if (!e->lookup || !e->lookup(e->user, name, value))
            ok = error_at(s->err, BASE_NAME_UNKNOWN, t.offset, "'%.*s' is not defined",
                          BYTES_ARG(name, 60));
    } else if (t.kind == TOKEN_PUNCT && t.as.punct == '(') {
        ok = expr_sum(e, 0, value) && source_expect(s, ')');
    } else if (t.kind == TOKEN_PUNCT && (t.as.punct == '-' || t.as.punct == '~')) {
        ok = expr_primary(e, value);
        *value = t.as.punct == '-' ? 0 - *value : ~*value;
    } else {
        ok = source_unexpected(s, t, "a number or a name");
    }
    e->depth--;
    return ok;
}

/* Returns the binding strength, 1 to 6, of the operator at the cursor, and its size in
 * characters in *size. Returns 0 when no operator is there. */
static unsigned expr_operator(const struct source *s, char *op, unsigned *size)
{
    struct token t = source_peek(s);
    *size = 1;
    if (t.kind != TOKEN_PUNCT) return 0;
    *op = t.as.punct;
    switch (t.as.punct) {
    case '|': return 1;
    case '^': return 2;
    case '&': return 3;
    case '<':
    case '>':
        *size = 2;
        return t.offset + 1 < s->text.size && s->text.data[t.offset + 1] == (uint8_t)*op ? 4 : 0;
    case '+':
    case '-': return 5;
    case '*':
    case '/':
    case '%': return 6;
    default: return 0;
    }
}

static bool expr_apply(struct source *s, char op, uint64_t *a, uint64_t b, uint64_t at)
{
    switch (op) {
    case '|': *a |= b; break;
    case '^': *a ^= b; break;
    case '&': *a &= b; break;
    case '<': *a = b < 64 ? *a << b : 0; break;
    case '>': *a = b < 64 ? *a >> b : 0; break;
    case '+': *a += b; break;
    case '-': *a -= b; break;
    case '*': *a *= b; break;
    default:
        if (!b) return error_at(s->err, BASE_NUMBER, at, "division by zero");
        *a = op == '/' ? *a / b : *a % b;
    }
    return true;
}

/* Parses an expression up to the first operator that does not bind more strongly than `least`. */
static bool expr_sum(struct expr *e, unsigned least, uint64_t *value)
{
    if (!expr_primary(e, value)) return false;
    char op = 0;
    unsigned strength, size;
    while ((strength = expr_operator(e->s, &op, &size)) > least) {
        uint64_t at = source_next(e->s).offset, right = 0;
        if (size == 2) source_next(e->s);
        if (!expr_sum(e, strength, &right) || !expr_apply(e->s, op, value, right, at)) return false;
    }
    return true;
}

bool expr_parse(struct source *s, expr_name *lookup, void *user, uint64_t *value)
{
    struct expr e = {s, lookup, user, 0};
    *value = 0;
    return expr_sum(&e, 0, value);
}

bool expr_field(struct source *s, expr_name *lookup, void *user, unsigned bits, uint64_t *value)
{
    uint64_t at = source_peek(s).offset;
    if (!expr_parse(s, lookup, user, value)) return false;
    if (bits >= 64) return true;
    uint64_t mask = (UINT64_C(1) << bits) - 1, above = *value & ~(mask >> 1);
    bool negative = above == ~(mask >> 1);
    if (*value > mask && !negative)
        return error_at(s->err, BASE_NUMBER, at, "0x%llx does not fit %u bits",
                        (unsigned long long)*value, bits);
    *value &= mask;
    return true;
}
