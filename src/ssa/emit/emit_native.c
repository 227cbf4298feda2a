/* Writes code for object files: frames on the stack, calls of C functions by the System V rules,
 * and addresses that the linker fills in. The stack pointer is a multiple of 16 within a function:
 *     push rbp; sub rsp, frame; mov rbp, rsp     ...     add rsp, frame; pop rbp; ret */
#include "ssa/emit/emit.h"

/* Returns how many bytes the stack pointer moves for the frame. It is a multiple of 16, because
 * the return address and the saved RBP take 16 bytes too. */
uint32_t ssa_native_frame(const struct ssa_live *l) { return (l->frame * 8 + 15) & ~UINT32_C(15); }

void ssa_native_begin(struct ssa_emitter *m)
{
    uint32_t frame = ssa_native_frame(&m->l);
    x64_push(m->e, RBP);
    if (frame) x64_sub_imm32(m->e, X64, RSP, (int32_t)frame);
    x64_mov(m->e, X64, RBP, RSP);
}

void ssa_native_return(struct ssa_emitter *m)
{
    struct ssa_code *c = m->code;
    uint32_t frame = ssa_native_frame(&m->l);
    if (frame) x64_add_imm(m->e, X64, RSP, (int32_t)frame);
    x64_pop(m->e, RBP);
    if (SSA_RESERVE(c, c->returns, c->return_capacity, c->return_count + 1))
        c->returns[c->return_count++] = x64_here(m->e);
    x64_ret(m->e);
}

/* Emits four bytes that the linker fills in. */
static void emit_native_refer(struct ssa_emitter *m, enum ssa_reloc_kind kind, uint32_t symbol)
{
    struct ssa_code *c = m->code;
    if (SSA_RESERVE(c, c->relocs, c->reloc_capacity, c->reloc_count + 1))
        c->relocs[c->reloc_count++] = (struct ssa_reloc){x64_here(m->e), symbol, (uint8_t)kind};
    x64_put(m->e, 0, 4);
}

void ssa_native_symbol(struct ssa_emitter *m, const struct ssa_insn *in, enum x64_reg d)
{
    unsigned op = in->cond ? 0x8b00u : 0x8d00u; /* opcode of mov or lea */
    x64_put(m->e, 0x48u | (d >> 3) << 2 | op | (0x05u | (d & 7u) << 3) << 16, 3);
    emit_native_refer(m, in->cond ? SSA_RELOC_TABLE : SSA_RELOC_NEAR, (uint32_t)in->imm);
}

/* Stores an argument at its place on the stack. */
static void pass_on_stack(struct ssa_emitter *m, uint32_t value, int32_t offset)
{
    struct ssa_spot at = ssa_spot_at(m, value, m->at - 1);
    struct x64_mem to = {.base = RSP, .index = X64_NONE, .disp = offset};
    if (at.where == SSA_AT_FLOAT_REGISTER)
        x64_movs_store(m->e, true, to, (unsigned)at.at);
    else
        x64_mov_store(m->e, X64, to, ssa_int_arg(m, value));
}

enum { INTEGERS = 6, FLOATS = 8 };
static const uint8_t integer_registers[INTEGERS] = {RDI, RSI, RDX, RCX, R8, R9};

struct passing {
    /* These count the arguments in registers, and the words on the stack. */
    uint32_t integers, floats, words;
};

/* Tells whether the next argument is passed in a register; *to is then that register. */
static bool next_argument(struct passing *p, bool real, struct ssa_spot *to)
{
    if (real && p->floats < FLOATS) {
        *to = (struct ssa_spot){SSA_AT_FLOAT_REGISTER, SSA_F64, p->floats++};
        return true;
    }
    if (!real && p->integers < INTEGERS) {
        *to = (struct ssa_spot){SSA_AT_REGISTER, SSA_INT, integer_registers[p->integers++]};
        return true;
    }
    p->words++;
    return false;
}

void ssa_native_foreign(struct ssa_emitter *m, const struct ssa_insn *in, uint32_t value)
{
    struct x64 *e = m->e;
    const enum x64_reg callee = R10; /* R10 is a register in which no argument is passed. */
    const uint32_t *args = m->f->pool + in->list;
    struct passing all = {0}, p = {0};
    struct ssa_spot to;
    for (uint32_t i = 0; i < in->count; i++)
        next_argument(&all, ssa_is_float(&m->f->insns[args[i]]), &to);
    int32_t bytes = (int32_t)((all.words * 8 + 15) & ~UINT32_C(15));
    if (bytes) x64_sub_imm(e, X64, RSP, bytes);
    for (uint32_t i = 0; i < in->count; i++)
        if (!next_argument(&p, ssa_is_float(&m->f->insns[args[i]]), &to))
            pass_on_stack(m, args[i], 8 * (int32_t)(p.words - 1));
    p = (struct passing){0};
    for (uint32_t i = 0; i < in->count; i++)
        if (next_argument(&p, ssa_is_float(&m->f->insns[args[i]]), &to))
            ssa_add_move(m, to, ssa_spot_at(m, args[i], m->at - 1));
    if (in->arg[0])
        ssa_add_move(m, (struct ssa_spot){SSA_AT_REGISTER, SSA_INT, callee},
                     ssa_spot_at(m, in->arg[0], m->at - 1));
    ssa_do_moves(m);
    if (in->cond) x64_mov_imm32(e, RAX, (int32_t)all.floats);
    if (in->arg[0]) {
        x64_form(e, 0xff, X32, 2, callee, false);
    } else {
        x64_put(e, 0xe8, 1);
        emit_native_refer(m, SSA_RELOC_CALL, (uint32_t)in->imm);
    }
    if (bytes) x64_add_imm(e, X64, RSP, bytes);
    if (in->mem == SSA_MF32 || in->mem == SSA_MF64)
        x64_movq_from(e, in->mem == SSA_MF64 ? X64 : X32, RAX, 0);
    uint32_t result = m->f->insns[value].next;
    if (result && m->f->insns[result].op == SSA_RESULT)
        ssa_add_move(m, ssa_spot_at(m, result, m->at + 1),
                     (struct ssa_spot){SSA_AT_REGISTER, SSA_INT, ssa_param_registers[0]});
    ssa_do_moves(m);
}
