/* Reads any bytes as weights in another form, which the first byte chooses. Weights that are
 * accepted must be a correct weight file, which survives JSON unchanged. */
#include "fuzz.h"

static penta_module *read_as(penta_bytes bytes, const char *form)
{
    penta_option options[] = {{"read-as", form}, {"entry", "key"}};
    penta_error err = {0};
    return penta_open(bytes, "tvmr", options, 2, &err);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static const char *const forms[] = {"json", "npy", "csv"};
    penta_option to = {"to", "json"};
    size_t errors = 0;
    if (!size) return;
    penta_module *m = read_as((penta_bytes){data + 1, size - 1}, forms[data[0] % 3]);
    if (!m) return;
    penta_validate(m, count_errors, &errors);
    if (errors) check_failed("a weight file with errors", errors, 0);
    penta_buffer json = {0};
    if (!penta_convert(m, &to, 1, &json, count_errors, &errors)) check_failed("no JSON", 0, 0);
    penta_module *again = read_as((penta_bytes){json.data, json.size}, "json");
    size_t one = 0, two = 0;
    const uint8_t *first = penta_module_bytes(m, &one),
                  *second = again ? penta_module_bytes(again, &two) : NULL;
    if (!second || one != two || memcmp(first, second, one))
        check_failed("changed by JSON", one, two);
    penta_close(again);
    penta_buffer_free(&json);
    penta_close(m);
}
