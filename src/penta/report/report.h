/* The inside of penta/report.h. The page is a fixed text with one JSON object in it, `data`, which
 * page/common.js describes; each function here writes a member of it. */
#pragma once
#include "base/json/json_write.h"
#include "core/structure/code_map.h"
#include "penta/report.h"

/* What of a long file goes into a page that a browser opens at once. */
enum {
    REPORT_BYTES = 4 << 20,
    REPORT_ROWS = 200000,  /* instructions */
    REPORT_ITEMS = 1000,   /* children of a node of the tree */
    REPORT_NODES = 100000, /* with so many nodes already, only REPORT_FEW children */
    REPORT_FEW = 20,
    REPORT_FINDINGS = 1000,
};

struct report {
    const penta_report_input *in;
    struct json *json;
    struct writer left_out; /* the members of a JSON list: sentences for the reader */
    penta_error *err;
};

/* A sentence about something that is not in the page. */
void report_left_out(struct report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void report_tree(struct report *r);     /* tree.c: the field tree */
void report_findings(struct report *r); /* findings.c: with their places in the file */
void report_code(struct report *r);     /* code.c: instructions, arrows, functions, calls, counts */
/* lines.c: where other source lines begin, for so many instructions. */
void report_lines(struct report *r, const struct code_map *map, size_t rows);
