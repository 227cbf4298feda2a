/* The clock of the simulated board (CVBC 14.3): delays advance it, and every instruction that the machine executes. */
#pragma once
#include <stdatomic.h>
#include "cvbc/vm/vm.h"

/* The microseconds since the start of the clock. `hz` is the number of instructions in a second, 0 for none. */
uint64_t cvbc_clock_now(const struct cvbc_vm *vm, const struct cvbc_pins *pins, uint32_t hz);

/* A run in real time (CVBC 14.3.4): how the clock of the board and that of the host belong together. */
struct cvbc_pace {
    bool used, begun;
    uint64_t host, board; /* microseconds of both clocks at one moment */
};
/* Sleeps until the host's clock has come as far as the board's, which shows `now`. False when `flag` was set
 * meanwhile. */
bool cvbc_clock_pace(struct cvbc_pace *pace, uint64_t now, atomic_bool *flag);

/* What may change the answer of a call. */
enum cvbc_reads {
    CVBC_READS_PINS = 1,   /* the next input of the script */
    CVBC_READS_MILLIS = 2, /* the next millisecond */
    CVBC_READS_MICROS = 4, /* every microsecond */
};
/* Passes the time that a program spends in a loop which only waits (CVBC 14.3.2). It is called before each host call is
 * answered; `reads` is a bit of enum cvbc_reads, or 0 for a call that does something. `event` is the time of the next
 * input of the script after `now`, and `since` that of the newest one until now; UINT64_MAX and 0 without one. Returns
 * the time at which the call is answered. */
uint64_t cvbc_clock_wait(const struct cvbc_vm *vm, struct cvbc_pins *pins, uint32_t hz,
                         unsigned reads, uint64_t event, uint64_t since);
