/* Generates code for the board of a firmware (CVBC 20): the four Trinity files, from all
 * containers that are on the board. */
#pragma once
#include "cvbc/format/hardware/board.h"

enum cvbc_trinity_file { TRINITY_H, TRINITY_HPP, TRINITY_LD, TRINITY_JSON, TRINITY_FILES };
extern const char *const cvbc_trinity_names[TRINITY_FILES];

/* Generates the files. The result depends only on the modules and the board. If `board` is NULL,
 * the containers name the board. Returns false if the containers do not fit together. */
bool cvbc_trinity(const struct cvbc_module *const *files, size_t count,
                  const struct cvbc_board *board, struct writer out[TRINITY_FILES],
                  penta_error *err);
