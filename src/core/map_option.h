/* Declares the option 'map', ADDR:LEN[:ro|rw][:FILE], which is the same for every machine with
 * an address space. */
#pragma once
#include "base/error.h"

struct map_option {
    uint64_t address, length;
    bool read_only;
    /* The bytes of FILE (raw bytes, or hex text for hex=FILE), at most `length`. The caller
     * frees them. */
    penta_buffer contents;
};
bool map_option_parse(const char *text, struct map_option *out, penta_error *err);
