/* Replaces the hosts of contracts and of JAM services in builds without them. A user who asks
 * for one of these hosts gets an error. */
#include "base/platform/missing.h"
#include "pvm/host/host.h"
#include "pvm/host/jam_json/session.h"

static bool chains_refuse(penta_error *err)
{
    missing_refuse("crypto");
    return error_at(err, BASE_UNSUPPORTED, 0, "this build has no host for contracts and services");
}

struct pvm_revive *pvm_revive_new(const penta_module *module, const penta_option *options,
                                  size_t count, penta_error *err)
{
    (void)module, (void)options, (void)count;
    chains_refuse(err);
    return NULL;
}

struct pvm_jam *pvm_jam_new(const penta_module *module, const penta_option *options, size_t count,
                            struct started_host *out, penta_error *err)
{
    (void)module, (void)options, (void)count, (void)out;
    chains_refuse(err);
    return NULL;
}

/* Nobody calls these functions, because a host is never opened in such a build. */
void pvm_revive_attach(struct pvm_revive *r, penta_vm *vm) { (void)r, (void)vm; }
void pvm_revive_free(struct pvm_revive *r) { (void)r; }
void pvm_jam_free(struct pvm_jam *s) { (void)s; }

bool pvm_revive_answer(struct pvm_revive *r, penta_vm *vm, const penta_stop *stop,
                       struct answer *out)
{
    return (void)r, (void)vm, (void)stop, (void)out, false;
}

bool pvm_revive_save(struct pvm_revive *r, struct writer *out, penta_error *err)
{
    return (void)r, (void)out, chains_refuse(err);
}

bool pvm_jam_answer(struct pvm_jam *s, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    return (void)s, (void)vm, (void)stop, (void)out, false;
}

bool pvm_jam_save(struct pvm_jam *s, struct writer *out, penta_error *err)
{
    return (void)s, (void)out, chains_refuse(err);
}

bool pvm_jam_finish(struct pvm_jam *s, penta_vm *vm, const penta_stop *stop, struct writer *w,
                    struct json *j, penta_error *err)
{
    return (void)s, (void)vm, (void)stop, (void)w, (void)j, chains_refuse(err);
}
