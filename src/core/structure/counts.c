/* Implements counters by call path. The paths are a tree that grows with the calls. The open
 * calls are a stack of frames that point into the tree. */
#include "core/structure/counts.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

enum {
    PATHS_MAX = 1 << 16,   /* the most paths that are kept apart */
    BYTES_MAX = 256 << 20, /* the most bytes for the counters of paths */
    DEPTH_MAX = 512,       /* the most calls of a path that are kept apart */
    FRAMES_MAX = 1 << 20,
    MOVE_MAX = 8, /* the most calls that one jump may leave */
};
#define NO_FUNCTION UINT32_MAX

static struct count_path *path_new(struct counts *c, uint32_t first, uint32_t size,
                                   penta_error *err)
{
    size_t bytes = sizeof(struct count_path) + size * sizeof(uint64_t);
    struct count_path *p = arena_alloc(&c->arena, bytes, 1, err);
    uint64_t *work = c->works ? arena_alloc(&c->arena, size + 1, sizeof *work, err) : NULL;
    if (!p || (c->works && !work)) return NULL;
    p->function = NO_FUNCTION;
    p->first = first;
    p->size = size;
    p->work = work;
    for (size_t i = 0; i < COUNT_RECENT; i++) p->recent[i] = c->none;
    return p;
}

bool counts_cut(struct counts *c, const uint32_t *starts, size_t count, penta_error *err)
{
    free(c->starts);
    free(c->function_of);
    c->starts = calloc(count + 1, sizeof *c->starts);
    c->function_of = calloc(count + 1, sizeof *c->function_of);
    if (!c->starts || !c->function_of)
        return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    if (count) memcpy(c->starts, starts, count * sizeof *starts);
    c->starts[count] = (uint32_t)c->map->count;
    c->count = count;
    size_t functions = 0; /* number of functions whose first stretch is known */
    for (size_t i = 0; i < count; i++) {
        c->function_of[i] = (uint32_t)c->map->blocks[c->map->insns[c->starts[i]].block].function;
        while (functions <= c->function_of[i]) c->first_stretch[functions++] = (uint32_t)i;
    }
    while (functions <= c->map->function_count) c->first_stretch[functions++] = (uint32_t)count;
    c->other = path_new(c, 0, (uint32_t)count, err);
    if (c->other) c->other->parent = c->root;
    c->root->child = c->other;
    return c->other;
}

static bool cut_by_blocks(struct counts *c, penta_error *err)
{
    const struct code_map *m = c->map;
    uint32_t *starts = calloc(m->block_count + 1, sizeof *starts);
    if (!starts) return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->insns[i].starts_block) starts[n++] = (uint32_t)i;
    bool ok = counts_cut(c, starts, n, err);
    free(starts);
    return ok;
}

void counts_restart(struct counts *c)
{
    c->top = c->frames + COUNT_BOTTOM;
    c->path = c->none;
    c->aside_path = NULL;
}

/* Makes more room for frames, up to a limit. */
static bool grow_frames(struct counts *c)
{
    size_t top = (size_t)(c->top - c->frames), capacity = (size_t)(c->limit - c->frames);
    if (capacity == FRAMES_MAX) return false;
    capacity = capacity ? 4 * capacity : 256;
    struct count_frame *frames = realloc(c->frames, capacity * sizeof *frames);
    c->failed |= !frames;
    if (!frames) return false;
    c->frames = frames;
    c->limit = frames + capacity;
    c->top = frames + top;
    return true;
}

struct counts *counts_new(const struct code_map *map, penta_error *err)
{
    struct counts *c = calloc(1, sizeof *c);
    if (!c || map->count >= UINT32_MAX) {
        error_at(err, BASE_MEMORY, 0, "no memory for counters");
        free(c);
        return NULL;
    }
    c->map = map;
    c->difference = calloc(map->count + 1, sizeof *c->difference);
    c->first_stretch = calloc(map->function_count + 1, sizeof *c->first_stretch);
    c->shared = calloc(map->function_count + 1, sizeof *c->shared);
    c->none = path_new(c, 0, 0, err);
    c->root = path_new(c, 0, 0, err);
    if (!c->difference || !c->first_stretch || !c->shared)
        error_at(err, BASE_MEMORY, 0, "no memory for counters");
    if (!err->code && !grow_frames(c)) error_at(err, BASE_MEMORY, 0, "no memory for counters");
    if (!err->code) {
        for (size_t i = 0; i < COUNT_RECENT; i++) c->none->recent[i] = c->none;
        c->frames[0] = (struct count_frame){0, c->none};
        c->frames[COUNT_BOTTOM] = (struct count_frame){0, c->root};
        c->nowhere[0] = c->nowhere[1] = (struct count_frame){UINT64_MAX, c->none};
        counts_restart(c);
        cut_by_blocks(c, err);
    }
    if (!err->code) return c;
    counts_free(c);
    return NULL;
}

void counts_free(struct counts *c)
{
    if (!c) return;
    free(c->starts);
    free(c->function_of);
    free(c->first_stretch);
    free(c->shared);
    free(c->frames);
    free(c->difference);
    arena_free(&c->arena);
    free(c);
}

static size_t stretch_of(const struct counts *c, size_t insn)
{
    size_t i;
    ARRAY_SEARCH(i, 0, c->count, c->starts[i] > insn);
    return i ? i - 1 : 0;
}

static uint32_t place_of(const struct counts *c, uint64_t pc)
{
    const struct code_map *m = c->map;
    size_t insn = code_map_find(m, pc);
    if (insn == m->count || !c->count) return COUNT_NOT;
    uint32_t stretch = (uint32_t)stretch_of(c, insn);
    if (c->starts[stretch] != insn) return COUNT_NOT;
    if (m->insns[insn].starts_function) return c->function_of[stretch] << COUNT_SHIFT | COUNT_CALL;
    bool returns = insn && m->insns[insn - 1].branch.call;
    return stretch << COUNT_SHIFT | (returns ? COUNT_RETURN : COUNT_ENTER);
}

uint32_t *counts_places(const struct counts *c, const uint64_t *pcs, size_t count)
{
    uint32_t *places = calloc(count + 1, sizeof *places);
    for (size_t i = 0; places && i < count; i++) places[i] = place_of(c, pcs ? pcs[i] : i);
    return places;
}

static struct count_path *counts_make(struct counts *c, struct count_path *parent,
                                      uint32_t function)
{
    penta_error err = {0};
    uint32_t first = c->first_stretch[function], size = c->first_stretch[function + 1] - first;
    struct count_path *p = path_new(c, first, size, &err);
    if (!p) {
        c->failed = true;
        return c->other;
    }
    p->parent = parent;
    p->sibling = parent->child;
    p->function = function;
    p->depth = parent->depth + 1;
    parent->child = p;
    c->path_count++;
    c->bytes += size * sizeof(uint64_t) * (c->works ? 2 : 1) + sizeof *p;
    return p;
}

/* Returns the path of a function whose calls are not kept apart. Each function has one such
 * path. */
static struct count_path *counts_shared(struct counts *c, uint32_t function)
{
    struct count_path **p = &c->shared[function];
    if (!*p) *p = counts_make(c, c->other, function);
    return *p;
}

/* Finds the path of a function that is called from another path, and moves it to the front of the list. */
static struct count_path *counts_search(struct counts *c, struct count_path *parent,
                                        uint32_t function)
{
    if (parent == c->other || parent->parent == c->other) return counts_shared(c, function);
    for (struct count_path **at = &parent->child; *at; at = &(*at)->sibling) {
        struct count_path *p = *at;
        if (p->function != function) continue;
        *at = p->sibling;
        p->sibling = parent->child;
        parent->child = p;
        return p;
    }
    if (c->path_count >= PATHS_MAX || c->bytes >= BYTES_MAX || parent->depth >= DEPTH_MAX)
        return counts_shared(c, function);
    return counts_make(c, parent, function);
}

static struct count_path *child_of(struct counts *c, struct count_path *parent, uint32_t function)
{
    struct count_path **recent = &parent->recent[function % COUNT_RECENT];
    if ((*recent)->function == function) return *recent;
    struct count_path *p = counts_search(c, parent, function);
    if (p != c->other) *recent = p;
    return p;
}

static bool none_open(const struct counts *c) { return c->top == c->frames + COUNT_BOTTOM; }

static void counts_push(struct counts *c, uint64_t key, uint32_t function)
{
    c->path = child_of(c, c->top->path, function);
    if (c->top + 1 < c->limit || grow_frames(c))
        *++c->top = (struct count_frame){key, c->path};
    else
        c->path = c->other;
}

/* Notes that the innermost call continues in another function, which it did not call. */
static void counts_replace(struct counts *c, uint32_t function)
{
    if (none_open(c))
        counts_push(c, 0, function);
    else
        c->path = c->top->path = child_of(c, c->top[-1].path, function);
}

void counts_move(struct counts *c, uint32_t stretch)
{
    uint32_t function = c->function_of[stretch];
    struct count_frame *bottom = c->frames + COUNT_BOTTOM;
    for (struct count_frame *f = c->top; f > bottom && c->top - f < MOVE_MAX; f--) {
        if (f->path->function != function) continue;
        c->top = f;
        c->path = f->path;
        return;
    }
    counts_replace(c, function);
}

void counts_call(struct counts *c, uint32_t function, uint64_t key)
{
    while (!none_open(c) && c->top->key > key) c->top--;
    const struct count_path *before = c->top->path;
    if (none_open(c) || c->top->key < key) {
        counts_push(c, key, function);
        if (c->path == c->other) c->path->calls++;
    } else { /* This is a jump to a function, or a loop to its own start. */
        counts_replace(c, function);
        if (c->path == before && c->path != c->other) c->path->calls--;
    }
    c->path->counts[c->first_stretch[function] - c->path->first]++;
}

/* Notes that a call returned. The outermost call stays open, because a program may free more of
 * the stack than it took. */
void counts_return(struct counts *c, uint32_t stretch, uint64_t key)
{
    struct count_frame *top = c->top, *outermost = c->frames + COUNT_BOTTOM + 1;
    while (c->top > outermost && c->top->key > key) c->top--;
    if (c->top != top) c->path = c->top->path;
    if (c->top == outermost && outermost->key > key) outermost->key = key;
    counts_enter(c, stretch);
}

/* Adds n to the counts of the instructions from here to the end of their stretch. */
static void counts_correct(struct counts *c, size_t insn, int64_t n)
{
    if (insn >= c->map->count) return;
    size_t end = c->starts[stretch_of(c, insn) + 1];
    c->difference[insn] += (uint64_t)n;
    c->difference[end] -= (uint64_t)n;
    c->path->extra += n * (int64_t)(end - insn);
}

void counts_resume(struct counts *c, uint64_t pc)
{
    size_t insn = code_map_find(c->map, pc);
    if (insn == c->map->count) return;
    size_t stretch = stretch_of(c, insn);
    if (stretch - c->path->first >= c->path->size) counts_move(c, (uint32_t)stretch);
    counts_correct(c, insn, 1);
}

void counts_leave(struct counts *c, uint64_t pc)
{
    counts_correct(c, code_map_find(c->map, pc), -1);
}

void counts_leave_after(struct counts *c, uint64_t pc)
{
    size_t insn = code_map_find(c->map, pc);
    if (insn == c->map->count || insn + 1 == c->starts[stretch_of(c, insn) + 1]) return;
    counts_correct(c, insn + 1, -1);
}

static void add_path(const struct count_path *path, uint64_t *by_stretch)
{
    for (size_t i = 0; i < path->size; i++) by_stretch[path->first + i] += path->counts[i];
    for (const struct count_path *p = path->child; p; p = p->sibling) add_path(p, by_stretch);
}

bool counts_instructions(const struct counts *c, uint64_t *counts, penta_error *err)
{
    uint64_t *by_stretch = calloc(c->count + 1, sizeof *by_stretch), sum = 0;
    if (!by_stretch) return error_at(err, BASE_MEMORY, 0, "no memory for counts");
    add_path(c->root, by_stretch);
    for (size_t s = 0, i = 0; i < c->map->count; i++) {
        while (s < c->count && c->starts[s + 1] <= i) s++;
        sum += c->difference[i];
        counts[i] = sum + (s < c->count && c->starts[s] <= i ? by_stretch[s] : 0);
    }
    free(by_stretch);
    return true;
}

uint64_t counts_path_instructions(const struct counts *c, const struct count_path *path)
{
    uint64_t sum = (uint64_t)path->extra;
    for (size_t i = 0; i < path->size; i++)
        sum += path->counts[i] * (c->starts[path->first + i + 1] - c->starts[path->first + i]);
    return sum;
}

uint64_t counts_path_calls(const struct count_path *path)
{
    return path->calls + (path->function != NO_FUNCTION && path->size ? path->counts[0] : 0);
}
