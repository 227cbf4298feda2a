/* Emission: blocks in their order, moves on edges and in gaps, jumps, and after all blocks the stubs of
 * checks that fail. */
#include "ssa/emit/emit.h"
#include <stdlib.h>

/* ---- sites ---- */

void ssa_emit_site(struct ssa_emitter *m, uint32_t insn)
{
    struct ssa_code *c = m->code;
    const struct ssa_insn *in = &m->f->insns[insn];
    const struct ssa_exit *x = &m->f->exits[in->exit - 1];
    if (!ARRAY_RESERVE(c->sites, c->site_capacity, c->site_count + 1) ||
        !ARRAY_RESERVE(c->locations, c->location_capacity, c->location_count + x->count + 1)) {
        c->failed = true;
        return;
    }
    c->sites[c->site_count++] = (struct ssa_site){
        x64_here(m->e), x->kind, x->position, x->function, m->function, (uint32_t)c->location_count,
        x->count};
    for (uint32_t i = 0; i < x->count; i++) {
        const struct ssa_state *s = &m->f->states[x->first + i];
        struct ssa_spot at = ssa_spot_at(m, s->value, m->l.number[insn]);
        c->locations[c->location_count++] = (struct ssa_location){s->key, at.where, at.at};
    }
}

void ssa_emit_call(struct ssa_emitter *m, uint32_t function)
{
    struct ssa_code *c = m->code;
    if (!SSA_RESERVE(c, c->calls, c->call_capacity, c->call_count + 1)) return;
    x64_put(m->e, 0xe8, 5);
    c->calls[c->call_count++] = (struct ssa_call){x64_here(m->e) - 4, function};
}

/* What follows comes from the guest instruction at this position. */
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
    if (ARRAY_RESERVE(c->lines, c->line_capacity, c->line_count + 1))
        c->lines[c->line_count++] = (struct ssa_line){here, position - 1};
    else
        c->failed = true;
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
    m->stubs[m->stub_count++] = (struct ssa_stub){site, x64_here(m->e), insn};
}

static void emit_stubs(struct ssa_emitter *m)
{
    for (size_t i = 0; i < m->stub_count && !x64_full(m->e); i++) {
        const struct ssa_stub *s = &m->stubs[i];
        x64_aim(m->e, s->site, x64_here(m->e));
        emit_line(m, m->f->insns[s->insn].position);
        x64_call_to(m->e, m->code->ask);
        ssa_emit_site(m, s->insn);
        x64_jmp_to(m->e, s->back);
    }
}

/* ---- edges ---- */

static bool single_successor(const struct ssa_emitter *m, uint32_t block)
{
    uint32_t n;
    ssa_successors(m->f, block, &n);
    return n == 1;
}

/* A block that does nothing but jump. */
static void find_through(struct ssa_emitter *m)
{
    for (uint32_t k = 0; k < m->l.block_count; k++) m->through[m->l.order[k]] = m->l.order[k];
    for (uint32_t k = 0; k < m->l.block_count; k++) {
        uint32_t b = m->l.order[k];
        const struct ssa_block *block = &m->f->blocks[b];
        if (m->f->insns[block->first].op != SSA_JUMP || !b || block->to[0] == b) continue;
        m->move_count = 0;
        ssa_edge_moves(m, b, block->to[0]);
        if (block->pred_count == 1 && !single_successor(m, block->preds[0]))
            ssa_edge_moves(m, block->preds[0], b);
        if (!m->move_count) m->through[b] = block->to[0];
        m->move_count = 0;
    }
}

static uint32_t target(const struct ssa_emitter *m, uint32_t block)
{
    for (uint32_t n = 0; m->through[block] != block && n < 1000; n++) block = m->through[block];
    return block;
}

static void jump(struct ssa_emitter *m, uint32_t to, uint32_t next)
{
    if (target(m, to) != next) x64_jmp(m->e, &m->labels[target(m, to)]);
}

static void branch(struct ssa_emitter *m, const struct ssa_insn *in, const uint32_t *to,
                   uint32_t next)
{
    uint32_t yes = target(m, to[0]), no = target(m, to[1]);
    enum x64_cond cond = ssa_emit_compare(m, in);
    if (yes == next) {
        x64_jcc(m->e, cond ^ 1, &m->labels[no]);
        return;
    }
    x64_jcc(m->e, cond, &m->labels[yes]);
    if (no != next) x64_jmp(m->e, &m->labels[no]);
}

/* Unordered values set the parity flag: nothing but "not equal" holds for them. */
static void branch_real(struct ssa_emitter *m, const struct ssa_insn *in, const uint32_t *to,
                        uint32_t next)
{
    struct x64 *e = m->e;
    struct x64_label *yes = &m->labels[target(m, to[0])], *no = &m->labels[target(m, to[1])];
    enum x64_cond cond = ssa_emit_compare_real(m, in);
    if (cond == X64_E) {
        x64_jcc(e, X64_NE, no);
        x64_jcc(e, X64_P, no);
        jump(m, to[0], next);
        return;
    }
    x64_jcc(e, cond, yes);
    if (cond == X64_NE) x64_jcc(e, X64_P, yes);
    jump(m, to[1], next);
}

/* A table of jumps, five bytes each, after the jump into it. */
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
        jump(m, to[(uint64_t)known < count ? (uint32_t)known : count], next);
        return;
    }
    enum x64_reg a = ssa_int_arg(m, in->arg[0]);
    x64_cmp_imm(e, X64, a, (int32_t)count);
    x64_jcc(e, X64_AE, &m->labels[target(m, to[count])]);
    x64_lea(e, X64, SSA_SCRATCH,
            (struct x64_mem){.base = (int8_t)a, .index = (int8_t)a, .scale = 2});
    x64_movq_to(e, X64, SSA_FLOAT_SCRATCH, RAX); /* no other register is free */
    x64_lea_label(e, RAX, &table);
    x64_add(e, X64, SSA_SCRATCH, RAX);
    x64_movq_from(e, X64, RAX, SSA_FLOAT_SCRATCH);
    x64_jmp_reg(e, SSA_SCRATCH);
    x64_bind(e, &table);
    for (uint32_t i = 0; i < count && !x64_full(e); i++) x64_jmp(e, &m->labels[target(m, to[i])]);
}

static void end_block(struct ssa_emitter *m, uint32_t b, uint32_t next)
{
    const struct ssa_block *block = &m->f->blocks[b];
    const struct ssa_insn *in = &m->f->insns[block->last];
    switch (in->op) {
    case SSA_JUMP:
        ssa_edge_moves(m, b, block->to[0]);
        ssa_do_moves(m);
        jump(m, block->to[0], next);
        break;
    case SSA_BRANCH: branch(m, in, block->to, next); break;
    case SSA_FBRANCH: branch_real(m, in, block->to, next); break;
    case SSA_SWITCH: jump_table(m, in, next); break;
    default: ssa_emit_insn(m, block->last);
    }
}

/* ---- blocks ---- */

/* Moves in the gap before an instruction: intervals of the same value that meet there. */
struct gap {
    uint32_t at, value;
};

static int by_number(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static struct gap *find_gaps(struct ssa_emitter *m, size_t *count)
{
    struct gap *gaps = malloc((m->l.interval_count + 1) * sizeof *gaps);
    *count = 0;
    for (uint32_t i = 1; gaps && i < m->l.interval_count; i++) {
        const struct ssa_interval *it = &m->l.intervals[i];
        if (!it->next) continue;
        const struct ssa_interval *then = &m->l.intervals[it->next];
        if (then->reg < 0 || it->to != then->from || !(then->from & 1)) continue;
        gaps[(*count)++] = (struct gap){then->from, it->value};
    }
    if (gaps) qsort(gaps, *count, sizeof *gaps, by_number);
    return gaps;
}

static void store_at_start(struct ssa_emitter *m, uint32_t value)
{
    struct ssa_spot at = ssa_spot_at(m, value, m->l.number[value]);
    if (m->l.slots[value] < 0 || at.where == SSA_AT_FRAME || at.where == SSA_AT_CONST) return;
    ssa_add_move(m, (struct ssa_spot){SSA_AT_FRAME, at.type, m->l.slots[value] * 8}, at);
    ssa_do_moves(m);
}

static void start_block(struct ssa_emitter *m, uint32_t b)
{
    const struct ssa_block *block = &m->f->blocks[b];
    enum { LOOP = 64 }; /* loops start at a line of the cache */
    if (m->l.loops.header[b] == b + 1) x64_nop(m->e, -x64_here(m->e) & (LOOP - 1));
    x64_bind(m->e, &m->labels[b]);
    if (block->pred_count == 1 && !single_successor(m, block->preds[0])) {
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
        if (b && op != SSA_PHI) break; /* arguments are anywhere in the first block */
        if ((op == SSA_PARAM || op == SSA_PHI) && m->l.first[i]) store_at_start(m, i);
    }
}

static void emit_block(struct ssa_emitter *m, uint32_t b, uint32_t next, const struct gap *gaps,
                       size_t count, size_t *gap)
{
    start_block(m, b);
    for (uint32_t i = m->f->blocks[b].first; i && !x64_full(m->e) && !m->code->failed;
         i = m->f->insns[i].next) {
        uint8_t op = m->f->insns[i].op;
        if (op == SSA_PHI || op == SSA_PARAM || op == SSA_RESULT) continue;
        m->at = m->l.number[i];
        if (m->f->insns[i].position != m->position && !ssa_immediate(&m->f->insns[i]))
            emit_line(m, m->f->insns[i].position);
        while (*gap < count && gaps[*gap].at < m->at - 1) ++*gap;
        for (; *gap < count && gaps[*gap].at == m->at - 1; ++*gap) {
            const struct ssa_interval *then = ssa_interval_at(&m->l, gaps[*gap].value, m->at - 1);
            uint32_t k = m->l.first[gaps[*gap].value];
            while (m->l.intervals[k].next && &m->l.intervals[m->l.intervals[k].next] != then)
                k = m->l.intervals[k].next;
            ssa_add_move(m, ssa_spot_at(m, then->value, m->at - 1),
                         ssa_spot_at(m, then->value, m->l.intervals[k].to - 1));
        }
        if (m->move_count) ssa_do_moves(m);
        if (i == m->f->blocks[b].last)
            end_block(m, b, next);
        else
            ssa_emit_insn(m, i);
        if (op == SSA_CALL || op == SSA_FOREIGN) /* results that are in the frame later */
            for (uint32_t r = m->f->insns[i].next; r && m->f->insns[r].op == SSA_RESULT;
                 r = m->f->insns[r].next) {
                struct ssa_spot at = ssa_spot_at(m, r, m->at + 1);
                if (m->l.slots[r] < 0 || at.where != SSA_AT_REGISTER) continue;
                x64_mov_store(m->e, X64, ssa_frame_slot(m->l.slots[r] * 8), (enum x64_reg)at.at);
            }
    }
}

static void emit_blocks(struct ssa_emitter *m)
{
    size_t count, gap = 0;
    struct gap *gaps = find_gaps(m, &count);
    if (!gaps) {
        m->code->failed = true;
        return;
    }
    find_through(m);
    for (uint32_t k = 0; k < m->l.block_count && !m->code->failed; k++) {
        uint32_t b = m->l.order[k], next = k + 1;
        if (m->through[b] != b) continue;
        while (next < m->l.block_count && m->through[m->l.order[next]] != m->l.order[next]) next++;
        emit_block(m, b, next < m->l.block_count ? m->l.order[next] : UINT32_MAX, gaps, count,
                   &gap);
    }
    free(gaps);
}

bool ssa_emit(struct ssa_function *f, uint32_t number, struct ssa_code *code)
{
    struct ssa_emitter m = {.f = f, .code = code, .e = &code->e, .function = number};
    uint8_t *at = code->e.at;
    size_t sites = code->site_count, locations = code->location_count, calls = code->call_count,
           relocs = code->reloc_count, lines = code->line_count, returns = code->return_count;
    code->failed = false;
    bool ok = !f->failed && ssa_live(&m.l, f) && ssa_allocate(&m.l);
    m.labels = calloc(f->block_count + 1, sizeof *m.labels);
    m.through = calloc(f->block_count + 1, sizeof *m.through);
    if (ok && m.labels && m.through) {
        code->frames[number] = m.l.frame * 8;
        code->functions[number] = x64_here(&code->e);
        if (f->native) ssa_native_begin(&m);
        emit_blocks(&m);
        emit_stubs(&m);
        ok = !code->failed && !x64_full(&code->e);
    } else {
        ok = false;
    }
    if (!ok) {
        code->e.at = at;
        code->site_count = sites;
        code->location_count = locations;
        code->call_count = calls;
        code->reloc_count = relocs;
        code->line_count = lines;
        code->return_count = returns;
    }
    ssa_live_free(&m.l);
    free(m.labels);
    free(m.through);
    free(m.moves);
    free(m.stubs);
    return ok;
}
