/* Reads and writes work packages, work reports and the items of accumulate (JAM 7.1, JAM 10).
 * Structs point into the bytes from which they were read. */
#include "pvm/host/jam/codec.h"
#include "base/bytes.h"
#include <stdlib.h>

enum { HASH = 32, MOST_ITEMS = 1 << 16 };

void jam_put_nat(struct writer *w, uint64_t x)
{
    unsigned more = 0; /* how many bytes follow the first one */
    while (more < 8 && x >> (7 * more + 7)) more++;
    if (more == 8) {
        writer_uint(w, 0xff, 1);
        writer_uint(w, x, 8);
        return;
    }
    writer_uint(w, 256 - (1u << (8 - more)) + (x >> 8 * more), 1);
    writer_uint(w, more ? x & ((UINT64_C(1) << 8 * more) - 1) : 0, more);
}

void jam_put_var(struct writer *w, penta_bytes bytes)
{
    jam_put_nat(w, bytes.size);
    writer_bytes(w, bytes.data, bytes.size);
}

uint64_t jam_take_nat(struct reader *r)
{
    unsigned first = (unsigned)reader_uint(r, 1), more = 0;
    while (more < 8 && first & 0x80u >> more) more++;
    uint64_t low = reader_uint(r, more);
    return more == 8 ? low : low | (uint64_t)(first & (0x7fu >> more)) << 8 * more;
}

penta_bytes jam_take_var(struct reader *r)
{
    size_t size = reader_count(r, jam_take_nat(r), 1);
    const uint8_t *data = reader_take(r, size);
    return (penta_bytes){data, data ? size : 0};
}

penta_bytes jam_take_list(struct reader *r, size_t item, size_t *count)
{
    *count = reader_count(r, jam_take_nat(r), item);
    const uint8_t *data = reader_take(r, *count * item);
    return (penta_bytes){data, data ? *count * item : 0};
}

/* Takes the bytes of an encoded work result. */
static penta_bytes take_result(struct reader *r)
{
    size_t start = r->pos;
    uint64_t kind = reader_uint(r, 1);
    if (!kind) jam_take_var(r);
    if (kind > 6)
        error_at(r->err, BASE_RANGE, r->origin + start, "no work result has the number %u",
                 (unsigned)kind);
    return r->err->code ? (penta_bytes){0} : bytes_slice(r->in, start, r->pos - start);
}

static bool take_digest(struct reader *r, struct jam_digest *d)
{
    d->service = (uint32_t)reader_uint(r, 4);
    reader_take(r, HASH);
    d->payload_hash = reader_take(r, HASH);
    d->gas = reader_uint(r, 8);
    d->result = take_result(r);
    for (unsigned i = 0; i < 5; i++) jam_take_nat(r);
    return !r->err->code;
}

static penta_bytes take_context(struct reader *r, const uint8_t **prerequisites, size_t *count)
{
    size_t start = r->pos;
    reader_take(r, 4 * HASH + 4);
    *prerequisites = jam_take_list(r, HASH, count).data;
    return r->err->code ? (penta_bytes){0} : bytes_slice(r->in, start, r->pos - start);
}

bool jam_take_report(struct reader *r, struct jam_report *out)
{
    size_t start = r->pos;
    *out = (struct jam_report){0};
    out->package = reader_take(r, HASH);
    reader_take(r, 4 + HASH);
    out->exports_root = reader_take(r, HASH);
    reader_take(r, 2);
    take_context(r, &out->prerequisites, &out->prerequisite_count);
    jam_take_nat(r);
    out->authorizer = reader_take(r, HASH);
    jam_take_nat(r);
    out->trace = jam_take_var(r);
    out->lookups = jam_take_list(r, 2 * HASH, &out->lookup_count).data;
    out->digest_count = reader_count(r, jam_take_nat(r), 82);
    if (r->err->code) return false;
    out->digests = calloc(out->digest_count + 1, sizeof *out->digests);
    if (!out->digests) return error_at(r->err, BASE_MEMORY, 0, "no memory for a work report");
    for (size_t i = 0; i < out->digest_count; i++)
        if (!take_digest(r, &out->digests[i])) return false;
    out->encoded = bytes_slice(r->in, start, r->pos - start);
    return true;
}

void jam_report_free(struct jam_report *report)
{
    free(report->digests);
    report->digests = NULL;
}

uint64_t jam_report_gas(const struct jam_report *report)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < report->digest_count; i++)
        if (__builtin_add_overflow(sum, report->digests[i].gas, &sum)) return UINT64_MAX;
    return sum;
}

static bool take_item(struct reader *r, struct jam_work_item *item)
{
    item->service = (uint32_t)reader_uint(r, 4);
    item->code_hash = reader_take(r, HASH);
    item->refine_gas = reader_uint(r, 8);
    item->accumulate_gas = reader_uint(r, 8);
    item->exports = (uint16_t)reader_uint(r, 2);
    item->payload = jam_take_var(r);
    jam_take_list(r, HASH + 2, &item->import_count);
    item->extrinsics = jam_take_list(r, HASH + 4, &item->extrinsic_count).data;
    return !r->err->code;
}

bool jam_package_read(penta_bytes bytes, struct jam_work_package *out, penta_error *err)
{
    struct reader r = {.in = bytes, .err = err};
    const uint8_t *prerequisites;
    size_t count;
    *out = (struct jam_work_package){.encoded = bytes};
    out->auth_service = (uint32_t)reader_uint(&r, 4);
    out->auth_code = reader_take(&r, HASH);
    out->context = take_context(&r, &prerequisites, &count);
    out->anchor_slot = err->code ? 0 : bytes_get32(out->context.data + 4 * HASH);
    out->token = jam_take_var(&r);
    out->config = jam_take_var(&r);
    out->item_count = reader_count(&r, jam_take_nat(&r), 57);
    if (out->item_count > MOST_ITEMS) error_at(err, BASE_RANGE, 0, "too many work items");
    if (err->code) return false;
    out->items = calloc(out->item_count + 1, sizeof *out->items);
    if (!out->items) return error_at(err, BASE_MEMORY, 0, "no memory for a work package");
    for (size_t i = 0; i < out->item_count; i++)
        if (!take_item(&r, &out->items[i])) return false;
    if (r.pos == bytes.size) return true;
    return error_at(err, BASE_RANGE, r.pos, "%zu bytes after the work package", bytes.size - r.pos);
}

void jam_package_free(struct jam_work_package *package)
{
    free(package->items);
    package->items = NULL;
}

void jam_put_summary(struct writer *w, const struct jam_work_item *item)
{
    writer_uint(w, item->service, 4);
    writer_bytes(w, item->code_hash, HASH);
    writer_uint(w, item->refine_gas, 8);
    writer_uint(w, item->accumulate_gas, 8);
    writer_uint(w, item->exports, 2);
    writer_uint(w, item->import_count, 2);
    writer_uint(w, item->extrinsic_count, 2);
    writer_uint(w, item->payload.size, 4);
}

void jam_put_operand(struct writer *w, const struct jam_report *report,
                     const struct jam_digest *digest, bool tagged)
{
    if (tagged) writer_uint(w, 0, 1);
    writer_bytes(w, report->package, HASH);
    writer_bytes(w, report->exports_root, HASH);
    writer_bytes(w, report->authorizer, HASH);
    writer_bytes(w, digest->payload_hash, HASH);
    jam_put_nat(w, digest->gas);
    writer_bytes(w, digest->result.data, digest->result.size);
    jam_put_var(w, report->trace);
}

void jam_put_transfer(struct writer *w, const struct jam_transfer *t)
{
    writer_uint(w, t->from, 4);
    writer_uint(w, t->to, 4);
    writer_uint(w, t->amount, 8);
    writer_bytes(w, t->memo, sizeof t->memo);
    writer_uint(w, t->gas, 8);
}
