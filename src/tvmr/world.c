/* A small world for programs to live in: chemicals, fields, a spiking network, regions, mailboxes,
 * weights under names, transactions. Banks and pools are in world_bank.c. Everything is
 * deterministic; with a folder, weights, banks and the pool outlive the run. */
#include "tvmr/world.h"
#include "tvmr/ops.h"
#include "tvmr/world_parts.h"
#include <stdlib.h>

/* ---- numbers that grow ---- */

bool numbers_copy(struct numbers *to, const int32_t *data, size_t count)
{
    int32_t *fresh = malloc((count + 1) * sizeof *fresh);
    if (!fresh) return false;
    if (count) memcpy(fresh, data, count * sizeof *fresh);
    free(to->data);
    *to = (struct numbers){fresh, count};
    return true;
}

static void numbers_free(struct numbers *n)
{
    free(n->data);
    *n = (struct numbers){0};
}

/* ---- what operations read and write ---- */

struct numbers source_of(struct tvmr_vm *vm, uint64_t reg)
{
    const struct tvmr_hot *h = reg == TVMR_NULL ? NULL : hot_at(vm, (uint8_t)reg);
    return h ? (struct numbers){h->data, h->count} : (struct numbers){0};
}

static int64_t scalar_of(struct tvmr_vm *vm, uint64_t reg)
{
    struct numbers n = source_of(vm, reg);
    return n.count ? n.data[0] : 0;
}

bool answer_list(struct tvmr_vm *vm, uint64_t reg, const int32_t *data, size_t count)
{
    uint32_t dim = (uint32_t)count;
    if (reg == TVMR_NULL) return true;
    return tvmr_hot_set(vm, INDEX((uint8_t)reg), data, count, &dim, 1);
}

bool answer_number(struct tvmr_vm *vm, uint64_t reg, int64_t value)
{
    int32_t v = clamp32(value);
    return answer_list(vm, reg, &v, 1);
}

/* ---- operations ---- */

#define ACT(name) static bool on_##name(struct act *a)

ACT(ChemRead)
{
    return answer_number(a->vm, a->args[0], a->w->chem[a->args[1] & 7]);
}

static bool set_chemical(struct act *a, unsigned id, int64_t level)
{
    a->w->chem[id & 7] = (uint8_t)clamp(level, 0, 255);
    if (id < 4) a->vm->chem[id] = a->w->chem[id]; /* so that levels gate learning */
    return true;
}
ACT(ChemSet)
{
    return set_chemical(a, (unsigned)a->args[1], scalar_of(a->vm, a->args[0]));
}

ACT(ChemInject)
{
    struct numbers n = source_of(a->vm, a->args[0]);
    int64_t v = a->args[2] < n.count ? n.data[a->args[2]] : 0;
    if (a->args[3]) v = clamp(v, 0, 255) - 128;
    return set_chemical(a, (unsigned)a->args[1], a->w->chem[a->args[1] & 7] + v);
}

static struct numbers *slice(struct act *a, uint64_t field, uint64_t index)
{
    struct numbers **slices = &a->w->fields[field & 255];
    if (!*slices) *slices = calloc(256, sizeof **slices);
    return *slices ? &(*slices)[index & 255] : NULL;
}

static bool read_slice(struct act *a, uint64_t field, uint64_t index)
{
    const struct numbers *s = slice(a, field, index);
    return s && answer_list(a->vm, a->args[0], s->data, s->count);
}

static bool write_slice(struct act *a, uint64_t field, uint64_t index)
{
    struct numbers n = source_of(a->vm, a->args[0]), *s = slice(a, field, index);
    return s && numbers_copy(s, n.data, n.count);
}

ACT(FieldRead)
{
    return read_slice(a, a->args[1], 0);
}
ACT(FieldWrite)
{
    return write_slice(a, a->args[1], 0);
}
ACT(FieldSliceRead)
{
    return read_slice(a, a->args[1], a->args[2]);
}
ACT(FieldSliceWrite)
{
    return write_slice(a, a->args[1], a->args[2]);
}

/* Every value of a field keeps retention / 256 of itself, and loses boost towards 0. */
static bool decay(struct act *a, uint64_t field, int64_t retention, int64_t boost)
{
    struct numbers *slices = a->w->fields[field & 255];
    for (size_t i = 0; slices && i < 256; i++)
        for (size_t k = 0; k < slices[i].count; k++) {
            int64_t v = slices[i].data[k] * retention / 256, size = absolute(v) - boost;
            slices[i].data[k] = (int32_t)(sign(v) * (size > 0 ? size : 0));
        }
    return true;
}
ACT(FieldTick)
{
    return decay(a, a->args[0], 250, 0);
}
ACT(FieldDecay)
{
    return decay(a, a->args[0], (int64_t)a->args[1], (int64_t)a->args[2]);
}
ACT(ExhaustionBoost)
{
    return decay(a, 0, 256 - (int64_t)(a->args[1] & 255), 0);
}

/* The further below the strongest, the more is taken. */
ACT(LateralInhibit)
{
    struct numbers n = source_of(a->vm, a->args[0]);
    int64_t most = 0;
    for (size_t i = 0; i < n.count; i++)
        most = n.data[i] > most ? n.data[i] : most;
    for (size_t i = 0; i < n.count; i++) {
        int64_t v = n.data[i] - (most - n.data[i]) * (int64_t)a->args[1] / 255;
        n.data[i] = clamp32(n.data[i] > 0 && v < 0 ? 0 : v);
    }
    return true;
}

ACT(StimRead)
{
    return answer_number(a->vm, a->args[0], a->w->chem[4]);
}
ACT(ConvRead)
{
    return answer_number(a->vm, a->args[0], a->w->phase);
}
ACT(ValenceRead)
{
    int32_t pair[] = {a->w->chem[0], a->w->chem[4]};
    return answer_list(a->vm, a->args[0], pair, 2);
}

/* The distance of each energy from the last one seen. */
ACT(NoveltyScore)
{
    struct numbers n = source_of(a->vm, a->args[1]), *seen = &a->w->seen, fresh = {0};
    if (!numbers_copy(&fresh, n.data, n.count)) return false;
    for (size_t i = 0; i < fresh.count; i++)
        fresh.data[i] =
            clamp32(absolute((int64_t)fresh.data[i] - (i < seen->count ? seen->data[i] : 0)));
    bool ok = numbers_copy(seen, n.data, n.count) &&
              answer_list(a->vm, a->args[0], fresh.data, fresh.count);
    numbers_free(&fresh);
    return ok;
}

ACT(CoActivation)
{
    a->w->together[a->args[0] & 255]++;
    a->w->together[a->args[1] & 255]++;
    return true;
}
ACT(CoActivationRead)
{
    return answer_number(a->vm, a->args[0], a->w->together[a->args[1] & 255]);
}
ACT(CoActivationReset)
{
    memset(a->w->together, 0, sizeof a->w->together);
    return true;
}

/* ---- a spiking network as small as can be: leaky sums driven by four axes ---- */

ACT(SNNSetAxes)
{
    struct numbers n = source_of(a->vm, a->args[0]);
    for (size_t i = 0; i < 4; i++)
        a->w->axes[i] = i < n.count ? (int8_t)clamp(n.data[i], -128, 127) : 0;
    return true;
}

ACT(SNNStepAxes)
{
    int64_t steps = clamp(scalar_of(a->vm, a->args[0]), 1, 1000);
    for (int64_t s = 0; s < steps; s++, a->w->timestep++)
        for (size_t i = 0; i < a->w->neurons.count; i++) {
            int64_t v = a->w->neurons.data[i],
                    drive = a->w->axes[0] - a->w->axes[1] + (int64_t)(i % 5);
            v = v * (128 + a->w->axes[2]) / 256 + drive - a->w->axes[3] / 4;
            a->w->neurons.data[i] = (int32_t)clamp(v, 0, 255);
        }
    return true;
}

static int64_t active(const struct numbers *n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n->count; i++)
        count += n->data[i] > 0;
    return count;
}
ACT(SNNReadActivation)
{
    return answer_number(a->vm, a->args[0], active(&a->w->neurons));
}
ACT(SNNReadNeuronCount)
{
    return answer_number(a->vm, a->args[0], (int64_t)a->w->neurons.count);
}
ACT(SNNReadTimestep)
{
    return answer_number(a->vm, a->args[0], a->w->timestep);
}
ACT(SNNReadActivities)
{
    return answer_list(a->vm, a->args[0], a->w->neurons.data, a->w->neurons.count);
}
ACT(SNNReadOutputs)
{
    return on_SNNReadActivities(a);
}

static bool resize_neurons(struct act *a, int64_t count)
{
    struct numbers *n = &a->w->neurons;
    size_t size = (size_t)clamp(count, 0, 65536);
    int32_t *fresh = realloc(n->data, (size + 1) * sizeof *fresh);
    if (!fresh) return false;
    for (size_t i = n->count; i < size; i++)
        fresh[i] = 0;
    *n = (struct numbers){fresh, size};
    return answer_number(a->vm, a->args[1], (int64_t)size);
}
ACT(SNNGrowNeurons)
{
    return resize_neurons(a, (int64_t)a->w->neurons.count +
                                 clamp(scalar_of(a->vm, a->args[0]), 0, 65536));
}
ACT(SNNPruneNeurons)
{
    return resize_neurons(a, (int64_t)a->w->neurons.count -
                                 (int64_t)source_of(a->vm, a->args[0]).count);
}

/* Weights that are HOT and nearly nothing go; those that are not become warmer with reward. */
static bool thermo(struct act *a, bool prune)
{
    int64_t changed = 0;
    for (unsigned i = 0; i < TVMR_BANK && scalar_of(a->vm, a->args[0]) > 0; i++) {
        struct tvmr_cold *c = &a->vm->cold[i];
        for (size_t k = 0; c->present && c->temps && k < c->count; k++) {
            bool hit = c->temps[k] == TVMR_HOT &&
                       (prune ? c->weights[k].magnitude < 8 && c->weights[k].polarity
                              : c->weights[k].magnitude >= 128);
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
ACT(ThermoPruneHot)
{
    return thermo(a, true);
}
ACT(ThermoValenceCredit)
{
    return thermo(a, false);
}

/* ---- registers and models ---- */

ACT(AllocRegister)
{
    struct tvmr_vm *vm = a->vm;
    uint32_t size = (uint32_t)a->args[2];
    for (unsigned i = TVMR_BANK - 1; i-- > 0;) {
        bool cold = a->args[1] == 1;
        if (a->args[1] > 1 || (cold ? vm->cold[i].present : vm->hot[i].present)) continue;
        if (!(cold ? tvmr_cold_new(vm, i, size, &size, 1)
                   : tvmr_hot_set(vm, i, NULL, size, &size, 1)))
            return false;
        return answer_number(vm, a->args[0], (int64_t)((cold ? 64u : 0) + i));
    }
    return answer_number(vm, a->args[0], TVMR_NULL);
}

ACT(FreeRegister)
{
    unsigned reg = (unsigned)a->args[0];
    if (reg >> 6 == 0) tvmr_hot_drop(a->vm, &a->vm->hot[reg]);
    if (reg >> 6 == 1) tvmr_cold_drop(a->vm, &a->vm->cold[reg & 63]);
    return true;
}

/* There are no other programs here: a model gives back its input. */
ACT(ModelExec)
{
    const struct tvmr_model *m = &a->vm->models[a->args[1] & 255];
    struct numbers n = m->has_input ? source_of(a->vm, m->input) : (struct numbers){0};
    return answer_list(a->vm, a->args[0], n.data, n.count);
}

/* ---- regions and messages ---- */

static bool push(struct queue *q, struct numbers n)
{
    struct message *m = calloc(1, sizeof *m), **at = &q->first;
    if (!m || !numbers_copy(&m->body, n.data, n.count)) {
        free(m);
        return false;
    }
    while (*at)
        at = &(*at)->next;
    *at = m;
    return true;
}

/* The front message, or [0]. */
static bool front(struct act *a, struct queue *q, bool pop)
{
    static const int32_t nothing = 0;
    struct message *m = q->first;
    bool ok = m ? answer_list(a->vm, a->args[0], m->body.data, m->body.count)
                : answer_list(a->vm, a->args[0], &nothing, 1);
    if (!m || !pop) return ok;
    q->first = m->next;
    numbers_free(&m->body);
    free(m);
    return ok;
}

ACT(SendSignal)
{
    return push(&a->w->regions[a->args[1] & 255], source_of(a->vm, a->args[0]));
}
ACT(RecvSignal)
{
    return front(a, &a->w->regions[a->args[1] & 255], true);
}
ACT(RouteInput)
{
    return on_SendSignal(a);
}
ACT(RegionFire)
{
    return on_RecvSignal(a);
}
ACT(Broadcast)
{
    return push(&a->w->mailboxes[a->args[1] & 255], source_of(a->vm, a->args[0]));
}
ACT(Subscribe)
{
    return answer_number(a->vm, a->args[0], (int64_t)a->args[1]);
}
ACT(MailboxPeek)
{
    return front(a, &a->w->mailboxes[a->args[1] & 255], false);
}
ACT(MailboxPop)
{
    return front(a, &a->w->mailboxes[a->args[1] & 255], true);
}

ACT(CollectOutputs)
{
    for (unsigned i = 0; i < 256; i++)
        if (a->w->regions[i].first) return front(a, &a->w->regions[i], true);
    return answer_list(a->vm, a->args[0], NULL, 0);
}

ACT(RegionStatus)
{
    unsigned id = a->args[1] & 255;
    return answer_number(a->vm, a->args[0],
                         !a->w->enabled[id]        ? 0
                         : a->w->regions[id].first ? 2
                                                   : 1);
}
ACT(RegionEnable)
{
    a->w->enabled[a->args[0] & 255] = true;
    return true;
}
ACT(RegionDisable)
{
    a->w->enabled[a->args[0] & 255] = false;
    return true;
}

ACT(AtomicCas)
{
    struct numbers *cell = &a->w->cells[a->args[0] & 255], old = {0};
    struct numbers expected = source_of(a->vm, a->args[1]), desired = source_of(a->vm, a->args[2]);
    if (!numbers_copy(&old, cell->data, cell->count)) return false;
    bool same = old.count == expected.count &&
                (!old.count || !memcmp(old.data, expected.data, old.count * sizeof *old.data));
    bool ok = !same || numbers_copy(cell, desired.data, desired.count);
    ok = ok && answer_list(a->vm, a->args[0], old.data, old.count);
    numbers_free(&old);
    return ok;
}

/* ---- life ---- */

ACT(PhaseRead)
{
    return answer_number(a->vm, a->args[0], a->w->phase);
}
ACT(TickRead)
{
    return answer_number(a->vm, a->args[0], a->w->tick++);
}
ACT(LevelRead)
{
    return answer_number(a->vm, a->args[0], a->w->level);
}
ACT(PhaseWrite)
{
    return a->w->phase = (int32_t)scalar_of(a->vm, a->args[0]), true;
}
ACT(LevelWrite)
{
    int32_t level = (int32_t)scalar_of(a->vm, a->args[0]);
    if (level > a->w->level) a->w->level = level; /* levels only rise */
    return true;
}

ACT(LogEvent)
{
    static const char *const types[] = {"boot",   "phase",      "error",    "warning",
                                        "metric", "checkpoint", "recovery", "shutdown"};
    struct numbers n = source_of(a->vm, a->args[0]);
    writer_print(a->log, "%s", a->args[1] < 8 ? types[a->args[1]] : "event");
    for (size_t i = 0; i < n.count && i < 64; i++)
        writer_print(a->log, " %d", (int)n.data[i]);
    writer_char(a->log, '\n');
    return true;
}

ACT(CoherenceSingularWrite)
{
    struct numbers n = source_of(a->vm, a->args[0]);
    if (n.count >= 2 && n.data[0] >= 0 && n.data[0] < 7) a->w->coherence[n.data[0]] = n.data[1];
    return true;
}
ACT(CoherenceSingularRead)
{
    return answer_list(a->vm, a->args[0], a->w->coherence, 7);
}

static void thermo_name(struct act *a, char *name, size_t size)
{
    world_weights_name(&a->vm->cold[INDEX((unsigned)a->args[0])], a->args[0], name, size);
}

ACT(SaveThermo)
{
    char name[300];
    thermo_name(a, name, sizeof name);
    return world_weights_put(a->w, a->vm, a->args[0], name, &a->err);
}
ACT(InitThermo)
{
    char name[300];
    penta_bytes there;
    thermo_name(a, name, sizeof name);
    return named_get(a->w, name, &there) ||
           world_weights_put(a->w, a->vm, a->args[0], name, &a->err);
}
ACT(LoadThermo)
{
    char name[300];
    thermo_name(a, name, sizeof name);
    world_weights_get(a->w, a->vm, a->args[0], name); /* nothing stored yet: the weights stay */
    return true;
}
ACT(StoreWeights)
{
    char name[40];
    snprintf(name, sizeof name, "number-%lld", (long long)a->args[1]);
    return world_weights_put(a->w, a->vm, a->args[0], name, &a->err);
}
ACT(LoadWeights)
{
    char name[40];
    snprintf(name, sizeof name, "number-%lld", (long long)a->args[1]);
    world_weights_get(a->w, a->vm, a->args[0], name);
    return true;
}

static void checkpoint_name(struct act *a, char *name, size_t size)
{
    snprintf(name, size, "checkpoint-%u", INDEX((unsigned)a->args[0]));
}
ACT(CheckpointSave)
{
    char name[40];
    checkpoint_name(a, name, sizeof name);
    return world_weights_put(a->w, a->vm, a->args[0], name, &a->err);
}
ACT(CheckpointRestore)
{
    char name[40];
    checkpoint_name(a, name, sizeof name);
    return world_weights_get(a->w, a->vm, a->args[0], name) ||
           error_at(&a->err, BASE_STATE, 0, "there is no checkpoint");
}
ACT(CheckpointDiscard)
{
    char name[40];
    struct writer empty = {0};
    checkpoint_name(a, name, sizeof name);
    return !named_find(a->w, name) || named_put(a->w, name, &empty, &a->err);
}

ACT(Consolidate)
{
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        char name[300];
        if (!a->vm->cold[i].present || !a->vm->cold[i].key_size) continue;
        world_weights_name(&a->vm->cold[i], i, name, sizeof name);
        if (!world_weights_put(a->w, a->vm, i, name, &a->err)) return false;
        a->vm->cold[i].dirty = false;
    }
    return true;
}

ACT(TxnBegin)
{
    if (a->w->transaction) return error_at(&a->err, BASE_STATE, 0, "transactions do not nest");
    return a->w->transaction = (unsigned)a->args[0] + 1, true;
}
ACT(TxnCommit)
{
    return world_end_transaction(a->w, (unsigned)a->args[0], true, &a->err);
}
ACT(TxnRollback)
{
    return world_end_transaction(a->w, (unsigned)a->args[0], false, &a->err);
}

ACT(nothing) /* noted by nobody here: reloads, barriers of one, rest, requests */
{
    (void)a;
    return true;
}

static const struct {
    const char *name;
    bool (*act)(struct act *a);
} acts[] = {
#define ROW(name)                                                                                  \
    {                                                                                              \
#name, on_##name                                                                           \
    }
    ROW(ChemRead),
    ROW(ChemSet),
    ROW(ChemInject),
    ROW(FieldRead),
    ROW(FieldWrite),
    ROW(FieldTick),
    ROW(FieldDecay),
    ROW(FieldSliceRead),
    ROW(FieldSliceWrite),
    ROW(StimRead),
    ROW(ValenceRead),
    ROW(ConvRead),
    ROW(LateralInhibit),
    ROW(ExhaustionBoost),
    ROW(NoveltyScore),
    ROW(CoActivation),
    ROW(CoActivationRead),
    ROW(CoActivationReset),
    ROW(SNNSetAxes),
    ROW(SNNStepAxes),
    ROW(SNNReadActivation),
    ROW(SNNReadNeuronCount),
    ROW(SNNReadTimestep),
    ROW(SNNReadOutputs),
    ROW(SNNReadActivities),
    ROW(SNNGrowNeurons),
    ROW(SNNPruneNeurons),
    ROW(ThermoPruneHot),
    ROW(ThermoValenceCredit),
    ROW(AllocRegister),
    ROW(FreeRegister),
    ROW(ModelExec),
    ROW(RouteInput),
    ROW(RegionFire),
    ROW(RegionStatus),
    ROW(CollectOutputs),
    ROW(RegionEnable),
    ROW(RegionDisable),
    ROW(PhaseRead),
    ROW(TickRead),
    ROW(LevelRead),
    ROW(PhaseWrite),
    ROW(LevelWrite),
    ROW(InitThermo),
    ROW(SaveThermo),
    ROW(LoadThermo),
    ROW(LoadWeights),
    ROW(StoreWeights),
    ROW(LogEvent),
    ROW(TxnBegin),
    ROW(TxnCommit),
    ROW(TxnRollback),
    ROW(CoherenceSingularWrite),
    ROW(CoherenceSingularRead),
    ROW(SendSignal),
    ROW(RecvSignal),
    ROW(Broadcast),
    ROW(Subscribe),
    ROW(MailboxPeek),
    ROW(MailboxPop),
    ROW(AtomicCas),
    ROW(CheckpointSave),
    ROW(CheckpointRestore),
    ROW(CheckpointDiscard),
    ROW(Consolidate),
#undef ROW
#define ROW(name)                                                                                  \
    {                                                                                              \
#name, on_nothing                                                                          \
    }
    ROW(ModelLoad),
    ROW(ModelReload),
    ROW(HaltRegion),
    ROW(RestWrite),
    ROW(ConsolidationRequest),
    ROW(CoherenceMultimodalWrite),
    ROW(BarrierWait),
#undef ROW
#define ROW(name)                                                                                  \
    {                                                                                              \
#name, world_##name                                                                        \
    }
    ROW(BankQuery),
    ROW(BankWrite),
    ROW(BankLoad),
    ROW(BankLink),
    ROW(BankTraverse),
    ROW(BankTouch),
    ROW(BankDelete),
    ROW(BankPromote),
    ROW(BankDemote),
    ROW(BankCount),
    ROW(BankEvict),
    ROW(BankCompact),
    ROW(PoolTick),
    ROW(PoolSave),
    ROW(PoolLoad),
    ROW(PoolInject),
    ROW(PoolReadOutput),
    ROW(PoolReadStats),
    ROW(PoolModulate),
    ROW(PoolPruneDead),
    ROW(PoolSynaptogenesis),
#undef ROW
};

bool tvmr_world_answer(struct tvmr_world *w, struct tvmr_vm *vm, const penta_stop *stop,
                       struct writer *log)
{
    const struct tvmr_op *op = tvmr_domain_op(stop->detail);
    struct act a = {.w = w, .vm = vm, .args = stop->args, .log = log};
    for (size_t i = 0; op && i < sizeof acts / sizeof *acts; i++) {
        if (strcmp(acts[i].name, op->domain)) continue;
        if (!acts[i].act(&a))
            tvmr_vm_fail(vm, a.err.code ? a.err.message : "the host has no memory left");
        return true;
    }
    return false;
}

/* ---- coming and going ---- */

struct tvmr_world *tvmr_world_new(const char *folder, penta_error *err)
{
    struct tvmr_world *w = calloc(1, sizeof *w);
    if (w && folder) w->folder = strdup(folder);
    if (!w || (folder && !w->folder)) {
        error_at(err, BASE_MEMORY, 0, "no memory for the host");
        free(w);
        return NULL;
    }
    memset(w->chem, 128, sizeof w->chem);
    return w;
}

static void queue_free(struct queue *q)
{
    while (q->first) {
        struct message *m = q->first;
        q->first = m->next;
        numbers_free(&m->body);
        free(m);
    }
}

void tvmr_world_free(struct tvmr_world *w)
{
    if (!w) return;
    while (w->named) {
        struct named *n = w->named;
        w->named = n->next;
        penta_buffer_free(&n->bytes);
        free(n);
    }
    for (unsigned i = 0; i < 256; i++) {
        for (unsigned k = 0; w->fields[i] && k < 256; k++)
            numbers_free(&w->fields[i][k]);
        free(w->fields[i]);
        queue_free(&w->regions[i]);
        queue_free(&w->mailboxes[i]);
        numbers_free(&w->cells[i]);
    }
    numbers_free(&w->seen);
    numbers_free(&w->neurons);
    world_bank_free(w);
    free(w->folder);
    free(w);
}
