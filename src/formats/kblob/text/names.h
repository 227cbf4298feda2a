/* Names for addresses: the option define, which assembler and disassembler share. */
#pragma once
#include "text/labels.h"

/* NAME=ADDR[:LEN] rows of the options, into labels. */
bool kblob_define_names(struct labels *names, const penta_option *options, size_t count,
                        penta_error *err);
