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
