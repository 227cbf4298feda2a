/* Runs is-authorized (JAM 8.2) and refine (JAM 8.3), the programs that work on a package outside
 * of the chain. */
#include "base/bytes.h"
#include "crypto/hash.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

/* The function below answers the call export; other calls of refine are in ../jam_calls/inner.c. */

enum jam_end jam_call_export(struct jam_run *run, uint64_t *r, penta_bytes bytes, penta_bytes b)
{
    (void)b;
    uint64_t number = run->export_offset + run->exports.out.size / PENTA_JAM_SEGMENT;
    if (number >= run->host->chain.package_exports) return jam_result(r, JAM_FULL);
    writer_bytes(&run->exports, bytes.data, bytes.size);
    writer_fill(&run->exports, 0, PENTA_JAM_SEGMENT - bytes.size);
    if (run->exports.failed) return jam_no_memory(run);
    return jam_result(r, (int64_t)number);
}

void jam_refine_arguments(const struct jam_run *run, struct writer *out)
{
    uint8_t hash[JAM_HASH];
    const struct jam_work_item *item = &run->package->items[run->item];
    if (run->context == JAM_AUTHORIZE) {
        writer_uint(out, run->given->core, 2);
        return;
    }
    if (run->host->version->core_first) jam_put_nat(out, run->given->core);
    jam_put_nat(out, run->item);
    jam_put_nat(out, item->service);
    jam_put_var(out, item->payload);
    hash_blake2b256(run->package->encoded, hash);
    writer_bytes(out, hash, JAM_HASH);
}

void jam_refine_begin(struct jam_run *run, const struct jam_work_package *package,
                      const penta_jam_package *given, size_t item)
{
    run->package = package;
    run->given = given;
    run->item = item;
    run->slot = package->anchor_slot;
    if (run->context == JAM_AUTHORIZE) {
        run->service = package->auth_service;
        return;
    }
    run->service = package->items[item].service;
    for (size_t i = 0; i < item; i++) run->export_offset += package->items[i].exports;
}

static bool run_package(struct jam_run *run, const uint8_t *hash, uint64_t gas,
                        penta_jam_result *out)
{
    bool authorize = run->context == JAM_AUTHORIZE;
    const struct jam_chain *chain = &run->host->chain;
    penta_bytes preimage, code;
    out->exit = PENTA_JAM_NO_CODE;
    out->gas_used = 0;
    if (!jam_historical_lookup(run->layer, run->service, hash, run->package->anchor_slot,
                               &preimage) ||
        !jam_code(preimage, &code))
        return true;
    out->exit = PENTA_JAM_BIG_CODE;
    if (authorize ? code.size > chain->authorizer_size : preimage.size > chain->code_size)
        return true;
    struct jam_program *program = jam_program_get(run->host, hash, code, run->err);
    if (!program) return false;
    struct writer arguments = {0};
    jam_refine_arguments(run, &arguments);
    bool ok = writer_ok(&arguments, run->err) &&
              jam_run_program(run, program, 0, writer_view(&arguments), gas, out);
    writer_free(&arguments);
    return ok;
}

static bool refine_work(struct penta_jam_host *host, struct penta_jam_state *state,
                        enum jam_context context, const penta_jam_package *given, size_t item,
                        penta_jam_result *out, penta_error *err)
{
    struct jam_work_package package;
    struct jam_run run;
    struct jam_layer layer;
    *err = (penta_error){0};
    penta_jam_result_free(out);
    jam_layer_init(&layer, &state->changes);
    jam_run_init(&run, host, context, &layer, err);
    bool ok = jam_package_read(given->encoded, &package, err);
    if (ok && context == JAM_REFINE && item >= package.item_count)
        ok = error_at(err, BASE_RANGE, 0, "the package has %zu items, none is number %zu",
                      package.item_count, item);
    if (ok) {
        bool authorize = context == JAM_AUTHORIZE;
        jam_refine_begin(&run, &package, given, item);
        ok = run_package(&run, authorize ? package.auth_code : package.items[item].code_hash,
                         authorize ? host->chain.authorize_gas : package.items[item].refine_gas,
                         out);
    }
    if (ok && out->exit == PENTA_JAM_HALT) {
        out->exports = run.exports.out;
        run.exports = (struct writer){0};
    }
    jam_package_free(&package);
    jam_run_fini(&run);
    jam_layer_fini(&layer);
    return ok;
}

bool penta_jam_is_authorized(penta_jam_host *host, penta_jam_state *state,
                             const penta_jam_package *package, penta_jam_result *out,
                             penta_error *err)
{
    if (!refine_work(host, state, JAM_AUTHORIZE, package, 0, out, err)) return false;
    if (out->exit == PENTA_JAM_HALT && out->output.size > host->chain.report_size)
        out->exit = PENTA_JAM_OVERSIZE;
    return true;
}

bool penta_jam_refine(penta_jam_host *host, penta_jam_state *state,
                      const penta_jam_package *package, size_t item, penta_jam_result *out,
                      penta_error *err)
{
    return refine_work(host, state, JAM_REFINE, package, item, out, err);
}

/* Computes the root of a tree with `leaves` leaves, which is a power of two. The leaves after
 * the last segment are zeros. */
static void segments_subroot(penta_bytes segments, size_t first, size_t leaves, uint8_t *root)
{
    size_t count = segments.size / PENTA_JAM_SEGMENT;
    uint8_t halves[2][JAM_HASH];
    if (leaves == 1) {
        penta_bytes pieces[2] = {
            bytes_of("leaf"), bytes_slice(segments, first * PENTA_JAM_SEGMENT, PENTA_JAM_SEGMENT)};
        if (first < count)
            hash_blake2b256_pieces(pieces, 2, root, NULL);
        else
            memset(root, 0, JAM_HASH);
        return;
    }
    segments_subroot(segments, first, leaves / 2, halves[0]);
    segments_subroot(segments, first + leaves / 2, leaves / 2, halves[1]);
    penta_bytes pieces[2] = {bytes_of("node"), {halves[0], sizeof halves}};
    hash_blake2b256_pieces(pieces, 2, root, NULL);
}

void penta_jam_segments_root(penta_bytes segments, uint8_t *root)
{
    size_t leaves = 1, count = segments.size / PENTA_JAM_SEGMENT;
    while (leaves < count) leaves *= 2;
    memset(root, 0, JAM_HASH);
    if (count) segments_subroot(segments, 0, leaves, root);
}
