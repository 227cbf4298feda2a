/* Reads any bytes as instructions without a container. They must encode to as many bytes, and
 * their listing must assemble. */
#include "fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    static const penta_option options[] = {{"raw", "1"}, {"endian", "little"}},
                              big[] = {{"raw", "1"}, {"endian", "big"}};
    const penta_option *chosen = size && data[0] & 1 ? big : options;
    if (!size) return;
    penta_error err;
    penta_module *m = penta_open((penta_bytes){data + 1, size - 1}, "coil", chosen, 2, &err);
    penta_buffer text = {0}, again = {0};
    if (!m) return;
    penta_validate(m, ignore_finding, NULL);
    if (!penta_print(m, NULL, 0, &text, &err)) check_failed(err.message, err.code, err.offset);
    penta_module *back = penta_assemble((penta_bytes){text.data, text.size}, "coil", chosen, 2,
                                        ignore_finding, NULL);
    if (!back) check_failed("its own listing does not assemble", text.size, size);
    penta_close(back);
    if (!penta_encode(m, &again, &err) || again.size != size - 1)
        check_failed("encode", again.size, size);
    penta_buffer_free(&text);
    penta_buffer_free(&again);
    penta_close(m);
}
