/* Listings that change little when the program does: the labels that a disassembler makes of places get names by the
 * function that they are in and their number there. Everything else is the listing of the format, so that it assembles
 * to the same bytes; where it would not, the listing stays as it is. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/bytes.h"
#include "core/driver.h"
#include "penta/views.h"
#include "text/lexer.h"

struct plain_label { /* a label such as L26 that the listing made */
    uint64_t number;
    bool defined;
    bool loop;     /* a later line goes back to it */
    bool function; /* it is called */
    bool table;    /* a table of jumps has it, as the place where a call returns to, for example */
    const char *name; /* the function that it is in, or its own name */
    unsigned index;   /* its number there, or 0 for a function */
};

struct plain {
    const char *comment;
    struct plain_label *labels; /* in the order of their numbers */
    size_t count, capacity;
    struct arena arena;
    penta_error *err;
};

/* The length of the name at `at`, and whether it is a made label. */
static size_t plain_word(penta_bytes text, size_t at, uint64_t *number)
{
    size_t end = at;
    while (end < text.size && (isalnum(text.data[end]) || strchr("_.$", text.data[end]))) end++;
    *number = 0;
    bool made = end - at >= 2 && end - at < 16 && text.data[at] == 'L';
    for (size_t i = at + 1; made && i < end; i++) {
        made = isdigit(text.data[i]);
        *number = *number * 10 + (uint64_t)(text.data[i] - '0');
    }
    if (!made) *number = UINT64_MAX;
    return end - at;
}

/* Calls `word` for each made label of a line, and `other` for the bytes between them. */
static void plain_scan(const struct plain *p, penta_bytes line, void *user,
                       void (*word)(void *user, uint64_t number, size_t at),
                       void (*other)(void *user, penta_bytes bytes))
{
    size_t comment = strlen(p->comment), from = 0, at = 0;
    bool quoted = false;
    while (at < line.size) {
        uint64_t number;
        uint8_t c = line.data[at];
        if (quoted || c == '"') {
            if (c == '\\' && quoted) at++;
            quoted ^= c == '"';
            at++;
            continue;
        }
        if (line.size - at >= comment && !memcmp(line.data + at, p->comment, comment)) break;
        size_t size = plain_word(line, at, &number);
        if (number != UINT64_MAX) {
            if (other) other(user, bytes_slice(line, from, at - from));
            word(user, number, at);
            from = at + size;
        }
        at += size ? size : 1;
    }
    if (other) other(user, bytes_slice(line, from, line.size));
}

static struct plain_label *plain_find(const struct plain *p, uint64_t number)
{
    size_t i;
    ARRAY_SEARCH(i, 0, p->count, p->labels[i].number >= number);
    return i < p->count && p->labels[i].number == number ? &p->labels[i] : NULL;
}

/* The name that a line defines as a label, or empty. */
static penta_bytes plain_definition(penta_bytes line)
{
    size_t from = line.size && line.data[0] == '@', size;
    uint64_t number;
    static const char function[] = ".func ";
    if (line.size > sizeof function - 1 && !memcmp(line.data, function, sizeof function - 1)) {
        from = sizeof function - 1;
        return bytes_slice(line, from, plain_word(line, from, &number));
    }
    size = plain_word(line, from, &number);
    bool label = size && from + size < line.size && line.data[from + size] == ':';
    return label ? bytes_slice(line, from, size) : (penta_bytes){NULL, 0};
}

static penta_bytes plain_line(penta_bytes text, size_t at)
{
    const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
    return bytes_slice(text, at, end ? (size_t)(end - text.data) + 1 - at : text.size);
}

/* ---- which labels there are ---- */

static int label_order(const void *a, const void *b)
{
    const struct plain_label *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void plain_define(struct plain *p, penta_bytes line)
{
    uint64_t number;
    penta_bytes name = plain_definition(line);
    if (!name.size) return;
    plain_word(name, 0, &number);
    if (number != UINT64_MAX && ARRAY_GROW(p->labels, p->capacity, p->count, p->err))
        p->labels[p->count++] = (struct plain_label){.number = number};
}

struct plain_uses {
    struct plain *p;
    bool call, table, definition;
};

static void plain_use(void *user, uint64_t number, size_t at)
{
    struct plain_uses *u = user;
    struct plain_label *l = plain_find(u->p, number);
    (void)at;
    if (!l) return;
    if (u->definition)
        l->defined = true;
    else if (u->table)
        l->table = true;
    else if (u->call)
        l->function = true;
    else if (l->defined)
        l->loop = true;
}

static bool line_has(penta_bytes line, const char *word)
{
    return memmem(line.data, line.size, word, strlen(word)) != NULL;
}

/* A call names the function, in PVM by a jump that sets the return address. */
static void plain_uses_of(struct plain *p, penta_bytes line)
{
    struct plain_uses u = {.p = p, .definition = plain_definition(line).size > 0};
    u.table = line_has(line, "%jump_table = ");
    u.call = line_has(line, "CALL ") || (line_has(line, "ra = ") && line_has(line, "jump @"));
    plain_scan(p, line, &u, plain_use, NULL);
}

/* ---- names ---- */

struct plain_naming {
    const char *function;
    unsigned functions, loops, tables, places;
};

static void plain_name(struct plain *p, struct plain_naming *n, penta_bytes line)
{
    char made[24];
    uint64_t number;
    penta_bytes name = plain_definition(line);
    if (!name.size) return;
    plain_word(name, 0, &number);
    struct plain_label *l = number == UINT64_MAX ? NULL : plain_find(p, number);
    if (l && !l->function) {
        l->name = n->function;
        l->index = l->loop ? ++n->loops : l->table ? ++n->tables : ++n->places;
        return;
    }
    if (l) {
        snprintf(made, sizeof made, "fn%u", ++n->functions);
        name = bytes_of(made);
    }
    n->function = arena_copy(&p->arena, name, p->err);
    n->loops = n->tables = n->places = 0;
    if (l) l->name = n->function;
}

struct plain_output {
    const struct plain *p;
    struct writer *out;
    bool table; /* each label of a table gets a line of its own */
    bool first;
};

static void output_other(void *user, penta_bytes bytes)
{
    struct plain_output *o = user;
    if (o->table && !o->first && bytes.size && bytes.data[0] == ' ')
        writer_text(o->out, "\n%jump_table = @");
    else
        writer_bytes(o->out, bytes.data, bytes.size);
    o->first = false;
}

static void output_word(void *user, uint64_t number, size_t at)
{
    struct plain_output *o = user;
    const struct plain_label *l = plain_find(o->p, number);
    (void)at;
    if (!l || !l->name)
        writer_print(o->out, "L%llu", (unsigned long long)number);
    else if (l->function)
        writer_text(o->out, l->name);
    else
        writer_print(o->out, "%s.%s%u", l->name,
                     l->loop    ? "loop"
                     : l->table ? "jump"
                                : "at",
                     l->index);
}

/* Calls a step for each line. */
static void plain_lines(struct plain *p, penta_bytes text,
                        void (*step)(struct plain *p, penta_bytes line))
{
    for (size_t at = 0; at < text.size && !p->err->code;) {
        penta_bytes line = plain_line(text, at);
        step(p, line);
        at += line.size;
    }
}

static void plain_write(struct plain *p, penta_bytes text, struct writer *out)
{
    struct plain_naming naming = {.function = "code"};
    plain_lines(p, text, plain_define);
    if (p->count) qsort(p->labels, p->count, sizeof *p->labels, label_order);
    plain_lines(p, text, plain_uses_of);
    for (size_t at = 0; at < text.size && !p->err->code;) {
        penta_bytes line = plain_line(text, at);
        plain_name(p, &naming, line);
        at += line.size;
    }
    for (size_t at = 0; at < text.size && !p->err->code;) {
        penta_bytes line = plain_line(text, at);
        struct plain_output o = {p, out, line_has(line, "%jump_table = "), true};
        plain_scan(p, line, &o, output_word, output_other);
        at += line.size;
    }
}

/* Whether a text assembles to the bytes of the module. */
static bool plain_assembles(const penta_module *module, const struct writer *text)
{
    const struct driver *driver = module->driver;
    struct writer again = {0};
    penta_error source_error = {0};
    struct source source = {
        .text = writer_view(text), .comment = driver->comment, .err = &source_error};
    struct findings f = {.rules = driver->rules};
    bool same = driver->assemble && driver->assemble(&source, NULL, 0, &again, &f) &&
                bytes_equal(writer_view(&again), module->file);
    writer_free(&again);
    return same;
}

bool penta_print_plain(const penta_module *module, penta_buffer *out, penta_error *err)
{
    struct plain p = {.comment = module->driver->comment, .err = err};
    struct writer w = {0};
    penta_buffer text = {0};
    bool ok = penta_print(module, NULL, 0, &text, err);
    if (ok) {
        plain_write(&p, (penta_bytes){text.data, text.size}, &w);
        ok = !err->code;
        if (ok && !w.failed && !plain_assembles(module, &w)) {
            w.out.size = 0;
            writer_bytes(&w, text.data, text.size);
        }
    }
    penta_buffer_free(&text);
    free(p.labels);
    arena_free(&p.arena);
    return writer_give(&w, ok, out, err);
}
