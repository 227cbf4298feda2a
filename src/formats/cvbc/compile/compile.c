/* The compiler as a whole: words, errors, code, and the file that is made of them. Code goes to three buffers
 * (arrays, initialisers, functions), which are joined at the end, when their sizes are known. */
#include "cvbc/compile/compile.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/long_work.h"
#include "cvbc/compile/compiler.h"
#include "cvbc/compile/preprocess.h"
#include "penta/penta.h"

enum { NESTING_MAX = 200, ERRORS_MAX = 20 };

/* ---- functions of compiler.h ---- */

const struct word *compiler_word(const struct compiler *c) { return &c->words.at[c->pos]; }

bool compiler_is(const struct compiler *c, const char *name)
{
    return word_is(&c->words, compiler_word(c), name);
}

penta_bytes compiler_text(const struct compiler *c, const struct word *w)
{
    return bytes_slice(c->words.text, w->offset, w->size);
}

bool compiler_accept(struct compiler *c, uint32_t sign)
{
    const struct word *w = compiler_word(c);
    if (w->kind != WORD_SIGN || w->value != sign) return false;
    c->pos++;
    return true;
}

bool compiler_error(struct compiler *c, uint32_t code, uint32_t offset, const char *format, ...)
{
    penta_error err = {.code = code, .offset = offset};
    if (offset > c->source_size) err.offset = c->source_size; /* the error is in the library */
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    if (c->errors++ < ERRORS_MAX) findings_pass(c->findings, &err);
    return false;
}

bool compiler_expect(struct compiler *c, uint32_t sign, const char *what)
{
    return compiler_accept(c, sign) ||
           compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "expected %s", what);
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
    return false;
}
size_t compiler_emit(struct compiler *c, uint8_t opcode, uint8_t flags, uint16_t immediate,
                     enum reloc reloc)
{
    struct buffer *b = c->out;
    if (b->count > UINT16_MAX ||
        !COMPILER_GROW(c, b->at, b->count, b->capacity)) { /* the end reports it */
        c->failed |= b->count <= UINT16_MAX;
        return 0;
    }
    const struct word *w = &c->words.at[c->pos ? c->pos - 1 : 0];
    b->at[b->count] = (struct emitted){opcode, flags, (uint8_t)reloc, immediate, w->line};
    return b->count++;
}

void compiler_op(struct compiler *c, uint8_t opcode, uint16_t immediate)
{
    const struct cvbc_op_info *info = &cvbc_ops[opcode];
    compiler_emit(c, opcode, 0, immediate, RELOC_NONE);
    c->depth += info->pushes - info->pops;
}

size_t compiler_jump(struct compiler *c, uint8_t opcode, size_t to)
{
    size_t at = compiler_emit(c, opcode, 0, (uint16_t)to, RELOC_BUFFER);
    c->depth -= cvbc_ops[opcode].pops;
    return at;
}

void compiler_patch(struct compiler *c, size_t at)
{
    if (at < c->out->count) c->out->at[at].immediate = (uint16_t)c->out->count;
}

const struct symbol *compiler_find(const struct compiler *c, const struct word *name)
{
    penta_bytes text = compiler_text(c, name);
    const struct name_index *x = &c->symbol_names;
    for (uint32_t i = name_index_first(x, text); i; i = x->older[i - 1]) {
        const struct symbol *s = &c->symbols[i - 1];
        if (!s->hidden && bytes_equal(s->name, text)) return s;
    }
    return NULL;
}

int32_t compiler_string(struct compiler *c, penta_bytes text)
{
    enum { LOOK_BACK = 256 }; /* equal texts share a string when the search for one is short */
    for (size_t i = c->string_count; i-- > 0 && c->string_count - i <= LOOK_BACK;)
        if (c->strings[i].size == text.size &&
            (!text.size || !memcmp(c->strings[i].data, text.data, text.size)))
            return (int32_t)i;
    if (c->string_count > UINT16_MAX ||
        !COMPILER_GROW(c, c->strings, c->string_count, c->string_capacity))
        return -1;
    c->strings[c->string_count] = text;
    return (int32_t)c->string_count++;
}

/* ---- joining ---- */

static const struct function *function_named(const struct compiler *c, const char *name)
{
    for (size_t i = 0; i < c->function_count; i++)
        if (c->functions[i].defined && c->functions[i].name.size == strlen(name) &&
            !memcmp(c->functions[i].name.data, name, strlen(name)))
            return &c->functions[i];
    return NULL;
}

static void call_entry(struct compiler *c, const struct function *f)
{
    if (f->result.bits) compiler_emit(c, CVBC_OP_PUSH, 0, 0, RELOC_NONE);
    if (f->parameters) compiler_error(c, BASE_SYNTAX, f->offset, "it is called without arguments");
    compiler_emit(c, CVBC_OP_CALL, 0, (uint16_t)(f - c->functions), RELOC_FUNCTION);
}

static void start_up(struct compiler *c)
{
    const struct function *main = function_named(c, "main"), *setup = function_named(c, "setup");
    const struct function *loop = function_named(c, "loop");
    c->out = &c->init;
    if (!main && !setup) {
        compiler_error(c, BASE_NAME_UNKNOWN, 0, "neither main nor setup is defined");
        return;
    }
    call_entry(c, main ? main : setup);
    if (main || !loop) {
        compiler_emit(c, CVBC_OP_HALT, 0, 0, RELOC_NONE);
        return;
    }
    size_t again = c->init.count;
    call_entry(c, loop);
    if (loop->result.bits) compiler_emit(c, CVBC_OP_POP, 0, 0, RELOC_NONE);
    compiler_emit(c, CVBC_OP_JMP, 0, (uint16_t)again, RELOC_BUFFER);
}

static void compile_join(struct compiler *c, const struct buffer *part, size_t base, size_t body,
                         struct cvbc_build *b)
{
    for (size_t i = 0; i < part->count; i++) {
        const struct emitted *e = &part->at[i];
        size_t target = e->immediate;
        if (e->reloc == RELOC_BUFFER) target += base;
        if (e->reloc == RELOC_FUNCTION) {
            const struct function *f = &c->functions[e->immediate];
            if (!f->defined)
                compiler_error(c, BASE_NAME_UNKNOWN, f->offset,
                               "the function is called, but not defined");
            target = body + f->entry;
        }
        cvbc_build_inst(b, e->opcode, e->flags, (uint16_t)target);
    }
}

/* ---- debug tables ---- */

static void debug_lines(struct cvbc_debug_rows *rows, const struct buffer *part, size_t base,
                        uint32_t *last)
{
    for (size_t i = 0; i < part->count; i++) {
        if (!part->at[i].line || part->at[i].line == *last) continue;
        *last = part->at[i].line;
        cvbc_debug_line(rows, (uint16_t)(base + i), 0, *last);
    }
}

static void debug_variable(struct cvbc_debug_rows *rows, const struct symbol *s, size_t body)
{
    enum { GLOBAL = 1, STACK, ARRAY, INT32 = 1 };
    bool local = s->kind == SYMBOL_LOCAL, is_array = s->kind == SYMBOL_ARRAY;
    if (!local) cvbc_debug_symbol(rows, s->name, is_array ? 3 : 2, (uint32_t)s->place);
    cvbc_debug_variable(
        rows, s->name,
        (struct cvbc_variable){.storage = local      ? STACK
                                          : is_array ? ARRAY
                                                     : GLOBAL,
                               .type = INT32,
                               .slot = (uint16_t)s->place,
                               .first = local ? (uint16_t)(body + s->first) : 0,
                               .last = local ? (uint16_t)(body + s->last) : UINT16_MAX,
                               .elements = is_array ? s->elements : 1});
}

static void debug_tables(const struct compiler *c, const char *file, size_t body,
                         struct writer *out)
{
    struct cvbc_debug_rows rows = {0};
    const char *slash = file ? strrchr(file, '/') : NULL;
    penta_bytes name = bytes_of(slash ? slash + 1 : file ? file : "-");
    cvbc_debug_symbol(&rows, bytes_slice(name, 0, UINT16_MAX), 5, 0);
    for (size_t i = 0; i < c->function_count; i++)
        if (c->functions[i].defined && c->functions[i].name.size <= UINT16_MAX)
            cvbc_debug_symbol(&rows, c->functions[i].name, 1,
                              (uint32_t)(body + c->functions[i].entry));
    for (size_t i = 0; i < c->symbol_count; i++)
        if (c->symbols[i].kind <= SYMBOL_LOCAL && c->symbols[i].name.size <= UINT16_MAX)
            debug_variable(&rows, &c->symbols[i], body);
    uint32_t last = 0;
    debug_lines(&rows, &c->arrays, 0, &last);
    debug_lines(&rows, &c->init, c->arrays.count, &last);
    debug_lines(&rows, &c->body, body, &last);
    cvbc_debug_put(&rows, out);
    cvbc_debug_free(&rows);
}

/* ---- hints ---- */

static void write_hint(struct cvbc_build *b, unsigned type, unsigned priority, int factor,
                       size_t first, size_t last)
{
    uint8_t bytes[5];
    struct writer data = writer_into(bytes, sizeof bytes);
    if (factor >= 0) writer_uint(&data, (uint64_t)factor, 1);
    writer_uint(&data, first, 2);
    writer_uint(&data, last, 2);
    cvbc_build_hint(b, type, priority, writer_view(&data));
}

/* Adds hints: loops and the function loop() are hot, code that runs once before them is cold, and a loop whose
 * number of rounds is known gets that number. */
static void compile_hints(const struct compiler *c, size_t body, struct cvbc_build *b)
{
    enum { HOT = 1, COLD = 2, UNROLL = 3, HINTS_MAX = 1000, ROUNDS_MAX = 255 };
    if (body) write_hint(b, COLD, 64, -1, 0, body - 1);
    for (size_t i = 0; i < c->function_count; i++) {
        const struct function *f = &c->functions[i];
        if (f->defined && bytes_equal(f->name, bytes_of("loop")) && f->end > f->entry)
            write_hint(b, HOT, 128, -1, body + f->entry, body + f->end - 1);
    }
    for (size_t i = 0; i < c->loop_count && i < HINTS_MAX; i++) {
        const struct region *r = &c->loops[i];
        write_hint(b, HOT, 200, -1, body + r->first, body + r->last);
        if (r->rounds && r->rounds <= ROUNDS_MAX)
            write_hint(b, UNROLL, 100, (int)r->rounds, body + r->first, body + r->last);
    }
}

/* ---- a file ---- */

static void compile_identify(const struct compiler *c, const struct cvbc_compilation *how,
                             struct cvbc_build *b)
{
    uint8_t digest[32];
    struct writer id = {0};
    writer_print(&id, "penta %s%c%s%s%c", PENTA_VERSION_TEXT, 0, how->portable ? "portable " : "",
                 how->strip ? "strip" : "", 0);
    cvbc_digest(writer_view(&id), digest);
    writer_free(&id);
    memcpy(b->core.build_fingerprint, digest, 8);
    cvbc_digest(bytes_slice(c->words.text, 0, c->source_size), b->source_sha256);
    memcpy(b->core.source_tree_hash, b->source_sha256, 8);
    b->core.source_language = 1;
    b->core.source_file_count = 1;
    b->core.source_lines_total = c->words.lines;
    const unsigned v[3] = {PENTA_VERSION_MAJOR, PENTA_VERSION_MINOR, PENTA_VERSION_PATCH};
    for (int i = 0; i < 3; i++)
        b->core.compiler_version =
            b->core.compiler_version << 8 | (v[i] / 10 % 10 * 16 + v[i] % 10);
}

/* Compiles the functions of the library that are called, also by other functions of the library. */
static void compile_library(struct compiler *c)
{
    for (bool more = true; more && !c->errors;) {
        more = false;
        for (size_t i = 0; i < c->function_count && !c->errors; i++) {
            struct function *f = &c->functions[i];
            if (!f->library || !f->called || f->defined) continue;
            more = true;
            compiler_library_function(c, f);
        }
    }
}

static void compile_sketch(struct compiler *c, const struct cvbc_compilation *how,
                           struct cvbc_build *b, struct writer *debug)
{
    compiler_find_functions(c, 0, false);
    compiler_find_functions(c, c->library, true);
    while (compiler_word(c)->kind != WORD_END && c->errors < ERRORS_MAX) {
        size_t before = c->pos;
        c->inside = NULL;
        c->out = &c->init;
        c->depth = 0;
        if (compiler_top_level(c)) continue;
        compiler_recover(c);
        if (c->pos == before || compiler_accept(c, '}')) c->pos += c->pos == before;
    }
    compile_library(c);
    start_up(c);
    size_t base = c->arrays.count, body = base + c->init.count;
    if (body + c->body.count > UINT16_MAX)
        compiler_error(c, CVBC_LIMIT, 0, "the program has more than 65535 instructions");
    if (c->errors || c->findings->errors || compiler_over(c)) return;
    compile_join(c, &c->arrays, 0, body, b);
    compile_join(c, &c->init, base, body, b);
    compile_join(c, &c->body, body, body, b);
    for (size_t i = 0; i < c->string_count; i++) cvbc_build_string(b, c->strings[i]);
    debug_tables(c, how->file, body, debug);
    compile_hints(c, body, b);
    compile_identify(c, how, b);
}

/* Reads the words of the program and, after an end mark, those of the library. */
static bool read_words(struct compiler *c, penta_bytes source, struct writer *text,
                       penta_error *err)
{
    struct words all, more;
    writer_bytes(text, source.data, source.size);
    writer_char(text, '\n');
    size_t library = text->out.size;
    writer_text(text, cvbc_library);
    if (!writer_ok(text, err)) return false;
    penta_bytes both = writer_view(text);
    bool ok = words_scan(source, &all, c->findings, err);
    size_t first = all.count, capacity = all.count;
    bool scanned = ok && words_scan(bytes_slice(both, library, both.size), &more, c->findings, err);
    for (size_t i = 0; scanned && i < more.count; i++) {
        scanned = ARRAY_GROW(all.at, capacity, all.count, err);
        if (!scanned) break;
        all.at[all.count] = more.at[i];
        all.at[all.count].offset += (uint32_t)library;
        all.at[all.count++].line = 0;
    }
    if (ok) free(more.at);
    all.text = both;
    ok = scanned && words_preprocess(&all, first, &c->words, &c->library, c->findings, err);
    free(all.at);
    return ok;
}

bool cvbc_compile(penta_bytes text, const struct cvbc_compilation *how, struct cvbc_build *b,
                  struct writer *debug, struct findings *f)
{
    struct compiler c = {.findings = f,
                         .portable = how->portable,
                         .pins = how->pins,
                         .source_size = (uint32_t)text.size};
    penta_error err = {0};
    struct writer both = {0};
    if (text.size >= UINT32_MAX / 2)
        error_at(&err, BASE_LIMIT, 0, "a source of 2 GiB or more");
    else if (read_words(&c, text, &both, &err))
        compile_sketch(&c, how, b, debug);
    if (c.failed || b->code.failed || debug->failed)
        error_at(&err, BASE_MEMORY, 0, "no memory to compile");
    if (err.code) findings_pass(f, &err);
    free(c.symbol_names.older);
    free(c.type_name_index.older);
    free(c.words.at);
    free(c.arrays.at);
    free(c.init.at);
    free(c.body.at);
    free(c.symbols);
    free(c.functions);
    free(c.strings);
    free(c.type_names);
    free(c.loops);
    writer_free(&both);
    arena_free(&c.arena);
    return !f->errors && !(f->work && f->work->ended);
}
