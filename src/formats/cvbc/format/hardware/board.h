/* Boards (CVBC 19) say what a program may use. The boards of boards.def have names; others come
 * from a file. Both have the form of CVBC 19.2, which consists of lines `key = value`. */
#pragma once
#include "cvbc/cvbc.h"

enum { CVBC_LIBRARIES = 32 };
struct cvbc_library {
    char name[16];
    uint32_t major, minor;
};
struct cvbc_place {
    uint8_t port, pin;
};
struct cvbc_board_pin { /* a logical pin */
    bool there, adc, pwm, interrupt;
    uint8_t alternate; /* number of the alternate function that gives the PWM */
    struct cvbc_place place;
};
enum { CVBC_BUS_UART, CVBC_BUS_I2C, CVBC_BUS_SPI, CVBC_BUS_KINDS };
struct cvbc_bus {
    uint8_t kind, number;        /* number: counted from 1 */
    struct cvbc_place places[3]; /* places of TX RX, SDA SCL, or MOSI MISO SCK */
};
enum { CVBC_BUSSES = 24, CVBC_LOGICAL_PINS = 20, CVBC_LOGICAL_ANALOG = 14 };
/* A record with this port is a logical pin, to which the board gives a place (CVBC 19.5). */
enum { CVBC_PORT_LOGICAL = 255 };
struct cvbc_board {
    char name[32];
    uint64_t architecture, family, variant, features, flash_kb, ram_kb, ports, pins, gpio;
    uint64_t uarts, i2cs, spis, timers, adc_channels, dac_channels, priorities, dma_channels;
    uint64_t latency_us, clock_hz;
    uint64_t numbered; /* a declared place is also the logical pin with its number (CVBC 19.2.1) */
    struct cvbc_board_pin logical[CVBC_LOGICAL_PINS];
    struct cvbc_bus busses[CVBC_BUSSES];
    size_t bus_count;
    bool maps;   /* true if the board gives the places of logical pins */
    bool limits; /* true if it says which of them can interrupt; else all can */
    struct cvbc_library libraries[CVBC_LIBRARIES];
    size_t library_count;
    bool any; /* true if the board has no limits, as the simulator */
};
/* Finds a board by a name of boards.def, or by the path of a file, which has a slash or a dot in
 * it. */
bool cvbc_board_find(const char *name, struct cvbc_board *out, penta_error *err);
bool cvbc_board_read(penta_bytes text, struct cvbc_board *out,
                     penta_error *err); /* reads the text of a file */
penta_bytes cvbc_board_text(size_t i);  /* returns the text of board i in boards.def */
/* Returns name i of boards.def, or NULL after the last. */
const char *cvbc_board_name(size_t i);
const char *cvbc_board_option_name(size_t i); /* returns "trace", and then the same names */

/* Reports every reason why the program does not fit, as findings of CVBC_TARGET. `stack` is the
 * size of the machine's stack in words. */
void cvbc_board_check(const struct cvbc_module *m, const struct cvbc_board *board, uint64_t stack,
                      struct findings *f);
/* Finds the pin record that the map in the custom metadata gives to a logical pin. */
bool cvbc_board_mapped(const struct cvbc_metadata *m, unsigned logical, size_t *record);
/* Finds the pin record of a logical pin: the one in the map of the custom metadata, or the only
 * one with that number. Returns false if there is none. */
bool cvbc_board_record(const struct cvbc_metadata *m, unsigned logical, size_t *record);
