/* Declares the formats of this build. */
#pragma once
#include "core/driver.h"

extern const struct driver *const drivers[]; /* The table comes from penta/registry.def. */

const struct driver *driver_find(const char *name); /* Returns NULL when no format has this name. */
const struct driver *driver_of_number(uint16_t number);

struct json;
/* Writes the rules of a format, or with NULL penta's own, into an open list (lists.c). */
void rules_json(struct json *j, const char *format);
