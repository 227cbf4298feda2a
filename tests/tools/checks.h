/* Declares the checks of properties that hold for every file and every source text. properties.c
 * lists the properties. */
#pragma once
#include "penta/penta.h"

void check_file(penta_bytes file, const char *format); /* The format is detected when `format` is
                                                        * NULL. */
/* Makes the checks of check_file, and writes documents in JSON only if `documents` is set. */
void check_variant(penta_bytes file, const char *format, bool documents);
/* Checks what takes too long for every variant: no difference of the file to itself, wrong
 * snapshots, stops. */
void check_whole_file(penta_bytes file, const char *format);
void check_text_source(penta_bytes text, const char *format);

/* Handles a failure. The program that links this file defines it. */
void check_failed(const char *what, uint64_t a, uint64_t b);
