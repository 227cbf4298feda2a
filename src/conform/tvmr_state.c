/* Compares the state of a TVMR machine with the member "expect" of a vector. */
#include "conform/tvmr_state.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool trial_numbers(struct trial *t, const char *what, const struct json_object *list,
                   const int32_t *data, size_t count)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%s with %zu elements", what, json_length(list));
    if (!json_is_list(list) || json_length(list) != count)
        return trial_fail(t, expected, "%zu elements", count);
    for (size_t i = 0; i < count; i++) {
        int64_t v;
        if (!json_as_sint(json_item(list, i), &v) || v != data[i]) {
            snprintf(expected, sizeof expected, "%s[%zu] = %" PRId64, what, i, v);
            return trial_fail(t, expected, "%d", (int)data[i]);
        }
    }
    return true;
}

static bool same_shape(struct trial *t, const char *what, const struct json_object *list,
                       const struct tvmr_shape *s)
{
    bool same = json_length(list) == s->rank;
    for (size_t i = 0; same && i < s->rank; i++) {
        int64_t v;
        same = json_as_sint(json_item(list, i), &v) && v == s->dims[i];
    }
    return same || trial_fail(t, "the expected shape", "%s has another shape (rank %u)", what,
                              (unsigned)s->rank);
}

/* Finds a part of {"data": .., "shape": ..} or of [data, shape]. */
static const struct json_object *tvmr_state_part(const struct json_object *v, const char *key,
                                                 size_t index)
{
    return json_is_list(v) ? json_item(v, index) : json_get(v, key);
}

static void compare_hot(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    uint8_t reg;
    c->members++;
    if (!trial_register(name, &reg) || reg > 63) {
        trial_fail(c->t, "a hot register", "%s", name);
        return;
    }
    const struct tvmr_hot *h = &c->vm->hot[reg];
    if (!h->present)
        trial_fail(c->t, name, "not allocated");
    else if (trial_numbers(c->t, name, tvmr_state_part(v, "data", 0), h->data, h->count))
        same_shape(c->t, name, tvmr_state_part(v, "shape", 1), &h->shape);
}

static bool same_signal(const struct json_object *v, struct tvmr_signal s)
{
    int64_t a, b;
    if (!json_is_list(v)) return json_as_sint(v, &a) && a == tvmr_value(s) && a;
    return json_as_sint(json_item(v, 0), &a) && json_as_sint(json_item(v, 1), &b) &&
           a == s.polarity && b == s.magnitude;
}

static bool same_temps(const struct json_object *v, const struct tvmr_cold *c)
{
    if (!json_is_list(v) || !c->temps) return !json_is_list(v) && !c->temps;
    bool same = json_length(v) == c->count;
    for (size_t i = 0; same && i < c->count; i++) {
        int64_t n;
        same = json_as_sint(json_item(v, i), &n) && n == c->temps[i];
    }
    return same;
}

static void compare_cold(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    uint8_t reg;
    c->members++;
    if (!trial_register(name, &reg) || reg >> 6 != 1) {
        trial_fail(c->t, "a cold register", "%s", name);
        return;
    }
    const struct tvmr_cold *w = &c->vm->cold[reg & 63];
    const struct json_object *weights = tvmr_state_part(v, "weights", 0);
    if (!w->present || json_length(weights) != w->count) {
        trial_fail(c->t, name, "%zu weights, expected %zu", w->present ? w->count : 0,
                   json_length(weights));
        return;
    }
    for (size_t i = 0; i < w->count; i++)
        if (!same_signal(json_item(weights, i), w->weights[i])) {
            trial_fail(c->t, name, "weight %zu is [%d, %u]", i, w->weights[i].polarity,
                       w->weights[i].magnitude);
            return;
        }
    same_shape(c->t, name, tvmr_state_part(v, "shape", 1), &w->shape);
    if (!same_temps(tvmr_state_part(v, "temps", 2), w))
        trial_fail(c->t, name, "other temperatures");
    if (json_has(v, "dirty") && json_as_bool(json_get(v, "dirty")) != w->dirty)
        trial_fail(c->t, name, "dirty is %d", w->dirty);
    if (json_has(v, "frozen") && json_as_bool(json_get(v, "frozen")) != w->frozen)
        trial_fail(c->t, name, "frozen is %d", w->frozen);
}

static void compare_pressure(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    uint8_t reg;
    c->members++;
    if (!trial_register(name, &reg)) {
        trial_fail(c->t, "a register", "%s", name);
        return;
    }
    const struct tvmr_pressure *p = &c->vm->pressure[reg & 63];
    trial_numbers(c->t, "pressure", v, p->data, p->present ? p->count : 0);
}

static void compare_param(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    uint8_t reg;
    int64_t n;
    if (!trial_register(name, &reg) || reg >> 6 != 2 || !json_as_sint(v, &n))
        trial_fail(c->t, "a param register", "%s", name);
    else if (c->vm->param[reg & 63] != n)
        trial_fail(c->t, name, "%d", (int)c->vm->param[reg & 63]);
}

static void compare_shape(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    uint8_t reg;
    if (!trial_register(name, &reg) || reg >> 6 != 3)
        trial_fail(c->t, "a shape register", "%s", name);
    else
        same_shape(c->t, name, v, &c->vm->shape[reg & 63]);
}

/* Checks that registers which the vector does not list are not allocated. */
static void compare_sets(struct trial *t, struct tvmr_vm *vm, const struct json_object *expect)
{
    struct comparing hot = {t, vm, 0}, cold = {t, vm, 0}, pressure = {t, vm, 0}, other = {t, vm, 0};
    json_each(json_get(expect, "hot"), compare_hot, &hot);
    json_each(json_get(expect, "cold"), compare_cold, &cold);
    json_each(json_get(expect, "pressure"), compare_pressure, &pressure);
    json_each(json_get(expect, "param"), compare_param, &other);
    json_each(json_get(expect, "shape"), compare_shape, &other);
    size_t hots = 0, colds = 0;
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        hots += vm->hot[i].present;
        colds += vm->cold[i].present;
    }
    if (json_has(expect, "hot") && hots != hot.members)
        trial_fail(t, "the listed hot registers", "%zu of them", hots);
    if (json_has(expect, "cold") && colds != cold.members)
        trial_fail(t, "the listed cold registers", "%zu of them", colds);
}

void trial_number(struct trial *t, const struct json_object *v, const char *what, int64_t got)
{
    int64_t n;
    char expected[64];
    if (!v) return;
    if (!json_as_sint(v, &n)) n = INT64_MIN;
    snprintf(expected, sizeof expected, "%s %" PRId64, what, n);
    if (n != got) trial_fail(t, expected, "%s %" PRId64, what, got);
}

void trial_state(struct trial *t, struct tvmr_vm *vm, const struct json_object *expect)
{
    trial_number(t, json_get(expect, "pc"), "pc", (int64_t)vm->pc);
    trial_number(t, json_get(expect, "current_error"), "current_error", vm->current_error);
    trial_number(t, json_item(json_get(expect, "babble"), 0), "babble scale", vm->babble_scale);
    trial_number(t, json_item(json_get(expect, "babble"), 1), "babble phase",
                 (int64_t)vm->babble_phase);
    compare_sets(t, vm, expect);
}
