/* Compares what a program uses with what its file declares. values.c finds the pins that a call
 * may use. */
#include "cvbc/format/hardware/hardware.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "cvbc/format/hardware/board.h"

static const struct {
    const char *name, *pins[3];
} bus_names[CVBC_BUS_KINDS] = {[CVBC_BUS_UART] = {"UART", {"TX", "RX", NULL}},
                               [CVBC_BUS_I2C] = {"I2C", {"SDA", "SCL", NULL}},
                               [CVBC_BUS_SPI] = {"SPI", {"MOSI", "MISO", "SCK"}}};
static const struct cvbc_use uses[] = {
#define USE(op, name, pin, feature, instances)                                                     \
    {CVBC_OP_##op, CVBC_PIN_##pin, CVBC_FEATURE_##feature, CVBC_INSTANCES_##instances, name},
#include "cvbc/hardware.def"
};

const struct cvbc_use *cvbc_use_of(uint8_t op)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].op == op) return &uses[i];
    return NULL;
}

bool cvbc_use_numbered(const struct cvbc_use *use, unsigned *kind)
{
    switch (use->instances) {
    case CVBC_INSTANCES_UART: *kind = CVBC_BUS_UART; return false;
    case CVBC_INSTANCES_PORT: *kind = CVBC_BUS_UART; return true;
    case CVBC_INSTANCES_I2C: *kind = CVBC_BUS_I2C; return true;
    case CVBC_INSTANCES_SPI: *kind = CVBC_BUS_SPI; return true;
    default: *kind = CVBC_BUS_KINDS; return false;
    }
}

uint8_t cvbc_use_needs(const struct cvbc_use *use, int32_t mode)
{
    if (use->pin != CVBC_PIN_DIRECTION) return use->pin;
    return mode == 1 ? CVBC_PIN_OUTPUT : CVBC_PIN_INPUT;
}

const char *cvbc_ability_name(uint8_t abilities)
{
    if (abilities & CVBC_PIN_ADC) return "an analog input";
    if (abilities & CVBC_PIN_PWM) return "a PWM output";
    if (abilities & CVBC_PIN_INTERRUPT) return "an interrupt input";
    if (abilities & CVBC_PIN_OUTPUT)
        return abilities & CVBC_PIN_INPUT ? "input and output" : "an output";
    return "an input";
}

int cvbc_channel_of(unsigned logical)
{
    return logical >= CVBC_LOGICAL_ANALOG && logical < CVBC_LOGICAL_PINS
               ? (int)(logical - CVBC_LOGICAL_ANALOG)
               : -1;
}

/* Returns the abilities that a pin record allows (CVBC 14.5.2). */
static uint8_t record_allows(const struct cvbc_pin *pin)
{
    enum { INPUT = 1, OUTPUT, ALTERNATE };                       /* values of pin_mode */
    enum { GPIO = 1, PWM_OUT = 9, ADC_IN = 10, INTERRUPT = 12 }; /* values of pin_function */
    uint8_t abilities = CVBC_PIN_NONE;
    switch (pin->pin_function) {
    case GPIO: break;
    case PWM_OUT: abilities = CVBC_PIN_PWM; break;
    case ADC_IN: abilities = CVBC_PIN_ADC; break;
    case INTERRUPT: abilities = CVBC_PIN_INTERRUPT; break;
    default: return CVBC_PIN_NONE; /* A peripheral uses the pin. */
    }
    switch (pin->pin_mode) {
    case INPUT: return abilities | CVBC_PIN_INPUT | CVBC_PIN_READ;
    case OUTPUT: return abilities | CVBC_PIN_OUTPUT | CVBC_PIN_READ;
    case ALTERNATE: return abilities | CVBC_PIN_INPUT | CVBC_PIN_OUTPUT | CVBC_PIN_READ;
    default: return abilities;
    }
}

void cvbc_declared_read(const struct cvbc_metadata *m, struct cvbc_declared *out)
{
    const struct cvbc_core *core = &m->core;
    *out = (struct cvbc_declared){.enforced = m->enforced,
                                  .any_pin = m->needs & CVBC_NEED_ANY_PIN,
                                  .features = core->target_features,
                                  .busses = {[CVBC_BUS_UART] = core->uart_instances_mask,
                                             [CVBC_BUS_I2C] = core->i2c_instances_mask,
                                             [CVBC_BUS_SPI] = core->spi_instances_mask},
                                  .channels = core->adc_channels_mask};
    for (unsigned p = 0; p < CVBC_LOGICAL_PINS; p++) {
        size_t i;
        if (!cvbc_board_record(m, p, &i)) continue;
        const struct cvbc_pin *pin = &m->pins[i];
        out->pins[p].abilities = record_allows(pin);
        out->pins[p].port = pin->port_identifier;
        out->pins[p].number = pin->pin_number;
        out->pins[p].function = pin->pin_function;
        out->pins[p].mode = pin->pin_mode;
        out->pins[p].record = (uint16_t)i;
        out->pins[p].there = true;
    }
}

bool cvbc_declared_refuses(const struct cvbc_declared *d, const struct cvbc_use *use, int32_t pin,
                           int32_t mode, char *reason)
{
    enum { REASON = 120 };
    uint8_t needs = cvbc_use_needs(use, mode);
    *reason = 0;
    if (!d->enforced) return false;
    if (!(d->features >> use->feature & 1)) {
        snprintf(reason, REASON, "%s needs the feature %s, which is not declared", use->name,
                 cvbc_feature(use->feature));
        return true;
    }
    unsigned kind, number = 0;
    bool numbered = cvbc_use_numbered(use, &kind), known = !numbered || (pin >= 0 && pin < 8);
    if (numbered && known) number = (unsigned)pin;
    if (kind < CVBC_BUS_KINDS && known && !(d->busses[kind] >> number & 1)) {
        char which[24] = "";
        if (numbered)
            snprintf(which, sizeof which, " of %s %u", kind == CVBC_BUS_UART ? "port" : "bus",
                     number);
        snprintf(reason, REASON, "%s%s needs %s %u, which is not declared", use->name, which,
                 bus_names[kind].name, number + 1);
        return true;
    }
    if (use->pin == CVBC_PIN_NONE || pin < 0 || pin >= CVBC_LOGICAL_PINS) return false;
    int channel = cvbc_channel_of((unsigned)pin);
    if (use->instances == CVBC_INSTANCES_CHANNELS && channel >= 0 && !d->any_pin &&
        !(d->channels >> channel & 1)) {
        snprintf(reason, REASON, "%s of pin %d needs ADC channel %d, which is not declared",
                 use->name, (int)pin, channel);
        return true;
    }
    if (!d->pins[pin].there) {
        if (d->any_pin) return false;
        snprintf(reason, REASON, "%s of pin %d, which is not declared", use->name, (int)pin);
        return true;
    }
    if ((d->pins[pin].abilities & needs) == needs) return false;
    const char *function = cvbc_name("pin_function", d->pins[pin].function),
               *how = cvbc_name("pin_mode", d->pins[pin].mode);
    snprintf(reason, REASON, "%s of pin %d as %s: it is declared as %s %s (pin record %u)",
             use->name, (int)pin, cvbc_ability_name(needs), function ? function : "unknown",
             how ? how : "unknown", d->pins[pin].record);
    return true;
}

/* Returns the pins of a range as bits. Numbers that the machine itself refuses are left out. */
static uint32_t pins_of(const struct cvbc_range *r, bool *any)
{
    enum { ALL = (1 << CVBC_LOGICAL_PINS) - 1 };
    if (cvbc_range_small(r)) return (uint32_t)r->bits & ALL;
    *any = r->low <= r->high && r->high >= 0 && r->low < CVBC_LOGICAL_PINS;
    if (!*any || r->high >= CVBC_LOGICAL_PINS) return *any ? ALL : 0;
    *any = false; /* The range contains negative numbers and pins. */
    return (uint32_t)((1u << (r->high + 1)) - 1);
}

static uint8_t needs_of(const struct cvbc_use *use, const struct cvbc_range *mode)
{
    if (use->pin != CVBC_PIN_DIRECTION) return use->pin;
    bool one =
        mode->low <= 1 && mode->high >= 1 && (!cvbc_range_small(mode) || mode->bits >> 1 & 1);
    bool others = mode->low != 1 || mode->high != 1;
    return (one ? CVBC_PIN_OUTPUT : 0) | (others ? CVBC_PIN_INPUT : 0);
}

/* Returns the value of pin_pull that a use of pinMode needs. */
static uint8_t pull_of(const struct cvbc_use *use, const struct cvbc_range *mode)
{
    enum { PULL_UP = 2, PULL_DOWN }; /* modes of pinMode; their value of pin_pull is 1 less */
    bool pulls = use->pin == CVBC_PIN_DIRECTION && mode->low == mode->high &&
                 mode->low >= PULL_UP && mode->low <= PULL_DOWN;
    return pulls ? (uint8_t)(mode->low - 1) : 0;
}

bool cvbc_uses_find(const struct cvbc_program *p, struct long_work *work, struct cvbc_uses *out)
{
    struct cvbc_calls calls;
    *out = (struct cvbc_uses){0};
    if (!cvbc_calls_find(p, work, &calls)) return false;
    out->list = calloc(calls.count + 1, sizeof *out->list);
    for (size_t i = 0; out->list && i < calls.count; i++) {
        const struct cvbc_call *c = &calls.list[i];
        struct cvbc_used u = {.use = cvbc_use_of(p->code[4 * c->at]), .at = c->at};
        if (c->args[0].low > c->args[0].high) continue; /* No path leads to this call. */
        unsigned kind;
        if (cvbc_use_numbered(u.use, &kind)) u.pins = pins_of(&c->args[0], &u.any) & 255;
        if (u.use->pin) {
            u.pins = pins_of(&c->args[0], &u.any);
            u.abilities = needs_of(u.use, &c->args[1]);
            u.pull = pull_of(u.use, &c->args[1]);
        }
        out->list[out->count++] = u;
    }
    free(calls.list);
    return out->list != NULL;
}

void cvbc_uses_free(struct cvbc_uses *u)
{
    free(u->list);
    *u = (struct cvbc_uses){0};
}

struct comparison {
    const struct cvbc_module *m;
    const struct cvbc_declared *declared;
    struct findings *f;
    bool told; /* for an older file: true after the first undeclared use was reported */
};

static void compare_report(struct comparison *c, uint32_t code, uint32_t at, const char *reason)
{
    bool plain = cvbc_plain(c->m);
    penta_error e = {.code = code,
                     .offset = (plain ? cvbc_offset(c->m, c->m->stored.data) : 0) +
                               cvbc_bytecode_bytes + 4 * (uint64_t)at,
                     .decoded = !plain,
                     .severity = rule_find(cvbc_rules, code)->severity};
    penta_bytes file;
    uint32_t line;
    snprintf(e.message, sizeof e.message, "instruction %u: %s", (unsigned)at, reason);
    if (cvbc_line_of(c->m, at, &file, &line))
        snprintf(e.note, sizeof e.note, "%.*s, line %u", BYTES_ARG(file, 80), (unsigned)line);
    findings_pass(c->f, &e);
}

bool cvbc_used_refused(const struct cvbc_declared *d, const struct cvbc_used *u, char *reason,
                       int *which)
{
    unsigned kind;
    bool each = cvbc_use_numbered(u->use, &kind) || u->use->pin;
    for (int pin = 0; pin < CVBC_LOGICAL_PINS; pin++) {
        if (each && (u->any || !(u->pins >> pin & 1))) continue;
        for (int32_t mode = 0; mode < 2; mode++) { /* The modes of pinMode are input and output. */
            bool direction = u->use->pin == CVBC_PIN_DIRECTION;
            if (direction ? !(u->abilities & cvbc_use_needs(u->use, mode)) : mode > 0) continue;
            if (!cvbc_declared_refuses(d, u->use, pin, mode, reason)) continue;
            if (which) *which = each ? pin : -1;
            return true;
        }
        if (!each) break;
    }
    return false;
}

static void compare_use(struct comparison *c, const struct cvbc_used *u)
{
    char reason[120];
    struct cvbc_declared d = *c->declared;
    bool enforced = d.enforced;
    /* In older files a use without a pin is not reported, because such files may print on any
     * board. */
    if (!enforced && (!u->use->pin || c->told)) return;
    d.enforced = true;
    if (enforced && u->any && !d.any_pin) {
        snprintf(reason, sizeof reason, "%s of a pin that is not known before the program runs",
                 u->use->name);
        compare_report(c, CVBC_PIN_UNKNOWN, u->at, reason);
    }
    if (!cvbc_used_refused(&d, u, reason, NULL)) return;
    compare_report(c, enforced ? CVBC_UNDECLARED : CVBC_NOT_ENFORCED, u->at, reason);
    c->told = true;
}

bool cvbc_declarations_check(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_opened *o = cvbc_open(m);
    struct cvbc_declared declared;
    struct cvbc_uses used;
    if (!o->has_program || o->program.flaw.code) return true;
    cvbc_declared_read(&m->meta, &declared);
    if (!cvbc_uses_find(&o->program, f->work, &used)) return false;
    struct comparison c = {.m = m, .declared = &declared, .f = f};
    for (size_t i = 0; i < used.count; i++) compare_use(&c, &used.list[i]);
    cvbc_uses_free(&used);
    return true;
}

/* Returns the abilities that a logical pin of a board does not have. */
static uint8_t board_missing(const struct cvbc_board *b, const struct cvbc_board_pin *pin)
{
    return (uint8_t)((pin->adc ? 0 : CVBC_PIN_ADC) | (pin->pwm ? 0 : CVBC_PIN_PWM) |
                     (pin->interrupt || !b->limits ? 0 : CVBC_PIN_INTERRUPT));
}

void cvbc_uses_busses(const struct cvbc_uses *all, uint8_t busses[CVBC_BUS_KINDS])
{
    memset(busses, 0, CVBC_BUS_KINDS);
    for (size_t i = 0; i < all->count; i++) {
        const struct cvbc_used *u = &all->list[i];
        unsigned kind;
        bool numbered = cvbc_use_numbered(u->use, &kind);
        if (kind < CVBC_BUS_KINDS)
            busses[kind] |= (uint8_t)(!numbered ? 1 : u->any ? UINT8_MAX : u->pins);
    }
}

bool cvbc_board_lacks_all(const struct cvbc_board *b, const struct cvbc_use *use, uint8_t abilities,
                          char *reason)
{
    enum { REASON = 120 };
    const struct cvbc_place nowhere = {UINT8_MAX, UINT8_MAX};
    bool any = false;
    if (b->any) return false;
    if (cvbc_board_lacks(b, use, 0, 0, &nowhere, reason))
        return true; /* The board does not have the feature. */
    for (unsigned i = 0; i < CVBC_LOGICAL_PINS; i++)
        any |= b->logical[i].there && !(abilities & board_missing(b, &b->logical[i]));
    if (any || !b->maps) return false;
    snprintf(reason, REASON, "%s: no logical pin of %s is %s", use->name, b->name,
             cvbc_ability_name(abilities));
    return true;
}

bool cvbc_board_taken(const struct cvbc_board *b, const uint8_t busses[CVBC_BUS_KINDS],
                      unsigned logical, const struct cvbc_place *place, char *reason)
{
    enum { REASON = 120 };
    if (!place && b->logical[logical].there) place = &b->logical[logical].place;
    if (b->any || !place) return false;
    for (size_t i = 0; i < b->bus_count; i++) {
        const struct cvbc_bus *bus = &b->busses[i];
        if (!(busses[bus->kind] >> (bus->number - 1) & 1)) continue;
        for (unsigned k = 0; k < 3 && bus_names[bus->kind].pins[k]; k++) {
            if (bus->places[k].port != place->port || bus->places[k].pin != place->pin) continue;
            snprintf(reason, REASON, "pin %u of %s is %c%u, %s of %s %u, which is used, too",
                     logical, b->name, 'A' + place->port % 26, place->pin,
                     bus_names[bus->kind].pins[k], bus_names[bus->kind].name, bus->number);
            return true;
        }
    }
    return false;
}

bool cvbc_board_lacks(const struct cvbc_board *b, const struct cvbc_use *use, uint8_t abilities,
                      unsigned logical, const struct cvbc_place *place, char *reason)
{
    enum { REASON = 120 };
    *reason = 0;
    if (b->any) return false;
    if (!(b->features >> use->feature & 1)) {
        snprintf(reason, REASON, "%s needs the feature %s, which %s does not have", use->name,
                 cvbc_feature(use->feature), b->name);
        return true;
    }
    if (!use->pin || !b->maps) return false;
    const struct cvbc_board_pin *pin = place ? NULL : &b->logical[logical];
    for (unsigned i = 0; place && i < CVBC_LOGICAL_PINS; i++)
        if (b->logical[i].there && b->logical[i].place.port == place->port &&
            b->logical[i].place.pin == place->pin)
            pin = &b->logical[i];
    if (!pin) return false; /* The board says nothing about this place. */
    if (!pin->there) {
        snprintf(reason, REASON, "%s of pin %u, which %s does not have", use->name, logical,
                 b->name);
        return true;
    }
    uint8_t missing = abilities & board_missing(b, pin);
    if (!missing) return false;
    snprintf(reason, REASON, "%s of pin %u: %c%u of %s is not %s", use->name, logical,
             'A' + pin->place.port, pin->place.pin, b->name, cvbc_ability_name(missing));
    return true;
}

/* Compares one use of a logical pin with the board. `*told` has the pins whose bus was reported. */
static void compare_pin(struct comparison *c, const struct cvbc_board *b, const struct cvbc_used *u,
                        unsigned pin, const uint8_t busses[CVBC_BUS_KINDS], uint32_t *told)
{
    const struct cvbc_metadata *meta = &c->m->meta;
    struct cvbc_place place = {CVBC_PORT_LOGICAL, 0};
    char reason[120];
    size_t record;
    if (u->use->pin && cvbc_board_record(meta, pin, &record))
        place =
            (struct cvbc_place){meta->pins[record].port_identifier, meta->pins[record].pin_number};
    bool mapped = place.port == CVBC_PORT_LOGICAL;
    bool known =
        !(b->features >> u->use->feature & 1) || (mapped && b->maps && !b->logical[pin].there);
    if (meta->enforced && known && u->use->pin)
        return; /* What is declared does not fit, which was reported already. */
    if (cvbc_board_lacks(b, u->use, u->abilities, pin, mapped ? NULL : &place, reason))
        compare_report(c, CVBC_BOARD_LACKS, u->at, reason);
    if (!u->use->pin || *told >> pin & 1 ||
        !cvbc_board_taken(b, busses, pin, mapped ? NULL : &place, reason))
        return;
    compare_report(c, CVBC_BOARD_LACKS, u->at, reason);
    *told |= UINT32_C(1) << pin;
}

bool cvbc_board_uses(const struct cvbc_module *m, const struct cvbc_board *b, struct findings *f)
{
    const struct cvbc_opened *o = cvbc_open(m);
    struct cvbc_uses used;
    uint8_t busses[CVBC_BUS_KINDS];
    uint32_t told = 0;
    char reason[120];
    if (b->any || !o->has_program || o->program.flaw.code) return true;
    if (!cvbc_uses_find(&o->program, f->work, &used)) return false;
    cvbc_uses_busses(&used, busses);
    struct comparison c = {.m = m, .f = f};
    for (size_t i = 0; i < used.count; i++) {
        const struct cvbc_used *u = &used.list[i];
        if (u->use->pin && u->any && cvbc_board_lacks_all(b, u->use, u->abilities, reason))
            compare_report(&c, CVBC_BOARD_LACKS, u->at, reason);
        for (unsigned pin = 0; pin < CVBC_LOGICAL_PINS; pin++) {
            if (u->use->pin && (u->any || !(u->pins >> pin & 1))) continue;
            compare_pin(&c, b, u, pin, busses, &told);
            if (!u->use->pin) break;
        }
    }
    cvbc_uses_free(&used);
    return true;
}
