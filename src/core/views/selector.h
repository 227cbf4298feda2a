/* A selector names parts of a describe tree: /code/insn[10..20]/opcode.
 *
 *     selector = ["/"] part {"/" part}            "/" alone is the whole tree
 *     part     = "**" | name ["[" index "]"]      "**" stands for any number of levels, none included
 *     name     = characters other than / and [, of which each * stands for any characters
 *     index    = number | [number] ".." [number] | "*"
 *
 * An index is the number of an item in its list, and in a node that is no list the number of a child among those that
 * the name matches. Both ends of a range belong to it. Numbers are decimal, or hexadecimal after 0x. A part without an
 * index matches every child of its name. */
#pragma once
#include "base/writer.h"
#include "core/views/path.h"

enum { SELECTOR_PARTS = 24 };

struct selector {
    struct selector_part {
        penta_bytes name; /* the name, in the text of the selector */
        bool any_depth;   /* The part is "**". */
        bool indexed;
        uint64_t from, to;
    } parts[SELECTOR_PARTS];
    unsigned count; /* 0 selects the whole tree */
    const char *text;
};

/* Parses a selector, which keeps pointers into the text. The offset of an error is a place in
 * the text. */
bool selector_parse(struct selector *s, const char *text, penta_error *err);

/* Follows a walk over a tree, and keeps what the children of each open node may match.
 * selector_start begins it. */
struct selector_walk {
    const struct selector *selector;
    struct path path;
    unsigned best; /* the most parts that any node has matched */
    struct {
        uint32_t next; /* the parts of which a child must match one */
        bool list;
        uint64_t children;
        uint64_t named[SELECTOR_PARTS]; /* for each part, how many children its name has matched */
    } level[PATH_DEPTH + 1];
};
void selector_start(struct selector_walk *w, const struct selector *s);

enum selector_match {
    SELECTOR_NO,    /* Neither the node nor anything below it matches. */
    SELECTOR_ABOVE, /* Something below the node may match. */
    SELECTOR_YES
};
/* Tells whether the next child of the open node matches, and opens it. selector_leave closes it,
 * whatever the answer was. */
enum selector_match selector_enter(struct selector_walk *w, const char *name, bool list);
void selector_leave(struct selector_walk *w);
/* Tells whether a field matches. The caller calls path_leaf for the walk's path afterwards. */
bool selector_leaf(struct selector_walk *w, const char *name);
/* Fills the error for a walk that found nothing. It names the first part of the selector that
 * nothing matched. */
bool selector_missing(const struct selector_walk *w, penta_error *err);
