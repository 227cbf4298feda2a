/* Describes a machine as a tree, and saves and loads its snapshots. */
#include "core/describe.h"
#include "core/snapshot.h"
#include "tvmr/vm/ops.h"
#include <stdio.h>

/* Describes numbers as a node of the tree. A stamp counts changes from 0, but the stamp of a
 * node must not be 0. */
static void describe_numbers(const penta_visitor *v, const char *name, const int32_t *data,
                             size_t count, uint64_t stamp)
{
    penta_node list = {.name = name, .list = true, .stamp = stamp + 1, .items = &count};
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i < count; i++)
        describe_field(v, (penta_field){.name = "value", .kind = PENTA_SINT, .as.i = data[i]});
    describe_leave(v, list);
}

static void describe_shape(const penta_visitor *v, const char *name, const struct tvmr_shape *s)
{
    penta_node list = {.name = name, .list = true};
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i < s->rank; i++) describe_uint(v, "dim", s->dims[i]);
    describe_leave(v, list);
}

static void describe_hot(const struct tvmr_hot *h, const char *name, const penta_visitor *v)
{
    penta_node node = {.name = name, .stamp = h->stamp + 1};
    if (!describe_enter(v, node)) return;
    describe_shape(v, "shape", &h->shape);
    describe_numbers(v, "data", h->data, h->count, h->stamp);
    describe_leave(v, node);
}

static void describe_cold(const struct tvmr_cold *c, const char *name, const penta_visitor *v)
{
    uint64_t stamp = c->stamp + 1;
    size_t weight_count = c->count, temp_count = c->count;
    penta_node node = {.name = name, .stamp = stamp};
    penta_node weights = {.name = "weights", .list = true, .stamp = stamp, .items = &weight_count};
    penta_node temps = {.name = "temperatures", .list = true, .stamp = stamp, .items = &temp_count};
    if (!describe_enter(v, node)) return;
    if (c->key_size)
        describe_field(
            v, (penta_field){.name = "key", .kind = PENTA_TEXT, .as.bytes = {c->key, c->key_size}});
    describe_shape(v, "shape", &c->shape);
    if (c->frozen) describe_bool(v, "frozen", true);
    if (c->dirty) describe_bool(v, "dirty", true);
    if (describe_enter(v, weights)) {
        for (size_t i = 0; i < weight_count; i++)
            describe_field(v, (penta_field){.name = "value",
                                            .kind = PENTA_SINT,
                                            .as.i = tvmr_value(c->weights[i])});
        describe_leave(v, weights);
    }
    if (c->temps && describe_enter(v, temps)) {
        for (size_t i = 0; i < temp_count; i++) describe_uint(v, "temperature", c->temps[i]);
        describe_leave(v, temps);
    }
    describe_leave(v, node);
}

static void describe_registers(const struct tvmr_vm *vm, const penta_visitor *v)
{
    penta_node node = {.name = "registers"};
    char name[8];
    if (!describe_enter(v, node)) return;
    for (unsigned i = 0; i < 256; i++) {
        unsigned k = i & 63;
        tvmr_register_name((uint8_t)i, name);
        if (i < 64 && vm->hot[k].present) describe_hot(&vm->hot[k], name, v);
        if (i >> 6 == 1 && vm->cold[k].present) describe_cold(&vm->cold[k], name, v);
        if (i >> 6 == 2 && vm->param[k])
            describe_field(v,
                           (penta_field){.name = name, .kind = PENTA_SINT, .as.i = vm->param[k]});
        if (i >> 6 == 3 && vm->shape[k].rank) describe_shape(v, name, &vm->shape[k]);
    }
    describe_leave(v, node);
}

static void describe_pressure(const struct tvmr_vm *vm, const penta_visitor *v)
{
    penta_node node = {.name = "pressure"};
    bool any = false;
    for (unsigned i = 0; i < TVMR_BANK; i++) any |= vm->pressure[i].present;
    if (!any || !describe_enter(v, node)) return;
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        char name[8];
        tvmr_register_name((uint8_t)(64 + i), name);
        if (vm->pressure[i].present)
            describe_numbers(v, name, vm->pressure[i].data, vm->pressure[i].count,
                             vm->pressure[i].stamp);
    }
    describe_leave(v, node);
}

static void describe_outputs(const struct tvmr_vm *vm, const penta_visitor *v)
{
    describe_numbers(v, "output", vm->output.data, vm->output.count, vm->output.stamp);
    penta_node list = {.name = "outputs", .list = true, .stamp = vm->outputs.stamp + 1};
    if (vm->input_count < 2 || !describe_enter(v, list)) return;
    for (size_t i = 0, from = 0; i < vm->output_count; from = vm->output_ends[i++])
        describe_numbers(v, "run", vm->outputs.data + from, vm->output_ends[i] - from, vm->loads);
    describe_leave(v, list);
}

void tvmr_vm_describe(const penta_vm *base, const penta_visitor *v)
{
    static const char *const chemicals[] = {"dopamine", "serotonin", "norepinephrine", "gaba"};
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    describe_uint(v, "pc", vm->pc);
    describe_uint(v, "executed", vm->executed);
    penta_node fault = {.name = "fault"};
    if (vm->fault && describe_enter(v, fault)) {
        describe_text(v, "kind", tvmr_fault_name(vm->fault));
        describe_text(v, "text", vm->fault_text);
        describe_leave(v, fault);
    }
    if (*vm->warning) describe_text(v, "warning", vm->warning);
    describe_outputs(vm, v);
    describe_registers(vm, v);
    describe_pressure(vm, v);
    if (vm->current_error)
        describe_field(
            v,
            (penta_field){.name = "current_error", .kind = PENTA_SINT, .as.i = vm->current_error});
    if (vm->babble_scale || vm->babble_phase) {
        describe_uint(v, "babble_scale", (uint64_t)vm->babble_scale);
        describe_uint(v, "babble_phase", vm->babble_phase);
    }
    for (unsigned i = 0; i < 4; i++)
        if (vm->chem[i] != 128) describe_uint(v, chemicals[i], vm->chem[i]);
}

/* Walks over an array and its capacity. The memory budget counts capacities, so a machine that was loaded runs out
 * of memory at the same instruction as one that ran there. */
static void walk_items(struct tvmr_vm *vm, struct walk *w, void *pointer, size_t *count,
                       size_t *capacity, size_t item)
{
    void *data;
    size_t held =
        *count <= *capacity ? *count : 0; /* An array that was released keeps its old count. */
    size_t n = walk_count(w, held, item), saved = (size_t)walk_number(w, *capacity);
    if (walk_loads(w)) {
        *count = 0;
        if (saved < n) walk_wrong(w, "the snapshot has more items than room for them");
        if (walk_failed(w)) return;
        if (!tvmr_reserve(vm, pointer, capacity, saved, item)) {
            error_at(w->in.err, BASE_MEMORY, 0, "the snapshot is over the memory budget");
            return;
        }
        *count = n;
    }
    memcpy(&data, pointer, sizeof data);
    walk_numbers(w, data, n, item);
}

/* Walks over the capacity of an array that is empty between two instructions but counts in the budget. */
static void walk_room(struct tvmr_vm *vm, struct walk *w, void *pointer, size_t *capacity,
                      size_t item)
{
    size_t none = 0;
    walk_items(vm, w, pointer, &none, capacity, item);
}

static void walk_shape(struct tvmr_vm *vm, struct walk *w, struct tvmr_shape *shape)
{
    size_t rank = shape->rank, capacity = shape->capacity;
    walk_items(vm, w, &shape->dims, &rank, &capacity, sizeof *shape->dims);
    shape->rank = (uint32_t)rank;
    shape->capacity = (uint32_t)capacity;
}

static void walk_buffer(struct tvmr_vm *vm, struct walk *w, struct tvmr_buffer *b)
{
    walk_items(vm, w, &b->data, &b->count, &b->capacity, sizeof *b->data);
}

static void walk_pressure(struct tvmr_vm *vm, struct walk *w, struct tvmr_pressure *p)
{
    WALK_NUMBER(w, p->present);
    walk_items(vm, w, &p->data, &p->count, &p->capacity, sizeof *p->data);
}

static void walk_hot(struct tvmr_vm *vm, struct walk *w, struct tvmr_hot *h)
{
    WALK_NUMBER(w, h->present);
    walk_items(vm, w, &h->data, &h->count, &h->capacity, sizeof *h->data);
    walk_shape(vm, w, &h->shape);
}

static void walk_correlation(struct tvmr_vm *vm, struct walk *w, struct tvmr_correlation *c)
{
    WALK_NUMBER(w, c->present);
    walk_items(vm, w, &c->data, &c->count, &c->capacity, sizeof *c->data);
}

static bool shape_fits(const struct tvmr_shape *shape, size_t count)
{
    uint64_t product = 1;
    for (unsigned i = 0; i < shape->rank; i++) {
        product *= shape->dims[i];
        if (product > UINT32_MAX) return false; /* No budget allows so many elements. */
    }
    return product == count;
}

static void walk_cold(struct tvmr_vm *vm, struct walk *w, struct tvmr_cold *c)
{
    WALK_NUMBER(w, c->present);
    if (!c->present) return;
    size_t bytes = c->count * 2, capacity = c->capacity * 2;
    bool temps = c->temps != NULL;
    WALK_NUMBER(w, c->frozen);
    WALK_NUMBER(w, c->dirty);
    WALK_NUMBER(w, c->key_size);
    walk_numbers(w, c->key, c->key_size, 1);
    walk_items(vm, w, &c->weights, &bytes, &capacity, 1);
    c->count = bytes / 2;
    c->capacity = capacity / 2;
    walk_shape(vm, w, &c->shape);
    WALK_NUMBER(w, temps);
    size_t n = c->count;
    if (temps) walk_items(vm, w, &c->temps, &n, &c->temps_capacity, 1);
    if (walk_failed(w)) return;
    if (bytes % 2 || capacity % 2 || n != c->count || (temps && !c->temps) ||
        !shape_fits(&c->shape, c->count))
        walk_wrong(w, "the snapshot has weights that do not fit their shape");
}

static void walk_runs(struct tvmr_vm *vm, struct walk *w)
{
    WALK_NUMBER(w, vm->input_next);
    walk_buffer(vm, w, &vm->outputs);
    walk_array(w, &vm->output_ends, &vm->output_count, &vm->output_capacity,
               sizeof *vm->output_ends);
    if (walk_failed(w)) return;
    bool fits = vm->input_next <= vm->input_count;
    for (size_t i = 0; i < vm->output_count; i++)
        fits = fits && vm->output_ends[i] <= vm->outputs.count &&
               (!i || vm->output_ends[i] >= vm->output_ends[i - 1]);
    if (!fits) walk_wrong(w, "the snapshot has outputs whose sizes do not fit");
}

static void walk_call(struct tvmr_vm *vm, struct walk *w)
{
    const struct tvmr_op *op = vm->yield_op;
    uint64_t number = op ? (uint64_t)op->ext << 16 | op->opcode : UINT64_MAX;
    WALK_NUMBER(w, vm->waiting);
    WALK_NUMBER(w, number);
    walk_numbers(w, vm->yield_args, TVMR_YIELD_ARGS, sizeof *vm->yield_args);
    if (!walk_loads(w)) return;
    bool none = number == UINT64_MAX;
    vm->yield_op = none || number > UINT32_MAX
                       ? NULL
                       : tvmr_op_find((uint16_t)(number >> 16), (uint16_t)number);
    if ((!none || vm->waiting) && (!vm->yield_op || !vm->yield_op->domain))
        walk_wrong(w, "no operation that asks the host");
}

static void walk_fields(struct tvmr_vm *vm, struct walk *w)
{
    WALK_NUMBER(w, vm->profile);
    if (!tvmr_profile_name(vm->profile)) {
        vm->profile = TVMR_PROFILE_PENTA;
        walk_wrong(w, "the snapshot has an unknown profile");
    }
    WALK_NUMBER(w, vm->pc);
    WALK_NUMBER(w, vm->at);
    WALK_NUMBER(w, vm->executed);
    WALK_NUMBER(w, vm->final);
    WALK_NUMBER(w, vm->halted);
    WALK_NUMBER(w, vm->settled);
    WALK_NUMBER(w, vm->fault);
    walk_numbers(w, vm->fault_text, sizeof vm->fault_text, 1);
    vm->fault_text[sizeof vm->fault_text - 1] = 0;
    WALK_NUMBER(w, vm->loop_depth);
    WALK_NUMBER(w, vm->call_depth);
    if (vm->loop_depth > TVMR_DEPTH || vm->call_depth > TVMR_DEPTH || vm->fault >= TVMR_FAULTS) {
        vm->loop_depth = vm->call_depth = 0;
        walk_wrong(w, "the snapshot has a state that no program can reach");
    }
    for (size_t i = 0; i < vm->loop_depth; i++) {
        WALK_NUMBER(w, vm->loops[i].start);
        WALK_NUMBER(w, vm->loops[i].remaining);
    }
    walk_numbers(w, vm->calls, vm->call_depth, sizeof *vm->calls);
    walk_numbers(w, vm->chem, 4, sizeof *vm->chem);
    WALK_NUMBER(w, vm->current_error);
    WALK_NUMBER(w, vm->babble_scale);
    WALK_NUMBER(w, vm->babble_phase);
    WALK_NUMBER(w, vm->chl_phase);
    WALK_NUMBER(w, vm->testing);
    WALK_NUMBER(w, vm->test_id);
}

static void walk_models(struct tvmr_vm *vm, struct walk *w)
{
    for (unsigned i = 0; i < TVMR_MODELS; i++) {
        struct tvmr_model *m = &vm->models[i];
        uint64_t bits = (uint64_t)m->loaded | (uint64_t)m->running << 1 |
                        (uint64_t)m->has_input << 2 | (uint64_t)m->has_output << 3 |
                        (uint64_t)m->input << 8 | (uint64_t)m->output << 16;
        WALK_NUMBER(w, bits);
        *m = (struct tvmr_model){bits & 1,      bits >> 1 & 1,        bits >> 2 & 1,
                                 bits >> 3 & 1, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16)};
    }
}

static void walk_notes(struct tvmr_vm *vm, struct walk *w)
{
    WALK_NUMBER(w, vm->note_count);
    if (vm->note_count > TVMR_NOTES) {
        vm->note_count = 0;
        walk_wrong(w, "too many notes");
    }
    for (size_t i = 0; i < vm->note_count; i++) {
        struct tvmr_note *n = &vm->notes[i];
        WALK_NUMBER(w, n->rule);
        WALK_NUMBER(w, n->to);
        WALK_NUMBER(w, n->from);
        WALK_NUMBER(w, n->want);
        WALK_NUMBER(w, n->have);
        WALK_NUMBER(w, n->pc);
        WALK_NUMBER(w, n->times);
    }
}

static void drop_shape(struct tvmr_vm *vm, struct tvmr_shape *shape)
{
    size_t capacity = shape->capacity;
    tvmr_release(vm, &shape->dims, &capacity, sizeof *shape->dims);
    *shape = (struct tvmr_shape){0};
}

/* Releases all arrays, so that the arrays of a snapshot fit into the budget in any order. */
static void drop_all(struct tvmr_vm *vm)
{
    struct tvmr_buffer *buffers[] = {&vm->input,  &vm->output, &vm->target, &vm->outputs,
                                     &vm->aux[0], &vm->aux[1], &vm->aux[2]};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        tvmr_release(vm, &buffers[i]->data, &buffers[i]->capacity, sizeof *buffers[i]->data);
        buffers[i]->stamp++;
    }
    tvmr_hot_drop(vm, &vm->scratch);
    drop_shape(vm, &vm->scratch.shape);
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        tvmr_hot_drop(vm, &vm->hot[i]);
        drop_shape(vm, &vm->hot[i].shape);
        drop_shape(vm, &vm->shape[i]);
        tvmr_cold_drop(vm, &vm->cold[i]);
        tvmr_cold_drop(vm, &vm->checkpoints[i]);
        struct tvmr_pressure *pressures[] = {&vm->pressure[i], &vm->snapshots[i]};
        struct tvmr_correlation *correlations[] = {&vm->chl_free[i], &vm->chl_clamped[i]};
        for (unsigned k = 0; k < 2; k++) {
            tvmr_release(vm, &pressures[k]->data, &pressures[k]->capacity,
                         sizeof *pressures[k]->data);
            pressures[k]->stamp++;
            tvmr_release(vm, &correlations[k]->data, &correlations[k]->capacity,
                         sizeof *correlations[k]->data);
        }
    }
}

/* Walks over the state of an interrupted instruction. Loops over registers end at their length,
 * whatever the saved number is. Snapshots of older versions lack this state, because they were
 * taken between instructions. */
static void walk_begun(struct tvmr_vm *vm, struct walk *w)
{
    vm->paused = false;
    if (walk_loads(w) && !walk_failed(w) && !reader_left(&w->in)) {
        vm->begun = false;
        vm->progress = 0;
        return;
    }
    WALK_NUMBER(w, vm->begun);
    WALK_NUMBER(w, vm->progress);
    if (vm->progress > vm->memory_max)
        walk_wrong(w, "the snapshot has more progress than the instruction can make");
}

void tvmr_vm_walk(penta_vm *base, struct walk *w)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    if (walk_loads(w)) {
        drop_all(vm);
        vm->loads++;
        vm->at_break = false;
    }
    walk_call(vm, w);
    walk_buffer(vm, w, &vm->input);
    walk_buffer(vm, w, &vm->output);
    walk_buffer(vm, w, &vm->target);
    walk_runs(vm, w);
    for (unsigned i = 0; i < TVMR_BANK && !walk_failed(w); i++) {
        walk_hot(vm, w, &vm->hot[i]);
        walk_cold(vm, w, &vm->cold[i]);
        WALK_NUMBER(w, vm->param[i]);
        walk_shape(vm, w, &vm->shape[i]);
        walk_pressure(vm, w, &vm->pressure[i]);
        walk_correlation(vm, w, &vm->chl_free[i]);
        walk_correlation(vm, w, &vm->chl_clamped[i]);
        walk_cold(vm, w, &vm->checkpoints[i]);
        walk_pressure(vm, w, &vm->snapshots[i]);
    }
    walk_room(vm, w, &vm->scratch.data, &vm->scratch.capacity, sizeof *vm->scratch.data);
    size_t rank = vm->scratch.shape.capacity;
    walk_room(vm, w, &vm->scratch.shape.dims, &rank, sizeof *vm->scratch.shape.dims);
    vm->scratch.shape.capacity = (uint32_t)rank;
    for (unsigned i = 0; i < 3; i++)
        walk_room(vm, w, &vm->aux[i].data, &vm->aux[i].capacity, sizeof *vm->aux[i].data);
    walk_models(vm, w);
    walk_notes(vm, w);
    walk_fields(vm, w); /* The fault is walked after the arrays, because loading the arrays may
                         * exceed the budget. */
    walk_begun(vm, w);
}
