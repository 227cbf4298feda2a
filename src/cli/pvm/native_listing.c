#include "cli/pvm/native_listing.h"
#include "cli/pvm/native.h"

#ifdef PENTA_JIT
#include "pvm/jit/jit.h"
#include "pvm/jit/tools.h"

static void native_lines(struct native_listing *l, uint32_t from, uint32_t to)
{
    while (from < to) {
        char text[128];
        const uint8_t *code = l->native->code + from;
        size_t size = native_text(code, to - from, from, text, sizeof text);
        if (l->json) {
            json_object(l->json, NULL);
            json_uint(l->json, "offset", from);
            json_hex(l->json, "bytes", (penta_bytes){code, size});
            json_text(l->json, "text", *text ? text : NULL);
            json_end(l->json);
        } else {
            writer_print(l->out, "      %6x  ", from);
            for (size_t i = 0; i < size; i++) writer_print(l->out, "%02x", code[i]);
            for (size_t i = size; i < 13 && *text; i++) writer_text(l->out, "  ");
            writer_print(l->out, "%s%s\n", *text ? " " : "", text);
        }
        from += (uint32_t)size;
    }
}

/* Where the code of this instruction ends: at that of the next one or the gas charge before it. */
static uint32_t end_of(const struct pvm_native *n, uint32_t pc)
{
    for (uint32_t next = pc + 1; next <= n->size; next++)
        if (pvm_native_offset(n, next))
            return pvm_native_offset(n, next) -
                   (pvm_bit(n->block_starts, next) ? n->charge_size : 0);
    return n->cold_start;
}

void native_listing_instruction(struct native_listing *l, uint32_t pc)
{
    struct writer text = {0};
    const struct pvm_native *n = l->native;
    uint32_t at = pvm_native_offset(n, pc);
    bool starts = pvm_bit(n->block_starts, pc);
    if (!l->module->driver->print_at(l->module, pc, &text)) writer_text(&text, "trap");
    writer_char(&text, 0);
    if (l->json) {
        json_object(l->json, NULL);
        json_uint(l->json, "pc", pc);
        json_text(l->json, "text", (const char *)text.out.data);
        json_bool(l->json, "block", starts);
        json_bool(l->json, "fused", !at);
        json_list(l->json, "native");
    } else {
        if (starts) writer_char(l->out, '\n');
        writer_print(l->out, "%6u  %s%s\n", pc, (const char *)text.out.data,
                     at ? "" : "        (with the one above)");
    }
    if (at) native_lines(l, starts ? at - n->charge_size : at, end_of(n, pc));
    if (l->json) {
        json_end(l->json);
        json_end(l->json);
    }
    writer_free(&text);
}

void native_listing_range(struct native_listing *l, uint32_t from, uint32_t to)
{
    const struct pvm_code *code = &pvm_module(l->module)->program.code;
    for (uint32_t pc = from; pc < to && pc <= l->native->size; pc++)
        if (pvm_native_offset(l->native, pc) || pvm_starts(code, pc))
            native_listing_instruction(l, pc);
}

void native_listing_difference(const penta_vm *vm, struct writer *out, struct json *json)
{
    struct pvm_difference d;
    if (!vm->module || !pvm_both_difference(vm, &d)) return;
    struct native_listing l = {out, json, vm->module, d.native};
    if (json) {
        json_object(json, "difference");
        json_text(json, "what", d.what);
        json_uint(json, "block", d.from);
        json_uint(json, "entered", d.entered);
        json_list(json, "instructions");
        native_listing_range(&l, d.from, d.to);
        json_end(json);
        json_end(json);
        return;
    }
    writer_print(out, "%s, after the block at %u, entered at %u:\n", d.what, d.from, d.entered);
    native_listing_range(&l, d.from, d.to);
}
#else
void native_listing_difference(const penta_vm *vm, struct writer *out, struct json *json)
{
    (void)vm, (void)out, (void)json;
}
#endif
