/* Reads arguments of host calls from the guest's memory and writes results to it. Pointers and
 * lengths are the low 32 bits of their registers, because compilers sign-extend them. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "pvm/host/revive/revive.h"

enum { LOWEST = 0x10000 }; /* Nothing is mapped below this address. */

static bool guest_in_range(uint64_t address, uint64_t size)
{
    return (uint32_t)address >= LOWEST && (uint32_t)address + size <= UINT64_C(1) << 32;
}

bool revive_fetch_into(const struct request *q, uint64_t address, void *into, size_t size)
{
    return !size || (guest_in_range(address, size) &&
                     q->frame->vm->engine->peek(q->frame->vm, (uint32_t)address, into, size));
}

bool revive_fetch(const struct request *q, uint64_t address, uint64_t size, struct blob *out)
{
    *out = (struct blob){0};
    if (size > BYTES_MAX) return false;
    uint8_t *bytes = malloc((size_t)size + 1);
    if (!bytes || !revive_fetch_into(q, address, bytes, (size_t)size)) {
        free(bytes);
        return false;
    }
    *out = (struct blob){bytes, (size_t)size};
    return true;
}

bool revive_fetch_address(const struct request *q, uint64_t address, uint8_t into[ADDRESS])
{
    return revive_fetch_into(q, address, into, ADDRESS);
}

bool revive_fetch_number(const struct request *q, uint64_t address, struct u256 *into)
{
    uint8_t word[WORD];
    if (!revive_fetch_into(q, address, word, WORD)) return false;
    *into = revive_u256_get(word);
    return true;
}

bool revive_give(const struct request *q, uint64_t address, const void *bytes, size_t size)
{
    const struct pvm_memory *memory = &pvm_vm_const(q->frame->vm)->memory;
    if (!size) return true;
    if (!guest_in_range(address, size)) return false;
    const uint64_t end = (uint32_t)address + (uint64_t)size;
    for (uint64_t page = (uint32_t)address / PVM_PAGE; page * PVM_PAGE < end; page++)
        if (!(memory->rights[page] & PVM_WRITABLE)) return false;
    answer_poke(q->out, (uint32_t)address, (penta_bytes){bytes, size});
    return true;
}

bool revive_give_number(const struct request *q, uint64_t address, const struct u256 *number)
{
    uint8_t word[WORD];
    revive_u256_put(number, word);
    return revive_give(q, address, word, WORD);
}

bool revive_give_sized(const struct request *q, uint64_t out, uint64_t length_at, const void *data,
                       size_t size)
{
    uint8_t length[4];
    if (!revive_fetch_into(q, length_at, length, sizeof length)) return false;
    if (size > bytes_get32(length)) size = bytes_get32(length);
    bytes_put32(length, (uint32_t)size);
    return revive_give(q, out, data, size) && revive_give(q, length_at, length, sizeof length);
}

bool revive_give_sized_optional(const struct request *q, uint64_t out, uint64_t length_at,
                                const void *data, size_t size)
{
    return (uint32_t)out == NOTHING || revive_give_sized(q, out, length_at, data, size);
}

bool revive_result(const struct request *q, uint64_t value)
{
    q->out->results[0] = value;
    q->out->count = 1;
    return true;
}

bool revive_end_frame(const struct request *q, enum outcome outcome, struct blob output)
{
    free(q->frame->output.data);
    q->frame->output = output;
    q->frame->outcome = outcome;
    q->out->end = CALL_ENDS;
    return true;
}

/* Returns the gas that is left. Without metering this is always the limit of the block. */
uint64_t revive_gas_left(const struct request *q)
{
    const struct pvm_vm *vm = pvm_vm_const(q->frame->vm);
    return vm->metered ? (uint64_t)vm->state->gas : q->r->block.gas_limit;
}
