/* Has the table of functions that carry out the domain operations of the default host (TVMR 17),
 * and what these functions share. Everything is deterministic. When the host has a folder,
 * weights, banks and the pool outlive the run. */
#include "tvmr/host/domain.h"
#include "tvmr/vm/ops.h"
#include "tvmr/host/domain_state.h"
#include <stdlib.h>

bool numbers_fit(struct act *a, uint64_t more)
{
    if (more <= HELD_MAX && a->w->held <= HELD_MAX - more) return true;
    return error_at(&a->err, BASE_LIMIT, 0, "the host keeps %d numbers at most", HELD_MAX);
}

bool numbers_keep(struct act *a, struct numbers *to, const int32_t *data, size_t count)
{
    if (count > to->count && !numbers_fit(a, count - to->count)) return false;
    int32_t *fresh = malloc((count + 1) * sizeof *fresh);
    if (!fresh) return false;
    if (count) memcpy(fresh, data, count * sizeof *fresh);
    a->w->held += count - to->count;
    free(to->data);
    *to = (struct numbers){fresh, count};
    return true;
}

void numbers_drop(struct tvmr_domain *w, struct numbers *n)
{
    w->held -= n->count;
    free(n->data);
    *n = (struct numbers){0};
}

struct numbers source_of(struct tvmr_vm *vm, uint64_t reg)
{
    const struct tvmr_hot *h = reg == TVMR_NULL ? NULL : hot_at(vm, (uint8_t)reg);
    return h ? (struct numbers){h->data, h->count} : (struct numbers){0};
}

int64_t scalar_of(struct tvmr_vm *vm, uint64_t reg)
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
    int32_t v = ops_clamp32(value);
    return answer_list(vm, reg, &v, 1);
}

static const struct {
    const char *name;
    domain_act *act;
} acts[] = {
#define ACT(name) {#name, domain_##name},
#include "tvmr/host/domain.def"
};

bool tvmr_domain_answer(struct tvmr_domain *w, struct tvmr_vm *vm, const penta_stop *stop,
                        struct writer *log, bool *interrupted)
{
    const struct tvmr_op *op = tvmr_domain_op(stop->detail);
    struct act a = {.w = w, .vm = vm, .args = stop->args, .log = log};
    for (size_t i = 0; op && i < sizeof acts / sizeof *acts; i++) {
        if (strcmp(acts[i].name, op->domain)) continue;
        bool done = acts[i].act(&a);
        if (interrupted) *interrupted = a.interrupted;
        if (a.interrupted) return false;
        if (!done) tvmr_vm_fail(vm, a.err.code ? a.err.message : "the host has no memory left");
        return true;
    }
    return false;
}

struct tvmr_domain *tvmr_domain_new(const char *folder, penta_error *err)
{
    struct tvmr_domain *w = calloc(1, sizeof *w);
    if (w && folder) w->folder = strdup(folder);
    if (!w || (folder && !w->folder)) {
        error_at(err, BASE_MEMORY, 0, "no memory for the host");
        free(w);
        return NULL;
    }
    memset(w->chem, 128, sizeof w->chem);
    tvmr_dynamics_start(w);
    w->lock = -1;
    if (!folder || domain_store_open(w, err)) return w;
    tvmr_domain_free(w);
    return NULL;
}

void tvmr_domain_chemicals(struct tvmr_domain *w, const uint8_t first[4])
{
    memcpy(w->chem, first, 4);
}

void tvmr_domain_free(struct tvmr_domain *w)
{
    if (!w) return;
    domain_store_free(w);
    domain_region_free(w);
    domain_model_free(w);
    for (unsigned i = 0; i < 256; i++) {
        for (unsigned k = 0; w->fields[i] && k < 256; k++) numbers_drop(w, &w->fields[i][k]);
        free(w->fields[i]);
    }
    numbers_drop(w, &w->seen);
    numbers_drop(w, &w->neurons);
    domain_bank_free(w);
    free(w->pool.data);
    free(w->synapses);
    free(w->folder);
    free(w);
}
