/* Runs programs of domain operations on the default host. Two runs must end in the same state.
 * The bytes choose input and instructions. */
#include "fuzz.h"
#include "base/writer.h"
#include "core/engine.h"
#include "tvmr/host/domain.h"

/* Writes mostly instructions that the host answers, and some of the core to compute operands. */
static void tvmr_host_instruction(const uint8_t *p, struct writer *code)
{
    static const uint16_t exts[] = {0, 0, 4, 5, 5, 6, 7, 8, 8, 9, 11, 11, 11, 12, 12};
    const struct tvmr_extension *e = tvmr_extension_find(exts[p[0] % (sizeof exts / sizeof *exts)]);
    const struct tvmr_op *op = &e->ops[p[1] % e->count];
    uint8_t bytes[8] = {(uint8_t)(op->ext >> 8), (uint8_t)op->ext, (uint8_t)(op->opcode >> 8),
                        (uint8_t)op->opcode};
    if (!op->ext && (op->opcode >> 12 == 6 || op->opcode == 3))
        return; /* Jumps and resets are left out, so that the program ends. */
    for (unsigned k = 0; k < 4; k++) {
        bool reg = op->bytes[k] == 'd' || op->bytes[k] == 's' || op->bytes[k] == 'm';
        bytes[4 + k] = (uint8_t)(reg ? (p[2 + k] & 0xc0) | (p[2 + k] % 6) : p[2 + k] % 16);
    }
    writer_bytes(code, bytes, sizeof bytes);
}

static penta_vm *tvmr_host_run(const penta_module *m, const int32_t *input, size_t count)
{
    penta_error err = {0};
    penta_option options[] = {{"memory", "4M"}};
    penta_vm *vm = penta_vm_new(m, NULL, options, 1, NULL, &err);
    struct tvmr_domain *domain = tvmr_domain_new(NULL, &err);
    struct writer log = {0};
    CHECK(vm && domain);
    tvmr_vm_begin(tvmr_vm(vm), input, count);
    penta_stop stop;
    for (int i = 0; i < 1000; i++) {
        tvmr_vm_run(vm, 10000, &stop);
        if (stop.kind != PENTA_STOP_HOST ||
            !tvmr_domain_answer(domain, tvmr_vm(vm), &stop, &log, NULL) ||
            !vm->engine->answer(vm, NULL, 0, &err))
            break;
    }
    writer_free(&log);
    tvmr_domain_free(domain);
    return vm;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    /* the definition C0: [2, 3] "a" */
    static const uint8_t regs[] = {0x40, 0, 1, 1, 2, 2, 0, 3, 0, 1, 'a',
                                   /* the definition C1: [4] "B" */
                                   0x41, 0, 1, 1, 1, 4, 0, 1, 'B'};
    static const uint8_t load[] = {0, 0, 0x10, 7, 0, 0xff, 0, 0, 0, 0, 0x10, 7, 1, 0xff, 0, 0};
    struct writer code = {0}, image = {0};
    int32_t input[6] = {0};
    for (size_t i = 0; i < 6 && i < size; i++) input[i] = (int8_t)data[i] * (i % 2 ? 1 : 3);
    writer_bytes(&code, load, sizeof load);
    for (size_t at = 6, n = 0; at + 6 <= size && n < 64; at += 6, n++)
        tvmr_host_instruction(data + at, &code);
    tvmr_write(&image, NULL, 0, (penta_bytes){regs, sizeof regs}, 2, writer_view(&code),
               (penta_bytes){0});
    penta_error err = {0};
    penta_module *m = penta_open(writer_view(&image), "tvmr", NULL, 0, &err);
    CHECK(m);
    penta_vm *one = tvmr_host_run(m, input, 6), *two = tvmr_host_run(m, input, 6);
    check_same_state(one, two, "the same program ended in another state");
    penta_vm_free(one);
    penta_vm_free(two);
    penta_close(m);
    writer_free(&code);
    writer_free(&image);
}
