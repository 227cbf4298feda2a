/* The properties that hold for every file and every source text; see properties.c for the list. */
#pragma once
#include "penta/penta.h"

void check_file(penta_bytes file, const char *format); /* format NULL: detect */
/* The same, its documents in JSON only if they are wanted. */
void check_variant(penta_bytes file, const char *format, bool documents);
/* What takes too long for every variant: no difference to itself, wrong snapshots, stops. */
void check_whole_file(penta_bytes file, const char *format);
void check_text_source(penta_bytes text, const char *format);

/* Defined by the program that links this: what happens after a failure. */
void check_failed(const char *what, uint64_t a, uint64_t b);
