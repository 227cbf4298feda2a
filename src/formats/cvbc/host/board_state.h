/* The files of the simulated board share this state: the pins, the inputs of a script, and the
 * hardware of an application. host.c answers calls, script.c reads scripts, busses.c has the
 * devices at I2C and SPI, and interrupts.c has the watched pins. */
#pragma once
#include "cvbc/format/hardware/board.h"
#include "cvbc/host/clock.h"
#include "cvbc/vm/vm.h"

struct cvbc_input { /* a line of the script about a pin */
    uint64_t ms;
    uint32_t before; /* 1 plus the index of the input before it of the same kind and pin, or 0 */
    bool analog;
    uint8_t pin;
    uint16_t value;
};
struct cvbc_pin_lines { /* the inputs of one kind of a pin, by their indices */
    uint32_t *at;
    size_t count, capacity;
};
struct cvbc_stream { /* bytes that come from outside, sorted by time */
    struct cvbc_stream_byte {
        uint64_t ms;
        uint8_t value;
    } * at;
    size_t count, capacity;
};
struct cvbc_i2c_line { /* a device at a bus, with the contents of its registers from a time on */
    uint64_t ms;
    uint8_t bus, address, at;
    uint32_t from, count; /* place and number of its bytes in i2c_bytes */
};

struct cvbc_board_state {
    bool trace;
    bool fixed;   /* true if all pins are read as 0, as the test vectors require */
    bool plain;   /* true if loops that only wait are executed too */
    uint32_t hz;  /* instructions in a second of the clock; 0 if only delays advance it */
    uint64_t now; /* time of the newest call */
    struct cvbc_pace pace;
    struct cvbc_pins *pins, own; /* the pins are in the machine of the default host, else here */
    struct cvbc_input *inputs;   /* inputs of pins, sorted by time */
    size_t input_count, input_capacity;
    /* Per pin: its digital inputs, then its analog inputs. */
    struct cvbc_pin_lines lines[CVBC_PINS][2];
    uint64_t newest; /* the time of the last line of the script that was read */
    struct cvbc_stream ports[CVBC_PORTS];
    /* Per pin: the bytes of the SPI device that it selects. */
    struct cvbc_stream selects[CVBC_PINS];
    /* Per pin: the bus of that device, counted from 1, or 0 if there is no device. */
    uint8_t select_bus[CVBC_PINS];
    struct cvbc_i2c_line *i2c;
    size_t i2c_count, i2c_capacity;
    uint8_t *i2c_bytes;
    size_t i2c_byte_count, i2c_byte_capacity;
    penta_cvbc_hal hal; /* hardware of an application; its functions may be NULL */
};

/* host.c defines the four functions below. Returns how many inputs of pins have come up to
 * `now`. */
size_t cvbc_board_come(const struct cvbc_board_state *b, uint64_t now);
/* Returns 1 plus the index of the newest input of a pin up to `now`, or 0 if there is none. */
uint32_t cvbc_board_newest(const struct cvbc_board_state *b, unsigned pin, bool analog,
                           uint64_t now);
/* Returns the level of an input pin. `line` is 1 plus the index of its newest digital input, or
 * 0. */
bool cvbc_board_level(const struct cvbc_board_state *b, unsigned pin, uint32_t line);
/* Returns how many bytes of a stream have come up to `now`. */
size_t cvbc_stream_come(const struct cvbc_stream *s, uint64_t now);

/* Reads a script of inputs (CVBC 14.4); script.c defines it. */
bool cvbc_board_script(struct cvbc_board_state *b, const char *path, penta_error *err);

/* busses.c and interrupts.c define the functions below. They answer the calls of I2C and SPI, and
 * of watched pins, and return a trap. */
unsigned cvbc_bus_call(struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                       uint64_t *value, struct writer *out);
unsigned cvbc_watch_call(struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                         uint64_t *value, struct writer *out);
/* Returns the handler that TAKE would give now, or 0. Skips inputs that nobody watches. */
int32_t cvbc_watch_next(struct cvbc_board_state *b);
