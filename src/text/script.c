/* Reads host scripts statement by statement with the lexer's tokens. */
#include "text/script.h"
#include <ctype.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"

enum { SCRIPT_MAX = 1 << 24 };

bool script_open(struct script *s, const char *path, penta_error *err)
{
    *s = (struct script){.path = path};
    if (!file_read(path, SCRIPT_MAX, &s->text, err)) return false;
    s->source = (struct source){
        .name = path, .text = {s->text.data, s->text.size}, .comment = "#", .err = &s->why};
    return true;
}

bool script_line(struct script *s)
{
    while (!s->why.code && source_peek(&s->source).kind == TOKEN_LINE) source_next(&s->source);
    if (s->why.code) return false;
    if (source_peek(&s->source).kind != TOKEN_END) return true;
    /* Peeking shows a wrong token as the end of the text; this call reports the error. */
    source_next(&s->source);
    return false;
}

bool script_close(struct script *s, penta_error *err)
{
    if (s->why.code) {
        struct place at = source_place(s->source.text, s->why.offset);
        const char *slash = strrchr(s->path, '/');
        error_at(err, s->why.code, 0, "%.40s:%llu: %.70s", slash ? slash + 1 : s->path,
                 (unsigned long long)at.line, s->why.message);
        if (s->why.note[0]) error_note(err, "%s", s->why.note);
    }
    penta_buffer_free(&s->text);
    return !err->code;
}

static bool script_in_word(int c)
{
    return isalnum(c) || c == '_' || c == '.' || c == ':' || c >= 0x80;
}

penta_bytes script_word(struct script *s)
{
    struct source *in = &s->source;
    struct token t = source_peek(in);
    in->pos = (size_t)t.offset; /* The word starts after the blanks. */
    if (t.kind == TOKEN_STRING) {
        in->pos += t.size;
        return bytes_slice(in->text, (size_t)t.offset + 1, t.size - 2);
    }
    while (in->pos < in->text.size && script_in_word(in->text.data[in->pos])) in->pos++;
    return bytes_slice(in->text, (size_t)t.offset, in->pos - (size_t)t.offset);
}

bool script_number(struct script *s, uint64_t max, uint64_t *out)
{
    struct token t = source_next(&s->source);
    if (t.kind != TOKEN_INT) return source_unexpected(&s->source, t, "a number");
    *out = t.as.u;
    if (s->why.code || *out <= max) return !s->why.code;
    return error_at(&s->why, BASE_NUMBER, t.offset, "%llu is more than %llu",
                    (unsigned long long)*out, (unsigned long long)max);
}

bool script_unknown(struct script *s, const char *what, const struct suggest *near)
{
    error_at(&s->why, BASE_NAME_UNKNOWN, (uint64_t)(near->word.data - s->source.text.data),
             "'%.*s' is no %s", BYTES_ARG(near->word, 40), what);
    return near->best ? error_note(&s->why, "did you mean '%s'?", near->best) : false;
}

bool script_choice(struct script *s, const char *what, word_list *words, size_t *which)
{
    struct token t = source_peek(&s->source);
    struct suggest near = {.word = script_word(s)};
    if (!near.word.size) return source_unexpected(&s->source, t, what);
    for (*which = 0; words(*which); ++*which) {
        if (bytes_equal(near.word, bytes_of(words(*which)))) return true;
        suggest_offer(&near, words(*which));
    }
    return script_unknown(s, what, &near);
}
