/* Makes the code that comes before all functions. */
#pragma once
#include "cvbc/compile/compiler.h"

void start_code(struct compiler *c);
