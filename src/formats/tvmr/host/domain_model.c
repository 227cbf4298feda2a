/* Runs the models of the default host (TVMR 17.8). A model is a program in the folder,
 * model-N.tvmr for slot N, with a machine of its own and the same domain. A slot without such a
 * file returns its input. */
#include "base/file/file.h"
#include "tvmr/vm/ops.h"
#include "tvmr/host/domain_state.h"
#include <stdlib.h>
#include <unistd.h>

enum { SLICE = 1 << 16, STEPS = 100 * 1000 * 1000, FILE_MAX = 256 << 20 };

#define ACT(name) bool domain_##name(struct act *a)

static void close_model(struct model *m)
{
    if (m->vm) m->vm->engine->close(m->vm);
    if (m->module) tvmr_close(m->module);
    penta_buffer_free(&m->file);
    *m = (struct model){0};
}

void domain_model_free(struct tvmr_domain *w)
{
    for (unsigned i = 0; i < 256; i++) close_model(&w->models[i]);
}

/* Makes the error of a model. Its message begins with the number of the model. */
static bool model_error(struct act *a, unsigned slot, const char *text)
{
    return error_at(&a->err, BASE_STATE, 0, "model %u: %.100s", slot, text);
}

static bool open_model(struct act *a, unsigned slot)
{
    struct model *m = &a->w->models[slot];
    char path[4096];
    penta_error err = {0};
    penta_option options[] = {{"profile", tvmr_profile_name(a->vm->profile)}, {"memory", "64M"}};
    if (m->asked) return true;
    m->asked = true;
    if (!a->w->folder) return true;
    snprintf(path, sizeof path, "%s/model-%u.tvmr", a->w->folder, slot);
    if (access(path, F_OK)) return true;
    if (file_read(path, FILE_MAX, &m->file, &err))
        m->module = tvmr_parse((penta_bytes){m->file.data, m->file.size}, options, 1, &err);
    struct findings findings = {.rules = tvmr_rules, .report = error_keep_first, .user = &err};
    if (m->module) tvmr_verify(m->module, &findings);
    if (m->module && !err.code) m->vm = tvmr_interp.open(m->module, options, 2, &err);
    if (m->vm) return true;
    close_model(m);
    return model_error(a, slot, err.code ? err.message : "cannot be opened");
}

/* Runs a slice of a model. Returns true when the run has ended, well or with an error. */
static bool model_slice(struct act *a, unsigned slot, penta_stop *stop, bool *ok)
{
    struct model *m = &a->w->models[slot];
    struct tvmr_vm *vm = tvmr_vm(m->vm);
    penta_error err = {0};
    *ok = false;
    a->interrupted = atomic_load_explicit(&a->vm->base.interrupt, memory_order_relaxed);
    if (a->interrupted) return true;
    tvmr_vm_run(m->vm, SLICE, stop);
    switch (stop->kind) {
    case PENTA_STOP_HALT: *ok = true; return true;
    case PENTA_STOP_TRAP: model_error(a, slot, vm->fault_text); return true;
    case PENTA_STOP_INTERRUPT: a->interrupted = true; return true;
    case PENTA_STOP_HOST: break;
    default: return false;
    }
    if (tvmr_domain_answer(a->w, vm, stop, a->log, &a->interrupted) &&
        tvmr_interp.answer(m->vm, NULL, 0, &err))
        return false;
    if (!a->interrupted) model_error(a, slot, "asks for what the host does not know");
    return true;
}

/* Runs a model on the input, and answers its own domain operations. An interrupted run continues. */
static bool run_model(struct act *a, unsigned slot, struct numbers input)
{
    struct model *m = &a->w->models[slot];
    struct tvmr_vm *vm = tvmr_vm(m->vm);
    penta_stop stop = {0};
    bool ok = false, over = false;
    if (!m->paused && !tvmr_vm_begin(vm, input.data, input.count))
        return model_error(a, slot, vm->fault_text);
    atomic_store(&a->vm->inner, m->vm);
    for (uint64_t steps = 0; !over && steps < STEPS; steps += stop.steps)
        over = model_slice(a, slot, &stop, &ok);
    atomic_store(&a->vm->inner, NULL);
    m->paused = a->interrupted;
    return over ? ok : model_error(a, slot, "does not come to an end");
}

ACT(ModelLoad) { return open_model(a, a->args[1] & 255); }

ACT(ModelReload)
{
    struct model *m = &a->w->models[a->args[0] & 255];
    if (m->running) return model_error(a, a->args[0] & 255, "cannot reload itself");
    close_model(m);
    return open_model(a, a->args[0] & 255);
}

/* Runs a model. Its output goes to the target register and to the register that is bound to the
 * slot. */
ACT(ModelExec)
{
    unsigned slot = a->args[1] & 255;
    const struct tvmr_model *bound = &a->vm->models[slot];
    struct model *m = &a->w->models[slot];
    struct numbers n = bound->has_input ? source_of(a->vm, bound->input) : (struct numbers){0};
    if (!open_model(a, slot)) return false;
    if (m->running) return model_error(a, slot, "is running already");
    if (m->vm) {
        m->running = true;
        bool ok = run_model(a, slot, n);
        m->running = false;
        if (!ok) return false;
        n = (struct numbers){tvmr_vm(m->vm)->output.data, tvmr_vm(m->vm)->output.count};
    }
    return answer_list(a->vm, a->args[0], n.data, n.count) &&
           (!bound->has_output || bound->output == INDEX((unsigned)a->args[0]) ||
            answer_list(a->vm, bound->output, n.data, n.count));
}
