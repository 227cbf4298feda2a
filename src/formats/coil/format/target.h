/* The target of a file (COIL 8.3) is the processing unit, architecture and mode that its code is
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
} coil_modes[]; /* the list ends with an entry whose name is NULL */

/* These functions return NULL if there is no such architecture or mode. */
const char *coil_arch_name(uint32_t unit, uint32_t arch);
const char *coil_mode_name(uint32_t unit, uint32_t arch, uint32_t mode);
void coil_verify_target(const struct coil_header *header, struct findings *findings);
/* Combines the target of the header with a part that the code itself names (PPTARG, COIL
 * 7.12.1); `part` is 0 for the unit, 1 for the architecture, 2 for the mode. If the header
 * leaves the part open, it is set. Returns false if the header has a different one. */
bool coil_target_meet(struct coil_header *header, unsigned part, uint32_t value);
bool coil_target_exists(const struct coil_header *header);
/* The address of every instruction must be a multiple of the number that this function returns
 * (COIL 1). */
unsigned coil_target_align(const struct coil_header *header);
/* Tells whether the machine executes programs for this target. */
bool coil_target_runs(const struct coil_header *header, penta_error *err);
