/* Reads a file of answers, the script of the scripted host (PVM 16.2, 16.3). A call is answered
 * by the first line that fits and was not used yet, or else by the last line that fits. */
#include "pvm/host/host.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "text/script.h"

enum { PATTERNS = 6, ACTIONS = 32 };

struct value {
    bool argument; /* The number is an argument: 0 .. 5 for a0 .. a5. */
    uint64_t number, plus;
};

struct action {
    enum { RESULT, WRITE, PRINT, END } kind;
    struct value value, length;
    penta_bytes bytes; /* the bytes that a WRITE writes */
};

struct line {
    penta_bytes name; /* the name of an import, or empty when the number says which import */
    uint32_t number;
    bool used;
    unsigned patterns, actions;
    struct {
        bool any;
        uint64_t value;
    } pattern[PATTERNS];
    struct action action[ACTIONS];
};

struct pvm_script {
    struct arena arena; /* holds the bytes that answers write */
    struct line *lines;
    size_t count, capacity;
};

struct reading {
    struct script in;
    struct pvm_script *out;
    const struct pvm_program *program;
};

/* Makes the error "expected WHAT, found ..." at the next token. Returns false. */
static bool script_expected(struct reading *r, const char *what)
{
    return source_unexpected(&r->in.source, source_peek(&r->in.source), what);
}

static bool read_value(struct reading *r, struct value *v)
{
    struct source *s = &r->in.source;
    struct token t = source_peek(s);
    *v = (struct value){0};
    penta_bytes w = token_text(s, t);
    v->argument = w.size == 2 && w.data[0] == 'a' && w.data[1] >= '0' && w.data[1] <= '5';
    if (!v->argument && t.kind != TOKEN_INT) return script_expected(r, "a number or a0 to a5");
    source_next(s);
    v->number = v->argument ? (uint64_t)(w.data[1] - '0') : t.as.u;
    return !r->in.why.code;
}

static bool read_place(struct reading *r, struct value *v)
{
    return read_value(r, v) &&
           (!source_accept(&r->in.source, '+') || script_number(&r->in, UINT64_MAX, &v->plus));
}

static bool read_bytes(struct reading *r, penta_bytes *out)
{
    struct token t = source_peek(&r->in.source);
    penta_bytes hex = script_word(&r->in);
    uint8_t *bytes = arena_alloc(&r->out->arena, hex.size / 2, 1, &r->in.why);
    bool ok = bytes && !(hex.size % 2) && hex.size;
    for (size_t i = 0; ok && i < hex.size; i += 2) {
        int high = hex_digit(hex.data[i]), low = hex_digit(hex.data[i + 1]);
        ok = high >= 0 && low >= 0;
        if (ok) bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    *out = (penta_bytes){bytes, hex.size / 2};
    return ok || error_at(&r->in.why, BASE_SYNTAX, t.offset, "expected bytes in hex");
}

static bool read_action(struct reading *r, struct action *a)
{
    struct source *s = &r->in.source;
    struct token t = source_peek(s);
    *a = (struct action){.kind = RESULT};
    if (source_accept(s, '[')) {
        a->kind = WRITE;
        return read_place(r, &a->value) && source_expect(s, ']') && source_expect(s, ':') &&
               read_bytes(r, &a->bytes);
    }
    if (token_is(s, t, "end")) {
        a->kind = END;
        source_next(s);
        return true;
    }
    if (token_is(s, t, "print")) {
        a->kind = PRINT;
        source_next(s);
        return source_expect(s, '[') && read_place(r, &a->value) && source_expect(s, ':') &&
               read_value(r, &a->length) && source_expect(s, ']');
    }
    if (t.kind != TOKEN_NAME || t.size == 2) return read_value(r, &a->value);
    struct suggest near = {.word = token_text(s, t)};
    suggest_offer(&near, "print");
    suggest_offer(&near, "end");
    return script_unknown(&r->in, "action", &near);
}

static bool read_patterns(struct reading *r, struct line *l)
{
    struct source *s = &r->in.source;
    if (!source_accept(s, '(')) return true;
    do {
        if (l->patterns == PATTERNS) return script_expected(r, "at most six arguments");
        l->pattern[l->patterns].any = source_accept(s, '*');
        if (!l->pattern[l->patterns].any &&
            !script_number(&r->in, UINT64_MAX, &l->pattern[l->patterns].value))
            return false;
        l->patterns++;
    } while (source_accept(s, ','));
    return source_expect(s, ')');
}

/* Reads an import by its name, or its number. */
static bool read_call(struct reading *r, struct line *l)
{
    const struct pvm_program *p = r->program;
    uint64_t number;
    struct suggest near = {.word = script_word(&r->in)};
    if (!near.word.size) return script_expected(r, "a name or number");
    for (uint32_t i = 0; i < p->import_count; i++) {
        if (p->imports[i].broken) continue;
        l->name = p->imports[i].name;
        if (bytes_equal(l->name, near.word)) return true;
        const char *name = arena_copy(&r->out->arena, l->name, &r->in.why);
        if (!name) return false;
        suggest_offer(&near, name);
    }
    l->name = (penta_bytes){0};
    if (number_parse_bytes(near.word, &number) && number <= UINT32_MAX) {
        l->number = (uint32_t)number;
        return true;
    }
    return script_unknown(&r->in, "import of the program", &near);
}

static bool read_line(struct reading *r, struct line *l)
{
    struct source *s = &r->in.source;
    *l = (struct line){0};
    if (!read_call(r, l) || !read_patterns(r, l) || !source_expect(s, '=')) return false;
    struct token t = source_peek(s);
    if (t.kind == TOKEN_LINE || t.kind == TOKEN_END) return true;
    do {
        if (l->actions == ACTIONS) return script_expected(r, "fewer actions");
        if (!read_action(r, &l->action[l->actions++])) return false;
    } while (source_accept(s, ','));
    return source_end_of_line(s);
}

void pvm_script_free(struct pvm_script *s)
{
    if (!s) return;
    arena_free(&s->arena);
    free(s->lines);
    free(s);
}

struct pvm_script *pvm_script_read(const penta_module *module, const char *path, penta_error *err)
{
    struct pvm_script *s = calloc(1, sizeof *s);
    struct reading r = {.out = s, .program = &pvm_module(module)->program};
    if (!s) {
        error_at(err, BASE_MEMORY, 0, "no memory for the host script");
        return NULL;
    }
    if (script_open(&r.in, path, err)) {
        while (script_line(&r.in) && ARRAY_GROW(s->lines, s->capacity, s->count, &r.in.why) &&
               read_line(&r, &s->lines[s->count]))
            s->count++;
        if (script_close(&r.in, err)) return s;
    }
    pvm_script_free(s);
    return NULL;
}

static bool script_fits(const struct line *l, penta_bytes name, const penta_stop *stop)
{
    if (l->name.size ? !bytes_equal(l->name, name) : l->number != stop->detail) return false;
    for (unsigned i = 0; i < l->patterns; i++)
        if (!l->pattern[i].any && l->pattern[i].value != stop->args[i]) return false;
    return true;
}

static uint64_t answer_value(const struct value *v, const penta_stop *stop)
{
    return (v->argument ? stop->args[v->number] : v->number) + v->plus;
}

static bool print_memory(penta_vm *vm, uint32_t address, uint64_t length, struct answer *out)
{
    enum { MOST = 1 << 24 };
    uint8_t *bytes = length <= MOST ? malloc((size_t)length + 1) : NULL;
    bool ok = bytes && vm->engine->peek(vm, address, bytes, (size_t)length);
    if (ok) writer_bytes(&out->output, bytes, (size_t)length);
    free(bytes);
    return ok;
}

static bool script_act(const struct action *a, penta_vm *vm, const penta_stop *stop,
                       struct answer *out)
{
    uint64_t value = answer_value(&a->value, stop);
    switch (a->kind) {
    case RESULT:
        if (out->count == 6) return false;
        out->results[out->count++] = value;
        return true;
    case WRITE: answer_poke(out, (uint32_t)value, a->bytes); return true;
    case PRINT: return print_memory(vm, (uint32_t)value, answer_value(&a->length, stop), out);
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
        if (!script_fits(&s->lines[i], name, stop)) continue;
        chosen = &s->lines[i];
        if (!chosen->used) break;
    }
    if (!chosen) return false;
    chosen->used = true;
    for (unsigned i = 0; i < chosen->actions; i++)
        if (!script_act(&chosen->action[i], vm, stop, out)) return false;
    return true;
}
