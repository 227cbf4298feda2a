/* Finds the function that answers a request, and has what all these functions share. */
#include "web/web.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/platform/missing.h"

uint64_t web_uint(const struct web_call *c, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return json_as_uint(json_get(c->args, key), &value) ? value : otherwise;
}

const char *web_text(const struct web_call *c, const char *key)
{
    return json_as_text(json_get(c->args, key));
}

bool web_flag(const struct web_call *c, const char *key)
{
    return json_as_bool(json_get(c->args, key));
}

const char *web_need_text(struct web_call *c, const char *key)
{
    const char *text = web_text(c, key);
    if (!text) error_at(&c->err, BASE_OPTION_VALUE, 0, "the argument '%s' is missing", key);
    return text;
}

static struct web_handle *web_find(struct web_call *c, const char *key, enum web_kind kind)
{
    static const char *const names[] = {"thing", "file", "machine"};
    uint64_t number = web_uint(c, key, 0);
    struct web_handle *h = number && number <= c->web->count ? &c->web->handles[number - 1] : NULL;
    if (h && h->kind == kind) return h;
    error_at(&c->err, BASE_STATE, 0, "no open %s has the number %llu", names[kind],
             (unsigned long long)number);
    return NULL;
}

struct web_file *web_file_of(struct web_call *c, const char *key)
{
    const struct web_handle *h = web_find(c, key, WEB_FILE);
    return h ? h->file : NULL;
}

struct web_machine *web_machine_of(struct web_call *c)
{
    const struct web_handle *h = web_find(c, "machine", WEB_MACHINE);
    return h ? h->machine : NULL;
}

uint64_t web_handle_new(struct web_call *c, struct web_handle handle)
{
    struct web *w = c->web;
    if (!ARRAY_GROW(w->handles, w->capacity, w->count, &c->err)) return 0;
    w->handles[w->count++] = handle;
    return w->count;
}

/* Writes the bytes around a finding and the instruction there, as the tool shows them with carets. */
static void web_caret(struct json *j, const penta_error *e, const penta_module *module,
                      const penta_place *p)
{
    enum { ROW = 16 };
    penta_bytes file;
    file.data = penta_module_bytes(module, &file.size);
    bool node = p->node_size && p->node_size <= ROW, leaf = p->leaf_size <= ROW;
    uint64_t from = node ? p->node_offset : leaf ? p->leaf_offset : e->offset;
    uint64_t size = node ? p->node_size : leaf ? p->leaf_size : ROW;
    uint64_t end = leaf ? p->leaf_offset + p->leaf_size : e->offset + 1, pc;
    penta_buffer text = {0};
    json_object(j, "caret");
    json_uint(j, "row", from);
    json_hex(j, "bytes", bytes_slice(file, (size_t)from, (size_t)size));
    json_uint(j, "mark", e->offset - from);
    json_uint(j, "mark_length", end > e->offset ? end - e->offset : 0);
    if (penta_pc_of(module, e->offset, &pc) && penta_print_at(module, pc, &text))
        json_string(j, "text", (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
    json_end(j);
}

static void line_of(struct json *j, const penta_error *e, penta_bytes text)
{
    uint64_t number, column;
    penta_bytes line;
    penta_source_place(text, e->offset, &number, &column, &line);
    json_uint(j, "line", number);
    json_uint(j, "column", column);
    json_string(j, "text", bytes_slice(line, 0, 400));
}

void web_finding(struct json *j, const penta_error *e, const penta_module *module,
                 const penta_place *place, const char *path, const penta_bytes *text)
{
    char code[24];
    bool found = place && place->found;
    penta_code_text(e->code, code);
    json_text(j, "severity", penta_severity_name(e->severity));
    json_text(j, "code", code);
    json_text(j, "name", penta_code_name(e->code));
    json_uint(j, "offset", e->offset);
    json_uint(j, "length", found ? place->leaf_offset + place->leaf_size - e->offset : 0);
    if (e->decoded) json_bool(j, "decoded", true);
    if (path) json_text(j, "path", path);
    json_text(j, "message", e->message);
    if (e->note[0]) json_text(j, "note", e->note);
    if (found && !e->decoded) web_caret(j, e, module, place);
    if (text) line_of(j, e, *text);
}

void web_error(struct web_call *c, const penta_error *e)
{
    if (!c->err.code) c->err = *e;
}

void web_version(struct web_call *c) { json_text(c->j, "version", penta_version()); }

void web_formats(struct web_call *c)
{
    penta_buffer text = {0};
    if (penta_formats_json(&text, &c->err))
        json_raw(c->j, "formats", (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

static bool explain_of(struct web_call *c, const char *format, const char *wanted)
{
    const penta_rule *r;
    char code[24];
    for (size_t i = 0; (r = penta_rule_at(format, i)); i++) {
        penta_code_text(r->code, code);
        if (strcmp(code, wanted) && strcmp(r->name, wanted)) continue;
        json_object(c->j, "rule");
        json_text(c->j, "code", code);
        json_text(c->j, "name", r->name);
        json_text(c->j, "severity", penta_severity_name(r->severity));
        json_text(c->j, "summary", r->summary);
        json_text(c->j, "explanation", r->explanation);
        json_end(c->j);
        return true;
    }
    return false;
}

void web_explain(struct web_call *c)
{
    const char *code = web_need_text(c, "code");
    if (!code || explain_of(c, NULL, code)) return;
    for (size_t i = 0; penta_format_name(i); i++)
        if (explain_of(c, penta_format_name(i), code)) return;
    json_null(c->j, "rule");
}

void web_detect(struct web_call *c)
{
    penta_guess guesses[8];
    size_t count = penta_detect(c->data, guesses, sizeof guesses / sizeof *guesses);
    json_list(c->j, "guesses");
    for (size_t i = 0; i < count; i++) {
        json_object(c->j, NULL);
        json_text(c->j, "format", guesses[i].format);
        json_uint(c->j, "confidence", (uint64_t)guesses[i].confidence);
        json_end(c->j);
    }
    json_end(c->j);
}

static void close_handle(struct web *w, struct web_handle *h)
{
    struct web_handle old = *h;
    *h = (struct web_handle){.kind = WEB_NOTHING};
    if (old.kind == WEB_MACHINE) {
        struct web_handle *file = &w->handles[old.machine->file - 1];
        if (file->kind == WEB_FILE) file->file->machines--;
        web_machine_free(old.machine);
    }
    if (old.kind != WEB_FILE) return;
    for (size_t i = 0; old.file->machines && i < w->count; i++) {
        struct web_handle *m = &w->handles[i];
        if (m->kind != WEB_MACHINE || m->machine->of != old.file) continue;
        web_machine_free(m->machine);
        *m = (struct web_handle){.kind = WEB_NOTHING};
        old.file->machines--;
    }
    web_file_free(old.file);
}

void web_close(struct web_call *c)
{
    uint64_t number = web_uint(c, "handle", 0);
    if (number && number <= c->web->count) close_handle(c->web, &c->web->handles[number - 1]);
}

void web_end(struct web *w)
{
    for (size_t i = 0; i < w->count; i++) close_handle(w, &w->handles[i]);
    free(w->handles);
    writer_free(&w->answer);
    writer_free(&w->bytes);
    *w = (struct web){0};
}

static const struct {
    const char *name;
    void (*serve)(struct web_call *c);
} calls[] = {
#define CALL(name) {#name, web_##name},
#include "web/calls.def"
};

static void web_serve(struct web_call *c)
{
    const char *name = web_need_text(c, "call");
    if (!name) return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, name)) {
            calls[i].serve(c);
            return;
        }
    error_at(&c->err, BASE_OPTION_VALUE, 0, "there is no call '%.40s'", name);
}

static void web_clear(struct writer *w)
{
    w->out.size = 0;
    w->failed = false;
}

static penta_bytes no_memory(void)
{
    return bytes_of("{\"error\":{\"severity\":\"error\",\"code\":\"\",\"name\":\"MEMORY\","
                    "\"offset\":0,\"length\":0,\"message\":\"memory ran out\"}}");
}

void web_call(struct web *w, penta_bytes request, penta_bytes data)
{
    struct json j = {.out = &w->answer};
    struct web_call c = {.web = w, .data = data, .j = &j, .bytes = &w->bytes};
    web_clear(&w->answer);
    web_clear(&w->bytes);
    missing_part(); /* This call clears the missing part that earlier calls reported. */
    struct json_doc *doc = json_parse(request, &c.err);
    c.args = doc ? json_root(doc) : NULL;
    json_object(&j, NULL);
    if (doc) web_serve(&c);
    const char *missing = missing_part();
    if (missing) json_text(&j, "missing", missing);
    json_finish(&j);
    json_doc_free(doc);
    if (!c.err.code && writer_ok(&w->answer, &c.err)) writer_ok(&w->bytes, &c.err);
    if (c.err.code) {
        web_clear(&w->answer);
        web_clear(&w->bytes);
        j = (struct json){.out = &w->answer};
        json_object(&j, NULL);
        json_object(&j, "error");
        web_finding(&j, &c.err, NULL, NULL, NULL, NULL);
        json_end(&j);
        if (missing) json_text(&j, "missing", missing);
        json_finish(&j);
    }
    w->result = w->answer.failed ? no_memory() : writer_view(&w->answer);
}
