/* Tells whether a listing stands for the same bytes as the file. Disassemblers assemble what they are about to print,
 * and print as hex what the text cannot express. */
#pragma once
#include "core/driver.h"

/* Returns true when the text assembles to exactly these bytes. It returns false with an error only when memory ran
 * out: what the assembler reports is no error here. */
bool assembles_to(const struct driver *driver, penta_bytes text, const penta_option *options,
                  size_t count, penta_bytes bytes, penta_error *err);
