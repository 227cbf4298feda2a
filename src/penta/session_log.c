/* Tells a callback about host calls, or keeps the lines until the caller asks for them. */
#include <inttypes.h>
#include "base/json/json_write.h"
#include "base/sanitize.h"
#include "penta/session_struct.h"

static void call_text(const struct penta_session *s, const penta_call *call, struct writer *out)
{
    const char *name = penta_vm_detail_name(s->vm, &call->stop);
    writer_text(out, "host ");
    if (call->note.size) {
        writer_safe(out, call->note);
        return;
    }
    if (name)
        writer_safe_text(out, name);
    else
        writer_dec(out, call->stop.detail);
    writer_print(out, " pc=%" PRIu64 " (", call->stop.pc);
    for (int i = 0; i < 6; i++) {
        if (i) writer_text(out, ", ");
        writer_0x(out, call->stop.args[i]);
    }
    writer_text(out, call->answered ? ") ->" : ") unanswered");
    for (size_t i = 0; i < call->count; i++) {
        writer_char(out, ' ');
        writer_0x(out, call->results[i]);
    }
}

static void call_json(const struct penta_session *s, const penta_call *call, struct writer *out)
{
    struct json j = {.out = out};
    json_object(&j, NULL);
    json_uint(&j, "call", call->stop.detail);
    json_text(&j, "name", penta_vm_detail_name(s->vm, &call->stop));
    json_uint(&j, "pc", call->stop.pc);
    json_list(&j, "args");
    for (int i = 0; i < 6; i++) json_word(&j, NULL, call->stop.args[i]);
    json_end(&j);
    json_bool(&j, "answered", call->answered);
    json_list(&j, "results");
    for (size_t i = 0; i < call->count; i++) json_word(&j, NULL, call->results[i]);
    json_end(&j);
    if (call->note.size) json_string(&j, "note", call->note);
    json_end(&j);
}

static void session_log_print(const struct penta_session *s, const penta_call *call, bool json,
                              struct writer *out)
{
    if (json)
        call_json(s, call, out);
    else
        call_text(s, call, out);
}

bool penta_call_print(const penta_session *s, const penta_call *call, bool json, penta_buffer *out,
                      penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    session_log_print(s, call, json, &w);
    return writer_give(&w, true, out, err);
}

void session_tell(struct penta_session *s, bool answered)
{
    const struct answer *a = &s->answer;
    penta_call call = {.stop = s->stop, .answered = answered};
    if (answered) {
        call.between = a->between;
        call.results = a->results;
        call.count = a->count;
        call.output = writer_view(&a->output);
        call.errors = writer_view(&a->errors);
        call.note = writer_view(&a->note);
    }
    if (s->log_left && !call.between) {
        session_log_print(s, &call, s->log_json, &s->log);
        writer_char(&s->log, '\n');
        s->log_left--;
    }
    if (s->report) {
        s->report(s->report_user, &call);
        return;
    }
    writer_bytes(&s->output, call.output.data, call.output.size);
    writer_bytes(&s->errors, call.errors.data, call.errors.size);
}

void penta_session_on_call(penta_session *s, penta_call_report *report, void *user)
{
    s->report = report;
    s->report_user = user;
}

void penta_session_keep_log(penta_session *s, size_t max, bool json)
{
    s->log_left = max;
    s->log_json = json;
}

static bool session_log_take(struct writer *from, penta_buffer *out, penta_error *err)
{
    bool ok = !out || writer_give(from, true, out, err);
    if (out) *from = (struct writer){0};
    return ok;
}

bool penta_session_output(penta_session *s, penta_buffer *output, penta_buffer *errors,
                          penta_error *err)
{
    *err = (penta_error){0};
    bool ok = session_log_take(&s->output, output, err);
    return session_log_take(&s->errors, errors, err) && ok;
}

bool penta_session_log(penta_session *s, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    return session_log_take(&s->log, out, err);
}
