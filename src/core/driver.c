#include "core/driver.h"
#include <stdlib.h>
#include "core/debug/debug_info.h"

void *module_new(size_t bytes, const struct driver *driver, penta_bytes file, penta_error *err)
{
    penta_module *module = calloc(1, bytes);
    if (module)
        *module = (penta_module){.driver = driver, .file = file};
    else
        error_at(err, BASE_MEMORY, 0, "no memory for a module");
    return module;
}

const struct debug_info *debug_info_of(const penta_module *module)
{
    static const struct debug_info none;
    bool has = module && !module->damage.code && module->driver->debug;
    return has ? module->driver->debug : &none;
}
