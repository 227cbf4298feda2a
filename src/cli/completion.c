/* Completion scripts, generated from the same tables as the parser. */
#include <string.h>
#include "cli/cli.h"

/* ---- the options of a command, one callback each ---- */

typedef void option_fn(struct writer *out, const char *name, char letter, const char *argument,
                       const char *help);

struct each {
    struct writer *out;
    option_fn *fn;
    enum command command;
};

static void format_each(void *user, const struct option_info *option, const char *formats)
{
    (void)formats;
    struct each *e = user;
    if (tool_option_known(e->command, option->key)) return;
    e->fn(e->out, option->key, 0, option->argument, option->help);
}

static void each_option(struct writer *out, int command, option_fn *fn)
{
    for (int i = 0; i < OPTS; i++)
        if (tool_options[i].commands >> command & 1)
            fn(out, tool_options[i].name, tool_options[i].letter, tool_options[i].argument,
               tool_options[i].help);
    struct each e = {out, fn, (enum command)command};
    format_options_each(commands[command].uses, NULL, format_each, &e);
}

/* Text inside single quotes of a shell. */
static void quoted(struct writer *out, const char *text)
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

static void format_words(struct writer *out)
{
    for (size_t i = 0; drivers[i]; i++) writer_print(out, "%s%s", i ? " " : "", drivers[i]->name);
}

/* ---- bash ---- */

static void bash_option(struct writer *out, const char *name, char letter, const char *argument,
                        const char *help)
{
    (void)letter, (void)argument, (void)help;
    writer_print(out, " --%s", name);
}

static void bash(struct writer *out)
{
    writer_text(out, "# bash completion for penta\n_penta()\n{\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
                     "command= word options\n"
                     "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                     "        case $word in -*) ;; *) command=$word; break ;; esac\n    done\n"
                     "    case $prev in\n        --format|-f) COMPREPLY=($(compgen -W '");
    format_words(out);
    writer_text(
        out,
        "' -- \"$cur\")); return ;;\n"
        "        --engine) COMPREPLY=($(compgen -W 'interp jit both' -- \"$cur\")); return ;;\n"
        "        --color) COMPREPLY=($(compgen -W 'auto always never' -- \"$cur\")); "
        "return ;;\n    esac\n    if [[ -z $command ]]; then\n"
        "        COMPREPLY=($(compgen -W '");
    command_words(out);
    writer_text(out, " --help --version' -- \"$cur\"))\n        return\n    fi\n"
                     "    case $command in\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, "        %s) options='", commands[i].name);
        each_option(out, i, bash_option);
        if (i == COMMAND_HELP) {
            writer_char(out, ' ');
            command_words(out);
        } else if (i == COMMAND_FORMATS) {
            writer_char(out, ' ');
            format_words(out);
        } else if (i == COMMAND_COMPLETION) {
            writer_text(out, " bash zsh fish");
        }
        writer_text(out, "' ;;\n");
    }
    writer_text(out, "        *) options= ;;\n    esac\n"
                     "    if [[ $cur == -* || $command == help || $command == formats || "
                     "$command == completion ]]; then\n"
                     "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
                     "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
                     "complete -o filenames -F _penta penta\n");
}

/* ---- zsh ---- */

static void zsh_option(struct writer *out, const char *name, char letter, const char *argument,
                       const char *help)
{
    (void)letter;
    writer_print(out, " \\\n            '*--%s%s[", name, argument ? "=" : "");
    for (const char *p = help; *p; p++) { /* brackets and colons end parts of a specification */
        if (*p == '\'')
            writer_text(out, "'\\''");
        else if (*p == '[' || *p == ']' || *p == ':')
            writer_print(out, "\\%c", *p);
        else
            writer_char(out, *p);
    }
    writer_text(out, "]");
    if (argument) writer_text(out, ":value:_files");
    writer_char(out, '\'');
}

static void zsh(struct writer *out)
{
    writer_text(out, "#compdef penta\n_penta() {\n    local -a commands\n    commands=(\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, "        '%s:", commands[i].name);
        quoted(out, commands[i].summary);
        writer_text(out, "'\n");
    }
    writer_text(out, "    )\n    if (( CURRENT == 2 )); then\n"
                     "        _describe command commands\n        return\n    fi\n"
                     "    case $words[2] in\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, "        %s) _arguments -s", commands[i].name);
        each_option(out, i, zsh_option);
        if (i == COMMAND_COMPLETION)
            writer_text(out, " \\\n            '*:shell:(bash zsh fish)' ;;\n");
        else
            writer_text(out, " \\\n            '*:file:_files' ;;\n");
    }
    writer_text(out, "    esac\n}\n_penta \"$@\"\n");
}

/* ---- fish ---- */

static const char *fish_command;

static void fish_option(struct writer *out, const char *name, char letter, const char *argument,
                        const char *help)
{
    writer_print(out, "complete -c penta -n '__fish_seen_subcommand_from %s' -l %s", fish_command,
                 name);
    if (letter) writer_print(out, " -s %c", letter);
    if (argument) writer_text(out, " -r");
    writer_text(out, " -d '");
    quoted(out, help);
    writer_text(out, "'\n");
}

static void fish(struct writer *out)
{
    writer_text(out, "# fish completion for penta\n");
    for (int i = 0; i < COMMANDS; i++) {
        writer_print(out, "complete -c penta -n __fish_use_subcommand -a %s -d '",
                     commands[i].name);
        quoted(out, commands[i].summary);
        writer_text(out, "'\n");
    }
    for (int i = 0; i < COMMANDS; i++) {
        fish_command = commands[i].name;
        each_option(out, i, fish_option);
    }
}

void command_COMPLETION(struct cli *c)
{
    struct writer text = {0};
    const char *shell = c->word_count ? c->words[0] : "";
    if (!strcmp(shell, "bash"))
        bash(&text);
    else if (!strcmp(shell, "zsh"))
        zsh(&text);
    else if (!strcmp(shell, "fish"))
        fish(&text);
    else
        cli_usage(c, "usage: penta completion bash|zsh|fish", "no completion for '%.40s'", shell);
    if (c->value[OPT_JSON])
        json_string(&c->json, "text", writer_view(&text));
    else
        writer_bytes(&c->out, text.out.data, text.out.size);
    writer_free(&text);
}
