/* Implements the default host of `penta run`. It answers from a script (option 'host') or
 * carries out the domain operations itself. */
#include "tvmr/host/host.h"
#include "tvmr/host/script.h"
#include "tvmr/host/domain.h"
#include <stdlib.h>

struct host_state {
    struct tvmr_script *script;
    struct tvmr_domain *domain;
};

static void host_close(void *state)
{
    struct host_state *h = state;
    if (!h) return;
    tvmr_script_close(h->script);
    tvmr_domain_free(h->domain);
    free(h);
}

static bool host_open(penta_vm *vm, const penta_option *options, size_t count,
                      struct opened_host *out, penta_error *err)
{
    const char *script = option_text(options, count, "host");
    struct host_state *h = calloc(1, sizeof *h);
    *out = (struct opened_host){.state = h, .changes_machine = true};
    if (!h) return error_at(err, BASE_MEMORY, 0, "no memory for the host");
    if (script)
        h->script = tvmr_script_open(script, err);
    else
        h->domain = tvmr_domain_new(option_text(options, count, "store"), err);
    if (h->domain) tvmr_domain_chemicals(h->domain, tvmr_vm(vm)->chem);
    for (size_t i = 0; h->domain && i < count; i++)
        if (!strcmp(options[i].key, "dynamics") &&
            !tvmr_domain_dynamics(h->domain, options[i].value, err))
            break;
    if (!err->code) return true;
    host_close(h);
    out->state = NULL;
    return false;
}

static bool host_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    struct host_state *h = state;
    if (h->script) return tvmr_script_answer(h->script, tvmr_vm(vm));
    bool done = tvmr_domain_answer(h->domain, tvmr_vm(vm), stop, &out->output, &out->interrupted);
    if (out->interrupted) atomic_store(&vm->interrupt, false);
    return done;
}

const struct host tvmr_host = {.open = host_open, .answer = host_answer, .close = host_close};
