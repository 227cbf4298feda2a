/* Tests compiled code with interrupts at every instruction, machines of one pool in many
 * threads, and faults of the host itself. */
#include "support.h"
#include "penta/pvm.h"
#include "pvm/jit/jit.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct pvm_vm *pvm_jit_machine(const struct pvm_code *code, bool metered)
{
    struct pvm_config config = {
        .profile = pvm_profile_find("polkavm"), .metered = metered, .gas = metered ? 1000 : 0};
    penta_error err = {0};
    CHECK(pvm_engine_find("jit", &config.adopt));
    struct pvm_vm *vm = pvm_vm_create(NULL, code, &config, NULL, &err);
    if (!vm || vm->base.engine != &pvm_jit) checks_skip("no compiled code on this host");
    CHECK(pvm_memory_map(&vm->memory, 0x10000, PAGE, true, (penta_bytes){0}, false));
    return vm;
}

/* The code is a0 = a0 + 1; a1 = a0 /u a2; i32 a3 = a3 + 1; u64 [0x10000] = a0; jump 0. After
 * every round a1 = a0 / a2, a3 = a0 and memory holds a0. */
static const uint8_t round_code[] = {149, 0x77, 1, 203, 0x97, 8,  131,  0xaa, 1,
                                     62,  7,    0, 0,   1,    40, 0xf2, 0};
static const uint8_t round_mask[] = {0x49, 0x42, 0x01};

struct interrupter {
    penta_vm *vm;
    atomic_bool over;
};

static void *keep_interrupting(void *user)
{
    struct interrupter *n = user;
    while (!atomic_load(&n->over)) {
        usleep(20);
        penta_vm_interrupt(n->vm);
    }
    return NULL;
}

static void pvm_jit_interrupts(bool metered)
{
    struct pvm_code program = {.isa = PVM_LATEST64,
                               .bytes = {round_code, sizeof round_code},
                               .mask = {round_mask, 3},
                               .starts = round_mask};
    struct pvm_vm *vm = pvm_jit_machine(&program, metered);
    struct interrupter n = {.vm = &vm->base};
    pthread_t thread;
    penta_stop stop;
    if (metered) vm->state->gas = INT64_MAX / 2;
    pvm_vm_set_reg(vm, PVM_A2, 7);
    pvm_vm_jump(vm, 0);
    pthread_create(&thread, NULL, keep_interrupting, &n);
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

static const uint8_t pool_blob[] = {
    /* exports f at 0: a0 = a0 + 1; u64 [sp - 8] = a0; a0 = u64 [sp - 8]; ret */
    'P', 'V',  'M',  0,   2,    0,    0,   0,    0,    0,   0, 0,    0,    1, 4,
    0,   0,    0xa0, 0,   5,    4,    1,   0,    1,    'f', 6, 16,   0,    0, 11,
    149, 0x77, 1,    123, 0x17, 0xf8, 130, 0x17, 0xf8, 50,  0, 0x49, 0x02, 0};

static void *pool_calls(void *user)
{
    penta_pvm_pool *pool = user;
    for (uint64_t i = 0; i < 2000; i++) {
        penta_error err;
        penta_stop stop;
        penta_vm *vm = penta_pvm_pool_take(pool, &err);
        CHECK(vm && !strcmp(vm->engine->name, "jit"));
        penta_pvm_call(vm, 0, &i, 1);
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_HALT && penta_pvm_register_get(vm, PENTA_PVM_A0) == i + 1);
        penta_vm_free(vm);
    }
    return NULL;
}

static void pvm_jit_threads(void)
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
    for (int i = 0; i < 4; i++) pthread_create(&many[i], NULL, pool_calls, pool);
    for (int i = 0; i < 4; i++) pthread_join(many[i], NULL);
    penta_pvm_pool_free(pool);
    penta_close(module);
}

struct counted {
    uint64_t units, largest, calls, most; /* the compiler is done when more than `most` units are
                                           * counted */
};

static bool counted_over(void *user, uint64_t units)
{
    struct counted *c = user;
    if (units > c->largest) c->largest = units;
    c->units += units;
    c->calls++;
    return c->units > c->most;
}

/* Each row is code of one kind of instruction, one after the other: without native code, in
 * blocks of one instruction, in one block, with jumps forward, and with holes that no
 * instruction covers. */
static const struct {
    const char *what;
    uint8_t bytes[8];
    unsigned size;
    bool hole;
} fillings[] = {
    {"fallthrough", {17}, 1, false},    {"unlikely", {18}, 1, false},
    {"a0 = a0", {100, 0x77}, 2, false}, {"a0 = a0 + 1", {149, 0x77, 1}, 3, false},
    {"jump", {40, 2}, 2, false},        {"u64 [0x10000] = a0", {62, 7, 0, 0, 1}, 5, false},
    {"ecalli", {10, 1}, 2, false},      {"hole", {149, 0x77, 1, 0, 0, 0, 0, 0}, 8, true},
};

static void compile_counted(const struct pvm_code *code, bool metered, const char *what)
{
    enum { PER_BYTE = 8 }; /* A unit is at most this many bytes of code. */
    struct pvm_config config = {.profile = pvm_profile_find("polkavm"), .metered = metered};
    penta_error err = {0};
    struct counted c = {.most = UINT64_MAX};
    struct long_work work = {.over = counted_over, .user = &c};
    struct pvm_cells *cells = pvm_cells_new(code, config.profile, PVM_GAS_NAIVE, metered, &err);
    struct pvm_native *plain = pvm_native_compile(cells, &config);
    config.work = &work;
    struct pvm_native *n = pvm_native_compile(cells, &config);
    CHECK(plain && n && plain->used == n->used && !memcmp(plain->code, n->code, n->body));
    CHECK(c.largest <= LONG_WORK_UNITS && c.units >= code->bytes.size / PER_BYTE,
          "%s: %llu units, at most %llu", what, (unsigned long long)c.units,
          (unsigned long long)c.largest);
    pvm_native_free(n);
    pvm_native_free(plain);
    uint64_t all = c.units;
    for (uint64_t most = 0; most < all;
         most += all / 9 + 1) { /* The compiler must end wherever the flag is set. */
        c = (struct counted){.most = most};
        work.ended = false;
        CHECK(!pvm_native_compile(cells, &config));
        CHECK(work.ended && c.units - most <= LONG_WORK_UNITS);
    }
    pvm_cells_free(cells);
}

static void pvm_jit_compiling(void)
{
    enum { BYTES = 1 << 20 };
    uint8_t *bytes = malloc(BYTES), *starts = malloc(BYTES / 8 + 16);
    for (size_t k = 0; bytes && starts && k < sizeof fillings / sizeof *fillings; k++) {
        memset(starts, 0, BYTES / 8 + 16);
        memset(bytes, 0, BYTES);
        for (size_t at = 0; at + fillings[k].size <= BYTES; at += fillings[k].size) {
            memcpy(bytes + at, fillings[k].bytes, fillings[k].size);
            if (!fillings[k].hole || !(at % 4096)) starts[at / 8] |= (uint8_t)(1u << at % 8);
        }
        struct pvm_code code = {
            .bytes = {bytes, BYTES}, .mask = {starts, BYTES / 8}, .starts = starts};
        compile_counted(&code, false, fillings[k].what);
        compile_counted(&code, true, fillings[k].what);
    }
    free(bytes);
    free(starts);
}

static sigjmp_buf back;
static void own_handler(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

/* Tells whether a fault of the host arrives. It is a function of its own, so that the compiler
 * does not move the counters of checks across it. */
static __attribute__((noinline)) bool host_fault_arrives(void)
{
    void *hole = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigsetjmp(back, 1)) return true;
    *(volatile char *)hole = 1;
    return false;
}

int main(void)
{
    /* The handler is installed before the first machine. Faults that are not the guest's must
     * still arrive there. */
    struct sigaction action = {.sa_handler = own_handler, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    pvm_jit_interrupts(false);
    pvm_jit_interrupts(true);
    pvm_jit_threads();
    pvm_jit_compiling();
    CHECK(host_fault_arrives());
    return checks_end();
}
