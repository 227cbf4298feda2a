/* Any bytes as instructions without a container: they are encoded to as many bytes, and their listing
 * assembles. */
#include "checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *user, const penta_error *e) { (void)user, (void)e; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const penta_option options[] = {{"raw", "1"}, {"endian", "little"}},
                              big[] = {{"raw", "1"}, {"endian", "big"}};
    const penta_option *chosen = size && data[0] & 1 ? big : options;
    if (!size) return 0;
    penta_error err;
    penta_module *m = penta_open((penta_bytes){data + 1, size - 1}, "coil", chosen, 2, &err);
    penta_buffer text = {0}, again = {0};
    if (!m) return 0;
    penta_validate(m, ignore, NULL);
    if (!penta_print(m, NULL, 0, &text, &err)) check_failed(err.message, err.code, err.offset);
    penta_module *back =
        penta_assemble((penta_bytes){text.data, text.size}, "coil", chosen, 2, ignore, NULL);
    if (!back) check_failed("its own listing does not assemble", text.size, size);
    penta_close(back);
    if (!penta_encode(m, &again, &err) || again.size != size - 1)
        check_failed("encode", again.size, size);
    penta_buffer_free(&text);
    penta_buffer_free(&again);
    penta_close(m);
    return 0;
}
