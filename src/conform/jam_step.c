/* Runs steps of JAM in the form that `penta block` reads: a state and a block (JAM 2.3, 5.1). A
 * vector also has the keys that the block changes and the gas of each service. */
#include "base/number.h"
#include "conform/jam.h"

static bool step_matches(const struct json_object *root)
{
    const struct json_object *expect = json_get(root, "expect");
    return json_has(root, "gp") && json_has(root, "state") && json_has(root, "block") &&
           json_has(expect, "keys") && json_has(expect, "services");
}

struct step_services {
    struct jam_case *c;
    size_t count;
};

static void compare_service(void *user, const char *key, const struct json_object *value)
{
    struct step_services *s = user;
    struct jam_case *c = s->c;
    uint64_t id = 0;
    s->count++;
    if (!number_parse(key, &id) || id > UINT32_MAX)
        error_at(&c->err, BASE_JSON, 0, "'%.20s' is not the number of a service", key);
    uint64_t items = jam_json_uint(&c->json, value, "items", 64);
    uint64_t gas = jam_json_uint(&c->json, value, "gas", 64);
    if (!c->err.code) jam_case_gas(c, (uint32_t)id, items, gas);
}

static void read_step(struct jam_case *c, const struct json_object *root)
{
    const struct json_object *state = json_get(root, "state");
    const struct json_object *block = jam_json_object(&c->json, root, "block");
    const struct json_object *expect = jam_json_object(&c->json, root, "expect");
    struct jam_case_members changes = {c, c->expected, NULL};
    size_t mark = jam_json_enter(&c->json, "state", JAM_NO_INDEX);
    jam_json_state(&c->json, state, c->state);
    jam_json_state(&c->json, state, c->expected);
    jam_json_leave(&c->json, mark);
    mark = jam_json_enter(&c->json, "block", JAM_NO_INDEX);
    jam_case_block(c, jam_json_uint(&c->json, block, "slot", 32), json_get(block, "entropy"));
    jam_case_reports(c, jam_json_list(&c->json, block, "reports"));
    jam_case_preimages(c, jam_json_list(&c->json, block, "preimages"));
    jam_json_leave(&c->json, mark);
    mark = jam_json_enter(&c->json, "expect", JAM_NO_INDEX);
    json_each(jam_json_object(&c->json, expect, "keys"), jam_case_member, &changes);
    jam_json_leave(&c->json, mark);
}

static void step_run(struct conform *conform, const struct json_object *root)
{
    const struct json_object *named = json_get(json_get(root, "state"), "chain");
    const char *chain = json_as_text(named);
    struct jam_case c;
    if (jam_case_open(&c, conform, root, chain ? chain : "tiny")) {
        struct step_services services = {.c = &c};
        if (named && !chain) error_at(&c.err, BASE_JSON, 0, "chain of the state is not a name");
        read_step(&c, root);
        if (jam_case_run(&c)) {
            json_each(jam_json_object(&c.json, json_get(root, "expect"), "services"),
                      compare_service, &services);
            if (!c.trial.judged && !c.err.code) jam_case_count(&c, services.count);
            if (!c.trial.judged) jam_case_states(&c);
        }
    }
    jam_case_close(&c);
}

DOCUMENT_FORM(jam_step, step_matches, step_run)
