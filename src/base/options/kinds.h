/* Declares what the kinds of option values share with forms. */
#pragma once
#include "base/options.h"

/* Tells whether a text is a number within the bounds of the row. `suffix` says that K, M or G
 * may follow. */
bool number_fits(const penta_option_info *row, penta_bytes text, bool suffix, uint64_t *out);
