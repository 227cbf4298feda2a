/* The row of an option as JSON. */
#pragma once
#include "base/json/json_write.h"
#include "base/options.h"

/* "switch", "words", ...; NULL beyond the last. */
const char *option_kind_name(penta_option_kind kind);
/* argument, help, kind, items, accepts, and where the kind has them least, most and unit. */
void option_json_members(struct json *j, const penta_option_info *o);
