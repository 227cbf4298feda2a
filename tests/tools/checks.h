/* The properties that hold for every file and every source text; see properties.c for the list. */
#pragma once
#include "penta/penta.h"

void check_file(penta_bytes file, const char *format);           /* format NULL: detect */
void check_same_as_itself(penta_bytes file, const char *format); /* diff finds nothing */
void check_text_source(penta_bytes text, const char *format);

/* Defined by the program that links this: what happens after a failure. */
void check_failed(const char *what, uint64_t a, uint64_t b);
