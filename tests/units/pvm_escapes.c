/* Runs programs that try to leave their memory, which has canary pages around it. They have
 * every load and store, alone and in patterns that the compiler treats as one, memset, sbrk, and
 * jumps to any value. What must happen is computed here from the rules, not by another engine. */
#include "support.h"
#include "pvm/jit/jit.h"
#include <string.h>
#include <sys/mman.h>

/* clang-format off */
static const uint64_t edges[] = {
    0, 1, 2, 8, 0xff8, 0xfff, 0x1000, 0x8000, 0xfff8, 0xfff9, 0xffff, 0x10000, 0x10001, 0x10ff8,
    0x10ff9, 0x10ffe, 0x10fff, 0x11000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffe0000, 0xffff0000,
    0xfffff000, 0xfffffff8, 0xfffffff9, 0xfffffffc, 0xfffffffe, 0xffffffff, UINT64_C(0x100000000),
    UINT64_C(0x100010000), UINT64_C(0x1fffffffe), UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000000), UINT64_C(0x8000000000010000), UINT64_C(0xffffffff00010000),
    UINT64_C(0xffffffff7ffff000), UINT64_MAX - 0xffff, UINT64_MAX - 0xfff, UINT64_MAX - 7,
    UINT64_MAX - 1, UINT64_MAX};
/* clang-format on */
enum { EDGES = sizeof edges / sizeof *edges, PAGE = 4096, FIRST = 0x10000, END = 0x11000 };

struct text { /* A program that is being written. */
    uint8_t code[96], mask[16];
    uint32_t size;
    enum pvm_isa isa;
};

static void pvm_escapes_bytes(struct text *t, uint8_t op, const uint8_t *more, unsigned count)
{
    t->mask[t->size / 8] |= (uint8_t)(1u << t->size % 8);
    t->code[t->size++] = (uint8_t)pvm_ops[op].number[t->isa];
    if (count) memcpy(t->code + t->size, more, count);
    t->size += count;
}

static void pvm_escapes_plain(struct text *t, uint8_t op) { pvm_escapes_bytes(t, op, NULL, 0); }

/* Writes an instruction with registers in the first byte, then 32 bits. */
static void with_word(struct text *t, uint8_t op, unsigned low, unsigned high, uint64_t x)
{
    uint8_t more[5] = {(uint8_t)(low | high << 4)};
    for (int i = 0; i < 4; i++) more[1 + i] = (uint8_t)(x >> 8 * i);
    pvm_escapes_bytes(t, op, more, 5);
}

static void pvm_escapes_three(struct text *t, uint8_t op, unsigned d, unsigned a, unsigned b)
{
    uint8_t more[2] = {(uint8_t)(a | b << 4), (uint8_t)d};
    pvm_escapes_bytes(t, op, more, 2);
}

static struct pvm_code code_of(const struct text *t)
{
    return (struct pvm_code){.isa = t->isa,
                             .bytes = {t->code, t->size},
                             .mask = {t->mask, (t->size + 7) / 8},
                             .starts = t->mask};
}

struct guarded { /* A machine with canary pages around its memory. */
    struct pvm_vm *vm;
    uint8_t *below, *above; /* pages next to the reservation, or NULL */
    uint8_t rights[PVM_PAGES];
};

static void guarded_open(struct guarded *c, const struct pvm_code *code, bool metered)
{
    struct pvm_config config = {
        .profile = pvm_profile_find("polkavm"), .metered = metered, .gas = metered ? 1000000 : 0};
    penta_error err = {0};
    CHECK(pvm_engine_find("jit", &config.adopt));
    c->vm = pvm_vm_create(NULL, code, &config, NULL, &err);
    if (!c->vm || c->vm->base.engine != &pvm_jit) checks_skip("no compiled code on this host");
    CHECK(pvm_memory_map(&c->vm->memory, FIRST, PAGE, true, (penta_bytes){0}, false));
    c->below = canary_new((uint8_t *)c->vm->memory.reservation - PAGE);
    c->above = canary_new(c->vm->memory.base + (UINT64_C(1) << 32) + (1 << 16));
    memcpy(c->rights, c->vm->memory.rights, PVM_PAGES);
}

static void guarded_close(struct guarded *c)
{
    if (c->below) munmap(c->below, PAGE);
    if (c->above) munmap(c->above, PAGE);
    penta_vm_free(&c->vm->base);
}

/* Tells whether the rights of the page are unchanged, except that it may have been written. */
static bool pvm_escapes_kept(const struct guarded *c, uint32_t page)
{
    return !((c->rights[page] ^ c->vm->memory.rights[page]) & ~(PVM_DIRTY | PVM_WRITE));
}

static bool all_kept(const struct guarded *c)
{
    if (!memcmp(c->rights, c->vm->memory.rights, PVM_PAGES)) return true;
    for (uint32_t page = 0; page < PVM_PAGES; page++)
        if (!pvm_escapes_kept(c, page)) return false;
    return true;
}

static void pvm_escapes_run(struct guarded *c, penta_stop *stop)
{
    if (c->vm->metered) c->vm->state->gas = 1000000;
    pvm_vm_jump(c->vm, 0);
    penta_vm_run(&c->vm->base, UINT64_MAX, stop);
    CHECK(!c->below || canary_holds(c->below, c->below + PAGE));
    CHECK(!c->above || canary_holds(c->above, c->above + PAGE));
}

static void set_all(struct guarded *c, uint64_t value)
{
    for (unsigned i = 0; i < PVM_REGISTERS; i++) pvm_vm_set_reg(c->vm, i, value);
}

static unsigned access_size(uint8_t op)
{
    const char *name = pvm_ops[op].name;
    if (!strncmp(name, "load_imm", 8) || (strncmp(name, "load_", 5) && strncmp(name, "store_", 6)))
        return 0;
    char last = name[strlen(name) - 1];
    return last == '8' ? 1 : last == '6' ? 2 : last == '2' ? 4 : 8;
}

static bool pvm_escapes_inside(uint32_t address, unsigned size)
{
    return address >= FIRST && (uint64_t)address + size <= END;
}

/* Runs one access and a trap. A good access must trap at `after`, a bad one at `pc`. */
static void pvm_escapes_expect(struct guarded *c, bool good, uint32_t pc, uint32_t after)
{
    penta_stop stop;
    pvm_escapes_run(c, &stop);
    CHECK(stop.kind == PENTA_STOP_TRAP && stop.detail == (good ? PVM_TRAP_TRAP : PVM_TRAP_ACCESS));
    CHECK(stop.pc == (good ? after : pc));
}

static void single_accesses(enum pvm_isa isa, bool metered)
{
    static const uint8_t lengths[PVM_SHAPES] = {
        [PVM_IMM_IMM] = 10, [PVM_REG_IMM] = 6, [PVM_REG_IMM_IMM] = 10, [PVM_REG_REG_IMM] = 6};
    static struct guarded g;
    for (uint8_t op = 1; op < PVM_OPS; op++) {
        unsigned size = access_size(op), shape = pvm_ops[op].shape, length = lengths[shape];
        if (!size || !length || pvm_ops[op].number[isa] < 0) continue;
        bool absolute = shape == PVM_REG_IMM || shape == PVM_IMM_IMM;
        for (unsigned i = 0; i < EDGES; i++) {
            struct text t = {.isa = isa};
            uint8_t more[9] = {shape == PVM_IMM_IMM ? 4 : length == 10 ? 0x47 : 0x87};
            for (int k = 0; k < 4; k++) more[1 + k] = (uint8_t)(edges[i] >> 8 * k);
            pvm_escapes_bytes(&t, op, more, length - 1);
            pvm_escapes_plain(&t, PVM_OP_trap);
            struct pvm_code code = code_of(&t);
            struct pvm_insn in;
            pvm_decode(&code, 0, &in);
            CHECK(in.op == op && in.length == length);
            guarded_open(&g, &code, metered);
            for (unsigned k = 0; k < EDGES; k++) {
                set_all(&g, edges[k]);
                uint32_t address = (uint32_t)((absolute ? 0 : edges[k]) + in.imm1);
                pvm_escapes_expect(&g, pvm_escapes_inside(address, size), 0, length);
            }
            CHECK(all_kept(&g));
            guarded_close(&g);
        }
    }
}

/* Tests d = index << by (0: not at all); d = d + base; d = [d + offset], which is one operand to
 * the compiler. */
static void indexed_loads(enum pvm_isa isa, bool metered)
{
    static const uint64_t offsets[] = {0,          1,          0x10000,
                                       0x7fffffff, UINT64_MAX, UINT64_MAX - 0x7fffffff};
    static struct guarded g;
    bool narrow = pvm_isas[isa].bits == 32;
    uint8_t shift = narrow ? PVM_OP_shift_logical_left_imm_32 : PVM_OP_shift_logical_left_imm_64;
    for (uint8_t op = PVM_OP_load_indirect_u8; op <= PVM_OP_load_indirect_u64; op++) {
        unsigned size = access_size(op);
        for (unsigned o = 0; o < 24 && pvm_ops[op].number[isa] >= 0; o++) {
            unsigned by = o % 4;
            uint64_t offset = offsets[o / 4];
            struct text t = {.isa = isa};
            if (by) with_word(&t, shift, 7, 8, by);
            pvm_escapes_three(&t, narrow ? PVM_OP_add_32 : PVM_OP_add_64, 7, by ? 7 : 8, 9);
            uint32_t at = t.size;
            with_word(&t, op, 7, 7, offset);
            uint32_t after = t.size;
            pvm_escapes_plain(&t, PVM_OP_trap);
            struct pvm_code code = code_of(&t);
            guarded_open(&g, &code, metered);
            for (unsigned k = 0; k < EDGES * EDGES; k++) {
                uint64_t index = edges[k / EDGES], base = edges[k % EDGES];
                pvm_vm_set_reg(g.vm, 8, index);
                pvm_vm_set_reg(g.vm, 9, base);
                uint64_t sum = (index << by) + base;
                bool good = pvm_escapes_inside((uint32_t)(sum + offset), size);
                if (k % 7 && !good)
                    continue; /* Only some faults are tried, because a fault
                                               * costs microseconds. */
                pvm_escapes_expect(&g, good, at, after);
                if (narrow) sum = (uint32_t)sum;
                CHECK(good || g.vm->state->regs[7] == sum);
                CHECK(g.vm->state->regs[8] == (narrow ? (uint32_t)index : index));
            }
            guarded_close(&g);
        }
    }
}

static void pvm_escapes_fills(enum pvm_isa isa, bool metered)
{
    static struct guarded g;
    struct text t = {.isa = isa};
    if (pvm_ops[PVM_OP_memset].number[isa] < 0) return;
    pvm_escapes_plain(&t, PVM_OP_memset);
    pvm_escapes_plain(&t, PVM_OP_trap);
    struct pvm_code code = code_of(&t);
    guarded_open(&g, &code, metered);
    for (unsigned k = 0; k < EDGES * EDGES; k++) {
        uint64_t from = edges[k / EDGES];
        uint32_t count = (uint32_t)edges[k % EDGES];
        pvm_vm_set_reg(g.vm, PVM_A0, from);
        pvm_vm_set_reg(g.vm, PVM_A1, 0xaa);
        pvm_vm_set_reg(g.vm, PVM_A2, count);
        uint32_t low = (uint32_t)from;
        bool good = !count || (pvm_escapes_inside(low, 1) && count <= END - low);
        penta_stop stop;
        pvm_escapes_run(&g, &stop);
        if (metered && stop.kind == PENTA_STOP_GAS) continue;
        CHECK(stop.kind == PENTA_STOP_TRAP);
        CHECK(stop.detail == (good ? PVM_TRAP_TRAP : PVM_TRAP_ACCESS) && stop.pc == (good ? 1 : 0));
    }
    CHECK(all_kept(&g));
    guarded_close(&g);
}

static void pvm_escapes_heaps(enum pvm_isa isa, bool metered)
{
    enum { HEAP = 0x40100, HEAP_MAX = 0x6000 };
    static struct guarded g;
    struct text t = {.isa = isa};
    uint8_t registers = 7 | 8 << 4;
    if (pvm_ops[PVM_OP_sbrk].number[isa] < 0) return;
    pvm_escapes_bytes(&t, PVM_OP_sbrk, &registers, 1);
    pvm_escapes_plain(&t, PVM_OP_trap);
    struct pvm_code code = code_of(&t);
    guarded_open(&g, &code, metered);
    g.vm->layout.heap_base = HEAP;
    g.vm->layout.rw = 0x40000;
    g.vm->layout.rw_length = PAGE;
    g.vm->layout.heap_max = HEAP_MAX;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned k = 0; k < EDGES; k++) {
            penta_stop stop;
            uint64_t before = g.vm->heap_size;
            pvm_vm_set_reg(g.vm, 8, edges[k]);
            pvm_escapes_run(&g, &stop);
            uint64_t n = pvm_isas[isa].bits == 32 ? (uint32_t)edges[k] : edges[k];
            if (n > UINT32_MAX) n = 0; /* The value 0 asks for the top of the heap. */
            bool fits = n <= HEAP_MAX - before;
            CHECK(stop.kind == PENTA_STOP_TRAP && stop.detail == PVM_TRAP_TRAP);
            CHECK(g.vm->heap_size == (fits ? before + n : before));
            CHECK(g.vm->state->regs[7] == (fits ? HEAP + before + n : 0));
        }
    for (uint32_t page = 0; page < PVM_PAGES; page++) /* Nothing may have grown outside the heap. */
        if (page < 0x40 || page > (HEAP + HEAP_MAX) / PAGE) CHECK(pvm_escapes_kept(&g, page));
    guarded_close(&g);
}

/* Tests jumps. The jump is at 0, followed by two traps. The table has the last trap, the first
 * one (which is after a block's end, so legal), and the middle of the jump. */
static void pvm_escapes_jumps(enum pvm_isa isa, bool metered, unsigned form)
{
    static struct guarded g;
    struct text t = {.isa = isa};
    if (form == 0) {
        uint8_t more = 7;
        pvm_escapes_bytes(&t, PVM_OP_jump_indirect, &more, 1);
    } else { /* The instructions are a5 or a0 = 3, jump [a0]. */
        uint8_t more[] = {(uint8_t)((form == 1 ? 12 : 7) | 7 << 4), 1, 3};
        pvm_escapes_bytes(&t, PVM_OP_load_imm_and_jump_indirect, more, 3);
    }
    uint32_t first = t.size;
    pvm_escapes_plain(&t, PVM_OP_trap);
    pvm_escapes_plain(&t, PVM_OP_trap);
    uint8_t table[] = {(uint8_t)(first + 1), (uint8_t)first, 1};
    struct pvm_code code = code_of(&t);
    code.table = (penta_bytes){table, sizeof table};
    code.table_count = sizeof table;
    code.table_entry = 1;
    guarded_open(&g, &code, metered);
    for (uint64_t to = 0; to < 40 + EDGES; to++) {
        uint64_t address = to < 40 ? to : edges[to - 40];
        uint32_t low = (uint32_t)address;
        penta_stop stop;
        pvm_vm_set_reg(g.vm, PVM_A0, address);
        pvm_escapes_run(&g, &stop);
        if (low == PVM_RETURN_ADDRESS)
            CHECK(stop.kind == PENTA_STOP_HALT && stop.pc == 0);
        else if (low == 2 || low == 4)
            CHECK(stop.detail == PVM_TRAP_TRAP && stop.pc == (low == 2 ? first + 1 : first));
        else
            CHECK(stop.kind == PENTA_STOP_TRAP && stop.detail == PVM_TRAP_JUMP && stop.pc == 0);
        /* A jump that is done writes the register, also the jump that halts. */
        bool done = stop.kind == PENTA_STOP_HALT || stop.detail == PVM_TRAP_TRAP;
        if (form && done) CHECK(g.vm->state->regs[form == 1 ? PVM_A5 : PVM_A0] == 3);
    }
    guarded_close(&g);
}

int main(void)
{
    for (int isa = 0; isa < PVM_ISAS; isa++)
        for (int metered = 0; metered < 2; metered++) {
            single_accesses((enum pvm_isa)isa, metered);
            indexed_loads((enum pvm_isa)isa, metered);
            pvm_escapes_fills((enum pvm_isa)isa, metered);
            pvm_escapes_heaps((enum pvm_isa)isa, metered);
            for (unsigned form = 0; form < 3; form++)
                pvm_escapes_jumps((enum pvm_isa)isa, metered, form);
        }
    return checks_end();
}
