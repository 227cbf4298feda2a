/* Writes the parts of a format for Kaitai Struct (KSY): a type for each record and structure. Parts with a place become
 * instances, all others are read in sequence. It relies on parts.def naming only parts that come before. */
#include <string.h>
#include "penta/spec/spec.h"

static const struct spec_words words = {.and = "and",
                                        .or = "or",
                                        .parent = "_parent",
                                        .here = "_io.pos",
                                        .end = "_io.size",
                                        .snake = true};

static void ksy_indent(struct spec *s, unsigned depth) { writer_fill(s->out, ' ', 2 * depth); }

/* Writes a value in double quotes, which is what YAML takes literally but for two characters. */
static void ksy_quoted(struct writer *out, const char *text)
{
    writer_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') writer_char(out, '\\');
        writer_char(out, *text);
    }
    writer_char(out, '"');
}

static void ksy_doc(struct spec *s, unsigned depth, const char *text)
{
    if (!text || !*text) return;
    ksy_indent(s, depth);
    writer_text(s->out, "doc: ");
    ksy_quoted(s->out, text);
    writer_char(s->out, '\n');
}

static void ksy_expression(struct spec *s, unsigned depth, const char *key, const char *owner,
                           const char *text)
{
    ksy_indent(s, depth);
    writer_print(s->out, "%s: '", key);
    spec_expression(s, owner, text, &words);
    writer_text(s->out, "'\n");
}

static void ksy_fields(struct spec *s, const struct layout_record *record, unsigned depth)
{
    for (const struct layout_field *f = record->fields; f->name; f++) {
        ksy_indent(s, depth);
        writer_text(s->out, "- id: ");
        spec_snake(s->out, f->name);
        writer_char(s->out, '\n');
        ksy_indent(s, depth + 1);
        if (f->kind == PENTA_RAW)
            writer_print(s->out, "size: %u\n", (unsigned)f->size);
        else
            writer_print(s->out, "type: %c%u\n", f->kind == PENTA_SINT ? 's' : 'u',
                         (unsigned)f->size);
        ksy_doc(s, depth + 1, f->meaning);
    }
}

static void ksy_type(struct spec *s, const struct layout_part *part, unsigned depth)
{
    enum spec_type type = spec_type_of(s, part);
    const char *name = spec_type_name(part, NULL);
    if (type == SPEC_BYTES || type == SPEC_TEXT) {
        ksy_expression(s, depth, "size", part->owner, part->count);
        return;
    }
    ksy_indent(s, depth);
    if (type == SPEC_NUMBER)
        writer_print(s->out, "type: u%d\n",
                     !strcmp(name, "u8")    ? 1
                     : !strcmp(name, "u16") ? 2
                     : !strcmp(name, "u32") ? 4
                                            : 8);
    else
        writer_print(s->out, "type: %s\n", name);
    if (!*part->count) return;
    ksy_indent(s, depth);
    if (!spec_while(part)) {
        writer_text(s->out, "repeat: expr\n");
        ksy_expression(s, depth, "repeat-expr", part->owner, part->count);
        return;
    }
    writer_text(s->out, "repeat: until\n");
    ksy_indent(s, depth);
    writer_text(s->out, "repeat-until: 'not (");
    spec_expression(s, part->owner, spec_while(part), &words);
    writer_text(s->out, ")'\n");
}

/* A repeated type is read once before its condition is asked, so in a sequence the condition is asked before, too. */
static void ksy_condition(struct spec *s, const struct layout_part *part, unsigned depth)
{
    const char *repeated = *part->place ? NULL : spec_while(part);
    if (!*part->condition && !repeated) return;
    ksy_indent(s, depth);
    writer_text(s->out, "if: '");
    spec_expression(s, part->owner, *part->condition ? part->condition : repeated, &words);
    if (*part->condition && repeated) {
        writer_text(s->out, " and ");
        spec_expression(s, part->owner, repeated, &words);
    }
    writer_text(s->out, "'\n");
}

/* The sequence, or the instances, of a structure. */
static void ksy_parts(struct spec *s, const char *owner, bool placed, unsigned depth)
{
    const struct layout_part *p;
    bool any = false;
    for (size_t i = 0; (p = spec_part_at(s, owner, i)); i++) {
        if ((*p->place != 0) != placed) continue;
        if (!any) {
            ksy_indent(s, depth);
            writer_text(s->out, placed ? "instances:\n" : "seq:\n");
        }
        any = true;
        ksy_indent(s, depth + 1);
        if (!placed) writer_text(s->out, "- id: ");
        spec_snake(s->out, p->name);
        writer_text(s->out, placed ? ":\n" : "\n");
        if (placed) ksy_expression(s, depth + 2, "pos", owner, p->place);
        ksy_type(s, p, depth + 2);
        ksy_condition(s, p, depth + 2);
        ksy_doc(s, depth + 2, p->meaning);
    }
}

static void ksy_structure(struct spec *s, const struct layout_part *structure)
{
    writer_print(s->out, "  %s:\n", structure->name);
    ksy_doc(s, 2, structure->meaning);
    ksy_parts(s, structure->name, false, 2);
    ksy_parts(s, structure->name, true, 2);
}

static void ksy_record(struct spec *s, const struct layout_record *record)
{
    writer_print(s->out, "  %s:\n", record->name);
    if (spec_record_is_big(s, record->name)) writer_text(s->out, "    meta:\n      endian: be\n");
    writer_text(s->out, "    seq:\n");
    ksy_fields(s, record, 3);
}

/* Numbers whose value is made of their bytes, as types with an instance `value`. */
static void ksy_computed(struct spec *s)
{
    static const struct {
        const char *name, *text;
    } types[] = {
        {"u24", "    seq:\n"
                "      - id: low\n        type: u2\n"
                "      - id: high\n        type: u1\n"
                "    instances:\n"
                "      value:\n        value: 'low + high * 65536'\n"},
        {"prefix",
         "    doc: \"as many bytes follow as the first begins with ones, at most four\"\n"
         "    seq:\n"
         "      - id: first\n        type: u1\n"
         "      - id: rest\n        type: u1\n        repeat: expr\n"
         "        repeat-expr: 'first < 0x80 ? 0 : first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < "
         "0xf0 ? 3 : 4'\n"
         "    instances:\n"
         "      value:\n"
         "        value: 'first < 0x80 ? first : first < 0xc0 ? (first & 63) * 256 + rest[0] : "
         "first < 0xe0 ? (first & 31) * 65536 + rest[0] + rest[1] * 256 : "
         "first < 0xf0 ? (first & 15) * 16777216 + rest[0] + rest[1] * 256 + rest[2] * 65536 : "
         "(rest[0] | first & 7) + rest[1] * 256 + rest[2] * 65536 + rest[3] * 16777216'\n"},
        {"leb",
         "    doc: \"seven bits a byte, the lowest first; the last byte is below 0x80\"\n"
         "    seq:\n"
         "      - id: groups\n        type: u1\n        repeat: until\n        repeat-until: '_ < "
         "0x80'\n"
         "    instances:\n"
         "      value:\n"
         "        value: '(groups[0] & 127) + (groups.size > 1 ? (groups[1] & 127) * 128 : 0) + "
         "(groups.size > 2 ? (groups[2] & 127) * 16384 : 0) + "
         "(groups.size > 3 ? (groups[3] & 127) * 2097152 : 0) + "
         "(groups.size > 4 ? (groups[4] & 127) * 268435456 : 0)'\n"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (const struct layout_part *p = s->driver->layout; p->name; p++)
            if (p->owner && !strcmp(p->type, types[i].name)) {
                writer_print(s->out, "  %s:\n%s", types[i].name, types[i].text);
                break;
            }
}

static void ksy_order(struct spec *s, const struct layout_part *root)
{
    if (*root->order)
        writer_text(s->out, "  endian:\n    switch-on: order_ahead\n    cases:\n      0: le\n      "
                            "1: be\n      _: le\n");
    else
        writer_text(s->out, "  endian: le\n");
}

void spec_ksy(struct spec *s)
{
    const struct layout_part *root = spec_structure_at(s, 0), *p;
    writer_print(s->out, "meta:\n  id: %s\n  title: ", s->driver->name);
    ksy_quoted(s->out, s->driver->title);
    writer_char(s->out, '\n');
    ksy_order(s, root);
    writer_print(s->out, "doc: \"Written by penta %s from its tables.\"\n", penta_version());
    ksy_parts(s, root->name, false, 0);
    ksy_parts(s, root->name, true, 0);
    if (*root->order)
        writer_print(s->out,
                     "  order_ahead:\n    pos: %s\n    type: u1\n    doc: \"0 little, 1 big\"\n",
                     root->order);
    writer_text(s->out, "types:\n");
    for (size_t i = 1; (p = spec_structure_at(s, i)); i++) ksy_structure(s, p);
    for (const struct layout_record *r = s->driver->records; r && r->name; r++) ksy_record(s, r);
    ksy_computed(s);
}
