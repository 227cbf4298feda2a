/* The users of describe; none knows a format. Each is a visitor: make one with its _visitor
 * function and pass it to penta_describe, penta_info or penta_vm_describe. */
#pragma once
#include "base/json/json_write.h"
#include "core/views/path.h"

/* ---- values ---- */
/* As a person reads it; at most raw_max bytes of a PENTA_RAW. */
void view_value(struct writer *out, const penta_field *field, size_t raw_max);
void view_json_value(struct json *j, const char *key, const penta_field *field);

/* ---- colours: empty strings when off ---- */
struct palette {
    const char *off, *dim, *bold, *name, *value, *note, *error, *warning, *reg, *label, *directive;
    const char *cycle[6];
};
extern const struct palette palette_plain;

enum { PALETTE_STYLES = 17 };
struct marked_palette {
    struct palette palette;
    char text[PALETTE_STYLES][32]; /* what it points to */
};
/* Each style is ESC, the mark and the rest of a sequence; see writer_safe_lines. */
void palette_marked(struct marked_palette *palette, const char *mark);

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

/* ---- the same as JSON: objects with name, offset, size, children or kind and value ---- */
struct tree_json_view {
    struct json *json;
};
penta_visitor tree_json_visitor(struct tree_json_view *view);

/* ---- values without offsets: info and machine state. Members are keys, lists are arrays ---- */
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

struct state_json_view {
    struct json *json;
    struct path path;
};
penta_visitor state_json_visitor(struct state_json_view *view);

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

/* ---- the leaf that holds an offset ---- */
struct located {
    bool found;
    struct writer path; /* free it */
    uint64_t leaf_offset, leaf_size;
    uint64_t node_offset, node_size; /* the innermost node around the leaf; size 0: none */
};
struct wanted_place {
    uint64_t offset;
    bool decoded;
};
/* Of many places at once, in one walk: out[i] is for wanted[i]. False: no memory, nothing found. */
bool locate(const penta_module *module, const struct wanted_place *wanted, size_t count,
            struct located *out);

/* ---- only what lies at or below a path ("/code/insn[17]") ---- */
struct select_view {
    const char *wanted;
    penta_visitor next;
    struct path path;
    unsigned inside; /* depth below the wanted node; 0: not inside */
    bool found;
    struct writer scratch;
};
penta_visitor select_visitor(struct select_view *view);
void select_free(struct select_view *view);
