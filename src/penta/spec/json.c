/* Writes all tables of a format as one JSON document. */
#include "base/json/json_visit.h"
#include "base/options/json.h"
#include "penta/registry.h"
#include "penta/spec/spec.h"

static const char *const kinds[] = {
    [PENTA_UINT] = "uint", [PENTA_WORD] = "word", [PENTA_SINT] = "sint",  [PENTA_RAW] = "bytes",
    [PENTA_TEXT] = "text", [PENTA_BOOL] = "bool", [PENTA_FLOAT] = "float"};

static void json_records(struct spec *s, struct json *j)
{
    json_list(j, "records");
    for (const struct layout_record *r = s->driver->records; r && r->name; r++) {
        uint64_t offset = 0;
        json_object(j, NULL);
        json_text(j, "name", r->name);
        json_uint(j, "size", spec_record_size(r));
        json_bool(j, "big_endian", spec_record_is_big(s, r->name));
        json_list(j, "fields");
        for (const struct layout_field *f = r->fields; f->name; offset += f++->size) {
            json_object(j, NULL);
            json_text(j, "name", f->name);
            json_uint(j, "offset", offset);
            json_uint(j, "size", f->size);
            json_text(j, "kind", kinds[f->kind]);
            json_text(j, "meaning", f->meaning);
            json_end(j);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void json_part(struct json *j, const struct layout_part *p)
{
    bool big;
    json_object(j, NULL);
    json_text(j, "name", p->name);
    json_text(j, "type", spec_type_name(p, &big));
    if (big) json_bool(j, "big_endian", true);
    if (*p->count) json_text(j, "count", p->count);
    if (*p->place) json_text(j, "place", p->place);
    if (*p->condition) json_text(j, "condition", p->condition);
    if (spec_is_ahead(p)) json_bool(j, "ahead", true);
    json_text(j, "meaning", p->meaning);
    json_end(j);
}

static void json_structures(struct spec *s, struct json *j)
{
    const struct layout_part *structure, *p;
    json_list(j, "structures");
    for (size_t i = 0; (structure = spec_structure_at(s, i)); i++) {
        json_object(j, NULL);
        json_text(j, "name", structure->name);
        json_text(j, "meaning", structure->meaning);
        if (*structure->order) json_text(j, "byte_order_at", structure->order);
        json_list(j, "parts");
        for (size_t k = 0; (p = spec_part_at(s, structure->name, k)); k++) {
            spec_type_of(s, p); /* an error when there is no such type */
            json_part(j, p);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void json_traps(struct spec *s, struct json *j)
{
    json_list(j, "traps");
    for (const penta_trap *t = s->driver->traps; t && t->name; t++) {
        json_object(j, NULL);
        json_uint(j, "number", t->number);
        json_text(j, "name", t->name);
        json_text(j, "meaning", t->meaning);
        json_end(j);
    }
    json_end(j);
}

static void json_options(struct spec *s, struct json *j)
{
    json_list(j, "options");
    for (const penta_option_info *o = s->driver->options; o && o->key; o++) {
        json_object(j, NULL);
        json_text(j, "key", o->key);
        option_json_members(j, o);
        json_end(j);
    }
    json_end(j);
}

void spec_json(struct spec *s)
{
    struct json j = {.out = s->out};
    json_object(&j, NULL);
    json_text(&j, "schema", "penta.spec/1");
    json_text(&j, "format", s->driver->name);
    json_text(&j, "title", s->driver->title);
    json_text(&j, "suffix", s->driver->suffix);
    json_text(&j, "penta", penta_version());
    json_records(s, &j);
    json_structures(s, &j);
    penta_visitor visitor = json_state_visitor(&j);
    json_text(&j, "legend", s->driver->isa_legend);
    json_list(&j, "instructions");
    if (s->driver->isa) s->driver->isa(&visitor);
    json_end(&j);
    json_traps(s, &j);
    json_list(&j, "rules");
    rules_json(&j, s->driver->name);
    json_end(&j);
    json_options(s, &j);
    json_finish(&j);
}
