/* Reads the options of a run: numbers, files, kernels. */
#include "tvmr/vm/ops.h"
#include "tvmr/vm/inputs.h"
#include <stdlib.h>

/* Reads "1,-2,3" as numbers. */
static bool number_list(const char *text, int64_t low, int64_t high, int32_t *out, size_t max,
                        size_t *count)
{
    *count = 0;
    while (*text) {
        char *end;
        long long v = strtoll(text, &end, 0);
        if (end == text || v < low || v > high || *count == max) return false;
        out[(*count)++] = (int32_t)v;
        if (*end && *end != ',') return false;
        text = *end ? end + 1 : end;
    }
    return true;
}

static bool option_list(struct tvmr_vm *vm, const char *key, const char *text, penta_error *err)
{
    size_t count, max = strlen(text) / 2 + 1;
    bool chem = !strcmp(key, "seed-chem"), target = !strcmp(key, "target");
    int32_t *list = malloc(max * sizeof *list);
    bool ok = list && number_list(text,
                                  chem     ? 0
                                  : target ? -255
                                           : INT32_MIN,
                                  chem || target ? 255 : INT32_MAX, list, max, &count);
    if (ok && chem) ok = count == 4;
    if (!ok)
        error_at(err, BASE_OPTION_VALUE, 0, "option '%s': '%.40s' is no list of %s", key, text,
                 chem     ? "four numbers 0..255"
                 : target ? "numbers -255..255"
                          : "32-bit numbers");
    for (size_t i = 0; ok && chem && i < 4; i++) vm->chem[i] = (uint8_t)list[i];
    if (ok && target) ok = tvmr_vm_set_target(vm, list, count);
    if (ok && !chem && !target) ok = tvmr_inputs_add(vm, list, count);
    free(list);
    return ok || error_at(err, BASE_LIMIT, 0, "option '%s': too many numbers", key);
}

static bool kernel_option(struct tvmr_vm *vm, const char *name, penta_error *err)
{
    int kernels = tvmr_kernels_named(name);
    if (kernels < 0)
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "option 'kernels': '%.40s' is unknown, or this processor lacks it",
                        name ? name : "");
    vm->kernels = (unsigned)kernels;
    return true;
}

bool tvmr_vm_options(struct tvmr_vm *vm, const penta_option *options, size_t count,
                     penta_error *err)
{
    uint64_t threads = 1, babble = 0;
    if (!option_uint(options, count, "threads", &threads, err) ||
        !option_uint(options, count, "babble", &babble, err))
        return false;
    if (!threads || threads > 64 || babble > 255)
        return error_at(err, BASE_OPTION_VALUE, 0, "threads are 1..64, babble 0..255");
    vm->threads = (unsigned)threads;
    vm->babble_scale = (int32_t)babble;
    vm->keep_frozen = option_text(options, count, "keep-frozen") != NULL;
    vm->strict = option_text(options, count, "strict") != NULL;
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
