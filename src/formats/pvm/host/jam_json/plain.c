/* Replaces the JAM host's JSON in builds without a JSON reader. These builds have the known
 * chains and no documents. */
#include "pvm/host/jam/host.h"
#include "pvm/host/jam_json/session.h"

static bool jam_json_none(penta_error *err)
{
    *err = (penta_error){0};
    return error_at(err, BASE_UNSUPPORTED, 0, "this build reads no JSON");
}

bool jam_chain_read(const char *text, struct jam_chain *out, penta_error *err)
{
    return *text == '{' ? jam_json_none(err) : jam_chain_named(text, out, err);
}

penta_jam_host *penta_jam_host_new(penta_bytes state, const penta_option *options, size_t count,
                                   penta_error *err)
{
    if (!state.size) return jam_host_new(options, count, err);
    jam_json_none(err);
    return NULL;
}

bool penta_jam_state_read(penta_jam_state *state, penta_bytes json, const char *folder,
                          penta_error *err)
{
    (void)state, (void)json, (void)folder;
    return jam_json_none(err);
}

bool penta_jam_state_write(penta_jam_state *state, penta_buffer *out, penta_error *err)
{
    (void)state, (void)out;
    return jam_json_none(err);
}

bool penta_jam_state_diff(penta_jam_state *state, bool json, penta_buffer *out, penta_error *err)
{
    (void)state, (void)json, (void)out;
    return jam_json_none(err);
}

bool penta_jam_block_json(penta_jam_host *host, penta_jam_state *state, penta_bytes json,
                          const char *folder, penta_jam_outcome *out, penta_error *err)
{
    (void)host, (void)state, (void)json, (void)folder, (void)out;
    return jam_json_none(err);
}

struct pvm_jam *pvm_jam_new(const penta_module *module, const penta_option *options, size_t count,
                            struct started_host *out, penta_error *err)
{
    (void)module, (void)options, (void)count, (void)out;
    jam_json_none(err);
    return NULL;
}

void pvm_jam_free(struct pvm_jam *s) { (void)s; }

bool pvm_jam_answer(struct pvm_jam *s, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    (void)s, (void)vm, (void)stop, (void)out;
    return false;
}

bool pvm_jam_finish(struct pvm_jam *s, penta_vm *vm, const penta_stop *stop, struct writer *w,
                    struct json *j, penta_error *err)
{
    (void)s, (void)vm, (void)stop, (void)w, (void)j, (void)err;
    return true;
}

bool pvm_jam_save(struct pvm_jam *s, struct writer *out, penta_error *err)
{
    (void)s, (void)out;
    return jam_json_none(err);
}
