/* Declares how the passes of the verifier report findings. */
#pragma once
#include "tvmr/tvmr.h"

struct pass {
    const struct tvmr_module *m;
    struct findings *f;
};

void verify_report(struct pass *p, uint32_t code, uint64_t at, bool decoded, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

/* Reports a finding at a place of the image after the header. */
#define AT(code, offset, ...) verify_report(p, code, offset, tvmr_decoded(p->m), __VA_ARGS__)
/* Reports a finding at an instruction. In a legacy file the offset is that of the legacy
 * instruction. */
#define INSN(code, index, ...)                                                                     \
    verify_report(p, code, tvmr_insn_offset(p->m, index), tvmr_insn_decoded(p->m), __VA_ARGS__)

/* Checks extensions, control flow, keys, registers, operands, order and shapes. verify_program.c
 * defines it. */
void verify_program(struct pass *p);
