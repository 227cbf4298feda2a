/* The formats of this build. */
#pragma once
#include "core/driver.h"

extern const struct driver *const drivers[]; /* from penta/registry.def: the only list */

const struct driver *driver_find(const char *name); /* NULL when there is no such format */
const struct driver *driver_of_number(uint16_t number);
