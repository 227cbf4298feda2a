/* Handles the target of a file (COIL 8.3): the names of its parts, which values exist, and for
 * which targets the machine runs programs. The tables come from targets.def. */
#include "coil/format/target.h"

const char *const coil_arch_names[COIL_ARCHS] = {
#define ARCH(name) #name,
#include "coil/targets.def"
};

const struct coil_mode coil_modes[] = {
#define MODE(number, arch, name) {number, COIL_ARCH_##arch, name},
#include "coil/targets.def"
    {0, 0, NULL}};

/* Only CPUs have architectures, so a file for another processing unit has none. */
static bool has_archs(uint32_t unit) { return unit == COIL_UNIT_ANY || unit == COIL_UNIT_CPU; }

const char *coil_arch_name(uint32_t unit, uint32_t arch)
{
    return arch < COIL_ARCHS && (!arch || has_archs(unit)) ? coil_arch_names[arch] : NULL;
}

const char *coil_mode_name(uint32_t unit, uint32_t arch, uint32_t mode)
{
    for (const struct coil_mode *m = coil_modes; m->name; m++) {
        bool fits = m->arch == COIL_ARCH_ANY || (has_archs(unit) && (m->arch == arch || !arch));
        if (m->number == mode && fits) return m->name;
    }
    return NULL;
}

void coil_verify_target(const struct coil_header *h, struct findings *f)
{
    if (h->target_pu >= COIL_UNITS)
        findings_add(f, COIL_ENUM, 12, NULL, "processing unit %u", (unsigned)h->target_pu);
    else if (!coil_arch_name(h->target_pu, h->target_arch))
        findings_add(f, COIL_ENUM, 16, NULL, "architecture %u of unit %s", (unsigned)h->target_arch,
                     coil_unit_names[h->target_pu]);
    else if (!coil_mode_name(h->target_pu, h->target_arch, h->target_mode))
        findings_add(f, COIL_ENUM, 20, NULL, "mode 0x%x of unit %s, architecture %s",
                     (unsigned)h->target_mode, coil_unit_names[h->target_pu],
                     coil_arch_names[h->target_arch]);
}

bool coil_target_exists(const struct coil_header *h)
{
    return h->target_pu < COIL_UNITS && coil_arch_name(h->target_pu, h->target_arch) &&
           coil_mode_name(h->target_pu, h->target_arch, h->target_mode);
}

/* Returns the width in bits that a mode means, or 0 if it is not known. A virtual mode means any
 * machine of its width. */
static unsigned mode_width(uint32_t arch, uint32_t mode)
{
    switch (mode) {
    case 0x01: return arch == COIL_ARCH_X86 ? 16 : arch == COIL_ARCH_ARM ? 32 : 0;
    case 0x02: return 32;
    case 0x03: return 64;
    case 0x81: return 16;
    case 0x82: return 32;
    case 0x83: return 64;
    default: return 0;
    }
}

bool coil_target_meet(struct coil_header *h, unsigned part, uint32_t value)
{
    uint32_t *has = part == 0 ? &h->target_pu : part == 1 ? &h->target_arch : &h->target_mode;
    if (!value || *has == value) return true;
    bool mode = part == 2 && *has, virtual_now = mode && *has >= 0x80,
         virtual_then = mode && value >= 0x80;
    if (mode && (virtual_now == virtual_then ||
                 mode_width(h->target_arch, *has) != mode_width(h->target_arch, value)))
        return false;
    if (!mode && *has) return false;
    if (!virtual_then) *has = value;
    return true;
}

unsigned coil_target_align(const struct coil_header *h)
{
    enum { T32 = 0x02 };
    if (!has_archs(h->target_pu)) return 1;
    if (h->target_arch == COIL_ARCH_ARM) return h->target_mode == T32 ? 2 : 4;
    return h->target_arch == COIL_ARCH_RISCV ? 2 : 1;
}

bool coil_target_runs(const struct coil_header *h, penta_error *err)
{
    enum { X64 = 0x03, V64 = 0x83 };
    const char *mode = coil_mode_name(h->target_pu, h->target_arch, h->target_mode);
    if (!has_archs(h->target_pu))
        error_at(err, COIL_NOT_RUN, 12, "a program for a %s",
                 h->target_pu < COIL_UNITS ? coil_unit_names[h->target_pu] : "unknown unit");
    else if (h->target_arch != COIL_ARCH_ANY && h->target_arch != COIL_ARCH_X86)
        error_at(err, COIL_NOT_RUN, 16, "a program for %s",
                 h->target_arch < COIL_ARCHS ? coil_arch_names[h->target_arch]
                                             : "an unknown architecture");
    else if (h->target_mode && h->target_mode != X64 && h->target_mode != V64)
        error_at(err, COIL_NOT_RUN, 20, "a program for mode %s", mode ? mode : "unknown");
    if (err->code == COIL_NOT_RUN)
        error_note(err, "the machine is a 64-bit CPU: .target cpu any v64");
    return !err->code;
}
