/* A compiler for the small C-like language of CockpitVM sketches: int and void, arrays, functions,
 * if, while, for, break, continue, return, and the nine host calls. CVBC 16 has it
 * all. */
#pragma once
#include "cvbc/format/build.h"

struct cvbc_compilation {
    bool portable;    /* only instructions and flags of the first engine */
    bool strip;       /* no debug tables */
    const char *file; /* name for the debug tables */
};
/* Code, strings, source hashes and compiler fields into b, debug tables into debug. False when a
 * finding was an error. */
bool cvbc_compile(penta_bytes text, const struct cvbc_compilation *how, struct cvbc_build *b,
                  struct writer *debug, struct findings *f);
