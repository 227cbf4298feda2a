/* What changed between two byte strings, small where little did:
 *
 *     { u64 offset, u64 removed, u64 added, the added bytes } ...       offsets in the old string
 */
#pragma once
#include "base/writer.h"

void delta_write(penta_bytes old, penta_bytes new, struct writer *out);
/* The new string out of the old one. The delta is one of delta_write and of this old string. */
void delta_apply(penta_bytes old, penta_bytes delta, struct writer *out);
