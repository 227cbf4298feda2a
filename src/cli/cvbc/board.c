/* The command board checks a container against a board, writes the sources of a board, and lists
 * the boards that penta knows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/output.h"
#include "cli/cvbc/container.h"

static void check_one(struct cli *c, const char *name, const char *board, const char *board_name)
{
    struct input in;
    if (!container_open(c, name, &in)) return;
    struct finding_sink sink;
    finding_sink_init(&sink, c, name);
    sink.module = in.module;
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
    }
    bool fits = penta_cvbc_board_check(in.module, board, finding_sink_add, &sink);
    finding_sink_finish(&sink);
    if (c->value[OPT_JSON]) {
        json_bool(&c->json, "fits", fits);
        diagnostics_json(c);
        json_end(&c->json);
    } else if (fits) {
        writer_safe(&c->out, bytes_of(name));
        writer_print(&c->out, ": fits %s\n", board_name);
    }
    if (!fits) cli_fail(c, sink.exit);
    input_close(&in);
}

static void board_check(struct cli *c)
{
    const char *name = container_option(c, "board");
    penta_cvbc_board board;
    penta_error err = {0};
    if (!name) {
        cli_usage(c, "penta board list names them", "penta board check needs --board NAME");
        return;
    }
    if (!penta_cvbc_board_find(name, &board, &err)) {
        cli_error(c, NULL, &err);
        return;
    }
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 1; i < c->word_count; i++) check_one(c, c->words[i], name, board.name);
    if (c->value[OPT_JSON]) json_end(&c->json);
}

/* Tells whether the file has these bytes already. It is then not written, so that builds see no
 * change. */
static bool board_unchanged(const char *path, const penta_buffer *bytes)
{
    FILE *file = fopen(path, "rb"); /* The file is not read as an input, because inputs may not
                                     * be written. */
    char *old = file ? malloc(bytes->size + 1) : NULL;
    bool same = old && fread(old, 1, bytes->size + 1, file) == bytes->size &&
                (!bytes->size || !memcmp(old, bytes->data, bytes->size));
    if (file) fclose(file);
    free(old);
    return same;
}

static void write_files(struct cli *c, const char *folder,
                        penta_buffer out[PENTA_CVBC_TRINITY_FILES])
{
    penta_error err = {0};
    if (mkdir(folder, 0777) && errno != EEXIST)
        error_at(&err, BASE_IO, 0, "cannot create '%.60s': %s", folder, strerror(errno));
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < PENTA_CVBC_TRINITY_FILES && !err.code; i++) {
        size_t size = strlen(folder) + strlen(penta_cvbc_trinity_name(i)) + 2;
        char *path = malloc(size);
        if (!path) break;
        snprintf(path, size, "%s/%s", folder, penta_cvbc_trinity_name(i));
        if ((board_unchanged(path, &out[i]) ||
             output_write(c, path, (penta_bytes){out[i].data, out[i].size})) &&
            c->value[OPT_JSON])
            json_text(&c->json, NULL, path);
        free(path);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (err.code) cli_error(c, NULL, &err);
}

static void board_generate(struct cli *c)
{
    const char *folder = c->value[OPT_OUTPUT];
    c->value[OPT_OUTPUT] = NULL; /* The output is a folder, which is written here. */
    size_t count = c->word_count - 1, opened = 0;
    struct input *in = calloc(count + 1, sizeof *in);
    const penta_module **modules = calloc(count + 1, sizeof *modules);
    penta_buffer out[PENTA_CVBC_TRINITY_FILES] = {{0}};
    penta_error err = {0};
    if (!folder || !strcmp(folder, "-"))
        cli_usage(c, NULL, "penta board generate needs -o FOLDER");
    else if (in && modules)
        while (opened < count && container_open(c, c->words[opened + 1], &in[opened])) {
            modules[opened] = in[opened].module;
            const penta_error *objection = penta_cvbc_objection(modules[opened]);
            if (objection) cli_error(c, in[opened].name, objection);
            opened++;
        }
    if (folder && opened == count && !c->exit) {
        if (penta_cvbc_trinity(modules, count, container_option(c, "board"), out, &err))
            write_files(c, folder, out);
        else
            cli_error(c, NULL, &err);
    }
    for (size_t i = 0; i < opened; i++) input_close(&in[i]);
    for (int i = 0; i < PENTA_CVBC_TRINITY_FILES; i++) penta_buffer_free(&out[i]);
    free(modules);
    free(in);
}

/* Writes the files of boards that have a name, as a start for boards of one's own. */
static void board_show(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "boards");
    for (size_t i = 1; i < c->word_count && !c->exit; i++) {
        penta_buffer text = {0};
        penta_error err = {0};
        if (!penta_cvbc_board_text(c->words[i], &text, &err)) {
            cli_error(c, NULL, &err);
        } else if (c->value[OPT_JSON]) {
            json_object(&c->json, NULL);
            json_text(&c->json, "name", c->words[i]);
            json_string(&c->json, "text", (penta_bytes){text.data, text.size});
            json_end(&c->json);
        } else {
            cli_bytes(c, (penta_bytes){text.data, text.size});
        }
        penta_buffer_free(&text);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
}

void command_BOARD(struct cli *c)
{
    const char *verb = c->word_count ? c->words[0] : "";
    bool files = c->word_count > 1;
    if (!strcmp(verb, "list")) {
        if (c->value[OPT_JSON]) json_list(&c->json, "boards");
        for (size_t i = 0; penta_cvbc_board_name(i); i++)
            if (c->value[OPT_JSON])
                json_text(&c->json, NULL, penta_cvbc_board_name(i));
            else
                writer_print(&c->out, "%s\n", penta_cvbc_board_name(i));
        if (c->value[OPT_JSON]) json_end(&c->json);
    } else if (!strcmp(verb, "show") && files) {
        board_show(c);
    } else if (!strcmp(verb, "check") && files) {
        board_check(c);
    } else if (!strcmp(verb, "generate") && files) {
        board_generate(c);
    } else {
        static const char usage[] = "usage: penta board check|generate|list|show [FILE...]";
        if (!*verb)
            cli_usage(c, usage, "penta board needs a verb");
        else if (files)
            cli_usage(c, usage, "penta board has no verb '%.40s'", verb);
        else
            cli_usage(c, usage, "penta board %.40s needs FILE...", verb);
    }
}
