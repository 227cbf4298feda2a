/* Sets breakpoints at lines, functions and instructions, and on data. A request gives all
 * breakpoints of a kind. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "cli/dap/dap.h"

static void remove_group(struct dap *d, enum dap_group group, const char *source)
{
    for (size_t i = d->point_count; i--;) {
        struct dap_point *p = &d->points[i];
        if (p->group != group || (source && strcmp(source, p->source))) continue;
        penta_debugger_point_remove(d->debugger, p->number);
        free(p->source);
        memmove(p, p + 1, (--d->point_count - i) * sizeof *p);
    }
}

/* Reads how many hits to ignore, from N, >= N or > N. */
static bool read_hits(const char *text, uint64_t *ignore, penta_error *err)
{
    uint64_t number;
    const char *at = text + strspn(text, " ");
    bool above = at[0] == '>' && at[1] != '=';
    at += strspn(at, ">= ");
    if (!number_parse(at, &number) || (!number && !above))
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "a hit condition is N, >= N or > N: it stops from that hit on");
    *ignore = above ? number : number - 1;
    return true;
}

static const penta_point *dap_points_added(const struct dap *d, unsigned number)
{
    const penta_point *p;
    for (size_t i = 0; (p = penta_debugger_point_at(d->debugger, i)); i++)
        if (p->number == number) return p;
    return NULL;
}

static void tell_place(struct dap *d, struct json *j, const penta_point *p)
{
    penta_line line;
    dap_reference(j, "instructionReference", p->pc);
    if (!penta_line_at(d->module, p->pc, &line)) return;
    json_uint(j, "line", line.line);
    dap_source_ref(d, j, "source", line.file);
}

/* Adds the point that `item` describes, and tells the client the result. */
static void dap_points_add(struct dap *d, struct json *j, penta_point point, enum dap_group group,
                           const char *source, const struct json_object *item, penta_error err)
{
    unsigned number = 0;
    const char *hits = dap_text(item, "hitCondition"), *condition = dap_text(item, "condition"),
               *log = dap_text(item, "logMessage");
    if (condition && *condition) point.condition = condition;
    if (log && *log) point.log = log;
    point.disabled = d->no_debug;
    bool ok = !err.code && (!hits || !*hits || read_hits(hits, &point.ignore, &err)) &&
              ARRAY_GROW(d->points, d->point_capacity, d->point_count, &err) &&
              penta_debugger_point_add(d->debugger, &point, &number, &err);
    if (ok)
        d->points[d->point_count++] =
            (struct dap_point){number, group, source ? strdup(source) : NULL};
    json_object(j, NULL);
    if (number) json_uint(j, "id", number);
    json_bool(j, "verified", ok);
    if (!ok) json_text(j, "message", err.message);
    if (ok && point.kind == PENTA_POINT_BREAK) tell_place(d, j, dap_points_added(d, number));
    json_end(j);
}

void dap_setBreakpoints(struct dap *d, struct dap_answer *a)
{
    const char *path = dap_text(json_get(a->args, "source"), "path");
    const struct json_object *list = json_get(a->args, "breakpoints");
    if (!path) {
        error_at(&a->err, BASE_OPTION_VALUE, 0, "the source has no path");
        return;
    }
    penta_bytes file = dap_table_file(d, path);
    remove_group(d, DAP_SOURCE, path);
    json_list(a->body, "breakpoints");
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json_object *item = json_item(list, i);
        struct writer what = {0};
        penta_error err = {0};
        writer_bytes(&what, file.data, file.size);
        writer_print(&what, ":%" PRIu64, dap_uint(item, "line", 0));
        writer_char(&what, 0);
        if (!file.size)
            error_at(&err, BASE_NAME_UNKNOWN, 0, "the program has no lines of this file");
        writer_ok(&what, &err);
        dap_points_add(d, a->body, (penta_point){.what = (const char *)what.out.data}, DAP_SOURCE,
                       path, item, err);
        writer_free(&what);
    }
    json_end(a->body);
}

void dap_setFunctionBreakpoints(struct dap *d, struct dap_answer *a)
{
    const struct json_object *list = json_get(a->args, "breakpoints");
    remove_group(d, DAP_FUNCTION, NULL);
    json_list(a->body, "breakpoints");
    for (size_t i = 0; i < json_length(list); i++) {
        const char *name = dap_text(json_item(list, i), "name");
        penta_error err = {0};
        if (!name) error_at(&err, BASE_OPTION_VALUE, 0, "the function has no name");
        dap_points_add(d, a->body, (penta_point){.what = name}, DAP_FUNCTION, NULL,
                       json_item(list, i), err);
    }
    json_end(a->body);
}

void dap_setInstructionBreakpoints(struct dap *d, struct dap_answer *a)
{
    const struct json_object *list = json_get(a->args, "breakpoints");
    remove_group(d, DAP_INSTRUCTION, NULL);
    json_list(a->body, "breakpoints");
    for (size_t i = 0; i < json_length(list); i++) {
        char what[24];
        uint64_t pc = 0;
        penta_error err = {0};
        dap_address(json_item(list, i), "instructionReference", &pc, &err);
        snprintf(what, sizeof what, "%" PRIu64, pc);
        dap_points_add(d, a->body, (penta_point){.what = what}, DAP_INSTRUCTION, NULL,
                       json_item(list, i), err);
    }
    json_end(a->body);
}

/* Answers which data can be watched. The id that the client gets is the text that a watch takes. */
static bool data_id(struct dap *d, const struct json_object *args, struct writer *id,
                    penta_error *err)
{
    uint64_t reference = dap_uint(args, "variablesReference", 0),
             bytes = dap_uint(args, "bytes", 1);
    const char *name = dap_text(args, "name");
    const struct dap_handle *h = dap_handle_of(d, reference);
    uint64_t address, index;
    if (!name) return error_at(err, BASE_OPTION_VALUE, 0, "the argument 'name' is missing");
    if (json_as_bool(json_get(args, "asAddress")) && number_parse(name, &address)) {
        writer_print(id, "0x%" PRIx64 ":%" PRIu64, address, bytes);
    } else if (h && h->shown == DAP_TREE) {
        writer_print(id, "%s/%s", h->path, name);
    } else if (h && h->shown == DAP_ARRAY && number_parse(name, &index) &&
               index < h->array.elements) {
        uint64_t size = h->array.size / h->array.elements;
        writer_print(id, "0x%" PRIx64 ":%" PRIu64, h->array.address + index * size, size);
    } else {
        writer_text(id, name);
    }
    writer_char(id, 0);
    return writer_ok(id, err);
}

/* Finds out whether a watch is possible by making one and removing it again. */
static bool can_watch(struct dap *d, penta_point_kind kind, const char *what, penta_error *err)
{
    unsigned number;
    if (!penta_debugger_point_add(d->debugger, &(penta_point){.kind = kind, .what = what}, &number,
                                  err))
        return false;
    return penta_debugger_point_remove(d->debugger, number);
}

void dap_dataBreakpointInfo(struct dap *d, struct dap_answer *a)
{
    struct writer id = {0};
    penta_error err = {0};
    if (!data_id(d, a->args, &id, &a->err)) {
        writer_free(&id);
        return;
    }
    const char *what = (const char *)id.out.data;
    bool changes = can_watch(d, PENTA_POINT_WATCH, what, &err);
    bool reads = changes && can_watch(d, PENTA_POINT_ACCESS, what, &err);
    if (changes)
        json_text(a->body, "dataId", what);
    else
        json_null(a->body, "dataId");
    json_text(a->body, "description", changes ? what : err.message);
    if (changes) {
        json_list(a->body, "accessTypes");
        json_text(a->body, NULL, "write");
        if (reads) json_text(a->body, NULL, "read");
        if (reads) json_text(a->body, NULL, "readWrite");
        json_end(a->body);
    }
    writer_free(&id);
}

/* Sets watches. Without an access type a watch stops at changes, and so does a watch of writes
 * to anything but a register, a variable or memory. */
void dap_setDataBreakpoints(struct dap *d, struct dap_answer *a)
{
    const struct json_object *list = json_get(a->args, "breakpoints");
    remove_group(d, DAP_DATA, NULL);
    json_list(a->body, "breakpoints");
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json_object *item = json_item(list, i);
        const char *what = dap_text(item, "dataId"), *access = dap_text(item, "accessType");
        penta_error err = {0};
        penta_point point = {.kind = PENTA_POINT_WATCH, .what = what};
        penta_error other;
        if (access && what && !strcmp(access, "write") &&
            can_watch(d, PENTA_POINT_WRITE, what, &other))
            point.kind = PENTA_POINT_WRITE;
        if (access && !strcmp(access, "read")) point.kind = PENTA_POINT_READ;
        if (access && !strcmp(access, "readWrite")) point.kind = PENTA_POINT_ACCESS;
        if (!what) error_at(&err, BASE_OPTION_VALUE, 0, "the data has no id");
        dap_points_add(d, a->body, point, DAP_DATA, NULL, item, err);
    }
    json_end(a->body);
}

struct locations {
    struct json *j;
    penta_bytes file;
    uint64_t from, to;
    uint64_t *lines;
    size_t count, capacity;
};

static void take_line(void *user, const penta_line *line)
{
    struct locations *l = user;
    if (!bytes_equal(line->file, l->file) || line->line < l->from || line->line > l->to) return;
    for (size_t i = 0; i < l->count; i++)
        if (l->lines[i] == line->line) return;
    if (!ARRAY_RESERVE(l->lines, l->capacity, l->count + 1)) return;
    l->lines[l->count++] = line->line;
    json_object(l->j, NULL);
    json_uint(l->j, "line", line->line);
    json_end(l->j);
}

void dap_breakpointLocations(struct dap *d, struct dap_answer *a)
{
    const char *path = dap_text(json_get(a->args, "source"), "path");
    struct locations l = {.j = a->body, .file = path ? dap_table_file(d, path) : (penta_bytes){0}};
    l.from = dap_uint(a->args, "line", 0);
    l.to = dap_uint(a->args, "endLine", l.from);
    json_list(a->body, "breakpoints");
    if (l.file.size) penta_lines(d->module, take_line, &l);
    json_end(a->body);
    free(l.lines);
}
