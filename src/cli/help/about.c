/* explain, formats and version: what this build knows. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/suggest.h"
#include "cli/cli.h"

/* ---- explain ---- */

static void print_rule(struct cli *c, const penta_rule *rule, bool whole)
{
    char code[24];
    penta_code_text(rule->code, code);
    const char *severity = penta_severity_name(rule->severity);
    struct writer summary = {0}, explanation = {0};
    option_names(&summary, rule->summary);
    option_names(&explanation, rule->explanation);
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "code", code);
        json_text(&c->json, "name", rule->name);
        json_text(&c->json, "severity", severity);
        json_string(&c->json, "summary", writer_view(&summary));
        json_string(&c->json, "explanation", writer_view(&explanation));
        json_end(&c->json);
    } else {
        writer_print(&c->out, whole ? "%s %s" : "%-11s %-18s ", code, rule->name);
        if (whole) writer_print(&c->out, " (%s): ", severity);
        writer_bytes(&c->out, summary.out.data, summary.out.size);
        if (whole) {
            writer_text(&c->out, "\n\n");
            writer_bytes(&c->out, explanation.out.data, explanation.out.size);
        }
        writer_char(&c->out, '\n');
    }
    writer_free(&summary);
    writer_free(&explanation);
}

typedef void rule_fn(void *user, const penta_rule *rule);

static void rules_of(const char *format, rule_fn *fn, void *user)
{
    const penta_rule *r;
    for (size_t i = 0; (r = penta_rule_at(format, i)); i++) fn(user, r);
}

static void each_rule(rule_fn *fn, void *user)
{
    rules_of(NULL, fn, user);
    for (size_t i = 0; penta_format_name(i); i++) rules_of(penta_format_name(i), fn, user);
}

static void list_rule(void *user, const penta_rule *rule) { print_rule(user, rule, false); }

struct wanted {
    struct cli *cli;
    const char *word;
    struct suggest near;
    bool found;
};

static bool equal_letters(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return !*a && !*b;
}

/* Finds a rule by its code ("KBLOB0009") or its name ("BAD_OPCODE"), in upper or lower case. */
static void match_rule(void *user, const penta_rule *rule)
{
    struct wanted *w = user;
    char code[24];
    penta_code_text(rule->code, code);
    if (!equal_letters(code, w->word) && !equal_letters(rule->name, w->word)) {
        suggest_offer(&w->near, rule->name);
        return;
    }
    if (w->found && !w->cli->value[OPT_JSON]) writer_char(&w->cli->out, '\n');
    w->found = true;
    print_rule(w->cli, rule, true);
}

void command_EXPLAIN(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "rules");
    if (!c->word_count) each_rule(list_rule, c);
    for (size_t i = 0; i < c->word_count; i++) {
        struct wanted w = {.cli = c, .word = c->words[i], .near = {.word = bytes_of(c->words[i])}};
        each_rule(match_rule, &w);
        if (w.found) continue;
        char note[100] = "penta explain lists all codes";
        if (w.near.best) snprintf(note, sizeof note, "did you mean '%s'?", w.near.best);
        cli_usage(c, note, "no rule is called '%.40s'", c->words[i]);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
}

/* ---- formats ---- */

static void format_json(struct cli *c, const char *format)
{
    struct json *j = &c->json;
    const penta_option_info *option;
    const penta_trap *trap;
    const char *engine;
    json_object(j, NULL);
    json_text(j, "name", format);
    json_text(j, "title", penta_format_title(format));
    json_text(j, "suffix", penta_format_suffix(format));
    json_list(j, "engines");
    for (size_t i = 0; (engine = penta_engine_name(format, i)); i++) json_text(j, NULL, engine);
    json_end(j);
    json_text(j, "exit_value", penta_format_exit_value(format));
    json_list(j, "options");
    for (size_t i = 0; (option = penta_option_at(format, i)); i++) json_text(j, NULL, option->key);
    json_end(j);
    penta_visitor visitor = json_state_visitor(j);
    const char *legend = penta_instructions_legend(format);
    if (c->value[OPT_INSTRUCTIONS] && penta_instructions(format, &(penta_visitor){0})) {
        if (legend) json_text(j, "legend", legend);
        json_list(j, "instructions");
        penta_instructions(format, &visitor);
        json_end(j);
        json_list(j, "traps");
        for (size_t i = 0; (trap = penta_trap_at(format, i)); i++) {
            json_object(j, NULL);
            json_uint(j, "number", trap->number);
            json_text(j, "name", trap->name);
            json_text(j, "meaning", trap->meaning);
            json_end(j);
        }
        json_end(j);
    }
    json_end(j);
}

/* One line per instruction and one column per field name. The first walk measures the columns, the
 * second prints. */
enum { ISA_COLUMNS = 16 };

struct isa_table {
    struct writer *out; /* NULL: the walk only measures */
    const char *names[ISA_COLUMNS];
    size_t widths[ISA_COLUMNS], count;
    struct writer cells[ISA_COLUMNS]; /* the texts of this line */
};

static size_t isa_column(struct isa_table *t, const char *name)
{
    size_t i = 0;
    while (i < t->count && strcmp(t->names[i], name)) i++;
    if (i == t->count && i < ISA_COLUMNS) {
        t->widths[i] = strlen(name);
        t->names[t->count++] = name;
    }
    return i < ISA_COLUMNS ? i : ISA_COLUMNS - 1;
}

static void isa_field(void *user, const penta_field *field)
{
    struct isa_table *t = user;
    size_t i = isa_column(t, field->name);
    struct writer *cell = &t->cells[i];
    cell->out.size = 0;
    if (field->kind == PENTA_WORD)
        writer_print(cell, "0x%02llx", (unsigned long long)field->as.u);
    else if (field->kind == PENTA_TEXT)
        writer_bytes(cell, field->as.bytes.data, field->as.bytes.size);
    else if (field->kind == PENTA_BOOL)
        writer_text(cell, field->as.u ? "yes" : "no");
    else
        writer_dec(cell, field->as.u);
    if (cell->out.size > t->widths[i]) t->widths[i] = cell->out.size;
}

static void isa_row(struct isa_table *t, bool header)
{
    size_t start = t->out->out.size;
    for (size_t i = 0; i < t->count; i++) {
        penta_bytes text = header ? bytes_of(t->names[i]) : writer_view(&t->cells[i]);
        writer_print(t->out, "  ");
        writer_bytes(t->out, text.data, text.size);
        writer_print(t->out, "%*s", (int)(t->widths[i] - text.size), "");
    }
    while (t->out->out.size > start && t->out->out.data[t->out->out.size - 1] == ' ')
        t->out->out.size--;
    writer_char(t->out, '\n');
}

static void isa_leave(void *user, const penta_node *node)
{
    struct isa_table *t = user;
    (void)node;
    if (t->out) isa_row(t, false);
    for (size_t i = 0; i < t->count; i++) t->cells[i].out.size = 0;
}

static void isa_text(struct cli *c, const char *format)
{
    struct isa_table table = {0};
    struct writer lines = {0};
    penta_visitor visitor = {.user = &table, .field = isa_field, .leave = isa_leave};
    const char *legend = penta_instructions_legend(format);
    if (!penta_instructions(format, &visitor)) return;
    table.out = &lines;
    if (legend) writer_print(&lines, "\n%s\n", legend);
    isa_row(&table, true);
    penta_instructions(format, &visitor);
    writer_bytes(&c->out, lines.out.data, lines.out.size);
    writer_free(&lines);
    for (size_t i = 0; i < ISA_COLUMNS; i++) writer_free(&table.cells[i]);
}

static void format_text(struct cli *c, const char *format)
{
    const char *suffix = penta_format_suffix(format), *value = penta_format_exit_value(format);
    const char *engine = penta_engine_name(format, 0);
    writer_print(&c->out, "%-7s %-28s text %-9s engines%s", format, penta_format_title(format),
                 suffix ? suffix : "-", engine ? "" : " -");
    for (size_t i = 0; (engine = penta_engine_name(format, i)); i++)
        writer_print(&c->out, " %s", engine);
    if (value) writer_print(&c->out, "; exit value: %s", value);
    writer_char(&c->out, '\n');
    if (!c->value[OPT_INSTRUCTIONS]) return;
    isa_text(c, format);
    const penta_trap *t;
    for (size_t i = 0; (t = penta_trap_at(format, i)); i++)
        writer_print(&c->out, "  trap %-3u %-22s %s\n", (unsigned)t->number, t->name, t->meaning);
}

void command_FORMATS(struct cli *c)
{
    for (size_t i = 0; i < c->word_count; i++)
        if (!format_known(c->words[i])) {
            cli_usage(c, "penta formats lists them", "no format is called '%.40s'", c->words[i]);
            return;
        }
    if (c->value[OPT_JSON]) json_list(&c->json, "formats");
    const char *format;
    for (size_t i = 0; (format = penta_format_name(i)); i++) {
        bool wanted = !c->word_count;
        for (size_t k = 0; k < c->word_count; k++)
            if (!strcmp(c->words[k], format)) wanted = true;
        if (!wanted) continue;
        if (c->value[OPT_JSON])
            format_json(c, format);
        else
            format_text(c, format);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
}

/* ---- version ---- */

void command_VERSION(struct cli *c)
{
    if (!c->value[OPT_JSON]) {
        writer_print(&c->out, "penta %s\n", penta_version());
        return;
    }
    json_text(&c->json, "version", penta_version());
    json_text(&c->json, "compiler", __VERSION__);
    json_list(&c->json, "formats");
    for (size_t i = 0; penta_format_name(i); i++) json_text(&c->json, NULL, penta_format_name(i));
    json_end(&c->json);
}
