/* Reads calls: of functions, of the machine's host (calls.def), and of the methods of String
 * (methods.def). A function of the library may have several forms: min__f takes floats, min__u
 * unsigned numbers, random__1 one argument. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/suggest.h"
#include "cvbc/compile/compiler.h"
#include "cvbc/compile/parse/printing.h"

enum { PIN_NONE = -1, RESULT_VOID = 0, RESULT_INT, RESULT_UNSIGNED };
#define PIN_0 0
static const struct builtin {
    const char *name;
    uint8_t opcode, arguments, result;
    int8_t pin; /* number of the argument that is a pin, or PIN_NONE */
} builtins[] = {
#define CALL(name, opcode, arguments, result, pin, use, feature)                                   \
    {name, CVBC_OP_##opcode, arguments, RESULT_##result, PIN_##pin},
#include "cvbc/compile/calls.def"
};
const char *const compiler_call_names[] = {
#define CALL(name, ...) name,
#include "cvbc/compile/calls.def"
    "printf", "Serial", "Serial1", NULL};

enum { ARGUMENTS_MAX = 255 };
struct arguments {
    struct node *at[ARGUMENTS_MAX];
    uint32_t count;
    uint16_t height;
    bool wrong;
};

/* Reads the arguments of a call, ( a, b ). */
static bool calls_arguments(struct compiler *c, struct arguments *out)
{
    *out = (struct arguments){.count = 0};
    if (!compiler_expect(c, '(', "'('")) return false;
    while (!compiler_accept(c, ')')) {
        if (out->count && !compiler_expect(c, ',', "',' or ')'")) return false;
        const struct word *w = compiler_word(c);
        struct node *n = compiler_assignment(c);
        if (c->pos && compiler_word(c) == w) return false; /* An error was reported. */
        if (out->count == ARGUMENTS_MAX)
            return compiler_error(c, CVBC_LIMIT, w->offset, "more than %d arguments",
                                  ARGUMENTS_MAX);
        out->wrong |= n->kind == NODE_WRONG;
        if (n->height > out->height) out->height = n->height;
        out->at[out->count++] = n;
    }
    return true;
}

bool compiler_values(struct compiler *c, struct node **values, uint32_t most, uint32_t *count)
{
    struct arguments args;
    const struct word *at = compiler_word(c);
    if (!calls_arguments(c, &args)) return false;
    *count = args.count;
    if (args.count > most)
        return compiler_error(c, BASE_SYNTAX, at->offset, "at most %u arguments, not %u",
                              (unsigned)most, (unsigned)args.count);
    memcpy(values, args.at, args.count * sizeof *values);
    return true;
}

static struct node *calls_with(struct compiler *c, struct node *n, const struct arguments *args)
{
    n->items = compiler_array(c, args->count + 1, sizeof *n->items);
    if (!n->items || n->kind == NODE_WRONG) return node_wrong(c);
    n->count = args->count;
    memcpy(n->items, args->at, args->count * sizeof *n->items);
    n->height = (uint16_t)(args->height + 3);
    if (args->count) n->line = args->at[0]->line;
    if (n->height < HEIGHT_MAX) return n;
    compiler_error(c, CVBC_LIMIT, n->offset, "an expression of more than %d operators in a row",
                   HEIGHT_MAX);
    return node_wrong(c);
}

static bool calls_count(struct compiler *c, const struct word *name, uint32_t wanted,
                        uint32_t given)
{
    return wanted == given ||
           compiler_error(c, BASE_SYNTAX, name->offset, "%.*s takes %u arguments, not %u",
                          WORD_ARG(c, name), (unsigned)wanted, (unsigned)given);
}

static struct node *call_function(struct compiler *c, struct function *f, const struct word *name,
                                  struct arguments *args)
{
    struct node *n = node_new(c, NODE_CALL, name->offset);
    scope_want(c, f);
    if (args->wrong || !calls_count(c, name, f->type->parameter_count, args->count))
        return node_wrong(c);
    for (uint32_t i = 0; i < args->count; i++) {
        char what[64];
        const struct type *t = f->type->parameters[i];
        snprintf(what, sizeof what, "argument %u of %.*s", (unsigned)i + 1,
                 (int)(name->size > 30 ? 30 : name->size),
                 (const char *)c->words.text.data + name->offset);
        if (t->kind == TYPE_POINTER && t->is_reference)
            args->at[i] = node_address(c, args->at[i], args->at[i]->offset);
        args->at[i] = node_assignable(c, args->at[i], t, what);
        if (args->at[i]->kind == NODE_WRONG) return node_wrong(c);
    }
    n->function = f;
    n->type = f->type->of;
    n->line = name->line;
    return calls_with(c, n, args);
}

/* Returns the form of a library function for these arguments, or NULL if the library has no
 * function with this name. */
static struct function *call_form(struct compiler *c, const struct word *name,
                                  const struct arguments *args)
{
    char text[64];
    bool real = false, wide = false;
    for (uint32_t i = 0; i < args->count; i++) {
        real |= args->at[i]->type->kind == TYPE_FLOAT;
        wide |= type_is_wide_unsigned(args->at[i]->type) && !node_is_known(args->at[i]);
    }
    if (name->size > 40) return NULL;
    int size = (int)name->size;
    const char *letters = (const char *)c->words.text.data + name->offset;
    struct function *f = NULL;
    if (real || wide) {
        snprintf(text, sizeof text, "%.*s__%c", size, letters, real ? 'f' : 'u');
        f = scope_library(c, text);
    }
    if (!f) {
        snprintf(text, sizeof text, "%.*s__%u", size, letters, (unsigned)args->count);
        f = scope_library(c, text);
    }
    return f;
}

static bool call_pin_fits(struct compiler *c, const struct builtin *b, const struct node *pin)
{
    enum { PINS = 20 }; /* number of pins that the machine has */
    if (!node_is_known(pin)) return true;
    if (pin->number >= PINS)
        return compiler_error(c, CVBC_PIN_UNDECLARED, pin->offset, "%s of pin %d; pins are 0 to %d",
                              b->name, (int)pin->number, PINS - 1);
    bool told = c->pins_told >> pin->number & 1;
    if (c->how->pins && !c->how->pins[pin->number] && !told) {
        c->pins_told |= UINT32_C(1) << pin->number;
        return compiler_error(c, CVBC_PIN_UNDECLARED, pin->offset,
                              "%s of pin %d, which is not declared", b->name, (int)pin->number);
    }
    return true;
}

static struct node *call_builtin(struct compiler *c, const struct builtin *b,
                                 const struct word *name, struct arguments *args)
{
    struct node *n = node_new(c, NODE_HOST, name->offset);
    if (b->opcode == CVBC_OP_TONE && args->count == 2) /* The tone lasts until noTone. */
        args->at[args->count++] = node_number(c, &type_int, 0, name->offset);
    /* The option 'portable' is the cause of all these errors, so only the first is reported. */
    if (c->how->portable && cvbc_ops[b->opcode].minor) {
        if (!c->portable_told)
            compiler_error(
                c, BASE_SYNTAX, name->offset,
                "%.*s needs an instruction of format 1.3, which option 'portable' leaves out",
                WORD_ARG(c, name));
        c->portable_told = true;
        return node_wrong(c);
    }
    if (args->wrong || !calls_count(c, name, b->arguments, args->count)) return node_wrong(c);
    for (uint32_t i = 0; i < args->count; i++) {
        bool handler = b->opcode == CVBC_OP_ATTACH && i == 1;
        args->at[i] = handler ? node_assignable(c, args->at[i], &type_handler, "the handler")
                              : node_assignable(c, args->at[i], &type_int, "the argument");
        if (args->at[i]->kind == NODE_WRONG) return node_wrong(c);
    }
    c->interrupts |= b->opcode == CVBC_OP_ATTACH;
    if (b->pin != PIN_NONE && !call_pin_fits(c, b, args->at[b->pin])) return node_wrong(c);
    enum { MODES_MAX = 256 }; /* At most this many pins are compared with each analogWrite. */
    if (b->opcode == CVBC_OP_PIN_MODE && c->mode_count < MODES_MAX &&
        COMPILER_GROW(c, c->modes, c->mode_count, c->mode_capacity))
        c->modes[c->mode_count++] = args->at[0];
    n->opcode = b->opcode;
    n->type = b->result == RESULT_VOID       ? &type_void
              : b->result == RESULT_UNSIGNED ? &type_unsigned
                                             : &type_int;
    n->line = name->line;
    return calls_with(c, n, args);
}

/* Makes __peek(a) and __poke(a, v), by which library functions read and write memory. */
static struct node *call_memory(struct compiler *c, const struct word *name, struct arguments *args)
{
    struct node *at = node_convert(c, args->at[0], type_pointer_to(c, &type_int));
    at = node_at(c, at, name->offset);
    return args->count == 1 ? at : node_assign(c, 0, at, args->at[1], name->offset);
}

static void arguments_of(struct arguments *args, struct node *const *values, uint32_t count)
{
    *args = (struct arguments){.count = count};
    for (uint32_t i = 0; i < count; i++) {
        args->at[i] = values[i];
        args->wrong |= values[i]->kind == NODE_WRONG;
        if (values[i]->height > args->height) args->height = values[i]->height;
    }
}

struct node *compiler_library_call(struct compiler *c, const char *function,
                                   const struct word *name, struct node *const *values,
                                   uint32_t count)
{
    struct arguments args;
    struct function *f = scope_library(c, function);
    arguments_of(&args, values, count);
    return f ? call_function(c, f, name, &args) : node_wrong(c);
}

/* Makes a call of a host instruction that the sketch does not name: Serial.read() becomes
 * __serial_read(0). `name` is the name for messages. */
struct node *call_host(struct compiler *c, const char *function, const struct word *name,
                       struct node *const *values, uint32_t count)
{
    struct arguments args;
    arguments_of(&args, values, count);
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (!strcmp(builtins[i].name, function)) return call_builtin(c, &builtins[i], name, &args);
    return node_wrong(c);
}

/* A pointer as one to the words behind it. */
static struct node *pointer_retyped(struct compiler *c, const struct node *n, const struct type *t)
{
    struct node *made = node_new(c, NODE_WRONG, n->offset);
    if (c->failed) return made;
    *made = *n;
    made->type = t;
    return made;
}

/* Makes a number of bytes a number of words, for elements of one type. */
static struct node *bytes_as_words(struct compiler *c, struct node *n, const struct type *of)
{
    n = node_assignable(c, n, &type_int, "the number of bytes");
    if (type_bytes(of) != 1)
        n = node_binary(c, '/', n, node_number(c, &type_int, type_bytes(of), n->offset), n->offset);
    if (type_words(of) != 1)
        n = node_binary(c, '*', n, node_number(c, &type_int, type_words(of), n->offset), n->offset);
    return n;
}

/* Makes of the byte that memset stores the value of a whole element. */
static struct node *byte_repeated(struct compiler *c, struct node *value, const struct type *of)
{
    value = node_assignable(c, value, &type_int, "the byte");
    if (node_is_known(value) && !value->number) return value;
    if (of->kind == TYPE_RECORD || of->kind == TYPE_ARRAY || of->kind == TYPE_STRING) {
        compiler_error(c, BASE_SYNTAX, value->offset, "only 0 is known for all members");
        return node_wrong(c);
    }
    uint32_t bytes = type_bytes(of), times = bytes == 1 ? 1 : bytes == 2 ? 0x0101 : 0x01010101;
    value = node_binary(c, '&', value, node_number(c, &type_int, UINT8_MAX, value->offset),
                        value->offset);
    value =
        node_binary(c, '*', value, node_number(c, &type_int, times, value->offset), value->offset);
    return of->kind == TYPE_NUMBER ? node_convert(c, node_convert(c, value, of), &type_int) : value;
}

/* Makes a call of memcpy, memmove or memset. Sizes are bytes in C, and every number is a word here,
 * so that the type of the elements must be known. */
static struct node *call_bytes(struct compiler *c, const struct word *name, bool fill,
                               struct arguments *args)
{
    const struct type *words = type_pointer_to(c, &type_int);
    struct node *all[3];
    if (args->wrong || !calls_count(c, name, 3, args->count)) return node_wrong(c);
    for (int i = 0; i < 2 - fill; i++) {
        all[i] = node_value(c, args->at[i]);
        if (all[i]->kind == NODE_WRONG) return all[i];
        const struct type *t = all[i]->type;
        bool known = t->kind == TYPE_POINTER && type_words(t->of) && t->of->kind != TYPE_STRING;
        if (!known || (!i && t->of->is_const) ||
            (i && type_bytes(t->of) != type_bytes(all[0]->type->of))) {
            compiler_error(c, BASE_SYNTAX, args->at[i]->offset,
                           !known ? "%.*s wants a pointer to elements of a known type"
                           : i    ? "%.*s wants elements of one size"
                                  : "%.*s would change what is constant",
                           WORD_ARG(c, name));
            return node_wrong(c);
        }
    }
    const struct type *to = all[0]->type;
    all[0] = pointer_retyped(c, all[0], words);
    all[1] = fill ? byte_repeated(c, args->at[1], to->of) : pointer_retyped(c, all[1], words);
    all[2] = bytes_as_words(c, args->at[2], to->of);
    struct node *n = compiler_library_call(c, fill ? "__fill" : "__copy", name, all, 3);
    return n->kind == NODE_WRONG ? n : pointer_retyped(c, n, to);
}

struct node *compiler_call(struct compiler *c, const struct word *name)
{
    struct arguments args;
    bool library = name->offset > c->source_size;
    struct symbol *s = scope_find(c, name);
    if (s && s->kind == SYMBOL_VARIABLE) {
        struct node *n = node_variable(c, s, name->offset);
        /* The function is called with the reference first. */
        return s->reference ? node_at(c, n, name->offset) : n;
    }
    if (!s && word_is(&c->words, name, "printf")) return printing_printf(c, name);
    if (!s && compiler_refused(c, name)) return node_wrong(c);
    if (!calls_arguments(c, &args)) return node_wrong(c);
    if (s && s->kind == SYMBOL_FUNCTION && !(s->library && !library))
        return call_function(c, s->function, name, &args);
    for (size_t i = 0; !s && i < sizeof builtins / sizeof *builtins; i++)
        if (word_is(&c->words, name, builtins[i].name))
            return call_builtin(c, &builtins[i], name, &args);
    bool fill = word_is(&c->words, name, "memset");
    if (!s && (fill || word_is(&c->words, name, "memcpy") || word_is(&c->words, name, "memmove")))
        return call_bytes(c, name, fill, &args);
    if (library && (word_is(&c->words, name, "__peek") || word_is(&c->words, name, "__poke")))
        return call_memory(c, name, &args);
    struct function *form = call_form(c, name, &args);
    if (!form && s && s->kind == SYMBOL_FUNCTION) form = s->function;
    if (form) return call_function(c, form, name, &args);
    if (s && s->kind == SYMBOL_WRONG) return node_wrong(c);
    compiler_unknown(c, name, "a function", false);
    struct symbol *told = scope_add(c, name, SYMBOL_WRONG, &type_wrong);
    told->file_scope = false;
    return node_wrong(c);
}

enum { METHOD_NONE, METHOD_TEXT, METHOD_NUMBER, METHOD_CHARACTER, METHOD_REAL, METHOD_POINTER };
static const struct method {
    const char *name, *function;
    uint8_t count, result, argument[2];
    bool changes;
} methods[] = {
#define METHOD(name, arguments, function, result, changes, first, second)                          \
    {name, function, arguments, METHOD_##result, {METHOD_##first, METHOD_##second}, changes},
#include "cvbc/compile/methods.def"
};

static const struct type *method_type(uint8_t what)
{
    switch (what) {
    case METHOD_TEXT: return &type_string;
    case METHOD_CHARACTER: return &type_char;
    case METHOD_REAL: return &type_float;
    case METHOD_POINTER: return &type_text;
    default: return &type_int;
    }
}

static struct node *method_call(struct compiler *c, const struct method *m, struct node *object,
                                const struct word *name, struct arguments *args)
{
    struct arguments all = {.count = args->count + 1, .height = args->height};
    struct function *f = scope_library(c, m->function);
    struct node *n = node_new(c, NODE_CALL, name->offset);
    if (!f || args->wrong || object->kind == NODE_WRONG) return node_wrong(c);
    scope_want(c, f);
    all.at[0] = object;
    if (m->changes) {
        all.at[0] = node_new(c, NODE_LOADED, name->offset);
        all.at[0]->type = &type_string;
    }
    if (object->height > all.height) all.height = object->height;
    for (uint32_t i = 0; i < args->count; i++) {
        struct node *a = args->at[i];
        /* concat and similar methods take every kind of number. Other methods that take a text
         * do not take numbers. */
        all.at[i + 1] = node_assignable(c, a, method_type(m->argument[i]), "the argument");
        if (all.at[i + 1]->kind == NODE_WRONG) return node_wrong(c);
    }
    n->function = f;
    n->type = method_type(m->result);
    n = calls_with(c, n, &all);
    return m->changes ? node_update(c, object, n, name->offset) : n;
}

struct node *compiler_method(struct compiler *c, struct node *object, const struct word *name)
{
    struct arguments args;
    bool known = false;
    if (!calls_arguments(c, &args)) return node_wrong(c);
    c->memory = c->strings_used = true;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!word_is(&c->words, name, methods[i].name)) continue;
        known = true;
        if (methods[i].count == args.count) return method_call(c, &methods[i], object, name, &args);
    }
    struct suggest near = {.word = compiler_text(c, name)};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        suggest_offer(&near, methods[i].name);
    if (known)
        compiler_error(c, BASE_SYNTAX, name->offset, "%.*s does not take %u arguments",
                       WORD_ARG(c, name), (unsigned)args.count);
    else
        compiler_error(c, BASE_NAME_UNKNOWN, name->offset, "String has no method '%.*s'%s%s%s",
                       WORD_ARG(c, name), near.best ? "; did you mean '" : "",
                       near.best ? near.best : "", near.best ? "'?" : "");
    return node_wrong(c);
}
