/* Makes work reports (JAM 5.6): runs is-authorized, then refine of each item, and collects the
 * results. */
#include "base/bytes.h"
#include "crypto/hash.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

/* Returns the result of an item. The first condition that holds decides it. An item that failed
 * has no exports. */
penta_jam_exit jam_item_exit(const struct jam_chain *chain, penta_jam_exit exit, uint64_t size,
                             size_t exports, size_t promised)
{
    if (size > chain->report_size) return PENTA_JAM_OVERSIZE;
    if (exports != promised) return PENTA_JAM_BAD_EXPORTS;
    return exit;
}

void jam_put_digest(struct writer *w, const struct jam_work_item *item, penta_jam_exit exit,
                    penta_bytes output, uint64_t gas_used)
{
    uint8_t hash[JAM_HASH];
    uint64_t bytes = 0;
    for (size_t i = 0; i < item->extrinsic_count; i++)
        bytes += bytes_get32(item->extrinsics + 36 * i + JAM_HASH);
    hash_blake2b256(item->payload, hash);
    writer_uint(w, item->service, 4);
    writer_bytes(w, item->code_hash, JAM_HASH);
    writer_bytes(w, hash, JAM_HASH);
    writer_uint(w, item->accumulate_gas, 8);
    writer_uint(w, exit, 1);
    if (exit == PENTA_JAM_HALT) jam_put_var(w, output);
    jam_put_nat(w, gas_used);
    jam_put_nat(w, item->import_count);
    jam_put_nat(w, item->extrinsic_count);
    jam_put_nat(w, bytes);
    jam_put_nat(w, item->exports);
}

/* Refines one item: adds its exports to those of the report, and the size of its output to
 * *used. */
static bool add_item(struct penta_jam_host *host, struct penta_jam_state *state,
                     const penta_jam_package *given, const struct jam_work_item *item,
                     penta_jam_report *out, uint64_t *used, penta_error *err)
{
    penta_jam_result *r = &out->items[out->item_count];
    if (!penta_jam_refine(host, state, given, out->item_count++, r, err)) return false;
    uint64_t size = r->exit == PENTA_JAM_HALT ? r->output.size : 0;
    size_t exports = r->exports.size / PENTA_JAM_SEGMENT;
    r->exit = jam_item_exit(&host->chain, r->exit, *used + size, exports, item->exports);
    struct writer w = {.out = out->exports};
    if (r->exit == PENTA_JAM_HALT) {
        *used += size;
        writer_bytes(&w, r->exports.data, r->exports.size);
    } else {
        penta_buffer_free(&r->output);
        writer_fill(&w, 0, (size_t)item->exports * PENTA_JAM_SEGMENT);
    }
    out->exports = w.out;
    penta_buffer_free(&r->exports);
    return writer_ok(&w, err);
}

static bool report_encode(const struct jam_work_package *package, const penta_jam_package *given,
                          const penta_jam_availability *where, penta_jam_report *out,
                          penta_error *err)
{
    static const penta_jam_availability nothing;
    struct writer w = {0};
    if (!where) where = &nothing;
    writer_bytes(&w, out->package, JAM_HASH);
    writer_uint(&w, where->bundle_size, 4);
    writer_bytes(&w, where->erasure_root, JAM_HASH);
    writer_bytes(&w, out->exports_root, JAM_HASH);
    writer_uint(&w, out->exports.size / PENTA_JAM_SEGMENT, 2);
    writer_bytes(&w, package->context.data, package->context.size);
    jam_put_nat(&w, given->core);
    writer_bytes(&w, out->authorizer, JAM_HASH);
    jam_put_nat(&w, out->authorized.gas_used);
    jam_put_var(&w, (penta_bytes){out->authorized.output.data, out->authorized.output.size});
    jam_put_nat(&w, where->lookup_count);
    writer_bytes(&w, where->lookups, 2 * JAM_HASH * where->lookup_count);
    jam_put_nat(&w, out->item_count);
    for (size_t i = 0; i < out->item_count; i++) {
        const penta_jam_result *r = &out->items[i];
        jam_put_digest(&w, &package->items[i], r->exit,
                       (penta_bytes){r->output.data, r->output.size}, r->gas_used);
    }
    out->encoded = w.out;
    return writer_ok(&w, err);
}

static bool report_make(struct penta_jam_host *host, struct penta_jam_state *state,
                        const struct jam_work_package *package, const penta_jam_package *given,
                        const penta_jam_availability *where, penta_jam_report *out,
                        penta_error *err)
{
    penta_jam_package traced = *given;
    penta_jam_result *granted = &out->authorized;
    penta_bytes pieces[2] = {{package->auth_code, JAM_HASH}, package->config};
    hash_blake2b256(package->encoded, out->package);
    hash_blake2b256_pieces(pieces, 2, out->authorizer, NULL);
    if (!penta_jam_is_authorized(host, state, given, granted, err)) return false;
    if (granted->exit != PENTA_JAM_HALT) return true;
    traced.trace = (penta_bytes){granted->output.data, granted->output.size};
    out->items = calloc(package->item_count + 1, sizeof *out->items);
    if (!out->items) return error_at(err, BASE_MEMORY, 0, "no memory for a work report");
    uint64_t used = traced.trace.size;
    for (size_t i = 0; i < package->item_count; i++)
        if (!add_item(host, state, &traced, &package->items[i], out, &used, err)) return false;
    penta_jam_segments_root((penta_bytes){out->exports.data, out->exports.size}, out->exports_root);
    return report_encode(package, given, where, out, err);
}

bool penta_jam_report_make(penta_jam_host *host, penta_jam_state *state,
                           const penta_jam_package *given, const penta_jam_availability *where,
                           penta_jam_report *out, penta_error *err)
{
    struct jam_work_package package;
    *err = (penta_error){0};
    penta_jam_report_free(out);
    bool ok = jam_package_read(given->encoded, &package, err) &&
              report_make(host, state, &package, given, where, out, err);
    jam_package_free(&package);
    if (!ok) penta_jam_report_free(out);
    return ok;
}

void penta_jam_report_free(penta_jam_report *report)
{
    penta_jam_result_free(&report->authorized);
    for (size_t i = 0; i < report->item_count; i++) penta_jam_result_free(&report->items[i]);
    free(report->items);
    penta_buffer_free(&report->exports);
    penta_buffer_free(&report->encoded);
    *report = (penta_jam_report){0};
}
