/* Names host calls by their numbers, for listings. Builds without the JAM host have this file,
 * too. */
#include "pvm/host/jam/host.h"

static const struct {
    const char *name;
    int16_t number[4];
} calls[] = {
#define NEVER (-1)
#define NUMBERS(...) __VA_ARGS__
#define CALL(id, ...) ROW(id, __VA_ARGS__)
#define ROW(id, name, contexts, cost, n0, n1, n2, n3, ...) {name, {n0, n1, n2, n3}},
#include "pvm/host/jam_calls/calls.def"
};

const char *penta_jam_call_name(const char *version, uint32_t number)
{
    const struct jam_version *v = jam_version_find(version ? version : JAM_VERSION_DEFAULT);
    for (size_t i = 0; v && i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number[v->numbers] == (int64_t)number) return calls[i].name;
    return NULL;
}
