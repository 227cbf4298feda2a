/* Writes values as text, keeps what references stand for, and lists the machine's tree level by
 * level. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "cli/dap/dap.h"

void dap_value_text(struct writer *out, const penta_field *field, bool hex)
{
    enum { SHOWN = 64 };
    penta_buffer text = {0};
    if (field->kind == PENTA_TEXT) {
        writer_bytes(out, field->as.bytes.data, field->as.bytes.size);
    } else if (field->kind == PENTA_RAW) {
        writer_hex(out, bytes_slice(field->as.bytes, 0, SHOWN));
        if (field->as.bytes.size > SHOWN) writer_text(out, "...");
    } else {
        penta_value value = {.kind = field->kind, .as.u = field->as.u};
        if (field->kind == PENTA_FLOAT) value.as.f = field->as.f;
        if (penta_value_text(&value, hex ? 16 : 0, &text)) writer_bytes(out, text.data, text.size);
        penta_buffer_free(&text);
    }
}

uint64_t dap_handle(struct dap *d, struct dap_handle handle)
{
    if (!ARRAY_RESERVE(d->handles, d->handle_capacity, d->handle_count + 1)) {
        free(handle.path);
        return 0;
    }
    d->handles[d->handle_count++] = handle;
    return d->handle_count;
}

const struct dap_handle *dap_handle_of(const struct dap *d, uint64_t reference)
{
    return reference && reference <= d->handle_count ? &d->handles[reference - 1] : NULL;
}

/* Tells whether a node of the tree can be set: not when it has children or is a text. */
static bool can_be_set(const char *path)
{
    return !strcmp(path, "/registers") || !strcmp(path, "/variables");
}

struct telling {
    struct dap *d;
    const char *path;
    bool hex;
    struct json *j;
};

static void tell_child(void *user, const penta_child *c)
{
    const struct telling *t = user;
    struct writer value = {0};
    bool set = can_be_set(t->path), typed = !c->inner && c->value.note && set;
    if (c->inner)
        writer_text(&value, c->list ? "[...]" : "{...}");
    else
        dap_value_text(&value, &c->value, t->hex);
    if (!c->inner && c->value.note && !typed) writer_print(&value, "  %s", c->value.note);
    json_object(t->j, NULL);
    json_text(t->j, "name", c->name);
    json_string(t->j, "value", writer_view(&value));
    json_text(t->j, "evaluateName", c->expression);
    if (typed) json_text(t->j, "type", c->value.note);
    if (!c->inner && !set) {
        json_object(t->j, "presentationHint");
        json_list(t->j, "attributes");
        json_text(t->j, NULL, "readOnly");
        json_end(t->j);
        json_end(t->j);
    }
    struct dap_handle own = {.shown = DAP_TREE, .list = c->list};
    if (c->inner) own.path = strdup(c->expression);
    json_uint(t->j, "variablesReference", own.path ? dap_handle(t->d, own) : 0);
    if (c->items) json_uint(t->j, "indexedVariables", c->items);
    json_end(t->j);
    writer_free(&value);
}

static void count_child(void *user, const penta_child *c)
{
    (void)c;
    *(bool *)user = true;
}

bool dap_has_children(struct dap *d, const char *path)
{
    bool found = false;
    penta_error err;
    penta_vm_children(penta_session_vm(d->session), path, 0, 1, count_child, &found, &err);
    return found;
}

void dap_tree(struct dap *d, const char *path, uint64_t start, uint64_t count, bool hex,
              struct json *j)
{
    penta_error err;
    char *own = strdup(path); /* The path is copied, because the list of handles may grow and
                               * move. */
    struct telling t = {d, own, hex, j};
    if (own)
        penta_vm_children(penta_session_vm(d->session), own, start, count, tell_child, &t, &err);
    free(own);
}
