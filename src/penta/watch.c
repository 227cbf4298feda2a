/* Watches: values of the machine's tree, or bytes of its memory, that stop the debugger when they
 * change. Only the nodes above the wanted one are walked. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "core/views/views.h"
#include "penta/debugger_struct.h"

enum { MEMORY_MAX = 4096 };

struct watch {
    char *what;         /* as it was given */
    char *path;         /* in a copy, ended before the '='; NULL: memory */
    const char *wanted; /* the value after '=', or NULL: any change */
    uint64_t address, length;
    struct writer before, now; /* the value as text, or the bytes */
};

/* ---- values ---- */

struct search {
    const char *wanted;
    struct path path;
    unsigned inside; /* levels that are open, the wanted node being the first */
    struct writer scratch, *out;
};

/* 0: elsewhere, 1: above the wanted place, 2: there. */
static int place(struct search *s, const char *leaf)
{
    if (s->inside) return 2;
    s->scratch.out.size = 0;
    path_print(&s->path, leaf, &s->scratch);
    penta_bytes at = writer_view(&s->scratch);
    if (!at.size || strncmp(s->wanted, (const char *)at.data, at.size)) return 0;
    return !s->wanted[at.size] ? 2 : s->wanted[at.size] == '/';
}

static bool search_enter(void *user, const penta_node *node)
{
    struct search *s = user;
    path_enter(&s->path, node->name, node->list);
    int there = place(s, NULL);
    if (there == 2) s->inside++;
    if (!there) path_leave(&s->path);
    return there;
}

static void search_field(void *user, const penta_field *field)
{
    struct search *s = user;
    if (place(s, field->name) == 2) {
        if (s->out->out.size) writer_char(s->out, ' ');
        view_value(s->out, field, SIZE_MAX);
    }
    path_leaf(&s->path);
}

static void search_leave(void *user, const penta_node *node)
{
    struct search *s = user;
    (void)node;
    path_leave(&s->path);
    if (s->inside) s->inside--;
}

static void value_now(const penta_vm *vm, struct watch *w)
{
    w->now.out.size = 0;
    if (!w->path) {
        uint8_t byte;
        for (uint64_t i = 0; i < w->length; i++)
            if (penta_vm_peek(vm, w->address + i, &byte, 1)) writer_bytes(&w->now, &byte, 1);
        return;
    }
    struct search s = {.wanted = w->path, .out = &w->now};
    penta_visitor visitor = {&s, search_enter, search_field, search_leave};
    penta_vm_describe(vm, &visitor);
    writer_free(&s.scratch);
}

/* The wanted value, as it is printed or as a number of any form. */
static bool is_wanted(const struct watch *w)
{
    char text[40] = "";
    uint64_t a, b;
    penta_bytes now = writer_view(&w->now);
    if (!w->wanted || bytes_equal(now, bytes_of(w->wanted))) return true;
    if (now.size >= sizeof text) return false;
    bytes_copy(text, now);
    return number_parse(text, &a) && number_parse(w->wanted, &b) && a == b;
}

static void keep(struct watch *w)
{
    struct writer old = w->before;
    w->before = w->now;
    w->now = old;
}

void watches_start(struct penta_debugger *d)
{
    d->hit = NULL;
    for (size_t i = 0; i < d->watch_count; i++) {
        struct watch *w = &d->watches[i];
        value_now(d->session->vm, w);
        keep(w);
    }
}

bool watches_changed(struct penta_debugger *d)
{
    for (size_t i = 0; i < d->watch_count; i++) {
        struct watch *w = &d->watches[i];
        value_now(d->session->vm, w);
        writer_ok(&w->now, &d->err);
        bool changed = !bytes_equal(writer_view(&w->now), writer_view(&w->before));
        if (changed && !d->hit && is_wanted(w)) d->hit = w->what;
        keep(w);
    }
    return d->hit;
}

/* ---- the list ---- */

static void watch_free(struct watch *w)
{
    free(w->what);
    free(w->path);
    writer_free(&w->before);
    writer_free(&w->now);
}

void watches_free(struct penta_debugger *d)
{
    for (size_t i = 0; i < d->watch_count; i++) watch_free(&d->watches[i]);
    free(d->watches);
}

static bool parse(const char *what, struct watch *w, penta_error *err)
{
    *w = (struct watch){.what = strdup(what), .path = strdup(what)};
    if (!w->what || !w->path) return error_at(err, BASE_MEMORY, 0, "no memory for the watch");
    char *mark = strchr(w->path, *what == '/' ? '=' : ':');
    if (mark) *mark++ = 0;
    if (*what == '/') {
        w->wanted = mark;
        return true;
    }
    bool memory = mark && number_parse(w->path, &w->address) && number_parse(mark, &w->length) &&
                  w->length && w->length <= MEMORY_MAX;
    free(w->path);
    w->path = NULL;
    return memory || error_at(err, BASE_OPTION_VALUE, 0,
                              "'%.40s' is not /PATH, /PATH=VALUE or ADDRESS:LENGTH", what);
}

bool penta_debugger_watch(penta_debugger *d, const char *what, bool on, penta_error *err)
{
    *err = (penta_error){0};
    size_t i = 0;
    while (i < d->watch_count && strcmp(d->watches[i].what, what)) i++;
    if (!on && i == d->watch_count)
        return error_at(err, BASE_OPTION_VALUE, 0, "'%.40s' is not watched", what);
    if (!on) {
        d->hit = NULL;
        watch_free(&d->watches[i]);
        memmove(&d->watches[i], &d->watches[i + 1], (--d->watch_count - i) * sizeof *d->watches);
        return true;
    }
    struct watch new;
    if (i < d->watch_count) return true;
    if (!ARRAY_GROW(d->watches, d->watch_capacity, d->watch_count, err)) return false;
    if (!parse(what, &new, err)) {
        watch_free(&new);
        return false;
    }
    d->watches[d->watch_count++] = new;
    return true;
}

const char *penta_debugger_watch_at(const penta_debugger *d, size_t i)
{
    return i < d->watch_count ? d->watches[i].what : NULL;
}

const char *penta_debugger_hit(const penta_debugger *d) { return d->hit; }
