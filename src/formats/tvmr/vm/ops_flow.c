/* Has the handlers for system, registers and structure (TVMR 7.1 to TVMR 7.3) and control flow
 * (TVMR 7.8), and the functions that every handler uses. */
#include "tvmr/vm/ops.h"
#include <stdarg.h>
#include <stdio.h>

enum tvmr_result ops_fail(struct tvmr_vm *vm, enum tvmr_fault fault, const char *format, ...)
{
    va_list args;
    if (vm->paused)
        return TVMR_FAILED; /* The interrupt causes the failure, so the machine has
                                         * none. */
    va_start(args, format);
    vsnprintf(vm->fault_text, sizeof vm->fault_text, format, args);
    va_end(args);
    vm->fault = fault;
    return TVMR_FAILED;
}

enum tvmr_result ops_unallocated(struct tvmr_vm *vm, char bank, uint8_t reg)
{
    return ops_fail(vm, TVMR_E_UNALLOC, "%c%u is not allocated", bank, INDEX(reg));
}

enum { MOVED = 64 * TVMR_PIECE }; /* Bytes are moved in pieces of this size. */

bool work_move(struct tvmr_vm *vm, void *to, const void *from, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += MOVED) {
        size_t n = bytes - at < MOVED ? (size_t)(bytes - at) : MOVED;
        if (!may_work(vm, poll_bytes(n))) return false;
        memmove((uint8_t *)to + at, (const uint8_t *)from + at, n);
    }
    return true;
}

bool work_fill(struct tvmr_vm *vm, void *to, int byte, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += MOVED) {
        size_t n = bytes - at < MOVED ? (size_t)(bytes - at) : MOVED;
        if (!may_work(vm, poll_bytes(n))) return false;
        memset((uint8_t *)to + at, byte, n);
    }
    return true;
}

enum tvmr_result ops_put(struct tvmr_vm *vm, uint8_t reg, const uint32_t *dims, size_t rank)
{
    struct tvmr_hot *h = &vm->hot[INDEX(reg)], *s = &vm->scratch;
    if (reg == TVMR_NULL || vm->paused) return TVMR_NEXT;
    if (!tvmr_shape_set(vm, &h->shape, dims, rank)) return TVMR_FAILED;
    int32_t *data = h->data;
    size_t capacity = h->capacity;
    h->data = s->data;
    h->capacity = s->capacity;
    h->count = s->count;
    h->stamp++;
    h->present = true;
    s->data = data;
    s->capacity = capacity;
    return TVMR_NEXT;
}

enum tvmr_result put_scalar(struct tvmr_vm *vm, uint8_t reg, int32_t value)
{
    int32_t *r = ops_result(vm, 1);
    if (!r) return TVMR_FAILED;
    *r = value;
    return put_list(vm, reg);
}

HANDLER(nop)
{
    (void)vm, (void)in;
    return TVMR_NEXT;
}

HANDLER(halt)
{
    (void)in;
    vm->halted = true;
    return TVMR_HALTED;
}

HANDLER(reset)
{
    (void)in;
    vm->pc = 0;
    vm->loop_depth = 0;
    return TVMR_NEXT;
}

HANDLER(unknown_opcode)
{
    return ops_fail(vm, TVMR_E_OPCODE, "extension 0x%04x has no opcode 0x%04x", in->ext,
                    in->opcode);
}

HANDLER(unknown_extension)
{
    return ops_fail(vm, TVMR_E_EXT_UNKNOWN, "extension 0x%04x is not registered", in->ext);
}

/* Makes a hot register of zeros if it does not exist. */
static bool new_hot(struct tvmr_vm *vm, unsigned index, size_t count, const uint32_t *dims,
                    size_t rank)
{
    struct tvmr_hot *h = &vm->hot[index];
    if (!tvmr_reserve(vm, &h->data, &h->capacity, count, sizeof *h->data) ||
        !work_fill(vm, h->data, 0, count * sizeof *h->data))
        return false;
    h->count = count;
    h->stamp++;
    h->present = true;
    return tvmr_shape_set(vm, &h->shape, dims, rank);
}

HANDLER(alloc_tensor)
{
    uint8_t reg = in->a[0];
    uint32_t dims[] = {in->a[1], ops_imm16(in)};
    size_t rank = dims[1] ? 2 : 1, count = rank == 2 ? (size_t)dims[0] * dims[1] : dims[0];
    if (reg == TVMR_NULL) return TVMR_NEXT;
    if (reg >> 6 > 1) return ops_fail(vm, TVMR_E_BANK, "only hot and cold registers hold tensors");
    if (reg >> 6 ? vm->cold[INDEX(reg)].present : vm->hot[INDEX(reg)].present)
        return ops_fail(vm, TVMR_E_ALLOCATED, "%c%u is allocated already", reg >> 6 ? 'C' : 'H',
                        INDEX(reg));
    if (reg >> 6) {
        struct tvmr_cold *c = tvmr_cold_begin(vm, INDEX(reg), count, dims, rank);
        if (!c || !work_fill(vm, c->weights, 0, count * sizeof *c->weights)) return TVMR_FAILED;
        tvmr_cold_finish(c, count);
        return TVMR_NEXT;
    }
    return new_hot(vm, INDEX(reg), count, dims, rank) ? TVMR_NEXT : TVMR_FAILED;
}

HANDLER(free_tensor)
{
    uint8_t reg = in->a[0];
    if (reg >> 6 > 1) return ops_fail(vm, TVMR_E_BANK, "only hot and cold registers hold tensors");
    if (reg >> 6) {
        NEED_COLD(c, reg);
        tvmr_cold_drop(vm, c);
    } else {
        struct tvmr_hot *h = hot_change(vm, reg);
        if (!h) return ops_unallocated(vm, 'H', reg);
        tvmr_hot_drop(vm, h);
    }
    return TVMR_NEXT;
}

enum tvmr_result put_copy(struct tvmr_vm *vm, uint8_t to, const struct tvmr_hot *from)
{
    int32_t *r = ops_result(vm, from->count);
    if (!r) return TVMR_FAILED;
    work_move(vm, r, from->data, from->count * sizeof *r);
    return put_like(vm, to, from);
}

HANDLER(copy_reg)
{
    const struct tvmr_hot *from = hot_at(vm, in->a[1]);
    if (in->a[1] >> 6 || (in->a[0] >> 6 && in->a[0] != TVMR_NULL) || !from) return TVMR_NEXT;
    return put_copy(vm, in->a[0], from);
}

HANDLER(zero_reg)
{
    struct tvmr_hot *h = hot_change(vm, in->a[0]);
    if (!(in->a[0] >> 6) && h) work_fill(vm, h->data, 0, h->count * sizeof *h->data);
    return TVMR_NEXT;
}

/* Loads a buffer into a register. With `none` the buffer may be empty, whatever size the
 * register is declared with. */
static enum tvmr_result load_buffer(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                    const struct tvmr_buffer *b, bool none)
{
    uint8_t reg = in->a[0];
    size_t declared = vm->declared[INDEX(reg)];
    if (declared && reg != TVMR_NULL && (b->count || !none) &&
        !tvmr_expect(
            vm, in,
            (struct tvmr_note){TVMR_LENGTH, (uint8_t)INDEX(reg), 0, declared, b->count, 0, 0}))
        return TVMR_FAILED;
    int32_t *r = ops_result(vm, b->count);
    if (!r) return TVMR_FAILED;
    work_move(vm, r, b->data, b->count * sizeof *r);
    return put_list(vm, reg);
}

HANDLER(load_input) { return load_buffer(vm, in, &vm->input, false); }
/* Loads the target. Programs that learn are also run without a target (TVMR 21.1.3). */
HANDLER(load_target) { return load_buffer(vm, in, &vm->target, true); }

/* Replaces the output. The output gets its new length only when all of it is there. */
enum tvmr_result put_output(struct tvmr_vm *vm, const int32_t *data, size_t count)
{
    struct tvmr_buffer *b = &vm->output;
    if (!tvmr_reserve(vm, &b->data, &b->capacity, count, sizeof *data)) return TVMR_FAILED;
    b->stamp++;
    if (work_move(vm, b->data, data, count * sizeof *data)) b->count = count;
    return TVMR_NEXT;
}

HANDLER(store_output)
{
    const struct tvmr_hot *h = hot_at(vm, in->a[1]);
    if (!h) return TVMR_NEXT;
    return put_output(vm, h->data, h->count);
}

HANDLER(set_const) { return put_scalar(vm, in->a[0], (int32_t)ops_imm16(in)); }

HANDLER(loop)
{
    unsigned count = ops_imm16(in);
    if (!count && vm->profile == TVMR_PROFILE_PENTA) vm->pc = vm->after_loop[vm->at];
    if (!count) return TVMR_NEXT;
    if (vm->loop_depth == TVMR_DEPTH)
        return ops_fail(vm, TVMR_E_LIMIT, "more than %d nested loops", TVMR_DEPTH);
    vm->loops[vm->loop_depth++] = (struct tvmr_loop){(uint32_t)vm->pc, count};
    return TVMR_NEXT;
}

HANDLER(end_loop)
{
    (void)in;
    if (!vm->loop_depth) return TVMR_NEXT;
    struct tvmr_loop *top = &vm->loops[vm->loop_depth - 1];
    if (--top->remaining)
        vm->pc = top->start;
    else
        vm->loop_depth--;
    return TVMR_NEXT;
}

HANDLER(loop_break)
{
    (void)in;
    if (vm->loop_depth) vm->loop_depth--;
    vm->pc++;
    return TVMR_NEXT;
}

static uint32_t ops_flow_target(const struct tvmr_insn *in)
{
    return (uint32_t)in->a[0] << 24 | (uint32_t)in->a[1] << 16 | ops_imm16(in);
}

HANDLER(jump)
{
    vm->pc = ops_flow_target(in);
    return TVMR_NEXT;
}

HANDLER(call)
{
    if (vm->call_depth == TVMR_DEPTH)
        return ops_fail(vm, TVMR_E_LIMIT, "more than %d nested calls", TVMR_DEPTH);
    vm->calls[vm->call_depth++] = vm->pc;
    vm->pc = ops_flow_target(in);
    return TVMR_NEXT;
}

HANDLER(ret)
{
    (void)in;
    if (!vm->call_depth) {
        vm->halted = true;
        return TVMR_HALTED;
    }
    vm->pc = vm->calls[--vm->call_depth];
    return TVMR_NEXT;
}

static bool any_nonzero(struct tvmr_vm *vm, uint8_t reg)
{
    const struct tvmr_hot *h = reg >> 6 ? NULL : hot_at(vm, reg);
    for (size_t i = 0; h && MORE(i, h->count); i++)
        if (h->data[i]) return true;
    return false;
}

HANDLER(if_zero)
{
    if (!any_nonzero(vm, in->a[0])) vm->pc = ops_imm16(in);
    return TVMR_NEXT;
}

HANDLER(if_nonzero)
{
    if (any_nonzero(vm, in->a[0])) vm->pc = ops_imm16(in);
    return TVMR_NEXT;
}
