/* The JAM host where there is no JSON reader: the known chains, and nothing from or to files. */
#include "pvm/host/jam/host.h"

static bool none(penta_error *err)
{
    *err = (penta_error){0};
    return error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
}

bool jam_chain_read(const char *text, struct jam_chain *out, penta_error *err)
{
    return *text == '{' ? none(err) : jam_chain_named(text, out, err);
}

penta_jam_host *penta_jam_host_for(penta_bytes state, const penta_option *options, size_t count,
                                   penta_error *err)
{
    (void)state, (void)options, (void)count;
    none(err);
    return NULL;
}

bool penta_jam_state_read(penta_jam_state *state, penta_bytes json, const char *folder,
                          penta_error *err)
{
    (void)state, (void)json, (void)folder;
    return none(err);
}

bool penta_jam_state_write(penta_jam_state *state, penta_buffer *out, penta_error *err)
{
    (void)state, (void)out;
    return none(err);
}

bool penta_jam_state_diff(penta_jam_state *state, bool json, penta_buffer *out, penta_error *err)
{
    (void)state, (void)json, (void)out;
    return none(err);
}

bool penta_jam_block_json(penta_jam_host *host, penta_jam_state *state, penta_bytes json,
                          const char *folder, penta_jam_outcome *out, penta_error *err)
{
    (void)host, (void)state, (void)json, (void)folder, (void)out;
    return none(err);
}
