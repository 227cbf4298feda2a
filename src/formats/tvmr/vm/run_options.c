/* Reads the options of a run, such as numbers, files and kernels. */
#include "tvmr/vm/ops.h"
#include "tvmr/vm/inputs.h"
#include <stdlib.h>

static bool option_list(struct tvmr_vm *vm, const char *key, const char *text, penta_error *err)
{
    size_t count = 0, max = strlen(text) / 2 + 1;
    int32_t *list = malloc(max * sizeof *list);
    uint64_t number;
    if (!list) return error_at(err, BASE_MEMORY, 0, "option '%s': too many numbers", key);
    while (value_next_number(&text, &number)) list[count++] = (int32_t)number;
    bool ok = true;
    if (!strcmp(key, "seed-chem"))
        for (size_t i = 0; i < count; i++) vm->chem[i] = (uint8_t)list[i];
    else
        ok = (!strcmp(key, "target") ? tvmr_vm_set_target : tvmr_inputs_add)(vm, list, count);
    free(list);
    return ok || error_at(err, BASE_LIMIT, 0, "option '%s': too many numbers", key);
}

static bool kernel_option(struct tvmr_vm *vm, const char *name, penta_error *err)
{
    int kernels = tvmr_kernels_named(name);
    if (kernels < 0) return option_refuse(err, "kernels", name, "needs a processor that has it");
    vm->kernels = (unsigned)kernels;
    return true;
}

bool tvmr_vm_options(struct tvmr_vm *vm, const penta_option *options, size_t count,
                     penta_error *err)
{
    vm->threads = (unsigned)option_number(options, count, "threads", 1);
    vm->babble_scale = (int32_t)option_number(options, count, "babble", 0);
    vm->keep_frozen = option_given(options, count, "keep-frozen");
    vm->strict = option_given(options, count, "strict");
    if (!kernel_option(vm, option_text(options, count, "kernels"), err)) return false;
    for (size_t i = 0; i < count; i++) {
        const char *key = options[i].key, *value = options[i].value;
        if (!strcmp(key, "input") || !strcmp(key, "target") || !strcmp(key, "seed-chem")) {
            if (!option_list(vm, key, value, err)) return false;
        } else if (!strcmp(key, "inputs")) {
            if (!tvmr_inputs_read(vm, value, err)) return false;
        } else if (!strcmp(key, "weights")) {
            size_t loaded;
            if (!tvmr_weights_load(vm, value, &loaded, err)) return false;
        } else if (!strcmp(key, "save-weights")) {
            free(vm->save_weights);
            vm->save_weights = strdup(value);
        } else if (!strcmp(key, "output")) {
            free(vm->output_path);
            vm->output_path = strdup(value);
        }
    }
    return true;
}
