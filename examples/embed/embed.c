/* Shows the library in sixty lines: opens a file of any format, says what is wrong with it, runs
 * it, and shows its state.
 *
 *     cc embed.c $(pkg-config --cflags --libs penta) -o embed
 *     ./embed kernel.kblob map=0x10000:64
 *
 * Words after the file are options of its machine, KEY=VALUE (penta run FILE -h lists them). */
#include <penta/penta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 16, CALLS_MAX = 1000000 };

static void finding_print(void *user, const penta_error *finding)
{
    char code[24];
    penta_code_text(finding->code, code);
    fprintf(stderr, "%s: %s at 0x%llx: %s\n", (const char *)user, code,
            (unsigned long long)finding->offset, finding->message);
}

/* Reads all of a file, whatever its size. The caller frees it. */
static bool read_file(const char *path, penta_buffer *out)
{
    FILE *file = fopen(path, "rb");
    for (size_t got = 1; file && got; out->size += got) {
        if (out->size == out->capacity) {
            size_t more = out->capacity ? 2 * out->capacity : 1 << 16;
            void *moved = realloc(out->data, more);
            if (!moved) break;
            out->data = moved;
            out->capacity = more;
        }
        got = fread(out->data + out->size, 1, out->capacity - out->size, file);
    }
    bool whole = file && feof(file) && !ferror(file);
    if (file) fclose(file);
    return whole;
}

/* Runs until the machine stops for good. Host calls are answered with their first argument, which
 * is right for SLEEP of a kernel, and enough for many other programs to go on. */
static void vm_run(penta_vm *vm, penta_stop *stop)
{
    penta_error err = {0};
    for (int calls = 0; calls < CALLS_MAX; calls++) {
        penta_vm_run(vm, UINT64_MAX, stop);
        if (stop->kind != PENTA_STOP_HOST) return;
        fprintf(stderr, "host call %u (0x%llx, ...)\n", stop->detail,
                (unsigned long long)stop->args[0]);
        if (!penta_vm_answer(vm, stop->args, 1, &err) && !penta_vm_answer(vm, NULL, 0, &err))
            return;
    }
}

int main(int argc, char **argv)
{
    penta_option options[OPTIONS_MAX];
    penta_buffer file = {0}, state = {0};
    penta_error err = {0};
    penta_stop stop = {.kind = PENTA_STOP_TRAP};
    size_t count = 0;
    if (argc < 2) return fprintf(stderr, "usage: embed FILE [KEY=VALUE...]\n"), 2;
    for (int i = 2; i < argc && count < OPTIONS_MAX; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) return fprintf(stderr, "'%s' is not KEY=VALUE\n", argv[i]), 2;
        *value = 0;
        options[count++] = (penta_option){argv[i], value + 1};
    }
    if (!read_file(argv[1], &file)) return perror(argv[1]), free(file.data), 4;

    penta_module *module = penta_open((penta_bytes){file.data, file.size}, NULL, NULL, 0, &err);
    if (!module) finding_print(argv[1], &err);
    penta_vm *vm = NULL;
    if (module && penta_validate(module, finding_print, argv[1])) {
        vm = penta_vm_new(module, NULL, options, count, NULL, &err);
        if (!vm) finding_print(argv[1], &err);
    }
    if (vm) {
        vm_run(vm, &stop);
        if (penta_vm_describe_json(vm, &state, &err)) fwrite(state.data, 1, state.size, stdout);
    }
    penta_buffer_free(&state);
    penta_vm_free(vm);
    penta_close(module);
    free(file.data);
    return stop.kind == PENTA_STOP_HALT ? 0 : 1;
}
