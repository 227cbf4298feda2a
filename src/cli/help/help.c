/* Prints -h, --help and the overview of the commands, by the tables. */
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/options/json.h"
#include "cli/help/option_text.h"
#include "cli/help/suggestions.h"
#include "cli/terminal/wrap.h"

static void help_command_row(struct writer *out, enum command command, size_t width)
{
    const struct command_info *info = &commands[command];
    struct writer text = {0};
    writer_text(&text, info->summary);
    command_formats(&text, command);
    size_t column = writer_total(out);
    writer_print(out, "  %-11s ", info->name);
    column = writer_total(out) - column;
    wrap_words(out, writer_view(&text), column, column, width);
    writer_char(out, '\n');
    writer_free(&text);
}

static void help_overview(struct writer *out, size_t width)
{
    wrap_paragraphs(out, bytes_of("penta: five bytecode formats and their machines, one tool"), 0,
                    width);
    writer_text(out, "\nusage: penta COMMAND [options] [FILE...]\n");
    for (int group = 0; group < GROUPS; group++) {
        writer_print(out, "\n%s\n", command_groups[group]);
        for (int i = 0; i < COMMANDS; i++)
            if ((int)commands[i].group == group) help_command_row(out, (enum command)i, width);
    }
    writer_char(out, '\n');
    wrap_paragraphs(
        out,
        bytes_of("A FILE of - is standard input. penta COMMAND -h shows the options of a "
                 "command that matter most, penta help COMMAND everything about it."),
        0, width);
}

static void help_title(struct writer *out, const struct command_info *info, size_t width)
{
    struct writer title = {0};
    writer_print(&title, "penta %s: %s", info->name, info->summary);
    wrap_paragraphs(out, writer_view(&title), 0, width);
    writer_free(&title);
}

static void help_usage(struct writer *out, enum command command)
{
    const struct command_info *info = &commands[command];
    writer_print(out, "usage: penta %s [options]%s%s\n", info->name, *info->arguments ? " " : "",
                 info->arguments);
}

enum { HELP_COLUMN = OPTION_LEFT_WIDTH + 3 };

static void word_lines(struct writer *out, const char *text, size_t width)
{
    wrap_paragraphs(out, bytes_of(text), HELP_COLUMN, width);
}

static void print_option(struct writer *out, const struct listed_option *o, size_t width)
{
    struct writer left = {0}, text = {0};
    bool told = option_left(&left, o);
    char bounds[64] = "";
    bool bounded = option_bounds(o->row, bounds, sizeof bounds);
    writer_print(&text, "%s%s%s", o->help, bounded ? "," : "", bounds);
    if (o->formats && !command_of_one_format(o->command)) writer_print(&text, " [%s]", o->formats);
    bool fits = wrap_fits(HELP_COLUMN, width); /* When it does not fit, the text has lines of its
                                                * own. */
    size_t wide = left.out.size > OPTION_LEFT_WIDTH ? left.out.size - OPTION_LEFT_WIDTH : 0;
    writer_print(out, "  %-*.*s", fits ? OPTION_LEFT_WIDTH + 1 : 0, (int)left.out.size,
                 (const char *)left.out.data);
    if (!fits) writer_char(out, '\n');
    if (fits && wide) writer_char(out, ' ');
    if (fits)
        wrap_words(out, writer_view(&text), HELP_COLUMN + wide, HELP_COLUMN, width);
    else
        wrap_paragraphs(out, writer_view(&text), HELP_COLUMN, width);
    if (fits) writer_char(out, '\n');
    option_word_lists(o, told, word_lines, out, width);
    writer_free(&left);
    writer_free(&text);
}

struct option_lines {
    struct writer *out;
    bool common; /* true for the options that every command has, false for the others */
    size_t width;
};

static void print_listed(void *user, const struct listed_option *o)
{
    struct option_lines *lines = user;
    if (o->common == lines->common) print_option(lines->out, o, lines->width);
}

struct counted {
    struct writer *out;
    size_t width;
    penta_bytes first; /* the names of the options that come first */
    /* the option that is printed now; empty for all options that are not in `first` */
    penta_bytes turn;
    int left; /* the number of lines that still fit */
    int hidden;
    int shown;
    int formats; /* the number of options of formats */
};

static penta_bytes help_word(penta_bytes text)
{
    size_t n = 0;
    while (n < text.size && text.data[n] != ' ') n++;
    return bytes_slice(text, 0, n);
}

static bool help_has_word(penta_bytes text, const char *word)
{
    for (penta_bytes name; text.size; text = bytes_slice(text, name.size + 1, text.size)) {
        name = help_word(text);
        if (bytes_equal(name, bytes_of(word))) return true;
    }
    return false;
}

static void print_counted(void *user, const struct listed_option *o)
{
    struct counted *c = user;
    struct writer text = {0};
    int lines = 0;
    if (o->common) return;
    if (c->turn.size ? !bytes_equal(c->turn, bytes_of(o->name)) : help_has_word(c->first, o->name))
        return;
    c->formats += o->formats != NULL;
    print_option(&text, o, c->width);
    for (size_t i = 0; i < text.out.size; i++) lines += text.out.data[i] == '\n';
    if (!c->hidden && c->left >= lines) {
        c->left -= lines;
        if (!c->shown++) writer_char(c->out, '\n');
        writer_bytes(c->out, text.out.data, text.out.size);
    } else {
        c->hidden++;
    }
    writer_free(&text);
}

/* Prints the short help: at most 24 lines with one example, because it must fit the smallest
 * terminal. */
static void help_brief(struct writer *out, enum command command, const char *only, size_t width)
{
    const struct command_info *info = &commands[command];
    help_title(out, info, width);
    help_usage(out, command);
    struct counted rows = {.out = out, .width = width, .first = bytes_of(info->first), .left = 17};
    for (penta_bytes rest = rows.first; rest.size;
         rest = bytes_slice(rest, rows.turn.size + 1, rest.size)) {
        rows.turn = help_word(rest);
        listed_options_each(command, only, print_counted, &rows);
    }
    rows.turn = (penta_bytes){0};
    listed_options_each(command, only, print_counted, &rows);
    bool of_several = rows.formats && !only && (!info->format || strchr(info->format, ' '));
    if (rows.hidden)
        writer_print(out, "  (%d more: penta help %s%s)\n", rows.hidden, info->name,
                     of_several ? "; with a FILE, -h shows those for its format" : "");
    writer_print(out, "\nexample: %s\n", info->example);
}

static void help_full(struct writer *out, enum command command, const char *only, size_t width)
{
    const struct command_info *info = &commands[command];
    help_title(out, info, width);
    writer_char(out, '\n');
    help_usage(out, command);
    writer_char(out, '\n');
    wrap_paragraphs(out, bytes_of(info->description), 0, width);
    writer_text(out, "\noptions:\n");
    listed_options_each(command, only, print_listed, &(struct option_lines){out, false, width});
    writer_text(out, "\noptions of every command:\n");
    listed_options_each(command, only, print_listed, &(struct option_lines){out, true, width});
    writer_print(out, "\nexample:\n  %s\n", info->example);
}

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

static void help_command_json(struct json *j, enum command command)
{
    const struct command_info *info = &commands[command];
    struct writer formats = {0};
    json_object(j, NULL);
    json_text(j, "name", info->name);
    json_text(j, "group", command_groups[info->group]);
    json_text(j, "summary", info->summary);
    json_text(j, "arguments", info->arguments);
    json_text(j, "example", info->example);
    if (command_few_formats(&formats, command)) json_string(j, "formats", writer_view(&formats));
    json_end(j);
    writer_free(&formats);
}

static void help_commands_json(struct json *j)
{
    json_list(j, "commands");
    for (int group = 0; group < GROUPS; group++)
        for (int i = 0; i < COMMANDS; i++)
            if ((int)commands[i].group == group) help_command_json(j, (enum command)i);
    json_end(j);
}

/* Prints a help text. With --json the options of the command are also rows of the document, or
 * the commands when `command` is below 0. */
static void help_deliver(struct cli *c, struct writer *text, int command, const char *only)
{
    if (c->value[OPT_JSON])
        json_string(&c->json, "text", writer_view(text));
    else
        writer_bytes(&c->out, text->out.data, text->out.size);
    writer_free(text);
    if (!c->value[OPT_JSON]) return;
    if (command < 0) {
        help_commands_json(&c->json);
        return;
    }
    json_list(&c->json, "options");
    listed_options_each((enum command)command, only, help_option_json, &c->json);
    json_end(&c->json);
}

/* Returns the format that --format names, or that the file or its suffix has; NULL for all
 * formats. */
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
    size_t width = wrap_width(c);
    if (!c->named)
        help_overview(&text, width);
    else if (is_brief)
        help_brief(&text, c->command, only, width);
    else
        help_full(&text, c->command, only, width);
    help_deliver(c, &text, c->named ? (int)c->command : -1, only);
}

void command_HELP(struct cli *c)
{
    struct writer text = {0};
    int command = -1;
    for (int i = 0; c->word_count && i < COMMANDS; i++)
        if (!strcmp(commands[i].name, c->words[0])) command = i;
    if (c->word_count && command < 0) {
        char note[SUGGESTION_SIZE] = "penta help lists the commands";
        suggest_command(c->words[0], note);
        cli_usage(c, note, "no command is called '%.60s'", c->words[0]);
        return;
    }
    const char *only = c->word_count > 1 ? c->words[1] : NULL;
    if (only && !format_known(only)) {
        format_unknown(c, only);
        return;
    }
    size_t width = wrap_width(c);
    if (c->value[OPT_MAN] && command < 0)
        man_main(&text);
    else if (c->value[OPT_MAN])
        man_command(&text, (enum command)command);
    else if (command < 0)
        help_overview(&text, width);
    else
        help_full(&text, (enum command)command, only, width);
    help_deliver(c, &text, command, only);
}
