/* Parses and computes a debugger's expressions in one pass, level of operators by level. Names and memory come from
 * the functions that the caller gives. */
#include "core/debug/expression.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "core/debug/debug_info.h"

/* the deepest nesting of parentheses; the levels of operators */
enum { DEPTH_MAX = 64, LEVELS = 10 };

struct parse {
    const char *start, *at;
    const struct expression_scope *scope;
    penta_error *err;
    unsigned depth;
    bool unread; /* Set in the right side of a decided && or ||, where names must exist but memory
                 * need not. */
};

static bool expression_fail(struct parse *p, const char *what)
{
    uint64_t at = (uint64_t)(p->at - p->start);
    if (!*p->at) return error_at(p->err, BASE_SYNTAX, at, "%s at the end", what);
    return error_at(p->err, BASE_SYNTAX, at, "%s at '%.30s'", what, p->at);
}

static void expression_space(struct parse *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool expression_accept(struct parse *p, const char *word)
{
    expression_space(p);
    size_t n = strlen(word);
    if (strncmp(p->at, word, n)) return false;
    p->at += n;
    return true;
}

static bool expression_binary(struct parse *p, unsigned level, penta_value *v);

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

static penta_bytes expression_span(const char *from, const char *to)
{
    return (penta_bytes){(const uint8_t *)from, (size_t)(to - from)};
}

static bool expression_number(struct parse *p, penta_value *v)
{
    const char *from = p->at;
    bool hex = from[0] == '0' && (from[1] == 'x' || from[1] == 'X');
    while (isalnum((unsigned char)*p->at) || *p->at == '_') p->at++;
    if (!hex && *p->at == '.' && isdigit((unsigned char)p->at[1])) {
        char *end;
        *v = (penta_value){.kind = PENTA_FLOAT, .as.f = strtod(from, &end)};
        p->at = end;
        return true;
    }
    *v = (penta_value){.kind = hex ? PENTA_WORD : PENTA_UINT};
    if (number_parse_bytes(expression_span(from, p->at), &v->as.u)) return true;
    p->at = from;
    return expression_fail(p, "no number");
}

/* Reads a type such as u8, i16 or f64. Returns its bytes, or 0 when the word is no type. */
static unsigned memory_type(penta_bytes word, char *type)
{
    uint64_t bits = 0;
    if (word.size < 2 || !strchr("uif", word.data[0])) return 0;
    *type = (char)word.data[0];
    if (!number_parse_bytes(bytes_slice(word, 1, word.size), &bits)) return 0;
    bool known = bits == 32 || bits == 64 || ((bits == 8 || bits == 16) && *type != 'f');
    return known ? (unsigned)bits / 8 : 0;
}

static bool read_memory(struct parse *p, const struct expression_memory *m, penta_value *v)
{
    uint8_t bytes[8];
    if (p->unread) return true;
    if (!p->scope->peek(p->scope->user, m->address, bytes, m->bytes))
        return error_at(p->err, BASE_RANGE, (uint64_t)(p->at - p->start),
                        "no %u bytes of memory are at 0x%llx", m->bytes,
                        (unsigned long long)m->address);
    uint64_t raw = bytes_uint(bytes, m->bytes, p->scope->big_endian);
    unsigned unused = 64 - 8 * m->bytes;
    *v = (penta_value){.kind = PENTA_WORD, .as.u = raw};
    if (m->type == 'i')
        *v = (penta_value){.kind = PENTA_SINT, .as.i = (int64_t)(raw << unused) >> unused};
    if (m->type == 'f') {
        float single;
        uint32_t half = (uint32_t)raw;
        memcpy(&single, &half, sizeof single);
        v->kind = PENTA_FLOAT;
        if (m->bytes == 4) v->as.f = (double)single;
    }
    return true;
}

/* Parses what follows the type in u32[E]. */
static bool expression_cell(struct parse *p, struct expression_memory *m)
{
    penta_value address = {0};
    if (!expression_accept(p, "[")) return expression_fail(p, "[ is missing");
    if (!expression_binary(p, 0, &address)) return false;
    if (!expression_accept(p, "]")) return expression_fail(p, "] is missing");
    m->address = value_integer(&address);
    return true;
}

static bool expression_path(struct parse *p, penta_value *v)
{
    const char *from = p->at;
    while (is_name(*p->at) || strchr("/[]%-", *p->at)) {
        if (!*p->at) break;
        p->at++;
    }
    penta_bytes name = expression_span(from, p->at);
    if (p->scope->path(p->scope->user, name, v, p->err)) return true;
    return error_at(p->err, BASE_NAME_UNKNOWN, (uint64_t)(from - p->start),
                    "no number is at %.*s of the machine", BYTES_ARG(name, 60));
}

static bool expression_name(struct parse *p, penta_value *v)
{
    const char *from = p->at;
    penta_bytes word;
    struct expression_memory m = {0};
    if (*from == '\'') {
        const char *end = strchr(from + 1, '\'');
        if (!end) return expression_fail(p, "the quote does not end");
        word = expression_span(from + 1, end);
        p->at = end + 1;
    } else {
        if (*p->at == '%' || *p->at == '$') p->at++;
        while (is_name(*p->at) || (p->at[0] == ':' && p->at[1] == ':'))
            p->at += *p->at == ':' ? 2 : 1;
        word = expression_span(from + (*from == '$'), p->at);
        expression_space(p);
        m.bytes = *p->at == '[' ? memory_type(word, &m.type) : 0;
        if (m.bytes) return expression_cell(p, &m) && read_memory(p, &m, v);
    }
    if (!word.size) return expression_fail(p, "a value is missing");
    if (p->scope->name(p->scope->user, word, v, p->err)) return true;
    return error_at(p->err, BASE_NAME_UNKNOWN, (uint64_t)(from - p->start),
                    "no register, variable or symbol is called '%.*s'", BYTES_ARG(word, 40));
}

static bool expression_operand(struct parse *p, penta_value *v)
{
    expression_space(p);
    if (p->depth > DEPTH_MAX * LEVELS) return expression_fail(p, "nested too deeply");
    if (isdigit((unsigned char)*p->at)) return expression_number(p, v);
    if (*p->at == '/') return expression_path(p, v);
    if (expression_accept(p, "("))
        return expression_binary(p, 0, v) &&
               (expression_accept(p, ")") || expression_fail(p, ") is missing"));
    char sign = *p->at;
    if (sign != '-' && sign != '~' && sign != '!' && sign != '+') return expression_name(p, v);
    p->at++;
    p->depth++;
    if (!expression_operand(p, v)) return false;
    p->depth--;
    if (sign == '!') {
        *v = (penta_value){.kind = PENTA_BOOL, .as.u = !penta_value_is_true(v)};
    } else if (sign == '-' && v->kind == PENTA_FLOAT) {
        v->as.f = -v->as.f;
    } else if (sign == '-') {
        *v = (penta_value){.kind = PENTA_SINT, .as.u = 0 - v->as.u};
    } else if (sign == '~') {
        *v = (penta_value){.kind = PENTA_WORD, .as.u = ~value_integer(v)};
    }
    return true;
}

enum operation {
    OR,
    AND,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    EQUAL,
    UNEQUAL,
    AT_MOST,
    AT_LEAST,
    LEFT,
    RIGHT,
    LESS,
    MORE,
    PLUS,
    MINUS,
    TIMES,
    OVER,
    REST
};
/* Longer operators are first, so that << is not read as <. */
static const struct {
    const char *word;
    unsigned level;
    enum operation does;
} operators[] = {
    {"||", 0, OR},       {"&&", 1, AND},  {"==", 5, EQUAL}, {"!=", 5, UNEQUAL}, {"<=", 6, AT_MOST},
    {">=", 6, AT_LEAST}, {"<<", 7, LEFT}, {">>", 7, RIGHT}, {"|", 2, BIT_OR},   {"^", 3, BIT_XOR},
    {"&", 4, BIT_AND},   {"<", 6, LESS},  {">", 6, MORE},   {"+", 8, PLUS},     {"-", 8, MINUS},
    {"*", 9, TIMES},     {"/", 9, OVER},  {"%", 9, REST},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static bool expression_reals(struct parse *p, enum operation does, const penta_value *right,
                             penta_value *v)
{
    double a = value_real(v), b = value_real(right);
    penta_value truth = {.kind = PENTA_BOOL}, real = {.kind = PENTA_FLOAT};
    switch (does) {
    case EQUAL: truth.as.u = a == b; break;
    case UNEQUAL: truth.as.u = a != b; break;
    case LESS: truth.as.u = a < b; break;
    case MORE: truth.as.u = a > b; break;
    case AT_MOST: truth.as.u = a <= b; break;
    case AT_LEAST: truth.as.u = a >= b; break;
    case PLUS: real.as.f = a + b; break;
    case MINUS: real.as.f = a - b; break;
    case TIMES: real.as.f = a * b; break;
    case OVER: real.as.f = a / b; break;
    default: return expression_fail(p, "the operator takes integers");
    }
    *v = does <= MORE ? truth : real;
    return true;
}

/* Returns the kind of a result. It is a word when an operand is one, so that sums of addresses
 * print as addresses. */
static penta_kind kind_of(const penta_value *a, const penta_value *b)
{
    if (a->kind == PENTA_SINT || b->kind == PENTA_SINT) return PENTA_SINT;
    return a->kind == PENTA_WORD || b->kind == PENTA_WORD ? PENTA_WORD : PENTA_UINT;
}

static bool expression_divide(struct parse *p, enum operation does, bool is_signed, uint64_t b,
                              penta_value *v)
{
    if (!b)
        return p->unread ||
               error_at(p->err, BASE_SYNTAX, (uint64_t)(p->at - p->start), "a division by zero");
    if (is_signed && (int64_t)b == -1)
        v->as.u = does == OVER ? 0 - v->as.u : 0;
    else if (is_signed)
        v->as.i = does == OVER ? v->as.i / (int64_t)b : v->as.i % (int64_t)b;
    else
        v->as.u = does == OVER ? v->as.u / b : v->as.u % b;
    return true;
}

static bool expression_apply(struct parse *p, enum operation does, const penta_value *right,
                             penta_value *v)
{
    if (v->kind == PENTA_FLOAT || right->kind == PENTA_FLOAT)
        return expression_reals(p, does, right, v);
    penta_kind kind = kind_of(v, right);
    bool s = kind == PENTA_SINT;
    uint64_t a = v->as.u, b = right->as.u;
    int64_t x = v->as.i, y = right->as.i;
    penta_value truth = {.kind = PENTA_BOOL};
    switch (does) {
    case BIT_OR: v->as.u = a | b; break;
    case BIT_XOR: v->as.u = a ^ b; break;
    case BIT_AND: v->as.u = a & b; break;
    case LEFT: v->as.u = b < 64 ? a << b : 0; break;
    case RIGHT:
        if (v->kind == PENTA_SINT)
            v->as.i = x >> (b < 63 ? b : 63);
        else
            v->as.u = b < 64 ? a >> b : 0;
        break;
    case PLUS: v->as.u = a + b; break;
    case MINUS: v->as.u = a - b; break;
    case TIMES: v->as.u = a * b; break;
    case OVER:
    case REST:
        if (!expression_divide(p, does, s, b, v)) return false;
        break;
    case EQUAL: truth.as.u = a == b; break;
    case UNEQUAL: truth.as.u = a != b; break;
    case LESS: truth.as.u = s ? x < y : a < b; break;
    case MORE: truth.as.u = s ? x > y : a > b; break;
    case AT_MOST: truth.as.u = s ? x <= y : a <= b; break;
    default: truth.as.u = s ? x >= y : a >= b; break;
    }
    bool compares = does >= EQUAL && does <= AT_LEAST;
    if (compares || does == LESS || does == MORE)
        *v = truth;
    else
        v->kind = kind;
    return true;
}

static const char *operator_here(struct parse *p, unsigned level, enum operation *does)
{
    expression_space(p);
    for (size_t i = 0; i < OPERATORS; i++) {
        if (strncmp(p->at, operators[i].word, strlen(operators[i].word))) continue;
        *does = operators[i].does;
        return operators[i].level == level ? operators[i].word : NULL;
    }
    return NULL;
}

static bool expression_binary(struct parse *p, unsigned level, penta_value *v)
{
    enum operation does;
    const char *word;
    if (level == LEVELS) return expression_operand(p, v);
    if (++p->depth > DEPTH_MAX * LEVELS) return expression_fail(p, "nested too deeply");
    if (!expression_binary(p, level + 1, v)) return false;
    while ((word = operator_here(p, level, &does))) {
        penta_value right = {0};
        bool logical = does <= AND, before = p->unread, left = penta_value_is_true(v);
        p->at += strlen(word);
        if (logical && left == (does == OR)) p->unread = true;
        if (!expression_binary(p, level + 1, &right)) return false;
        p->unread = before;
        if (!logical && !expression_apply(p, does, &right, v)) return false;
        if (!logical) continue;
        bool both =
            does == OR ? left || penta_value_is_true(&right) : left && penta_value_is_true(&right);
        *v = (penta_value){.kind = PENTA_BOOL, .as.u = both};
    }
    p->depth--;
    return true;
}

bool expression_eval(const char *text, const struct expression_scope *scope, penta_value *value,
                     penta_error *err)
{
    struct parse p = {.start = text, .at = text, .scope = scope, .err = err};
    *value = (penta_value){0};
    if (!expression_binary(&p, 0, value)) return false;
    expression_space(&p);
    return !*p.at || expression_fail(&p, "the expression should end here");
}

bool expression_is_memory(const char *text, const struct expression_scope *scope,
                          struct expression_memory *m)
{
    penta_error err = {0};
    struct parse p = {.start = text, .at = text, .scope = scope, .err = &err};
    expression_space(&p);
    const char *from = p.at;
    while (is_name(*p.at)) p.at++;
    m->bytes = memory_type(expression_span(from, p.at), &m->type);
    if (!m->bytes || !expression_cell(&p, m)) return false;
    expression_space(&p);
    return !*p.at;
}

bool penta_value_is_true(const penta_value *value)
{
    return value->kind == PENTA_FLOAT ? value->as.f != 0 : value->as.u != 0;
}
