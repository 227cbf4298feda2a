/* Implements the default host's clock, levels, log, stored weights, checkpoints and transactions
 * (TVMR 17.9 to TVMR 17.11). */
#include "tvmr/vm/ops.h"
#include "tvmr/host/domain_state.h"

#define ACT(name) bool domain_##name(struct act *a)

ACT(PhaseRead) { return answer_number(a->vm, a->args[0], a->w->phase); }
ACT(TickRead) { return answer_number(a->vm, a->args[0], a->w->tick++); }
ACT(LevelRead) { return answer_number(a->vm, a->args[0], a->w->level); }
ACT(PhaseWrite) { return a->w->phase = (int32_t)scalar_of(a->vm, a->args[0]), true; }
ACT(LevelWrite)
{
    int32_t level = (int32_t)scalar_of(a->vm, a->args[0]);
    if (level > a->w->level) a->w->level = level; /* A level never falls. */
    return true;
}
ACT(RestWrite) { return a->w->rest = scalar_of(a->vm, a->args[0]) != 0, true; }

/* Carries out a request to consolidate at once. */
ACT(ConsolidationRequest) { return scalar_of(a->vm, a->args[0]) <= 0 || domain_Consolidate(a); }

ACT(LogEvent)
{
    static const char *const types[] = {"boot",   "phase",      "error",    "warning",
                                        "metric", "checkpoint", "recovery", "shutdown"};
    struct numbers n = source_of(a->vm, a->args[0]);
    writer_print(a->log, "%s", a->args[1] < 8 ? types[a->args[1]] : "event");
    for (size_t i = 0; i < n.count && i < 64; i++) writer_print(a->log, " %d", (int)n.data[i]);
    writer_char(a->log, '\n');
    return true;
}

ACT(CoherenceSingularWrite)
{
    struct numbers n = source_of(a->vm, a->args[0]);
    if (n.count >= 2 && n.data[0] >= 0 && n.data[0] < 7) a->w->coherence[n.data[0]] = n.data[1];
    return true;
}
ACT(CoherenceMultimodalWrite) /* The written value is not kept, because no operation reads it. */
{
    (void)a;
    return true;
}
ACT(CoherenceSingularRead) { return answer_list(a->vm, a->args[0], a->w->coherence, 7); }

typedef void naming(struct act *a, char *name, size_t size);

static void by_key(struct act *a, char *name, size_t size)
{
    domain_weights_name(&a->vm->cold[INDEX((unsigned)a->args[0])], a->args[0], name, size);
}
static void by_number(struct act *a, char *name, size_t size)
{
    snprintf(name, size, "number-%lld", (long long)a->args[1]);
}
static void by_register(struct act *a, char *name, size_t size)
{
    snprintf(name, size, "checkpoint-%u", INDEX((unsigned)a->args[0]));
}

static bool domain_lifecycle_store(struct act *a, naming *name_of)
{
    char name[128];
    name_of(a, name, sizeof name);
    return domain_weights_put(a->w, a->vm, a->args[0], name, &a->err);
}

static const char *const reasons[] = {[FOUND_NOTHING] = "there is none",
                                      [FOUND_OTHER_SIZE] = "it has another number of weights",
                                      [FOUND_DAMAGED] = "it is damaged"};

/* Loads stored weights. The register keeps its own weights when none are stored. It also keeps
 * them, with a warning, when the stored weights do not fit. */
static bool domain_lifecycle_load(struct act *a, naming *name_of)
{
    char name[128];
    name_of(a, name, sizeof name);
    enum found found = domain_weights_get(a->w, a->vm, a->args[0], name);
    if (found == FOUND_OTHER_SIZE || found == FOUND_DAMAGED)
        writer_print(a->log, "warning: '%s' was not loaded: %s\n", name, reasons[found]);
    return true;
}

ACT(SaveThermo) { return domain_lifecycle_store(a, by_key); }
ACT(LoadThermo) { return domain_lifecycle_load(a, by_key); }
ACT(StoreWeights) { return domain_lifecycle_store(a, by_number); }
ACT(LoadWeights) { return domain_lifecycle_load(a, by_number); }
ACT(CheckpointSave) { return domain_lifecycle_store(a, by_register); }

ACT(InitThermo) /* Weights that are already stored stay as they are. */
{
    char name[128];
    penta_bytes there;
    by_key(a, name, sizeof name);
    return named_get(a->w, name, &there) || domain_lifecycle_store(a, by_key);
}

ACT(CheckpointRestore)
{
    char name[128];
    by_register(a, name, sizeof name);
    enum found found = domain_weights_get(a->w, a->vm, a->args[0], name);
    return found == FOUND || error_at(&a->err, BASE_STATE, 0, "no checkpoint of C%u: %s",
                                      INDEX((unsigned)a->args[0]), reasons[found]);
}
ACT(CheckpointDiscard)
{
    char name[128];
    struct writer none = {0};
    by_register(a, name, sizeof name);
    return named_put(a->w, name, &none, &a->err);
}

ACT(Consolidate)
{
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        char name[128];
        if (!a->vm->cold[i].present || !a->vm->cold[i].key_size) continue;
        domain_weights_name(&a->vm->cold[i], i, name, sizeof name);
        if (!domain_weights_put(a->w, a->vm, i, name, &a->err)) return false;
        a->vm->cold[i].dirty = false;
        a->vm->cold[i].stamp++;
    }
    return true;
}

ACT(TxnBegin) { return domain_begin_transaction(a->w, (unsigned)a->args[0], &a->err); }
ACT(TxnCommit) { return domain_end_transaction(a->w, (unsigned)a->args[0], true, &a->err); }
ACT(TxnRollback) { return domain_end_transaction(a->w, (unsigned)a->args[0], false, &a->err); }
