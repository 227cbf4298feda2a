/* Writes the files of --sarif and --junit: what a command found, for other programs. They are
 * written when the command has ended, whatever its exit code, unless its command line was wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/output.h"
#include "cli/terminal/terminal.h"

static bool outcomes_on_stdout(const struct cli *c, enum option option)
{
    return c->value[option] && !strcmp(c->value[option], "-");
}

/* Drops the lines of text that a command prints, when a document needs standard output alone. */
static void outcomes_drop(void *user, penta_bytes piece) { (void)user, (void)piece; }

/* Tells whether standard output gets at most one thing. */
static bool outcomes_one_output(struct cli *c)
{
    bool sarif = outcomes_on_stdout(c, OPT_SARIF), junit = outcomes_on_stdout(c, OPT_JUNIT);
    bool makes_file = tool_options[OPT_OUTPUT].commands >> c->command & 1;
    if (!sarif && !junit) return true;
    const char *other = sarif && junit       ? "--sarif and --junit"
                        : c->value[OPT_JSON] ? "--json"
                        : makes_file && !c->out_is_file
                            ? "the result, which goes there without -o FILE,"
                            : NULL;
    if (!other) return true;
    cli_usage(c, "give one of them the name of a file", "%s cannot share standard output%s%s",
              other, sarif && junit ? "" : " with ",
              sarif && junit ? ""
              : sarif        ? "--sarif"
                             : "--junit");
    return false;
}

bool outcomes_open(struct cli *c)
{
    bool sarif = c->value[OPT_SARIF], junit = c->value[OPT_JUNIT];
    if (!sarif && !junit) return true;
    if (!outcomes_one_output(c)) return false;
    if (sarif) c->sarif = penta_sarif_new();
    if (junit) c->junit = penta_junit_new();
    if ((sarif && !c->sarif) || (junit && !c->junit)) {
        penta_error err = {0};
        error_at(&err, BASE_MEMORY, 0, "no memory for the findings");
        cli_error(c, NULL, &err);
        return false;
    }
    if ((outcomes_on_stdout(c, OPT_SARIF) || outcomes_on_stdout(c, OPT_JUNIT)) && !c->out_is_file)
        c->out.sink = outcomes_drop;
    return true;
}

void outcomes_case(struct cli *c, const penta_case *one)
{
    if (c->junit) penta_junit_add(c->junit, one);
}

void outcomes_finding(struct cli *c, const struct finding *f)
{
    if (c->sarif) {
        penta_sarif_place place = {
            .file = f->file, .path = f->path, .where = f->where, .source = f->source};
        penta_sarif_add(c->sarif, f->error, &place);
    }
}

void outcomes_error(struct cli *c, const struct finding *f)
{
    outcomes_finding(c, f);
    if (c->junit && f->error->severity == PENTA_ERROR) {
        char suite[40];
        snprintf(suite, sizeof suite, "penta %s", commands[c->command].name);
        outcomes_case(c, &(penta_case){.suite = f->file ? f->file : suite,
                                       .name = "-",
                                       .verdict = PENTA_CASE_ERROR,
                                       .message = f->error->message,
                                       .text = f->error->note});
    }
}

void outcomes_omitted(struct cli *c, const char *file, uint64_t more)
{
    penta_error err = {.severity = PENTA_INFO};
    if (!c->sarif) return;
    snprintf(err.message, sizeof err.message,
             "%" PRIu64 " more findings are not here (option 'max-findings')", more);
    penta_sarif_add(c->sarif, &err, &(penta_sarif_place){.file = file});
}

static void outcomes_write(struct cli *c, enum option option, bool ok, penta_bytes text,
                           const penta_error *err)
{
    if (!ok) {
        cli_error(c, NULL, err);
    } else if (!outcomes_on_stdout(c, option)) {
        output_write(c, c->value[option], text);
    } else {
        c->out.out.size = 0; /* The lines were dropped, or the bytes are in a file. */
        c->out.sink = terminal_text;
        c->out_is_binary = false;
        writer_bytes(&c->out, text.data, text.size);
        terminal_ended(c);
    }
}

/* Writes the file of --sarif. The library names options by their keys, also in the texts of
 * rules; the tool writes them as they are typed. */
static void outcomes_write_sarif(struct cli *c)
{
    penta_buffer text = {0};
    penta_error err;
    struct writer named = {0};
    bool ok = penta_sarif_write(c->sarif, &text, &err);
    penta_sarif_free(c->sarif);
    c->sarif = NULL; /* Errors from now on are not in the file. */
    penta_buffer_append(&text, (penta_bytes){(const uint8_t *)"", 1});
    if (ok) option_names(&named, (const char *)text.data);
    outcomes_write(c, OPT_SARIF, ok && writer_ok(&named, &err), writer_view(&named), &err);
    penta_buffer_free(&text);
    writer_free(&named);
}

static void outcomes_write_junit(struct cli *c)
{
    penta_buffer text = {0};
    penta_error err;
    bool ok = penta_junit_write(c->junit, &text, &err);
    penta_junit_free(c->junit);
    c->junit = NULL;
    outcomes_write(c, OPT_JUNIT, ok, (penta_bytes){text.data, text.size}, &err);
    penta_buffer_free(&text);
}

void outcomes_close(struct cli *c)
{
    if (c->sarif) outcomes_write_sarif(c);
    if (c->junit) outcomes_write_junit(c);
}
