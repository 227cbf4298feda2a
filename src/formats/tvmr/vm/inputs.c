/* The queue of inputs of a machine. */
#include "tvmr/host/script.h"
#include <stdlib.h>

bool tvmr_script_add_input(struct tvmr_vm *vm, const int32_t *data, size_t count)
{
    size_t *ends = realloc(vm->input_ends, (vm->input_count + 1) * sizeof *ends),
           at = vm->inputs.count;
    if (!ends) return false;
    vm->input_ends = ends;
    if (at + count > vm->inputs.capacity &&
        !tvmr_reserve(vm, &vm->inputs.data, &vm->inputs.capacity, (at + count) * 2, sizeof *data))
        return false;
    if (count) memcpy(vm->inputs.data + at, data, count * sizeof *data);
    vm->inputs.count = ends[vm->input_count++] = at + count;
    return true;
}
