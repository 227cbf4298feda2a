/* trace --compare: where two runs part. */
#pragma once
#include "cli/cli.h"

void trace_compare(struct cli *c);
