/* Moves values between registers, the frame and constants. All moves of an edge, of a call or of
 * a return happen at once, so they are collected first and then emitted in an order in which
 * none destroys what another one reads. */
#include "ssa/emit/emit.h"

struct ssa_spot ssa_spot_at(const struct ssa_emitter *m, uint32_t value, uint32_t at)
{
    const struct ssa_insn *in = &m->f->insns[value];
    static const uint8_t fixed[] = {R15, R14, RBP};
    if (in->op == SSA_FIXED) return (struct ssa_spot){SSA_AT_REGISTER, SSA_INT, fixed[in->imm]};
    if (ssa_immediate(in)) return (struct ssa_spot){SSA_AT_CONST, SSA_INT, in->imm};
    const struct ssa_interval *i = ssa_interval_at(&m->l, value, at);
    if (i && i->reg >= 0)
        return (struct ssa_spot){ssa_is_float(in) ? SSA_AT_FLOAT_REGISTER : SSA_AT_REGISTER,
                                 in->type, i->reg};
    if (ssa_is_remade(in)) return (struct ssa_spot){SSA_AT_CONST, in->type, in->imm};
    if (!i || m->l.slots[value] < 0) m->code->failed = true;
    return (struct ssa_spot){SSA_AT_FRAME, in->type, m->l.slots[value] * 8};
}

static bool emit_moves_same(struct ssa_spot a, struct ssa_spot b)
{
    return a.where == b.where && a.at == b.at && a.where != SSA_AT_CONST;
}

void ssa_add_move(struct ssa_emitter *m, struct ssa_spot to, struct ssa_spot from)
{
    if (emit_moves_same(to, from)) return;
    if (!SSA_RESERVE(m->code, m->moves, m->move_capacity, m->move_count + 1)) return;
    m->moves[m->move_count++] = (struct ssa_move){to, from};
}

/* A float takes 8 bytes in the frame, whatever its type is. */
static enum x64_access in_frame(enum ssa_type type)
{
    return type == SSA_V256 ? X64_32_BYTES : type == SSA_V128 ? X64_16_BYTES : X64_F64;
}

void ssa_frame_load(struct ssa_emitter *m, enum ssa_type type, unsigned reg, int64_t offset)
{
    x64_load(m->e, in_frame(type), reg, ssa_frame_slot(offset));
}

void ssa_frame_store(struct ssa_emitter *m, enum ssa_type type, int64_t offset, unsigned reg)
{
    x64_store(m->e, in_frame(type), ssa_frame_slot(offset), reg);
}

static void emit_moves_move(struct ssa_emitter *m, struct ssa_spot to, struct ssa_spot from)
{
    struct x64 *e = m->e;
    if (from.where == SSA_AT_CONST) {
        ssa_load_const(m, to, from.at);
        return;
    }
    enum x64_reg t = (enum x64_reg)to.at, r = (enum x64_reg)from.at;
    int words = to.type == SSA_V256 ? 4 : to.type == SSA_V128 ? 2 : 1;
    switch (to.where * 4 + from.where) {
    case SSA_AT_REGISTER * 4 + SSA_AT_REGISTER: x64_mov(e, X64, t, r); break;
    case SSA_AT_REGISTER * 4 + SSA_AT_FLOAT_REGISTER: x64_movq_from(e, X64, t, r); break;
    case SSA_AT_REGISTER * 4 + SSA_AT_FRAME:
        x64_mov_load(e, X64, t, ssa_frame_slot(from.at));
        break;
    case SSA_AT_FLOAT_REGISTER * 4 + SSA_AT_REGISTER: x64_movq_to(e, X64, t, r); break;
    case SSA_AT_FLOAT_REGISTER * 4 + SSA_AT_FLOAT_REGISTER: x64_movaps(e, e->vex, t, r); break;
    case SSA_AT_FLOAT_REGISTER * 4 + SSA_AT_FRAME:
        ssa_frame_load(m, (enum ssa_type)from.type, t, from.at);
        break;
    case SSA_AT_FRAME * 4 + SSA_AT_REGISTER: x64_mov_store(e, X64, ssa_frame_slot(to.at), r); break;
    case SSA_AT_FRAME * 4 + SSA_AT_FLOAT_REGISTER:
        ssa_frame_store(m, (enum ssa_type)to.type, to.at, r);
        break;
    default:
        for (int k = 0; k < 8 * words; k += 8) {
            x64_mov_load(e, X64, SSA_SCRATCH, ssa_frame_slot(from.at + k));
            x64_mov_store(e, X64, ssa_frame_slot(to.at + k), SSA_SCRATCH);
        }
    }
}

static bool target_is_read(const struct ssa_emitter *m, size_t except)
{
    ssa_work(m->f, m->move_count / 4);
    for (size_t i = 0; i < m->move_count; i++)
        if (i != except && emit_moves_same(m->moves[i].from, m->moves[except].to)) return true;
    return false;
}

/* A move can be emitted when no other move reads its target any more. If there is no such move,
 * all that are left form cycles; the value at the target of one of them is then saved in the
 * scratch register. */
void ssa_do_moves(struct ssa_emitter *m)
{
    while (m->move_count) {
        if (m->f->work && m->f->work->over) m->code->failed = true;
        if (m->code->failed) m->move_count = 1; /* After an error the code will not be used. */
        size_t i = 0;
        while (i < m->move_count && target_is_read(m, i)) i++;
        if (i == m->move_count) {
            struct ssa_spot at = m->moves[0].to,
                            aside = {SSA_AT_FLOAT_REGISTER, at.type, SSA_FLOAT_SCRATCH};
            emit_moves_move(m, aside, at);
            for (size_t k = 0; k < m->move_count; k++)
                if (emit_moves_same(m->moves[k].from, at)) m->moves[k].from = aside;
            i = 0;
        }
        emit_moves_move(m, m->moves[i].to, m->moves[i].from);
        m->moves[i] = m->moves[--m->move_count];
    }
}

void ssa_edge_moves(struct ssa_emitter *m, uint32_t from, uint32_t to)
{
    const struct ssa_live *l = &m->l;
    const struct ssa_function *f = m->f;
    uint32_t end = l->blocks[from].to - 1, start = l->blocks[to].from;
    bool joins = f->insns[f->blocks[to].first].op == SSA_PHI;
    if (!ssa_work(f, l->blocks[to].entries + (joins ? f->blocks[to].pred_count : 0)))
        m->code->failed = true;
    if (m->code->failed) return;
    for (const uint32_t *v = l->blocks[to].entry; v && *v; v++) {
        struct ssa_spot there = ssa_spot_at(m, *v, start);
        if (there.where == SSA_AT_CONST) continue;
        struct ssa_spot here = ssa_spot_at(m, *v, end);
        /* A value that is in the frame was stored there when it was defined. */
        if (there.where != SSA_AT_FRAME) ssa_add_move(m, there, here);
    }
    uint32_t which = 0;
    while (joins && which < f->blocks[to].pred_count && f->blocks[to].preds[which] != from) which++;
    for (uint32_t i = f->blocks[to].first; i && f->insns[i].op == SSA_PHI; i = f->insns[i].next)
        ssa_add_move(m, ssa_spot_at(m, i, start),
                     ssa_spot_at(m, f->pool[f->insns[i].list + which], end));
}
