/* Declarations, statements, and the file that comes of them. Code goes to three buffers (arrays,
 * initialisers, functions) that are joined at the end, when their sizes are known. */
#include "cvbc/compile/compile.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"
#include "penta/penta.h"

enum { NESTING_MAX = 200, ERRORS_MAX = 20 };

struct loop {
    struct loop *outer;
    int32_t depth; /* words at its start */
    struct jumps {
        size_t *at, count, capacity;
    } breaks, continues;
};

/* ---- functions of compiler.h ---- */

const struct word *compiler_word(const struct compiler *c) { return &c->words.at[c->pos]; }

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

bool compiler_enter(struct compiler *c)
{
    if (++c->nesting <= NESTING_MAX) return true;
    c->nesting--;
    return compiler_error(c, CVBC_LIMIT, compiler_word(c)->offset, "nested too deeply");
}

void compiler_leave(struct compiler *c) { c->nesting--; }

static bool out_of_memory(struct compiler *c)
{
    c->failed = true;
    return false;
}
#define GROW(c, items, count, capacity)                                                            \
    (ARRAY_RESERVE(items, capacity, (count) + 1) || out_of_memory(c))

size_t compiler_emit(struct compiler *c, uint8_t opcode, uint8_t flags, uint16_t immediate,
                     enum reloc reloc)
{
    struct buffer *b = c->out;
    if (b->count > UINT16_MAX || !GROW(c, b->at, b->count, b->capacity)) { /* told at the end */
        c->failed |= b->count <= UINT16_MAX;
        return 0;
    }
    const struct word *w = &c->words.at[c->pos ? c->pos - 1 : 0];
    b->at[b->count] = (struct emitted){opcode, flags, (uint8_t)reloc, immediate, w->line};
    return b->count++;
}

void compiler_patch(struct compiler *c, size_t at)
{
    if (at < c->out->count) c->out->at[at].immediate = (uint16_t)c->out->count;
}

const struct symbol *compiler_find(const struct compiler *c, const struct word *name)
{
    const uint8_t *text = c->words.text.data + name->offset;
    for (size_t i = c->symbol_count; i-- > 0;) {
        const struct symbol *s = &c->symbols[i];
        if (!s->hidden && s->name.size == name->size && !memcmp(s->name.data, text, name->size))
            return s;
    }
    return NULL;
}

int32_t compiler_string(struct compiler *c, penta_bytes text)
{
    enum { LOOK_BACK = 256 }; /* equal texts share a string, as far as looking for them is cheap */
    for (size_t i = c->string_count; i-- > 0 && c->string_count - i <= LOOK_BACK;)
        if (c->strings[i].size == text.size &&
            (!text.size || !memcmp(c->strings[i].data, text.data, text.size)))
            return (int32_t)i;
    if (c->string_count > UINT16_MAX || !GROW(c, c->strings, c->string_count, c->string_capacity))
        return -1;
    c->strings[c->string_count] = text;
    return (int32_t)c->string_count++;
}

/* ---- names ---- */

static penta_bytes text_of(const struct compiler *c, const struct word *w)
{
    return bytes_slice(c->words.text, w->offset, w->size);
}

static struct symbol *add_symbol(struct compiler *c, const struct word *name, enum symbol_kind kind,
                                 int32_t place)
{
    if (!GROW(c, c->symbols, c->symbol_count, c->symbol_capacity)) return NULL;
    struct symbol *s = &c->symbols[c->symbol_count++];
    *s = (struct symbol){.name = text_of(c, name),
                         .kind = kind,
                         .place = place,
                         .first = (uint32_t)c->body.count,
                         .last = UINT16_MAX};
    return s;
}

static bool is_type(const struct compiler *c, const struct word *w)
{
    return word_is(&c->words, w, "int") || word_is(&c->words, w, "void");
}

/* Names in the innermost scope start here. */
static bool twice(const struct compiler *c, const struct word *name, size_t scope)
{
    penta_bytes text = text_of(c, name);
    for (size_t i = scope; i < c->symbol_count; i++)
        if (!c->symbols[i].hidden && c->symbols[i].name.size == text.size &&
            !memcmp(c->symbols[i].name.data, text.data, text.size))
            return true;
    return false;
}

static bool declared_name(struct compiler *c, size_t scope, const struct word **name)
{
    *name = compiler_word(c);
    if ((*name)->kind != WORD_NAME || is_type(c, *name))
        return compiler_error(c, BASE_SYNTAX, (*name)->offset, "expected a name");
    c->pos++;
    return !twice(c, *name, scope) ||
           compiler_error(c, BASE_NAME_TWICE, (*name)->offset, "'%.*s' is declared twice",
                          (int)((*name)->size > 60 ? 60 : (*name)->size),
                          (const char *)text_of(c, *name).data);
}

static bool array(struct compiler *c, const struct word *name)
{
    const struct word *size = compiler_word(c);
    if (size->kind != WORD_NUMBER || size->value < 1 || size->value > 64)
        return compiler_error(c, BASE_SYNTAX, size->offset,
                              "an array has 1 to 64 elements, as a number");
    c->pos++;
    if (!compiler_expect(c, ']', "']'")) return false;
    if (c->array_count == CVBC_ARRAYS)
        return compiler_error(c, CVBC_LIMIT, name->offset, "more than %d arrays", CVBC_ARRAYS);
    struct buffer *out = c->out;
    c->out = &c->arrays;
    compiler_emit(c, CVBC_OP_PUSH, 0, (uint16_t)size->value, RELOC_NONE);
    compiler_emit(c, CVBC_OP_CREATE_ARRAY, 0, (uint16_t)c->array_count, RELOC_NONE);
    c->out = out;
    struct symbol *s = add_symbol(c, name, SYMBOL_ARRAY, (int32_t)c->array_count++);
    if (s) s->elements = (uint16_t)size->value;
    return s != NULL;
}

/* ---- statements ---- */

static bool statement(struct compiler *c);

/* Names from `scope` on go out of scope, and their words off the stack. */
static void close_scope(struct compiler *c, size_t scope, int32_t depth)
{
    for (size_t i = scope; i < c->symbol_count; i++) {
        if (!c->symbols[i].hidden)
            c->symbols[i].last = (uint32_t)(c->body.count ? c->body.count - 1 : 0);
        if (c->symbols[i].kind == SYMBOL_ARRAY) c->symbols[i].last = UINT16_MAX;
        c->symbols[i].hidden = true;
    }
    for (; c->depth > depth; c->depth--) compiler_emit(c, CVBC_OP_POP, 0, 0, RELOC_NONE);
    c->depth = depth;
}

static bool local_declaration(struct compiler *c, size_t scope)
{
    if (word_is(&c->words, compiler_word(c), "void"))
        return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "a variable is an int");
    c->pos++;
    do {
        const struct word *name;
        if (!declared_name(c, scope, &name)) return false;
        if (compiler_accept(c, '[')) {
            if (!array(c, name)) return false;
            continue;
        }
        if (!compiler_accept(c, '='))
            compiler_constant(c, 0);
        else if (!compiler_expression(c))
            return false;
        if (!add_symbol(c, name, SYMBOL_LOCAL, c->depth - 1)) return false;
    } while (compiler_accept(c, ','));
    return compiler_expect(c, ';', "';'");
}

/* After an error: skips to the end of the statement and goes on with the next one. */
static void recover(struct compiler *c)
{
    for (unsigned open = 0; compiler_word(c)->kind != WORD_END; c->pos++) {
        const struct word *w = compiler_word(c);
        if (w->kind != WORD_SIGN) continue;
        if (w->value == '{') open++;
        if (w->value == '}' && !open--) return;
        if (w->value == '}' && !open) {
            c->pos++;
            return;
        }
        if (w->value == ';' && !open) {
            c->pos++;
            return;
        }
    }
}

static bool block(struct compiler *c)
{
    size_t scope = c->symbol_count;
    int32_t depth = c->depth;
    while (!compiler_accept(c, '}')) {
        const struct word *w = compiler_word(c);
        if (w->kind == WORD_END) return compiler_error(c, BASE_SYNTAX, w->offset, "expected '}'");
        if (c->errors >= ERRORS_MAX) return false;
        int32_t before = c->depth;
        bool ok = is_type(c, w) ? local_declaration(c, scope) : statement(c);
        if (ok) continue;
        c->depth = before;
        recover(c);
    }
    close_scope(c, scope, depth);
    return true;
}

static size_t branch(struct compiler *c, uint8_t opcode, size_t to)
{
    c->depth -= cvbc_ops[opcode].pops;
    return compiler_emit(c, opcode, 0, (uint16_t)to, RELOC_BUFFER);
}

static bool if_statement(struct compiler *c)
{
    if (!compiler_expect(c, '(', "'('") || !compiler_expression(c) ||
        !compiler_expect(c, ')', "')'"))
        return false;
    size_t otherwise = branch(c, CVBC_OP_JMP_FALSE, 0);
    if (!statement(c)) return false;
    if (!word_is(&c->words, compiler_word(c), "else")) {
        compiler_patch(c, otherwise);
        return true;
    }
    c->pos++;
    size_t end = branch(c, CVBC_OP_JMP, 0);
    compiler_patch(c, otherwise);
    if (!statement(c)) return false;
    compiler_patch(c, end);
    return true;
}

static bool leave_loop(struct compiler *c, const struct word *w, bool again)
{
    struct loop *l = c->loop;
    if (!l)
        return compiler_error(c, BASE_SYNTAX, w->offset,
                              again ? "continue outside a loop" : "break outside a loop");
    for (int32_t d = c->depth; d > l->depth; d--) compiler_emit(c, CVBC_OP_POP, 0, 0, RELOC_NONE);
    struct jumps *jumps = again ? &l->continues : &l->breaks;
    if (!GROW(c, jumps->at, jumps->count, jumps->capacity)) return false;
    jumps->at[jumps->count++] = branch(c, CVBC_OP_JMP, 0);
    return compiler_expect(c, ';', "';'");
}

static void land(struct compiler *c, struct jumps *jumps)
{
    for (size_t i = 0; i < jumps->count; i++) compiler_patch(c, jumps->at[i]);
    free(jumps->at);
    *jumps = (struct jumps){0};
}

static bool while_statement(struct compiler *c)
{
    struct loop loop = {.outer = c->loop, .depth = c->depth};
    size_t start = c->out->count;
    if (!compiler_expect(c, '(', "'('") || !compiler_expression(c) ||
        !compiler_expect(c, ')', "')'"))
        return false;
    size_t end = branch(c, CVBC_OP_JMP_FALSE, 0);
    c->loop = &loop;
    bool ok = statement(c);
    c->loop = loop.outer;
    land(c, &loop.continues);
    branch(c, CVBC_OP_JMP, start);
    compiler_patch(c, end);
    land(c, &loop.breaks);
    return ok;
}

/* The position after the ) that closes the head of a for. */
static size_t after_head(const struct compiler *c)
{
    size_t at = c->pos, open = 1;
    for (; open && c->words.at[at].kind != WORD_END; at++)
        if (c->words.at[at].kind == WORD_SIGN)
            open = open + (c->words.at[at].value == '(') - (c->words.at[at].value == ')');
    return at;
}

static bool for_body(struct compiler *c, struct loop *loop)
{
    size_t start = c->out->count, end = SIZE_MAX;
    if (!compiler_accept(c, ';')) {
        if (!compiler_expression(c) || !compiler_expect(c, ';', "';'")) return false;
        end = branch(c, CVBC_OP_JMP_FALSE, 0);
    }
    size_t step = c->pos;
    c->pos = after_head(c);
    if (!statement(c)) return false;
    size_t after = c->pos;
    land(c, &loop->continues);
    c->pos = step; /* the step comes after the body */
    if (!compiler_accept(c, ')')) {
        do {
            if (!compiler_expression_statement(c)) return false;
        } while (compiler_accept(c, ','));
        if (!compiler_expect(c, ')', "')'")) return false;
    }
    c->pos = after;
    branch(c, CVBC_OP_JMP, start);
    if (end != SIZE_MAX) compiler_patch(c, end);
    return true;
}

static bool for_statement(struct compiler *c)
{
    size_t scope = c->symbol_count;
    int32_t depth = c->depth;
    if (!compiler_expect(c, '(', "'('")) return false;
    if (is_type(c, compiler_word(c))) {
        if (!local_declaration(c, scope)) return false;
    } else if (!compiler_accept(c, ';')) {
        if (!compiler_expression_statement(c) || !compiler_expect(c, ';', "';'")) return false;
    }
    struct loop loop = {.outer = c->loop, .depth = c->depth};
    c->loop = &loop;
    bool ok = for_body(c, &loop);
    c->loop = loop.outer;
    if (!ok) free(loop.continues.at);
    land(c, &loop.breaks);
    close_scope(c, scope, depth);
    return ok;
}

static bool return_statement(struct compiler *c, const struct word *w)
{
    const struct function *f = c->inside;
    bool value = !compiler_accept(c, ';');
    if (value != f->returns)
        return compiler_error(c, BASE_SYNTAX, w->offset,
                              f->returns ? "the function returns an int"
                                         : "the function returns nothing");
    if (value) {
        struct symbol result = {.kind = SYMBOL_LOCAL, .place = -(int32_t)f->parameters - 2};
        if (!compiler_expression(c) || !compiler_expect(c, ';', "';'")) return false;
        compiler_store(c, &result);
    }
    for (int32_t d = c->depth; d > 0; d--) compiler_emit(c, CVBC_OP_POP, 0, 0, RELOC_NONE);
    compiler_emit(c, CVBC_OP_RET, 0, 0, RELOC_NONE);
    return true;
}

static bool plain_statement(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (compiler_accept(c, ';')) return true;
    if (compiler_accept(c, '{')) return block(c);
    if (is_type(c, w))
        return compiler_error(c, BASE_SYNTAX, w->offset, "a declaration needs a block around it");
    c->pos++;
    if (word_is(&c->words, w, "if")) return if_statement(c);
    if (word_is(&c->words, w, "while")) return while_statement(c);
    if (word_is(&c->words, w, "for")) return for_statement(c);
    if (word_is(&c->words, w, "return")) return return_statement(c, w);
    if (word_is(&c->words, w, "break")) return leave_loop(c, w, false);
    if (word_is(&c->words, w, "continue")) return leave_loop(c, w, true);
    c->pos--;
    return compiler_expression_statement(c) && compiler_expect(c, ';', "';'");
}

static bool statement(struct compiler *c)
{
    if (!compiler_enter(c)) return false;
    bool ok = plain_statement(c);
    compiler_leave(c);
    return ok;
}

/* ---- top level ---- */

static bool parameters(struct compiler *c, struct function *f)
{
    f->parameters = 0;
    if (word_is(&c->words, compiler_word(c), "void") && c->words.at[c->pos + 1].kind == WORD_SIGN &&
        c->words.at[c->pos + 1].value == ')')
        c->pos++;
    while (!compiler_accept(c, ')')) {
        const struct word *w = compiler_word(c);
        if (f->parameters && !compiler_expect(c, ',', "',' or ')'")) return false;
        w = compiler_word(c);
        if (!word_is(&c->words, w, "int"))
            return compiler_error(c, BASE_SYNTAX, w->offset, "expected int");
        c->pos++;
        if (compiler_word(c)->kind == WORD_NAME) c->pos++;
        f->parameters++;
        if (f->parameters > 255)
            return compiler_error(c, CVBC_LIMIT, w->offset, "more than 255 parameters");
    }
    return true;
}

/* All functions of the text, before anything is compiled, so that they can be called from above. */
static void find_functions(struct compiler *c)
{
    unsigned open = 0;
    for (size_t i = 0; i + 2 < c->words.count; i++) {
        const struct word *w = &c->words.at[i];
        if (w->kind == WORD_SIGN) open = open + (w->value == '{') - (w->value == '}' && open);
        if (open || !is_type(c, w) || w[1].kind != WORD_NAME || w[2].kind != WORD_SIGN ||
            w[2].value != '(')
            continue;
        const struct symbol *known = compiler_find(c, &w[1]);
        if (known) continue; /* a prototype, or twice: seen when it is compiled */
        if (!GROW(c, c->functions, c->function_count, c->function_capacity)) return;
        struct function *f = &c->functions[c->function_count];
        *f = (struct function){.name = text_of(c, &w[1]),
                               .offset = w[1].offset,
                               .returns = word_is(&c->words, w, "int")};
        for (size_t k = i + 3; c->words.at[k].kind != WORD_END; k++) {
            if (c->words.at[k].kind == WORD_SIGN && c->words.at[k].value == ')') break;
            f->parameters += word_is(&c->words, &c->words.at[k], "int");
        }
        if (!add_symbol(c, &w[1], SYMBOL_FUNCTION, (int32_t)c->function_count++)) return;
    }
}

/* Parameters as locals below the return index: -1 is the last one. */
static bool bind_parameters(struct compiler *c, size_t at, uint32_t count)
{
    int32_t place = -(int32_t)count - 1;
    size_t scope = c->symbol_count;
    for (uint32_t seen = 0; seen < count; at++) {
        if (!word_is(&c->words, &c->words.at[at], "int")) continue;
        seen++;
        place++;
        const struct word *name = &c->words.at[at + 1];
        if (name->kind != WORD_NAME) continue;
        if (twice(c, name, scope))
            return compiler_error(c, BASE_NAME_TWICE, name->offset,
                                  "two parameters have this name");
        /* the return index is word 0 of the frame for the loads below it */
        if (!add_symbol(c, name, SYMBOL_LOCAL, place - 1)) return false;
    }
    return true;
}

static bool function(struct compiler *c, const struct word *type, const struct word *name)
{
    const struct symbol *s = compiler_find(c, name);
    if (!s || s->kind != SYMBOL_FUNCTION)
        return compiler_error(c, BASE_NAME_TWICE, name->offset, "the name is a variable already");
    struct function *f = &c->functions[s->place], again = {0};
    size_t first = c->pos;
    if (!parameters(c, &again)) return false;
    if (again.parameters != f->parameters || word_is(&c->words, type, "int") != f->returns)
        return compiler_error(c, BASE_SYNTAX, name->offset, "declared differently before");
    if (compiler_accept(c, ';')) return true;
    if (!compiler_expect(c, '{', "'{' or ';'")) return false;
    if (f->defined)
        return compiler_error(c, BASE_NAME_TWICE, name->offset, "the function is defined twice");
    f->defined = true;
    f->entry = (uint32_t)c->body.count;
    size_t scope = c->symbol_count;
    c->out = &c->body;
    c->inside = f;
    c->depth = 0;
    c->loop = NULL;
    bool ok = bind_parameters(c, first, f->parameters) && block(c);
    close_scope(c, scope, 0);
    compiler_emit(c, CVBC_OP_RET, 0, 0, RELOC_NONE);
    c->inside = NULL;
    return ok;
}

static bool global(struct compiler *c, const struct word *name)
{
    if (twice(c, name, 0))
        return compiler_error(c, BASE_NAME_TWICE, name->offset, "the name is declared twice");
    if (compiler_accept(c, '[')) return array(c, name);
    if (c->globals == CVBC_GLOBALS)
        return compiler_error(c, CVBC_LIMIT, name->offset, "more than %d global variables",
                              CVBC_GLOBALS);
    struct symbol *s = add_symbol(c, name, SYMBOL_GLOBAL, (int32_t)c->globals++);
    if (!s) return false;
    if (!compiler_accept(c, '=')) return true;
    struct symbol variable = *s;
    c->out = &c->init;
    c->depth = 0;
    return compiler_expression(c) && compiler_store(c, &variable);
}

static bool top_level(struct compiler *c)
{
    const struct word *type = compiler_word(c);
    if (!is_type(c, type))
        return compiler_error(c, BASE_SYNTAX, type->offset, "expected int or void");
    c->pos++;
    for (bool first = true;; first = false) {
        const struct word *name = compiler_word(c);
        if (name->kind != WORD_NAME)
            return compiler_error(c, BASE_SYNTAX, name->offset, "expected a name");
        c->pos++;
        if (first && compiler_accept(c, '(')) return function(c, type, name);
        if (word_is(&c->words, type, "void"))
            return compiler_error(c, BASE_SYNTAX, type->offset, "a variable is an int");
        if (!global(c, name)) return false;
        if (!compiler_accept(c, ',')) return compiler_expect(c, ';', "';'");
    }
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
    if (f->returns) compiler_emit(c, CVBC_OP_PUSH, 0, 0, RELOC_NONE);
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
    if (loop->returns) compiler_emit(c, CVBC_OP_POP, 0, 0, RELOC_NONE);
    compiler_emit(c, CVBC_OP_JMP, 0, (uint16_t)again, RELOC_BUFFER);
}

static void join(struct compiler *c, const struct buffer *part, size_t base, size_t body,
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
        if (part->at[i].line == *last) continue;
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
        if (c->symbols[i].kind != SYMBOL_FUNCTION && c->symbols[i].name.size <= UINT16_MAX)
            debug_variable(&rows, &c->symbols[i], body);
    uint32_t last = 0;
    debug_lines(&rows, &c->arrays, 0, &last);
    debug_lines(&rows, &c->init, c->arrays.count, &last);
    debug_lines(&rows, &c->body, body, &last);
    cvbc_debug_put(&rows, out);
    cvbc_debug_free(&rows);
}

/* ---- a file ---- */

static void identify(const struct compiler *c, const struct cvbc_compilation *how,
                     struct cvbc_build *b)
{
    uint8_t digest[32];
    struct writer id = {0};
    writer_print(&id, "penta %s%c%s%s%c", PENTA_VERSION_TEXT, 0, how->portable ? "portable " : "",
                 how->strip ? "strip" : "", 0);
    cvbc_digest(writer_view(&id), digest);
    writer_free(&id);
    memcpy(b->core.build_fingerprint, digest, 8);
    cvbc_digest(c->words.text, b->source_sha256);
    memcpy(b->core.source_tree_hash, b->source_sha256, 8);
    b->core.source_language = 1;
    b->core.source_file_count = 1;
    b->core.source_lines_total = c->words.lines;
    const unsigned v[3] = {PENTA_VERSION_MAJOR, PENTA_VERSION_MINOR, PENTA_VERSION_PATCH};
    for (int i = 0; i < 3; i++)
        b->core.compiler_version =
            b->core.compiler_version << 8 | (v[i] / 10 % 10 * 16 + v[i] % 10);
}

static void compile(struct compiler *c, const struct cvbc_compilation *how, struct cvbc_build *b,
                    struct writer *debug)
{
    find_functions(c);
    while (compiler_word(c)->kind != WORD_END && c->errors < ERRORS_MAX) {
        size_t before = c->pos;
        if (top_level(c)) continue;
        recover(c);
        if (c->pos == before || compiler_accept(c, '}')) c->pos += c->pos == before;
    }
    start_up(c);
    size_t base = c->arrays.count, body = base + c->init.count;
    if (body + c->body.count > UINT16_MAX)
        compiler_error(c, CVBC_LIMIT, 0, "the program has more than 65535 instructions");
    if (c->errors) return;
    join(c, &c->arrays, 0, body, b);
    join(c, &c->init, base, body, b);
    join(c, &c->body, body, body, b);
    for (size_t i = 0; i < c->string_count; i++) cvbc_build_string(b, c->strings[i]);
    if (!how->strip) debug_tables(c, how->file, body, debug);
    identify(c, how, b);
}

bool cvbc_compile(penta_bytes text, const struct cvbc_compilation *how, struct cvbc_build *b,
                  struct writer *debug, struct findings *f)
{
    struct compiler c = {.findings = f, .portable = how->portable};
    penta_error err = {0};
    if (words_scan(text, &c.words, &err)) compile(&c, how, b, debug);
    if (c.failed || b->code.failed || debug->failed)
        error_at(&err, BASE_MEMORY, 0, "no memory to compile");
    if (err.code) findings_pass(f, &err);
    free(c.words.at);
    free(c.arrays.at);
    free(c.init.at);
    free(c.body.at);
    free(c.symbols);
    free(c.functions);
    free(c.strings);
    arena_free(&c.arena);
    return !f->errors;
}
