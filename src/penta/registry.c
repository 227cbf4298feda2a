/* Makes the table of all drivers from registry.def. */
#include "penta/registry.h"
#include <string.h>

#define FORMAT(name) extern const struct driver name##_driver;
#define EXTRA_DRIVER(name) FORMAT(name)
#include "penta/registry.def"

const struct driver *const drivers[] = {
#define FORMAT(name) &name##_driver,
#define EXTRA_DRIVER(name) FORMAT(name)
#include "penta/registry.def"
    NULL};

const struct driver *driver_find(const char *name)
{
    for (size_t i = 0; drivers[i]; i++)
        if (!strcmp(drivers[i]->name, name)) return drivers[i];
    return NULL;
}

const struct driver *driver_of_number(uint16_t number)
{
    for (size_t i = 0; drivers[i]; i++)
        if (drivers[i]->number == number) return drivers[i];
    return NULL;
}
