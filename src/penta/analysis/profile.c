/* Implements profiles: copies what an engine counted into an object that outlives the machine,
 * and prints call paths as lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/options.h"
#include "base/sanitize.h"
#include "core/structure/counts.h"
#include "penta/analysis/profile_struct.h"
#include "penta/analysis/samples.h"
#include "penta/session_struct.h"

bool penta_session_count(penta_session *s, penta_error *err)
{
    *err = (penta_error){0};
    const struct engine *engine = s->vm->engine;
    if (s->counts) return true;
    if (s->debugger) return error_at(err, BASE_STATE, 0, "a debugger is attached to the session");
    if (!engine->count)
        return error_at(err, BASE_UNSUPPORTED, 0, "engine %s cannot count instructions",
                        engine->name);
    s->code_map = code_map_new(s->module, err);
    s->counts = s->code_map ? counts_new(s->code_map, err) : NULL;
    if (s->counts && engine->count(s->vm, s->counts, err)) return true;
    session_count_free(s);
    return false;
}

void session_count_free(struct penta_session *s)
{
    counts_free(s->counts);
    samples_free(s->samples);
    code_map_free(s->code_map);
    s->counts = NULL;
    s->samples = NULL;
    s->code_map = NULL;
}

struct taking {
    penta_profile *p;
    const struct counts *counts;
    /* `cost_of` is what running each stretch once costs, or NULL when there is no such cost. */
    const uint64_t *cost_of;
    penta_error *err;
};

static uint64_t path_cost(const struct taking *t, const struct count_path *path)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < path->size; i++)
        sum += path->work   ? path->work[i]
               : t->cost_of ? path->counts[i] * t->cost_of[path->first + i]
                            : 0;
    return sum;
}

static void take_costs(const struct taking *t, const struct count_path *path)
{
    for (size_t i = 0; t->p->costs && i < path->size; i++) {
        uint64_t once = t->cost_of ? t->cost_of[path->first + i] : 0;
        t->p->costs[t->counts->starts[path->first + i]] += path->work ? path->work[i]
                                                           : once     ? path->counts[i] * once
                                                                      : 0;
    }
}

/* Copies a path and the paths below it. A path in which nothing ran, such as a start that was
 * never used, is left out. */
static void take_path(struct taking *t, const struct count_path *path, size_t parent)
{
    penta_profile *p = t->p;
    size_t number = parent;
    penta_path out = {.parent = parent,
                      .function = path->function == UINT32_MAX ? SIZE_MAX : path->function,
                      .calls = counts_path_calls(path),
                      .executions = counts_path_instructions(t->counts, path),
                      .cost = path_cost(t, path)};
    take_costs(t, path);
    bool used = path != t->counts->root && (out.executions || path->child);
    if (used && ARRAY_GROW(p->paths, p->path_capacity, p->path_count, t->err)) {
        number = p->path_count++;
        p->paths[number] = out;
    }
    for (const struct count_path *c = path->child; c && !t->err->code; c = c->sibling)
        take_path(t, c, number);
}

static uint64_t *block_costs(const penta_session *s, penta_error *err)
{
    const struct counts *c = s->counts;
    uint64_t *costs = calloc(c->count + 1, sizeof *costs);
    if (!costs) error_at(err, BASE_MEMORY, 0, "no memory for a profile");
    for (size_t i = 0; costs && i < c->count; i++)
        costs[i] = c->cost(s->vm, c->map->insns[c->starts[i]].pc);
    return costs;
}

penta_profile *penta_profile_empty(const penta_module *module, penta_error *err)
{
    *err = (penta_error){0};
    struct penta_profile *p = zeros_new(sizeof *p, "a profile", err);
    if (!p) return NULL;
    p->structure.map = code_map_new(module, err);
    if (p->structure.map) {
        p->counts = calloc(p->structure.map->count + 1, sizeof *p->counts);
        p->costs = calloc(p->structure.map->count + 1, sizeof *p->costs);
        if (!p->counts || !p->costs) error_at(err, BASE_MEMORY, 0, "no memory for a profile");
    }
    if (!err->code) return p;
    penta_profile_free(p);
    return NULL;
}

static void add_up(penta_profile *p)
{
    p->total = p->unknown;
    p->total_cost = 0;
    for (size_t i = 0; i < p->structure.map->count; i++) {
        p->total += p->counts[i];
        p->total_cost += p->costs[i];
    }
}

static void take_counts(penta_profile *p, const penta_session *s, penta_error *err)
{
    uint64_t *costs = s->counts->cost ? block_costs(s, err) : NULL;
    struct taking t = {p, s->counts, costs, err};
    p->cost_name = s->counts->cost_name;
    if (s->counts->failed)
        error_at(err, BASE_MEMORY, 0, "there was no memory to keep all call paths apart");
    if (!err->code && counts_instructions(s->counts, p->counts, err))
        take_path(&t, s->counts->root, SIZE_MAX);
    free(costs);
}

static void add_path(penta_profile *p, penta_path path, penta_error *err)
{
    if (ARRAY_GROW(p->paths, p->path_capacity, p->path_count, err))
        p->paths[p->path_count++] = path;
}

/* Copies samples. Those that belong to no path are put into a path without a function. */
static void take_samples(penta_profile *p, const struct samples *s, penta_error *err)
{
    p->sampled = true;
    p->unknown = s->unknown;
    memcpy(p->counts, s->counts, s->map->count * sizeof *p->counts);
    for (uint32_t i = 0; i < s->path_count && !err->code; i++) {
        const struct sample_path *path = &s->paths[i];
        size_t parent = path->parent == UINT32_MAX ? SIZE_MAX : path->parent;
        add_path(p, (penta_path){parent, path->function, 0, path->samples, 0}, err);
    }
    uint64_t rest = s->unknown + s->unplaced;
    if (rest && !err->code) add_path(p, (penta_path){SIZE_MAX, SIZE_MAX, 0, rest, 0}, err);
}

penta_profile *penta_profile_new(const penta_session *s, penta_error *err)
{
    *err = (penta_error){0};
    if (!s->counts && !s->samples) {
        error_at(err, BASE_STATE, 0, "the session counts nothing");
        return NULL;
    }
    penta_profile *p = penta_profile_empty(s->module, err);
    if (!p) return NULL;
    if (s->counts)
        take_counts(p, s, err);
    else
        take_samples(p, s->samples, err);
    add_up(p);
    if (!err->code) return p;
    penta_profile_free(p);
    return NULL;
}

void penta_profile_free(penta_profile *p)
{
    if (!p) return;
    code_map_free(p->structure.map);
    free(p->counts);
    free(p->costs);
    free(p->paths);
    free(p);
}

static size_t same_path(penta_profile *p, size_t parent, const penta_path *wanted, penta_error *err)
{
    for (size_t i = 0; i < p->path_count; i++)
        if (p->paths[i].parent == parent && p->paths[i].function == wanted->function) return i;
    if (!ARRAY_GROW(p->paths, p->path_capacity, p->path_count, err)) return SIZE_MAX;
    p->paths[p->path_count] = (penta_path){.parent = parent, .function = wanted->function};
    return p->path_count++;
}

static bool same_program(const penta_profile *a, const penta_profile *b)
{
    penta_bytes x = a->structure.map->module->file, y = b->structure.map->module->file;
    return x.size == y.size && (!x.size || !memcmp(x.data, y.data, x.size)) &&
           a->structure.map->count == b->structure.map->count;
}

bool penta_profile_add(penta_profile *p, const penta_profile *other, penta_error *err)
{
    *err = (penta_error){0};
    if (!same_program(p, other))
        return error_at(err, BASE_STATE, 0, "the two profiles are of different programs");
    if (p->sampled != other->sampled)
        return error_at(err, BASE_STATE, 0, "one profile has counts, the other samples");
    size_t *numbers = calloc(other->path_count + 1, sizeof *numbers);
    if (!numbers) return error_at(err, BASE_MEMORY, 0, "no memory for a profile");
    for (size_t i = 0; i < other->path_count && !err->code; i++) {
        const penta_path *from = &other->paths[i];
        size_t parent = from->parent == SIZE_MAX ? SIZE_MAX : numbers[from->parent];
        numbers[i] = same_path(p, parent, from, err);
        if (err->code) break;
        penta_path *to = &p->paths[numbers[i]];
        to->calls += from->calls;
        to->executions += from->executions;
        to->cost += from->cost;
    }
    for (size_t i = 0; i < p->structure.map->count && !err->code; i++) {
        p->counts[i] += other->counts[i];
        p->costs[i] += other->costs[i];
    }
    if (!err->code) p->unknown += other->unknown;
    free(numbers);
    add_up(p);
    return !err->code;
}

const penta_structure *penta_profile_structure(const penta_profile *p) { return &p->structure; }
const char *penta_profile_unit(const penta_profile *p) { return profile_unit(p); }
const char *penta_profile_cost_name(const penta_profile *p) { return p->cost_name; }
uint64_t penta_profile_total(const penta_profile *p) { return p->total; }
uint64_t penta_profile_total_cost(const penta_profile *p) { return p->total_cost; }

bool penta_profile_at(const penta_profile *p, uint64_t pc, uint64_t *executions, uint64_t *cost)
{
    size_t i = code_map_find(p->structure.map, pc);
    if (i == p->structure.map->count) return false;
    *executions = p->counts[i];
    *cost = p->costs[i];
    return true;
}

bool penta_profile_path_at(const penta_profile *p, size_t i, penta_path *path)
{
    if (i >= p->path_count) return false;
    *path = p->paths[i];
    return true;
}

bool profile_counted(const penta_profile *p, penta_error *err)
{
    return !p->sampled ||
           error_at(err, BASE_UNSUPPORTED, 0, "samples do not tell what ran and what did not");
}

bool profile_weight(const penta_profile *p, const penta_option *options, size_t count,
                    bool *by_cost, penta_error *err)
{
    const char *name = option_text(options, count, "weight");
    *by_cost = name && p->cost_name && !strcmp(name, p->cost_name);
    if (!name || *by_cost || !strcmp(name, profile_unit(p))) return true;
    if (p->cost_name)
        return error_at(err, BASE_OPTION_VALUE, 0, "weight '%.30s' is neither %s nor %s", name,
                        profile_unit(p), p->cost_name);
    return error_at(err, BASE_OPTION_VALUE, 0, "weight '%.30s': this run has only %s", name,
                    profile_unit(p));
}

void profile_print_at(const penta_profile *p, uint64_t pc, struct writer *out)
{
    const penta_module *module = p->structure.map->module;
    struct writer text = {0};
    if (module->driver->print_at) module->driver->print_at(module, pc, &text);
    writer_safe(out, writer_view(&text));
    out->failed |= text.failed;
    writer_free(&text);
}

uint64_t *profile_inclusive(const penta_profile *p, bool by_cost)
{
    uint64_t *sums = calloc(p->path_count + 1, sizeof *sums);
    for (size_t i = p->path_count; sums && i--;) {
        sums[i] += by_cost ? p->paths[i].cost : p->paths[i].executions;
        if (p->paths[i].parent != SIZE_MAX) sums[p->paths[i].parent] += sums[i];
    }
    return sums;
}

/* Writes a name for folded lines, in which a semicolon separates functions and a space precedes the number. */
static void folded_name(struct writer *w, const char *name)
{
    for (; *name; name++) writer_char(w, *name == ';' ? ':' : *name == ' ' ? '_' : *name);
}

static void folded_path(struct writer *w, const penta_profile *p, size_t i)
{
    if (p->paths[i].parent != SIZE_MAX) {
        folded_path(w, p, p->paths[i].parent);
        writer_char(w, ';');
    }
    folded_name(w, profile_function_name(p, p->paths[i].function));
}

static const penta_option_info folded_options[] = {
    OPTION_ROW("weight", TEXT("NAME"), OPTION_PRINT, ""), {.key = NULL}};

bool penta_profile_folded(const penta_profile *p, const penta_option *options, size_t count,
                          penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    bool by_cost;
    if (!options_check(options, count, folded_options, OPTION_PRINT, err) ||
        !profile_weight(p, options, count, &by_cost, err))
        return false;
    for (size_t i = 0; i < p->path_count; i++) {
        uint64_t n = by_cost ? p->paths[i].cost : p->paths[i].executions;
        if (!n) continue;
        folded_path(&w, p, i);
        writer_print(&w, " %" PRIu64 "\n", n);
    }
    return writer_give(&w, true, out, err);
}
