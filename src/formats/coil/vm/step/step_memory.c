/* Executes instructions on the data stack and on memory: exchanges, blocks of bytes, the heap,
 * aligned accesses, and atomics. Long writes go through bulk.c. */
#include "coil/vm/step/step.h"
#include <stdlib.h>

uint32_t coil_run_stack(struct coil_vm *vm, const struct coil_step *s)
{
    const struct coil_place *p = &s->places[0];
    uint64_t size = p->at == COIL_AT_REGISTER ? 8 : p->type->size, room = (size + 7) / 8 * 8, value;
    uint8_t op = p->at == COIL_AT_REGISTER ? COIL_T_INT64 : p->op, *bytes;
    uint64_t address = 0;
    uint32_t trap = 0;
    TRY(coil_work_bytes(vm, size));
    if (s->opcode == COIL_OP_PUSH) {
        if (room > vm->sp - vm->stack->base) return COIL_TRAP_STACK_OVERFLOW;
        uint8_t *top = vm->stack->bytes + (vm->sp - room - vm->stack->base);
        if (coil_place_scalar(p)) {
            TRY(coil_place_read(vm, p, op, &value));
            memset(top, 0, (size_t)room);
            coil_put(vm, top, op, value);
        } else {
            TRY(coil_place_bytes(vm, p, false, &bytes));
            if (p->at != COIL_AT_CONST) TRY(coil_address_of(vm, p, &address));
            uint64_t sp = vm->sp;
            vm->sp -= room;
            trap = coil_copy(vm, vm->sp, top, address, bytes, size);
            /* Nothing was written, so the stack pointer gets its old value back. */
            if (trap && !vm->bulk.kind) vm->sp = sp;
            return trap;
        }
        vm->sp -= room;
        return 0;
    }
    if (room > vm->stack->base + vm->stack->size - vm->sp) return COIL_TRAP_STACK_UNDERFLOW;
    const uint8_t *top = vm->stack->bytes + (vm->sp - vm->stack->base);
    if (coil_place_scalar(p)) {
        trap = coil_place_write(vm, p, coil_get(vm, top, op), op);
    } else {
        TRY(coil_place_bytes(vm, p, true, &bytes));
        TRY(coil_address_of(vm, p, &address));
        vm->sp += room;
        return coil_copy(vm, address, bytes, vm->sp - room, top, size);
    }
    if (!trap) vm->sp += room;
    return trap;
}

static uint32_t run_exchange(struct coil_vm *vm, const struct coil_step *s)
{
    const struct coil_place *x = &s->places[0], *y = &s->places[1];
    uint64_t a, b;
    if (coil_place_scalar(x) && coil_place_scalar(y)) {
        uint8_t tx = coil_type_at(s, 0), ty = coil_type_at(s, 1);
        TRY(coil_place_read(vm, x, tx, &a));
        TRY(coil_place_read(vm, y, ty, &b));
        /* Both types have the same size, so only the bits change places. */
        TRY(coil_place_write(vm, x, coil_canon(tx, b), tx));
        return coil_place_write(vm, y, coil_canon(ty, a), ty);
    }
    uint8_t *p, *q;
    TRY(coil_place_bytes(vm, x, true, &p));
    TRY(coil_place_bytes(vm, y, true, &q));
    TRY(coil_address_of(vm, x, &a));
    TRY(coil_address_of(vm, y, &b));
    return coil_swap(vm, a, b, x->type->size);
}

static uint32_t run_bulk(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t to, second, size = 0;
    uint32_t trap = 0;
    TRY(coil_read_own(vm, s, 0, &to));
    TRY(coil_read_own(vm, s, 1, &second));
    if (s->opcode == COIL_OP_MEMZERO)
        size = second;
    else
        TRY(coil_read_own(vm, s, 2, &size));
    const uint8_t *from =
        s->opcode == COIL_OP_MEMCPY ? coil_memory(vm, second, size, false, &trap) : NULL;
    if (trap) return trap;
    uint8_t *bytes = coil_memory(vm, to, size, true, &trap);
    if (trap) return trap;
    TRY(coil_work_bytes(vm, size));
    uint8_t value = s->opcode == COIL_OP_MEMZERO ? 0 : (uint8_t)second;
    return from ? coil_copy(vm, to, bytes, second, from, size)
                : coil_fill(vm, to, bytes, size, &value, 1);
}

/* Executes ALLOC. The search for a free block comes first, because it changes nothing if it is
 * interrupted. */
static uint32_t run_alloc(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t size, most = vm->block_free ? vm->block_count / 64 : 0;
    TRY(coil_read_own(vm, s, 1, &size));
    for (; most > BULK_ITEMS; most -= BULK_ITEMS) TRY(coil_work(vm, BULK_ITEMS));
    TRY(coil_work(vm, most));
    TRY(coil_work_bytes(vm, size));
    uint64_t address = coil_heap_alloc(vm, &size);
    uint8_t none = 0, *bytes = NULL;
    uint32_t trap = 0;
    if (address) bytes = coil_memory(vm, address, size, true, &trap);
    if (bytes) TRY(coil_fill(vm, address, bytes, size, &none, 1));
    return coil_place_write(vm, &s->places[0], address, COIL_T_UNT64);
}

static uint32_t run_aligned(struct coil_vm *vm, const struct coil_step *s)
{
    bool load = s->opcode == COIL_OP_LOADALIGN;
    const struct coil_place *value = &s->places[load ? 0 : 1];
    uint64_t address, align;
    uint32_t trap = 0;
    TRY(coil_read_own(vm, s, load ? 1 : 0, &address));
    TRY(coil_read_own(vm, s, 2, &align));
    if (!align || address % align) {
        vm->fault_address = address;
        return COIL_TRAP_MISALIGNED;
    }
    /* An aligned access does the same as an access by a memory operand. */
    struct coil_place there = {.at = COIL_AT_MEMORY,
                               .op = value->op,
                               .type = value->type,
                               .base = {.at = COIL_AT_CONST, .value = address}};
    if (value->at == COIL_AT_REGISTER) {
        there.op = COIL_T_INT64;
        there.type = coil_scalar(COIL_T_INT64);
    }
    (void)trap;
    return load ? coil_move(vm, s, value, &there) : coil_move(vm, s, &there, value);
}

uint32_t coil_run_memory(struct coil_vm *vm, const struct coil_step *s)
{
    uint64_t value;
    switch (s->opcode) {
    case COIL_OP_LEA:
        TRY(coil_address_of(vm, &s->places[1], &value));
        return coil_place_write(vm, &s->places[0], value, COIL_T_UNT64);
    case COIL_OP_XCHG: return run_exchange(vm, s);
    case COIL_OP_CAS: {
        uint64_t now, expected, wanted;
        const struct coil_place *loc = &s->places[0], *compare = &s->places[1];
        uint8_t type = coil_type_at(s, 0);
        TRY(coil_place_read(vm, loc, type, &now));
        TRY(coil_read_as(vm, s, 1, type, &expected));
        TRY(coil_read_as(vm, s, 2, type, &wanted));
        bool same = now == expected;
        if (same)
            TRY(coil_place_write(vm, loc, wanted, type));
        else if (compare->at != COIL_AT_CONST && compare->form != COIL_ADDR &&
                 !(compare->ext & COIL_CONST))
            TRY(coil_place_write(vm, compare, now, type));
        coil_flags_set(vm, s->opcode, same ? COIL_Z : 0, 0);
        return 0;
    }
    case COIL_OP_ALLOC: return run_alloc(vm, s);
    case COIL_OP_FREE:
        TRY(coil_read_own(vm, s, 0, &value));
        if (!value) return 0;
        return coil_heap_free(vm, value) ? coil_heap_trim(vm) : COIL_TRAP_BAD_FREE;
    case COIL_OP_LOADALIGN:
    case COIL_OP_STOREALIGN: return run_aligned(vm, s);
    default: return run_bulk(vm, s);
    }
}

/* There is one thread, so atomic instructions are plain accesses. Their memory order only has to
 * be a valid one. */

uint32_t coil_run_atomic(struct coil_vm *vm, const struct coil_step *s)
{
    const char *loc_at = strchr(s->form, 'L');
    if (!loc_at) return 0; /* The instruction ATOMFENCE has no location. */
    unsigned l = (unsigned)(loc_at - s->form);
    const struct coil_place *loc = &s->places[l];
    uint8_t type = loc->op;
    uint64_t address, old, operand = 0, wanted = 0;
    if (loc->at == COIL_AT_MEMORY || loc->at == COIL_AT_FRAME) {
        TRY(coil_address_of(vm, loc, &address));
        if (address % coil_types[type].bytes) {
            vm->fault_address = address;
            return COIL_TRAP_MISALIGNED;
        }
    }
    if (s->opcode == COIL_OP_ATOMST) {
        TRY(coil_read_as(vm, s, 1, type, &operand));
        return coil_place_write(vm, loc, operand, type);
    }
    TRY(coil_place_read(vm, loc, type, &old));
    struct coil_operation o = {.type = type, .saturate = -1, .a = old};
    static const uint8_t same_as[256] = {
        [COIL_OP_ATOMADD] = COIL_OP_ADD, [COIL_OP_ATOMSUB] = COIL_OP_SUB,
        [COIL_OP_ATOMAND] = COIL_OP_AND, [COIL_OP_ATOMOR] = COIL_OP_OR,
        [COIL_OP_ATOMXOR] = COIL_OP_XOR, [COIL_OP_ATOMMAX] = COIL_OP_MAX,
        [COIL_OP_ATOMMIN] = COIL_OP_MIN};
    switch (s->opcode) {
    case COIL_OP_ATOMLD: return coil_place_write(vm, &s->places[0], old, type);
    case COIL_OP_ATOMWAIT:
    /* With one thread there is nothing to wait for and nobody to wake. */
    case COIL_OP_ATOMNOTIFY: return 0;
    case COIL_OP_ATOMXCHG:
        TRY(coil_read_as(vm, s, (int)l + 1, type, &operand));
        TRY(coil_place_write(vm, loc, operand, type));
        break;
    case COIL_OP_ATOMCMPXCHG: {
        const struct coil_place *expected = &s->places[2];
        TRY(coil_read_as(vm, s, 2, type, &operand));
        TRY(coil_read_as(vm, s, 3, type, &wanted));
        bool same = old == operand;
        if (same)
            TRY(coil_place_write(vm, loc, wanted, type));
        else if (expected->at != COIL_AT_CONST && !(expected->ext & COIL_CONST))
            TRY(coil_place_write(vm, expected, old, type));
        coil_flags_set(vm, s->opcode, same ? COIL_Z : 0, 0);
        return coil_place_write(vm, &s->places[0], same, COIL_T_UNT8);
    }
    case COIL_OP_ATOMINCR:
    case COIL_OP_ATOMDECR:
        o.opcode = s->opcode == COIL_OP_ATOMINCR ? COIL_OP_INC : COIL_OP_DEC;
        coil_operate(&o);
        TRY(coil_place_write(vm, loc, o.result, type));
        break;
    default:
        TRY(coil_read_as(vm, s, (int)l + 1, type, &o.b));
        o.opcode = same_as[s->opcode];
        if (coil_types[type].family == COIL_F_REAL && o.opcode >= COIL_OP_AND)
            return COIL_TRAP_INVALID_INSTRUCTION;
        coil_operate(&o);
        TRY(coil_place_write(vm, loc, o.result, type));
    }
    return l ? coil_place_write(vm, &s->places[0], old, type) : 0;
}
