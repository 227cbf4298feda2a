/* Runs rounds (JAM 12.2): every service that has something to do runs once, and all of them
 * start from the same state. Then the changes of all runs are merged, and the transfers that
 * they made are the start of the next round. */
#include "base/bytes.h"
#include "base/array.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

struct work { /* A struct work is what one service has to do in a round. */
    uint32_t service;
    uint64_t gas;
    struct writer bytes; /* the items of the service, one after the other */
    size_t *ends;        /* where each item ends in `bytes` */
    penta_bytes *items;  /* the items as slices of `bytes` */
    size_t item_count, item_capacity;
    struct jam_layer layer;
    struct jam_run run;
    penta_jam_result result;
};

struct works {
    struct work *list; /* the work of all services, sorted by service */
    size_t count;
    penta_error *err;
};

static uint64_t rounds_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The functions below find the services of a round and their items. */

static int services_by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static struct work *rounds_find(const struct works *w, uint32_t service)
{
    size_t low;
    ARRAY_SEARCH(low, 0, w->count, w->list[low].service >= service);
    return low < w->count && w->list[low].service == service ? &w->list[low] : NULL;
}

static bool make_works(struct works *w, uint32_t *services, size_t count)
{
    qsort(services, count, sizeof *services, services_by_number);
    w->list = calloc(count + 1, sizeof *w->list);
    if (!w->list) return error_at(w->err, BASE_MEMORY, 0, "no memory for a round");
    for (size_t i = 0; i < count; i++)
        if (!i || services[i] != services[i - 1]) w->list[w->count++].service = services[i];
    return true;
}

static void end_item(struct works *w, struct work *work)
{
    if (ARRAY_GROW(work->ends, work->item_capacity, work->item_count, w->err))
        work->ends[work->item_count++] = work->bytes.out.size;
}

static bool slice_items(struct works *w, struct work *work)
{
    work->items = calloc(work->item_count + 1, sizeof *work->items);
    if (!work->items) return error_at(w->err, BASE_MEMORY, 0, "no memory for a round");
    for (size_t i = 0, from = 0; i < work->item_count; from = work->ends[i++])
        work->items[i] = bytes_slice(writer_view(&work->bytes), from, work->ends[i] - from);
    return writer_ok(&work->bytes, w->err);
}

/* Gives each service its gas and its items. Transfers come before work results. */
static bool work_give_out(struct works *w, const struct jam_round *round,
                          const struct jam_report *reports, size_t count,
                          const struct jam_privileges *always)
{
    for (size_t i = 0; always && i < always->always_count; i++)
        rounds_find(w, always->always[i].service)->gas = always->always[i].gas;
    for (size_t i = 0; i < round->transfer_count && !w->err->code; i++) {
        struct work *to = rounds_find(w, round->transfers[i].to);
        to->gas = rounds_add(to->gas, round->transfers[i].gas);
        writer_uint(&to->bytes, 1, 1);
        jam_put_transfer(&to->bytes, &round->transfers[i]);
        end_item(w, to);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < reports[i].digest_count && !w->err->code; k++) {
            const struct jam_digest *d = &reports[i].digests[k];
            struct work *to = rounds_find(w, d->service);
            to->gas = rounds_add(to->gas, d->gas);
            jam_put_operand(&to->bytes, &reports[i], d, !round->host->version->on_transfer);
            end_item(w, to);
        }
    for (size_t i = 0; i < w->count && !w->err->code; i++) slice_items(w, &w->list[i]);
    return !w->err->code;
}

static bool rounds_collect(struct works *w, const struct jam_round *round,
                           const struct jam_report *reports, size_t count,
                           const struct jam_privileges *always)
{
    size_t most = round->transfer_count + (always ? always->always_count : 0), n = 0;
    for (size_t i = 0; i < count; i++) most += reports[i].digest_count;
    uint32_t *services = calloc(most + 1, sizeof *services);
    if (!services) return error_at(w->err, BASE_MEMORY, 0, "no memory for a round");
    for (size_t i = 0; always && i < always->always_count; i++)
        services[n++] = always->always[i].service;
    for (size_t i = 0; i < round->transfer_count; i++) services[n++] = round->transfers[i].to;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < reports[i].digest_count; k++)
            services[n++] = reports[i].digests[k].service;
    bool ok = make_works(w, services, n) && work_give_out(w, round, reports, count, always);
    free(services);
    return ok;
}

static void free_works(struct works *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct work *work = &w->list[i];
        jam_run_fini(&work->run);
        jam_layer_fini(&work->layer);
        writer_free(&work->bytes);
        free(work->ends);
        free(work->items);
        penta_jam_result_free(&work->result);
    }
    free(w->list);
    *w = (struct works){.err = w->err};
}

static bool service_run(struct works *w, struct work *work, const struct jam_round *round,
                        enum jam_context context, uint32_t pc)
{
    penta_jam_accumulation input = {.slot = round->slot,
                                    .service = work->service,
                                    .gas = work->gas,
                                    .items = work->items,
                                    .item_count = work->item_count};
    memcpy(input.entropy, round->entropy, JAM_HASH);
    jam_layer_init(&work->layer, round->layer);
    jam_run_init(&work->run, round->host, context, &work->layer, w->err);
    if (!jam_accumulate(&work->run, &input, pc, &work->result)) return false;
    if (work->layer.failed) return error_at(w->err, BASE_MEMORY, 0, "no memory for a service");
    return true;
}

/* The functions below merge privileges. */

/* Gives the privileges as the run of this service left them, or as they were before when the
 * service did not run. */
static bool privileges_left_by(const struct works *w, const struct jam_round *round,
                               uint32_t service, struct jam_privileges *out)
{
    struct work *work = rounds_find(w, service);
    const struct penta_jam_host *host = round->host;
    jam_privileges_get(work ? &work->layer : round->layer, host->chain.cores,
                       host->version->registrar, out);
    return out->assigners || error_at(w->err, BASE_MEMORY, 0, "no memory for privileges");
}

static const struct jam_value *own_value(const struct jam_layer *l, const uint8_t *key)
{
    struct jam_layer alone = *l;
    alone.below = NULL;
    return l->count ? jam_layer_find(&alone, key) : NULL;
}

static bool rounds_changed(const struct works *w, const uint8_t *key)
{
    for (size_t i = 0; i < w->count; i++)
        if (own_value(&w->list[i].layer, key)) return true;
    return false;
}

/* Returns who holds a privilege after the round. A change by the manager counts first; without
 * one the holder may pass the privilege on. */
static uint32_t privilege_next_holder(uint32_t before, uint32_t by_manager, uint32_t by_holder)
{
    return by_manager != before ? by_manager : by_holder;
}

static bool merge_privileges(struct works *w, const struct jam_round *round)
{
    uint8_t key[JAM_KEY];
    struct jam_privileges old, next = {0}, other = {0};
    bool registrar = round->host->version->registrar;
    penta_jam_key(JAM_PRIVILEGES, key);
    if (!rounds_changed(w, key)) return true;
    jam_privileges_get(round->layer, round->host->chain.cores, registrar, &old);
    bool ok = old.assigners && privileges_left_by(w, round, old.manager, &next);
    for (size_t c = 0; ok && c < old.cores; c++) {
        ok = privileges_left_by(w, round, old.assigners[c], &other);
        if (ok)
            next.assigners[c] =
                privilege_next_holder(old.assigners[c], next.assigners[c], other.assigners[c]);
        jam_privileges_free(&other);
    }
    if (ok && (ok = privileges_left_by(w, round, old.delegator, &other))) {
        next.delegator = privilege_next_holder(old.delegator, next.delegator, other.delegator);
        jam_privileges_free(&other);
    }
    if (ok && (ok = privileges_left_by(w, round, old.registrar, &other))) {
        next.registrar = privilege_next_holder(old.registrar, next.registrar, other.registrar);
        jam_privileges_free(&other);
    }
    if (ok) jam_privileges_set(round->layer, registrar, &next);
    jam_privileges_free(&next);
    jam_privileges_free(&old);
    return ok || error_at(w->err, BASE_MEMORY, 0, "no memory for privileges");
}

/* Takes the queue of each core from the run of its assigner, and the staging set from the run of
 * the delegator. The assigners and the delegator are those before the round. */
static bool merge_chapters(struct works *w, const struct jam_round *round,
                           const struct jam_privileges *old)
{
    uint8_t key[JAM_KEY];
    penta_bytes before;
    struct writer queues = {0};
    size_t each = (size_t)round->host->chain.queue_size * JAM_HASH, all = each * old->cores;
    for (uint32_t c = 0; c < old->cores; c++) {
        struct work *holder = rounds_find(w, old->assigners[c]);
        jam_queue_key(c, key);
        const struct jam_value *v = holder ? own_value(&holder->layer, key) : NULL;
        if (!v || v->size != each) continue;
        if (!queues.out.size) {
            penta_jam_key(JAM_QUEUES, key);
            bool has = jam_layer_get(round->layer, key, &before) && before.size == all;
            if (has)
                writer_bytes(&queues, before.data, all);
            else
                writer_fill(&queues, 0, all);
        }
        if (!queues.failed) memcpy(queues.out.data + c * each, jam_value_bytes(v).data, each);
    }
    penta_jam_key(JAM_QUEUES, key);
    if (queues.out.size) jam_layer_set(round->layer, key, (penta_bytes){0}, writer_view(&queues));
    bool ok = writer_ok(&queues, w->err);
    writer_free(&queues);
    struct work *delegator = rounds_find(w, old->delegator);
    penta_jam_key(JAM_STAGING, key);
    const struct jam_value *v = delegator ? own_value(&delegator->layer, key) : NULL;
    if (v) jam_layer_set(round->layer, key, (penta_bytes){0}, jam_value_bytes(v));
    return ok;
}

/* The functions below merge accounts. */

/* Returns entry k of a run's layer if it belongs to an account, else NULL. *record says whether
 * the entry is the account's record. */
static const struct jam_entry *account_entry(const struct works *w, size_t i, size_t k,
                                             uint32_t *service, bool *record)
{
    const struct jam_entry *e = &w->list[i].layer.entries[k];
    return e->used && jam_key_service(e->key, service, record) ? e : NULL;
}

/* Lists the accounts that any run removed. */
static size_t removed_accounts(const struct works *w, uint32_t **out)
{
    size_t count = 0, capacity = 0;
    *out = NULL;
    uint32_t service;
    bool record;
    for (size_t i = 0; i < w->count; i++)
        for (size_t k = 0; k < w->list[i].layer.capacity; k++) {
            const struct jam_entry *e = account_entry(w, i, k, &service, &record);
            if (!e || e->value || !record) continue;
            if (!ARRAY_GROW(*out, capacity, count, w->err)) return count;
            (*out)[count++] = service;
        }
    if (count) qsort(*out, count, sizeof **out, services_by_number);
    return count;
}

/* Merges the accounts. An account that one run removed stays removed, whatever other runs did to
 * it. */
static void merge_accounts(struct works *w, const struct jam_round *round)
{
    uint32_t *removed;
    size_t count = removed_accounts(w, &removed);
    uint32_t service;
    bool record;
    for (size_t i = 0; i < w->count; i++)
        for (size_t k = 0; k < w->list[i].layer.capacity; k++) {
            const struct jam_entry *e = account_entry(w, i, k, &service, &record);
            bool gone = e && e->value && count &&
                        bsearch(&service, removed, count, sizeof service, services_by_number);
            if (e && !gone) jam_layer_take(round->layer, e);
        }
    free(removed);
    for (size_t i = 0; i < w->count; i++) {
        const struct jam_run *run = &w->list[i].run;
        for (size_t k = 0; k < run->now.provisions; k++)
            jam_preimage_supply(round->layer, run->provisions[k].service,
                                (penta_bytes){run->provisions[k].blob, run->provisions[k].size},
                                round->slot);
    }
}

static bool rounds_merge(struct works *w, const struct jam_round *round)
{
    struct jam_privileges old;
    jam_privileges_get(round->layer, round->host->chain.cores, round->host->version->registrar,
                       &old);
    bool ok = old.assigners && merge_chapters(w, round, &old) && merge_privileges(w, round);
    jam_privileges_free(&old);
    if (ok) merge_accounts(w, round);
    if (round->layer->failed) error_at(w->err, BASE_MEMORY, 0, "no memory for a round");
    return ok && !w->err->code;
}

/* The functions below collect the results of a round. */

static bool count_gas(struct works *w, struct jam_round *round)
{
    penta_jam_outcome *out = round->out;
    penta_jam_service_gas *more =
        realloc(out->services, (out->service_count + w->count + 1) * sizeof *more);
    if (!more) return error_at(w->err, BASE_MEMORY, 0, "no memory for a round");
    out->services = more;
    struct writer outputs = {.out = out->outputs};
    for (size_t i = 0; i < w->count; i++) {
        const struct work *work = &w->list[i];
        out->services[out->service_count++] =
            (penta_jam_service_gas){.service = work->service, .gas = work->result.gas_used};
        out->runs += work->result.exit < PENTA_JAM_NO_CODE;
        if (!work->run.now.has_yield) continue;
        writer_uint(&outputs, work->service, 4);
        writer_bytes(&outputs, work->run.now.yield, JAM_HASH);
    }
    out->outputs = outputs.out;
    return writer_ok(&outputs, w->err);
}

/* Keeps the transfers of this round, in the order of the services, for the next one. */
static bool take_transfers(struct works *w, struct jam_round *round)
{
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++) count += w->list[i].run.now.transfers;
    struct jam_transfer *next = calloc(count + 1, sizeof *next);
    if (!next) return error_at(w->err, BASE_MEMORY, 0, "no memory for transfers");
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++)
        for (size_t k = 0; k < w->list[i].run.now.transfers; k++)
            next[n++] = w->list[i].run.transfers[k];
    free(round->transfers);
    round->transfers = next;
    round->transfer_count = count;
    return true;
}

static void count_budget(const struct works *w, struct jam_round *round)
{
    for (size_t i = 0; i < round->transfer_count; i++)
        round->gas = rounds_add(round->gas, round->transfers[i].gas);
    for (size_t i = 0; i < w->count; i++) {
        uint64_t used = w->list[i].result.gas_used;
        round->gas -= used < round->gas ? used : round->gas;
    }
}

static bool round_run(struct jam_round *round, const struct jam_report *reports, size_t count,
                      const struct jam_privileges *always, penta_error *err)
{
    struct works w = {.err = err};
    bool ok = rounds_collect(&w, round, reports, count, always);
    for (size_t i = 0; ok && i < w.count; i++)
        ok = service_run(&w, &w.list[i], round, JAM_ACCUMULATE, 5);
    ok = ok && rounds_merge(&w, round) && count_gas(&w, round);
    if (ok) {
        count_budget(&w, round);
        ok = take_transfers(&w, round);
        round->out->rounds++;
    }
    free_works(&w);
    return ok;
}

/* The functions below are for versions in which transfers have an entry point of their own. */

/* Keeps transfers until the rounds are over, as versions up to 0.7.0 do. */
static bool keep_transfers(struct jam_round *round, struct jam_transfer **kept, size_t *count,
                           penta_error *err)
{
    if (!round->transfer_count) return true;
    struct jam_transfer *more = realloc(*kept, (*count + round->transfer_count) * sizeof *more);
    if (!more) return error_at(err, BASE_MEMORY, 0, "no memory for transfers");
    memcpy(more + *count, round->transfers, round->transfer_count * sizeof *more);
    *kept = more;
    *count += round->transfer_count;
    round->transfer_count = 0;
    return true;
}

/* Runs each service that got transfers once, with all of them. */
static bool give_transfers(struct jam_round *round, const struct jam_transfer *list, size_t count,
                           penta_error *err)
{
    struct works w = {.err = err};
    uint32_t *services = calloc(count + 1, sizeof *services);
    for (size_t i = 0; services && i < count; i++) services[i] = list[i].to;
    bool ok = services && make_works(&w, services, count);
    free(services);
    for (size_t i = 0; ok && i < count && !err->code; i++) {
        struct work *to = rounds_find(&w, list[i].to);
        to->gas = rounds_add(to->gas, list[i].gas);
        jam_put_transfer(&to->bytes, &list[i]);
        end_item(&w, to);
    }
    for (size_t i = 0; ok && i < w.count; i++)
        ok = !err->code && slice_items(&w, &w.list[i]) &&
             service_run(&w, &w.list[i], round, JAM_ON_TRANSFER, 10);
    ok = ok && rounds_merge(&w, round);
    free_works(&w);
    return ok || error_at(err, BASE_MEMORY, 0, "no memory for transfers");
}

bool jam_rounds(struct jam_round *round, const struct jam_report *reports, size_t count,
                size_t *done, penta_error *err)
{
    struct jam_privileges always;
    jam_privileges_get(round->layer, round->host->chain.cores, round->host->version->registrar,
                       &always);
    bool ok = true, first = true, later = round->host->version->on_transfer;
    struct jam_transfer *kept = NULL;
    size_t kept_count = 0;
    for (*done = 0; ok; first = false) {
        size_t take = 0;
        uint64_t sum = 0;
        while (*done + take < count &&
               (sum = rounds_add(sum, jam_report_gas(&reports[*done + take]))) <= round->gas)
            take++;
        if (!take && !round->transfer_count && !(first && always.always_count)) break;
        ok = round_run(round, reports + *done, take, first ? &always : NULL, err);
        *done += take;
        if (ok && later) ok = keep_transfers(round, &kept, &kept_count, err);
    }
    if (ok && kept_count) ok = give_transfers(round, kept, kept_count, err);
    free(kept);
    jam_privileges_free(&always);
    return ok;
}

bool jam_round_merge(struct jam_round *round, const struct jam_run *run, penta_error *err)
{
    struct work one = {.service = run->service, .layer = *run->layer, .run = *run};
    struct works w = {.list = &one, .count = 1, .err = err};
    return rounds_merge(&w, round);
}

bool jam_round_alone(struct jam_round *round, const penta_jam_accumulation *input, uint32_t pc,
                     penta_jam_result *out, penta_error *err)
{
    struct works w = {.err = err};
    uint32_t service = input->service;
    enum jam_context context = pc == 10 ? JAM_ON_TRANSFER : JAM_ACCUMULATE;
    bool ok = make_works(&w, &service, 1);
    if (ok) {
        w.list[0].gas = input->gas;
        for (size_t i = 0; i < input->item_count && !err->code; i++) {
            writer_bytes(&w.list[0].bytes, input->items[i].data, input->items[i].size);
            end_item(&w, &w.list[0]);
        }
        ok = !err->code && slice_items(&w, &w.list[0]) &&
             service_run(&w, &w.list[0], round, context, pc) && rounds_merge(&w, round);
    }
    if (ok) {
        struct work *work = &w.list[0];
        struct writer transfers = {0}, yield = {0};
        for (size_t i = 0; i < work->run.now.transfers; i++)
            jam_put_transfer(&transfers, &work->run.transfers[i]);
        if (work->run.now.has_yield) writer_bytes(&yield, work->run.now.yield, JAM_HASH);
        ok = writer_ok(&transfers, err) && writer_ok(&yield, err);
        penta_jam_result_free(out);
        *out = (penta_jam_result){.exit = work->result.exit,
                                  .gas_used = work->result.gas_used,
                                  .output = yield.out,
                                  .transfers = transfers.out};
    }
    free_works(&w);
    return ok;
}
