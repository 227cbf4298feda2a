/* What unit tests of the library share: programs from text, machines, files and bytes. */
#pragma once
#include "base/bytes.h"
#include "check.h"

/* A penta_report: prints the finding, after the text that `user` is, if it is not NULL. */
void print_finding(void *user, const penta_error *finding);

/* A program that a test needs; its findings are printed, and a text without a program ends the test. */
penta_module *assembled(const char *format, const char *text);
penta_module *assembled_with(const char *format, const char *text, const penta_option *options,
                             size_t count);
/* A machine that a test needs. */
penta_vm *machine_of(const penta_module *module, const char *engine, const penta_option *options,
                     size_t count);

/* The bytes of a file that a test needs, with a zero byte after them; file_free() frees them. */
penta_bytes file_of(const char *path);
void file_free(penta_bytes file);

static inline penta_bytes view_of(const penta_buffer *b) { return (penta_bytes){b->data, b->size}; }
bool contains(const penta_buffer *b, const char *text);
bool same_buffer(const penta_buffer *a, const penta_buffer *b);
