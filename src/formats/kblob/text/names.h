/* Names for addresses from the option define, which assembler and disassembler share. */
#pragma once
#include "text/labels.h"

/* Reads the rows NAME=ADDR[:LEN] of the options into labels. */
bool kblob_define_names(struct labels *names, const penta_option *options, size_t count,
                        penta_error *err);
