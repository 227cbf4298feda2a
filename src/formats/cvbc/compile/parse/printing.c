/* Reads the calls of Serial. Output becomes calls of PRINTF with a constant format, because the
 * machine has no other output. A String made of several parts is not joined, but printed part by
 * part. */
#include "cvbc/compile/parse/printing.h"
#include <string.h>
#include "base/bytes.h"
#include "base/writer.h"

enum { PIECE_MAX = 200 }; /* A PRINTF prints at most 255 bytes (CVBC 14.2). */

static struct node *printing_join(struct compiler *c, struct node *a, struct node *b)
{
    if (!a || a->kind == NODE_WRONG) return a ? a : b;
    if (b->kind == NODE_WRONG) return b;
    struct node *n = node_new(c, NODE_COMMA, b->offset);
    if (n->kind == NODE_WRONG) return n;
    n->a = a;
    n->b = b;
    n->type = &type_void;
    n->line = a->line;
    n->height = (uint16_t)((a->height > b->height ? a->height : b->height) + 1);
    if (n->height < HEIGHT_MAX) return n;
    compiler_error(c, CVBC_LIMIT, b->offset, "more than %d parts are printed at once", HEIGHT_MAX);
    return node_wrong(c);
}

static struct node *printing_format(struct compiler *c, penta_bytes text, struct node **items,
                                    uint32_t count, uint32_t offset)
{
    penta_error err = {0};
    struct node *n = node_new(c, NODE_PRINT, offset);
    n->text = (penta_bytes){arena_copy(&c->arena, text, &err), text.size};
    n->type = &type_void;
    n->count = count;
    n->items = compiler_array(c, count + 1, sizeof *n->items);
    if (!n->text.data || !n->items) return node_wrong(c);
    if (count) memcpy(n->items, items, count * sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        if (items[i]->height >= n->height) n->height = (uint16_t)(items[i]->height + 1);
        n->line = items[0]->line;
    }
    return n;
}

/* Returns the text up to its first zero, where C ends it. */
static penta_bytes printing_shown(penta_bytes text)
{
    const uint8_t *zero = text.size ? memchr(text.data, 0, text.size) : NULL;
    return bytes_slice(text, 0, zero ? (size_t)(zero - text.data) : text.size);
}

/* Prints a text in pieces. Percent signs in the text are doubled, so that PRINTF prints them. */
static struct node *printing_text(struct compiler *c, penta_bytes text, bool line, uint32_t offset)
{
    text = printing_shown(text);
    struct writer w = {0};
    struct node *all = NULL;
    for (size_t i = 0; i < text.size + line; i++) {
        char letter = i < text.size ? (char)text.data[i] : '\n';
        if (letter == '%') writer_char(&w, '%');
        writer_char(&w, letter);
        if (w.out.size < PIECE_MAX && i + 1 < text.size + line) continue;
        all = printing_join(c, all, printing_format(c, writer_view(&w), NULL, 0, offset));
        w.out.size = 0;
    }
    if (w.failed) compiler_no_memory(c);
    writer_free(&w);
    return all;
}

static struct node *printing_nothing(struct compiler *c, uint32_t offset)
{
    return node_number(c, &type_int, 0, offset);
}

/* Prints a value by a function of the library, and the end of the line after it if `line` is
 * true. */
static struct node *printing_by(struct compiler *c, const char *name, struct node *a,
                                struct node *b, bool line, uint32_t offset)
{
    struct node *n = node_helper(c, name, &type_void, a, b, offset);
    return line && n->kind != NODE_WRONG
               ? printing_join(c, n, printing_text(c, bytes_of("\n"), false, offset))
               : n;
}

static struct node *printing_number(struct compiler *c, struct node *n, struct node *base,
                                    bool line, uint32_t offset)
{
    const struct type *t = n->type;
    if (base && !node_is_known(base))
        return printing_by(c, "__print_base", node_convert(c, n, &type_unsigned),
                           node_convert(c, base, &type_unsigned), line, offset);
    uint32_t number = base ? base->number : 10;
    if (number < 2 || number > 36) {
        compiler_error(c, BASE_SYNTAX, offset, "a base is 2 to 36: BIN, OCT, DEC, HEX");
        return node_wrong(c);
    }
    if (number != 10 && number != 16)
        return printing_by(c, "__print_base", node_convert(c, n, &type_unsigned),
                           node_number(c, &type_unsigned, number, offset), line, offset);
    const char *format = number == 16               ? "%X\n"
                         : t->is_char && !base      ? "%c\n"
                         : type_is_wide_unsigned(t) ? "%u\n"
                                                    : "%d\n";
    return printing_format(c, bytes_slice(bytes_of(format), 0, line ? 3 : 2), &n, 1, offset);
}

static bool printing_calls(const struct node *n, const char *name)
{
    return n->kind == NODE_CALL && bytes_equal(n->function->name, bytes_of(name));
}

static struct node *printing_string(struct compiler *c, struct node *n, bool line, uint32_t offset)
{
    if (printing_calls(n, "__s_add")) {
        struct node *first = printing_value(c, n->items[0], NULL, false, offset);
        return printing_join(c, first, printing_value(c, n->items[1], NULL, line, offset));
    }
    if (printing_calls(n, "__s_from_text") || printing_calls(n, "__s_from_char"))
        return printing_value(c, n->items[0], NULL, line, offset);
    if (printing_calls(n, "__s_from_number") && node_is_known(n->items[1]) &&
        (n->items[1]->number == 0 || n->items[1]->number == 10)) {
        return printing_number(c, n->items[0], NULL, line, offset);
    }
    return printing_by(c, "__print_string", n, NULL, line, offset);
}

struct node *printing_value(struct compiler *c, struct node *value, struct node *base, bool line,
                            uint32_t offset)
{
    struct node *n = node_value(c, value);
    if (n->kind == NODE_WRONG || (base && base->kind == NODE_WRONG)) return node_wrong(c);
    const struct type *t = n->type;
    if (n->kind == NODE_TEXT)
        return n->text.size || line ? printing_text(c, n->text, line, offset)
                                    : printing_nothing(c, offset);
    if (n->kind == NODE_CHOICE && (t->kind == TYPE_POINTER || t->kind == TYPE_STRING)) {
        struct node *choice = node_new(c, NODE_CHOICE, offset);
        struct node *yes = printing_value(c, n->b, NULL, line, offset);
        struct node *no = printing_value(c, n->c, NULL, line, offset);
        if (yes->kind == NODE_WRONG || no->kind == NODE_WRONG || choice->kind == NODE_WRONG)
            return node_wrong(c);
        *choice = *n;
        choice->type = &type_void;
        choice->b = yes;
        choice->c = no;
        choice->height = (uint16_t)(n->height + 2);
        return choice;
    }
    if (t->kind == TYPE_STRING) return printing_string(c, n, line, offset);
    if (t->kind == TYPE_FLOAT) {
        struct node *digits =
            base ? node_convert(c, base, &type_int) : node_number(c, &type_int, 2, offset);
        return printing_by(c, "__print_float", n, digits, line, offset);
    }
    if (t->kind == TYPE_NUMBER) return printing_number(c, n, base, line, offset);
    if (t->kind == TYPE_POINTER && t->of->kind == TYPE_NUMBER && t->of->bits == 8)
        return printing_by(c, "__print_text", n, NULL, line, offset);
    compiler_error(c, BASE_SYNTAX, n->offset, "this is no text and no number");
    return node_wrong(c);
}

struct printing { /* the part of a format that was not printed yet */
    struct compiler *c;
    struct node *all, *items[8];
    uint32_t count, offset;
    struct writer text;
};

static void printing_flush(struct printing *p)
{
    if (!p->text.out.size) return;
    p->all = printing_join(
        p->c, p->all, printing_format(p->c, writer_view(&p->text), p->items, p->count, p->offset));
    p->text.out.size = 0;
    p->count = 0;
}

/* Handles a conversion of the format. The machine does not have %s and %f, and has all others. */
static bool printing_conversion(struct printing *p, penta_bytes format, size_t *i,
                                struct node *item)
{
    size_t end = *i + 1;
    while (end < format.size && strchr(".0123456789-", format.data[end])) end++;
    char kind = end < format.size ? (char)format.data[end] : 0;
    item = node_value(p->c, item);
    if (item->kind == NODE_WRONG) return false;
    if (kind == 'f' || kind == 's') {
        uint32_t digits = kind == 's' ? 0 : 6;
        const uint8_t *point = memchr(format.data + *i, '.', end - *i);
        if (kind == 'f' && point && point[1] >= '0' && point[1] <= '9')
            digits = (uint32_t)(point[1] - '0');
        bool fits = kind == 'f'
                        ? type_is_arithmetic(item->type)
                        : item->type->kind == TYPE_STRING || item->type->kind == TYPE_POINTER;
        if (!fits)
            return compiler_error(p->c, BASE_SYNTAX, item->offset, "%%%c of another type", kind);
        printing_flush(p);
        if (kind == 'f') item = node_convert(p->c, item, &type_float);
        p->all = printing_join(
            p->c, p->all,
            printing_value(p->c, item,
                           kind == 'f' ? node_number(p->c, &type_int, digits, p->offset) : NULL,
                           false, p->offset));
        *i = end;
        return true;
    }
    if (item->type->kind != TYPE_NUMBER && item->type->kind != TYPE_POINTER)
        return compiler_error(p->c, BASE_SYNTAX, item->offset, "%%%c of another type", kind);
    writer_char(&p->text, '%');
    p->items[p->count++] = item;
    return true;
}

struct node *printing_printf(struct compiler *c, const struct word *name)
{
    struct printing p = {.c = c, .offset = name->offset};
    penta_bytes format;
    bool ok = compiler_expect(c, '(', "'('");
    if (ok && compiler_word(c)->kind != WORD_STRING)
        ok =
            compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "printf wants a string first");
    ok = ok && compiler_literal(c, &format);
    if (ok) format = printing_shown(format);
    for (size_t i = 0; ok && i < format.size; i++) {
        bool percent = format.data[i] == '%' && i + 1 < format.size;
        if (percent && format.data[i + 1] == '%') {
            writer_text(&p.text, "%%");
            i++;
        } else if (percent && compiler_accept(c, ',')) {
            if (p.count == 8) printing_flush(&p);
            ok = printing_conversion(&p, format, &i, compiler_assignment(c));
        } else {
            writer_char(&p.text, (char)format.data[i]);
        }
        if (p.text.out.size >= PIECE_MAX) printing_flush(&p);
    }
    while (ok && compiler_accept(c, ',')) { /* Values without a conversion are ignored. */
        struct node *more = compiler_assignment(c);
        if (p.count == 8)
            ok = compiler_error(c, CVBC_LIMIT, more->offset, "printf takes at most 8 values");
        if (ok && more->kind != NODE_WRONG) p.items[p.count++] = node_value(c, more);
    }
    printing_flush(&p);
    ok = ok && compiler_expect(c, ')', "',' or ')'");
    if (p.text.failed) compiler_no_memory(c);
    writer_free(&p.text);
    if (!ok) return node_wrong(c);
    return p.all ? p.all : printing_nothing(c, name->offset);
}

enum { PORTS = 4 };

/* Returns the port of a name: 0 for Serial, 1 for Serial1, and -1 for other names. */
static int serial_port(const struct compiler *c, const struct word *w)
{
    static const char *const names[PORTS] = {"Serial", "Serial1", "Serial2", "Serial3"};
    for (int i = 0; i < PORTS; i++)
        if (word_is(&c->words, w, names[i])) return i;
    return -1;
}

bool compiler_is_object(struct compiler *c, const struct word *w)
{
    return serial_port(c, w) >= 0 || busses_is(c, w);
}

/* This table has the methods that read, each with the function of the library or of the host
 * that implements it. The function takes the port and up to one value. */
static const struct {
    const char *name, *function;
    uint8_t count;
    bool host, string;
} serial_reads[] = {
    {"available", "__serial_available", 0, true, false},
    {"read", "__serial_read", 0, true, false},
    {"peek", "__serial_peek", 0, true, false},
    {"parseInt", "serial__int", 0, false, false},
    {"parseFloat", "serial__float", 0, false, false},
    {"readString", "serial__string", 0, false, true},
    {"readStringUntil", "serial__until", 1, false, true},
};

struct serial_call {
    const struct word *what;
    int port;
    struct node *values[2];
    uint32_t count;
};

/* Reads a call of a method that reads. Returns NULL if it is another method. */
static struct node *serial_read(struct compiler *c, const struct serial_call *s)
{
    for (size_t i = 0; i < sizeof serial_reads / sizeof *serial_reads; i++) {
        if (!word_is(&c->words, s->what, serial_reads[i].name) || serial_reads[i].count != s->count)
            continue;
        struct node *port = node_number(c, &type_int, (uint32_t)s->port, s->what->offset);
        if (serial_reads[i].host) return call_host(c, serial_reads[i].function, s->what, &port, 1);
        if (serial_reads[i].string) c->memory = c->strings_used = true;
        bool real = word_is(&c->words, s->what, "parseFloat");
        return node_helper(c, serial_reads[i].function,
                           serial_reads[i].string ? &type_string
                           : real                 ? &type_float
                                                  : &type_int,
                           port,
                           s->count ? node_assignable(c, s->values[0], &type_int, "the end") : NULL,
                           s->what->offset);
    }
    return NULL;
}

/* Prints to other ports than the first one byte by byte, because PRINTF writes only to the first
 * port. */
static struct node *serial_other(struct compiler *c, const struct serial_call *s, bool line)
{
    uint32_t offset = s->what->offset;
    struct node *port = node_number(c, &type_int, (uint32_t)s->port, offset);
    struct node *value = s->count ? node_value(c, s->values[0]) : NULL;
    if (value && value->kind == NODE_WRONG) return value;
    if (value && word_is(&c->words, s->what, "write") && value->type->kind == TYPE_NUMBER)
        return call_host(c, "__serial_write", s->what,
                         (struct node *[]){port, node_convert(c, value, &type_byte)}, 2);
    if (!value) value = node_text(c, bytes_of(""), offset);
    if (value->type->kind == TYPE_NUMBER && s->count == 2) {
        struct node *base = node_assignable(c, s->values[1], &type_int, "the base");
        value = node_helper(c, "__s_from_number", &type_string, value, base, offset);
        c->memory = c->strings_used = true;
    }
    struct node *text = node_convert(c, value, &type_string);
    if (line) text = node_binary(c, '+', text, node_text(c, bytes_of("\r\n"), offset), offset);
    return node_helper(c, "__serial_print", &type_void, port, text, offset);
}

static struct node *serial_print(struct compiler *c, const struct serial_call *s)
{
    const struct word *what = s->what;
    bool line = word_is(&c->words, what, "println");
    bool print = line || word_is(&c->words, what, "print"),
         write = word_is(&c->words, what, "write");
    if (!(print && (s->count || line)) && !(write && s->count)) return NULL;
    if (s->port) return serial_other(c, s, line);
    if (!s->count) return printing_text(c, bytes_of("\n"), false, what->offset);
    if (print)
        return printing_value(c, s->values[0], s->count > 1 ? node_value(c, s->values[1]) : NULL,
                              line, what->offset);
    if (s->count == 2)
        return node_helper(
            c, "__print_bytes", &type_void,
            node_assignable(c, s->values[0], type_pointer_to(c, &type_char), "the bytes"),
            node_assignable(c, s->values[1], &type_int, "their number"), what->offset);
    struct node *n = node_value(c, s->values[0]);
    if (n->type->kind != TYPE_NUMBER) return printing_value(c, n, NULL, false, what->offset);
    return printing_format(c, bytes_of("%c"), &n, 1, what->offset);
}

struct node *compiler_object_method(struct compiler *c, const struct word *object)
{
    static const char *const nothing[] = {"begin", "end", "flush", "setTimeout"};
    if (busses_is(c, object)) return busses_method(c, object);
    c->pos++; /* This skips the point between object and method. */
    struct serial_call s = {.what = compiler_word(c), .port = serial_port(c, object)};
    c->pos += s.what->kind != WORD_END;
    if (!s.port && word_is(&c->words, s.what, "printf")) return printing_printf(c, s.what);
    if (!compiler_values(c, s.values, 2, &s.count)) return node_wrong(c);
    struct node *made = serial_print(c, &s);
    if (!made) made = serial_read(c, &s);
    for (size_t i = 0; !made && i < sizeof nothing / sizeof *nothing; i++)
        if (word_is(&c->words, s.what,
                    nothing[i])) /* The ports of the board need no opening or closing. */
            made = s.count && s.values[0]->kind != NODE_NUMBER
                       ? node_value(c, s.values[0])
                       : printing_nothing(c, s.what->offset);
    if (made) return made;
    compiler_error(
        c, BASE_NAME_UNKNOWN, s.what->offset,
        "Serial.%.*s is not there, or takes other arguments; known are begin print println "
        "write available read peek parseInt",
        WORD_ARG(c, s.what));
    return node_wrong(c);
}
