/* Declares graphs in the language of Graphviz, and as nodes and edges in a document. */
#pragma once
#include "base/sanitize.h"
#include "cli/cli.h"
#include "penta/structure.h"

/* These functions write the blocks of a function, each with its instructions, and all functions
 * with their calls. */
void graph_blocks(struct writer *w, const penta_module *module, const penta_structure *s,
                  size_t function);
bool graph_calls(struct writer *w, const char *name, const penta_structure *s);

void graph_blocks_json(struct json *j, const penta_module *module, const penta_structure *s,
                       size_t function);
void graph_calls_json(struct json *j, const penta_structure *s);
