/* Files and machines as people and programs read them: tree, hex, facts, state, difference, places.
 *
 * All are walks of penta_describe, penta_info or penta_vm_describe, and know no format. Text is
 * UTF-8 and safe for a terminal: control characters that come from a file are escaped. Options that
 * several functions share:
 *
 *     json     1      JSON instead of text
 *     select   PATH   only what is at or below a path: /code/insn[3]; a selector may select several
 *                     parts, each of which then has its path for its name
 *     depth    N      only so many levels; nodes below are left out
 *     colors   MARK   text in colours: escape sequences, with MARK between ESC and the rest, so that
 *                     a filter can tell them from what a file contains; "" for a terminal
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were. The
 * forms in pieces are for what need not be in memory as a whole; a failed call may have given some. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- selectors: parts of a file by their paths ----
 *
 * A path such as /code/insn[3]/opcode, in which a name may have * for any characters, and an index may
 * be N, A..B, A.., ..B (both ends included) or *. Without an index a name selects every child with it;
 * the name ** stands for any number of levels. An index counts the items of a list, and elsewhere the
 * children that the name matches. / is everything. What is wrong with a selector is an error whose
 * offset is a place in its text. */

typedef struct penta_selected { /* borrowed during the callback */
    const char *path;
    uint64_t offset, size;    /* size 0: computed */
    bool decoded;             /* the offset counts in the decoded image */
    const penta_field *field; /* NULL: a node */
} penta_selected;
typedef void penta_select_report(void *user, const penta_selected *part);

/* Reports the selected parts in the order of the file, a node without what is below it. False: the
 * selector is wrong, or nothing is selected. parts, how many there were, may be NULL. */
PENTA_API bool penta_select(const penta_module *module, const char *selector,
                            penta_select_report *report, void *user, size_t *parts,
                            penta_error *err);
/* A list of objects with path, offset, size, for fields value and note, and decoded where it is true. */
PENTA_API bool penta_select_json(const penta_module *module, const char *selector,
                                 penta_buffer *out, penta_error *err);
/* The bytes of the selected parts as they are stored, one after the other. False also when a part has
 * none: it is computed, or stored encoded (then only texts and bytes can be had). */
PENTA_API bool penta_select_bytes(const penta_module *module, const char *selector,
                                  penta_buffer *out, penta_error *err);

/* ---- files ---- */

/* The walk of penta_describe over what is at or below the parts that a selector selects; NULL:
 * everything. depth 0: all levels. False: the selector is wrong (penta_select says how), or selects
 * nothing. */
PENTA_API bool penta_describe_part(const penta_module *module, const char *path, unsigned depth,
                                   const penta_visitor *visitor);

/* Every byte of the file belongs to one leaf. Options: json, select, depth, colors. JSON is a list
 * of objects with name, offset, size and children, or kind and value. */
PENTA_API bool penta_tree(const penta_module *module, const penta_option *options, size_t count,
                          penta_buffer *out, penta_error *err);
PENTA_API bool penta_tree_pieces(const penta_module *module, const penta_option *options,
                                 size_t count, penta_piece *take, void *user, penta_error *err);

/* Annotated hex of the same tree. Options: select, depth, colors, and coverage: rows say what
 * protects each byte (a checksum, a signature), which not every format has. */
PENTA_API bool penta_hex(const penta_module *module, const penta_option *options, size_t count,
                         penta_buffer *out, penta_error *err);
PENTA_API bool penta_hex_pieces(const penta_module *module, const penta_option *options,
                                size_t count, penta_piece *take, void *user, penta_error *err);

/* The facts of penta_info as lines. Options: colors, and items N: of long lists only so many. */
PENTA_API bool penta_info_text(const penta_module *module, const penta_option *options,
                               size_t count, penta_buffer *out, penta_error *err);

/* ---- machines ---- */

/* The state of a machine as lines. Options: colors; without NAME: leaves out a member of the top
 * level, may be repeated; show-memory: every run of changed memory, not only the first ones and where
 * the rest is; hint TEXT: what to tell a person who wants to see the rest. */
PENTA_API bool penta_vm_text(const penta_vm *vm, const penta_option *options, size_t count,
                             penta_buffer *out, penta_error *err);

/* ---- differences ---- */

typedef struct penta_difference { /* borrowed during the callback */
    char sign;                    /* '~' changed, '-' only in a, '+' only in b */
    const char *path;
    const penta_field *a, *b; /* leaves; NULL where there is none, or a whole node */
    uint64_t offset_a, offset_b;
} penta_difference;
typedef void penta_difference_report(void *user, const penta_difference *difference);

/* Members are compared by name, items of lists by alignment. Two formats differ in /format alone.
 * *differences is how many there are. False: memory ran out, and some may have been reported. */
PENTA_API bool penta_diff_each(const penta_module *a, const penta_module *b,
                               penta_difference_report *report, void *user, size_t *differences,
                               penta_error *err);
/* A line for each, or with json a list of objects with change ("changed", "removed", "added"), path,
 * offset_a, offset_b, a and b. Options: json, colors, and select: only differences in these parts of
 * either file. differences may be NULL. */
PENTA_API bool penta_diff(const penta_module *a, const penta_module *b, const penta_option *options,
                          size_t count, penta_buffer *out, size_t *differences, penta_error *err);

/* ---- places ---- */

typedef struct penta_place { /* of a finding, in the tree of its module */
    bool found;
    size_t path;                     /* where its path starts in `paths`; it ends with a zero */
    uint64_t leaf_offset, leaf_size; /* the field that holds the offset */
    uint64_t node_offset, node_size; /* the innermost node around it; size 0: none */
} penta_place;

/* The places of many findings in one walk: places[i] is that of findings[i], and the paths are
 * appended to `paths`. */
PENTA_API bool penta_places(const penta_module *module, const penta_error *findings, size_t count,
                            penta_place *places, penta_buffer *paths, penta_error *err);

/* Where an offset of a source text is: line and column from 1 on, the column in bytes; and the line
 * itself, without its end, in *line, which may be NULL. */
PENTA_API void penta_source_place(penta_bytes text, uint64_t offset, uint64_t *number,
                                  uint64_t *column, penta_bytes *line);

#ifdef __cplusplus
}
#endif
