/* Counts the memory of a machine. Every array grows here, so that the budget is checked in one
 * place. */
#include "tvmr/vm/ops.h"

#include <stdlib.h>

uint32_t tvmr_memory_code(const struct tvmr_vm *vm)
{
    return vm->no_memory ? BASE_MEMORY : BASE_LIMIT;
}

/* Makes an array larger. `pointer` is the address of a typed pointer. All pointers to objects
 * have the same form on the hosts of penta. */
bool tvmr_reserve(struct tvmr_vm *vm, void *pointer, size_t *capacity, size_t count, size_t item)
{
    if (count <= *capacity) return true;
    uint64_t old = (uint64_t)*capacity * item;
    void *data;
    memcpy(&data, pointer, sizeof data);
    if (count > SIZE_MAX / item / 2 ||
        vm->memory_used - old + (uint64_t)count * item > vm->memory_max) {
        ops_fail(vm, TVMR_E_LIMIT, "%zu elements are over the memory budget", count);
        return false;
    }
    data = realloc(data, count * item);
    if (!data) {
        vm->no_memory = true;
        ops_fail(vm, TVMR_E_LIMIT, "no memory for %zu elements", count);
        return false;
    }
    memcpy(pointer, &data, sizeof data);
    vm->memory_used += (uint64_t)count * item - old;
    *capacity = count;
    return true;
}

void tvmr_release(struct tvmr_vm *vm, void *pointer, size_t *capacity, size_t item)
{
    void *data;
    memcpy(&data, pointer, sizeof data);
    free(data);
    data = NULL;
    memcpy(pointer, &data, sizeof data);
    vm->memory_used -= (uint64_t)*capacity * item;
    *capacity = 0;
}

bool tvmr_shape_set(struct tvmr_vm *vm, struct tvmr_shape *shape, const uint32_t *dims, size_t rank)
{
    size_t capacity = shape->capacity;
    if (!tvmr_reserve(vm, &shape->dims, &capacity, rank, sizeof *dims)) return false;
    shape->capacity = (uint32_t)capacity;
    if (rank && shape->dims != dims) memmove(shape->dims, dims, rank * sizeof *dims);
    shape->rank = (uint32_t)rank;
    return true;
}

bool tvmr_buffer_set(struct tvmr_vm *vm, struct tvmr_buffer *b, const int32_t *data, size_t count)
{
    if (!tvmr_reserve(vm, &b->data, &b->capacity, count, sizeof *data)) return false;
    if (count) memmove(b->data, data, count * sizeof *data);
    b->count = count;
    b->stamp++;
    return true;
}

bool tvmr_numbers_set(struct tvmr_vm *vm, struct tvmr_pressure *p, size_t count)
{
    if (!tvmr_reserve(vm, &p->data, &p->capacity, count, sizeof *p->data)) return false;
    if (count) memset(p->data, 0, count * sizeof *p->data);
    p->count = count;
    p->stamp++;
    p->present = true;
    return true;
}

bool tvmr_hot_set(struct tvmr_vm *vm, unsigned index, const int32_t *data, size_t count,
                  const uint32_t *dims, size_t rank)
{
    struct tvmr_hot *h = &vm->hot[index];
    if (!tvmr_reserve(vm, &h->data, &h->capacity, count, sizeof *data)) return false;
    if (count && data)
        memmove(h->data, data, count * sizeof *data);
    else if (count)
        memset(h->data, 0, count * sizeof *data);
    h->count = count;
    h->stamp++;
    h->present = true;
    return tvmr_shape_set(vm, &h->shape, dims, rank);
}

void tvmr_hot_drop(struct tvmr_vm *vm, struct tvmr_hot *h)
{
    tvmr_release(vm, &h->data, &h->capacity, sizeof *h->data);
    h->present = false;
    h->stamp++;
    h->count = 0;
    h->shape.rank = 0;
}

void tvmr_cold_changed(struct tvmr_cold *c)
{
    tvmr_prepared_free(c->prepared);
    c->prepared = NULL;
    c->stamp++;
}

void tvmr_cold_drop(struct tvmr_vm *vm, struct tvmr_cold *c)
{
    size_t shape = c->shape.capacity;
    tvmr_cold_changed(c);
    tvmr_release(vm, &c->weights, &c->capacity, sizeof *c->weights);
    tvmr_release(vm, &c->temps, &c->temps_capacity, 1);
    tvmr_release(vm, &c->shape.dims, &shape, sizeof *c->shape.dims);
    *c = (struct tvmr_cold){.stamp = c->stamp};
}

bool tvmr_cold_new(struct tvmr_vm *vm, unsigned index, size_t count, const uint32_t *dims,
                   size_t rank)
{
    struct tvmr_cold *c = &vm->cold[index];
    tvmr_cold_drop(vm, c);
    if (!tvmr_reserve(vm, &c->weights, &c->capacity, count, sizeof *c->weights) ||
        !tvmr_shape_set(vm, &c->shape, dims, rank))
        return false;
    if (count) memset(c->weights, 0, count * sizeof *c->weights);
    c->count = count;
    c->present = true;
    return true;
}

struct tvmr_cold *tvmr_cold_begin(struct tvmr_vm *vm, unsigned index, size_t count,
                                  const uint32_t *dims, size_t rank)
{
    struct tvmr_cold *c = &vm->cold[index];
    tvmr_cold_drop(vm, c);
    return tvmr_reserve(vm, &c->weights, &c->capacity, count, sizeof *c->weights) &&
                   tvmr_shape_set(vm, &c->shape, dims, rank)
               ? c
               : NULL;
}

void tvmr_cold_finish(struct tvmr_cold *c, size_t count)
{
    c->count = count;
    c->present = true;
}

bool tvmr_temps_set(struct tvmr_vm *vm, struct tvmr_cold *c, const uint8_t *temps)
{
    tvmr_cold_changed(c);
    if (!temps) {
        tvmr_release(vm, &c->temps, &c->temps_capacity, 1);
        return true;
    }
    if (!tvmr_reserve(vm, &c->temps, &c->temps_capacity, c->count ? c->count : 1, 1)) return false;
    memmove(c->temps, temps, c->count);
    return true;
}

/* Makes room for a copy of a register, and copies everything but its arrays. */
static bool cold_copy_room(struct tvmr_vm *vm, struct tvmr_cold *to, const struct tvmr_cold *from)
{
    tvmr_cold_drop(vm, to);
    if (!tvmr_reserve(vm, &to->weights, &to->capacity, from->count, sizeof *to->weights) ||
        !tvmr_shape_set(vm, &to->shape, from->shape.dims, from->shape.rank))
        return false;
    to->frozen = from->frozen;
    to->dirty = from->dirty;
    to->key_size = from->key_size;
    memcpy(to->key, from->key, sizeof to->key);
    return true;
}

bool tvmr_cold_copy(struct tvmr_vm *vm, struct tvmr_cold *to, const struct tvmr_cold *from)
{
    if (!cold_copy_room(vm, to, from)) return false;
    if (from->count) memcpy(to->weights, from->weights, from->count * sizeof *to->weights);
    to->count = from->count;
    to->present = from->present;
    return !from->temps || tvmr_temps_set(vm, to, from->temps);
}

bool tvmr_cold_copy_work(struct tvmr_vm *vm, struct tvmr_cold *to, const struct tvmr_cold *from)
{
    size_t n = from->count;
    if (!cold_copy_room(vm, to, from) ||
        !work_move(vm, to->weights, from->weights, n * sizeof *to->weights))
        return false;
    if (from->temps && (!tvmr_reserve(vm, &to->temps, &to->temps_capacity, n ? n : 1, 1) ||
                        !work_move(vm, to->temps, from->temps, n)))
        return false;
    to->count = n;
    to->present = from->present;
    return true;
}
