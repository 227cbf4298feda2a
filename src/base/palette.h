/* A palette has the colours of text: escape sequences, or empty strings when colours are off. */
#pragma once
#include <stddef.h>

struct palette {
    const char *off, *dim, *bold, *name, *value, *note, *error, *warning, *reg, *label, *directive;
    const char *cycle[6];
};
extern const struct palette palette_plain;

enum { PALETTE_STYLES = 17 };
struct marked_palette {
    struct palette palette;
    char text[PALETTE_STYLES][32]; /* the sequences that `palette` points to */
};
/* Fills a palette whose styles are ESC, the mark and the rest of a sequence: writer_safe_lines
 * (sanitize.h) lets only sequences with the mark pass. */
void palette_marked(struct marked_palette *palette, const char *mark);
