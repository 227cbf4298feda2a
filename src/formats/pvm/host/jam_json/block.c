/* Reads a block from JSON (JAM 5.1). A block has a slot, entropy, reports and preimages. */
#include "pvm/host/jam_json/json.h"
#include <stdlib.h>
#include <string.h>

struct reading {
    struct jam_json json;
    struct jam_slices reports, blobs;
    penta_jam_preimage *preimages;
    penta_jam_block block;
};

static void read_preimages(struct reading *r, const struct json_object *list)
{
    size_t count = json_length(list);
    penta_error *err = r->json.err;
    r->preimages = calloc(count + 1, sizeof *r->preimages);
    for (size_t i = 0; i < count && !err->code; i++) {
        size_t mark = jam_json_enter(&r->json, "preimages", i);
        if (json_length(json_item(list, i)) != 2)
            error_at(err, BASE_JSON, 0, "preimages are pairs of a service and a hex string");
        jam_json_bytes(&r->json, json_item(json_item(list, i), 1), "a preimage", JAM_ANY_SIZE,
                       &r->blobs.bytes);
        jam_slices_end(&r->json, &r->blobs);
        jam_json_leave(&r->json, mark);
    }
    if (!jam_slices_done(&r->json, &r->blobs)) return;
    for (size_t i = 0; i < count && r->preimages; i++) {
        uint64_t id = 0;
        if (!json_as_uint(json_item(json_item(list, i), 0), &id) || id > UINT32_MAX)
            error_at(err, BASE_JSON, 0, "preimages are pairs of a service and a hex string");
        r->preimages[i] = (penta_jam_preimage){(uint32_t)id, r->blobs.list[i]};
    }
    if (!r->preimages) error_at(err, BASE_MEMORY, 0, "no memory for a block");
    r->block.preimages = r->preimages;
    r->block.preimage_count = count;
}

static void read_block(struct reading *r, const struct json_object *root)
{
    struct writer entropy = {0};
    const struct json_object *reports = jam_json_list(&r->json, root, "reports");
    if (!json_is_object(root)) error_at(r->json.err, BASE_JSON, 0, "a block is a JSON object");
    r->block.slot = (uint32_t)jam_json_uint(&r->json, root, "slot", 32);
    jam_json_hash(&r->json, root, "entropy", &entropy);
    if (!r->json.err->code) memcpy(r->block.entropy, entropy.out.data, JAM_HASH);
    writer_free(&entropy);
    for (size_t i = 0; i < json_length(reports) && !r->json.err->code; i++) {
        size_t mark = jam_json_enter(&r->json, "reports", i);
        jam_json_report(&r->json, json_item(reports, i), &r->reports.bytes);
        jam_slices_end(&r->json, &r->reports);
        jam_json_leave(&r->json, mark);
    }
    if (!jam_slices_done(&r->json, &r->reports)) return;
    r->block.reports = r->reports.list;
    r->block.report_count = r->reports.count;
    read_preimages(r, jam_json_list(&r->json, root, "preimages"));
}

bool penta_jam_block_json(penta_jam_host *host, penta_jam_state *state, penta_bytes json,
                          const char *folder, penta_jam_outcome *out, penta_error *err)
{
    struct reading r = {.json = {.folder = folder, .err = err}};
    *err = (penta_error){0};
    struct json_doc *doc = json_parse(json, err);
    if (doc) read_block(&r, json_root(doc));
    jam_json_done(&r.json);
    json_doc_free(doc);
    bool ok = !err->code && penta_jam_block_run(host, state, &r.block, out, err);
    jam_slices_free(&r.reports);
    jam_slices_free(&r.blobs);
    free(r.preimages);
    return ok;
}
