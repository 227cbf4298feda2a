/* Boards (CVBC 19): what a program may use. The boards of boards.def have names; others come from a file of lines
 * `field = value`:
 *
 *     name = my-board
 *     architecture = arm        family = stm32       (one field per line; numbers work too)
 *     variant = 0x0431          features = 0x9fff
 *     flash_kb = 128            ram_kb = 32
 *     ports = 7                 pins = 16
 *     gpio = 0x48000000         the registers of port A, 0x400 per port; 0: not known
 *     uarts = 4   i2cs = 3   spis = 3   timers = 8   adc_channels = 8   dac_channels = 2
 *     priorities = 16           dma_channels = 12    latency_us = 1
 *     library = uart 2.1        a dependency that is there; may be repeated
 */
#pragma once
#include "cvbc/cvbc.h"

enum { CVBC_LIBRARIES = 32 };
struct cvbc_library {
    char name[16];
    uint32_t major, minor;
};
struct cvbc_board {
    char name[32];
    uint64_t architecture, family, variant, features, flash_kb, ram_kb, ports, pins, gpio;
    uint64_t uarts, i2cs, spis, timers, adc_channels, dac_channels, priorities, dma_channels;
    uint64_t latency_us;
    struct cvbc_library libraries[CVBC_LIBRARIES];
    size_t library_count;
    bool any; /* has no limits, as the simulator */
};
/* Finds a board by a name of boards.def, or by the path of a file, which has a slash or a dot in it. */
bool cvbc_board_find(const char *name, struct cvbc_board *out, penta_error *err);
bool cvbc_board_read(penta_bytes text, struct cvbc_board *out,
                     penta_error *err);       /* reads the text of a file */
const char *cvbc_board_name(size_t i);        /* the names of boards.def; NULL after the last */
const char *cvbc_board_option_name(size_t i); /* the same names, after "trace" */

/* Reports every reason why the program does not fit, as findings of CVBC_TARGET. `stack` is the size of the
 * machine's stack in words. */
void cvbc_board_check(const struct cvbc_module *m, const struct cvbc_board *board, uint64_t stack,
                      struct findings *f);
/* Find the port and the pin of a logical pin. False when it has none. `declared` uses only the container itself:
 * its custom metadata, or the only pin with that number. */
bool cvbc_board_declared(const struct cvbc_module *m, unsigned logical, uint8_t *port,
                         uint8_t *pin);
