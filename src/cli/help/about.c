/* Implements the commands explain, formats and version, which tell what this build has. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/suggest.h"
#include "cli/help/suggestions.h"
#include "cli/terminal/wrap.h"

/* How rules are printed: as a list, or each with its explanation. */
struct rule_list {
    struct cli *cli;
    bool whole;
    size_t count;
    struct wrap_table table; /* the table of the list */
};

static void rule_json(struct json *j, const penta_rule *rule, const char *code, penta_bytes summary,
                      penta_bytes explanation)
{
    json_object(j, NULL);
    json_text(j, "code", code);
    json_text(j, "name", rule->name);
    json_text(j, "severity", penta_severity_name(rule->severity));
    json_string(j, "summary", summary);
    json_string(j, "explanation", explanation);
    json_end(j);
}

static void rule_text(struct cli *c, const penta_rule *rule, const char *code, penta_bytes summary,
                      penta_bytes explanation)
{
    size_t width = wrap_width(c);
    struct writer head = {0};
    writer_print(&head, "%s %s (%s): ", code, rule->name, penta_severity_name(rule->severity));
    writer_bytes(&head, summary.data, summary.size);
    wrap_paragraphs(&c->out, writer_view(&head), 0, width);
    writer_char(&c->out, '\n');
    wrap_paragraphs(&c->out, explanation, 0, width);
    writer_free(&head);
}

static void print_rule(struct rule_list *list, const penta_rule *rule)
{
    char code[24];
    penta_code_text(rule->code, code);
    struct writer summary = {0}, explanation = {0};
    struct cli *c = list->cli;
    option_names(&summary, rule->summary);
    option_names(&explanation, rule->explanation);
    if (list->count++ && list->whole && !c->value[OPT_JSON]) writer_char(&c->out, '\n');
    if (c->value[OPT_JSON]) {
        rule_json(&c->json, rule, code, writer_view(&summary), writer_view(&explanation));
    } else if (list->whole) {
        rule_text(c, rule, code, writer_view(&summary), writer_view(&explanation));
    } else {
        wrap_cell(&list->table, 0, bytes_of(code));
        wrap_cell(&list->table, 1, bytes_of(rule->name));
        wrap_cell(&list->table, 2, writer_view(&summary));
        wrap_row_end(&list->table);
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

static void list_rule(void *user, const penta_rule *rule) { print_rule(user, rule); }

struct wanted {
    struct rule_list *list;
    const char *word;
    struct suggest near;
    bool found;
};

static bool equal_letters(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return !*a && !*b;
}

/* Tells whether a word is this code: "KBLOB0009", also as "kblob9". */
static bool is_code(const char *code, const char *word)
{
    size_t letters = strcspn(code, "0123456789");
    if (strlen(word) <= letters || strcspn(word, "0123456789") != letters) return false;
    for (size_t i = 0; i < letters; i++)
        if (tolower((unsigned char)code[i]) != tolower((unsigned char)word[i])) return false;
    char *end;
    unsigned long number = strtoul(word + letters, &end, 10);
    return !*end && number == strtoul(code + letters, NULL, 10);
}

/* Finds a rule by its code ("KBLOB0009") or its name ("BAD_OPCODE"), in upper or lower case. */
static void match_rule(void *user, const penta_rule *rule)
{
    struct wanted *w = user;
    char code[24];
    penta_code_text(rule->code, code);
    if (!is_code(code, w->word) && !equal_letters(rule->name, w->word)) {
        suggest_offer(&w->near, rule->name);
        return;
    }
    w->found = true;
    print_rule(w->list, rule);
}

void command_EXPLAIN(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "rules");
    struct rule_list list = {.cli = c, .whole = c->word_count || c->value[OPT_ALL_RULES]};
    if (!c->word_count) each_rule(list_rule, &list);
    wrap_table_print(&list.table, &c->out, 0, wrap_width(c));
    for (size_t i = 0; i < c->word_count; i++) {
        struct wanted w = {
            .list = &list, .word = c->words[i], .near = {.word = bytes_of(c->words[i])}};
        each_rule(match_rule, &w);
        if (w.found) continue;
        char note[100] = "penta explain lists all codes";
        if (w.near.best) snprintf(note, sizeof note, "did you mean '%s'?", w.near.best);
        cli_usage(c, note, "no rule is called '%.40s'", c->words[i]);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
}

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

/* A table with one line per instruction and one column per field name. */
struct isa_table {
    struct wrap_table table;
    const char *names[WRAP_COLUMNS];
    size_t count;
    bool measured; /* The names are known, and the table has the row of them. */
};

static size_t isa_column(struct isa_table *t, const char *name)
{
    size_t i = 0;
    while (i < t->count && strcmp(t->names[i], name)) i++;
    if (i == t->count && i < WRAP_COLUMNS) t->names[t->count++] = name;
    return i;
}

static void isa_field(void *user, const penta_field *field)
{
    struct isa_table *t = user;
    struct writer cell = {0};
    size_t i = isa_column(t, field->name);
    if (field->kind == PENTA_WORD)
        writer_print(&cell, "0x%02llx", (unsigned long long)field->as.u);
    else if (field->kind == PENTA_TEXT)
        writer_bytes(&cell, field->as.bytes.data, field->as.bytes.size);
    else if (field->kind == PENTA_BOOL)
        writer_text(&cell, field->as.u ? "yes" : "no");
    else
        writer_dec(&cell, field->as.u);
    if (t->measured) wrap_cell(&t->table, i, writer_view(&cell));
    writer_free(&cell);
}

static void isa_leave(void *user, const penta_node *node)
{
    struct isa_table *t = user;
    (void)node;
    if (t->measured) wrap_row_end(&t->table);
}

static void isa_text(struct cli *c, const char *format)
{
    struct isa_table t = {0};
    penta_visitor visitor = {.user = &t, .field = isa_field, .leave = isa_leave};
    const char *legend = penta_instructions_legend(format);
    if (!penta_instructions(format, &visitor)) return;
    size_t width = wrap_width(c);
    if (legend) {
        writer_char(&c->out, '\n');
        wrap_paragraphs(&c->out, bytes_of(legend), 0, width);
    }
    for (size_t i = 0; i < t.count; i++) wrap_cell(&t.table, i, bytes_of(t.names[i]));
    wrap_row_end(&t.table);
    t.measured = true;
    penta_instructions(format, &visitor);
    wrap_table_print(&t.table, &c->out, 2, width);
}

static void traps_text(struct cli *c, const char *format)
{
    struct wrap_table table = {0};
    const penta_trap *trap;
    for (size_t i = 0; (trap = penta_trap_at(format, i)); i++) {
        char number[16];
        snprintf(number, sizeof number, "trap %u", (unsigned)trap->number);
        wrap_cell(&table, 0, bytes_of(number));
        wrap_cell(&table, 1, bytes_of(trap->name));
        wrap_cell(&table, 2, bytes_of(trap->meaning));
        wrap_row_end(&table);
    }
    wrap_table_print(&table, &c->out, 2, wrap_width(c));
}

static void format_row(struct wrap_table *table, const char *format)
{
    const char *suffix = penta_format_suffix(format), *value = penta_format_exit_value(format);
    const char *engine;
    struct writer engines = {0}, title = {0};
    for (size_t i = 0; (engine = penta_engine_name(format, i)); i++)
        writer_print(&engines, "%s%s", i ? " " : "", engine);
    wrap_cell(table, 0, bytes_of(format));
    wrap_cell(table, 1, bytes_of(suffix ? suffix : "-"));
    wrap_cell(table, 2, engines.out.size ? writer_view(&engines) : bytes_of("-"));
    writer_text(&title, penta_format_title(format));
    if (value) writer_print(&title, "; exit value: %s", value);
    wrap_cell(table, 3, writer_view(&title));
    wrap_row_end(table);
    writer_free(&title);
    writer_free(&engines);
}

static void format_header(struct wrap_table *table)
{
    static const char *const titles[] = {"format", "text", "engines", "what it is"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        wrap_cell(table, i, bytes_of(titles[i]));
    wrap_row_end(table);
}

static bool format_wanted(const struct cli *c, const char *format)
{
    for (size_t k = 0; k < c->word_count; k++)
        if (!strcmp(c->words[k], format)) return true;
    return !c->word_count;
}

static void formats_text(struct cli *c)
{
    const char *format;
    struct wrap_table table = {0};
    size_t width = wrap_width(c);
    format_header(&table);
    for (size_t i = 0; (format = penta_format_name(i)); i++) {
        if (!format_wanted(c, format)) continue;
        format_row(&table, format);
        if (!c->value[OPT_INSTRUCTIONS]) continue;
        wrap_table_print(&table, &c->out, 0, width);
        isa_text(c, format);
        traps_text(c, format);
    }
    wrap_table_print(&table, &c->out, 0, width);
}

/* Prints what a format is made of. The document of --json has the text as a member. */
static void format_spec(struct cli *c)
{
    penta_buffer text = {0};
    penta_error err = {0};
    if (c->word_count != 1)
        cli_usage(c, "penta formats NAME --spec FORM", "--spec is about one format");
    else if (!penta_spec(c->words[0], c->value[OPT_SPEC], &text, &err))
        cli_error(c, NULL, &err);
    else
        cli_text(c, (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

void command_FORMATS(struct cli *c)
{
    for (size_t i = 0; i < c->word_count; i++)
        if (!format_known(c->words[i])) {
            format_unknown(c, c->words[i]);
            return;
        }
    if (c->value[OPT_SPEC]) {
        format_spec(c);
        return;
    }
    if (!c->value[OPT_JSON]) {
        formats_text(c);
        return;
    }
    const char *format;
    json_list(&c->json, "formats");
    for (size_t i = 0; (format = penta_format_name(i)); i++)
        if (format_wanted(c, format)) format_json(c, format);
    json_end(&c->json);
}

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
