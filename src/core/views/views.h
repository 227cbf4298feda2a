/* The users of describe; none knows a format. Each is a visitor: make one with its _visitor
 * function and pass it to penta_describe, penta_info or penta_vm_describe. */
#pragma once
#include "base/palette.h"
#include "core/views/path.h"
#include "penta/views.h"

/* ---- values ---- */
/* As a person reads it; at most raw_max bytes of a PENTA_RAW. */
void view_value(struct writer *out, const penta_field *field, size_t raw_max);

/* ---- in colours ---- */
/* Names and notes may come from the file, so these write them with writer_safe. */
void view_styled(struct writer *out, const char *style, const char *name, const struct palette *p);
void view_note(struct writer *out, const penta_field *field, const struct palette *p);

/* ---- indented tree with offsets: penta inspect ---- */
struct tree_view {
    struct writer *out;
    const struct palette *palette;
    unsigned depth;
    bool decoded;
    uint64_t decoded_depth;
};
penta_visitor tree_visitor(struct tree_view *view);

/* ---- values without offsets: info and machine state ---- */
struct state_view {
    struct writer *out;
    const struct palette *palette;
    uint64_t items_max; /* shown of a list of records; 0: all */
    struct path path;
    bool open;       /* the line of a list whose values follow on it */
    unsigned column; /* where that line ends */
    uint64_t values; /* in it so far */
    uint64_t hidden; /* in it, but not walked */
};
penta_visitor state_visitor(struct state_view *view); /* "name  value" lines */

/* ---- annotated hex: penta hex ---- */
struct hex_view {
    struct writer *out;
    const struct palette *palette;
    penta_bytes file;
    struct path path;
    unsigned colour, decoded;
    /* Of the driver: rows end where protection changes, and say what it is. NULL: by leaf. */
    const char *(*protection)(const penta_module *module, uint64_t offset, uint64_t *end);
    const penta_module *module;
};
penta_visitor hex_visitor(struct hex_view *view);

/* ---- the check that leaves tile the file ---- */
struct coverage {
    uint64_t next;    /* first byte not yet covered */
    unsigned decoded; /* depth below a decoded node */
    bool broken;
    uint64_t at; /* the first gap or overlap */
};
penta_visitor coverage_visitor(struct coverage *view);
bool coverage_complete(const struct coverage *view, uint64_t size);

/* ---- the leaves that hold offsets: penta_places ---- */
/* The paths go to `paths`, whose first byte is the one at `from` in the caller's buffer. */
bool places_locate(const penta_module *module, const penta_error *findings, size_t count,
                   size_t from, penta_place *places, struct writer *paths, penta_error *err);

/* ---- only what lies at or below a path ("/code/insn[17]"): penta_describe_part ---- */
struct select_view {
    const char *wanted; /* NULL: everything */
    unsigned depth_max; /* levels; 0: all */
    penta_visitor next;
    struct path path;
    unsigned inside; /* levels that are open, the wanted node being the first */
    bool found;
    struct writer scratch;
};
penta_visitor select_visitor(struct select_view *view);
void select_free(struct select_view *view);
