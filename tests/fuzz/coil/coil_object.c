/* Reads any bytes as an object. checks.h lists what must hold. The object must be the same after
 * conversion to the other byte order and back. */
#include "fuzz.h"

REPAIRING_MUTATOR("coil")

/* Returns the module in this byte order, or NULL. */
static penta_module *coil_object_converted(const penta_module *m, const char *order,
                                           penta_buffer *bytes)
{
    penta_option option = {"endian", order};
    penta_error err;
    bool ok =
        m && !penta_module_damage(m) && penta_convert(m, &option, 1, bytes, ignore_finding, NULL);
    return ok ? penta_open((penta_bytes){bytes->data, bytes->size}, "coil", NULL, 0, &err) : NULL;
}

static void check_orders(penta_bytes file)
{
    penta_error err;
    penta_buffer big = {0}, little = {0}, again = {0};
    penta_module *m = penta_open(file, "coil", NULL, 0, &err),
                 *a = coil_object_converted(m, "big", &big),
                 *b = coil_object_converted(a, "little", &little),
                 *c = coil_object_converted(b, "big", &again);
    if (c && !same_buffer(&again, &big))
        check_failed("the byte order and back", big.size, again.size);
    penta_module *all[] = {m, a, b, c};
    for (int i = 0; i < 4; i++) penta_close(all[i]);
    penta_buffer_free(&big);
    penta_buffer_free(&little);
    penta_buffer_free(&again);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    check_file((penta_bytes){data, size}, "coil");
    check_orders((penta_bytes){data, size});
}
