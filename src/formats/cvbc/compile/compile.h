/* This is a compiler for sketches: C with floats, structs, pointers and Strings, macros, Serial,
 * and the host calls of the machine. CVBC 16 describes the language. */
#pragma once
#include "cvbc/format/build.h"

struct cvbc_compilation {
    bool portable;      /* use only instructions and flags of the first engine */
    bool strip;         /* true to write no debug tables */
    const char *file;   /* name of the sketch in the debug tables */
    const char *folder; /* folder with the headers of the sketch, or NULL if it includes none */
    /* This tells for each logical pin whether it is declared. NULL allows all pins. */
    const bool *pins;
};
enum { CVBC_FOLDER_BYTES = 1024 };
/* Stores the folder of a source in the buffer and returns it, or NULL if it does not fit. */
const char *cvbc_folder(const char *file, char folder[CVBC_FOLDER_BYTES]);
/* Compiles a text: puts code, strings, source hashes and compiler fields into b, and debug
 * tables into `debug`. Returns false if a finding was an error. */
bool cvbc_compile(penta_bytes text, const struct cvbc_compilation *how, struct cvbc_build *b,
                  struct writer *debug, struct findings *f);
