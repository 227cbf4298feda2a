/* Defines the function of every fuzz target that libFuzzer calls, and what a target does when a
 * check fails. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}

void ignore_finding(void *user, const penta_error *finding) { (void)user, (void)finding; }

void count_errors(void *count, const penta_error *finding)
{
    *(size_t *)count += finding->severity == PENTA_ERROR;
}

char *copy_as_text(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);
    CHECK(text);
    bytes_copy(text, (penta_bytes){data, size});
    return text;
}

bool same_buffer(const penta_buffer *a, const penta_buffer *b)
{
    return bytes_equal((penta_bytes){a->data, a->size}, (penta_bytes){b->data, b->size});
}

void check_same_state(const penta_vm *a, const penta_vm *b, const char *what)
{
    penta_buffer one = {0}, two = {0};
    penta_error err = {0};
    if (!penta_vm_save(a, &one, &err) || !penta_vm_save(b, &two, &err))
        check_failed(err.message, err.code, err.offset);
    if (!same_buffer(&one, &two)) check_failed(what, one.size, two.size);
    penta_buffer_free(&one);
    penta_buffer_free(&two);
}

size_t mutate_and_repair(const char *format, uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, max);
    if (seed % 4) repair(format, data, size);
    return size;
}
