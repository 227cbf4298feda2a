/* Declares the parts of penta/report.h. The page is a fixed text with one JSON object in it,
 * `data`, which page/common.js describes. Each function here writes a member of that object. */
#pragma once
#include "base/json/json_write.h"
#include "core/structure/code_map.h"
#include "penta/report.h"

/* Limits how much of a long file goes into a page, so that a browser opens it at once. */
enum {
    REPORT_BYTES = 4 << 20,
    REPORT_ROWS = 200000,  /* the most instructions in a page */
    REPORT_ITEMS = 1000,   /* the most children of a node of the tree */
    REPORT_NODES = 100000, /* When the page has this many nodes, a node shows only REPORT_FEW
                            * children. */
    REPORT_FEW = 20,
    REPORT_FINDINGS = 1000,
};

struct report {
    const penta_report_input *in;
    struct json *json;
    /* The items of a JSON list: sentences for the reader about what is missing. */
    struct writer left_out;
    penta_error *err;
};

/* Adds a sentence about something that is not in the page. */
void report_left_out(struct report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void report_tree(struct report *r);     /* Writes the field tree (tree.c). */
void report_findings(struct report *r); /* Writes the findings with their places in the file
                                         * (findings.c). */
void report_code(struct report *r);     /* Writes instructions, arrows, functions, calls and
                                         * counts (code.c). */
/* Writes where source lines begin, for the first `rows` instructions (lines.c). */
void report_lines(struct report *r, const struct code_map *map, size_t rows);
