/* Tries penta/tvmr.h: registers, runs, weights, another program in a running machine, sealing. */
#include "penta/train.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "allocations.h"
#include "base/error.h"

static void try_run(const void *user, struct outcome *o)
{
    static const int32_t input[] = {1, -2, 3, -4};
    penta_error err = {0};
    penta_stop stop;
    hook_pause();
    penta_vm *vm = penta_vm_new(user, NULL, NULL, 0, NULL, &err);
    hook_resume();
    if (!outcome_ok(o, vm, &err)) return;
    penta_tvmr_tensor value = {.numbers = input, .count = 4};
    bool ok = penta_tvmr_begin(vm, input, 4, &err) && penta_tvmr_target(vm, input, 4, &err) &&
              penta_tvmr_register_set(vm, PENTA_TVMR_H(0), &value, &err);
    if (outcome_ok(o, ok, &err)) {
        penta_vm_run(vm, 1000, &stop);
        const char *why = penta_tvmr_failure(vm);
        size_t count = 0;
        const int32_t *output = penta_tvmr_output(vm, &count);
        if (*why) { /* A failed run is a result, and about memory only when it says so. */
            o->ok = false;
            o->code = strstr(why, "memory") ? BASE_MEMORY : UINT32_MAX;
        } else
            outcome_bytes(o, output, count * sizeof *output);
    }
    penta_vm_free(vm);
}

static void try_reload(const void *user, struct outcome *o)
{
    penta_error err = {0};
    bool kept = false;
    hook_pause();
    penta_vm *vm = penta_vm_new(user, NULL, NULL, 0, NULL, &err);
    hook_resume();
    outcome_ok(o, penta_tvmr_reload(vm, user, &kept, &err), &err);
    penta_vm_free(vm);
}

static void try_weights(const void *user, struct outcome *o)
{
    char path[] = "/tmp/penta-allocations-XXXXXX";
    penta_error err = {0};
    size_t loaded = 0;
    hook_pause();
    int file = mkstemp(path);
    if (file >= 0) close(file);
    penta_vm *vm = penta_vm_new(user, NULL, NULL, 0, NULL, &err);
    hook_resume();
    bool ok =
        penta_tvmr_weights_save(vm, path, &err) && penta_tvmr_weights_load(vm, path, &loaded, &err);
    if (outcome_ok(o, ok, &err)) outcome_bytes(o, &loaded, sizeof loaded);
    penta_vm_free(vm);
    unlink(path);
}

static void try_seal(const void *user, struct outcome *o)
{
    static const penta_option options[] = {{"key-file", "tests/keys/symmetric.hex"},
                                           {"nonce", "000102030405060708090a0b"}};
    penta_buffer out = {0};
    penta_error err = {0};
    o->ok = penta_seal(user, options, 2, &out, outcome_finding, o);
    penta_module *sealed = o->ok ? penta_open(view_of(&out), "tvmr", options, 1, &err) : NULL;
    if (o->ok && outcome_ok(o, sealed, &err)) {
        const penta_error *damage = penta_module_damage(sealed);
        if (damage) outcome_ok(o, false, damage);
    }
    penta_close(sealed);
    penta_buffer_free(&out);
}

static void try_train(const void *user, struct outcome *o)
{
    static const int32_t rows[] = {9, 1, -4, 2, 1, 9, 8, 2}, classes[] = {0, 1};
    static const penta_option options[] = {{"epochs", "2"}, {"init", "structured"}};
    penta_error err = {0};
    penta_tvmr_trained trained = {0};
    hook_pause();
    penta_vm *vm = penta_vm_new(user, NULL, NULL, 0, NULL, &err);
    hook_resume();
    penta_table *data = penta_table_new(rows, 2, 4, &err),
                *targets = data ? penta_table_new(classes, 2, 1, &err) : NULL;
    penta_tvmr_samples samples = {.data = data, .targets = targets};
    bool ok = targets && penta_tvmr_train(vm, &samples, options, 2, &trained, NULL, NULL, &err);
    if (outcome_ok(o, ok, &err)) outcome_bytes(o, &trained.judged.right, sizeof(size_t));
    penta_tvmr_trained_free(&trained);
    penta_table_free(targets);
    penta_table_free(data);
    penta_vm_free(vm);
}

void tvmr_scenarios(void)
{
    penta_module *relu = tree_assembled("examples/tvmr/relu.tasm", "tvmr");
    penta_module *train = tree_assembled("examples/tvmr/train.tasm", "tvmr");
    scenario("run", try_run, relu);
    scenario("reload", try_reload, train);
    scenario("weights", try_weights, train);
    scenario("train", try_train, relu);
    scenario("seal and open", try_seal, relu);
    penta_close(relu);
    penta_close(train);
}
