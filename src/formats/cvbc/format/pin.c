/* Reads pins from text: the place of a pin (C13) or its logical number (13), and fields of its
 * record by name. Options, the assembler and the compiler use these functions, which rely on the
 * rows of layout.def. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/reader.h"
#include "cvbc/format/build.h"
#include "cvbc/format/hardware/hardware.h"

bool cvbc_pin_place(penta_bytes text, uint8_t *record)
{
    uint64_t number = 0;
    uint8_t port = text.size > 1 ? (uint8_t)(text.data[0] & ~32) : 0;
    if (port < 'A' || port > 'Z' || !number_parse_bytes(bytes_slice(text, 1, text.size), &number) ||
        number > UINT8_MAX)
        return false;
    record[0] = (uint8_t)number;
    record[1] = (uint8_t)(port - 'A');
    return true;
}

const struct layout_field *cvbc_field_find(const struct layout_field *fields, const char *prefix,
                                           penta_bytes name, size_t *offset)
{
    size_t skip = strlen(prefix);
    for (*offset = 0; fields->name; *offset += fields->size, fields++) {
        if (strncmp(fields->name, prefix, skip)) continue;
        penta_bytes rest = bytes_of(fields->name + skip);
        bool starts = name.size && bytes_equal(bytes_slice(rest, 0, name.size), name);
        if (starts && (rest.size == name.size || (skip && rest.data[name.size] == '_')))
            return fields;
    }
    return NULL;
}

bool cvbc_field_put(const struct layout_field *field, uint64_t value, uint8_t *out)
{
    if (field->size < 8 && value >> 8 * field->size) return false;
    for (uint32_t i = 0; i < field->size; i++) out[i] = (uint8_t)(value >> 8 * i);
    return true;
}

/* The functions below read the option 'pin'. */

/* Offsets of fields in the record of a pin. */
enum { PIN_NUMBER, PIN_PORT, PIN_FUNCTION, PIN_MODE };

penta_bytes cvbc_option_part(penta_bytes *rest)
{
    const uint8_t *colon = rest->size ? memchr(rest->data, ':', rest->size) : NULL;
    penta_bytes out = {rest->data, colon ? (size_t)(colon - rest->data) : rest->size};
    *rest = colon ? (penta_bytes){colon + 1, rest->size - out.size - 1} : (penta_bytes){0};
    return out;
}

bool cvbc_option_word(const char *field, penta_bytes text, uint64_t *value)
{
    return cvbc_value(field, text, value) || number_parse_bytes(text, value);
}

/* Reads FIELD=VALUE. The field is one after function and mode, and is written without its prefix
 * pin_. */
static bool pin_field(uint8_t *record, penta_bytes text)
{
    const uint8_t *equals = text.size ? memchr(text.data, '=', text.size) : NULL;
    if (!equals) return false;
    size_t size = (size_t)(equals - text.data), offset = 0;
    uint64_t value = 0;
    const struct layout_field *field =
        cvbc_field_find(cvbc_pin_fields, "pin_", bytes_slice(text, 0, size), &offset);
    return field && offset > PIN_MODE &&
           cvbc_option_word(field->name, bytes_slice(text, size + 1, text.size), &value) &&
           cvbc_field_put(field, value, record + offset);
}

/* Reads the name of a pin: its place, or the number of a logical pin. */
static bool pin_name(penta_bytes text, uint8_t *record)
{
    uint64_t logical = 0;
    if (cvbc_pin_place(text, record)) return true;
    if (!text.size || !number_parse_bytes(text, &logical) || logical >= CVBC_LOGICAL_PINS)
        return false;
    record[PIN_NUMBER] = (uint8_t)logical;
    record[PIN_PORT] = CVBC_PORT_LOGICAL;
    return true;
}

/* Reports why the text of an option is not a pin. */
static bool pin_wrong(const char *text, penta_error *err)
{
    penta_bytes rest = bytes_of(text), name = cvbc_option_part(&rest),
                function = cvbc_option_part(&rest), mode = cvbc_option_part(&rest);
    uint64_t number = 0, ignored;
    char word[24];
    if (name.size && function.size && !cvbc_option_word("pin_function", function, &ignored)) {
        snprintf(word, sizeof word, "%.*s", BYTES_ARG(function, 20));
        return error_not_in(err, "pin function", word, cvbc_pin_function_name);
    }
    if (name.size && mode.size && !cvbc_option_word("pin_mode", mode, &ignored)) {
        snprintf(word, sizeof word, "%.*s", BYTES_ARG(mode, 20));
        return error_not_in(err, "pin mode", word, cvbc_pin_mode_name);
    }
    if (mode.size && number_parse_bytes(name, &number))
        return error_at(err, BASE_OPTION_VALUE, 0, "pin '%.60s': logical pins are 0 to %d", text,
                        CVBC_LOGICAL_PINS - 1);
    if (mode.size && number_parse_bytes(bytes_slice(name, 1, name.size), &number) &&
        number > UINT8_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "pin '%.60s': numbers of pins are 0 to 255",
                        text);
    error_at(err, BASE_OPTION_VALUE, 0, "pin '%.60s' is not PIN:FUNCTION:MODE", text);
    return error_note(err, "for example C13:gpio:output or 13:gpio:output, with :pull= :drive= "
                           ":frequency_hz= :alternate= :initial= :flags=");
}

/* Gives a logical pin its place on the board, and records the pair of logical pin and record. */
static bool pin_on_board(const struct cvbc_build *b, const struct cvbc_board *board,
                         uint8_t *record, const char *text, struct writer *pairs, penta_error *err)
{
    uint8_t number = record[PIN_NUMBER];
    if (!board || board->any) return true;
    if (record[PIN_PORT] != CVBC_PORT_LOGICAL) {
        if (record[PIN_PORT] < board->ports && number < board->pins) return true;
        return error_at(err, BASE_OPTION_VALUE, 0, "pin '%.40s': %s has ports A to %c of %u pins",
                        text, board->name, (char)('A' + (board->ports ? board->ports - 1 : 0) % 26),
                        (unsigned)board->pins);
    }
    if (!board->maps) return true;
    if (!board->logical[number].there)
        return error_at(err, BASE_OPTION_VALUE, 0, "pin '%.40s': %s has no logical pin %u", text,
                        board->name, number);
    record[PIN_NUMBER] = board->logical[number].place.pin;
    record[PIN_PORT] = board->logical[number].place.port;
    writer_uint(pairs, number, 1);
    writer_uint(pairs, b->pin_count, 1);
    return true;
}

static bool pin_option(struct cvbc_build *b, const struct cvbc_board *board, const char *text,
                       struct writer *pairs, penta_error *err)
{
    penta_bytes rest = bytes_of(text), name = cvbc_option_part(&rest),
                function = cvbc_option_part(&rest), mode = cvbc_option_part(&rest);
    uint8_t record[cvbc_pin_bytes] = {0};
    uint64_t f = 0, m = 0;
    bool ok = pin_name(name, record) && cvbc_option_word("pin_function", function, &f) && f < 256 &&
              cvbc_option_word("pin_mode", mode, &m) && m < 256;
    record[PIN_FUNCTION] = (uint8_t)f;
    record[PIN_MODE] = (uint8_t)m;
    while (ok && rest.size) ok = pin_field(record, cvbc_option_part(&rest));
    if (!ok) return pin_wrong(text, err);
    if (b->pin_count >= CVBC_PINS_MAX)
        return error_at(err, CVBC_LIMIT, 0, "more than %d pins", CVBC_PINS_MAX);
    if (!pin_on_board(b, board, record, text, pairs, err)) return false;
    for (size_t at = 0; at < b->pins.out.size; at += cvbc_pin_bytes)
        if (!memcmp(b->pins.out.data + at, record, PIN_FUNCTION))
            return error_at(err, BASE_OPTION_VALUE, 0, "pin '%.60s' is declared already", text);
    cvbc_build_pin_record(b, record);
    return true;
}

bool cvbc_create_pins(struct cvbc_build *b, const struct cvbc_board *board,
                      const penta_option *options, size_t count, penta_error *err)
{
    struct writer pairs = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        if (!strcmp(options[i].key, "pin"))
            ok = pin_option(b, board, options[i].value, &pairs, err);
    if (ok) cvbc_build_map(b, &pairs);
    writer_free(&pairs);
    return ok;
}

/* Finds the record of a logical pin: the one at the place that the pin has on the board, or
 * else, if places of the board are numbered, the only one with that number. Returns false if
 * there is none. */
static bool pin_record_on(const struct cvbc_build *b, const struct cvbc_board *board,
                          unsigned logical, unsigned *record)
{
    const struct cvbc_board_pin *pin = &board->logical[logical];
    unsigned numbered = 0, found = 0;
    for (unsigned i = 0; i < b->pin_count; i++) {
        const uint8_t *at = b->pins.out.data + (size_t)i * cvbc_pin_bytes;
        if (pin->there && at[PIN_NUMBER] == pin->place.pin && at[PIN_PORT] == pin->place.port) {
            *record = i;
            return true;
        }
        if (at[PIN_NUMBER] != logical) continue;
        numbered = i;
        found++;
    }
    *record = numbered;
    return board->numbered && found == 1;
}

void cvbc_build_places(struct cvbc_build *b, const struct cvbc_board *board, uint32_t logical)
{
    struct writer pairs = {0};
    struct cvbc_metadata meta = {
        .enforced = true, .pin_count = b->pin_count, .custom = writer_view(&b->custom)};
    size_t known;
    unsigned record;
    for (unsigned i = 0; board && board->maps && i < CVBC_LOGICAL_PINS; i++) {
        if (!(logical >> i & 1) || cvbc_board_mapped(&meta, i, &known) ||
            !pin_record_on(b, board, i, &record))
            continue;
        writer_uint(&pairs, i, 1);
        writer_uint(&pairs, record, 1);
    }
    cvbc_build_map(b, &pairs);
    writer_free(&pairs);
}

void cvbc_build_map(struct cvbc_build *b, const struct writer *pairs)
{
    b->custom.failed |= pairs->failed;
    if (!pairs->out.size) return;
    writer_uint(&b->custom, 1, 2);
    writer_uint(&b->custom, pairs->out.size, 2);
    writer_append(&b->custom, pairs);
}

bool cvbc_build_declared(const struct cvbc_build *b, bool any_pin, struct cvbc_declared *out)
{
    penta_error none = {0};
    struct reader r = {.in = writer_view(&b->pins), .err = &none};
    struct cvbc_metadata meta = {.core = b->core,
                                 .enforced = true,
                                 .needs = any_pin ? CVBC_NEED_ANY_PIN : 0,
                                 .pin_count = b->pin_count,
                                 .custom = writer_view(&b->custom)};
    meta.pins = calloc(b->pin_count + 1u, sizeof *meta.pins);
    if (!meta.pins) return false;
    for (size_t i = 0; i < b->pin_count; i++) cvbc_pin_read(&r, &meta.pins[i]);
    cvbc_declared_read(&meta, out);
    free(meta.pins);
    return true;
}

void cvbc_build_pin_record(struct cvbc_build *b, const uint8_t *record)
{
    writer_bytes(&b->pins, record, cvbc_pin_bytes);
    b->pin_count++;
}
