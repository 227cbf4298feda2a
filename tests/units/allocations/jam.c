/* Tries penta/jam.h: states and blocks of the example service. */
#include "penta/jam.h"
#include "allocations.h"
#include "base/error.h"

struct given {
    penta_bytes state, block;
    const char *engine;
};

static void try_block(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_option options[] = {{"engine", g->engine}};
    penta_error err = {0};
    penta_buffer out = {0};
    penta_jam_outcome result = {0};
    penta_jam_state *state = NULL;
    penta_jam_host *host = penta_jam_host_new(g->state, options, 1, &err);
    bool ok = host && (state = penta_jam_state_new(host, NULL, &err)) &&
              penta_jam_state_read(state, g->state, "examples/jam", &err) &&
              penta_jam_state_commit(state, &err) &&
              penta_jam_block_json(host, state, g->block, "examples/jam", &result, &err);
    if (ok) outcome_bytes(o, result.root, sizeof result.root);
    ok = ok && penta_jam_state_diff(state, false, &out, &err) &&
         penta_jam_state_diff(state, true, &out, &err) && penta_jam_state_write(state, &out, &err);
    if (outcome_ok(o, ok, &err)) outcome_bytes(o, out.data, out.size);
    penta_buffer_free(&out);
    penta_jam_outcome_free(&result);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
}

static void jam_test_change(void *user, const uint8_t *key, penta_bytes name,
                            const penta_bytes *before, const penta_bytes *now)
{
    (void)name;
    (void)before;
    outcome_bytes(user, key, PENTA_JAM_KEY);
    if (now) outcome_bytes(user, now->data, now->size);
}

/* Adds a line of the log. A line for which there is no memory is left out. */
static void jam_test_called(void *user, uint32_t service, const char *line)
{
    (void)user, (void)service, (void)line;
}

static void try_accumulate(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_option options[] = {{"engine", g->engine}};
    penta_jam_accumulation input = {.slot = 11, .service = 1000, .gas = 1000000};
    penta_error err = {0}, no = {.code = BASE_MEMORY};
    penta_jam_result result = {0};
    penta_jam_state *state = NULL;
    penta_jam_host *host = penta_jam_host_new(g->state, options, 1, &err);
    if (host) penta_jam_on_call(host, jam_test_called, NULL);
    bool ok = host && (state = penta_jam_state_new(host, NULL, &err)) &&
              penta_jam_state_read(state, g->state, "examples/jam", &err) &&
              penta_jam_state_commit(state, &err) &&
              penta_jam_accumulate(host, state, &input, &result, &err);
    if (outcome_ok(o, ok, &err)) {
        outcome_bytes(o, &result.exit, sizeof result.exit);
        outcome_bytes(o, &result.gas_used, sizeof result.gas_used);
        outcome_ok(o, penta_jam_state_changes(state, jam_test_change, o), &no);
    }
    penta_jam_result_free(&result);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
}

static void try_state(const void *user, struct outcome *o)
{
    (void)user;
    static const uint8_t text[] = "value";
    penta_error err = {0};
    uint8_t key[PENTA_JAM_KEY];
    penta_bytes value = {text, sizeof text};
    penta_jam_state *state = NULL;
    penta_jam_host *host = penta_jam_host_new((penta_bytes){0}, NULL, 0, &err);
    penta_jam_account_key(5, key);
    bool ok = host && (state = penta_jam_state_new(host, NULL, &err)) &&
              penta_jam_state_set(state, key, value, &err) &&
              penta_jam_state_store(state, 5, value, value, &err) &&
              penta_jam_state_commit(state, &err) &&
              penta_jam_state_set(state, key, (penta_bytes){0}, &err);
    if (outcome_ok(o, ok, &err)) penta_jam_state_rollback(state);
    if (ok && penta_jam_state_get(state, key, &value)) outcome_bytes(o, value.data, value.size);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
}

void jam_scenarios(void)
{
    struct given g = {file_of("examples/jam/state.json"), file_of("examples/jam/block.json"),
                      "interp"};
    libraries_take_no(false);
    scenario("state", try_state, NULL);
    scenario("block (interp)", try_block, &g);
    scenario("accumulate (interp)", try_accumulate, &g);
    g.engine = "jit";
    scenario("block (jit)", try_block, &g);
    scenario("accumulate (jit)", try_accumulate, &g);
    libraries_take_no(true);
    file_free(g.state);
    file_free(g.block);
}
