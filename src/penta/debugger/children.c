/* Lists what is in a value of a machine: the children of a node of its tree, and the elements of
 * an array in its memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "core/views/path.h"
#include "penta/debug.h"

struct children {
    const char *of;
    struct path path;
    bool inside, found; /* `inside` is set while the walk is in the wanted node. */
    uint64_t at, start, end;
    struct writer text;
    penta_child_report *report;
    void *user;
};

static const char *children_path(struct children *c, const char *leaf)
{
    c->text.out.size = 0;
    path_print(&c->path, leaf, &c->text);
    writer_char(&c->text, 0);
    return c->text.failed ? NULL : (const char *)c->text.out.data;
}

/* Reports a child whose path is the one given. Its name is what follows the path of the wanted node. */
static void children_tell(struct children *c, const char *path, penta_child child)
{
    uint64_t i = c->at++;
    if (!path || i < c->start || i >= c->end) return;
    child.expression = path;
    child.name = path + strlen(c->of) + 1;
    c->report(c->user, &child);
}

static bool children_enter(void *user, const penta_node *node)
{
    struct children *c = user;
    path_enter(&c->path, node->name, node->list);
    const char *path = children_path(c, NULL);
    bool leads = path && c->path.depth <= PATH_DEPTH && !strncmp(c->of, path, strlen(path)) &&
                 (!c->of[strlen(path)] || c->of[strlen(path)] == '/');
    if (c->inside)
        children_tell(c, path,
                      (penta_child){.inner = true,
                                    .list = node->list,
                                    .items = node->items ? *node->items : 0});
    if (c->inside || !leads) {
        path_leave(&c->path);
        return false;
    }
    c->inside = c->found = !c->of[strlen(path)];
    if (c->inside && node->items && *node->items > c->end) *node->items = (size_t)c->end;
    return true;
}

static void children_field(void *user, const penta_field *field)
{
    struct children *c = user;
    if (c->inside) children_tell(c, children_path(c, field->name), (penta_child){.value = *field});
    path_leaf(&c->path);
}

static void children_leave(void *user, const penta_node *node)
{
    struct children *c = user;
    (void)node;
    path_leave(&c->path);
    c->inside = false;
}

static uint64_t range_end(uint64_t start, uint64_t count)
{
    return count > UINT64_MAX - start ? UINT64_MAX : start + count;
}

bool penta_vm_children(const penta_vm *vm, const char *path, uint64_t start, uint64_t count,
                       penta_child_report *report, void *user, penta_error *err)
{
    struct children c = {.of = path,
                         .inside = !*path,
                         .found = !*path,
                         .start = start,
                         .end = range_end(start, count),
                         .report = report,
                         .user = user};
    penta_visitor visitor = {&c, children_enter, children_field, children_leave};
    *err = (penta_error){0};
    penta_vm_describe(vm, &visitor);
    bool ok = writer_ok(&c.text, err);
    writer_free(&c.text);
    if (ok && !c.found)
        return error_at(err, BASE_OPTION_VALUE, 0, "the state has no part '%.60s'", path);
    return ok;
}

bool penta_vm_elements(const penta_vm *vm, const penta_variable *array, uint64_t start,
                       uint64_t count, penta_child_report *report, void *user, penta_error *err)
{
    uint64_t bytes = array->elements ? array->size / array->elements : 0;
    char type = array->value.kind == PENTA_FLOAT  ? 'f'
                : array->value.kind == PENTA_SINT ? 'i'
                                                  : 'u';
    uint64_t end = range_end(start, count);
    *err = (penta_error){0};
    for (uint64_t i = start; i < array->elements && i < end; i++) {
        char expression[48], name[24];
        penta_value value;
        snprintf(name, sizeof name, "%" PRIu64, i);
        snprintf(expression, sizeof expression, "%c%" PRIu64 "[0x%" PRIx64 "]", type, 8 * bytes,
                 array->address + i * bytes);
        if (!penta_vm_eval(vm, expression, &value, err)) return false;
        penta_child child = {.name = name,
                             .expression = expression,
                             .value = {.name = name, .kind = value.kind, .as.u = value.as.u}};
        if (value.kind == PENTA_FLOAT) child.value.as.f = value.as.f;
        report(user, &child);
    }
    return true;
}
