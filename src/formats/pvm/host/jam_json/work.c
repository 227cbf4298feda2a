/* Reads and writes work packages, work reports and the items of accumulate as JSON. The names of
 * members are those of jam-types. */
#include "base/bytes.h"
#include "pvm/host/jam_json/json.h"
#include <string.h>

/* Takes a hex string, which is an encoding already. Returns false for other values. */
static bool work_encoded(struct jam_json *j, const struct json_object *v, const char *what,
                         struct writer *out)
{
    if (json_is_text(v))
        jam_json_bytes(j, v, what, JAM_ANY_SIZE, out);
    else if (!json_is_object(v))
        error_at(j->err, BASE_JSON, 0, "%s is not an object or hex", what);
    return json_is_text(v) || j->err->code;
}

/* Writes the bytes of a member, after their length. A missing member has no bytes. */
static void work_var(struct jam_json *j, const struct json_object *v, const char *key,
                     struct writer *out)
{
    struct writer bytes = {0};
    const struct json_object *member = json_get(v, key);
    if (member) jam_json_bytes(j, member, key, JAM_ANY_SIZE, &bytes);
    jam_put_var(out, writer_view(&bytes));
    writer_free(&bytes);
}

static void work_context(struct jam_json *j, const struct json_object *v, struct writer *out)
{
    static const char *const hashes[] = {"anchor", "state_root", "beefy_root", "lookup_anchor"};
    const struct json_object *list = jam_json_list(j, v, "prerequisites");
    for (unsigned i = 0; i < 4; i++) jam_json_hash(j, v, hashes[i], out);
    writer_uint(out, jam_json_uint(j, v, "lookup_anchor_slot", 32), 4);
    jam_put_nat(out, json_length(list));
    for (size_t i = 0; i < json_length(list); i++)
        jam_json_bytes(j, json_item(list, i), "prerequisites", JAM_HASH, out);
}

static const struct {
    const char *name;
    uint8_t number;
} results[] = {{"ok", 0},       {"out_of_gas", 1},      {"panic", 2},    {"bad_exports", 3},
               {"oversize", 4}, {"output_oversize", 4}, {"bad_code", 5}, {"code_oversize", 6}};

static void work_result(struct jam_json *j, const struct json_object *v, struct writer *out)
{
    for (unsigned i = 0; i < sizeof results / sizeof *results; i++) {
        const char *text = json_as_text(v);
        bool named = text ? !strcmp(text, results[i].name) : json_has(v, results[i].name);
        if (!named) continue;
        writer_uint(out, results[i].number, 1);
        if (!results[i].number) work_var(j, v, "ok", out);
        return;
    }
    error_at(j->err, BASE_JSON, 0,
             "result is none of ok, out_of_gas, panic, bad_exports, "
             "oversize, bad_code, code_oversize");
}

static void work_digest(struct jam_json *j, const struct json_object *v, struct writer *out)
{
    static const char *const loads[] = {"gas_used", "imports", "extrinsic_count", "extrinsic_size",
                                        "exports"};
    const struct json_object *load = jam_json_object(j, v, "refine_load");
    writer_uint(out, jam_json_uint(j, v, "service_id", 32), 4);
    jam_json_hash(j, v, "code_hash", out);
    jam_json_hash(j, v, "payload_hash", out);
    writer_uint(out, jam_json_uint(j, v, "accumulate_gas", 64), 8);
    work_result(j, json_get(v, "result"), out);
    for (unsigned i = 0; i < 5; i++) jam_put_nat(out, jam_json_uint_or(j, load, loads[i], 64, 0));
}

void jam_json_report(struct jam_json *j, const struct json_object *v, struct writer *out)
{
    if (work_encoded(j, v, "a report", out)) return;
    const struct json_object *spec = jam_json_object(j, v, "package_spec");
    const struct json_object *lookups = jam_json_list(j, v, "segment_root_lookup");
    const struct json_object *digests = jam_json_list(j, v, "results");
    jam_json_hash(j, spec, "hash", out);
    writer_uint(out, jam_json_uint(j, spec, "length", 32), 4);
    jam_json_hash(j, spec, "erasure_root", out);
    jam_json_hash(j, spec, "exports_root", out);
    writer_uint(out, jam_json_uint(j, spec, "exports_count", 16), 2);
    work_context(j, jam_json_object(j, v, "context"), out);
    jam_put_nat(out, jam_json_uint(j, v, "core_index", 16));
    jam_json_hash(j, v, "authorizer_hash", out);
    jam_put_nat(out, jam_json_uint_or(j, v, "auth_gas_used", 64, 0));
    work_var(j, v, "auth_output", out);
    jam_put_nat(out, json_length(lookups));
    for (size_t i = 0; i < json_length(lookups); i++) {
        jam_json_hash(j, json_item(lookups, i), "work_package_hash", out);
        jam_json_hash(j, json_item(lookups, i), "segment_tree_root", out);
    }
    jam_put_nat(out, json_length(digests));
    for (size_t i = 0; i < json_length(digests) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, "results", i);
        work_digest(j, json_item(digests, i), out);
        jam_json_leave(j, mark);
    }
}

static void work_item(struct jam_json *j, const struct json_object *v, struct writer *out)
{
    const struct json_object *imports = jam_json_list(j, v, "import_segments");
    const struct json_object *extrinsics = jam_json_list(j, v, "extrinsic");
    writer_uint(out, jam_json_uint(j, v, "service", 32), 4);
    jam_json_hash(j, v, "code_hash", out);
    writer_uint(out, jam_json_uint(j, v, "refine_gas_limit", 64), 8);
    writer_uint(out, jam_json_uint(j, v, "accumulate_gas_limit", 64), 8);
    writer_uint(out, jam_json_uint_or(j, v, "export_count", 16, 0), 2);
    work_var(j, v, "payload", out);
    jam_put_nat(out, json_length(imports));
    for (size_t i = 0; i < json_length(imports); i++) {
        jam_json_hash(j, json_item(imports, i), "tree_root", out);
        writer_uint(out, jam_json_uint(j, json_item(imports, i), "index", 16), 2);
    }
    jam_put_nat(out, json_length(extrinsics));
    for (size_t i = 0; i < json_length(extrinsics); i++) {
        jam_json_hash(j, json_item(extrinsics, i), "hash", out);
        writer_uint(out, jam_json_uint(j, json_item(extrinsics, i), "len", 32), 4);
    }
}

void jam_json_package(struct jam_json *j, const struct json_object *v, struct writer *out)
{
    if (work_encoded(j, v, "a package", out)) return;
    const struct json_object *items = jam_json_list(j, v, "items");
    writer_uint(out, jam_json_uint(j, v, "auth_code_host", 32), 4);
    jam_json_hash(j, v, "auth_code_hash", out);
    work_context(j, jam_json_object(j, v, "context"), out);
    work_var(j, v, "authorization", out);
    work_var(j, v, "authorizer_config", out);
    jam_put_nat(out, json_length(items));
    for (size_t i = 0; i < json_length(items) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, "items", i);
        work_item(j, json_item(items, i), out);
        jam_json_leave(j, mark);
    }
}

static void work_transfer(struct jam_json *j, const struct json_object *v, bool tagged,
                          struct writer *out)
{
    struct writer memo = {0};
    if (json_get(v, "memo")) jam_json_bytes(j, json_get(v, "memo"), "memo", JAM_ANY_SIZE, &memo);
    if (memo.out.size > PENTA_JAM_MEMO) error_at(j->err, BASE_JSON, 0, "memo has over 128 bytes");
    if (tagged) writer_uint(out, 1, 1);
    writer_uint(out, jam_json_uint(j, v, "from", 32), 4);
    writer_uint(out, jam_json_uint(j, v, "to", 32), 4);
    writer_uint(out, jam_json_uint(j, v, "amount", 64), 8);
    if (!j->err->code) {
        writer_append(out, &memo);
        writer_fill(out, 0, PENTA_JAM_MEMO - memo.out.size);
    }
    writer_uint(out, jam_json_uint_or(j, v, "gas", 64, 0), 8);
    writer_free(&memo);
}

static void hash_or_zeros(struct jam_json *j, const struct json_object *v, const char *key,
                          struct writer *out)
{
    if (json_get(v, key))
        jam_json_hash(j, v, key, out);
    else
        writer_fill(out, 0, JAM_HASH);
}

void jam_json_item(struct jam_json *j, const struct json_object *v,
                   const struct penta_jam_host *host, struct writer *out)
{
    bool tagged = !host->version->on_transfer;
    static const char *const hashes[] = {"package_hash", "exports_root", "authorizer_hash",
                                         "payload_hash"};
    if (work_encoded(j, v, "an item", out)) return;
    if (json_has(v, "amount")) {
        work_transfer(j, v, tagged, out);
        return;
    }
    if (tagged) writer_uint(out, 0, 1);
    for (unsigned i = 0; i < 4; i++) hash_or_zeros(j, v, hashes[i], out);
    jam_put_nat(out, jam_json_uint_or(j, v, "gas", 64, 0));
    work_result(j, json_get(v, "result"), out);
    work_var(j, v, "auth_output", out);
}
