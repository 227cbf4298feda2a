/* The static linker makes one object of several. */
#pragma once
#include "coil/coil.h"

struct coil_link_input {
    const char *name; /* name of the input in messages */
    const struct coil_module *module;
    /* This is true for an object of an archive, which is used only if it defines a missing
     * symbol. */
    bool archive;
    bool used;
};
struct coil_link {
    struct coil_link_input *inputs;
    size_t count;
    bool relocatable; /* true if the output can be linked again */
    /* This is the entry function. If it is NULL, it is the one that an input names, else _start,
     * else main. */
    const char *entry;
    struct writer *map; /* where the map is written, or NULL */
    const char *where;  /* the input that the current finding is about, or NULL */
};
/* Writes the linked file to `out`. It reports every error to `findings`, and returns false if
 * there was one. */
bool coil_link(struct coil_link *link, struct writer *out, struct findings *findings);
