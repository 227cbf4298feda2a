/* Colours a listing line by line, from the forms of its words and the format's names of registers. */
#include "cli/terminal/highlight.h"
#include <ctype.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"

struct line {
    struct writer *out;
    const struct palette *p;
    const char *format, *comment;
    penta_bytes rest;
    bool named; /* The mnemonic or directive of this line has been seen. */
};

/* Writes the next n bytes in this style. */
static void highlight_styled(struct line *l, const char *style, size_t n)
{
    if (style) writer_text(l->out, style);
    writer_bytes(l->out, l->rest.data, n);
    if (style) writer_text(l->out, l->p->off);
    l->rest = bytes_slice(l->rest, n, l->rest.size);
}

static bool is_word(uint8_t c) { return isalnum(c) || c == '_' || c == '.' || c >= 0x80; }

static size_t word_size(penta_bytes text, size_t from)
{
    while (from < text.size && is_word(text.data[from])) from++;
    return from;
}

static size_t string_size(penta_bytes text) /* the size with both quotes */
{
    size_t n = 1;
    while (n < text.size && text.data[n] != text.data[0]) n += text.data[n] == '\\' ? 2 : 1;
    return n < text.size ? n + 1 : text.size;
}

/* Recognises a line of a drawing, or U+2191 or U+2193, which all have three bytes. */
static bool is_drawing(penta_bytes text, size_t n)
{
    return text.size - n >= 3 && text.data[n] == 0xe2 &&
           (text.data[n + 1] == 0x94 || text.data[n + 1] == 0x95 || text.data[n + 1] == 0x86);
}

/* Returns the size of the text before an instruction: numbers, a colon, the debugger's mark,
 * arrows. */
static size_t place_size(penta_bytes text)
{
    size_t n = 0;
    while (n < text.size) {
        if (strchr("0123456789 :>|,'+-*^", text.data[n]))
            n++;
        else if (is_drawing(text, n))
            n += 3;
        else
            break;
    }
    while (n && text.data[n - 1] == ' ') n--;
    return n < text.size ? n : 0;
}

/* Tells whether a comment starts here, as the format writes comments. Traces write changes after
 * a semicolon, whatever the format. */
static bool comment_starts(const struct line *l)
{
    if (l->rest.data[0] == ';') return true;
    if (!l->comment) return false;
    size_t n = strlen(l->comment);
    return l->rest.size >= n && !memcmp(l->rest.data, l->comment, n);
}

static const char *word_style(struct line *l, size_t n)
{
    penta_bytes word = bytes_slice(l->rest, 0, n);
    if (penta_format_is_register(l->format, word)) return l->p->reg;
    if (word.data[0] == '@') return l->p->label;
    if (isdigit(word.data[0])) return l->p->name;
    if (!l->named && n < l->rest.size && l->rest.data[n] == ':') return l->p->label;
    if (l->named) return NULL;
    l->named = true;
    return isalnum(word.data[0]) ? l->p->bold : l->p->directive;
}

static void highlight_line(struct line *l)
{
    size_t n = place_size(l->rest);
    if (n) highlight_styled(l, l->p->dim, n);
    while (l->rest.size) {
        uint8_t c = l->rest.data[0];
        if (comment_starts(l)) {
            highlight_styled(l, l->p->dim, l->rest.size);
        } else if (c == '"' || c == '\'') {
            highlight_styled(l, l->p->value, string_size(l->rest));
        } else if (is_word(c) || (strchr("@%!", c) && word_size(l->rest, 1) > 1)) {
            n = word_size(l->rest, 1);
            highlight_styled(l, word_style(l, n), n);
        } else {
            highlight_styled(l, NULL, 1);
        }
    }
}

void highlight_text(struct writer *out, const struct palette *palette, const char *format,
                    penta_bytes text)
{
    if (!*palette->off) {
        writer_bytes(out, text.data, text.size);
        return;
    }
    struct writer safe = {0};
    while (text.size) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        size_t n = end ? (size_t)(end - text.data) : text.size;
        safe.out.size = 0;
        writer_safe_lines(&safe, bytes_slice(text, 0, n), NULL);
        highlight_line(&(struct line){.out = out,
                                      .p = palette,
                                      .format = format,
                                      .comment = penta_format_comment(format),
                                      .rest = writer_view(&safe)});
        if (end) writer_char(out, '\n');
        text = bytes_slice(text, n + (end ? 1 : 0), text.size);
    }
    writer_free(&safe);
}
