/* Takes samples of compiled code with a timer of the thread's processor time and a signal. The
 * handler counts what it finds in memory that was allocated before. Relies on POSIX timers and
 * on engine->sample. */
#include "penta/analysis/samples.h"
#include <stdlib.h>
#include "penta/profile.h"
#include "penta/session_struct.h"

enum { PATHS_MAX = 1 << 16, DEPTH_MAX = 256 };
#define NONE UINT32_MAX

/* Makes the memory for samples. Most of it is never touched, so the system gives no pages for
 * it. */
static struct samples *samples_new(const struct code_map *map, penta_error *err)
{
    struct samples *s = calloc(1, sizeof *s);
    if (s) s->counts = calloc(map->count + 1, sizeof *s->counts);
    if (s) s->paths = calloc(PATHS_MAX, sizeof *s->paths);
    if (!s || !s->counts || !s->paths) {
        error_at(err, BASE_MEMORY, 0, "no memory for samples");
        samples_free(s);
        return NULL;
    }
    s->map = map;
    s->top = NONE;
    return s;
}

void samples_free(struct samples *s)
{
    if (!s) return;
    free(s->counts);
    free(s->paths);
    free(s);
}

/* Finds or makes a path. Returns NONE when there are too many paths. */
static uint32_t find_path(struct samples *s, uint32_t parent, uint32_t function)
{
    uint32_t *first = parent == NONE ? &s->top : &s->paths[parent].child;
    for (uint32_t i = *first; i != NONE; i = s->paths[i].sibling)
        if (s->paths[i].function == function) return i;
    if (s->path_count == PATHS_MAX) return NONE;
    uint32_t made = s->path_count++;
    s->paths[made] = (struct sample_path){
        .parent = parent, .function = function, .child = NONE, .sibling = *first};
    return *first = made;
}

/* Adds a sample with these pcs, the innermost first. It is safe in a signal handler. */
static void samples_add(struct samples *s, const uint64_t *pcs, size_t count)
{
    const struct code_map *m = s->map;
    size_t insn = count ? code_map_find(m, pcs[0]) : m->count;
    uint32_t path = NONE;
    bool placed = true;
    if (insn == m->count) {
        s->unknown++;
        return;
    }
    s->counts[insn]++;
    for (size_t i = count; i-- && placed;) {
        size_t at = code_map_find(m, pcs[i]);
        if (at == m->count) continue;
        path = find_path(s, path, (uint32_t)m->blocks[m->insns[at].block].function);
        placed = path != NONE;
    }
    if (placed)
        s->paths[path].samples++;
    else
        s->unplaced++;
}

bool penta_session_sample(penta_session *s, penta_error *err)
{
    *err = (penta_error){0};
    const struct engine *engine = s->vm->engine;
    if (s->samples) return true;
    if (!engine->sample)
        return error_at(err, BASE_UNSUPPORTED, 0, "engine %s cannot be sampled", engine->name);
    s->code_map = code_map_new(s->module, err);
    s->samples = s->code_map ? samples_new(s->code_map, err) : NULL;
    if (s->samples) return true;
    session_count_free(s);
    return false;
}

size_t penta_session_where(const penta_session *s, const void *context, uint64_t *pcs, size_t max)
{
    if (!s->samples || !max) return 0;
    struct native_state state = samples_state(context);
    return s->vm->engine->sample(s->vm, &state, s->code_map, pcs, max);
}

void penta_session_take_sample(penta_session *s, const void *context)
{
    uint64_t pcs[DEPTH_MAX];
    if (s->samples) samples_add(s->samples, pcs, penta_session_where(s, context, pcs, DEPTH_MAX));
}
