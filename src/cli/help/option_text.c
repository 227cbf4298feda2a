/* Writes options and formats of a command as text, for help and the manual pages. It relies on
 * option_list.h. */
#include "cli/help/option_text.h"
#include <string.h>
#include "base/bytes.h"

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

bool option_left(struct writer *out, const struct listed_option *o)
{
    struct writer words = {0};
    bool any = words_text(&words, o, 0, "|");
    if (o->letter) writer_print(out, "-%c, ", o->letter);
    writer_print(out, "--%s", o->name);
    bool fits = any && out->out.size + 1 + words.out.size <= OPTION_LEFT_WIDTH;
    if (o->argument) writer_char(out, ' ');
    if (fits)
        writer_bytes(out, words.out.data, words.out.size);
    else if (o->argument)
        writer_text(out, o->argument);
    bool told = fits || !any || strchr(o->argument, '|');
    writer_free(&words);
    return told;
}

/* Writes the name of a part of the value in the argument, such as MODE of
 * "PIN:FUNCTION:MODE[:FIELD=VALUE]". */
static void part_name(struct writer *out, const char *argument, unsigned part)
{
    for (; part && strchr(argument, ':'); part--) argument = strchr(argument, ':') + 1;
    if (*argument == '[') argument++;
    writer_bytes(out, argument, strspn(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
}

void option_word_lists(const struct listed_option *o, bool told, option_line_fn *fn,
                       struct writer *out, size_t width)
{
    for (unsigned part = told; part < OPTION_PARTS; part++) {
        struct writer line = {0};
        penta_bytes word;
        if (!listed_word(o, part, 0, &word)) continue;
        part_name(&line, o->argument, part);
        writer_text(&line, ": ");
        words_text(&line, o, part, ", ");
        writer_char(&line, 0);
        fn(out, (const char *)line.out.data, width);
        writer_free(&line);
    }
}

bool command_few_formats(struct writer *out, enum command command)
{
    const char *format;
    size_t all = 0, taken = 0, start = out->out.size;
    for (; (format = penta_format_name(all)); all++) {
        if (!command_takes(command, format)) continue;
        writer_print(out, "%s%s", taken++ ? " " : "", format);
    }
    bool few = taken * 2 <= all;
    if (!few) out->out.size = start;
    return few;
}

void command_formats(struct writer *out, enum command command)
{
    struct writer formats = {0};
    if (command_few_formats(&formats, command))
        writer_print(out, " [%.*s]", (int)formats.out.size, (const char *)formats.out.data);
    writer_free(&formats);
}

bool command_of_one_format(enum command command)
{
    const char *format = commands[command].format;
    return format && !strchr(format, ' ');
}
