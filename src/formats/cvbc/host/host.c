/* The simulated board (CVBC 14): pins, inputs, serial ports, and printf. clock.c has the clock,
 * and script.c reads inputs. The board 'trace' prints a line for every event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/array.h"
#include "core/host.h"
#include "cvbc/host/board_state.h"

enum { ANALOG = 512, START_MS = 1000, PRINTF_MAX = 255 };

struct cvbc_board_state *cvbc_board_new(bool trace, struct cvbc_pins *pins, penta_error *err)
{
    struct cvbc_board_state *b = calloc(1, sizeof *b);
    if (!b) {
        error_at(err, BASE_MEMORY, 0, "no memory for a board");
        return NULL;
    }
    b->trace = trace;
    /* This board, without pins of its own, is the one of the test vectors. */
    b->fixed = trace && !pins;
    b->pins = pins ? pins : &b->own;
    *b->pins = (struct cvbc_pins){.us = trace ? START_MS * 1000 : 0};
    b->now = b->pins->us;
    return b;
}

void cvbc_board_set_hal(struct cvbc_board_state *b, const penta_cvbc_hal *hal) { b->hal = *hal; }
void cvbc_board_set_clock(struct cvbc_board_state *b, uint32_t hz, bool plain)
{
    b->hz = hz;
    b->plain = plain;
}
uint64_t cvbc_board_micros(const struct cvbc_board_state *b) { return b->now; }

void cvbc_board_free(struct cvbc_board_state *b)
{
    if (!b) return;
    for (size_t i = 0; i < CVBC_PORTS; i++) free(b->ports[i].at);
    for (size_t i = 0; i < CVBC_PINS; i++) {
        free(b->selects[i].at);
        free(b->lines[i][0].at);
        free(b->lines[i][1].at);
    }
    free(b->i2c);
    free(b->i2c_bytes);
    free(b->inputs);
    free(b);
}

static void put_number(char *text, size_t *size, const char *format, unsigned value)
{
    char digits[16];
    /* `format` is one of the formats below. */
    int n = snprintf(digits, sizeof digits, format, value);
    for (int i = 0; i < n && *size < PRINTF_MAX; i++) text[(*size)++] = digits[i];
}

/* Makes the text of one call of PRINTF (CVBC 14.2). Returns false if a conversion has no
 * argument, or if the work was ended. A zero byte ends the text. */
static bool host_format(penta_bytes f, const int32_t *args, uint32_t count, char *text,
                        size_t *size, struct long_work *work)
{
    enum { PIECE = 1 << 20 };
    uint32_t used = 0;
    bool cut = false;
    *size = 0;
    size_t looked = PIECE; /* Short texts do not count as work. */
    for (size_t i = 0; i < f.size; i++) {
        if (i >= looked) {
            looked = i + PIECE;
            if (long_work_over(work, poll_bytes(PIECE))) return false;
        }
        char c = (char)f.data[i], next = i + 1 < f.size ? (char)f.data[i + 1] : 0;
        if (c != '%' || i + 1 == f.size) {
            if (*size < PRINTF_MAX && !cut) text[(*size)++] = c;
            continue;
        }
        if (next == '%') {
            if (*size < PRINTF_MAX && !cut) text[(*size)++] = '%';
            i++;
            continue;
        }
        if (used >= count) return false;
        size_t before = *size;
        uint32_t value = (uint32_t)args[used];
        switch (next) {
        case 'd': {
            char digits[16];
            snprintf(digits, sizeof digits, "%d", (int)args[used]);
            for (const char *p = digits; *p && *size < PRINTF_MAX; p++) text[(*size)++] = *p;
            break;
        }
        case 'u': put_number(text, size, "%u", value); break;
        case 'x': put_number(text, size, "%x", value); break;
        case 'X': put_number(text, size, "%X", value); break;
        case 'c':
            if (!(value & 255)) cut = true;
            if (*size < PRINTF_MAX && !cut) text[(*size)++] = (char)value;
            break;
        default: /* This prints the sign itself and continues after it. */
            if (*size < PRINTF_MAX && !cut) text[(*size)++] = '%';
            continue;
        }
        if (cut) *size = before;
        used++;
        i++;
    }
    return true;
}

static bool byte_range(int32_t v) { return v >= 0 && v <= 255; }

size_t cvbc_board_come(const struct cvbc_board_state *b, uint64_t now)
{
    size_t i;
    ARRAY_SEARCH(i, 0, b->input_count, b->inputs[i].ms > now / 1000);
    return i;
}

size_t cvbc_stream_come(const struct cvbc_stream *s, uint64_t now)
{
    size_t i;
    ARRAY_SEARCH(i, 0, s->count, s->at[i].ms > now / 1000);
    return i;
}

/* Returns how many of the bytes that a port has received the program has not read yet. */
static size_t port_waiting(const struct cvbc_board_state *b, int32_t port)
{
    size_t come = cvbc_stream_come(&b->ports[port], b->now), read = b->pins->received[port];
    return come > read ? come - read : 0;
}

bool cvbc_board_level(const struct cvbc_board_state *b, unsigned pin, uint32_t line)
{
    enum { PULL_UP = 2 };
    if (line) return b->inputs[line - 1].value != 0;
    return b->pins->modes[pin] == PULL_UP && !b->fixed;
}

uint32_t cvbc_board_newest(const struct cvbc_board_state *b, unsigned pin, bool analog,
                           uint64_t now)
{
    const struct cvbc_pin_lines *l = &b->lines[pin][analog];
    size_t i;
    ARRAY_SEARCH(i, 0, l->count, b->inputs[l->at[i]].ms > now / 1000);
    return i ? l->at[i - 1] + 1 : 0;
}

/* Reads a pin. An output has the level that was written, an input that of the script. */
static uint32_t read_input(const struct cvbc_board_state *b, bool analog, unsigned pin)
{
    enum { OUTPUT = 1 };
    uint32_t line = cvbc_board_newest(b, pin, analog, b->now);
    if (analog) return line ? b->inputs[line - 1].value : ANALOG;
    if (b->pins->modes[pin] == OUTPUT && !b->fixed) return b->pins->levels[pin];
    return cvbc_board_level(b, pin, line);
}

/* Passes a call to the hardware of an application. *taken becomes false if that has no function
 * for the call. */
static bool hal_call(const penta_cvbc_hal *hal, uint8_t call, const int32_t *args, uint64_t *value,
                     bool *taken)
{
    uint8_t pin = (uint8_t)args[0];
    bool high = false;
    uint16_t level = 0;
    uint32_t time = 0;
    switch (call) {
#define ENTRY(op, name, result, ...)                                                               \
    case CVBC_OP_##op:                                                                             \
        if (!hal->name) return false;                                                              \
        *taken = hal->name(hal->user, __VA_ARGS__);                                                \
        *value = result;                                                                           \
        return true;
        ENTRY(PIN_MODE, pin_mode, 0, pin, (uint8_t)args[1])
        ENTRY(DIGITAL_WRITE, digital_write, 0, pin, args[1] != 0)
        ENTRY(DIGITAL_READ, digital_read, high, pin, &high)
        ENTRY(ANALOG_WRITE, analog_write, 0, pin, (uint16_t)args[1])
        ENTRY(ANALOG_READ, analog_read, level, pin, &level)
        ENTRY(DELAY, delay, 0, (uint32_t)args[0])
        ENTRY(MILLIS, millis, time, &time)
        ENTRY(MICROS, micros, time, &time)
#undef ENTRY
    default: return false;
    }
}

static unsigned pin_call(struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                         uint64_t *value, struct writer *out)
{
    int32_t pin = args[0], v = args[1];
    bool writes = call == CVBC_OP_DIGITAL_WRITE || call == CVBC_OP_ANALOG_WRITE;
    if (!byte_range(pin)) return CVBC_TRAP_INVALID_OPCODE;
    if (call == CVBC_OP_ANALOG_WRITE ? v < 0 || v > 65535
                                     : (writes || call == CVBC_OP_PIN_MODE) && !byte_range(v))
        return CVBC_TRAP_INVALID_OPCODE;
    if (pin >= CVBC_PINS || (writes && b->pins->modes[pin] != 1)) return CVBC_TRAP_HARDWARE_FAULT;
    bool taken = true, own = hal_call(&b->hal, call, args, value, &taken);
    if (!taken) return CVBC_TRAP_HARDWARE_FAULT;
    switch (call) {
    case CVBC_OP_PIN_MODE:
        b->pins->modes[pin] = (uint8_t)v;
        if (b->trace) writer_print(out, "Pin mode: pin %d = %d\n", (int)pin, (int)v);
        break;
    case CVBC_OP_DIGITAL_WRITE:
        b->pins->levels[pin] = v != 0;
        if (b->trace) writer_print(out, "Digital write: pin %d = %d\n", (int)pin, v != 0);
        break;
    case CVBC_OP_ANALOG_WRITE:
        b->pins->levels[pin] = v != 0;
        if (b->trace) writer_print(out, "Analog write: pin %d = %d\n", (int)pin, (int)v);
        break;
    default:
        if (!own) *value = read_input(b, call == CVBC_OP_ANALOG_READ, (unsigned)pin);
    }
    return CVBC_TRAP_NONE;
}

static unsigned serial_call(struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                            uint64_t *value, struct writer *out)
{
    int32_t port = args[0];
    if (!byte_range(port) || (call == CVBC_OP_SERIAL_WRITE && !byte_range(args[1])))
        return CVBC_TRAP_INVALID_OPCODE;
    if (port >= CVBC_PORTS) return CVBC_TRAP_HARDWARE_FAULT;
    size_t waiting = port_waiting(b, port);
    if (call == CVBC_OP_SERIAL_AVAILABLE) {
        *value = waiting > INT32_MAX ? INT32_MAX : waiting;
    } else if (call == CVBC_OP_SERIAL_WRITE) {
        if (!port) writer_char(out, (char)args[1]);
        if (port && b->trace)
            writer_print(out, "Serial write: port %d = %d\n", (int)port, (int)args[1]);
    } else {
        *value = waiting ? b->ports[port].at[b->pins->received[port]].value : UINT32_MAX;
        b->pins->received[port] += call == CVBC_OP_SERIAL_READ && waiting;
    }
    return CVBC_TRAP_NONE;
}

static unsigned tone_call(const struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                          struct writer *out)
{
    bool starts = call == CVBC_OP_TONE;
    if (!byte_range(args[0]) || (starts && (args[1] < 0 || args[1] > UINT16_MAX || args[2] < 0)))
        return CVBC_TRAP_INVALID_OPCODE;
    if (args[0] >= CVBC_PINS) return CVBC_TRAP_HARDWARE_FAULT;
    if (b->trace && starts)
        writer_print(out, "Tone: pin %d = %d Hz, %d ms\n", (int)args[0], (int)args[1],
                     (int)args[2]);
    if (b->trace && !starts) writer_print(out, "No tone: pin %d\n", (int)args[0]);
    return CVBC_TRAP_NONE;
}

static unsigned print_call(const struct cvbc_board_state *b, const struct cvbc_vm *vm,
                           struct long_work *work, struct writer *out)
{
    uint16_t id = bytes_get16(vm->program->code + 4 * vm->pc + 2);
    char text[PRINTF_MAX] = "";
    size_t size;
    if (id >= vm->program->string_count ||
        !host_format(vm->program->strings[id], vm->args, vm->arg_count, text, &size, work))
        return CVBC_TRAP_HARDWARE_FAULT;
    if (b->hal.print)
        return b->hal.print(b->hal.user, text, size) ? CVBC_TRAP_NONE : CVBC_TRAP_HARDWARE_FAULT;
    writer_bytes(out, text, size);
    return CVBC_TRAP_NONE;
}

/* Returns what may change the answer of a call as bits of enum cvbc_reads, or 0 for a call that
 * does something. It is not known what changes the hardware of an application. */
static unsigned reads_of(struct cvbc_board_state *b, const struct cvbc_vm *vm, uint8_t call)
{
    const penta_cvbc_hal *h = &b->hal;
    if (b->plain) return 0;
    switch (call) {
    case CVBC_OP_DIGITAL_READ: return h->digital_read ? 0 : CVBC_READS_PINS;
    case CVBC_OP_ANALOG_READ: return h->analog_read ? 0 : CVBC_READS_PINS;
    case CVBC_OP_MILLIS: return h->millis ? 0 : CVBC_READS_MILLIS;
    case CVBC_OP_SERIAL_AVAILABLE:
    case CVBC_OP_SERIAL_PEEK: return CVBC_READS_PINS;
    case CVBC_OP_SERIAL_READ: /* The call does something only if there is a byte to read. */
        return vm->args[0] >= 0 && vm->args[0] < CVBC_PORTS && !port_waiting(b, vm->args[0])
                   ? CVBC_READS_PINS
                   : 0;
    case CVBC_OP_MICROS: return h->micros ? 0 : CVBC_READS_MICROS;
    case CVBC_OP_PENDING: return cvbc_watch_next(b) ? 0 : CVBC_READS_PINS;
    default: return 0;
    }
}

/* Moves the clock to the time of the call that is answered now. */
static void board_clock(struct cvbc_board_state *b, const struct cvbc_vm *vm, uint8_t call)
{
    uint64_t now = cvbc_clock_now(vm, b->pins, b->hz), event = UINT64_MAX, since = 0;
    if (b->hz) {
        size_t come = cvbc_board_come(b, now);
        if (come) since = b->inputs[come - 1].ms * 1000;
        if (come < b->input_count && b->inputs[come].ms <= UINT64_MAX / 1000)
            event = b->inputs[come].ms * 1000;
        for (size_t i = 0; i < CVBC_PORTS; i++) {
            const struct cvbc_stream *p = &b->ports[i];
            come = cvbc_stream_come(p, now);
            if (come && p->at[come - 1].ms * 1000 > since) since = p->at[come - 1].ms * 1000;
            if (come < p->count && p->at[come].ms <= UINT64_MAX / 1000 &&
                p->at[come].ms * 1000 < event)
                event = p->at[come].ms * 1000;
        }
    }
    b->now = now;
    b->now = cvbc_clock_wait(vm, b->pins, b->hz, reads_of(b, vm, call), event, since);
}

bool cvbc_board_answer(struct cvbc_board_state *b, struct cvbc_vm *vm, uint64_t results[2],
                       size_t *count, struct writer *out)
{
    struct long_work work = vm_long_work(&vm->base);
    uint8_t call = vm->program->code[4 * vm->pc];
    if (!cvbc_clock_pace(&b->pace, cvbc_clock_now(vm, b->pins, b->hz), &vm->base.interrupt))
        return false;
    board_clock(b, vm, call);
    unsigned error = CVBC_TRAP_NONE;
    uint64_t value = 0;
    bool taken = true;
    switch (call) {
    case CVBC_OP_DELAY:
        if (vm->args[0] < 0) {
            error = CVBC_TRAP_INVALID_OPCODE;
            break;
        }
        hal_call(&b->hal, call, vm->args, &value, &taken);
        if (!taken) {
            error = CVBC_TRAP_HARDWARE_FAULT;
            break;
        }
        b->pins->us += (uint64_t)vm->args[0] * 1000;
        b->now += (uint64_t)vm->args[0] * 1000;
        if (b->trace) writer_print(out, "Delay: %d ms\n", (int)vm->args[0]);
        break;
    case CVBC_OP_MILLIS:
    case CVBC_OP_MICROS:
        if (!hal_call(&b->hal, call, vm->args, &value, &taken))
            value = (uint32_t)(call == CVBC_OP_MILLIS ? b->now / 1000 : b->now);
        if (!taken) error = CVBC_TRAP_HARDWARE_FAULT;
        break;
    case CVBC_OP_SERIAL_AVAILABLE:
    case CVBC_OP_SERIAL_READ:
    case CVBC_OP_SERIAL_PEEK:
    case CVBC_OP_SERIAL_WRITE: error = serial_call(b, call, vm->args, &value, out); break;
    case CVBC_OP_TONE:
    case CVBC_OP_NO_TONE: error = tone_call(b, call, vm->args, out); break;
    case CVBC_OP_I2C_BEGIN:
    case CVBC_OP_I2C_WRITE:
    case CVBC_OP_I2C_END:
    case CVBC_OP_I2C_REQUEST:
    case CVBC_OP_I2C_AVAILABLE:
    case CVBC_OP_I2C_READ:
    case CVBC_OP_I2C_PEEK:
    case CVBC_OP_SPI_TRANSFER: error = cvbc_bus_call(b, call, vm->args, &value, out); break;
    case CVBC_OP_ATTACH:
    case CVBC_OP_DETACH:
    case CVBC_OP_INTERRUPTS:
    case CVBC_OP_PENDING:
    case CVBC_OP_TAKE:
    case CVBC_OP_WAIT: error = cvbc_watch_call(b, call, vm->args, &value, out); break;
    case CVBC_OP_PRINTF: error = print_call(b, vm, &work, out); break;
    default: error = pin_call(b, call, vm->args, &value, out);
    }
    if (work.ended) return false;
    results[0] = error;
    results[1] = value;
    *count = 1u + (error ? 0 : cvbc_ops[call].pushes);
    return true;
}

struct reasons {
    penta_error *err;
    size_t count;
    /* If this is false, it is no reason that the program uses more than its declarations allow. */
    bool enforced;
};

static void keep_reason(void *user, const penta_error *finding)
{
    struct reasons *r = user;
    if (finding->severity != PENTA_ERROR) return;
    if (finding->code == CVBC_BOARD_LACKS && !r->enforced) return;
    if (!r->count++) *r->err = *finding;
}

static bool host_fits(const penta_module *module, const char *name, penta_error *err)
{
    struct cvbc_board board;
    if (!cvbc_board_find(name, &board, err)) return false;
    struct reasons r = {err, 0, cvbc_chosen(cvbc_module(module))->meta.enforced};
    struct findings f = {.rules = cvbc_rules, .report = keep_reason, .user = &r};
    cvbc_programs_fit(cvbc_module(module), &board, &f);
    if (r.count > 1) error_note(err, "%zu more reasons; penta board check lists them", r.count - 1);
    return !r.count;
}

static bool host_open(penta_vm *vm, const penta_option *options, size_t count,
                      struct opened_host *out, penta_error *err)
{
    const char *name = option_text(options, count, "board"),
               *script = option_text(options, count, "script"),
               *inputs = option_text(options, count, "inputs");
    bool trace = name && !strcmp(name, "trace");
    if (name && !trace && !host_fits(vm->module, name, err)) return false;
    if (script && inputs)
        return error_at(err, BASE_OPTION_VALUE, 0, "either option 'script' or option 'inputs'");
    if (inputs) script = inputs;
    uint64_t hz = trace ? 0 : CVBC_CLOCK_HZ;
    if (!option_uint(options, count, "clock-hz", &hz, err)) return false;
    if (hz > CVBC_CLOCK_HZ_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'clock-hz' is at most %d",
                        CVBC_CLOCK_HZ_MAX);
    struct cvbc_board_state *b = cvbc_board_new(trace, &cvbc_vm(vm)->pins, err);
    if (b) cvbc_board_set_clock(b, (uint32_t)hz, option_text(options, count, "plain"));
    if (b) b->pace.used = option_text(options, count, "realtime");
    out->state = b;
    out->changes_machine = true; /* The answers of this host change the pins in the machine. */
    if (!b || !script || cvbc_board_script(b, script, err)) return b != NULL;
    cvbc_board_free(b);
    return false;
}

static bool host_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    (void)stop;
    bool done = cvbc_board_answer(state, cvbc_vm(vm), out->results, &out->count, &out->output);
    out->interrupted = !done;
    if (!done) atomic_store(&vm->interrupt, false);
    return done;
}

static void host_close(void *state) { cvbc_board_free(state); }

const struct host cvbc_host = {.open = host_open, .answer = host_answer, .close = host_close};
