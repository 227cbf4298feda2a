/* Implements a small Lisp: numbers, symbols, lists and functions. It reads expressions from
 * standard input and prints their values.
 *
 *     (define (fact n) (if (< n 2) 1 (* n (fact (- n 1)))))
 *     (fact 10)                                                  3628800
 *
 * Special forms are quote ' if define set! lambda let begin. Functions are + - * / % < = cons car
 * cdr list null? pair? eq? print. Memory is never freed, because programs are short. */
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct value value;
typedef value *builtin(value *arguments);
struct value {
    enum { NUMBER, SYMBOL, PAIR, BUILTIN, LAMBDA, NIL } kind;
    union {
        long number;
        char *name;
        builtin *call;
        struct {
            value *head, *tail;
        }; /* the parts of a PAIR */
        struct {
            value *parameters, *body, *scope;
        }; /* the parts of a LAMBDA */
    };
};

static value nil = {.kind = NIL}, *symbols = &nil, *globals, *truth;
static jmp_buf on_error;

static void lisp_fail(const char *what, const char *name)
{
    printf("error: %s%s%s\n", what, name ? ": " : "", name ? name : "");
    longjmp(on_error, 1);
}

static value *value_make(int kind)
{
    value *v = malloc(sizeof *v);
    if (!v) lisp_fail("out of memory", NULL);
    v->kind = kind;
    return v;
}

static value *number_make(long n)
{
    value *v = value_make(NUMBER);
    v->number = n;
    return v;
}

static value *pair_make(value *head, value *tail)
{
    value *v = value_make(PAIR);
    v->head = head;
    v->tail = tail;
    return v;
}

static value *symbol_intern(const char *name)
{
    for (value *s = symbols; s != &nil; s = s->tail)
        if (!strcmp(s->head->name, name)) return s->head;
    value *v = value_make(SYMBOL);
    v->name = strdup(name);
    symbols = pair_make(v, symbols);
    return v;
}

static value *list_head(value *v)
{
    if (v->kind != PAIR) lisp_fail("not a list", NULL);
    return v->head;
}

static value *list_tail(value *v)
{
    if (v->kind != PAIR) lisp_fail("not a list", NULL);
    return v->tail;
}

static long value_integer(value *v)
{
    if (v->kind != NUMBER) lisp_fail("not a number", NULL);
    return v->number;
}

static int next_character(void) /* returns the next character that is no blank or comment */
{
    int c = getchar();
    while (isspace(c) || c == ';') {
        if (c == ';')
            while (c != '\n' && c != EOF) c = getchar();
        if (c != EOF) c = getchar();
    }
    return c;
}

static value *read_value(int c);

static value *read_list(void)
{
    int c = next_character();
    if (c == ')') return &nil;
    if (c == EOF) lisp_fail("unfinished list", NULL);
    value *first = read_value(c);
    return pair_make(first, read_list());
}

static value *read_value(int c)
{
    char word[64];
    size_t n = 0;
    if (c == '(') return read_list();
    if (c == '\'')
        return pair_make(symbol_intern("quote"), pair_make(read_value(next_character()), &nil));
    if (c == ')' || c == EOF) lisp_fail("unexpected end", NULL);
    for (; c != EOF && !isspace(c) && c != '(' && c != ')'; c = getchar())
        if (n < sizeof word - 1) word[n++] = (char)c;
    ungetc(c, stdin);
    word[n] = 0;
    char *end;
    long value_of = strtol(word, &end, 10);
    return *end ? symbol_intern(word) : number_make(value_of);
}

static void value_print(value *v)
{
    switch (v->kind) {
    case NUMBER: printf("%ld", v->number); break;
    case SYMBOL: fputs(v->name, stdout); break;
    case NIL: fputs("()", stdout); break;
    case BUILTIN: fputs("<builtin>", stdout); break;
    case LAMBDA: fputs("<lambda>", stdout); break;
    case PAIR:
        for (char open = '('; v->kind == PAIR; v = v->tail, open = ' ') {
            putchar(open);
            value_print(v->head);
        }
        if (v->kind != NIL) {
            fputs(" . ", stdout);
            value_print(v);
        }
        putchar(')');
        break;
    }
}

static value *scope_lookup(value *name, value *scope)
{
    for (; scope != &nil; scope = scope->tail)
        if (scope->head->head == name) return scope->head;
    for (value *g = globals; g != &nil; g = g->tail)
        if (g->head->head == name) return g->head;
    return NULL;
}

static value *value_eval(value *v, value *scope);

static value *eval_all(value *list, value *scope)
{
    if (list == &nil) return &nil;
    value *first = value_eval(list_head(list), scope);
    return pair_make(first, eval_all(list->tail, scope));
}

static value *scope_bind(value *names, value *values, value *scope)
{
    for (; names->kind == PAIR; names = names->tail, values = list_tail(values))
        scope = pair_make(pair_make(names->head, list_head(values)), scope);
    return scope;
}

static value *global_define(value *name, value *v)
{
    value *old = scope_lookup(name, &nil);
    if (old)
        old->tail = v;
    else
        globals = pair_make(pair_make(name, v), globals);
    return name;
}

static value *lambda_make(value *parameters, value *body, value *scope)
{
    value *f = value_make(LAMBDA);
    f->parameters = parameters;
    f->body = body;
    f->scope = scope;
    return f;
}

/* Evaluates an expression. It loops instead of calling itself where it can, so that calls at the
 * end of a function need no stack. */
static value *value_eval(value *v, value *scope)
{
    for (;;) {
        if (v->kind == SYMBOL) {
            value *found = scope_lookup(v, scope);
            if (!found) lisp_fail("unknown", v->name);
            return found->tail;
        }
        if (v->kind != PAIR) return v;
        value *rest = v->tail;
        const char *form = v->head->kind == SYMBOL ? v->head->name : "";
        if (!strcmp(form, "quote")) return list_head(rest);
        if (!strcmp(form, "if")) {
            int yes = value_eval(list_head(rest), scope) != &nil;
            rest = list_tail(rest);
            v = yes ? list_head(rest) : rest->tail == &nil ? &nil : list_head(rest->tail);
            continue;
        }
        if (!strcmp(form, "lambda")) return lambda_make(list_head(rest), list_tail(rest), scope);
        if (!strcmp(form, "define")) {
            value *name = list_head(rest);
            if (name->kind == PAIR)
                return global_define(name->head, lambda_make(name->tail, rest->tail, scope));
            return global_define(name, value_eval(list_head(rest->tail), scope));
        }
        if (!strcmp(form, "set!")) {
            value *found = scope_lookup(list_head(rest), scope);
            if (!found) lisp_fail("unknown", list_head(rest)->name);
            return found->tail = value_eval(list_head(rest->tail), scope);
        }
        value *body;
        if (!strcmp(form, "begin")) {
            body = rest;
        } else if (!strcmp(form, "let")) {
            value *inner = scope;
            for (value *b = list_head(rest); b != &nil; b = b->tail)
                inner = pair_make(pair_make(list_head(list_head(b)),
                                            value_eval(list_head(list_tail(list_head(b))), scope)),
                                  inner);
            scope = inner;
            body = rest->tail;
        } else {
            value *f = value_eval(v->head, scope), *arguments = eval_all(rest, scope);
            if (f->kind == BUILTIN) return f->call(arguments);
            if (f->kind != LAMBDA) lisp_fail("not a function", form);
            scope = scope_bind(f->parameters, arguments, f->scope);
            body = f->body;
        }
        if (body == &nil) return &nil;
        for (; list_tail(body) != &nil; body = body->tail) value_eval(body->head, scope);
        v = body->head;
    }
}

static value *truth_of(int yes) { return yes ? truth : &nil; }
static value *first_argument(value *a) { return list_head(a); }
static value *second_argument(value *a) { return list_head(list_tail(a)); }

#define FOLD(name, start, op)                                                                      \
    static value *name(value *a)                                                                   \
    {                                                                                              \
        long n = start;                                                                            \
        for (; a != &nil; a = a->tail) n = n op value_integer(list_head(a));                       \
        return number_make(n);                                                                     \
    }
FOLD(do_add, 0, +)
FOLD(do_mul, 1, *)

static value *do_sub(value *a)
{
    if (list_tail(a) == &nil) return number_make(-value_integer(first_argument(a)));
    return number_make(value_integer(first_argument(a)) - value_integer(second_argument(a)));
}

static long argument_divisor(value *a)
{
    long d = value_integer(second_argument(a));
    if (!d) lisp_fail("division by zero", NULL);
    return d;
}

static value *do_div(value *a)
{
    return number_make(value_integer(first_argument(a)) / argument_divisor(a));
}
static value *do_rem(value *a)
{
    return number_make(value_integer(first_argument(a)) % argument_divisor(a));
}
static value *do_less(value *a)
{
    return truth_of(value_integer(first_argument(a)) < value_integer(second_argument(a)));
}
static value *do_equal(value *a)
{
    return truth_of(value_integer(first_argument(a)) == value_integer(second_argument(a)));
}
static value *do_cons(value *a) { return pair_make(first_argument(a), second_argument(a)); }
static value *do_car(value *a) { return list_head(first_argument(a)); }
static value *do_cdr(value *a) { return list_tail(first_argument(a)); }
static value *do_list(value *a) { return a; }
static value *do_null(value *a) { return truth_of(first_argument(a) == &nil); }
static value *do_pair(value *a) { return truth_of(first_argument(a)->kind == PAIR); }
static value *do_eq(value *a) { return truth_of(first_argument(a) == second_argument(a)); }
static value *do_print(value *a)
{
    value_print(first_argument(a));
    putchar('\n');
    return first_argument(a);
}

static void define_builtin(const char *name, builtin *call)
{
    value *f = value_make(BUILTIN);
    f->call = call;
    global_define(symbol_intern(name), f);
}

int main(void)
{
    static const struct {
        const char *name;
        builtin *call;
    } builtins[] = {{"+", do_add},      {"-", do_sub},   {"*", do_mul},      {"/", do_div},
                    {"%", do_rem},      {"<", do_less},  {"=", do_equal},    {"cons", do_cons},
                    {"car", do_car},    {"cdr", do_cdr}, {"list", do_list},  {"null?", do_null},
                    {"pair?", do_pair}, {"eq?", do_eq},  {"print", do_print}};
    globals = &nil;
    truth = symbol_intern("t");
    global_define(truth, truth);
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        define_builtin(builtins[i].name, builtins[i].call);
    volatile int failed = 0;
    if (setjmp(on_error)) failed = 1;
    for (int c; (c = next_character()) != EOF;) {
        value *v = read_value(c);
        value_print(value_eval(v, &nil));
        putchar('\n');
    }
    return failed;
}
