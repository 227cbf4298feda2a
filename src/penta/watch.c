/* Watches: values of the machine's tree, bytes of its memory, or expressions, that stop the debugger
 * when they change. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "penta/debugger_struct.h"

enum { MEMORY_MAX = 4096 };

struct watch {
    char *what;         /* as it was given */
    bool expression;    /* what is one */
    char *path;         /* in a copy, ended before the '='; NULL: memory */
    const char *wanted; /* the value after '=', or NULL: any change */
    uint64_t address, length;
    struct writer before, now; /* the value as text, or the bytes */
};

/* ---- values ---- */

static void value_now(const penta_vm *vm, struct watch *w)
{
    w->now.out.size = 0;
    if (w->expression) {
        penta_value value;
        penta_error err;
        if (penta_vm_eval(vm, w->what, &value, &err))
            writer_bytes(&w->now, &value.as, sizeof value.as);
        else /* a local that is not in scope has not changed */
            writer_bytes(&w->now, w->before.out.data, w->before.out.size);
    } else if (w->path) {
        vm_value(vm, w->path, &w->now);
    } else {
        uint8_t byte;
        for (uint64_t i = 0; i < w->length; i++)
            if (penta_vm_peek(vm, w->address + i, &byte, 1)) writer_bytes(&w->now, &byte, 1);
    }
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

void watch_start(const penta_vm *vm, struct watch *w)
{
    value_now(vm, w);
    keep(w);
}

bool watch_changed(const penta_vm *vm, struct watch *w, penta_error *err)
{
    value_now(vm, w);
    writer_ok(&w->now, err);
    bool changed = !bytes_equal(writer_view(&w->now), writer_view(&w->before)) && is_wanted(w);
    keep(w);
    return changed;
}

void watches_start(struct penta_debugger *d)
{
    d->hit = NULL;
    for (size_t i = 0; i < d->watch_count; i++) watch_start(d->session->vm, d->watches[i]);
}

bool watches_changed(struct penta_debugger *d)
{
    for (size_t i = 0; i < d->watch_count; i++)
        if (watch_changed(d->session->vm, d->watches[i], &d->err) && !d->hit)
            d->hit = d->watches[i]->what;
    return d->hit;
}

/* ---- the list ---- */

void watch_free(struct watch *w)
{
    if (!w) return;
    free(w->what);
    free(w->path);
    writer_free(&w->before);
    writer_free(&w->now);
    free(w);
}

void watches_free(struct penta_debugger *d)
{
    for (size_t i = 0; i < d->watch_count; i++) watch_free(d->watches[i]);
    free(d->watches);
}

/* /PATH, /PATH=VALUE, ADDRESS:LENGTH; else an expression, which must have a value now. */
static bool parse(const penta_vm *vm, struct watch *w, penta_error *err)
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
        w->expression = true;
        return penta_vm_eval(vm, what, &value, err);
    }
    return (w->length && w->length <= MEMORY_MAX) ||
           error_at(err, BASE_OPTION_VALUE, 0, "1 to %d bytes can be watched", MEMORY_MAX);
}

struct watch *watch_new(const penta_vm *vm, const char *what, penta_error *err)
{
    struct watch *w = calloc(1, sizeof *w);
    if (w) *w = (struct watch){.what = strdup(what), .path = strdup(what)};
    if (!w || !w->what || !w->path)
        error_at(err, BASE_MEMORY, 0, "no memory for the watch");
    else if (parse(vm, w, err))
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
        d->hit = NULL;
        watch_free(d->watches[i]);
        memmove(&d->watches[i], &d->watches[i + 1], (--d->watch_count - i) * sizeof *d->watches);
        return true;
    }
    if (i < d->watch_count) return true;
    if (!ARRAY_GROW(d->watches, d->watch_capacity, d->watch_count, err)) return false;
    struct watch *new = watch_new(d->session->vm, what, err);
    if (new) d->watches[d->watch_count++] = new;
    return new;
}

const char *penta_debugger_watch_at(const penta_debugger *d, size_t i)
{
    return i < d->watch_count ? d->watches[i]->what : NULL;
}

const char *penta_debugger_hit(const penta_debugger *d) { return d->hit; }
