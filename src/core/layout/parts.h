/* How records and other parts make up a file, written once in a format's parts.def, for the descriptions that other
 * tools read (penta_spec):
 *
 *     STRUCT(file, "a blob", "")
 *     PART(file, header, "header", "", "", "", "")
 *     PART(file, code, "inst", "header.instCount", "header.entryOffset", "", "instructions")
 *
 * A structure has a name, a meaning, and the place of the byte that says its byte order (0 little, 1 big), or "" for
 * little. A part belongs to a structure and has a name, a type, a count, a place, a condition and a meaning.
 *
 *     type       a record of layout.def, a structure, u8 u16 u24 u32 u64, prefix or leb (numbers of variable length),
 *                bytes or text; with "be " before it: big-endian in every file
 *     count      of bytes and text how many there are, else how often the type is repeated: "" for one, "while A" for
 *                as long as A holds
 *     place      the offset in the file; "": after the part before. A part with a place does not move what follows.
 *     condition  whether the part is there; "": always
 *
 * Count, place and condition are expressions of C over numbers, parts of the same structure that come before, fields of
 * those after a dot, `parent` (the structure around this one), `here` (the place after the part before) and `end` (the
 * size of the file). A part whose name ends in _ahead is looked at and read again. A structure that no part has is
 * a file of its own; the first one is what most files are. */
#pragma once
#include "core/layout/layout.h"

struct layout_part {
    const char *owner; /* its structure; NULL: the row is a structure */
    const char *name;  /* NULL ends the table */
    const char *type, *count, *place, *condition;
    const char *meaning;
    const char *order; /* of a structure */
};
