/* Makes the tool count how often each format detected, parsed and checked a file. The counts go
 * to the file that PENTA_COUNTS names, a line "format what count" for each. The linker replaces
 * the functions of the drivers by those here (--wrap), so the product has no hook for it. */
#include <stdio.h>
#include <stdlib.h>
#include "cli/cli.h"
#include "core/driver.h"

struct counted {
    const char *format;
    unsigned probe, parse, verify;
};

#define EXTRA_DRIVER(name)
#define FORMAT(name)                                                                               \
    static struct counted counted_##name = {#name, 0, 0, 0};                                       \
    int __real_##name##_probe(penta_bytes file, struct writer *evidence);                          \
    int __wrap_##name##_probe(penta_bytes file, struct writer *evidence);                          \
    int __wrap_##name##_probe(penta_bytes file, struct writer *evidence)                           \
    {                                                                                              \
        counted_##name.probe++;                                                                    \
        return __real_##name##_probe(file, evidence);                                              \
    }                                                                                              \
    penta_module *__real_##name##_parse(penta_bytes file, const penta_option *options,             \
                                        size_t count, penta_error *err);                           \
    penta_module *__wrap_##name##_parse(penta_bytes file, const penta_option *options,             \
                                        size_t count, penta_error *err);                           \
    penta_module *__wrap_##name##_parse(penta_bytes file, const penta_option *options,             \
                                        size_t count, penta_error *err)                            \
    {                                                                                              \
        counted_##name.parse++;                                                                    \
        return __real_##name##_parse(file, options, count, err);                                   \
    }                                                                                              \
    void __real_##name##_verify(const penta_module *module, struct findings *findings);            \
    void __wrap_##name##_verify(const penta_module *module, struct findings *findings);            \
    void __wrap_##name##_verify(const penta_module *module, struct findings *findings)             \
    {                                                                                              \
        counted_##name.verify++;                                                                   \
        __real_##name##_verify(module, findings);                                                  \
    }
#include "penta/registry.def"

static struct counted *const all_counted[] = {
#define EXTRA_DRIVER(name)
#define FORMAT(name) &counted_##name,
#include "penta/registry.def"
};

static void counts_write(void)
{
    const char *path = getenv("PENTA_COUNTS");
    FILE *out = path ? fopen(path, "w") : NULL;
    for (size_t i = 0; out && i < sizeof all_counted / sizeof *all_counted; i++) {
        const struct counted *c = all_counted[i];
        fprintf(out, "%s probe %u\n%s parse %u\n%s verify %u\n", c->format, c->probe, c->format,
                c->parse, c->format, c->verify);
    }
    if (out) fclose(out);
}

int main(int argc, char **argv)
{
    atexit(counts_write);
    return cli_main(argc, argv);
}
