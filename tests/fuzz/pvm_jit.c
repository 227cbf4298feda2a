/* Interpreter against compiler: programs are made from the input, which only steers the choices, so
 * that nearly every one of them runs. A third of all operands comes from a table of edges. Both
 * engines must agree on registers, pc, gas, memory and stop after every block (engine "both"), and
 * at every stop when compiled code runs freely and machines change hands between engines. */
#include "base/bytes.h"
#include "checks.h"
#include "pvm/snapshot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}
#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __LINE__, 0))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 7,
                                 8,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0x7fff,
                                 0x8000,
                                 0xffff,
                                 0x10000,
                                 0x10ff8,
                                 0x10ffc,
                                 0x10fff,
                                 0x20000,
                                 0x20010,
                                 0x2fff8,
                                 0x30000,
                                 0x30ffd,
                                 0x31ff9,
                                 0x32000,
                                 0x3ffc,
                                 0x7ffffffe,
                                 0x7fffffff,
                                 0x80000000,
                                 0x80000001,
                                 0xffff0000,
                                 0xfffffff8,
                                 0xfffffffc,
                                 0xffffffff,
                                 UINT64_C(0x100000000),
                                 UINT64_C(0x7fffffffffffffff),
                                 UINT64_C(0x8000000000000000),
                                 UINT64_C(0xffffffff80000000),
                                 UINT64_MAX,
                                 UINT64_MAX - 1,
                                 UINT64_MAX - 7};
enum { EDGES = sizeof edges / sizeof *edges, CODE_MAX = 2048, INSNS_MAX = 120, TURNS = 40 };

/* ---- choices ---- */

struct choices {
    const uint8_t *data;
    size_t size, at;
    uint64_t state;
};

static uint64_t choose(struct choices *c)
{
    uint64_t steer = c->at < c->size ? c->data[c->at++] : 0;
    c->state ^= steer + UINT64_C(0x9e3779b97f4a7c15);
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return c->state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}
static uint64_t below(struct choices *c, uint64_t n)
{
    return choose(c) % n;
}
static uint64_t number(struct choices *c)
{
    switch (below(c, 3)) {
    case 0: return edges[below(c, EDGES)];
    case 1: return below(c, 256);
    default: return choose(c) << 16 ^ choose(c);
    }
}

/* ---- programs ---- */

struct program {
    uint8_t code[CODE_MAX], mask[CODE_MAX / 8], table[64];
    uint32_t size, starts[INSNS_MAX];
    uint8_t op[INSNS_MAX];
    unsigned count;
    bool forward; /* no jump goes back: it ends without gas */
    enum pvm_isa isa;
};

static const uint8_t lengths[PVM_SHAPES] = {[PVM_NONE] = 1,
                                            [PVM_IMM] = 5,
                                            [PVM_OFFSET] = 5,
                                            [PVM_IMM_IMM] = 10,
                                            [PVM_REG_IMM] = 6,
                                            [PVM_REG_IMM_IMM] = 10,
                                            [PVM_REG_IMM_OFFSET] = 10,
                                            [PVM_REG_IMM64] = 10,
                                            [PVM_REG_REG] = 2,
                                            [PVM_REG_REG_IMM] = 6,
                                            [PVM_REG_REG_OFFSET] = 6,
                                            [PVM_REG_REG_IMM_IMM] = 11,
                                            [PVM_REG_REG_REG] = 3};

static void put_word(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* sp and ra hold good addresses and are seldom written. */
static unsigned destination(struct choices *c)
{
    unsigned r = (unsigned)below(c, 13);
    return r < 2 && below(c, 16) ? 5 + r : r;
}

static bool accesses(uint8_t op)
{
    const char *name = pvm_ops[op].name;
    return strstr(name, "load_u") == name || strstr(name, "load_i8") == name ||
           strstr(name, "store") == name || strstr(name, "load_i16") == name ||
           strstr(name, "load_i32") == name || strstr(name, "load_ind") == name;
}

static uint64_t target(struct choices *c, const struct program *p, unsigned i)
{
    unsigned to =
        p->forward ? i + 1 + (unsigned)below(c, p->count - i) : (unsigned)below(c, p->count);
    if (to >= p->count) to = p->count - 1;
    for (unsigned k = to; k > 0 && (!p->forward || k > i + 1);
         k--) /* mostly where a block starts */
        if (pvm_ends_block(p->op[k - 1])) {
            to = k;
            break;
        }
    return (uint64_t)p->starts[to] - p->starts[i];
}

static void encode(struct choices *c, struct program *p, unsigned i)
{
    uint8_t *b = p->code + p->starts[i];
    uint8_t op = p->op[i];
    bool access = accesses(op);
    uint64_t x = access && below(c, 4) ? below(c, 64) : number(c);
    bool store = strstr(pvm_ops[op].name, "store") != NULL;
    unsigned a = store ? (unsigned)below(c, 13) : destination(c), base = (unsigned)below(c, 13);
    if (access && below(c, 8)) base = (unsigned)below(c, 2);
    if (pvm_ops[op].shape == PVM_REG_IMM_IMM && below(c, 8)) a = (unsigned)below(c, 2);
    b[0] = (uint8_t)pvm_ops[op].number[p->isa];
    switch ((enum pvm_shape)pvm_ops[op].shape) {
    case PVM_IMM: put_word(b + 1, below(c, 8)); break;
    case PVM_OFFSET: put_word(b + 1, target(c, p, i)); break;
    case PVM_IMM_IMM:
        b[1] = 4;
        put_word(b + 2, below(c, 4) ? 0x30000 + below(c, 0x2000) : x);
        put_word(b + 6, number(c));
        break;
    case PVM_REG_IMM:
        b[1] = (uint8_t)a;
        put_word(b + 2, access && below(c, 4) ? 0x30000 + below(c, 0x2000) : x);
        if (pvm_ops[op].flow == PVM_FLOW_DYNAMIC)
            put_word(b + 2, below(c, 3) ? 2 * below(c, 17) : x);
        break;
    case PVM_REG_IMM_IMM:
        b[1] = (uint8_t)(a | 4 << 4);
        put_word(b + 2, x);
        put_word(b + 6, number(c));
        break;
    case PVM_REG_IMM_OFFSET:
        b[1] = (uint8_t)(a | 4 << 4);
        put_word(b + 2, x);
        put_word(b + 6, target(c, p, i));
        break;
    case PVM_REG_IMM64:
        b[1] = (uint8_t)a;
        put_word(b + 2, number(c));
        put_word(b + 6, number(c) >> below(c, 33));
        break;
    case PVM_REG_REG: b[1] = (uint8_t)(destination(c) | below(c, 13) << 4); break;
    case PVM_REG_REG_IMM:
        b[1] = (uint8_t)(a | base << 4);
        if (!below(c, 3)) b[1] = (uint8_t)(a | a << 4);
        put_word(b + 2, x);
        break;
    case PVM_REG_REG_OFFSET:
        b[1] = (uint8_t)(below(c, 13) | below(c, 13) << 4);
        put_word(b + 2, target(c, p, i));
        break;
    case PVM_REG_REG_IMM_IMM:
        b[1] = (uint8_t)(a | below(c, 13) << 4);
        b[2] = 4;
        put_word(b + 3, number(c));
        put_word(b + 7, below(c, 3) ? 2 * below(c, 17) : number(c));
        break;
    case PVM_REG_REG_REG:
        b[1] = (uint8_t)(below(c, 13) | below(c, 13) << 4);
        b[2] = (uint8_t)destination(c);
        break;
    default: break;
    }
}

/* Patterns that the compiler knows: an address computed, used and overwritten; a loop's counter. */
static uint8_t next_op(struct choices *c, const struct program *p, unsigned i)
{
    static const uint8_t liked[] = {PVM_OP_shift_logical_left_imm_64,
                                    PVM_OP_shift_logical_left_imm_32,
                                    PVM_OP_add_64,
                                    PVM_OP_add_32,
                                    PVM_OP_load_indirect_i32,
                                    PVM_OP_load_indirect_u8,
                                    PVM_OP_add_imm_32,
                                    PVM_OP_branch_not_eq,
                                    PVM_OP_store_indirect_u32,
                                    PVM_OP_branch_less_unsigned_imm,
                                    PVM_OP_jump,
                                    PVM_OP_fallthrough};
    for (;;) {
        uint8_t op =
            below(c, 4) ? (uint8_t)(1 + below(c, PVM_OPS - 1)) : liked[below(c, sizeof liked)];
        if (pvm_ops[op].number[p->isa] < 0) continue;
        bool rare =
            op == PVM_OP_trap || op == PVM_OP_memset || pvm_ops[op].flow == PVM_FLOW_DYNAMIC;
        if (rare && below(c, 8)) continue;
        if (p->forward && (pvm_ops[op].flow == PVM_FLOW_DYNAMIC || i + 1 == p->count)) {
            if (pvm_ops[op].flow == PVM_FLOW_DYNAMIC) continue;
        }
        return op;
    }
}

static void generate(struct choices *c, struct program *p)
{
    memset(p, 0, sizeof *p);
    p->isa = (enum pvm_isa)below(c, PVM_ISAS);
    p->forward = !below(c, 3);
    p->count = 1 + (unsigned)below(c, below(c, 2) ? 12 : INSNS_MAX);
    for (unsigned i = 0; i < p->count; i++) {
        p->op[i] = i + 1 == p->count ? PVM_OP_trap : next_op(c, p, i);
        p->starts[i] = p->size;
        p->size += lengths[pvm_ops[p->op[i]].shape];
    }
    for (unsigned i = 0; i < p->count; i++) {
        encode(c, p, i);
        p->mask[p->starts[i] / 8] |= (uint8_t)(1u << p->starts[i] % 8);
    }
    for (unsigned i = 0; i < 16; i++) {
        unsigned to = (unsigned)below(c, p->count);
        while (to && !pvm_ends_block(p->op[to - 1]) && below(c, 16))
            to--;
        p->table[2 * i] = (uint8_t)p->starts[to];
        p->table[2 * i + 1] = (uint8_t)(p->starts[to] >> 8);
    }
}

/* ---- machines ---- */

struct trial {
    struct pvm_code code;
    struct pvm_config config;
    uint64_t regs[PVM_REGISTERS];
    bool mid_start;
    uint32_t start;
};

static struct pvm_vm *machine(const struct trial *t, const char *engine)
{
    penta_error err = {0};
    struct pvm_config config = t->config;
    CHECK(pvm_engine_find(engine, &config.adopt));
    struct pvm_vm *vm = pvm_vm_create(NULL, &t->code, &config, NULL, &err);
    CHECK(vm && !strcmp(vm->base.engine->name, engine));
    penta_bytes none = {0};
    CHECK(pvm_memory_map(&vm->memory, 0x10000, 0x1000, true, none, false));
    CHECK(pvm_memory_map(&vm->memory, 0x20000, 0x1000, false,
                         (penta_bytes){(const uint8_t *)"read-only", 9}, true));
    CHECK(pvm_memory_map(&vm->memory, 0x30000, 0x2000, true, none, false));
    vm->layout.heap_base = 0x32100;
    vm->layout.rw = 0x30000;
    vm->layout.rw_length = 0x2000;
    vm->layout.heap_max = 0x8000;
    for (unsigned i = 0; i < PVM_REGISTERS; i++)
        pvm_vm_set_reg(vm, i, t->regs[i]);
    pvm_vm_jump(vm, t->start);
    return vm;
}

static bool settle(struct pvm_vm *vm, const penta_stop *stop, unsigned turn)
{
    penta_error err = {0};
    uint64_t answer = stop->args[0] + 1;
    switch (stop->kind) {
    case PENTA_STOP_HOST: CHECK(penta_vm_answer(&vm->base, &answer, 1, &err)); return true;
    case PENTA_STOP_FAULT: {
        uint32_t page = (uint32_t)stop->args[0];
        if (stop->args[2]) return pvm_memory_protect(&vm->memory, page, 0x1000, true);
        return pvm_memory_map(&vm->memory, page, 0x1000, true, (penta_bytes){0}, false);
    }
    case PENTA_STOP_GAS:
        if (turn > TURNS / 2) return false;
        vm->state->gas += 100 + turn;
        return true;
    default: return false;
    }
}

static void same(struct pvm_vm *a, const penta_stop *sa, struct pvm_vm *b, const penta_stop *sb)
{
    penta_buffer x = {0}, y = {0};
    penta_error err = {0};
    CHECK(sa->kind == sb->kind && sa->detail == sb->detail && sa->pc == sb->pc);
    CHECK(!memcmp(sa->args, sb->args, sizeof sa->args));
    a->executed = b->executed = 0;
    CHECK(penta_vm_save(&a->base, &x, &err) && penta_vm_save(&b->base, &y, &err));
    CHECK(x.size == y.size && !memcmp(x.data, y.data, x.size));
    penta_buffer_free(&x);
    penta_buffer_free(&y);
}

/* Free running, compared at every stop; when swap, stops of one engine are resumed by the other. */
static void race(const struct trial *t, bool swap)
{
    struct pvm_vm *a = machine(t, "interp"), *b = machine(t, "jit");
    penta_stop x, y;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        pvm_vm_run(&a->base, UINT64_MAX, &x);
        if (swap && turn & 1)
            pvm_vm_run(&b->base, UINT64_MAX, &y);
        else
            penta_vm_run(&b->base, UINT64_MAX, &y);
        same(a, &x, b, &y);
        bool more = settle(a, &x, turn);
        CHECK(more == settle(b, &y, turn));
        if (!more) break;
    }
    penta_vm_free(&a->base);
    penta_vm_free(&b->base);
}

static void lock_step(const struct trial *t)
{
    struct pvm_vm *vm = machine(t, "both");
    penta_stop stop;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        penta_vm_run(&vm->base, UINT64_MAX, &stop);
        if (stop.kind == PENTA_STOP_DISAGREE) {
            fprintf(stderr, "%s at %llu\n", vm->base.engine->detail(&vm->base, &stop),
                    (unsigned long long)stop.pc);
            abort();
        }
        if (!settle(vm, &stop, turn)) break;
    }
    penta_vm_free(&vm->base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct program p;
    pvm_adopt_fn *adopt;
    if (!pvm_engine_find("jit", &adopt)) return 0; /* no compiler for this host */
    struct choices c = {data, size, 0, 88172645463325252u};
    for (size_t i = 0; i < size; i++)
        c.state = c.state * 1099511628211u ^ data[i];
    generate(&c, &p);
    struct trial t = {.code = {.isa = p.isa,
                               .bytes = {p.code, p.size},
                               .mask = {p.mask, (p.size + 7) / 8},
                               .starts = p.mask,
                               .table = {p.table, 32},
                               .table_count = 16,
                               .table_entry = 2}};
    bool metered = !p.forward || below(&c, 2);
    t.config = (struct pvm_config){.profile = &pvm_profiles[below(&c, 3)],
                                   .metered = metered,
                                   .paging = below(&c, 2),
                                   .poll = !below(&c, 8),
                                   .gas = metered ? 100 + (int64_t)below(&c, 2000) : 0,
                                   .model = below(&c, 3) ? PVM_GAS_NAIVE : PVM_GAS_FULL_L2};
    for (unsigned i = 0; i < PVM_REGISTERS; i++)
        t.regs[i] = i < 2 ? 0x30000 + below(&c, 0x2000) : number(&c);
    if (!below(&c, 8)) t.start = p.starts[below(&c, p.count)];
    race(&t, false);
    race(&t, true);
    lock_step(&t);
    return 0;
}
