/* What every module has in common: its allocation and the choice of a driver's tables. */
#include "core/driver.h"
#include "base/array.h"
#include "core/debug/debug_info.h"

void *module_new(size_t bytes, const struct driver *driver, penta_bytes file, penta_error *err)
{
    penta_module *module = zeros_new(bytes, "a module", err);
    if (module) *module = (penta_module){.driver = driver, .file = file};
    return module;
}

const struct debug_info *debug_info_of(const penta_module *module)
{
    static const struct debug_info none;
    bool has = module && !module->damage.code && module->driver->debug;
    return has ? module->driver->debug : &none;
}
