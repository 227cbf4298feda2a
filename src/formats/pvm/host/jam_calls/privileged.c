/* Answers the host calls that change privileges (JAM 9.4). They change the layer of the run; the
 * merge at the end of the round decides whether the change is kept. */
#include "base/bytes.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

enum { ENTRY = 12 }; /* how many bytes a service and its gas take */

static bool privileged_get(struct jam_run *run, struct jam_privileges *p)
{
    jam_privileges_get(run->layer, run->host->chain.cores, run->host->version->registrar, p);
    return p->assigners;
}

static void privileged_set(struct jam_run *run, const struct jam_privileges *p)
{
    jam_privileges_set(run->layer, run->host->version->registrar, p);
}

static int always_by_service(const void *a, const void *b)
{
    const struct jam_always *x = a, *y = b;
    return (x->service > y->service) - (x->service < y->service);
}

/* Reads services and their gas, and sorts them. A service that is named twice keeps one gas. */
static bool read_always_services(penta_bytes bytes, struct jam_privileges *p)
{
    size_t count = bytes.size / ENTRY, kept = 0;
    struct jam_always *list = calloc(count + 1, sizeof *list);
    if (!list) return false;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct jam_always){bytes_get32(bytes.data + ENTRY * i),
                                      bytes_get64(bytes.data + ENTRY * i + 4)};
    qsort(list, count, sizeof *list, always_by_service);
    for (size_t i = 0; i < count; i++) {
        if (kept && list[kept - 1].service == list[i].service) kept--;
        list[kept++] = list[i];
    }
    free(p->always);
    p->always = list;
    p->always_count = kept;
    return true;
}

static enum jam_end privileged_bless(struct jam_run *run, uint64_t *r, penta_bytes assigners,
                                     penta_bytes always, bool registrar)
{
    struct jam_privileges p;
    if (r[7] > UINT32_MAX || r[9] > UINT32_MAX || (registrar && r[10] > UINT32_MAX))
        return jam_result(r, JAM_WHO);
    if (!privileged_get(run, &p)) return jam_no_memory(run);
    p.manager = (uint32_t)r[7];
    p.delegator = (uint32_t)r[9];
    if (registrar) p.registrar = (uint32_t)r[10];
    for (size_t i = 0; i < p.cores; i++) p.assigners[i] = bytes_get32(assigners.data + 4 * i);
    bool ok = read_always_services(always, &p);
    if (ok) privileged_set(run, &p);
    jam_privileges_free(&p);
    return ok ? jam_result(r, JAM_OK) : jam_no_memory(run);
}

enum jam_end jam_call_bless(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    return privileged_bless(run, r, a, b, true);
}

/* Answers bless in versions up to 0.7.0: there is no registrar, and only the manager may call
 * it. */
enum jam_end jam_call_bless_by_manager(struct jam_run *run, uint64_t *r, penta_bytes a,
                                       penta_bytes b)
{
    struct jam_privileges p;
    if (!privileged_get(run, &p)) return jam_no_memory(run);
    bool manager = p.manager == run->service;
    jam_privileges_free(&p);
    return manager ? privileged_bless(run, r, a, b, false) : jam_result(r, JAM_HUH);
}

enum jam_end jam_call_assign(struct jam_run *run, uint64_t *r, penta_bytes queue, penta_bytes b)
{
    (void)b;
    struct jam_privileges p;
    uint8_t key[JAM_KEY];
    if (r[7] >= run->host->chain.cores) return jam_result(r, JAM_CORE);
    if (!privileged_get(run, &p)) return jam_no_memory(run);
    int64_t result = JAM_OK;
    if (p.assigners[r[7]] != run->service) {
        result = JAM_HUH;
    } else if (r[9] > UINT32_MAX) {
        result = JAM_WHO;
    } else {
        p.assigners[r[7]] = (uint32_t)r[9];
        privileged_set(run, &p);
        jam_queue_key((uint32_t)r[7], key);
        jam_layer_set(run->layer, key, (penta_bytes){0}, queue);
    }
    jam_privileges_free(&p);
    return jam_result(r, result);
}

enum jam_end jam_call_designate(struct jam_run *run, uint64_t *r, penta_bytes keys, penta_bytes b)
{
    (void)b;
    struct jam_privileges p;
    uint8_t key[JAM_KEY];
    if (!privileged_get(run, &p)) return jam_no_memory(run);
    bool delegator = p.delegator == run->service;
    jam_privileges_free(&p);
    if (!delegator) return jam_result(r, JAM_HUH);
    penta_jam_key(JAM_STAGING, key);
    jam_layer_set(run->layer, key, (penta_bytes){0}, keys);
    return jam_result(r, JAM_OK);
}
