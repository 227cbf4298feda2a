/* -h, --help, the overview and the man pages, all from the tables. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "cli/cli.h"
#include "penta/version.h"

static void overview(struct writer *out)
{
    writer_text(out, "penta: five bytecode formats and their machines, one tool\n\n"
                     "usage: penta COMMAND [options] [FILE...]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        writer_print(out, "  %-11s %s\n", commands[i].name, commands[i].summary);
    writer_text(out, "\nA FILE of - is standard input. penta COMMAND -h shows a command's options, "
                     "penta help\nCOMMAND everything about it.\n");
}

static void usage(struct writer *out, enum command command)
{
    const struct command_info *info = &commands[command];
    writer_print(out, "usage: penta %s [options] %s\n", info->name, info->arguments);
}

struct option_row { /* one line of an option list, of either kind */
    char left[64];
    const char *help, *formats;
};

typedef void row_fn(void *user, const struct option_row *row);

struct rows {
    row_fn *fn;
    void *user;
    enum command command;
};

static void format_row(void *user, const struct option_info *option, const char *formats)
{
    struct rows *rows = user;
    struct option_row row = {.help = option->help, .formats = formats};
    if (tool_option_known(rows->command, option->key)) return;
    snprintf(row.left, sizeof row.left, "--%s%s%s", option->key, option->argument ? " " : "",
             option->argument ? option->argument : "");
    rows->fn(rows->user, &row);
}

/* The command's own options, then those of the formats; `common` are those of every command. */
static void each_row(enum command command, const struct driver *only, bool common, row_fn *fn,
                     void *user)
{
    for (int i = 0; i < OPTS; i++) {
        const struct tool_option *o = &tool_options[i];
        bool everywhere = o->commands == ~UINT64_C(0);
        if (!(o->commands >> command & 1) || everywhere != common) continue;
        struct option_row row = {.help = o->help};
        char letter[8] = "";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(row.left, sizeof row.left, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        fn(user, &row);
    }
    if (common) return;
    struct rows rows = {fn, user, command};
    format_options_each(commands[command].uses, only, format_row, &rows);
}

static void print_row(void *user, const struct option_row *row)
{
    struct writer *out = user;
    writer_print(out, "  %-30s %s", row->left, row->help);
    if (row->formats) writer_print(out, " [%s]", row->formats);
    writer_char(out, '\n');
}

struct counted {
    struct writer *out;
    int left; /* lines that still fit */
    int hidden;
};

static void print_counted(void *user, const struct option_row *row)
{
    struct counted *c = user;
    if (c->left-- > 0)
        print_row(c->out, row);
    else
        c->hidden++;
}

/* At most 24 lines with one example: it must fit the smallest terminal. */
static void brief(struct writer *out, enum command command, const struct driver *only)
{
    const struct command_info *info = &commands[command];
    writer_print(out, "penta %s: %s\n", info->name, info->summary);
    usage(out, command);
    writer_char(out, '\n');
    struct counted rows = {.out = out, .left = 17};
    each_row(command, only, false, print_counted, &rows);
    if (rows.hidden) writer_print(out, "  (%d more: penta help %s)\n", rows.hidden, info->name);
    writer_print(out, "\nexample: %s\n", info->example);
}

/* Words of a paragraph, wrapped at 80 columns. */
static void wrapped(struct writer *out, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column && column + 1 + n > 80) {
            writer_char(out, '\n');
            column = 0;
        }
        if (column) {
            writer_char(out, ' ');
            column++;
        }
        writer_bytes(out, text, n);
        column += n;
        text += n;
        while (*text == ' ') text++;
    }
    writer_char(out, '\n');
}

static void full(struct writer *out, enum command command, const struct driver *only)
{
    const struct command_info *info = &commands[command];
    writer_print(out, "penta %s: %s\n\n", info->name, info->summary);
    usage(out, command);
    writer_char(out, '\n');
    wrapped(out, info->description);
    writer_text(out, "\noptions:\n");
    each_row(command, only, false, print_row, out);
    writer_text(out, "\noptions of every command:\n");
    each_row(command, NULL, true, print_row, out);
    writer_print(out, "\nexample:\n  %s\n", info->example);
}

/* ---- man pages, in the classic macros ---- */

static void roff(struct writer *out, const char *text)
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

static void man_row(void *user, const struct option_row *row)
{
    struct writer *out = user;
    writer_text(out, ".TP\n.B ");
    roff(out, row->left);
    writer_char(out, '\n');
    roff(out, row->help);
    if (row->formats) writer_print(out, " (%s)", row->formats);
    writer_char(out, '\n');
}

static void man_title(struct writer *out, const char *name, const char *summary)
{
    writer_text(out, ".TH ");
    for (const char *p = name; *p; p++) writer_char(out, (char)toupper((unsigned char)*p));
    writer_print(out, " 1 \"\" \"penta %s\" \"penta manual\"\n.SH NAME\n", PENTA_VERSION);
    roff(out, name);
    writer_text(out, " \\- ");
    roff(out, summary);
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

static void man_main(struct writer *out)
{
    man_title(out, "penta", "five bytecode formats and their machines, one tool");
    writer_text(out, ".SH SYNOPSIS\n.B penta\n.I COMMAND\n[options] [FILE...]\n.SH COMMANDS\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, ".TP\n.BR penta\\-%s (1)\n", commands[i].name);
        roff(out, commands[i].summary);
        writer_char(out, '\n');
    }
    writer_text(out, ".SH OPTIONS\n");
    each_row(COMMAND_VERSION, NULL, true, man_row, out);
    writer_text(out, ".SH FORMATS\n");
    for (size_t i = 0; drivers[i]; i++)
        writer_print(out, ".TP\n.B %s\n%s\n", drivers[i]->name, drivers[i]->title);
    man_exits(out);
    man_environment(out);
    writer_text(out,
                ".SH DIAGNOSTICS\nEvery finding has a code that\n.B penta explain\nexplains.\n");
    for (const struct rule *r = base_rules; r->code; r++)
        writer_print(out, ".TP\n.B PENTA%04u\n%s\n", (unsigned)r->code, r->summary);
    for (size_t i = 0; drivers[i]; i++)
        for (const struct rule *r = drivers[i]->rules; r->code; r++) {
            char code[24];
            penta_code_text(r->code, code);
            writer_print(out, ".TP\n.B %s\n", code);
            roff(out, r->summary);
            writer_char(out, '\n');
        }
}

static void man_command(struct writer *out, enum command command)
{
    const struct command_info *info = &commands[command];
    char name[40];
    snprintf(name, sizeof name, "penta-%s", info->name);
    man_title(out, name, info->summary);
    writer_print(out, ".SH SYNOPSIS\n.B penta %s\n[options] ", info->name);
    roff(out, info->arguments);
    writer_text(out, "\n.SH DESCRIPTION\n");
    roff(out, info->description);
    writer_text(out, "\n.SH OPTIONS\n");
    each_row(command, NULL, false, man_row, out);
    each_row(command, NULL, true, man_row, out);
    man_exits(out);
    man_environment(out);
    writer_text(out, ".SH EXAMPLE\n.EX\n");
    roff(out, info->example);
    writer_text(out, "\n.EE\n.SH SEE ALSO\n.BR penta (1)\n");
}

/* ---- entry points ---- */

static void deliver(struct cli *c, struct writer *text)
{
    if (c->value[OPT_JSON])
        json_string(&c->json, "text", writer_view(text));
    else
        writer_bytes(&c->out, text->out.data, text->out.size);
    writer_free(text);
}

/* The format that --format names, or that the file or its suffix has; NULL: all of them. */
static const struct driver *asked_format(struct cli *c)
{
    penta_guess guess;
    penta_buffer bytes = {0};
    penta_error err = {0};
    const struct driver *found = NULL;
    if (c->value[OPT_FORMAT]) return driver_find(c->value[OPT_FORMAT]);
    if (!c->word_count || commands[c->command].inputs == INPUTS_WORDS) return NULL;
    if (strcmp(c->words[0], "-") && file_read(c->words[0], UINT64_C(1) << 30, &bytes, &err) &&
        penta_detect((penta_bytes){bytes.data, bytes.size}, &guess, 1))
        found = driver_find(guess.format);
    penta_buffer_free(&bytes);
    return found ? found : driver_of_suffix(c->words[0]);
}

void help_for(struct cli *c, bool is_brief)
{
    struct writer text = {0};
    if (!c->named)
        overview(&text);
    else if (is_brief)
        brief(&text, c->command, asked_format(c));
    else
        full(&text, c->command, asked_format(c));
    deliver(c, &text);
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
    const struct driver *only = c->word_count > 1 ? driver_find(c->words[1]) : NULL;
    if (c->word_count > 1 && !only) {
        cli_usage(c, "penta formats lists them", "no format is called '%.40s'", c->words[1]);
        return;
    }
    if (c->value[OPT_MAN] && command < 0)
        man_main(&text);
    else if (c->value[OPT_MAN])
        man_command(&text, (enum command)command);
    else if (command < 0)
        overview(&text);
    else
        full(&text, (enum command)command, only);
    deliver(c, &text);
}
