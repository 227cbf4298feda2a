/* Implements a worker of penta batch. The command line of the verb is parsed once, and each
 * source is one more word for it. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/options.h"
#include "cli/batch/batch.h"

struct worker {
    const char *verb_name, *const *options;
    size_t option_count;
    const struct batch_verb *verb;
    const char *files_to;
    struct cli parsed;
    char **argv;
    struct cli one; /* the command of the source that was answered last */
    struct writer findings;
    char verdict[32];
    struct writer path;     /* the path files_to/SOURCE */
    char *paths[OPTS + 64]; /* values of options that name files to write, for this source */
    size_t path_count;
    penta_option *format_options; /* the options of formats, with such values */
    const char *words[1024];      /* the words of a segment of blocks */
    struct writer segment;
};

static void argv_free(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++) free(argv[i]);
    free(argv);
}

static bool worker_climbs(const char *name)
{
    for (const char *p = name; *p;) {
        size_t size = strcspn(p, "/!");
        if (size == 2 && !memcmp(p, "..", 2)) return true;
        p += size + (p[size] != 0);
    }
    return false;
}

/* Makes the folders of a path. */
static bool worker_folders(char *path, penta_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool ok = !mkdir(path, 0777) || errno == EEXIST;
        if (!ok)
            error_at(err, BASE_IO, 0, "cannot make the folder '%.60s': %s", path, strerror(errno));
        *slash = '/';
        if (!ok) return false;
    }
    return true;
}

static char *worker_path(struct worker *w, const char *end, penta_error *err)
{
    char *path = NULL;
    if (w->path_count == sizeof w->paths / sizeof *w->paths ||
        asprintf(&path, "%.*s%s", (int)w->path.out.size, (const char *)w->path.out.data, end) < 0) {
        error_at(err, BASE_MEMORY, 0, "no memory for paths");
        return NULL;
    }
    return w->paths[w->path_count++] = path;
}

/* Returns the path of an output for this source: "trace.txt", given once for all sources,
 * becomes files_to/SOURCE.trace.txt. */
static const char *worker_option_path(struct worker *w, const char *value, penta_error *err)
{
    char end[256];
    const char *slash = strrchr(value, '/');
    snprintf(end, sizeof end, ".%s", slash ? slash + 1 : value);
    return worker_path(w, end, err);
}

static const char *worker_suffix(const struct worker *w, const penta_batch_input *input)
{
    penta_guess guess;
    const char *format = format_chosen(&w->one), *suffix;
    if (w->verb->suffix) return w->verb->suffix;
    if (!format && input->bytes && penta_detect(*input->bytes, &guess, 1)) format = guess.format;
    suffix = format && format_known(format) ? penta_format_suffix(format) : NULL;
    return suffix ? suffix : ".asm";
}

/* Gives the command of this source its own names of files to write. */
static bool worker_outputs(struct worker *w, const penta_batch_input *input, penta_error *err)
{
    struct cli *c = &w->one;
    const char *name = input->name;
    while (w->path_count) free(w->paths[--w->path_count]);
    if (!w->files_to) return true;
    if (worker_climbs(name)) {
        error_at(err, BASE_IO, 0, "'%.60s' leads out of the folder of --files-to", name);
        return error_note(err, "name the source without '..'");
    }
    while (*name == '/' || !strncmp(name, "./", 2)) name += *name == '/' ? 1 : 2;
    w->path.out.size = 0;
    writer_print(&w->path, "%s/%s", w->files_to, name);
    if (!writer_ok(&w->path, err)) return false;
    if (w->verb->writes_result) c->value[OPT_OUTPUT] = worker_path(w, worker_suffix(w, input), err);
    for (int i = 0; i < OPTS && !err->code; i++)
        if (tool_options[i].row.kind == PENTA_OPTION_OUTPUT && i != OPT_OUTPUT && c->value[i])
            c->value[i] = worker_option_path(w, c->value[i], err);
    free(w->format_options);
    w->format_options = calloc(c->format_option_count + 1, sizeof *w->format_options);
    if (!w->format_options) return error_at(err, BASE_MEMORY, 0, "no memory for options");
    bytes_copy(w->format_options,
               (penta_bytes){(const uint8_t *)c->format_options,
                             c->format_option_count * sizeof *c->format_options});
    c->format_options = w->format_options;
    for (size_t i = 0; i < c->format_option_count && !err->code; i++)
        if (format_option(c->format_options[i].key, OPTION_WRITES | OPTION_REWRITES))
            c->format_options[i].value = worker_option_path(w, c->format_options[i].value, err);
    return !err->code && (!w->path_count || worker_folders(w->paths[0], err));
}

static bool worker_segment(struct worker *w, const penta_batch_input *input, size_t *count,
                           penta_error *err)
{
    const char *slash = strrchr(input->name, '/');
    size_t folder = slash ? (size_t)(slash - input->name) + 1 : 0, starts[1024];
    *count = 0;
    w->segment.out.size = 0;
    if (!input->bytes)
        return error_at(err, BASE_IO, 0,
                        "a segment is a file: the name of a state, then those of blocks");
    for (size_t at = 0; at < input->bytes->size;) {
        const char *line = (const char *)input->bytes->data + at;
        const char *end = memchr(line, '\n', input->bytes->size - at);
        size_t size = end ? (size_t)(end - line) : input->bytes->size - at;
        at += size + 1;
        if (!size || *line == '#') continue;
        if (*count == 1024)
            return error_at(err, BASE_LIMIT, 0, "a segment has at most 1023 blocks");
        starts[(*count)++] = w->segment.out.size;
        if (*line != '/') writer_bytes(&w->segment, input->name, folder);
        writer_bytes(&w->segment, line, size);
        writer_char(&w->segment, 0);
    }
    if (!writer_ok(&w->segment, err)) return false;
    for (size_t i = 0; i < *count; i++) w->words[i] = (const char *)w->segment.out.data + starts[i];
    if (*count > 1) return true;
    error_at(err, BASE_SYNTAX, 0, "a segment needs a state and blocks");
    return error_note(
        err, "a text file: the name of the state, then on lines of their own those of blocks");
}

/* Adds the state and the blocks, because a result also depends on these. */
static void worker_also(void *user, const penta_batch_input *input, penta_buffer *more)
{
    struct worker *w = user;
    penta_error err = {0};
    size_t count = 0;
    if (w->parsed.command != COMMAND_BLOCK || !worker_segment(w, input, &count, &err)) return;
    struct writer all = {.out = *more};
    for (size_t i = 0; i < count; i++) {
        penta_buffer file = {0};
        penta_error unread = {0};
        if (file_read(w->words[i], UINT64_C(1) << 30, &file, &unread))
            writer_bytes(&all, file.data, file.size);
        writer_uint(&all, file.size, 8);
        penta_buffer_free(&file);
    }
    *more = all.out;
}

static void worker_forget(struct worker *w)
{
    cli_document_free(&w->one);
    w->one = (struct cli){0};
}

static void worker_answer(struct worker *w, penta_batch_answer *answer)
{
    struct cli *c = &w->one;
    const char *name = c->no_memory ? "memory" : cli_exit_name(c->exit);
    snprintf(w->verdict, sizeof w->verdict, "%s", name ? name : "exit");
    for (char *p = w->verdict; *p; p++) *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    w->findings.out.size = 0;
    writer_char(&w->findings, '[');
    writer_append(&w->findings, &c->codes);
    writer_char(&w->findings, ']');
    *answer = (penta_batch_answer){.exit = c->exit,
                                   .verdict = w->verdict,
                                   .format = c->format_seen,
                                   .memory = c->no_memory || c->out.failed || w->findings.failed,
                                   .findings = writer_view(&w->findings),
                                   .document = writer_view(&c->out)};
}

static void worker_run(void *user, const penta_batch_input *input, penta_batch_answer *answer)
{
    struct worker *w = user;
    struct cli swept, *base = &w->parsed, *c = &w->one;
    char **argv = NULL;
    penta_error err = {0};
    const char *word = input->name;
    worker_forget(w);
    if (input->error) err = *input->error;
    bool ok = true;
    if (input->grid) {
        ok =
            batch_verb_parse(&swept, w->verb_name, w->options, w->option_count, input->grid, &argv);
        base = &swept;
    }
    *c = *base;
    c->words = &word;
    c->word_count = 1;
    c->out = (struct writer){0};
    c->codes = (struct writer){0};
    c->diagnostics = NULL;
    c->diagnostic_count = 0;
    size_t words = 0;
    if (!ok)
        error_at(&err, BASE_OPTION, 0,
                 "a combination of the grid has an option that the verb refuses");
    if (!err.code) worker_outputs(w, input, &err);
    if (!err.code && c->command == COMMAND_BLOCK && worker_segment(w, input, &words, &err)) {
        c->words = w->words;
        c->word_count = words;
    } else if (input->bytes) {
        c->given_name = word;
        c->given = *input->bytes;
        c->given_is_file = w->files_to != NULL;
    }
    cli_document(c, err.code ? &err : NULL);
    worker_answer(w, answer);
    if (!input->grid) return;
    cli_parse_free(&swept);
    argv_free(argv);
}

int batch_worker(int argc, char **argv)
{
    static struct worker w;
    penta_option options[16];
    size_t count = 0;
    int i = 2;
    for (; i < argc && strcmp(argv[i], "--") && count < sizeof options / sizeof *options; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals) return EXIT_USAGE;
        *equals = 0;
        options[count++] = (penta_option){argv[i], equals + 1};
    }
    if (i + 1 >= argc) return EXIT_USAGE;
    w.verb_name = argv[i + 1];
    w.options = (const char *const *)(argv + i + 2);
    w.option_count = (size_t)(argc - i - 2);
    w.files_to = option_text(options, count, "files-to");
    bool ok = batch_verb_parse(&w.parsed, w.verb_name, w.options, w.option_count, NULL, &w.argv);
    w.verb = ok ? batch_verb_find(w.parsed.command) : NULL;
    penta_batch_worker worker = {.run = worker_run, .also = worker_also, .user = &w};
    int exit = w.verb ? penta_batch_serve(&worker, options, count) : EXIT_USAGE;
    worker_forget(&w);
    while (w.path_count) free(w.paths[--w.path_count]);
    free(w.format_options);
    writer_free(&w.findings);
    writer_free(&w.path);
    writer_free(&w.segment);
    cli_parse_free(&w.parsed);
    argv_free(w.argv);
    return exit;
}
