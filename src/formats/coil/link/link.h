/* The static linker. */
#pragma once
#include "coil/coil.h"

struct coil_link_input {
    const char *name; /* for messages */
    const struct coil_module *module;
    bool archive; /* taken only when it defines something that is missing */
    bool used;
};
struct coil_link {
    struct coil_link_input *inputs;
    size_t count;
    bool relocatable;   /* -r */
    const char *entry;  /* NULL: what one input names, else _start, else main */
    struct writer *map; /* NULL: no map wanted */
    const char *where;  /* the input of the finding that is being reported; NULL: none */
};
/* The linked file into out. Every error goes to findings; false when there was one. */
bool coil_link(struct coil_link *link, struct writer *out, struct findings *findings);
