/* Runs one block: chooses the reports that are accumulated now, runs the rounds, and writes what
 * the next block needs. */
#include "base/bytes.h"
#include "pvm/host/jam/queue.h"
#include "pvm/host/keccak.h"
#include <stdlib.h>
#include <string.h>

struct block {
    struct penta_jam_host *host;
    const penta_jam_block *given;
    struct jam_layer layer;
    penta_jam_outcome *out;
    penta_error *err;
    /* `reports` are the reports to accumulate, in this order; `at_once` or `queue` owns them. */
    struct jam_report *reports;
    size_t report_count, done;
    struct jam_report *at_once; /* the new reports without dependencies */
    size_t at_once_count;
    struct jam_queue queue;
    size_t old;              /* how many reports of the queue are from older blocks */
    penta_bytes *history;    /* the accumulated hashes of each slot of the epoch */
    struct jam_hashes fresh; /* the hashes of the reports that this block accumulated */
};

static bool chapter_get(struct block *b, uint8_t chapter, penta_bytes *out)
{
    uint8_t key[JAM_KEY];
    penta_jam_key(chapter, key);
    return jam_layer_get(&b->layer, key, out);
}

static void chapter_set(struct block *b, uint8_t chapter, struct writer *w)
{
    uint8_t key[JAM_KEY];
    penta_jam_key(chapter, key);
    if (writer_ok(w, b->err)) jam_layer_set(&b->layer, key, (penta_bytes){0}, writer_view(w));
    writer_free(w);
}

static bool block_no_memory(struct block *b)
{
    return error_at(b->err, BASE_MEMORY, 0, "no memory for a block");
}

/* The functions below choose the reports. */

static bool read_history(struct block *b, struct jam_hashes *all)
{
    size_t slots = (size_t)b->host->chain.epoch_length;
    penta_bytes stored;
    b->history = calloc(slots, sizeof *b->history);
    if (!b->history) return block_no_memory(b);
    if (!chapter_get(b, JAM_ACCUMULATED, &stored)) return true;
    struct reader r = {.in = stored, .err = b->err};
    for (size_t i = 0; i < slots; i++) {
        size_t count;
        b->history[i] = jam_take_list(&r, JAM_HASH, &count);
        for (size_t k = 0; k < count; k++) jam_hashes_add(all, b->history[i].data + k * JAM_HASH);
    }
    jam_hashes_sort(all);
    if (!b->err->code && reader_left(&r))
        error_at(b->err, BASE_RANGE, r.pos, "bytes after the accumulated hashes");
    return !b->err->code;
}

static bool read_reports(struct block *b)
{
    const penta_jam_block *given = b->given;
    b->at_once = calloc(given->report_count + 1, sizeof *b->at_once);
    if (!b->at_once) return block_no_memory(b);
    for (size_t i = 0; i < given->report_count; i++) {
        struct reader r = {.in = given->reports[i], .err = b->err};
        struct jam_report report;
        bool ok = jam_take_report(&r, &report);
        if (ok && reader_left(&r))
            ok = error_at(b->err, BASE_RANGE, r.pos, "bytes after work report %zu", i);
        if (ok && !report.prerequisite_count && !report.lookup_count)
            b->at_once[b->at_once_count++] = report;
        else if (ok)
            ok = jam_queue_add(&b->queue, &report);
        if (!ok) {
            jam_report_free(&report);
            return false;
        }
    }
    return true;
}

static void block_choose(struct block *b, const struct jam_report *report, struct jam_hashes *round)
{
    b->reports[b->report_count++] = *report;
    jam_hashes_add(round, report->package);
}

/* Puts the reports in order: first the reports without dependencies, then again and again those
 * that depend only on reports which were already chosen. */
static bool block_order(struct block *b, uint32_t first)
{
    struct jam_queue *q = &b->queue;
    struct jam_hashes round = {0};
    b->reports = calloc(b->at_once_count + q->count + 1, sizeof *b->reports);
    struct jam_waiting **ordered = calloc(q->count + 1, sizeof *ordered);
    size_t n = 0;
    if (!b->reports || !ordered) {
        free(ordered);
        return block_no_memory(b);
    }
    /* First come the reports of the queue from this slot of the epoch on, then those from the
     * start of the epoch, then the new ones. */
    for (unsigned part = 0; part < 3; part++)
        for (size_t i = 0; i < q->count; i++) {
            bool fresh = q->list[i].place == UINT32_MAX, late = q->list[i].place >= first;
            if ((fresh ? 2u : late ? 0u : 1u) == part) ordered[n++] = &q->list[i];
        }
    for (size_t i = 0; i < b->at_once_count; i++) block_choose(b, &b->at_once[i], &round);
    do {
        jam_hashes_sort(&round);
        jam_queue_edit(q, 0, &round);
        round.count = 0;
        for (size_t i = 0; i < n; i++) {
            if (ordered[i]->gone || ordered[i]->taken || ordered[i]->need_count) continue;
            ordered[i]->taken = true;
            block_choose(b, &ordered[i]->report, &round);
        }
    } while (round.count && !round.failed);
    bool ok = !round.failed || block_no_memory(b);
    jam_hashes_free(&round);
    free(ordered);
    return ok;
}

/* The functions below write the state after the rounds. */

static uint32_t prior_slot(struct block *b)
{
    penta_bytes stored;
    bool known = chapter_get(b, JAM_SLOT, &stored) && stored.size == 4;
    return known ? bytes_get32(stored.data) : b->given->slot - 1;
}

/* Reads the queue again and takes out only the reports that were really accumulated. */
static bool keep_queue(struct block *b, uint32_t first)
{
    size_t slots = (size_t)b->host->chain.epoch_length;
    uint64_t passed = (uint64_t)b->given->slot - prior_slot(b);
    struct jam_queue q = {.err = b->err};
    struct jam_hashes all = {0};
    struct writer w = {0};
    penta_bytes stored = {0};
    chapter_get(b, JAM_READY, &stored);
    bool ok = jam_queue_read(&q, stored, slots);
    for (size_t i = 0; ok && i < q.count; i++) {
        uint64_t age = (first + slots - q.list[i].place) % slots;
        if (age < passed || passed >= slots) q.list[i].gone = true;
    }
    /* New reports lose the dependencies that older blocks accumulated. */
    for (size_t i = 0; ok && i < b->given->report_count; i++) {
        struct reader r = {.in = b->given->reports[i], .err = b->err};
        struct jam_report report;
        ok = jam_take_report(&r, &report);
        if (ok && (report.prerequisite_count || report.lookup_count)) {
            ok = jam_queue_add(&q, &report);
            if (ok) q.list[q.count - 1].place = first;
        } else {
            jam_report_free(&report);
        }
    }
    for (size_t i = 0; i < slots; i++)
        for (size_t k = 0; k < b->history[i].size; k += JAM_HASH)
            jam_hashes_add(&all, b->history[i].data + k);
    jam_hashes_sort(&all);
    for (size_t i = 0; i < q.count && all.count; i++) {
        if (q.list[i].place != first || q.list[i].gone) continue;
        struct jam_queue one = {.list = &q.list[i], .count = 1, .err = b->err};
        jam_queue_edit(&one, 0, &all);
    }
    jam_queue_edit(&q, 0, &b->fresh);
    if (all.failed) ok = block_no_memory(b);
    if (ok) {
        jam_queue_write(&q, slots, &w);
        chapter_set(b, JAM_READY, &w);
    }
    jam_hashes_free(&all);
    jam_queue_free(&q);
    return ok && !b->err->code;
}

static void keep_history(struct block *b)
{
    size_t slots = (size_t)b->host->chain.epoch_length;
    struct writer w = {0};
    for (size_t i = 1; i < slots; i++) {
        jam_put_nat(&w, b->history[i].size / JAM_HASH);
        writer_bytes(&w, b->history[i].data, b->history[i].size);
    }
    jam_put_nat(&w, b->fresh.count);
    writer_bytes(&w, b->fresh.list, b->fresh.count * JAM_HASH);
    chapter_set(b, JAM_ACCUMULATED, &w);
}

static int gas_by_service(const void *a, const void *b)
{
    const penta_jam_service_gas *x = a, *y = b;
    return (x->service > y->service) - (x->service < y->service);
}

/* Makes one row for each service: how many items it had, and the gas that all its runs used. */
static bool count_services(struct block *b)
{
    penta_jam_outcome *out = b->out;
    size_t digests = 0, kept = 0;
    for (size_t i = 0; i < b->done; i++) digests += b->reports[i].digest_count;
    penta_jam_service_gas *rows =
        realloc(out->services, (out->service_count + digests + 1) * sizeof *rows);
    if (!rows) return block_no_memory(b);
    out->services = rows;
    for (size_t i = 0; i < b->done; i++)
        for (size_t k = 0; k < b->reports[i].digest_count; k++)
            rows[out->service_count++] =
                (penta_jam_service_gas){.service = b->reports[i].digests[k].service, .items = 1};
    qsort(rows, out->service_count, sizeof *rows, gas_by_service);
    for (size_t i = 0; i < out->service_count; i++) {
        if (kept && rows[kept - 1].service == rows[i].service) {
            rows[kept - 1].items += rows[i].items;
            rows[kept - 1].gas += rows[i].gas;
        } else {
            if (kept && !rows[kept - 1].items && !rows[kept - 1].gas) kept--;
            rows[kept++] = rows[i];
        }
    }
    if (kept && !rows[kept - 1].items && !rows[kept - 1].gas) kept--;
    out->service_count = kept;
    for (size_t i = 0; i < kept; i++) {
        struct jam_account account;
        if (!jam_account_get(&b->layer, rows[i].service, &account)) continue;
        account.last = b->given->slot;
        jam_account_set(&b->layer, rows[i].service, &account);
    }
    return true;
}

/* The functions below compute the root of the outputs. */

enum { LEAF = 4 + JAM_HASH };

static int outputs_by_leaf(const void *a, const void *b)
{
    const uint8_t *x = a, *y = b;
    uint32_t p = bytes_get32(x), q = bytes_get32(y);
    return p != q ? (p > q) - (p < q) : memcmp(x + 4, y + 4, JAM_HASH);
}

/* Computes the Merkle node over these leaves. A single leaf is its own node. */
static penta_bytes block_node(penta_bytes leaves, uint8_t *hash)
{
    size_t count = leaves.size / LEAF, left = (count + 1) / 2;
    uint8_t bytes[4 + 2 * LEAF], halves[2][JAM_HASH];
    if (count == 1) return leaves;
    penta_bytes a = block_node(bytes_slice(leaves, 0, left * LEAF), halves[0]);
    penta_bytes c = block_node(bytes_slice(leaves, left * LEAF, leaves.size), halves[1]);
    memcpy(bytes, "node", 4);
    bytes_copy(bytes + 4, a);
    bytes_copy(bytes + 4 + a.size, c);
    keccak256_digest((penta_bytes){bytes, 4 + a.size + c.size}, hash);
    return (penta_bytes){hash, JAM_HASH};
}

static void keep_outputs(struct block *b)
{
    penta_buffer *o = &b->out->outputs;
    size_t count = o->size / LEAF, kept = 0;
    if (count) qsort(o->data, count, LEAF, outputs_by_leaf);
    for (size_t i = 0; i < count; i++)
        if (!kept || outputs_by_leaf(o->data + (kept - 1) * LEAF, o->data + i * LEAF))
            memmove(o->data + LEAF * kept++, o->data + LEAF * i, LEAF);
    o->size = kept * LEAF;
    penta_bytes leaves = {o->data, o->size};
    memset(b->out->root, 0, JAM_HASH);
    if (kept == 1)
        keccak256_digest(leaves, b->out->root);
    else if (kept)
        block_node(leaves, b->out->root);
    struct writer w = {0};
    jam_put_nat(&w, kept);
    writer_bytes(&w, o->data, o->size);
    chapter_set(b, JAM_OUTPUTS, &w);
}

static bool run_rounds(struct block *b)
{
    const struct jam_chain *chain = &b->host->chain;
    struct jam_privileges p;
    jam_privileges_get(&b->layer, chain->cores, b->host->version->registrar, &p);
    uint64_t gas;
    if (__builtin_mul_overflow(chain->report_gas, chain->cores, &gas)) gas = UINT64_MAX;
    for (size_t i = 0; i < p.always_count; i++)
        if (__builtin_add_overflow(gas, p.always[i].gas, &gas)) gas = UINT64_MAX;
    jam_privileges_free(&p);
    struct jam_round round = {.host = b->host,
                              .layer = &b->layer,
                              .slot = b->given->slot,
                              .entropy = b->given->entropy,
                              .out = b->out};
    round.gas = gas > chain->block_gas ? gas : chain->block_gas;
    bool ok = jam_rounds(&round, b->reports, b->report_count, &b->done, b->err);
    free(round.transfers);
    b->out->reports = (uint32_t)b->done;
    for (size_t i = 0; i < b->done; i++) jam_hashes_add(&b->fresh, b->reports[i].package);
    jam_hashes_sort(&b->fresh);
    return ok && (!b->fresh.failed || block_no_memory(b));
}

static bool run_block(struct block *b)
{
    struct jam_hashes all = {0};
    size_t slots = (size_t)b->host->chain.epoch_length;
    uint32_t first = (uint32_t)(b->given->slot % slots);
    penta_bytes stored = {0};
    bool ok = read_history(b, &all);
    chapter_get(b, JAM_READY, &stored);
    ok = ok && jam_queue_read(&b->queue, stored, slots);
    b->old = b->queue.count;
    ok = ok && read_reports(b);
    if (ok) jam_queue_edit(&b->queue, b->old, &all);
    ok = ok && block_order(b, first) && run_rounds(b) && count_services(b) && keep_queue(b, first);
    jam_hashes_free(&all);
    if (!ok) return false;
    keep_history(b);
    keep_outputs(b);
    for (size_t i = 0; i < b->given->preimage_count; i++)
        jam_preimage_supply(&b->layer, b->given->preimages[i].service, b->given->preimages[i].blob,
                            b->given->slot);
    struct writer slot = {0};
    writer_uint(&slot, b->given->slot, 4);
    chapter_set(b, JAM_SLOT, &slot);
    if (b->layer.failed) block_no_memory(b);
    return !b->err->code;
}

bool penta_jam_block_run(penta_jam_host *host, penta_jam_state *state, const penta_jam_block *given,
                         penta_jam_outcome *out, penta_error *err)
{
    struct block b = {.host = host, .given = given, .out = out, .err = err, .queue = {.err = err}};
    *err = (penta_error){0};
    penta_jam_outcome_free(out);
    jam_layer_init(&b.layer, &state->changes);
    bool ok = run_block(&b);
    if (ok) jam_layer_merge(&state->changes, &b.layer);
    for (size_t i = 0; i < b.at_once_count; i++) jam_report_free(&b.at_once[i]);
    free(b.at_once);
    free(b.reports);
    free(b.history);
    jam_hashes_free(&b.fresh);
    jam_queue_free(&b.queue);
    jam_layer_fini(&b.layer);
    return ok;
}

void penta_jam_outcome_free(penta_jam_outcome *out)
{
    free(out->services);
    penta_buffer_free(&out->outputs);
    *out = (penta_jam_outcome){0};
}
