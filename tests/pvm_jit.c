/* Compiled code under pressure: programs that try every way out of their memory, with canary pages
 * around it; interrupts at every instruction; machines of one pool in many threads; faults that are
 * not ours. */
#include "penta/pvm.h"
#include "pvm/jit.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long checks, failures;
#define CHECK(condition)                                                                           \
    (checks++,                                                                                     \
     (condition) || (failures++ < 10 && printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

static const uint64_t edges[] = {0,
                                 1,
                                 8,
                                 0xfff,
                                 0x1000,
                                 0xffff,
                                 0x10000,
                                 0x10001,
                                 0x10ff8,
                                 0x10ff9,
                                 0x10fff,
                                 0x11000,
                                 0x7fffffff,
                                 0x80000000,
                                 0x80000001,
                                 0xfffe0000,
                                 0xffff0000,
                                 0xfffff000,
                                 0xfffffff8,
                                 0xfffffff9,
                                 0xffffffff,
                                 UINT64_C(0x100000000),
                                 UINT64_C(0x100010000),
                                 UINT64_C(0x7fffffffffffffff),
                                 UINT64_C(0x8000000000000000),
                                 UINT64_C(0xffffffff00010000),
                                 UINT64_C(0xffffffff7ffff000),
                                 UINT64_MAX - 0xfff,
                                 UINT64_MAX - 7,
                                 UINT64_MAX};
enum { EDGES = sizeof edges / sizeof *edges, PAGE = 4096 };

/* ---- canaries ---- */

struct cage {
    struct pvm_vm *vm;
    uint8_t *below, *above; /* pages next to the reservation, or NULL */
    uint8_t rights[PVM_PAGES];
};

static uint8_t *canary(uint8_t *at)
{
    uint8_t *page = mmap(at, PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) return NULL;
    memset(page, 0xc5, PAGE);
    return page;
}

static bool alive(const uint8_t *page)
{
    for (int i = 0; page && i < PAGE; i++)
        if (page[i] != 0xc5) return false;
    return true;
}

static struct pvm_vm *machine(const struct pvm_code *code, bool metered)
{
    struct pvm_config config = {
        .profile = pvm_profile_find("polkavm"), .metered = metered, .gas = metered ? 1000 : 0};
    penta_error err = {0};
    CHECK(pvm_engine_find("jit", &config.adopt));
    struct pvm_vm *vm = pvm_vm_create(NULL, code, &config, NULL, &err);
    if (!vm || vm->base.engine != &pvm_jit) {
        printf("no compiled code on this host\n");
        exit(77);
    }
    CHECK(pvm_memory_map(&vm->memory, 0x10000, PAGE, true, (penta_bytes){0}, false));
    return vm;
}

static void open_cage(struct cage *c, const struct pvm_code *code)
{
    c->vm = machine(code, false);
    uint8_t *start = c->vm->memory.reservation;
    c->below = canary(start - PAGE);
    c->above = canary(c->vm->memory.base + (UINT64_C(1) << 32) + (1 << 16));
    memcpy(c->rights, c->vm->memory.rights, PVM_PAGES);
}

static void close_cage(struct cage *c)
{
    CHECK(!memcmp(c->rights, c->vm->memory.rights, PVM_PAGES));
    if (c->below) munmap(c->below, PAGE);
    if (c->above) munmap(c->above, PAGE);
    penta_vm_free(&c->vm->base);
}

/* One instruction, then a trap; every register holds the edge. An access inside the only page goes
 * on to the trap behind it, every other one is a bad access. */
static void try_access(struct cage *c, const struct pvm_insn *in, uint64_t value, unsigned size)
{
    struct pvm_vm *vm = c->vm;
    bool absolute = pvm_ops[in->op].shape == PVM_REG_IMM || pvm_ops[in->op].shape == PVM_IMM_IMM;
    uint32_t address = (uint32_t)((absolute ? 0 : value) + in->imm1);
    bool inside = address >= 0x10000 && (uint64_t)address + size <= 0x11000;
    for (unsigned i = 0; i < PVM_REGISTERS; i++)
        pvm_vm_set_reg(vm, i, value);
    pvm_vm_jump(vm, 0);
    penta_stop stop;
    penta_vm_run(&vm->base, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_TRAP &&
          stop.detail == (inside ? PVM_TRAP_TRAP : PVM_TRAP_ACCESS));
    CHECK(stop.pc == (inside ? in->length : 0));
    CHECK(alive(c->below) && alive(c->above));
}

static unsigned access_size(const char *name)
{
    if (!strncmp(name, "load_imm", 8) || (strncmp(name, "load_", 5) && strncmp(name, "store_", 6)))
        return 0;
    size_t n = strlen(name);
    return name[n - 1] == '8' ? 1 : name[n - 1] == '6' ? 2 : name[n - 1] == '2' ? 4 : 8;
}

static void escapes(void)
{
    static struct cage cage;
    static const uint8_t lengths[PVM_SHAPES] = {
        [PVM_IMM_IMM] = 10, [PVM_REG_IMM] = 6, [PVM_REG_IMM_IMM] = 10, [PVM_REG_REG_IMM] = 6};
    for (unsigned op = 1; op < PVM_OPS; op++) {
        unsigned size = access_size(pvm_ops[op].name), length = lengths[pvm_ops[op].shape];
        for (unsigned i = 0; size && length && i < EDGES; i++) {
            uint8_t code[16] = {(uint8_t)pvm_ops[op].number[PVM_LATEST64]};
            uint8_t mask[2] = {1, 0};
            bool two = length == 10;
            code[1] = pvm_ops[op].shape == PVM_IMM_IMM ? 4 : two ? 0x47 : 0x87;
            for (int k = 0; k < 4; k++)
                code[2 + k] = (uint8_t)(edges[i] >> 8 * k);
            mask[length / 8] |= (uint8_t)(1u << length % 8);
            struct pvm_code program = {.isa = PVM_LATEST64,
                                       .bytes = {code, length + 1u},
                                       .mask = {mask, 2},
                                       .starts = mask};
            struct pvm_insn in;
            pvm_decode(&program, 0, &in);
            CHECK(in.op == op && in.length == length);
            open_cage(&cage, &program);
            for (unsigned k = 0; k < EDGES; k++)
                try_access(&cage, &in, edges[k], size);
            close_cage(&cage);
        }
    }
}

/* ---- jumps through the table ---- */

static void dynamic_jumps(void)
{
    /* 0: jump_indirect a0, 0; 2: trap; 3: trap.  Table: 3, 2 (after a block's end: legal), 1 (none)
     */
    static const uint8_t code[] = {50, 7, 0, 0}, mask[] = {13}, table[] = {3, 2, 1};
    struct pvm_code program = {.isa = PVM_LATEST64,
                               .bytes = {code, 4},
                               .mask = {mask, 1},
                               .starts = mask,
                               .table = {table, 3},
                               .table_count = 3,
                               .table_entry = 1};
    for (int metered = 0; metered < 2; metered++) {
        struct pvm_vm *vm = machine(&program, metered);
        for (uint64_t to = 0; to < 40 + EDGES; to++) {
            uint64_t address = to < 40 ? to : edges[to - 40];
            penta_stop stop;
            vm->state->gas = 1000;
            pvm_vm_set_reg(vm, PVM_A0, address);
            pvm_vm_jump(vm, 0);
            penta_vm_run(&vm->base, UINT64_MAX, &stop);
            uint32_t low = (uint32_t)address;
            if (low == PVM_RETURN_ADDRESS)
                CHECK(stop.kind == PENTA_STOP_HALT && stop.pc == 0);
            else if (low == 2 || low == 4)
                CHECK(stop.detail == PVM_TRAP_TRAP && stop.pc == (low == 2 ? 3 : 2));
            else
                CHECK(stop.kind == PENTA_STOP_TRAP && stop.detail == PVM_TRAP_JUMP && stop.pc == 0);
        }
        penta_vm_free(&vm->base);
    }
}

/* ---- interrupts ---- */

/* a0 = a0 + 1; a1 = a0 /u a2; i32 a3 = a3 + 1; u64 [0x10000] = a0; jump 0: behind every round
 * a1 = a0 / a2, a3 = a0 and memory holds a0. */
static const uint8_t round_code[] = {149, 0x77, 1, 203, 0x97, 8,  131,  0xaa, 1,
                                     62,  7,    0, 0,   1,    40, 0xf2, 0};
static const uint8_t round_mask[] = {0x49, 0x42, 0x01};

struct nagging {
    penta_vm *vm;
    atomic_bool over;
};

static void *nag(void *user)
{
    struct nagging *n = user;
    while (!atomic_load(&n->over)) {
        usleep(20);
        penta_vm_interrupt(n->vm);
    }
    return NULL;
}

static void interrupts(bool metered)
{
    struct pvm_code program = {.isa = PVM_LATEST64,
                               .bytes = {round_code, sizeof round_code},
                               .mask = {round_mask, 3},
                               .starts = round_mask};
    struct pvm_vm *vm = machine(&program, metered);
    struct nagging n = {.vm = &vm->base};
    pthread_t thread;
    penta_stop stop;
    if (metered) vm->state->gas = INT64_MAX / 2;
    pvm_vm_set_reg(vm, PVM_A2, 7);
    pvm_vm_jump(vm, 0);
    pthread_create(&thread, NULL, nag, &n);
    uint64_t last = 0;
    for (int i = 0; i < 2000; i++) {
        penta_vm_run(&vm->base, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_INTERRUPT);
        while (vm->state->pc) {
            penta_vm_run(&vm->base, 1, &stop);
            CHECK(stop.kind == PENTA_STOP_FUEL || stop.kind == PENTA_STOP_INTERRUPT);
        }
        uint64_t a0 = vm->state->regs[PVM_A0], seen = 0;
        if (a0) pvm_memory_read(&vm->memory, 0x10000, &seen, 8);
        CHECK(seen == a0 && vm->state->regs[PVM_A1] == a0 / 7 && a0 >= last);
        CHECK(vm->state->regs[PVM_A3] == (uint64_t)(int64_t)(int32_t)(uint32_t)a0);
        last = a0;
    }
    atomic_store(&n.over, true);
    pthread_join(thread, NULL);
    penta_vm_free(&vm->base);
}

/* ---- threads ---- */

static const uint8_t pool_blob[] = {
    /* export f at 0: a0 = a0 + 1; u64 [sp - 8] = a0; a0 = u64 [sp - 8]; ret */
    'P', 'V',  'M',  0,   2,    0,    0,   0,    0,    0,   0, 0,    0,    1, 4,
    0,   0,    0xa0, 0,   5,    4,    1,   0,    1,    'f', 6, 16,   0,    0, 11,
    149, 0x77, 1,    123, 0x17, 0xf8, 130, 0x17, 0xf8, 50,  0, 0x49, 0x02, 0};

static void *calls(void *user)
{
    penta_pvm_pool *pool = user;
    for (uint64_t i = 0; i < 2000; i++) {
        penta_error err;
        penta_stop stop;
        penta_vm *vm = penta_pvm_pool_take(pool, &err);
        CHECK(vm && !strcmp(vm->engine->name, "jit"));
        penta_pvm_call(vm, 0, &i, 1);
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_HALT && penta_pvm_reg(vm, PENTA_PVM_A0) == i + 1);
        penta_vm_free(vm);
    }
    return NULL;
}

static void threads(void)
{
    uint8_t file[sizeof pool_blob];
    memcpy(file, pool_blob, sizeof file);
    file[5] = sizeof file;
    penta_error err;
    penta_module *module = penta_open((penta_bytes){file, sizeof file}, "pvm", NULL, 0, &err);
    CHECK(module);
    if (!module) return;
    penta_pvm_pool *pool = penta_pvm_pool_new(module, NULL, NULL, 0, &err);
    CHECK(pool);
    pthread_t many[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&many[i], NULL, calls, pool);
    for (int i = 0; i < 4; i++)
        pthread_join(many[i], NULL);
    penta_pvm_pool_free(pool);
    penta_close(module);
}

/* ---- somebody else's faults ---- */

static sigjmp_buf back;
static void own_handler(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

int main(void)
{
    /* Installed before the first machine: what is not the guest's must still arrive here. */
    struct sigaction action = {.sa_handler = own_handler, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    escapes();
    dynamic_jumps();
    interrupts(false);
    interrupts(true);
    threads();
    bool arrived = false;
    void *hole = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!sigsetjmp(back, 1))
        *(volatile char *)hole = 1;
    else
        arrived = true;
    CHECK(arrived);
    printf("%lu checks, %lu failures\n", checks, failures);
    return failures != 0;
}
