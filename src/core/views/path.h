/* Declares the path of the node that a walk is in, such as "/code/insn[17]/target". Items of a
 * list are numbered. */
#pragma once
#include "base/writer.h"

enum { PATH_DEPTH = 48 };

struct path {
    struct {
        const char *name;
        uint64_t index;    /* number of the node among the children of its parent */
        uint64_t children; /* how many children were entered or seen so far */
        bool item, list;   /* `item`: the parent is a list; `list`: this node is a list */
    } at[PATH_DEPTH];
    unsigned depth; /* may exceed PATH_DEPTH; deeper names are not kept */
    uint64_t top;   /* how many children of the root were seen so far */
};

void path_enter(struct path *p, const char *name, bool list);
void path_leave(struct path *p);
/* Writes the path as text: that of a leaf or, when `leaf` is NULL, that of the node that the
 * walk is in. Fields count as children of a list. */
void path_print(const struct path *p, const char *leaf, struct writer *out);
/* Counts a field. A visitor must call this for each field, before or after printing it. */
void path_leaf(struct path *p);
