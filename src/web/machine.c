/* Answers the calls about machines: making, moving, answering, breakpoints. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "web/web.h"

void web_machine_free(struct web_machine *m)
{
    if (!m) return;
    penta_debugger_free(m->debugger);
    penta_session_free(m->session);
    web_values_free(m->before);
    writer_free(&m->log);
    free(m);
}

static void first_error(void *user, const penta_error *finding)
{
    penta_error *err = user;
    if (!err->code && finding->severity == PENTA_ERROR) *err = *finding;
}

static void machine_logged(void *user, unsigned number, penta_bytes text)
{
    struct web_machine *m = user;
    struct json j = {.out = &m->log};
    if (m->log.out.size) writer_char(&m->log, ',');
    json_object(&j, NULL);
    json_uint(&j, "point", number);
    json_string(&j, "text", text);
    json_finish(&j);
}

static bool machine_start(struct web_call *c, struct web_machine *m, const struct web_options *o)
{
    enum { CALLS_KEPT = 100000 };
    penta_error found = {0};
    if (!penta_check_run(m->of->module, web_flag(c, "unverified"), first_error, &found)) {
        if (!found.code) error_at(&found, BASE_CONTAINER, 0, "the program cannot be run");
        web_error(c, &found);
        return false;
    }
    m->session =
        penta_session_new(m->of->module, web_text(c, "engine"), o->list, o->count, NULL, &c->err);
    if (!m->session) return false;
    penta_session_stop_at_calls(m->session, web_flag(c, "stop_at_calls"));
    penta_session_keep_log(m->session, CALLS_KEPT, false);
    m->debugger = penta_debugger_new(m->session, &c->err);
    if (!m->debugger) return false;
    penta_debugger_on_log(m->debugger, machine_logged, m);
    penta_debugger_goto(m->debugger, 0, &m->stop, &c->err);
    return !c->err.code;
}

void web_machine(struct web_call *c)
{
    struct web_file *file = web_file_of(c, "file");
    struct web_options o = {0};
    struct web_machine *m = file ? calloc(1, sizeof *m) : NULL;
    if (file && !m) error_at(&c->err, BASE_MEMORY, 0, "no memory for a machine");
    if (!m) return;
    *m = (struct web_machine){.file = web_uint(c, "file", 0), .of = file};
    uint64_t handle = 0;
    if (web_options_read(c, "options", &o) && machine_start(c, m, &o))
        handle = web_handle_new(c, (struct web_handle){.kind = WEB_MACHINE, .machine = m});
    web_options_free(&o);
    if (!handle) {
        web_machine_free(m);
        return;
    }
    file->machines++;
    json_uint(c->j, "handle", handle);
    json_text(c->j, "engine", penta_vm_engine(penta_session_vm(m->session)));
}

static void write_call(struct json *j, const penta_vm *vm, const penta_stop *stop)
{
    json_object(j, "call");
    json_uint(j, "number", stop->detail);
    const char *name = penta_vm_detail_name(vm, stop);
    if (name) json_text(j, "name", name);
    json_list(j, "args");
    for (size_t i = 0; i < sizeof stop->args / sizeof *stop->args; i++)
        json_word(j, NULL, stop->args[i]);
    json_end(j);
    json_end(j);
}

static void write_log(struct web_call *c, struct web_machine *m)
{
    struct writer list = {0};
    if (!m->log.out.size) return;
    writer_char(&list, '[');
    writer_append(&list, &m->log);
    writer_char(&list, ']');
    if (!list.failed) json_raw(c->j, "log", writer_view(&list));
    writer_free(&list);
    m->log.out.size = 0;
    m->log.failed = false;
}

void web_stop(struct web_call *c, struct web_machine *m)
{
    const penta_stop *stop = &m->stop;
    const penta_vm *vm = penta_session_vm(m->session);
    const penta_module *module = m->of->module;
    const penta_error *failure = penta_session_failure(m->session);
    const char *detail = penta_vm_detail_name(vm, stop);
    unsigned point = penta_debugger_point_hit(m->debugger);
    penta_buffer text = {0};
    size_t row;
    json_text(c->j, "kind", penta_stop_name(stop->kind));
    json_uint(c->j, "pc", stop->pc);
    json_uint(c->j, "steps", penta_session_steps(m->session));
    if (detail) json_text(c->j, "detail", detail);
    if (stop->kind == PENTA_STOP_HALT && penta_format_exit_value(penta_module_format(module)))
        json_uint(c->j, "value", stop->args[0]);
    if (stop->kind == PENTA_STOP_BREAK && point) json_uint(c->j, "point", point);
    if (stop->kind == PENTA_STOP_HOST) write_call(c->j, vm, stop);
    write_log(c, m);
    if (penta_print_at(module, stop->pc, &text))
        json_string(c->j, "text", (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
    if (web_row_of(m->of, stop->pc, &row)) json_uint(c->j, "line", row);
    if (failure) json_text(c->j, "failure", failure->message);
}

static bool break_at(const struct web_machine *m, uint64_t pc)
{
    const penta_point *p;
    for (size_t i = 0; (p = penta_debugger_point_at(m->debugger, i)); i++)
        if (p->kind == PENTA_POINT_BREAK && p->pc == pc && !p->disabled) return true;
    return false;
}

/* Runs a slice. A run that starts at a breakpoint does not stop there. So when a slice ends right before a
 * breakpoint, its last step is repeated together with the next slice. */
static void run_slice(struct web_call *c, struct web_machine *m, uint64_t n)
{
    enum { TRIES = 16 };
    penta_stop back;
    penta_debugger_forward(m->debugger, n, &m->stop, &c->err);
    for (unsigned i = 0; i < TRIES && m->stop.kind == PENTA_STOP_FUEL && !c->err.code; i++) {
        if (!m->stop.steps || !break_at(m, m->stop.pc)) return;
        if (!penta_debugger_back(m->debugger, 1, &back, &c->err)) return;
        penta_debugger_forward(m->debugger, 2, &m->stop, &c->err);
    }
}

/* Moves a machine in one of the ways that the page asks for. How long that takes is unknown, so
 * it ends after `limit` steps, and the page can stop it. The ways `next` and `finish` then end
 * with an interrupt, from which `resume` continues; `goto` ends before its goal. */
static void machine_move(struct web_call *c, struct web_machine *m, const char *how, uint64_t n,
                         uint64_t limit)
{
    penta_debugger *d = m->debugger;
    uint64_t steps = penta_session_steps(m->session);
    penta_debugger_limit(d, limit);
    if (!strcmp(how, "step"))
        penta_debugger_forward(d, n, &m->stop, &c->err);
    else if (!strcmp(how, "run"))
        run_slice(c, m, n);
    else if (!strcmp(how, "next"))
        penta_debugger_next(d, &m->stop, &c->err);
    else if (!strcmp(how, "finish"))
        penta_debugger_finish(d, &m->stop, &c->err);
    else if (!strcmp(how, "resume"))
        penta_debugger_resume(d, &m->stop, &c->err);
    else if (!strcmp(how, "back"))
        penta_debugger_back(d, n, &m->stop, &c->err);
    else if (!strcmp(how, "goto"))
        penta_debugger_goto(d, limit && n > steps && n - steps > limit ? steps + limit : n,
                            &m->stop, &c->err);
    else if (!strcmp(how, "reverse"))
        penta_debugger_reverse(d, &m->stop, &c->err);
    else if (strcmp(how, "at"))
        error_at(&c->err, BASE_OPTION_VALUE, 0, "there is no motion '%.40s'", how);
}

void web_move(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    const char *how = m ? web_need_text(c, "how") : NULL;
    if (!how) return;
    uint64_t n = web_uint(c, "n", 1), limit = web_uint(c, "limit", 0), most = c->web->steps_max;
    bool counts = !strcmp(how, "step") || !strcmp(how, "run");
    if (most && n > most && counts) n = most;
    if (most && (!limit || limit > most)) limit = most;
    machine_move(c, m, how, n, limit);
    if (!c->err.code) web_stop(c, m);
}

void web_answer(struct web_call *c)
{
    enum { MOST = 16 };
    struct web_machine *m = web_machine_of(c);
    const struct json_object *list = json_get(c->args, "results");
    uint64_t results[MOST];
    size_t count = json_length(list);
    if (!m) return;
    if (count > MOST) {
        error_at(&c->err, BASE_OPTION_VALUE, 0, "more than %d results", MOST);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!json_as_uint(json_item(list, i), &results[i])) {
            error_at(&c->err, BASE_OPTION_VALUE, 0, "result %zu is no number", i);
            return;
        }
    bool ok = json_is_list(list) ? penta_session_answer(m->session, results, count, &c->err)
                                 : penta_session_answer_default(m->session, &c->err);
    if (!ok) return;
    penta_vm_run(penta_session_vm(m->session), 0, &m->stop);
    web_stop(c, m);
}

void web_output(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    penta_buffer output = {0}, errors = {0};
    if (m && penta_session_output(m->session, &output, &errors, &c->err)) {
        json_uint(c->j, "output",
                  output.size); /* The bytes after these are what the program printed to standard
                                 * error. */
        writer_bytes(c->bytes, output.data, output.size);
        writer_bytes(c->bytes, errors.data, errors.size);
    }
    penta_buffer_free(&output);
    penta_buffer_free(&errors);
}

void web_calls(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    penta_buffer log = {0};
    if (m && penta_session_log(m->session, &log, &c->err))
        json_string(c->j, "log", (penta_bytes){log.data, log.size});
    penta_buffer_free(&log);
}

void web_finish_host(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    penta_buffer text = {0};
    if (m && penta_session_finish(m->session, &m->stop, false, &text, &c->err))
        json_string(c->j, "text", (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

void web_files(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    penta_buffer list = {0};
    if (m && penta_session_files(m->session, &list, &c->err))
        json_raw(c->j, "files", (penta_bytes){list.data, list.size});
    penta_buffer_free(&list);
}

void web_file(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    const char *path = m ? web_need_text(c, "path") : NULL;
    penta_buffer bytes = {0};
    if (path && penta_session_file_get(m->session, path, &bytes, &c->err))
        writer_bytes(c->bytes, bytes.data, bytes.size);
    penta_buffer_free(&bytes);
}

void web_put_file(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    const char *path = m ? web_need_text(c, "path") : NULL;
    if (path) penta_session_file_put(m->session, path, c->data, &c->err);
}

static const char *const kinds[] = {[PENTA_POINT_BREAK] = "break",
                                    [PENTA_POINT_WATCH] = "watch",
                                    [PENTA_POINT_READ] = "read",
                                    [PENTA_POINT_WRITE] = "write",
                                    [PENTA_POINT_ACCESS] = "access"};
enum { KINDS = sizeof kinds / sizeof *kinds };

void web_add_point(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    const char *what = m ? web_need_text(c, "what") : NULL, *kind = web_text(c, "kind");
    unsigned number, at = 0;
    if (!what) return;
    while (kind && at < KINDS && strcmp(kinds[at], kind)) at++;
    if (at == KINDS) {
        error_at(&c->err, BASE_OPTION_VALUE, 0, "there is no kind of points '%.40s'", kind);
        return;
    }
    penta_point point = {.kind = (penta_point_kind)at,
                         .what = what,
                         .condition = web_text(c, "condition"),
                         .log = web_text(c, "log"),
                         .ignore = web_uint(c, "ignore", 0),
                         .disabled = web_flag(c, "disabled"),
                         .once = web_flag(c, "once")};
    if (penta_debugger_point_add(m->debugger, &point, &number, &c->err))
        json_uint(c->j, "number", number);
}

static const penta_point *point_of(struct web_call *c, const struct web_machine *m)
{
    uint64_t number = web_uint(c, "number", 0);
    const penta_point *p;
    for (size_t i = 0; (p = penta_debugger_point_at(m->debugger, i)); i++)
        if (p->number == number) return p;
    error_at(&c->err, BASE_OPTION_VALUE, 0, "no point has the number %llu",
             (unsigned long long)number);
    return NULL;
}

void web_change_point(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    const penta_point *old = m ? point_of(c, m) : NULL;
    if (!old) return;
    penta_point point = *old;
    if (json_has(c->args, "condition")) point.condition = web_text(c, "condition");
    if (json_has(c->args, "log")) point.log = web_text(c, "log");
    if (json_has(c->args, "disabled")) point.disabled = web_flag(c, "disabled");
    point.ignore = web_uint(c, "ignore", point.ignore);
    penta_debugger_point_change(m->debugger, &point, &c->err);
}

void web_remove_point(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    const penta_point *p = m ? point_of(c, m) : NULL;
    if (p) penta_debugger_point_remove(m->debugger, p->number);
}

void web_points(struct web_call *c)
{
    const struct web_machine *m = web_machine_of(c);
    const penta_point *p;
    size_t row;
    if (!m) return;
    json_list(c->j, "points");
    for (size_t i = 0; (p = penta_debugger_point_at(m->debugger, i)); i++) {
        json_object(c->j, NULL);
        json_uint(c->j, "number", p->number);
        json_text(c->j, "kind", kinds[p->kind]);
        json_text(c->j, "what", p->what);
        if (p->kind == PENTA_POINT_BREAK) json_uint(c->j, "pc", p->pc);
        if (p->kind == PENTA_POINT_BREAK && web_row_of(m->of, p->pc, &row))
            json_uint(c->j, "line", row);
        json_text(c->j, "condition", p->condition);
        json_text(c->j, "log", p->log);
        json_uint(c->j, "ignore", p->ignore);
        json_uint(c->j, "hits", p->hits);
        json_bool(c->j, "disabled", p->disabled);
        json_bool(c->j, "once", p->once);
        json_end(c->j);
    }
    json_end(c->j);
}
