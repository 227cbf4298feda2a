/* Where a walk is: "/code/insn[17]/target". Items of a list are numbered. */
#pragma once
#include "base/writer.h"

enum { PATH_DEPTH = 48 };

struct path {
    struct {
        const char *name;
        uint64_t index;    /* among the parent's children */
        uint64_t children; /* entered or seen so far */
        bool item, list;   /* the parent is a list; this one is */
    } at[PATH_DEPTH];
    unsigned depth; /* may pass PATH_DEPTH: deeper names are not kept */
    uint64_t top;   /* children of the root so far */
};

void path_enter(struct path *p, const char *name, bool list);
void path_leave(struct path *p);
/* The path as text; leaf NULL: of the node the walk is in. Fields count as children of a list. */
void path_print(const struct path *p, const char *leaf, struct writer *out);
/* Call for each field, before or after printing it. */
void path_leaf(struct path *p);
