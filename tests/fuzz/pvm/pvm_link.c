/* Links any bytes as an object or archive, with options that the last byte chooses. The result
 * must be findings, or a program without errors, and the same bytes twice. Debug information is
 * read, too, for lines and for the places that errors name. */
#include "fuzz.h"
#include "penta/pvm.h"

static void ignore_object(void *user, const char *object, const penta_error *e)
{
    (void)user, (void)object, (void)e;
}

static bool link_once(penta_bytes bytes, uint8_t choice, penta_buffer *out)
{
    static const char *const levels[] = {"0", "1", "2", "2"};
    static const char *const isas[] = {"latest64", "latest32", "revive_v1", "jam_v1"};
    penta_object object = {.name = "object", .bytes = bytes};
    penta_option options[] = {
        {"optimize", levels[choice & 3]}, {"isa", isas[choice >> 2 & 3]}, {"to", "jam"}};
    return penta_pvm_link(&object, 1, options,
                          choice >> 4 & 1   ? 3
                          : choice >> 5 & 1 ? 2
                                            : 1,
                          out, NULL, ignore_object, NULL);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_buffer one = {0}, two = {0};
    if (!size) return;
    penta_bytes bytes = {data, size};
    bool ok = link_once(bytes, data[size - 1], &one);
    if (ok != link_once(bytes, data[size - 1], &two) || !same_buffer(&one, &two))
        check_failed("linking twice gives other bytes", one.size, two.size);
    if (!ok && one.size) check_failed("a failed link leaves bytes", one.size, 0);
    penta_error err;
    penta_module *m =
        ok ? penta_open((penta_bytes){one.data, one.size}, "pvm", NULL, 0, &err) : NULL;
    if (ok && (!m || !penta_validate(m, ignore_finding, NULL)))
        check_failed("the linker wrote a program with errors", one.size, 0);
    penta_close(m);
    penta_buffer_free(&one);
    penta_buffer_free(&two);
}
