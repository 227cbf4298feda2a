/* A build may lack a part of the library and refuse what needs it. Whoever has another build at hand learns
 * here which part that was: "machines" or "crypto" (docs/web.md). */
#pragma once
#include <stdbool.h>

/* Notes that something was refused for want of this part; false. */
bool missing_refuse(const char *part);
/* The part for which something was refused first since the last call; NULL: nothing was. */
const char *missing_part(void);
