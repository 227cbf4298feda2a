/* Writes the machine code of functions: blocks in their order, moves of values on edges and in
 * gaps, jumps, and, after all blocks, the stubs of checks that fail. It relies on the registers
 * and frame places that allocate.c or local.c gave to values; emit_insn.c writes single
 * instructions. */
#include "ssa/emit/emit.h"
#include <stdlib.h>

/* Describes an exit: where each part of the guest's state is at this instruction. */
static struct ssa_site site_of(struct ssa_emitter *m, uint32_t insn)
{
    struct ssa_code *c = m->code;
    const struct ssa_insn *in = &m->f->insns[insn];
    const struct ssa_exit *x = &m->f->exits[in->exit - 1];
    struct ssa_site site = {
        0, x->kind, x->position, x->function, m->function, (uint32_t)c->location_count, x->count};
    if (!SSA_RESERVE(c, c->locations, c->location_capacity, c->location_count + x->count + 1))
        return site;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct ssa_state *s = &m->f->states[x->first + i];
        struct ssa_spot at = ssa_spot_at(m, s->value, m->l.number[insn]);
        c->locations[c->location_count++] = (struct ssa_location){s->key, at.where, at.at};
    }
    return site;
}

static void add_site(struct ssa_emitter *m, struct ssa_site site)
{
    struct ssa_code *c = m->code;
    if (!SSA_RESERVE(c, c->sites, c->site_capacity, c->site_count + 1)) return;
    site.native = x64_here(m->e);
    c->sites[c->site_count++] = site;
}

void ssa_emit_site(struct ssa_emitter *m, uint32_t insn) { add_site(m, site_of(m, insn)); }

void ssa_emit_call(struct ssa_emitter *m, uint32_t function)
{
    struct ssa_code *c = m->code;
    if (!SSA_RESERVE(c, c->calls, c->call_capacity, c->call_count + 1)) return;
    x64_put(m->e, 0xe8, 5);
    c->calls[c->call_count++] = (struct ssa_call){x64_here(m->e) - 4, function};
}

/* Records that the code from here on belongs to the guest instruction at `position` - 1. */
static void emit_line(struct ssa_emitter *m, uint32_t position)
{
    struct ssa_code *c = m->code;
    uint32_t here = x64_here(m->e);
    if (!position || position == m->position) return;
    m->position = position;
    struct ssa_line *last = c->line_count ? &c->lines[c->line_count - 1] : NULL;
    if (last && last->position == position - 1) return;
    if (last && last->native == here) {
        last->position = position - 1;
        return;
    }
    if (SSA_RESERVE(c, c->lines, c->line_capacity, c->line_count + 1))
        c->lines[c->line_count++] = (struct ssa_line){here, position - 1};
}

void ssa_link(struct ssa_code *code)
{
    for (size_t i = 0; i < code->call_count; i++)
        x64_aim(&code->e, code->calls[i].site, code->functions[code->calls[i].function]);
}

void ssa_emit_stub(struct ssa_emitter *m, enum x64_cond cond, uint32_t insn)
{
    if (!SSA_RESERVE(m->code, m->stubs, m->stub_capacity, m->stub_count + 1)) return;
    uint32_t site = x64_jcc_later(m->e, cond);
    m->stubs[m->stub_count++] =
        (struct ssa_stub){site, x64_here(m->e), m->f->insns[insn].position, site_of(m, insn)};
}

static void emit_stubs(struct ssa_emitter *m)
{
    for (size_t i = 0; i < m->stub_count && !x64_full(m->e); i++) {
        const struct ssa_stub *s = &m->stubs[i];
        x64_aim(m->e, s->site, x64_here(m->e));
        emit_line(m, s->position);
        x64_call_to(m->e, m->code->ask);
        add_site(m, s->to);
        x64_jmp_to(m->e, s->back);
    }
}

static bool single_successor(const struct ssa_emitter *m, uint32_t block)
{
    uint32_t n;
    ssa_successors(m->f, block, &n);
    return n == 1;
}

/* Finds the blocks that contain nothing but a jump, so that jumps to them can go to their
 * targets. The first block of a part is never one of them, and neither is a block to which
 * emitted code jumps already. */
static void find_through(struct ssa_emitter *m)
{
    for (uint32_t k = 1; k < m->l.block_count && !m->code->failed; k++) {
        uint32_t b = m->l.order[k];
        const struct ssa_block *block = &m->f->blocks[b];
        if (m->f->insns[block->first].op != SSA_JUMP || block->to[0] == b || m->labels[b].uses)
            continue;
        m->move_count = 0;
        ssa_edge_moves(m, b, block->to[0]);
        if (block->pred_count == 1 && !single_successor(m, block->preds[0]))
            ssa_edge_moves(m, block->preds[0], b);
        if (!m->move_count) m->through[b] = block->to[0];
        m->move_count = 0;
    }
}

static uint32_t emit_target(const struct ssa_emitter *m, uint32_t block)
{
    for (uint32_t n = 0; m->through[block] != block && n < 1000; n++) block = m->through[block];
    return block;
}

static void emit_jump(struct ssa_emitter *m, uint32_t to, uint32_t next)
{
    if (emit_target(m, to) != next) x64_jmp(m->e, &m->labels[emit_target(m, to)]);
}

static void emit_branch(struct ssa_emitter *m, const struct ssa_insn *in, const uint32_t *to,
                        uint32_t next)
{
    uint32_t yes = emit_target(m, to[0]), no = emit_target(m, to[1]);
    enum x64_cond cond = ssa_emit_compare(m, in);
    if (yes == next) {
        x64_jcc(m->e, cond ^ 1, &m->labels[no]);
        return;
    }
    x64_jcc(m->e, cond, &m->labels[yes]);
    if (no != next) x64_jmp(m->e, &m->labels[no]);
}

/* Floats that cannot be compared (NaNs) set the parity flag. Of all conditions only "not equal"
 * holds for them. */
static void branch_real(struct ssa_emitter *m, const struct ssa_insn *in, const uint32_t *to,
                        uint32_t next)
{
    struct x64 *e = m->e;
    struct x64_label *yes = &m->labels[emit_target(m, to[0])],
                     *no = &m->labels[emit_target(m, to[1])];
    enum x64_cond cond = ssa_emit_compare_real(m, in);
    if (cond == X64_E) {
        x64_jcc(e, X64_NE, no);
        x64_jcc(e, X64_P, no);
        emit_jump(m, to[0], next);
        return;
    }
    x64_jcc(e, cond, yes);
    if (cond == X64_NE) x64_jcc(e, X64_P, yes);
    emit_jump(m, to[1], next);
}

/* Writes a jump into a table, and the table after it: jumps of five bytes, each padded to eight. */
static void jump_table(struct ssa_emitter *m, const struct ssa_insn *in, uint32_t next)
{
    struct x64 *e = m->e;
    const uint32_t *to = m->f->pool + in->list;
    uint32_t count = in->count - 1;
    int64_t known;
    struct x64_label table = {0};
    if (count > 4096) {
        m->code->failed = true;
        return;
    }
    if (ssa_is_const(m->f, in->arg[0], &known)) {
        emit_jump(m, to[(uint64_t)known < count ? (uint32_t)known : count], next);
        return;
    }
    enum x64_reg a = ssa_int_arg(m, in->arg[0]);
    x64_cmp_imm(e, X64, a, (int32_t)count);
    x64_jcc(e, X64_AE, &m->labels[emit_target(m, to[count])]);
    bool moved = a == SSA_SCRATCH; /* true if no other register is free */
    if (moved) x64_movq_to(e, X64, SSA_FLOAT_SCRATCH, RAX), x64_mov(e, X64, RAX, a), a = RAX;
    x64_lea_label(e, SSA_SCRATCH, &table);
    x64_lea(e, X64, SSA_SCRATCH,
            (struct x64_mem){.base = SSA_SCRATCH, .index = (int8_t)a, .scale = 3});
    if (moved) x64_movq_from(e, X64, RAX, SSA_FLOAT_SCRATCH);
    x64_jmp_reg(e, SSA_SCRATCH);
    x64_bind(e, &table);
    /* Each entry has 8 bytes: a jump of 5 bytes, then padding. */

    for (uint32_t i = 0; i < count && !x64_full(e); i++)
        x64_jmp(e, &m->labels[emit_target(m, to[i])]), x64_nop(e, 3);
}

static void end_block(struct ssa_emitter *m, uint32_t b, uint32_t next)
{
    const struct ssa_block *block = &m->f->blocks[b];
    const struct ssa_insn *in = &m->f->insns[block->last];
    switch (in->op) {
    case SSA_JUMP:
        ssa_edge_moves(m, b, block->to[0]);
        ssa_do_moves(m);
        emit_jump(m, block->to[0], next);
        break;
    case SSA_BRANCH: emit_branch(m, in, block->to, next); break;
    case SSA_FBRANCH: branch_real(m, in, block->to, next); break;
    case SSA_SWITCH: jump_table(m, in, next); break;
    default: ssa_emit_insn(m, block->last);
    }
}

static int by_number(const void *a, const void *b)
{
    const struct ssa_gap *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void find_gaps(struct ssa_emitter *m)
{
    m->gap = m->gap_count = 0;
    for (uint32_t i = 1; i < m->l.interval_count; i++) {
        const struct ssa_interval *it = &m->l.intervals[i], *then = &m->l.intervals[it->next];
        if (!it->next || then->reg < 0 || it->to != then->from || !(then->from & 1)) continue;
        if (!SSA_RESERVE(m->code, m->gaps, m->gap_capacity, m->gap_count + 1)) return;
        m->gaps[m->gap_count++] = (struct ssa_gap){then->from, i};
    }
    if (m->gap_count) qsort(m->gaps, m->gap_count, sizeof *m->gaps, by_number);
}

/* Stores a value where it is defined, if the value is in the frame later. */
static void store_defined(struct ssa_emitter *m, uint32_t value, uint32_t number)
{
    struct ssa_spot at = ssa_spot_at(m, value, number);
    if (m->l.slots[value] < 0 || at.where == SSA_AT_FRAME || at.where == SSA_AT_CONST) return;
    ssa_add_move(m, (struct ssa_spot){SSA_AT_FRAME, at.type, m->l.slots[value] * 8}, at);
    ssa_do_moves(m);
}

static void start_block(struct ssa_emitter *m, uint32_t b)
{
    const struct ssa_block *block = &m->f->blocks[b];
    enum { LOOP = 64 }; /* bytes of a cache line, at whose start loops begin */
    if (m->l.loops.header[b] == b + 1) x64_nop(m->e, -x64_here(m->e) & (LOOP - 1));
    x64_bind(m->e, &m->labels[b]);
    bool moves = m->l.blocks[b].entry || m->f->insns[block->first].op == SSA_PHI;
    if (moves && block->pred_count == 1 && !single_successor(m, block->preds[0])) {
        ssa_edge_moves(m, block->preds[0], b);
        ssa_do_moves(m);
    }
    for (uint32_t i = b ? 0 : block->first; i; i = m->f->insns[i].next) {
        uint8_t op = m->f->insns[i].op;
        if (op == SSA_PARAM && m->l.first[i])
            ssa_add_move(m, ssa_spot_at(m, i, m->l.number[i]),
                         (struct ssa_spot){SSA_AT_REGISTER, SSA_INT,
                                           ssa_param_registers[m->f->insns[i].imm]});
    }
    ssa_do_moves(m);
    for (uint32_t i = block->first; i; i = m->f->insns[i].next) {
        uint8_t op = m->f->insns[i].op;
        /* In the first block, arguments may be anywhere. In other blocks phis come first. */
        if (b && op != SSA_PHI) break;
        if ((op == SSA_PARAM || op == SSA_PHI) && m->l.first[i])
            store_defined(m, i, m->l.number[i]);
    }
}

static void emit_block(struct ssa_emitter *m, uint32_t b, uint32_t next)
{
    start_block(m, b);
    for (uint32_t i = m->f->blocks[b].first; i && !x64_full(m->e) && !m->code->failed;
         i = m->f->insns[i].next) {
        uint8_t op = m->f->insns[i].op;
        if (op == SSA_PHI || op == SSA_PARAM || op == SSA_RESULT) continue;
        m->at = m->l.number[i];
        if (m->f->insns[i].position != m->position && !ssa_immediate(&m->f->insns[i]))
            emit_line(m, m->f->insns[i].position);
        while (m->gap < m->gap_count && m->gaps[m->gap].at < m->at - 1) m->gap++;
        for (; m->gap < m->gap_count && m->gaps[m->gap].at == m->at - 1; m->gap++) {
            const struct ssa_interval *it = &m->l.intervals[m->gaps[m->gap].before];
            ssa_add_move(m, ssa_spot_at(m, it->value, m->at - 1),
                         ssa_spot_at(m, it->value, it->to - 1));
        }
        if (m->move_count) ssa_do_moves(m);
        if (i == m->f->blocks[b].last)
            end_block(m, b, next);
        else
            ssa_emit_insn(m, i);
        if (op == SSA_CALL || op == SSA_FOREIGN)
            for (uint32_t r = m->f->insns[i].next; r && m->f->insns[r].op == SSA_RESULT;
                 r = m->f->insns[r].next)
                store_defined(m, r, m->at + 1);
    }
}

static void emit_blocks(struct ssa_emitter *m)
{
    find_gaps(m);
    find_through(m);
    for (uint32_t k = 0; k < m->l.block_count && !m->code->failed; k++) {
        uint32_t b = m->l.order[k], next = k + 1;
        if (m->through[b] != b) continue;
        while (next < m->l.block_count && m->through[m->l.order[next]] != m->l.order[next]) next++;
        emit_block(m, b, next < m->l.block_count ? m->l.order[next] : m->next);
    }
}

bool ssa_emit_begin(struct ssa_function *f, uint32_t number, struct ssa_code *code)
{
    struct ssa_emitter *m = code->emitter;
    if (!m && !(m = code->emitter = calloc(1, sizeof *m))) return false;
    size_t blocks = f->block_count + 1;
    m->f = f;
    m->code = code;
    m->before = *code;
    m->e = &code->e;
    m->function = number;
    m->frame = m->position = m->compared = 0;
    m->stub_count = m->move_count = 0;
    code->failed = f->failed || !ARRAY_RESERVE(m->labels, m->label_capacity, blocks) ||
                   !ARRAY_RESERVE(m->through, m->through_capacity, blocks) ||
                   !ssa_live_begin(&m->l, f);
    if (code->failed) return false;
    memset(m->labels, 0, blocks * sizeof *m->labels);
    for (uint32_t b = 0; b < blocks; b++) m->through[b] = b;
    code->functions[number] = x64_here(&code->e);
    for (unsigned i = 0; f->apart && i < SSA_FIXEDS; i++) ssa_fixed(f, (enum ssa_fixed)i);
    f->lasting = (uint32_t)f->count;
    return true;
}

static bool emit_allocate(struct ssa_emitter *m, const uint32_t *blocks, uint32_t count)
{
    struct ssa_live *l = &m->l;
    /* When code is made before all of a function is known, its frame has this many words for
     * spilled values. */
    enum { SPILLED = 64 };
    if (!ssa_live_number(l, blocks, count)) return false;
    if (!(m->f->apart && ssa_local(l)) && !(ssa_live(l) && ssa_allocate(l))) return false;
    if (!m->frame && m->next != UINT32_MAX) m->frame = m->f->reserved / 8 + SPILLED;
    if (m->frame && l->frame > m->frame) return false;
    if (m->frame) l->frame = m->frame;
    return true;
}

void ssa_emit_part(struct ssa_code *code, const uint32_t *blocks, uint32_t count, uint32_t next)
{
    struct ssa_emitter *m = code->emitter;
    struct ssa_function *f = m->f;
    m->next = next;
    if (f->failed || !count || !emit_allocate(m, blocks, count)) code->failed = true;
    if (code->failed) return;
    code->frames[m->function] = m->l.frame * 8;
    if (f->native) ssa_native_begin(m);
    emit_blocks(m);
    if (x64_full(&code->e)) code->failed = true;
    if (!f->apart) return;
    for (uint32_t k = 0; k < count; k++) {
        f->blocks[blocks[k]].first = f->blocks[blocks[k]].last = 0;
        m->l.blocks[blocks[k]].entry = NULL;
    }
    f->count = f->lasting;
    f->pool_count = f->exit_count = f->state_count = 0;
}

bool ssa_emit_end(struct ssa_code *code)
{
    struct ssa_emitter *m = code->emitter;
    if (!code->failed) emit_stubs(m);
    if (!m->f->failed && !code->failed && !x64_full(&code->e)) return true;
    code->e.at = m->before.e.at;
    code->site_count = m->before.site_count;
    code->location_count = m->before.location_count;
    code->call_count = m->before.call_count;
    code->reloc_count = m->before.reloc_count;
    code->line_count = m->before.line_count;
    code->return_count = m->before.return_count;
    return false;
}

bool ssa_emit(struct ssa_function *f, uint32_t number, struct ssa_code *code)
{
    if (!ssa_emit_begin(f, number, code)) return false;
    struct ssa_emitter *m = code->emitter;
    uint32_t count = 0;
    if (SSA_RESERVE(code, m->order, m->order_capacity, f->block_count + 1))
        /* layout.c has sorted the blocks into the order of the code. */

        for (uint32_t b = 0; b < f->block_count; b++)
            if (m->l.loops.number[b] && f->blocks[b].first) m->order[count++] = b;
    ssa_emit_part(code, m->order, count, UINT32_MAX);
    return ssa_emit_end(code);
}

void ssa_emit_free(struct ssa_code *code)
{
    struct ssa_emitter *m = code->emitter;
    free(code->calls);
    if (!m) return;
    ssa_live_free(&m->l);
    free(m->labels);
    free(m->through);
    free(m->order);
    free(m->moves);
    free(m->stubs);
    free(m->gaps);
    free(m);
}
