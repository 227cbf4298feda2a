/* Answers requests that show the stopped machine: frames, variables, expressions. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "cli/dap/dap.h"

static bool wants_hex(const struct json_object *args)
{
    return json_as_bool(json_get(json_get(args, "format"), "hex"));
}

static void dap_show_frame(struct dap *d, struct json *j, size_t i, uint64_t pc)
{
    penta_buffer name = {0};
    penta_line line;
    bool known = penta_line_at(d->module, pc, &line);
    json_object(j, NULL);
    json_uint(j, "id", i + 1);
    if (penta_name_at(d->module, pc, &name))
        json_string(j, "name", (penta_bytes){name.data, name.size});
    else
        dap_reference(j, "name", pc);
    if (known) dap_source_ref(d, j, "source", line.file);
    json_uint(j, "line", known ? line.line : 0);
    json_uint(j, "column", known);
    dap_reference(j, "instructionPointerReference", pc);
    json_end(j);
    penta_buffer_free(&name);
}

/* Lists the frames. The innermost frame is at the pc of the stop, because after a trap or a host
 * call the machine's own pc may be that of the next instruction. */
void dap_stackTrace(struct dap *d, struct dap_answer *a)
{
    enum { MOST = 1000 };
    penta_frame *frames = calloc(MOST, sizeof *frames);
    if (!frames) {
        error_at(&a->err, BASE_MEMORY, 0, "no memory for the frames");
        return;
    }
    size_t count = penta_vm_frames(penta_session_vm(d->session), frames, MOST);
    uint64_t from = dap_uint(a->args, "startFrame", 0), levels = dap_uint(a->args, "levels", 0);
    size_t known = count < MOST ? count : MOST;
    json_list(a->body, "stackFrames");
    for (size_t i = from < known ? (size_t)from : known; i < known; i++) {
        if (levels && i - from >= levels) break;
        dap_show_frame(d, a->body, i, i ? frames[i].pc : d->stop.pc);
    }
    json_end(a->body);
    json_uint(a->body, "totalFrames", known);
    free(frames);
}

struct count {
    size_t of[3];
};

static void count_variable(void *user, const penta_variable *v)
{
    ((struct count *)user)->of[v->scope]++;
}

static void dap_show_scope(struct dap *d, struct json *j, const char *name, const char *hint,
                           struct dap_handle handle, size_t count)
{
    json_object(j, NULL);
    json_text(j, "name", name);
    if (hint) json_text(j, "presentationHint", hint);
    json_uint(j, "variablesReference", dap_handle(d, handle));
    if (count) json_uint(j, "namedVariables", count);
    json_bool(j, "expensive", handle.shown == DAP_TREE);
    json_end(j);
}

void dap_scopes(struct dap *d, struct dap_answer *a)
{
    struct count n = {0};
    uint64_t id = dap_uint(a->args, "frameId", 1);
    size_t at = id ? (size_t)id - 1 : 0;
    penta_vm_variables(penta_session_vm(d->session), at, count_variable, &n);
    json_list(a->body, "scopes");
    if (n.of[PENTA_VARIABLE_LOCAL])
        dap_show_scope(d, a->body, "Locals", "locals", (struct dap_handle){DAP_LOCALS, .frame = at},
                       n.of[PENTA_VARIABLE_LOCAL]);
    if (n.of[PENTA_VARIABLE_GLOBAL])
        dap_show_scope(d, a->body, "Globals", NULL, (struct dap_handle){DAP_GLOBALS, .frame = at},
                       n.of[PENTA_VARIABLE_GLOBAL]);
    if (n.of[PENTA_VARIABLE_REGISTER])
        dap_show_scope(d, a->body, "Registers", "registers",
                       (struct dap_handle){DAP_REGISTERS, .frame = at},
                       n.of[PENTA_VARIABLE_REGISTER]);
    dap_show_scope(d, a->body, "Machine", NULL, (struct dap_handle){DAP_TREE, .path = strdup("")},
                   0);
    json_end(a->body);
}

struct listing {
    struct dap *d;
    struct json *j;
    penta_variable_scope scope;
    uint64_t at, start, end;
    bool hex;
};

static void list_variable(void *user, const penta_variable *v)
{
    struct listing *l = user;
    struct writer value = {0};
    if (v->scope != l->scope) return;
    if (l->at++ < l->start || l->at > l->end) return;
    dap_value_text(&value, &v->value, l->hex);
    json_object(l->j, NULL);
    json_text(l->j, "name", v->value.name);
    json_string(l->j, "value", writer_view(&value));
    if (v->value.note) json_text(l->j, "type", v->value.note);
    json_text(l->j, "evaluateName", v->value.name);
    if (v->elements) {
        struct dap_handle h = {DAP_ARRAY, .array = *v};
        json_uint(l->j, "variablesReference", dap_handle(l->d, h));
        json_uint(l->j, "indexedVariables", v->elements);
    } else {
        json_uint(l->j, "variablesReference", 0);
    }
    if (v->in_memory) dap_reference(l->j, "memoryReference", v->address);
    json_end(l->j);
    writer_free(&value);
}

static void list_element(void *user, const penta_child *c)
{
    const struct listing *l = user;
    struct writer value = {0};
    dap_value_text(&value, &c->value, l->hex);
    json_object(l->j, NULL);
    json_text(l->j, "name", c->name);
    json_string(l->j, "value", writer_view(&value));
    json_text(l->j, "evaluateName", c->expression);
    json_uint(l->j, "variablesReference", 0);
    json_end(l->j);
    writer_free(&value);
}

void dap_variables(struct dap *d, struct dap_answer *a)
{
    /* the most children of a list for a client that does not ask for parts */
    enum { MOST = 10000 };
    static const penta_variable_scope scopes[] = {[DAP_LOCALS] = PENTA_VARIABLE_LOCAL,
                                                  [DAP_GLOBALS] = PENTA_VARIABLE_GLOBAL,
                                                  [DAP_REGISTERS] = PENTA_VARIABLE_REGISTER};
    const struct dap_handle *h = dap_handle_of(d, dap_uint(a->args, "variablesReference", 0));
    uint64_t start = dap_uint(a->args, "start", 0), count = dap_uint(a->args, "count", 0);
    if (!h) {
        error_at(&a->err, BASE_STATE, 0, "this reference belongs to an earlier stop");
        return;
    }
    if (!count || count > MOST) count = MOST;
    if (start > UINT64_MAX - count) start = 0;
    struct dap_handle own = *h;
    struct listing l = {
        .d = d, .j = a->body, .start = start, .end = start + count, .hex = wants_hex(a->args)};
    penta_error unmapped; /* The elements before an unmapped one are sent. */
    json_list(a->body, "variables");
    if (own.shown == DAP_TREE) {
        dap_tree(d, own.path, start, count, l.hex, a->body);
    } else if (own.shown == DAP_ARRAY) {
        penta_vm_elements(penta_session_vm(d->session), &own.array, start, count, list_element, &l,
                          &unmapped);
    } else {
        l.scope = scopes[own.shown];
        penta_vm_variables(penta_session_vm(d->session), own.frame, list_variable, &l);
    }
    json_end(a->body);
}

struct find_variable {
    const char *name;
    penta_value value;
    bool found;
};

static void match_variable(void *user, const penta_variable *v)
{
    struct find_variable *f = user;
    if (strcmp(v->value.name, f->name) || v->value.kind == PENTA_TEXT || v->value.kind == PENTA_RAW)
        return;
    f->found = true;
    f->value = (penta_value){.kind = v->value.kind, .as.u = v->value.as.u};
    if (v->value.kind == PENTA_FLOAT) f->value.as.f = v->value.as.f;
}

/* Evaluates an expression in the innermost frame. A name alone may belong to another frame. */
static bool dap_show_evaluate(struct dap *d, const struct json_object *args, const char *text,
                              penta_value *value, penta_error *err)
{
    const penta_vm *vm = penta_session_vm(d->session);
    struct find_variable f = {.name = text};
    uint64_t id = dap_uint(args, "frameId", 1);
    if (id > 1) penta_vm_variables(vm, (size_t)id - 1, match_variable, &f);
    if (!f.found) return penta_vm_eval(vm, text, value, err);
    *value = f.value;
    return true;
}

static void tell_value(struct json *j, const char *key, const penta_value *value, bool hex)
{
    penta_buffer text = {0};
    if (penta_value_text(value, hex ? 16 : 0, &text))
        json_string(j, key, (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

static bool command_answer(struct dap *d, char *rest, struct writer *out, penta_error *err)
{
    uint64_t results[16];
    size_t count = 0;
    char *save = NULL;
    (void)out;
    if (!strcmp(rest, "default")) return penta_session_answer_default(d->session, err);
    for (char *w = strtok_r(rest, " ,", &save); w; w = strtok_r(NULL, " ,", &save)) {
        penta_value value;
        if (count == sizeof results / sizeof *results)
            return error_at(err, BASE_OPTION_VALUE, 0, "no call has so many results");
        if (!penta_vm_eval(penta_session_vm(d->session), w, &value, err)) return false;
        results[count++] = value.as.u;
    }
    return penta_session_answer(d->session, results, count, err);
}

static bool command_goto(struct dap *d, char *rest, struct writer *out, penta_error *err)
{
    uint64_t step;
    (void)out;
    if (!number_parse(rest, &step))
        return error_at(err, BASE_OPTION_VALUE, 0, "goto needs the number of a step");
    return penta_debugger_goto(d->debugger, step, &d->stop, err) ||
           error_at(err, BASE_STATE, 0, "the run stops before that step");
}

static bool command_until(struct dap *d, char *rest, struct writer *out, penta_error *err)
{
    uint64_t pc;
    (void)out;
    return penta_find_code(d->module, rest, &pc, err) &&
           penta_debugger_until(d->debugger, pc, &d->stop, err);
}

static bool command_last_write(struct dap *d, char *rest, struct writer *out, penta_error *err)
{
    uint64_t step, pc;
    if (!penta_debugger_last_change(d->debugger, rest, &step, &pc, err))
        return error_at(err, BASE_STATE, 0, "it did not change since the start");
    writer_print(out, "written at step %" PRIu64 "  pc %" PRIu64, step, pc);
    return true;
}

static bool command_steps(struct dap *d, char *rest, struct writer *out, penta_error *err)
{
    (void)rest, (void)err;
    writer_print(out, "step %" PRIu64 "  pc %" PRIu64, penta_session_steps(d->session), d->stop.pc);
    return true;
}

static const struct console {
    const char *name;
    bool moves;
    bool (*run)(struct dap *d, char *rest, struct writer *out, penta_error *err);
} commands[] = {{"answer", true, command_answer},
                {"goto", true, command_goto},
                {"until", true, command_until},
                {"last-write", false, command_last_write},
                {"where", false, command_steps}};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const struct console *command_of(const struct json_object *args, const char **rest)
{
    const char *text = dap_text(args, "expression"), *context = dap_text(args, "context");
    if (!text || !context || strcmp(context, "repl")) return NULL;
    size_t word = strcspn(text, " ");
    *rest = text + word + strspn(text + word, " ");
    for (size_t i = 0; i < COMMANDS; i++)
        if (strlen(commands[i].name) == word && !strncmp(commands[i].name, text, word))
            return &commands[i];
    return NULL;
}

static void run_command(struct dap *d, const struct console *c, const char *rest,
                        struct dap_answer *a)
{
    struct writer out = {0};
    char *copy = strdup(rest);
    if (!copy)
        error_at(&a->err, BASE_MEMORY, 0, "no memory for the command");
    else if (c->run(d, copy, &out, &a->err) && c->run == command_answer) {
        penta_vm_run(penta_session_vm(d->session), 0, &d->stop);
        d->stop.kind = PENTA_STOP_FUEL;
    }
    json_string(a->body, "result", writer_view(&out));
    json_uint(a->body, "variablesReference", 0);
    writer_free(&out);
    free(copy);
}

void dap_evaluate(struct dap *d, struct dap_answer *a)
{
    const char *text = dap_text(a->args, "expression"), *rest;
    const struct console *c = command_of(a->args, &rest);
    penta_value value;
    penta_buffer tree = {0};
    uint64_t reference = 0;
    if (c) {
        run_command(d, c, rest, a);
        return;
    }
    if (!text) {
        error_at(&a->err, BASE_OPTION_VALUE, 0, "the argument 'expression' is missing");
        return;
    }
    if (dap_show_evaluate(d, a->args, text, &value, &a->err)) {
        tell_value(a->body, "result", &value, wants_hex(a->args));
        if (value.kind != PENTA_FLOAT) dap_reference(a->body, "memoryReference", value.as.u);
    } else if (*text == '/' && penta_vm_value(penta_session_vm(d->session), text, &tree)) {
        a->err = (penta_error){0};
        json_string(a->body, "result", (penta_bytes){tree.data, tree.size});
        if (dap_has_children(d, text))
            reference = dap_handle(d, (struct dap_handle){DAP_TREE, .path = strdup(text)});
    }
    json_uint(a->body, "variablesReference", reference);
    penta_buffer_free(&tree);
}

void dap_then_evaluate(struct dap *d, const struct json_object *args)
{
    const char *rest;
    const struct console *c = command_of(args, &rest);
    if (c && c->moves) dap_stopped(d, "goto");
}

static void dap_show_set(struct dap *d, struct dap_answer *a, const char *what)
{
    const char *text = dap_text(a->args, "value");
    penta_value value;
    const penta_vm *vm = penta_session_vm(d->session);
    if (!text) {
        error_at(&a->err, BASE_OPTION_VALUE, 0, "the argument 'value' is missing");
        return;
    }
    if (!penta_vm_eval(vm, text, &value, &a->err) ||
        !penta_debugger_set(d->debugger, what, &value, &a->err))
        return;
    penta_error err;
    if (penta_vm_eval(vm, what, &value, &err))
        tell_value(a->body, "value", &value, wants_hex(a->args));
    else
        json_text(a->body, "value", text);
}

struct setting {
    struct dap *d;
    struct dap_answer *a;
};

static void set_element(void *user, const penta_child *c)
{
    const struct setting *s = user;
    dap_show_set(s->d, s->a, c->expression);
}

void dap_setVariable(struct dap *d, struct dap_answer *a)
{
    const struct dap_handle *h = dap_handle_of(d, dap_uint(a->args, "variablesReference", 0));
    const char *name = dap_text(a->args, "name");
    struct setting setting = {d, a};
    uint64_t i;
    if (!name || !h) {
        error_at(&a->err, BASE_STATE, 0, "there is no such variable");
    } else if (h->shown == DAP_ARRAY && number_parse(name, &i) && i < h->array.elements) {
        penta_vm_elements(penta_session_vm(d->session), &h->array, i, 1, set_element, &setting,
                          &a->err);
    } else if (h->frame) {
        error_at(&a->err, BASE_STATE, 0, "only variables of the innermost frame can be set");
    } else if (h->shown == DAP_TREE) { /* The node is set by its path, because a name alone may
                                        * be that of something else. */
        struct writer path = {0};
        writer_print(&path, "%s/%s", h->path, name);
        writer_char(&path, 0);
        if (writer_ok(&path, &a->err)) dap_show_set(d, a, (const char *)path.out.data);
        writer_free(&path);
    } else {
        dap_show_set(d, a, name);
    }
}

void dap_setExpression(struct dap *d, struct dap_answer *a)
{
    const char *what = dap_text(a->args, "expression");
    if (what)
        dap_show_set(d, a, what);
    else
        error_at(&a->err, BASE_OPTION_VALUE, 0, "the argument 'expression' is missing");
}

struct completing {
    struct json *j;
    const char *word;
    size_t size, count;
    uint64_t start;
    struct writer told; /* names sent so far, each between NUL bytes */
};

static void dap_show_offer(struct completing *c, penta_bytes name, const char *type)
{
    enum { MOST = 200 };
    struct writer key = {0};
    if (name.size < c->size || memcmp(name.data, c->word, c->size)) return;
    writer_char(&key, 0);
    writer_bytes(&key, name.data, name.size);
    writer_char(&key, 0);
    bool twice = !key.failed && c->told.out.size &&
                 memmem(c->told.out.data, c->told.out.size, key.out.data, key.out.size);
    if (!twice) writer_append(&c->told, &key);
    writer_free(&key);
    if (twice || c->count++ >= MOST) return;
    json_object(c->j, NULL);
    json_string(c->j, "label", name);
    json_text(c->j, "type", type);
    json_uint(c->j, "start", c->start);
    json_uint(c->j, "length", c->size);
    json_end(c->j);
}

static void offer_variable(void *user, const penta_variable *v)
{
    dap_show_offer(user, bytes_of(v->value.name), "variable");
}

/* Lists the names at the top of the machine's state, such as pc and executed. */
static bool offer_node(void *user, const penta_node *node) { return (void)user, (void)node, false; }
static void offer_field(void *user, const penta_field *field)
{
    dap_show_offer(user, bytes_of(field->name), "value");
}

static void offer_part(void *user, const penta_part *part)
{
    if (part->kind == PENTA_PART_FUNCTION || part->kind == PENTA_PART_EXPORT)
        dap_show_offer(user, part->name, "function");
}

/* Completes the word before the cursor. Columns count from 1. */
void dap_completions(struct dap *d, struct dap_answer *a)
{
    const char *text = dap_text(a->args, "text");
    uint64_t column = dap_uint(a->args, "column", 1);
    size_t size = text ? strlen(text) : 0, at = column ? (size_t)(column - 1) : 0;
    if (at > size) at = size;
    size_t from = at;
    while (from && (isalnum((unsigned char)text[from - 1]) || strchr("_.$%@", text[from - 1])))
        from--;
    struct completing c = {
        .j = a->body, .word = text ? text + from : "", .size = at - from, .start = from};
    json_list(a->body, "targets");
    penta_visitor top = {&c, offer_node, offer_field, NULL};
    penta_vm_variables(penta_session_vm(d->session), 0, offer_variable, &c);
    penta_vm_describe(penta_session_vm(d->session), &top);
    penta_parts(d->module, offer_part, &c);
    for (size_t i = 0; !from && i < COMMANDS; i++)
        dap_show_offer(&c, bytes_of(commands[i].name), "keyword");
    json_end(a->body);
    writer_free(&c.told);
}
