/* Reads parts of the JSON of vectors: lists of numbers, names of registers, answers of the host. */
#include "base/bytes.h"
#include "conform/tvmr_state.h"
#include "tvmr/host/script.h"
#include <ctype.h>
#include <stdlib.h>

int32_t *trial_number_list(const struct json_object *list, size_t *count)
{
    *count = json_length(list);
    int32_t *data = json_is_list(list) ? malloc((*count + 1) * sizeof *data) : NULL;
    for (size_t i = 0; data && i < *count; i++) {
        int64_t v;
        if (!json_as_sint(json_item(list, i), &v) || v < INT32_MIN || v > INT32_MAX) {
            free(data);
            return NULL;
        }
        data[i] = (int32_t)v;
    }
    return data;
}

bool trial_register(const char *name, uint8_t *reg)
{
    static const char banks[] = "HCPS";
    const char *bank = *name ? strchr(banks, toupper((unsigned char)*name)) : NULL;
    char *end;
    if (!bank || !isdigit((unsigned char)name[1])) return false;
    unsigned long index = strtoul(name + 1, &end, 10);
    if (*end || index > 63) return false;
    *reg = (uint8_t)((size_t)(bank - banks) << 6 | index);
    return true;
}

struct writing {
    struct tvmr_vm *vm;
    bool ok;
};

static void write_register(void *user, const char *name, const struct json_object *value)
{
    struct writing *w = user;
    uint8_t reg;
    size_t count = 0;
    int64_t scalar = 0;
    int32_t *data = trial_number_list(value, &count), one;
    bool ok = trial_register(name, &reg);
    if (ok && !data && reg >> 6 == 2 && json_as_sint(value, &scalar)) {
        one = (int32_t)scalar;
        ok = tvmr_script_write(w->vm, reg, &one, 1);
    } else {
        ok = ok && data && tvmr_script_write(w->vm, reg, data, count);
    }
    free(data);
    w->ok &= ok;
}

bool trial_answer(struct tvmr_vm *vm, const struct json_object *answer)
{
    struct writing w = {vm, true};
    json_each(json_get(answer, "write"), write_register, &w);
    if (!w.ok) return false;
    const char *text = json_as_text(json_get(answer, "fail"));
    if (text)
        tvmr_vm_fail(vm, text);
    else if (json_as_bool(json_get(answer, "stop")))
        tvmr_vm_stop(vm);
    return true;
}
