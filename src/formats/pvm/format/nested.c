/* Reads the head of a program inside another file. Only the dialect polkavm has a magic and tells
 * its length; programs of doc and jam cannot be told from other bytes before they are read whole. */
#include "core/nested.h"
#include "pvm/pvm.h"

enum { ISA = 4, LENGTH = 5, LEAST = 14 };

static bool pvm_head(penta_bytes rest, struct nested_head *head)
{
    if (rest.size < LEAST || rest.data[ISA] >= PVM_ISAS) return false;
    *head = (struct nested_head){.size = bytes_get64(rest.data + LENGTH),
                                 .dialect = pvm_dialect_names[PVM_POLKAVM]};
    return head->size >= LEAST && head->size <= UINT32_MAX;
}

const struct driver_nested pvm_nested = {{0x004d5650}, pvm_head};
