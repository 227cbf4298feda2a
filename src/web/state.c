/* Answers the calls about a stopped machine: its state with what changed, memory, frames,
 * variables, expressions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "web/web.h"

enum { ITEMS_MAX = 256, BYTES_MAX = 1024, PATH_MAX_BYTES = 512, DEPTH_MAX = 24 };

struct value { /* The hashes of a path and of its value. */
    uint64_t path, value;
};

struct web_values {
    struct value *items; /* in the order of paths when the list is complete */
    size_t count, capacity;
};

void web_values_free(struct web_values *v)
{
    if (!v) return;
    free(v->items);
    free(v);
}

struct showing {
    struct json *j;
    penta_visitor next;
    const struct web_values *before;
    struct web_values *now;
    struct writer changed; /* the paths that changed, each with a zero byte at its end */
    char path[PATH_MAX_BYTES];
    size_t path_size, before_path[DEPTH_MAX];
    uint64_t children[DEPTH_MAX];
    bool list[DEPTH_MAX];
    unsigned depth;
    bool in_memory;
    uint64_t runs, runs_max, top;
};

static uint64_t state_hash(uint64_t h, const void *data, size_t size) /* The hash is FNV-1a. */
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static size_t path_add(struct showing *s, const char *name)
{
    size_t before = s->path_size, left = sizeof s->path - before;
    bool item = s->depth && s->list[s->depth - 1];
    uint64_t index = s->depth ? s->children[s->depth - 1]++ : s->top++;
    int n = item ? snprintf(s->path + before, left, "/%s[%llu]", name, (unsigned long long)index)
                 : snprintf(s->path + before, left, "/%s", name);
    if (n > 0) s->path_size += (size_t)n < left ? (size_t)n : left - 1;
    return before;
}

static void path_cut(struct showing *s, size_t size)
{
    s->path_size = size;
    s->path[size] = 0;
}

static bool show_enter(void *user, const penta_node *node)
{
    struct showing *s = user;
    if (s->depth == DEPTH_MAX) return false;
    if (!s->depth) s->in_memory = !strcmp(node->name, "memory");
    if (s->in_memory && s->depth == 1 && s->runs++ >= s->runs_max) return false;
    if (node->items && *node->items > ITEMS_MAX) *node->items = ITEMS_MAX;
    size_t before = path_add(s, node->name);
    s->before_path[s->depth] = before;
    s->children[s->depth] = 0;
    s->list[s->depth++] = node->list;
    return s->next.enter(s->next.user, node);
}

/* Tells whether the value differs from the one in the state before. */
static bool is_new(const struct showing *s, const struct value *v)
{
    size_t i;
    const struct web_values *b = s->before;
    if (!b) return false;
    ARRAY_SEARCH(i, 0, b->count, b->items[i].path >= v->path);
    return i == b->count || b->items[i].path != v->path || b->items[i].value != v->value;
}

static void state_note(struct showing *s, const penta_field *field)
{
    bool bytes = field->kind == PENTA_TEXT || field->kind == PENTA_RAW;
    struct value v = {state_hash(UINT64_C(0xcbf29ce484222325), s->path, s->path_size),
                      bytes ? state_hash(1, field->as.bytes.data, field->as.bytes.size)
                            : state_hash(1, &field->as.u, sizeof field->as.u)};
    struct web_values *now = s->now;
    if (ARRAY_RESERVE(now->items, now->capacity, now->count + 1)) now->items[now->count++] = v;
    if (is_new(s, &v)) writer_bytes(&s->changed, s->path, s->path_size + 1);
}

static void show_field(void *user, const penta_field *field)
{
    struct showing *s = user;
    size_t before = path_add(s, field->name);
    penta_field shown = *field;
    if (!s->in_memory || !s->depth) state_note(s, field);
    if ((shown.kind == PENTA_TEXT || shown.kind == PENTA_RAW) && shown.as.bytes.size > BYTES_MAX)
        shown.as.bytes.size = BYTES_MAX;
    s->next.field(s->next.user, &shown);
    path_cut(s, before);
}

static void show_leave(void *user, const penta_node *node)
{
    struct showing *s = user;
    path_cut(s, s->before_path[--s->depth]);
    s->next.leave(s->next.user, node);
}

static int value_order(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return (x->path > y->path) - (x->path < y->path);
}

void web_state(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    struct showing *s = m ? calloc(1, sizeof *s) : NULL;
    struct web_values *now = s ? calloc(1, sizeof *now) : NULL;
    if (m && !now) error_at(&c->err, BASE_MEMORY, 0, "no memory for the state");
    if (!now) {
        free(s);
        return;
    }
    *s = (struct showing){.j = c->j,
                          .next = json_state_visitor(c->j),
                          .before = m->before,
                          .now = now,
                          .runs_max = web_uint(c, "memory", 8)};
    penta_visitor visitor = {s, show_enter, show_field, show_leave};
    json_uint(c->j, "steps", penta_session_steps(m->session));
    json_uint(c->j, "pc", m->stop.pc);
    json_object(c->j, "state");
    penta_vm_describe(penta_session_vm(m->session), &visitor);
    json_end(c->j);
    json_uint(c->j, "runs", s->runs); /* The number counts all runs of changed memory, shown or
                                       * not. */
    json_list(c->j, "changed");
    for (size_t at = 0; at < s->changed.out.size && !s->changed.failed;) {
        const char *path = (const char *)s->changed.out.data + at;
        json_text(c->j, NULL, path);
        at += strlen(path) + 1;
    }
    json_end(c->j);
    if (now->count) qsort(now->items, now->count, sizeof *now->items, value_order);
    web_values_free(m->before);
    m->before = now;
    writer_free(&s->changed);
    free(s);
}

void web_memory(struct web_call *c)
{
    enum { MOST = 16 << 20 };
    const struct web_machine *m = web_machine_of(c);
    uint64_t address = web_uint(c, "address", 0), length = web_uint(c, "length", 0);
    if (!m) return;
    if (length > MOST) {
        error_at(&c->err, BASE_LIMIT, 0, "more than %d bytes of memory at once", MOST);
        return;
    }
    writer_fill(c->bytes, 0, (size_t)length);
    bool mapped = !c->bytes->failed && penta_vm_peek(penta_session_vm(m->session), address,
                                                     c->bytes->out.data, (size_t)length);
    json_bool(c->j, "mapped", mapped);
    if (!mapped) c->bytes->out.size = 0;
}

static void write_region(void *user, const penta_region *r)
{
    struct json *j = user;
    json_object(j, NULL);
    json_word(j, "address", r->address);
    json_word(j, "size", r->size);
    json_bool(j, "writable", r->writable);
    json_end(j);
}

void web_map(struct web_call *c)
{
    const struct web_machine *m = web_machine_of(c);
    if (!m) return;
    json_list(c->j, "map");
    penta_vm_regions(penta_session_vm(m->session), write_region, c->j);
    json_end(c->j);
}

void web_frames(struct web_call *c)
{
    enum { MOST = 256 };
    const struct web_machine *m = web_machine_of(c);
    penta_frame frames[MOST];
    if (!m) return;
    size_t count = penta_vm_frames(penta_session_vm(m->session), frames, MOST), row;
    json_list(c->j, "frames");
    for (size_t i = 0; i < count && i < MOST; i++) {
        penta_buffer name = {0};
        json_object(c->j, NULL);
        json_uint(c->j, "pc", frames[i].pc);
        if (penta_name_at(m->of->module, frames[i].pc, &name))
            json_string(c->j, "name", (penta_bytes){name.data, name.size});
        web_source_line(c->j, m->of, frames[i].pc);
        if (web_row_of(m->of, frames[i].pc, &row)) json_uint(c->j, "line", row);
        json_end(c->j);
        penta_buffer_free(&name);
    }
    json_end(c->j);
}

static void write_element(void *user, const penta_child *child)
{
    json_field(user, NULL, &child->value);
}

struct variables {
    const penta_vm *vm;
    struct json *j;
};

static void write_variable(void *user, const penta_variable *v)
{
    static const char *const scopes[] = {"register", "local", "global"};
    const struct variables *all = user;
    struct json *j = all->j;
    penta_error unmapped; /* The elements before an unmapped one are written. */
    json_object(j, NULL);
    json_text(j, "scope", scopes[v->scope]);
    json_text(j, "name", v->value.name);
    json_field(j, "value", &v->value);
    if (v->value.note) json_text(j, "type", v->value.note);
    if (v->in_memory) {
        json_word(j, "address", v->address);
        json_uint(j, "size", v->size);
    }
    if (v->elements) {
        json_uint(j, "total", v->elements);
        json_list(j, "elements");
        penta_vm_elements(all->vm, v, 0, ITEMS_MAX, write_element, j, &unmapped);
        json_end(j);
    }
    json_end(j);
}

void web_variables(struct web_call *c)
{
    const struct web_machine *m = web_machine_of(c);
    if (!m) return;
    json_list(c->j, "variables");
    struct variables all = {penta_session_vm(m->session), c->j};
    penta_vm_variables(all.vm, (size_t)web_uint(c, "frame", 0), write_variable, &all);
    json_end(c->j);
}

void web_evaluate(struct web_call *c)
{
    const struct web_machine *m = web_machine_of(c);
    const char *text = m ? web_need_text(c, "expression") : NULL;
    penta_value value;
    penta_buffer out = {0};
    uint64_t base = web_uint(c, "base", 0);
    if (!text) return;
    if (base && base != 10 && base != 16) {
        error_at(&c->err, BASE_OPTION_VALUE, 0, "the base is 0, 10 or 16");
        return;
    }
    if (!penta_vm_eval(penta_session_vm(m->session), text, &value, &c->err)) return;
    if (penta_value_text(&value, (unsigned)base, &out))
        json_string(c->j, "value", (penta_bytes){out.data, out.size});
    else
        error_at(&c->err, BASE_MEMORY, 0, "no memory for the value");
    penta_buffer_free(&out);
}

void web_set(struct web_call *c)
{
    struct web_machine *m = web_machine_of(c);
    const char *what = m ? web_need_text(c, "what") : NULL;
    const char *text = what ? web_need_text(c, "value") : NULL;
    penta_value value;
    if (text && penta_vm_eval(penta_session_vm(m->session), text, &value, &c->err))
        penta_debugger_set(m->debugger, what, &value, &c->err);
}
