/* Has the ready queue and the sorted lists of hashes (queue.h). */
#include "pvm/host/jam/queue.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

void jam_hashes_add(struct jam_hashes *h, const uint8_t *hash)
{
    if (!ARRAY_RESERVE(h->list, h->capacity, h->count + 1)) {
        h->failed = true;
        return;
    }
    memcpy(h->list[h->count++], hash, JAM_HASH);
}

static int hashes_by_bytes(const void *a, const void *b) { return memcmp(a, b, JAM_HASH); }

void jam_hashes_sort(struct jam_hashes *h)
{
    if (h->count) qsort(h->list, h->count, sizeof *h->list, hashes_by_bytes);
}

static bool hashes_has(const struct jam_hashes *h, const uint8_t *hash)
{
    return h->count && bsearch(hash, h->list, h->count, sizeof *h->list, hashes_by_bytes);
}

void jam_hashes_free(struct jam_hashes *h)
{
    free(h->list);
    *h = (struct jam_hashes){0};
}

static struct jam_waiting *queue_append(struct jam_queue *q, size_t needs)
{
    if (!ARRAY_RESERVE(q->list, q->capacity, q->count + 1)) return NULL;
    struct jam_waiting *w = &q->list[q->count];
    *w = (struct jam_waiting){.needs = malloc((needs + 1) * sizeof *w->needs)};
    if (!w->needs) return NULL;
    q->count++;
    return w;
}

static void queue_need(struct jam_waiting *w, const uint8_t *hash)
{
    for (size_t i = 0; i < w->need_count; i++)
        if (!memcmp(w->needs[i], hash, JAM_HASH)) return;
    memcpy(w->needs[w->need_count++], hash, JAM_HASH);
}

bool jam_queue_read(struct jam_queue *q, penta_bytes bytes, size_t slots)
{
    struct reader r = {.in = bytes, .err = q->err};
    for (size_t slot = 0; slot < slots && bytes.size; slot++) {
        size_t count = reader_count(&r, jam_take_nat(&r), 1);
        for (size_t i = 0; i < count && !q->err->code; i++) {
            struct jam_report report;
            size_t needs = 0;
            bool ok = jam_take_report(&r, &report);
            penta_bytes hashes = ok ? jam_take_list(&r, JAM_HASH, &needs) : (penta_bytes){0};
            struct jam_waiting *w = q->err->code ? NULL : queue_append(q, needs);
            if (!w) {
                jam_report_free(&report);
                return error_at(q->err, BASE_MEMORY, 0, "no memory for the ready queue");
            }
            w->report = report;
            w->place = (uint32_t)slot;
            for (size_t k = 0; k < needs; k++) queue_need(w, hashes.data + k * JAM_HASH);
        }
    }
    if (!q->err->code && reader_left(&r))
        error_at(q->err, BASE_RANGE, r.pos, "bytes after the ready queue");
    return !q->err->code;
}

bool jam_queue_add(struct jam_queue *q, struct jam_report *report)
{
    struct jam_waiting *w = queue_append(q, report->prerequisite_count + report->lookup_count);
    if (!w) return error_at(q->err, BASE_MEMORY, 0, "no memory for the ready queue");
    w->report = *report;
    w->place = UINT32_MAX;
    *report = (struct jam_report){0};
    for (size_t i = 0; i < w->report.prerequisite_count; i++)
        queue_need(w, w->report.prerequisites + i * JAM_HASH);
    for (size_t i = 0; i < w->report.lookup_count; i++)
        queue_need(w, w->report.lookups + 2 * i * JAM_HASH);
    return true;
}

void jam_queue_edit(struct jam_queue *q, size_t first, const struct jam_hashes *done)
{
    if (!done->count) return;
    for (size_t i = first; i < q->count; i++) {
        struct jam_waiting *w = &q->list[i];
        size_t kept = 0;
        if (w->gone) continue;
        if (hashes_has(done, w->report.package)) w->gone = true;
        for (size_t k = 0; k < w->need_count; k++)
            if (!hashes_has(done, w->needs[k])) memmove(w->needs[kept++], w->needs[k], JAM_HASH);
        w->need_count = kept;
    }
}

void jam_queue_write(const struct jam_queue *q, size_t slots, struct writer *out)
{
    for (size_t slot = 0; slot < slots; slot++) {
        size_t count = 0;
        for (size_t i = 0; i < q->count; i++) count += !q->list[i].gone && q->list[i].place == slot;
        jam_put_nat(out, count);
        for (size_t i = 0; count && i < q->count; i++) {
            const struct jam_waiting *w = &q->list[i];
            if (w->gone || w->place != slot) continue;
            writer_bytes(out, w->report.encoded.data, w->report.encoded.size);
            jam_put_nat(out, w->need_count);
            writer_bytes(out, w->needs, w->need_count * JAM_HASH);
        }
    }
}

void jam_queue_free(struct jam_queue *q)
{
    for (size_t i = 0; i < q->count; i++) {
        jam_report_free(&q->list[i].report);
        free(q->list[i].needs);
    }
    free(q->list);
    *q = (struct jam_queue){.err = q->err};
}
