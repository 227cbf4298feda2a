/* Implements the default host's chemicals, fields, spiking network, and temperatures of weights
 * (TVMR 17.2 to TVMR 17.5). */
#include "tvmr/vm/ops.h"
#include "tvmr/host/domain_state.h"
#include <stdlib.h>

#define ACT(name) bool domain_##name(struct act *a)

enum { CHEM_DOPAMINE = 0, CHEM_CORTISOL = 4 };
enum { NEURONS = 65536 };
enum { FIELD_ACTIVITY = 0, FIELD_CONVERGENCE = 2, FIELD_SENSORY = 3 };

ACT(ChemRead) { return answer_number(a->vm, a->args[0], a->w->chem[a->args[1] & 7]); }

static bool set_chemical(struct act *a, unsigned id, int64_t level)
{
    a->w->chem[id & 7] = (uint8_t)ops_clamp(level, 0, 255);
    if (id < 4)
        a->vm->chem[id] = a->w->chem[id]; /* The machine also gets the level, because it controls
                                           * learning. */
    return true;
}
ACT(ChemSet) { return set_chemical(a, (unsigned)a->args[1], scalar_of(a->vm, a->args[0])); }

ACT(ChemInject)
{
    struct numbers n = source_of(a->vm, a->args[0]);
    int64_t v = a->args[2] < n.count ? n.data[a->args[2]] : 0;
    if (a->args[3]) v = ops_clamp(v, 0, 255) - 128;
    return set_chemical(a, (unsigned)a->args[1], a->w->chem[a->args[1] & 7] + v);
}

static struct numbers *domain_neuro_slice(struct act *a, uint64_t field, uint64_t index)
{
    struct numbers **slices = &a->w->fields[field & 255];
    if (!*slices) *slices = calloc(256, sizeof **slices);
    return *slices ? &(*slices)[index & 255] : NULL;
}

static bool read_slice(struct act *a, uint64_t field, uint64_t index)
{
    const struct numbers *s = domain_neuro_slice(a, field, index);
    return s && answer_list(a->vm, a->args[0], s->data, s->count);
}

static bool write_slice(struct act *a, uint64_t field, uint64_t index)
{
    struct numbers n = source_of(a->vm, a->args[0]), *s = domain_neuro_slice(a, field, index);
    return s && numbers_keep(a, s, n.data, n.count);
}

ACT(FieldRead) { return read_slice(a, a->args[1], 0); }
ACT(FieldWrite) { return write_slice(a, a->args[1], 0); }
ACT(FieldSliceRead) { return read_slice(a, a->args[1], a->args[2]); }
ACT(FieldSliceWrite) { return write_slice(a, a->args[1], a->args[2]); }

/* Lets every value of a field keep retention / 256 of itself and then lose `boost`, towards 0. */
static bool domain_neuro_decay(struct act *a, uint64_t field, int64_t retention, int64_t boost)
{
    struct numbers *slices = a->w->fields[field & 255];
    for (size_t i = 0; slices && i < 256; i++)
        for (size_t k = 0; k < slices[i].count; k++) {
            int64_t v = slices[i].data[k] * retention / 256, size = ops_absolute(v) - boost;
            slices[i].data[k] = (int32_t)(ops_sign(v) * (size > 0 ? size : 0));
        }
    return true;
}
ACT(FieldTick) { return domain_neuro_decay(a, a->args[0], a->w->dynamics[DYNAMIC_FIELD_TICK], 0); }
ACT(FieldDecay)
{
    return domain_neuro_decay(a, a->args[0], (int64_t)a->args[1], (int64_t)a->args[2]);
}

/* Reduces the activity by factor / 256 where the source is not 0. */
ACT(ExhaustionBoost)
{
    struct numbers n = source_of(a->vm, a->args[0]), *s = domain_neuro_slice(a, FIELD_ACTIVITY, 0);
    for (size_t i = 0; s && i < s->count && i < n.count; i++)
        if (n.data[i])
            s->data[i] = (int32_t)(s->data[i] * (256 - (int64_t)(a->args[1] & 255)) / 256);
    return s != NULL;
}

/* Makes the source the activity and reduces each value in proportion to its distance from the largest. */
ACT(LateralInhibit)
{
    struct numbers n = source_of(a->vm, a->args[0]), *s = domain_neuro_slice(a, FIELD_ACTIVITY, 0);
    int64_t most = 0;
    if (!s || !numbers_keep(a, s, n.data, n.count)) return false;
    for (size_t i = 0; i < s->count; i++) most = s->data[i] > most ? s->data[i] : most;
    for (size_t i = 0; i < s->count; i++) {
        int64_t v = s->data[i] - (most - s->data[i]) * (int64_t)(a->args[1] & 255) / 255;
        s->data[i] = ops_clamp32(s->data[i] > 0 && v < 0 ? 0 : v);
    }
    return true;
}

/* Reads a field, or [0] when it is empty. */
static bool read_state(struct act *a, uint64_t field)
{
    const struct numbers *s = domain_neuro_slice(a, field, 0);
    if (!s) return false;
    return s->count ? answer_list(a->vm, a->args[0], s->data, s->count)
                    : answer_number(a->vm, a->args[0], 0);
}
ACT(StimRead) { return read_state(a, FIELD_SENSORY); }
ACT(ConvRead) { return read_state(a, FIELD_CONVERGENCE); }
ACT(ValenceRead)
{
    int32_t pair[] = {a->w->chem[CHEM_DOPAMINE], a->w->chem[CHEM_CORTISOL]};
    return answer_list(a->vm, a->args[0], pair, 2);
}

/* Computes the difference of each energy from the one before. */
ACT(NoveltyScore)
{
    struct numbers n = source_of(a->vm, a->args[1]), *seen = &a->w->seen, last = *seen;
    *seen = (struct numbers){0};
    bool ok = numbers_keep(a, seen, n.data, n.count) &&
              answer_list(a->vm, a->args[0], seen->data, seen->count);
    const struct tvmr_hot *r =
        ok && a->args[0] != TVMR_NULL ? hot_change(a->vm, (uint8_t)a->args[0]) : NULL;
    for (size_t i = 0; r && i < r->count; i++)
        r->data[i] =
            ops_clamp32(ops_absolute((int64_t)seen->data[i] - (i < last.count ? last.data[i] : 0)));
    numbers_drop(a->w, &last);
    return ok;
}

ACT(CoActivation)
{
    a->w->together[a->args[0] & 255]++;
    a->w->together[a->args[1] & 255]++;
    return true;
}
ACT(CoActivationRead) { return answer_number(a->vm, a->args[0], a->w->together[a->args[1] & 255]); }
ACT(CoActivationReset)
{
    memset(a->w->together, 0, sizeof a->w->together);
    return true;
}

ACT(SNNSetAxes)
{
    struct numbers n = source_of(a->vm, a->args[0]);
    for (size_t i = 0; i < 4; i++)
        a->w->axes[i] = i < n.count ? (int8_t)ops_clamp(n.data[i], -128, 127) : 0;
    return true;
}

ACT(SNNStepAxes)
{
    const int32_t *dynamics = a->w->dynamics;
    int64_t steps = ops_clamp(scalar_of(a->vm, a->args[0]), 1, 1000),
            keep = dynamics[DYNAMIC_SNN_KEEP], stress = dynamics[DYNAMIC_SNN_STRESS];
    size_t spread = (size_t)dynamics[DYNAMIC_SNN_SPREAD];
    for (int64_t s = 0; s < steps; s++, a->w->timestep++)
        for (size_t i = 0; i < a->w->neurons.count; i++) {
            int64_t v = a->w->neurons.data[i],
                    drive = a->w->axes[0] - a->w->axes[1] + (int64_t)(i % spread);
            v = v * (keep + a->w->axes[2]) / 256 + drive - a->w->axes[3] / stress;
            a->w->neurons.data[i] = (int32_t)ops_clamp(v, 0, 255);
        }
    return true;
}

static int64_t domain_neuro_active(const struct numbers *n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n->count; i++) count += n->data[i] > 0;
    return count;
}
ACT(SNNReadActivation)
{
    return answer_number(a->vm, a->args[0], domain_neuro_active(&a->w->neurons));
}
ACT(SNNReadNeuronCount) { return answer_number(a->vm, a->args[0], (int64_t)a->w->neurons.count); }
ACT(SNNReadTimestep) { return answer_number(a->vm, a->args[0], a->w->timestep); }
ACT(SNNReadActivities)
{
    return answer_list(a->vm, a->args[0], a->w->neurons.data, a->w->neurons.count);
}
ACT(SNNReadOutputs) { return domain_SNNReadActivities(a); }

ACT(SNNGrowNeurons)
{
    struct numbers *n = &a->w->neurons;
    size_t size = (size_t)ops_clamp(
        (int64_t)n->count + ops_clamp(scalar_of(a->vm, a->args[0]), 0, NEURONS), 0, NEURONS);
    if (!numbers_fit(a, size - n->count)) return false;
    int32_t *fresh = realloc(n->data, (size + 1) * sizeof *fresh);
    if (!fresh) return false;
    memset(fresh + n->count, 0, (size - n->count) * sizeof *fresh);
    a->w->held += size - n->count;
    *n = (struct numbers){fresh, size};
    return answer_number(a->vm, a->args[1], (int64_t)size);
}

/* Removes the neurons with these indices and moves the others up. */
ACT(SNNPruneNeurons)
{
    struct numbers *n = &a->w->neurons, indices = source_of(a->vm, a->args[0]);
    bool *gone = calloc(n->count + 1, sizeof *gone);
    size_t kept = 0;
    if (!gone) return false;
    for (size_t i = 0; i < indices.count; i++)
        if (indices.data[i] >= 0 && (size_t)indices.data[i] < n->count)
            gone[indices.data[i]] = true;
    for (size_t i = 0; i < n->count; i++)
        if (!gone[i]) n->data[kept++] = n->data[i];
    free(gone);
    a->w->held -= n->count - kept;
    n->count = kept;
    return answer_number(a->vm, a->args[1], (int64_t)kept);
}

/* Changes the temperatures or weights of a register. With `prune`, small HOT weights become 0;
 * otherwise large weights become WARM. */
static bool domain_neuro_thermo(struct act *a, bool prune)
{
    int64_t changed = 0;
    int32_t below = a->w->dynamics[DYNAMIC_PRUNE_BELOW], from = a->w->dynamics[DYNAMIC_CREDIT_FROM];
    for (unsigned i = 0; i < TVMR_BANK && scalar_of(a->vm, a->args[0]) > 0; i++) {
        struct tvmr_cold *c = &a->vm->cold[i];
        for (size_t k = 0; c->present && c->temps && k < c->count; k++) {
            bool hit = c->temps[k] == TVMR_HOT &&
                       (prune ? c->weights[k].magnitude < below && c->weights[k].polarity
                              : c->weights[k].magnitude >= from);
            if (!hit) continue;
            if (prune)
                c->weights[k] = (struct tvmr_signal){0, 0};
            else
                c->temps[k] = TVMR_WARM;
            changed++;
        }
        tvmr_cold_changed(c);
    }
    return answer_number(a->vm, a->args[1], changed);
}
ACT(ThermoPruneHot) { return domain_neuro_thermo(a, true); }
ACT(ThermoValenceCredit) { return domain_neuro_thermo(a, false); }
