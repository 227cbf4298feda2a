/* Reads what Wire and SPI do (CVBC 16.5.0.2): each method is an instruction of the machine, or a
 * function of the library over them. Simulated devices do not look at speed, order and mode, so
 * that their settings are read and left out. */
#include <string.h>
#include "cvbc/compile/compiler.h"

enum { VALUES_MAX = 3 };
enum { WIRE, SPI };

/* These are the objects Wire and SPI, each with the number of its bus. */
static const struct {
    const char *name, *header;
    uint8_t kind, number;
} objects[] = {
    {"Wire", "Wire.h", WIRE, 0},
    {"Wire1", "Wire.h", WIRE, 1},
    {"SPI", "SPI.h", SPI, 0},
    {"SPI1", "SPI.h", SPI, 1},
};

/* This table has the methods. Each becomes a host call or a call of the library, which takes the
 * bus and `used` of the values. If both are NULL, nothing is done, and the values are not
 * computed. */
static const struct bus_method {
    uint8_t kind, least, most, used;
    const char *name, *host, *library;
} bus_methods[] = {
    {WIRE, 0, 0, 0, "begin", NULL, NULL},
    {WIRE, 0, 0, 0, "end", NULL, NULL},
    {WIRE, 1, 1, 0, "setClock", NULL, NULL},
    {WIRE, 1, 1, 0, "setTimeout", NULL, NULL},
    {WIRE, 0, 2, 0, "setWireTimeout", NULL, NULL},
    {WIRE, 1, 1, 1, "beginTransmission", "__i2c_begin", NULL},
    {WIRE, 0, 1, 0, "endTransmission", "__i2c_end", NULL},
    {WIRE, 2, 3, 2, "requestFrom", "__i2c_request", NULL},
    {WIRE, 0, 0, 0, "available", "__i2c_available", NULL},
    {WIRE, 0, 0, 0, "read", "__i2c_read", NULL},
    {WIRE, 0, 0, 0, "peek", "__i2c_peek", NULL},
    {WIRE, 1, 1, 1, "write", NULL, "wire__byte"},
    {WIRE, 2, 2, 2, "write", NULL, "wire__bytes"},
    {SPI, 0, 0, 0, "begin", NULL, NULL},
    {SPI, 0, 0, 0, "end", NULL, NULL},
    {SPI, 1, 1, 0, "beginTransaction", NULL, NULL},
    {SPI, 0, 0, 0, "endTransaction", NULL, NULL},
    {SPI, 1, 1, 0, "usingInterrupt", NULL, NULL},
    {SPI, 1, 1, 0, "setBitOrder", NULL, NULL},
    {SPI, 1, 1, 0, "setDataMode", NULL, NULL},
    {SPI, 1, 1, 0, "setClockDivider", NULL, NULL},
    {SPI, 1, 1, 1, "transfer", "__spi_transfer", NULL},
    {SPI, 1, 1, 1, "transfer16", NULL, "spi__two"},
    {SPI, 2, 2, 2, "transfer", NULL, "spi__bytes"},
};

static int bus_object(const struct compiler *c, const struct word *w)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (word_is(&c->words, w, objects[i].name)) return (int)i;
    return -1;
}

bool busses_is(const struct compiler *c, const struct word *w) { return bus_object(c, w) >= 0; }

/* Makes the call that a method becomes. */
static struct node *bus_call(struct compiler *c, const struct bus_method *m, struct node *bus,
                             struct node **values, const struct word *what)
{
    struct node *all[VALUES_MAX + 1] = {bus};
    if (!m->host && !m->library) return node_number(c, &type_int, 0, what->offset);
    memcpy(all + 1, values, m->used * sizeof *values);
    if (m->host) return call_host(c, m->host, what, all, m->used + 1u);
    bool text =
        m->kind == WIRE && m->used == 1 && node_value(c, values[0])->type->kind == TYPE_POINTER;
    return compiler_library_call(c, text ? "wire__text" : m->library, what, all, m->used + 1u);
}

struct node *busses_method(struct compiler *c, const struct word *object)
{
    int i = bus_object(c, object);
    bool *included = &c->sources.libraries[objects[i].kind];
    struct node *values[VALUES_MAX] = {NULL};
    uint32_t count = 0;
    c->pos++; /* This skips the point between object and method. */
    const struct word *what = compiler_word(c);
    c->pos += what->kind != WORD_END;
    if (!compiler_values(c, values, VALUES_MAX, &count)) return node_wrong(c);
    if (!*included) {
        *included = true; /* A missing header is reported only once. */
        compiler_error(c, BASE_NAME_UNKNOWN, object->offset, "%s needs #include <%s>",
                       objects[i].name, objects[i].header);
        return node_wrong(c);
    }
    for (uint32_t k = 0; k < count; k++)
        if (values[k]->kind == NODE_WRONG) return node_wrong(c);
    struct node *bus = node_number(c, &type_int, objects[i].number, what->offset);
    bool known = false;
    for (size_t k = 0; k < sizeof bus_methods / sizeof *bus_methods; k++) {
        const struct bus_method *m = &bus_methods[k];
        if (m->kind != objects[i].kind || !word_is(&c->words, what, m->name)) continue;
        known = true;
        if (count >= m->least && count <= m->most) return bus_call(c, m, bus, values, what);
    }
    bool device = word_is(&c->words, what, "begin") || word_is(&c->words, what, "onReceive") ||
                  word_is(&c->words, what, "onRequest");
    struct suggest near = {.word = compiler_text(c, what)};
    for (size_t k = 0; k < sizeof bus_methods / sizeof *bus_methods; k++)
        if (bus_methods[k].kind == objects[i].kind) suggest_offer(&near, bus_methods[k].name);
    if (objects[i].kind == WIRE && device)
        compiler_error(c, BASE_SYNTAX, what->offset,
                       "the machine is the controller of the bus, and never a device at it");
    else if (known)
        compiler_error(c, BASE_SYNTAX, what->offset, "%s.%.*s does not take %u arguments",
                       objects[i].name, WORD_ARG(c, what), (unsigned)count);
    else
        compiler_error(c, BASE_NAME_UNKNOWN, what->offset, "%s has no method '%.*s'%s%s%s",
                       objects[i].name, WORD_ARG(c, what), near.best ? "; did you mean '" : "",
                       near.best ? near.best : "", near.best ? "'?" : "");
    return node_wrong(c);
}
