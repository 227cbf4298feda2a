/* The scripted host, and the choice between it, the console, the contract host and the JAM host.
 *
 * A script is lines of text; '#' starts a comment.
 *
 *     line     = call "=" [action {"," action}]
 *     call     = (NAME | NUMBER) ["(" pattern {"," pattern} ")"]   an import, or an ecalli number
 *     pattern  = "*" | number                    for a0, a1, ...: anything, or this number
 *     action   = value                            the next result: a0, then a1, ... a5
 *              | "[" place "]" ":" HEX            these bytes are written to guest memory
 *              | "print" "[" place ":" value "]"  that many bytes of guest memory are output
 *              | "end"                            the call ends here, as if it had returned
 *     place    = value ["+" number]
 *     value    = number | "a0" .. "a5"            an argument of this host call
 *
 * Lines that match a call are used one after the other, one call each; the last one that matches
 * answers all further calls.
 *
 *     get_third_number = 1000
 *     read(0, *) = 5, [a1]:68656c6c6f         # stdin once,
 *     read(0, *) = 0                          # then its end
 *     7 = print [a0:a1], a1 */
#include "pvm/host/host.h"
#include "pvm/host/console.h"
#include "pvm/host/jam_json/session.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"

enum { PATTERNS = 6, ACTIONS = 32 };

struct value {
    bool argument; /* number is 0 .. 5: a0 .. a5 */
    uint64_t number, plus;
};

struct action {
    enum { RESULT, WRITE, PRINT, END } kind;
    struct value value, length;
    penta_bytes bytes; /* WRITE */
    uint8_t *owned;    /* the same bytes, to free */
};

struct line {
    penta_bytes name;
    bool numbered, used;
    uint64_t number;
    unsigned patterns, actions;
    struct {
        bool any;
        uint64_t value;
    } pattern[PATTERNS];
    struct action action[ACTIONS];
};

struct pvm_script {
    penta_buffer text;
    struct line *lines;
    size_t count, capacity;
};

/* ---- reading ---- */

struct scan {
    const uint8_t *p, *end, *start;
    penta_error *err;
};

static bool bad(struct scan *s, const char *what)
{
    return error_at(s->err, BASE_SYNTAX, (uint64_t)(s->p - s->start), "host script: expected %s",
                    what);
}

static void blanks(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r')) s->p++;
}

static bool accept(struct scan *s, char c)
{
    blanks(s);
    if (s->p == s->end || *s->p != c) return false;
    s->p++;
    return true;
}

static bool at_end(struct scan *s)
{
    blanks(s);
    return s->p == s->end || *s->p == '\n' || *s->p == '#';
}

static penta_bytes word(struct scan *s)
{
    blanks(s);
    const uint8_t *from = s->p;
    while (s->p < s->end &&
           (isalnum(*s->p) || *s->p == '_' || *s->p == '.' || *s->p == ':' || *s->p >= 0x80))
        s->p++;
    return (penta_bytes){from, (size_t)(s->p - from)};
}

/* A word without ':', which separates a place from what follows. */
static penta_bytes simple(struct scan *s)
{
    penta_bytes w = word(s);
    const uint8_t *colon = memchr(w.data, ':', w.size);
    if (!colon) return w;
    s->p = colon;
    return (penta_bytes){w.data, (size_t)(colon - w.data)};
}

static bool read_value(struct scan *s, struct value *v)
{
    penta_bytes w = simple(s);
    *v = (struct value){0};
    if (w.size == 2 && w.data[0] == 'a' && w.data[1] >= '0' && w.data[1] <= '5') {
        v->argument = true;
        v->number = (uint64_t)(w.data[1] - '0');
        return true;
    }
    return number_parse_bytes(w, &v->number) || bad(s, "a number or a0 to a5");
}

static bool read_place(struct scan *s, struct value *v)
{
    if (!read_value(s, v)) return false;
    if (!accept(s, '+')) return true;
    return number_parse_bytes(simple(s), &v->plus) || bad(s, "a number");
}

static bool read_action(struct scan *s, struct action *a)
{
    *a = (struct action){.kind = RESULT};
    if (accept(s, '[')) {
        a->kind = WRITE;
        if (!read_place(s, &a->value)) return false;
        if (!accept(s, ']') || !accept(s, ':')) return bad(s, "']:'");
        penta_bytes hex = word(s);
        a->owned = hex_parse(hex, &a->bytes.size);
        a->bytes.data = a->owned;
        return a->owned || bad(s, "bytes in hex");
    }
    const uint8_t *back = s->p;
    penta_bytes w = word(s);
    if (w.size == 3 && !memcmp(w.data, "end", 3)) {
        a->kind = END;
        return true;
    }
    if (w.size == 5 && !memcmp(w.data, "print", 5)) {
        a->kind = PRINT;
        if (!accept(s, '[')) return bad(s, "'['");
        if (!read_place(s, &a->value)) return false;
        if (!accept(s, ':')) return bad(s, "':'");
        if (!read_value(s, &a->length)) return false;
        return accept(s, ']') || bad(s, "']'");
    }
    s->p = back;
    blanks(s);
    return read_value(s, &a->value);
}

static bool read_patterns(struct scan *s, struct line *l)
{
    if (!accept(s, '(')) return true;
    do {
        if (l->patterns == PATTERNS) return bad(s, "at most six arguments");
        if (accept(s, '*')) {
            l->pattern[l->patterns++].any = true;
        } else {
            if (!number_parse_bytes(word(s), &l->pattern[l->patterns].value))
                return bad(s, "'*' or a number");
            l->patterns++;
        }
    } while (accept(s, ','));
    return accept(s, ')') || bad(s, "')'");
}

static bool read_line(struct scan *s, struct line *l)
{
    *l = (struct line){.name = word(s)};
    if (!l->name.size) return bad(s, "a name or number");
    l->numbered = number_parse_bytes(l->name, &l->number);
    if (!read_patterns(s, l)) return false;
    if (!accept(s, '=')) return bad(s, "'='");
    if (at_end(s)) return true;
    do {
        if (l->actions == ACTIONS) return bad(s, "fewer actions");
        if (!read_action(s, &l->action[l->actions])) return false;
        l->actions++;
    } while (accept(s, ','));
    return at_end(s) || bad(s, "',' or the end of the line");
}

void pvm_script_free(struct pvm_script *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->count; i++)
        for (unsigned k = 0; k < ACTIONS; k++) free(s->lines[i].action[k].owned);
    free(s->lines);
    penta_buffer_free(&s->text);
    free(s);
}

struct pvm_script *pvm_script_read(const char *path, penta_error *err)
{
    struct pvm_script *s = calloc(1, sizeof *s);
    if (!s) error_at(err, BASE_MEMORY, 0, "no memory for the host script");
    if (!s || !file_read(path, 1 << 24, &s->text, err)) {
        pvm_script_free(s);
        return NULL;
    }
    struct scan scan = {
        .p = s->text.data, .end = s->text.data + s->text.size, .start = s->text.data, .err = err};
    while (scan.p < scan.end && !err->code) {
        if (!at_end(&scan)) {
            if (s->count == s->capacity) {
                s->capacity = 2 * s->capacity + 8;
                struct line *more = realloc(s->lines, s->capacity * sizeof *more);
                if (!more) {
                    error_at(err, BASE_MEMORY, 0, "no memory for the host script");
                    break;
                }
                s->lines = more;
            }
            read_line(&scan, &s->lines[s->count++]);
        }
        while (scan.p < scan.end && *scan.p != '\n') scan.p++;
        if (scan.p < scan.end) scan.p++;
    }
    if (!err->code) return s;
    pvm_script_free(s);
    return NULL;
}

/* ---- answering ---- */

penta_bytes pvm_import_name(const penta_module *module, uint32_t number)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    if (number >= p->import_count || p->imports[number].broken) return (penta_bytes){0};
    return p->imports[number].name;
}

static bool fits(const struct line *l, penta_bytes name, const penta_stop *stop)
{
    bool named =
        name.size && name.size == l->name.size && !memcmp(name.data, l->name.data, name.size);
    if (!named && !(l->numbered && l->number == stop->detail)) return false;
    for (unsigned i = 0; i < l->patterns; i++)
        if (!l->pattern[i].any && l->pattern[i].value != stop->args[i]) return false;
    return true;
}

static uint64_t value_of(const struct value *v, const penta_stop *stop)
{
    return (v->argument ? stop->args[v->number] : v->number) + v->plus;
}

static bool print_memory(penta_vm *vm, uint32_t address, uint64_t length, struct answer *out)
{
    enum { MOST = 1 << 24 };
    uint8_t *bytes = length <= MOST ? malloc((size_t)length + 1) : NULL;
    bool ok = bytes && penta_vm_peek(vm, address, bytes, (size_t)length);
    if (ok) writer_bytes(&out->output, bytes, (size_t)length);
    free(bytes);
    return ok;
}

static bool act(const struct action *a, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    uint64_t value = value_of(&a->value, stop);
    switch (a->kind) {
    case RESULT:
        if (out->count == 6) return false;
        out->results[out->count++] = value;
        return true;
    case WRITE: answer_poke(out, (uint32_t)value, a->bytes); return true;
    case PRINT: return print_memory(vm, (uint32_t)value, value_of(&a->length, stop), out);
    case END: out->end = CALL_ENDS; return true;
    }
    return false;
}

bool pvm_script_answer(struct pvm_script *s, penta_vm *vm, const penta_stop *stop,
                       struct answer *out)
{
    penta_bytes name = pvm_import_name(vm->module, stop->detail);
    struct line *chosen = NULL;
    for (size_t i = 0; i < s->count; i++) {
        if (!fits(&s->lines[i], name, stop)) continue;
        chosen = &s->lines[i];
        if (!chosen->used) break;
    }
    if (!chosen) return false;
    chosen->used = true;
    for (unsigned i = 0; i < chosen->actions; i++)
        if (!act(&chosen->action[i], vm, stop, out)) return false;
    return true;
}

/* ---- the format's host ---- */

struct host_state {
    struct pvm_script *script;
    struct pvm_revive *revive;
    struct pvm_console *console;
    struct pvm_jam *jam;
};

static void host_close(void *state)
{
    struct host_state *h = state;
    if (!h) return;
    pvm_script_free(h->script);
    pvm_revive_free(h->revive);
    pvm_console_free(h->console);
    pvm_jam_free(h->jam);
    free(h);
}

/* Refuses options that only another host understands. */
static bool only_for(const char *host, const char *which, const char *const *keys,
                     const penta_option *options, size_t count, penta_error *err)
{
    if (which && !strcmp(which, host)) return true;
    for (; *keys; keys++)
        if (option_text(options, count, *keys))
            return error_at(err, BASE_OPTION_VALUE, 0, "%s: the program's host is not %s", *keys,
                            strcmp(host, "console") ? host : "the console");
    return true;
}

static bool options_fit(const char *which, const penta_option *options, size_t count,
                        penta_error *err)
{
    static const char *const console[] = {"argv", "stdin", "files", "seed", NULL};
    static const char *const revive[] = {"calldata", "value",  "caller",  "address", "time",
                                         "contract", "upload", "balance", "block",   NULL};
    static const char *const state[] = {"state", "save-state", NULL};
    static const char *const jam[] = {"service",     "slot",  "entropy", "items",
                                      "package",     "item",  "core",    "payload",
                                      "inner-trace", "chain", "gp",      NULL};
    bool is_jam = which && !strcmp(which, "jam");
    return only_for("console", which, console, options, count, err) &&
           only_for("revive", which, revive, options, count, err) &&
           only_for("jam", which, jam, options, count, err) &&
           (is_jam || only_for("revive", which, state, options, count, err));
}

static bool host_open(const penta_module *module, const penta_option *options, size_t count,
                      void **state, penta_error *err)
{
    const char *which = option_text(options, count, "host");
    if (!which && pvm_console_serves(module)) which = "console";
    if (!options_fit(which, options, count, err)) return false;
    struct host_state *h = calloc(1, sizeof *h);
    if (!h) return error_at(err, BASE_MEMORY, 0, "no memory for the host");
    *state = h;
    if (!which) return true; /* without a host, nothing answers */
    if (!strcmp(which, "revive"))
        h->revive = pvm_revive_new(module, options, count, err);
    else if (!strcmp(which, "console"))
        h->console = pvm_console_new(options, count, err);
    else if (!strcmp(which, "jam"))
        h->jam = pvm_jam_new(module, options, count, err);
    else
        h->script = pvm_script_read(which, err);
    if (h->revive || h->console || h->jam || h->script) return true;
    host_close(h);
    *state = NULL;
    return false;
}

static bool host_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    struct host_state *h = state;
    if (h->script) return pvm_script_answer(h->script, vm, stop, out);
    if (h->console) return pvm_console_answer(h->console, vm, stop, out);
    if (h->jam) return pvm_jam_answer(h->jam, vm, stop, out);
    return h->revive && pvm_revive_answer(h->revive, vm, stop, out);
}

static bool host_console(void *state)
{
    const struct host_state *h = state;
    return h->console != NULL;
}

static void host_attach(void *state, penta_vm *vm)
{
    const struct host_state *h = state;
    if (h->revive) pvm_revive_attach(h->revive, vm);
}

static bool host_save(void *state, struct writer *out, penta_error *err)
{
    const struct host_state *h = state;
    if (h->revive) return pvm_revive_save(h->revive, out, err);
    if (h->jam) return pvm_jam_save(h->jam, out, err);
    return error_at(err, BASE_UNSUPPORTED, 0, "this host has no state to save");
}

static bool host_finish(void *state, penta_vm *vm, const penta_stop *stop, struct writer *text,
                        struct json *json, penta_error *err)
{
    const struct host_state *h = state;
    return !h->jam || pvm_jam_finish(h->jam, vm, stop, text, json, err);
}

static bool changes_machine(void *state)
{
    const struct host_state *h = state;
    return h->jam != NULL;
}

const struct host pvm_host = {.open = host_open,
                              .answer = host_answer,
                              .changes_machine = changes_machine,
                              .close = host_close,
                              .attach = host_attach,
                              .save = host_save,
                              .console = host_console,
                              .finish = host_finish};
