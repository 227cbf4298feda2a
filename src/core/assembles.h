/* Whether a listing means the file: disassemblers assemble what they are about to print, and print
 * what text cannot say as hex. */
#pragma once
#include "core/driver.h"

/* True: the text assembles to exactly these bytes. False with an error only when memory ran out;
 * what the assembler finds is no error here. */
bool assembles_to(const struct driver *driver, penta_bytes text, const penta_option *options,
                  size_t count, penta_bytes bytes, penta_error *err);
