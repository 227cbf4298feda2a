/* Runs a network that penta train has made, from C: reads program, weights and pictures, and counts
 * what it gets right.
 *
 *     digits PROGRAM WEIGHTS IMAGES LABELS        exits with 1 when less than 95 % is right */
#include <penta/train.h>
#include <stdio.h>
#include <stdlib.h>

static void digits_die(const char *what, const char *why)
{
    fprintf(stderr, "digits: %s: %s\n", what, why);
    exit(2);
}

static penta_bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) digits_die(path, "cannot be opened");
    static uint8_t bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return (penta_bytes){bytes, size};
}

int main(int argc, char **argv)
{
    penta_error err;
    penta_stop stop;
    size_t loaded, count, right = 0;
    if (argc != 5) digits_die("usage", "digits PROGRAM WEIGHTS IMAGES LABELS");
    penta_module *program = penta_open(read_file(argv[1]), "tvmr", NULL, 0, &err);
    if (!program) digits_die(argv[1], err.message);
    penta_vm *vm = penta_vm_new(program, NULL, NULL, 0, NULL, &err);
    if (!vm) digits_die(argv[1], err.message);
    if (!penta_tvmr_weights_load(vm, argv[2], &loaded, &err)) digits_die(argv[2], err.message);
    penta_table *images = penta_table_read(argv[3], 1, &err),
                *labels = images ? penta_table_read(argv[4], 1, &err) : NULL;
    if (!labels) digits_die("pictures", err.message);
    for (size_t i = 0; i < penta_table_rows(images); i++) {
        if (!penta_tvmr_begin(vm, penta_table_row(images, i), penta_table_columns(images), &err))
            digits_die("input", err.message);
        penta_vm_run(vm, UINT64_MAX, &stop);
        if (stop.kind != PENTA_STOP_HALT) digits_die("run", penta_tvmr_failure(vm));
        const int32_t *output = penta_tvmr_output(vm, &count);
        size_t digit = 0;
        for (size_t k = 1; k < count; k++)
            if (output[k] > output[digit]) digit = k;
        right += digit == (size_t)*penta_table_row(labels, i);
    }
    double share = 100.0 * (double)right / (double)penta_table_rows(images);
    printf("%zu weights registers, %zu of %zu right, %.1f %%\n", loaded, right,
           penta_table_rows(images), share);
    penta_table_free(labels);
    penta_table_free(images);
    penta_vm_free(vm);
    penta_close(program);
    return share < 95;
}
