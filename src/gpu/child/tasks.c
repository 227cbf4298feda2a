/* Keeps the records of tasks, and has the function that all three modes use to run some
 * instructions of a task. */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "gpu/child/device.h"
#include "base/array.h"

struct task *tasks_find(const struct device *d, uint32_t launch)
{
    return launch && launch <= d->task_count ? d->tasks[launch - 1] : NULL;
}

static void task_free(struct task *task)
{
    kernel_release(task->kernel);
    grid_check_free(task->check);
    free(task->args);
    free(task);
}

static uint64_t tasks_now(const struct device *d)
{
    return device_deterministic(d) ? d->clock : clock_ms();
}

/* Prepares the machine of a task. A kernel of version 1 runs as one thread. */
static bool launch_machine(struct device *d, struct run *run, struct kernel *kernel,
                           const struct kblob_launch *launch)
{
    const uint64_t fuel = UINT64_C(1) << 32; /* limit of a grid if the host sets none */
    penta_error err = {0};
    kblob_vm_init(&run->vm, kernel->program, kernel->count, &d->memory);
    run->vm.yields = true;
    run->limit = d->settings.max_instructions;
    if (kernel->grid && run->limit == UINT64_MAX) run->limit = fuel;
    if (kernel->grid && d->fuel_cap && run->limit > d->fuel_cap) run->limit = d->fuel_cap;
    return !kernel->grid || kblob_grid_init(&run->vm, launch, &err);
}

struct run *tasks_new(struct device *d, struct kernel *kernel, const struct kblob_launch *launch)
{
    struct task *task = calloc(1, sizeof *task);
    struct run *run = malloc(sizeof *run);
    penta_bytes args = launch->args;
    uint8_t *copy = args.size ? malloc(args.size) : NULL;
    if (!task || !run || (args.size && !copy) || d->task_count >= UINT32_MAX - 1 ||
        !ARRAY_RESERVE(d->tasks, d->task_capacity, d->task_count + 1) ||
        !launch_machine(d, run, kernel, launch)) {
        free(task);
        free(run);
        free(copy);
        return NULL;
    }
    bytes_copy(copy, args);
    task->args = copy;
    task->args_size = args.size;
    task->kernel = kernel;
    atomic_fetch_add_explicit(&kernel->references, 1, memory_order_relaxed);
    task->run = run;
    d->tasks[d->task_count++] = task;
    task->record = (struct wire_task){
        .launch_id = d->task_count, .kernel_id = kernel->id, .state = GPU_TASK_RUNNING};
    run->device = d;
    run->task = task;
    run->cancel = false;
    run->next = NULL;
    run->link = NULL;
    uint64_t start = tasks_now(d), wall = d->settings.task_wall_ms;
    run->deadline = wall < UINT64_MAX - start ? start + wall : UINT64_MAX;
    bool watched = d->trace >= 0 || d->settings.flags & (GPU_RACE_CHECK | GPU_INIT_CHECK);
    if (kernel->grid && watched && !(task->check = grid_check_new(run))) {
        tasks_drop(d, run);
        return NULL;
    }
    return run;
}

void tasks_free(struct run *run)
{
    kblob_grid_free(&run->vm.grid);
    free(run);
}

void tasks_drop(struct device *d, struct run *run)
{
    d->task_count--;
    task_free(run->task);
    tasks_free(run);
}

void tasks_start(struct device *d, struct run *run)
{
    run->next = d->alive;
    run->link = &d->alive;
    if (run->next) run->next->link = &run->next;
    d->alive = run;
    d->alive_count++;
}

void tasks_clear(struct device *d)
{
    for (uint32_t i = 0; i < d->task_count; i++) task_free(d->tasks[i]);
    free(d->tasks);
    d->tasks = NULL;
    d->task_count = d->all_observed = 0;
    d->task_capacity = 0;
}

struct wire_task tasks_record(const struct task *task)
{
    struct wire_task record = task->record;
    if (!task->run) return record;
    const struct kblob_vm *vm = &task->run->vm;
    record.instructions = vm->executed;
    record.flags = vm->has_read ? GPU_TASK_HAS_LAST_READ : 0;
    record.last_read = vm->last_read;
    record.slept_ms = vm->slept_ms;
    return record;
}

struct wire_task_grid tasks_grid(const struct task *task)
{
    if (!task->run) return task->grid;
    const struct kblob_grid *g = &task->run->vm.grid;
    const struct kblob_launch *l = &g->launch;
    struct wire_task_grid record = {1, 1, 1, 1, 1, 1, 0, 1, 0, NO_INDEX, NO_INDEX};
    if (!g->threads) return record; /* A kernel of version 1 has no threads. */
    return (struct wire_task_grid){l->grid[0],    l->grid[1],    l->grid[2], l->threads[0],
                                   l->threads[1], l->threads[2], l->shared,  g->count,
                                   g->ended,      NO_INDEX,      NO_INDEX};
}

static void add_fault(struct device *d, const struct wire_task *record)
{
    if (!ARRAY_RESERVE(d->faults, d->fault_capacity, d->fault_count + 1))
        return; /* The record of the task has the fault in any case. */
    d->faults[d->fault_count++] = (struct wire_fault){
        .launch_id = record->launch_id,
        .kernel_id = record->kernel_id,
        .instruction = record->instruction,
        .opcode = record->opcode,
        .kind = record->kind,
        .address = record->address,
        .length = record->length,
        .nearest_base = record->nearest_base,
        .nearest_size = record->nearest_size,
        .time_ms = device_deterministic(d) ? 0 : clock_ms() - d->opened,
    };
}

static void record_fault(struct run *run, enum kblob_fault kind, uint64_t address, uint64_t length)
{
    struct wire_task *record = &run->task->record;
    record->flags |= GPU_TASK_HAS_FAULT;
    const struct kblob_grid *g = &run->vm.grid;
    run->task->grid.fault_block = g->threads ? kblob_grid_block(g, g->current) : 0;
    run->task->grid.fault_thread = g->threads ? g->current % g->block_threads : 0;
    record->instruction = run->vm.pc;
    record->opcode = run->vm.program[run->vm.pc].op;
    record->kind = (uint8_t)kind;
    record->address = address;
    record->length = length;
    const struct kblob_region *near =
        kind == KBLOB_FAULT_LIMIT ? NULL : kblob_memory_nearest(&run->device->memory, address);
    record->nearest_base = near ? near->base : 0;
    record->nearest_size = near ? near->size : 0;
    add_fault(run->device, record);
}

static bool run_is_waited_for(const struct device *d, const struct run *run)
{
    uint32_t launch = run->task->record.launch_id;
    return d->wait_launch ? launch == d->wait_launch : !d->wait_newest || launch <= d->wait_newest;
}

static void tasks_end(struct run *run, uint32_t state)
{
    struct device *d = run->device;
    struct task *task = run->task;
    task->record.state = state;
    events_end(run);
    if (task->check) grid_check_end(task->check);
    task->run = NULL;
    if (!(d->settings.flags & (GPU_RACE_CHECK | GPU_INIT_CHECK))) {
        kernel_release(task->kernel); /* Only reports need the programs of tasks that have ended. */
        task->kernel = NULL;
    }
    if (run->link) {
        *run->link = run->next;
        if (run->next) run->next->link = run->link;
        run->link = NULL;
        d->alive_count--;
    }
    if (d->wait_left && run_is_waited_for(d, run) && !--d->wait_left && !device_deterministic(d))
        eventfd_write(d->done, 1);
}

static void tasks_finish(struct run *run, uint32_t state, enum kblob_fault fault)
{
    const struct kblob_vm *vm = &run->vm;
    run->task->record = tasks_record(run->task);
    run->task->grid = tasks_grid(run->task);
    if (fault) record_fault(run, fault, vm->fault_address, vm->fault_size);
    tasks_end(run, state);
}

void tasks_cancelled(struct run *run) { tasks_finish(run, GPU_TASK_CANCELLED, KBLOB_FAULT_NONE); }

void tasks_out_of_time(struct run *run)
{
    if (run->vm.asleep) run->vm.executed--; /* The task ended in a SLEEP, which did not complete. */
    tasks_finish(run, GPU_TASK_FAULTED, KBLOB_FAULT_LIMIT);
}

uint64_t tasks_cost(const struct kblob_decoded *in)
{
    return 1 + (in->op == KBLOB_OP_MEMSET ? in->arg1 >> 12 : 0);
}

uint64_t tasks_slice(const struct run *run, uint64_t *cost)
{
    enum { MOST = 4096 };
    uint64_t n = 0;
    if (run->vm.grid.threads)
        return *cost = MOST; /* A grid ends its slice early after a long instruction. */
    const struct kblob_decoded *in = run->vm.program + run->vm.pc;
    for (*cost = 0; n < MOST && *cost < MOST && in[n].op != KBLOB_OP_END; n++)
        *cost += tasks_cost(&in[n]);
    return n ? n : 1;
}

void tasks_awake(struct run *run)
{
    penta_error err = {0};
    kblob_interp.answer(&run->vm.base, &run->sleep_ms, 1, &err);
}

enum step tasks_step(struct run *run, uint64_t fuel)
{
    struct device *d = run->device;
    struct kblob_vm *vm = &run->vm;
    uint64_t left = vm->executed < run->limit ? run->limit - vm->executed : 0;
    uint32_t index = vm->pc, thread = vm->grid.current;
    if (!left && vm->program[index].op != KBLOB_OP_END) {
        vm->fault_address = vm->fault_size = 0;
        tasks_finish(run, GPU_TASK_FAULTED, KBLOB_FAULT_LIMIT);
        return STEP_END;
    }
    bool traced = d->trace >= 0;
    if (traced || !left) fuel = 1;
    if (left && fuel > left) fuel = left;
    penta_stop stop;
    kblob_vm_run(&vm->base, fuel, &stop);
    if (traced && (stop.steps || stop.kind == PENTA_STOP_TRAP))
        events_instruction(run, index, thread, stop.kind == PENTA_STOP_TRAP);
    if (run->task->check) grid_check_take(run);
    switch (stop.kind) {
    case PENTA_STOP_HOST:
        run->sleep_ms = stop.args[0];
        if (run->sleep_ms) return STEP_SLEEP;
        tasks_awake(run); /* SLEEP 0 only ends the current slice. */
        return STEP_MORE;
    case PENTA_STOP_HALT: tasks_finish(run, GPU_TASK_DONE, KBLOB_FAULT_NONE); return STEP_END;
    case PENTA_STOP_TRAP: tasks_finish(run, GPU_TASK_FAULTED, vm->fault); return STEP_END;
    default: return STEP_MORE;
    }
}

/* The functions below record what the host has seen. */

static void tasks_observe_task(struct device *d, struct task *task)
{
    if (!task->run && !task->observed) task->observed = d->task_count + 1;
}

/* Records which ends of tasks the host has seen. The first `all_observed` tasks need not be
 * checked any more. */
void tasks_observe(struct device *d, uint32_t launch, uint32_t newest)
{
    if (!(d->settings.flags & GPU_RACE_CHECK)) return;
    struct task *one = tasks_find(d, launch);
    if (launch) {
        if (one) tasks_observe_task(d, one);
        return;
    }
    uint32_t to = newest && newest < d->task_count ? newest : d->task_count;
    for (uint32_t i = d->all_observed; i < to; i++) tasks_observe_task(d, d->tasks[i]);
    while (d->all_observed < d->task_count && d->tasks[d->all_observed]->observed)
        d->all_observed++;
}

uint32_t tasks_count_waited(struct device *d, uint32_t launch, uint32_t newest)
{
    d->wait_launch = launch;
    d->wait_newest = newest;
    uint32_t left = 0;
    for (const struct run *r = d->alive; r; r = r->next) left += run_is_waited_for(d, r);
    return left;
}
