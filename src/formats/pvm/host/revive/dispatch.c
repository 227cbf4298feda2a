/* Finds a host call by its name. The table comes from calls.def. */
#include <string.h>
#include "pvm/host/revive/calls.h"

static const struct {
    const char *name;
    host_call_fn *answer;
} calls[] = {
#define CALL(name) {#name, revive_call_##name},
#define MISSING(name) {#name, NULL},
#include "pvm/host/revive/calls.def"
};

bool revive_call_find(penta_bytes name, struct host_call *out)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == name.size && !memcmp(calls[i].name, name.data, name.size)) {
            out->answer = calls[i].answer;
            return true;
        }
    return false;
}
