/* Prints every byte of the file in order, in the colour of its leaf, with the name and value of the leaf. */
#include <inttypes.h>
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "base/sanitize.h"
#include "core/views/views.h"

enum { ROW = 16 };

static bool hex_enter(void *user, const penta_node *node)
{
    struct hex_view *h = user;
    path_enter(&h->path, node->name, node->list);
    if (h->decoded || node->decoded) {
        h->decoded++;
        return true;
    }
    struct writer path = {0};
    path_print(&h->path, NULL, &path);
    writer_text(h->out, h->palette->dim);
    writer_safe(h->out, writer_view(&path));
    writer_print(h->out, "%s\n", h->palette->off);
    h->out->failed |= path.failed;
    writer_free(&path);
    return true;
}

static void hex_view_row(struct hex_view *h, uint64_t offset, penta_bytes bytes,
                         const penta_field *field)
{
    const struct palette *p = h->palette;
    const char *colour = p->cycle[h->colour % 6], *by = NULL;
    uint64_t end;
    if (h->protection) {
        by = h->protection(h->module, offset, &end);
        unsigned sum = 0; /* The sum depends only on the text, so that the same words have the
                           * same colour. */
        for (const char *c = by; *c; c++) sum = sum * 31 + (unsigned char)*c;
        colour = p->cycle[sum % 6];
    }
    writer_print(h->out, "%s%08" PRIx64 "%s  %s", p->dim, offset, p->off, colour);
    for (size_t i = 0; i < bytes.size; i++) {
        writer_char(h->out, "0123456789abcdef"[bytes.data[i] >> 4]);
        writer_char(h->out, "0123456789abcdef"[bytes.data[i] & 15]);
        writer_char(h->out, ' ');
    }
    writer_print(h->out, "%s%*s", p->off, (int)(ROW - bytes.size) * 3, "");
    if (by) writer_print(h->out, " %s[%s]%s", colour, by, p->off);
    if (field) {
        writer_char(h->out, ' ');
        view_styled(h->out, colour, field->name, p);
        if (field->kind != PENTA_RAW) {
            writer_text(h->out, " = ");
            view_value(h->out, field, 0);
        } else {
            writer_print(h->out, ", %zu byte%s", field->as.bytes.size,
                         field->as.bytes.size == 1 ? "" : "s");
        }
        view_note(h->out, field, p);
    }
    writer_char(h->out, '\n');
}

static void hex_field(void *user, const penta_field *field)
{
    struct hex_view *h = user;
    path_leaf(&h->path);
    if (field->name == field_incomplete) h->out->failed = true;
    if (h->decoded || !field->size) return;
    penta_bytes left = bytes_slice(h->file, (size_t)field->offset, (size_t)field->size);
    for (uint64_t at = 0, step; at < field->size; at += step) {
        uint64_t end = UINT64_MAX;
        step = ROW;
        if (h->protection) h->protection(h->module, field->offset + at, &end);
        if (end - field->offset - at < step) step = end - field->offset - at;
        hex_view_row(h, field->offset + at, bytes_slice(left, (size_t)at, (size_t)step),
                     at ? NULL : field);
    }
    h->colour++;
}

static void hex_leave(void *user, const penta_node *node)
{
    struct hex_view *h = user;
    (void)node;
    path_leave(&h->path);
    if (h->decoded) h->decoded--;
}

penta_visitor hex_visitor(struct hex_view *view)
{
    return (penta_visitor){view, hex_enter, hex_field, hex_leave};
}
