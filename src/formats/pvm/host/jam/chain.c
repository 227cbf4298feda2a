/* Has the parameters of the known chains, and the versions of the Gray Paper. */
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

static const struct jam_chain full = {
#define PARAM(bytes, name, full_value, tiny_value, ...) .name = full_value,
#include "pvm/host/jam/params.def"
};
static const struct jam_chain tiny = {
#define PARAM(bytes, name, full_value, tiny_value, ...) .name = tiny_value,
#include "pvm/host/jam/params.def"
};

static const struct parameter {
    const char *name;
    uint8_t bytes;
    size_t at;
} parameters[] = {
#define PARAM(bytes, name, ...) {#name, bytes, offsetof(struct jam_chain, name)},
#include "pvm/host/jam/params.def"
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static uint64_t *value_at(struct jam_chain *chain, const struct parameter *p)
{
    return (uint64_t *)(void *)((char *)chain + p->at);
}

static const struct parameter *chain_find(const char *name)
{
    for (unsigned i = 0; i < PARAMETERS; i++)
        if (!strcmp(parameters[i].name, name)) return &parameters[i];
    return NULL;
}

static const struct {
    const char *name;
    const struct jam_chain *chain;
} chains[] = {{"full", &full}, {"tiny", &tiny}};
enum { CHAINS = sizeof chains / sizeof *chains };

const char *jam_chain_name(size_t i) { return i < CHAINS ? chains[i].name : NULL; }

bool jam_chain_named(const char *name, struct jam_chain *out, penta_error *err)
{
    for (size_t i = 0; name && i < CHAINS; i++) {
        if (strcmp(name, chains[i].name)) continue;
        *out = *chains[i].chain;
        return true;
    }
    return error_not_in(err, "chain", name ? name : "", jam_chain_name);
}

bool jam_chain_replace(struct jam_chain *chain, const char *name, uint64_t value, penta_error *err)
{
    const struct parameter *p = chain_find(name);
    if (!p) return error_at(err, BASE_OPTION_VALUE, 0, "a chain has no parameter '%.40s'", name);
    if (p->bytes < 8 && value >> 8 * p->bytes)
        return error_at(err, BASE_OPTION_VALUE, 0, "%.40s does not fit %u bytes", name, p->bytes);
    *value_at(chain, p) = value;
    return true;
}

/* Checks the parameters by which the host divides or for which it makes tables, and those of
 * which it knows only one value. */
bool jam_chain_usable(const struct jam_chain *c, penta_error *err)
{
    if (c->epoch_length && c->cores && c->cores <= 4096 && c->epoch_length <= 1 << 16 &&
        c->memo_size == PENTA_JAM_MEMO && c->piece_size * c->segment_pieces == PENTA_JAM_SEGMENT &&
        c->queue_size <= 1024)
        return true;
    return error_at(err, BASE_OPTION_VALUE, 0,
                    "a chain has 1 to 4096 cores, epochs of 1 to 65536 slots, memos of 128 and "
                    "segments of 4104 bytes");
}

void jam_chain_encode(const struct jam_chain *chain, uint8_t *out)
{
    struct jam_chain copy = *chain;
    for (unsigned i = 0; i < PARAMETERS; i++) {
        uint64_t value = *value_at(&copy, &parameters[i]);
        for (unsigned k = 0; k < parameters[i].bytes; k++) *out++ = (uint8_t)(value >> 8 * k);
    }
}

bool jam_chain_parameter(const struct jam_chain *chain, const char *name, uint64_t *value)
{
    struct jam_chain copy = *chain;
    const struct parameter *p = chain_find(name);
    if (p) *value = *value_at(&copy, p);
    return p;
}

const struct jam_version jam_versions[] = {
#define VERSION(text, column, ...) {.name = text, .numbers = column, __VA_ARGS__},
#include "pvm/host/jam/versions.def"
    {.name = NULL}};

enum { VERSIONS = sizeof jam_versions / sizeof *jam_versions };

const char *penta_jam_version_name(size_t i) { return jam_version_name(i); }
const char *jam_version_name(size_t i) { return i < VERSIONS ? jam_versions[i].name : NULL; }

const struct jam_version *jam_version_find(const char *name)
{
    for (const struct jam_version *v = jam_versions; v->name; v++)
        if (!strcmp(v->name, name)) return v;
    return NULL;
}
