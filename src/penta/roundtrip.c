/* Checks two promises about the bytes of a module. Parsing and encoding, and disassembling and
 * assembling, must give the same bytes again. */
#include "base/bytes.h"
#include "core/driver.h"
#include "text/lexer.h"

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

/* Assembles the listing of a module. The result is compared as bytes, so it is not parsed. */
static bool roundtrip_assembles(const penta_module *module, penta_error *err)
{
    const struct driver *driver = module->driver;
    penta_buffer text = {0};
    struct writer again = {0};
    penta_error first = {0}, source_error = {0};
    if (!penta_print(module, NULL, 0, &text, err)) return false;
    struct source source = {
        .text = {text.data, text.size}, .comment = driver->comment, .err = &source_error};
    struct findings f = {.rules = driver->rules, .report = error_keep_first, .user = &first};
    bool ok = driver->assemble(&source, NULL, 0, &again, &f);
    if (first.code == BASE_MEMORY)
        *err = first;
    else if (!ok)
        error_at(err, BASE_BUG, first.offset, "its own listing does not assemble: %.70s",
                 first.message);
    else
        ok = writer_ok(&again, err) &&
             roundtrip_same(module->file, &again.out, "disassemble and assemble", err);
    penta_buffer_free(&text);
    writer_free(&again);
    return ok && !err->code;
}

bool penta_roundtrip(const penta_module *module, penta_error *err)
{
    const struct driver *driver = module->driver;
    return roundtrip_encodes(module, err) &&
           (!driver->print || !driver->assemble || roundtrip_assembles(module, err));
}
