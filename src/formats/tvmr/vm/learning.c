/* Implements learning for hosts (TVMR 14), by functions that do what the instructions do. Their
 * numbers are those of the upstream library: 32 bits that wrap. */
#include "penta/tvmr.h"
#include "tvmr/vm/ops.h"
#include <assert.h>

static int64_t learning_strongest(const int32_t *activations, size_t count)
{
    int64_t most = 1;
    for (size_t i = 0; i < count; i++) most = activations[i] > most ? activations[i] : most;
    return most;
}

size_t penta_tvmr_participants(const int32_t *activations, size_t count, int32_t divisor,
                               bool *took_part)
{
    assert(divisor > 0);
    int64_t threshold = learning_strongest(activations, count) / divisor;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += took_part[i] = activations[i] > threshold;
    return total;
}

static void learning_press(const penta_tvmr_rule *rule, int32_t *pressures,
                           const int32_t *activations, size_t count, int direction)
{
    int64_t most = learning_strongest(activations, count), threshold = most / rule->divisor;
    for (size_t i = 0; i < count; i++) {
        if (activations[i] <= threshold) continue;
        int32_t strength = (int32_t)((activations[i] - threshold) * 255 / most);
        int32_t force =
            ops_wrap32(ops_wrap32((int64_t)direction * strength) * (int64_t)rule->scale) / 255;
        pressures[i] = ops_wrap32((int64_t)pressures[i] + force);
    }
}

/* Moves a weight one step towards the sign of its pressure: the weight grows, starts from 0, shrinks, or changes
 * its sign. */
static void follow_pressure(const penta_tvmr_rule *rule, penta_tvmr_signal *w, int32_t *pressure)
{
    int want = ops_sign(*pressure);
    if (w->polarity == want) {
        w->magnitude = (uint8_t)ops_clamp(w->magnitude + (int64_t)rule->step, 0, 255);
        *pressure = ops_wrap32((int64_t)*pressure * rule->keep) / rule->of;
    } else if (!w->polarity) {
        *w = (penta_tvmr_signal){(int8_t)want, (uint8_t)ops_clamp(2 * (int64_t)rule->step, 0, 255)};
        *pressure = 0;
    } else if (w->magnitude > rule->step) {
        w->magnitude = (uint8_t)(w->magnitude - rule->step);
    } else {
        *w = (penta_tvmr_signal){(int8_t)want, (uint8_t)ops_clamp(rule->step, 0, 255)};
        *pressure = 0;
    }
}

void penta_tvmr_learn(const penta_tvmr_rule *rule, penta_tvmr_signal *weights, int32_t *pressures,
                      const int32_t *activations, size_t count, int direction)
{
    assert(rule->divisor > 0 && rule->of > 0 && rule->step >= 0);
    learning_press(rule, pressures, activations, count, direction);
    for (size_t i = 0; i < count; i++)
        if (pressures[i] && ops_absolute(pressures[i]) >= rule->threshold)
            follow_pressure(rule, &weights[i], &pressures[i]);
}

void penta_tvmr_init(penta_tvmr_signal *weights, size_t count, bool positive, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = positive ? i * UINT64_C(41) + seed : (i * UINT64_C(31) + seed) * 17;
        if (positive)
            weights[i] = (penta_tvmr_signal){1, (uint8_t)((hash >> 2) % 15 + 10)};
        else
            weights[i] = (penta_tvmr_signal){hash % 2 ? -1 : 1, (uint8_t)((hash >> 3) % 20 + 20)};
    }
}

void penta_tvmr_usage_count(uint32_t *counters, const bool *used, size_t count)
{
    for (size_t i = 0; i < count; i++) counters[i] += used[i] && counters[i] < UINT32_MAX;
}

void penta_tvmr_usage_decay(uint32_t *counters, size_t count, uint8_t factor)
{
    for (size_t i = 0; i < count; i++)
        counters[i] = (uint32_t)((uint64_t)counters[i] * factor / 255);
}
