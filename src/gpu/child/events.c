/* Writes the trace of the device (DEVICE 7.2), a JSON object on each line. Lines are written to
 * the file before the command that caused them is answered, so that the order of all lines is
 * fixed in SERIAL and SEEDED mode. */
#include <unistd.h>
#include "base/json/json_write.h"
#include "gpu/child/device.h"

static uint64_t time_of(const struct device *d)
{
    return device_deterministic(d) ? d->clock : clock_ms() - d->opened;
}

static void events_begin_list(struct json *j, struct run *run)
{
    const struct wire_task *record = &run->task->record;
    json_object(j, NULL);
    json_uint(j, "t", time_of(run->device));
    json_uint(j, "launch", record->launch_id);
    json_uint(j, "kernel", record->kernel_id);
}

static void events_end_list(struct json *j, struct device *d)
{
    enum { PIECE = 64 << 10 };
    json_finish(j);
    if (d->events.out.size >= PIECE) events_flush(d);
}

/* Writes the access that an instruction of version 2 made, and its result. */
static void grid_access(struct json *j, const struct run *run, const struct kblob_decoded *in,
                        uint32_t thread, bool faulted)
{
    const struct kblob_grid *g = &run->vm.grid;
    const struct kblob_access *a = g->log_count ? &g->log[g->log_count - 1] : NULL;
    json_uint(j, "block", kblob_grid_block(g, thread));
    json_uint(j, "thread", thread % g->block_threads);
    if (faulted && run->vm.fault_size) {
        json_word(j, "addr", run->vm.fault_address);
        json_uint(j, "len", run->vm.fault_size);
    } else if (a) {
        json_word(j, "addr", a->address);
        json_uint(j, "len", a->size);
    }
    if (faulted) {
        json_text(j, "fault", kblob_fault_name(run->vm.fault));
        return;
    }
    unsigned uses = kblob_uses(&kblob_ops[in->op]);
    if (uses & KBLOB_FIELD_D)
        json_word(j, "value", g->threads[thread].r[in->d]);
    else if (a)
        json_word(j, "value", a->kind & KBLOB_WRITES ? a->value : run->vm.last_read);
}

void events_instruction(struct run *run, uint32_t index, uint32_t thread, bool faulted)
{
    struct device *d = run->device;
    const struct kblob_decoded *in = &run->vm.program[index];
    struct json j = {.out = &d->events};
    events_begin_list(&j, run);
    json_uint(&j, "i", index);
    json_text(&j, "op", kblob_ops[in->op].mnemonic);
    if (run->vm.grid.threads) {
        grid_access(&j, run, in, thread, faulted);
        events_end_list(&j, d);
        return;
    }
    uint64_t size = kblob_access_size(in);
    if (size) {
        json_word(&j, "addr", in->arg0);
        json_uint(&j, "len", size);
    }
    bool reads = size && !kblob_access_writes(in);
    if (faulted)
        json_text(&j, "fault", kblob_fault_name(run->vm.fault));
    else if (size || in->op == KBLOB_OP_SLEEP)
        json_word(&j, "value",
                  reads                       ? run->vm.last_read
                  : in->op == KBLOB_OP_MEMSET ? 0
                                              : in->arg1);
    events_end_list(&j, d);
}

void events_end(struct run *run)
{
    struct device *d = run->device;
    if (d->trace < 0) return;
    const struct wire_task *record = &run->task->record;
    struct json j = {.out = &d->events};
    events_begin_list(&j, run);
    json_text(&j, "end", task_state_name(record->state));
    json_uint(&j, "instructions", record->instructions);
    json_uint(&j, "slept_ms", record->slept_ms);
    if (record->flags & GPU_TASK_HAS_LAST_READ) json_word(&j, "last_read", record->last_read);
    if (record->flags & GPU_TASK_HAS_FAULT) {
        json_uint(&j, "i", record->instruction);
        json_text(&j, "fault", kblob_fault_name((enum kblob_fault)record->kind));
    }
    events_end_list(&j, d);
}

void events_flush(struct device *d)
{
    penta_bytes left = writer_view(&d->events);
    while (left.size) {
        ssize_t n = write(d->trace, left.data, left.size);
        if (n <= 0) break; /* If the disk is full, lines are lost, but the device continues. */
        left = bytes_slice(left, (size_t)n, left.size);
    }
    d->events.out.size = 0;
    d->events.failed = false;
}
