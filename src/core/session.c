#include "core/session.h"
#include "core/engine.h"

bool session_open(struct session *s, const penta_module *module, const char *engine,
                  const penta_option *options, size_t count, penta_error *err)
{
    *s = (struct session){.module = module, .host = module->driver->host};
    s->vm = penta_vm_new(module, engine, options, count, err);
    if (!s->vm) return false;
    if (!s->host) return true;
    if (s->host->open(module, options, count, &s->host_state, err)) {
        if (s->host->attach) s->host->attach(s->host_state, s->vm);
        return true;
    }
    penta_vm_free(s->vm);
    s->vm = NULL;
    return false;
}

void session_close(struct session *s)
{
    if (!s->vm) return;
    if (s->host) s->host->close(s->host_state);
    penta_vm_free(s->vm);
    answer_free(&s->answer);
    s->vm = NULL;
}

static bool settle(struct session *s, const penta_stop *stop)
{
    answer_clear(&s->answer);
    bool answered = (s->recorded && s->recorded(s->user, stop, &s->answer)) ||
                    (s->host && s->host->answer(s->host_state, s->vm, stop, &s->answer));
    if (answered && !s->answer.applied && !answer_apply(&s->answer, s->vm, &s->failure))
        answered = false;
    if (answered) s->host_calls++;
    if (s->answer.failure.code && !s->failure.code) s->failure = s->answer.failure;
    if (s->answer.interrupted) return false;
    if (s->called) s->called(s->user, stop, answered ? &s->answer : NULL);
    return answered;
}

void session_run(struct session *s, uint64_t fuel, penta_stop *stop)
{
    uint64_t before = s->steps;
    for (;;) {
        uint64_t used = s->steps - before;
        penta_vm_run(s->vm, fuel == UINT64_MAX ? fuel : fuel - used, stop);
        if (stop->steps == UINT64_MAX || s->steps == UINT64_MAX)
            s->steps = UINT64_MAX; /* the engine does not count */
        else
            s->steps += stop->steps;
        if (stop->kind != PENTA_STOP_HOST) break;
        if (settle(s, stop)) continue;
        if (s->answer.interrupted) stop->kind = PENTA_STOP_INTERRUPT;
        break;
    }
    stop->steps = s->steps == UINT64_MAX ? s->steps : s->steps - before;
}

const char *stop_kind_name(penta_stop_kind kind)
{
    static const char *const names[] = {"fuel",  "break", "host",      "halt",    "trap",
                                        "fault", "gas",   "interrupt", "disagree"};
    return names[kind];
}

const char *stop_detail_name(const penta_vm *vm, const penta_stop *stop)
{
    return vm->engine->detail ? vm->engine->detail(vm, stop) : NULL;
}
