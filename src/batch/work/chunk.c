/* Collects sources into requests for workers. The request is encoded when a source is found, so
 * that it can be sent again after a worker has ended. */
#include "batch/work/chunk.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "batch/lines/fields.h"

struct chunk *chunk_new(penta_error *err)
{
    return zeros_new(sizeof(struct chunk), "sources", err);
}

void chunk_finish(struct chunk *c)
{
    free(c->items);
    c->items = NULL;
    writer_free(&c->request);
}

void chunk_free(struct chunk *c)
{
    if (!c) return;
    chunk_finish(c);
    writer_free(&c->lines);
    writer_free(&c->times);
    free(c);
}

bool chunk_add(struct chunk *c, uint64_t n, const struct source *s, const char *grid,
               const struct earlier_line *earlier, penta_error *err)
{
    penta_bytes bytes = s->kind == SOURCE_BROKEN
                            ? (penta_bytes){(const uint8_t *)&s->error, sizeof s->error}
                            : s->bytes;
    struct item_head head = {.kind = s->kind,
                             .name_size = (uint32_t)strlen(s->name) + 1,
                             .grid_size = grid ? (uint32_t)strlen(grid) + 1 : 0,
                             .bytes_size = bytes.size};
    if (!ARRAY_GROW(c->items, c->capacity, c->count, err)) return false;
    struct chunk_item *item = &c->items[c->count++];
    *item = (struct chunk_item){.n = n, .at = c->request.out.size};
    if (earlier) {
        item->earlier = *earlier;
        head.expects = 1;
        memcpy(head.expected, earlier->digest, BATCH_DIGEST);
    }
    writer_bytes(&c->request, &head, sizeof head);
    writer_bytes(&c->request, s->name, head.name_size);
    if (grid) writer_bytes(&c->request, grid, head.grid_size);
    writer_bytes(&c->request, bytes.data, bytes.size);
    return writer_ok(&c->request, err);
}

static size_t chunk_item_end(const struct chunk *c, size_t i)
{
    return i < c->count ? c->items[i].at : c->request.out.size;
}

bool chunk_send(struct chunk *c, uint32_t number, struct writer *out, penta_error *err)
{
    size_t end = c->done;
    bool eager = false;
    for (; end < c->count && !c->items[end].condemned; end++) eager |= c->items[end].deaths > 0;
    size_t from = chunk_item_end(c, c->done), to = chunk_item_end(c, end);
    struct request_head head = {
        .count = (uint32_t)(end - c->done), .number = number, .size = to - from, .eager = eager};
    c->first = c->done;
    c->sent = end - c->done;
    c->number = number;
    writer_bytes(out, &head, sizeof head);
    writer_bytes(out, c->request.out.data + from, to - from);
    return writer_ok(out, err);
}

static void chunk_number(struct writer *lines, uint64_t n)
{
    writer_text(lines, "{\"n\":");
    writer_dec(lines, n);
    writer_char(lines, ',');
}

bool chunk_reply(struct chunk *c, const struct reply_head *reply, penta_bytes rest, int *exit)
{
    if (c->first + reply->index != c->done || reply->index >= c->sent) return false;
    const struct chunk_item *item = &c->items[c->done];
    size_t start = c->lines.out.size;
    if (reply->kind == REPLY_SAME) rest = item->earlier.rest;
    if (!rest.size || rest.data[rest.size - 1] != '\n') return false;
    chunk_number(&c->lines, item->n);
    writer_bytes(&c->lines, rest.data, rest.size);
    if (reply->kind != REPLY_SAME) {
        writer_dec(&c->times, item->n);
        writer_char(&c->times, '\t');
        writer_dec(&c->times, reply->micros);
        writer_char(&c->times, '\n');
    }
    if (c->lines.failed || c->times.failed) return false;
    *exit = (int)reply->exit;
    if (reply->kind == REPLY_SAME)
        *exit = (int)fields_exit(
            bytes_slice(writer_view(&c->lines), start, c->lines.out.size - start - 1));
    c->micros += reply->micros;
    c->done++;
    return true;
}

void chunk_condemned(struct chunk *c, void (*ended)(void *user, int exit), void *user)
{
    for (; c->done < c->count && c->items[c->done].condemned; c->done++) {
        const struct chunk_item *item = &c->items[c->done];
        struct item_head head;
        memcpy(&head, c->request.out.data + item->at, sizeof head);
        const char *name = (const char *)c->request.out.data + item->at + sizeof head;
        record_failure(&c->lines, item->n, name, head.grid_size ? name + head.name_size : NULL,
                       item->digested ? item->digest : NULL, item->signal);
        ended(user, item->signal ? RECORD_SIGNAL + item->signal : RECORD_DEADLINE);
    }
}
