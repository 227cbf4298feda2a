#include "core/structure/counts.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

enum {
    PATHS_MAX = 1 << 16,   /* kept apart */
    BYTES_MAX = 256 << 20, /* of their counters */
    DEPTH_MAX = 512,       /* calls that a path keeps apart */
    FRAMES_MAX = 1 << 20
};
#define NO_FUNCTION UINT32_MAX

/* ---- stretches ---- */

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
    size_t functions = 0; /* whose first stretch is known */
    for (size_t i = 0; i < count; i++) {
        c->function_of[i] = (uint32_t)c->map->blocks[c->map->insns[c->starts[i]].block].function;
        while (functions <= c->function_of[i]) c->first_stretch[functions++] = (uint32_t)i;
    }
    while (functions <= c->map->function_count) c->first_stretch[functions++] = (uint32_t)count;
    c->other->size = count;
    c->other->counts = arena_alloc(&c->arena, count + 1, sizeof *c->other->counts, err);
    if (c->works) c->other->work = arena_alloc(&c->arena, count + 1, sizeof *c->other->work, err);
    return !err->code;
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
    c->root = arena_alloc(&c->arena, 1, sizeof *c->root, err);
    c->other = arena_alloc(&c->arena, 1, sizeof *c->other, err);
    if (!c->difference || !c->first_stretch)
        error_at(err, BASE_MEMORY, 0, "no memory for counters");
    if (!err->code) {
        c->root->function = c->other->function = NO_FUNCTION;
        c->other->parent = c->root;
        c->root->child = c->other;
        c->path = &c->none;
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

enum count_place counts_place(const struct counts *c, uint64_t pc, uint32_t *stretch)
{
    const struct code_map *m = c->map;
    size_t insn = code_map_find(m, pc), i;
    if (insn == m->count || !c->count) return COUNT_NOT;
    i = stretch_of(c, insn);
    *stretch = (uint32_t)i;
    if (c->starts[i] != insn) return COUNT_NOT;
    if (m->insns[insn].starts_function) return COUNT_CALL;
    return insn && m->insns[insn - 1].branch.call ? COUNT_RETURN : COUNT_ENTER;
}

uint32_t *counts_places(const struct counts *c, const uint64_t *pcs, size_t count)
{
    uint32_t *places = calloc(count + 1, sizeof *places);
    for (size_t i = 0; places && i < count; i++) {
        uint32_t stretch = 0;
        enum count_place what = counts_place(c, pcs ? pcs[i] : i, &stretch);
        if (what != COUNT_NOT) places[i] = stretch << COUNT_SHIFT | what;
    }
    return places;
}

/* ---- paths ---- */

static struct count_path *make(struct counts *c, struct count_path *parent, uint32_t function)
{
    penta_error err = {0};
    size_t first = c->first_stretch[function], size = c->first_stretch[function + 1] - first;
    size_t bytes = size * sizeof(uint64_t) * (c->works ? 2 : 1) + sizeof *parent;
    if (c->path_count >= PATHS_MAX || c->bytes + bytes > BYTES_MAX || parent->depth >= DEPTH_MAX)
        return c->other;
    struct count_path *p = arena_alloc(&c->arena, 1, sizeof *p, &err);
    uint64_t *counts = arena_alloc(&c->arena, size + 1, sizeof *counts, &err);
    uint64_t *work = c->works ? arena_alloc(&c->arena, size + 1, sizeof *work, &err) : NULL;
    if (err.code) {
        c->failed = true;
        return c->other;
    }
    *p = (struct count_path){.parent = parent,
                             .sibling = parent->child,
                             .function = function,
                             .depth = parent->depth + 1,
                             .first = first,
                             .size = size,
                             .counts = counts,
                             .work = work};
    parent->child = p;
    c->path_count++;
    c->bytes += bytes;
    return p;
}

/* The path of a function that is called from another path. The one found moves to the front. */
static struct count_path *child_of(struct counts *c, struct count_path *parent, uint32_t function)
{
    if (parent == c->other) return c->other;
    for (struct count_path **at = &parent->child; *at; at = &(*at)->sibling) {
        struct count_path *p = *at;
        if (p->function != function || p == c->other) continue;
        *at = p->sibling;
        p->sibling = parent->child;
        parent->child = p;
        return p;
    }
    return make(c, parent, function);
}

static struct count_path *top(const struct counts *c)
{
    return c->depth ? c->frames[c->depth - 1].path : c->root;
}

static void push(struct counts *c, uint64_t key, uint32_t function)
{
    struct count_path *path = child_of(c, top(c), function);
    bool deep = c->depth >= FRAMES_MAX;
    if (deep || !ARRAY_RESERVE(c->frames, c->capacity, c->depth + 1)) {
        c->failed |= !deep;
        path = c->other;
    } else {
        c->frames[c->depth++] = (struct count_frame){key, path};
    }
    path->calls++;
    c->path = path;
}

/* The innermost call is now in another function, which was not called. */
static void replace(struct counts *c, uint32_t function)
{
    if (!c->depth) {
        push(c, 0, function);
        return;
    }
    struct count_frame *f = &c->frames[c->depth - 1];
    struct count_path *outside = c->depth > 1 ? f[-1].path : c->root;
    f->path = child_of(c, outside, function);
    c->path = f->path;
}

void counts_move(struct counts *c, uint32_t stretch)
{
    uint32_t function = c->function_of[stretch];
    for (size_t i = c->depth; i--;) {
        if (c->frames[i].path->function != function) continue;
        c->depth = i + 1;
        c->path = c->frames[i].path;
        return;
    }
    replace(c, function);
}

void counts_call(struct counts *c, uint32_t stretch, uint64_t key)
{
    uint32_t function = c->function_of[stretch];
    while (c->depth && c->frames[c->depth - 1].key > key) c->depth--;
    if (c->depth && c->depth < c->capacity && c->frames[c->depth - 1].key < key) {
        /* Nearly always the function that was called last from here. */
        struct count_path *path = c->frames[c->depth - 1].path->child;
        if (path && path->function == function) {
            c->frames[c->depth++] = (struct count_frame){key, path};
            path->calls++;
            c->path = path;
            c->path->counts[stretch - c->path->first]++;
            return;
        }
    }
    if (!c->depth || c->frames[c->depth - 1].key < key)
        push(c, key, function);
    else if (c->frames[c->depth - 1].path->function != function)
        replace(c, function); /* a jump to a function, or the start of the next call of the host */
    else
        c->path = top(c); /* a loop to its own start */
    c->path->counts[stretch - c->path->first]++;
}

void counts_return(struct counts *c, uint32_t stretch, uint64_t key)
{
    bool left = false;
    while (c->depth && c->frames[c->depth - 1].key > key) {
        c->depth--;
        left = true;
    }
    if (left && c->depth) c->path = top(c);
    counts_enter(c, stretch);
}

/* ---- parts of stretches ---- */

/* Adds n to the counts of the instructions from here to the end of their stretch. */
static void correct(struct counts *c, size_t insn, int64_t n)
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
    correct(c, insn, 1);
}

void counts_leave(struct counts *c, uint64_t pc) { correct(c, code_map_find(c->map, pc), -1); }

void counts_leave_after(struct counts *c, uint64_t pc)
{
    size_t insn = code_map_find(c->map, pc);
    if (insn == c->map->count || insn + 1 == c->starts[stretch_of(c, insn) + 1]) return;
    correct(c, insn + 1, -1);
}

/* ---- reading ---- */

static void add_path(const struct count_path *path, uint64_t *by_stretch)
{
    for (size_t i = 0; path->counts && i < path->size; i++)
        by_stretch[path->first + i] += path->counts[i];
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
    for (size_t i = 0; path->counts && i < path->size; i++)
        sum += path->counts[i] * (c->starts[path->first + i + 1] - c->starts[path->first + i]);
    return sum;
}
