/* Applies the answer of a host to a machine: memory, results, gas and the end of the call. */
#include "core/host.h"
#include "base/bytes.h"

void answer_poke(struct answer *a, uint64_t address, penta_bytes bytes)
{
    writer_uint(&a->pokes, address, 8);
    writer_uint(&a->pokes, bytes.size, 8);
    writer_bytes(&a->pokes, bytes.data, bytes.size);
}

void answer_clear(struct answer *a)
{
    a->count = 0;
    a->applied = a->between = a->interrupted = false;
    a->gas = 0;
    a->end = CALL_GOES_ON;
    a->failure = (penta_error){0};
    struct writer *parts[] = {&a->pokes, &a->output, &a->errors, &a->note};
    for (size_t i = 0; i < 4; i++) {
        parts[i]->out.size = 0;
        parts[i]->failed = false;
    }
}

void answer_free(struct answer *a)
{
    writer_free(&a->pokes);
    writer_free(&a->output);
    writer_free(&a->errors);
    writer_free(&a->note);
}

bool answer_whole(const struct answer *a, penta_error *err)
{
    return writer_ok(&a->pokes, err) && writer_ok(&a->output, err) && writer_ok(&a->errors, err) &&
           writer_ok(&a->note, err);
}

bool answer_apply(const struct answer *a, penta_vm *vm, penta_error *err)
{
    penta_bytes left = writer_view(&a->pokes);
    while (left.size) {
        uint64_t address = bytes_get64(left.data), size = bytes_get64(left.data + 8);
        if (!vm->engine->poke || !vm->engine->poke(vm, address, left.data + 16, (size_t)size))
            return error_at(err, BASE_STATE, 0, "the host's answer writes outside memory at 0x%llx",
                            (unsigned long long)address);
        left.data += 16 + size;
        left.size -= 16 + (size_t)size;
    }
    if (vm->engine->settle) vm->engine->settle(vm, a->gas, a->end);
    return vm->engine->answer(vm, a->results, a->count, err);
}
