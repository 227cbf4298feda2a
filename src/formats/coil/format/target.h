/* What a file is for (COIL 8.3). */
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

/* NULL: there is no such architecture or mode. */
const char *coil_arch_name(uint32_t unit, uint32_t arch);
const char *coil_mode_name(uint32_t unit, uint32_t arch, uint32_t mode);
void coil_verify_target(const struct coil_header *header, struct findings *findings);
/* Whether the machine executes programs for this target. */
bool coil_target_runs(const struct coil_header *header, penta_error *err);
