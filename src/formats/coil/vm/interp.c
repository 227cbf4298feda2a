/* The loop of the interpreter executes one cell per instruction. When the fuel is used
 * up, the loop dispatches a cell that stops, so a single step is a run with fuel 1. The file
 * also has calls, computed jumps, and ports, which ask the host. */
#include "coil/vm/bulk.h"
#include "base/array.h"
#include "core/dispatch.h"
#include "core/structure/counts.h"
#include <stdlib.h>

static bool grow_slots(struct coil_vm *vm, size_t need)
{
    enum { SLOTS_MAX = 1 << 27 };
    return need <= SLOTS_MAX && ARRAY_RESERVE(vm->slots, vm->slot_capacity, need);
}

/* Calls a function. If `tail` is true, the called function replaces the running one. If the
 * result is COIL_PAUSE, the call has not happened; or, if bulk.enters is set, only the clearing
 * of the new frame is not finished. */
uint32_t coil_enter(struct coil_vm *vm, uint32_t function, uint32_t back, bool tail)
{
    const struct coil_function *to = &vm->program.functions[function],
                               *now = &vm->program.functions[vm->function];
    uint64_t base = tail ? vm->frame_top : vm->frame_top + now->bytes;
    size_t fp = tail ? vm->fp : vm->fp + now->slots;
    if (!tail && vm->depth >= vm->depth_max) return COIL_TRAP_STACK_OVERFLOW;
    if (to->bytes > vm->frame_memory->base + vm->frame_memory->size - base)
        return COIL_TRAP_STACK_OVERFLOW;
    if (to->bytes / 8 + to->slots > 64) TRY(coil_work_bytes(vm, to->bytes + 8 * to->slots));
    if (fp + to->slots > vm->slot_capacity && !grow_slots(vm, fp + to->slots))
        return COIL_TRAP_STACK_OVERFLOW;
    if (!tail) {
        if (!ARRAY_RESERVE(vm->frames, vm->frame_capacity, vm->depth + 1))
            return COIL_TRAP_STACK_OVERFLOW;
        vm->frames[vm->depth++] = (struct coil_frame){back, vm->function};
    }
    uint64_t *slots = vm->slots + fp;
    for (uint32_t i = 0; i < to->slots; i++) slots[i] = 0;
    vm->frame_top = base;
    vm->fp = fp;
    vm->function = function;
    return to->bytes ? coil_clear_frame(vm, to->bytes) : 0;
}

uint32_t coil_leave(struct coil_vm *vm)
{
    const struct coil_frame *f = &vm->frames[--vm->depth];
    const struct coil_function *to = &vm->program.functions[f->function];
    vm->fp -= to->slots;
    vm->frame_top -= to->bytes;
    vm->function = f->function;
    return f->back;
}

/* The target of these jumps depends on a value: jumps to a variable, SWITCH and TRAP. */

struct jump {
    bool taken, call;
    uint64_t address;
};

static uint32_t switch_target(struct coil_vm *vm, const struct coil_step *s, uint64_t *address)
{
    uint64_t value, table;
    uint32_t trap = coil_place_read(
        vm, &s->places[0], s->places[0].at == COIL_AT_REGISTER ? COIL_T_UNT64 : s->places[0].op,
        &value);
    if (!trap) trap = coil_place_read(vm, &s->places[1], COIL_T_UNT64, &table);
    if (trap) return trap;
    if (table % 8) {
        vm->fault_address = table;
        return COIL_TRAP_MISALIGNED;
    }
    const uint8_t *head = coil_memory(vm, table, 16, false, &trap);
    if (!head) return trap;
    unsigned bits = 8u * coil_types[s->places[0].op].bytes;
    if (bits && bits < 64 && s->places[0].at != COIL_AT_REGISTER)
        value &= (UINT64_C(1) << bits) - 1;
    bool inside = value < bytes_uint(head, 8, vm->m->big_endian);
    uint64_t entry = inside ? table + 16 + value * 8 : table + 8;
    const uint8_t *p = coil_memory(vm, entry, 8, false, &trap);
    if (p) *address = bytes_uint(p, 8, vm->m->big_endian);
    return trap;
}

static uint32_t interp_decide(struct coil_vm *vm, const struct coil_step *s, struct jump *j)
{
    bool conditional = s->count && s->places[0].form == COIL_PARAM;
    const struct coil_place *target = &s->places[s->count - 1];
    *j = (struct jump){.taken = true, .call = s->opcode == COIL_OP_CALL};
    if (s->opcode == COIL_OP_TRAP) {
        uint32_t trap = coil_place_read(
            vm, target, target->at == COIL_AT_REGISTER ? COIL_T_INT64 : target->op, &vm->trap_code);
        return trap ? trap : COIL_TRAP_TRAP;
    }
    if (s->opcode == COIL_OP_SWITCH) return switch_target(vm, s, &j->address);
    if (conditional) {
        coil_flags_settle(vm);
        j->taken = coil_condition((uint8_t)s->places[0].value, vm->flags);
        if (!j->taken) return 0;
    }
    return coil_place_read(vm, target, COIL_T_UNT64, &j->address);
}

/* Finds the target of a jump: a cell of the running function, or another function. */
static uint32_t interp_resolve(struct coil_vm *vm, const struct jump *j, uint32_t *cell,
                               bool *function)
{
    const struct coil_program *p = &vm->program;
    bool there = coil_program_cell(p, j->address, cell);
    *function = there && p->starts[*cell] != 0;
    if (!there || (j->call ? !*function : !*function && p->owners[*cell] != vm->function)) {
        vm->fault_address = j->address;
        return COIL_TRAP_BAD_TARGET;
    }
    if (!j->call && p->owners[*cell] == vm->function)
        /* The target is the start of the running function, so this is a loop. */
        *function = false;
    return 0;
}

/* Asks the host to execute a vendor instruction. The arguments are the extended opcode, the number
 * of operands, and the first operands. */
static uint32_t ask_vendor(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t args[COIL_HOST_ARGS] = {s->extended, s->written};
    for (unsigned i = 0; i < s->count && i + 2 < COIL_HOST_ARGS; i++) {
        const struct coil_place *p = &s->places[i];
        uint32_t trap = 0;
        if (p->at == COIL_AT_NONE)
            args[i + 2] = p->value;
        else if (coil_place_scalar(p))
            trap = coil_read_own(vm, s, i, &args[i + 2]);
        else if (p->at != COIL_AT_CONST)
            trap = coil_address_of(vm, p, &args[i + 2]);
        if (trap) return trap;
    }
    vm->host_call = COIL_HOST_VENDOR;
    memcpy(vm->host_args, args, sizeof args);
    return 0;
}

static uint32_t interp_ask(struct coil_vm *vm, const struct coil_step *s)
{
    if (s->opcode == COIL_OP_VENDOR) return ask_vendor(vm, s);
    bool out = s->opcode == COIL_OP_OUTPORT;
    const struct coil_place *port_place = &s->places[out ? 0 : 1], *value = &s->places[1];
    uint64_t port, bits = 0;
    uint32_t trap = coil_place_read(
        vm, port_place, port_place->at == COIL_AT_REGISTER ? COIL_T_INT64 : port_place->op, &port);
    uint8_t type = value->at == COIL_AT_REGISTER ? COIL_T_INT64 : value->op;
    if (!trap && out) trap = coil_place_read(vm, value, type, &bits);
    if (trap) return trap;
    if (port != 1 && !(out && port == 2)) return COIL_TRAP_BAD_PORT;
    vm->host_call = out ? COIL_HOST_OUT : COIL_HOST_IN;
    vm->host_args[0] = port;
    vm->host_args[1] = bits;
    vm->host_args[2] = out ? type : 0;
    for (int i = 3; i < COIL_HOST_ARGS; i++) vm->host_args[i] = 0;
    return 0;
}

#define FETCH() ((uint16_t)(left ? (left--, in->op) : COIL_CELL_FUEL))
#define STOP(code)                                                                                 \
    do {                                                                                           \
        vm->trap = code;                                                                           \
        goto trap;                                                                                 \
    } while (0)
/* clang-format off */
#define CUT_I8(v)  (uint64_t)(int64_t)(int8_t)(v)
#define CUT_U8(v)  (uint64_t)(uint8_t)(v)
#define CUT_I16(v) (uint64_t)(int64_t)(int16_t)(v)
#define CUT_U16(v) (uint64_t)(uint16_t)(v)
#define CUT_I32(v) (uint64_t)(int64_t)(int32_t)(v)
#define CUT_U32(v) (uint64_t)(uint32_t)(v)
#define CUT_W64(v) (uint64_t)(v)
#define WIDTHS(M, op)                                                                              \
    M(op, I8, 1) M(op, U8, 1) M(op, I16, 2) M(op, U16, 2) M(op, I32, 4) M(op, U32, 4) M(op, W64, 8)
/* clang-format on */

#define ADDRESS (fp[in->b] + fp[in->c] * in->x + in->imm)
/* After an access to watched memory no other instruction runs, so the rest of the fuel is given
 * back. */
#define HEED_GUARDS                                                                                \
    if (vm->base.guards.hit) {                                                                     \
        budget += left;                                                                            \
        given -= left;                                                                             \
        left = 0;                                                                                  \
    }
/* Finds the bytes of an access. Nearly always they are in the region of the last access. */
#define ACCESS(window, n, write)                                                                   \
    uint64_t at = ADDRESS;                                                                         \
    if (at - window.base >= window.size || (n) > window.size - (at - window.base)) {               \
        if (!open_window(vm, &window, at, n, write)) goto trap;                                    \
        HEED_GUARDS;                                                                               \
    }                                                                                              \
    uint8_t *p = window.bytes + (at - window.base)
/* Guest memory is little-endian here: big-endian programs have no cells that access memory. */
#define LOAD_BYTES(n) load_##n(p)
static inline uint64_t load_1(const uint8_t *p) { return p[0]; }
static inline uint64_t load_2(const uint8_t *p) { return bytes_get16(p); }
static inline uint64_t load_4(const uint8_t *p) { return bytes_get32(p); }
static inline uint64_t load_8(const uint8_t *p) { return bytes_get64(p); }
static inline void store_1(uint8_t *p, uint64_t v) { p[0] = (uint8_t)v; }
static inline void store_2(uint8_t *p, uint64_t v) { bytes_put16(p, (uint16_t)v); }
static inline void store_4(uint8_t *p, uint64_t v) { bytes_put32(p, (uint32_t)v); }
static inline void store_8(uint8_t *p, uint64_t v) { bytes_put64(p, v); }

struct window {
    uint64_t base, size;
    uint8_t *bytes;
};

/* Makes a window smaller until it contains no watched memory. If the access itself is watched,
 * the window becomes this access alone. */
static void narrow_window(const struct guards *guards, struct window *w, uint64_t address,
                          uint64_t size, bool write)
{
    uint64_t low = w->base, high = w->base + w->size;
    for (size_t i = 0; i < guards->count; i++) {
        const struct guard *g = &guards->list[i];
        if (guard_meets(g, address, size, write)) {
            low = address;
            high = address + size;
        } else if (!(write ? g->write : g->read)) {
            continue;
        } else if (g->address > address) {
            high = g->address < high ? g->address : high;
        } else {
            low = g->address + g->size > low ? g->address + g->size : low;
        }
    }
    *w = (struct window){low, high - low, w->bytes + (low - w->base)};
}

static bool open_window(struct coil_vm *vm, struct window *w, uint64_t address, uint64_t size,
                        bool write)
{
    if (!coil_memory(vm, address, size, write, &vm->trap)) return false;
    const struct coil_region *r = coil_region_at(vm, address);
    *w = (struct window){r->base, r->size, r->bytes};
    if (vm->base.guards.count) narrow_window(&vm->base.guards, w, address, size, write);
    return true;
}

static inline double real_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, 8);
    return v;
}
static inline uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

#define PARITY(result) (vm->parity_type = in->y, vm->parity = (result))
#define NOTE(order_, opcode_, x, y_)                                                               \
    (vm->flag_a = (x), vm->flag_b = (y_),                                                          \
     vm->pending = (struct coil_pending){.order = order_, .opcode = opcode_, .type = in->y})
#define NOTE_REAL(opcode_, x, y_)                                                                  \
    (vm->real_a = (x), vm->real_b = (y_), vm->pending.order = COIL_UNORDERED,                      \
     vm->pending.real = opcode_)
#define COMPARE(order_, x, y_) NOTE(order_, COIL_OP_CMP, x, y_)
/* clang-format off */
#define BRANCH(relation, condition)                                                                \
    if (vm->pending.order == COIL_CMP_SIGNED                                                       \
            ? (int64_t)vm->flag_a relation (int64_t)vm->flag_b                                     \
        : vm->pending.order == COIL_CMP_UNSIGNED                                                   \
            ? vm->flag_a relation vm->flag_b                                                       \
            : interp_holds(vm, condition))                                                                \
        in = cells + in->a;                                                                        \
    else                                                                                           \
        in++
/* clang-format on */

static bool interp_holds(struct coil_vm *vm, uint8_t condition)
{
    coil_flags_settle(vm);
    return coil_condition(condition, vm->flags);
}

/* Tells the counters which instructions of a straight piece of code were not executed, because
 * the run ended inside the piece. */
static void count_stop(const struct coil_vm *vm)
{
    uint64_t pc = vm->program.pcs[vm->pc];
    if (vm->waiting || vm->halted)
        counts_leave_after(vm->base.counts, pc);
    else if (vm->final || !vm->places[vm->pc])
        counts_leave(vm->base.counts, pc);
}

void coil_vm_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
#if THREADED
    static const void *const entry[COIL_CELLS] = {
#define CELL(name) [COIL_CELL_##name] = &&on_COIL_CELL_##name,
#include "coil/cells.def"
    };
#endif
    enum { SLICE = POLL_UNITS };
    struct coil_vm *vm = coil_vm(base);
    *stop = (penta_stop){.kind = PENTA_STOP_TRAP};
    vm->started = true;
    const struct coil_cell *cells = vm->cells, *in = cells + vm->pc;
    uint64_t *fp = vm->slots + vm->fp, left = 0, budget = fuel, given = 0;
    struct window rw = {0}, ww = {0};
    uint16_t op = COIL_CELL_FUEL;
    if (vm->final || vm->waiting) goto stopped;
    if (fuel && vm->bulk.kind && vm->bulk.enters && (vm->trap = coil_bulk_run(vm))) goto pause;
    /* A run that begins at a breakpoint executes the instruction with the breakpoint. */
    if (fuel && vm->at_break && in->op == COIL_CELL_BREAK) {
        op = vm->program.cells[vm->pc].op;
        given = 1;
        budget--;
    }
    if (fuel) vm->at_break = false;
    if (vm->base.counts && fuel && !vm->places[vm->pc])
        counts_resume(vm->base.counts, vm->program.pcs[vm->pc]);

    /* clang-format off */
    for (;;) {
        DISPATCH(op) {
        CASE(COIL_CELL_STEP):
            vm->pc = (uint32_t)(in - cells);
            vm->trap = coil_step_run(vm, vm->program.steps[vm->pc]);
            if (vm->trap) goto trap;
            in++;
            HEED_GUARDS;
            NEXT;
        CASE(COIL_CELL_NOP):    in++;                                                 NEXT;
        CASE(COIL_CELL_JMP):    in = cells + in->a;                                   NEXT;
        CASE(COIL_CELL_BR):     if (interp_holds(vm, in->x)) in = cells + in->a; else in++;  NEXT;
        CASE(COIL_CELL_BR_EQ):  BRANCH(==, COIL_IF_EQ);                               NEXT;
        CASE(COIL_CELL_BR_NEQ): BRANCH(!=, COIL_IF_NEQ);                              NEXT;
        CASE(COIL_CELL_BR_GT):  BRANCH(>, COIL_IF_GT);                                NEXT;
        CASE(COIL_CELL_BR_GTE): BRANCH(>=, COIL_IF_GTE);                              NEXT;
        CASE(COIL_CELL_BR_LT):  BRANCH(<, COIL_IF_LT);                                NEXT;
        CASE(COIL_CELL_BR_LTE): BRANCH(<=, COIL_IF_LTE);                              NEXT;
        CASE(COIL_CELL_CALL_IF):
            if (!interp_holds(vm, in->x)) {
                in++;
                NEXT;
            }
            goto call;
        CASE(COIL_CELL_CALL):
        call:
            vm->trap = coil_enter(vm, in->a, (uint32_t)(in + 1 - cells), false);
            if (vm->trap) goto trap;
            fp = vm->slots + vm->fp;
            in = cells + vm->program.functions[vm->function].first;
            if (vm->yields) goto yield;
            NEXT;
        CASE(COIL_CELL_RET_IF):
            if (!interp_holds(vm, in->x)) {
                in++;
                NEXT;
            }
            goto ret;
        CASE(COIL_CELL_RET):
        ret:
            if (!vm->depth) {
                vm->final = vm->halted = true;
                goto out;
            }
            in = cells + coil_leave(vm);
            fp = vm->slots + vm->fp;
            NEXT;
        CASE(COIL_CELL_HALT):
            vm->final = vm->halted = true;
            goto out;
        CASE(COIL_CELL_INDIRECT): {
            struct jump jump;
            uint32_t cell;
            bool function;
            vm->pc = (uint32_t)(in - cells);
            vm->trap = interp_decide(vm, vm->program.steps[vm->pc], &jump);
            if (vm->trap) goto trap;
            HEED_GUARDS;
            if (!jump.taken) {
                in++;
                NEXT;
            }
            vm->trap = interp_resolve(vm, &jump, &cell, &function);
            if (vm->trap) goto trap;
            /* BR and JMP to another function are tail calls. */
            if (function) {
                vm->trap = coil_enter(vm, vm->program.starts[cell] - 1, (uint32_t)(in + 1 - cells),
                                      !jump.call);
                if (vm->trap) goto trap;
                fp = vm->slots + vm->fp;
            }
            in = cells + cell;
            if (vm->base.counts && !vm->places[cell])
                counts_resume(vm->base.counts, vm->program.pcs[cell]);
            if (function && vm->yields) goto yield;
            NEXT;
        }
        CASE(COIL_CELL_PORT):
            vm->pc = (uint32_t)(in - cells);
            vm->trap = interp_ask(vm, vm->program.steps[vm->pc]);
            if (vm->trap) goto trap;
            vm->waiting = true;
            goto out;
        CASE(COIL_CELL_TRAP):
            STOP(in->a);
        CASE(COIL_CELL_BAD):
        CASE(COIL_CELL_END):
            STOP(COIL_TRAP_INVALID_INSTRUCTION);

        CASE(COIL_CELL_SET):      fp[in->a] = in->imm;        in++; NEXT;
        CASE(COIL_CELL_COPY):     fp[in->a] = fp[in->b];      in++; NEXT;
        CASE(COIL_CELL_REG_SLOT): vm->v[in->a] = fp[in->b];   in++; NEXT;
        CASE(COIL_CELL_REG_SET):  vm->v[in->a] = in->imm;     in++; NEXT;
        CASE(COIL_CELL_SLOT_REG): fp[in->a] = vm->v[in->b];   in++; NEXT;
#define CUT_CELL(name, W, n)                                                                       \
        CASE(COIL_CELL_##name##_##W): fp[in->a] = CUT_##W(fp[in->b]); in++; NEXT;
        WIDTHS(CUT_CELL, CUT)

#define BINARY_CELL(name, opcode, W, x_, y_, sign)                                                 \
        CASE(COIL_CELL_##name##_##W): {                                                            \
            uint64_t x = x_, y = y_, r = x sign y;                                                 \
            fp[in->a] = CUT_##W(r);                                                                \
            NOTE(COIL_UNORDERED, COIL_OP_##opcode, x, y);                                          \
            PARITY(r);                                                                             \
            in++;                                                                                  \
            NEXT;                                                                                  \
        }
#define BINARY_CELLS(name, W, sign)                                                                \
        BINARY_CELL(name##_VV, name, W, fp[in->b], fp[in->c], sign)                                \
        BINARY_CELL(name##_VI, name, W, fp[in->b], in->imm, sign)
#define ADD_CELLS(name, W, n) BINARY_CELLS(name, W, +)
#define SUB_CELLS(name, W, n) BINARY_CELLS(name, W, -)
#define MUL_CELLS(name, W, n) BINARY_CELLS(name, W, *)
#define AND_CELLS(name, W, n) BINARY_CELLS(name, W, &)
#define OR_CELLS(name, W, n)  BINARY_CELLS(name, W, |)
#define XOR_CELLS(name, W, n) BINARY_CELLS(name, W, ^)
        WIDTHS(ADD_CELLS, ADD)
        WIDTHS(SUB_CELLS, SUB)
        WIDTHS(MUL_CELLS, MUL)
        WIDTHS(AND_CELLS, AND)
        WIDTHS(OR_CELLS, OR)
        WIDTHS(XOR_CELLS, XOR)

#define REAL_BODY(opcode, x_, y_, sign)                                                            \
            uint64_t x = x_, y = y_;                                                               \
            double result = real_of(x) sign real_of(y);                                            \
            fp[in->a] = bits_of(result != result ? coil_nan_of(real_of(x), real_of(y)) : result);  \
            NOTE_REAL(COIL_OP_##opcode, x, y);                                                     \
            in++;                                                                                  \
            NEXT
#define REAL_CELLS(name, sign)                                                                     \
        CASE(COIL_CELL_F##name##_VV): {                                                            \
            REAL_BODY(name, fp[in->b], fp[in->c], sign);                                           \
        }                                                                                          \
        CASE(COIL_CELL_F##name##_VM): {                                                            \
            ACCESS(rw, 8, false);                                                                  \
            REAL_BODY(name, fp[in->a], bytes_get64(p), sign);                                            \
        }
        REAL_CELLS(ADD, +)
        REAL_CELLS(SUB, -)
        REAL_CELLS(MUL, *)
        CASE(COIL_CELL_FDIV_VV): {
            bool zero = real_of(fp[in->c]) == 0;
            vm->flags = (uint8_t)((vm->flags & ~COIL_D) | (zero ? COIL_D : 0));
            REAL_BODY(DIV, fp[in->b], fp[in->c], /);
        }

        CASE(COIL_CELL_CMP_S_VV): COMPARE(COIL_CMP_SIGNED, fp[in->b], fp[in->c]);   in++; NEXT;
        CASE(COIL_CELL_CMP_U_VV): COMPARE(COIL_CMP_UNSIGNED, fp[in->b], fp[in->c]); in++; NEXT;
        CASE(COIL_CELL_CMP_S_VI): COMPARE(COIL_CMP_SIGNED, fp[in->b], in->imm);     in++; NEXT;
        CASE(COIL_CELL_CMP_U_VI): COMPARE(COIL_CMP_UNSIGNED, fp[in->b], in->imm);   in++; NEXT;
#define IS_SIGNED(type) (coil_types[type].family == COIL_F_SIGNED)
#define CMP_CELL(name, W, n)                                                                       \
        CASE(COIL_CELL_##name##_##W): {                                                            \
            ACCESS(rw, n, false);                                                                  \
            COMPARE(IS_SIGNED(in->y) ? COIL_CMP_SIGNED : COIL_CMP_UNSIGNED,                        \
                    CUT_##W(LOAD_BYTES(n)), in->a);                                                \
            in++;                                                                                  \
            NEXT;                                                                                  \
        }
        WIDTHS(CMP_CELL, CMP_M)

#define LOAD_CELL(name, W, n)                                                                      \
        CASE(COIL_CELL_##name##_##W): {                                                            \
            ACCESS(rw, n, false);                                                                  \
            fp[in->a] = CUT_##W(LOAD_BYTES(n));                                                    \
            in++;                                                                                  \
            NEXT;                                                                                  \
        }
        WIDTHS(LOAD_CELL, LOAD)
        CASE(COIL_CELL_LOAD_F32): {
            ACCESS(rw, 4, false);
            fp[in->a] = bytes_get32(p);
            in++;
            NEXT;
        }
#define STORE_CELL(name, W, n)                                                                     \
        CASE(COIL_CELL_##name##_##W): {                                                            \
            ACCESS(ww, n, true);                                                                   \
            store_##n(p, fp[in->a]);                                                               \
            in++;                                                                                  \
            NEXT;                                                                                  \
        }
        WIDTHS(STORE_CELL, STORE)
#define STORE_I_CELL(name, W, n)                                                                   \
        CASE(COIL_CELL_##name##_##W): {                                                            \
            ACCESS(ww, n, true);                                                                   \
            store_##n(p, in->a);                                                                   \
            in++;                                                                                  \
            NEXT;                                                                                  \
        }
        WIDTHS(STORE_I_CELL, STORE_I)

        CASE(COIL_CELL_BREAK):
            left++; /* A breakpoint is no instruction, so it takes no fuel. */
            stop->kind = PENTA_STOP_BREAK;
            vm->at_break = true;
            goto out;
        CASE(COIL_CELL_COUNT):
            counts_enter(vm->base.counts, vm->places[in - cells] >> COUNT_SHIFT);
            op = vm->program.cells[in - cells].op;
            continue;
        CASE(COIL_CELL_COUNT_CALL):
            counts_arrive(vm->base.counts, vm->places[in - cells], vm->depth + 1);
            op = vm->program.cells[in - cells].op;
            continue;
        CASE(COIL_CELL_FUEL):
            stop->kind = vm->base.guards.hit ? PENTA_STOP_BREAK : PENTA_STOP_FUEL;
            if (!budget || vm->base.guards.hit) goto out;
            if (atomic_exchange_explicit(&base->interrupt, false, memory_order_relaxed)) {
                stop->kind = PENTA_STOP_INTERRUPT;
                goto out;
            }
            left = budget < SLICE ? budget : SLICE;
            budget -= left;
            given += left;
            NEXT;
        }
    }
    /* clang-format on */
yield:
    stop->kind = PENTA_STOP_FUEL;
    vm->yielded = true;
    goto out;
pause:
    vm->trap = 0;
    /* The interrupt came in a call, before the first instruction of the called function, or
     * inside the current instruction. */
    if (vm->bulk.kind && vm->bulk.enters)
        in = cells + vm->program.functions[vm->function].first;
    else
        left++;
    stop->kind = PENTA_STOP_INTERRUPT;
    atomic_store_explicit(&base->interrupt, false, memory_order_relaxed);
    goto out;
trap:
    if (vm->trap == COIL_PAUSE) goto pause;
    vm->final = true;
    /* The instruction that trapped is counted here, because the steps of the stop do not contain
     * it. */
    if (vm->executed != UINT64_MAX) vm->executed++;
    left++;
out:
    vm->pc = (uint32_t)(in - cells);
    stop->steps = given - left;
    if (vm->executed != UINT64_MAX) vm->executed += stop->steps;
    if (vm->base.counts && fuel) count_stop(vm);
stopped:
    stop->pc = vm->program.pcs[vm->pc];
    if (vm->waiting) {
        stop->kind = PENTA_STOP_HOST;
        stop->detail = vm->host_call;
        for (int i = 0; i < COIL_HOST_ARGS; i++) stop->args[i] = vm->host_args[i];
    } else if (vm->final) {
        stop->kind = vm->halted ? PENTA_STOP_HALT : PENTA_STOP_TRAP;
        stop->detail = vm->halted ? 0 : vm->trap;
        stop->args[0] = vm->halted ? vm->v[0] : vm->trap_code;
        stop->args[1] = vm->fault_address;
    }
}
