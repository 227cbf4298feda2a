/* Implements the commands create and compile, which make a container of sources and options. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/cvbc/container.h"
#include "cli/machine/deadline.h"

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

static bool is_source(const char *name) { return ends_with(name, ".ino") || ends_with(name, ".c"); }

/* Builds a container. Findings of the text go to the sink. Returns false without an error when
 * the findings tell the reason. */
static bool create_build(struct input *in, bool source, const penta_option *options, size_t count,
                         struct finding_sink *sink, penta_buffer *out, penta_error *err)
{
    penta_guess guess;
    penta_bytes bytes = input_bytes(in);
    if (source)
        return penta_cvbc_compile(bytes, in->name, options, count, deadline_flag(), out,
                                  finding_sink_add, sink, err);
    if (penta_detect(bytes, &guess, 1) && !strcmp(guess.format, "cvbc"))
        in->module = penta_open(bytes, "cvbc", NULL, 0, err);
    else
        in->module = penta_assemble(bytes, "cvbc", NULL, 0, finding_sink_add, sink);
    const penta_cvbc_named one = {.module = in->module};
    return in->module && penta_cvbc_create(&one, 1, options, count, out, err);
}

/* Makes the container of one input, and reports errors. */
static bool create_container(struct cli *c, struct input *in, bool source,
                             const penta_option *options, size_t count, penta_buffer *out)
{
    penta_bytes text = input_bytes(in);
    struct finding_sink sink;
    finding_sink_init(&sink, c, in->name);
    sink.source = &text;
    penta_error err = {0};
    bool ok = create_build(in, source || is_source(in->name), options, count, &sink, out, &err);
    finding_sink_finish(&sink);
    if (!ok && deadline_reported(c, in->name)) return false;
    if (!ok && err.code)
        cli_error(c, in->name, &err);
    else if (!ok)
        cli_fail(c, EXIT_NO);
    return ok;
}

static void create_one(struct cli *c, struct input *in, bool source)
{
    size_t count = 0;
    penta_option *options = options_for(c, "cvbc", OPTION_CREATE, &count);
    penta_buffer out = {0};
    if (create_container(c, in, source, options, count, &out)) {
        container_rounds_warn(c, in->name, (penta_bytes){out.data, out.size});
        cli_bytes(c, (penta_bytes){out.data, out.size});
    }
    penta_buffer_free(&out);
    free(options);
}

struct program {
    char *name;
    penta_buffer container;
    penta_module *module;
};

/* Returns the name of a program from NAME=FILE, or from FILE, whose name without folder and
 * suffix is used. */
static char *program_name(const char *word, const char **file)
{
    const char *equals = strchr(word, '='), *slash = strchr(word, '/');
    bool named = equals && equals > word && (!slash || slash > equals);
    *file = named ? equals + 1 : word;
    const char *base = strrchr(word, '/'), *dot;
    base = named ? word : base ? base + 1 : word;
    dot = named ? equals : strrchr(base, '.');
    return strndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

/* Options are for the file (signature, encryption), for every program, or for the first program. */
enum share { FOR_FILE, FOR_FIRST, FOR_OTHERS };

static bool option_concerns(const char *key, enum share share)
{
    static const char *const of_file[] = {"sign-key",      "external-key", "hash",
                                          "key-file",      "cipher",       "derive",
                                          "password-file", "iterations",   "keep-debug"};
    static const char *const of_every[] = {"target", "language", "portable", "strip", "compress"};
    bool file = false, every = false;
    for (size_t k = 0; k < sizeof of_file / sizeof *of_file; k++) file |= !strcmp(key, of_file[k]);
    for (size_t k = 0; k < sizeof of_every / sizeof *of_every; k++)
        every |= !strcmp(key, of_every[k]);
    return share == FOR_FILE ? file : share == FOR_OTHERS ? every : !file;
}

static penta_option *options_of(struct cli *c, enum share share, size_t *count)
{
    size_t all = 0, kept = 0;
    penta_option *options = options_for(c, "cvbc", OPTION_CREATE, &all);
    for (size_t i = 0; options && i < all; i++)
        if (option_concerns(options[i].key, share)) options[kept++] = options[i];
    *count = kept;
    return options;
}

static bool make_program(struct cli *c, const char *word, enum share share, struct program *p)
{
    const char *file;
    struct input in;
    p->name = program_name(word, &file);
    if (!p->name || !input_read(c, file, &in)) return false;
    size_t count = 0;
    penta_error err = {0};
    penta_option *options = options_of(c, share, &count);
    bool ok = create_container(c, &in, false, options, count, &p->container);
    if (ok) {
        p->module =
            penta_open((penta_bytes){p->container.data, p->container.size}, "cvbc", NULL, 0, &err);
        if (!p->module) cli_error(c, in.name, &err);
    }
    free(options);
    input_close(&in);
    return p->module != NULL;
}

static void join_programs(struct cli *c, const struct program *programs, size_t count)
{
    penta_cvbc_named *named = calloc(count, sizeof *named);
    size_t option_count = 0;
    penta_option *options = options_of(c, FOR_FILE, &option_count);
    penta_buffer out = {0};
    penta_error err = {0};
    for (size_t i = 0; named && i < count; i++)
        named[i] = (penta_cvbc_named){programs[i].name, programs[i].module};
    if (!named || !options)
        cli_fail(c, EXIT_NO);
    else if (penta_cvbc_create(named, count, options, option_count, &out, &err)) {
        container_rounds_warn(c, NULL, (penta_bytes){out.data, out.size});
        cli_bytes(c, (penta_bytes){out.data, out.size});
    } else
        cli_error(c, NULL, &err);
    penta_buffer_free(&out);
    free(options);
    free(named);
}

static void create_several(struct cli *c)
{
    struct program *programs = calloc(c->word_count, sizeof *programs);
    size_t made = 0;
    while (programs && made < c->word_count &&
           make_program(c, c->words[made], made ? FOR_OTHERS : FOR_FIRST, &programs[made]))
        made++;
    if (made == c->word_count) join_programs(c, programs, made);
    for (size_t i = 0; programs && i < c->word_count; i++) {
        penta_close(programs[i].module);
        penta_buffer_free(&programs[i].container);
        free(programs[i].name);
    }
    free(programs);
}

void command_CREATE(struct cli *c)
{
    struct input in;
    if (c->word_count > 1) {
        create_several(c);
        return;
    }
    if (!input_read(c, c->words[0], &in)) return;
    create_one(c, &in, false);
    input_close(&in);
}

void container_compile(struct cli *c, struct input *in) { create_one(c, in, true); }
