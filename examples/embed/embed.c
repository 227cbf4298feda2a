/* The library in forty lines: open a file, say what is wrong with it, run it, show its state.
 *
 *     cc embed.c $(pkg-config --cflags --libs penta) -o embed && ./embed kernel.kblob */
#include <penta/penta.h>
#include <stdio.h>
#include <stdlib.h>

static void complain(void *user, const penta_error *finding)
{
    char code[24];
    penta_code_text(finding->code, code);
    fprintf(stderr, "%s: %s at 0x%llx: %s\n", (const char *)user, code,
            (unsigned long long)finding->offset, finding->message);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) return fprintf(stderr, "usage: embed FILE\n"), 2;
    penta_bytes in = {bytes, fread(bytes, 1, sizeof bytes, file)};
    fclose(file);

    penta_error err;
    penta_module *module = penta_open(in, NULL, NULL, 0, &err);
    if (!module) return complain(argv[1], &err), 1;
    if (!penta_validate(module, complain, argv[1])) return penta_close(module), 1;

    penta_option memory = {"map", "0x10000:64"};
    penta_vm *vm = penta_vm_new(module, NULL, &memory, 1, &err);
    if (!vm) return complain(argv[1], &err), penta_close(module), 1;
    penta_stop stop;
    for (;;) {
        penta_vm_run(vm, 1000000, &stop);
        if (stop.kind != PENTA_STOP_HOST) break;
        penta_vm_answer(vm, stop.args, 1, &err); /* a SLEEP: pretend that the time has passed */
    }
    penta_buffer state = {0};
    if (penta_vm_describe_json(vm, &state, &err)) fwrite(state.data, 1, state.size, stdout);
    penta_buffer_free(&state);
    penta_vm_free(vm);
    penta_close(module);
    return stop.kind == PENTA_STOP_HALT ? 0 : 1;
}
