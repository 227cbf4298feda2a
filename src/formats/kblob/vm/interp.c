/* The interpreter of kernel blobs (KBLOB 3) is in this file. Nearly every access is in the same
 * allocation as the access before. So the bounds of that allocation are in local variables, and
 * such an access costs one subtraction and two compares. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "core/dispatch.h"
#include "core/structure/counts.h"
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

/* Decodes an instruction. An instruction that no validated blob contains becomes one that traps. */
static struct kblob_decoded interp_decode(const struct kblob_module *m, const struct kblob_inst *in)
{
    struct kblob_decoded out = {in->arg0, in->arg1, in->opcode, 0, 0, KBLOB_ZERO};
    const struct kblob_op_info *op = kblob_op(m->header.version, in->opcode);
    if (!op) out.op = KBLOB_OP_BAD;
    if (!op || in->opcode < KBLOB_FIRST_2) return out;
    unsigned uses = kblob_uses(op);
    bool constant = uses & KBLOB_FIELD_B && kblob_b(in) == KBLOB_CONSTANT;
    out.d = in->flags;
    out.a = (uint8_t)kblob_a(in);
    if (!constant) out.b = (uint8_t)kblob_b(in);
    if (!constant && !(uses & KBLOB_FIELD_OFFSET)) out.arg0 = 0;
    if (out.d >= KBLOB_REGISTERS || out.a >= KBLOB_REGISTERS || out.b > KBLOB_ZERO ||
        (!constant && out.b == KBLOB_ZERO) || (uses & KBLOB_FIELD_TARGET && in->arg1 > m->count) ||
        (uses & KBLOB_FIELD_SPECIAL && in->arg1 >= KBLOB_SPECIALS))
        out = (struct kblob_decoded){.op = KBLOB_OP_BAD};
    return out;
}

struct kblob_decoded *kblob_program_new(const struct kblob_module *module, penta_error *err)
{
    struct kblob_decoded *code = malloc((module->count + 1) * sizeof *code);
    if (!code) {
        error_at(err, BASE_MEMORY, 0, "no memory for %zu instructions", module->count);
        return NULL;
    }
    for (size_t i = 0; i < module->count; i++) code[i] = interp_decode(module, &module->insts[i]);
    code[module->count] = (struct kblob_decoded){.op = KBLOB_OP_END};
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

/* A window is the memory around the last access. If it is read-only, it is used only for
 * reading. */
struct window {
    uint64_t base, size;
    uint8_t *bytes;
    bool read_only;
};
enum { OLDER = 3 };
struct windows {
    struct window now, older[OLDER];
};

static bool interp_inside(const struct window *w, uint64_t address, uint64_t size)
{
    return w->size >= size && address - w->base <= w->size - size;
}

/* Opens a window on the shared memory of the current block, whose addresses are above those of
 * the device. */
static bool open_shared(struct kblob_vm *vm, struct window *w, uint64_t address, uint64_t size)
{
    const struct kblob_grid *g = &vm->grid;
    uint64_t bytes = g->launch.shared, at = address - KBLOB_SHARED_BASE;
    if (at >= bytes)
        vm->fault = KBLOB_FAULT_UNMAPPED;
    else if (size > bytes - at)
        vm->fault = KBLOB_FAULT_OUT_OF_BOUNDS;
    else
        *w = (struct window){KBLOB_SHARED_BASE, bytes,
                             g->shared + kblob_grid_block(g, g->current) * bytes, false};
    return !vm->fault;
}

/* Moves the window to an address. Returns false if the access is a fault. */
static bool move_window(struct kblob_vm *vm, struct windows *w, uint64_t address, uint64_t size,
                        bool write)
{
    struct window left = w->now;
    for (int i = 0; i < OLDER; i++) {
        struct window found = w->older[i];
        w->older[i] = left;
        left = found;
        if (!interp_inside(&found, address, size)) continue;
        w->now = found;
        if (!write || !found.read_only) return true;
        break;
    }
    if (address >= KBLOB_SHARED_BASE && vm->grid.shared)
        return open_shared(vm, &w->now, address, size);
    vm->fault = kblob_memory_classify(vm->memory, address, size);
    if (vm->fault) return false;
    const struct kblob_region *r = kblob_memory_find(vm->memory, address);
    w->now = (struct window){r->base, r->size, r->bytes, r->read_only};
    if (write && r->read_only) vm->fault = KBLOB_FAULT_READ_ONLY;
    return !vm->fault;
}

/* Tells the guards about an access. Afterwards the window is the unwatched memory around the
 * access, or empty if the access itself is to watched memory. */
static void heed_guards(struct guards *guards, struct window *w, uint64_t address, uint64_t size,
                        unsigned kind)
{
    uint64_t low = w->base, high = w->base + w->size;
    if (kind & KBLOB_READS) guards_see(guards, address, size, false);
    if (kind & KBLOB_WRITES) guards_see(guards, address, size, true);
    for (size_t i = 0; i < guards->count; i++) {
        const struct guard *g = &guards->list[i];
        if (g->address >= address + size)
            high = g->address < high ? g->address : high;
        else if (g->address + g->size <= address)
            low = g->address + g->size > low ? g->address + g->size : low;
        else
            high = low = address;
    }
    if (high == low) low = address; /* The current access still goes through the window. */
    *w =
        (struct window){low, high > low ? high - low : 0, w->bytes + (low - w->base), w->read_only};
}

/* Handles an access outside of the window. If accesses are logged, every access comes here,
 * because the window then stays empty. */
__attribute__((noinline)) static bool open_window(struct kblob_vm *vm, struct windows *w,
                                                  uint64_t address, uint64_t size, unsigned kind,
                                                  uint64_t value, uint32_t pc)
{
    struct kblob_grid *g = &vm->grid;
    if (!move_window(vm, w, address, size, kind & KBLOB_WRITES)) {
        vm->fault_address = address;
        vm->fault_size = size;
        return false;
    }
    if (vm->base.guards.count) heed_guards(&vm->base.guards, &w->now, address, size, kind);
    if (!g->log) return true;
    uint32_t barriers = g->blocks[kblob_grid_block(g, g->current)].barriers;
    g->log[g->log_count++] = (struct kblob_access){address,    value,    (uint32_t)size, pc,
                                                   g->current, barriers, (uint8_t)kind};
    w->now.size = 0;
    return true;
}

/* Clears memory piece by piece. Returns false if it was interrupted; guards and logs then do not
 * see the access. */
static bool clear_in_pieces(struct kblob_vm *vm, uint8_t *at, uint32_t size)
{
    enum { PIECE = 1 << 20 };
    for (uint32_t done = 0, n; done < size; done += n) {
        n = size - done < PIECE ? size - done : PIECE;
        if (vm_work(&vm->base, poll_bytes(n))) {
            vm->grid.log_count -= vm->grid.log != NULL;
            vm->base.guards.hit = 0;
            return false;
        }
        memset(at + done, 0, n);
    }
    return true;
}

static bool interp_divide(uint8_t op, uint64_t x, uint64_t y, uint64_t *out)
{
    if (!y) return false;
    /* If the divisor is -1, the result for the least number wraps, because that number has no
     * opposite. */
    bool wraps = y == UINT64_MAX;
    switch (op) {
    case KBLOB_OP_DIVU: *out = x / y; break;
    case KBLOB_OP_REMU: *out = x % y; break;
    case KBLOB_OP_DIVS: *out = wraps ? 0 - x : (uint64_t)((int64_t)x / (int64_t)y); break;
    default: *out = wraps ? 0 : (uint64_t)((int64_t)x % (int64_t)y);
    }
    return true;
}

#define ADDRESS (R[in->a] + in->arg0)
/* After an access to watched memory no other instruction runs. */
#define ACCESS(where, n, kind, value)                                                              \
    uint64_t address = where;                                                                      \
    if (!interp_inside(&w.now, address, n) || (((kind)&KBLOB_WRITES) && w.now.read_only)) {        \
        if (!open_window(vm, &w, address, n, kind, value, (uint32_t)(in - code))) goto trap;       \
        if (base->guards.hit) later += left, granted -= left, left = 0;                            \
    }                                                                                              \
    uint8_t *at = w.now.bytes + (address - w.now.base)
#define READ(value)                                                                                \
    last_read = value;                                                                             \
    has_read = true;                                                                               \
    in++

/* These are the operands of calculations: register a, and the sum of register b and the
 * constant, one of which is 0. */
#define X R[in->a]
#define Y (R[in->b] + in->arg0)
#define CALCULATE(name, expression)                                                                \
    CASE(KBLOB_OP_##name) :                                                                        \
    {                                                                                              \
        uint64_t x = X, y = Y;                                                                     \
        R[in->d] = expression;                                                                     \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define DIVIDE(name)                                                                               \
    CASE(KBLOB_OP_##name) :                                                                        \
    {                                                                                              \
        if (!interp_divide(KBLOB_OP_##name, X, Y, &R[in->d])) {                                    \
            vm->fault = KBLOB_FAULT_DIVISION;                                                      \
            goto trap;                                                                             \
        }                                                                                          \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define LOAD(name, n, get)                                                                         \
    CASE(KBLOB_OP_##name) :                                                                        \
    {                                                                                              \
        ACCESS(ADDRESS, n, KBLOB_READS, 0);                                                        \
        R[in->d] = get(at);                                                                        \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define STORE(name, n, put, type)                                                                  \
    CASE(KBLOB_OP_##name) :                                                                        \
    {                                                                                              \
        ACCESS(ADDRESS, n, KBLOB_WRITES, R[in->b]);                                                \
        put(at, (type)R[in->b]);                                                                   \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define ATOMIC(name, n, get, put, type, result)                                                    \
    CASE(KBLOB_OP_##name) :                                                                        \
    {                                                                                              \
        ACCESS(ADDRESS, n, KBLOB_READS | KBLOB_WRITES | KBLOB_ATOMIC, 0);                          \
        type old = get(at), d = (type)R[in->d], b = (type)R[in->b];                                \
        (void)d;                                                                                   \
        put(at, (type)(result));                                                                   \
        R[in->d] = old;                                                                            \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define BRANCH(name, condition)                                                                    \
    CASE(KBLOB_OP_##name) :                                                                        \
    {                                                                                              \
        uint64_t x = X, y = Y;                                                                     \
        in = condition ? code + in->arg1 : in + 1;                                                 \
        NEXT;                                                                                      \
    }
#define SIGNED(v) ((int64_t)(v))
static inline uint8_t interp_get8(const uint8_t *p) { return *p; }
static inline void interp_put8(uint8_t *p, uint8_t v) { *p = v; }

/* Fuel is used in slices: `left` counts down in the current slice, and `later` is the fuel of
 * the following slices. Between slices the loop looks at the interrupt flag. When the fuel is
 * used up, the loop dispatches an instruction that stops, so a single step is a run with fuel 1
 * and needs no loop of its own. */
#define FETCH() (__builtin_expect(left-- != 0, 1) ? in->op : (uint8_t)KBLOB_OP_FUEL)
#define END_SLICE (later += left, granted -= left, left = 0)
enum { SLICE = 1 << 14, LONG_MEMSET = 1 << 16 };

/* Continues with another thread, or ends the run. `turn` says what happened to the current
 * thread. */
#define TURN(call, executed)                                                                       \
    vm->pc = (uint32_t)(in - code);                                                                \
    enum kblob_turn turn = call;                                                                   \
    if (base->counts && turn != KBLOB_TURN_STAYS)                                                  \
        count_turn(vm, (uint32_t)(in - code), executed, turn == KBLOB_TURN_SWITCHED);              \
    if (turn == KBLOB_TURN_OVER) goto over;                                                        \
    if (turn == KBLOB_TURN_STUCK) goto stuck;                                                      \
    if (turn == KBLOB_TURN_SWITCHED) {                                                             \
        R = vm->grid.threads[vm->grid.current].r;                                                  \
        in = code + vm->pc;                                                                        \
        memset(&w, 0, sizeof w); /* Another block has other shared memory. */                      \
        later += left, left = granted = 0;                                                         \
    }

/* The functions below count parts of straight pieces of code (core/structure/counts.h). */

static void count_start(struct kblob_vm *vm)
{
    if (!vm->places[vm->pc]) counts_resume(vm->base.counts, vm->pc);
}

/* Corrects the counts when the current thread stops at an instruction and another thread may
 * continue. `executed` tells whether that instruction was executed. */
static void count_turn(struct kblob_vm *vm, uint32_t from, bool executed, bool switched)
{
    if (executed)
        counts_leave_after(vm->base.counts, from);
    else if (!vm->places[from])
        counts_leave(vm->base.counts, from);
    if (switched) count_start(vm);
}

static void count_stop(struct kblob_vm *vm)
{
    if (vm->asleep || vm->halted_explicitly)
        counts_leave_after(vm->base.counts, vm->pc);
    else if (vm->final || !vm->places[vm->pc])
        counts_leave(vm->base.counts, vm->pc);
}

void kblob_vm_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
#if THREADED
    static const void *const entry[KBLOB_OPS] = {
#define OP(code, name, ...) [KBLOB_OP_##name] = &&on_KBLOB_OP_##name,
#include "kblob/isa.def"
        /* clang-format off */
        [KBLOB_OP_BAD] = &&on_KBLOB_OP_BAD,     [KBLOB_OP_END] = &&on_KBLOB_OP_END,
        [KBLOB_OP_BREAK] = &&on_KBLOB_OP_BREAK, [KBLOB_OP_COUNT] = &&on_KBLOB_OP_COUNT,
        [KBLOB_OP_COUNT_START] = &&on_KBLOB_OP_COUNT_START,
        [KBLOB_OP_FUEL] = &&on_KBLOB_OP_FUEL};
    /* clang-format on */
#endif
    struct kblob_vm *vm = kblob_vm(base);
    struct kblob_grid *grid = &vm->grid;
    *stop = (penta_stop){.kind = PENTA_STOP_TRAP};
    vm->started = true;
    const struct kblob_decoded *code = vm->code ? vm->code : vm->program, *in = code + vm->pc;
    uint64_t left = 0, later = fuel, granted = 0;
    uint64_t *R = grid->threads ? grid->threads[grid->current].r : NULL;
    /* Variables that are used often are local here, and written back at `out`. */
    uint64_t last_read = vm->last_read;
    bool has_read = vm->has_read, cut = false, settled = false;
    struct windows w = {0};
    uint8_t op = KBLOB_OP_FUEL;
    if (vm->final || vm->asleep) goto stopped;
    if (fuel && vm->at_break &&
        in->op == KBLOB_OP_BREAK) { /* This executes the instruction that has the breakpoint. */
        op = vm->program[vm->pc].op;
        later--, granted = 1;
    }
    if (fuel) vm->at_break = false;
    if (fuel && grid->stuck) goto stuck;
    if (base->counts && fuel) count_start(vm);

    for (;;) {
        /* clang-format off */
        DISPATCH(op) {
        CASE(KBLOB_OP_NOP):
            in++;
            NEXT;
        CASE(KBLOB_OP_WRITE8): {
            ACCESS(in->arg0, 1, KBLOB_WRITES, in->arg1);
            *at = (uint8_t)in->arg1;
            in++;
            NEXT;
        }
        CASE(KBLOB_OP_WRITE64): {
            ACCESS(in->arg0, 8, KBLOB_WRITES, in->arg1);
            bytes_put64(at, in->arg1);
            in++;
            NEXT;
        }
        CASE(KBLOB_OP_READ8): {
            ACCESS(in->arg0, 1, KBLOB_READS, 0);
            READ(*at);
            NEXT;
        }
        CASE(KBLOB_OP_READ64): {
            ACCESS(in->arg0, 8, KBLOB_READS, 0);
            READ(bytes_get64(at));
            NEXT;
        }
        CASE(KBLOB_OP_MEMSET): {
            if (in->arg1) {
                ACCESS(in->arg0, in->arg1, KBLOB_WRITES, 0);
                if (!clear_in_pieces(vm, at, in->arg1)) goto paused;
            }
            /* This ends the slice, so that the loop looks at the interrupt flag. */
            if (in->arg1 >= LONG_MEMSET) {
                END_SLICE;
                cut = vm->yields;
            }
            in++;
            NEXT;
        }
        /* The instruction counts as executed now; pc moves when the host answers. */
        CASE(KBLOB_OP_SLEEP):
            vm->asleep = true;
            goto out;
        CASE(KBLOB_OP_HALT): {
            if (grid->threads) {
                TURN(kblob_grid_end(vm, true), true);
                NEXT;
            }
            vm->halted_explicitly = vm->final = true;
            goto out;
        }
        CASE(KBLOB_OP_END): {
            left++;
            if (grid->threads) {
                TURN(kblob_grid_end(vm, false), true);
                NEXT;
            }
            vm->final = true;
            goto out;
        }
        CASE(KBLOB_OP_BREAK):
            left++;
            stop->kind = PENTA_STOP_BREAK;
            vm->at_break = true;
            goto out;
        CASE(KBLOB_OP_COUNT):
            vm->hits[vm->places[in - code] >> COUNT_SHIFT]++;
            op = vm->program[in - code].op;
            continue;
        CASE(KBLOB_OP_COUNT_START):
            counts_arrive(base->counts, vm->places[in - code], KBLOB_COUNT_KEY);
            op = vm->program[in - code].op;
            continue;
        CASE(KBLOB_OP_FUEL): {
            left = 0; /* `left` was 0 and was counted down once more. */
            if (grid->count > 1) {
                grid->quantum -= (uint32_t)granted;
                granted = 0;
                if (!grid->quantum) {
                    TURN(kblob_grid_rotate(vm), false);
                }
            }
            /* The end of a thread without HALT takes no fuel, so that pc is the next
             * instruction. The last thread is not ended here. */
            while (!later && in->op == KBLOB_OP_END && grid->ended + 1 < grid->count) {
                TURN(kblob_grid_end(vm, false), true);
            }
            uint64_t most = grid->count > 1 ? grid->quantum : SLICE;
            if (grid->log && grid->log_capacity - grid->log_count < most)
                most = grid->log_capacity - grid->log_count;
            stop->kind = base->guards.hit ? PENTA_STOP_BREAK : PENTA_STOP_FUEL;
            if (!later || cut || !most || base->guards.hit) goto out;
            if (atomic_exchange_explicit(&base->interrupt, false, memory_order_relaxed)) {
                stop->kind = PENTA_STOP_INTERRUPT;
                goto out;
            }
            left = granted = later < most ? later : most;
            later -= left;
            NEXT;
        }
        /* Programs that passed the checks do not have this instruction. */
        CASE(KBLOB_OP_BAD):
            vm->fault = KBLOB_FAULT_NONE;
            goto trap;

        /* The instructions below are those of version 2. */
        CASE(KBLOB_OP_MOV):
            R[in->d] = Y;
            in++;
            NEXT;
        CALCULATE(ADD, x + y)
        CALCULATE(SUB, x - y)
        CALCULATE(MUL, x * y)
        DIVIDE(DIVU)
        DIVIDE(DIVS)
        DIVIDE(REMU)
        DIVIDE(REMS)
        CALCULATE(AND, x & y)
        CALCULATE(OR, x | y)
        CALCULATE(XOR, x ^ y)
        CALCULATE(SHL, x << (y & 63))
        CALCULATE(SHR, x >> (y & 63))
        CALCULATE(SAR, (uint64_t)(SIGNED(x) >> (y & 63)))
        CALCULATE(MINU, x < y ? x : y)
        CALCULATE(MINS, SIGNED(x) < SIGNED(y) ? x : y)
        CALCULATE(MAXU, x > y ? x : y)
        CALCULATE(MAXS, SIGNED(x) > SIGNED(y) ? x : y)
        CALCULATE(SEQ, x == y)
        CALCULATE(SNE, x != y)
        CALCULATE(SLTU, x < y)
        CALCULATE(SLTS, SIGNED(x) < SIGNED(y))
        CALCULATE(SLEU, x <= y)
        CALCULATE(SLES, SIGNED(x) <= SIGNED(y))
        CALCULATE(SEL, x ? y : R[in->d])
        LOAD(LD8, 1, interp_get8)
        LOAD(LD16, 2, bytes_get16)
        LOAD(LD32, 4, bytes_get32)
        LOAD(LD64, 8, bytes_get64)
        STORE(ST8, 1, interp_put8, uint8_t)
        STORE(ST16, 2, bytes_put16, uint16_t)
        STORE(ST32, 4, bytes_put32, uint32_t)
        STORE(ST64, 8, bytes_put64, uint64_t)
        ATOMIC(AADD32, 4, bytes_get32, bytes_put32, uint32_t, old + b)
        ATOMIC(AADD64, 8, bytes_get64, bytes_put64, uint64_t, old + b)
        ATOMIC(CAS32, 4, bytes_get32, bytes_put32, uint32_t, old == d ? b : old)
        ATOMIC(CAS64, 8, bytes_get64, bytes_put64, uint64_t, old == d ? b : old)
        CASE(KBLOB_OP_JMP):
            in = code + in->arg1;
            NEXT;
        BRANCH(BEQ, x == y)
        BRANCH(BNE, x != y)
        BRANCH(BLTU, x < y)
        BRANCH(BGEU, x >= y)
        BRANCH(BLTS, SIGNED(x) < SIGNED(y))
        BRANCH(BGES, SIGNED(x) >= SIGNED(y))
        CASE(KBLOB_OP_LOOP): {
            uint64_t y = Y;
            R[in->d] = 0;
            in = y ? in + 1 : code + in->arg1;
            NEXT;
        }
        CASE(KBLOB_OP_NEXT): {
            uint64_t x = ++R[in->d];
            in = x < Y ? code + in->arg1 : in + 1;
            NEXT;
        }
        CASE(KBLOB_OP_BAR): {
            TURN(kblob_grid_barrier(vm), true);
            if (turn == KBLOB_TURN_STAYS) in++;
            NEXT;
        }
        CASE(KBLOB_OP_ID):
            R[in->d] = kblob_grid_special(grid, in->arg1);
            in++;
            NEXT;
        CASE(KBLOB_OP_ARG): {
            uint64_t y = Y;
            if (y >= grid->launch.args.size / 8) {
                vm->fault = KBLOB_FAULT_ARGUMENT;
                vm->fault_address = y;
                goto trap;
            }
            R[in->d] = bytes_get64(grid->launch.args.data + 8 * y);
            in++;
            NEXT;
        }
        }
        /* clang-format on */
    }
over:
    vm->final = settled = true;
    vm->halted_explicitly = !grid->implicit;
    goto out;
/* The waiting thread can never continue, so it traps, after the instruction that caused this. */
stuck:
    in = code + vm->pc;
    granted = left; /* The waiting thread has used no part of its quantum. */
    grid->stuck = settled = true;
    stop->kind = PENTA_STOP_FUEL;
    if (!left && !later) goto out;
    vm->fault = KBLOB_FAULT_BARRIER;
    vm->final = true;
    goto out;
paused: /* The instruction was interrupted and will start again (KBLOB 3.16). */
    left++;
    atomic_store_explicit(&base->interrupt, false, memory_order_relaxed);
    stop->kind = PENTA_STOP_INTERRUPT;
    goto out;
trap:
    left++;
    vm->final = true;
out:
    vm->pc = (uint32_t)(in - code);
    vm->last_read = last_read;
    vm->has_read = has_read;
    if (grid->count > 1) grid->quantum -= (uint32_t)(granted - left);
    stop->steps = fuel - later - left;
    vm->executed += stop->steps;
    if (base->counts && fuel && !settled) count_stop(vm);
stopped:
    stop->pc = vm->pc;
    if (vm->asleep) {
        stop->kind = PENTA_STOP_HOST;
        stop->detail = KBLOB_HOST_SLEEP;
        stop->args[0] = vm->program[vm->pc].arg1;
    } else if (vm->final) {
        bool trapped = vm->fault || vm->program[vm->pc].op == KBLOB_OP_BAD;
        stop->kind = trapped ? PENTA_STOP_TRAP : PENTA_STOP_HALT;
        stop->detail = vm->fault;
        stop->args[0] = vm->fault_address;
        stop->args[1] = vm->fault_size;
    }
}
