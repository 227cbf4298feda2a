/* Tries the two promises about bytes on a module: parsing and encoding, and disassembling and assembling, give the
 * same bytes again. */
#include "base/bytes.h"
#include "core/driver.h"

static bool roundtrip_same(penta_bytes file, const penta_buffer *again, const char *how,
                           penta_error *err)
{
    size_t at = 0, least = file.size < again->size ? file.size : again->size;
    while (at < least && file.data[at] == again->data[at]) at++;
    return (at == file.size && at == again->size) ||
           error_at(err, BASE_BUG, at, "%s gives other bytes from 0x%zx on", how, at);
}

static bool roundtrip_encodes(const penta_module *module, penta_error *err)
{
    penta_buffer again = {0};
    bool ok = penta_encode(module, &again, err) &&
              roundtrip_same(module->file, &again, "parse and encode", err);
    penta_buffer_free(&again);
    return ok;
}

static bool roundtrip_assembles(const penta_module *module, penta_error *err)
{
    penta_buffer text = {0}, again = {0};
    bool ok = penta_print(module, NULL, 0, &text, err);
    if (ok) {
        penta_error first = {0};
        penta_module *back =
            penta_assemble((penta_bytes){text.data, text.size}, module->driver->name, NULL, 0,
                           error_keep_first, &first);
        if (first.code == BASE_MEMORY) *err = first;
        if (!back)
            ok = error_at(err, BASE_BUG, first.offset, "its own listing does not assemble: %.70s",
                          first.message);
        else
            ok = penta_encode(back, &again, err) &&
                 roundtrip_same(module->file, &again, "disassemble and assemble", err);
        penta_close(back);
    }
    penta_buffer_free(&text);
    penta_buffer_free(&again);
    return ok;
}

bool penta_roundtrip(const penta_module *module, penta_error *err)
{
    const struct driver *driver = module->driver;
    return roundtrip_encodes(module, err) &&
           (!driver->print || !driver->assemble || roundtrip_assembles(module, err));
}
