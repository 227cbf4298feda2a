/* Prints guest instructions beside the machine code that the compiler made of them. */
#include "cli/native/native_listing.h"
#include "cli/native/native.h"

struct listing {
    struct writer *out;
    struct json *json; /* the open document, or NULL for text */
    const penta_module *module;
};

static void native_lines(const struct listing *l, uint32_t offset, penta_bytes code)
{
    for (size_t at = 0; at < code.size;) {
        char text[128];
        uint64_t place = offset + at;
        penta_bytes one = {code.data + at, 0};
        one.size = native_text(one.data, code.size - at, place, text, sizeof text);
        if (l->json) {
            json_object(l->json, NULL);
            json_uint(l->json, "offset", place);
            json_hex(l->json, "bytes", one);
            json_text(l->json, "text", *text ? text : NULL);
            json_end(l->json);
        } else {
            writer_print(l->out, "      %6llx  ", (unsigned long long)place);
            writer_hex(l->out, one);
            for (size_t i = one.size; i < 13 && *text; i++) writer_text(l->out, "  ");
            writer_print(l->out, "%s%s\n", *text ? " " : "", text);
        }
        at += one.size;
    }
}

static void native_listing_instruction(const struct listing *l, const penta_pvm_instruction *in)
{
    struct writer text = {0};
    bool fused = !in->native.data;
    if (!penta_print_at(l->module, in->pc, &text.out)) writer_text(&text, "trap");
    writer_char(&text, 0);
    if (l->json) {
        json_object(l->json, NULL);
        json_uint(l->json, "pc", in->pc);
        json_text(l->json, "text", (const char *)text.out.data);
        json_bool(l->json, "block", in->starts_block);
        json_bool(l->json, "fused", fused);
        json_list(l->json, "native");
    } else {
        if (in->starts_block) writer_char(l->out, '\n');
        writer_print(l->out, "%6u  %s%s\n", in->pc, (const char *)text.out.data,
                     fused ? "        (with the one above)" : "");
    }
    native_lines(l, in->offset, in->native);
    if (l->json) {
        json_end(l->json);
        json_end(l->json);
    }
    writer_free(&text);
}

void native_listing(struct writer *out, struct json *json, const penta_module *module,
                    const penta_pvm_compiled *compiled, uint32_t from, uint32_t to)
{
    struct listing l = {out, json, module};
    penta_pvm_instruction in;
    if (json) json_list(json, "instructions");
    for (uint32_t pc = from; penta_pvm_compiled_at(compiled, pc, &in) && in.pc < to; pc = in.pc + 1)
        native_listing_instruction(&l, &in);
    if (json) json_end(json);
}

void native_listing_difference(const penta_vm *vm, struct writer *out, struct json *json)
{
    penta_pvm_difference d;
    if (!penta_pvm_difference_of(vm, &d)) return;
    if (json) {
        json_object(json, "difference");
        json_text(json, "what", d.what);
        json_uint(json, "block", d.from);
        json_uint(json, "entered", d.entered);
    } else {
        writer_print(out, "%s, after the block at %u, entered at %u:\n", d.what, d.from, d.entered);
    }
    native_listing(out, json, d.module, d.compiled, d.from, d.to);
    if (json) json_end(json);
}
