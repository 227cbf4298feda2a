/* Compiles declarations (CVBC 16.2): functions, variables, arrays, enumerations, names of types. */
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/long_work.h"
#include "cvbc/compile/compiler.h"

/* ---- names ---- */

static struct symbol *add_symbol(struct compiler *c, const struct word *name, enum symbol_kind kind,
                                 struct type type, int32_t place)
{
    if (!COMPILER_GROW(c, c->symbols, c->symbol_count, c->symbol_capacity)) return NULL;
    if (!name_index_add(&c->symbol_names, compiler_text(c, name))) {
        compiler_no_memory(c);
        return NULL;
    }
    struct symbol *s = &c->symbols[c->symbol_count++];
    *s = (struct symbol){.name = compiler_text(c, name),
                         .kind = kind,
                         .type = type,
                         .place = place,
                         .first = (uint32_t)c->body.count,
                         .last = UINT16_MAX};
    return s;
}

/* Tells whether the innermost scope, whose names start at `scope`, has the name already. */
static bool declaration_twice(const struct compiler *c, const struct word *name, size_t scope)
{
    penta_bytes text = compiler_text(c, name);
    const struct name_index *x = &c->symbol_names;
    for (uint32_t i = name_index_first(x, text); i > scope; i = x->older[i - 1]) {
        const struct symbol *s = &c->symbols[i - 1];
        if (!s->hidden && !s->library && bytes_equal(s->name, text)) return true;
    }
    return false;
}

static bool declared_name(struct compiler *c, size_t scope, const struct word **name)
{
    *name = compiler_word(c);
    if ((*name)->kind != WORD_NAME || compiler_is_type(c, *name))
        return compiler_error(c, BASE_SYNTAX, (*name)->offset, "expected a name");
    c->pos++;
    return !declaration_twice(c, *name, scope) ||
           compiler_error(c, BASE_NAME_TWICE, (*name)->offset, "'%.*s' is declared twice",
                          WORD_ARG(c, *name));
}

static bool add_type_name(struct compiler *c, const struct word *name)
{
    if (!COMPILER_GROW(c, c->type_names, c->type_name_count, c->type_name_capacity)) return false;
    c->type_names[c->type_name_count++] = compiler_text(c, name);
    return name_index_add(&c->type_name_index, compiler_text(c, name)) || compiler_no_memory(c);
}

/* ---- enumerations and names of types ---- */

bool compiler_enum(struct compiler *c)
{
    if (compiler_is(c, "class")) c->pos++;
    if (compiler_word(c)->kind == WORD_NAME) c->pos++; /* the first pass has entered it */
    if (compiler_accept(c, ':')) {
        struct type ignored;
        if (!compiler_type(c, &ignored)) return false;
    }
    uint32_t value = 0;
    if (!compiler_accept(c, '{')) return true;
    while (!compiler_accept(c, '}')) {
        const struct word *name;
        if (!declared_name(c, c->inside ? c->symbol_count : 0, &name)) return false;
        if (compiler_accept(c, '=') && !compiler_constant_expression(c, &value)) return false;
        struct symbol *s = add_symbol(c, name, SYMBOL_CONSTANT, type_int, 0);
        if (!s) return false;
        s->number = value++;
        if (!compiler_accept(c, ',') && compiler_word(c)->kind != WORD_SIGN)
            return compiler_expect(c, '}', "',' or '}'");
    }
    return true;
}

static bool type_definition(struct compiler *c)
{
    struct type ignored;
    if (compiler_is(c, "enum")) {
        c->pos++;
        if (!compiler_enum(c)) return false;
    } else if (!compiler_type(c, &ignored)) {
        return false;
    }
    if (compiler_word(c)->kind == WORD_NAME) c->pos++;
    return compiler_expect(c, ';', "';'");
}

/* ---- arrays ---- */

/* Parses [n][m]. *open says that the first one is [], whose size the initialiser gives. */
static bool declaration_dimensions(struct compiler *c, struct symbol *s, bool *open)
{
    uint32_t elements = 1;
    *open = false;
    for (unsigned d = 0;; d++) {
        const struct word *at = compiler_word(c);
        uint32_t size = 0;
        if (d == DIMENSIONS)
            return compiler_error(c, BASE_SYNTAX, at->offset, "an array has up to %d dimensions",
                                  DIMENSIONS);
        if (!d && compiler_accept(c, ']')) {
            *open = true;
        } else {
            if (!compiler_constant_expression(c, &size)) return false;
            if (size < 1 || size > ARRAY_MAX)
                return compiler_error(c, CVBC_LIMIT, at->offset, "an array has 1 to %d elements",
                                      ARRAY_MAX);
            if (!compiler_expect(c, ']', "']'")) return false;
        }
        s->dims[d] = (uint16_t)(size ? size : 1);
        elements *= s->dims[d];
        if (elements > ARRAY_MAX)
            return compiler_error(c, CVBC_LIMIT, at->offset,
                                  "an array has at most %d elements in all", ARRAY_MAX);
        if (!compiler_accept(c, '[')) break;
    }
    s->elements = (uint16_t)elements;
    return true;
}

/* Stores the word on top in element `at`: [v -> ]. */
static bool store_element(struct compiler *c, const struct symbol *s, uint32_t at)
{
    compiler_convert(c, s->type);
    compiler_op(c, CVBC_OP_PUSH, (uint16_t)at);
    compiler_op(c, CVBC_OP_STORE_ARRAY, (uint16_t)s->place);
    return true;
}

/* Compiles { a, { b, c } } into the elements from *at on. Each part of dimension d may have braces. */
static bool initial_list(struct compiler *c, const struct symbol *s, unsigned d, uint32_t *at,
                         uint32_t end)
{
    uint32_t part = 1;
    for (unsigned k = d + 1; k < DIMENSIONS && s->dims[k]; k++) part *= s->dims[k];
    while (!compiler_accept(c, '}')) {
        const struct word *w = compiler_word(c);
        if (*at >= end)
            return compiler_error(c, CVBC_ARRAY_INDEX, w->offset,
                                  "more values than '%.*s' has elements", BYTES_ARG(s->name, 40));
        if (compiler_accept(c, '{')) {
            uint32_t from = *at, to = from + part;
            if (part == 1)
                return compiler_error(c, BASE_SYNTAX, w->offset, "braces around a number");
            if (!initial_list(c, s, d + 1, at, to)) return false;
            *at = to;
        } else {
            if (!compiler_expression(c)) return false;
            store_element(c, s, (*at)++);
        }
        if (!compiler_accept(c, ',') &&
            !(compiler_word(c)->kind == WORD_SIGN && compiler_word(c)->value == '}'))
            return compiler_expect(c, '}', "',' or '}'");
    }
    return true;
}

/* Counts the values of the list at pos, for arrays without a size. */
static uint32_t count_values(const struct compiler *c)
{
    uint32_t count = 0, open = 0;
    bool any = false;
    for (size_t i = c->pos; c->words.at[i].kind != WORD_END; i++) {
        const struct word *w = &c->words.at[i];
        bool sign = w->kind == WORD_SIGN;
        if (sign && w->value == '}' && !open) break;
        if (sign && (w->value == '{' || w->value == '(')) open++;
        if (sign && (w->value == '}' || w->value == ')') && open) open--;
        if (sign && w->value == ',' && !open) {
            count++;
            any = false;
        } else {
            any = true;
        }
    }
    return count + any;
}

static bool declaration_initialise(struct compiler *c, struct symbol *s, bool open,
                                   const struct word *name)
{
    uint32_t at = 0;
    penta_bytes text = {NULL, 0};
    bool letters = compiler_word(c)->kind == WORD_STRING;
    if (letters && !compiler_literal(c, &text)) return false;
    if (!letters && !compiler_expect(c, '{', "'{'")) return false;
    if (open) {
        uint32_t rest = s->elements, count = letters ? (uint32_t)text.size + 1 : count_values(c);
        if (!count || count * rest > ARRAY_MAX)
            return compiler_error(c, CVBC_LIMIT, name->offset,
                                  "an array has 1 to %d elements in all", ARRAY_MAX);
        s->dims[0] = (uint16_t)count;
        s->elements = (uint16_t)(count * rest);
    }
    if (letters && text.size >= s->elements && !(text.size == s->elements))
        return compiler_error(c, CVBC_ARRAY_INDEX, name->offset,
                              "the text is longer than the array");
    for (size_t i = 0; letters && i < text.size; i++) {
        compiler_constant(c, text.data[i]);
        store_element(c, s, (uint32_t)i);
    }
    if (letters) at = (uint32_t)text.size;
    if (!letters && !initial_list(c, s, 0, &at, s->elements)) return false;
    for (; c->inside && !s->type.is_static && at < s->elements;
         at++) { /* clears what an earlier call left */
        compiler_constant(c, 0);
        store_element(c, s, at);
    }
    return true;
}

/* Creates the array at the start of the program. An array that lives as long as the program is filled there, others
 * are filled here. */
static bool declaration_array(struct compiler *c, const struct word *name, struct type type)
{
    bool open;
    struct symbol made = {
        .name = compiler_text(c, name), .type = type, .place = (int32_t)c->array_count};
    struct buffer *out = c->out;
    if (!declaration_dimensions(c, &made, &open)) return false;
    if (c->array_count == CVBC_ARRAYS)
        return compiler_error(c, CVBC_LIMIT, name->offset, "more than %d arrays", CVBC_ARRAYS);
    c->array_count++;
    bool given = compiler_accept(c, '='), once = !c->inside || type.is_static, ok = true;
    int32_t depth = c->depth;
    if (once) c->out = &c->init;
    if (given)
        ok = declaration_initialise(c, &made, open, name);
    else if (open)
        ok = compiler_error(c, BASE_SYNTAX, name->offset, "an array without a size needs values");
    c->depth = depth;
    c->out = &c->arrays;
    compiler_emit(c, CVBC_OP_PUSH, 0, made.elements, RELOC_NONE);
    compiler_emit(c, CVBC_OP_CREATE_ARRAY, 0, (uint16_t)made.place, RELOC_NONE);
    c->out = out;
    struct symbol *s = ok ? add_symbol(c, name, SYMBOL_ARRAY, type, made.place) : NULL;
    if (!s) return false;
    s->elements = made.elements;
    memcpy(s->dims, made.dims, sizeof s->dims);
    return true;
}

/* ---- variables ---- */

/* Declares const char *NAME = "text" or const char NAME[] = "text", which is a constant and no variable. */
static bool text_constant(struct compiler *c, const struct word *name, struct type type, bool *did)
{
    const struct word *w = compiler_word(c);
    bool brackets =
        w->kind == WORD_SIGN && w->value == '[' && w[1].kind == WORD_SIGN && w[1].value == ']';
    const struct word *equals = w + (brackets ? 2 : 0);
    *did =
        type.is_text || (brackets && type.is_const && type.is_char && equals->kind == WORD_SIGN &&
                         equals->value == '=' && equals[1].kind == WORD_STRING);
    if (!*did) return true;
    if (type.is_text && w->kind == WORD_SIGN && w->value == '[')
        return compiler_error(c, BASE_SYNTAX, w->offset,
                              "an array of texts is not part of the language: print in a switch");
    c->pos += brackets ? 2 : 0;
    penta_bytes text;
    if (!compiler_expect(c, '=', "'=': a text is constant")) return false;
    if (compiler_word(c)->kind != WORD_STRING)
        return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "expected a text");
    struct symbol *s =
        compiler_literal(c, &text) ? add_symbol(c, name, SYMBOL_TEXT, type, 0) : NULL;
    if (!s) return false;
    s->text = text;
    return true;
}

/* Declares a variable that lives as long as the program. It is a slot, which is filled before main. */
static bool declaration_global(struct compiler *c, const struct word *name, struct type type)
{
    if (c->globals == CVBC_GLOBALS)
        return compiler_error(c, CVBC_LIMIT, name->offset, "more than %d global variables",
                              CVBC_GLOBALS);
    struct buffer *out = c->out;
    int32_t depth = c->depth;
    bool ok = true, constant = false;
    uint32_t number = 0;
    struct symbol variable = {.kind = SYMBOL_GLOBAL, .type = type, .place = (int32_t)c->globals};
    c->out = &c->init;
    c->depth = 0;
    if (compiler_accept(c, '=')) {
        size_t start = c->init.count;
        ok = compiler_expression(c);
        compiler_convert(c, type);
        constant = ok && type.is_const && c->value.known;
        number = c->value.number;
        if (constant)
            c->init.count = start;
        else if (ok)
            compiler_store(c, &variable);
    }
    c->out = out;
    c->depth = depth;
    if (!ok) return false;
    struct symbol *s =
        add_symbol(c, name, constant ? SYMBOL_CONSTANT : SYMBOL_GLOBAL, type, variable.place);
    if (!s) return false;
    s->number = number;
    c->globals += !constant;
    return true;
}

static bool declaration_local(struct compiler *c, const struct word *name, struct type type)
{
    size_t start = c->out->count;
    int32_t depth = c->depth;
    if (!compiler_accept(c, '='))
        compiler_constant(c, 0);
    else if (!compiler_expression(c))
        return false;
    compiler_convert(c, type);
    bool constant = type.is_const && c->value.known;
    uint32_t number = c->value.number;
    if (constant) {
        c->out->count = start;
        c->depth = depth;
    }
    struct symbol *s =
        add_symbol(c, name, constant ? SYMBOL_CONSTANT : SYMBOL_LOCAL, type, c->depth - 1);
    if (s) s->number = number;
    return s != NULL;
}

static bool declaration_variable(struct compiler *c, const struct word *name, struct type type)
{
    bool text;
    if (!text_constant(c, name, type, &text)) return false;
    if (text) return true;
    if (!type.bits) return compiler_error(c, BASE_SYNTAX, name->offset, "a variable of type void");
    if (compiler_accept(c, '[')) return declaration_array(c, name, type);
    return c->inside && !type.is_static ? declaration_local(c, name, type)
                                        : declaration_global(c, name, type);
}

bool compiler_local_declaration(struct compiler *c, size_t scope)
{
    struct type type;
    if (!compiler_type(c, &type)) return false;
    do {
        const struct word *name;
        if (!declared_name(c, scope, &name) || !declaration_variable(c, name, type)) return false;
    } while (compiler_accept(c, ','));
    return compiler_expect(c, ';', "';'");
}

/* ---- functions ---- */

enum { PARAMETERS_MAX = 255 };

/* The parameters (int a, bool b): types, and the names that are given. */
struct parameters {
    struct type types[PARAMETERS_MAX];
    const struct word *names[PARAMETERS_MAX];
    uint32_t count;
};

static bool declaration_parameters(struct compiler *c, struct parameters *p)
{
    p->count = 0;
    if (compiler_is(c, "void") && c->words.at[c->pos + 1].kind == WORD_SIGN &&
        c->words.at[c->pos + 1].value == ')')
        c->pos++;
    while (!compiler_accept(c, ')')) {
        if (p->count && !compiler_expect(c, ',', "',' or ')'")) return false;
        const struct word *w = compiler_word(c);
        if (p->count == PARAMETERS_MAX)
            return compiler_error(c, CVBC_LIMIT, w->offset, "more than %d parameters",
                                  PARAMETERS_MAX);
        struct type *type = &p->types[p->count];
        if (!compiler_type(c, type)) return false;
        bool refused = compiler_accept(c, '&') || type->is_text;
        const struct word *name = compiler_word(c);
        p->names[p->count] = name->kind == WORD_NAME ? name : NULL;
        c->pos += name->kind == WORD_NAME;
        while (compiler_accept(c, '[')) {
            refused = true;
            while (!compiler_accept(c, ']') && compiler_word(c)->kind != WORD_END) c->pos++;
        }
        type->is_text = false;
        if (refused) /* reported; the function stays known, so that its calls are no errors */
            compiler_error(c, BASE_SYNTAX, w->offset,
                           "a parameter is a number: arrays, texts and references are not passed");
        p->count++;
    }
    return true;
}

/* Finds the names of types that the text introduces, in the first pass. */
static void find_type_names(struct compiler *c, size_t i)
{
    const struct word *w = &c->words.at[i];
    if (word_is(&c->words, w, "enum")) {
        const struct word *name = w + 1 + word_is(&c->words, w + 1, "class");
        if (name->kind == WORD_NAME) add_type_name(c, name);
    } else if (word_is(&c->words, w, "typedef")) {
        size_t k = i, open = 0;
        for (; c->words.at[k].kind != WORD_END; k++) {
            if (c->words.at[k].kind != WORD_SIGN) continue;
            open = open + (c->words.at[k].value == '{') - (c->words.at[k].value == '}' && open);
            if (c->words.at[k].value == ';' && !open) break;
        }
        if (k && c->words.at[k - 1].kind == WORD_NAME) add_type_name(c, &c->words.at[k - 1]);
    }
}

static bool add_function(struct compiler *c, size_t from, const struct word *name,
                         struct type result, bool library)
{
    struct parameters p;
    penta_error err = {0};
    const struct symbol *known = compiler_find(c, name);
    if (!declaration_parameters(c, &p)) return false;
    if (known && (!known->library || library))
        return true; /* a prototype, or a second definition, which is found later */
    if (!COMPILER_GROW(c, c->functions, c->function_count, c->function_capacity)) return false;
    struct type *types = arena_alloc(&c->arena, p.count + 1, sizeof *types, &err);
    if (!types) return compiler_no_memory(c);
    memcpy(types, p.types, p.count * sizeof *types);
    c->functions[c->function_count] = (struct function){.name = compiler_text(c, name),
                                                        .result = result,
                                                        .types = types,
                                                        .parameters = p.count,
                                                        .offset = name->offset,
                                                        .library = library,
                                                        .word = from};
    struct symbol *s = add_symbol(c, name, SYMBOL_FUNCTION, result, (int32_t)c->function_count++);
    if (s) s->library = library;
    return s != NULL;
}

/* Finds all functions of a part of the text before anything is compiled, so that code above a function can call it.
 * Errors are reported when the function is compiled. */
void compiler_find_functions(struct compiler *c, size_t from, bool library)
{
    unsigned open = 0, errors = c->errors;
    struct findings *told = c->findings, quiet = {0};
    for (size_t i = from; c->words.at[i].kind != WORD_END; i++) find_type_names(c, i);
    c->findings = &quiet;
    for (size_t i = from; c->words.at[i].kind != WORD_END && !long_work_over(told->work, 1); i++) {
        const struct word *w = &c->words.at[i];
        if (w->kind == WORD_SIGN) open = open + (w->value == '{') - (w->value == '}' && open);
        if (open || !compiler_is_type(c, w)) continue;
        struct type type;
        c->pos = i;
        if (!compiler_type(c, &type)) continue;
        const struct word *name = compiler_word(c);
        if (name->kind == WORD_NAME && name[1].kind == WORD_SIGN && name[1].value == '(') {
            c->pos += 2;
            add_function(c, i, name, type, library);
        }
        if (c->pos > i) i = c->pos - 1;
    }
    c->findings = told;
    c->errors = errors;
    c->pos = 0;
}

/* Makes the parameters locals below the return index; the last parameter is next to it. */
static bool declaration_bind(struct compiler *c, const struct parameters *p)
{
    size_t scope = c->symbol_count;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct word *name = p->names[i];
        if (!name) continue;
        if (declaration_twice(c, name, scope))
            return compiler_error(c, BASE_NAME_TWICE, name->offset,
                                  "two parameters have this name");
        /* for the loads below it, the return index is word 0 of the frame */
        int32_t place = (int32_t)i - (int32_t)p->count - 1;
        if (!add_symbol(c, name, SYMBOL_LOCAL, p->types[i], place)) return false;
    }
    return true;
}

static bool declaration_function(struct compiler *c, struct type type, const struct word *name)
{
    const struct symbol *s = compiler_find(c, name);
    struct parameters p;
    if (!s)
        return declaration_parameters(c, &p) &&
               compiler_error(c, BASE_SYNTAX, name->offset, "not a function");
    if (s->kind != SYMBOL_FUNCTION)
        return compiler_error(c, BASE_NAME_TWICE, name->offset, "the name is a variable already");
    struct function *f = &c->functions[s->place];
    if (!declaration_parameters(c, &p)) return false;
    if (p.count != f->parameters || !type.bits != !f->result.bits)
        return compiler_error(c, BASE_SYNTAX, name->offset, "declared differently before");
    if (compiler_accept(c, ';')) return true;
    if (!compiler_expect(c, '{', "'{' or ';'")) return false;
    if (f->defined)
        return compiler_error(c, BASE_NAME_TWICE, name->offset, "the function is defined twice");
    f->defined = true;
    f->entry = (uint32_t)c->body.count;
    size_t scope = c->symbol_count;
    struct function inside = *f;
    c->out = &c->body;
    c->inside = &inside;
    c->depth = 0;
    c->loop = NULL;
    bool ok = declaration_bind(c, &p) && compiler_block(c);
    compiler_close_scope(c, scope, 0);
    compiler_emit(c, CVBC_OP_RET, 0, 0, RELOC_NONE);
    f->end = (uint32_t)c->body.count;
    c->inside = NULL;
    return ok;
}

bool compiler_library_function(struct compiler *c, struct function *f)
{
    struct type type;
    c->pos = f->word;
    if (!compiler_type(c, &type)) return false;
    const struct word *name = compiler_word(c);
    c->pos += 2;
    return declaration_function(c, type, name);
}

bool compiler_top_level(struct compiler *c)
{
    struct type type;
    const struct word *w = compiler_word(c);
    if (compiler_accept(c, ';')) return true;
    if (word_is(&c->words, w, "typedef")) {
        c->pos++;
        return type_definition(c);
    }
    if (word_is(&c->words, w, "enum") &&
        (w[1].kind == WORD_SIGN ||
         (w[2].kind == WORD_SIGN && (w[2].value == '{' || w[2].value == ':')) ||
         word_is(&c->words, w + 1, "class"))) {
        c->pos++;
        if (!compiler_enum(c)) return false;
        if (compiler_accept(c, ';')) return true;
        type = type_int;
    } else {
        if (compiler_refused(c, w)) return false;
        if (!compiler_is_type(c, w))
            return compiler_error(c, BASE_SYNTAX, w->offset, "expected a declaration");
        if (!compiler_type(c, &type)) return false;
    }
    for (bool first = true;; first = false) {
        const struct word *name = compiler_word(c);
        if (name->kind != WORD_NAME)
            return compiler_error(c, BASE_SYNTAX, name->offset, "expected a name");
        if (first && name[1].kind == WORD_SIGN && name[1].value == '(') {
            c->pos += 2;
            return declaration_function(c, type, name);
        }
        if (!declared_name(c, 0, &name) || !declaration_variable(c, name, type)) return false;
        if (!compiler_accept(c, ',')) return compiler_expect(c, ';', "';'");
    }
}
