/* Writes completion scripts from the same tables as the parser. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "cli/help/option_list.h"

struct options { /* The options of a command. Options of one name are separate when formats
                  * differ. */
    struct listed_option *items;
    size_t count, capacity;
};

typedef void option_fn(struct writer *out, const struct options *all,
                       const struct listed_option *option);

static void add_option(void *user, const struct listed_option *option)
{
    struct options *all = user;
    if (ARRAY_RESERVE(all->items, all->capacity, all->count + 1))
        all->items[all->count++] = *option;
}

static bool option_is_first(const struct options *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(all->items[k].name, all->items[i].name)) return false;
    return true;
}

static void each_option(struct writer *out, int command, option_fn *fn)
{
    struct options all = {0};
    listed_options_each((enum command)command, NULL, add_option, &all);
    for (size_t i = 0; i < all.count; i++)
        if (option_is_first(&all, i)) fn(out, &all, &all.items[i]);
    free(all.items);
}

/* Tells whether a list has a word. Each word in the list is between two spaces. */
static bool has_word(const struct writer *list, penta_bytes word)
{
    for (size_t i = 0; i + word.size + 2 <= list->out.size; i++)
        if (list->out.data[i] == ' ' && list->out.data[i + 1 + word.size] == ' ' &&
            !memcmp(list->out.data + i + 1, word.data, word.size))
            return true;
    return false;
}

static void add_word(struct writer *list, penta_bytes word)
{
    if (has_word(list, word)) return;
    if (!list->out.size) writer_char(list, ' ');
    writer_bytes(list, word.data, word.size);
    writer_char(list, ' ');
}

/* Writes the words of a value as "a b c". Returns false when it has none. */
static bool words_of(struct writer *out, const struct options *all,
                     const struct listed_option *option, unsigned part)
{
    struct writer words = {0};
    penta_bytes word;
    for (size_t k = 0; k < all->count; k++)
        if (!strcmp(all->items[k].name, option->name))
            for (size_t i = 0; listed_word(&all->items[k], part, i, &word); i++)
                add_word(&words, word);
    bool any = words.out.size;
    if (any) writer_bytes(out, words.out.data + 1, words.out.size - 2);
    writer_free(&words);
    return any;
}

/* returns the last part with words, or 0 when only the first may have them */
static unsigned last_part(const struct listed_option *option)
{
    unsigned last = 0;
    for (unsigned part = 1; part < OPTION_PARTS; part++) {
        penta_bytes word;
        if (listed_word(option, part, 0, &word)) last = part;
    }
    return last;
}

/* Writes what a command takes besides options and files, from its synopsis, such as
 * "check|generate|list [FILE...]". */
static bool verbs_of(struct writer *out, enum command command)
{
    const char *text = commands[command].arguments;
    char first[80] = "";
    size_t n = strcspn(text, " ");
    penta_bytes word;
    if (n < sizeof first) memcpy(first, text, n);
    if (!memchr(text, '|', n)) return false;
    for (size_t i = 0; argument_word(first, i, &word); i++) {
        if (i) writer_char(out, ' ');
        writer_bytes(out, word.data, word.size);
    }
    return true;
}

/* Writes text inside single quotes of a shell. */
static void completion_quoted(struct writer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            writer_text(out, "'\\''");
        else
            writer_char(out, *text);
    }
}

static void command_words(struct writer *out)
{
    for (int i = 0; i < COMMANDS; i++) writer_print(out, "%s%s", i ? " " : "", commands[i].name);
}

static void format_names(struct writer *out)
{
    for (size_t i = 0; penta_format_name(i); i++)
        writer_print(out, "%s%s", i ? " " : "", penta_format_name(i));
}

/* Writes the first words of a command that does not start with a file. Returns false when the
 * command starts with one. */
static bool other_words(struct writer *out, enum command command)
{
    if (command == COMMAND_HELP)
        command_words(out);
    else if (command == COMMAND_FORMATS)
        format_names(out);
    else
        return verbs_of(out, command);
    return true;
}

static void bash_option(struct writer *out, const struct options *all,
                        const struct listed_option *option)
{
    (void)all;
    writer_print(out, " --%s", option->name);
}

/* Writes a case for each part of the value that has words, such as "create --pin 1") ... */
static void bash_words(struct writer *out, const struct options *all,
                       const struct listed_option *option)
{
    unsigned last = last_part(option);
    for (unsigned part = 0; part <= last; part++) {
        struct writer words = {0};
        if (words_of(&words, all, option, part)) {
            writer_print(out, "        '%s --%s %u'", commands[option->command].name, option->name,
                         part);
            if (option->letter)
                writer_print(out, "|'%s -%c %u'", commands[option->command].name, option->letter,
                             part);
            writer_print(out, ") words='%.*s'%s ;;\n", (int)words.out.size,
                         (const char *)words.out.data, part < last ? " more=1" : "");
        }
        writer_free(&words);
    }
}

/* bash cuts words at : and =, so this script searches for the option of a value and counts its
 * part. */
static const char bash_head[] =
    "# bash completion for penta\n"
    "_penta()\n"
    "{\n"
    "    local cur=${2-${COMP_WORDS[COMP_CWORD]}} command= word words= more= options= part=0 "
    "at=$((COMP_CWORD-1))\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
    "        case $word in -*) ;; *) command=$word; break ;; esac\n"
    "    done\n"
    "    case ${COMP_WORDS[COMP_CWORD]} in :|=) at=$COMP_CWORD ;; esac\n"
    "    while (( at > 2 )) && [[ ${COMP_WORDS[at]} == : ]]; do\n"
    "        part=$((part+1)) at=$((at-2))\n"
    "    done\n"
    "    [[ ${COMP_WORDS[at]} == = ]] && at=$((at-1))\n"
    "    case \"$command ${COMP_WORDS[at]} $part\" in\n";
static const char bash_tail[] =
    "    if [[ -n $options && ( $cur == -* || -n $words ) ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$options $words\" -- \"$cur\"))\n"
    "    else\n"
    "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -F _penta penta\n";

static void completion_bash(struct writer *out)
{
    writer_text(out, bash_head);
    for (int i = 0; i < COMMANDS; i++) each_option(out, i, bash_words);
    writer_text(out, "    esac\n    if [[ -n $words ]]; then\n"
                     "        [[ -n $more ]] && compopt -o nospace 2>/dev/null\n"
                     "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                     "        return\n    fi\n"
                     "    if [[ -z $command ]]; then\n        COMPREPLY=($(compgen -W '");
    command_words(out);
    writer_text(out, " --help --version' -- \"$cur\"))\n        return\n    fi\n"
                     "    case $command in\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, "        %s) options='", commands[i].name);
        each_option(out, i, bash_option);
        writer_text(out, "' words='");
        other_words(out, (enum command)i);
        writer_text(out, "' ;;\n");
    }
    writer_text(out, "    esac\n");
    writer_text(out, bash_tail);
}

/* Writes the words of each part of a value, in quotes. */
static void quoted_parts(struct writer *out, const struct options *all,
                         const struct listed_option *option, unsigned last)
{
    for (unsigned part = 0; part <= last; part++) {
        writer_text(out, " \"");
        words_of(out, all, option, part);
        writer_char(out, '"');
    }
}

/* Writes a help text for zsh. Brackets and colons would end parts of a specification, so they
 * are escaped. */
static void zsh_help(struct writer *out, const char *help)
{
    for (const char *p = help; *p; p++) {
        if (*p == '\'')
            writer_text(out, "'\\''");
        else if (*p == '[' || *p == ']' || *p == ':')
            writer_print(out, "\\%c", *p);
        else
            writer_char(out, *p);
    }
}

static void zsh_parts(struct writer *out, const struct options *all,
                      const struct listed_option *option, unsigned last)
{
    writer_text(out, ":value:{_penta_parts");
    quoted_parts(out, all, option, last);
    writer_char(out, '}');
}

static void zsh_option(struct writer *out, const struct options *all,
                       const struct listed_option *option)
{
    struct writer words = {0};
    unsigned last = last_part(option);
    writer_print(out, " \\\n            '*--%s%s[", option->name, option->argument ? "=" : "");
    zsh_help(out, option->help);
    writer_text(out, "]");
    if (last)
        zsh_parts(out, all, option, last);
    else if (words_of(&words, all, option, 0))
        writer_print(out, ":value:(%.*s)", (int)words.out.size, (const char *)words.out.data);
    else if (option->argument)
        writer_text(out, ":value:_files");
    writer_char(out, '\'');
    writer_free(&words);
}

static void completion_zsh(struct writer *out)
{
    writer_text(out, "#compdef penta\n"
                     "# The words of each part of a value, parts being separated by colons.\n"
                     "_penta_parts() {\n    local -i part=1\n"
                     "    while compset -P 1 '*:'; do (( part++ )); done\n"
                     "    (( part <= $# )) && compadd -- ${=argv[part]}\n}\n"
                     "_penta() {\n    local -a commands\n    commands=(\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, "        '%s:", commands[i].name);
        completion_quoted(out, commands[i].summary);
        writer_text(out, "'\n");
    }
    writer_text(out, "    )\n    if (( CURRENT == 2 )); then\n"
                     "        _describe command commands\n        return\n    fi\n"
                     "    case $words[2] in\n");
    for (int i = 0; i < COMMANDS; i++) {
        struct writer words = {0};
        writer_print(out, "        %s) _arguments -s", commands[i].name);
        each_option(out, i, zsh_option);
        if (other_words(&words, (enum command)i))
            writer_print(out, " \\\n            '1:word:(%.*s)'", (int)words.out.size,
                         (const char *)words.out.data);
        writer_text(out, " \\\n            '*:file:_files' ;;\n");
        writer_free(&words);
    }
    writer_text(out, "    esac\n}\n_penta \"$@\"\n");
}

static void fish_parts(struct writer *out, const struct options *all,
                       const struct listed_option *option, unsigned last)
{
    writer_text(out, " -x -a '(__penta_parts");
    quoted_parts(out, all, option, last);
    writer_text(out, ")'");
}

static void fish_option(struct writer *out, const struct options *all,
                        const struct listed_option *option)
{
    struct writer words = {0};
    unsigned last = last_part(option);
    writer_print(out, "complete -c penta -n '__fish_seen_subcommand_from %s' -l %s",
                 commands[option->command].name, option->name);
    if (option->letter) writer_print(out, " -s %c", option->letter);
    if (last)
        fish_parts(out, all, option, last);
    else if (words_of(&words, all, option, 0))
        writer_print(out, " -x -a '%.*s'", (int)words.out.size, (const char *)words.out.data);
    else if (option->argument)
        writer_text(out, " -r");
    writer_text(out, " -d '");
    completion_quoted(out, option->help);
    writer_text(out, "'\n");
    writer_free(&words);
}

static void completion_fish(struct writer *out)
{
    writer_text(out, "# fish completion for penta\n"
                     "# The words of each part of a value, parts being separated by colons.\n"
                     "function __penta_parts\n"
                     "    set -l value (commandline -ct | string replace -r '^--[a-z-]+=' '')\n"
                     "    set -l part (count (string split : -- \"$value\"))\n"
                     "    set -l before (string replace -r '[^:]*$' '' -- \"$value\")\n"
                     "    for word in (string split -n ' ' -- $argv[$part])\n"
                     "        echo $before$word\n    end\nend\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, "complete -c penta -n __fish_use_subcommand -a %s -d '",
                     commands[i].name);
        completion_quoted(out, commands[i].summary);
        writer_text(out, "'\n");
    }
    for (int i = 0; i < COMMANDS; i++) {
        struct writer words = {0};
        if (other_words(&words, (enum command)i))
            writer_print(out, "complete -c penta -n '__fish_seen_subcommand_from %s' -a '%.*s'\n",
                         commands[i].name, (int)words.out.size, (const char *)words.out.data);
        writer_free(&words);
        each_option(out, i, fish_option);
    }
}

void command_COMPLETION(struct cli *c)
{
    struct writer text = {0};
    const char *shell = c->word_count ? c->words[0] : "";
    if (!strcmp(shell, "bash"))
        completion_bash(&text);
    else if (!strcmp(shell, "zsh"))
        completion_zsh(&text);
    else if (!strcmp(shell, "fish"))
        completion_fish(&text);
    else
        cli_usage(c, "usage: penta completion bash|zsh|fish",
                  *shell ? "no completion for '%.40s'" : "penta completion needs a shell%s", shell);
    if (c->value[OPT_JSON])
        json_string(&c->json, "text", writer_view(&text));
    else
        writer_bytes(&c->out, text.out.data, text.out.size);
    writer_free(&text);
}
