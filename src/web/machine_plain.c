/* Replaces machine.c and state.c in the module without machines. It refuses every call with a
 * machine. */
#include "base/platform/missing.h"
#include "web/web.h"

static void machine_refuse(struct web_call *c)
{
    missing_refuse("machines");
    error_at(&c->err, BASE_UNSUPPORTED, 0, "this build has no machines");
}

#define CALL(name)
#define MACHINE_CALL(name)                                                                         \
    void web_##name(struct web_call *c) { machine_refuse(c); }
#include "web/calls.def"

/* No handle of this module is a machine, so there is nothing to free. */
void web_machine_free(struct web_machine *machine) { (void)machine; }
