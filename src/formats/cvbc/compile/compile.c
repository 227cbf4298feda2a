/* Runs the compiler: reads words, reports errors, and runs the phases in their order. Every
 * phase continues after an error, so that one run reports all errors. Code is made only from a
 * tree without errors. */
#include "cvbc/compile/compile.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/long_work.h"
#include "base/suggest.h"
#include "cvbc/compile/compiler.h"
#include "cvbc/compile/text/preprocess.h"

enum { NESTING_MAX = 200 };

const struct word *compiler_word(const struct compiler *c) { return &c->words.at[c->pos]; }

bool compiler_is(const struct compiler *c, const char *name)
{
    return word_is(&c->words, compiler_word(c), name);
}

bool compiler_sees(const struct compiler *c, uint32_t sign)
{
    const struct word *w = compiler_word(c);
    return w->kind == WORD_SIGN && w->value == sign;
}

bool compiler_accept(struct compiler *c, uint32_t sign)
{
    if (!compiler_sees(c, sign)) return false;
    c->pos++;
    return true;
}

bool compiler_expect(struct compiler *c, uint32_t sign, const char *what)
{
    if (compiler_accept(c, sign)) return true;
    /* If something is missing after the end of a line, the error names the end of that line, as
     * in C compilers. */
    const struct word *w = compiler_word(c), *before = w - (c->pos > 0);
    bool ended = sign == ';' && c->pos && before->line && before->line < w->line;
    uint32_t offset = ended ? before->offset + before->size : w->offset;
    return compiler_error(c, BASE_SYNTAX, offset, "expected %s%s%.*s%s", what,
                          ended || w->kind == WORD_END ? "" : " before '",
                          ended || w->kind == WORD_END ? 0 : (int)(w->size > 30 ? 30 : w->size),
                          (const char *)c->words.text.data + w->offset,
                          ended || w->kind == WORD_END ? "" : "'");
}

penta_bytes compiler_text(const struct compiler *c, const struct word *w)
{
    return bytes_slice(c->words.text, w->offset, w->size);
}

void compiler_report(struct compiler *c, penta_error *err)
{
    if (c->errors++ < ERRORS_MAX) findings_pass(c->findings, err);
}

bool compiler_error(struct compiler *c, uint32_t code, uint32_t offset, const char *format, ...)
{
    penta_error err = {.code = code, .offset = offset};
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    compiler_report(c, &err);
    return false;
}

/* Offers a name for "did you mean". Names with __ belong to the library, so they are not
 * offered. */
void compiler_offer(struct compiler *c, struct suggest *near, penta_bytes name)
{
    char text[64];
    penta_error err = {0};
    if (name.size >= sizeof text) return;
    for (size_t i = 0; i + 1 < name.size; i++)
        if (name.data[i] == '_' && name.data[i + 1] == '_') return;
    snprintf(text, sizeof text, "%.*s", (int)name.size, (const char *)name.data);
    const char *best = near->best;
    suggest_offer(near, text);
    if (near->best == text) near->best = arena_copy(&c->arena, bytes_of(text), &err);
    if (!near->best) near->best = best;
}

bool compiler_unknown(struct compiler *c, const struct word *name, const char *what, bool is_type)
{
    penta_error err = {.code = BASE_NAME_UNKNOWN, .offset = name->offset};
    struct suggest near = {.word = compiler_text(c, name)};
    for (size_t i = 0; i < c->symbol_count; i++) {
        const struct symbol *s = c->symbols[i];
        bool fits = s->kind == SYMBOL_TYPE ? is_type : !is_type && s->kind != SYMBOL_WRONG;
        if (!s->hidden && fits) compiler_offer(c, &near, s->name);
    }
    for (size_t i = 0; !is_type && i < c->found_count; i++)
        compiler_offer(c, &near, c->found[i].name);
    for (const char *const *k = compiler_call_names; !is_type && *k; k++)
        if (**k != '_') suggest_offer(&near, *k);
    for (size_t i = 0; !is_type && compiler_known_name(i); i++)
        suggest_offer(&near, compiler_known_name(i));
    for (size_t i = 0; !is_type && i < c->sources.macro_count; i++)
        compiler_offer(c, &near, c->sources.macros[i]);
    if (is_type) compiler_type_words(&near);
    snprintf(err.message, sizeof err.message, "'%.*s' is not %s", WORD_ARG(c, name), what);
    if (near.best) snprintf(err.note, sizeof err.note, "did you mean '%s'?", near.best);
    compiler_report(c, &err);
    return false;
}

bool compiler_over(struct compiler *c)
{
    enum { WORDS_UNITS = 16 };
    if (!long_work_over(c->findings->work, WORDS_UNITS)) return false;
    while (compiler_word(c)->kind != WORD_END) c->pos++;
    c->errors = ERRORS_MAX;
    return true;
}

bool compiler_enter(struct compiler *c)
{
    if (compiler_over(c)) return false;
    if (++c->nesting <= NESTING_MAX) return true;
    c->nesting--;
    return compiler_error(c, CVBC_LIMIT, compiler_word(c)->offset, "nested too deeply");
}

void compiler_leave(struct compiler *c) { c->nesting--; }

bool compiler_no_memory(struct compiler *c)
{
    c->failed = true;
    c->errors = ERRORS_MAX; /* With this number of errors the work ends. */
    return false;
}

void *compiler_new(struct compiler *c, size_t size)
{
    penta_error err = {0};
    void *made = arena_alloc(&c->arena, 1, size, &err);
    if (made) return made;
    compiler_no_memory(c);
    memset(&c->spare, 0, sizeof c->spare);
    return &c->spare;
}

void *compiler_array(struct compiler *c, size_t count, size_t size)
{
    penta_error err = {0};
    void *made = arena_alloc(&c->arena, count, size, &err);
    if (!made) compiler_no_memory(c);
    return made;
}

/* Reads the words of a part of the text and adds them. `line` tells whether they count as lines
 * of the sketch. */
static bool compile_scan(struct compiler *c, struct words *all, size_t *capacity, size_t offset,
                         size_t size, bool line, penta_error *err)
{
    struct words part = {0};
    penta_bytes text = bytes_slice(writer_view(&c->sources.text), offset, size);
    bool ok = words_scan(text, (uint32_t)offset, &part, c->findings, err);
    for (size_t i = 0; ok && i < part.count; i++) {
        ok = ARRAY_GROW(all->at, *capacity, all->count, err);
        if (!ok) break;
        all->at[all->count] = part.at[i];
        if (!line) all->at[all->count].line = 0;
        all->count++;
    }
    if (!all->lines) all->lines = part.lines;
    free(part.at);
    return ok;
}

/* Reads the words of the sketch, of each of its headers, and of the library, with an end mark
 * after each. */
static bool compile_read(struct compiler *c, penta_error *err)
{
    struct sources *s = &c->sources;
    struct words all = {0};
    size_t capacity = 0;
    c->source_size = (uint32_t)s->text.out.size;
    size_t library = s->text.out.size;
    writer_text(&s->text, cvbc_library_base);
    writer_text(&s->text, cvbc_library_float);
    writer_text(&s->text, cvbc_library_string);
    if (!writer_ok(&s->text, err)) return false;
    bool ok = true;
    for (size_t i = 0; ok && i < s->count; i++) {
        s->at[i].word = all.count;
        ok = compile_scan(c, &all, &capacity, s->at[i].offset, s->at[i].size, !i, err);
    }
    size_t first = all.count;
    ok = ok && compile_scan(c, &all, &capacity, library, s->text.out.size - library, false, err);
    all.text = writer_view(&s->text);
    ok = ok && words_preprocess(&all, s, first, &c->words, &c->library, c->findings, err);
    free(all.at);
    return ok;
}

/* Parses the functions of the library that are needed, including those that other library
 * functions need. */
static void compile_library(struct compiler *c)
{
    for (size_t i = 0; i < c->function_count && !c->errors; i++) {
        struct function *f = c->functions[i];
        if (!f->library || f->body) continue;
        compiler_function_at(c, f->word, true);
    }
}

/* Reports functions that are called but not defined. */
static void compile_complete(struct compiler *c)
{
    for (size_t i = 0; i < c->function_count; i++) {
        const struct function *f = c->functions[i];
        if (f->wanted && !f->body && !f->library)
            compiler_error(c, BASE_NAME_UNKNOWN, f->offset,
                           "'%.*s' is used, but not defined: only declared",
                           BYTES_ARG(f->name, 40));
    }
}

static void compile_sketch(struct compiler *c, struct cvbc_build *b, struct writer *debug)
{
    scope_find_functions(c, 0, false);
    scope_find_functions(c, c->library, true);
    while (compiler_word(c)->kind != WORD_END && c->errors < ERRORS_MAX) {
        size_t before = c->pos;
        c->inside = NULL;
        if (compiler_top_level(c)) continue;
        compiler_recover(c);
        if (c->pos == before || compiler_accept(c, '}')) c->pos += c->pos == before;
    }
    c->inside = NULL;
    compile_complete(c);
    compiler_start(c);
    compile_library(c);
    if (!c->errors && !c->findings->errors) compiler_layout(c);
    if (c->errors || c->findings->errors || compiler_over(c)) return;
    compiler_handlers(c);
    compiler_output(c, b, debug);
}

const char *cvbc_folder(const char *file, char folder[CVBC_FOLDER_BYTES])
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    size_t size = slash ? (size_t)(slash - file) : 1;
    if (size + 1 > CVBC_FOLDER_BYTES) return NULL;
    memcpy(folder, slash ? file : ".", size);
    folder[size] = 0;
    return folder;
}

/* Reports an error in a header at the line that includes the header. */
static void compile_placed(void *user, const penta_error *finding)
{
    struct compiler *c = user;
    penta_error err = *finding;
    sources_place(&c->sources, &err);
    findings_pass(c->told, &err);
}

static void compile_text(struct compiler *c, penta_bytes text, struct cvbc_build *b,
                         struct writer *debug)
{
    penta_error err = {0};
    /* If a header is missing, the names that it would declare would all be errors, so the sketch is
     * not compiled then. */
    if (text.size >= UINT32_MAX / 4)
        error_at(&err, BASE_LIMIT, 0, "a source of 1 GiB or more");
    else if (sources_read(&c->sources, text, c->how->folder, &err) && compile_read(c, &err) &&
             !c->sources.lacking)
        compile_sketch(c, b, debug);
    if (c->failed || b->code.failed || debug->failed)
        error_at(&err, BASE_MEMORY, 0, "no memory to compile");
    if (err.code) findings_pass(c->findings, &err);
}

static void compile_free(struct compiler *c)
{
    for (size_t i = 0; i < c->function_count; i++) free(c->functions[i]->calls);
    for (size_t i = 0; i < c->symbol_count; i++) free(c->symbols[i]->initials);
    for (size_t i = 0; i < c->record_count; i++) free(c->records[i]->members);
    void *const all[] = {c->symbols,    c->symbol_names.older,
                         c->found,      c->found_names.older,
                         c->records,    c->functions,
                         c->lasting,    c->locals,
                         c->breakables, c->words.at,
                         c->code,       c->labels,
                         c->loops,      c->texts,
                         c->strings,    c->modes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    sources_free(&c->sources);
    arena_free(&c->arena);
    free(c);
}

bool cvbc_compile(penta_bytes text, const struct cvbc_compilation *how, struct cvbc_build *b,
                  struct writer *debug, struct findings *f)
{
    struct compiler *made = calloc(1, sizeof *made);
    penta_error err = {0};
    if (!made) {
        error_at(&err, BASE_MEMORY, 0, "no memory to compile");
        findings_pass(f, &err);
        return false;
    }
    struct findings placed = {
        .rules = f->rules, .report = compile_placed, .user = made, .work = f->work};
    made->how = how;
    made->findings = &placed;
    made->told = f;
    compile_text(made, text, b, debug);
    compile_free(made);
    return !f->errors && !(f->work && f->work->ended);
}
