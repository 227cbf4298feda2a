/* Declares strtold under a name that can be tested where long double has another size. */
#pragma once
#include "arith/quad.h"

void penta_read_quad(const char *s, char **end, quad *to);
