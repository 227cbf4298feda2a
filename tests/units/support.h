/* Declares what unit tests of the library share: programs from text, machines, files and bytes. */
#pragma once
#include "base/bytes.h"
#include "check.h"
#include <time.h>

/* Prints a finding, as a penta_report. `user` is a text to print before it, or NULL. */
void print_finding(void *user, const penta_error *finding);

/* Assembles a program that a test needs. Its findings are printed, and a text that does not
 * assemble ends the test. */
penta_module *assembled(const char *format, const char *text);
penta_module *assembled_with(const char *format, const char *text, const penta_option *options,
                             size_t count);
/* Makes a machine that a test needs. */
penta_vm *machine_of(const penta_module *module, const char *engine, const penta_option *options,
                     size_t count);

/* Returns the bytes of a file that a test needs, with a zero byte after them. file_free() frees
 * them. */
penta_bytes file_of(const char *path);
void file_free(penta_bytes file);

static inline penta_bytes view_of(const penta_buffer *b) { return (penta_bytes){b->data, b->size}; }
bool contains(const penta_buffer *b, const char *text);
bool same_buffer(const penta_buffer *a, const penta_buffer *b);
/* Writes the lowest `bytes` bytes of the value, the lowest first. Returns the place after them. */
uint8_t *put_bytes(uint8_t *p, uint64_t value, unsigned bytes);

/* Returns a number below the limit. The numbers are the same in every run from the same state. */
uint32_t random_below(uint64_t *state, uint32_t limit);
/* Returns the time of a clock in seconds. */
double clock_seconds(clockid_t clock);

/* Makes a page at this place, filled with CANARY. Returns NULL when the place is taken. */
enum { CANARY_PAGE = 4096, CANARY = 0xc5 };
uint8_t *canary_new(uint8_t *at);
bool canary_holds(const uint8_t *from, const uint8_t *to); /* Tells whether all of these bytes
                                                            * are CANARY. */
