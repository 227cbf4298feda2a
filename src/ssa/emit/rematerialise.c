/* Rematerialisation: a constant costs no more to make than to load, even as a float or a vector.
 * So it has no place in the frame: the allocator may take its register away, and it is made
 * again where it is needed. ssa_is_remade tells which values are remade; moves and operands call
 * ssa_load_const. */
#include "ssa/emit/emit.h"

void ssa_load_const(struct ssa_emitter *m, struct ssa_spot to, int64_t imm)
{
    struct x64 *e = m->e;
    if (to.where == SSA_AT_REGISTER) {
        x64_mov_imm(e, (enum x64_reg)to.at, (uint64_t)imm);
    } else if (to.where == SSA_AT_FLOAT_REGISTER && !imm) {
        x64_xorps(e, (unsigned)to.at, (unsigned)to.at);
    } else if (to.where == SSA_AT_FLOAT_REGISTER) {
        x64_mov_imm(e, SSA_SCRATCH, (uint64_t)imm);
        x64_movq_to(e, X64, (unsigned)to.at, SSA_SCRATCH);
    } else if (imm == (int32_t)imm) {
        x64_mov_store_imm(e, X64, ssa_frame_slot(to.at), (int32_t)imm);
    } else {
        x64_mov_imm(e, SSA_SCRATCH, (uint64_t)imm);
        x64_mov_store(e, X64, ssa_frame_slot(to.at), SSA_SCRATCH);
    }
}
