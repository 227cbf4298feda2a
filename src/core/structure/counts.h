/* Counts how often each instruction ran and by which calls, while a machine is profiled.
 *
 * An engine cuts the code into stretches that are entered only at their first instruction. It counts arrivals at a
 * stretch and nothing inside one. A run that stops or starts in the middle of a stretch corrects the count at once.
 * So counts are exact and cost one addition for each stretch.
 *
 * Each call path has a set of counters. A path is the list of the functions that are open, the outermost first.
 * counts_enter adds to the set of the path that runs. counts_call (where a function starts) and counts_return (where
 * a call returns to) first change the path. Calls are told apart by a key, which is larger inside a call than
 * outside. */
#pragma once
#include "core/structure/code_map.h"

enum { COUNT_RECENT = 8 };

struct count_path {
    struct count_path *parent, *child, *sibling;
    /* The children that were used last, by the lower bits of their functions. */
    struct count_path *recent[COUNT_RECENT];
    uint32_t function; /* number of the function in the code map; UINT32_MAX for none */
    uint32_t depth;
    uint32_t first, size; /* the stretches of its function */
    uint64_t calls;       /* calls other than arrivals at its first stretch, modulo 2^64 */
    int64_t extra;        /* The instructions to add, as corrections for parts of stretches. */
    uint64_t *work;       /* the work of each stretch when the engine measures work; else NULL */
    uint64_t counts[];    /* the count of each stretch */
};

struct count_frame {
    uint64_t key;
    struct count_path *path;
};

struct counts {
    struct count_frame *top;         /* the innermost open call, or frames + COUNT_BOTTOM */
    const struct count_frame *limit; /* the end of the frames */
    struct count_path *path;         /* the path that runs now */
    struct count_frame *frames;      /* open calls, the outermost first, from COUNT_BOTTOM + 1 on */
    struct count_frame *aside_top;   /* the value of `top` while counts are set aside */
    struct count_path *aside_path;   /* the value of `path` while counts are set aside; else NULL */
    struct count_frame nowhere[2];   /* `top` points here while counts are set aside, because no
                                      * call matches these frames */
    const struct code_map *map;
    /* The number of the first instruction of each stretch, and one more at the end. */
    uint32_t *starts;
    uint32_t *function_of;   /* the function of each stretch */
    uint32_t *first_stretch; /* the first stretch of each function, and one more at the end */
    size_t count;
    struct count_path *root, *other;
    struct count_path **shared; /* for each function its path below `other`, or NULL */
    struct count_path *none;    /* A path without stretches, for the time before anything ran and
                                 * for unknown children. */
    size_t path_count;
    /* For each instruction a correction that counts from this instruction on, and one more at
     * the end. */
    uint64_t *difference;
    struct arena arena;
    size_t bytes; /* the memory that the paths take */
    bool works;   /* The engine measures work. */
    /* The engine sets these two. `cost_name` is the name of what executions cost besides their
     * number ("gas", "operations"), or NULL for nothing. `cost` computes what the instructions
     * from pc to the end of their stretch cost when they run once; it is NULL when the cost is
     * measured during the run. */
    const char *cost_name;
    uint64_t (*cost)(const penta_vm *vm, uint64_t pc);
    bool failed; /* Memory ran out, and some paths are not kept apart. */
};

/* The first frames are no calls. One has no path, one has the root. */
enum { COUNT_BOTTOM = 1 };

enum count_place { COUNT_NOT, COUNT_ENTER, COUNT_CALL, COUNT_RETURN };

/* Makes the counters for a map. Returns NULL with an error when memory ran out. */
struct counts *counts_new(const struct code_map *map, penta_error *err);
void counts_free(struct counts *c);
/* Sets where the stretches start: at these instructions, given by their numbers in the map, in
 * ascending order. It must be called before anything is counted. Without this call the stretches
 * are the blocks of the map. */
bool counts_cut(struct counts *c, const uint32_t *starts, size_t count, penta_error *err);

/* Makes a table for engines that mark the starts of stretches in their code. For each
 * instruction it tells what to do on arrival: stretch << COUNT_SHIFT | enum count_place, or
 * function << COUNT_SHIFT | COUNT_CALL. `pcs` has the pcs of the instructions, or is NULL when
 * instructions are numbered. The caller frees the table, which is NULL when memory ran out. */
enum { COUNT_SHIFT = 2, COUNT_MASK = 3 };
uint32_t *counts_places(const struct counts *c, const uint64_t *pcs, size_t count);

static inline uint32_t counts_stretch(const struct counts *c, uint32_t place)
{
    uint32_t number = place >> COUNT_SHIFT;
    return (place & COUNT_MASK) == COUNT_CALL ? c->first_stretch[number] : number;
}

/* Notes that a host calls the program, so that no call is open. */
void counts_restart(struct counts *c);
/* These functions note an arrival: at a stretch of another function, at the start of a function,
 * or where a call returns to. */
void counts_move(struct counts *c, uint32_t stretch);
void counts_call(struct counts *c, uint32_t function, uint64_t key);
void counts_return(struct counts *c, uint32_t stretch, uint64_t key);

/* Do what counts_enter and counts_call do when nothing must be looked up, which is nearly always
 * the case. They call no function, and few of their loads depend on each other. They return
 * false when they did nothing. */
static inline bool counts_enter_known(struct counts *c, uint32_t stretch)
{
    struct count_path *path = c->path;
    uint32_t at = stretch - path->first;
    if (at >= path->size) return false;
    path->counts[at]++;
    return true;
}
static inline bool counts_call_known(struct counts *c, uint32_t function, uint64_t key)
{
    struct count_frame *frame = c->top;
    if (key > frame->key) {
        if (++frame == c->limit) return false;
    } else if (key < frame->key) {
        return false;
    }
    struct count_path *path = frame[-1].path->recent[function % COUNT_RECENT];
    if (path->function != function) return false;
    /* The call is a loop to its own start. */
    if (frame == c->top && path == c->path) path->calls--;
    path->counts[0]++;
    frame->key = key;
    c->top = frame;
    frame->path = path;
    c->path = path;
    return true;
}
static inline bool counts_return_known(struct counts *c, uint32_t stretch, uint64_t key)
{
    struct count_frame *frame = c->top - 1;
    struct count_path *path = frame->path;
    uint32_t at = stretch - path->first;
    if (frame[1].key <= key || frame->key > key || at >= path->size) return false;
    c->top = frame;
    path->counts[at]++;
    c->path = path;
    return true;
}

static inline void counts_enter(struct counts *c, uint32_t stretch)
{
    if (counts_enter_known(c, stretch)) return;
    counts_move(c, stretch);
    c->path->counts[stretch - c->path->first]++;
}
static inline void counts_arrive(struct counts *c, uint32_t place, uint64_t key)
{
    uint32_t number = place >> COUNT_SHIFT;
    if ((place & COUNT_MASK) == COUNT_ENTER) {
        counts_enter(c, number);
    } else if ((place & COUNT_MASK) == COUNT_CALL) {
        if (!counts_call_known(c, number, key)) counts_call(c, number, key);
    } else {
        if (!counts_return_known(c, number, key)) counts_return(c, number, key);
    }
}
/* Sets the counts aside while an engine itself counts a loop, until the engine puts them back. */
static inline void counts_set_aside(struct counts *c)
{
    c->aside_top = c->top;
    c->aside_path = c->path;
    c->top = &c->nowhere[1];
    c->path = c->none;
}
static inline void counts_put_back(struct counts *c)
{
    c->top = c->aside_top;
    c->path = c->aside_path;
    c->aside_path = NULL;
}

/* These functions correct counts when a run continues in the middle of a stretch, when a stretch
 * that was counted as a whole is left before the instruction at pc, and when only the
 * instruction at pc is executed. */
void counts_resume(struct counts *c, uint64_t pc);
void counts_leave(struct counts *c, uint64_t pc);
void counts_leave_after(struct counts *c, uint64_t pc);
/* Adds the work that the instruction of this stretch did. The stretch was just entered. */
static inline void counts_work(struct counts *c, uint32_t stretch, uint64_t work)
{
    if (c->path->work) c->path->work[stretch - c->path->first] += work;
}

/* These functions read the counts while the machine does not run: how often each instruction of
 * the map was executed, in all or by one path. */
bool counts_instructions(const struct counts *c, uint64_t *counts, penta_error *err);
uint64_t counts_path_instructions(const struct counts *c, const struct count_path *path);
uint64_t counts_path_calls(const struct count_path *path);
