/* Implements sessions. A session is a machine with its host: it runs the machine, lets the host
 * answer its calls, and tells logs, records and debuggers about them. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/json/json_write.h"
#include "penta/debug.h"
#include "penta/open_machine.h"
#include "penta/session_struct.h"

penta_session *session_new(const penta_module *module, const char *engine,
                           const penta_option *options, size_t count, const volatile int *stop,
                           const struct host *host, penta_error *err)
{
    struct penta_session *s = zeros_new(sizeof *s, "the session", err);
    if (!s) return NULL;
    s->module = module;
    void *prepared = NULL;
    s->vm = vm_open(module, engine, options, count, stop, &prepared, err);
    if (s->vm && host) {
        s->opened.state = prepared;
        prepared = NULL;
        if (host->open(s->vm, options, count, &s->opened, err)) s->host = host;
    }
    if (prepared) module->driver->host->close(prepared);
    if (s->vm && !err->code) return s;
    penta_session_free(s);
    return NULL;
}

penta_session *penta_session_new(const penta_module *module, const char *engine,
                                 const penta_option *options, size_t count,
                                 const volatile int *stop, penta_error *err)
{
    *err = (penta_error){0};
    return session_new(module, engine, options, count, stop, module->driver->host, err);
}

void penta_session_free(penta_session *s)
{
    if (!s) return;
    if (s->host) s->host->close(s->opened.state);
    penta_vm_free(s->vm);
    recorder_free(s->recorder);
    session_count_free(s);
    answer_free(&s->answer);
    writer_free(&s->output);
    writer_free(&s->errors);
    writer_free(&s->log);
    free(s);
}

bool penta_session_load(penta_session *s, penta_bytes saved, penta_error *err)
{
    *err = (penta_error){0};
    penta_value executed;
    penta_error uncounted;
    if (s->debugger)
        return error_at(err, BASE_STATE, 0,
                        "the session belongs to a debugger, which goes back itself");
    if (!penta_vm_load(s->vm, saved, err)) return false;
    s->waits = false;
    s->steps = penta_vm_eval(s->vm, "/executed", &executed, &uncounted) ? executed.as.u : 0;
    return true;
}

penta_vm *penta_session_vm(const penta_session *s) { return s->vm; }
uint64_t penta_session_steps(const penta_session *s) { return s->steps; }
uint64_t penta_session_calls(const penta_session *s) { return s->calls; }

const penta_error *penta_session_failure(const penta_session *s)
{
    return s->failure.code ? &s->failure : NULL;
}

struct check {
    const penta_rule *rules;
    bool unverified, refused;
    penta_report *report;
    void *user;
};

static void check_finding(void *user, const penta_error *finding)
{
    struct check *k = user;
    if (finding->severity != PENTA_ERROR) return;
    const penta_rule *rule = rule_find(k->rules, finding->code);
    penta_scope scope = rule ? rule->scope : PENTA_SCOPE_OTHER;
    if (scope == PENTA_SCOPE_RUNTIME || (scope == PENTA_SCOPE_PROGRAM && k->unverified)) return;
    k->refused = true;
    if (k->report) k->report(k->user, finding);
}

bool penta_check_run(const penta_module *module, bool unverified, penta_report *report, void *user)
{
    const struct driver *driver = module->driver;
    struct check check = {driver->rules, unverified, false, report, user};
    struct findings f = {.rules = driver->rules, .report = check_finding, .user = &check};
    module_verify(module, &f);
    return !check.refused;
}

void penta_session_stop_at_calls(penta_session *s, bool on) { s->stop_at_calls = on; }

void penta_session_set_host(penta_session *s, penta_host_call *ask, void *user)
{
    s->ask = ask;
    s->ask_user = user;
}

void penta_session_settle(penta_session *s, uint64_t gas, penta_call_end end)
{
    s->answer.gas = gas;
    s->answer.end = (enum call_end)end;
}

/* Applies s->answer to the machine. */
static bool session_give(struct penta_session *s, penta_error *err)
{
    if (s->recorder) recorder_answers(s);
    /* The effects of the answer stay, but some text of it is lost. */
    if (s->answer.applied)
        answer_whole(&s->answer, &s->failure);
    else if (!answer_whole(&s->answer, err) || !answer_apply(&s->answer, s->vm, err))
        return false;
    s->waits = false;
    s->calls++;
    if (s->debugger) debugger_answered(s->debugger);
    if (s->recorder) recorder_answered(s);
    session_tell(s, true);
    return true;
}

bool penta_session_answer(penta_session *s, const uint64_t *results, size_t count, penta_error *err)
{
    *err = (penta_error){0};
    if (!s->waits) return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    if (count > sizeof s->answer.results / sizeof *s->answer.results)
        return error_at(err, BASE_STATE, 0, "%zu results are more than any call has", count);
    for (size_t i = 0; i < count; i++) s->answer.results[i] = results[i];
    s->answer.count = count;
    return session_give(s, err);
}

static bool default_answers(struct penta_session *s, penta_error *err)
{
    if (!s->host || !s->host->answer(s->opened.state, s->vm, &s->stop, &s->answer)) {
        *err = s->answer.failure;
        return false;
    }
    return session_give(s, err);
}

bool penta_session_answer_default(penta_session *s, penta_error *err)
{
    *err = (penta_error){0};
    if (!s->waits) return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    return default_answers(s, err) ||
           error_at(err, BASE_STATE, 0, "the default host does not answer this call");
}

/* Answers a host call from the debugger's history, by the caller's host or by the default host. Returns false when
 * the run stops here. */
static bool session_answered(struct penta_session *s)
{
    penta_error err = {0};
    answer_clear(&s->answer);
    if (s->debugger && debugger_repeats(s->debugger, &s->answer)) {
        bool ok = !s->answer.failure.code && answer_whole(&s->answer, &s->failure) &&
                  (s->answer.applied || answer_apply(&s->answer, s->vm, &s->failure));
        s->calls += ok;
        return ok;
    }
    s->waits = true;
    if (s->debugger) debugger_asked(s->debugger);
    if (s->recorder) recorder_asked(s);
    if (s->ask && s->ask(s->ask_user, s, &s->stop) && !s->waits) return true;
    if (!s->stop_at_calls && default_answers(s, &err)) return true;
    if (err.code && !s->failure.code) s->failure = err;
    if (s->debugger) debugger_waits(s->debugger);
    if (s->recorder) recorder_waits(s);
    if (!s->answer.interrupted) session_tell(s, false);
    return false;
}

void penta_session_run(penta_session *s, uint64_t fuel, penta_stop *stop)
{
    uint64_t before = s->steps;
    s->waits = false;
    for (;;) {
        uint64_t used = s->steps - before;
        penta_vm_run(s->vm, fuel == UINT64_MAX ? fuel : fuel - used, stop);
        if (stop->steps == UINT64_MAX || s->steps == UINT64_MAX)
            s->steps = UINT64_MAX; /* This engine does not count steps. */
        else
            s->steps += stop->steps;
        if (stop->kind != PENTA_STOP_HOST) break;
        s->stop = *stop;
        if (session_answered(s)) continue;
        if (s->answer.interrupted) stop->kind = PENTA_STOP_INTERRUPT;
        break;
    }
    stop->steps = s->steps == UINT64_MAX ? s->steps : s->steps - before;
}

bool penta_session_is_console(const penta_session *s) { return s->opened.console; }

bool penta_session_finish(penta_session *s, const penta_stop *stop, bool as_json, penta_buffer *out,
                          penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct json json = {.out = &w};
    if (as_json) json_object(&json, NULL);
    bool ok =
        !s->opened.finish || s->opened.finish(s->opened.state, s->vm, stop, as_json ? NULL : &w,
                                              as_json ? &json : NULL, err);
    if (as_json) json_finish(&json);
    if (ok && s->recorder) ok = recorder_ended(s, stop, as_json, writer_view(&w), err);
    return writer_give(&w, ok, out, err);
}

static bool session_has_files(const penta_session *s, penta_error *err)
{
    *err = (penta_error){0};
    return s->opened.files || error_at(err, BASE_UNSUPPORTED, 0, "this host has no files");
}

bool penta_session_file_put(penta_session *s, const char *path, penta_bytes bytes, penta_error *err)
{
    return session_has_files(s, err) && s->opened.files->put(s->opened.state, path, bytes, err);
}

bool penta_session_file_get(penta_session *s, const char *path, penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    bool ok = session_has_files(s, err) && s->opened.files->get(s->opened.state, path, &w, err);
    return writer_give(&w, ok, out, err);
}

bool penta_session_files(penta_session *s, penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    struct json j = {.out = &w};
    json_list(&j, NULL);
    bool ok = session_has_files(s, err) && s->opened.files->list(s->opened.state, &j, err);
    json_end(&j);
    return writer_give(&w, ok, out, err);
}

bool penta_session_save_host(penta_session *s, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    if (!s->opened.save)
        return error_at(err, BASE_UNSUPPORTED, 0, "this host has no state to save");
    return writer_give(&w, s->opened.save(s->opened.state, &w, err), out, err);
}
