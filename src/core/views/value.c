/* How one value reads, and the colours of all views. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "core/views/views.h"

const struct palette palette_plain = {"", "", "", "", "", "",
                                      "", "", "", "", "", {"", "", "", "", "", ""}};

void palette_marked(struct marked_palette *m, const char *mark)
{
    struct palette *p = &m->palette;
    const struct {
        const char **style, *code;
    } styles[PALETTE_STYLES] = {{&p->off, "0"},       {&p->dim, "2"},        {&p->bold, "1"},
                                {&p->name, "36"},     {&p->value, "32"},     {&p->note, "2"},
                                {&p->error, "1;31"},  {&p->warning, "1;33"}, {&p->reg, "34"},
                                {&p->label, "33"},    {&p->directive, "35"}, {&p->cycle[0], "36"},
                                {&p->cycle[1], "33"}, {&p->cycle[2], "32"},  {&p->cycle[3], "35"},
                                {&p->cycle[4], "34"}, {&p->cycle[5], "31"}};
    for (size_t i = 0; i < PALETTE_STYLES; i++) {
        snprintf(m->text[i], sizeof m->text[i], "\033%s[%sm", mark, styles[i].code);
        *styles[i].style = m->text[i];
    }
}

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

void view_json_value(struct json *j, const char *key, const penta_field *field)
{
    switch (field->kind) {
    case PENTA_UINT: json_uint(j, key, field->as.u); break;
    case PENTA_WORD: json_word(j, key, field->as.u); break;
    case PENTA_SINT: json_sint(j, key, field->as.i); break;
    case PENTA_FLOAT: json_float(j, key, field->as.f); break;
    case PENTA_BOOL: json_bool(j, key, field->as.u != 0); break;
    case PENTA_TEXT: json_string(j, key, field->as.bytes); break;
    case PENTA_RAW: json_hex(j, key, field->as.bytes); break;
    }
}
