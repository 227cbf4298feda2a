/* Finds what a program must declare and writes it into a build (CVBC 14.5.4): features,
 * instances, pins, the needs for memory, and the switch of minor version 3. It compares what the
 * user declared with what the program uses, and both with the board. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/reader.h"
#include "cvbc/format/build.h"
#include "cvbc/format/hardware/hardware.h"

enum { REASON = 120 };
enum { GPIO = 1, PWM_OUT = 9, ADC_IN, INTERRUPT = 12 }; /* values of pin_function */
enum { INPUT = 1, OUTPUT, ALTERNATE, ANALOG };          /* values of pin_mode */
enum { SPECIAL = CVBC_PIN_PWM | CVBC_PIN_ADC | CVBC_PIN_INTERRUPT };

struct declaring {
    struct cvbc_build *b;
    const struct cvbc_declaring *how;
    struct cvbc_program p;
    struct cvbc_uses uses;
    struct cvbc_flow flow;
    uint32_t features, heap; /* heap: number of words in arrays */
    uint8_t busses[CVBC_BUS_KINDS], channels;
    struct {
        uint32_t first; /* the first instruction that uses the pin */
        uint8_t abilities, pull;
    } pins[CVBC_LOGICAL_PINS];
    bool good;
};

/* Finds the source line of an instruction in the debug tables. */
static bool declare_line(const struct declaring *d, uint32_t at, uint64_t *offset)
{
    struct cvbc_debug_tables t = cvbc_debug_split(d->how->debug);
    penta_bytes source = d->how->source, places = writer_view(&d->b->places);
    uint32_t line = 0, place = places.size / 4 > at ? bytes_get32(places.data + 4 * (size_t)at) : 0;
    if (place && place <= source.size) {
        *offset = place - 1;
        return true;
    }
    for (size_t i = 0; i + cvbc_line_bytes <= t.lines.size; i += cvbc_line_bytes) {
        if (bytes_get16(t.lines.data + i) > at) break;
        line = bytes_get16(t.lines.data + i + 2) ? 0 : bytes_get32(t.lines.data + i + 4);
    }
    size_t pos = 0;
    for (uint32_t n = 1; n < line; n++) {
        const uint8_t *end =
            pos < source.size ? memchr(source.data + pos, '\n', source.size - pos) : NULL;
        if (!end) return false;
        pos = (size_t)(end - source.data) + 1;
    }
    while (pos < source.size && (source.data[pos] == ' ' || source.data[pos] == '\t')) pos++;
    *offset = pos;
    return line > 0;
}

static void declare_wrong(struct declaring *d, uint32_t code, uint32_t at, const char *reason,
                          const char *note)
{
    penta_error e = {.code = code, .severity = PENTA_ERROR};
    if (declare_line(d, at, &e.offset))
        snprintf(e.message, sizeof e.message, "%s", reason);
    else
        snprintf(e.message, sizeof e.message, "instruction %u: %.90s", (unsigned)at, reason);
    if (note) snprintf(e.note, sizeof e.note, "%s", note);
    d->good = false;
    findings_pass(d->how->f, &e);
}

/* The functions below find what the program uses. */

static void declare_use(struct declaring *d, const struct cvbc_used *u)
{
    char reason[REASON];
    d->features |= UINT32_C(1) << u->use->feature;
    if (!u->use->pin) return;
    if (u->any && d->how->enforce && !d->how->any_pin) {
        snprintf(reason, sizeof reason, "the pin of %s is not known before the program runs",
                 u->use->name);
        declare_wrong(d, CVBC_UNDECLARED, u->at, reason, "option 'any-pin' lets it use any pin");
    }
    for (unsigned pin = 0; pin < CVBC_LOGICAL_PINS && !u->any; pin++) {
        if (!(u->pins >> pin & 1)) continue;
        if (!d->pins[pin].abilities) d->pins[pin].first = u->at;
        d->pins[pin].abilities |= u->abilities;
        if (u->pull) d->pins[pin].pull = u->pull;
        int channel = cvbc_channel_of(pin);
        if (u->use->instances == CVBC_INSTANCES_CHANNELS && channel >= 0)
            d->channels |= (uint8_t)(1 << channel);
    }
}

/* Adds the elements of arrays whose size is the number that the PUSH before gives. */
static void declare_heap(struct declaring *d)
{
    for (size_t i = 1; i < d->p.count; i++) {
        struct cvbc_inst in = cvbc_inst_at(&d->p, i), before = cvbc_inst_at(&d->p, i - 1);
        if (in.opcode == CVBC_OP_CREATE_ARRAY)
            d->heap += before.opcode == CVBC_OP_PUSH ? before.immediate : 64;
    }
}

static void declare_fits(struct declaring *d)
{
    const struct cvbc_board *board = d->how->board;
    char reason[REASON];
    uint32_t told = 0;
    uint64_t told_pins = 0;
    if (!board || board->any) return;
    for (size_t i = 0; i < d->uses.count; i++) {
        const struct cvbc_used *u = &d->uses.list[i];
        uint32_t bit = UINT32_C(1) << u->use->feature;
        if (u->use->pin && u->any && !(told & bit) &&
            cvbc_board_lacks_all(board, u->use, u->abilities, reason)) {
            declare_wrong(d, CVBC_TARGET, u->at, reason, NULL);
            told |= bit;
        }
        for (unsigned pin = 0; pin < CVBC_LOGICAL_PINS; pin++) {
            if (u->use->pin && (u->any || !(u->pins >> pin & 1))) continue;
            if (!(told & bit) && !(told_pins >> pin & 1) &&
                cvbc_board_lacks(board, u->use, u->abilities, pin, NULL, reason)) {
                declare_wrong(d, CVBC_TARGET, u->at, reason, NULL);
                if (!(board->features & bit))
                    told |= bit; /* Each fault gets only one message. */
                else
                    told_pins |= UINT64_C(1) << pin;
            }
            if (!u->use->pin) break;
        }
    }
    for (unsigned pin = 0; pin < CVBC_LOGICAL_PINS; pin++)
        if (d->pins[pin].abilities && cvbc_board_taken(board, d->busses, pin, NULL, reason))
            declare_wrong(d, CVBC_TARGET, d->pins[pin].first, reason, NULL);
}

static uint8_t function_of(uint8_t abilities)
{
    if (abilities & CVBC_PIN_PWM) return PWM_OUT;
    if (abilities & CVBC_PIN_ADC) return ADC_IN;
    return abilities & CVBC_PIN_INTERRUPT ? INTERRUPT : GPIO;
}

static uint8_t mode_of(uint8_t abilities)
{
    bool out = abilities & CVBC_PIN_OUTPUT, in = abilities & CVBC_PIN_INPUT;
    if (abilities & CVBC_PIN_PWM || (out && (in || abilities & CVBC_PIN_ADC))) return ALTERNATE;
    if (out) return OUTPUT;
    if (abilities & CVBC_PIN_ADC && !in && !(abilities & CVBC_PIN_READ)) return ANALOG;
    return INPUT;
}

/* Writes the record of a pin, and on a board that maps pins also the pair of logical pin and
 * record. */
static bool declare_record(struct declaring *d, unsigned logical, struct writer *pairs,
                           struct cvbc_place places[CVBC_LOGICAL_PINS], unsigned *count)
{
    const struct cvbc_board *board = d->how->board;
    bool maps = board && board->maps;
    struct cvbc_place place = {CVBC_PORT_LOGICAL, (uint8_t)logical};
    uint8_t abilities = d->pins[logical].abilities, pull = d->pins[logical].pull;
    char reason[REASON];
    if (maps) place = board->logical[logical].place;
    unsigned at = 0;
    while (at < *count && (places[at].port != place.port || places[at].pin != place.pin)) at++;
    if (at == *count) {
        /* The loop finds other logical pins at the same place. */
        for (unsigned i = logical + 1; maps && i < CVBC_LOGICAL_PINS; i++) {
            const struct cvbc_board_pin *other = &board->logical[i];
            if (!other->there || other->place.port != place.port || other->place.pin != place.pin)
                continue;
            abilities |= d->pins[i].abilities;
            if (d->pins[i].pull) pull = d->pins[i].pull;
        }
        uint8_t special = abilities & SPECIAL;
        if (special & (special - 1)) {
            uint8_t first = special & CVBC_PIN_PWM ? CVBC_PIN_PWM : CVBC_PIN_ADC;
            snprintf(reason, sizeof reason, "pin %u is used as %s and as %s, and has one function",
                     logical, cvbc_ability_name(first), cvbc_ability_name(special ^ first));
            declare_wrong(d, CVBC_UNDECLARED, d->pins[logical].first, reason, NULL);
            return false;
        }
        struct cvbc_pin pin = {.pin_number = place.pin,
                               .port_identifier = place.port,
                               .pin_function = function_of(abilities),
                               .pin_mode = mode_of(abilities),
                               .pin_pull = pull};
        if (maps && special & CVBC_PIN_PWM)
            pin.pin_alternate_function = board->logical[logical].alternate;
        cvbc_build_pin(d->b, &pin);
        places[(*count)++] = place;
    }
    if (maps) {
        writer_uint(pairs, logical, 1);
        writer_uint(pairs, at, 1);
    }
    return true;
}

static void declare_pins(struct declaring *d)
{
    struct cvbc_place places[CVBC_LOGICAL_PINS];
    struct writer pairs = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < CVBC_LOGICAL_PINS; i++)
        if (d->pins[i].abilities) declare_record(d, i, &pairs, places, &count);
    cvbc_build_map(d->b, &pairs);
    writer_free(&pairs);
}

/* Compares the pins that the user declared with those that the program uses. */
static bool declare_compare(struct declaring *d)
{
    char reason[REASON];
    uint32_t told = 0; /* the pins that were reported */
    int which;
    struct cvbc_declared declared;
    uint32_t used = d->how->any_pin ? UINT32_MAX : 0;
    for (unsigned i = 0; i < CVBC_LOGICAL_PINS; i++)
        if (d->pins[i].abilities) used |= UINT32_C(1) << i;
    cvbc_build_places(d->b, d->how->board, used);
    if (!cvbc_build_declared(d->b, d->how->any_pin, &declared)) return false;
    for (size_t i = 0; i < d->uses.count; i++)
        if (cvbc_used_refused(&declared, &d->uses.list[i], reason, &which) &&
            !(which >= 0 && told >> which & 1)) {
            if (which >= 0 && d->uses.list[i].use->pin) told |= UINT32_C(1) << which;
            declare_wrong(d, CVBC_UNDECLARED, d->uses.list[i].at, reason, NULL);
        }
    return true;
}

/* The functions below compute what the program needs. */

static uint32_t in_kb(uint64_t bytes) { return (uint32_t)((bytes + 1023) / 1024); }

static void declare_needs(struct declaring *d)
{
    struct cvbc_core *core = &d->b->core;
    const struct cvbc_board *board = d->how->board;
    /* If the depth is unknown, the program needs the whole stack. */
    uint32_t stack = d->flow.stack ? d->flow.stack : CVBC_STACK_MAX;
    char reason[REASON];
    if (!core->max_stack_depth_words) core->max_stack_depth_words = stack;
    if (!core->max_heap_bytes) core->max_heap_bytes = 4 * d->heap;
    if (!core->min_ram_kb)
        core->min_ram_kb =
            in_kb(4 * ((uint64_t)core->max_stack_depth_words + d->flow.globals + d->heap));
    if (!core->min_flash_kb)
        core->min_flash_kb =
            in_kb(d->b->has_image
                      ? d->b->image.size
                      : cvbc_bytecode_bytes + 4 * (uint64_t)d->p.count + d->b->strings.out.size);
    if (!board || board->any) return;
    if (core->min_ram_kb > board->ram_kb || core->min_flash_kb > board->flash_kb) {
        snprintf(reason, sizeof reason,
                 "it needs %u KB of RAM and %u KB of flash, %s has %u and %u",
                 (unsigned)core->min_ram_kb, (unsigned)core->min_flash_kb, board->name,
                 (unsigned)board->ram_kb, (unsigned)board->flash_kb);
        declare_wrong(d, CVBC_TARGET, d->p.head.entry_point_offset, reason, NULL);
    }
}

static void declare_switch(struct declaring *d)
{
    struct cvbc_dependency s = {.min_version_major = CVBC_MAJOR,
                                .min_version_minor = CVBC_MINOR_ENFORCED,
                                .required_features = CVBC_NEED_DECLARED,
                                .compatibility_level = 1,
                                .criticality = CVBC_ENFORCED};
    if (d->how->any_pin) s.required_features |= CVBC_NEED_ANY_PIN;
    if (cvbc_build_enforced(d->b)) return;
    memcpy(s.lib_name, CVBC_ENFORCED_NAME, sizeof CVBC_ENFORCED_NAME);
    cvbc_dependency_write(&d->b->dependencies, &s);
    d->b->dependency_count++;
}

static void declare_write(struct declaring *d)
{
    struct cvbc_core *core = &d->b->core;
    core->target_features |= d->features;
    core->uart_instances_mask |= d->busses[CVBC_BUS_UART];
    core->i2c_instances_mask |= d->busses[CVBC_BUS_I2C];
    core->spi_instances_mask |= d->busses[CVBC_BUS_SPI];
    core->adc_channels_mask |= d->channels;
    declare_needs(d);
    if (d->how->enforce) declare_switch(d);
}

bool cvbc_declare(struct cvbc_build *b, const struct cvbc_declaring *how, penta_error *err)
{
    struct declaring d = {.b = b, .how = how, .good = true};
    if (how->program) {
        d.p = *how->program;
        d.p.minor = CVBC_MINOR_ENFORCED;
    } else {
        d.p = (struct cvbc_program){.code = b->code.out.data,
                                    .count = cvbc_build_count(b),
                                    .string_count = b->string_count,
                                    .minor = CVBC_MINOR_ENFORCED};
        d.p.head.entry_point_offset = b->entry;
    }
    struct findings none = {.rules = cvbc_rules};
    bool ok = d.p.count && cvbc_verify_program(&d.p, &none, 0, false, &d.flow) &&
              cvbc_uses_find(&d.p, how->f->work, &d.uses);
    if (ok) {
        cvbc_uses_busses(&d.uses, d.busses);
        for (size_t i = 0; i < d.uses.count; i++) declare_use(&d, &d.uses.list[i]);
        declare_heap(&d);
        declare_fits(&d);
        bool given = b->pin_count > 0;
        declare_write(&d);
        if (given)
            ok = !how->enforce || declare_compare(&d);
        else if (d.good)
            declare_pins(&d);
    }
    cvbc_uses_free(&d.uses);
    if (!ok && !(how->f->work && how->f->work->ended))
        return error_at(err, BASE_MEMORY, 0, "no memory to follow the program");
    return ok && d.good;
}
