/* Prints a single value as a person reads it. */
#include <inttypes.h>
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "base/sanitize.h"
#include "core/views/views.h"

void view_styled(struct writer *out, const char *style, const char *name, const struct palette *p)
{
    writer_text(out, style);
    writer_safe_text(out, name);
    writer_text(out, p->off);
}

void view_note(struct writer *out, const penta_field *field, const struct palette *p)
{
    if (!field->note) return;
    writer_text(out, "  ");
    view_styled(out, p->note, field->note, p);
}

void view_value(struct writer *out, const penta_field *field, size_t raw_max)
{
    if (field->name == field_incomplete) out->failed = true;
    switch (field->kind) {
    case PENTA_UINT: writer_dec(out, field->as.u); break;
    case PENTA_WORD: writer_0x(out, field->as.u); break;
    case PENTA_SINT: writer_print(out, "%" PRId64, field->as.i); break;
    case PENTA_FLOAT: writer_print(out, "%.17g", field->as.f); break;
    case PENTA_BOOL: writer_text(out, field->as.u ? "yes" : "no"); break;
    case PENTA_TEXT: writer_safe(out, field->as.bytes); break;
    case PENTA_RAW: {
        penta_bytes shown = bytes_slice(field->as.bytes, 0, raw_max);
        writer_hex(out, shown);
        if (shown.size < field->as.bytes.size)
            writer_print(out, "... (%zu bytes)", field->as.bytes.size);
        break;
    }
    }
}
