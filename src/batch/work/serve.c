/* The worker takes requests from the coordinator, runs the verb of its program on each source,
 * and sends a line for each. The worker ends when its channel is closed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "base/options.h"
#include "batch/lines/cache.h"
#include "batch/lines/fields.h"
#include "batch/lines/record.h"
#include "batch/list/source.h"
#include "crypto/hash.h"
#include "penta/batch.h"

enum { SERVE_FLUSH = 1 << 16, SERVE_FLUSH_MICROS = 100000 };

struct serve {
    const penta_batch_worker *worker;
    struct batch_page *page;
    struct fields fields;
    const char *cache;
    uint8_t job[BATCH_DIGEST];
    penta_buffer request;
    struct writer replies, object;
    uint64_t flushed_at;
};

struct serve_item {
    const struct item_head *head;
    const char *name, *grid;
    penta_bytes bytes;
    uint8_t digest[BATCH_DIGEST];
    bool digested;
};

static uint64_t serve_micros(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static bool serve_read(void *to, size_t size)
{
    for (uint8_t *p = to; size;) {
        ssize_t n = read(BATCH_CHANNEL, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static bool serve_flush(struct serve *s)
{
    penta_bytes text = writer_view(&s->replies);
    while (text.size) {
        ssize_t n = write(BATCH_CHANNEL, text.data, text.size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text = bytes_slice(text, (size_t)n, text.size - (size_t)n);
    }
    s->replies.out.size = 0;
    s->flushed_at = serve_micros();
    return !s->replies.failed;
}

static void serve_digest(struct serve *s, struct serve_item *item, const penta_batch_input *input)
{
    penta_buffer more = {0};
    if (s->worker->also) s->worker->also(s->worker->user, input, &more);
    if (more.size) {
        penta_bytes parts[] = {item->bytes, {more.data, more.size}};
        hash_sha256_pieces(parts, 2, item->digest);
    } else {
        hash_sha256(item->bytes, item->digest);
    }
    penta_buffer_free(&more);
    item->digested = true;
    memcpy(s->page->digest, item->digest, BATCH_DIGEST);
    atomic_store(&s->page->digested, atomic_load(&s->page->current));
}

/* Writes the object that the cache keeps: all members after the digest. */
static void serve_object(struct writer *out, const struct serve_item *item,
                         const penta_batch_answer *a)
{
    struct json j = {.out = out};
    out->out.size = 0;
    json_object(&j, NULL);
    json_uint(&j, "exit", (uint64_t)a->exit);
    json_text(&j, "verdict", a->verdict);
    if (item->digested) json_uint(&j, "size", item->bytes.size);
    json_text(&j, "format", a->format);
    json_raw(&j, "findings", a->findings);
    json_raw(&j, "document", a->document);
    json_end(&j);
}

static bool serve_keepable(int exit)
{
    enum { IO = 4, LIMIT = 7, DEADLINE = 25, BUG = 70, INTERRUPTED = 130 };
    return exit != IO && exit != LIMIT && exit != DEADLINE && exit != BUG && exit != INTERRUPTED;
}

static void serve_line(struct serve *s, const struct serve_item *item)
{
    struct writer *out = &s->replies;
    struct json j = {.out = out};
    size_t start = out->out.size;
    json_object(&j, NULL);
    json_text(&j, "source", item->name);
    if (item->grid) json_text(&j, "grid", item->grid);
    if (item->digested)
        json_hex(&j, "digest", (penta_bytes){item->digest, BATCH_DIGEST});
    else
        json_null(&j, "digest");
    fields_write(&s->fields, &j, writer_view(&s->object));
    json_finish(&j);
    if (out->failed) return;
    /* The opening bracket is left out, because the coordinator puts the number before the line. */
    memmove(out->out.data + start, out->out.data + start + 1, out->out.size - start - 1);
    out->out.size--;
}

/* Fills s->object. Returns true when memory ran out. */
static bool serve_answer(struct serve *s, const struct serve_item *item,
                         const penta_batch_input *input)
{
    struct cache_key key = {s->cache, s->job, item->digest, item->name, item->grid};
    penta_batch_answer answer = {0};
    bool cached = s->cache && item->digested;
    if (cached && cache_find(&key, &s->object)) return false;
    s->worker->run(s->worker->user, input, &answer);
    serve_object(&s->object, item, &answer);
    if (cached && !answer.memory && serve_keepable(answer.exit) && !s->object.failed)
        cache_keep(&key, writer_view(&s->object));
    return answer.memory;
}

/* Runs one item and sends its reply. Returns false when memory ran out, or the coordinator has
 * ended. */
static bool serve_item_run(struct serve *s, struct serve_item *item, uint32_t index)
{
    uint64_t start = serve_micros();
    penta_batch_input input = {.name = item->name, .grid = item->grid};
    penta_buffer file = {0};
    penta_error err = {0}, problem;
    bool readable = item->head->kind == SOURCE_MEMBER;
    if (item->head->kind == SOURCE_BROKEN && item->bytes.size == sizeof problem) {
        memcpy(&problem, item->bytes.data, sizeof problem);
        input.error = &problem;
    } else if (item->head->kind == SOURCE_FILE) {
        /* A file larger than the tool reads by default is left to the verb, which has an option
         * for it. */
        readable = file_read(item->name, UINT64_C(1) << 30, &file, &err);
        item->bytes = (penta_bytes){file.data, file.size};
    }
    if (readable) {
        input.bytes = &item->bytes;
        serve_digest(s, item, &input);
    }
    size_t at = s->replies.out.size;
    struct reply_head reply = {.index = index, .kind = REPLY_LINE};
    writer_bytes(&s->replies, &reply, sizeof reply);
    bool memory = false;
    if (item->head->expects && item->digested &&
        !memcmp(item->digest, item->head->expected, BATCH_DIGEST)) {
        reply.kind = REPLY_SAME;
    } else {
        memory = serve_answer(s, item, &input);
        reply.exit = fields_exit(writer_view(&s->object));
        serve_line(s, item);
    }
    penta_buffer_free(&file);
    if (s->replies.failed || s->object.failed) return false;
    uint64_t now = serve_micros();
    reply.size = s->replies.out.size - at - sizeof reply;
    reply.micros = now - start;
    memcpy(s->replies.out.data + at, &reply, sizeof reply);
    if ((s->replies.out.size > SERVE_FLUSH || now - s->flushed_at > SERVE_FLUSH_MICROS) &&
        !serve_flush(s))
        return false;
    if (memory) serve_flush(s);
    return !memory;
}

static bool serve_request(struct serve *s, const struct request_head *request)
{
    const uint8_t *p = s->request.data, *end = p + request->size;
    for (uint32_t i = 0; i < request->count; i++) {
        struct item_head head;
        if ((size_t)(end - p) < sizeof head) return false;
        memcpy(&head, p, sizeof head);
        p += sizeof head;
        uint64_t size = (uint64_t)head.name_size + head.grid_size;
        if (!head.name_size || size > (uint64_t)(end - p) ||
            head.bytes_size > (uint64_t)(end - p) - size)
            return false;
        struct serve_item item = {.head = &head, .name = (const char *)p};
        if (head.grid_size) item.grid = (const char *)p + head.name_size;
        item.bytes = (penta_bytes){p + size, (size_t)head.bytes_size};
        p += size + head.bytes_size;
        atomic_store(&s->page->current, page_item(request->number, i));
        if (!serve_item_run(s, &item, i) || (request->eager && !serve_flush(s))) return false;
    }
    bool ok = serve_flush(s);
    atomic_store(&s->page->current, 0);
    return ok;
}

static bool serve_requests(struct serve *s)
{
    struct request_head request;
    while (serve_read(&request, sizeof request)) {
        if (request.size > s->request.capacity) {
            uint8_t *more = realloc(s->request.data, request.size);
            if (!more) return false;
            s->request.data = more;
            s->request.capacity = request.size;
        }
        if (!serve_read(s->request.data, request.size) || !serve_request(s, &request)) return false;
    }
    return true;
}

/* Limits the memory of the worker. The limit is added to what the process has now, so that
 * libraries and tables do not count. */
static void serve_limit(uint64_t bytes)
{
    penta_buffer text = {0};
    penta_error err = {0};
    uint64_t pages = 0;
    if (!bytes) return;
    if (file_read("/proc/self/statm", 4096, &text, &err) && text.size) {
        text.data[text.size - 1] = 0;
        char *p = (char *)text.data;
        for (int i = 0; i < 5; i++)
            strtoull(p, &p, 10); /* The sixth number is the size of data
                                                          * and stack. */
        pages = strtoull(p, &p, 10);
    }
    penta_buffer_free(&text);
    uint64_t most = bytes + pages * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit = {(rlim_t)most, (rlim_t)most}, old;
    if (!getrlimit(RLIMIT_DATA, &old) &&
        (old.rlim_max == RLIM_INFINITY || old.rlim_max > limit.rlim_max))
        setrlimit(RLIMIT_DATA, &limit);
}

int penta_batch_serve(const penta_batch_worker *worker, const penta_option *options, size_t count)
{
    struct serve s = {.worker = worker};
    penta_error err = {0};
    uint64_t parent = 0, memory = 0;
    const char *memory_text = option_text(options, count, "memory"),
               *job = option_text(options, count, "job"),
               *started_by = option_text(options, count, "parent");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (started_by && number_parse(started_by, &parent) && (uint64_t)getppid() != parent) return 0;
    s.page = mmap(NULL, sizeof *s.page, PROT_READ | PROT_WRITE, MAP_SHARED, BATCH_PAGE, 0);
    if (s.page == MAP_FAILED ||
        !fields_parse(option_text(options, count, "fields"), &s.fields, &err))
        return 2;
    s.cache = option_text(options, count, "cache");
    penta_bytes hex = bytes_of(job ? job : "");
    for (size_t i = 0; i < BATCH_DIGEST && hex.size == 2 * BATCH_DIGEST; i++)
        s.job[i] = (uint8_t)(hex_digit(hex.data[2 * i]) << 4 | hex_digit(hex.data[2 * i + 1]));
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (memory_text && number_parse(memory_text, &memory)) serve_limit(memory);
    bool ok = serve_requests(&s);
    writer_free(&s.replies);
    writer_free(&s.object);
    penta_buffer_free(&s.request);
    fields_free(&s.fields);
    return ok ? 0 : 2;
}
