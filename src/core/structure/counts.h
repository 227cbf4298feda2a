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

struct count_path {
    struct count_path *parent, *child, *sibling;
    uint32_t function; /* of the code map; UINT32_MAX: calls beyond what is kept apart */
    uint32_t depth;
    uint64_t calls;
    size_t first, size; /* stretches of its function */
    uint64_t *counts;   /* of these */
    uint64_t *work;     /* the same, where the engine measures work; else NULL */
    int64_t extra;      /* instructions to add: corrections for parts of stretches */
};

struct count_frame {
    uint64_t key;
    struct count_path *path;
};

struct counts {
    struct count_path *path;    /* that runs */
    struct count_frame *frames; /* open calls, the outermost first */
    size_t depth, capacity;
    const struct code_map *map;
    uint32_t *starts; /* by stretch: the number of its first instruction; one more at the end */
    uint32_t *function_of;   /* by stretch */
    uint32_t *first_stretch; /* by function; one more at the end */
    size_t count;
    struct count_path *root, *other;
    struct count_path none; /* before anything ran: of no stretch */
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

enum count_place { COUNT_NOT, COUNT_ENTER, COUNT_CALL, COUNT_RETURN };

/* NULL with an error. */
struct counts *counts_new(const struct code_map *map, penta_error *err);
void counts_free(struct counts *c);
/* Before anything is counted: the stretches start at these instructions (numbers in the map, in
 * order). Without it they are the blocks of the map. */
bool counts_cut(struct counts *c, const uint32_t *starts, size_t count, penta_error *err);
/* What to do on arrival at an instruction; and its stretch. */
enum count_place counts_place(const struct counts *c, uint64_t pc, uint32_t *stretch);

/* For engines that mark the starts of stretches in their code: by instruction, whose pcs are
 * given (NULL: they are numbered), stretch << COUNT_SHIFT | enum count_place. Free it; NULL: no memory. */
enum { COUNT_SHIFT = 2, COUNT_MASK = 3 };
uint32_t *counts_places(const struct counts *c, const uint64_t *pcs, size_t count);

/* Arrival at a stretch of another function; at the start of a function; where a call returns to. */
void counts_move(struct counts *c, uint32_t stretch);
void counts_call(struct counts *c, uint32_t stretch, uint64_t key);
void counts_return(struct counts *c, uint32_t stretch, uint64_t key);
static inline void counts_enter(struct counts *c, uint32_t stretch)
{
    if (stretch - c->path->first >= c->path->size) counts_move(c, stretch);
    c->path->counts[stretch - c->path->first]++;
}
static inline void counts_arrive(struct counts *c, uint32_t place, uint64_t key)
{
    if ((place & COUNT_MASK) == COUNT_ENTER)
        counts_enter(c, place >> COUNT_SHIFT);
    else if ((place & COUNT_MASK) == COUNT_CALL)
        counts_call(c, place >> COUNT_SHIFT, key);
    else
        counts_return(c, place >> COUNT_SHIFT, key);
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
