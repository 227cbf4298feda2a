/* Shows files and machines to people and programs: tree, hex, facts, state, differences, places.
 *
 * All functions walk with penta_describe, penta_info or penta_vm_describe, and know no format. Text
 * is UTF-8 and safe for a terminal: control characters that come from a file are escaped. Several
 * functions have these options:
 *
 *     json     1      JSON instead of text
 *     select   PATH   only what is at or below a path: /code/insn[3]; a selector may select several
 *                     parts, each of which then has its path for its name
 *     depth    N      only so many levels; nodes below are left out
 *     colors   MARK   text in colours: escape sequences, with MARK between ESC and the rest, so that
 *                     a filter can tell them from what a file contains; "" for a terminal
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were. A
 * function whose name ends with _pieces gives its text piece by piece, so that it need not be in
 * memory as a whole; a failed call may have given some pieces. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A selector selects parts of a file by their paths. It is a path such as /code/insn[3]/opcode, in
 * which a name may have * for any characters, and an index may be N, A..B, A.., ..B (both ends
 * included) or *. Without an index a name selects every child with it; the name ** stands for any
 * number of levels. An index counts the items of a list, and elsewhere the children that the name
 * matches. / is everything. An error in a selector has an offset in its text. */

typedef struct penta_selected { /* A selected part is borrowed during the callback. */
    const char *path;
    uint64_t offset, size;    /* size 0: the value is computed */
    bool decoded;             /* The offset counts in the decoded image. */
    const penta_field *field; /* the field; NULL: the part is a node */
} penta_selected;
typedef void penta_select_report(void *user, const penta_selected *part);

/* Reports the selected parts in the order of the file; a node comes without the parts below it.
 * Returns false when the selector is wrong, or nothing is selected. *parts is how many parts there
 * were; `parts` may be NULL. */
PENTA_API bool penta_select(const penta_module *module, const char *selector,
                            penta_select_report *report, void *user, size_t *parts,
                            penta_error *err);
/* Appends the selected parts as a JSON list of objects with path, offset, size, for fields value
 * and note, and decoded where it is true. */
PENTA_API bool penta_select_json(const penta_module *module, const char *selector,
                                 penta_buffer *out, penta_error *err);
/* Appends the bytes of the selected parts as they are stored, one after the other. Returns false,
 * too, when a part has no bytes: it is computed, or stored encoded (only its texts and bytes can be
 * had then). */
PENTA_API bool penta_select_bytes(const penta_module *module, const char *selector,
                                  penta_buffer *out, penta_error *err);

/* The functions below are about files. */

/* Walks as penta_describe does, but only over the parts that a selector selects, and the nodes
 * below them. A path of NULL means everything, a depth of 0 all levels. Returns false when the
 * selector is wrong (penta_select says how), or selects nothing. */
PENTA_API bool penta_describe_part(const penta_module *module, const char *path, unsigned depth,
                                   const penta_visitor *visitor);

/* Appends the tree of a file, in which every byte belongs to one leaf. The options are json,
 * select, depth and colors. JSON is a list of objects with name, offset, size and children, or
 * kind and value. */
PENTA_API bool penta_tree(const penta_module *module, const penta_option *options, size_t count,
                          penta_buffer *out, penta_error *err);
PENTA_API bool penta_tree_pieces(const penta_module *module, const penta_option *options,
                                 size_t count, penta_piece *take, void *user, penta_error *err);

/* Appends the bytes of a file in hex, annotated with the nodes of its tree. The options are
 * select, depth, colors and coverage. With coverage, rows say what protects each byte (a
 * checksum, a signature); not every format has that. */
PENTA_API bool penta_hex(const penta_module *module, const penta_option *options, size_t count,
                         penta_buffer *out, penta_error *err);
PENTA_API bool penta_hex_pieces(const penta_module *module, const penta_option *options,
                                size_t count, penta_piece *take, void *user, penta_error *err);

/* Appends the facts of penta_info as lines. The options are colors, and items N, which shows
 * only N items of long lists. */
PENTA_API bool penta_info_text(const penta_module *module, const penta_option *options,
                               size_t count, penta_buffer *out, penta_error *err);

/* Appends a listing for comparing programs as text: that of penta_print, in which the labels that it
 * made of places have names by function and number, such as fib.loop1, so that a small change of the
 * program is a small change of the text. The listing assembles to the same bytes. */
PENTA_API bool penta_print_plain(const penta_module *module, penta_buffer *out, penta_error *err);

/* The function below is about machines. */

/* Appends the state of a machine as lines. The options are: colors; without NAME, which leaves
 * out a member of the top level and may be repeated; show-memory, which shows every run of
 * changed memory and not only the first ones; hint TEXT, which tells a person how to see the
 * rest. */
PENTA_API bool penta_vm_text(const penta_vm *vm, const penta_option *options, size_t count,
                             penta_buffer *out, penta_error *err);

/* The functions below are about differences of two files. */

typedef struct penta_difference { /* A difference is borrowed during the callback. */
    /* `sign` is '~' when the node has changed, '-' when only a has it, '+' when only b has it. */
    char sign;
    const char *path;
    const penta_field *a, *b; /* the leaves; NULL where there is none, and for a whole node */
    uint64_t offset_a, offset_b;
} penta_difference;
typedef void penta_difference_report(void *user, const penta_difference *difference);

/* Reports every difference of two files. Members are compared by name, items of lists by
 * alignment. Files of two formats differ in /format alone. *differences is how many there are.
 * Returns false when memory ran out; some differences may have been reported then. */
PENTA_API bool penta_diff_each(const penta_module *a, const penta_module *b,
                               penta_difference_report *report, void *user, size_t *differences,
                               penta_error *err);
/* Appends a line for each difference, or with option json a list of objects with change ("changed",
 * "removed", "added"), path, offset_a, offset_b, a and b. The options are json, colors, and select,
 * which leaves only differences in the selected parts of either file. `differences` may be NULL. */
PENTA_API bool penta_diff(const penta_module *a, const penta_module *b, const penta_option *options,
                          size_t count, penta_buffer *out, size_t *differences, penta_error *err);

/* Appends the differences of the code of two files of one format, by instruction within functions. Texts are
 * compared without addresses. Functions belong together by name, by equal code, or by similar code near the same
 * place. Instructions that stand elsewhere are shown as moved; those that differ in registers alone, by one renaming
 * of registers in a function, as renamed. Order and addresses of functions do not matter. The options are form ("text",
 * "side" for two columns, "html" for a page, or "json", a list of functions), width (of both columns, 80), title-a and
 * title-b (for the page), and colors. `differences`, which may be NULL, is how many instructions and names of functions
 * differ. The work is bounded: where files have little in common, equal instructions may be shown as different. */
PENTA_API bool penta_diff_code(const penta_module *a, const penta_module *b,
                               const penta_option *options, size_t count, penta_buffer *out,
                               size_t *differences, penta_error *err);

/* The functions below find the places of offsets. */

/* A penta_place is the place of a finding in the tree of its module. */
typedef struct penta_place {
    bool found;
    /* `path` says where the path of the place starts in `paths`; it ends with a zero byte. */
    size_t path;
    uint64_t leaf_offset, leaf_size; /* the bytes of the field that holds the finding's offset */
    /* `node_offset` and `node_size` are the bytes of the innermost node around that field; size
     * 0 means that there is none. */
    uint64_t node_offset, node_size;
} penta_place;

/* Finds the places of many findings in one walk: places[i] is that of findings[i], and the paths
 * are appended to `paths`. */
PENTA_API bool penta_places(const penta_module *module, const penta_error *findings, size_t count,
                            penta_place *places, penta_buffer *paths, penta_error *err);

/* Finds the line and the column of an offset in a source text. Both count from 1, the column in
 * bytes. *line, which may be NULL, is the text of the line without its end. */
PENTA_API void penta_source_place(penta_bytes text, uint64_t offset, uint64_t *number,
                                  uint64_t *column, penta_bytes *line);

#ifdef __cplusplus
}
#endif
