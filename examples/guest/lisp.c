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

static void fail(const char *what, const char *name)
{
    printf("error: %s%s%s\n", what, name ? ": " : "", name ? name : "");
    longjmp(on_error, 1);
}

static value *make(int kind)
{
    value *v = malloc(sizeof *v);
    if (!v) fail("out of memory", NULL);
    v->kind = kind;
    return v;
}

static value *number(long n)
{
    value *v = make(NUMBER);
    v->number = n;
    return v;
}

static value *cons(value *head, value *tail)
{
    value *v = make(PAIR);
    v->head = head;
    v->tail = tail;
    return v;
}

static value *symbol(const char *name)
{
    for (value *s = symbols; s != &nil; s = s->tail)
        if (!strcmp(s->head->name, name)) return s->head;
    value *v = make(SYMBOL);
    v->name = strdup(name);
    symbols = cons(v, symbols);
    return v;
}

static value *head(value *v)
{
    if (v->kind != PAIR) fail("not a list", NULL);
    return v->head;
}

static value *tail(value *v)
{
    if (v->kind != PAIR) fail("not a list", NULL);
    return v->tail;
}

static long integer(value *v)
{
    if (v->kind != NUMBER) fail("not a number", NULL);
    return v->number;
}

static int next(void) /* returns the next character that is no blank or comment */
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
    int c = next();
    if (c == ')') return &nil;
    if (c == EOF) fail("unfinished list", NULL);
    value *first = read_value(c);
    return cons(first, read_list());
}

static value *read_value(int c)
{
    char word[64];
    size_t n = 0;
    if (c == '(') return read_list();
    if (c == '\'') return cons(symbol("quote"), cons(read_value(next()), &nil));
    if (c == ')' || c == EOF) fail("unexpected end", NULL);
    for (; c != EOF && !isspace(c) && c != '(' && c != ')'; c = getchar())
        if (n < sizeof word - 1) word[n++] = (char)c;
    ungetc(c, stdin);
    word[n] = 0;
    char *end;
    long value_of = strtol(word, &end, 10);
    return *end ? symbol(word) : number(value_of);
}

static void print(value *v)
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
            print(v->head);
        }
        if (v->kind != NIL) {
            fputs(" . ", stdout);
            print(v);
        }
        putchar(')');
        break;
    }
}

static value *lookup(value *name, value *scope)
{
    for (; scope != &nil; scope = scope->tail)
        if (scope->head->head == name) return scope->head;
    for (value *g = globals; g != &nil; g = g->tail)
        if (g->head->head == name) return g->head;
    return NULL;
}

static value *eval(value *v, value *scope);

static value *eval_all(value *list, value *scope)
{
    if (list == &nil) return &nil;
    value *first = eval(head(list), scope);
    return cons(first, eval_all(list->tail, scope));
}

static value *bind(value *names, value *values, value *scope)
{
    for (; names->kind == PAIR; names = names->tail, values = tail(values))
        scope = cons(cons(names->head, head(values)), scope);
    return scope;
}

static value *define(value *name, value *v)
{
    value *old = lookup(name, &nil);
    if (old)
        old->tail = v;
    else
        globals = cons(cons(name, v), globals);
    return name;
}

static value *lambda(value *parameters, value *body, value *scope)
{
    value *f = make(LAMBDA);
    f->parameters = parameters;
    f->body = body;
    f->scope = scope;
    return f;
}

/* Evaluates an expression. It loops instead of calling itself where it can, so that calls at the
 * end of a function need no stack. */
static value *eval(value *v, value *scope)
{
    for (;;) {
        if (v->kind == SYMBOL) {
            value *found = lookup(v, scope);
            if (!found) fail("unknown", v->name);
            return found->tail;
        }
        if (v->kind != PAIR) return v;
        value *rest = v->tail;
        const char *form = v->head->kind == SYMBOL ? v->head->name : "";
        if (!strcmp(form, "quote")) return head(rest);
        if (!strcmp(form, "if")) {
            int yes = eval(head(rest), scope) != &nil;
            rest = tail(rest);
            v = yes ? head(rest) : rest->tail == &nil ? &nil : head(rest->tail);
            continue;
        }
        if (!strcmp(form, "lambda")) return lambda(head(rest), tail(rest), scope);
        if (!strcmp(form, "define")) {
            value *name = head(rest);
            if (name->kind == PAIR)
                return define(name->head, lambda(name->tail, rest->tail, scope));
            return define(name, eval(head(rest->tail), scope));
        }
        if (!strcmp(form, "set!")) {
            value *found = lookup(head(rest), scope);
            if (!found) fail("unknown", head(rest)->name);
            return found->tail = eval(head(rest->tail), scope);
        }
        value *body;
        if (!strcmp(form, "begin")) {
            body = rest;
        } else if (!strcmp(form, "let")) {
            value *inner = scope;
            for (value *b = head(rest); b != &nil; b = b->tail)
                inner = cons(cons(head(head(b)), eval(head(tail(head(b))), scope)), inner);
            scope = inner;
            body = rest->tail;
        } else {
            value *f = eval(v->head, scope), *arguments = eval_all(rest, scope);
            if (f->kind == BUILTIN) return f->call(arguments);
            if (f->kind != LAMBDA) fail("not a function", form);
            scope = bind(f->parameters, arguments, f->scope);
            body = f->body;
        }
        if (body == &nil) return &nil;
        for (; tail(body) != &nil; body = body->tail) eval(body->head, scope);
        v = body->head;
    }
}

static value *truth_of(int yes) { return yes ? truth : &nil; }
static value *first(value *a) { return head(a); }
static value *second(value *a) { return head(tail(a)); }

#define FOLD(name, start, op)                                                                      \
    static value *name(value *a)                                                                   \
    {                                                                                              \
        long n = start;                                                                            \
        for (; a != &nil; a = a->tail) n = n op integer(head(a));                                  \
        return number(n);                                                                          \
    }
FOLD(do_add, 0, +)
FOLD(do_mul, 1, *)

static value *do_sub(value *a)
{
    if (tail(a) == &nil) return number(-integer(first(a)));
    return number(integer(first(a)) - integer(second(a)));
}

static long divisor(value *a)
{
    long d = integer(second(a));
    if (!d) fail("division by zero", NULL);
    return d;
}

static value *do_div(value *a) { return number(integer(first(a)) / divisor(a)); }
static value *do_rem(value *a) { return number(integer(first(a)) % divisor(a)); }
static value *do_less(value *a) { return truth_of(integer(first(a)) < integer(second(a))); }
static value *do_equal(value *a) { return truth_of(integer(first(a)) == integer(second(a))); }
static value *do_cons(value *a) { return cons(first(a), second(a)); }
static value *do_car(value *a) { return head(first(a)); }
static value *do_cdr(value *a) { return tail(first(a)); }
static value *do_list(value *a) { return a; }
static value *do_null(value *a) { return truth_of(first(a) == &nil); }
static value *do_pair(value *a) { return truth_of(first(a)->kind == PAIR); }
static value *do_eq(value *a) { return truth_of(first(a) == second(a)); }
static value *do_print(value *a)
{
    print(first(a));
    putchar('\n');
    return first(a);
}

static void define_builtin(const char *name, builtin *call)
{
    value *f = make(BUILTIN);
    f->call = call;
    define(symbol(name), f);
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
    truth = symbol("t");
    define(truth, truth);
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        define_builtin(builtins[i].name, builtins[i].call);
    volatile int failed = 0;
    if (setjmp(on_error)) failed = 1;
    for (int c; (c = next()) != EOF;) {
        value *v = read_value(c);
        print(eval(v, &nil));
        putchar('\n');
    }
    return failed;
}
