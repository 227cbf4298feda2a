/* Implements the functions of include/penta/jam.h about hosts, states and single services. */
#include "base/array.h"
#include "base/bytes.h"
#include "base/options.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

static const penta_option_info known[] = {OPTION_ROW("version", TEXT("NAME"), OPTION_RUN, ""),
                                          OPTION_ROW("chain", TEXT("NAME"), OPTION_RUN, ""),
                                          OPTION_ROW("engine", TEXT("NAME"), OPTION_RUN, ""),
                                          {.key = NULL}};

static bool state_configure(struct penta_jam_host *host, const penta_option *options, size_t count,
                            penta_error *err)
{
    const char *version = option_text(options, count, "version");
    const char *chain = option_text(options, count, "chain");
    const char *engine = option_text(options, count, "engine");
    pvm_adopt_fn *adopt;
    if (!options_check(options, count, known, OPTION_RUN, err)) return false;
    host->version = jam_version_find(version ? version : JAM_VERSION_DEFAULT);
    if (!host->version) return error_not_in(err, "version", version, jam_version_name);
    if (engine && !(host->engine = pvm_engine_find(engine, &adopt)))
        return error_at(err, BASE_OPTION_VALUE, 0, "engine '%.40s' is none of interp, jit, both",
                        engine);
    if (!jam_chain_read(chain ? chain : "full", &host->chain, err)) return false;
    if (host->version->bundle_size) host->chain.bundle_size = host->version->bundle_size;
    jam_chain_encode(&host->chain, host->parameters);
    jam_calls_number(host);
    return true;
}

penta_jam_host *jam_host_new(const penta_option *options, size_t count, penta_error *err)
{
    *err = (penta_error){0};
    struct penta_jam_host *host = calloc(1, sizeof *host);
    if (!host) error_at(err, BASE_MEMORY, 0, "no memory for a host");
    if (host && state_configure(host, options, count, err)) return host;
    free(host);
    return NULL;
}

void penta_jam_host_free(penta_jam_host *host)
{
    if (!host) return;
    for (size_t i = 0; i < host->program_count; i++) jam_program_free(&host->programs[i]);
    free(host);
}

bool penta_jam_parameter(const penta_jam_host *host, const char *name, uint64_t *value)
{
    return jam_chain_parameter(&host->chain, name, value);
}

void penta_jam_on_call(penta_jam_host *host, penta_jam_called *called, void *user)
{
    host->called = called;
    host->called_user = user;
}

void penta_jam_on_log(penta_jam_host *host, penta_jam_logged *logged, void *user)
{
    host->logged = logged;
    host->logged_user = user;
}

penta_jam_state *penta_jam_state_new(const penta_jam_host *host, const penta_jam_source *source,
                                     penta_error *err)
{
    *err = (penta_error){0};
    struct penta_jam_state *state = zeros_new(sizeof *state, "a state", err);
    if (!state) return NULL;
    state->host = host;
    jam_layer_init(&state->base, NULL);
    if (source) state->base.source = *source;
    state->base.plain_records = host->version->plain_records;
    jam_layer_init(&state->changes, &state->base);
    return state;
}

void penta_jam_state_free(penta_jam_state *state)
{
    if (!state) return;
    jam_layer_fini(&state->changes);
    jam_layer_fini(&state->base);
    free(state);
}

static bool state_settled(struct penta_jam_state *state, penta_error *err)
{
    if (!state->changes.failed && !state->base.failed) return true;
    state->changes.failed = state->base.failed = false;
    return error_at(err, BASE_MEMORY, 0, "no memory for the state");
}

bool penta_jam_state_get(penta_jam_state *state, const uint8_t *key, penta_bytes *value)
{
    return jam_layer_get(&state->changes, key, value);
}

bool penta_jam_state_set(penta_jam_state *state, const uint8_t *key, penta_bytes value,
                         penta_error *err)
{
    *err = (penta_error){0};
    if (value.data)
        jam_layer_set(&state->changes, key, (penta_bytes){0}, value);
    else
        jam_layer_remove(&state->changes, key);
    return state_settled(state, err);
}

bool penta_jam_state_store(penta_jam_state *state, uint32_t service, penta_bytes name,
                           penta_bytes value, penta_error *err)
{
    uint8_t key[JAM_KEY];
    *err = (penta_error){0};
    penta_jam_storage_key(service, name, key);
    jam_layer_set(&state->changes, key, name, value);
    return state_settled(state, err);
}

bool penta_jam_state_changes(penta_jam_state *state, penta_jam_change *change, void *user)
{
    size_t count;
    const struct jam_entry **list = jam_layer_sorted(&state->changes, &count);
    for (size_t i = 0; list && i < count; i++) {
        const struct jam_value *old = jam_layer_find(&state->base, list[i]->key);
        const struct jam_value *now = list[i]->value;
        penta_bytes before = old ? jam_value_bytes(old) : (penta_bytes){0};
        penta_bytes after = now ? jam_value_bytes(now) : (penta_bytes){0};
        penta_bytes name = now && now->name_size ? jam_value_name(now)
                           : old                 ? jam_value_name(old)
                                                 : (penta_bytes){0};
        bool same = !old == !now && before.size == after.size &&
                    (!after.size || !memcmp(before.data, after.data, after.size));
        if (!same) change(user, list[i]->key, name, old ? &before : NULL, now ? &after : NULL);
    }
    bool told = list != NULL;
    free(list);
    return told;
}

bool penta_jam_state_commit(penta_jam_state *state, penta_error *err)
{
    *err = (penta_error){0};
    jam_layer_merge(&state->base, &state->changes);
    jam_layer_clear(&state->changes);
    return state_settled(state, err);
}

void penta_jam_state_rollback(penta_jam_state *state) { jam_layer_clear(&state->changes); }

/* The functions below run one service alone. */

static bool state_alone(struct penta_jam_host *host, struct penta_jam_state *state,
                        const penta_jam_accumulation *input, uint32_t pc, penta_jam_result *out,
                        penta_error *err)
{
    struct jam_layer layer;
    *err = (penta_error){0};
    jam_layer_init(&layer, &state->changes);
    struct jam_round round = {
        .host = host, .layer = &layer, .slot = input->slot, .entropy = input->entropy};
    bool ok = jam_round_alone(&round, input, pc, out, err);
    if (ok) jam_layer_merge(&state->changes, &layer);
    jam_layer_fini(&layer);
    return ok && state_settled(state, err);
}

bool penta_jam_accumulate(penta_jam_host *host, penta_jam_state *state,
                          const penta_jam_accumulation *input, penta_jam_result *out,
                          penta_error *err)
{
    return state_alone(host, state, input, 5, out, err);
}

bool penta_jam_on_transfer(penta_jam_host *host, penta_jam_state *state,
                           const penta_jam_accumulation *input, penta_jam_result *out,
                           penta_error *err)
{
    if (host->version->on_transfer) return state_alone(host, state, input, 10, out, err);
    *err = (penta_error){0};
    return error_at(err, BASE_UNSUPPORTED, 0, "version %s has no entry for transfers",
                    host->version->name);
}
