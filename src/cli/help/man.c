/* Prints the manual pages in the classic macros, by the tables of commands and options. */
#include <ctype.h>
#include <stdio.h>
#include "base/bytes.h"
#include "base/options/json.h"
#include "cli/help/option_text.h"

static void man_roff(struct writer *out, const char *text)
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

static void man_words(struct writer *out, const char *text, size_t width)
{
    (void)width; /* The program that shows the page wraps the text. */
    writer_text(out, ".br\n");
    man_roff(out, text);
    writer_char(out, '\n');
}

struct man_lines {
    struct writer *out;
    bool common; /* true for the options that every command has, false for the others */
};

static void man_option(void *user, const struct listed_option *o)
{
    struct man_lines *lines = user;
    struct writer *out = lines->out, left = {0};
    char bounds[64];
    if (o->common != lines->common) return;
    bool told = option_left(&left, o);
    writer_char(&left, 0);
    writer_text(out, ".TP\n.B ");
    man_roff(out, (const char *)left.out.data);
    writer_char(out, '\n');
    man_roff(out, o->help);
    if (option_bounds(o->row, bounds, sizeof bounds)) {
        writer_char(out, ',');
        man_roff(out, bounds);
    }
    if (o->formats && !command_of_one_format(o->command)) writer_print(out, " (%s)", o->formats);
    writer_char(out, '\n');
    option_word_lists(o, told, man_words, out, 0);
    writer_free(&left);
}

static void man_options(struct writer *out, enum command command, bool common)
{
    listed_options_each(command, NULL, man_option, &(struct man_lines){out, common});
}

static void man_title(struct writer *out, const char *name, const char *summary)
{
    writer_text(out, ".TH ");
    for (const char *p = name; *p; p++) writer_char(out, (char)toupper((unsigned char)*p));
    writer_print(out, " 1 \"\" \"penta %s\" \"penta manual\"\n.SH NAME\n", penta_version());
    man_roff(out, name);
    writer_text(out, " \\- ");
    man_roff(out, summary);
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
        if (!summary.failed) man_roff(out, (const char *)summary.out.data);
        writer_char(out, '\n');
        writer_free(&summary);
    }
}

static void man_group(struct writer *out, enum command_group group)
{
    writer_text(out, ".SS ");
    man_roff(out, command_groups[group]);
    writer_char(out, '\n');
    for (int i = 0; i < COMMANDS; i++) {
        if (commands[i].group != group) continue;
        writer_print(out, ".TP\n.BR penta\\-%s (1)\n", commands[i].name);
        man_roff(out, commands[i].summary);
        command_formats(out, (enum command)i);
        writer_char(out, '\n');
    }
}

void man_main(struct writer *out)
{
    man_title(out, "penta", "five bytecode formats and their machines, one tool");
    writer_text(out, ".SH SYNOPSIS\n.B penta\n.I COMMAND\n[options] [FILE...]\n.SH COMMANDS\n");
    for (int group = 0; group < GROUPS; group++) man_group(out, (enum command_group)group);
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

void man_command(struct writer *out, enum command command)
{
    const struct command_info *info = &commands[command];
    char name[40];
    snprintf(name, sizeof name, "penta-%s", info->name);
    man_title(out, name, info->summary);
    writer_print(out, ".SH SYNOPSIS\n.B penta %s\n[options] ", info->name);
    man_roff(out, info->arguments);
    writer_text(out, "\n.SH DESCRIPTION\n");
    man_roff(out, info->description);
    writer_text(out, "\n.SH OPTIONS\n");
    man_options(out, command, false);
    man_options(out, command, true);
    man_exits(out);
    man_environment(out);
    writer_text(out, ".SH EXAMPLE\n.EX\n");
    man_roff(out, info->example);
    writer_text(out, "\n.EE\n.SH SEE ALSO\n.BR penta (1)\n");
}
