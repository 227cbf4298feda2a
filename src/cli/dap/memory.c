/* Answers requests about bytes of memory and about instructions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/codec/base64.h"
#include "cli/dap/dap.h"

enum { MEMORY_MAX = 1 << 20, WRITE_MAX = 4096, INSTRUCTIONS_MAX = 10000 };

void dap_readMemory(struct dap *d, struct dap_answer *a)
{
    const penta_vm *vm = penta_session_vm(d->session);
    uint64_t address, count = dap_uint(a->args, "count", 0), have = 0;
    struct writer text = {0};
    if (!dap_address(a->args, "memoryReference", &address, &a->err)) return;
    uint64_t wanted = count < MEMORY_MAX ? count : MEMORY_MAX;
    uint8_t *bytes = malloc((size_t)wanted + 1);
    if (!bytes) {
        error_at(&a->err, BASE_MEMORY, 0, "no memory for the bytes");
        return;
    }
    if (wanted && penta_vm_peek(vm, address, bytes, (size_t)wanted)) have = wanted;
    while (have < wanted && penta_vm_peek(vm, address + have, bytes + have, 1)) have++;
    dap_reference(a->body, "address", address);
    if (have < count) json_uint(a->body, "unreadableBytes", count - have);
    base64_write(&text, (penta_bytes){bytes, (size_t)have});
    json_string(a->body, "data", writer_view(&text));
    writer_free(&text);
    free(bytes);
}

void dap_writeMemory(struct dap *d, struct dap_answer *a)
{
    uint64_t address;
    struct writer bytes = {0};
    size_t done = 0;
    const char *data = dap_text(a->args, "data");
    if (!dap_address(a->args, "memoryReference", &address, &a->err)) return;
    if (!data || !base64_read(data, &bytes) || bytes.failed || bytes.out.size > WRITE_MAX)
        error_at(&a->err, BASE_OPTION_VALUE, 0, "data is not at most %d bytes in base 64",
                 WRITE_MAX);
    for (; !a->err.code && done < bytes.out.size; done++) {
        char what[32];
        penta_value value = {.kind = PENTA_UINT, .as.u = bytes.out.data[done]};
        snprintf(what, sizeof what, "u8[0x%" PRIx64 "]", address + done);
        penta_debugger_set(d->debugger, what, &value, &a->err);
    }
    json_uint(a->body, "bytesWritten", done);
    writer_free(&bytes);
}

static void symbol_write(struct dap *d, uint64_t pc, struct json *j)
{
    penta_buffer name = {0};
    if (penta_name_at(d->module, pc, &name) && !memchr(name.data, '+', name.size))
        json_string(j, "symbol", (penta_bytes){name.data, name.size});
    penta_buffer_free(&name);
}

static void dap_memory_instruction(struct dap *d, struct json *j, uint64_t pc)
{
    penta_buffer text = {0};
    penta_line line;
    json_object(j, NULL);
    dap_reference(j, "address", pc);
    if (penta_print_at(d->module, pc, &text))
        json_string(j, "instruction", (penta_bytes){text.data, text.size});
    else
        json_text(j, "instruction", "");
    symbol_write(d, pc, j);
    if (penta_line_at(d->module, pc, &line)) {
        dap_source_ref(d, j, "location", line.file);
        json_uint(j, "line", line.line);
    }
    json_end(j);
    penta_buffer_free(&text);
}

/* Writes a row for a place without an instruction. The client gets as many rows as it asked for,
 * also before the first and after the last instruction. */
static void no_instruction(struct json *j, int64_t i, uint64_t end)
{
    json_object(j, NULL);
    dap_reference(j, "address", i < 0 ? 0 : end + (uint64_t)i);
    json_text(j, "instruction", "");
    json_text(j, "presentationHint", "invalid");
    json_end(j);
}

void dap_disassemble(struct dap *d, struct dap_answer *a)
{
    uint64_t pc, count = dap_uint(a->args, "instructionCount", 0);
    int64_t offset = 0;
    size_t i;
    if (!dap_address(a->args, "memoryReference", &pc, &a->err)) return;
    json_as_sint(json_get(a->args, "instructionOffset"), &offset);
    ARRAY_SEARCH(i, 0, d->pc_count, d->pcs[i] >= pc);
    if (count > INSTRUCTIONS_MAX) count = INSTRUCTIONS_MAX;
    if (offset < -INSTRUCTIONS_MAX) offset = -INSTRUCTIONS_MAX;
    if (offset > INSTRUCTIONS_MAX) offset = INSTRUCTIONS_MAX;
    int64_t at = (int64_t)i + offset, all = (int64_t)d->pc_count;
    uint64_t last = d->pc_count ? d->pcs[d->pc_count - 1] + 1 : 0;
    json_list(a->body, "instructions");
    for (uint64_t k = 0; k < count; k++, at++) {
        if (at >= 0 && at < all)
            dap_memory_instruction(d, a->body, d->pcs[at]);
        else
            no_instruction(a->body, at < 0 ? at : at - all, last);
    }
    json_end(a->body);
}
