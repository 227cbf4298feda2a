/* The assembler and the disassembler share these names for addresses, which come from the option
 * define. */
#pragma once
#include "text/labels.h"

/* Reads the values NAME=ADDR[:LEN] of the options into labels. */
bool kblob_define_names(struct labels *names, const penta_option *options, size_t count,
                        penta_error *err);
