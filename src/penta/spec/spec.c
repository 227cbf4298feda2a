/* penta_spec: looks up structures, parts and records in the tables of a driver, and writes the expressions of parts.def
 * in other languages. The forms are in the files of their names. */
#include "penta/spec/spec.h"
#include <ctype.h>
#include <string.h>
#include "penta/registry.h"

const char *spec_type_name(const struct layout_part *part, bool *big_endian)
{
    bool big = !strncmp(part->type, "be ", 3);
    if (big_endian) *big_endian = big;
    return part->type + (big ? 3 : 0);
}

const struct layout_record *spec_record(const struct spec *s, const char *name)
{
    for (const struct layout_record *r = s->driver->records; r && r->name; r++)
        if (!strcmp(r->name, name)) return r;
    return NULL;
}

const struct layout_part *spec_structure_at(const struct spec *s, size_t i)
{
    for (const struct layout_part *p = s->driver->layout; p && p->name; p++)
        if (!p->owner && !i--) return p;
    return NULL;
}

const struct layout_part *spec_part_at(const struct spec *s, const char *owner, size_t i)
{
    for (const struct layout_part *p = s->driver->layout; p && p->name; p++)
        if (p->owner && !strcmp(p->owner, owner) && !i--) return p;
    return NULL;
}

static bool spec_is_structure(const struct spec *s, const char *name)
{
    const struct layout_part *p;
    for (size_t i = 0; (p = spec_structure_at(s, i)); i++)
        if (!strcmp(p->name, name)) return true;
    return false;
}

enum spec_type spec_type_of(const struct spec *s, const struct layout_part *part)
{
    static const struct {
        const char *name;
        enum spec_type type;
    } known[] = {{"u8", SPEC_NUMBER},   {"u16", SPEC_NUMBER},      {"u32", SPEC_NUMBER},
                 {"u64", SPEC_NUMBER},  {"u24", SPEC_COMPUTED},    {"leb", SPEC_COMPUTED},
                 {"bytes", SPEC_BYTES}, {"prefix", SPEC_COMPUTED}, {"text", SPEC_TEXT}};
    const char *name = spec_type_name(part, NULL);
    if (spec_record(s, name)) return SPEC_RECORD;
    if (spec_is_structure(s, name)) return SPEC_STRUCTURE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return known[i].type;
    error_at(s->err, BASE_NAME_UNKNOWN, 0, "no type is called '%.40s'", name);
    return SPEC_UNKNOWN;
}

bool spec_record_is_big(const struct spec *s, const char *record)
{
    for (const struct layout_part *p = s->driver->layout; p && p->name; p++) {
        bool big;
        if (p->owner && !strcmp(spec_type_name(p, &big), record)) return big;
    }
    return false;
}

bool spec_is_ahead(const struct layout_part *part)
{
    static const char mark[] = "_ahead";
    size_t n = strlen(part->name);
    return n >= sizeof mark && !strcmp(part->name + n - (sizeof mark - 1), mark);
}

const char *spec_while(const struct layout_part *part)
{
    return strncmp(part->count, "while ", 6) ? NULL : part->count + 6;
}

uint64_t spec_record_size(const struct layout_record *record)
{
    uint64_t size = 0;
    for (const struct layout_field *f = record->fields; f->name; f++) size += f->size;
    return size;
}

void spec_snake(struct writer *out, const char *name)
{
    for (const char *p = name; *p; p++) {
        if (isupper((unsigned char)*p) && p > name && islower((unsigned char)p[-1]))
            writer_char(out, '_');
        writer_char(out, (char)tolower((unsigned char)*p));
    }
}

static void expression_name(struct spec *s, const char *name, const struct spec_words *words)
{
    if (words->snake)
        spec_snake(s->out, name);
    else
        writer_text(s->out, name);
}

/* Takes the word at *at. */
static void expression_word(const char **at, char word[64])
{
    size_t n = 0;
    for (; isalnum((unsigned char)**at) || **at == '_'; ++*at)
        if (n < 63) word[n++] = **at;
    word[n] = 0;
}

const char *spec_parent(const struct spec *s, const char *structure)
{
    for (const struct layout_part *p = s->driver->layout; p && p->name; p++)
        if (p->owner && !strcmp(spec_type_name(p, NULL), structure)) return p->owner;
    return NULL;
}

static const struct layout_part *expression_part(const struct spec *s, const char *owner,
                                                 const char *name)
{
    const struct layout_part *p;
    for (size_t i = 0; owner && (p = spec_part_at(s, owner, i)); i++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}

static bool expression_field(const struct layout_record *record, const char *name)
{
    for (const struct layout_field *f = record ? record->fields : NULL; f && f->name; f++)
        if (!strcmp(f->name, name)) return true;
    return false;
}

/* Writes "header.entryOffset", and after a number that is computed ".value". */
static void expression_chain(struct spec *s, const char *owner, const char **at,
                             const struct spec_words *words)
{
    char word[64];
    const struct layout_record *record = NULL;
    for (;; ++*at) {
        expression_word(at, word);
        const struct layout_part *part = expression_part(s, owner, word);
        if (record ? !expression_field(record, word) : !part && strcmp(word, "parent")) {
            error_at(s->err, BASE_NAME_UNKNOWN, 0, "no part of '%.40s' is called '%.40s'",
                     owner    ? owner
                     : record ? record->name
                              : "",
                     word);
            return;
        }
        if (!record && !part) {
            writer_text(s->out, words->parent);
            owner = spec_parent(s, owner);
        } else {
            expression_name(s, word, words);
            enum spec_type type = part ? spec_type_of(s, part) : SPEC_NUMBER;
            owner = type == SPEC_STRUCTURE ? spec_type_name(part, NULL) : NULL;
            record = type == SPEC_RECORD ? spec_record(s, spec_type_name(part, NULL)) : NULL;
            if (type == SPEC_COMPUTED) writer_text(s->out, ".value");
        }
        if (**at != '.') return;
        writer_char(s->out, '.');
    }
}

void spec_expression(struct spec *s, const char *owner, const char *text,
                     const struct spec_words *words)
{
    for (const char *at = text; *at;) {
        if (isdigit((unsigned char)*at)) {
            for (; isalnum((unsigned char)*at); at++) writer_char(s->out, *at);
        } else if (!strncmp(at, "here", 4) && !isalnum((unsigned char)at[4])) {
            writer_text(s->out, words->here);
            at += 4;
        } else if (!strncmp(at, "end", 3) && !isalnum((unsigned char)at[3])) {
            writer_text(s->out, words->end);
            at += 3;
        } else if (isalpha((unsigned char)*at)) {
            expression_chain(s, owner, &at, words);
        } else if (!strncmp(at, "&&", 2) || !strncmp(at, "||", 2)) {
            writer_text(s->out, *at == '&' ? words->and : words->or);
            at += 2;
        } else {
            writer_char(s->out, *at++);
        }
    }
}

static const struct {
    const char *name;
    spec_form *write;
} forms[] = {
    {"json", spec_json}, {"ksy", spec_ksy}, {"hexpat", spec_hexpat}, {"markdown", spec_markdown}};
enum { FORMS = sizeof forms / sizeof *forms };

const char *penta_spec_form(size_t i) { return i < FORMS ? forms[i].name : NULL; }

bool penta_spec(const char *format, const char *form, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct spec s = {.driver = driver_find(format), .out = &w, .err = err};
    if (!s.driver) return error_at(err, BASE_UNSUPPORTED, 0, "no format is called '%.40s'", format);
    size_t i = 0;
    while (i < FORMS && strcmp(forms[i].name, form)) i++;
    if (i == FORMS) {
        error_at(err, BASE_OPTION_VALUE, 0, "no description of a format is called '%.40s'", form);
        return error_note(err, "json, ksy, hexpat or markdown");
    }
    bool tables = forms[i].write == spec_json || forms[i].write == spec_markdown;
    if (!tables && !s.driver->layout)
        return error_at(err, BASE_UNSUPPORTED, 0, "the parts of a %s file are not known as a table",
                        s.driver->name);
    forms[i].write(&s);
    return writer_give(&w, !err->code, out, err);
}
