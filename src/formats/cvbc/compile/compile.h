/* A compiler for sketches: C with floats, structs, pointers and Strings, macros, Serial, and the host calls of the
 * machine. CVBC 16 describes all of it. */
#pragma once
#include "cvbc/format/build.h"

struct cvbc_compilation {
    bool portable;      /* use only instructions and flags of the first engine */
    bool strip;         /* write no debug tables */
    const char *file;   /* the name in the debug tables */
    const char *folder; /* where the headers of the sketch are; NULL: it includes none */
    /* For each logical pin whether it is declared; NULL when any may be used. */
    const bool *pins;
};
enum { CVBC_FOLDER_BYTES = 1024 };
/* The folder of a source, in the buffer; NULL when it does not fit. */
const char *cvbc_folder(const char *file, char folder[CVBC_FOLDER_BYTES]);
/* Compiles a text: puts code, strings, source hashes and compiler fields into b, and debug tables into `debug`.
 * False when a finding was an error. */
bool cvbc_compile(penta_bytes text, const struct cvbc_compilation *how, struct cvbc_build *b,
                  struct writer *debug, struct findings *f);
