/* The static linker, which makes one object of many. */
#pragma once
#include "coil/coil.h"

struct coil_link_input {
    const char *name; /* name for messages */
    const struct coil_module *module;
    bool archive; /* used only if it defines a missing symbol */
    bool used;
};
struct coil_link {
    struct coil_link_input *inputs;
    size_t count;
    bool relocatable; /* makes an object that can be linked again */
    /* The entry function. NULL: the one that an input names, else _start, else main. */
    const char *entry;
    struct writer *map; /* NULL: no map is written */
    const char *where;  /* input of the finding that is being reported; NULL: none */
};
/* Writes the linked file to `out`. Every error is reported to `findings`, and it returns false if
 * there was one. */
bool coil_link(struct coil_link *link, struct writer *out, struct findings *findings);
