/* Keeps the queue of inputs of a machine, and reads the files that fill it (TVMR 19.2). */
#include "tvmr/vm/inputs.h"
#include "base/array.h"
#include "base/file/file.h"
#include "base/table/table.h"
#include <stdlib.h>

enum { FILE_MAX = 1 << 30 };

bool tvmr_inputs_add(struct tvmr_vm *vm, const int32_t *data, size_t count)
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

static bool is_json(penta_bytes text)
{
    size_t at = 0;
    while (at < text.size && strchr(" \t\r\n", text.data[at]) && text.data[at]) at++;
    return at < text.size && text.data[at] == '[';
}

static bool add_rows(struct tvmr_vm *vm, penta_bytes file, penta_error *err)
{
    struct penta_table t;
    if (!table_read(file, 1, &t, err)) return false;
    for (size_t i = 0; !err->code && i < t.rows; i++)
        if (!tvmr_inputs_add(vm, t.numbers + i * t.columns, t.columns))
            error_at(err, tvmr_memory_code(vm), 0, "no room for the inputs");
    table_free(&t);
    return !err->code;
}

bool tvmr_inputs_read(struct tvmr_vm *vm, const char *path, penta_error *err)
{
    penta_buffer file = {0};
    penta_error why = {0};
    if (!file_read(path, FILE_MAX, &file, err)) return false;
    penta_bytes bytes = {file.data, file.size};
    bool ok = is_json(bytes) ? tvmr_inputs_json(vm, bytes, &why) : add_rows(vm, bytes, &why);
    penta_buffer_free(&file);
    return ok || error_at(err, why.code, 0, "'%.40s', byte %llu: %.50s", path,
                          (unsigned long long)why.offset, why.message);
}
