#include <stdlib.h>
#include <string.h>
#include "core/describe.h"
#include "core/dispatch.h"
#include "core/snapshot.h"
#include "demo/demo.h"

struct demo_vm {
    penta_vm base;
    struct demo_insn *code; /* The last instruction is DEMO_BAD. */
    uint64_t acc;
    uint32_t pc, count;
    bool final;
};

#define FETCH() (left ? (left--, (in = &vm->code[pc++])->op) : DEMO_FUEL)

static void demo_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
#if THREADED
    static const void *const entry[DEMO_OPS] = {
#define OP(code, name, ...) [DEMO_##name] = &&on_DEMO_##name,
#include "demo/isa.def"
        [DEMO_BAD] = &&on_DEMO_BAD, [DEMO_FUEL] = &&on_DEMO_FUEL};
#endif
    struct demo_vm *vm = (struct demo_vm *)base;
    const struct demo_insn *in = vm->code;
    bool over = vm->final;
    uint64_t acc = vm->acc, left = over ? 0 : fuel;
    uint32_t pc = vm->pc;
    uint8_t op = (uint8_t)FETCH();
    *stop = (penta_stop){.kind = PENTA_STOP_TRAP};
    for (;;) {
        /* clang-format off */
        DISPATCH(op) {
        CASE(DEMO_LOAD): acc = in->imm;         NEXT;
        CASE(DEMO_ADDI): acc += in->imm;        NEXT;
        CASE(DEMO_JNZ):  if (acc) pc = in->imm; NEXT;
        CASE(DEMO_HALT): pc--; stop->kind = PENTA_STOP_HALT; vm->final = true; goto out;
        CASE(DEMO_FUEL): stop->kind = over ? PENTA_STOP_HALT : PENTA_STOP_FUEL; goto out;
        CASE(DEMO_BAD):  pc--; left++;          goto out;
        }
        /* clang-format on */
    }
out:
    stop->steps = over ? 0 : fuel - left;
    vm->acc = acc;
    vm->pc = pc;
    stop->pc = pc;
}

static penta_vm *open_vm(const penta_module *module, const penta_option *options, size_t count,
                         penta_error *err)
{
    (void)options, (void)count;
    const struct demo_module *m = (const struct demo_module *)module;
    struct demo_vm *vm = calloc(1, sizeof *vm);
    struct demo_insn *code = calloc(m->count + 1, sizeof *code);
    if (!vm || !code) {
        error_at(err, BASE_MEMORY, 0, "no memory for a machine");
        free(vm);
        free(code);
        return NULL;
    }
    for (size_t i = 0; i < m->count; i++) code[i].op = (uint8_t)demo_decode(m, i, &code[i].imm);
    vm->base.engine = &demo_interp;
    vm->base.module = module;
    vm->code = code;
    vm->count = (uint32_t)m->count;
    return &vm->base;
}

static void demo_vm_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct demo_vm *vm = (const struct demo_vm *)base;
    describe_uint(v, "pc", vm->pc);
    penta_node registers = {.name = "registers"};
    if (!describe_enter(v, registers)) return;
    describe_word(v, "acc", vm->acc);
    describe_leave(v, registers);
}

static bool demo_answer(penta_vm *vm, const uint64_t *results, size_t count, penta_error *err)
{
    (void)vm, (void)results, (void)count;
    return error_at(err, BASE_STATE, 0, "this machine has no host calls");
}

static void demo_walk(penta_vm *base, struct walk *w)
{
    struct demo_vm *vm = (struct demo_vm *)base;
    WALK_NUMBER(w, vm->acc);
    WALK_NUMBER(w, vm->pc);
    WALK_NUMBER(w, vm->final);
    if (vm->pc > vm->count) walk_wrong(w, "pc outside the program");
}

static void close_vm(penta_vm *base)
{
    free(((struct demo_vm *)base)->code);
    free(base);
}

const struct engine demo_interp = {.name = "interp",
                                   .open = open_vm,
                                   .run = demo_run,
                                   .answer = demo_answer,
                                   .describe = demo_vm_describe,
                                   .walk = demo_walk,
                                   .close = close_vm};
