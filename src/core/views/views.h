/* The views: visitors that print, check or search what a describe function reports. No view knows a format. Each has
 * a function X_visitor, whose result is passed to penta_describe, penta_info or penta_vm_describe. */
#pragma once
#include "base/palette.h"
#include "core/views/selector.h"
#include "penta/views.h"

/* Writes the value as a person reads it, and at most raw_max bytes of a PENTA_RAW. */
void view_value(struct writer *out, const penta_field *field, size_t raw_max);

/* Names and notes may come from the file, so these functions write them with writer_safe. */
void view_styled(struct writer *out, const char *style, const char *name, const struct palette *p);
void view_note(struct writer *out, const penta_field *field, const struct palette *p);

struct tree_view {
    struct writer *out;
    const struct palette *palette;
    unsigned depth;
    bool decoded;
    uint64_t decoded_depth;
};
penta_visitor tree_visitor(struct tree_view *view);

struct state_view {
    struct writer *out;
    const struct palette *palette;
    uint64_t items_max; /* how many records of a list are shown; 0 for all */
    struct path path;
    bool open;       /* The values of a list follow on the current line. */
    unsigned column; /* the column at which the current line ends */
    uint64_t values; /* how many values the list had so far */
    uint64_t hidden; /* how many values of the list were not walked */
};
penta_visitor state_visitor(struct state_view *view); /* Prints lines of a name and a value. */

struct hex_view {
    struct writer *out;
    const struct palette *palette;
    penta_bytes file;
    struct path path;
    unsigned colour, decoded;
    /* The function of the driver that knows protection. When it is set, rows end where
     * protection changes and show it. When it is NULL, rows follow the leaves. */
    const char *(*protection)(const penta_module *module, uint64_t offset, uint64_t *end);
    const penta_module *module;
};
penta_visitor hex_visitor(struct hex_view *view);

struct coverage {
    uint64_t next;    /* the first byte that no leaf has covered yet */
    unsigned decoded; /* how many decoded nodes are open around this one */
    bool broken;
    uint64_t at; /* the offset of the first gap or overlap */
};
penta_visitor coverage_visitor(struct coverage *view);
bool coverage_complete(const struct coverage *view, uint64_t size);

/* Writes the paths to `paths`, whose first byte is at `from` in the caller's buffer. */
bool places_locate(const penta_module *module, const penta_error *findings, size_t count,
                   size_t from, penta_place *places, struct writer *paths, penta_error *err);

struct select_view {
    unsigned depth_max; /* how many levels are shown; 0 for all */
    penta_visitor next; /* gets each selected part with its path as the name, unless the path is the
               * selector */
    struct selector_walk walk;
    unsigned inside; /* how many levels are open, counted from the selected node */
    bool found;
    struct writer name;
};
/* Selects everything when the selector is NULL or "/". */
penta_visitor select_visitor(struct select_view *view, const struct selector *selector);
void select_free(struct select_view *view);
