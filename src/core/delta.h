/* The difference of two byte strings, small where little changed:
 *
 *     { u64 offset, u64 removed, u64 added, the added bytes } ...       offsets in the old string
 */
#pragma once
#include "base/writer.h"

void delta_write(penta_bytes old, penta_bytes new, struct writer *out);
/* Makes the new string from the old one and what delta_write made for it. False: it is for another
 * old string, or no delta. */
bool delta_apply(penta_bytes old, penta_bytes delta, struct writer *out);
