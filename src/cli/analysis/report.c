/* Implements the command report, which shows everything about a file as one page for a browser. */
#include "penta/report.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"

static bool add_counts(struct cli *c, penta_profile *profile, const char *path)
{
    struct input in;
    penta_error err = {0};
    if (!input_read(c, path, &in)) return false;
    bool ok = penta_profile_read(profile, input_bytes(&in), &err);
    if (!ok) cli_error(c, path, &err);
    input_close(&in);
    return ok;
}

/* Returns the counts of all files of --cover together, or NULL when an error has been reported. */
static penta_profile *report_counts(struct cli *c, const struct input *in)
{
    penta_error err = {0};
    penta_profile *profile = penta_profile_empty(in->module, &err);
    char *list = strdup(c->value[OPT_COVER]), *rest = list;
    bool ok = profile && list;
    if (!profile) cli_error(c, in->name, &err);
    for (char *path; ok && (path = strsep(&rest, ","));) ok = add_counts(c, profile, path);
    free(list);
    if (ok) return profile;
    penta_profile_free(profile);
    return NULL;
}

static void write_page(struct cli *c, const struct input *in, const penta_profile *profile,
                       const struct input *paths)
{
    penta_buffer page = {0};
    penta_error err = {0};
    const char *slash = strrchr(in->name, '/');
    const char *title = slash && slash[1] ? slash + 1 : in->name;
    penta_report_input input = {.module = in->module,
                                .profile = profile,
                                .folded = input_bytes(paths),
                                .title = strcmp(in->name, "-") ? title : NULL,
                                .all = c->value[OPT_ALL] != NULL};
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "file", in->name);
        json_text(&c->json, "format", penta_module_format(in->module));
    }
    if (!penta_report_html(&input, &page, &err)) {
        /* The error is about the file of paths, or about no file. */
        cli_error(c, err.code == BASE_RANGE ? paths->name : in->name, &err);
    } else {
        c->out_is_binary = true;
        cli_text(c, (penta_bytes){page.data, page.size});
    }
    penta_buffer_free(&page);
}

void command_REPORT(struct cli *c)
{
    struct input in, paths = {0};
    if (!c->value[OPT_OUTPUT] && !c->value[OPT_JSON] && isatty(STDOUT_FILENO)) {
        cli_usage(c, "-o FILE writes it", "a report is a page for a browser");
        return;
    }
    if (!input_open(c, c->words[0], &in)) return;
    penta_profile *profile = NULL;
    bool ok = !c->value[OPT_COVER] || (profile = report_counts(c, &in));
    ok = ok && (!c->value[OPT_PROFILE] || input_read(c, c->value[OPT_PROFILE], &paths));
    if (ok) write_page(c, &in, profile, &paths);
    penta_profile_free(profile);
    input_close(&paths);
    input_close(&in);
}
