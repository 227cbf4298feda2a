/* Declares how arrows of jumps are drawn as characters: a few columns in front of each line of a
 * listing. */
#pragma once
#include "penta/structure.h"
struct writer;
struct arrow_text;

/* Prepares the arrows of the instructions at pcs from .. to, both included. Returns NULL with an
 * error. */
struct arrow_text *arrow_text_new(const penta_module *module, uint64_t from, uint64_t to, bool utf8,
                                  penta_error *err);
void arrow_text_free(struct arrow_text *text); /* `text` may be NULL. */
/* Writes the columns of the instruction at pc. It is called once for each pc, in their order. */
void arrow_text_row(struct arrow_text *text, uint64_t pc, struct writer *out);
/* Writes the columns of a line that stands before the instruction at pc. */
void arrow_text_between(const struct arrow_text *text, uint64_t pc, struct writer *out);
