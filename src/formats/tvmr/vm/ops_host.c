/* Has the handlers for instructions that the host answers (TVMR 9: domain operations, models,
 * banks), and for assertions. */
#include "tvmr/vm/ops.h"
#include <stdarg.h>
#include <stdio.h>

/* Returns the value of a place in the operands (extensions/neuro.def explains places). */
static uint64_t field_value(const struct tvmr_vm *vm, const uint8_t a[4], const char *place)
{
    if (*place == 'r') place++;
    if (*place == 'P') return a[1] < TVMR_BANK ? (uint64_t)(int64_t)vm->param[a[1]] : 0;
    unsigned v = a[*place - 'A'];
    switch (place[1]) {
    case 'D': return v << 8 | a[3];
    case 'x': return v << 8;
    case 'h': return v >> 4;
    case 'l': return v & 15;
    case '0': return v & 1;
    default: return v;
    }
}

HANDLER(yield)
{
    size_t count = 0;
    memset(vm->yield_args, 0, sizeof vm->yield_args);
    for (const char *p = in->op->fields; (p = strchr(p, '=')) && count < TVMR_YIELD_ARGS; count++)
        vm->yield_args[count] = field_value(vm, in->a, ++p);
    vm->yield_op = in->op;
    vm->waiting = true;
    return TVMR_YIELDED;
}

HANDLER(model_load)
{
    vm->models[in->a[1]].loaded = true;
    return op_yield(vm, in);
}

HANDLER(model_exec)
{
    if (!vm->models[in->a[1]].loaded)
        return ops_fail(vm, TVMR_E_STATE, "slot %u has no model", in->a[1]);
    return op_yield(vm, in);
}

HANDLER(model_input)
{
    struct tvmr_model *m = &vm->models[in->a[1]];
    m->has_input = true;
    m->input = (uint8_t)INDEX(in->a[0]);
    return TVMR_NEXT;
}

HANDLER(model_output)
{
    struct tvmr_model *m = &vm->models[in->a[1]];
    m->has_output = true;
    m->output = (uint8_t)INDEX(in->a[0]);
    return TVMR_NEXT;
}

HANDLER(model_unload)
{
    vm->models[in->a[0]] = (struct tvmr_model){0};
    return TVMR_NEXT;
}

HANDLER(model_status)
{
    const struct tvmr_model *m = &vm->models[in->a[1]];
    return put_scalar(vm, in->a[0], m->running ? 2 : m->loaded ? 1 : 0);
}

HANDLER(model_chain)
{
    const struct tvmr_model *from = &vm->models[in->a[0]];
    struct tvmr_model *to = &vm->models[in->a[1]];
    if (!from->has_output)
        return ops_fail(vm, TVMR_E_STATE, "slot %u has no output register", in->a[0]);
    to->has_input = true;
    to->input = from->output;
    return TVMR_NEXT;
}

static enum tvmr_result ops_host_assertion(struct tvmr_vm *vm, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum tvmr_result ops_host_assertion(struct tvmr_vm *vm, const char *format, ...)
{
    char text[120], prefix[16] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (vm->testing) snprintf(prefix, sizeof prefix, "[test %u] ", vm->test_id);
    return ops_fail(vm, TVMR_E_ASSERT, "%s%s", prefix, text);
}

HANDLER(assert_eq)
{
    NEED_HOT(x, in->a[0]);
    NEED_HOT(y, in->a[1]);
    unsigned a = INDEX(in->a[0]), b = INDEX(in->a[1]);
    if (x->count != y->count)
        return ops_host_assertion(vm, "ASSERT_EQ failed: H%u has %zu elements, H%u has %zu", a,
                                  x->count, b, y->count);
    for (size_t i = 0; MORE(i, x->count); i++)
        if (x->data[i] != y->data[i])
            return ops_host_assertion(vm,
                                      "ASSERT_EQ failed at index %zu: H%u[%zu]=%d != H%u[%zu]=%d",
                                      i, a, i, (int)x->data[i], b, i, (int)y->data[i]);
    return TVMR_NEXT;
}

static int64_t ops_host_total(struct tvmr_vm *vm, const struct tvmr_hot *h)
{
    int64_t sum = 0;
    for (size_t i = 0; MORE(i, h->count); i++) sum += h->data[i];
    return sum;
}

HANDLER(assert_gt)
{
    NEED_HOT(x, in->a[0]);
    NEED_HOT(y, in->a[1]);
    int64_t a = ops_host_total(vm, x), b = ops_host_total(vm, y);
    if (a > b) return TVMR_NEXT;
    return ops_host_assertion(vm, "ASSERT_GT failed: sum %lld is not above %lld", (long long)a,
                              (long long)b);
}

HANDLER(assert_active)
{
    NEED_HOT(x, in->a[0]);
    for (size_t i = 0; MORE(i, x->count); i++)
        if (x->data[i]) return TVMR_NEXT;
    return ops_host_assertion(vm, "ASSERT_ACTIVE failed: H%u is all zero", INDEX(in->a[0]));
}

HANDLER(assert_range)
{
    NEED_HOT(x, in->a[0]);
    for (size_t i = 0; MORE(i, x->count); i++)
        if (x->data[i] < in->a[1] || x->data[i] > in->a[2])
            return ops_host_assertion(vm, "ASSERT_RANGE failed at index %zu: %d is not in %u..%u",
                                      i, (int)x->data[i], in->a[1], in->a[2]);
    return TVMR_NEXT;
}

HANDLER(test_begin)
{
    vm->testing = true;
    vm->test_id = in->a[0];
    return TVMR_NEXT;
}

HANDLER(test_end)
{
    (void)in;
    vm->testing = false;
    return TVMR_NEXT;
}

HANDLER(expect_chem)
{
    if (in->a[0] > 3) return ops_host_assertion(vm, "EXPECT_CHEM failed: no chemical %u", in->a[0]);
    unsigned level = vm->chem[in->a[0]];
    if (level >= in->a[1] && level <= in->a[2]) return TVMR_NEXT;
    return ops_host_assertion(vm, "EXPECT_CHEM failed: level %u is not in %u..%u", level, in->a[1],
                              in->a[2]);
}

HANDLER(snapshot)
{
    NEED_HOT(x, in->a[0]);
    struct tvmr_pressure *s = &vm->snapshots[INDEX(in->a[0])];
    if (!tvmr_reserve(vm, &s->data, &s->capacity, x->count, sizeof *s->data)) return TVMR_FAILED;
    s->present = false;
    s->stamp++;
    if (!work_move(vm, s->data, x->data, x->count * sizeof *s->data)) return TVMR_NEXT;
    s->count = x->count;
    s->present = true;
    return TVMR_NEXT;
}

static uint64_t id_of(const struct tvmr_hot *h)
{
    return (uint64_t)(uint32_t)h->data[0] << 32 | (uint32_t)h->data[1];
}

#define BANK_HAS(function) (vm->bank && vm->bank->function)

HANDLER(bank_query)
{
    enum { TOP = 255 };
    int32_t scores[TOP];
    uint64_t ids[TOP];
    size_t found = 0;
    if (!BANK_HAS(query) || in->a[1] == TVMR_NULL) return op_yield(vm, in);
    NEED_HOT(x, in->a[1]);
    if (!vm->bank->query(vm->bank->user, in->a[2], x->data, x->count, in->a[3], scores, ids,
                         &found))
        return op_yield(vm, in);
    if (found > in->a[3])
        return ops_fail(vm, TVMR_E_HOST,
                        "the bank returned more entries than the instruction asks for");
    int32_t *r = ops_result(vm, 1 + 3 * found);
    if (!r) return TVMR_FAILED;
    r[0] = (int32_t)found;
    for (size_t i = 0; i < found; i++) {
        r[1 + 3 * i] = scores[i];
        r[2 + 3 * i] = (int32_t)(uint32_t)(ids[i] >> 32);
        r[3 + 3 * i] = (int32_t)(uint32_t)ids[i];
    }
    return put_list(vm, in->a[0]);
}

HANDLER(bank_write)
{
    uint64_t id;
    if (!BANK_HAS(write) || in->a[1] == TVMR_NULL) return op_yield(vm, in);
    NEED_HOT(x, in->a[1]);
    if (!vm->bank->write(vm->bank->user, in->a[2], x->data, x->count, &id)) return op_yield(vm, in);
    int32_t *r = ops_result(vm, 2);
    if (!r) return TVMR_FAILED;
    r[0] = (int32_t)(uint32_t)(id >> 32);
    r[1] = (int32_t)(uint32_t)id;
    return put_list(vm, in->a[0]);
}

HANDLER(bank_load)
{
    const int32_t *vector;
    size_t size;
    if (!BANK_HAS(load) || in->a[1] == TVMR_NULL) return op_yield(vm, in);
    NEED_HOT(x, in->a[1]);
    if (x->count < 2) return ops_fail(vm, TVMR_E_RANGE, "an id has two elements");
    if (!vm->bank->load(vm->bank->user, in->a[2], id_of(x), &vector, &size))
        return op_yield(vm, in);
    int32_t *r = ops_result(vm, size);
    if (!r) return TVMR_FAILED;
    work_move(vm, r, vector, size * sizeof *r);
    return put_list(vm, in->a[0]);
}

HANDLER(bank_touch)
{
    const struct tvmr_hot *x = hot_at(vm, in->a[0]);
    bool done = BANK_HAS(touch) && in->a[0] != TVMR_NULL && x && x->count >= 2 &&
                vm->bank->touch(vm->bank->user, in->a[1], id_of(x));
    return done ? TVMR_NEXT : op_yield(vm, in);
}

HANDLER(bank_delete)
{
    const struct tvmr_hot *x = hot_at(vm, in->a[0]);
    bool done = BANK_HAS(remove) && in->a[0] != TVMR_NULL && x && x->count >= 2 &&
                vm->bank->remove(vm->bank->user, in->a[1], id_of(x));
    return done ? TVMR_NEXT : op_yield(vm, in);
}

HANDLER(bank_count)
{
    uint64_t count;
    if (!BANK_HAS(count) || !vm->bank->count(vm->bank->user, in->a[1], &count))
        return op_yield(vm, in);
    return put_scalar(vm, in->a[0], ops_clamp32((int64_t)count));
}
