/* Implements what every module has in common: its allocation, its verification and the choice of
 * a driver's tables. */
#include "core/driver.h"
#include "base/array.h"
#include "base/long_work.h"
#include "core/debug/debug_info.h"

void *module_new(size_t bytes, const struct driver *driver, penta_bytes file,
                 const penta_option *options, size_t count, penta_error *err)
{
    penta_module *module = zeros_new(bytes, "a module", err);
    if (!module) return NULL;
    module->driver = driver;
    module->file = file;
    module->lenient = option_given(options, count, "lenient");
    return module;
}

const struct debug_info *debug_info_of(const penta_module *module)
{
    static const struct debug_info none;
    bool has = module && !module->damage.code && module->driver->debug;
    return has ? module->driver->debug : &none;
}

struct verification {
    struct findings *findings;
    penta_report *report;
    void *user;
    bool broken;
};

static void verification_finding(void *user, const penta_error *finding)
{
    struct verification *v = user;
    v->broken |= breaks_container(rule_find(v->findings->rules, finding->code), finding);
    if (v->report) v->report(v->user, finding);
}

bool module_lenient(const penta_module *module) { return module->lenient && !module->damage.code; }

bool module_pass_over(penta_module *module, penta_error *damage)
{
    const penta_rule *rule = rule_find(module->driver->rules, damage->code);
    if (!module->lenient || !rule || rule->scope != PENTA_SCOPE_RECOVERABLE) return false;
    if (module->passed_count == MODULE_PASSED_MAX) return false;
    module->passed[module->passed_count++] = *damage;
    *damage = (penta_error){0};
    return true;
}

void module_verify(const penta_module *module, struct findings *f)
{
    f->lenient = module_lenient(module);
    struct verification v = {.findings = f, .report = f->report, .user = f->user};
    f->report = verification_finding;
    f->user = &v;
    for (size_t i = 0; i < module->passed_count; i++) findings_pass(f, &module->passed[i]);
    module->driver->verify(module, f);
    f->report = v.report;
    f->user = v.user;
    bool whole = !f->work || !f->work->ended;
    /* The cast removes const, because only this flag of the module may change. */
    if (whole && !v.broken) ((penta_module *)module)->sound = true;
}
