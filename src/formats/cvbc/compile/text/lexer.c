/* Splits a sketch into words in one pass over the text. */
#include "cvbc/compile/text/lexer.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/long_work.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "cvbc/compile/tree/real.h"

struct scanner {
    penta_bytes text;
    size_t pos;
    uint32_t line;
    bool first; /* true while no word of the current line was read */
    uint32_t origin;
    penta_error *err;
};

static int sketch_lexer_peek(const struct scanner *s, size_t ahead)
{
    return s->pos + ahead < s->text.size ? s->text.data[s->pos + ahead] : -1;
}

static bool skip_blank(struct scanner *s)
{
    for (;;) {
        int c = sketch_lexer_peek(s, 0);
        if (c == '\n') {
            s->line++;
            s->first = true;
        }
        if (c >= 0 && isspace(c)) {
            s->pos++;
        } else if (c == '\\' &&
                   (sketch_lexer_peek(s, 1) == '\n' ||
                    (sketch_lexer_peek(s, 1) == '\r' && sketch_lexer_peek(s, 2) == '\n'))) {
            /* The line continues on the next one. */
            s->pos += sketch_lexer_peek(s, 1) == '\n' ? 2 : 3;
            s->line++;
        } else if (c == '/' && sketch_lexer_peek(s, 1) == '/') {
            while (sketch_lexer_peek(s, 0) >= 0 && sketch_lexer_peek(s, 0) != '\n') s->pos++;
        } else if (c == '/' && sketch_lexer_peek(s, 1) == '*') {
            size_t from = s->pos;
            for (s->pos += 2; !(sketch_lexer_peek(s, 0) == '*' && sketch_lexer_peek(s, 1) == '/');
                 s->pos++) {
                if (sketch_lexer_peek(s, 0) < 0) /* This is the end of the text. */
                    return error_at(s->err, BASE_SYNTAX, from, "a comment without an end");
                if (sketch_lexer_peek(s, 0) == '\n') s->line++;
            }
            s->pos += 2;
        } else {
            return true;
        }
    }
}

/* Reads an escape at p, after the backslash: a letter, up to three octal digits, or x and
 * hexadecimal digits. Returns the character or -1. *used becomes the number of bytes read. */
static int sketch_lexer_escape(const uint8_t *p, size_t left, size_t *used)
{
    static const char from[] = "abefnrtv\\\"'?", to[] = "\a\b\33\f\n\r\t\v\\\"'?";
    int value = 0;
    *used = 1;
    if (!left) return -1;
    if (p[0] == 'x') {
        for (; *used < left && hex_digit(p[*used]) >= 0; ++*used)
            if ((value = value * 16 + hex_digit(p[*used])) > 255) return -1;
        return *used > 1 ? value : -1;
    }
    if (p[0] >= '0' && p[0] <= '7') {
        for (*used = 0; *used < left && *used < 3 && p[*used] >= '0' && p[*used] <= '7'; ++*used)
            value = value * 8 + (p[*used] - '0');
        return value <= 255 ? value : -1;
    }
    const char *known = p[0] ? strchr(from, p[0]) : NULL;
    return known ? to[known - from] : -1;
}

static bool scan_character(struct scanner *s, struct word *w)
{
    size_t at = s->pos + 1, used = 1;
    int c = at < s->text.size ? s->text.data[at] : -1;
    if (c == '\\') {
        c = sketch_lexer_escape(s->text.data + at + 1, s->text.size - at - 1, &used);
        used++;
    } else if (c == '\n' || c == '\'') {
        c = -1; /* The character is not closed, or empty. */
    }
    if (c < 0 || at + used >= s->text.size || s->text.data[at + used] != '\'')
        return error_at(s->err, BASE_SYNTAX, s->pos, "a malformed character");
    w->kind = WORD_NUMBER;
    w->is_char = true;
    w->value = (uint32_t)c & 255;
    s->pos = at + used + 1;
    return true;
}

/* Reads an octal number such as 017, as C does. */
static bool parse_octal(penta_bytes digits, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '7' || *value > UINT32_MAX) return false;
        *value = *value * 8 + (digits.data[i] - '0');
    }
    return true;
}

/* Reads a number such as 1.5, 2e-3 or .5f. Numbers with a fraction are floats. */
static bool scan_real(struct scanner *s, penta_bytes digits, struct word *w)
{
    char text[64], *end;
    size_t size = digits.size;
    if (size > 1 && (digits.data[size - 1] | 32) == 'f') size--;
    if (size >= sizeof text)
        return error_at(s->err, BASE_NUMBER, w->offset, "a number of more than 63 characters");
    memcpy(text, digits.data, size);
    text[size] = 0;
    float value = strtof(text, &end);
    if (end == text || *end) return error_at(s->err, BASE_NUMBER, w->offset, "not a number");
    w->kind = WORD_REAL;
    w->value = real_bits(value);
    return true;
}

static bool scan_number(struct scanner *s, struct word *w)
{
    size_t from = s->pos;
    uint64_t value = 0;
    bool hex = sketch_lexer_peek(s, 0) == '0' && (sketch_lexer_peek(s, 1) | 32) == 'x';
    for (int c; (c = sketch_lexer_peek(s, 0)) >= 0; s->pos++) {
        bool exponent = (c == '+' || c == '-') && !hex && (s->text.data[s->pos - 1] | 32) == 'e';
        if (!isalnum(c) && c != '.' && c != '_' && !(s->pos > from && exponent)) break;
    }
    size_t end = s->pos;
    for (; end - from > 1 && strchr("uUlL", s->text.data[end - 1]); end--)
        w->is_unsigned |= (s->text.data[end - 1] | 32) == 'u';
    penta_bytes digits = bytes_slice(s->text, from, end - from);
    bool binary = digits.size > 1 && (digits.data[1] | 32) == 'b';
    for (size_t i = 0; !hex && !binary && i < digits.size; i++)
        if (digits.data[i] == '.' || (digits.data[i] | 32) == 'e') return scan_real(s, digits, w);
    bool octal = digits.size > 1 && digits.data[0] == '0' && isdigit(digits.data[1]);
    bool good = octal ? parse_octal(digits, &value) : number_parse_bytes(digits, &value);
    if (!good || value > UINT32_MAX)
        return error_at(s->err, BASE_NUMBER, from, "not a number of at most 32 bits");
    w->kind = WORD_NUMBER;
    w->value = (uint32_t)value;
    w->is_unsigned |= value > INT32_MAX;
    return true;
}

static bool scan_string(struct scanner *s, struct word *w)
{
    size_t from = s->pos++;
    while (sketch_lexer_peek(s, 0) != '"') {
        if (sketch_lexer_peek(s, 0) < 0 || sketch_lexer_peek(s, 0) == '\n')
            return error_at(s->err, BASE_SYNTAX, from, "a string without an end");
        s->pos += sketch_lexer_peek(s, 0) == '\\' && sketch_lexer_peek(s, 1) >= 0 &&
                          sketch_lexer_peek(s, 1) != '\n'
                      ? 2
                      : 1;
    }
    s->pos++;
    w->kind = WORD_STRING;
    return true;
}

static bool scan_sign(struct scanner *s, struct word *w)
{
    static const char *const signs[] = {"<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||",
                                        "<<",  ">>",  "+=", "-=", "*=", "/=", "%=", "&=",
                                        "|=",  "^=",  "++", "--", "->", "##"};
    int c = sketch_lexer_peek(s, 0), next = sketch_lexer_peek(s, 1);
    /* All signs of two characters have one of these second characters. */
    bool longer = next == '=' || next == c || (c == '-' && next == '>');
    w->kind = WORD_SIGN;
    for (size_t i = 0; longer && i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i]);
        if (s->text.size - s->pos < n || memcmp(s->text.data + s->pos, signs[i], n)) continue;
        for (size_t k = 0; k < n; k++) w->value |= SIGN1(signs[i][k]) << 8 * k;
        s->pos += n;
        return true;
    }
    if (!strchr("+-*/%&|^~!<>=?:;,.(){}[]#", c))
        return error_at(s->err, BASE_SYNTAX, s->pos,
                        "a character that is not part of the language");
    w->value = SIGN1(c);
    s->pos++;
    return true;
}

static bool sketch_lexer_scan(struct scanner *s, struct word *w)
{
    *w = (struct word){.offset = (uint32_t)s->pos};
    if (!skip_blank(s)) return false;
    *w = (struct word){.offset = (uint32_t)s->pos, .line = s->line, .first = s->first};
    s->first = false;
    int c = sketch_lexer_peek(s, 0);
    bool ok = true;
    if (c < 0) {
        return true;
    } else if (isalpha(c) || c == '_') {
        while (sketch_lexer_peek(s, 0) >= 0 &&
               (isalnum(sketch_lexer_peek(s, 0)) || sketch_lexer_peek(s, 0) == '_'))
            s->pos++;
        w->kind = WORD_NAME;
    } else if (isdigit(c) || (c == '.' && isdigit(sketch_lexer_peek(s, 1)))) {
        ok = scan_number(s, w);
    } else if (c == '"') {
        ok = scan_string(s, w);
    } else if (c == '\'') {
        ok = scan_character(s, w);
    } else {
        ok = c != 0 && scan_sign(s, w);
        if (!c) error_at(s->err, BASE_SYNTAX, s->pos, "a NUL in the text");
    }
    w->size = (uint32_t)(s->pos - w->offset);
    return ok;
}

/* Reports a malformed token and continues after its first character. */
static bool sketch_lexer_told(struct scanner *s, const struct word *w, struct findings *f)
{
    if (s->err->code == BASE_MEMORY) return false;
    s->err->offset += s->origin;
    findings_pass(f, s->err);
    *s->err = (penta_error){0};
    if (s->pos <= w->offset) s->pos = w->offset + 1;
    return true;
}

bool words_scan(penta_bytes text, uint32_t origin, struct words *out, struct findings *f,
                penta_error *err)
{
    enum { BAD_MAX = 20 };
    struct scanner s = {.text = text, .line = 1, .first = true, .err = err, .origin = origin};
    unsigned bad = 0;
    size_t capacity = 0;
    *out = (struct words){.text = text};
    if (text.size >= UINT32_MAX) return error_at(err, BASE_LIMIT, 0, "a source of 4 GiB or more");
    do {
        if (!ARRAY_GROW(out->at, capacity, out->count, err) || long_work_over(f->work, 1))
            return false;
        while (!sketch_lexer_scan(&s, &out->at[out->count]))
            if (!sketch_lexer_told(&s, &out->at[out->count], f) || ++bad == BAD_MAX) return false;
    } while (out->at[out->count++].kind != WORD_END);
    for (size_t i = 0; i < out->count; i++) out->at[i].offset += origin;
    out->lines = s.line;
    return true;
}

bool word_string(const struct words *w, const struct word *word, struct arena *arena,
                 penta_bytes *out, penta_error *err)
{
    const uint8_t *p = w->text.data + word->offset + 1;
    size_t size = word->size - 2, n = 0;
    uint8_t *copy = arena_alloc(arena, size + 1, 1, err);
    if (!copy) return false;
    for (size_t i = 0; i < size; i++) {
        int c = p[i];
        size_t used = 0;
        if (c == '\\') c = sketch_lexer_escape(p + i + 1, size - i - 1, &used);
        if (c < 0) return error_at(err, BASE_SYNTAX, word->offset + 1 + i, "not an escape of C");
        copy[n++] = (uint8_t)c;
        i += used;
    }
    *out = (penta_bytes){copy, n};
    return true;
}
