/* Compiles to object files as include/penta/coil.h declares: checks the options and calls the
 * compiler. */
#include "coil/native/native.h"
#include "penta/coil.h"

bool penta_coil_compile(const penta_module *module, const penta_option *options, size_t count,
                        const volatile int *stop, penta_buffer *out, penta_error *err)
{
    penta_error own = {0};
    struct writer w = {0};
    if (!err) err = &own;
    *err = (penta_error){0};
    const char *emit = option_text(options, count, "emit");
    if (module->driver != &coil_driver)
        return error_at(err, BASE_UNSUPPORTED, 0, "%s has no native code", module->driver->name);
    if (!options_check(options, count, coil_driver.options, OPTION_CREATE, err)) return false;
    if (emit && strcmp(emit, "object") && strcmp(emit, "asm"))
        return error_at(err, BASE_OPTION_VALUE, 0, "emit '%.20s' is neither object nor asm", emit);
    bool ok = coil_native_compile(coil_module(module), emit && !strcmp(emit, "asm"), stop, &w, err);
    return writer_give(&w, ok, out, err);
}
