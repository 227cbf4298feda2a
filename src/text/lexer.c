/* Cuts a source text into tokens. A token is scanned when a caller asks for it; a token that is
 * peeked at first is scanned twice. */
#include "text/lexer.h"
#include "text/hex.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"

static bool is_name_start(int c)
{
    return isalpha(c) || c == '_' || c == '$' || c == '@' || c == '.';
}
static bool is_name_rest(int c) { return isalnum(c) || c == '_' || c == '$' || c == '.'; }

penta_bytes token_text(const struct source *s, struct token t)
{
    return bytes_slice(s->text, (size_t)t.offset, t.size);
}

bool token_is(const struct source *s, struct token t, const char *word)
{
    if (t.size != strlen(word)) return false;
    for (size_t i = 0; i < t.size; i++)
        if (tolower(s->text.data[t.offset + i]) != tolower((unsigned char)word[i])) return false;
    return true;
}

static bool lexer_fail(struct source *s, uint32_t code, size_t at, const char *what)
{
    return error_at(s->err, code, at, "%s", what);
}

static size_t skip_blank(const struct source *s, size_t pos)
{
    const uint8_t *p = s->text.data;
    size_t size = s->text.size, mark = s->comment ? strlen(s->comment) : 0;
    while (pos < size && (p[pos] == ' ' || p[pos] == '\t' || p[pos] == '\r')) pos++;
    if (mark && size - pos >= mark && !memcmp(p + pos, s->comment, mark))
        while (pos < size && p[pos] != '\n') pos++;
    return pos;
}

/* Scans a number such as 42, 0x2a, 1_000, 1.5 or 2e-3. Everything that looks like part of a
 * number belongs to it, so that "12ab" is one bad number and not a number and a name. */
static void scan_number(struct source *s, struct token *t, size_t *pos)
{
    const uint8_t *p = s->text.data;
    size_t from = *pos, end = from;
    bool hex = s->text.size - from > 1 && p[from] == '0' && tolower(p[from + 1]) == 'x';
    bool real = false;
    while (end < s->text.size) {
        int c = p[end];
        if (c == '.' || (!hex && (c == 'e' || c == 'E'))) {
            real = true;
        } else if (!(isalnum(c) || c == '_')) {
            bool sign = (c == '-' || c == '+') && !hex && tolower(p[end - 1]) == 'e';
            if (!sign) break;
        }
        end++;
    }
    t->size = (uint32_t)(end - from);
    *pos = end;
    penta_bytes text = {p + from, end - from};
    if (number_parse_bytes(text, &t->as.u)) return;
    char copy[64];
    if (real && text.size < sizeof copy) {
        bytes_copy(copy, text);
        copy[text.size] = 0;
        char *stop;
        t->as.f = strtod(copy, &stop);
        t->kind = TOKEN_FLOAT;
        if (!*stop) return;
    }
    lexer_fail(s, BASE_NUMBER, from, "malformed number, or more than 64 bits");
}

static int lexer_escape(const uint8_t *p, size_t left, size_t *used)
{
    static const char from[] = "ntr0\\\"'", to[] = "\n\t\r\0\\\"'";
    *used = 2;
    if (left < 2) return -1;
    if (p[1] == 'x') {
        *used = 4;
        int high = left > 2 ? hex_digit(p[2]) : -1, low = left > 3 ? hex_digit(p[3]) : -1;
        return high < 0 || low < 0 ? -1 : high << 4 | low;
    }
    const char *found = p[1] ? strchr(from, p[1]) : NULL;
    return found ? (unsigned char)to[found - from] : -1;
}

static void scan_quoted(struct source *s, struct token *t, size_t *pos)
{
    const uint8_t *p = s->text.data;
    size_t from = *pos, end = from + 1;
    uint8_t quote = p[from];
    while (end < s->text.size && p[end] != quote && p[end] != '\n') end += p[end] == '\\' ? 2 : 1;
    if (end >= s->text.size || p[end] != quote) {
        *pos = end < s->text.size ? end : s->text.size;
        t->size = (uint32_t)(*pos - from);
        lexer_fail(s, BASE_SYNTAX, from, "the quote is never closed");
        return;
    }
    *pos = end + 1;
    t->size = (uint32_t)(*pos - from);
    t->kind = TOKEN_STRING;
    if (quote != '\'') return;
    t->kind = TOKEN_INT;
    size_t used = 1;
    int c = p[from + 1] == '\\' ? lexer_escape(p + from + 1, end - from - 1, &used) : p[from + 1];
    t->as.u = (uint64_t)c;
    if (c < 0 || used != end - from - 1)
        lexer_fail(s, BASE_SYNTAX, from, "one character belongs between single quotes");
}

static struct token lexer_scan(struct source *s, size_t *pos)
{
    const uint8_t *p = s->text.data;
    *pos = skip_blank(s, *pos);
    struct token t = {.kind = TOKEN_END, .offset = *pos};
    if (*pos >= s->text.size) return t;
    int c = p[*pos];
    size_t from = *pos;
    if (c == '\n') {
        t.kind = TOKEN_LINE;
        ++*pos;
    } else if (isdigit(c)) {
        t.kind = TOKEN_INT;
        scan_number(s, &t, pos);
        return t;
    } else if (is_name_start(c)) {
        t.kind = c == '.' ? TOKEN_DIRECTIVE : TOKEN_NAME;
        do ++*pos;
        while (*pos < s->text.size && is_name_rest(p[*pos]));
    } else if (c == '"' || c == '\'') {
        scan_quoted(s, &t, pos);
        return t;
    } else {
        t.kind = TOKEN_PUNCT;
        t.as.punct = (char)c;
        ++*pos;
        if (c < 0x20 || c >= 0x7f)
            error_at(s->err, BASE_SYNTAX, from, "unexpected byte 0x%02x", (unsigned)c);
    }
    t.size = (uint32_t)(*pos - from);
    return t;
}

struct token source_next(struct source *s) { return lexer_scan(s, &s->pos); }

struct token source_peek(const struct source *s)
{
    penta_error ignored = {0};
    struct source copy = *s;
    copy.err = &ignored;
    return lexer_scan(&copy, &copy.pos);
}

bool source_unexpected(struct source *s, struct token found, const char *what)
{
    if (found.kind == TOKEN_END || found.kind == TOKEN_LINE)
        return error_at(s->err, BASE_SYNTAX, found.offset, "expected %s, found the end of the %s",
                        what, found.kind == TOKEN_END ? "text" : "line");
    penta_bytes text = token_text(s, found);
    return error_at(s->err, BASE_SYNTAX, found.offset, "expected %s, found '%.*s'", what,
                    BYTES_ARG(text, 40));
}

bool source_accept(struct source *s, char punct)
{
    struct token t = source_peek(s);
    if (t.kind != TOKEN_PUNCT || t.as.punct != punct) return false;
    source_next(s);
    return true;
}

bool source_expect(struct source *s, char punct)
{
    if (source_accept(s, punct)) return true;
    char what[] = {'\'', punct, '\'', 0};
    return source_unexpected(s, source_peek(s), what);
}

bool source_end_of_line(struct source *s)
{
    struct token t = source_peek(s);
    if (t.kind == TOKEN_LINE || t.kind == TOKEN_END) {
        source_next(s);
        return true;
    }
    return source_unexpected(s, t, "the end of the line");
}

bool source_hex(struct source *s, struct writer *out)
{
    const uint8_t *p = s->text.data;
    size_t from = s->pos, end = from, bad = 0, mark = s->comment ? strlen(s->comment) : 0;
    while (end < s->text.size && p[end] != '\n' &&
           !(mark && s->text.size - end >= mark && !memcmp(p + end, s->comment, mark)))
        end++;
    bool limit = false;
    if (!hex_read(bytes_slice(s->text, from, end - from), out, &s->runs, &bad, &limit))
        return limit ? lexer_fail(s, BASE_LIMIT, from + bad, "more than 256 MiB of repeated bytes")
                     : lexer_fail(s, BASE_SYNTAX, from, "expected pairs of hex digits");
    s->pos = end;
    return writer_ok(out, s->err);
}

void source_skip_line(struct source *s)
{
    /* The line of the error has ended already. */
    if (s->pos && s->text.data[s->pos - 1] == '\n') return;
    while (s->pos < s->text.size && s->text.data[s->pos] != '\n') s->pos++;
    if (s->pos < s->text.size) s->pos++;
}

bool token_string(struct source *s, struct token t, struct arena *arena, penta_bytes *out)
{
    if (t.kind != TOKEN_STRING) return source_unexpected(s, t, "a string in double quotes");
    uint8_t *to = arena_alloc(arena, t.size, 1, s->err);
    if (!to) return false;
    const uint8_t *p = s->text.data + t.offset + 1;
    size_t left = t.size - 2, n = 0;
    while (left) {
        size_t used = 1;
        int c = *p == '\\' ? lexer_escape(p, left, &used) : *p;
        if (c < 0)
            return error_at(s->err, BASE_SYNTAX, (uint64_t)(p - s->text.data),
                            "unknown escape; use \\n \\t \\r \\0 \\\\ \\\" or \\xNN");
        to[n++] = (uint8_t)c;
        p += used;
        left -= used;
    }
    *out = (penta_bytes){to, n};
    return true;
}

struct place source_place(penta_bytes text, uint64_t offset)
{
    struct place place = {.line = 1, .column = 1};
    size_t at = offset < text.size ? (size_t)offset : text.size, start = 0;
    for (size_t i = 0; i < at; i++)
        if (text.data[i] == '\n') {
            place.line++;
            start = i + 1;
        }
    size_t end = start;
    while (end < text.size && text.data[end] != '\n') end++;
    place.column = at - start + 1;
    place.text = bytes_slice(text, start, end - start);
    return place;
}
