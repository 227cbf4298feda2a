/* A build may lack a part of the library and refuse what needs that part. A caller that can load
 * another build learns here which part was missing: "machines" or "crypto" (docs/web.md). */
#pragma once
#include <stdbool.h>

/* Notes that something was refused because this part is missing. Returns false. */
bool missing_refuse(const char *part);
/* Returns the part because of which something was refused first since the last call, or NULL. */
const char *missing_part(void);
