/* Reads scripts of answers to domain operations (TVMR 19.1) and gives the answers. */
#include "tvmr/host/script.h"
#include "base/array.h"
#include "text/script.h"
#include <stdio.h>
#include <stdlib.h>

struct writing {
    int field; /* the field of the operation that names the register; -1 when `reg` is the
                * register */
    uint8_t reg;
    int32_t *data;
    size_t count;
};

struct scripted {             /* A statement of the script. */
    const struct tvmr_op *op; /* the instruction that the statement answers; NULL for any */
    struct writing *writes;
    size_t count;
    bool stop;
    char *fail; /* the message of a failure, or NULL */
};

struct list {
    struct scripted *items;
    size_t count, capacity;
};

struct tvmr_script {
    struct arena arena;
    struct list answers, always;
    size_t next;
};

static bool offer_operations(struct suggest *near, const struct tvmr_op **found)
{
    for (size_t e = 0; tvmr_extension_at(e); e++) {
        const struct tvmr_extension *extension = tvmr_extension_at(e);
        for (size_t i = 0; i < extension->count; i++) {
            const char *domain = extension->ops[i].domain;
            if (!domain) continue;
            if (bytes_equal(near->word, bytes_of(domain))) {
                *found = &extension->ops[i];
                return true;
            }
            suggest_offer(near, domain);
        }
    }
    return false;
}

/* Returns the place of a field that names a register among the fields of the operation, or -1
 * when the field does not. */
static int offer_fields(struct suggest *near, const struct tvmr_op *op)
{
    static const char *const names[] = {"target", "source", "result", "register"};
    for (size_t i = 0; op && i < sizeof names / sizeof *names; i++) suggest_offer(near, names[i]);
    int field = 0;
    for (const char *p = op ? op->fields : ""; *p; field++) {
        size_t name = strcspn(p, "="), end = strcspn(p, " ");
        if (name == near->word.size && !memcmp(p, near->word.data, name) && p[name + 1] == 'r')
            return field;
        p += end + (p[end] == ' ');
    }
    return -1;
}

static bool register_named(penta_bytes word, uint8_t *reg)
{
    static const char banks[] = "HCPS";
    const char *bank = word.size ? strchr(banks, word.data[0]) : NULL;
    unsigned index = 0;
    if (!bank || !*bank || word.size < 2 || word.size > 3) return false;
    for (size_t i = 1; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9') return false;
        index = index * 10 + word.data[i] - '0';
    }
    *reg = (uint8_t)((unsigned)(bank - banks) << 6 | index);
    return index < TVMR_BANK && *reg != TVMR_NULL;
}

static bool source_at_number(const struct source *s)
{
    struct token t = source_peek(s);
    return t.kind == TOKEN_INT || (t.kind == TOKEN_PUNCT && t.as.punct == '-');
}

/* Reads the numbers for a register, such as "= 1 -2 3". */
static bool read_register_write(struct script *in, struct tvmr_script *out, struct scripted *a,
                                int field, uint8_t reg)
{
    struct writing w = {.field = field, .reg = reg};
    size_t capacity = 0;
    uint64_t at = source_peek(&in->source).offset;
    if (!source_expect(&in->source, '=')) return false;
    int32_t *numbers = NULL;
    while (!in->why.code && source_at_number(&in->source)) {
        bool minus = source_accept(&in->source, '-');
        uint64_t n, most = minus ? UINT64_C(1) << 31 : INT32_MAX;
        if (!script_number(in, most, &n)) break;
        if (!ARRAY_RESERVE(numbers, capacity, w.count + 1))
            error_at(&in->why, BASE_MEMORY, at, "no memory for an answer");
        else
            numbers[w.count++] = (int32_t)(minus ? -(int64_t)n : (int64_t)n);
    }
    if (!in->why.code && field < 0 && reg >> 6 == 2 && w.count != 1)
        error_at(&in->why, BASE_SYNTAX, at, "a param register takes one number");
    for (size_t i = 0; !in->why.code && field < 0 && reg >> 6 == 3 && i < w.count; i++)
        if (numbers[i] < 0) error_at(&in->why, BASE_NUMBER, at, "a dimension below 0");
    w.data = arena_alloc(&out->arena, w.count + 1, sizeof *w.data, &in->why);
    if (w.data && w.count) memcpy(w.data, numbers, w.count * sizeof *w.data);
    free(numbers);
    struct writing *grown = arena_alloc(&out->arena, a->count + 1, sizeof *grown,
                                        &in->why); /* The array grows by one, because answers are
                                                    * few. */
    if (in->why.code) return false;
    if (a->count) memcpy(grown, a->writes, a->count * sizeof *grown);
    grown[a->count++] = w;
    a->writes = grown;
    return true;
}

static bool read_fail(struct script *in, struct tvmr_script *out, struct scripted *a)
{
    struct token t = source_next(&in->source);
    penta_bytes text;
    if (t.kind != TOKEN_STRING) return source_unexpected(&in->source, t, "a text in quotes");
    if (!token_string(&in->source, t, &out->arena, &text)) return false;
    return (a->fail = arena_copy(&out->arena, text, &in->why)) != NULL;
}

static bool read_answer(struct script *in, struct tvmr_script *out, struct scripted *a, bool always)
{
    bool first = true;
    while (source_peek(&in->source).kind == TOKEN_NAME) {
        uint8_t reg;
        int field;
        struct suggest near = {.word = script_word(in)};
        if (a->stop || a->fail)
            return error_at(&in->why, BASE_SYNTAX,
                            (uint64_t)(near.word.data - in->source.text.data),
                            "stop and fail end an answer");
        if (bytes_equal(near.word, bytes_of("stop"))) {
            a->stop = true;
        } else if (bytes_equal(near.word, bytes_of("fail"))) {
            if (!read_fail(in, out, a)) return false;
        } else if (register_named(near.word, &reg)) {
            if (!read_register_write(in, out, a, -1, reg)) return false;
        } else if ((field = offer_fields(&near, a->op)) >= 0) {
            if (!read_register_write(in, out, a, field, 0)) return false;
        } else if (!first || !offer_operations(&near, &a->op)) {
            suggest_offer(&near, "stop");
            suggest_offer(&near, "fail");
            return script_unknown(in, first ? "operation or register" : "register", &near);
        }
        first = false;
    }
    if (always && !a->op)
        return source_unexpected(&in->source, source_peek(&in->source), "an operation");
    return source_end_of_line(&in->source);
}

static const char *statement_name(size_t i)
{
    static const char *const names[] = {"answer", "always"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static bool read_statement(struct script *in, struct tvmr_script *out)
{
    size_t which;
    struct scripted a = {0};
    if (!script_choice(in, "statement", statement_name, &which) ||
        !read_answer(in, out, &a, which == 1))
        return false;
    struct list *list = which ? &out->always : &out->answers;
    if (!ARRAY_RESERVE(list->items, list->capacity, list->count + 1))
        return error_at(&in->why, BASE_MEMORY, 0, "no memory for a script");
    list->items[list->count++] = a;
    return true;
}

struct tvmr_script *tvmr_script_open(const char *path, penta_error *err)
{
    struct script in;
    struct tvmr_script *out = zeros_new(sizeof *out, "a script", err);
    if (!out) return NULL;
    if (script_open(&in, path, err)) {
        while (script_line(&in) && read_statement(&in, out)) {
        }
        script_close(&in, err);
    }
    if (!err->code) return out;
    tvmr_script_close(out);
    return NULL;
}

void tvmr_script_close(struct tvmr_script *script)
{
    if (!script) return;
    free(script->answers.items);
    free(script->always.items);
    arena_free(&script->arena);
    free(script);
}

bool tvmr_script_write(struct tvmr_vm *vm, uint8_t reg, const int32_t *data, size_t count)
{
    unsigned i = reg & 63u;
    uint32_t dim = (uint32_t)count;
    struct tvmr_cold *c = &vm->cold[i];
    switch (reg >> 6) {
    case 0: return tvmr_hot_set(vm, i, data, count, &dim, 1);
    case 2: vm->param[i] = count ? data[0] : 0; return true;
    case 3: return tvmr_shape_set(vm, &vm->shape[i], (const uint32_t *)data, count);
    default: break;
    }
    if (!c->present && !tvmr_cold_new(vm, i, count, &dim, 1)) return false;
    for (size_t k = 0; k < count && k < c->count; k++) c->weights[k] = tvmr_signal_of(data[k]);
    tvmr_cold_changed(c);
    return true;
}

static bool script_apply(const struct scripted *a, struct tvmr_vm *vm)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct writing *w = &a->writes[i];
        uint8_t reg = w->field < 0 ? w->reg : (uint8_t)vm->yield_args[w->field];
        if (reg != TVMR_NULL && !tvmr_script_write(vm, reg, w->data, w->count)) return false;
    }
    if (a->fail)
        tvmr_vm_fail(vm, a->fail);
    else if (a->stop)
        tvmr_vm_stop(vm);
    return true;
}

bool tvmr_script_answer(struct tvmr_script *script, struct tvmr_vm *vm)
{
    const char *asked = vm->yield_op->domain;
    for (size_t i = 0; i < script->always.count; i++)
        if (!strcmp(script->always.items[i].op->domain, asked))
            return script_apply(&script->always.items[i], vm);
    if (script->next >= script->answers.count) return true;
    const struct scripted *a = &script->answers.items[script->next++];
    if (!a->op || !strcmp(a->op->domain, asked)) return script_apply(a, vm);
    char text[160];
    snprintf(text, sizeof text, "answer %zu of the script is for %.40s, the program asks for %.40s",
             script->next, a->op->domain, asked);
    tvmr_vm_fail(vm, text);
    return true;
}
