/* The target of a file (COIL 8.3): the processing unit, architecture and mode that its code is
 * for. */
#pragma once
#include "coil/coil.h"

enum coil_arch {
#define ARCH(name) COIL_ARCH_##name,
#include "coil/targets.def"
    COIL_ARCHS
};
extern const char *const coil_arch_names[COIL_ARCHS];
extern const struct coil_mode {
    uint8_t number, arch;
    const char *name;
} coil_modes[]; /* ends with a NULL name */

/* These return NULL if there is no such architecture or mode. */
const char *coil_arch_name(uint32_t unit, uint32_t arch);
const char *coil_mode_name(uint32_t unit, uint32_t arch, uint32_t mode);
void coil_verify_target(const struct coil_header *header, struct findings *findings);
/* Adds a part of the target that the code itself names (PPTARG, COIL 7.12.1): 0 the unit, 1 the
 * architecture, 2 the mode. It is set if the header leaves it open. Returns false if the header has
 * another one. */
bool coil_target_meet(struct coil_header *header, unsigned part, uint32_t value);
bool coil_target_exists(const struct coil_header *header);
/* Returns the number of which every instruction's address must be a multiple (COIL 1). */
unsigned coil_target_align(const struct coil_header *header);
/* Tells whether the machine executes programs for this target. */
bool coil_target_runs(const struct coil_header *header, penta_error *err);
