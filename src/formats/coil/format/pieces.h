/* The pieces of a file are the parts that something refers to: the header, the tables, and the
 * contents of sections, ordered by offset. Bytes between the pieces and after the last one are
 * unused. */
#pragma once
#include "coil/coil.h"

enum coil_piece_kind {
    COIL_PIECE_HEADER,
    COIL_PIECE_SECTIONS,
    COIL_PIECE_SYMBOLS,
    COIL_PIECE_STRINGS,
    COIL_PIECE_RELOCS,
    COIL_PIECE_CONTENTS
};
struct coil_piece {
    uint64_t from, size; /* size: at least 1 */
    enum coil_piece_kind kind;
    size_t index; /* for contents: index of the section */
};

/* Lists the pieces of a module that has no damage. The caller frees the list. Returns NULL if
 * there is no memory. */
struct coil_piece *coil_pieces(const struct coil_module *m, size_t *count);
