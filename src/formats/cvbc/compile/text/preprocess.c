/* Executes the lines that begin with # and replaces macros. It works on words, not on text. A
 * macro is not replaced within itself. */
#include "cvbc/compile/text/preprocess.h"
#include "cvbc/compile/text/condition.h"
#include "cvbc/compile/text/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/long_work.h"

enum { DEPTH_MAX = 64, WORDS_MAX = 1 << 20, PARAMETERS_MAX = 16 };

struct macro {
    struct word name;
    bool function, dead; /* dead: true after #undef */
    struct word parameters[PARAMETERS_MAX];
    unsigned count;
    size_t from, to; /* the range of the macro's words in the text */
};

struct preprocessor {
    const struct words *in;
    struct words *out;
    size_t capacity, pos, end;
    struct macro *macros;
    size_t macro_count, macro_capacity;
    struct name_index macro_names;
    struct findings *f;
    penta_error *err;
    /* `nesting` counts the open conditions, and `skipping` those that are left out. */
    unsigned depth, skipping, nesting;
    bool taken[DEPTH_MAX]; /* per level: true if one of its branches was compiled */
    size_t replaced;       /* number of macros that were replaced */
    struct sources *sources;
    struct source *reading; /* the header that is being read, or NULL */
    unsigned headers;       /* number of headers that are being read inside of each other */
    bool too_long;
};

static bool sketch_preprocess_complain(struct preprocessor *p, const struct word *at,
                                       const char *what)
{
    penta_error e = {.code = BASE_SYNTAX, .offset = at->offset};
    snprintf(e.message, sizeof e.message, "%s", what);
    findings_pass(p->f, &e);
    return true;
}

static penta_bytes text_of(const struct preprocessor *p, const struct word *w)
{
    return bytes_slice(p->in->text, w->offset, w->size);
}

static bool sketch_preprocess_same(const struct preprocessor *p, const struct word *a,
                                   const struct word *b)
{
    return a->kind == WORD_NAME && b->kind == WORD_NAME &&
           bytes_equal(text_of(p, a), text_of(p, b));
}

static struct macro *sketch_preprocess_find(const struct preprocessor *p, const struct word *name)
{
    const struct name_index *x = &p->macro_names;
    if (name->kind != WORD_NAME) return NULL;
    for (uint32_t i = name_index_first(x, text_of(p, name)); i; i = x->older[i - 1]) {
        struct macro *m = &p->macros[i - 1];
        if (sketch_preprocess_same(p, &m->name, name)) return m->dead ? NULL : m;
    }
    return NULL;
}

static bool is_sign(const struct word *w, uint32_t sign)
{
    return w->kind == WORD_SIGN && w->value == sign;
}

/* The functions below replace macros. */

struct argument {
    const struct word *at;
    size_t count;
};

static bool sketch_preprocess_append(struct preprocessor *p, struct word w)
{
    if (!ARRAY_GROW(p->out->at, p->capacity, p->out->count, p->err)) return false;
    p->out->at[p->out->count++] = w;
    return true;
}

static bool sketch_preprocess_put(struct preprocessor *p, struct word w, uint32_t line)
{
    if (p->out->count >= WORDS_MAX) {
        if (!p->too_long)
            sketch_preprocess_complain(p, &w, "more than a million words, with those of macros");
        p->too_long = true;
        return true;
    }
    w.line = line;
    return sketch_preprocess_append(p, w);
}

static bool sketch_preprocess_expand(struct preprocessor *p, const struct word *at, size_t count,
                                     uint32_t line);

/* Writes the words of a macro, with its parameters replaced by the words of the arguments. */
static bool sketch_preprocess_substitute(struct preprocessor *p, const struct macro *m,
                                         const struct argument *arguments, uint32_t line)
{
    struct word *body = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    for (size_t i = m->from; ok && i < m->to; i++) {
        const struct word *w = &p->in->at[i];
        struct argument one = {w, 1};
        for (unsigned k = 0; k < m->count; k++)
            if (sketch_preprocess_same(p, &m->parameters[k], w)) one = arguments[k];
        for (size_t k = 0; ok && k < one.count && count < WORDS_MAX; k++) {
            ok = ARRAY_GROW(body, capacity, count, p->err);
            if (ok) body[count++] = one.at[k];
        }
    }
    ok = ok && sketch_preprocess_expand(p, body, count, line);
    free(body);
    return ok;
}

/* Reads the arguments after the name at `at`. Returns the number of their words, or 0 if this is
 * no call of the macro. */
static size_t take_arguments(struct preprocessor *p, const struct macro *m, const struct word *at,
                             size_t count, struct argument *arguments)
{
    unsigned n = 0, open = 1;
    if (count < 2 || !is_sign(&at[1], '(')) return 0;
    size_t i = 2, from = 2;
    for (; i < count && at[i].kind != WORD_END; i++) {
        if (is_sign(&at[i], '(')) open++;
        if (is_sign(&at[i], ')') && !--open) break;
        if (!is_sign(&at[i], ',') || open > 1) continue;
        if (n < PARAMETERS_MAX) arguments[n] = (struct argument){at + from, i - from};
        n++;
        from = i + 1;
    }
    if (i >= count || open) return 0;
    if (i > from || n) {
        if (n < PARAMETERS_MAX) arguments[n] = (struct argument){at + from, i - from};
        n++;
    }
    if (n != m->count)
        sketch_preprocess_complain(p, at, "the macro has another number of parameters");
    return n == m->count ? i + 1 : 0;
}

/* Replaces macros in the arguments first, so that a macro may occur in its own arguments:
 * MAX(MAX(a, b), c). The caller frees the result. */
static bool expand_arguments(struct preprocessor *p, unsigned count, struct argument *arguments,
                             uint32_t line)
{
    struct words *out = p->out;
    size_t capacity = p->capacity;
    bool ok = true;
    for (unsigned i = 0; i < count; i++) {
        struct words expanded = {.text = out->text};
        p->out = &expanded;
        p->capacity = 0;
        ok = ok && sketch_preprocess_expand(p, arguments[i].at, arguments[i].count, line);
        arguments[i] = (struct argument){expanded.at, expanded.count};
    }
    p->out = out;
    p->capacity = capacity;
    return ok;
}

static bool sketch_preprocess_expand(struct preprocessor *p, const struct word *at, size_t count,
                                     uint32_t line)
{
    if (!count) return true;
    if (p->depth == DEPTH_MAX)
        return sketch_preprocess_complain(p, at, "a macro contains itself, or 64 others");
    p->depth++;
    bool ok = true;
    for (size_t i = 0; ok && i < count && !p->too_long && !long_work_over(p->f->work, 1);) {
        struct macro *m = at[i].kind == WORD_NAME ? sketch_preprocess_find(p, &at[i]) : NULL;
        struct argument arguments[PARAMETERS_MAX];
        size_t used = m && m->function ? take_arguments(p, m, at + i, count - i, arguments) : 1;
        if (!m || !used) {
            ok = sketch_preprocess_put(p, at[i], line ? line : at[i].line);
            i++;
            continue;
        }
        if (++p->replaced > WORDS_MAX) {
            sketch_preprocess_complain(p, &at[i], "more than a million macros are replaced");
            p->too_long = true;
            break;
        }
        struct macro copy = *m;
        size_t index = (size_t)(m - p->macros);
        uint32_t here = line ? line : at[i].line;
        unsigned given = m->function ? m->count : 0;
        ok = expand_arguments(p, given, arguments, here);
        p->macros[index].dead = true; /* A macro is not replaced within itself. */
        ok = ok && sketch_preprocess_substitute(p, &copy, arguments, here);
        p->macros[index].dead = false;
        for (unsigned k = 0; k < given; k++) free((void *)(uintptr_t)arguments[k].at);
        i += used;
    }
    p->depth--;
    return ok;
}

/* The functions below execute the lines that begin with #. */

static size_t line_end(const struct preprocessor *p)
{
    size_t at = p->pos;
    while (at < p->end && p->in->at[at].kind != WORD_END && !p->in->at[at].first) at++;
    return at;
}

static bool sketch_preprocess_define(struct preprocessor *p, size_t end)
{
    struct macro m = {.name = p->in->at[p->pos]};
    if (p->pos == end || m.name.kind != WORD_NAME)
        return sketch_preprocess_complain(p, &p->in->at[p->pos - 1], "#define wants a name");
    size_t at = p->pos + 1;
    /* A parenthesis directly after the name, without a space, begins the parameters. */
    if (at < end && is_sign(&p->in->at[at], '(') &&
        p->in->at[at].offset == m.name.offset + m.name.size) {
        m.function = true;
        for (at++; at < end && !is_sign(&p->in->at[at], ')'); at++) {
            if (is_sign(&p->in->at[at], ',')) continue;
            if (m.count == PARAMETERS_MAX || p->in->at[at].kind != WORD_NAME)
                return sketch_preprocess_complain(p, &p->in->at[at],
                                                  "a macro has up to 16 names as parameters");
            m.parameters[m.count++] = p->in->at[at];
        }
        at += at < end;
    }
    m.from = at;
    m.to = end;
    if (!ARRAY_GROW(p->macros, p->macro_capacity, p->macro_count, p->err)) return false;
    struct sources *all = p->sources;
    if (!ARRAY_GROW(all->macros, all->macro_capacity, all->macro_count, p->err)) return false;
    all->macros[all->macro_count++] = text_of(p, &m.name);
    p->macros[p->macro_count++] = m;
    return name_index_add(&p->macro_names, text_of(p, &m.name)) ||
           error_at(p->err, BASE_MEMORY, 0, "no memory for a macro");
}

static bool sketch_preprocess_part(struct preprocessor *p, bool mark);

/* Reads a header of the sketch in place of the line that includes it. */
static bool sketch_preprocess_header(struct preprocessor *p, const struct word *at,
                                     penta_bytes name)
{
    enum { HEADERS_MAX = 16 };
    struct source *s = sources_find(p->sources, name), *around = p->reading;
    char text[100];
    if (!s || s->missing) {
        p->sources->lacking = true;
        snprintf(text, sizeof text, "there is no header '%.*s' beside the sketch",
                 BYTES_ARG(name, 40));
        return sketch_preprocess_complain(p, at, text);
    }
    if (s->once || long_work_over(p->f->work, 1)) return true;
    if (p->headers == HEADERS_MAX)
        return sketch_preprocess_complain(p, at, "headers include each other without an end");
    size_t pos = p->pos, end = p->end;
    unsigned nesting = p->nesting;
    p->headers++;
    p->reading = s;
    p->pos = s->word;
    p->end = p->in->count;
    bool ok = sketch_preprocess_part(p, false);
    p->nesting = nesting;
    p->reading = around;
    p->headers--;
    p->pos = pos;
    p->end = end;
    return ok;
}

static bool sketch_preprocess_included(struct preprocessor *p, size_t end)
{
    static const char *const ours[] = {"Arduino.h", "stdint.h", "stdbool.h",     "stdio.h",
                                       "stdlib.h",  "string.h", "math.h",        "ctype.h",
                                       "limits.h",  "stddef.h", "avr/pgmspace.h"};
    const struct word *w = &p->in->at[p->pos];
    if (p->pos == end) return sketch_preprocess_complain(p, w - 1, "#include wants a file");
    const struct word *last = &p->in->at[end - 1];
    penta_bytes name =
        bytes_slice(p->in->text, w->offset + 1, last->offset + last->size - w->offset - 2);
    static const char *const libraries[SOURCES_LIBRARIES] = {"Wire.h", "SPI.h"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (bytes_equal(name, bytes_of(ours[i]))) return true;
    for (size_t i = 0; i < SOURCES_LIBRARIES; i++)
        if (bytes_equal(name, bytes_of(libraries[i]))) return p->sources->libraries[i] = true;
    if (w->kind == WORD_STRING) return sketch_preprocess_header(p, w, name);
    char text[100];
    p->sources->lacking = true;
    snprintf(text, sizeof text,
             "there is no library '%.*s'; known are Wire.h, SPI.h and headers of C",
             BYTES_ARG(name, 30));
    return sketch_preprocess_complain(p, w, text);
}

static bool find_for_condition(void *user, const struct word *name, struct condition_macro *out)
{
    const struct macro *m = sketch_preprocess_find(user, name);
    if (m) *out = (struct condition_macro){m->from, m->function ? m->from : m->to};
    return m;
}

static bool sketch_preprocess_condition(struct preprocessor *p, size_t end)
{
    const struct word *wrong;
    bool truth = condition_truth(p->in, p->pos, end, find_for_condition, p, &wrong);
    if (wrong)
        sketch_preprocess_complain(
            p, wrong, "#if takes numbers, names, defined(NAME) and C's operators on them");
    return truth;
}

static void sketch_preprocess_enter(struct preprocessor *p, const struct word *at, bool truth)
{
    if (p->nesting == DEPTH_MAX) {
        sketch_preprocess_complain(p, at, "more than 64 nested conditions");
        return;
    }
    p->taken[p->nesting++] = truth;
    if (p->skipping || !truth) p->skipping++;
}

static bool sketch_preprocess_directive(struct preprocessor *p)
{
    const struct words *in = p->in;
    p->pos++; /* This skips the sign #. */
    size_t end = line_end(p);
    const struct word *w = &in->at[p->pos];
    if (p->pos == end) return true;
    p->pos++;
    bool ok = true;
    if (word_is(in, w, "ifdef") || word_is(in, w, "ifndef")) {
        bool there = p->pos < end && sketch_preprocess_find(p, &in->at[p->pos]);
        sketch_preprocess_enter(p, w, there == word_is(in, w, "ifdef"));
    } else if (word_is(in, w, "if")) {
        sketch_preprocess_enter(p, w, !p->skipping && sketch_preprocess_condition(p, end));
    } else if (word_is(in, w, "else") || word_is(in, w, "elif")) {
        if (!p->nesting) {
            sketch_preprocess_complain(p, w, "#else without #if");
        } else if (p->skipping <= 1) {
            bool now = !p->taken[p->nesting - 1];
            p->skipping = 0;
            if (now && word_is(in, w, "elif")) now = sketch_preprocess_condition(p, end);
            p->skipping = !now;
            p->taken[p->nesting - 1] |= now;
        }
    } else if (word_is(in, w, "endif")) {
        if (!p->nesting) sketch_preprocess_complain(p, w, "#endif without #if");
        p->nesting -= p->nesting > 0;
        p->skipping -= p->skipping > 0;
    } else if (p->skipping) {
        ok = true;
    } else if (word_is(in, w, "pragma")) {
        if (p->reading && p->pos < end && word_is(in, &in->at[p->pos], "once"))
            p->reading->once = true;
    } else if (word_is(in, w, "define")) {
        ok = sketch_preprocess_define(p, end);
    } else if (word_is(in, w, "undef")) {
        struct macro *m = p->pos < end ? sketch_preprocess_find(p, &in->at[p->pos]) : NULL;
        if (m) m->dead = true;
    } else if (word_is(in, w, "include")) {
        ok = sketch_preprocess_included(p, end);
    } else if (word_is(in, w, "error")) {
        sketch_preprocess_complain(p, w, "#error was reached");
    } else {
        sketch_preprocess_complain(
            p, w,
            "unknown directive; known are define undef include if ifdef ifndef elif else endif");
    }
    p->pos = end;
    return ok;
}

/* Processes the lines from p->pos to the end of the part. If `mark` is true, the end mark of the
 * part is written too. */
static bool sketch_preprocess_part(struct preprocessor *p, bool mark)
{
    unsigned outside = p->nesting;
    while (p->in->at[p->pos].kind != WORD_END) {
        const struct word *w = &p->in->at[p->pos];
        if (is_sign(w, '#') && w->first) {
            if (!sketch_preprocess_directive(p)) return false;
            continue;
        }
        size_t from = p->pos;
        while (p->in->at[p->pos].kind != WORD_END &&
               !(is_sign(&p->in->at[p->pos], '#') && p->in->at[p->pos].first))
            p->pos++;
        if (!p->skipping && !sketch_preprocess_expand(p, &p->in->at[from], p->pos - from, 0))
            return false;
    }
    if (p->nesting > outside)
        sketch_preprocess_complain(p, &p->in->at[p->pos], "#if without #endif");
    p->nesting = outside;
    p->skipping = 0;
    return !mark || sketch_preprocess_append(p, p->in->at[p->pos]);
}

bool words_preprocess(const struct words *in, struct sources *sources, size_t library,
                      struct words *out, size_t *out_library, struct findings *f, penta_error *err)
{
    struct words functions = {.text = in->text};
    *out = (struct words){.text = in->text, .lines = in->lines};
    /* The library comes first: the program knows the macros of the library, but the library's
     * functions do not know those of the program. */
    struct preprocessor p = {
        .in = in, .sources = sources, .f = f, .err = err, .out = &functions, .end = in->count};
    p.pos = library;
    bool ok = sketch_preprocess_part(&p, true);
    p.out = out;
    p.capacity = 0;
    p.pos = 0;
    ok = ok && sketch_preprocess_part(&p, true) && !p.too_long;
    *out_library = out->count;
    for (size_t i = 0; ok && i < functions.count; i++)
        ok = sketch_preprocess_append(&p, functions.at[i]);
    free(functions.at);
    free(p.macros);
    free(p.macro_names.older);
    return ok;
}
