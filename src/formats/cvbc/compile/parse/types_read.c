/* Reads types: the words before a declared name, and the signs around the name. Reports types
 * that the language does not have. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

enum { IS_SIZE, IS_SIGNED, IS_UNSIGNED, IS_CHAR, IS_CONST, IS_STATIC, IS_TYPEDEF, IS_NOTHING };
static const struct {
    const char *name;
    uint8_t bits, what;
    /* clang-format off */
} specifiers[] = {
    {"void", 0, IS_SIZE},          {"int", 32, IS_SIZE},          {"long", 32, IS_SIZE},
    {"short", 16, IS_SIZE},        {"char", 8, IS_CHAR},          {"bool", 1, IS_UNSIGNED},
    {"boolean", 1, IS_UNSIGNED},   {"byte", 8, IS_UNSIGNED},      {"word", 16, IS_UNSIGNED},
    {"unsigned", 32, IS_UNSIGNED}, {"signed", 32, IS_SIGNED},     {"int8_t", 8, IS_SIZE},
    {"uint8_t", 8, IS_UNSIGNED},   {"int16_t", 16, IS_SIZE},      {"uint16_t", 16, IS_UNSIGNED},
    {"int32_t", 32, IS_SIZE},      {"uint32_t", 32, IS_UNSIGNED}, {"size_t", 32, IS_UNSIGNED},
    {"float", 33, IS_SIZE},        {"double", 33, IS_SIZE},       {"String", 34, IS_SIZE},
    {"const", 0, IS_CONST},        {"static", 0, IS_STATIC},      {"volatile", 0, IS_NOTHING},
    {"inline", 0, IS_NOTHING},     {"constexpr", 0, IS_CONST},    {"PROGMEM", 0, IS_NOTHING},
    {"extern", 0, IS_NOTHING},     {"register", 0, IS_NOTHING},   {"typedef", 0, IS_TYPEDEF},
    {"enum", 32, IS_SIZE},         {"struct", 35, IS_SIZE},       {"union", 35, IS_SIZE},
    {"SPISettings", 36, IS_SIZE},
};
enum { BITS_FLOAT = 33, BITS_STRING, BITS_RECORD, BITS_SETTINGS };
/* clang-format on */

static const struct {
    const char *name, *why;
} refused[] = {
    {"class", "class is not part of the language: use struct and functions"},
    {"new", "there is no memory to allocate"},
    {"delete", "there is no memory to allocate"},
    {"malloc", "there is no memory to allocate"},
    {"free", "there is no memory to allocate"},
    {"auto", "auto is not there: write the type"},
    {"template", "templates are not part of the language"},
    {"namespace", "namespaces are not part of the language"},
    {"using", "using is not part of the language"},
    {"asm", "machine code is not part of the language"},
    {"int64_t", "int64_t is not there: numbers have 32 bits"},
    {"uint64_t", "uint64_t is not there: numbers have 32 bits"},
};

bool compiler_refused(struct compiler *c, const struct word *w)
{
    for (size_t i = 0; w->kind == WORD_NAME && i < sizeof refused / sizeof *refused; i++)
        if (word_is(&c->words, w, refused[i].name))
            return !compiler_error(c, BASE_SYNTAX, w->offset, "%s", refused[i].why);
    return false;
}

static int types_specifier(const struct compiler *c, const struct word *w)
{
    for (size_t i = 0; w->kind == WORD_NAME && i < sizeof specifiers / sizeof *specifiers; i++)
        if (word_is(&c->words, w, specifiers[i].name)) return (int)i;
    return -1;
}

void compiler_type_words(struct suggest *near)
{
    for (size_t i = 0; i < sizeof specifiers / sizeof *specifiers; i++)
        suggest_offer(near, specifiers[i].name);
}

/* Finds the type with a name. With `tag`, the name of a struct, union or enum is meant, which a
 * variable may share. */
static const struct type *types_found(struct compiler *c, const struct word *w, bool tag)
{
    penta_bytes text = compiler_text(c, w);
    const struct name_index *x = &c->symbol_names;
    if (w->kind != WORD_NAME) return NULL;
    for (uint32_t i = name_index_first(x, text); i; i = x->older[i - 1]) {
        const struct symbol *s = c->symbols[i - 1];
        if (s->hidden || !bytes_equal(s->name, text) || (tag && s->kind != SYMBOL_TYPE)) continue;
        return s->kind == SYMBOL_TYPE ? s->type : NULL;
    }
    return NULL;
}

static const struct type *types_named(struct compiler *c, const struct word *w)
{
    return types_found(c, w, false);
}

bool compiler_is_type(struct compiler *c, const struct word *w)
{
    return types_specifier(c, w) >= 0 || types_named(c, w);
}

static const struct type *type_copy(struct compiler *c, const struct type *from)
{
    struct type *t = compiler_new(c, sizeof *t);
    *t = *from;
    if (t->of) t->depth = (uint16_t)(type_depth(t->of) + 1);
    for (uint32_t i = 0; t->kind == TYPE_FUNCTION && i < t->parameter_count; i++)
        if (type_depth(t->parameters[i]) >= t->depth)
            t->depth = (uint16_t)(type_depth(t->parameters[i]) + 1);
    if (t->depth <= TYPE_DEPTH_MAX) return t;
    compiler_error(c, CVBC_LIMIT, compiler_word(c)->offset, "a type of more than %d types",
                   TYPE_DEPTH_MAX);
    *t = type_wrong;
    return t;
}

const struct type *type_pointer_to(struct compiler *c, const struct type *of)
{
    return type_copy(c, &(struct type){.kind = TYPE_POINTER, .of = of, .bits = 32});
}

static bool types_enum(struct compiler *c)
{
    if (compiler_is(c, "class") || compiler_is(c, "struct")) c->pos++;
    const struct word *name = compiler_word(c);
    if (name->kind == WORD_NAME) {
        c->pos++;
        if (!types_found(c, name, true)) scope_add(c, name, SYMBOL_TYPE, &type_int)->is_tag = true;
    }
    if (compiler_accept(c, ':')) {
        struct specifiers ignored;
        if (!compiler_specifiers(c, &ignored)) return false;
    }
    uint32_t value = 0;
    if (!compiler_accept(c, '{')) return true;
    while (!compiler_accept(c, '}')) {
        const struct word *w = compiler_word(c);
        if (w->kind != WORD_NAME || compiler_is_type(c, w))
            return compiler_error(c, BASE_SYNTAX, w->offset, "expected a name");
        c->pos++;
        if (scope_twice(c, w, c->inside ? c->symbol_count : 0))
            return compiler_error(c, BASE_NAME_TWICE, w->offset, "'%.*s' is declared twice",
                                  WORD_ARG(c, w));
        if (compiler_accept(c, '=') && !compiler_constant_expression(c, &value)) return false;
        struct symbol *s = scope_add(c, w, SYMBOL_CONSTANT, &type_int);
        s->known = true;
        s->number = value++;
        if (!compiler_accept(c, ',') && !compiler_sees(c, '}'))
            return compiler_expect(c, '}', "',' or '}'");
    }
    return true;
}

/* Stores the sizes in bytes of the scalars of an object, word by word. Unions need them, because
 * their members share words. */
static void types_scalar_bytes(const struct type *t, uint32_t from, uint8_t *bytes, uint32_t max)
{
    uint32_t words = type_words(t);
    if (!words || from >= max) return;
    if (t->kind == TYPE_ARRAY) {
        for (uint32_t i = 0; i < t->count && from + i * type_words(t->of) < max; i++)
            types_scalar_bytes(t->of, from + i * type_words(t->of), bytes, max);
    } else if (t->kind == TYPE_RECORD) {
        for (size_t i = 0; i < t->record->count; i++)
            types_scalar_bytes(t->record->members[i].type, from + t->record->members[i].word, bytes,
                               max);
    } else {
        bytes[from] = (uint8_t)type_bytes(t);
    }
}

static bool types_union_fits(struct compiler *c, const struct record *r, const struct word *at)
{
    enum { MAX = 64 };
    uint8_t first[MAX] = {0};
    for (size_t i = 0; i < r->count; i++) {
        uint8_t here[MAX] = {0};
        types_scalar_bytes(r->members[i].type, 0, here, MAX);
        for (size_t k = 0; k < MAX; k++) {
            if (here[k] && first[k] && here[k] != first[k])
                return compiler_error(c, BASE_SYNTAX, at->offset,
                                      "members of a union that share memory must have equal sizes: "
                                      "each number is a word here");
            if (here[k]) first[k] = here[k];
        }
    }
    return true;
}

static bool types_member_add(struct compiler *c, struct record *r, const struct word *name,
                             const struct type *t)
{
    char text[60];
    uint32_t words = type_words(t), bytes = type_bytes(t), align = type_align(t);
    if (!words || t->kind == TYPE_FUNCTION || (t->kind == TYPE_RECORD && !t->record->complete))
        return compiler_error(c, BASE_SYNTAX, name->offset, "'%.*s' has no size: it is %s",
                              WORD_ARG(c, name), type_text_of(t, text, sizeof text));
    const struct type *inner = t;
    while (inner->kind == TYPE_ARRAY) inner = inner->of;
    if (inner->kind == TYPE_STRING)
        return compiler_error(c, BASE_SYNTAX, name->offset,
                              "a String inside a struct is not there: use a char array, or a "
                              "variable of its own");
    for (size_t i = 0; i < r->count; i++)
        if (bytes_equal(r->members[i].name, compiler_text(c, name)))
            return compiler_error(c, BASE_NAME_TWICE, name->offset, "'%.*s' is declared twice",
                                  WORD_ARG(c, name));
    if (!COMPILER_GROW(c, r->members, r->count, r->capacity)) return false;
    if (words > POOL_WORDS - r->words)
        return compiler_error(c, CVBC_LIMIT, name->offset,
                              "a struct of more than %d words, which is all the memory there is",
                              POOL_WORDS);
    r->members[r->count++] = (struct member){compiler_text(c, name), t, r->is_union ? 0 : r->words};
    if (type_depth(t) >= TYPE_DEPTH_MAX)
        return compiler_error(c, CVBC_LIMIT, name->offset, "a type of more than %d types",
                              TYPE_DEPTH_MAX);
    if (type_depth(t) >= r->depth) r->depth = (uint16_t)(type_depth(t) + 1);
    uint32_t at = r->is_union ? 0 : (r->bytes + align - 1) / align * align;
    r->words = r->is_union ? (words > r->words ? words : r->words) : r->words + words;
    r->bytes = r->is_union && r->bytes > bytes ? r->bytes : at + bytes;
    if (align > r->align) r->align = align;
    return true;
}

static bool types_members(struct compiler *c, struct record *r, const struct word *at)
{
    while (!compiler_accept(c, '}')) {
        struct specifiers s;
        if (compiler_word(c)->kind == WORD_END) return compiler_expect(c, '}', "'}'");
        if (!compiler_specifiers(c, &s)) return false;
        do {
            const struct word *name;
            const struct type *t;
            if (!compiler_declarator(c, s.type, &name, &t, NULL)) return false;
            if (!name)
                return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "expected a name");
            if (t->kind == TYPE_FUNCTION)
                return compiler_error(c, BASE_SYNTAX, name->offset,
                                      "functions inside a struct are not there: pass a pointer to "
                                      "it");
            if (compiler_sees(c, ':'))
                return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset,
                                      "bit-fields are not there: use masks");
            if (compiler_sees(c, '='))
                return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset,
                                      "values of members stand where the variable is declared");
            if (!types_member_add(c, r, name, t)) return false;
        } while (compiler_accept(c, ','));
        if (!compiler_expect(c, ';', "';'")) return false;
    }
    r->bytes = (r->bytes + r->align - 1) / r->align * r->align;
    r->complete = true;
    return !r->is_union || types_union_fits(c, r, at);
}

static struct record *record_new(struct compiler *c, bool is_union)
{
    struct record *r = compiler_new(c, sizeof *r);
    *r = (struct record){.is_union = is_union, .align = 1};
    if (COMPILER_GROW(c, c->records, c->record_count, c->record_capacity))
        c->records[c->record_count++] = r;
    return r;
}

static bool types_record(struct compiler *c, bool is_union, const struct type **out)
{
    const struct word *name = compiler_word(c);
    const struct type *known = types_found(c, name, true);
    bool named = name->kind == WORD_NAME;
    c->pos += named;
    bool body = compiler_sees(c, '{');
    if (known && known->kind == TYPE_RECORD && !(body && known->record->complete)) {
        *out = known;
    } else {
        if (!named && !body) return compiler_expect(c, '{', "a name or '{'");
        if (known && body && scope_tag_twice(c, name, c->inside ? c->symbol_count : 0))
            return compiler_error(c, BASE_NAME_TWICE, name->offset, "'%.*s' is defined twice",
                                  WORD_ARG(c, name));
        struct record *r = record_new(c, is_union);
        r->name = named ? compiler_text(c, name) : bytes_of("without a name");
        *out = type_copy(c, &(struct type){.kind = TYPE_RECORD, .record = r});
        if (named) scope_add(c, name, SYMBOL_TYPE, *out)->is_tag = true;
    }
    return !compiler_accept(c, '{') || types_members(c, (*out)->record, name);
}

struct number_words { /* the words of a number type that were read */
    struct type t;
    unsigned longs;
};

static bool types_number_word(struct compiler *c, const struct word *w, int i,
                              struct number_words *n)
{
    n->longs += word_is(&c->words, w, "long");
    if (n->longs == 2)
        return compiler_error(c, BASE_SYNTAX, w->offset,
                              "long long is not there: numbers have 32 bits");
    n->t.is_unsigned |= specifiers[i].what == IS_UNSIGNED;
    n->t.is_char |= specifiers[i].what == IS_CHAR;
    bool modifier = specifiers[i].what == IS_SIGNED || word_is(&c->words, w, "unsigned") ||
                    word_is(&c->words, w, "int");
    if (modifier) return true;
    n->t.kind = specifiers[i].bits == BITS_FLOAT    ? TYPE_FLOAT
                : specifiers[i].bits == BITS_STRING ? TYPE_STRING
                : !specifiers[i].bits               ? TYPE_VOID
                                                    : TYPE_NUMBER;
    n->t.bits = specifiers[i].bits > 32 ? 32 : specifiers[i].bits;
    n->t.is_settings = specifiers[i].bits == BITS_SETTINGS;
    if (n->t.kind == TYPE_STRING) c->strings_used = true;
    return true;
}

bool compiler_specifiers(struct compiler *c, struct specifiers *out)
{
    const struct word *first = compiler_word(c);
    struct number_words n = {.t = type_int};
    const struct type *named = NULL;
    bool said = false, is_const = false;
    *out = (struct specifiers){0};
    for (;; c->pos++) {
        const struct word *w = compiler_word(c);
        int i = types_specifier(c, w);
        if (i < 0) {
            const struct type *t = said ? NULL : types_named(c, w);
            if (!t) break; /* This may be the name that is declared. */
            named = t;
            said = true;
            continue;
        }
        switch (specifiers[i].what) {
        case IS_CONST: is_const = true; continue;
        case IS_STATIC: out->is_static = true; continue;
        case IS_TYPEDEF: out->is_typedef = true; continue;
        case IS_NOTHING: continue;
        default: break;
        }
        bool is_enum = word_is(&c->words, w, "enum");
        if (is_enum || specifiers[i].bits == BITS_RECORD) {
            c->pos++;
            named = &type_int;
            bool ok =
                is_enum ? types_enum(c) : types_record(c, word_is(&c->words, w, "union"), &named);
            if (!ok) return false;
            c->pos--;
            said = true;
            continue;
        }
        if (named) break;
        said = true;
        if (!types_number_word(c, w, i, &n)) return false;
    }
    if (compiler_refused(c, compiler_word(c))) return false;
    if (!said) {
        const struct word *w = compiler_word(c);
        if (w->kind == WORD_NAME && first == w) return compiler_unknown(c, w, "a type", true);
        return compiler_error(c, BASE_SYNTAX, first->offset, "expected a type");
    }
    if (n.t.is_char && n.t.is_unsigned) n.t.is_char = false;
    struct type all = named ? *named : n.t;
    all.is_const |= is_const;
    out->is_constant = is_const;
    out->type = named && !is_const ? named : type_copy(c, &all);
    return true;
}

static bool declarator_parameters(struct compiler *c, struct type *t, struct parameter_names *names)
{
    enum { MAX = sizeof names->at / sizeof *names->at - 1 };
    const struct type *types[MAX];
    const struct word *given[MAX];
    uint32_t count = 0;
    enum { LISTS_MAX = 8 }; /* most lists of parameters inside of each other */
    const struct word *w = compiler_word(c);
    if (c->parameter_lists == LISTS_MAX)
        return compiler_error(c, CVBC_LIMIT, w->offset, "nested too deeply");
    if (compiler_is(c, "void") && w[1].kind == WORD_SIGN && w[1].value == ')') c->pos++;
    while (!compiler_accept(c, ')')) {
        struct specifiers s;
        const struct word *name;
        if (count && !compiler_expect(c, ',', "',' or ')'")) return false;
        if (count == MAX)
            return compiler_error(c, CVBC_LIMIT, compiler_word(c)->offset,
                                  "more than %d parameters", MAX);
        c->parameter_lists++;
        bool ok = compiler_specifiers(c, &s) &&
                  compiler_declarator(c, s.type, &name, &types[count], NULL);
        c->parameter_lists--;
        if (!ok) return false;
        if (compiler_sees(c, '='))
            return compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset,
                                  "values of parameters are not there: give them in the call");
        const struct type *one = types[count];
        if (one->kind == TYPE_ARRAY) types[count] = type_pointer_to(c, one->of);
        if (one->kind == TYPE_FUNCTION) types[count] = type_pointer_to(c, one);
        if (one->kind == TYPE_VOID || (one->kind == TYPE_RECORD && !one->record->complete))
            return compiler_error(c, BASE_SYNTAX, name ? name->offset : w->offset,
                                  "a parameter without a size");
        /* A constant reference is passed as a value. */
        if (one->kind == TYPE_POINTER && one->is_reference && one->of->is_const)
            types[count] = one->of;
        given[count++] = name;
    }
    if (names) {
        names->count = count;
        memcpy(names->at, given, count * sizeof *given);
    }
    t->parameter_count = count;
    t->parameters = compiler_array(c, count, sizeof *types);
    if (!t->parameters) return false;
    memcpy(t->parameters, types, count * sizeof *types);
    return true;
}

/* Reads [n] and (parameters) after a name, and makes the type for them. */
static bool declarator_suffix(struct compiler *c, const struct type *base, const struct type **out,
                              struct parameter_names *names)
{
    const struct word *w = compiler_word(c);
    if (compiler_accept(c, '[')) {
        uint32_t count = 0;
        bool open = compiler_accept(c, ']');
        if (!open) {
            if (!compiler_constant_expression(c, &count)) return false;
            if (!compiler_expect(c, ']', "']'")) return false;
            if ((int32_t)count < 1 || count > POOL_WORDS)
                return compiler_error(c, CVBC_LIMIT, w->offset,
                                      "an array has 1 to %d elements, not %d", POOL_WORDS,
                                      (int)count);
        }
        const struct type *of;
        if (!compiler_enter(c)) return false;
        bool ok = declarator_suffix(c, base, &of, NULL);
        compiler_leave(c);
        if (!ok) return false;
        if (!type_words(of) || (of->kind == TYPE_ARRAY && !of->count))
            return compiler_error(c, BASE_SYNTAX, w->offset, "elements without a size");
        if ((uint64_t)count * type_words(of) > POOL_WORDS)
            return compiler_error(c, CVBC_LIMIT, w->offset,
                                  "an array of %u words; the memory has %d",
                                  (unsigned)(count * type_words(of)), POOL_WORDS);
        *out = type_copy(c, &(struct type){.kind = TYPE_ARRAY, .of = of, .count = count});
        return true;
    }
    bool function = compiler_sees(c, '(') &&
                    (compiler_is_type(c, w + 1) || (w[1].kind == WORD_SIGN && w[1].value == ')'));
    if (!function) {
        *out = base;
        return true;
    }
    c->pos++;
    struct type made = {.kind = TYPE_FUNCTION, .of = base};
    if (base->kind == TYPE_ARRAY || base->kind == TYPE_FUNCTION)
        return compiler_error(c, BASE_SYNTAX, w->offset, "a function cannot return an array");
    if (!declarator_parameters(c, &made, names)) return false;
    *out = type_copy(c, &made);
    return true;
}

static bool declarator_inner(struct compiler *c, const struct type *base, const struct word **name,
                             const struct type **type, struct parameter_names *names)
{
    for (;;) {
        bool reference = compiler_sees(c, '&');
        if (!reference && !compiler_sees(c, '*')) break;
        c->pos++;
        struct type t = {.kind = TYPE_POINTER, .of = base, .bits = 32, .is_reference = reference};
        while (compiler_is(c, "const") || compiler_is(c, "volatile") || compiler_is(c, "PROGMEM")) {
            t.is_const |= compiler_is(c, "const");
            c->pos++;
        }
        base = type_copy(c, &t);
    }
    const struct word *w = compiler_word(c);
    bool nested = compiler_sees(c, '(') && w[1].kind == WORD_SIGN &&
                  (w[1].value == '*' || w[1].value == '(' || w[1].value == '&');
    if (!nested) {
        if (w->kind == WORD_NAME && types_specifier(c, w) < 0) {
            *name = w;
            c->pos++;
        }
        return declarator_suffix(c, base, type, names);
    }
    /* The suffixes after the parentheses belong to the declarator inside of them. */
    size_t open = 1, inside = c->pos + 1;
    for (c->pos++; open && compiler_word(c)->kind != WORD_END; c->pos++)
        if (compiler_word(c)->kind == WORD_SIGN)
            open = open + (compiler_word(c)->value == '(') - (compiler_word(c)->value == ')');
    if (!declarator_suffix(c, base, &base, NULL)) return false;
    size_t after = c->pos;
    c->pos = inside;
    if (!compiler_enter(c)) return false;
    bool ok = declarator_inner(c, base, name, type, names) && compiler_expect(c, ')', "')'");
    compiler_leave(c);
    c->pos = after;
    return ok;
}

bool compiler_declarator(struct compiler *c, const struct type *base, const struct word **name,
                         const struct type **type, struct parameter_names *names)
{
    *name = NULL;
    if (names) names->count = 0;
    return declarator_inner(c, base, name, type, names);
}

bool compiler_type_name(struct compiler *c, const struct type **out)
{
    struct specifiers s;
    const struct word *name;
    if (!compiler_specifiers(c, &s) || !compiler_declarator(c, s.type, &name, out, NULL))
        return false;
    return !name || compiler_error(c, BASE_SYNTAX, name->offset, "expected a type without a name");
}
