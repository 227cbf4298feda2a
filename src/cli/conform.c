/* The command conform runs test vectors through penta/conform.h and prints what failed, then the
 * line "N passed, N failed, N skipped". */
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/terminal/progress.h"
#include "penta/conform.h"

struct conform_run {
    struct cli *cli;
    penta_conform_counts counts;
};

static void conform_unreadable(struct cli *c, const penta_conform_result *r)
{
    penta_error err = *r->error;
    if (err.code == BASE_LIMIT) error_note(&err, "--max-input raises the limit");
    cli_error(c, r->path, &err);
}

/* Adds the case of a file to the file of --junit. A file without vectors is not a case. */
static void conform_case(struct cli *c, const penta_conform_result *r)
{
    static const penta_case_verdict verdicts[] = {[PENTA_CONFORM_PASS] = PENTA_CASE_PASSED,
                                                  [PENTA_CONFORM_FAIL] = PENTA_CASE_FAILED,
                                                  [PENTA_CONFORM_SKIP] = PENTA_CASE_SKIPPED};
    struct writer message = {0};
    if (!c->junit || r->verdict == PENTA_CONFORM_OTHER) return;
    if (r->expected) writer_print(&message, "expected %s, got ", r->expected);
    if (r->got) writer_text(&message, r->got);
    writer_char(&message, 0);
    if (!message.failed)
        outcomes_case(c, &(penta_case){.suite = r->path,
                                       .name = r->name ? r->name : "-",
                                       .verdict = verdicts[r->verdict],
                                       .message = (const char *)message.out.data});
    writer_free(&message);
}

static void conform_result(void *user, const penta_conform_result *r)
{
    struct conform_run *run = user;
    struct cli *c = run->cli;
    const char *verdict = penta_conform_verdict_name(r->verdict);
    progress_count(c, run->counts.passed, run->counts.failed);
    if (r->verdict == PENTA_CONFORM_UNREADABLE) {
        conform_unreadable(c, r);
        return;
    }
    conform_case(c, r);
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", r->path);
        if (r->name) json_text(&c->json, "case", r->name);
        json_text(&c->json, "verdict", verdict);
        if (r->expected) json_text(&c->json, "expected", r->expected);
        if (r->got) json_text(&c->json, "got", r->got);
        json_end(&c->json);
        return;
    }
    if (r->verdict == PENTA_CONFORM_PASS) return;
    if (r->verdict == PENTA_CONFORM_OTHER) {
        writer_safe(&c->out, bytes_of(r->path));
        writer_text(&c->out, ": not a test vector of a known form\n");
        return;
    }
    writer_print(&c->out, "%s ", verdict);
    writer_safe(&c->out, bytes_of(r->path));
    writer_text(&c->out, " ");
    writer_safe(&c->out, bytes_of(r->name));
    if (r->expected) {
        writer_text(&c->out, ": expected ");
        writer_safe(&c->out, bytes_of(r->expected));
        writer_text(&c->out, ", got ");
    } else {
        writer_text(&c->out, ": ");
    }
    writer_safe(&c->out, bytes_of(r->got ? r->got : ""));
    writer_char(&c->out, '\n');
}

static void conform_argument(struct conform_run *run, const penta_conform_options *options,
                             const char *path)
{
    penta_conform_counts before = run->counts, *now = &run->counts;
    if (run->cli->given_name == path)
        penta_conform_document(options, path, run->cli->given, now);
    else
        penta_conform_path(options, path, now);
    if (now->passed + now->failed + now->skipped > before.passed + before.failed + before.skipped ||
        now->unreadable > before.unreadable)
        return;
    penta_error err = {0};
    error_at(&err, BASE_UNKNOWN_FORMAT, 0,
             now->documents > before.documents
                 ? "this only lists other files; name those or the folder"
                 : "no test case here");
    cli_error(run->cli, path, &err);
}

void command_CONFORM(struct cli *c)
{
    struct conform_run run = {.cli = c};
    penta_conform_options options = {.engine = c->value[OPT_ENGINE],
                                     .exec = c->value[OPT_EXEC],
                                     .device = c->value[OPT_DEVICE],
                                     .result = conform_result,
                                     .user = &run};
    options.input_max = cli_number(c, OPT_MAX_INPUT, options.input_max);
    progress_begin(c, "conform", false);
    if (c->value[OPT_JSON]) json_list(&c->json, "cases");
    for (size_t i = 0; i < c->word_count; i++) conform_argument(&run, &options, c->words[i]);
    const penta_conform_counts *k = &run.counts;
    progress_end(c);
    if (c->value[OPT_JSON]) {
        json_end(&c->json);
        json_uint(&c->json, "passed", k->passed);
        json_uint(&c->json, "failed", k->failed);
        json_uint(&c->json, "skipped", k->skipped);
    } else {
        cli_unbound(c);
        writer_print(&c->out, "%zu passed, %zu failed", k->passed, k->failed);
        if (k->skipped) writer_print(&c->out, ", %zu skipped", k->skipped);
        writer_char(&c->out, '\n');
    }
    if (k->failed || !k->passed || (k->skipped && c->value[OPT_STRICT])) cli_fail(c, EXIT_NO);
}
