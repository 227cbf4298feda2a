/* Declares the command line: one table of commands, one table of options, and one file for each
 * command. */
#pragma once
#include "base/file/file_list.h"
#include "base/json/json_visit.h"
#include "base/options.h"
#include "base/palette.h"
#include "penta/results.h"

enum command {
#define COMMAND(name, ...) COMMAND_##name,
#include "cli/commands.def"
    COMMANDS
};
enum command_group {
#define GROUP(name, ...) GROUP_##name,
#include "cli/commands.def"
    GROUPS
};
enum option {
#define OPTION(name, ...) OPT_##name,
#include "cli/options.def"
    OPTS
};
enum inputs {
    INPUTS_NONE,
    INPUTS_ONE,
    INPUTS_TWO,
    INPUTS_MANY,
    INPUTS_WORDS,
    INPUTS_PROGRAM,
    INPUTS_EACH
};

enum exit_code {
#define EXIT(name, code, meaning) EXIT_##name = code,
#include "cli/exits.def"
};

extern const char *const command_groups[GROUPS]; /* what the commands of each group are for */
extern const struct command_info {
    const char *name;
    enum command_group group;
    enum inputs inputs;
    unsigned uses;      /* bits of enum option_use: the command accepts options for these uses */
    const char *format; /* the only formats that the command is for, or NULL for all */
    unsigned needs;     /* bits of enum penta_use: what a format must be able to do */
    const char *arguments;
    const char *first; /* the names of the options that matter most */
    const char *summary, *example, *description;
} commands[COMMANDS];
/* Returns the i-th word that the value of an option may be, for one format or, with `only` NULL,
 * for all. Returns NULL after the last. */
typedef const char *tool_words(enum command command, const char *only, size_t i);
tool_words engine_words, format_words, spec_words; /* defined in help/option_list.c */
tool_words key_type_words, part_words;             /* defined in cvbc/keygen.c and cvbc/extract.c */
tool_words mode_words;                             /* defined in kblob/device.c */
tool_words pass_words;                             /* defined in jit.c */

extern const struct tool_option {
    penta_option_info row; /* the row of the option without its uses; `commands` replaces them */
    char letter;
    uint64_t commands; /* a bit for each command that has the option */
    tool_words *words; /* NULL when the row has the words */
} tool_options[OPTS];

struct diagnostic { /* An error or a warning that is kept for the JSON document. */
    char *file;     /* the file that it is about; NULL when it is about the command itself */
    penta_error error;
    char *path;            /* its place in the describe tree, or NULL */
    uint64_t line, column; /* its place in a source text, or 0 */
};

struct cli {
    const char *program;
    enum command command;
    bool named;                   /* The user gave the command; otherwise it was assumed. */
    const char *value[OPTS];      /* NULL when the option is not given; "1" for a switch */
    penta_option *format_options; /* options of the formats, in the order of the command line */
    size_t format_option_count;
    const char **repeated; /* the values of the option --set, which may be repeated */
    size_t repeated_count;
    const char **words; /* the words that are not options */
    size_t word_count;

    struct writer out;            /* standard output, or memory until the file of -o is written */
    bool out_is_file;             /* `out` is collected for the file of -o. */
    bool out_is_binary;           /* `out` is not text and does not pass the sanitiser. */
    struct writer program_output; /* what the program printed before the text in `out` */
    struct writer held[2];        /* the incomplete characters at the end of the program's output
                                   * and errors */
    char mark[17];                /* is in each colour that the tool writes (writer_safe_lines) */
    struct marked_palette palette;
    struct progress *progress; /* the line that shows progress of a long command, or NULL */
    bool bounded;              /* A terminal gets only the first lines of `out`. */
    uint64_t lines, bytes;     /* what the terminal has got so far */
    uint64_t hidden;           /* the number of lines that the terminal did not get */
    bool in_line;              /* The last line that the terminal got is not complete. */
    struct json json;          /* the document, which is open on `out` when --json was given */
    bool document_is_result;   /* With --json, -o gets the document, not standard output. */
    struct diagnostic *diagnostics;
    size_t diagnostic_count;
    penta_sarif *sarif;       /* the findings for --sarif, or NULL */
    penta_junit *junit;       /* the cases for --junit, or NULL */
    struct file_list touched; /* the files that the command has read and written (output.h) */
    bool has_written;         /* A file that an option names has been written. */
    int exit;                 /* the highest exit code so far */

    /* The verb of penta batch, or COMMANDS, and its options as they were given. */
    enum command verb;
    const char **verb_words;
    size_t verb_word_count;
    /* The document is made for another document (cli_document). */
    bool captured;
    const char *given_name; /* The file of this word has the bytes given here. NULL when files
                             * are read. */
    penta_bytes given;
    bool given_is_file;      /* The name is that of a file, which must not be overwritten. */
    const char *format_seen; /* the format of the file that was opened last */
    struct writer codes;     /* the codes of all findings, as a JSON list without its brackets */
    bool no_memory;          /* One of the findings says that memory ran out. */
};

void cli_stderr(const struct cli *c, penta_bytes text);
/* Writes what a program prints. It is unchanged, but a terminal gets no control characters. */
void cli_program_output(struct cli *c, penta_bytes text);
void cli_program_errors(struct cli *c, penta_bytes text);
void cli_flush(struct cli *c);
enum { SCREEN_LINES = 1000 };
/* Ends the limit on text. Commands with --all are limited: a terminal gets only the first lines
 * of text. This prints a note on how many were left out. Text that is written afterwards is
 * shown. */
void cli_unbound(struct cli *c);
const struct palette *cli_palette(const struct cli *c); /* Returns the colours for `out`. */
const struct palette *cli_palette_of(const struct cli *c, int fd);
bool cli_utf8(void); /* Tells whether the locale uses UTF-8. */
/* Sets the option 'colors' for the library's views into c->out, if the output has colours.
 * Returns the number of options. */
size_t cli_colors(const struct cli *c, penta_option *option);

int cli_main(int argc, char **argv);    /* Runs the whole tool and returns its exit code. */
void cli_fail(struct cli *c, int exit); /* Raises the exit code to `exit`. */
/* Writes what the parsed command prints with --json for one word, without a process of its own.
 * `c` is a copy of the parsed command line with that word. Afterwards c->out has the document.
 * Nothing reaches a terminal, and the document has no measured times. `refused` is the reason
 * why the command does not run, or NULL. */
void cli_document(struct cli *c, const penta_error *refused);
void cli_document_free(struct cli *c);
const char *cli_exit_name(int exit); /* Returns the name of an exit code, such as "yes"; NULL
                                      * when it is not an exit code of the tool. */
/* Reports an error to standard error or the document, with the exit code that belongs to its
 * rule. */
void cli_error(struct cli *c, const char *file, const penta_error *err);
/* Reports an error of usage, which exits with 2. */
void cli_usage(struct cli *c, const char *note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int cli_exit_of(uint32_t code);
/* These functions return values of the tool's options, which the parser has checked. */
uint64_t cli_number(const struct cli *c, enum option option, uint64_t missing);
/* The number of the schema of the document that the command writes. */
int cli_schema(const struct cli *c);
double cli_seconds(const struct cli *c, enum option option, double missing);
bool cli_is(const struct cli *c, enum option option, const char *word);
/* These functions write the result of a command. With -o it is written to that file, and a
 * document names the file (`output`) and its size. Otherwise it goes to standard output or into
 * the document. Binary data never go to a terminal by accident. */
void cli_bytes(struct cli *c, penta_bytes bytes);
void cli_text(struct cli *c, penta_bytes text);
/* Writes text to the file of -o, for commands whose documents have other members. Returns true
 * when nothing more must be done. */
bool cli_text_file(struct cli *c, penta_bytes text);

bool outcomes_open(struct cli *c); /* Returns false when an error has been reported. */
struct finding;
void outcomes_finding(struct cli *c, const struct finding *f); /* Adds a finding for --sarif. */
/* Adds an error for --sarif and --junit. */
void outcomes_error(struct cli *c, const struct finding *f);
/* Notes that `more` findings of a file are not in the file of --sarif, because of
 * --max-findings. */
void outcomes_omitted(struct cli *c, const char *file, uint64_t more);
void outcomes_case(struct cli *c, const penta_case *one);
void outcomes_close(struct cli *c); /* Writes the files and frees them. */

struct input {
    const char *name; /* the name as given; "-" is standard input */
    penta_buffer bytes;
    penta_module *module;
    bool borrowed; /* The bytes are borrowed and not freed. */
};
bool input_read(struct cli *c, const char *name, struct input *in);
/* Reads a file, recognises its format and opens it. Returns false when an error has been
 * reported. */
bool input_open(struct cli *c, const char *name, struct input *in);
/* Returns the format that --format or an option of only one format chooses, or NULL. */
const char *format_chosen(const struct cli *c);
bool format_known(const char *name); /* Tells whether a format has this name. */
void input_close(struct input *in);
static inline penta_bytes input_bytes(const struct input *in)
{
    return (penta_bytes){in->bytes.data, in->bytes.size};
}
/* Returns the format options that this format knows for a use. They are borrowed; the caller
 * frees the array. */
/* Tells whether all given options belong to this format, because an option of another format
 * would silently have no effect. Returns false when an error has been reported. */
bool options_known(struct cli *c, const char *format);
penta_option *options_for(const struct cli *c, const char *format, unsigned use, size_t *count);

const char *format_of_suffix(const char *name); /* Returns the format whose assembly text has
                                                 * this suffix, or NULL. */
/* Assembles an input. Returns NULL when an error has been reported. */
penta_module *assemble_input(struct cli *c, const struct input *in, const char *format);

bool cli_parse(struct cli *c, int argc, char **argv);
void cli_parse_free(struct cli *c);
/* Returns the row of a format option that some format declares for one of these uses, or NULL. */
const penta_option_info *format_option(const char *key, unsigned uses);

struct finding {                /* An error and what it is about. */
    const char *file;           /* NULL when it is about the command itself */
    const penta_module *module; /* the module in which `where` is a place; else NULL */
    const penta_place *where;
    const char *path;          /* the path of the place `where` */
    const penta_bytes *source; /* the text to which the error's offset belongs; else NULL */
    const penta_error *error;
};
/* Writes a text of the library as the tool shows it. The library names options by their key,
 * "option 'map'", and the tool spells this "option '--map'". */
void option_names(struct writer *out, const char *text);
/* Prints a finding as text: severity, code, message, place, bytes with carets, note. Message and
 * note are wrapped at this width (terminal/wrap.h). */
void diagnostic_print(struct writer *out, const struct palette *palette, size_t width,
                      const struct finding *f);
/* Keeps a finding for the document. */
void diagnostic_keep(struct cli *c, const struct finding *f);
/* Writes the list `diagnostics` of the kept findings, and frees them. */
void diagnostics_json(struct cli *c);

/* A sink for the findings of one file. They are counted, kept up to a limit, and printed all at
 * once, since finding their places in the tree takes a walk over the file. */
struct finding_sink {
    struct cli *cli;
    const char *file;
    const char *part; /* the file of the next findings; NULL when they are in `file` */
    const penta_module *module;
    const penta_bytes *source;
    uint64_t max, errors, warnings, infos;
    int exit;       /* the exit code of the worst error */
    bool uncounted; /* The document gets no numbers of errors and warnings. */
    struct kept_finding {
        penta_error error;
        const char *file;
    } * kept;
    size_t count;
};
void finding_sink_init(struct finding_sink *sink, struct cli *c, const char *file);
void finding_sink_add(void *user, const penta_error *finding); /* Is a penta_report. */
/* Prints the findings and frees the sink. */
void finding_sink_tell(struct finding_sink *sink);
/* Prints the findings and a closing line, and frees the sink. */
void finding_sink_finish(struct finding_sink *sink);
/* Frees the sink without printing. */
void finding_sink_drop(struct finding_sink *sink);

void help_for(struct cli *c, bool brief); /* Prints the help of c->command, or the overview for
                                           * the command `help` itself. */

#define COMMAND(name, ...) void command_##name(struct cli *c);
#include "cli/commands.def"
