/* Writes the row of an option as JSON. */
#pragma once
#include "base/json/json_write.h"
#include "base/options.h"

/* Returns the name of a kind of values, such as "switch" or "words", or NULL beyond the last
 * kind. */
const char *option_kind_name(penta_option_kind kind);
/* Writes the members argument, help, kind, items and accepts, and least, most and unit where the
 * kind has them. */
void option_json_members(struct json *j, const penta_option_info *o);
