/* Prints -h, --help, the overview of the commands and the man pages, all from the tables. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/options/json.h"
#include "cli/help/option_list.h"

static void help_overview(struct writer *out)
{
    writer_text(out, "penta: five bytecode formats and their machines, one tool\n\n"
                     "usage: penta COMMAND [options] [FILE...]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        writer_print(out, "  %-11s %s\n", commands[i].name, commands[i].summary);
    writer_text(out, "\nA FILE of - is standard input. penta COMMAND -h shows a command's options, "
                     "penta help\nCOMMAND everything about it.\n");
}

static void help_usage(struct writer *out, enum command command)
{
    const struct command_info *info = &commands[command];
    writer_print(out, "usage: penta %s [options] %s\n", info->name, info->arguments);
}

/* ---- options ---- */

enum { LEFT_WIDTH = 30, HELP_COLUMN = 33, LINE_WIDTH = 80 };

static size_t words_text(struct writer *out, const struct listed_option *o, unsigned part,
                         const char *between)
{
    penta_bytes word;
    size_t i = 0;
    for (; listed_word(o, part, i, &word); i++) {
        if (i) writer_text(out, between);
        writer_bytes(out, word.data, word.size);
    }
    return i;
}

/* Writes "-f, --format NAME", with the words of the value instead of NAME where they fit. False:
 * they did not fit. */
static bool left_column(struct writer *out, const struct listed_option *o)
{
    struct writer words = {0};
    bool any = words_text(&words, o, 0, "|");
    if (o->letter) writer_print(out, "-%c, ", o->letter);
    writer_print(out, "--%s", o->name);
    bool fits = any && out->out.size + 1 + words.out.size <= LEFT_WIDTH;
    if (o->argument) writer_char(out, ' ');
    if (fits)
        writer_bytes(out, words.out.data, words.out.size);
    else if (o->argument)
        writer_text(out, o->argument);
    bool told = fits || !any || strchr(o->argument, '|');
    writer_free(&words);
    return told;
}

/* What a part of the value is called in the argument: MODE of "PIN:FUNCTION:MODE[:FIELD=VALUE]". */
static void part_name(struct writer *out, const char *argument, unsigned part)
{
    for (; part && strchr(argument, ':'); part--) argument = strchr(argument, ':') + 1;
    if (*argument == '[') argument++;
    writer_bytes(out, argument, strspn(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
}

/* "FUNCTION: gpio, uart_tx, ..." for each part whose words have not been printed yet. */
static void each_word_list(const struct listed_option *o, bool told,
                           void (*fn)(struct writer *out, const char *text), struct writer *out)
{
    for (unsigned part = told; part < OPTION_PARTS; part++) {
        struct writer line = {0};
        penta_bytes word;
        if (!listed_word(o, part, 0, &word)) continue;
        part_name(&line, o->argument, part);
        writer_text(&line, ": ");
        words_text(&line, o, part, ", ");
        writer_char(&line, 0);
        fn(out, (const char *)line.out.data);
        writer_free(&line);
    }
}

/* Words of a paragraph, wrapped, each line after this many spaces. */
static void help_wrapped(struct writer *out, const char *text, size_t indent)
{
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column && column + 1 + n > LINE_WIDTH) {
            writer_char(out, '\n');
            column = 0;
        }
        if (column) {
            writer_char(out, ' ');
            column++;
        } else {
            writer_fill(out, ' ', indent);
            column = indent;
        }
        writer_bytes(out, text, n);
        column += n;
        text += n;
        while (*text == ' ') text++;
    }
    writer_char(out, '\n');
}

static void word_lines(struct writer *out, const char *text)
{
    help_wrapped(out, text, HELP_COLUMN);
}

static void print_option(struct writer *out, const struct listed_option *o)
{
    struct writer left = {0};
    bool told = left_column(&left, o);
    char bounds[64] = "";
    bool bounded = option_bounds(o->row, bounds, sizeof bounds);
    writer_print(out, "  %-*.*s %s%s%s", LEFT_WIDTH, (int)left.out.size,
                 (const char *)left.out.data, o->help, bounded ? "," : "", bounds);
    if (o->formats) writer_print(out, " [%s]", o->formats);
    writer_char(out, '\n');
    each_word_list(o, told, word_lines, out);
    writer_free(&left);
}

struct option_lines {
    struct writer *out;
    bool common; /* true: the options that every command has; false: the others */
};

static void print_listed(void *user, const struct listed_option *o)
{
    struct option_lines *lines = user;
    if (o->common == lines->common) print_option(lines->out, o);
}

struct counted {
    struct writer *out;
    int left; /* the number of lines that still fit */
    int hidden;
};

static void print_counted(void *user, const struct listed_option *o)
{
    struct counted *c = user;
    struct writer text = {0};
    int lines = 0;
    if (o->common) return;
    print_option(&text, o);
    for (size_t i = 0; i < text.out.size; i++) lines += text.out.data[i] == '\n';
    if (!c->hidden && c->left >= lines) {
        c->left -= lines;
        writer_bytes(c->out, text.out.data, text.out.size);
    } else {
        c->hidden++;
    }
    writer_free(&text);
}

/* At most 24 lines with one example: it must fit the smallest terminal. */
static void help_brief(struct writer *out, enum command command, const char *only)
{
    const struct command_info *info = &commands[command];
    writer_print(out, "penta %s: %s\n", info->name, info->summary);
    help_usage(out, command);
    writer_char(out, '\n');
    struct counted rows = {.out = out, .left = 17};
    listed_options_each(command, only, print_counted, &rows);
    if (rows.hidden) writer_print(out, "  (%d more: penta help %s)\n", rows.hidden, info->name);
    writer_print(out, "\nexample: %s\n", info->example);
}

static void help_full(struct writer *out, enum command command, const char *only)
{
    const struct command_info *info = &commands[command];
    writer_print(out, "penta %s: %s\n\n", info->name, info->summary);
    help_usage(out, command);
    writer_char(out, '\n');
    help_wrapped(out, info->description, 0);
    writer_text(out, "\noptions:\n");
    listed_options_each(command, only, print_listed, &(struct option_lines){out, false});
    writer_text(out, "\noptions of every command:\n");
    listed_options_each(command, only, print_listed, &(struct option_lines){out, true});
    writer_print(out, "\nexample:\n  %s\n", info->example);
}

/* ---- man pages, in the classic macros ---- */

static void help_roff(struct writer *out, const char *text)
{
    if (*text == '.' || *text == '\'') writer_text(out, "\\&");
    for (; *text; text++) {
        if (*text == '\\')
            writer_text(out, "\\e");
        else if (*text == '-')
            writer_text(out, "\\-");
        else
            writer_char(out, *text);
    }
}

static void man_words(struct writer *out, const char *text)
{
    writer_text(out, ".br\n");
    help_roff(out, text);
    writer_char(out, '\n');
}

static void man_option(void *user, const struct listed_option *o)
{
    struct option_lines *lines = user;
    struct writer *out = lines->out, left = {0};
    char bounds[64];
    if (o->common != lines->common) return;
    bool told = left_column(&left, o);
    writer_char(&left, 0);
    writer_text(out, ".TP\n.B ");
    help_roff(out, (const char *)left.out.data);
    writer_char(out, '\n');
    help_roff(out, o->help);
    if (option_bounds(o->row, bounds, sizeof bounds)) {
        writer_char(out, ',');
        help_roff(out, bounds);
    }
    if (o->formats) writer_print(out, " (%s)", o->formats);
    writer_char(out, '\n');
    each_word_list(o, told, man_words, out);
    writer_free(&left);
}

static void man_options(struct writer *out, enum command command, bool common)
{
    listed_options_each(command, NULL, man_option, &(struct option_lines){out, common});
}

static void man_title(struct writer *out, const char *name, const char *summary)
{
    writer_text(out, ".TH ");
    for (const char *p = name; *p; p++) writer_char(out, (char)toupper((unsigned char)*p));
    writer_print(out, " 1 \"\" \"penta %s\" \"penta manual\"\n.SH NAME\n", penta_version());
    help_roff(out, name);
    writer_text(out, " \\- ");
    help_roff(out, summary);
    writer_char(out, '\n');
}

static void man_exits(struct writer *out)
{
    writer_text(out, ".SH EXIT STATUS\nOf several files, the highest.\n");
#define EXIT(name, code, meaning) writer_print(out, ".TP\n.B %d\n%s\n", code, meaning);
#include "cli/exits.def"
}

static void man_environment(struct writer *out)
{
    writer_text(out, ".SH ENVIRONMENT\n");
#define VARIABLE(name, meaning) writer_text(out, ".TP\n.B " name "\n" meaning "\n");
#include "cli/environment.def"
}

static void man_rules(struct writer *out, const char *format)
{
    const penta_rule *r;
    for (size_t i = 0; (r = penta_rule_at(format, i)); i++) {
        char code[24];
        struct writer summary = {0};
        penta_code_text(r->code, code);
        option_names(&summary, r->summary);
        writer_char(&summary, 0);
        writer_print(out, ".TP\n.B %s\n", code);
        if (!summary.failed) help_roff(out, (const char *)summary.out.data);
        writer_char(out, '\n');
        writer_free(&summary);
    }
}

static void man_main(struct writer *out)
{
    man_title(out, "penta", "five bytecode formats and their machines, one tool");
    writer_text(out, ".SH SYNOPSIS\n.B penta\n.I COMMAND\n[options] [FILE...]\n.SH COMMANDS\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, ".TP\n.BR penta\\-%s (1)\n", commands[i].name);
        help_roff(out, commands[i].summary);
        writer_char(out, '\n');
    }
    writer_text(out, ".SH OPTIONS\n");
    man_options(out, COMMAND_VERSION, true);
    writer_text(out, ".SH FORMATS\n");
    const char *format;
    for (size_t i = 0; (format = penta_format_name(i)); i++)
        writer_print(out, ".TP\n.B %s\n%s\n", format, penta_format_title(format));
    man_exits(out);
    man_environment(out);
    writer_text(out,
                ".SH DIAGNOSTICS\nEvery finding has a code that\n.B penta explain\nexplains.\n");
    man_rules(out, NULL);
    for (size_t i = 0; (format = penta_format_name(i)); i++) man_rules(out, format);
}

static void man_command(struct writer *out, enum command command)
{
    const struct command_info *info = &commands[command];
    char name[40];
    snprintf(name, sizeof name, "penta-%s", info->name);
    man_title(out, name, info->summary);
    writer_print(out, ".SH SYNOPSIS\n.B penta %s\n[options] ", info->name);
    help_roff(out, info->arguments);
    writer_text(out, "\n.SH DESCRIPTION\n");
    help_roff(out, info->description);
    writer_text(out, "\n.SH OPTIONS\n");
    man_options(out, command, false);
    man_options(out, command, true);
    man_exits(out);
    man_environment(out);
    writer_text(out, ".SH EXAMPLE\n.EX\n");
    help_roff(out, info->example);
    writer_text(out, "\n.EE\n.SH SEE ALSO\n.BR penta (1)\n");
}

/* ---- entry points ---- */

static void help_option_json(void *user, const struct listed_option *o)
{
    struct json *j = user;
    penta_bytes word;
    json_object(j, NULL);
    json_text(j, "name", o->name);
    if (o->letter) json_string(j, "letter", (penta_bytes){(const uint8_t *)&o->letter, 1});
    if (o->formats) json_text(j, "formats", o->formats);
    json_bool(j, "common", o->common);
    option_json_members(j, o->row);
    json_list(j, "words");
    for (unsigned part = 0; part < OPTION_PARTS; part++) {
        json_list(j, NULL);
        for (size_t i = 0; listed_word(o, part, i, &word); i++) json_string(j, NULL, word);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

/* With --json the options are there as rows too; command < 0: no command was named. */
static void help_deliver(struct cli *c, struct writer *text, int command, const char *only)
{
    if (c->value[OPT_JSON])
        json_string(&c->json, "text", writer_view(text));
    else
        writer_bytes(&c->out, text->out.data, text->out.size);
    writer_free(text);
    if (!c->value[OPT_JSON] || command < 0) return;
    json_list(&c->json, "options");
    listed_options_each((enum command)command, only, help_option_json, &c->json);
    json_end(&c->json);
}

/* The format that --format names, or that the file or its suffix has; NULL: all of them. */
static const char *asked_format(struct cli *c)
{
    penta_guess guess;
    penta_buffer bytes = {0};
    penta_error err = {0};
    const char *found = NULL;
    if (c->value[OPT_FORMAT])
        return format_known(c->value[OPT_FORMAT]) ? c->value[OPT_FORMAT] : NULL;
    if (!c->word_count || commands[c->command].inputs == INPUTS_WORDS) return NULL;
    if (strcmp(c->words[0], "-") && file_read(c->words[0], UINT64_C(1) << 30, &bytes, &err) &&
        penta_detect((penta_bytes){bytes.data, bytes.size}, &guess, 1))
        found = guess.format;
    penta_buffer_free(&bytes);
    return found ? found : format_of_suffix(c->words[0]);
}

void help_for(struct cli *c, bool is_brief)
{
    struct writer text = {0};
    const char *only = c->named ? asked_format(c) : NULL;
    if (!c->named)
        help_overview(&text);
    else if (is_brief)
        help_brief(&text, c->command, only);
    else
        help_full(&text, c->command, only);
    help_deliver(c, &text, c->named ? (int)c->command : -1, only);
}

void command_HELP(struct cli *c)
{
    struct writer text = {0};
    int command = -1;
    for (int i = 0; c->word_count && i < COMMANDS; i++)
        if (!strcmp(commands[i].name, c->words[0])) command = i;
    if (c->word_count && command < 0) {
        cli_usage(c, "penta help lists the commands", "no command is called '%.60s'", c->words[0]);
        return;
    }
    const char *only = c->word_count > 1 ? c->words[1] : NULL;
    if (only && !format_known(only)) {
        cli_usage(c, "penta formats lists them", "no format is called '%.40s'", c->words[1]);
        return;
    }
    if (c->value[OPT_MAN] && command < 0)
        man_main(&text);
    else if (c->value[OPT_MAN])
        man_command(&text, (enum command)command);
    else if (command < 0)
        help_overview(&text);
    else
        help_full(&text, (enum command)command, only);
    help_deliver(c, &text, command, only);
}
