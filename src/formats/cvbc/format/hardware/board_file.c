/* Finds boards by name and reads board files (CVBC 19.2). The boards that have names are files
 * in the folder boards/, which the build puts into the library. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"
#include "base/suggest.h"
#include "cvbc/format/hardware/board.h"

/* For each board, cmake/embed.cmake writes the text of its file as one of these arrays. */
#define BOARD(word, id)                                                                            \
    extern const unsigned char cvbc_board_##id[];                                                  \
    extern const size_t cvbc_board_##id##_size;
#include "cvbc/boards.def"
static const struct {
    const char *name;
    const unsigned char *text;
    const size_t *size;
} boards[] = {
#define BOARD(word, id) {word, cvbc_board_##id, &cvbc_board_##id##_size},
#include "cvbc/boards.def"
};
enum { BOARDS = sizeof boards / sizeof *boards };

const char *cvbc_board_name(size_t i) { return i < BOARDS ? boards[i].name : NULL; }

const char *cvbc_board_option_name(size_t i) { return i ? cvbc_board_name(i - 1) : "trace"; }

penta_bytes cvbc_board_text(size_t i)
{
    return i < BOARDS ? (penta_bytes){boards[i].text, *boards[i].size} : (penta_bytes){0};
}

static const struct {
    const char *key, *field; /* field: the field whose words the value may be, or NULL */
    size_t offset;
    /* clang-format off */
} keys[] = {
#define KEY(name, field) {#name, field, offsetof(struct cvbc_board, name)}
    KEY(architecture, "target_architecture"), KEY(family, "target_family"),
    KEY(variant, NULL),      KEY(features, NULL),     KEY(flash_kb, NULL),
    KEY(ram_kb, NULL),       KEY(clock_hz, NULL),     KEY(ports, NULL),
    KEY(pins, NULL),         KEY(gpio, NULL),         KEY(uarts, NULL),
    KEY(i2cs, NULL),         KEY(spis, NULL),         KEY(timers, NULL),
    KEY(adc_channels, NULL), KEY(dac_channels, NULL), KEY(priorities, NULL),
    KEY(dma_channels, NULL), KEY(latency_us, NULL),   KEY(numbered, NULL),
};
/* clang-format on */
enum { KEYS = sizeof keys / sizeof *keys };

/* These are the busses whose pins a board names, and the number of pins that each has. */
static const struct {
    const char *key;
    uint8_t pins;
} busses[] = {
    [CVBC_BUS_UART] = {"uart", 2}, [CVBC_BUS_I2C] = {"i2c", 2}, [CVBC_BUS_SPI] = {"spi", 3}};

/* This is the state of reading one file: the board, the keys that were read already, and the
 * line for messages. */
struct board_reading {
    struct cvbc_board *b;
    bool seen[KEYS], named;
    unsigned line;
    penta_error *err;
};

static bool board_wrong(struct board_reading *r, uint64_t at, const char *what, penta_bytes word)
{
    return error_at(r->err, BASE_SYNTAX, at, "line %u: %s%s%.*s%s", r->line, what,
                    word.size ? " '" : "", BYTES_ARG(word, 40), word.size ? "'" : "");
}

static penta_bytes board_trim(penta_bytes t)
{
    while (t.size && isspace(t.data[0])) t.data++, t.size--;
    while (t.size && isspace(t.data[t.size - 1])) t.size--;
    return t;
}

/* Takes the next word of a line. */
static penta_bytes board_word(penta_bytes *rest)
{
    size_t n = 0;
    *rest = board_trim(*rest);
    while (n < rest->size && !isspace(rest->data[n])) n++;
    penta_bytes word = {rest->data, n};
    *rest = bytes_slice(*rest, n, rest->size);
    return word;
}

static bool word_is(penta_bytes word, const char *text)
{
    return bytes_equal(word, bytes_of(text));
}

static bool word_number(penta_bytes word, uint64_t max, uint64_t *out)
{
    return word.size && number_parse_bytes(word, out) && *out <= max;
}

/* Reads a place such as C13. */
static bool word_place(penta_bytes word, struct cvbc_place *out)
{
    uint64_t number;
    uint8_t port = word.size ? (uint8_t)(word.data[0] & ~32) : 0;
    if (port < 'A' || port > 'Z' || !word_number(bytes_slice(word, 1, word.size), 255, &number))
        return false;
    *out = (struct cvbc_place){(uint8_t)(port - 'A'), (uint8_t)number};
    return true;
}

static bool line_library(struct board_reading *r, uint64_t at, penta_bytes text)
{
    char line[64] = "";
    struct cvbc_board *b = r->b;
    if (b->library_count == CVBC_LIBRARIES)
        return board_wrong(r, at, "more than 32 libraries", text);
    if (text.size < sizeof line) bytes_copy(line, text);
    struct cvbc_library *l = &b->libraries[b->library_count];
    if (sscanf(line, "%15s %u.%u", l->name, &l->major, &l->minor) != 3)
        return board_wrong(r, at, "a library is a name and MAJOR.MINOR, not", text);
    b->library_count++;
    return true;
}

/* Reads `UNIT.CHANNEL`. Its values are not used. */
static bool word_unit(penta_bytes word)
{
    const uint8_t *dot = word.size ? memchr(word.data, '.', word.size) : NULL;
    size_t at = dot ? (size_t)(dot - word.data) : 0;
    uint64_t n;
    return dot && word_number(bytes_slice(word, 0, at), 255, &n) &&
           word_number(bytes_slice(word, at + 1, word.size), 255, &n);
}

/* Reads a line pin = LOGICAL PLACE [adc=CHANNEL] [pwm=UNIT.CHANNEL] [af=NUMBER]
 * [interrupt=NUMBER]. */
static bool line_pin(struct board_reading *r, uint64_t at, penta_bytes rest)
{
    penta_bytes first = board_word(&rest), place = board_word(&rest), word;
    uint64_t logical, n = 0;
    if (!word_number(first, CVBC_LOGICAL_PINS - 1, &logical))
        return board_wrong(r, at, "logical pins are 0 to 19, not", first);
    struct cvbc_board_pin *pin = &r->b->logical[logical];
    if (pin->there) return board_wrong(r, at, "there is already a pin", first);
    if (!word_place(place, &pin->place))
        return board_wrong(r, at, "a place is a port and a number, as C13, not", place);
    pin->there = r->b->maps = true;
    while ((word = board_word(&rest)).size) {
        const uint8_t *equals = memchr(word.data, '=', word.size);
        size_t k = equals ? (size_t)(equals - word.data) : word.size;
        penta_bytes key = bytes_slice(word, 0, k),
                    value = bytes_slice(word, k + !!equals, word.size);
        if (word_is(key, "adc") && word_number(value, 255, &n))
            pin->adc = true;
        else if (word_is(key, "pwm") && word_unit(value))
            pin->pwm = true;
        else if (word_is(key, "interrupt") && word_number(value, 255, &n))
            pin->interrupt = r->b->limits = true;
        else if (word_is(key, "af") && word_number(value, 255, &n))
            pin->alternate = (uint8_t)n;
        else
            return board_wrong(r, at, "of a pin are adc=N, pwm=N.N, af=N and interrupt=N, not",
                               word);
    }
    return true;
}

/* Reads a line uart = NUMBER TX RX, i2c = NUMBER SDA SCL or spi = NUMBER MOSI MISO SCK. */
static bool line_bus(struct board_reading *r, uint64_t at, size_t kind, penta_bytes rest)
{
    struct cvbc_board *b = r->b;
    uint64_t number;
    penta_bytes first = board_word(&rest);
    if (!word_number(first, 8, &number) || !number)
        return board_wrong(r, at, "busses are counted from 1, and not as", first);
    if (b->bus_count == CVBC_BUSSES) return board_wrong(r, at, "more than 24 busses", first);
    struct cvbc_bus *bus = &b->busses[b->bus_count];
    *bus = (struct cvbc_bus){.kind = (uint8_t)kind, .number = (uint8_t)number};
    for (size_t i = 0; i < b->bus_count; i++)
        if (b->busses[i].kind == kind && b->busses[i].number == number)
            return board_wrong(r, at, "it has pins already:", first);
    for (unsigned i = 0; i < busses[kind].pins; i++) {
        penta_bytes place = board_word(&rest);
        if (!word_place(place, &bus->places[i]))
            return board_wrong(r, at, "a place is a port and a number, as C13, not", place);
    }
    b->bus_count++;
    rest = board_trim(rest);
    return !rest.size || board_wrong(r, at, "that is too much:", rest);
}

static bool line_field(struct board_reading *r, uint64_t at, penta_bytes key, penta_bytes value)
{
    struct cvbc_board *b = r->b;
    if (word_is(key, "name")) {
        if (r->named) return board_wrong(r, at, "said twice:", key);
        if (!value.size) return board_wrong(r, at, "there is no value for", key);
        r->named = true;
        snprintf(b->name, sizeof b->name, "%.*s", BYTES_ARG(value, 31));
        return true;
    }
    if (word_is(key, "library")) return line_library(r, at, value);
    if (word_is(key, "pin")) return line_pin(r, at, value);
    for (size_t i = 0; i < sizeof busses / sizeof *busses; i++)
        if (word_is(key, busses[i].key)) return line_bus(r, at, i, value);
    struct suggest near = {.word = key};
    for (size_t i = 0; i < KEYS; i++) {
        suggest_offer(&near, keys[i].key);
        if (!word_is(key, keys[i].key)) continue;
        uint64_t *to = (uint64_t *)((char *)b + keys[i].offset);
        if (r->seen[i]) return board_wrong(r, at, "said twice:", key);
        r->seen[i] = true;
        return (keys[i].field && cvbc_value(keys[i].field, value, to)) ||
               word_number(value, UINT32_MAX, to) || board_wrong(r, at, "a bad value:", value);
    }
    board_wrong(r, at, "not a field of a board:", key);
    return near.best ? error_note(r->err, "did you mean '%s'?", near.best) : false;
}

/* The functions below read a whole file. */

static bool place_exists(const struct cvbc_board *b, struct cvbc_place p)
{
    return p.port < b->ports && p.pin < b->pins;
}

/* Checks what depends on several lines. */
static bool board_whole(const struct cvbc_board *b, penta_error *err)
{
    if (b->ports > 256 || b->pins > 256)
        return error_at(err, BASE_NUMBER, 0, "at most 256 ports of 256 pins");
    for (unsigned i = 0; i < CVBC_LOGICAL_PINS; i++)
        if (b->logical[i].there && !place_exists(b, b->logical[i].place))
            return error_at(err, BASE_NUMBER, 0, "pin %u is %c%u, of %u ports of %u pins", i,
                            'A' + b->logical[i].place.port, b->logical[i].place.pin,
                            (unsigned)b->ports, (unsigned)b->pins);
    const uint64_t counts[] = {
        [CVBC_BUS_UART] = b->uarts, [CVBC_BUS_I2C] = b->i2cs, [CVBC_BUS_SPI] = b->spis};
    for (size_t i = 0; i < b->bus_count; i++) {
        const struct cvbc_bus *bus = &b->busses[i];
        if (bus->number > counts[bus->kind])
            return error_at(err, BASE_NUMBER, 0, "%s %u, of %u", busses[bus->kind].key, bus->number,
                            (unsigned)counts[bus->kind]);
        for (unsigned k = 0; k < busses[bus->kind].pins; k++)
            if (!place_exists(b, bus->places[k]))
                return error_at(err, BASE_NUMBER, 0, "%s %u is at %c%u, of %u ports of %u pins",
                                busses[bus->kind].key, bus->number, 'A' + bus->places[k].port,
                                bus->places[k].pin, (unsigned)b->ports, (unsigned)b->pins);
    }
    return true;
}

bool cvbc_board_read(penta_bytes text, struct cvbc_board *b, penta_error *err)
{
    struct board_reading r = {.b = b, .err = err};
    bool any = false;
    for (size_t at = 0; at < text.size;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
        penta_bytes line = board_trim(bytes_slice(text, at, size));
        r.line++;
        if (line.size && line.data[0] != '#') {
            const uint8_t *equals = memchr(line.data, '=', line.size);
            if (!equals) return board_wrong(&r, at, "a line is key = value, not", line);
            size_t k = (size_t)(equals - line.data);
            if (!line_field(&r, at, board_trim(bytes_slice(line, 0, k)),
                            board_trim(bytes_slice(line, k + 1, line.size))))
                return false;
        }
        any |= line.size && line.data[0] != '#';
        at += size + 1;
    }
    if (!any) return error_at(err, BASE_SYNTAX, 0, "the file has no line about a board");
    return board_whole(b, err);
}

bool cvbc_board_find(const char *name, struct cvbc_board *out, penta_error *err)
{
    *out = (struct cvbc_board){0};
    struct suggest near = {.word = bytes_of(name)};
    for (size_t i = 0; i < BOARDS; i++) {
        suggest_offer(&near, boards[i].name);
        if (strcmp(boards[i].name, name)) continue;
        out->any = !strcmp(name, "host");
        return cvbc_board_read(cvbc_board_text(i), out, err);
    }
    if (!strchr(name, '/') && !strchr(name, '.')) {
        error_at(err, BASE_OPTION_VALUE, 0, "no board is called '%.40s'", name);
        return near.best
                   ? error_note(err, "did you mean '%s'? A file needs a slash or a dot in its name",
                                near.best)
                   : error_note(err, "a file needs a slash or a dot in its name");
    }
    penta_buffer file = {0};
    if (!file_read(name, 1 << 16, &file, err)) return false;
    snprintf(out->name, sizeof out->name, "%.31s", name);
    bool ok = cvbc_board_read((penta_bytes){file.data, file.size}, out, err);
    if (!ok && !*err->note) error_note(err, "in '%.80s'", name);
    penta_buffer_free(&file);
    return ok;
}
