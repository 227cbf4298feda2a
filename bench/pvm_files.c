/* Blobs of the PolkaVM benchmark: read, or assembled. */
#include "pvm_bench.h"
#include <string.h>

penta_bytes bench_read(const char *path)
{
    enum { BYTES_MAX = 1 << 26 };
    FILE *f = fopen(path, "rb");
    if (!f) bench_die(path, "cannot open");
    uint8_t *data = malloc(BYTES_MAX);
    if (!data) bench_die(path, "no memory");
    size_t size = fread(data, 1, BYTES_MAX, f);
    fclose(f);
    return (penta_bytes){data, size};
}

penta_module *bench_open(const char *path, penta_bytes *bytes)
{
    penta_error err;
    *bytes = bench_read(path);
    penta_module *module = penta_open(*bytes, "pvm", NULL, 0, &err);
    if (!module) bench_die(path, err.message);
    return module;
}

static void print_finding(void *user, const penta_error *finding)
{
    (void)user;
    fprintf(stderr, "bench_pvm: %s\n", finding->message);
}

void bench_assemble(const char *path, const char *isa, const char *to)
{
    penta_option option = {"isa", isa};
    penta_bytes text = bench_read(path);
    penta_buffer out = {0};
    penta_error err = {0};
    penta_module *module = penta_assemble(text, "pvm", &option, 1, print_finding, NULL);
    if (!module || !penta_encode(module, &out, &err)) bench_die(path, "does not assemble");
    FILE *f = fopen(to, "wb");
    if (!f || fwrite(out.data, 1, out.size, f) != out.size || fclose(f))
        bench_die(to, "cannot write");
    penta_buffer_free(&out);
    penta_close(module);
    free((void *)text.data);
}

penta_module *bench_module(const char *text)
{
    penta_option option = {"isa", "latest64"};
    penta_bytes bytes = {(const uint8_t *)text, strlen(text)};
    penta_module *module = penta_assemble(bytes, "pvm", &option, 1, print_finding, NULL);
    if (!module) bench_die("a program of this benchmark", "does not assemble");
    return module;
}
