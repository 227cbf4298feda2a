/* strtold, for who has no long double of this size. */
#pragma once
#include "arith/quad.h"

void penta_read_quad(const char *s, char **end, quad *to);
