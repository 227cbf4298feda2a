/* Modules, machines, files and bytes for unit tests: support.h. Relies on the library and on check.c. */
#include "support.h"
#include "base/file/file.h"
#include <stdio.h>
#include <stdlib.h>

void print_finding(void *user, const penta_error *finding)
{
    const char *about = user;
    printf("%s%s%s\n", about ? about : "", about ? ": " : "", finding->message);
}

penta_module *assembled_with(const char *format, const char *text, const penta_option *options,
                             size_t count)
{
    penta_module *module =
        penta_assemble(bytes_of(text), format, options, count, print_finding, NULL);
    REQUIRE(module, "a program of %s does not assemble: %s", format, text);
    return module;
}

penta_module *assembled(const char *format, const char *text)
{
    return assembled_with(format, text, NULL, 0);
}

penta_vm *machine_of(const penta_module *module, const char *engine, const penta_option *options,
                     size_t count)
{
    penta_error err = {0};
    penta_vm *vm = penta_vm_new(module, engine, options, count, &err);
    REQUIRE(vm, "no machine: %s", err.message);
    return vm;
}

penta_bytes file_of(const char *path)
{
    penta_error err = {0};
    penta_buffer file = {0};
    REQUIRE(file_read(path, UINT64_C(1) << 30, &file, &err), "%s: %s", path, err.message);
    penta_buffer_append(&file, (penta_bytes){(const uint8_t *)"", 1});
    return (penta_bytes){file.data, file.size - 1};
}

void file_free(penta_bytes file) { free((void *)(uintptr_t)file.data); }

bool contains(const penta_buffer *b, const char *text)
{
    return b->data && memmem(b->data, b->size, text, strlen(text));
}

bool same_buffer(const penta_buffer *a, const penta_buffer *b)
{
    return bytes_equal(view_of(a), view_of(b));
}
