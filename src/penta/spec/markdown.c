/* Writes all tables of a format as a page of Markdown. */
#include <inttypes.h>
#include <string.h>
#include "base/options.h"
#include "penta/spec/spec.h"

/* Writes a cell: no newline and no bar in it may end it. */
static void markdown_cell(struct writer *out, const char *text)
{
    writer_text(out, " ");
    for (; text && *text; text++) {
        if (*text == '|') writer_char(out, '\\');
        writer_char(out, *text == '\n' ? ' ' : *text);
    }
    writer_text(out, " |");
}

static void markdown_code(struct writer *out, const char *text)
{
    if (text && *text) {
        writer_text(out, " `");
        for (; *text; text++) {
            if (*text == '|') writer_char(out, '\\');
            writer_char(out, *text);
        }
        writer_text(out, "` |");
    } else {
        writer_text(out, "  |");
    }
}

static void markdown_titles(struct writer *out, const char *titles)
{
    size_t columns = 1;
    for (const char *p = titles; *p; p++) columns += *p == '|';
    writer_print(out, "| %s |\n|", titles);
    while (columns--) writer_text(out, "---|");
    writer_char(out, '\n');
}

static void markdown_structures(struct spec *s)
{
    const struct layout_part *structure, *p;
    if (!spec_structure_at(s, 0)) return;
    writer_text(s->out, "\n## How a file is made\n\n"
                        "Parts follow each other unless a place is given. Counts, places and "
                        "conditions are expressions "
                        "over parts that come before; `here` is the place after the part before, "
                        "`end` the size of the "
                        "file, `parent` the structure around.\n");
    for (size_t i = 0; (structure = spec_structure_at(s, i)); i++) {
        writer_print(s->out, "\n### %s: %s\n\n", structure->name, structure->meaning);
        markdown_titles(s->out, "part | type | count | place | when | meaning");
        for (size_t k = 0; (p = spec_part_at(s, structure->name, k)); k++) {
            writer_char(s->out, '|');
            markdown_code(s->out, p->name);
            markdown_code(s->out, p->type);
            markdown_code(s->out, p->count);
            markdown_code(s->out, p->place);
            markdown_code(s->out, p->condition);
            markdown_cell(s->out, p->meaning);
            writer_char(s->out, '\n');
        }
    }
}

static void markdown_records(struct spec *s)
{
    const struct layout_record *r = s->driver->records;
    if (!r || !r->name) return;
    writer_text(s->out, "\n## Records\n");
    for (; r->name; r++) {
        uint64_t offset = 0;
        writer_print(s->out, "\n### %s (%" PRIu64 " bytes%s)\n\n", r->name, spec_record_size(r),
                     spec_record_is_big(s, r->name) ? ", big-endian" : "");
        markdown_titles(s->out, "offset | size | field | content");
        for (const struct layout_field *f = r->fields; f->name; offset += f++->size) {
            writer_print(s->out, "| %" PRIu64 " | %u |", offset, (unsigned)f->size);
            markdown_code(s->out, f->name);
            markdown_cell(s->out, f->meaning);
            writer_char(s->out, '\n');
        }
    }
}

struct markdown_isa {
    struct writer *out;
    const char *names[16];
    size_t count;
    struct writer cells[16];
};

static size_t markdown_column(struct markdown_isa *t, const char *name)
{
    size_t i = 0;
    while (i < t->count && strcmp(t->names[i], name)) i++;
    if (i == t->count && i < 16) t->names[t->count++] = name;
    return i;
}

static void markdown_isa_name(void *user, const penta_field *field)
{
    markdown_column(user, field->name);
}

static void markdown_isa_field(void *user, const penta_field *field)
{
    struct markdown_isa *t = user;
    size_t i = markdown_column(t, field->name);
    if (i >= 16) return;
    struct writer *cell = &t->cells[i];
    cell->out.size = 0;
    if (field->kind == PENTA_TEXT)
        writer_bytes(cell, field->as.bytes.data, field->as.bytes.size);
    else if (field->kind == PENTA_WORD)
        writer_0x(cell, field->as.u);
    else if (field->kind == PENTA_BOOL)
        writer_text(cell, field->as.u ? "yes" : "no");
    else
        writer_dec(cell, field->as.u);
}

static void markdown_isa_leave(void *user, const penta_node *node)
{
    struct markdown_isa *t = user;
    (void)node;
    writer_char(t->out, '|');
    for (size_t i = 0; i < t->count; i++) {
        writer_char(&t->cells[i], 0);
        if (!t->cells[i].failed) markdown_cell(t->out, (const char *)t->cells[i].out.data);
        t->out->failed |= t->cells[i].failed;
        t->cells[i].out.size = 0;
    }
    writer_char(t->out, '\n');
}

static void markdown_instructions(struct spec *s)
{
    struct markdown_isa t = {.out = s->out};
    if (!s->driver->isa) return;
    s->driver->isa(&(penta_visitor){.user = &t, .field = markdown_isa_name});
    writer_text(s->out, "\n## Instructions\n\n");
    if (s->driver->isa_legend) writer_print(s->out, "%s\n\n", s->driver->isa_legend);
    writer_char(s->out, '|');
    for (size_t i = 0; i < t.count; i++) markdown_cell(s->out, t.names[i]);
    writer_text(s->out, "\n|");
    for (size_t i = 0; i < t.count; i++) writer_text(s->out, "---|");
    writer_char(s->out, '\n');
    s->driver->isa(
        &(penta_visitor){.user = &t, .field = markdown_isa_field, .leave = markdown_isa_leave});
    for (size_t i = 0; i < t.count; i++) writer_free(&t.cells[i]);
}

static void markdown_traps(struct spec *s)
{
    const penta_trap *t = s->driver->traps;
    if (!t || !t->name) return;
    writer_text(s->out, "\n## Traps\n\n");
    markdown_titles(s->out, "number | trap | meaning");
    for (; t->name; t++) {
        writer_print(s->out, "| %u |", (unsigned)t->number);
        markdown_code(s->out, t->name);
        markdown_cell(s->out, t->meaning);
        writer_char(s->out, '\n');
    }
}

static void markdown_rules(struct spec *s)
{
    const penta_rule *r = s->driver->rules;
    if (!r || !r->code) return;
    writer_text(s->out, "\n## Rules\n\n");
    markdown_titles(s->out, "code | name | severity | rule | more");
    for (; r->code; r++) {
        char code[24];
        penta_code_text(r->code, code);
        writer_char(s->out, '|');
        markdown_code(s->out, code);
        markdown_code(s->out, r->name);
        markdown_cell(s->out, severity_text(r->severity));
        markdown_cell(s->out, r->summary);
        markdown_cell(s->out, r->explanation);
        writer_char(s->out, '\n');
    }
}

static void markdown_options(struct spec *s)
{
    const penta_option_info *o = s->driver->options;
    if (!o || !o->key) return;
    writer_text(s->out, "\n## Options\n\n");
    markdown_titles(s->out, "option | value | meaning");
    for (; o->key; o++) {
        writer_char(s->out, '|');
        markdown_code(s->out, o->key);
        markdown_code(s->out, o->argument);
        markdown_cell(s->out, o->help);
        writer_char(s->out, '\n');
    }
}

void spec_markdown(struct spec *s)
{
    writer_print(s->out, "# %s: %s\n\nWritten by penta %s from its tables.\n", s->driver->name,
                 s->driver->title, penta_version());
    markdown_structures(s);
    markdown_records(s);
    markdown_instructions(s);
    markdown_traps(s);
    markdown_rules(s);
    markdown_options(s);
}
