/* Declares what the handlers of instructions share. An instruction reads its registers, computes
 * into the scratch buffer, and swaps that with its destination, so the destination may also be a
 * source. */
#pragma once
#include "tvmr/kernels/arithmetic.h"
#include "tvmr/kernels/kernels.h"
#include "tvmr/vm/vm.h"
#include <string.h>

#define INDEX(reg) ((reg)&63u)

static inline unsigned ops_imm16(const struct tvmr_insn *in)
{
    return (unsigned)in->a[2] << 8 | in->a[3];
}

/* Long work is done in pieces of this many elements. An element is a unit of work. */
enum { TVMR_PIECE = 1 << 14 };

static inline bool may_work(struct tvmr_vm *vm, uint64_t units)
{
    if (!vm->paused) vm->paused = vm_work(&vm->base, units);
    return !vm->paused;
}
/* Returns how many elements from `from` on are the next piece, or 0 when the work ends. */
static inline size_t ops_piece(struct tvmr_vm *vm, size_t from, size_t count)
{
    size_t n = min_size(count - from, TVMR_PIECE);
    return n && may_work(vm, n) ? n : 0;
}
/* for (PIECES(i, n, count)) does n elements from i on in each round. */
#define PIECES(i, n, count)                                                                        \
    size_t i = 0, n;                                                                               \
    (n = ops_piece(vm, i, count));                                                                 \
    i += n
/* MORE is the condition of a loop over elements. */
#define MORE(i, count) ((i) < (count) && ((i) % TVMR_PIECE || ops_piece(vm, i, count)))
/* MORE_IN_PLACE is the condition of a loop that changes elements in place and starts at
 * vm->progress. */
#define MORE_IN_PLACE(i, count)                                                                    \
    ((i) < (count) && ((i) % TVMR_PIECE || ops_piece(vm, i, count) || (vm->progress = (i), false)))

/* Moves bytes. Returns false when it was interrupted. */
bool work_move(struct tvmr_vm *vm, void *to, const void *from, uint64_t bytes);
bool work_fill(struct tvmr_vm *vm, void *to, int byte, uint64_t bytes);

/* Makes the instruction fail, and keeps the reason. */
enum tvmr_result ops_fail(struct tvmr_vm *vm, enum tvmr_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline const struct tvmr_hot *hot_at(const struct tvmr_vm *vm, uint8_t reg)
{
    const struct tvmr_hot *h = &vm->hot[INDEX(reg)];
    return h->present ? h : NULL;
}
/* Returns a register for a handler that writes its elements in place. */
static inline struct tvmr_hot *hot_change(struct tvmr_vm *vm, uint8_t reg)
{
    struct tvmr_hot *h = &vm->hot[INDEX(reg)];
    h->stamp++;
    return h->present ? h : NULL;
}
static inline struct tvmr_cold *cold_at(struct tvmr_vm *vm, uint8_t reg)
{
    struct tvmr_cold *c = &vm->cold[INDEX(reg)];
    return c->present ? c : NULL;
}
/* Tells whether instructions must not change these weights. */
static inline bool ops_spared(const struct tvmr_vm *vm, const struct tvmr_cold *c)
{
    return vm->keep_frozen && c->present && c->frozen;
}
enum tvmr_result ops_unallocated(struct tvmr_vm *vm, char bank, uint8_t reg);

#define NEED_HOT(name, reg)                                                                        \
    const struct tvmr_hot *name = hot_at(vm, reg);                                                 \
    if (!name) return ops_unallocated(vm, 'H', reg)
#define NEED_COLD(name, reg)                                                                       \
    struct tvmr_cold *name = cold_at(vm, reg);                                                     \
    if (!name) return ops_unallocated(vm, 'C', reg)

/* Makes room for a result of `count` elements, whose contents are undefined. Returns NULL when
 * the instruction failed. */
static inline int32_t *ops_result(struct tvmr_vm *vm, size_t count)
{
    struct tvmr_hot *s = &vm->scratch;
    if (count >= s->capacity &&
        !tvmr_reserve(vm, &s->data, &s->capacity, count ? count : 1, sizeof *s->data))
        return NULL;
    s->count = count;
    return s->data;
}
/* Makes the result the new contents of a register, with this shape. A null register drops it. */
enum tvmr_result ops_put(struct tvmr_vm *vm, uint8_t reg, const uint32_t *dims, size_t rank);
static inline enum tvmr_result put_like(struct tvmr_vm *vm, uint8_t reg,
                                        const struct tvmr_hot *like)
{
    return ops_put(vm, reg, like->shape.dims, like->shape.rank);
}
static inline enum tvmr_result put_list(struct tvmr_vm *vm, uint8_t reg)
{
    uint32_t n = (uint32_t)vm->scratch.count;
    return ops_put(vm, reg, &n, 1);
}
static inline enum tvmr_result put_matrix(struct tvmr_vm *vm, uint8_t reg, size_t rows, size_t cols)
{
    uint32_t dims[] = {(uint32_t)rows, (uint32_t)cols};
    return ops_put(vm, reg, dims, 2);
}
enum tvmr_result put_copy(struct tvmr_vm *vm, uint8_t reg, const struct tvmr_hot *from);
enum tvmr_result put_scalar(struct tvmr_vm *vm, uint8_t reg, int32_t value);
enum tvmr_result put_output(struct tvmr_vm *vm, const int32_t *data,
                            size_t count); /* Sets the output of the machine. */

/* Makes room in auxiliary array 0, 1 or 2. */
static inline int32_t *ops_auxiliary(struct tvmr_vm *vm, unsigned which, size_t count)
{
    struct tvmr_buffer *b = &vm->aux[which];
    return tvmr_reserve(vm, &b->data, &b->capacity, count ? count : 1, sizeof *b->data) ? b->data
                                                                                        : NULL;
}

static inline size_t dim_at(const struct tvmr_shape *s, unsigned i, size_t otherwise)
{
    return i < s->rank ? s->dims[i] : otherwise;
}
static inline size_t last_dim(const struct tvmr_hot *h)
{
    return h->shape.rank ? h->shape.dims[h->shape.rank - 1] : h->count;
}

/* Notes that there are note.have elements instead of note.want. Returns false when the
 * instruction has failed. notes.c defines it. */
void tvmr_note_text(const struct tvmr_vm *vm, const struct tvmr_note *note, char *text,
                    size_t size);
bool tvmr_expect(struct tvmr_vm *vm, const struct tvmr_insn *in, struct tvmr_note note);

/* Multiplies rows x cols weights by a vector of `count` elements, which is extended by zeros.
 * The product is computed in pieces. product.c defines the functions of this block. */
enum tvmr_gate { TVMR_GATE_NONE, TVMR_GATE_CORE, TVMR_GATE_EXTENSION };
void tvmr_product(struct tvmr_vm *vm, struct tvmr_cold *cold, enum tvmr_gate gate, const int32_t *x,
                  size_t count, int32_t *out);
/* Finds the kernels with this name: "plain", "avx2" or "avx512", or the best ones for "auto" and
 * NULL. Returns -1 when the name is unknown, or this processor cannot run them. */
int tvmr_kernels_named(const char *name);
/* Computes the rows from..to of a product in plain C. It is the definition of the product. */
void tvmr_product_plain(const struct tvmr_cold *cold, enum tvmr_gate gate, const int32_t *x,
                        size_t count, size_t from, size_t to, int32_t *out);

/* prepare_weights.c defines the functions below. */
struct tvmr_prepared {
    struct tvmr_weights weights[3]; /* indexed by enum tvmr_gate */
    bool made[3];
    struct tvmr_input input;
};
void tvmr_prepared_free(struct tvmr_prepared *p);
/* Prepares weights for vm->kernels. Returns NULL when only the plain C definition can be used,
 * or the machine is paused. */
const struct tvmr_weights *tvmr_prepare(struct tvmr_vm *vm, struct tvmr_cold *cold,
                                        enum tvmr_gate gate);
/* Makes room for the input of these weights. Returns false when memory ran out. */
bool tvmr_input_room(struct tvmr_input *in, const struct tvmr_weights *w);

void tvmr_cold_finish(struct tvmr_cold *c, size_t count);

/* Fills weights with random values, as INIT_RANDOM does. ops_ternary.c defines it. */
void tvmr_random_fill(struct tvmr_signal *w, size_t count, uint64_t state);

#define HANDLER(name) enum tvmr_result op_##name(struct tvmr_vm *vm, const struct tvmr_insn *in)

#define CORE(code, name, mnemonic, bytes, base, text, handler, meaning) tvmr_handler op_##handler;
#include "tvmr/isa.def"
#define OP(code, name, pattern, bytes, handler, meaning) tvmr_handler op_##handler;
#define YIELD(code, name, pattern, bytes, handler, domain, fields, meaning)                        \
    tvmr_handler op_##handler;
#include "tvmr/extensions/all.inc"
tvmr_handler op_unknown_opcode, op_unknown_extension, op_mark;

/* Returns the handler of an instruction that is not reserved. handlers.c defines it. */
tvmr_handler *tvmr_op_handler(const struct tvmr_op *op);
