/* Programs older than the container have five layouts (CVBC 17), which are distinguished by
 * their contents. */
#pragma once
#include "cvbc/format/build.h"

struct cvbc_legacy {
    const char *wrapper; /* the wrapper around the program: "conc-ccitt", "conc-modbus" or NULL */
    const char *layout;  /* one of "raw-words", "raw-struct", "counted-words", "counted-struct" */
    size_t code_offset, count, string_offset, string_count;
    bool words; /* true if instructions are u32 words */
};
/* Finds the layout. Returns false if no layout fits; *why then says which was nearest. */
bool cvbc_legacy_detect(penta_bytes file, struct cvbc_legacy *out, const char **why);

enum cvbc_repair { CVBC_R1 = 1, CVBC_R2 = 2, CVBC_R3 = 4, CVBC_R4 = 8, CVBC_R5 = 16, CVBC_R6 = 32 };
/* Reads code and strings into b and repairs them unless `keep` is true. *repairs says which
 * repairs were made. Findings (f may be NULL) name the repairs, and what cannot be repaired. */
bool cvbc_legacy_read(penta_bytes file, const struct cvbc_legacy *layout, bool keep,
                      struct cvbc_build *b, unsigned *repairs, struct findings *f,
                      penta_error *err);
