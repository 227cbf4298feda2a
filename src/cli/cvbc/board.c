#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/output.h"
#include "cvbc/host/trinity.h"

static const char *board_option(const struct cli *c)
{
    const char *name = NULL;
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!strcmp(c->format_options[i].key, "board")) name = c->format_options[i].value;
    return name;
}

static bool open_container(struct cli *c, const char *name, struct input *in)
{
    penta_error err = {0};
    if (!input_open(c, name, in)) return false;
    if (in->module->driver != &cvbc_driver)
        error_at(&err, BASE_UNSUPPORTED, 0, "%s files do not run on boards",
                 in->module->driver->name);
    else if (in->module->damage.code)
        error_at(&err, BASE_DAMAGED, in->module->damage.offset, "%.100s",
                 in->module->damage.message);
    if (!err.code) return true;
    cli_error(c, name, &err);
    input_close(in);
    return false;
}

static void check_one(struct cli *c, const char *name, const struct cvbc_board *board)
{
    struct input in;
    if (!open_container(c, name, &in)) return;
    struct finding_sink sink;
    finding_sink_init(&sink, c, name);
    sink.module = in.module;
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
    }
    struct findings f = {.rules = cvbc_rules, .report = finding_sink_add, .user = &sink};
    cvbc_check_full(cvbc_module(in.module), &f);
    const penta_error *objection = f.errors ? NULL : cvbc_objection(cvbc_module(in.module));
    if (objection) findings_pass(&f, objection);
    if (!f.errors) cvbc_board_check(cvbc_module(in.module), board, CVBC_STACK_MAX, &f);
    finding_sink_finish(&sink);
    if (c->value[OPT_JSON]) {
        json_bool(&c->json, "fits", !f.errors);
        diagnostics_json(c);
        json_end(&c->json);
    } else if (!f.errors) {
        writer_safe(&c->out, bytes_of(name));
        writer_print(&c->out, ": fits %s\n", board->name);
    }
    if (f.errors) cli_fail(c, sink.exit);
    input_close(&in);
}

static void check(struct cli *c)
{
    const char *name = board_option(c);
    struct cvbc_board board;
    penta_error err = {0};
    if (!name) {
        cli_usage(c, "penta board list names them", "penta board check needs --board NAME");
        return;
    }
    if (!cvbc_board_find(name, &board, &err)) {
        cli_error(c, NULL, &err);
        return;
    }
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 1; i < c->word_count; i++) check_one(c, c->words[i], &board);
    if (c->value[OPT_JSON]) json_end(&c->json);
}

static void write_files(struct cli *c, const char *folder, struct writer out[TRINITY_FILES])
{
    penta_error err = {0};
    if (mkdir(folder, 0777) && errno != EEXIST)
        error_at(&err, BASE_IO, 0, "cannot create '%.60s': %s", folder, strerror(errno));
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (int i = 0; i < TRINITY_FILES && !err.code; i++) {
        size_t size = strlen(folder) + strlen(cvbc_trinity_names[i]) + 2;
        char *path = malloc(size);
        if (!path) break;
        snprintf(path, size, "%s/%s", folder, cvbc_trinity_names[i]);
        if (output_write(c, path, writer_view(&out[i])) && c->value[OPT_JSON])
            json_text(&c->json, NULL, path);
        free(path);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (err.code) cli_error(c, NULL, &err);
}

static void generate(struct cli *c)
{
    const char *folder = c->value[OPT_OUTPUT], *name = board_option(c);
    c->value[OPT_OUTPUT] = NULL; /* a folder, written here */
    size_t count = c->word_count - 1, opened = 0;
    struct input *in = calloc(count + 1, sizeof *in);
    const struct cvbc_module **modules = calloc(count + 1, sizeof *modules);
    struct writer out[TRINITY_FILES] = {{.sink = NULL}};
    struct cvbc_board board;
    penta_error err = {0};
    if (!folder || !strcmp(folder, "-"))
        cli_usage(c, NULL, "penta board generate needs -o FOLDER");
    else if (in && modules)
        while (opened < count && open_container(c, c->words[opened + 1], &in[opened])) {
            modules[opened] = cvbc_module(in[opened].module);
            const penta_error *objection = cvbc_objection(modules[opened]);
            if (objection) cli_error(c, in[opened].name, objection);
            opened++;
        }
    if (folder && opened == count && !c->exit) {
        if ((!name || cvbc_board_find(name, &board, &err)) &&
            cvbc_trinity(modules, count, name ? &board : NULL, out, &err))
            write_files(c, folder, out);
        else
            cli_error(c, NULL, &err);
    }
    for (size_t i = 0; i < opened; i++) input_close(&in[i]);
    for (int i = 0; i < TRINITY_FILES; i++) writer_free(&out[i]);
    free(modules);
    free(in);
}

void command_BOARD(struct cli *c)
{
    const char *verb = c->word_count ? c->words[0] : "";
    bool files = c->word_count > 1;
    if (!strcmp(verb, "list")) {
        if (c->value[OPT_JSON]) json_list(&c->json, "boards");
        for (size_t i = 0; cvbc_board_name(i); i++)
            if (c->value[OPT_JSON])
                json_text(&c->json, NULL, cvbc_board_name(i));
            else
                writer_print(&c->out, "%s\n", cvbc_board_name(i));
        if (c->value[OPT_JSON]) json_end(&c->json);
    } else if (!strcmp(verb, "check") && files) {
        check(c);
    } else if (!strcmp(verb, "generate") && files) {
        generate(c);
    } else {
        cli_usage(c, "usage: penta board check|generate|list [FILE...]",
                  *verb && files ? "penta board cannot '%.40s'" : "penta board %s needs FILE...",
                  verb);
    }
}
