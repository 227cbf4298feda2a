/* The simulated board has a clock (CVBC 14.3). Delays advance it, and so does every instruction
 * that the machine executes. */
#pragma once
#include <stdatomic.h>
#include "cvbc/vm/vm.h"

/* Returns the microseconds since the start of the clock. `hz` is the number of instructions in a
 * second; if it is 0, instructions take no time. */
uint64_t cvbc_clock_now(const struct cvbc_vm *vm, const struct cvbc_pins *pins, uint32_t hz);

/* This is the state of a run in real time (CVBC 14.3.4): which time of the host's clock belongs
 * to which time of the board's clock. */
struct cvbc_pace {
    bool used, begun;
    uint64_t host, board; /* microseconds of both clocks at the same moment */
};
/* Sleeps until the host's clock has reached `now`, the time of the board's clock. Returns false
 * if `flag` was set meanwhile. */
bool cvbc_clock_pace(struct cvbc_pace *pace, uint64_t now, atomic_bool *flag);

/* These bits tell what may change the answer of a host call. */
enum cvbc_reads {
    CVBC_READS_PINS = 1,   /* the next input of the script */
    CVBC_READS_MILLIS = 2, /* the answer changes at the next millisecond */
    CVBC_READS_MICROS = 4, /* the answer may change every microsecond */
};
/* Skips the time that a program spends in a loop which only waits (CVBC 14.3.2). It is called
 * before each host call is answered; `reads` has bits of enum cvbc_reads, or is 0 for a call
 * that does something. `event` is the time of the next input of the script after `now`, or
 * UINT64_MAX, and `since` the time of the last one before, or 0. Returns the time at which the
 * call is answered. */
uint64_t cvbc_clock_wait(const struct cvbc_vm *vm, struct cvbc_pins *pins, uint32_t hz,
                         unsigned reads, uint64_t event, uint64_t since);
