/* The queue of inputs of a machine. */
#include "tvmr/host/script.h"
#include <stdlib.h>
#include "base/array.h"

bool tvmr_script_add_input(struct tvmr_vm *vm, const int32_t *data, size_t count)
{
    size_t at = vm->inputs.count;
    if (!ARRAY_RESERVE(vm->input_ends, vm->input_capacity, vm->input_count + 1)) return false;
    if (at + count > vm->inputs.capacity &&
        !tvmr_reserve(vm, &vm->inputs.data, &vm->inputs.capacity, (at + count) * 2, sizeof *data))
        return false;
    if (count) memcpy(vm->inputs.data + at, data, count * sizeof *data);
    vm->inputs.count = vm->input_ends[vm->input_count++] = at + count;
    return true;
}
