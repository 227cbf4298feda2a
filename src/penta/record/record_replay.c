/* Repeats a recorded run with a host whose answers come from the record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "penta/record/record_struct.h"

struct replay {
    const struct penta_session *session;
    const penta_record *record;
    bool same_program; /* When false, places and counts of instructions may differ. */
};

static bool is_final(penta_stop_kind kind)
{
    return kind != PENTA_STOP_FUEL && kind != PENTA_STOP_BREAK && kind != PENTA_STOP_INTERRUPT;
}

static const char *name_of(const char *name) { return name ? name : "unnamed"; }

/* Checks that the program's call is the recorded one. */
static bool same_call(const struct replay *r, const penta_stop *stop, penta_error *err)
{
    const struct penta_session *s = r->session;
    uint64_t steps;
    const struct recorded_call *c = record_call_at(r->record, s->calls, &steps);
    const char *name = penta_vm_detail_name(s->vm, stop);
    unsigned long long n = (unsigned long long)s->calls + 1;
    bool names = name && c->name ? !strcmp(name, c->name) : stop->detail == c->stop.detail;
    bool counted = s->steps != UINT64_MAX && steps != UINT64_MAX;
    if (!names || (r->same_program && stop->pc != c->stop.pc))
        return error_at(err, BASE_DIVERGED, 0,
                        "call %llu went another way: '%.24s' (%u) at pc %" PRIu64
                        ", recorded '%.24s' (%u) at pc %" PRIu64,
                        n, name_of(name), stop->detail, stop->pc, name_of(c->name), c->stop.detail,
                        c->stop.pc);
    for (int i = 0; i < 6; i++)
        if (stop->args[i] != c->stop.args[i])
            return error_at(err, BASE_DIVERGED, 0,
                            "call %llu went another way: argument %d of '%.24s' is 0x%" PRIx64
                            ", recorded 0x%" PRIx64,
                            n, i, name_of(name), stop->args[i], c->stop.args[i]);
    if (r->same_program && counted && s->steps != steps)
        return error_at(err, BASE_DIVERGED, 0,
                        "call %llu went another way: '%.24s' at step %" PRIu64
                        ", recorded at step %" PRIu64,
                        n, name_of(name), s->steps, steps);
    return true;
}

/* Answers a call after the last recorded one. The recorded run either ended by this call, or
 * stopped before it. */
static bool record_replay_beyond(const struct replay *r, const penta_stop *stop, struct answer *out)
{
    const penta_record *record = r->record;
    bool here = record->ended && record->end.pc == stop->pc && record->end.detail == stop->detail;
    out->interrupted = record->ended && record->end.kind == PENTA_STOP_INTERRUPT;
    if (out->interrupted || (here && record->end.kind == PENTA_STOP_HOST)) return false;
    return error_at(&out->failure, BASE_DIVERGED, 0,
                    "call %" PRIu64 ", '%.24s' at pc %" PRIu64
                    ", is not in the record, which has %" PRIu64 " calls",
                    record_call_count(record) + 1,
                    name_of(penta_vm_detail_name(r->session->vm, stop)), stop->pc,
                    record_call_count(record));
}

static void record_replay_copy(struct writer *to, const penta_buffer *from)
{
    writer_bytes(to, from->data, from->size);
}

static bool replay_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    const struct replay *r = state;
    uint64_t i = r->session->calls, steps;
    if (i >= record_call_count(r->record)) return record_replay_beyond(r, stop, out);
    if (!same_call(r, stop, &out->failure)) return false;
    const struct recorded_call *c = record_call_at(r->record, i, &steps);
    const struct recorded_answer *a = &c->answer;
    memcpy(out->results, a->results, sizeof out->results);
    out->count = a->count;
    out->gas = a->gas;
    out->end = a->end;
    out->between = c->between;
    record_replay_copy(&out->pokes, &a->pokes);
    record_replay_copy(&out->output, &c->output);
    record_replay_copy(&out->errors, &c->errors);
    record_replay_copy(&out->note, &c->note);
    if (!a->effect.size && !c->host_change.size) return true;
    if (!r->same_program)
        return error_at(&out->failure, BASE_DIVERGED, 0,
                        "call %" PRIu64 " changed the recorded program in a way that fits no other",
                        i + 1);
    if (c->host_change.size)
        return effect_host_apply(vm, (penta_bytes){c->host_change.data, c->host_change.size},
                                 &out->failure);
    out->applied = effect_apply(vm, (penta_bytes){a->effect.data, a->effect.size}, &out->failure);
    return out->applied;
}

/* Checks that the run ends as the recorded one. A run that was stopped from outside can be
 * longer or shorter than the recorded one. */
static bool same_run_end(const struct replay *r, const penta_stop *stop, penta_error *err)
{
    const penta_record *record = r->record;
    const struct penta_session *s = r->session;
    const penta_stop *end = &record->end;
    if (!is_final(stop->kind) || s->failure.code) return true;
    if (s->calls < record_call_count(record))
        return error_at(err, BASE_DIVERGED, 0,
                        "the run ended after %" PRIu64 " calls, the recorded one made %" PRIu64,
                        s->calls, record_call_count(record));
    if (!record->ended || !is_final(end->kind)) return true;
    bool counted = s->steps != UINT64_MAX && end->steps != UINT64_MAX;
    bool place = !r->same_program || (stop->pc == end->pc && (!counted || s->steps == end->steps));
    if (stop->kind == end->kind && stop->detail == end->detail && place &&
        (stop->kind != PENTA_STOP_HALT || stop->args[0] == end->args[0]))
        return true;
    return error_at(err, BASE_DIVERGED, 0,
                    "the run ended with %s at pc %" PRIu64
                    ", the recorded one with %s at pc %" PRIu64,
                    penta_stop_name(stop->kind), stop->pc, penta_stop_name(end->kind), end->pc);
}

static bool replay_finish(void *state, penta_vm *vm, const penta_stop *stop, struct writer *text,
                          struct json *json, penta_error *err)
{
    const struct replay *r = state;
    const penta_record *record = r->record;
    penta_bytes report = {record->report.data, record->report.size};
    (void)vm;
    if (is_final(stop->kind) && report.size && record->report_is_json == !text) {
        if (text)
            writer_bytes(text, report.data, report.size);
        else
            json_members_of(json, report);
    }
    return same_run_end(r, stop, err);
}

static const struct host replay_host = {.answer = replay_answer, .close = free};

/* Brings the machine into the state in which the record began. */
static bool record_replay_begin(struct penta_session *s, const penta_record *record,
                                penta_error *err)
{
    struct replay *r = calloc(1, sizeof *r);
    if (!r) return error_at(err, BASE_MEMORY, 0, "no memory for the session");
    *r = (struct replay){s, record, penta_record_is_of(record, s->module)};
    s->host = &replay_host;
    s->repeats = true;
    s->opened = (struct opened_host){.state = r,
                                     .changes_machine = record->changes,
                                     .console = record->console,
                                     .finish = replay_finish};
    if (!r->same_program) return true;
    if (!penta_vm_load(s->vm, (penta_bytes){record->state.data, record->state.size}, err))
        return false;
    s->steps = record->step;
    return true;
}

penta_session *penta_session_replay(const penta_module *module, const char *engine,
                                    const penta_record *record, penta_error *err)
{
    *err = (penta_error){0};
    if (strcmp(module->driver->name, record->format)) {
        error_at(err, BASE_RECORD, 0, "the record is of a %s program, this one is %s",
                 record->format, module->driver->name);
        return NULL;
    }
    struct penta_session *s =
        session_new(module, engine, record->options, record->option_count, NULL, NULL, err);
    if (s && record_replay_begin(s, record, err)) return s;
    penta_session_free(s);
    return NULL;
}

bool penta_record_is_of(const penta_record *record, const penta_module *module)
{
    return !strcmp(module->driver->name, record->format) &&
           record->program == record_program(module);
}
