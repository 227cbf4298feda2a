/* Makes modules and machines and reads files and bytes for unit tests (support.h). Relies on the
 * library and on check.c. */
#include "support.h"
#include "base/file/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

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
    penta_vm *vm = penta_vm_new(module, engine, options, count, NULL, &err);
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

uint8_t *put_bytes(uint8_t *p, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) *p++ = (uint8_t)(value >> 8 * i);
    return p;
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint8_t *canary_new(uint8_t *at)
{
    uint8_t *page = mmap(at, CANARY_PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) return NULL;
    memset(page, CANARY, CANARY_PAGE);
    return page;
}

bool canary_holds(const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++)
        if (*from != CANARY) return false;
    return true;
}
