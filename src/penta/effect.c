/* Finds what a host changed in a machine besides its answer, as the difference of two snapshots. */
#include "core/delta.h"
#include "core/snapshot.h"
#include "penta/record/record_struct.h"

static penta_bytes effect_view(const penta_buffer *b) { return (penta_bytes){b->data, b->size}; }

bool effect_find(const penta_vm *vm, penta_bytes before, penta_buffer *effect, penta_error *err)
{
    penta_buffer after = {0};
    penta_error failure;
    struct writer delta = {0};
    bool ok = penta_vm_save(vm, &after, &failure);
    if (ok) delta_write(before, effect_view(&after), &delta);
    error_keep_first(err, &failure);
    ok = ok && writer_ok(&delta, err);
    *effect = delta.out;
    penta_buffer_free(&after);
    return ok;
}

bool effect_apply(penta_vm *vm, penta_bytes effect, penta_error *err)
{
    penta_buffer before = {0};
    struct writer after = {0};
    penta_error failure;
    bool done = penta_vm_save(vm, &before, &failure);
    error_keep_first(err, &failure);
    if (done && !delta_apply(effect_view(&before), effect, &after))
        done = error_at(err, BASE_SNAPSHOT, 0, "the recorded answers are of another run");
    done = done && writer_ok(&after, err);
    if (done) {
        done = penta_vm_load(vm, writer_view(&after), &failure);
        error_keep_first(err, &failure);
    }
    penta_buffer_free(&before);
    writer_free(&after);
    return done;
}

bool effect_host_state(const penta_vm *vm, penta_buffer *state, penta_error *err)
{
    struct writer w = {0};
    return writer_give(&w, snapshot_save_state(vm, &w), state, err);
}

bool effect_host_find(const penta_vm *vm, penta_bytes before, penta_buffer *change,
                      penta_error *err)
{
    penta_buffer after = {0};
    struct writer delta = {0};
    bool ok = effect_host_state(vm, &after, err);
    if (ok) delta_write(before, effect_view(&after), &delta);
    ok = ok && writer_ok(&delta, err);
    *change = delta.out;
    penta_buffer_free(&after);
    return ok;
}

bool effect_host_apply(penta_vm *vm, penta_bytes change, penta_error *err)
{
    penta_buffer before = {0};
    struct writer after = {0};
    penta_error why = {0};
    bool done = effect_host_state(vm, &before, err);
    if (done && !delta_apply(effect_view(&before), change, &after))
        done = error_at(err, BASE_SNAPSHOT, 0, "the recorded answers are of another run");
    done = done && writer_ok(&after, err);
    if (done && !snapshot_load_state(vm, writer_view(&after), &why)) {
        error_keep_first(err, &why);
        done = false;
    }
    penta_buffer_free(&before);
    writer_free(&after);
    return done;
}
