/* Writes the parts of a format in the pattern language of ImHex: a struct for each record and structure. Types come
 * before their uses, as that language wants it. A parts.def has at most 64 structures. */
#include <string.h>
#include "penta/spec/spec.h"

static const struct spec_words words = {
    .and = "&&", .or = "||", .parent = "parent", .here = "$", .end = "std::mem::size()"};

static void hexpat_comment(struct spec *s, const char *text)
{
    if (*text) writer_print(s->out, " // %s", text);
    writer_char(s->out, '\n');
}

static void hexpat_record(struct spec *s, const struct layout_record *record)
{
    const char *order = spec_record_is_big(s, record->name) ? "be " : "";
    writer_print(s->out, "struct %s_t {\n", record->name);
    for (const struct layout_field *f = record->fields; f->name; f++) {
        if (f->kind == PENTA_RAW)
            writer_print(s->out, "    u8 %s[%u];", f->name, (unsigned)f->size);
        else
            writer_print(s->out, "    %s%c%u %s;", f->size > 1 ? order : "",
                         f->kind == PENTA_SINT ? 's' : 'u', (unsigned)(8 * f->size), f->name);
        hexpat_comment(s, f->meaning);
    }
    writer_text(s->out, "};\n\n");
}

/* Numbers whose value is made of their bytes: structs with a variable `value`. */
static void hexpat_computed(struct spec *s)
{
    static const struct {
        const char *name, *text;
    } types[] = {
        {"u24", "    u16 low;\n    u8 high;\n    u64 value = low + high * 65536;\n"},
        {"prefix",
         "    u8 first; // as many bytes follow as it begins with ones, at most four\n"
         "    u64 value = first;\n"
         "    if (first >= 0xf0) {\n        u32 rest;\n        value = rest | (first & 7);\n"
         "    } else if (first >= 0xe0) {\n        u16 low;\n        u8 high;\n"
         "        value = (first & 15) * 16777216 + high * 65536 + low;\n"
         "    } else if (first >= 0xc0) {\n        u16 rest;\n        value = (first & 31) * 65536 "
         "+ rest;\n"
         "    } else if (first >= 0x80) {\n        u8 rest;\n        value = (first & 63) * 256 + "
         "rest;\n    }\n"},
        {"leb",
         "    u8 group0; // seven bits a byte, the lowest first; the last byte is below 0x80\n"
         "    u64 value = group0 & 127;\n"
         "    if (group0 >= 0x80) {\n        u8 group1;\n        value = value + (group1 & 127) * "
         "128;\n"
         "        if (group1 >= 0x80) {\n            u8 group2;\n            value = value + "
         "(group2 & 127) * 16384;\n"
         "            if (group2 >= 0x80) {\n                u8 group3;\n"
         "                value = value + (group3 & 127) * 2097152;\n"
         "                if (group3 >= 0x80) {\n                    u8 group4;\n"
         "                    value = value + (group4 & 127) * 268435456;\n"
         "                }\n            }\n        }\n    }\n"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (const struct layout_part *p = s->driver->layout; p->name; p++)
            if (p->owner && !strcmp(p->type, types[i].name)) {
                writer_print(s->out, "struct %s_t {\n%s};\n\n", types[i].name, types[i].text);
                break;
            }
}

static void hexpat_part(struct spec *s, const struct layout_part *p)
{
    bool big;
    enum spec_type type = spec_type_of(s, p);
    const char *name = spec_type_name(p, &big), *repeated = spec_while(p);
    writer_text(s->out, "    ");
    if (*p->condition) {
        writer_text(s->out, "if (");
        spec_expression(s, p->owner, p->condition, &words);
        writer_text(s->out, ") ");
    }
    if (type == SPEC_BYTES || type == SPEC_TEXT)
        writer_print(s->out, "%s %s[", type == SPEC_TEXT ? "char" : "u8", p->name);
    else
        writer_print(s->out, "%s%s %s", name, type == SPEC_NUMBER ? "" : "_t", p->name);
    if (*p->count) {
        if (type != SPEC_BYTES && type != SPEC_TEXT) writer_char(s->out, '[');
        if (repeated) writer_text(s->out, "while(");
        spec_expression(s, p->owner, repeated ? repeated : p->count, &words);
        writer_text(s->out, repeated ? ")]" : "]");
    }
    if (*p->place) {
        writer_text(s->out, " @ ");
        spec_expression(s, p->owner, p->place, &words);
    }
    writer_char(s->out, ';');
    hexpat_comment(s, p->meaning);
}

/* Writes a structure after those that it has as parts. `written` has a bit for each that is written or being written. */
static void hexpat_structure(struct spec *s, const char *name, uint64_t *written)
{
    const struct layout_part *structure, *p;
    size_t index = 0;
    while ((structure = spec_structure_at(s, index)) && strcmp(structure->name, name)) index++;
    if (!structure || index >= 64 || *written >> index & 1) return;
    *written |= UINT64_C(1) << index;
    for (size_t i = 0; (p = spec_part_at(s, name, i)); i++)
        if (spec_type_of(s, p) == SPEC_STRUCTURE)
            hexpat_structure(s, spec_type_name(p, NULL), written);
    writer_print(s->out, "struct %s_t { // %s\n", name, structure->meaning);
    for (size_t i = 0; (p = spec_part_at(s, name, i)); i++) hexpat_part(s, p);
    writer_text(s->out, "};\n\n");
}

void spec_hexpat(struct spec *s)
{
    const struct layout_part *root = spec_structure_at(s, 0), *p;
    uint64_t written = 0;
    writer_print(
        s->out,
        "#pragma description %s\n#pragma endian little\n\nimport std.core;\nimport std.mem;\n\n",
        s->driver->title);
    writer_print(s->out, "// Written by penta %s from its tables.\n\n", penta_version());
    hexpat_computed(s);
    for (const struct layout_record *r = s->driver->records; r && r->name; r++) hexpat_record(s, r);
    for (size_t i = 0; (p = spec_structure_at(s, i)); i++) hexpat_structure(s, p->name, &written);
    if (*root->order)
        writer_print(s->out,
                     "if (std::mem::read_unsigned(%s, 1) == 1)\n"
                     "    std::core::set_endian(std::mem::Endian::Big);\n\n",
                     root->order);
    writer_print(s->out, "%s_t %s @ 0x00;\n", root->name, root->name);
    for (size_t i = 1; (p = spec_structure_at(s, i)); i++)
        if (!spec_parent(s, p->name))
            writer_print(s->out, "// instead, for %s: %s_t %s @ 0x00;\n", p->meaning, p->name,
                         p->name);
}
