/* Implements points: breakpoints and watches with conditions, counts and messages. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "penta/debugger/debugger_struct.h"

struct point {
    penta_point info;    /* The strings belong to the point. */
    struct watch *watch; /* the watch of a point that is a watch, else NULL */
};

static void point_free(struct point *p)
{
    free((char *)p->info.what);
    free((char *)p->info.condition);
    free((char *)p->info.log);
    watch_free(p->watch);
}

void points_free(struct penta_debugger *d)
{
    for (size_t i = 0; i < d->point_count; i++) point_free(&d->points[i]);
    free(d->points);
}

static struct point *points_find(const struct penta_debugger *d, unsigned number)
{
    for (size_t i = 0; i < d->point_count; i++)
        if (d->points[i].info.number == number) return &d->points[i];
    return NULL;
}

bool points_want(const struct penta_debugger *d, uint64_t pc)
{
    for (size_t i = 0; i < d->point_count; i++) {
        const penta_point *p = &d->points[i].info;
        if (p->kind == PENTA_POINT_BREAK && p->pc == pc && !p->disabled) return true;
    }
    return false;
}

struct watch *points_watch_next(const struct penta_debugger *d, size_t *i)
{
    while (*i - d->watch_count < d->point_count) {
        const struct point *p = &d->points[(*i)++ - d->watch_count];
        if (p->watch && !p->info.disabled) return p->watch;
    }
    return NULL;
}

static void points_tell(struct penta_debugger *d, const struct point *p, penta_bytes text)
{
    if (d->log && !d->quiet) d->log(d->log_user, p->info.number, text);
}

/* Prints the message of a point. Each {EXPRESSION} in it is replaced by its value, or by the reason why it has
 * none. */
static void print_log(struct penta_debugger *d, const struct point *p)
{
    struct writer out = {0};
    const char *at = p->info.log;
    for (const char *open; (open = strchr(at, '{')); at++) {
        const char *close = strchr(open, '}');
        if (!close) break;
        writer_bytes(&out, at, (size_t)(open - at));
        char *expression = strndup(open + 1, (size_t)(close - open - 1));
        penta_value value;
        penta_error err = {0};
        penta_buffer text = {0};
        if (expression && penta_vm_eval(d->session->vm, expression, &value, &err) &&
            penta_value_text(&value, 0, &text))
            writer_bytes(&out, text.data, text.size);
        else
            writer_print(&out, "{%s}", err.message);
        penta_buffer_free(&text);
        free(expression);
        at = close;
    }
    writer_text(&out, at);
    points_tell(d, p, writer_view(&out));
    writer_free(&out);
}

/* Notes that the point was reached. Tells whether the run stops. */
static bool points_reached(struct penta_debugger *d, struct point *p)
{
    penta_value value = {.kind = PENTA_BOOL, .as.u = 1};
    penta_error err = {0};
    if (p->info.condition && !penta_vm_eval(d->session->vm, p->info.condition, &value, &err))
        points_tell(d, p, bytes_of(err.message));
    if (!err.code && !penta_value_is_true(&value)) return false;
    if (!d->quiet) p->info.hits++;
    if (p->info.hits <= p->info.ignore && !d->quiet) return false;
    if (p->info.log) {
        print_log(d, p);
        return false;
    }
    if (!d->stopped_by) d->stopped_by = p->info.number;
    return true;
}

void points_start(struct penta_debugger *d)
{
    d->stopped_by = 0;
    for (size_t i = 0; i < d->point_count; i++)
        if (d->points[i].watch) watch_start(d->session->vm, d->points[i].watch);
}

bool points_stop_at(struct penta_debugger *d, uint64_t pc)
{
    bool stops = false;
    for (size_t i = 0; i < d->point_count; i++) {
        struct point *p = &d->points[i];
        if (p->info.kind == PENTA_POINT_BREAK && p->info.pc == pc && !p->info.disabled)
            stops |= points_reached(d, p);
    }
    return stops;
}

bool points_met(struct penta_debugger *d)
{
    bool stops = false;
    for (size_t i = 0; i < d->point_count; i++) {
        struct point *p = &d->points[i];
        if (p->watch && !p->info.disabled && watch_met(d->session->vm, p->watch, &d->err))
            stops |= points_reached(d, p);
    }
    return stops;
}

void points_ended(struct penta_debugger *d)
{
    const struct point *p = points_find(d, d->stopped_by);
    if (p && p->info.once) penta_debugger_point_remove(d, p->info.number);
}

static char *points_copy(const char *text, penta_error *err)
{
    char *out = text ? strdup(text) : NULL;
    if (text && !out) error_at(err, BASE_MEMORY, 0, "no memory for the point");
    return out;
}

/* Checks the syntax of a condition. Its names may be valid only where the point is, so they are not checked. */
static bool condition_reads(struct penta_debugger *d, const char *condition, penta_error *err)
{
    penta_value value;
    penta_error found = {0};
    if (!condition || penta_vm_eval(d->session->vm, condition, &value, &found)) return true;
    if (found.code != BASE_SYNTAX) return true;
    *err = found;
    return false;
}

/* Gives the machine the marks that the point needs. */
static void points_sync(struct penta_debugger *d, const struct point *p)
{
    if (p->watch)
        watch_sync(d, p->watch);
    else
        debugger_sync_mark(d, p->info.pc);
}

/* Tells whether an instruction of the program begins at pc. Bytes in the middle of an
 * instruction may also look like one, so the instructions of the program decide. */
static bool insn_begins(const penta_module *module, uint64_t pc)
{
    const struct driver *driver = module->driver;
    struct writer text = {0};
    uint64_t offset, start = pc;
    bool there = (driver->print_at && driver->print_at(module, pc, &text)) || text.failed;
    writer_free(&text);
    if (driver->offset_of && driver->pc_of && driver->offset_of(module, pc, &offset))
        driver->pc_of(module, offset, &start);
    return there && start == pc;
}

static bool open_point(struct penta_debugger *d, struct point *p, penta_error *err)
{
    if (p->info.kind != PENTA_POINT_BREAK) {
        p->watch = watch_new(d->session->vm, p->info.kind, p->info.what, err);
        return p->watch;
    }
    if (!penta_find_code(d->session->module, p->info.what, &p->info.pc, err)) return false;
    if (penta_vm_mark(d->session->vm, p->info.pc, true)) return true;
    if (insn_begins(d->session->module, p->info.pc))
        return error_at(err, BASE_MEMORY, 0, "no memory for a breakpoint");
    return error_at(err, BASE_OPTION_VALUE, 0, "no instruction at %llu",
                    (unsigned long long)p->info.pc);
}

bool penta_debugger_point_add(penta_debugger *d, const penta_point *point, unsigned *number,
                              penta_error *err)
{
    *err = (penta_error){0};
    *number = 0;
    if (!ARRAY_GROW(d->points, d->point_capacity, d->point_count, err)) return false;
    if (!condition_reads(d, point->condition, err)) return false;
    struct point new = {.info = *point};
    new.info.what = points_copy(point->what, err);
    new.info.condition = points_copy(point->condition, err);
    new.info.log = points_copy(point->log, err);
    new.info.hits = 0;
    if (err->code || !open_point(d, &new, err)) {
        point_free(&new);
        return false;
    }
    *number = new.info.number = ++d->last_number;
    d->points[d->point_count++] = new;
    points_sync(d, &d->points[d->point_count - 1]);
    return true;
}

bool penta_debugger_point_change(penta_debugger *d, const penta_point *point, penta_error *err)
{
    *err = (penta_error){0};
    struct point *p = points_find(d, point->number);
    if (!p) return error_at(err, BASE_OPTION_VALUE, 0, "no point has the number %u", point->number);
    if (!condition_reads(d, point->condition, err)) return false;
    char *condition = points_copy(point->condition, err), *log = points_copy(point->log, err);
    if (err->code) {
        free(condition);
        free(log);
        return false;
    }
    free((char *)p->info.condition);
    free((char *)p->info.log);
    p->info.condition = condition;
    p->info.log = log;
    p->info.ignore = point->ignore;
    p->info.disabled = point->disabled;
    points_sync(d, p);
    return true;
}

bool penta_debugger_point_remove(penta_debugger *d, unsigned number)
{
    struct point *p = points_find(d, number);
    if (!p) return false;
    struct point old = *p;
    size_t i = (size_t)(p - d->points);
    memmove(p, p + 1, (--d->point_count - i) * sizeof *p);
    points_sync(d, &old);
    point_free(&old);
    return true;
}

const penta_point *penta_debugger_point_at(const penta_debugger *d, size_t i)
{
    return i < d->point_count ? &d->points[i].info : NULL;
}

unsigned penta_debugger_point_hit(const penta_debugger *d) { return d->stopped_by; }

void penta_debugger_on_log(penta_debugger *d, penta_log_report *report, void *user)
{
    d->log = report;
    d->log_user = user;
}
