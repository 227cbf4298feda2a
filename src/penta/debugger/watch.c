/* Watches stop the debugger when something changes: a value of the machine's tree, bytes of its memory, or an
 * expression. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "penta/debugger/watch.h"

enum { MEMORY_MAX = 4096 };

static void value_now(const penta_vm *vm, struct watch *w)
{
    w->now.out.size = 0;
    if (w->expression) {
        penta_value value;
        penta_error err;
        if (penta_vm_eval(vm, w->what, &value, &err))
            writer_bytes(&w->now, &value.as, sizeof value.as);
        else /* A local variable that is not in scope did not change. */
            writer_bytes(&w->now, w->before.out.data, w->before.out.size);
    } else if (w->path) {
        vm_value(vm, w->path, &w->now);
    } else {
        uint8_t byte;
        for (uint64_t i = 0; i < w->length; i++)
            if (penta_vm_peek(vm, w->address + i, &byte, 1)) writer_bytes(&w->now, &byte, 1);
    }
}

/* Tells whether the value is the wanted one, as it is printed or as a number in any form. */
static bool value_is_wanted(const struct watch *w)
{
    char text[40] = "";
    uint64_t a, b;
    penta_bytes now = writer_view(&w->now);
    if (!w->wanted || bytes_equal(now, bytes_of(w->wanted))) return true;
    if (now.size >= sizeof text) return false;
    bytes_copy(text, now);
    return number_parse(text, &a) && number_parse(w->wanted, &b) && a == b;
}

static void watch_keep(struct watch *w)
{
    struct writer old = w->before;
    w->before = w->now;
    w->now = old;
}

void watch_start(const penta_vm *vm, struct watch *w)
{
    value_now(vm, w);
    watch_keep(w);
}

bool watch_changed(const penta_vm *vm, struct watch *w, penta_error *err)
{
    value_now(vm, w);
    writer_ok(&w->now, err);
    bool changed =
        !bytes_equal(writer_view(&w->now), writer_view(&w->before)) && value_is_wanted(w);
    watch_keep(w);
    return changed;
}

bool watch_met(const penta_vm *vm, struct watch *w, penta_error *err)
{
    bool reads = w->reads, writes = w->writes, asks = w->asks;
    w->reads = w->writes = w->asks = false;
    if (w->place != WATCH_ANYWHERE && !reads && !writes && !asks) return false;
    bool changed = (writes || asks || w->place == WATCH_ANYWHERE) && watch_changed(vm, w, err);
    switch (w->kind) {
    case PENTA_POINT_READ: return reads;
    case PENTA_POINT_WRITE: return writes || changed;
    case PENTA_POINT_ACCESS: return reads || writes || changed;
    default: return changed;
    }
}

void watches_start(struct penta_debugger *d)
{
    d->hit = NULL;
    for (size_t i = 0; i < d->watch_count; i++) watch_start(d->session->vm, d->watches[i]);
}

bool watches_met(struct penta_debugger *d)
{
    for (size_t i = 0; i < d->watch_count; i++)
        if (watch_met(d->session->vm, d->watches[i], &d->err) && !d->hit)
            d->hit = d->watches[i]->what;
    return d->hit;
}

struct watch *watch_next(const struct penta_debugger *d, size_t *i)
{
    if (*i < d->watch_count) return d->watches[(*i)++];
    return points_watch_next(d, i);
}

bool watches_want(const struct penta_debugger *d, uint64_t pc)
{
    size_t i = 0;
    for (const struct watch *w; (w = watch_next(d, &i));)
        if (watch_wants(w, pc)) return true;
    return false;
}

void watch_sync(struct penta_debugger *d, const struct watch *w)
{
    for (size_t i = 0; i < w->pc_count; i++) debugger_sync_mark(d, w->pcs[i]);
}

/* Finds how a run must look for accesses to the watches, and which guards the machine gets. */
struct watching watching_start(struct penta_debugger *d)
{
    struct watching g = {0};
    size_t i = 0;
    bool heeds = d->session->vm->engine->heeds_guards;
    for (struct watch *w; (w = watch_next(d, &i));) {
        bool reads = w->kind == PENTA_POINT_READ || w->kind == PENTA_POINT_ACCESS;
        bool writes = w->kind != PENTA_POINT_READ;
        w->reads = w->writes = w->asks = false;
        if (w->place == WATCH_ANYWHERE) g.every_step = true;
        if (w->place != WATCH_ANYWHERE) g.marks = true;
        if (w->place != WATCH_MEMORY || !heeds) continue;
        if (g.count == GUARDS_MAX) { /* Watches without a guard are checked after every step. */
            g.every_step = true;
            w->place = WATCH_ANYWHERE;
            continue;
        }
        g.watches[g.count] = w;
        g.guards[g.count++] = (struct guard){w->at, w->size, reads, writes};
    }
    return g;
}

/* Gives the guards to the machine, or takes them away. The machine has them only while it runs. */
void watching_arm(struct penta_debugger *d, struct watching *g, bool on)
{
    penta_vm *vm = d->session->vm;
    if (!g->count) return;
    if (on) vm->guards.hit = 0;
    vm->guards.list = g->guards;
    vm->guards.count = on ? g->count : 0;
    for (size_t i = 0; !on && i < g->count; i++) {
        if (!(vm->guards.hit >> i & 1) || !watch_in_frame(vm, g->watches[i])) continue;
        g->watches[i]->reads |= g->guards[i].read;
        g->watches[i]->writes |= g->guards[i].write;
    }
    g->hit = !on && vm->guards.hit;
    vm->guards.hit = 0;
}

void watching_note(struct penta_debugger *d, uint64_t pc)
{
    size_t i = 0;
    for (struct watch *w; (w = watch_next(d, &i));) watch_note(d->session->vm, w, pc);
}

void watch_free(struct watch *w)
{
    if (!w) return;
    free(w->what);
    free(w->path);
    free(w->name);
    free(w->pcs);
    writer_free(&w->before);
    writer_free(&w->now);
    free(w);
}

void watches_free(struct penta_debugger *d)
{
    for (size_t i = 0; i < d->watch_count; i++) watch_free(d->watches[i]);
    free(d->watches);
}

/* Recognises the name of a register that is no number. Its part of the tree is watched. */
static bool is_tree_register(const penta_vm *vm, struct watch *w, penta_error *err)
{
    struct writer path = {0}, value = {0};
    writer_print(&path, "/registers/%s", w->what);
    writer_char(&path, 0);
    bool found = !path.failed && vm_value(vm, (const char *)path.out.data, &value);
    writer_free(&value);
    if (!found) {
        writer_free(&path);
        return false;
    }
    *err = (penta_error){0};
    w->path = (char *)path.out.data;
    return true;
}

/* Reads the text of a watch: /PATH, /PATH=VALUE or ADDRESS:LENGTH, else an expression, which must have a value
 * now. */
static bool watch_parse(const penta_vm *vm, struct watch *w, penta_error *err)
{
    const char *what = w->what;
    char *mark = strchr(w->path, *what == '/' ? '=' : ':');
    penta_value value;
    if (mark) *mark++ = 0;
    if (*what == '/') {
        w->wanted = mark;
        return true;
    }
    bool memory = mark && number_parse(w->path, &w->address) && number_parse(mark, &w->length);
    free(w->path);
    w->path = NULL;
    if (!memory) {
        w->expression = penta_vm_eval(vm, what, &value, err);
        return w->expression || is_tree_register(vm, w, err);
    }
    return (w->length && w->length <= MEMORY_MAX) ||
           error_at(err, BASE_OPTION_VALUE, 0, "1 to %d bytes can be watched", MEMORY_MAX);
}

struct watch *watch_new(const penta_vm *vm, penta_point_kind kind, const char *what,
                        penta_error *err)
{
    struct watch *w = calloc(1, sizeof *w);
    if (w) *w = (struct watch){.kind = kind, .what = strdup(what), .path = strdup(what)};
    if (!w || !w->what || !w->path)
        error_at(err, BASE_MEMORY, 0, "no memory for the watch");
    else if (watch_parse(vm, w, err) && watch_find_place(vm, w, err))
        return w;
    watch_free(w);
    return NULL;
}

bool penta_debugger_watch(penta_debugger *d, const char *what, bool on, penta_error *err)
{
    *err = (penta_error){0};
    size_t i = 0;
    while (i < d->watch_count && strcmp(d->watches[i]->what, what)) i++;
    if (!on && i == d->watch_count)
        return error_at(err, BASE_OPTION_VALUE, 0, "'%.40s' is not watched", what);
    if (!on) {
        struct watch *old = d->watches[i];
        d->hit = NULL;
        memmove(&d->watches[i], &d->watches[i + 1], (--d->watch_count - i) * sizeof *d->watches);
        watch_sync(d, old);
        watch_free(old);
        return true;
    }
    if (i < d->watch_count) return true;
    if (!ARRAY_GROW(d->watches, d->watch_capacity, d->watch_count, err)) return false;
    struct watch *new = watch_new(d->session->vm, PENTA_POINT_WATCH, what, err);
    if (!new) return false;
    d->watches[d->watch_count++] = new;
    watch_sync(d, new);
    return true;
}

const char *penta_debugger_watch_at(const penta_debugger *d, size_t i)
{
    return i < d->watch_count ? d->watches[i]->what : NULL;
}

const char *penta_debugger_watch_hit(const penta_debugger *d) { return d->hit; }
