/* Reads declarations (CVBC 16.2): variables, functions, names of types. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

static bool declared_name(struct compiler *c, size_t scope, const struct word *name)
{
    if (!name) return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "expected a name");
    return !scope_twice(c, name, scope) ||
           compiler_error(c, BASE_NAME_TWICE, name->offset, "'%.*s' is declared twice",
                          WORD_ARG(c, name));
}

/* Tells whether the words of a local variable may be in the frame of its function. Otherwise the
 * variable is in an array. */
static bool variable_fits_frame(const struct type *t)
{
    enum { FRAME_RECORD_WORDS = 16 };
    if (t->kind == TYPE_ARRAY) return false;
    for (size_t i = 0; t->kind == TYPE_RECORD && i < t->record->count; i++)
        if (!variable_fits_frame(t->record->members[i].type)) return false;
    return type_words(t) <= FRAME_RECORD_WORDS;
}

static void variable_enter(struct compiler *c, struct symbol *s, bool is_static)
{
    s->lives = !c->inside || is_static;
    if (s->lives) {
        if (COMPILER_GROW(c, c->lasting, c->lasting_count, c->lasting_capacity))
            c->lasting[c->lasting_count++] = s;
        return;
    }
    if (COMPILER_GROW(c, c->locals, c->local_count, c->local_capacity))
        c->locals[c->local_count++] = s;
    if (!variable_fits_frame(s->type)) return;
    struct function *f = c->inside;
    s->storage = STORAGE_FRAME;
    if (s->type->kind == TYPE_STRING) {
        s->place = (int32_t)f->strings++;
        return;
    }
    s->place = (int32_t)f->frame_now;
    f->frame_now += type_words(s->type);
    if (f->frame_now > f->frame) f->frame = f->frame_now;
}

static bool variable_type_fits(struct compiler *c, const struct word *name, const struct type *t)
{
    char text[50];
    bool complete = type_words(t) || (t->kind == TYPE_ARRAY && !t->count);
    if (t->kind == TYPE_RECORD && !t->record->complete) complete = false;
    if (t->kind == TYPE_RECORD && t->record->complete && !t->record->words)
        return compiler_error(c, BASE_SYNTAX, name->offset, "a struct without members");
    return complete || t->kind == TYPE_WRONG ||
           compiler_error(c, BASE_SYNTAX, name->offset, "a variable of type %s",
                          type_text_of(t, text, sizeof text));
}

static bool declaration_variable(struct compiler *c, const struct specifiers *how,
                                 const struct word *name, const struct type *t, struct node *block)
{
    if (!variable_type_fits(c, name, t)) return false;
    struct symbol *s = scope_add(c, name, SYMBOL_VARIABLE, t);
    s->reference = t->kind == TYPE_POINTER && t->is_reference;
    if (!compiler_initialise(c, s)) {
        s->kind = SYMBOL_WRONG; /* Uses of the variable are then not reported as errors. */
        return false;
    }
    bool constant = s->type->is_const && type_is_arithmetic(s->type) && s->initial_count == 1 &&
                    node_is_known(s->initials[0].value);
    if (constant) {
        s->known = true;
        s->number = s->initials[0].value->number;
    }
    variable_enter(c, s, how->is_static);
    if (!block || s->lives) return true;
    struct node *n = node_new(c, STATE_DECLARE, name->offset);
    n->symbol = s;
    n->line = name->line;
    node_add(c, block, n);
    return true;
}

static struct function *function_declare(struct compiler *c, const struct word *name,
                                         const struct type *t, size_t word)
{
    penta_bytes text = compiler_text(c, name);
    const struct name_index *x = &c->symbol_names;
    for (uint32_t i = name_index_first(x, text); i; i = x->older[i - 1]) {
        const struct symbol *s = c->symbols[i - 1];
        if (!bytes_equal(s->name, text) || s->hidden || !s->file_scope ||
            (s->library && name->offset <= c->source_size))
            continue;
        if (s->kind == SYMBOL_FUNCTION && type_same(s->type, t)) return s->function;
        compiler_error(c, BASE_NAME_TWICE, name->offset,
                       s->kind == SYMBOL_FUNCTION ? "'%.*s' is declared twice, and differently"
                                                  : "'%.*s' is declared twice",
                       WORD_ARG(c, name));
        return NULL;
    }
    struct symbol *s = scope_add(c, name, SYMBOL_FUNCTION, t);
    s->file_scope = true;
    struct function *f = compiler_new(c, sizeof *f);
    *f = (struct function){.name = text,
                           .type = t,
                           .word = word,
                           .offset = name->offset,
                           .index = (uint32_t)c->function_count + 1,
                           .library = s->library,
                           .line = name->line,
                           .result_words = type_words(t->of)};
    for (uint32_t i = 0; i < t->parameter_count; i++)
        f->parameter_words += type_words(t->parameters[i]);
    f->in_place = f->library && f->parameter_words && f->result_words && text.size > 1 &&
                  text.data[0] == '_' && text.data[1] == '_';
    s->function = f;
    if (!COMPILER_GROW(c, c->functions, c->function_count, c->function_capacity)) return NULL;
    c->functions[c->function_count++] = f;
    return f;
}

/* Declares the parameters. Their words are below the return index, the last one on top. */
static bool function_parameters(struct compiler *c, struct function *f,
                                const struct parameter_names *names)
{
    int32_t place = -1 - (int32_t)f->parameter_words;
    f->parameters = compiler_array(c, names->count, sizeof *f->parameters);
    if (!f->parameters) return false;
    for (uint32_t i = 0; i < names->count; i++) {
        const struct type *t = f->type->parameters[i];
        static const struct word none = {.kind = WORD_NAME, .line = 1};
        const struct word *name = names->at[i] ? names->at[i] : &none;
        if (names->at[i] && scope_twice(c, name, c->symbol_count - i))
            return compiler_error(c, BASE_NAME_TWICE, name->offset, "'%.*s' is declared twice",
                                  WORD_ARG(c, name));
        struct symbol *s = scope_add(c, name, SYMBOL_VARIABLE, t);
        s->parameter = true;
        s->reference = t->kind == TYPE_POINTER && t->is_reference;
        s->storage = STORAGE_FRAME;
        s->place = place;
        s->hidden = !names->at[i];
        place += (int32_t)type_words(t);
        f->parameters[i] = s;
        if (COMPILER_GROW(c, c->locals, c->local_count, c->local_capacity))
            c->locals[c->local_count++] = s;
    }
    return true;
}

bool compiler_parse_body(struct compiler *c, struct function *f, struct parameter_names *names)
{
    if (f->body)
        return compiler_error(c, BASE_NAME_TWICE, f->offset, "'%.*s' is defined twice",
                              BYTES_ARG(f->name, 40));
    size_t scope = c->symbol_count;
    c->inside = f;
    c->breakable_count = 0;
    f->body = node_new(c, STATE_BLOCK, compiler_word(c)->offset);
    bool ok = function_parameters(c, f, names) && compiler_block(c, f->body);
    f->last_line = c->words.at[c->pos - 1].line;
    scope_close(c, scope);
    c->inside = NULL;
    for (const struct jump_label *l = f->labels; ok && l; l = l->next)
        if (!l->defined)
            ok = compiler_error(c, BASE_NAME_UNKNOWN, l->offset, "the label '%.*s' is not there",
                                BYTES_ARG(l->name, 40));
    /* The errors inside the function have been reported, and reading continues after it. */
    return ok || c->errors < ERRORS_MAX;
}

bool compiler_function_at(struct compiler *c, size_t word, bool body)
{
    struct specifiers s;
    struct parameter_names names;
    const struct word *name;
    const struct type *t;
    c->pos = word;
    if (!compiler_specifiers(c, &s) || !compiler_declarator(c, s.type, &name, &t, &names) ||
        !name || t->kind != TYPE_FUNCTION)
        return false;
    struct function *f = function_declare(c, name, t, word);
    if (!f || !body) return f;
    return compiler_expect(c, '{', "'{'") && compiler_parse_body(c, f, &names);
}

static bool declaration_one(struct compiler *c, const struct specifiers *how, size_t scope,
                            size_t word, struct node *block, bool *body)
{
    struct parameter_names names;
    const struct word *name;
    const struct type *t;
    if (!compiler_declarator(c, how->type, &name, &t, &names)) return false;
    if (name && t->kind == TYPE_FUNCTION && !how->is_typedef) {
        struct function *inside = c->inside;
        c->inside = NULL;
        struct function *f = function_declare(c, name, t, word);
        c->inside = inside;
        *body = f && !block && compiler_accept(c, '{');
        if (!*body) return f;
        return compiler_parse_body(c, f, &names);
    }
    if (how->is_typedef) {
        if (!name) return declared_name(c, scope, name);
        if (scope_twice(c, name, scope))
            return true; /* The same type is declared again, as C++ programmers do. */
        scope_add(c, name, SYMBOL_TYPE, t);
        return true;
    }
    return declared_name(c, scope, name) && declaration_variable(c, how, name, t, block);
}

static bool declaration_list(struct compiler *c, size_t scope, struct node *block)
{
    struct specifiers how;
    size_t word = c->pos;
    if (!compiler_specifiers(c, &how)) return false;
    if (compiler_accept(c, ';')) return true; /* This declares only a struct or an enum. */
    bool body = false;
    do {
        if (!declaration_one(c, &how, scope, word, block, &body)) return false;
        if (body) return true;
    } while (compiler_accept(c, ','));
    return compiler_expect(c, ';', "';'");
}

bool compiler_local_declaration(struct compiler *c, size_t scope, struct node *block)
{
    return declaration_list(c, scope, block);
}

bool compiler_top_level(struct compiler *c)
{
    if (compiler_accept(c, ';')) return true;
    const struct word *w = compiler_word(c);
    if (w->kind == WORD_SIGN && w->value == '}') {
        c->pos++;
        return compiler_error(c, BASE_SYNTAX, w->offset, "a '}' without its '{'");
    }
    return declaration_list(c, 0, NULL);
}
