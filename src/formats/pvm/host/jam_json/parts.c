/* Reads and writes privileges, the ready queue and the accumulated hashes as JSON. */
#include "base/bytes.h"
#include "base/number.h"
#include "pvm/host/jam_json/json.h"
#include <stdlib.h>
#include <string.h>

static bool parts_encoded(struct jam_json *j, const struct json_object *v, const char *what,
                          struct writer *out)
{
    if (json_is_text(v)) jam_json_bytes(j, v, what, JAM_ANY_SIZE, out);
    return json_is_text(v);
}

void jam_json_privileges(struct jam_json *j, const struct json_object *v,
                         const struct penta_jam_host *host, struct writer *out)
{
    if (parts_encoded(j, v, "privileges", out)) return;
    if (!json_is_object(v)) error_at(j->err, BASE_JSON, 0, "privileges is not an object or hex");
    const struct json_object *assign = jam_json_list(j, v, "assign");
    const struct json_object *always = jam_json_list(j, v, "always_acc");
    uint64_t cores = host->chain.cores;
    if (assign && json_length(assign) != cores)
        error_at(j->err, BASE_JSON, 0, "assign has %zu services for %llu cores",
                 json_length(assign), (unsigned long long)cores);
    writer_uint(out, jam_json_uint_or(j, v, "bless", 32, 0), 4);
    for (size_t i = 0; i < cores && !j->err->code; i++) {
        uint64_t id = 0;
        if (assign && (!json_as_uint(json_item(assign, i), &id) || id > UINT32_MAX))
            error_at(j->err, BASE_JSON, 0, "assign holds something else than a service");
        writer_uint(out, id, 4);
    }
    writer_uint(out, jam_json_uint_or(j, v, "designate", 32, 0), 4);
    if (host->version->registrar) writer_uint(out, jam_json_uint_or(j, v, "register", 32, 0), 4);
    jam_put_nat(out, json_length(always));
    for (size_t i = 0; i < json_length(always) && !j->err->code; i++) {
        writer_uint(out, jam_json_uint(j, json_item(always, i), "id", 32), 4);
        writer_uint(out, jam_json_uint(j, json_item(always, i), "gas", 64), 8);
    }
}

static bool per_slot(struct jam_json *j, const struct json_object *v, const char *what,
                     uint64_t slots)
{
    if (!json_is_list(v)) return error_at(j->err, BASE_JSON, 0, "%s is not a list", what);
    if (json_length(v) == slots) return true;
    return error_at(j->err, BASE_JSON, 0, "%s has %zu lists, an epoch has %llu slots", what,
                    json_length(v), (unsigned long long)slots);
}

static void parts_hashes(struct jam_json *j, const struct json_object *list, const char *what,
                         struct writer *out)
{
    if (!json_is_list(list))
        error_at(j->err, BASE_JSON, 0, "%s holds something else than lists", what);
    jam_put_nat(out, json_length(list));
    for (size_t i = 0; i < json_length(list); i++)
        jam_json_bytes(j, json_item(list, i), what, JAM_HASH, out);
}

void jam_json_ready(struct jam_json *j, const struct json_object *v, uint64_t slots,
                    struct writer *out)
{
    if (parts_encoded(j, v, "ready", out) || !per_slot(j, v, "ready", slots)) return;
    for (size_t i = 0; i < slots; i++) {
        const struct json_object *list = json_item(v, i);
        size_t mark = jam_json_enter(j, "ready", i);
        if (!json_is_list(list))
            error_at(j->err, BASE_JSON, 0, "ready holds something else than lists");
        jam_put_nat(out, json_length(list));
        for (size_t k = 0; k < json_length(list) && !j->err->code; k++) {
            size_t inner = jam_json_enter(j, "", k);
            jam_json_report(j, json_get(json_item(list, k), "report"), out);
            parts_hashes(j, json_get(json_item(list, k), "dependencies"), "dependencies", out);
            jam_json_leave(j, inner);
        }
        jam_json_leave(j, mark);
    }
}

void jam_json_accumulated(struct jam_json *j, const struct json_object *v, uint64_t slots,
                          struct writer *out)
{
    if (parts_encoded(j, v, "accumulated", out) || !per_slot(j, v, "accumulated", slots)) return;
    for (size_t i = 0; i < slots; i++) {
        size_t mark = jam_json_enter(j, "accumulated", i);
        parts_hashes(j, json_item(v, i), "accumulated", out);
        jam_json_leave(j, mark);
    }
}
