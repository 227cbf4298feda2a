/* Reads the script of a simulated board (CVBC 14.4): inputs of its pins, its serial ports, and
 * the devices at its busses. Lines must be sorted by time. */
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "cvbc/host/board_state.h"
#include "text/script.h"

enum { KIND_DIGITAL, KIND_ANALOG, KIND_SERIAL, KIND_I2C, KIND_SPI, KINDS };

static const char *script_kind(size_t i)
{
    static const char *const kinds[KINDS] = {"digital", "analog", "serial", "i2c", "spi"};
    return i < KINDS ? kinds[i] : NULL;
}

struct line { /* state of reading one line of a script */
    struct cvbc_board_state *b;
    struct script *s;
    uint64_t ms;
};

static bool line_ends(const struct line *l)
{
    enum token_kind kind = source_peek(&l->s->source).kind;
    return kind == TOKEN_LINE || kind == TOKEN_END;
}

static bool stream_put(struct line *l, struct cvbc_stream *to, uint8_t value)
{
    if (!ARRAY_GROW(to->at, to->capacity, to->count, &l->s->why)) return false;
    to->at[to->count++] = (struct cvbc_stream_byte){l->ms, value};
    return true;
}

/* Appends a byte to a stream, or to the bytes of the I2C devices if `to` is NULL. */
static bool line_put(struct line *l, struct cvbc_stream *to, uint8_t value)
{
    struct cvbc_board_state *b = l->b;
    if (to) return stream_put(l, to, value);
    if (!ARRAY_GROW(b->i2c_bytes, b->i2c_byte_capacity, b->i2c_byte_count, &l->s->why))
        return false;
    b->i2c_bytes[b->i2c_byte_count++] = value;
    return true;
}

/* Reads "text"|BYTE ... A backslash in the text begins an escape: n, r, t, 0, or itself. */
static bool line_bytes(struct line *l, struct cvbc_stream *to)
{
    uint64_t value;
    while (!line_ends(l)) {
        if (source_peek(&l->s->source).kind != TOKEN_STRING) {
            if (!script_number(l->s, UINT8_MAX, &value) || !line_put(l, to, (uint8_t)value))
                return false;
            continue;
        }
        penta_bytes text = script_word(l->s);
        for (size_t i = 0; i < text.size; i++) {
            static const char from[] = "nrt0\\\"", as[] = "\n\r\t\0\\\"";
            uint8_t byte = text.data[i];
            const char *escape = byte == '\\' && i + 1 < text.size
                                     ? memchr(from, text.data[i + 1], sizeof from - 1)
                                     : NULL;
            if (escape) byte = (uint8_t)as[escape - from];
            i += escape != NULL;
            if (!line_put(l, to, byte)) return false;
        }
    }
    return true;
}

static bool line_pin(struct line *l, bool analog)
{
    struct cvbc_board_state *b = l->b;
    uint64_t pin, value;
    if (!script_number(l->s, CVBC_PINS - 1, &pin) || !script_number(l->s, UINT16_MAX, &value))
        return false;
    if (b->input_count == UINT32_MAX)
        return error_at(&l->s->why, BASE_LIMIT, 0, "more than 4294967295 inputs");
    struct cvbc_pin_lines *lines = &b->lines[pin][analog];
    if (!ARRAY_GROW(b->inputs, b->input_capacity, b->input_count, &l->s->why) ||
        !ARRAY_GROW(lines->at, lines->capacity, lines->count, &l->s->why))
        return false;
    b->inputs[b->input_count] =
        (struct cvbc_input){.ms = l->ms,
                            .before = lines->count ? lines->at[lines->count - 1] + 1 : 0,
                            .analog = analog,
                            .pin = (uint8_t)pin,
                            .value = (uint16_t)value};
    lines->at[lines->count++] = (uint32_t)b->input_count++;
    return true;
}

/* Reads the rest of a line i2c BUS ADDRESS REGISTER BYTES. */
static bool line_i2c(struct line *l)
{
    enum { ADDRESS_MAX = 127 };
    struct cvbc_board_state *b = l->b;
    uint64_t bus, address, at, place = source_peek(&l->s->source).offset;
    if (!script_number(l->s, CVBC_BUSSES_EACH - 1, &bus) ||
        !script_number(l->s, ADDRESS_MAX, &address) ||
        !script_number(l->s, CVBC_I2C_REGISTERS - 1, &at))
        return false;
    struct cvbc_i2c_line made = {.ms = l->ms,
                                 .bus = (uint8_t)bus,
                                 .address = (uint8_t)address,
                                 .at = (uint8_t)at,
                                 .from = (uint32_t)b->i2c_byte_count};
    unsigned devices = 0;
    bool known = false;
    /* This loop counts the devices, each at its first line. */
    for (size_t i = 0; i < b->i2c_count && !known; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = b->i2c[k].bus != b->i2c[i].bus || b->i2c[k].address != b->i2c[i].address;
        devices += first;
        known = b->i2c[i].bus == made.bus && b->i2c[i].address == made.address;
    }
    if (!known && devices == CVBC_I2C_DEVICES)
        return error_at(&l->s->why, BASE_LIMIT, place, "more than %d devices at I2C",
                        CVBC_I2C_DEVICES);
    if (!line_bytes(l, NULL)) return false;
    if (b->i2c_byte_count - made.from > CVBC_I2C_REGISTERS - at)
        return error_at(&l->s->why, BASE_LIMIT, place, "a device has registers 0 to %d",
                        CVBC_I2C_REGISTERS - 1);
    made.count = (uint32_t)b->i2c_byte_count - made.from;
    if (!ARRAY_GROW(b->i2c, b->i2c_capacity, b->i2c_count, &l->s->why)) return false;
    b->i2c[b->i2c_count++] = made;
    return true;
}

/* Reads the rest of a line spi BUS PIN BYTES. */
static bool line_spi(struct line *l)
{
    struct cvbc_board_state *b = l->b;
    uint64_t bus, pin, place = source_peek(&l->s->source).offset;
    if (!script_number(l->s, CVBC_BUSSES_EACH - 1, &bus) ||
        !script_number(l->s, CVBC_PINS - 1, &pin))
        return false;
    if (b->select_bus[pin] && b->select_bus[pin] != bus + 1)
        return error_at(&l->s->why, BASE_SYNTAX, place, "pin %u selects a device at bus %u already",
                        (unsigned)pin, b->select_bus[pin] - 1u);
    b->select_bus[pin] = (uint8_t)(bus + 1);
    return line_bytes(l, &b->selects[pin]);
}

static bool line_rest(struct line *l, size_t kind)
{
    uint64_t port;
    switch (kind) {
    case KIND_SERIAL:
        return script_number(l->s, CVBC_PORTS - 1, &port) && line_bytes(l, &l->b->ports[port]);
    case KIND_I2C: return line_i2c(l);
    case KIND_SPI: return line_spi(l);
    default: return line_pin(l, kind == KIND_ANALOG);
    }
}

bool cvbc_board_script(struct cvbc_board_state *b, const char *path, penta_error *err)
{
    struct script s;
    struct line l = {.b = b, .s = &s};
    if (!script_open(&s, path, err)) return false;
    while (script_line(&s)) {
        size_t kind;
        uint64_t at = source_peek(&s.source).offset;
        if (!script_number(&s, UINT64_MAX, &l.ms) ||
            !script_choice(&s, "kind of input", script_kind, &kind))
            break;
        if (b->newest > l.ms) error_at(&s.why, BASE_SYNTAX, at, "times must ascend");
        b->newest = l.ms;
        if (!line_rest(&l, kind) || !source_end_of_line(&s.source)) break;
    }
    return script_close(&s, err);
}
