/* The coordinator is one loop that gives chunks of sources to workers, takes their lines, and
 * writes them in the order of the sources. When a worker ends, its chunks go to another one. A
 * source at which workers end again and again is condemned: it is not tried again. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "batch/work/chunk.h"
#include "batch/lines/fields.h"
#include "batch/lines/job.h"
#include "batch/list/shard.h"

enum {
    CHUNK_BYTES = 1 << 18, /* the most bytes of archive members in one request */
    CHUNK_SHORT = 4000,    /* Chunks that take fewer microseconds than CHUNK_SHORT grow; chunks
                            * that take more than CHUNK_LONG are cut. */
    CHUNK_LONG = 40000,
    WAIT_BYTES = 16 << 20, /* the most bytes of lines that wait in memory for their turn */
    WAIT_MICROS = 1000000, /* how long lines may wait in memory */
    TICK_MICROS = 100000,
    DEATHS_CRASH = 2,  /* A source is condemned after it has ended this many workers. */
    DEATHS_KILLED = 4, /* The limit when somebody else may have killed the workers. */
    DEATHS_IDLE = 8,   /* The run fails when this many workers in a row end without a reply. */
    JOBS_MAX = 1024,
    MEMBER_BYTES = 1 << 30, /* size of the largest member of an archive that is read */
};

struct penta_batch_pool {
    penta_batch_job job;
    char program[PATH_MAX];
    char **arguments; /* the arguments with which workers start */
    size_t argument_count, argument_capacity;
    uint8_t digest[BATCH_DIGEST];
    struct grid grid;
    struct writer grid_words; /* the combination of grid values of the item that is being added */
    struct process *processes;
    size_t process_count;
    uint32_t requests;
    unsigned idle_deaths;

    /* The members below belong to one run. */
    struct sources *sources;
    struct results *results;
    penta_buffer *lines_to; /* gets the lines instead of `results`, unless it is NULL */
    struct source source;   /* the source whose combinations are being added */
    uint64_t combination;   /* the next combination; past the last one, a new source is needed */
    bool listed;            /* The list has no more sources. */
    bool stopping;
    struct chunk *head, *tail, *redo; /* head and tail: the chunks in order; redo: chunks that no
                                       * worker has */
    size_t chunk_items;
    uint64_t waiting_bytes, next_tick;
    penta_batch_totals *totals;
};

static uint64_t run_micros(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Finds the next source and combination. Returns false at the end, or with an error. */
static bool run_next_source(penta_batch_pool *b, uint64_t *n, penta_error *err)
{
    if (b->combination == b->grid.combinations) {
        if (!sources_next(b->sources, &b->source, err)) return false;
        b->combination = 0;
    }
    *n = b->source.position * b->grid.combinations + b->combination;
    return !b->grid.count || grid_text(&b->grid, b->combination, &b->grid_words, err);
}

static bool run_earlier(penta_batch_pool *b, const char *grid, struct earlier_line *out)
{
    struct writer key = {0};
    if (!b->results || !results_has_earlier(b->results)) return false;
    json_quote(&key, b->source.name);
    if (grid) writer_text(&key, ",\"grid\":");
    if (grid) json_quote(&key, grid);
    bool found = !key.failed && results_earlier(b->results, writer_view(&key), out);
    writer_free(&key);
    return found;
}

static bool run_add_source(penta_batch_pool *b, struct chunk *c, uint64_t n, penta_error *err)
{
    struct earlier_line earlier;
    const char *grid = b->grid.count ? (const char *)b->grid_words.out.data : NULL;
    bool known = run_earlier(b, grid, &earlier);
    b->combination++;
    return chunk_add(c, n, &b->source, grid, known ? &earlier : NULL, err);
}

/* Makes the next chunk in order. Returns NULL when there are no more sources, or with an error. */
static struct chunk *run_next_chunk(penta_batch_pool *b, penta_error *err)
{
    if (b->listed || b->stopping) return NULL;
    struct chunk *c = chunk_new(err);
    if (!c) return NULL;
    while (c->count < b->chunk_items && c->request.out.size < CHUNK_BYTES) {
        uint64_t n;
        if (!run_next_source(b, &n, err)) {
            b->listed = true;
            break;
        }
        if (!run_add_source(b, c, n, err)) break;
    }
    b->totals->listed = sources_seen(b->sources) * b->grid.combinations;
    if (err->code || !c->count) {
        chunk_free(c);
        return NULL;
    }
    if (b->tail)
        b->tail->next = c;
    else
        b->head = c;
    b->tail = c;
    return c;
}

static void run_count(void *user, int exit)
{
    penta_batch_totals *t = user;
    t->done++;
    t->exits[exit & 255]++;
    if (exit > t->exit_max) t->exit_max = exit;
}

static bool run_put(penta_batch_pool *b, penta_bytes lines, penta_bytes times, penta_error *err)
{
    if (b->results) return results_lines(b->results, lines, times, err);
    struct writer w = {.out = *b->lines_to};
    writer_bytes(&w, lines.data, lines.size);
    *b->lines_to = w.out;
    return writer_ok(&w, err);
}

static bool run_put_chunk(penta_batch_pool *b, struct chunk *c, penta_error *err)
{
    if (c->spilled) {
        writer_fill(&c->lines, 0, c->lines_size);
        if (!writer_ok(&c->lines, err) ||
            !results_ahead_read(b->results, c->ahead_at, c->lines_size, c->lines.out.data, err))
            return false;
    } else {
        b->waiting_bytes -= c->lines_size;
    }
    return run_put(b, writer_view(&c->lines), writer_view(&c->times), err);
}

/* Writes the chunks whose turn it is. */
static bool run_emit(penta_batch_pool *b, penta_error *err)
{
    while (b->head && chunk_whole(b->head)) {
        struct chunk *c = b->head;
        if (!run_put_chunk(b, c, err)) return false;
        b->head = c->next;
        if (!b->head) b->tail = NULL;
        chunk_free(c);
    }
    return true;
}

static bool run_spill(penta_batch_pool *b, struct chunk *c, penta_error *err)
{
    if (!b->results || c->spilled) return true;
    if (!results_ahead(b->results, writer_view(&c->lines), &c->ahead_at, err)) return false;
    c->spilled = true;
    b->waiting_bytes -= c->lines_size;
    writer_free(&c->lines);
    c->lines = (struct writer){0};
    return true;
}

/* Writes finished lines to a file when they wait long or take much memory, so that a kill does
 * not lose them. */
static bool run_spill_old(penta_batch_pool *b, uint64_t now, penta_error *err)
{
    for (struct chunk *c = b->head; c; c = c->next)
        if (chunk_whole(c) && !c->spilled && now - c->ended_at > WAIT_MICROS &&
            !run_spill(b, c, err))
            return false;
    return true;
}

/* Finishes a chunk that has all its lines. */
static bool run_chunk_ended(penta_batch_pool *b, struct chunk *c, penta_error *err)
{
    if (c->count == b->chunk_items && c->micros < CHUNK_SHORT && b->chunk_items < BATCH_ITEMS_MAX)
        b->chunk_items *= 2;
    if (c->micros > CHUNK_LONG && b->chunk_items > 1) b->chunk_items /= 2;
    chunk_finish(c);
    c->lines_size = c->lines.out.size;
    c->ended_at = run_micros();
    b->waiting_bytes += c->lines_size;
    if (!run_emit(b, err)) return false;
    bool waits = false; /* The chunk may be freed already. */
    for (struct chunk *w = b->head; w && b->waiting_bytes > WAIT_BYTES; w = w->next)
        waits |= w == c;
    return !waits || run_spill(b, c, err);
}

static bool run_start(penta_batch_pool *b, struct process *p, penta_error *err)
{
    return process_start(p, b->program, b->arguments, err);
}

/* Takes back a chunk from a worker that ended. Condemned items get their lines; the other items
 * wait for another worker. */
static bool run_take_back(penta_batch_pool *b, struct chunk *c, penta_error *err)
{
    chunk_condemned(c, run_count, b->totals);
    if (c->lines.failed) return error_at(err, BASE_MEMORY, 0, "no memory for results");
    if (chunk_whole(c)) return run_chunk_ended(b, c, err);
    c->waiting = b->redo;
    b->redo = c;
    return true;
}

/* Counts the end of a worker against the item on which it worked, and condemns the item after
 * too many. */
static void run_blame(const struct process *p, struct chunk *c, int status)
{
    uint32_t current = atomic_load(&p->page->current);
    size_t i = c->first + (current & 0xffff) - 1;
    if (!current || current >> 16 != (c->number & 0x7fff) || i < c->done || i >= c->first + c->sent)
        return;
    struct chunk_item *item = &c->items[i];
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : SIGABRT;
    bool outside = number == SIGKILL || number == SIGTERM || number == SIGHUP || number == SIGINT;
    item->deaths++;
    item->condemned = p->timed_out || item->deaths >= (outside ? DEATHS_KILLED : DEATHS_CRASH);
    item->signal = p->timed_out ? 0 : number;
    item->digested = atomic_load(&p->page->digested) == current;
    memcpy(item->digest, p->page->digest, BATCH_DIGEST);
}

/* Handles a worker that has ended or must end. Its chunks are taken back. */
static bool run_process_ended(penta_batch_pool *b, struct process *p, penta_error *err)
{
    struct process was = *p;
    struct batch_page page = {0};
    if (p->page) {
        atomic_store(&page.current, atomic_load(&p->page->current));
        atomic_store(&page.digested, atomic_load(&p->page->digested));
        memcpy(page.digest, p->page->digest, BATCH_DIGEST);
    }
    int status = 0, early;
    /* waitpid gives the status of a worker that ended by itself. process_end would kill it and
     * give another status. */
    if (!p->timed_out && waitpid(p->pid, &early, 0) == p->pid) {
        status = early;
        p->pid = 0;
    }
    if (p->pid)
        status = process_end(p);
    else
        process_end(p);
    was.page = &page;
    p->chunk_count = 0;
    p->timed_out = false;
    if (!b->stopping && ++b->idle_deaths > DEATHS_IDLE + b->process_count)
        return error_at(err, BASE_IO, 0, "workers end as soon as they start: %s %d",
                        WIFSIGNALED(status) ? "signal" : "exit code",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    for (size_t i = 0; i < was.chunk_count; i++) {
        run_blame(&was, was.chunks[i], status);
        if (!run_take_back(b, was.chunks[i], err)) return false;
    }
    return true;
}

static bool run_give(penta_batch_pool *b, struct process *p, struct chunk *c, penta_error *err)
{
    p->chunks[p->chunk_count++] = c;
    return chunk_send(c, ++b->requests & 0x7fff, &p->out, err);
}

/* Gives every worker enough to do. Chunks that were taken back go first, because other chunks
 * may wait for their lines. */
static bool run_fill(penta_batch_pool *b, penta_error *err)
{
    for (size_t round = 0; round < WORKER_QUEUE; round++)
        for (size_t i = 0; i < b->process_count; i++) {
            struct process *p = &b->processes[i];
            if (p->chunk_count > round) continue;
            struct chunk *c = b->redo;
            /* A chunk that ended a worker before is given to a worker that has no other chunk. */
            if (c && p->chunk_count) continue;
            if (c)
                b->redo = c->waiting;
            else
                c = run_next_chunk(b, err);
            if (!c) {
                if (err->code) return false;
                continue;
            }
            if (p->pid <= 0 && !run_start(b, p, err)) return false;
            if (!run_give(b, p, c, err)) return false;
        }
    return true;
}

static bool run_send(struct process *p)
{
    while (p->sent < p->out.out.size) {
        ssize_t n =
            send(p->channel, p->out.out.data + p->sent, p->out.out.size - p->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN;
        p->sent += (size_t)n;
    }
    p->sent = p->out.out.size = 0;
    return true;
}

/* Takes the whole replies out of p->in. Returns false with an error in err, or when the worker's
 * reply is malformed and the worker must end. */
static bool run_replies(penta_batch_pool *b, struct process *p, bool *nonsense, penta_error *err)
{
    size_t at = 0;
    while (p->in.out.size - at >= sizeof(struct reply_head)) {
        struct reply_head reply;
        memcpy(&reply, p->in.out.data + at, sizeof reply);
        if (reply.size > p->in.out.size - at - sizeof reply) break;
        penta_bytes rest = {p->in.out.data + at + sizeof reply, (size_t)reply.size};
        struct chunk *c = p->chunk_count ? p->chunks[0] : NULL;
        int exit;
        *nonsense = !c || !chunk_reply(c, &reply, rest, &exit);
        if (*nonsense) return true;
        at += sizeof reply + (size_t)reply.size;
        b->idle_deaths = 0;
        b->totals->reused += reply.kind == REPLY_SAME;
        run_count(b->totals, exit);
        if (c->done < c->first + c->sent) continue;
        p->chunks[0] = p->chunks[--p->chunk_count];
        if (!run_take_back(b, c, err)) return false;
    }
    if (at && at < p->in.out.size)
        memmove(p->in.out.data, p->in.out.data + at, p->in.out.size - at);
    p->in.out.size -= at;
    return true;
}

/* Reads what a worker has sent. Returns false with an error. A worker that has ended is started
 * again when there is work. */
static bool run_receive(penta_batch_pool *b, struct process *p, penta_error *err)
{
    enum { PIECE = 1 << 18 };
    bool ended = false, nonsense = false;
    for (;;) {
        if (!ARRAY_RESERVE(p->in.out.data, p->in.out.capacity, p->in.out.size + PIECE))
            return error_at(err, BASE_MEMORY, 0, "no memory for results");
        ssize_t n = recv(p->channel, p->in.out.data + p->in.out.size, PIECE, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        if (n <= 0) {
            ended = true;
            break;
        }
        p->in.out.size += (size_t)n;
        if (!run_replies(b, p, &nonsense, err)) return false;
        if (nonsense || n < PIECE) break;
    }
    if (nonsense) kill(p->pid, SIGKILL);
    return !(ended || nonsense) || run_process_ended(b, p, err);
}

static bool run_times_out(penta_batch_pool *b, struct process *p, uint64_t now, penta_error *err)
{
    if (p->pid <= 0 || !(b->job.file_timeout > 0)) return true;
    uint32_t current = atomic_load(&p->page->current);
    if (!current || current != p->seen) {
        p->seen = current;
        p->seen_at = now;
        return true;
    }
    if ((double)(now - p->seen_at) < b->job.file_timeout * 1e6) return true;
    p->timed_out = true;
    return run_process_ended(b, p, err);
}

static bool run_tick(penta_batch_pool *b, uint64_t now, bool at_once, penta_error *err)
{
    if (now < b->next_tick && !at_once) return true;
    b->next_tick = now + TICK_MICROS;
    b->totals->part = b->listed ? 1 : sources_part(b->sources);
    if (b->job.tick && b->results && !b->job.tick(b->job.user, b->totals)) b->stopping = true;
    return run_spill_old(b, now, err) && (!b->results || results_flush(b->results, err));
}

static bool run_round(penta_batch_pool *b, struct pollfd *polled, penta_error *err)
{
    for (size_t i = 0; i < b->process_count; i++) {
        struct process *p = &b->processes[i];
        bool works = p->pid > 0 && p->chunk_count;
        if (works && p->sent < p->out.out.size)
            run_send(p); /* A worker that has ended is noticed when reading. */
        polled[i] = (struct pollfd){.fd = works ? p->channel : -1, .events = POLLIN};
        if (works && p->sent < p->out.out.size) polled[i].events |= POLLOUT;
    }
    int wait = TICK_MICROS / 1000;
    if (b->job.file_timeout > 0 && b->job.file_timeout < 0.4)
        wait = 1 + (int)(b->job.file_timeout * 250);
    int found = poll(polled, b->process_count, wait);
    uint64_t now = run_micros();
    if (found < 0 && errno != EINTR)
        return error_at(err, BASE_IO, 0, "cannot wait for workers: %s", strerror(errno));
    for (size_t i = 0; found > 0 && i < b->process_count; i++) {
        if (polled[i].revents & POLLOUT) run_send(&b->processes[i]);
        if (polled[i].revents & (POLLIN | POLLHUP | POLLERR) &&
            !run_receive(b, &b->processes[i], err))
            return false;
    }
    for (size_t i = 0; i < b->process_count; i++)
        if (b->processes[i].chunk_count && !run_times_out(b, &b->processes[i], now, err))
            return false;
    return run_tick(b, now, found < 0, err);
}

static void run_drop_chunks(penta_batch_pool *b)
{
    while (b->head) {
        struct chunk *next = b->head->next;
        chunk_free(b->head);
        b->head = next;
    }
    b->tail = b->redo = NULL;
    b->waiting_bytes = 0;
    for (size_t i = 0; i < b->process_count; i++)
        if (b->processes[i].chunk_count) {
            process_end(&b->processes[i]);
            b->processes[i].chunk_count = 0;
        }
}

/* Works until every listed source has its line, or the run must stop. */
static bool run_loop(penta_batch_pool *b, penta_batch_totals *totals, penta_error *err)
{
    struct pollfd *polled = calloc(b->process_count, sizeof *polled);
    bool ok = polled || error_at(err, BASE_MEMORY, 0, "no memory for workers");
    *totals = (penta_batch_totals){0};
    b->totals = totals;
    b->listed = b->stopping = false;
    b->combination = b->grid.combinations;
    b->chunk_items = 4;
    b->idle_deaths = 0;
    b->next_tick = run_micros() + TICK_MICROS;
    while (ok && !b->stopping) {
        ok = run_fill(b, err);
        if (ok && b->listed && !b->head) break;
        ok = ok && run_round(b, polled, err);
    }
    /* Lines that are finished when the run stops are kept. */
    for (struct chunk *c = b->head; ok && b->results && c; c = c->next)
        if (chunk_whole(c)) ok = run_spill(b, c, err);
    run_drop_chunks(b);
    totals->complete = ok && b->listed && !b->stopping;
    free(polled);
    return ok;
}

static bool pool_argument(penta_batch_pool *b, const char *key, const char *value, penta_error *err)
{
    if (!ARRAY_GROW(b->arguments, b->argument_capacity, b->argument_count + 1, err)) return false;
    char *word = malloc((key ? strlen(key) + 1 : 0) + strlen(value) + 1);
    if (!word) return error_at(err, BASE_MEMORY, 0, "no memory for options");
    if (key)
        sprintf(word, "%s=%s", key, value);
    else
        strcpy(word, value);
    b->arguments[b->argument_count++] = word;
    b->arguments[b->argument_count] = NULL;
    return true;
}

/* Makes the arguments of workers: penta batch-worker KEY=VALUE... -- VERB OPTIONS... */
static bool pool_arguments(penta_batch_pool *b, penta_error *err)
{
    const penta_batch_job *job = &b->job;
    char text[32], hex[2 * BATCH_DIGEST + 1];
    for (size_t i = 0; i < BATCH_DIGEST; i++) snprintf(hex + 2 * i, 3, "%02x", b->digest[i]);
    bool ok = pool_argument(b, NULL, "penta", err) && pool_argument(b, NULL, "batch-worker", err) &&
              pool_argument(b, "job", hex, err);
    snprintf(text, sizeof text, "%d", (int)getpid());
    ok = ok && pool_argument(b, "parent", text, err);
    snprintf(text, sizeof text, "%llu", (unsigned long long)job->file_memory);
    if (job->file_memory) ok = ok && pool_argument(b, "memory", text, err);
    if (job->fields) ok = ok && pool_argument(b, "fields", job->fields, err);
    if (job->cache) ok = ok && pool_argument(b, "cache", job->cache, err);
    if (job->files_to) ok = ok && pool_argument(b, "files-to", job->files_to, err);
    ok = ok && pool_argument(b, NULL, "--", err) && pool_argument(b, NULL, job->verb, err);
    for (size_t i = 0; ok && i < job->argument_count; i++)
        ok = pool_argument(b, NULL, job->arguments[i], err);
    return ok;
}

static bool pool_prepare(penta_batch_pool *b, penta_error *err)
{
    const penta_batch_job *job = &b->job;
    struct fields fields;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!fields_parse(job->fields, &fields, err)) return false;
    fields_free(&fields);
    if (job->jobs > JOBS_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'jobs': at most %d", JOBS_MAX);
    b->process_count = job->jobs ? job->jobs : processors > 0 ? (size_t)processors : 1;
    if (job->cache && mkdir(job->cache, 0777) && errno != EEXIST)
        return error_at(err, BASE_IO, 0, "cannot make the folder '%.60s': %s", job->cache,
                        strerror(errno));
    b->processes = zeros_new(b->process_count * sizeof *b->processes, "workers", err);
    for (size_t i = 0; b->processes && i < b->process_count; i++) b->processes[i].channel = -1;
    return b->processes && process_program(job->program, b->program, sizeof b->program, err) &&
           grid_parse(job->grid, &b->grid, err) && job_digest(job, b->digest, err) &&
           pool_arguments(b, err);
}

penta_batch_pool *penta_batch_pool_new(const penta_batch_job *job, penta_error *err)
{
    *err = (penta_error){0};
    penta_batch_pool *b = zeros_new(sizeof *b, "a batch", err);
    if (!b) return NULL;
    b->job = *job;
    if (pool_prepare(b, err)) return b;
    penta_batch_pool_free(b);
    return NULL;
}

void penta_batch_pool_free(penta_batch_pool *pool)
{
    if (!pool) return;
    for (size_t i = 0; pool->processes && i < pool->process_count; i++)
        process_free(&pool->processes[i]);
    for (size_t i = 0; i < pool->argument_count; i++) free(pool->arguments[i]);
    free(pool->arguments);
    free(pool->processes);
    writer_free(&pool->grid_words);
    grid_free(&pool->grid);
    free(pool);
}

bool penta_batch_pool_lines(penta_batch_pool *pool, const char *const *sources, size_t count,
                            uint64_t first, penta_buffer *lines, penta_error *err)
{
    penta_batch_totals totals;
    penta_buffer made = {0};
    *err = (penta_error){0};
    struct source_list list = {.words = sources,
                               .word_count = count,
                               .exact = true,
                               .first = first,
                               .member_bytes = MEMBER_BYTES};
    pool->results = NULL;
    pool->lines_to = &made;
    pool->sources = sources_open(&list, err);
    bool ok = pool->sources && run_loop(pool, &totals, err);
    sources_close(pool->sources);
    pool->sources = NULL;
    struct writer all = {.out = made};
    return writer_give(&all, ok, lines, err);
}

static bool run_files(penta_batch_pool *b, const char *shard, penta_batch_totals *totals,
                      penta_error *err)
{
    const penta_batch_job *job = &b->job;
    struct source_list list = {.words = job->sources,
                               .word_count = job->source_count,
                               .from = job->from,
                               .shard = shard,
                               .results = job->results,
                               .member_bytes = MEMBER_BYTES};
    penta_error closing = {0};
    b->sources = sources_open(&list, err);
    b->results = b->sources ? results_open(job->results, shard, err) : NULL;
    bool ok = b->results && run_loop(b, totals, err);
    if (b->results) {
        bool closed = results_close(b->results, ok && totals->complete, &closing);
        if (ok && !closed) *err = closing;
        ok = ok && closed;
    }
    if (b->sources) totals->listed = sources_seen(b->sources) * b->grid.combinations;
    sources_close(b->sources);
    if (ok && job->tick) job->tick(job->user, totals);
    return ok;
}

bool penta_batch_run(const penta_batch_job *job, penta_batch_totals *totals, penta_error *err)
{
    char shard[48] = "";
    penta_buffer text = {0};
    penta_error none = {0};
    *totals = (penta_batch_totals){0};
    penta_batch_pool *b = penta_batch_pool_new(job, err);
    if (!b) return false;
    uint64_t planned =
        job_read(job->results, &text, &none) ? job_shards((penta_bytes){text.data, text.size}) : 0;
    penta_buffer_free(&text);
    bool ok = (!job->shard || shard_settle(job->shard, planned, shard, err)) &&
              job_settle(job, b->digest, 0, err) && run_files(b, shard, totals, err);
    penta_batch_pool_free(b);
    return ok;
}
