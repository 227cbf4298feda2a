/* A compiler for sketches: integers, arrays, functions, the statements of C, macros, Serial, and the
 * host calls of the machine. CVBC 16 has it all. */
#pragma once
#include "cvbc/format/build.h"

struct cvbc_compilation {
    bool portable;    /* only instructions and flags of the first engine */
    bool strip;       /* no debug tables */
    const char *file; /* name for the debug tables */
    const bool *pins; /* 256, by number: those that are declared; NULL: any may be used */
};
/* Code, strings, source hashes and compiler fields into b, debug tables into debug. False when a
 * finding was an error. */
bool cvbc_compile(penta_bytes text, const struct cvbc_compilation *how, struct cvbc_build *b,
                  struct writer *debug, struct findings *f);
