/* Runs a machine once, and judges its results over many runs. */
#include "base/bytes.h"
#include "core/host.h"
#include "core/snapshot.h"
#include "tvmr/train/train.h"
#include "tvmr/vm/ops.h"
#include <stdio.h>
#include <stdlib.h>

bool run_from(struct tvmr_vm *vm, uint64_t pc, const int32_t *input, size_t count,
              const int32_t *target, size_t target_count, size_t row, bool *interrupted,
              penta_error *err)
{
    penta_stop stop = {0};
    if (!tvmr_vm_set_target(vm, target, target_count) || !tvmr_vm_begin(vm, input, count))
        return error_at(err, tvmr_memory_code(vm), 0, "%.100s", vm->fault_text);
    vm->pc = pc;
    do {
        vm->waiting = false; /* The host calls of a training run get an empty answer. */
        tvmr_vm_run(&vm->base, UINT64_MAX, &stop);
    } while (stop.kind == PENTA_STOP_HOST);
    if (stop.kind == PENTA_STOP_HALT) return true;
    char where[40] = "";
    if (row != SIZE_MAX) snprintf(where, sizeof where, "row %zu, ", row);
    if (stop.kind == PENTA_STOP_TRAP) {
        char length[120] = ""; /* The message adds lengths that do not fit, because they are a
                                * probable cause. */
        if (vm->note_count) tvmr_note_text(vm, vm->notes, length, sizeof length);
        error_at(err, vm->fault == TVMR_E_LIMIT ? tvmr_memory_code(vm) : BASE_STATE, 0,
                 "%sinstruction %llu: %s: %.70s", where, (unsigned long long)stop.pc,
                 tvmr_fault_name(vm->fault), vm->fault_text);
        return error_note(err, "%s", length);
    }
    if (interrupted) *interrupted = true;
    return error_at(err, BASE_STATE, 0, "%sthe run was interrupted", where);
}

bool machine_restore(struct tvmr_vm *vm, const struct writer *saved, penta_error *err)
{
    struct tvmr_note notes[TVMR_NOTES]; /* The notes of the runs are kept, to report them later. */
    size_t count = vm->note_count;
    memcpy(notes, vm->notes, sizeof notes);
    if (!snapshot_load(&vm->base, writer_view(saved), err)) return false;
    memcpy(vm->notes, notes, sizeof notes);
    vm->note_count = count;
    return true;
}

static uint64_t changes_of(const struct tvmr_vm *vm)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TVMR_BANK; i++) sum += vm->cold[i].stamp;
    return sum;
}

bool train_judge(struct tvmr_vm *vm, const struct samples *s, struct score *score,
                 uint64_t *confusion, bool *interrupted, penta_error *err)
{
    struct writer before = {0};
    *score = (struct score){0};
    if (!snapshot_save(&vm->base, &before)) {
        writer_free(&before);
        return error_at(err, BASE_MEMORY, 0, "no memory for the state of the machine");
    }
    uint64_t changes = changes_of(vm);
    bool ok = true;
    for (size_t i = 0; ok && i < s->data->rows; i++) {
        const int32_t *input = s->data->numbers + i * s->data->columns;
        ok = run_from(vm, 0, input, s->data->columns, NULL, 0, i, interrupted, err);
        if (ok) score_add(score, vm, s, i, confusion);
        if (ok && changes_of(vm) != changes) {
            ok = error_at(err, BASE_STATE, 0,
                          "row %zu: the program changes weights without a target", i);
            error_note(err, "test the register of load_target with if_zero before learning");
        }
    }
    penta_error why = {0};
    if (!machine_restore(vm, &before, &why) && ok) {
        *err = why;
        ok = false;
    }
    writer_free(&before);
    return ok;
}

bool judge_fully(struct tvmr_vm *vm, const struct samples *s, bool *interrupted,
                 penta_tvmr_judged *out, penta_error *err)
{
    size_t classes = s->classes ? s->classes : s->targets->columns;
    struct score score;
    *out = (penta_tvmr_judged){.classes = classes};
    out->confusion = calloc(classes * classes + 1, sizeof *out->confusion);
    if (!out->confusion) return error_at(err, BASE_MEMORY, 0, "no memory for the confusion matrix");
    bool ok = train_judge(vm, s, &score, out->confusion, interrupted, err);
    out->rows = score.rows;
    out->right = score.right;
    out->accuracy = score_accuracy(&score);
    out->error = score_error(&score);
    if (!ok) penta_tvmr_judged_free(out);
    return ok;
}

bool penta_tvmr_judge(penta_vm *vm, const penta_table *data, const penta_table *targets,
                      const penta_option *options, size_t count, penta_tvmr_judged *out,
                      penta_error *err)
{
    struct samples s = {0}, none = {0};
    *err = (penta_error){0};
    *out = (penta_tvmr_judged){0};
    bool ok = options_check(options, count, tvmr_driver.options, OPTION_TRAIN, err) &&
              samples_open(&s, data, targets, options, count, err) &&
              samples_classes(&s, &none, options, count, err) &&
              judge_fully(tvmr_vm(vm), &s, NULL, out, err);
    samples_close(&s);
    samples_close(&none);
    return ok;
}

void penta_tvmr_judged_free(penta_tvmr_judged *judged)
{
    free(judged->confusion);
    *judged = (penta_tvmr_judged){0};
}
