/* Implements the default host's pool (TVMR 17.13): leaky neurons, with synapses between neurons
 * that fire together. */
#include "tvmr/vm/ops.h"
#include "tvmr/host/domain_state.h"
#include <stdlib.h>

enum { POOL_SIZE = 65536, SYNAPSES = 1 << 16, WEIGHT_MAX = 255 };

static bool pool_room(struct act *a)
{
    if (a->w->pool.data) return true;
    a->w->pool = (struct numbers){calloc(2 * POOL_SIZE, sizeof(int32_t)), 2 * POOL_SIZE};
    return a->w->pool.data != NULL;
}

static void domain_neurons_inject(struct act *a, struct numbers x, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to && i < POOL_SIZE && i - from < x.count; i++)
        a->w->pool.data[i] = ops_clamp32((int64_t)a->w->pool.data[i] + x.data[i - from]);
}

bool domain_PoolInject(struct act *a)
{
    if (!pool_room(a)) return false;
    domain_neurons_inject(a, source_of(a->vm, a->args[0]), a->args[1], a->args[2]);
    return true;
}

bool domain_PoolTick(struct act *a)
{
    if (!pool_room(a)) return false;
    struct numbers x = source_of(a->vm, a->args[0]);
    int32_t *potential = a->w->pool.data, *spikes = potential + POOL_SIZE;
    int64_t fired = 0, fire = a->w->dynamics[DYNAMIC_POOL_FIRE],
            keep = a->w->dynamics[DYNAMIC_POOL_KEEP];
    domain_neurons_inject(a, x, 0, x.count);
    for (size_t i = 0; i < a->w->synapse_count; i++) { /* The spikes of the last tick arrive in
                                                        * this tick. */
        const struct synapse *s = &a->w->synapses[i];
        if (spikes[s->from]) potential[s->to] = ops_clamp32((int64_t)potential[s->to] + s->weight);
    }
    for (size_t i = 0; i < POOL_SIZE; i++) {
        spikes[i] = potential[i] >= fire;
        fired += spikes[i];
        potential[i] = spikes[i] ? 0 : (int32_t)((int64_t)potential[i] * keep / 256);
    }
    a->w->pool_spikes += fired;
    a->w->pool_ticks++;
    if (x.count) x.data[0] = ops_clamp32(fired);
    return true;
}

bool domain_PoolReadOutput(struct act *a)
{
    uint64_t from = a->args[1], to = a->args[2] < POOL_SIZE ? a->args[2] : POOL_SIZE;
    if (!pool_room(a)) return false;
    return answer_list(a->vm, a->args[0], a->w->pool.data + POOL_SIZE + (from < to ? from : 0),
                       from < to ? (size_t)(to - from) : 0);
}

bool domain_PoolReadStats(struct act *a)
{
    int32_t stats[] = {ops_clamp32(a->w->pool_spikes), (int32_t)a->w->synapse_count,
                       ops_clamp32(a->w->pool_ticks)};
    return answer_list(a->vm, a->args[0], stats, 3);
}

/* Lists the synapses by the neuron from which they start, as chains of index + 1. */
struct by_start {
    uint32_t head[POOL_SIZE], next[SYNAPSES];
};

static struct by_start *sort_synapses(const struct tvmr_domain *w)
{
    struct by_start *sorted = calloc(1, sizeof *sorted);
    for (size_t i = 0; sorted && i < w->synapse_count; i++) {
        sorted->next[i] = sorted->head[w->synapses[i].from];
        sorted->head[w->synapses[i].from] = (uint32_t)i + 1;
    }
    return sorted;
}

/* Adds a synapse from each neuron that fired in the last tick to the next such neuron, where
 * there is none. */
bool domain_PoolSynaptogenesis(struct act *a)
{
    struct tvmr_domain *w = a->w;
    size_t old = w->synapse_count, last = POOL_SIZE;
    if (!pool_room(a)) return false;
    if (!w->synapses) w->synapses = calloc(SYNAPSES, sizeof *w->synapses);
    struct by_start *sorted = w->synapses ? sort_synapses(w) : NULL;
    if (!sorted) return false;
    const int32_t *spikes = w->pool.data + POOL_SIZE;
    for (size_t i = 0; i < POOL_SIZE; i++) {
        if (!spikes[i]) continue;
        uint32_t at = last == POOL_SIZE ? 0 : sorted->head[last];
        while (at && w->synapses[at - 1].to != i) at = sorted->next[at - 1];
        if (last != POOL_SIZE && !at && w->synapse_count < SYNAPSES)
            w->synapses[w->synapse_count++] =
                (struct synapse){(uint16_t)last, (uint16_t)i, w->dynamics[DYNAMIC_SYNAPSE_NEW]};
        last = i;
    }
    free(sorted);
    return answer_number(a->vm, a->args[0], (int64_t)(w->synapse_count - old));
}

/* Makes a synapse stronger when the neurons at both ends fired in the last tick, and weaker when
 * one did. */
bool domain_PoolModulate(struct act *a)
{
    int32_t changed[] = {0, 0}, grow = a->w->dynamics[DYNAMIC_SYNAPSE_GROW],
            shrink = a->w->dynamics[DYNAMIC_SYNAPSE_SHRINK];
    if (!pool_room(a)) return false;
    const int32_t *spikes = a->w->pool.data + POOL_SIZE;
    for (size_t i = 0; i < a->w->synapse_count; i++) {
        struct synapse *s = &a->w->synapses[i];
        int fired = spikes[s->from] + spikes[s->to];
        if (!fired) continue;
        s->weight = (int32_t)ops_clamp(s->weight + (fired == 2 ? grow : -shrink), 0, WEIGHT_MAX);
        changed[fired == 2 ? 0 : 1]++;
    }
    return answer_list(a->vm, a->args[0], changed, 2);
}

bool domain_PoolPruneDead(struct act *a)
{
    size_t kept = 0, old = a->w->synapse_count;
    for (size_t i = 0; i < old; i++)
        if (a->w->synapses[i].weight > 0) a->w->synapses[kept++] = a->w->synapses[i];
    a->w->synapse_count = kept;
    return answer_number(a->vm, a->args[0], (int64_t)(old - kept));
}

enum { POOL_BYTES = 2 * POOL_SIZE * 4 + 16, SYNAPSE_BYTES = 8 };

bool domain_PoolSave(struct act *a)
{
    struct writer out = {0};
    if (!pool_room(a)) return false;
    for (size_t i = 0; i < a->w->pool.count; i++)
        writer_uint(&out, (uint32_t)a->w->pool.data[i], 4);
    writer_uint(&out, (uint64_t)a->w->pool_spikes, 8);
    writer_uint(&out, (uint64_t)a->w->pool_ticks, 8);
    for (size_t i = 0; i < a->w->synapse_count; i++) {
        writer_uint(&out, a->w->synapses[i].from, 2);
        writer_uint(&out, a->w->synapses[i].to, 2);
        writer_uint(&out, (uint32_t)a->w->synapses[i].weight, 4);
    }
    return named_put(a->w, "pool", &out, &a->err);
}

bool domain_PoolLoad(struct act *a)
{
    struct tvmr_domain *w = a->w;
    penta_bytes bytes;
    if (!pool_room(a)) return false;
    if (!named_get(w, "pool", &bytes))
        return true; /* A pool that was never saved stays as it is. */
    size_t count = bytes.size < POOL_BYTES ? 0 : (bytes.size - POOL_BYTES) / SYNAPSE_BYTES;
    if (bytes.size != POOL_BYTES + count * SYNAPSE_BYTES || count > SYNAPSES)
        return error_at(&a->err, BASE_RANGE, 0, "'pool' in the store is damaged");
    if (!w->synapses) w->synapses = calloc(SYNAPSES, sizeof *w->synapses);
    if (!w->synapses) return false;
    for (size_t i = 0; i < w->pool.count; i++)
        w->pool.data[i] = (int32_t)bytes_get32(bytes.data + 4 * i);
    for (size_t i = POOL_SIZE; i < w->pool.count; i++) w->pool.data[i] = w->pool.data[i] != 0;
    const uint8_t *at = bytes.data + 4 * w->pool.count;
    w->pool_spikes = (int64_t)bytes_get64(at) & INT64_MAX;
    w->pool_ticks = (int64_t)bytes_get64(at + 8) & INT64_MAX;
    at += 16;
    for (w->synapse_count = 0; w->synapse_count < count; w->synapse_count++, at += SYNAPSE_BYTES)
        w->synapses[w->synapse_count] =
            (struct synapse){(uint16_t)bytes_get16(at), (uint16_t)bytes_get16(at + 2),
                             (int32_t)ops_clamp((int32_t)bytes_get32(at + 4), 0, WEIGHT_MAX)};
    return true;
}
