/* How often each instruction ran, and by which calls: what an engine counts while it is profiled.
 *
 * An engine cuts the code into stretches that are entered at their first instruction only, and counts
 * arrivals there; nothing is counted between. What is not a whole stretch (a run that stops or starts
 * in the middle) is corrected where it happens. So counts are exact, and cost one addition for each
 * stretch.
 *
 * There is a set of counters for each call path: a path is the functions that are open, outermost
 * first. counts_enter adds in the set of the path that runs; counts_call and counts_return, used
 * where a function starts and where a call returns to, change it first. Calls are told apart by a
 * key that is larger in a call than outside of it. */
#pragma once
#include "core/structure/code_map.h"

enum { COUNT_RECENT = 8 };

struct count_path {
    struct count_path *parent, *child, *sibling;
    struct count_path *recent[COUNT_RECENT]; /* children, by the lower bits of their functions */
    uint32_t function;                       /* of the code map; UINT32_MAX: none */
    uint32_t depth;
    uint32_t first, size; /* stretches of its function */
    uint64_t calls;       /* besides arrivals at its first stretch; modulo 2^64 */
    int64_t extra;        /* instructions to add: corrections for parts of stretches */
    uint64_t *work;       /* by stretch, where the engine measures work; else NULL */
    uint64_t counts[];    /* by stretch */
};

struct count_frame {
    uint64_t key;
    struct count_path *path;
};

struct counts {
    struct count_frame *top;         /* the innermost open call, or frames + COUNT_BOTTOM */
    const struct count_frame *limit; /* where frames end */
    struct count_path *path;         /* that runs */
    struct count_frame *frames;      /* open calls, the outermost first, from COUNT_BOTTOM + 1 on */
    struct count_frame *aside_top;   /* while counts are set aside: top, and the path */
    struct count_path *aside_path;   /* or NULL */
    struct count_frame nowhere[2];   /* then: no call is deeper, none returns there */
    const struct code_map *map;
    uint32_t *starts; /* by stretch: the number of its first instruction; one more at the end */
    uint32_t *function_of;   /* by stretch */
    uint32_t *first_stretch; /* by function; one more at the end */
    size_t count;
    struct count_path *root, *other;
    struct count_path **shared; /* by function: its path below other, or NULL */
    struct count_path *none; /* of no stretch: before anything ran, and where no child is known */
    size_t path_count;
    uint64_t *difference; /* by instruction: corrections, each from here on; one more at the end */
    struct arena arena;
    size_t bytes; /* that the paths take */
    bool works;   /* the engine measures work */
    /* By the engine: what executions cost besides their number ("gas", "operations"; NULL: nothing
     * else), and what the instructions from pc to the end of their stretch cost when they run once
     * (NULL: it is measured while they run). */
    const char *cost_name;
    uint64_t (*cost)(const penta_vm *vm, uint64_t pc);
    bool failed; /* memory ran out: some paths are not kept apart */
};

/* Frames that are no calls: one without a path, one with the root. */
enum { COUNT_BOTTOM = 1 };

enum count_place { COUNT_NOT, COUNT_ENTER, COUNT_CALL, COUNT_RETURN };

/* NULL with an error. */
struct counts *counts_new(const struct code_map *map, penta_error *err);
void counts_free(struct counts *c);
/* Before anything is counted: the stretches start at these instructions (numbers in the map, in
 * order). Without it they are the blocks of the map. */
bool counts_cut(struct counts *c, const uint32_t *starts, size_t count, penta_error *err);

/* For engines that mark the starts of stretches in their code: what to do on arrival, by
 * instruction, whose pcs are given (NULL: they are numbered). stretch << COUNT_SHIFT | enum
 * count_place, but function << COUNT_SHIFT | COUNT_CALL. Free it; NULL: no memory. */
enum { COUNT_SHIFT = 2, COUNT_MASK = 3 };
uint32_t *counts_places(const struct counts *c, const uint64_t *pcs, size_t count);

static inline uint32_t counts_stretch(const struct counts *c, uint32_t place)
{
    uint32_t number = place >> COUNT_SHIFT;
    return (place & COUNT_MASK) == COUNT_CALL ? c->first_stretch[number] : number;
}

/* A host calls the program: no call is open. */
void counts_restart(struct counts *c);
/* Arrival at a stretch of another function; at the start of a function; where a call returns to. */
void counts_move(struct counts *c, uint32_t stretch);
void counts_call(struct counts *c, uint32_t function, uint64_t key);
void counts_return(struct counts *c, uint32_t stretch, uint64_t key);

/* The same where nothing has to be looked up, which is nearly always: no function is called, and few
 * loads depend on each other. False: nothing was done. */
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
    if (frame == c->top && path == c->path) path->calls--; /* a loop to its own start */
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
/* While an engine keeps the count of a loop itself nothing is known, until it puts counts back. */
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

/* A run goes on in the middle of a stretch; one that was counted as a whole is left before the
 * instruction at pc; only the instruction at pc is executed. */
void counts_resume(struct counts *c, uint64_t pc);
void counts_leave(struct counts *c, uint64_t pc);
void counts_leave_after(struct counts *c, uint64_t pc);
/* Work that the instruction of this stretch, which was just entered, did. */
static inline void counts_work(struct counts *c, uint32_t stretch, uint64_t work)
{
    if (c->path->work) c->path->work[stretch - c->path->first] += work;
}

/* For readers, when the machine stands still: executions by instruction of the map, and of a path. */
bool counts_instructions(const struct counts *c, uint64_t *counts, penta_error *err);
uint64_t counts_path_instructions(const struct counts *c, const struct count_path *path);
uint64_t counts_path_calls(const struct count_path *path);
