/* The command line: one table of commands, one of options, one file per command. */
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

extern const char *const command_groups[GROUPS]; /* what the commands of each are for */
extern const struct command_info {
    const char *name;
    enum command_group group;
    enum inputs inputs;
    unsigned uses;      /* bits of enum option_use whose options it accepts */
    const char *format; /* the only formats that it is for, or NULL for all */
    unsigned needs;     /* what a format must be able to do, of enum penta_use */
    const char *arguments;
    const char *first; /* the options that matter most, by name */
    const char *summary, *example, *description;
} commands[COMMANDS];
/* What the value of an option may be, for one format or (NULL) all; NULL after the last. */
typedef const char *tool_words(enum command command, const char *only, size_t i);
tool_words engine_words, format_words; /* they are in help/option_list.c */
tool_words key_type_words, part_words; /* they are in cvbc/keygen.c and cvbc/extract.c */
tool_words mode_words;                 /* it is in kblob/device.c */
tool_words pass_words;                 /* it is in jit.c */

extern const struct tool_option {
    penta_option_info row; /* without uses; commands has them */
    char letter;
    uint64_t commands; /* a bit for each command that has the option */
    tool_words *words; /* or NULL: those of the row */
} tool_options[OPTS];

struct diagnostic { /* an error or a warning that is kept for the JSON document */
    char *file;     /* the file that it is about; NULL: it is about the command itself */
    penta_error error;
    char *path;            /* its place in the describe tree, or NULL */
    uint64_t line, column; /* its place in a source text, or 0 */
};

struct cli {
    const char *program;
    enum command command;
    bool named;                   /* the user gave the command; else it was assumed */
    const char *value[OPTS];      /* NULL: not given; "1" for a switch */
    penta_option *format_options; /* options of the formats, in order */
    size_t format_option_count;
    const char **words; /* the words that are no options */
    size_t word_count;

    struct writer out;            /* standard output, or memory until the file of -o is written */
    bool out_is_file;             /* `out` is collected for the file of -o */
    bool out_is_binary;           /* `out` is not text and does not pass the sanitiser */
    struct writer program_output; /* what the program printed before what is in out */
    struct writer held[2];        /* the incomplete character at the end of its output, errors */
    char mark[17]; /* stands in each colour that the tool writes: see writer_safe_lines */
    struct marked_palette palette;
    struct progress *progress; /* the line that shows progress of a long command, or NULL */
    bool bounded;              /* a terminal gets only the first lines of `out` */
    uint64_t lines, bytes;     /* the terminal got so many so far */
    uint64_t hidden;           /* the number of lines that the terminal did not get */
    bool in_line;              /* the last line that the terminal got is not complete */
    struct json json;          /* the document, open on `out` when --json was given */
    bool document_is_result;   /* with --json, -o gets the document, not standard output */
    struct diagnostic *diagnostics;
    size_t diagnostic_count;
    penta_sarif *sarif;       /* the findings for --sarif, or NULL */
    penta_junit *junit;       /* the cases for --junit, or NULL */
    struct file_list touched; /* the files that the command has read and written (output.h) */
    bool has_written;         /* a file that an option names has been written */
    int exit;                 /* the highest exit code so far */

    /* penta batch: the verb, or COMMANDS; its options, as they were given. */
    enum command verb;
    const char **verb_words;
    size_t verb_word_count;
    /* A document for another one, see cli_document. */
    bool captured;
    const char *given_name; /* this word's file has these bytes; NULL: files are read */
    penta_bytes given;
    bool given_is_file;      /* the name is that of a file, which must not be written over */
    const char *format_seen; /* of the file that was opened last */
    struct writer codes;     /* of all findings, as a JSON list without its brackets */
    bool no_memory;          /* one of them says that memory ran out */
};

/* ---- terminal.c ---- */
void cli_stderr(const struct cli *c, penta_bytes text);
/* What a program prints: unchanged, but without control characters to a terminal. */
void cli_program_output(struct cli *c, penta_bytes text);
void cli_program_errors(struct cli *c, penta_bytes text);
void cli_flush(struct cli *c);
enum { SCREEN_LINES = 1000 };
/* Commands with --all are bounded: a terminal gets only so many lines of text. This prints a note
 * on how many were left out; what is written afterwards is shown. */
void cli_unbound(struct cli *c);
const struct palette *cli_palette(const struct cli *c); /* the colours for `out` */
const struct palette *cli_palette_of(const struct cli *c, int fd);
bool cli_utf8(void); /* whether the locale uses UTF-8 */
/* For the library's views into c->out: the option 'colors', where there are any. */
size_t cli_colors(const struct cli *c, penta_option *option);

/* ---- cli.c ---- */
int cli_main(int argc, char **argv);    /* runs the whole tool and returns its exit code */
void cli_fail(struct cli *c, int exit); /* raises the exit code to this */
/* What the command that was parsed prints with --json for one word, without a process of its
 * own. `c` is a copy of what was parsed, with that word; afterwards c->out has the document.
 * Nothing reaches a terminal, and the document has no measured times. `refused`: the command
 * does not run, for this reason. */
void cli_document(struct cli *c, const penta_error *refused);
void cli_document_free(struct cli *c);
const char *cli_exit_name(int exit); /* "yes"; NULL: no exit code of the tool */
/* Reports an error, with the exit code that belongs to its rule; to stderr or the document. */
void cli_error(struct cli *c, const char *file, const penta_error *err);
/* An error of usage: exit 2. */
void cli_usage(struct cli *c, const char *note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int cli_exit_of(uint32_t code);
/* Values of options of the tool, which the parser checked. */
uint64_t cli_number(const struct cli *c, enum option option, uint64_t missing);
double cli_seconds(const struct cli *c, enum option option, double missing);
bool cli_is(const struct cli *c, enum option option, const char *word);
/* What a command makes. With -o it is written there, and a document names the file (`output`) and
 * its size; without, it goes to standard output or into the document. Binary never goes to a
 * terminal by accident. */
void cli_bytes(struct cli *c, penta_bytes bytes);
void cli_text(struct cli *c, penta_bytes text);
/* The same for commands with other members in a document: true when nothing more is to be done. */
bool cli_text_file(struct cli *c, penta_bytes text);

/* ---- outcomes.c: the files of --sarif and --junit ---- */
bool outcomes_open(struct cli *c); /* false: an error has been reported */
struct finding;
void outcomes_finding(struct cli *c, const struct finding *f); /* for --sarif */
void outcomes_error(struct cli *c, const struct finding *f);   /* for --junit, too */
/* `more` findings of a file are not in the file of --sarif, because of --max-findings. */
void outcomes_omitted(struct cli *c, const char *file, uint64_t more);
void outcomes_case(struct cli *c, const penta_case *one);
void outcomes_close(struct cli *c); /* writes them, and frees */

/* ---- input.c ---- */
struct input {
    const char *name; /* as given; "-" is standard input */
    penta_buffer bytes;
    penta_module *module;
    bool borrowed; /* the bytes are somebody else's */
};
bool input_read(struct cli *c, const char *name, struct input *in);
/* Reads, recognises and opens; an error has been reported when false. */
bool input_open(struct cli *c, const char *name, struct input *in);
const char *
format_chosen(const struct cli *c);  /* by --format or an option of one format; or NULL */
bool format_known(const char *name); /* whether a format has this name */
void input_close(struct input *in);
static inline penta_bytes input_bytes(const struct input *in)
{
    return (penta_bytes){in->bytes.data, in->bytes.size};
}
/* The format options that this format knows for a use, borrowed; free the array. */
/* Whether all options that were given are of this format: one of another would silently have no
 * effect. False: it was told. */
bool options_known(struct cli *c, const char *format);
penta_option *options_for(const struct cli *c, const char *format, unsigned use, size_t *count);

/* ---- assemble.c ---- */
const char *format_of_suffix(const char *name); /* of its assembly text; NULL: none */
/* NULL: an error has been reported. */
penta_module *assemble_input(struct cli *c, const struct input *in, const char *format);

/* ---- parse.c ---- */
bool cli_parse(struct cli *c, int argc, char **argv);
void cli_parse_free(struct cli *c);
/* The row of a format option that some format declares for one of these uses, or NULL. */
const penta_option_info *format_option(const char *key, unsigned uses);

/* ---- diagnostic.c ---- */
struct finding {                /* an error and what it is about */
    const char *file;           /* NULL: the command itself */
    const penta_module *module; /* with `where`: its place in the tree; else NULL */
    const penta_place *where;
    const char *path;          /* the path of that place */
    const penta_bytes *source; /* the text that the error points into; else NULL */
    const penta_error *error;
};
/* A text of the library as the tool shows it: the library names options by their key, "option
 * 'map'", which the tool spells "option '--map'". */
void option_names(struct writer *out, const char *text);
/* A finding as text: severity, code, message, place, bytes with carets, note. Message and note are wrapped at this
 * width (terminal/wrap.h). */
void diagnostic_print(struct writer *out, const struct palette *palette, size_t width,
                      const struct finding *f);
/* Keeps it for the document. */
void diagnostic_keep(struct cli *c, const struct finding *f);
/* Writes the list `diagnostics` of what was kept, and forgets it. */
void diagnostics_json(struct cli *c);

/* Findings of one file: counted, kept up to a limit, and printed all at once, since finding their
 * places in the tree takes a walk over the file. */
struct finding_sink {
    struct cli *cli;
    const char *file;
    const char *part; /* the file of the findings that come now; NULL: they are in `file` */
    const penta_module *module;
    const penta_bytes *source;
    uint64_t max, errors, warnings, infos;
    int exit;       /* what the worst error asks for */
    bool uncounted; /* the document gets no numbers of errors and warnings */
    struct kept_finding {
        penta_error error;
        const char *file;
    } * kept;
    size_t count;
};
void finding_sink_init(struct finding_sink *sink, struct cli *c, const char *file);
void finding_sink_add(void *user, const penta_error *finding); /* a penta_report */
void finding_sink_tell(struct finding_sink *sink);             /* prints them; frees */
void finding_sink_finish(struct finding_sink *sink);           /* the same with a closing line */
void finding_sink_drop(struct finding_sink *sink);             /* frees only */

/* ---- help.c ---- */
void help_for(struct cli *c, bool brief); /* of c->command; the overview for `help` itself */

/* ---- one file per command ---- */
#define COMMAND(name, ...) void command_##name(struct cli *c);
#include "cli/commands.def"
