/* Finds the registers in the context that a signal handler gets on Linux x86-64. */
#include <ucontext.h>
#include "penta/analysis/samples.h"

struct native_state samples_state(const void *context)
{
    static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15};
    const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;
    struct native_state state = {.pc = (uint64_t)regs[REG_RIP]};
    for (size_t i = 0; i < 16; i++) state.regs[i] = (uint64_t)regs[order[i]];
    return state;
}
