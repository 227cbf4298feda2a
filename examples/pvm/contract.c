/* Runs an export of a PolkaVM blob with two host functions, metered.
 *
 *     cc contract.c -o contract $(pkg-config --cflags --libs penta)
 *     ./contract FILE EXPORT [ARG...]
 *
 * print(address, length)     writes guest memory to standard output
 * get_third_number()         returns 1000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <penta/pvm.h>

static penta_bytes read_file(const char *path)
{
    static uint8_t bytes[1 << 24];
    FILE *file = fopen(path, "rb");
    if (!file) return (penta_bytes){NULL, 0};
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return (penta_bytes){bytes, size};
}

/* Answers the host call that the machine waits for. Returns false when the host has no such
 * function. */
static bool host_call(penta_vm *vm, const penta_module *module, const penta_stop *stop)
{
    penta_bytes name;
    penta_error err;
    uint64_t result = 0;
    if (!penta_pvm_import(module, stop->detail, &name)) return false;
    if (name.size == 5 && !memcmp(name.data, "print", 5)) {
        char text[256];
        size_t size = stop->args[1] < sizeof text ? (size_t)stop->args[1] : sizeof text;
        if (penta_vm_peek(vm, (uint32_t)stop->args[0], text, size))
            result = fwrite(text, 1, size, stdout);
    } else if (name.size == 16 && !memcmp(name.data, "get_third_number", 16)) {
        result = 1000;
    } else {
        return false;
    }
    return penta_vm_answer(vm, &result, 1, &err);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s FILE EXPORT [ARG...]\n", argv[0]);
        return 2;
    }
    penta_error err;
    penta_bytes file = read_file(argv[1]);
    penta_module *module = penta_open(file, "pvm", NULL, 0, &err);
    if (!module) {
        fprintf(stderr, "%s: %s\n", argv[1], err.message);
        return 1;
    }
    /* The pool prepares the program once; machines from it share that work. */
    penta_option options[] = {{"gas", "1000000"}};
    penta_pvm_pool *pool = penta_pvm_pool_new(module, NULL, options, 1, &err);
    penta_vm *vm = pool ? penta_pvm_pool_take(pool, &err) : NULL;
    uint32_t pc;
    if (!vm || !penta_pvm_export(module, argv[2], &pc)) {
        fprintf(stderr, "%s: %s\n", argv[1], vm ? "no such export" : err.message);
        return 1;
    }
    uint64_t args[9];
    size_t count = 0;
    while (count < 9 && (int)count + 3 < argc) {
        args[count] = strtoull(argv[count + 3], NULL, 0);
        count++;
    }
    penta_pvm_call(vm, pc, args, count);

    penta_stop stop;
    do penta_vm_run(vm, UINT64_MAX, &stop);
    while (stop.kind == PENTA_STOP_HOST && host_call(vm, module, &stop));

    bool halted = stop.kind == PENTA_STOP_HALT;
    printf("%s at pc %" PRIu64 ", a0 = %" PRIu64 ", gas left %" PRId64 "\n",
           halted ? "halted" : "stopped", stop.pc, penta_pvm_register_get(vm, PENTA_PVM_A0),
           penta_pvm_gas_get(vm));
    penta_vm_free(vm);
    penta_pvm_pool_free(pool);
    penta_close(module);
    return halted ? 0 : 1;
}
