/* Makes the race report (DEVICE 4).
 *
 *  Two tasks are unordered unless the host saw the end of one before it launched the other. A
 * race is a pair of accesses by unordered tasks to a common byte, one of them a write. Programs
 * of version 1 have no branches, so what a task accessed follows from the number of instructions
 * that it executed. Nothing is logged while tasks run, and the report follows from the records
 * alone: it costs nothing until the host asks for it, and it is the same in every mode.
 *
 *  Programs of grids do branch. grid_check.c has recorded what each of their instructions
 * accessed, and the races among the threads of a grid.
 *
 *  Tasks that executed the same instructions of the same program form a class; each grid is a
 * class of its own. For two classes, only the smallest unordered pair of tasks counts. Tasks are
 * visited in launch order, so findings come in the order of (launch A, launch B), and the first
 * finding with a key is the one to report.
 *
 *  There may be CLASSES classes, RECORDS findings and WORK visited intervals. More are left out;
 * the order of the search is fixed, so the report stays the same. */
#include <stdlib.h>
#include "gpu/child/device.h"
#include "base/array.h"
#include "gpu/child/key_set.h"

enum { CLASSES = 4096, RECORDS = 1 << 16, WORK = 1 << 28 };

struct access {
    uint64_t from, last; /* first and last byte of the access */
    uint64_t high;       /* the largest `last` in the subtree of this element */
    uint32_t index;      /* index of the instruction that made the access */
    uint8_t kind;        /* kind of the access, of enum kblob_access_kind */
};

/* Intervals sorted by `from`. The array is a balanced tree: the root of the elements [low, high)
 * is the one in the middle. */
struct tree {
    struct access *items;
    size_t count;
};

struct class
{
    struct kernel *kernel;
    uint32_t executed;
    uint32_t *launches; /* launch ids in ascending order */
    size_t launch_count;
    bool built;
    struct grid_check *grid; /* set for a grid, else NULL */
    struct access *list;     /* accesses in the order of the instructions */
    size_t list_count;
    struct tree reads, writes;
    uint32_t *partners; /* the classes that may still race as the later task */
    size_t partner_count;
};

struct member {
    struct kernel *kernel;
    uint32_t executed, launch;
    struct grid_check *grid;
};

struct search {
    struct device *d;
    struct class *classes;
    size_t class_count;
    uint32_t *class_of; /* the class of launch id i is class_of[i - 1]; NO_INDEX if it has none */
    struct keys keys;
    struct wire_race_threads *found;
    size_t found_count, found_capacity;
    struct access *hits; /* intervals that one query has found */
    size_t hit_count, hit_capacity;
    uint64_t work;
    bool failed;
};

static bool races_spent(const struct search *s)
{
    return s->failed || s->work > WORK || s->found_count >= RECORDS;
}

static int by_start(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static int by_index(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static uint64_t accesses_highest(struct access *items, size_t low, size_t high)
{
    if (low >= high) return 0;
    size_t middle = low + (high - low) / 2;
    uint64_t most = items[middle].last, left = accesses_highest(items, low, middle),
             right = accesses_highest(items, middle + 1, high);
    if (left > most) most = left;
    if (right > most) most = right;
    return items[middle].high = most;
}

static void add_hit(struct search *s, const struct access *hit)
{
    if (!ARRAY_RESERVE(s->hits, s->hit_capacity, s->hit_count + 1)) {
        s->failed = true;
        return;
    }
    s->hits[s->hit_count++] = *hit;
}

static void races_query(struct search *s, const struct tree *t, size_t low, size_t high,
                        uint64_t from, uint64_t last)
{
    if (low >= high || s->failed || ++s->work > WORK) return;
    size_t middle = low + (high - low) / 2;
    const struct access *at = &t->items[middle];
    if (at->high < from) return;
    races_query(s, t, low, middle, from, last);
    if (at->from > last) return;
    if (at->last >= from) add_hit(s, at);
    races_query(s, t, middle + 1, high, from, last);
}

/* Fills the list of a class with the accesses of its tasks. */
static bool list_accesses(struct class *c)
{
    const struct kblob_decoded *program = c->kernel->program;
    const struct spans *spans = c->grid ? grid_check_accesses(c->grid) : NULL;
    size_t count = spans ? spans->count : c->executed;
    c->list = malloc((count + 1) * sizeof *c->list);
    if (!c->list) return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = spans ? spans->items[i].index : (uint32_t)i;
        uint64_t size = spans ? 1 : kblob_access_size(&program[index]);
        uint8_t kind = (uint8_t)grid_access_kind(program[index].op);
        if (!size) continue;
        struct access a = {.from = program[index].arg0, .index = index, .kind = kind};
        a.last = a.from + (size - 1);
        if (spans) a.from = spans->items[i].from, a.last = spans->items[i].last;
        c->list[c->list_count++] = a;
    }
    return true;
}

static void races_build(struct search *s, struct class *c)
{
    if (c->built) return;
    c->built = true;
    size_t reads = 0, writes = 0;
    if (!list_accesses(c)) {
        s->failed = true;
        return;
    }
    for (size_t i = 0; i < c->list_count; i++)
        ++*(c->list[i].kind & KBLOB_WRITES ? &writes : &reads);
    c->reads.items = malloc((reads + 1) * sizeof *c->reads.items);
    c->writes.items = malloc((writes + 1) * sizeof *c->writes.items);
    if (!c->reads.items || !c->writes.items) {
        s->failed = true;
        return;
    }
    for (size_t i = 0; i < c->list_count; i++) {
        struct tree *t = c->list[i].kind & KBLOB_WRITES ? &c->writes : &c->reads;
        t->items[t->count++] = c->list[i];
    }
    struct tree *trees[] = {&c->reads, &c->writes};
    for (int i = 0; i < 2; i++) {
        qsort(trees[i]->items, trees[i]->count, sizeof *trees[i]->items, by_start);
        accesses_highest(trees[i]->items, 0, trees[i]->count);
    }
}

static bool races_apart(const struct tree *a, const struct tree *b)
{
    if (!a->count || !b->count) return true;
    return a->items[a->count / 2].high < b->items[0].from ||
           b->items[b->count / 2].high < a->items[0].from;
}

/* The functions below compare one pair of tasks. */

static uint8_t value_at(const struct kblob_decoded *in, uint64_t address)
{
    uint64_t byte = address - in->arg0;
    return in->op != KBLOB_OP_MEMSET && byte < 4 ? (uint8_t)(in->arg1 >> 8 * byte) : 0;
}

static bool same_value(const struct kblob_decoded *a, const struct kblob_decoded *b, uint64_t from,
                       uint64_t last)
{
    if (a->op == KBLOB_OP_MEMSET && b->op == KBLOB_OP_MEMSET) return true;
    for (uint64_t at = from; at <= last;
         /* There are at most 8 rounds, because one of the two accesses has at most 8 bytes. */
         at++)
        if (value_at(a, at) != value_at(b, at)) return false;
    return true;
}

static void races_report_pair(struct search *s, struct wire_race_threads race)
{
    if (!ARRAY_RESERVE(s->found, s->found_capacity, s->found_count + 1)) {
        s->failed = true;
        return;
    }
    s->found[s->found_count++] = race;
}

/* Compares one access of a task of class x with the accesses of a task of class y. */
static void access_compare(struct search *s, const struct class *x, const struct access *mine,
                           uint32_t a, const struct class *y, uint32_t b)
{
    bool writes = mine->kind & KBLOB_WRITES;
    s->hit_count = 0;
    races_query(s, &y->writes, 0, y->writes.count, mine->from, mine->last);
    if (writes) races_query(s, &y->reads, 0, y->reads.count, mine->from, mine->last);
    if (s->hit_count > 1) qsort(s->hits, s->hit_count, sizeof *s->hits, by_index);
    for (size_t n = 0; n < s->hit_count && !races_spent(s); n++) {
        const struct access *other = &s->hits[n];
        if (mine->kind & other->kind & KBLOB_ATOMIC) continue;
        if (!keys_add(&s->keys, (struct key){x->kernel, y->kernel, mine->index, other->index}))
            continue;
        const struct kblob_decoded *in = &x->kernel->program[mine->index],
                                   *its = &y->kernel->program[other->index];
        uint64_t from = mine->from > other->from ? mine->from : other->from;
        uint64_t last = mine->last < other->last ? mine->last : other->last;
        bool both = writes && other->kind & KBLOB_WRITES;
        /* The values are in the programs, except those of grids. */
        bool known = both && !x->grid && !y->grid;
        races_report_pair(
            s, (struct wire_race_threads){.launch_a = a,
                                          .index_a = mine->index,
                                          .block_a = NO_INDEX,
                                          .thread_a = NO_INDEX,
                                          .launch_b = b,
                                          .index_b = other->index,
                                          .block_b = NO_INDEX,
                                          .thread_b = NO_INDEX,
                                          .address = from,
                                          .length = last - from + 1,
                                          .kind = both ? GPU_RACE_WRITE_WRITE : GPU_RACE_READ_WRITE,
                                          .benign = known && same_value(in, its, from, last)});
    }
}

static void races_compare(struct search *s, const struct class *x, uint32_t a,
                          const struct class *y, uint32_t b)
{
    for (size_t i = 0; i < x->list_count && !races_spent(s); i++)
        access_compare(s, x, &x->list[i], a, y, b);
}

/* Returns the first task of class y after task `a` that is unordered with `a`, or 0 if there is
 * none. */
static uint32_t first_unordered(const struct search *s, uint32_t a, const struct class *y)
{
    size_t low;
    ARRAY_SEARCH(low, 0, y->launch_count, y->launches[low] > a);
    if (low == y->launch_count) return 0;
    uint32_t b = y->launches[low], observed = s->d->tasks[a - 1]->observed;
    return !observed || observed > b ? b : 0;
}

struct candidate {
    uint32_t b, class;
};

static int by_launch(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    return a->b < b->b ? -1 : 1;
}

/* Visits all classes whose smallest unordered pair with the class of task `a` begins with `a`. */
static void races_visit(struct search *s, uint32_t a, struct candidate *candidates)
{
    struct class *x = &s->classes[s->class_of[a - 1]];
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < x->partner_count; i++) {
        uint32_t y = x->partners[i], b = first_unordered(s, a, &s->classes[y]);
        s->work++;
        if (b)
            candidates[count++] = (struct candidate){b, y};
        else
            x->partners[kept++] = y;
    }
    x->partner_count = kept;
    if (count > 1) qsort(candidates, count, sizeof *candidates, by_launch);
    for (size_t i = 0; i < count && !races_spent(s); i++)
        races_compare(s, x, a, &s->classes[candidates[i].class], candidates[i].b);
}

static int by_class(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->kernel != y->kernel) return (uintptr_t)x->kernel < (uintptr_t)y->kernel ? -1 : 1;
    if (x->executed != y->executed) return x->executed < y->executed ? -1 : 1;
    if (x->grid != y->grid) return (uintptr_t)x->grid < (uintptr_t)y->grid ? -1 : 1;
    return x->launch < y->launch ? -1 : 1;
}

static bool same_class(const struct member *a, const struct member *b)
{
    return a->kernel == b->kernel && a->executed == b->executed && a->grid == b->grid;
}

static int by_first_launch(const void *a, const void *b)
{
    const struct class *x = a, *y = b;
    return x->launches[0] < y->launches[0] ? -1 : 1;
}

static bool make_classes(struct search *s, struct member *members, uint32_t *launches, size_t count)
{
    qsort(members, count, sizeof *members, by_class);
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        launches[i] = members[i].launch;
        total += !i || !same_class(&members[i], &members[i - 1]);
    }
    s->classes = calloc(total ? total : 1, sizeof *s->classes);
    if (!s->classes) return false;
    for (size_t i = 0; i < count; i++) {
        if (!i || !same_class(&members[i], &members[i - 1]))
            s->classes[s->class_count++] = (struct class){.kernel = members[i].kernel,
                                                          .executed = members[i].executed,
                                                          .grid = members[i].grid,
                                                          .launches = &launches[i]};
        s->classes[s->class_count - 1].launch_count++;
    }
    qsort(s->classes, s->class_count, sizeof *s->classes, by_first_launch);
    if (s->class_count > CLASSES) s->class_count = CLASSES;
    return true;
}

static bool find_partners(struct search *s)
{
    for (size_t i = 0; i < s->class_count; i++) {
        struct class *x = &s->classes[i];
        races_build(s, x);
        for (size_t n = 0; n < x->launch_count; n++) s->class_of[x->launches[n] - 1] = (uint32_t)i;
    }
    for (size_t i = 0; i < s->class_count && !s->failed; i++) {
        struct class *x = &s->classes[i];
        x->partners = malloc(s->class_count * sizeof *x->partners);
        if (!x->partners) return false;
        for (uint32_t n = 0; n < s->class_count; n++) {
            const struct class *y = &s->classes[n];
            if (!races_apart(&x->writes, &y->writes) || !races_apart(&x->writes, &y->reads) ||
                !races_apart(&x->reads, &y->writes))
                x->partners[x->partner_count++] = n;
        }
    }
    return !s->failed;
}

static void search_all(struct search *s)
{
    uint32_t count = s->d->task_count;
    struct member *members = malloc(count * sizeof *members);
    uint32_t *launches = malloc(count * sizeof *launches);
    s->class_of = malloc(count * sizeof *s->class_of);
    struct candidate *candidates = NULL;
    size_t used = 0;
    if (members && launches && s->class_of) {
        for (uint32_t i = 0; i < count; i++) {
            s->class_of[i] = NO_INDEX;
            uint64_t executed = tasks_record(s->d->tasks[i]).instructions;
            struct kernel *kernel = s->d->tasks[i]->kernel;
            if (kernel && executed)
                members[used++] = (struct member){
                    kernel, executed < kernel->count ? (uint32_t)executed : kernel->count, i + 1,
                    kernel->grid ? s->d->tasks[i]->check : NULL};
        }
        if (make_classes(s, members, launches, used) && find_partners(s))
            candidates = malloc((s->class_count + 1) * sizeof *candidates);
        for (uint32_t i = 0; candidates && i < count && !races_spent(s); i++)
            if (s->class_of[i] != NO_INDEX) races_visit(s, i + 1, candidates);
    }
    free(candidates);
    free(members);
    free(launches);
    free(s->class_of);
}

static int by_place(const void *a, const void *b)
{
    const struct wire_race_threads *x = a, *y = b;
    if (x->launch_a != y->launch_a) return x->launch_a < y->launch_a ? -1 : 1;
    if (x->launch_b != y->launch_b) return x->launch_b < y->launch_b ? -1 : 1;
    if (x->index_a != y->index_a) return x->index_a < y->index_a ? -1 : 1;
    return x->index_b < y->index_b ? -1 : x->index_b > y->index_b;
}

/* Adds the races among the threads of each grid. */
static void add_grids(struct search *s)
{
    for (uint32_t i = 0; i < s->d->task_count; i++) {
        const struct grid_check *check = s->d->tasks[i]->check;
        size_t count = 0;
        const struct wire_race_threads *races = check ? grid_check_races(check, &count) : NULL;
        for (size_t n = 0; n < count && s->found_count < RECORDS; n++)
            races_report_pair(s, races[n]);
    }
}

static void write_record(const struct wire_race_threads *r, bool threads, struct writer *out)
{
    struct wire_race plain = {r->launch_a, r->index_a, r->launch_b, r->index_b,
                              r->address,  r->length,  r->kind,     r->benign};
    if (threads)
        wire_race_threads_write(out, r);
    else
        wire_race_write(out, &plain);
}

void races_report(struct device *d, bool threads, struct writer *out)
{
    struct search s = {.d = d};
    if (d->settings.flags & GPU_RACE_CHECK && d->task_count) {
        search_all(&s);
        add_grids(&s);
    }
    size_t reads = 0;
    const struct wire_race_threads *uninitialised = shadow_findings(d, &reads);
    for (size_t i = 0; i < reads; i++) races_report_pair(&s, uninitialised[i]);
    if (s.found_count > 1) qsort(s.found, s.found_count, sizeof *s.found, by_place);
    for (size_t i = 0; i < s.found_count; i++) write_record(&s.found[i], threads, out);
    for (size_t i = 0; i < s.class_count; i++) {
        free(s.classes[i].list);
        free(s.classes[i].reads.items);
        free(s.classes[i].writes.items);
        free(s.classes[i].partners);
    }
    free(s.classes);
    free(s.found);
    free(s.hits);
    keys_free(&s.keys);
}
