/* Implements the command cover, which shows what of a program ran, in this run and those before
 * it. */
#include <string.h>
#include <unistd.h>
#include "cli/analysis/counted.h"
#include "cli/output.h"

/* Adds the counts of earlier runs, if the file exists. Returns false when an error has been
 * reported. */
static bool add_earlier(struct cli *c, struct counted *run, const char *path)
{
    struct input in;
    penta_error err = {0};
    if (access(path, F_OK)) return true;
    if (!input_read(c, path, &in)) return false;
    bool ok = penta_profile_read(run->profile, input_bytes(&in), &err);
    if (!ok) cli_error(c, path, &err);
    input_close(&in);
    return ok;
}

static bool keep_counts(struct cli *c, struct counted *run)
{
    const char *path = c->value[OPT_DATA];
    penta_buffer text = {0};
    penta_error err = {0};
    if (!path) return true;
    bool ok = add_earlier(c, run, path);
    if (ok && !penta_profile_write(run->profile, &text, &err)) {
        cli_error(c, path, &err);
        ok = false;
    }
    ok = ok && output_rewrite(c, path, (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
    return ok;
}

static void write_file(struct cli *c, const char *path, bool made, penta_buffer *text,
                       const penta_error *err)
{
    if (made)
        output_write(c, path, (penta_bytes){text->data, text->size});
    else
        cli_error(c, path, err);
    penta_buffer_free(text);
}

static void cover_files(struct cli *c, const struct counted *run)
{
    const char *lcov = c->value[OPT_LCOV], *html = c->value[OPT_HTML];
    penta_buffer text = {0};
    penta_error err = {0};
    if (lcov) write_file(c, lcov, penta_profile_lcov(run->profile, &text, &err), &text, &err);
    const penta_option title = {"title", run->machine.in.name};
    if (html)
        write_file(c, html, penta_profile_html(run->profile, &title, 1, &text, &err), &text, &err);
}

static void cover_table(struct cli *c, const struct counted *run)
{
    penta_option options[2];
    size_t count = 0;
    penta_buffer text = {0};
    penta_error err = {0};
    if (c->value[OPT_JSON]) options[count++] = (penta_option){"json", "1"};
    if (c->value[OPT_UNCOVERED]) options[count++] = (penta_option){"uncovered", "1"};
    bool ok = penta_profile_coverage(run->profile, options, count, &text, &err);
    penta_bytes bytes = {text.data, text.size};
    if (!ok)
        cli_error(c, NULL, &err);
    else if (c->value[OPT_JSON])
        json_members_of(&c->json, bytes);
    else
        writer_bytes(&c->out, bytes.data, bytes.size);
    penta_buffer_free(&text);
}

void command_COVER(struct cli *c)
{
    static const enum option paths[] = {OPT_LCOV, OPT_HTML};
    struct counted run;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (c->value[paths[i]] && !output_allowed(c, c->value[paths[i]])) return;
    if (!counted_run(c, &run)) return;
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "file", run.machine.in.name);
        json_text(&c->json, "stop", stop_name(&run.machine, &run.stop));
    }
    if (keep_counts(c, &run)) {
        cover_files(c, &run);
        cover_table(c, &run);
    }
    counted_end(c, &run);
}
