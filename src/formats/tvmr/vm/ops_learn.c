/* Has the handlers for learning (TVMR 7.7, TVMR 8.4). Pressure builds up from activity, and
 * weights follow it when it is strong enough. */
#include "tvmr/vm/ops.h"
#include <stdio.h>

enum { DOPAMINE_GATE = 76, MASTERY_STEP = 5, UPDATE_STEP = 3 };

/* Returns the factor of the dopamine level: 1 for 76..139, 2 for 140..203, 3 above. */
static int64_t dopamine_factor(const struct tvmr_vm *vm)
{
    return 1 + (vm->chem[0] - DOPAMINE_GATE) / 64;
}

/* Returns the pressure of a cold register. When its length changes, it starts again at 0. */
static struct tvmr_pressure *pressure_of(struct tvmr_vm *vm, uint8_t reg, size_t count)
{
    struct tvmr_pressure *p = &vm->pressure[INDEX(reg)];
    p->stamp++; /* The caller changes the pressure. */
    if (p->present && p->count == count) return p;
    p->present = false;
    if (!tvmr_reserve(vm, &p->data, &p->capacity, count, sizeof *p->data) ||
        !work_fill(vm, p->data, 0, count * sizeof *p->data))
        return NULL;
    p->count = count;
    p->present = true;
    return p;
}

HANDLER(mastery_update)
{
    if (vm->chem[0] < DOPAMINE_GATE) return TVMR_NEXT;
    int64_t scale = (in->a[3] ? in->a[3] : 15) * dopamine_factor(vm);
    NEED_HOT(activity, in->a[1]);
    NEED_HOT(direction, in->a[2]);
    int64_t dir = direction->count ? ops_sign(direction->data[0]) : 0, most = 1;
    for (size_t i = 0; MORE(i, activity->count); i++)
        if (activity->data[i] > most) most = activity->data[i];
    struct tvmr_pressure *p = pressure_of(vm, in->a[0], activity->count);
    if (!p) return TVMR_FAILED;
    int64_t threshold = most / 4;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, activity->count); i++) {
        int64_t a = activity->data[i];
        if (a <= threshold) continue;
        int64_t strength = (a - threshold) * 256 / most;
        p->data[i] = ops_clamp32(p->data[i] + dir * strength * scale / 256);
    }
    return TVMR_NEXT;
}

/* Moves a weight one step towards a sign. */
static void ops_learn_step(struct tvmr_signal *w, int want, int size)
{
    if (w->polarity == want) {
        w->magnitude = (uint8_t)(w->magnitude + size > 255 ? 255 : w->magnitude + size);
    } else if (w->polarity && w->magnitude > size) {
        w->magnitude = (uint8_t)(w->magnitude - size);
    } else {
        *w = (struct tvmr_signal){(int8_t)want, (uint8_t)size};
    }
}

static enum tvmr_result ops_learn_commit(struct tvmr_vm *vm, const struct tvmr_insn *in, bool mark)
{
    static const int64_t multiplier[] = {1, 2, 4};
    struct tvmr_pressure *p = &vm->pressure[INDEX(in->a[0])];
    if (!p->present) return TVMR_NEXT;
    NEED_COLD(c, in->a[0]);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    int64_t base = in->a[3] ? in->a[3] : 50;
    bool changed = false;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, min_size(p->count, c->count)); i++) {
        unsigned temp = c->temps ? c->temps[i] : TVMR_HOT;
        int64_t threshold = temp >= TVMR_COLD ? INT32_MAX : base * multiplier[temp] / 2;
        int32_t pressure = p->data[i];
        if (pressure == INT32_MIN || ops_absolute(pressure) < threshold)
            continue; /* The negation of this value wraps. */
        ops_learn_step(&c->weights[i], pressure > 0 ? 1 : -1, MASTERY_STEP);
        p->data[i] = 0;
        changed = true;
    }
    if (changed) {
        c->dirty |= mark;
        p->stamp++;
        tvmr_cold_changed(c);
    }
    return TVMR_NEXT;
}

HANDLER(core_mastery_commit) { return ops_learn_commit(vm, in, true); }
HANDLER(mastery_commit) { return ops_learn_commit(vm, in, false); }

HANDLER(add_babble)
{
    struct tvmr_hot *h = hot_change(vm, in->a[0]);
    if (!h) return TVMR_NEXT;
    int64_t base = (int64_t)vm->babble_scale * 50;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, h->count); i++) {
        int64_t f = 77 + (int64_t)((vm->babble_phase * 7 + i * 13) % 179);
        int64_t s = (i * 7 + vm->babble_phase / 10) % 5 < 3 ? 1 : -1;
        h->data[i] = ops_clamp32(h->data[i] + s * (base * f / 255) + base / 3);
    }
    vm->babble_phase += !vm->paused;
    return TVMR_NEXT;
}

HANDLER(decay_babble)
{
    (void)in;
    vm->babble_scale = vm->babble_scale * 245 / 256;
    return TVMR_NEXT;
}

HANDLER(mark_eligibility)
{
    NEED_HOT(x, in->a[1]);
    int64_t sum = 0;
    for (size_t i = 0; MORE(i, x->count); i++) sum += x->data[i];
    int64_t mean = x->count ? sum / (int64_t)x->count : 0;
    struct tvmr_pressure *p = pressure_of(vm, in->a[0], x->count);
    if (!p) return TVMR_FAILED;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, x->count); i++)
        if (x->data[i] > mean) p->data[i] = ops_clamp32((int64_t)p->data[i] + x->data[i]);
    return TVMR_NEXT;
}

HANDLER(decay_eligibility)
{
    struct tvmr_pressure *p = &vm->pressure[INDEX(in->a[0])];
    p->stamp++;
    for (size_t i = vm->progress; p->present && MORE_IN_PLACE(i, p->count); i++)
        p->data[i] = (int32_t)((int64_t)p->data[i] * 230 / 256);
    return TVMR_NEXT;
}

static enum tvmr_result start_phase(struct tvmr_vm *vm, enum tvmr_chl phase,
                                    struct tvmr_correlation *table)
{
    vm->chl_phase = phase;
    for (unsigned i = 0; i < TVMR_BANK; i++) table[i].present = false;
    return TVMR_NEXT;
}

HANDLER(chl_free_start)
{
    (void)in;
    return start_phase(vm, TVMR_CHL_FREE, vm->chl_free);
}

HANDLER(chl_clamp_start)
{
    (void)in;
    return start_phase(vm, TVMR_CHL_CLAMPED, vm->chl_clamped);
}

static enum tvmr_result ops_learn_record(struct tvmr_vm *vm, const struct tvmr_insn *in,
                                         enum tvmr_chl phase, struct tvmr_correlation *table)
{
    if (vm->chl_phase != phase)
        return ops_fail(vm, TVMR_E_STATE, "%s in another phase", in->op->name);
    NEED_HOT(v, in->a[0]);
    NEED_HOT(h, in->a[1]);
    struct tvmr_correlation *t = &table[INDEX(in->a[0])];
    if (h->count && v->count > SIZE_MAX / 16 / h->count)
        return ops_fail(vm, TVMR_E_LIMIT, "too many correlations");
    size_t count = v->count * h->count;
    if (!t->present || t->count != count) {
        if (!tvmr_reserve(vm, &t->data, &t->capacity, count, sizeof *t->data)) return TVMR_FAILED;
        t->present = false;
        if (!work_fill(vm, t->data, 0, count * sizeof *t->data)) return TVMR_NEXT;
        t->count = count;
        t->present = true;
    }
    size_t i = count ? vm->progress / h->count : 0, j = count ? vm->progress % h->count : 0;
    for (size_t at = vm->progress; MORE_IN_PLACE(at, count); at++) {
        t->data[at] = ops_wadd(t->data[at], (int64_t)v->data[i] * h->data[j]);
        if (++j == h->count) j = 0, i++;
    }
    return TVMR_NEXT;
}

HANDLER(chl_free_record) { return ops_learn_record(vm, in, TVMR_CHL_FREE, vm->chl_free); }
HANDLER(chl_clamp_record) { return ops_learn_record(vm, in, TVMR_CHL_CLAMPED, vm->chl_clamped); }

/* Writes a shape such as "[64, 256]". */
static void shape_text(const struct tvmr_shape *shape, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "[");
    for (unsigned i = 0; i < shape->rank && used + 16 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%u", i ? ", " : "",
                                 (unsigned)shape->dims[i]);
    snprintf(text + used, size - used, "]");
}

HANDLER(chl_update)
{
    const struct tvmr_correlation *f = &vm->chl_free[INDEX(in->a[0])],
                                  *c = &vm->chl_clamped[INDEX(in->a[0])];
    if (vm->chem[0] < DOPAMINE_GATE || !f->present || !c->present) return TVMR_NEXT;
    if (f->count != c->count) {
        char shape[40] = "";
        shape_text(&vm->cold[INDEX(in->a[0])].shape, shape, sizeof shape);
        return ops_fail(vm, TVMR_E_STATE, "C%u %s: %zu correlations in the free phase, %zu clamped",
                        INDEX((unsigned)in->a[0]), shape, f->count, c->count);
    }
    struct tvmr_pressure *p = pressure_of(vm, in->a[0], f->count);
    if (!p) return TVMR_FAILED;
    for (size_t i = vm->progress; MORE_IN_PLACE(i, f->count); i++) {
        int64_t difference = (int64_t)((uint64_t)c->data[i] - (uint64_t)f->data[i]);
        p->data[i] = ops_clamp32((int64_t)p->data[i] + ops_clamp32(difference >> 8));
    }
    if (!vm->paused) vm->chl_phase = TVMR_CHL_IDLE;
    return TVMR_NEXT;
}

HANDLER(chl_backprop_clamp)
{
    NEED_COLD(c, in->a[0]);
    NEED_HOT(x, in->a[1]);
    if (c->shape.rank != 2)
        return ops_fail(vm, TVMR_E_SHAPE, "weights of rank %u", (unsigned)c->shape.rank);
    if (!tvmr_expect(vm, in,
                     (struct tvmr_note){TVMR_PRODUCT, (uint8_t)(64 | INDEX(in->a[0])),
                                        (uint8_t)INDEX(in->a[1]), c->shape.dims[0], x->count, 0,
                                        0}))
        return TVMR_FAILED;
    size_t rows = min_size(c->shape.dims[0], x->count), cols = c->shape.dims[1];
    int32_t *r = ops_result(vm, cols);
    int64_t *sum = r ? (int64_t *)(void *)ops_auxiliary(vm, 0, cols * 2) : NULL;
    if (!sum) return TVMR_FAILED;
    work_fill(vm, sum, 0, cols * sizeof *sum);
    for (size_t i = 0; i < rows && may_work(vm, 1); i++)
        for (PIECES(from, m, cols))
            for (size_t j = from; j < from + m; j++)
                sum[j] += (int64_t)tvmr_value(c->weights[i * cols + j]) * x->data[i];
    for (size_t j = 0; MORE(j, cols); j++) r[j] = ops_clamp32(sum[j]);
    return put_list(vm, (uint8_t)INDEX(in->a[0]));
}

HANDLER(compute_error)
{
    NEED_HOT(t, in->a[0]);
    NEED_HOT(o, in->a[1]);
    int64_t sum = 0;
    for (size_t i = 0; MORE(i, min_size(t->count, o->count)); i++)
        sum += ops_absolute((int64_t)t->data[i] - o->data[i]);
    if (!vm->paused) vm->current_error = ops_clamp32(sum);
    return TVMR_NEXT;
}

HANDLER(compute_rpe)
{
    NEED_HOT(predicted, in->a[0]);
    NEED_HOT(actual, in->a[1]);
    int64_t a = actual->count ? actual->data[0] : 0, p = predicted->count ? predicted->data[0] : 0;
    vm->current_error = ops_clamp32(a - p);
    return TVMR_NEXT;
}

HANDLER(gate_error)
{
    int32_t e = ops_wrap32(ops_absolute(vm->current_error));
    return put_scalar(vm, in->a[0], e >= in->a[1] * 256 ? e : 0);
}

HANDLER(update_weights)
{
    struct tvmr_pressure *p = &vm->pressure[INDEX(in->a[0])];
    if (vm->chem[0] < DOPAMINE_GATE || !p->present) return TVMR_NEXT;
    NEED_COLD(c, in->a[0]);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    int64_t scale = ops_clamp(vm->current_error, 1, 1000) * dopamine_factor(vm);
    for (size_t i = vm->progress; MORE_IN_PLACE(i, p->count); i++) {
        int64_t s = p->data[i] * scale / 65536;
        if (i < c->count && ops_absolute(s) > 30)
            ops_learn_step(&c->weights[i], ops_sign(s), UPDATE_STEP);
        p->data[i] = 0;
    }
    p->stamp++;
    tvmr_cold_changed(c);
    return TVMR_NEXT;
}

HANDLER(checkpoint_weights)
{
    if (in->a[0] != TVMR_NULL) {
        NEED_COLD(c, in->a[0]);
        if (!tvmr_cold_copy_work(vm, &vm->checkpoints[INDEX(in->a[0])], c)) return TVMR_FAILED;
    }
    return op_yield(vm, in);
}

HANDLER(rollback_weights)
{
    struct tvmr_cold *copy = &vm->checkpoints[INDEX(in->a[0])], *c = &vm->cold[INDEX(in->a[0])];
    if (in->a[0] == TVMR_NULL || !copy->present) return op_yield(vm, in);
    if (ops_spared(vm, c)) return TVMR_NEXT;
    tvmr_cold_drop(vm, c);
    *c = *copy;
    *copy = (struct tvmr_cold){0};
    return TVMR_NEXT;
}
