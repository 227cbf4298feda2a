/* Answers the host calls that most programs have (JAM 9.2): gas, heap, fetch, accounts and their
 * storage, log. */
#include "base/bytes.h"
#include "pvm/host/jam/host.h"
#include <string.h>

enum { INFO_BYTES = 96 };

enum jam_end jam_call_gas(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    return jam_result(r, run->vm->state->gas);
}

/* Grows the heap up to the end page that r7 names, if there is space, and gas for the pages.
 * Returns the end page. */
enum jam_end jam_call_grow_heap(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    enum { PAGE_COST = 10 };
    struct pvm_vm *vm = run->vm;
    uint64_t end = (vm->layout.heap_base + vm->heap_size + PVM_PAGE - 1) / PVM_PAGE, wanted = r[7];
    if (wanted > end && wanted < PVM_PAGES &&
        (int64_t)(PAGE_COST * (wanted - end)) <= vm->state->gas) {
        uint64_t more = wanted * PVM_PAGE - (vm->layout.heap_base + vm->heap_size);
        if (pvm_vm_sbrk(vm, more)) {
            vm->state->gas -= (int64_t)(PAGE_COST * (wanted - end));
            end = wanted;
        }
    }
    return jam_result(r, (int64_t)end);
}

/* The functions below answer fetch. */

static bool general_some(penta_bytes *out, const void *data, size_t size)
{
    *out = (penta_bytes){data, size};
    return true;
}

static bool general_written(struct jam_run *run, penta_bytes *out)
{
    *out = writer_view(&run->value);
    return true;
}

/* Finds extrinsic or import number k of one item. */
static bool item_part(const struct jam_run *run, uint64_t item, uint64_t k, bool imports,
                      penta_bytes *out)
{
    const struct jam_work_package *p = run->package;
    size_t before = 0;
    if (item >= p->item_count) return false;
    for (size_t i = 0; i < item; i++)
        before += imports ? p->items[i].import_count : p->items[i].extrinsic_count;
    size_t count = imports ? p->items[item].import_count : p->items[item].extrinsic_count;
    size_t given = imports ? run->given->import_count : run->given->extrinsic_count;
    if (k >= count || before + (size_t)k >= given) return false;
    *out = (imports ? run->given->imports : run->given->extrinsics)[before + (size_t)k];
    return true;
}

/* Answers the kinds of fetch that refine and is-authorized have. */
static bool fetch_package(struct jam_run *run, const uint64_t *r, penta_bytes *out)
{
    const struct jam_work_package *p = run->package;
    bool refine = run->context == JAM_REFINE;
    uint64_t one = r[11], two = r[12];
    run->value.out.size = 0;
    switch (r[10]) {
    case 2: *out = run->given->trace; return refine;
    case 3: return refine && item_part(run, one, two, false, out);
    case 4: return refine && item_part(run, run->item, one, false, out);
    case 5: return refine && item_part(run, one, two, true, out);
    case 6: return refine && item_part(run, run->item, one, true, out);
    case 7: *out = p->encoded; return true;
    case 8:
        if (!run->host->version->code_in_config)
            return general_some(out, p->config.data, p->config.size);
        writer_bytes(&run->value, p->auth_code, JAM_HASH);
        jam_put_var(&run->value, p->config);
        return general_written(run, out);
    case 9: *out = p->token; return true;
    case 10: *out = p->context; return true;
    case 11:
        jam_put_nat(&run->value, p->item_count);
        for (size_t i = 0; i < p->item_count; i++) jam_put_summary(&run->value, &p->items[i]);
        return general_written(run, out);
    case 12:
        if (one >= p->item_count) return false;
        jam_put_summary(&run->value, &p->items[one]);
        return general_written(run, out);
    case 13:
        if (one >= p->item_count) return false;
        *out = p->items[one].payload;
        return true;
    default: return false;
    }
}

static penta_bytes fetch_all_items(struct jam_run *run)
{
    struct writer *w = &run->all_items_bytes;
    if (!w->out.size) {
        jam_put_nat(w, run->item_count);
        for (size_t i = 0; i < run->item_count; i++)
            writer_bytes(w, run->items[i].data, run->items[i].size);
    }
    return writer_view(w);
}

/* Answers the kinds of fetch for items: 14 and 15 in accumulate, 16 and 17 in on-transfer. */
static bool fetch_items(struct jam_run *run, const uint64_t *r, penta_bytes *out)
{
    uint64_t all = run->context == JAM_ON_TRANSFER ? 16 : 14;
    if (r[10] == all) {
        *out = fetch_all_items(run);
        return true;
    }
    if (r[10] != all + 1 || r[11] >= run->item_count) return false;
    *out = run->items[r[11]];
    return true;
}

static bool fetch_value(struct jam_run *run, const uint64_t *r, penta_bytes *out)
{
    bool items = run->context & (JAM_ACCUMULATE | JAM_ON_TRANSFER);
    if (!r[10]) return general_some(out, run->host->parameters, JAM_PARAMETERS);
    if (r[10] == 1)
        return run->context != JAM_AUTHORIZE && general_some(out, run->entropy, JAM_HASH);
    return items ? fetch_items(run, r, out) : run->package && fetch_package(run, r, out);
}

enum jam_end jam_call_fetch(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    penta_bytes value = {0};
    bool has = fetch_value(run, r, &value);
    if (run->value.failed || run->all_items_bytes.failed) return jam_no_memory(run);
    return jam_copy_out(run, has, value, r[7], r[8], r[9]);
}

/* The functions below answer calls about accounts. */

/* Finds the service that a register names. All ones mean the program's own service. */
static bool general_named(const struct jam_run *run, uint64_t which, uint32_t *id)
{
    *id = which == UINT64_MAX ? run->service : (uint32_t)which;
    return which == UINT64_MAX || which <= UINT32_MAX;
}

enum jam_end jam_call_lookup(struct jam_run *run, uint64_t *r, penta_bytes hash, penta_bytes b)
{
    (void)b;
    uint32_t id;
    penta_bytes value = {0};
    bool has = general_named(run, r[7], &id) && jam_account_exists(run->layer, id) &&
               jam_preimage_get(run->layer, id, hash.data, &value);
    return jam_copy_out(run, has, value, r[9], r[10], r[11]);
}

enum jam_end jam_call_historical_lookup(struct jam_run *run, uint64_t *r, penta_bytes hash,
                                        penta_bytes b)
{
    (void)b;
    uint32_t id;
    penta_bytes value = {0};
    bool has = general_named(run, r[7], &id) && run->layer &&
               jam_historical_lookup(run->layer, id, hash.data, run->package->anchor_slot, &value);
    return jam_copy_out(run, has, value, r[9], r[10], r[11]);
}

enum jam_end jam_call_read(struct jam_run *run, uint64_t *r, penta_bytes name, penta_bytes b)
{
    (void)b;
    uint32_t id;
    uint8_t key[JAM_KEY];
    penta_bytes value = {0};
    bool has = general_named(run, r[7], &id) && jam_account_exists(run->layer, id);
    if (has) {
        struct long_work work = vm_long_work(&run->vm->base);
        jam_storage_key_work(id, name, key, &work);
        if (work.ended) return JAM_END_INTERRUPT;
        has = jam_layer_get(run->layer, key, &value);
    }
    return jam_copy_out(run, has, value, r[10], r[11], r[12]);
}

enum jam_end jam_call_write(struct jam_run *run, uint64_t *r, penta_bytes name, penta_bytes value)
{
    enum { ENTRY = 34 }; /* how many octets an entry of the storage counts besides key and value */
    uint8_t key[JAM_KEY];
    penta_bytes old;
    struct jam_account own;
    if (!jam_account_get(run->layer, run->service, &own)) return jam_result(r, JAM_NONE);
    struct long_work work = vm_long_work(&run->vm->base);
    jam_storage_key_work(run->service, name, key, &work);
    if (work.ended) return JAM_END_INTERRUPT;
    bool had = jam_layer_get(run->layer, key, &old);
    uint64_t old_size = old.size;
    if (had) {
        own.items--;
        own.octets -= ENTRY + name.size + old_size;
    }
    if (value.size) {
        own.items++;
        own.octets += ENTRY + name.size + value.size;
    }
    if (jam_threshold(&run->host->chain, &own) > own.balance) return jam_result(r, JAM_FULL);
    if (value.size && !jam_layer_set_work(run->layer, key, name, value, &work))
        return JAM_END_INTERRUPT;
    if (!value.size && had) jam_layer_remove(run->layer, key);
    if (had || value.size) jam_account_set(run->layer, run->service, &own);
    return jam_result(r, had ? (int64_t)old_size : JAM_NONE);
}

enum jam_end jam_call_info(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    uint32_t id;
    struct jam_account account;
    uint8_t v[INFO_BYTES];
    bool has = general_named(run, r[7], &id) && jam_account_get(run->layer, id, &account);
    if (has) {
        memcpy(v, account.code_hash, JAM_HASH);
        bytes_put64(v + 32, account.balance);
        bytes_put64(v + 40, jam_threshold(&run->host->chain, &account));
        bytes_put64(v + 48, account.min_gas);
        bytes_put64(v + 56, account.min_memo_gas);
        bytes_put64(v + 64, account.octets);
        bytes_put32(v + 72, account.items);
        bytes_put64(v + 76, account.gratis);
        bytes_put32(v + 84, account.created);
        bytes_put32(v + 88, account.last);
        bytes_put32(v + 92, account.parent);
    }
    return jam_copy_out(run, has, (penta_bytes){v, sizeof v}, r[8], r[9], r[10]);
}

/* Answers log. Nothing is logged when the memory cannot be read; the program gets the same
 * result in both cases. */
enum jam_end jam_call_log(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    enum { MOST = 1 << 16 };
    const struct pvm_memory *m = &run->vm->memory;
    if (run->host->logged && r[9] <= MOST && r[11] <= MOST &&
        pvm_memory_allows(m, r[8], r[9], PVM_READ) && pvm_memory_allows(m, r[10], r[11], PVM_READ))
        run->host->logged(run->host->logged_user, run->service, r[7],
                          pvm_memory_view(m, r[8], r[9], &run->scratch[0]),
                          pvm_memory_view(m, r[10], r[11], &run->scratch[1]));
    return jam_result(r, JAM_WHAT);
}

/* Answers log in versions up to 0.7.1, where it costs nothing. */
enum jam_end jam_call_free_log(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    return jam_call_log(run, r, a, b);
}
