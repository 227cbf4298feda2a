/* One pass over the code bytes, block by block; then the jumps whose target came later. */
#include <stdlib.h>
#include <sys/mman.h>
#include "pvm/jit.h"
#include "pvm/jit_decode.h"

enum {
    WINDOW = 256,            /* instructions decoded ahead; a longer block is written in pieces */
    POINT_EVERY = 64,
    TAIL_MAX = 24,           /* instructions of a dispatch that are copied to the jumps to it */
    LINE = 64,
    BYTES_PER_BYTE = 64,     /* native code of one guest byte, at most */
};
static const size_t code_max = (UINT64_C(1) << 31) - (UINT64_C(1) << 20);
/* Not canonical, whatever the size of address spaces: a jump there faults at the jump. */
static const uint64_t nowhere = UINT64_C(0xfa6f29540376ba8a);

/* ---- lists ---- */

static bool grow(struct jit *j, void *list, uint32_t *capacity, size_t item)
{
    uint32_t more = *capacity ? 2 * *capacity : 256;
    void *now = realloc(*(void **)list, more * item);
    if (!now) {
        j->failed = true;
        return false;
    }
    *(void **)list = now;
    *capacity = more;
    return true;
}
#define APPEND(list, count, capacity, ...)                                                         \
    do {                                                                                           \
        bool room = (count) < (capacity) || grow(j, &(list), &(capacity), sizeof *(list));         \
        if (!room || j->failed) return;                                                            \
        (list)[(count)++] = (__typeof__(*(list)))__VA_ARGS__;                                      \
    } while (0)

static void point(struct jit *j, uint32_t pc)
{
    APPEND(j->n->points, j->n->point_count, j->point_capacity, {x64_here(&j->e), pc});
}

void pvm_jit_cold(struct jit *j, uint32_t site, uint32_t pc, enum pvm_cold_kind kind)
{
    APPEND(j->n->cold, j->n->cold_count, j->cold_capacity,
           {.site = site, .pc = pc & 0xfffffff, .kind = kind & 15});
}

void pvm_jit_aim(struct jit *j, uint32_t site, uint32_t target)
{
    APPEND(j->fixups, j->fixup_count, j->fixup_capacity, {site, target});
}

void pvm_jit_cure(struct jit *j, uint32_t site, enum x64_reg reg)
{
    APPEND(j->cures, j->cure_count, j->cure_capacity, {site, x64_here(&j->e), reg});
}

/* ---- blocks ---- */

static uint32_t charge(struct jit *j, uint32_t pc)
{
    if (!j->n->metered) return 0;
    uint32_t site = x64_sub_imm32(&j->e, X64, GAS_REGISTER, 0);
    if (!j->n->async) pvm_jit_cold(j, x64_jcc_later(&j->e, X64_B), pc, PVM_COLD_GAS);
    return site;
}

static void settle(struct jit *j, uint32_t site, uint32_t pc, uint32_t instructions)
{
    if (!site || j->e.full) return;
    uint32_t cost = instructions;
    if (j->p->wide_charges)
        pvm_block_cost(&j->p->code, pc, j->p->model, j->p->profile->cmov_reads_old, &cost);
    if (cost > INT32_MAX) j->failed = true;
    x64_patch32(&j->e, site, cost);
}

static void copy_tail(struct jit *j, uint32_t pc, unsigned count);

static void instruction(struct jit *j, const struct jit_block *b, const struct pvm_insn *in)
{
    if (pvm_ops[in->op].flow == PVM_FLOW_NEXT) {
        pvm_jit_op(j, in);
        return;
    }
    if (in->op == PVM_OP_jump && in->target <= in->pc && !b->copy && !j->p->code.doc &&
        !j->n->poll) {
        unsigned tail = pvm_jit_dispatch_tail(&j->p->code, in->target, TAIL_MAX);
        if (tail && pvm_is_target(&j->p->code, in->target)) {
            copy_tail(j, in->target, tail);
            return;
        }
    }
    pvm_jit_flow(j, in);
}

static void instructions(struct jit *j, const struct jit_block *b)
{
    unsigned since = 0;
    for (unsigned i = 0; i < b->count && !j->failed;) {
        const struct pvm_insn *in = &b->in[i];
        if (b->copy) {
            point(j, in->pc | PVM_POINT_ALONE);
        } else {
            j->n->offsets[in->pc] = x64_here(&j->e);
            if (++since == POINT_EVERY) {
                since = 0;
                point(j, in->pc);
            }
        }
        unsigned fused = pvm_jit_fuses[in->op] ? pvm_jit_fuse(j, b, i) : 0;
        if (!fused) instruction(j, b, in);
        i += fused ? fused : 1;
    }
}

/* The end of a loop over an indirect jump, once more, in place of a jump to it: each copy has a
 * jump with a history of its own. */
static void copy_tail(struct jit *j, uint32_t pc, unsigned count)
{
    struct pvm_insn in[TAIL_MAX];
    unsigned first = 0;
    uint32_t start = pc;
    for (unsigned i = 0; i < count; i++) {
        pvm_decode(&j->p->code, pc, &in[i]);
        pc += in[i].length;
        if (!pvm_ends_block(in[i].op)) continue;
        struct jit_block b = {.in = in + first, .count = i + 1 - first, .pc = start, .copy = true};
        point(j, start | PVM_POINT_ALONE);
        uint32_t site = charge(j, start);
        instructions(j, &b);
        settle(j, site, start, b.count);
        first = i + 1;
        start = pc;
    }
}

/* A small loop must not lie on more cache lines than it needs: written again behind nops if it
 * does. */
static bool straddles(uint32_t start, uint32_t end)
{
    uint32_t length = end - start, lines = (end - 1) / LINE - start / LINE + 1;
    return length && length <= 4 * LINE && lines > (length + LINE - 1) / LINE;
}

static void whole_block(struct jit *j, const struct jit_block *b)
{
    struct pvm_native *n = j->n;
    uint32_t cold = n->cold_count, points = n->point_count, fixups = j->fixup_count;
    uint32_t cures = j->cure_count, start = x64_here(&j->e);
    for (bool again = false;; again = true) {
        point(j, b->pc);
        uint32_t site = charge(j, b->pc);
        instructions(j, b);
        settle(j, site, b->pc, b->count);
        if (again || !b->loops || !straddles(start, x64_here(&j->e)) || j->e.full) return;
        n->cold_count = cold;
        n->point_count = points;
        j->fixup_count = fixups;
        j->cure_count = cures;
        j->e.at = j->e.start + start;
        for (unsigned i = 0; i < b->count; i++) n->offsets[b->in[i].pc] = 0;
        x64_nop(&j->e, -start % LINE);
    }
}

/* Decodes from pc on, to the end of the block or of the window. */
static bool fill(const struct jit_decoder *d, struct pvm_insn *in, uint32_t pc, uint32_t *count)
{
    uint32_t n = 0;
    bool ended = false, start = false;
    while (!ended && n < WINDOW) {
        if (d->code->doc && n && pc < d->code->bytes.size && pvm_is_target(d->code, pc)) break;
        ended = jit_decode(d, pc, start, &in[n]);
        start = in[n].length <= PVM_SKIP_MAX;
        pc += in[n++].length;
    }
    *count = n;
    return ended;
}

static void blocks(struct jit *j)
{
    struct pvm_insn in[WINDOW];
    struct jit_decoder decoder;
    const struct pvm_code *code = &j->p->code;
    jit_decoder_init(&decoder, code);
    uint32_t pc = 0, size = (uint32_t)code->bytes.size, count;
    bool falls = true;
    while (!j->failed && !j->e.full && (pc < size || falls)) {
        uint32_t start = pc, all, site = 0;
        j->n->block_starts[pc >> 3] |= (uint8_t)(1u << (pc & 7));
        bool ended = fill(&decoder, in, pc, &count);
        struct jit_block b = {.in = in, .count = count, .pc = pc};
        all = count;
        const struct pvm_insn *last = &in[count - 1];
        if (ended || count < WINDOW) {
            b.loops = pvm_ops[last->op].flow == PVM_FLOW_BRANCH && last->target == pc;
            whole_block(j, &b);
        } else {
            point(j, pc);
            site = charge(j, pc);
            for (;;) {
                instructions(j, &b);
                uint32_t next = last->pc + last->length;
                if (ended || count < WINDOW || j->failed || j->e.full) break;
                if (code->doc && next < size && pvm_is_target(code, next)) break;
                ended = fill(&decoder, in, next, &count);
                b.count = count;
                all += count;
                last = &in[count - 1];
            }
            settle(j, site, start, all);
        }
        falls = pvm_falls_through(last->op);
        if (last->pc >= size) break;
        pc = last->pc + last->length;
    }
}

/* ---- behind the blocks ---- */

static void cold_places(struct jit *j)
{
    struct pvm_native *n = j->n;
    struct x64_label *const exits[] = {
        [PVM_COLD_STEP] = &j->step, [PVM_COLD_GAS] = &j->step, [PVM_COLD_DYNAMIC] = &j->dynamic,
        [PVM_COLD_POLL] = &j->poll};
    n->cold_start = x64_here(&j->e);
    for (uint32_t i = 0; i < n->cold_count && !j->e.full; i++) {
        x64_aim(&j->e, n->cold[i].site, x64_here(&j->e));
        x64_call(&j->e, exits[n->cold[i].kind]);
    }
    for (uint32_t i = 0; i < j->cure_count && !j->e.full; i++) {
        x64_aim(&j->e, j->cures[i].site, x64_here(&j->e));
        x64_movsxd(&j->e, j->cures[i].reg, j->cures[i].reg);
        x64_jmp_to(&j->e, j->cures[i].back);
    }
}

static void resolve(struct jit *j)
{
    for (uint32_t i = 0; i < j->fixup_count; i++) {
        uint32_t at = j->n->offsets[j->fixups[i].target];
        if (!at) j->failed = true; /* cannot be: every legal target is an instruction of the pass */
        else x64_aim(&j->e, j->fixups[i].site, at - j->n->charge_size);
    }
}

static void fill_table(struct jit *j)
{
    struct pvm_native *n = j->n;
    const struct pvm_code *code = &j->p->code;
    if (!n->table) return;
    for (size_t i = 0; i < n->table_bytes / sizeof *n->table; i++) n->table[i] = nowhere;
    for (uint32_t i = 0; i < j->p->table_count; i++) {
        uint64_t pc;
        if (pvm_table_entry(code, i, &pc) && pc < code->bytes.size &&
            pvm_is_target(code, (uint32_t)pc) && n->offsets[pc])
            n->table[2 * ((size_t)i + 1)] =
                (uint64_t)(uintptr_t)n->code + n->offsets[pc] - n->charge_size;
    }
    if (mprotect(n->table, n->table_bytes, PROT_READ)) j->failed = true;
}

/* ---- memory ---- */

static void *map(size_t bytes, int flags)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static size_t whole_pages(size_t n) { return (n + PVM_PAGE - 1) & ~(size_t)(PVM_PAGE - 1); }

static bool reserve(struct jit *j)
{
    struct pvm_native *n = j->n;
    size_t capacity = (size_t)n->size * BYTES_PER_BYTE + (1 << 16);
    if (capacity > code_max) capacity = code_max;
    n->mapped = whole_pages(capacity);
    n->code = map(n->mapped, 0);
    n->offsets = calloc((size_t)n->size + 1, sizeof *n->offsets);
    n->block_starts = calloc(n->size / 8 + 1, 1);
    if (j->p->table_count) {
        n->table_bytes = whole_pages((2 * (size_t)j->p->table_count + 2) * sizeof *n->table);
        n->table = map(n->table_bytes, MAP_32BIT); /* absent: dynamic jumps leave the code */
    }
    if (n->code) x64_init(&j->e, n->code, n->mapped);
    return n->code && n->offsets && n->block_starts;
}

/* Never writable and executable at once. */
static bool seal(struct pvm_native *n)
{
    size_t used = whole_pages(n->used);
    if (used < n->mapped) munmap(n->code + used, n->mapped - used);
    n->mapped = used;
    return !mprotect(n->code, used, PROT_READ | PROT_EXEC);
}

struct pvm_native *pvm_native_compile(const struct pvm_cells *p, const struct pvm_config *config)
{
    struct pvm_native *n = calloc(1, sizeof *n);
    struct jit j = {.p = p, .n = n, .narrow = pvm_isas[p->code.isa].bits == 32};
    if (!n) return NULL;
    j.word = j.narrow ? X32 : X64;
    n->size = (uint32_t)p->code.bytes.size;
    n->metered = config->metered;
    n->async = config->async;
    n->poll = config->poll;
    n->charge_size = !n->metered ? 0 : n->async ? 7 : 13;
    bool ok = reserve(&j);
    if (ok) {
        pvm_jit_stubs(&j);
        n->body = x64_here(&j.e);
        blocks(&j);
        cold_places(&j);
        ok = !j.e.full && !j.failed;
    }
    if (ok) {
        resolve(&j);
        fill_table(&j);
        n->used = x64_here(&j.e);
        ok = !j.failed && seal(n);
    }
    free(j.fixups);
    free(j.cures);
    if (ok) return n;
    pvm_native_free(n);
    return NULL;
}

void pvm_native_free(struct pvm_native *n)
{
    if (!n) return;
    if (n->code) munmap(n->code, n->mapped);
    if (n->table) munmap(n->table, n->table_bytes);
    free(n->offsets);
    free(n->block_starts);
    free(n->points);
    free(n->cold);
    free(n);
}

/* The last point at or before it; NULL: it is in front of all code. */
static const struct pvm_point *point_at(const struct pvm_native *n, uint32_t at)
{
    uint32_t low = 0, high = n->point_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->points[middle].native <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &n->points[low - 1] : NULL;
}

uint32_t pvm_native_pc(const struct pvm_native *n, uint32_t at)
{
    if (at >= n->cold_start) return n->cold[(at - n->cold_start) / PVM_COLD_BYTES].pc;
    const struct pvm_point *point = point_at(n, at);
    uint32_t pc = point ? point->pc : 0;
    if (pc & PVM_POINT_ALONE) return pc & ~PVM_POINT_ALONE;
    for (uint32_t next = pc + 1; next <= n->size; next++) {
        if (!n->offsets[next]) continue;
        if (n->offsets[next] > at) break;
        pc = next;
    }
    return pc;
}

bool pvm_native_between(const struct pvm_native *n, uint32_t at, uint32_t *pc, bool *paid)
{
    if (at < n->body || at >= n->cold_start) return false;
    const struct pvm_point *point = point_at(n, at);
    if (!point || point->pc & PVM_POINT_ALONE) return false;
    *pc = pvm_native_pc(n, at);
    *paid = n->offsets[*pc] == at;
    return *paid || (point->native == at && pvm_bit(n->block_starts, *pc));
}
