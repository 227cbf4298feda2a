/* Makes the file from the tree: all code in its order, debug tables, hints, and what identifies
 * the source. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"
#include "cvbc/compile/code/start.h"
#include "penta/penta.h"

/* Sorts functions: those of the sketch come first, in the order of the source. */
static int output_order(const void *a, const void *b)
{
    const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;
    if (x->body->offset != y->body->offset) return x->body->offset < y->body->offset ? -1 : 1;
    return 0;
}

static void output_code(struct compiler *c)
{
    struct function **order = compiler_array(c, c->function_count + 1, sizeof *order);
    size_t count = 0;
    if (!order) return;
    code_label(c); /* Label 0 must not be used, because 0 means no label. */
    c->load = code_label(c);
    c->store = code_label(c);
    for (size_t i = 0; i < c->function_count; i++) {
        c->functions[i]->label = code_label(c);
        if (c->functions[i]->body) order[count++] = c->functions[i];
    }
    qsort(order, count, sizeof *order, output_order);
    start_code(c);
    c->body = c->code_count;
    for (size_t i = 0; i < count && !compiler_over(c); i++) code_function(c, order[i]);
    code_memory(c);
}

static void output_join(const struct compiler *c, struct cvbc_build *b)
{
    for (size_t i = 0; i < c->code_count; i++) {
        const struct emitted *e = &c->code[i];
        uint32_t immediate = e->to_label ? c->labels[e->immediate] : e->immediate;
        cvbc_build_inst(b, e->opcode, e->flags, (uint16_t)immediate);
        writer_uint(&b->places, e->place <= c->sources.at[0].size ? e->place : 0, 4);
    }
    for (size_t i = 0; i < c->string_count; i++) cvbc_build_string(b, c->strings[i]);
}

static void debug_variable(struct cvbc_debug_rows *rows, const struct symbol *s)
{
    enum { GLOBAL = 1, STACK, ARRAY, INT32 = 1 };
    bool local = s->storage == STORAGE_FRAME, is_array = s->storage == STORAGE_ARRAY;
    /* A debug row cannot describe an object that begins inside an array. */
    if (s->storage == STORAGE_NONE || !s->name.size || s->name.size > UINT16_MAX || s->library ||
        (is_array && s->place))
        return;
    struct place p = code_place_of(s, 0);
    uint16_t slot = (uint16_t)(is_array ? p.array : (uint32_t)p.at);
    uint32_t words = type_words(s->type);
    if (!local) cvbc_debug_symbol(rows, s->name, is_array ? 3 : 2, slot);
    cvbc_debug_variable(
        rows, s->name,
        (struct cvbc_variable){.storage = local      ? STACK
                                          : is_array ? ARRAY
                                                     : GLOBAL,
                               .type = INT32,
                               .slot = slot,
                               .first = local ? (uint16_t)s->first : 0,
                               .last = local ? (uint16_t)s->last : UINT16_MAX,
                               .elements = (uint16_t)(is_array && words <= LINE_WORDS ? words
                                                      : is_array                      ? LINE_WORDS
                                                                                      : 1)});
}

static void output_debug(const struct compiler *c, struct writer *out)
{
    struct cvbc_debug_rows rows = {0};
    const char *file = c->how->file, *slash = file ? strrchr(file, '/') : NULL;
    penta_bytes name = bytes_of(slash ? slash + 1 : file ? file : "-");
    cvbc_debug_symbol(&rows, bytes_slice(name, 0, UINT16_MAX), 5, 0);
    for (size_t i = 0; i < c->function_count; i++)
        if (c->functions[i]->body && c->functions[i]->name.size <= UINT16_MAX)
            cvbc_debug_symbol(&rows, c->functions[i]->name, 1, c->functions[i]->entry);
    for (size_t i = 0; i < c->symbol_count; i++)
        if (c->symbols[i]->kind == SYMBOL_VARIABLE) debug_variable(&rows, c->symbols[i]);
    uint32_t last = 0;
    for (size_t i = 0; i < c->code_count; i++) {
        if (!c->code[i].line || c->code[i].line == last) continue;
        last = c->code[i].line;
        cvbc_debug_line(&rows, (uint16_t)i, 0, last);
    }
    cvbc_debug_put(&rows, out);
    cvbc_debug_free(&rows);
}

static void output_hint(struct cvbc_build *b, unsigned type, unsigned priority, int factor,
                        size_t first, size_t last)
{
    uint8_t bytes[5];
    struct writer data = writer_into(bytes, sizeof bytes);
    if (factor >= 0) writer_uint(&data, (uint64_t)factor, 1);
    writer_uint(&data, first, 2);
    writer_uint(&data, last, 2);
    cvbc_build_hint(b, type, priority, writer_view(&data));
}

/* Writes hints: loops and the function loop() are hot, code that runs once before them is cold,
 * and a loop whose number of rounds is known gets that number. */
static void output_hints(const struct compiler *c, struct cvbc_build *b)
{
    enum { HOT = 1, COLD = 2, UNROLL = 3, HINTS_MAX = 1000, ROUNDS_MAX = 255 };
    if (c->body) output_hint(b, COLD, 64, -1, 0, c->body - 1);
    for (size_t i = 0; i < c->function_count; i++) {
        const struct function *f = c->functions[i];
        if (f->body && bytes_equal(f->name, bytes_of("loop")) && f->end > f->entry)
            output_hint(b, HOT, 128, -1, f->entry, f->end - 1);
    }
    for (size_t i = 0; i < c->loop_count && i < HINTS_MAX; i++) {
        const struct region *r = &c->loops[i];
        output_hint(b, HOT, 200, -1, r->first, r->last);
        if (r->rounds && r->rounds <= ROUNDS_MAX)
            output_hint(b, UNROLL, 100, (int)r->rounds, r->first, r->last);
    }
}

static void output_identity(const struct compiler *c, struct cvbc_build *b)
{
    uint8_t digest[32];
    struct writer id = {0};
    writer_print(&id, "penta %s%c%s%s%c", PENTA_VERSION_TEXT, 0,
                 c->how->portable ? "portable " : "", c->how->strip ? "strip" : "", 0);
    cvbc_digest(writer_view(&id), digest);
    writer_free(&id);
    memcpy(b->core.build_fingerprint, digest, 8);
    struct writer all = {0};
    for (size_t i = 0; i < c->sources.count; i++)
        writer_bytes(&all, c->words.text.data + c->sources.at[i].offset, c->sources.at[i].size);
    cvbc_digest(writer_view(&all), b->source_sha256);
    writer_free(&all);
    memcpy(b->core.source_tree_hash, b->source_sha256, 8);
    b->core.source_language = 1;
    b->core.source_file_count = (uint16_t)c->sources.count;
    b->core.source_lines_total = c->words.lines;
    const unsigned v[3] = {PENTA_VERSION_MAJOR, PENTA_VERSION_MINOR, PENTA_VERSION_PATCH};
    for (int i = 0; i < 3; i++)
        b->core.compiler_version =
            b->core.compiler_version << 8 | (v[i] / 10 % 10 * 16 + v[i] % 10);
}

void compiler_output(struct compiler *c, struct cvbc_build *b, struct writer *debug)
{
    output_code(c);
    if (c->code_count > UINT16_MAX)
        compiler_error(c, CVBC_LIMIT, 0,
                       "the program has more than 65535 instructions, which is what a file takes");
    if (c->errors || c->failed || compiler_over(c)) return;
    output_join(c, b);
    output_debug(c, debug); /* The caller drops the debug tables if they are not wanted. */
    output_hints(c, b);
    output_identity(c, b);
}
