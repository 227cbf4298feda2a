/* Declares the difference of two byte strings. It is small when little changed:
 *
 *     { u64 offset, u64 removed, u64 added, the added bytes } ...       offsets in the old string */
#pragma once
#include "base/writer.h"

void delta_write(penta_bytes old, penta_bytes new, struct writer *out);
/* Makes the new string from the old one and a delta. Returns false when the bytes are no delta, or one for another
 * old string. */
bool delta_apply(penta_bytes old, penta_bytes delta, struct writer *out);
