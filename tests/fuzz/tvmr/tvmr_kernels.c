/* Runs valid programs on the plain kernels and on each set that this processor supports. The
 * machines must end in the same state. The bytes choose registers, weights, temperatures, input
 * and instructions. */
#include "fuzz.h"
#include "base/writer.h"
#include "core/engine.h"
#include "tvmr/vm/vm.h"

struct bytes {
    const uint8_t *p;
    size_t left;
};

static uint8_t next_byte(struct bytes *b) { return b->left ? (b->left--, *b->p++) : 0; }

/* Writes an instruction of the extensions that have kernels, with register numbers below 6. */
static void write_instruction(struct bytes *b, struct writer *code)
{
    static const uint16_t exts[] = {0, 0, 0, 1, 1, 2, 2, 3, 4, 0xc0};
    const struct tvmr_extension *e =
        tvmr_extension_find(exts[next_byte(b) % (sizeof exts / sizeof *exts)]);
    const struct tvmr_op *op = &e->ops[next_byte(b) % e->count];
    uint8_t bytes[8] = {(uint8_t)(op->ext >> 8), (uint8_t)op->ext, (uint8_t)(op->opcode >> 8),
                        (uint8_t)op->opcode};
    if (!op->ext && (op->opcode >> 12 == 6 || op->opcode == 3))
        return; /* Jumps and resets are left out, so that the program ends. */
    for (unsigned k = 0; k < 4; k++) {
        uint8_t v = next_byte(b);
        bool reg = op->bytes[k] == 'd' || op->bytes[k] == 's' || op->bytes[k] == 'm';
        bytes[4 + k] = reg ? (uint8_t)((v & 0x40) | (v % 6)) : v;
    }
    writer_bytes(code, bytes, 8);
}

static penta_vm *machine_open(const penta_module *m, const char *kernels, struct bytes b)
{
    penta_error err = {0};
    penta_option options[] = {{"kernels", kernels}, {"memory", "4M"}};
    penta_vm *vm = penta_vm_new(m, NULL, options, 2, NULL, &err);
    if (!vm) return NULL;
    for (unsigned i = 0; i < 4; i++) {
        struct tvmr_cold *c = &tvmr_vm(vm)->cold[i];
        uint8_t kind = next_byte(&b), temps[4096];
        for (size_t k = 0; k < c->count && k < sizeof temps; k++) {
            uint8_t v = next_byte(&b);
            c->weights[k] =
                (struct tvmr_signal){(int8_t)(v % 3 - 1), (uint8_t)(kind & 1 ? 90 : v ^ kind)};
            temps[k] = v >> 6;
        }
        if (kind & 2 && c->count <= sizeof temps) tvmr_temps_set(tvmr_vm(vm), c, temps);
    }
    int32_t input[80];
    uint8_t shift = next_byte(&b) % 32;
    for (int i = 0; i < 80; i++)
        input[i] = (int32_t)((uint32_t)next_byte(&b) << 24 | (uint32_t)next_byte(&b) << 16 |
                             (uint32_t)next_byte(&b) << 8 | next_byte(&b)) >>
                   shift;
    tvmr_vm_begin(tvmr_vm(vm), input, 80);
    penta_stop stop;
    for (int i = 0; i < 100; i++) {
        penta_vm_run(vm, 10000, &stop);
        if (stop.kind != PENTA_STOP_HOST || !penta_vm_answer(vm, NULL, 0, &err)) break;
    }
    return vm;
}

static void compare_kernels(const penta_module *m, const penta_vm *plain, const char *kernels,
                            struct bytes b)
{
    penta_vm *fast = machine_open(m, kernels, b);
    if (!fast) return; /* This processor cannot run these kernels. */
    check_same_state(plain, fast, "the kernels end in another state");
    penta_vm_free(fast);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size};
    struct writer code = {0}, regs = {0}, image = {0};
    size_t count = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t rows = (uint8_t)(1 + next_byte(&b) % 16);
        uint8_t columns = (uint8_t)(1 + next_byte(&b) % 80);
        uint8_t def[] = {(uint8_t)(0x40 + i), 0, 1, 1, 2, rows, 0, columns, 0, 0};
        writer_bytes(&regs, def, sizeof def);
        count++;
    }
    static const uint8_t load[] = {0, 0, 0x10, 7, 0, 0xff, 0, 0, 0, 0, 0x10, 7, 1, 0xff, 0, 0};
    writer_bytes(&code, load, sizeof load);
    for (int i = 0; i < 24; i++) write_instruction(&b, &code);
    tvmr_write(&image, NULL, 0, writer_view(&regs), count, writer_view(&code), (penta_bytes){0});
    penta_error err = {0};
    penta_module *m = penta_open(writer_view(&image), "tvmr", NULL, 0, &err);
    penta_vm *plain = m ? machine_open(m, "plain", b) : NULL;
    CHECK(plain);
    static const char *const sets[] = {"avx2", "avx512"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) compare_kernels(m, plain, sets[i], b);
    penta_vm_free(plain);
    penta_close(m);
    writer_free(&code);
    writer_free(&regs);
    writer_free(&image);
}
