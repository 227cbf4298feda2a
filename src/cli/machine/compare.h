/* Declares the option --compare of trace, which finds the first step at which two runs differ. */
#pragma once
#include "cli/cli.h"

void trace_compare(struct cli *c);
