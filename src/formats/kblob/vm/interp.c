/* The interpreter (KBLOB 3). Programs have no branches, so the loop is a walk over decoded
 * instructions; what costs is finding the allocation of an address. Nearly always it is the one
 * of the access before, so its bounds stay in locals and a hit is one subtraction and two
 * compares. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "core/dispatch.h"
#include "kblob/vm/vm.h"

uint64_t kblob_access_size(const struct kblob_decoded *in)
{
    switch (in->op) {
    case KBLOB_OP_WRITE8:
    case KBLOB_OP_READ8: return 1;
    case KBLOB_OP_WRITE64:
    case KBLOB_OP_READ64: return 8;
    case KBLOB_OP_MEMSET: return in->arg1;
    default: return 0;
    }
}

bool kblob_access_writes(const struct kblob_decoded *in)
{
    return in->op != KBLOB_OP_READ8 && in->op != KBLOB_OP_READ64;
}

struct kblob_decoded *kblob_program_new(const struct kblob_module *module, penta_error *err)
{
    struct kblob_decoded *code = malloc((module->count + 1) * sizeof *code);
    if (!code) {
        error_at(err, BASE_MEMORY, 0, "no memory for %zu instructions", module->count);
        return NULL;
    }
    for (size_t i = 0; i < module->count; i++) {
        const struct kblob_inst *in = &module->insts[i];
        uint8_t op = in->opcode < KBLOB_OP_DEFINED ? in->opcode : KBLOB_OP_BAD;
        code[i] = (struct kblob_decoded){in->arg0, in->arg1, op};
    }
    code[module->count] = (struct kblob_decoded){0, 0, KBLOB_OP_END};
    return code;
}

void kblob_vm_init(struct kblob_vm *vm, const struct kblob_decoded *program, uint32_t count,
                   struct kblob_memory *memory)
{
    memset(vm, 0, sizeof *vm);
    vm->base.engine = &kblob_interp;
    atomic_init(&vm->base.interrupt, false);
    vm->program = program;
    vm->count = count;
    vm->memory = memory;
}

/* The window of memory that the last access lay in. A read-only one is open for reading only. */
struct window {
    uint64_t base, size;
    uint8_t *bytes;
    bool read_only;
};

/* Slow path of an access: moves the window, or says why not. */
static bool open_window(struct kblob_vm *vm, struct window *w, uint64_t address, uint64_t size,
                        bool write)
{
    vm->fault = kblob_memory_classify(vm->memory, address, size);
    if (!vm->fault) {
        const struct kblob_region *r = kblob_memory_find(vm->memory, address);
        *w = (struct window){r->base, r->size, r->bytes, r->read_only};
        if (!write || !r->read_only) return true;
        vm->fault = KBLOB_FAULT_READ_ONLY;
    }
    vm->fault_address = address;
    vm->fault_size = size;
    return false;
}

/* The n bytes at arg0 lie in the window; written so that nothing can wrap. */
#define INSIDE(n) (w.size >= (n) && in->arg0 - w.base <= w.size - (n))
#define ACCESS(n, write)                                                                           \
    if ((!INSIDE(n) || ((write) && w.read_only)) && !open_window(vm, &w, in->arg0, n, write))      \
        goto trap;                                                                                 \
    uint8_t *at = w.bytes + (in->arg0 - w.base)
#define READ(value)                                                                                \
    last_read = value;                                                                             \
    has_read = true;                                                                               \
    in++

/* Spent fuel dispatches like an instruction, so step is run(1) and needs no second loop. The
 * limit also ends slices, after which the interrupt flag is looked at. */
#define FETCH() (in == limit ? (uint8_t)KBLOB_OP_FUEL : in->op)
enum { SLICE = 1 << 14, LONG_MEMSET = 1 << 16 };

void kblob_vm_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
#if THREADED
    static const void *const entry[KBLOB_OPS] = {
#define OP(code, name, ...) [KBLOB_OP_##name] = &&on_KBLOB_OP_##name,
#include "kblob/isa.def"
        /* clang-format off */
        [KBLOB_OP_BAD] = &&on_KBLOB_OP_BAD,     [KBLOB_OP_END] = &&on_KBLOB_OP_END,
        [KBLOB_OP_BREAK] = &&on_KBLOB_OP_BREAK, [KBLOB_OP_FUEL] = &&on_KBLOB_OP_FUEL};
    /* clang-format on */
#endif
    struct kblob_vm *vm = kblob_vm(base);
    *stop = (penta_stop){.kind = PENTA_STOP_TRAP};
    vm->started = true;
    const struct kblob_decoded *code = vm->code ? vm->code : vm->program;
    const struct kblob_decoded *start = code + vm->pc, *in = start, *limit = start;
    uint64_t last_read = vm->last_read; /* hot state in locals, written back at out */
    bool has_read = vm->has_read;
    struct window w = {0};
    uint8_t op = KBLOB_OP_FUEL;
    if (vm->final || vm->asleep) goto stopped;
    if (fuel && vm->at_break && in->op == KBLOB_OP_BREAK) { /* the instruction below the mark */
        op = vm->program[vm->pc].op;
        limit = in + 1;
    }
    if (fuel) vm->at_break = false;

    for (;;) {
        /* clang-format off */
        DISPATCH(op) {
        CASE(KBLOB_OP_NOP):
            in++;
            NEXT;
        CASE(KBLOB_OP_WRITE8): {
            ACCESS(1, true);
            *at = (uint8_t)in->arg1;
            in++;
            NEXT;
        }
        CASE(KBLOB_OP_WRITE64): {
            ACCESS(8, true);
            put64(at, in->arg1);
            in++;
            NEXT;
        }
        CASE(KBLOB_OP_READ8): {
            ACCESS(1, false);
            READ(*at);
            NEXT;
        }
        CASE(KBLOB_OP_READ64): {
            ACCESS(8, false);
            READ(get64(at));
            NEXT;
        }
        CASE(KBLOB_OP_MEMSET): {
            if (in->arg1) {
                ACCESS(in->arg1, true);
                memset(at, 0, in->arg1);
            }
            in++;
            if (in[-1].arg1 >= LONG_MEMSET) limit = in; /* look at the interrupt flag now */
            NEXT;
        }
        CASE(KBLOB_OP_SLEEP):                  /* counts now; pc moves on when the host answers */
            vm->asleep = true;
            goto out;
        CASE(KBLOB_OP_HALT):
            vm->halted_explicitly = vm->final = true;
            goto out;
        CASE(KBLOB_OP_END):
            vm->final = true;
            goto out;
        CASE(KBLOB_OP_BREAK):
            stop->kind = PENTA_STOP_BREAK;
            vm->at_break = true;
            goto out;
        CASE(KBLOB_OP_FUEL): {
            uint64_t left = fuel - (uint64_t)(in - start);
            stop->kind = PENTA_STOP_FUEL;
            if (!left) goto out;
            if (atomic_exchange_explicit(&base->interrupt, false, memory_order_relaxed)) {
                stop->kind = PENTA_STOP_INTERRUPT;
                goto out;
            }
            limit = in + (left < SLICE ? left : SLICE);
            uint64_t ahead = (uint64_t)(code + vm->count + 1 - in); /* the end mark stops in time */
            if ((uint64_t)(limit - in) > ahead) limit = in + ahead;
            NEXT;
        }
        CASE(KBLOB_OP_BAD):                    /* verified programs have none */
            vm->fault = KBLOB_FAULT_NONE;
            goto trap;
        }
        /* clang-format on */
    }
trap:
    vm->final = true;
out:
    vm->pc = (uint32_t)(in - code);
    vm->last_read = last_read;
    vm->has_read = has_read;
    stop->steps = (uint64_t)(in - start) + (vm->halted_explicitly || vm->asleep);
    vm->executed += stop->steps;
stopped:
    stop->pc = vm->pc;
    if (vm->asleep) {
        stop->kind = PENTA_STOP_HOST;
        stop->detail = KBLOB_HOST_SLEEP;
        stop->args[0] = vm->program[vm->pc].arg1;
    } else if (vm->final) {
        bool trapped = vm->fault || (!vm->halted_explicitly && vm->pc < vm->count);
        stop->kind = trapped ? PENTA_STOP_TRAP : PENTA_STOP_HALT;
        stop->detail = vm->fault;
        stop->args[0] = vm->fault_address;
        stop->args[1] = vm->fault_size;
    }
}
