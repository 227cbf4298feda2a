/* In the module without machines: every call with one is refused. */
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

/* No handle is one. */
void web_machine_free(struct web_machine *machine) { (void)machine; }
