#include <string.h>
#include "core/driver.h"

#define ROOM(name) extern const struct driver name##_driver;
#define FACE(name) ROOM(name)
#include "penta/registry.def"

const struct driver *const drivers[] = {
#define ROOM(name) &name##_driver,
#define FACE(name) ROOM(name)
#include "penta/registry.def"
    NULL};

const struct driver *driver_find(const char *name)
{
    for (size_t i = 0; drivers[i]; i++)
        if (!strcmp(drivers[i]->name, name)) return drivers[i];
    return NULL;
}

const struct driver *driver_of_room(uint16_t room)
{
    for (size_t i = 0; drivers[i]; i++)
        if (drivers[i]->room == room) return drivers[i];
    return NULL;
}
