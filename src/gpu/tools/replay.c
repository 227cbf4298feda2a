/* Replays a trace: makes the host calls again and compares every status and task event. */
#include "penta/device.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file/file.h"
#include "base/json/json_read.h"
#include "gpu/host/emulator.h"

enum { SHOWN = 100 };

struct line {
    penta_bytes text; /* the line without the newline at its end */
    uint64_t launch;  /* the launch that an event belongs to */
    size_t number;    /* number of the line in the file, from 1 */
};

struct lines {
    struct line *items;
    size_t count, capacity;
};

struct comparison {
    struct writer *out;
    penta_device_replayed *result;
};

static bool replay_starts(penta_bytes text, const char *with)
{
    size_t n = strlen(with);
    return text.size >= n && !memcmp(text.data, with, n);
}

static bool replay_add(struct lines *l, struct line line, penta_error *err)
{
    if (!ARRAY_RESERVE(l->items, l->capacity, l->count + 1))
        return error_at(err, BASE_MEMORY, 0, "no memory for %zu lines", l->capacity);
    l->items[l->count++] = line;
    return true;
}

static bool replay_split(penta_bytes text, struct lines *out, penta_error *err)
{
    size_t number = 0;
    while (text.size) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        struct line line = {.text = {text.data, size}, .number = ++number};
        if (size && !replay_add(out, line, err)) return false;
        text = bytes_slice(text, size + 1, text.size);
    }
    return true;
}

static bool is_call(const struct line *l) { return replay_starts(l->text, "{\"call\":"); }
static bool is_event(const struct line *l) { return replay_starts(l->text, "{\"t\":"); }

/* The functions below make the calls again. */

struct player {
    gpu_emulator *dev;
    const struct json_object *args;
};

static uint64_t replay_number(const struct player *p, const char *key)
{
    uint64_t value = 0;
    json_as_uint(json_get(p->args, key), &value);
    return value;
}

static uint32_t replay_id(const struct player *p, const char *key)
{
    return (uint32_t)replay_number(p, key);
}

static void play_alloc(struct player *p)
{
    uint64_t ptr;
    gpu_emulator_alloc(p->dev, replay_number(p, "size"), &ptr);
}
static void play_alloc_at(struct player *p)
{
    gpu_emulator_alloc_at(p->dev, replay_number(p, "base"), replay_number(p, "size"));
}
static void play_free(struct player *p) { gpu_emulator_free(p->dev, replay_number(p, "ptr")); }
static void play_write(struct player *p)
{
    size_t size = 0;
    uint8_t *bytes = json_as_hex(json_get(p->args, "bytes"), &size);
    if (bytes) gpu_emulator_write(p->dev, replay_number(p, "dst"), bytes, size);
    free(bytes);
}
static void play_read(struct player *p)
{
    uint64_t size = replay_number(p, "size"), most = UINT64_C(256) << 20;
    void *into =
        malloc(size <= most ? (size_t)size + 1 : 1); /* The call refuses more bytes anyway. */
    if (into) gpu_emulator_read(p->dev, replay_number(p, "src"), into, size);
    free(into);
}
static void play_memory_size(struct player *p)
{
    uint64_t size;
    gpu_emulator_memory_size(p->dev, replay_number(p, "base"), &size);
}
#define PLAY_LIST(name)                                                                            \
    static void play_##name(struct player *p)                                                      \
    {                                                                                              \
        size_t count;                                                                              \
        gpu_emulator_##name(p->dev, NULL, 0, &count);                                              \
    }
PLAY_LIST(leaks)
PLAY_LIST(kernels)
PLAY_LIST(races)
PLAY_LIST(race_threads)
PLAY_LIST(faults)
static void play_register_kernel(struct player *p)
{
    size_t size = 0;
    uint8_t *blob = json_as_hex(json_get(p->args, "blob"), &size);
    if (blob) gpu_emulator_register_kernel(p->dev, replay_number(p, "kernel"), blob, size);
    free(blob);
}
static void play_unregister_kernel(struct player *p)
{
    gpu_emulator_unregister_kernel(p->dev, replay_number(p, "kernel"));
}
static void play_launch_task(struct player *p)
{
    size_t size = 0;
    uint8_t *args = json_as_hex(json_get(p->args, "args"), &size);
    if (args) gpu_emulator_launch_task(p->dev, replay_number(p, "kernel"), args, size, NULL);
    free(args);
}
static void play_launch_grid(struct player *p)
{
    size_t size = 0;
    uint8_t *args = json_as_hex(json_get(p->args, "args"), &size);
    gpu_grid grid = {
        {replay_id(p, "blocks_x"), replay_id(p, "blocks_y"), replay_id(p, "blocks_z")},
        {replay_id(p, "threads_x"), replay_id(p, "threads_y"), replay_id(p, "threads_z")},
        replay_id(p, "shared")};
    if (args) gpu_emulator_launch_grid(p->dev, replay_number(p, "kernel"), &grid, args, size, NULL);
    free(args);
}
static void play_task_grid(struct player *p)
{
    gpu_task_grid grid;
    gpu_emulator_task_grid(p->dev, replay_id(p, "launch"), &grid);
}
static void play_stop_task(struct player *p)
{
    gpu_emulator_stop_task(p->dev, replay_id(p, "launch"));
}
static void play_task_info(struct player *p)
{
    gpu_task_info info;
    gpu_emulator_task_info(p->dev, replay_id(p, "launch"), &info);
}
static void play_task_args(struct player *p)
{
    size_t size;
    gpu_emulator_task_args(p->dev, replay_id(p, "launch"), NULL, 0, &size);
}
static void play_wait(struct player *p) { gpu_emulator_wait(p->dev, replay_id(p, "ms")); }
static void play_wait_task(struct player *p)
{
    gpu_emulator_wait_task(p->dev, replay_id(p, "launch"), replay_id(p, "ms"));
}
static void play_barrier(struct player *p) { gpu_emulator_barrier(p->dev); }
static void play_memfence(struct player *p) { gpu_emulator_memfence(p->dev); }
static void play_yield(struct player *p) { gpu_emulator_yield(p->dev); }
static void play_reset(struct player *p) { gpu_emulator_reset(p->dev); }
static void play_shutdown(struct player *p) { gpu_emulator_shutdown(p->dev); }

static const struct {
    const char *name;
    void (*play)(struct player *p);
    /* clang-format off */
} plays[] = {
#define PLAY(name) {#name, play_##name}
    PLAY(alloc), PLAY(alloc_at), PLAY(free), PLAY(write), PLAY(read), PLAY(memory_size),
    PLAY(leaks), PLAY(kernels), PLAY(races), PLAY(faults), PLAY(register_kernel),
    PLAY(unregister_kernel), PLAY(launch_task), PLAY(launch_grid), PLAY(task_grid), PLAY(race_threads), PLAY(stop_task), PLAY(task_info), PLAY(task_args),
    PLAY(wait), PLAY(wait_task), PLAY(barrier), PLAY(memfence), PLAY(yield), PLAY(reset),
    PLAY(shutdown),
#undef PLAY
};
/* clang-format on */

static bool replay_play(struct player *p, penta_bytes file, const struct line *line,
                        penta_error *err)
{
    uint64_t at = (uint64_t)(line->text.data - file.data);
    struct json_doc *doc = json_parse(line->text, err);
    if (!doc) {
        err->offset += at;
        return false;
    }
    const char *name = json_as_text(json_get(json_root(doc), "call"));
    p->args = json_get(json_root(doc), "args");
    bool known = false;
    for (size_t i = 0; name && i < sizeof plays / sizeof *plays && !known; i++)
        if ((known = !strcmp(plays[i].name, name))) plays[i].play(p);
    if (!known) error_at(err, BASE_SYNTAX, at, "unknown call '%.60s'", name ? name : "");
    json_doc_free(doc);
    return known;
}

static bool read_options(const struct line *line, gpu_emulator_options *options, penta_error *err)
{
    struct json_doc *doc = json_parse(line->text, err);
    struct player p = {.args = doc ? json_root(doc) : NULL};
    const char *version = json_as_text(json_get(p.args, "trace"));
    bool ok = version && !strcmp(version, "penta.gpu/1");
    if (ok)
        *options = (gpu_emulator_options){.mode = replay_id(&p, "mode"),
                                          .seed = replay_number(&p, "seed"),
                                          .memory_limit = replay_number(&p, "memory_limit"),
                                          .max_instructions = replay_number(&p, "max_instructions"),
                                          .max_tasks = replay_id(&p, "max_tasks"),
                                          .flags = replay_id(&p, "flags"),
                                          .task_wall_ms = replay_id(&p, "task_wall_ms")};
    json_doc_free(doc);
    return ok || error_at(err, BASE_SYNTAX, 0, "the first line is not that of a device trace");
}

/* The functions below compare the two traces. */

static void replay_differ(struct comparison *c, const struct line *want, const struct line *got)
{
    static const struct line nothing = {.text = {(const uint8_t *)"nothing", 7}};
    if (++c->result->differences > SHOWN) return;
    if (!want) want = &nothing;
    if (!got) got = &nothing;
    penta_bytes w = bytes_slice(want->text, 0, 300), g = bytes_slice(got->text, 0, 300);
    writer_print(c->out, "line %zu: expected ", want->number ? want->number : got->number);
    writer_bytes(c->out, w.data, w.size);
    writer_text(c->out, "\n         got      ");
    writer_bytes(c->out, g.data, g.size);
    writer_char(c->out, '\n');
}

static bool replay_same(penta_bytes a, penta_bytes b)
{
    return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

static void replay_compare(struct comparison *c, const struct lines *want, const struct lines *got)
{
    size_t most = want->count > got->count ? want->count : got->count;
    for (size_t i = 0; i < most; i++) {
        const struct line *w = i < want->count ? &want->items[i] : NULL;
        const struct line *g = i < got->count ? &got->items[i] : NULL;
        if (!w || !g || !replay_same(w->text, g->text)) replay_differ(c, w, g);
    }
}

static int by_launch(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Selects the lines of one kind. Events lose their time and are sorted by task. */
static bool replay_pick(const struct lines *all, bool events, struct lines *out, penta_error *err)
{
    for (size_t i = 0; i < all->count; i++) {
        struct line line = all->items[i];
        if (events ? !is_event(&line) : !is_call(&line)) continue;
        if (events) {
            const uint8_t *comma = memchr(line.text.data, ',', line.text.size);
            size_t skip = comma ? (size_t)(comma - line.text.data) : 0;
            line.text = bytes_slice(line.text, skip, line.text.size);
            static const char key[] = ",\"launch\":";
            for (size_t n = sizeof key - 1; replay_starts(line.text, key) && n < line.text.size;
                 n++) {
                if (line.text.data[n] < '0' || line.text.data[n] > '9') break;
                line.launch = line.launch * 10 + (line.text.data[n] - (uint64_t)'0');
            }
        }
        if (!replay_add(out, line, err)) return false;
    }
    if (events && out->count > 1) qsort(out->items, out->count, sizeof *out->items, by_launch);
    return true;
}

/* Takes the lines of a task from the front of a list. There may be none. */
static struct lines take_task(struct lines *all, uint64_t launch)
{
    struct lines task = {.items = all->items};
    while (task.count < all->count && all->items[task.count].launch == launch) task.count++;
    all->items += task.count;
    all->count -= task.count;
    return task;
}

static bool replay_cancelled(const struct lines *task)
{
    static const char end[] = "\"end\":\"CANCELLED\"";
    if (!task->count) return false;
    penta_bytes last = task->items[task->count - 1].text;
    return memmem(last.data, last.size, end, sizeof end - 1) != NULL;
}

/* Compares events task by task. How far a cancelled task came depends on timing, so for such a
 * task only the events that both runs have must agree. */
static void compare_tasks(struct comparison *c, struct lines want, struct lines got)
{
    while (want.count || got.count) {
        uint64_t a = want.count ? want.items[0].launch : UINT64_MAX;
        uint64_t b = got.count ? got.items[0].launch : UINT64_MAX, launch = a < b ? a : b;
        struct lines w = take_task(&want, launch), g = take_task(&got, launch);
        if (replay_cancelled(&w) && replay_cancelled(&g)) {
            size_t both = (w.count < g.count ? w.count : g.count) - 1;
            w.count = g.count = both;
        }
        replay_compare(c, &w, &g);
    }
}

static bool compare_parts(struct comparison *c, const struct lines *want, const struct lines *got,
                          penta_error *err)
{
    for (int events = 0; events < 2; events++) {
        struct lines w = {0}, g = {0};
        bool ok = replay_pick(want, events, &w, err) && replay_pick(got, events, &g, err);
        if (ok && events)
            compare_tasks(c, w, g);
        else if (ok)
            replay_compare(c, &w, &g);
        free(w.items);
        free(g.items);
        if (!ok) return false;
    }
    return true;
}

static bool calls_play(struct lines *want, penta_bytes file, gpu_emulator_options *options,
                       penta_error *err)
{
    struct player p = {0};
    char failure[FAILURE_BYTES];
    gpu_status status = emulator_open(&p.dev, options, failure);
    if (status) {
        error_at(err, BASE_HOST, 0, "the device does not start: %s", gpu_status_string(status));
        return *failure ? error_note(err, "%s", failure) : false;
    }
    bool ok = true;
    for (size_t i = 0; i < want->count && ok; i++)
        if (is_call(&want->items[i])) ok = replay_play(&p, file, &want->items[i], err);
    const char *lost = gpu_emulator_failure(p.dev);
    if (ok && *lost) ok = error_at(err, BASE_HOST, 0, "%s", lost);
    gpu_emulator_close(p.dev);
    return ok;
}

static bool ends_with_shutdown(const struct lines *l)
{
    return l->count && replay_starts(l->items[l->count - 1].text, "{\"call\":\"shutdown\"");
}

static bool replay_run(penta_bytes text, const char *device_path, struct writer *out,
                       penta_device_replayed *result, penta_error *err)
{
    struct lines want = {0}, got = {0};
    gpu_emulator_options options;
    penta_buffer again = {0};
    char path[64];
    *result = (penta_device_replayed){0};
    int fd = memfd_create("trace", MFD_CLOEXEC); /* The second trace stays in memory. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = fd >= 0 || error_at(err, BASE_IO, 0, "no memory for a second trace");
    ok = ok && replay_split(text, &want, err) &&
         (want.count || error_at(err, BASE_SYNTAX, 0, "an empty trace")) &&
         read_options(&want.items[0], &options, err);
    if (ok) {
        options.trace_path = path;
        options.device_path = device_path;
        ok = calls_play(&want, text, &options, err) && lseek(fd, 0, SEEK_SET) == 0 &&
             file_read_fd(fd, "trace", UINT64_C(1) << 32, &again, err) &&
             replay_split((penta_bytes){again.data, again.size}, &got, err);
    }
    if (ok) {
        for (size_t i = 0; i < want.count; i++) {
            result->calls += is_call(&want.items[i]);
            result->events += is_event(&want.items[i]);
        }
        /* A host that was killed has not written its shutdown, but the replay has. */
        if (!ends_with_shutdown(&want) && ends_with_shutdown(&got)) got.count--;
        struct comparison c = {out, result};
        if (options.mode == GPU_MODE_THREADS)
            ok = compare_parts(&c, &want, &got, err);
        else
            replay_compare(&c, &want, &got);
    }
    free(want.items);
    free(got.items);
    penta_buffer_free(&again);
    if (fd >= 0) close(fd);
    return ok;
}

bool penta_device_replay(penta_bytes trace, const char *device_path, penta_buffer *report,
                         penta_device_replayed *result, penta_error *err)
{
    struct writer out = {0};
    *err = (penta_error){0};
    return writer_give(&out, replay_run(trace, device_path, &out, result, err), report, err);
}
