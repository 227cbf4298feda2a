/* Compiles a program in one pass over the code bytes, block by block. Then the forward jumps and
 * the jump table are filled in. */
#include <stdlib.h>
#include <sys/mman.h>
#include "pvm/jit/decode.h"
#include "pvm/vm/ops.h"

enum {
    LOOP_MAX = 256, /* the most instructions of a loop that is written again */
    TAIL_MAX = 24,  /* the most instructions of a dispatch that is copied */
    DISPATCH_BYTES = TAIL_MAX * (PVM_SKIP_MAX + 1), /* the most guest code of a dispatch */
    LINE = 64,
    BYTES_PER_BYTE = 64, /* the most native bytes for one guest byte */
    /* The first guess for the length of a list is one item for so many guest bytes. */
    LISTS_PER_BYTE = 32,
    SMALL = 1 << 16, /* Offsets that take less memory than this come from the heap. */
    LARGE = 1 << 18, /* Programs of this size or more use huge pages. */
    HUGE_PAGE = 2 << 20,
};
static const size_t code_max = (UINT64_C(1) << 31) - (UINT64_C(1) << 20);
/* This address is not canonical on any processor, so a jump to it faults at the jump itself. */
static const uint64_t nowhere = UINT64_C(0xfa6f29540376ba8a);

/* The functions below ask whether the work is over. */

void pvm_jit_ask(struct jit *j, uint32_t units)
{
    if (long_work_over(j->work, units)) pvm_jit_give_up(j);
}

/* Returns the end of the next piece of a list, from item `first` on. When the work is over, the
 * piece is empty. */
static uint32_t compile_piece(struct jit *j, uint32_t first, uint32_t count)
{
    if (first >= count) return first;
    pvm_jit_ask(j, JIT_PIECE);
    if (x64_full(&j->e)) return first;
    return count - first < JIT_PIECE ? count : first + JIT_PIECE;
}

/* Goes over a list in pieces, and asks before each piece whether the work is over. */
#define PIECES(i, end, first, count)                                                               \
    for (uint32_t i = (first), end; (end = compile_piece(j, i, count)) > i;)                       \
        for (; i < end; i++)

static bool compile_grow(struct jit *j, void *list, uint32_t *capacity, size_t item)
{
    uint32_t more = *capacity ? 2 * *capacity : j->size / LISTS_PER_BYTE + 256;
    void *now = realloc(*(void **)list, more * item);
    if (!now) {
        pvm_jit_give_up(j);
        return false;
    }
    *(void **)list = now;
    *capacity = more;
    return true;
}
#define APPEND(item, list, count, capacity, ...)                                                   \
    do {                                                                                           \
        if ((count) == (capacity) && !compile_grow(j, &(list), &(capacity), sizeof *(list)))       \
            return;                                                                                \
        (list)[(count)++] = (struct item)__VA_ARGS__;                                              \
    } while (0)

void pvm_jit_place_copy(struct jit *j, uint32_t pc)
{
    APPEND(pvm_copy, j->n->copies, j->n->copy_count, j->copy_capacity, {x64_here(&j->e), pc});
}

void pvm_jit_cold(struct jit *j, uint32_t site, uint32_t pc, enum pvm_cold_kind kind)
{
    APPEND(pvm_cold, j->n->cold, j->n->cold_count, j->cold_capacity,
           {.site = site, .pc = pc & 0xfffffff, .kind = kind & 15});
}

void pvm_jit_aim(struct jit *j, uint32_t site, uint32_t target)
{
    APPEND(jit_fixup, j->fixups, j->fixup_count, j->fixup_capacity, {site, target});
}

void pvm_jit_repair(struct jit *j, uint32_t site, enum x64_reg reg)
{
    APPEND(jit_repair, j->repairs, j->repair_count, j->repair_capacity,
           {site, x64_here(&j->e), reg});
}

uint32_t pvm_jit_cost(struct jit *j, uint32_t pc)
{
    uint32_t cost = 0;
    pvm_block_cost(&j->p->code, pc, j->p->model, j->p->profile->cmov_reads_old, &cost);
    if (cost > INT32_MAX) pvm_jit_give_up(j);
    return cost;
}

/* A dispatch is code that ends with a jump through the jump table, as interpreters have it. The
 * functions below find dispatches and copy them. */

/* Notes that there is a jump through the jump table at pc. A return does not count. */
void pvm_jit_dispatch(struct jit *j, uint32_t pc, unsigned registers)
{
    if (host_reg(registers) == host_reg(PVM_RA)) return;
    if (!j->dispatches) j->dispatches = calloc(j->size / DISPATCH_BYTES + 2, 1);
    if (j->dispatches) j->dispatches[pc / DISPATCH_BYTES] = true;
}

/* Tells whether there is a jump through the jump table at pc or shortly after it. */
static bool near_dispatch(const struct jit *j, uint32_t pc)
{
    uint32_t first = pc / DISPATCH_BYTES;
    return j->dispatches && (j->dispatches[first] | j->dispatches[first + 1]);
}

void pvm_jit_odd(struct jit *j, uint32_t pc)
{
    if (!j->odd) j->odd = calloc(j->size / 8 + 1, 1);
    if (j->odd)
        j->odd[pc >> 3] |= (uint8_t)(1u << (pc & 7));
    else
        pvm_jit_give_up(j);
}

/* Returns the number of instructions from pc to a jump through the jump table, including the
 * jump, if only branches can leave them before it. Returns 0 when there is no such jump within
 * TAIL_MAX instructions. */
static unsigned dispatch_tail(struct jit *j, uint32_t pc)
{
    struct jit_insn in;
    if (!near_dispatch(j, pc)) return 0;
    for (unsigned n = 1; n <= TAIL_MAX; n++, pc += in.length) {
        jit_decode(&j->decoder, pc, &in);
        if (in.op == PVM_OP_jump_indirect) return reg_a(&in) != host_reg(PVM_RA) ? n : 0;
        enum pvm_flow flow = (enum pvm_flow)pvm_ops[in.op].flow;
        if (in.op == PVM_OP_invalid || flow == PVM_FLOW_HOST || flow > PVM_FLOW_BRANCH) return 0;
    }
    return 0;
}

/* Writes a copy of a dispatch in place of a jump to it. The processor then predicts the indirect
 * jump of each copy by the history of that copy. */
bool pvm_jit_copy_dispatch(struct jit *j, uint32_t pc)
{
    if (j->copying || j->p->code.doc || j->n->poll) return false;
    unsigned left = dispatch_tail(j, pc);
    if (!left) return false;
    const uint8_t *writes = j->writes;
    j->writes = NULL;
    j->copying = true;
    for (; left && !x64_full(&j->e); left -= j->count) {
        pvm_jit_place_copy(j, pc);
        pc = pvm_jit_blocks(j, pc, true);
    }
    j->copying = false;
    j->writes = writes;
    return true;
}

/* Removes the code of the last block, which is from pc to end and whose code begins at `start`. */
static void code_rewind_to(struct jit *j, uint32_t start, uint32_t pc, uint32_t end)
{
    struct pvm_native *n = j->n;
    for (uint32_t i = pvm_native_number(n, pc), last = pvm_native_number(n, end); i < last; i++)
        /* When the block is written again, other instructions may form groups. */
        n->offsets[i] = 0;
    j->e.at = j->e.start + start;
    while (j->fixup_count && j->fixups[j->fixup_count - 1].site >= start) j->fixup_count--;
    while (j->repair_count && j->repairs[j->repair_count - 1].site >= start) j->repair_count--;
    while (n->cold_count && n->cold[n->cold_count - 1].site >= start) n->cold_count--;
    while (n->copy_count && n->copies[n->copy_count - 1].native >= start) n->copy_count--;
}

/* Counts how often the instructions from pc to end write each register. After a host call any
 * register may have changed. */
static void count_writes(struct jit *j, uint32_t pc, uint32_t end, uint8_t *writes)
{
    struct jit_insn in;
    memset(writes, 0, 16);
    for (; pc < end; pc += in.length) {
        jit_decode(&j->decoder, pc, &in);
        const struct pvm_uses *uses = &pvm_uses[in.op];
        if (uses->kind == PVM_DO_ECALLI || uses->kind == PVM_DO_MEMSET) memset(writes, 2, 16);
        if (uses->writes) writes[host_reg((unsigned)in.word >> 4 * (uses->writes - 1))]++;
    }
}

/* Tells whether the code of a small loop lies on more cache lines than it needs. */
static bool compile_straddles(uint32_t start, uint32_t end)
{
    uint32_t length = end - start, lines = (end - 1) / LINE - start / LINE + 1;
    return length && length <= 4 * LINE && lines > (length + LINE - 1) / LINE;
}

/* Writes the code of a loop again, now that it is known which registers the loop writes. If the
 * code then lies on more cache lines than it needs, it is written once more, after nops. */
void pvm_jit_loop(struct jit *j, uint32_t start, uint32_t pc, uint32_t end, uint32_t count)
{
    uint8_t writes[16];
    if (count > LOOP_MAX) return;
    count_writes(j, pc, end, writes);
    j->writes = writes;
    code_rewind_to(j, start, pc, end);
    pvm_jit_blocks(j, pc, true);
    if (compile_straddles(start, x64_here(&j->e))) {
        code_rewind_to(j, start, pc, end);
        x64_nop(&j->e, -start % LINE);
        pvm_jit_blocks(j, pc, true);
    }
    j->writes = NULL;
}

static void cold_places(struct jit *j)
{
    struct pvm_native *n = j->n;
    const uint32_t exits[] = {[PVM_COLD_STEP] = j->step.at - 1,
                              [PVM_COLD_GAS] = j->step.at - 1,
                              [PVM_COLD_DYNAMIC] = j->dynamic.at - 1,
                              [PVM_COLD_POLL] = j->poll.at - 1};
    n->cold_start = x64_here(&j->e);
    PIECES(i, end, 0, n->cold_count)
    {
        if (x64_full(&j->e)) return;
        x64_aim(&j->e, n->cold[i].site, x64_here(&j->e));
        x64_call_to(&j->e, exits[n->cold[i].kind]);
    }
    PIECES(i, end, 0, j->repair_count)
    {
        if (x64_full(&j->e)) return;
        x64_aim(&j->e, j->repairs[i].site, x64_here(&j->e));
        x64_movsxd(&j->e, j->repairs[i].reg, j->repairs[i].reg);
        x64_jmp_to(&j->e, j->repairs[i].back);
    }
}

/* Fills in forward jumps. When the target of a jump turned out to be illegal, the interpreter
 * does the whole instruction. */
static void compile_resolve(struct jit *j)
{
    PIECES(i, end, 0, j->fixup_count)
    {
        uint32_t site = j->fixups[i].site, target = j->fixups[i].target;
        if (pvm_jit_may_go(j, target)) {
            uint32_t to = j->n->offsets[pvm_native_number(j->n, target)];
            x64_aim(&j->e, site, to - j->n->charge_size);
            continue;
        }
        x64_patch_call(&j->e, pvm_native_offset(j->n, pvm_native_pc(j->n, site)), j->step.at - 1);
    }
}

/* Fills entries of the table from the first on, as long as eight bytes of the jump table can be
 * read for each. Returns how many it filled. */
static uint32_t fill_quickly(struct jit *j, uint64_t base)
{
    const struct pvm_native *n = j->n;
    const struct pvm_code *code = &j->p->code;
    const unsigned size = code->table_entry;
    if (!size || size > 4 || code->table_filler || code->table.size < 8) return 0;
    const uint32_t mask = (uint32_t)(UINT64_C(0xffffffff) >> (32 - 8 * size));
    const size_t last = (code->table.size - 8) / size + 1;
    const uint32_t count = last < j->p->table_count ? (uint32_t)last : j->p->table_count;
    PIECES(i, end, 0, count)
    {
        uint32_t pc = (uint32_t)jit_word(code->table.data + (size_t)i * size) & mask;
        bool good = pc < j->size && pvm_jit_may_go(j, pc);
        n->table[2 * (size_t)i + 2] = good ? base + n->offsets[pvm_native_number(n, pc)] : nowhere;
        n->table[2 * (size_t)i + 3] = nowhere;
    }
    return count;
}

static void fill_table(struct jit *j)
{
    struct pvm_native *n = j->n;
    if (!n->table) return;
    const uint32_t count = j->p->table_count;
    const uint64_t base = (uint64_t)(uintptr_t)n->code - n->charge_size;
    const size_t room = n->table_bytes / sizeof *n->table;
    n->table[0] = n->table[1] = nowhere;
    PIECES(i, end, fill_quickly(j, base), count)
    {
        uint64_t pc;
        bool good =
            pvm_table_entry(&j->p->code, i, &pc) && pc < j->size && pvm_jit_may_go(j, (uint32_t)pc);
        n->table[2 * (size_t)i + 2] = good ? base + pvm_native_offset(n, (uint32_t)pc) : nowhere;
        n->table[2 * (size_t)i + 3] = nowhere;
    }
    for (size_t i = 2 * (size_t)count + 2; i < room; i++) n->table[i] = nowhere;
    if (mprotect(n->table, n->table_bytes, PROT_READ)) pvm_jit_give_up(j);
}

static void *compile_map(size_t bytes, int flags)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Asks the kernel for huge pages, which it may refuse. Jumps are patched all over the code, so
 * with small pages most of the time of a large program would go into address translation. */
static void pages_want_huge(void *at, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    madvise(at, bytes, MADV_HUGEPAGE);
#else
    (void)at, (void)bytes;
#endif
}

/* Maps pages that will surely be written, which the kernel may refuse. A few calls take half the
 * time of many page faults. */
static void pages_fault_in(struct jit *j, void *at, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    enum { PIECE = 2 * HUGE_PAGE, PIECE_UNITS = 1 << 14 }; /* A piece takes about a millisecond. */
    for (size_t done = 0, piece; done < bytes; done += piece) {
        piece = bytes - done < PIECE ? bytes - done : PIECE;
        /* The compiler gives up at the next place that asks whether the work is over. */
        if (long_work_over(j->work, PIECE_UNITS)) return;
        madvise((uint8_t *)at + done, piece, MADV_POPULATE_WRITE);
    }
#else
    (void)j, (void)at, (void)bytes;
#endif
}

/* Maps memory for code. Large memory starts at a multiple of a huge page. */
static void *map_code(size_t bytes, bool large)
{
    if (!large) return compile_map(bytes, 0);
    uint8_t *at = compile_map(bytes + HUGE_PAGE, 0);
    if (!at) return NULL;
    size_t before = -(uintptr_t)at % HUGE_PAGE;
    if (before) munmap(at, before);
    munmap(at + before + bytes, HUGE_PAGE - before);
    pages_want_huge(at + before, bytes);
    return at + before;
}

static size_t whole_pages(size_t n) { return (n + PVM_PAGE - 1) & ~(size_t)(PVM_PAGE - 1); }

/* Reserves memory for the code and the offsets of instructions. Both have one mapping, so that
 * they can share a huge page; only if there are few offsets, these come from the heap. */
static bool reserve_code(struct jit *j)
{
    struct pvm_native *n = j->n;
    size_t capacity = (size_t)n->size * BYTES_PER_BYTE + (1 << 16);
    size_t offsets = n->count * sizeof *n->offsets,
           usual = (size_t)n->size * (n->metered ? 24 : 15) / 8;
    n->mapped = whole_pages(capacity < code_max ? capacity : code_max);
    n->offsets_mapped = offsets < SMALL ? 0 : whole_pages(offsets);
    uint8_t *at = map_code(n->offsets_mapped + n->mapped, n->size >= LARGE);
    if (!at) return false;
    pages_fault_in(j, at, n->offsets_mapped + whole_pages(usual));
    n->code = at + n->offsets_mapped;
    n->offsets = n->offsets_mapped ? (uint32_t *)(void *)at : calloc(1, offsets);
    return n->offsets;
}

static bool compile_reserve(struct jit *j)
{
    struct pvm_native *n = j->n;
    n->block_starts = calloc(n->size / 8 + 1, 1);
    if (!n->block_starts || !pvm_native_places(n, &j->p->code) || !reserve_code(j)) return false;
    x64_init(&j->e, n->code, n->mapped);
    if (j->p->table_count) {
        n->table_bytes = whole_pages((2 * (size_t)j->p->table_count + 2) * sizeof *n->table);
        /* If there is no memory for the table, dynamic jumps leave compiled code. */
        n->table = compile_map(n->table_bytes, MAP_32BIT);
        if (n->table) pages_fault_in(j, n->table, n->table_bytes);
    }
    return true;
}

/* Makes the code executable. It is never writable and executable at once. */
static bool compile_seal(struct pvm_native *n)
{
    size_t used = whole_pages(n->used);
    if (used < n->mapped) munmap(n->code + used, n->mapped - used);
    n->mapped = used;
    return !mprotect(n->code, used, PROT_READ | PROT_EXEC);
}

struct pvm_native *pvm_native_compile(const struct pvm_cells *p, const struct pvm_config *config)
{
    struct pvm_native *n = calloc(1, sizeof *n);
    struct jit j = {.p = p,
                    .n = n,
                    .size = (uint32_t)p->code.bytes.size,
                    .narrow = pvm_isas[p->code.isa].bits == 32,
                    .strict = !p->profile->late_branches,
                    .general = p->code.gp || p->code.doc,
                    .work = config->work};
    if (!n) return NULL;
    j.word = j.narrow ? X32 : X64;
    pvm_jit_decoder_init(&j.decoder, &p->code);
    n->size = j.size;
    n->metered = config->metered;
    n->async = config->async;
    n->poll = config->poll;
    n->charge_size = !n->metered ? 0 : n->async ? JIT_CHARGE_ASYNC : JIT_CHARGE_SYNC;
    bool ok = compile_reserve(&j);
    if (ok) {
        pvm_jit_stubs(&j);
        pvm_jit_charge(&j);
        n->body = x64_here(&j.e);
        pvm_jit_blocks(&j, 0, false);
        cold_places(&j);
        ok = !x64_full(&j.e);
    }
    if (ok) {
        compile_resolve(&j);
        fill_table(&j);
        n->used = x64_here(&j.e);
        ok = !x64_full(&j.e) && compile_seal(n);
    }
    free(j.fixups);
    free(j.dispatches);
    free(j.odd);
    free(j.repairs);
    if (ok) return n;
    pvm_native_free(n);
    return NULL;
}

void pvm_native_free(struct pvm_native *n)
{
    if (!n) return;
    if (n->code) munmap(n->code, n->mapped);
    if (n->table) munmap(n->table, n->table_bytes);
    if (!n->offsets_mapped)
        free(n->offsets);
    else if (n->offsets)
        munmap(n->offsets, n->offsets_mapped);
    free(n->numbers);
    free(n->places);
    free(n->block_starts);
    free(n->copies);
    free(n->cold);
    free(n);
}
