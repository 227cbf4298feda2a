/* Implements the blob library of gpu_emulator.h with the functions of the format. */
#include <stdlib.h>
#include "gpu_emulator.h"
#include "kblob/kblob.h"
#include "kblob/vm/vm.h"
#include "text/lexer.h"

#define RULE(number, name, severity, ...) RULE_##severity(number, name)
#define RULE_ERROR(number, name)                                                                   \
    _Static_assert((int)KBLOB_CODE_##name == (KBLOB_##name & 0xffff), #name);
#define RULE_WARNING(number, name)
#include "kblob/rules.def"
#undef RULE_ERROR
/* This fault does not occur on the device, which has no read-only memory. */
enum { GPU_FAULT_READ_ONLY = KBLOB_FAULT_READ_ONLY };
#define TRAP(number, id, ...) _Static_assert((int)GPU_FAULT_##id == number, #id);
#include "kblob/traps.def"
#undef RULE_WARNING

const char *kblob_code_name(kblob_code code)
{
    if (code == KBLOB_CODE_OK) return "OK";
    if (code == KBLOB_CODE_NO_MEMORY) return "NO_MEMORY";
    const penta_rule *rule =
        code <= KBLOB_CODE_BAD_SYMBOLS ? rule_find(kblob_rules, KBLOB_FORMAT << 16 | code) : NULL;
    return rule ? rule->name : "UNDEFINED";
}

/* Parses a blob. Returns NULL, and the reason in *code, if the blob is not valid. */
static penta_module *open_valid(const void *blob, size_t size, uint32_t flags, kblob_code *code,
                                uint32_t *index)
{
    penta_error err = {0};
    penta_option trailer = {"trailer", "1"};
    penta_module *module =
        kblob_parse((penta_bytes){blob, size}, &trailer, flags & GPU_CHECK_TRAILER ? 1 : 0, &err);
    *code = KBLOB_CODE_NO_MEMORY;
    *index = UINT32_MAX;
    if (!module) return NULL;
    *code = (kblob_code)kblob_verdict(module, index);
    if (*code == KBLOB_CODE_OK) return module;
    kblob_close(module);
    return NULL;
}

kblob_code kblob_validate(const void *blob, size_t size, uint32_t flags, uint32_t *bad_index)
{
    kblob_code code;
    uint32_t index;
    penta_module *module = open_valid(blob, size, flags, &code, &index);
    if (module) kblob_close(module);
    if (bad_index) *bad_index = index;
    return code;
}

kblob_code kblob_decode(const void *blob, size_t size, kblob_inst *out, size_t max, size_t *count)
{
    kblob_code code;
    uint32_t index;
    penta_module *module = open_valid(blob, size, 0, &code, &index);
    *count = 0;
    if (!module) return code;
    const struct kblob_module *m = kblob_module(module);
    *count = m->count;
    for (size_t i = 0; i < m->count && i < max; i++)
        out[i] = (kblob_inst){m->insts[i].opcode, m->insts[i].flags, m->insts[i].reserved,
                              m->insts[i].arg0, m->insts[i].arg1};
    kblob_close(module);
    return KBLOB_CODE_OK;
}

struct kblob_builder {
    struct writer code;
    uint32_t count;
};

kblob_builder *kblob_builder_new(void) { return calloc(1, sizeof(kblob_builder)); }

void kblob_builder_free(kblob_builder *b)
{
    if (!b) return;
    writer_free(&b->code);
    free(b);
}

static int blobs_add(kblob_builder *b, uint8_t opcode, uint64_t arg0, uint32_t arg1)
{
    if (b->count == KBLOB_INSTRUCTIONS_MAX) b->code.failed = true;
    if (b->code.failed) return -1;
    struct kblob_inst in = {.opcode = opcode, .arg0 = arg0, .arg1 = arg1};
    kblob_inst_write(&b->code, &in);
    b->count++;
    return b->code.failed ? -1 : 0;
}

int kblob_builder_nop(kblob_builder *b) { return blobs_add(b, KBLOB_OP_NOP, 0, 0); }
int kblob_builder_halt(kblob_builder *b) { return blobs_add(b, KBLOB_OP_HALT, 0, 0); }
int kblob_builder_sleep(kblob_builder *b, uint32_t ms)
{
    return blobs_add(b, KBLOB_OP_SLEEP, 0, ms);
}
int kblob_builder_write8(kblob_builder *b, uint64_t address, uint8_t value)
{
    return blobs_add(b, KBLOB_OP_WRITE8, address, value);
}
int kblob_builder_write64(kblob_builder *b, uint64_t address, uint32_t value)
{
    return blobs_add(b, KBLOB_OP_WRITE64, address, value);
}
int kblob_builder_read8(kblob_builder *b, uint64_t address)
{
    return blobs_add(b, KBLOB_OP_READ8, address, 0);
}
int kblob_builder_read64(kblob_builder *b, uint64_t address)
{
    return blobs_add(b, KBLOB_OP_READ64, address, 0);
}
int kblob_builder_memset(kblob_builder *b, uint64_t address, uint32_t length)
{
    return blobs_add(b, KBLOB_OP_MEMSET, address, length);
}

int kblob_builder_finish(kblob_builder *b, int trailer, void **blob, size_t *size)
{
    *blob = NULL;
    *size = 0;
    struct writer out = {0};
    struct kblob_header header = {KBLOB_MAGIC, KBLOB_VERSION, 0, kblob_header_bytes, b->count};
    kblob_write(&out, &header, (penta_bytes){NULL, 0}, NULL, 0);
    writer_append(&out, &b->code);
    if (trailer) kblob_write_trailer(&out, (penta_bytes){NULL, 0});
    if (!b->count || b->code.failed || out.failed) {
        writer_free(&out);
        return -1;
    }
    *blob = out.out.data;
    *size = out.out.size;
    return 0;
}

void kblob_free(void *blob) { free(blob); }

kblob_memory *kblob_memory_new(uint64_t limit)
{
    kblob_memory *mem = calloc(1, sizeof *mem);
    if (mem) mem->limit = limit;
    return mem;
}

void kblob_memory_delete(kblob_memory *mem)
{
    if (mem) kblob_memory_free(mem);
    free(mem);
}

int kblob_memory_map(kblob_memory *mem, uint64_t base, uint64_t size)
{
    return kblob_memory_alloc_at(mem, base, size) ? 0 : -1;
}

int kblob_memory_unmap(kblob_memory *mem, uint64_t base)
{
    return kblob_memory_release(mem, base) ? 0 : -1;
}

static uint8_t *blobs_window(const kblob_memory *mem, uint64_t address, size_t size)
{
    if (kblob_memory_classify(mem, address, size)) return NULL;
    const struct kblob_region *r = kblob_memory_find(mem, address);
    return r->bytes + (address - r->base);
}

int kblob_memory_poke(kblob_memory *mem, uint64_t address, const void *from, size_t size)
{
    uint8_t *at = blobs_window(mem, address, size);
    if (at && size) memcpy(at, from, size);
    return at ? 0 : -1;
}

int kblob_memory_peek(const kblob_memory *mem, uint64_t address, void *into, size_t size)
{
    const uint8_t *at = blobs_window(mem, address, size);
    if (at && size) memcpy(into, at, size);
    return at ? 0 : -1;
}

static void blobs_run(struct kblob_vm *vm, kblob_result *out)
{
    penta_stop stop;
    penta_error err = {0};
    for (kblob_vm_run(&vm->base, UINT64_MAX, &stop); stop.kind == PENTA_STOP_HOST;
         kblob_vm_run(&vm->base, UINT64_MAX, &stop))
        kblob_interp.answer(&vm->base, &stop.args[0], 1, &err);
    bool faulted = stop.kind == PENTA_STOP_TRAP;
    *out = (kblob_result){
        .state = faulted ? GPU_TASK_FAULTED : GPU_TASK_DONE,
        .halted_explicitly = vm->halted_explicitly,
        .instructions = vm->executed,
        .slept_ms = vm->slept_ms,
        .has_last_read = vm->has_read,
        .last_read = vm->last_read,
    };
    if (!faulted) return;
    out->fault_instruction = vm->pc;
    out->fault_opcode = vm->program[vm->pc].op;
    out->fault_kind = (uint8_t)vm->fault;
    out->fault_address = vm->fault_address;
    out->fault_length = vm->fault_size;
}

kblob_code kblob_exec(const void *blob, size_t size, kblob_memory *mem, kblob_result *out)
{
    kblob_code code;
    uint32_t index;
    penta_error err = {0};
    penta_module *module = open_valid(blob, size, 0, &code, &index);
    if (!module) return code;
    struct kblob_decoded *program = kblob_program_new(kblob_module(module), &err);
    if (program) {
        struct kblob_vm vm;
        struct kblob_launch launch = {.grid = {1, 1, 1}, .threads = {1, 1, 1}};
        kblob_vm_init(&vm, program, (uint32_t)kblob_module(module)->count, mem);
        if (kblob_module(module)->header.version == KBLOB_VERSION_2)
            kblob_grid_init(&vm, &launch, &err);
        if (!err.code) blobs_run(&vm, out);
        kblob_grid_free(&vm.grid);
        free(program);
    }
    kblob_close(module);
    return err.code ? KBLOB_CODE_NO_MEMORY : KBLOB_CODE_OK;
}

int kblob_disassemble(const void *blob, size_t size, FILE *f)
{
    kblob_code code;
    uint32_t index;
    penta_error err = {0};
    struct writer out = {0};
    penta_module *module = open_valid(blob, size, 0, &code, &index);
    bool ok = module && kblob_print(module, NULL, 0, &out, &err) &&
              fwrite(out.out.data, 1, out.out.size, f) == out.out.size;
    if (module) kblob_close(module);
    writer_free(&out);
    return ok ? 0 : -1;
}

int kblob_assemble(const char *text, void **blob, size_t *size, char *message, size_t message_size)
{
    penta_error first = {0};
    struct findings findings = {.rules = kblob_rules, .report = error_keep_first, .user = &first};
    struct source source = {
        .name = "text", .text = bytes_of(text), .comment = kblob_driver.comment};
    struct writer out = {0};
    *blob = NULL;
    *size = 0;
    if (message_size) message[0] = 0;
    if (!kblob_assemble_source(&source, NULL, 0, &out, &findings)) {
        struct place at = source_place(bytes_of(text), first.offset);
        if (message_size)
            snprintf(message, message_size, "%llu:%llu: %s", (unsigned long long)at.line,
                     (unsigned long long)at.column, first.message);
        writer_free(&out);
        return -1;
    }
    *blob = out.out.data;
    *size = out.out.size;
    return 0;
}
