/* Makes the SSA form of the instructions that native code treats differently from jit/:
 * instructions that the runtime executes, ports, traps, computed jumps and calls of other
 * functions. */
#include "coil/native/native.h"
#include "coil/vm/step/step.h"

uint32_t coil_native_value(struct coil_lower *l, struct coil_native_ref ref)
{
    if (!ref.symbol) return ssa_const(l->f, ref.addend);
    uint32_t value = ssa_op1(l->f, SSA_SYMBOL, SSA_INT, 0);
    if (!value) return 0;
    l->f->insns[value].imm = ref.symbol;
    l->f->insns[value].cond = ref.far;
    if (!ref.addend) return value;
    return ssa_op2(l->f, SSA_ADD, SSA_INT, false, value, ssa_const(l->f, ref.addend));
}

uint32_t coil_native_address(struct coil_lower *l, uint32_t symbol)
{
    return coil_native_value(l, coil_native_ref(l->native, symbol));
}

void coil_native_uses_context(struct coil_native *n) { n->uses_context = true; }

uint32_t coil_native_context(struct coil_lower *l) { return coil_lower_fixed(l, SSA_CONTEXT); }

static struct ssa_address lower_native_field(struct coil_lower *l, size_t offset)
{
    return (struct ssa_address){.base = coil_native_context(l), .disp = (int64_t)offset};
}

uint32_t coil_native_foreign(struct coil_lower *l, const char *name,
                             const struct coil_native_args *args, bool variadic)
{
    struct ssa_function *f = l->f;
    uint32_t list = ssa_list(f, args->items, args->count), call = ssa_effect(f, SSA_FOREIGN, 0);
    if (!call) return 0;
    f->insns[call].imm = coil_native_named(l->native, name);
    f->insns[call].list = list;
    f->insns[call].count = args->count;
    f->insns[call].cond = variadic;
    f->insns[call].mem = SSA_X64;
    return ssa_op1(f, SSA_RESULT, SSA_INT, call);
}

/* The functions below make calls of the runtime, which executes instructions in their general
 * form. */

/* Returns the place where the runtime finds a slot: in the frame, after the function's variables
 * in memory. */
static struct ssa_address lower_native_slot(struct coil_lower *l, uint32_t number)
{
    uint64_t bytes = l->p->functions[l->flow.function].bytes + 8 * (uint64_t)l->flow.slots;
    l->f->reserved = (uint32_t)((bytes + 15) & ~UINT64_C(15));
    return (struct ssa_address){
        .base = coil_lower_fixed(l, SSA_FRAME),
        .disp = (int64_t)(l->p->functions[l->flow.function].bytes + 8 * (uint64_t)number)};
}

static enum ssa_mem slot_mem(const struct coil_lower *l, uint32_t number)
{
    uint8_t type = l->flow.types[number];
    return type == COIL_T_FP64 ? SSA_MF64 : type == COIL_T_FP32 ? SSA_MF32 : SSA_X64;
}

static void hand_over(void *user, uint8_t at, uint32_t number, bool write)
{
    struct coil_lower *l = user;
    struct ssa_function *f = l->f;
    if (write) return;
    if (at == COIL_AT_SLOT) {
        uint32_t value = coil_lower_get(l, number);
        /* A 32-bit float is stored as 64 bits, whose upper half is zero. */
        if (slot_mem(l, number) == SSA_MF32)
            ssa_store(f, SSA_X64, lower_native_slot(l, number),
                      ssa_op1(f, SSA_BITS, SSA_INT, value));
        else
            ssa_store(f, slot_mem(l, number), lower_native_slot(l, number), value);
    } else if (number < l->passed) {
        ssa_store(f, SSA_X64, lower_native_field(l, offsetof(struct coil_vm, v) + 8 * number),
                  coil_lower_get(l, l->flow.slots + number));
    }
}

static void take_back_value(void *user, uint8_t at, uint32_t number, bool write)
{
    struct coil_lower *l = user;
    struct ssa_function *f = l->f;
    if (!write) return;
    if (at == COIL_AT_SLOT)
        coil_lower_set(l, number, ssa_load(f, slot_mem(l, number), lower_native_slot(l, number)));
    else if (number < l->passed)
        coil_lower_set(
            l, l->flow.slots + number,
            ssa_load(f, SSA_X64, lower_native_field(l, offsetof(struct coil_vm, v) + 8 * number)));
}

/* Collects the first arguments of the runtime's functions: machine, instruction, and slots. */
static void lower_native_arguments(struct coil_lower *l, struct coil_native_args *args)
{
    const struct coil_step *s = l->p->steps[l->cell];
    struct ssa_address slots = lower_native_slot(l, 0);
    coil_step_touches(s, hand_over, l);
    if (l->p->functions[l->flow.function].bytes)
        ssa_store(l->f, SSA_X64, lower_native_field(l, offsetof(struct coil_vm, frame_top)),
                  slots.base);
    args->items[0] = coil_native_context(l);
    args->items[1] = coil_native_value(l, coil_native_describe(l->native, s));
    args->items[2] =
        ssa_op2(l->f, SSA_ADD, SSA_INT, false, slots.base, ssa_const(l->f, slots.disp));
    args->count = 3;
}

static void by_runtime(struct coil_lower *l, const char *function)
{
    struct coil_native_args args;
    lower_native_arguments(l, &args);
    coil_native_foreign(l, function, &args, false);
    coil_step_touches(l->p->steps[l->cell], take_back_value, l);
}

uint32_t coil_native_operand(struct coil_lower *l, unsigned i)
{
    const struct coil_place *p = &l->p->steps[l->cell]->places[i];
    uint8_t type = p->at == COIL_AT_REGISTER ? COIL_T_UNT64 : p->op;
    uint32_t value = coil_is_int(type) ? coil_lower_place(l, p, type, type) : 0;
    if (value) return value;
    struct coil_native_args args;
    lower_native_arguments(l, &args);
    args.items[args.count++] = ssa_const(l->f, i);
    return coil_native_foreign(l, "penta_coil_rt_value", &args, false);
}

void coil_native_step(struct coil_lower *l) { by_runtime(l, "penta_coil_rt_step"); }

void coil_native_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no)
{
    struct coil_native_args args = {.count = 2};
    args.items[0] = coil_native_context(l);
    args.items[1] = ssa_const(l->f, condition);
    uint32_t truth = coil_native_foreign(l, "penta_coil_rt_condition", &args, false);
    ssa_branch(l->f, SSA_BRANCH, SSA_NE, false, truth, ssa_const(l->f, 0), yes, no);
}

/* Clears the function's variables in memory, because they must start as zeros. */
void coil_native_clear(struct coil_lower *l, uint64_t bytes)
{
    enum { STORES = 64 };
    uint32_t frame = coil_lower_fixed(l, SSA_FRAME), zero = ssa_const(l->f, 0);
    if (bytes <= STORES) {
        for (uint64_t at = 0; at < bytes; at += 8)
            ssa_store(l->f, SSA_X64, (struct ssa_address){.base = frame, .disp = (int64_t)at},
                      zero);
        return;
    }
    struct coil_native_args args = {.items = {frame, zero, ssa_const(l->f, (int64_t)bytes)},
                                    .count = 3};
    coil_native_foreign(l, "memset", &args, false);
}

/* Compiles the frequent uses of ports: for whole numbers and bytes through ports known at
 * compile time, the C library is enough. */
static bool simple_out(struct coil_lower *l, const struct coil_step *s)
{
    const struct coil_place *port = &s->places[0];
    uint8_t type = s->places[1].at == COIL_AT_REGISTER ? COIL_T_INT64 : s->places[1].op;
    struct coil_native_args args = {0};
    if (port->at != COIL_AT_CONST || port->symbol || (port->value != 1 && port->value != 2) ||
        !coil_is_int(type) || type == COIL_T_BIT)
        return false;
    uint32_t value = coil_lower_place(l, &s->places[1], type, type);
    if (!value) return false;
    bool is_signed = coil_types[type].family == COIL_F_SIGNED;
    if (port->value == 1) {
        args.items[args.count++] = ssa_op1(l->f, SSA_ZEXT8, SSA_INT, value);
        coil_native_foreign(l, "putchar", &args, false);
        return true;
    }
    const char *format = is_signed ? "%ld\n" : "%lu\n";
    args.items[args.count++] = coil_native_value(l, coil_native_text(l->native, format));
    args.items[args.count++] = value;
    coil_native_foreign(l, "printf", &args, true);
    return true;
}

void coil_native_port(struct coil_lower *l)
{
    const struct coil_step *s = l->p->steps[l->cell];
    const struct coil_place *port = &s->places[s->count - 1];
    struct coil_native_args args = {0};
    if (s->opcode == COIL_OP_OUTPORT && simple_out(l, s)) return;
    if (s->opcode == COIL_OP_INPORT && port->at == COIL_AT_CONST && port->value == 1) {
        uint32_t value =
            ssa_op1(l->f, SSA_SEXT32, SSA_INT, coil_native_foreign(l, "getchar", &args, false));
        if (coil_lower_write(l, &s->places[0], value, COIL_T_INT64)) return;
    }
    by_runtime(l, "penta_coil_rt_port");
}

static void lower_native_trap(struct coil_lower *l, uint32_t number, uint32_t code)
{
    struct ssa_function *f = l->f;
    struct coil_native_ref name = coil_native_text(l->native, coil_trap_name(number));
    uint32_t args[2] = {coil_native_value(l, name), code ? code : ssa_const(f, 0)};
    uint32_t list = ssa_list(f, args, 2), call = ssa_effect(f, SSA_CALL, 0);
    if (!call) return;
    l->native->uses_trap = true;
    f->insns[call].imm = l->native->trap_function;
    f->insns[call].list = list;
    f->insns[call].count = 2;
    ssa_effect(f, SSA_LEAVE, 0);
    l->ended = true;
}

void coil_native_leave(struct coil_lower *l)
{
    const struct coil_cell *c = &l->p->cells[l->cell];
    const struct coil_step *s = l->p->steps[l->cell];
    if (c->op == COIL_CELL_HALT) {
        struct coil_native_args args = {.items = {coil_lower_register(l, 0)}, .count = 1};
        coil_native_foreign(l, "exit", &args, false);
        ssa_effect(l->f, SSA_LEAVE, 0); /* The function `exit` does not return. */
        l->ended = true;
        return;
    }
    if (s && s->opcode == COIL_OP_TRAP) {
        lower_native_trap(l, COIL_TRAP_TRAP, coil_native_operand(l, 0));
        return;
    }
    uint32_t number = c->op == COIL_CELL_TRAP ? c->a : COIL_TRAP_INVALID_INSTRUCTION;
    if (s) number = COIL_TRAP_BAD_TARGET;
    lower_native_trap(l, number, 0);
}

/* The functions below make computed jumps, and jumps to other functions. */

bool coil_native_jumps(const struct coil_program *p, uint32_t cell)
{
    const struct coil_step *s = p->steps[cell];
    if (p->cells[cell].op != COIL_CELL_INDIRECT || !s) return false;
    if (s->opcode == COIL_OP_SWITCH) return true;
    return (s->opcode == COIL_OP_BR || s->opcode == COIL_OP_JMP) &&
           s->places[s->count - 1].form != COIL_ADDR;
}

/* Returns the address that a SWITCH finds in its table. */
static uint32_t switch_address(struct coil_lower *l, const struct coil_step *s)
{
    struct ssa_function *f = l->f;
    const struct coil_place *p = &s->places[0];
    static const uint8_t unsigned_of[] = {COIL_T_UNT8,  COIL_T_UNT8,  COIL_T_UNT16, COIL_T_UNT16,
                                          COIL_T_UNT32, COIL_T_UNT32, COIL_T_UNT64, COIL_T_UNT64};
    uint8_t type = p->at == COIL_AT_REGISTER ? COIL_T_UNT64 : p->op;
    uint32_t value = coil_native_operand(l, 0), table = coil_native_operand(l, 1);
    if (type < sizeof unsigned_of) value = coil_lower_canon(l, value, unsigned_of[type]);
    uint32_t count = ssa_load(f, SSA_X64, (struct ssa_address){.base = table}),
             below = ssa_compare(f, SSA_SET, SSA_B, false, value, count),
             item = ssa_op2(f, SSA_ADD, SSA_INT, false, value, ssa_const(f, 1)),
             /* Item 0 of the table is the default target. */
        index = ssa_op2(f, SSA_MUL, SSA_INT, false, item, below);
    return ssa_load(f, SSA_X64,
                    (struct ssa_address){.base = table, .index = index, .scale = 3, .disp = 8});
}

/* Compares an address with every label of the function. If it equals none of them, it is the
 * address of a function. */
static void jump_to(struct coil_lower *l, uint32_t address)
{
    struct ssa_function *f = l->f;
    uint32_t i = l->cell - l->flow.first, count = l->flow.target_counts[i];
    for (uint32_t k = 0; k < count; k++) {
        uint32_t cell = l->flow.targets[i][k], next = l->extra++,
                 to = l->flow.block_at[cell - l->flow.first] + 1,
                 label = coil_native_value(l, coil_native_label(l->native, cell));
        ssa_branch(f, SSA_BRANCH, SSA_EQ, false, address, label, to, next);
        ssa_start(f, next);
        ssa_seal(f, next);
    }
    coil_native_call(l, NULL, address, 0);
    coil_lower_return(l);
}

static uint32_t callee_of(struct coil_lower *l, const struct coil_place *target)
{
    return target->symbol ? coil_native_function(l->native, target->symbol - 1) : UINT32_MAX;
}

/* Makes the jump or call of an instruction whose condition holds. */
static void lower_native_go(struct coil_lower *l, const struct coil_step *s, uint32_t next)
{
    const struct coil_place *target = &s->places[s->count - 1];
    struct coil_native *n = l->native;
    bool call = s->opcode == COIL_OP_CALL;
    if (s->opcode == COIL_OP_SWITCH) {
        jump_to(l, switch_address(l, s));
        return;
    }
    if (target->form == COIL_ADDR) {
        uint32_t symbol = target->symbol - 1, function = callee_of(l, target);
        bool elsewhere = symbol < n->m->symbol_count && !n->m->symbols[symbol].section_idx;
        if (function != UINT32_MAX) {
            coil_lower_call(l, function);
        } else if (elsewhere) {
            const struct coil_proto *proto =
                n->proto_of[symbol] ? &n->protos[n->proto_of[symbol] - 1] : NULL;
            coil_native_call(l, proto, 0, coil_native_ref(n, symbol).symbol);
        } else {
            lower_native_trap(l, COIL_TRAP_BAD_TARGET, 0);
            return;
        }
    } else {
        uint32_t address = coil_native_operand(l, s->count - 1u);
        if (!call) {
            jump_to(l, address);
            return;
        }
        coil_native_call(l, NULL, address, 0);
    }
    if (call && next != UINT32_MAX)
        ssa_jump(l->f, next);
    else if (call)
        lower_native_trap(l, COIL_TRAP_INVALID_INSTRUCTION, 0);
    else
        coil_lower_return(l); /* After a tail call the function returns. */
}

bool coil_native_indirect(struct coil_lower *l, uint32_t next)
{
    const struct coil_step *s = l->p->steps[l->cell];
    if (!s || s->opcode == COIL_OP_TRAP) return false;
    if (s->count && s->places[0].form == COIL_PARAM && s->opcode != COIL_OP_SWITCH) {
        uint32_t then = l->extra++;
        if (next == UINT32_MAX) return false;
        if (!coil_lower_branch(l, (uint8_t)s->places[0].value, then, next))
            coil_native_branch(l, (uint8_t)s->places[0].value, then, next);
        ssa_start(l->f, then);
        ssa_seal(l->f, then);
    }
    lower_native_go(l, s, next);
    return true;
}
