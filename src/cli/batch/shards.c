/* Implements penta batch submit, status, merge and report, which work on results. */
#include "cli/batch/shards.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_read.h"
#include "base/sanitize.h"
#include "cli/output.h"

enum { SHARDS_DEFAULT = 8, SHARDS_A_NODE = 4, SHARDS_SHOWN = 20 };

static const char *batch_one_word(struct cli *c)
{
    if (c->word_count == 2) return c->words[1];
    cli_usage(c, NULL, "usage: penta batch %s RESULTS", c->words[0]);
    return NULL;
}

/* Writes a text such as "yes 120, no 3" from {"0":120,"1":3}. */
static void exits_write(void *user, const char *key, const struct json_object *value)
{
    struct writer *out = user;
    uint64_t count;
    int code = atoi(key);
    const char *name = cli_exit_name(code);
    if (!json_as_uint(value, &count)) return;
    writer_text(out, out->out.size ? ", " : "");
    if (!name) writer_print(out, "signal %d", code - 128);
    for (; name && *name; name++)
        writer_char(out, (char)(*name >= 'A' && *name <= 'Z' ? *name + 32 : *name));
    writer_print(out, " %" PRIu64, count);
}

static void status_shards(struct cli *c, const struct json_object *shards)
{
    size_t count = json_length(shards), done = 0, shown = 0;
    for (size_t i = 0; i < count; i++) {
        const char *state = json_as_text(json_get(json_item(shards, i), "state"));
        done += state && !strcmp(state, "done");
    }
    writer_print(&c->out, "shards: %zu of %zu done\n", done, count);
    for (size_t i = 0; i < count && shown < SHARDS_SHOWN; i++) {
        const struct json_object *shard = json_item(shards, i);
        const char *state = json_as_text(json_get(shard, "state"));
        uint64_t lines = 0;
        json_as_uint(json_get(shard, "lines"), &lines);
        if (!state || !strcmp(state, "done")) continue;
        shown++;
        writer_print(&c->out, "  %zu: %s, %" PRIu64 " lines\n", i, state, lines);
    }
}

static void status_text(struct cli *c, penta_bytes text)
{
    penta_error err = {0};
    struct writer exits = {0};
    struct json_doc *doc = json_parse(text, &err);
    const struct json_object *root = doc ? json_root(doc) : NULL, *best = json_get(root, "best");
    uint64_t lines = 0;
    if (!doc) {
        cli_error(c, NULL, &err);
        return;
    }
    json_as_uint(json_get(root, "lines"), &lines);
    json_each(json_get(root, "exits"), exits_write, &exits);
    writer_safe_text(&c->out, json_as_text(json_get(root, "results")));
    writer_print(&c->out, ": %s, %" PRIu64 " lines, %s\n", json_as_text(json_get(root, "verb")),
                 lines, json_as_bool(json_get(root, "complete")) ? "complete" : "not complete");
    if (exits.out.size) writer_append(&c->out, &exits);
    if (exits.out.size) writer_char(&c->out, '\n');
    if (best) {
        writer_text(&c->out, "best: ");
        writer_safe_text(&c->out, json_as_text(json_get(best, "source")));
        writer_text(&c->out, " ");
        writer_safe_text(&c->out, json_as_text(json_get(best, "grid")));
        writer_print(&c->out, ", accuracy %.4f\n", json_as_float(json_get(best, "accuracy")));
    }
    if (json_length(json_get(root, "shards"))) status_shards(c, json_get(root, "shards"));
    writer_free(&exits);
    json_doc_free(doc);
}

static void batch_status(struct cli *c, const char *results)
{
    penta_buffer text = {0};
    penta_error err;
    if (!penta_batch_status(results, &text, &err))
        cli_error(c, NULL, &err);
    else if (c->value[OPT_JSON])
        json_members_of(&c->json, (penta_bytes){text.data, text.size});
    else
        status_text(c, (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

static void batch_merge(struct cli *c, const char *results)
{
    penta_batch_totals totals;
    penta_error err;
    if (!penta_batch_merge(results, &totals, &err)) {
        cli_error(c, NULL, &err);
        return;
    }
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "results", results);
        json_uint(&c->json, "sources", totals.done);
    } else if (!c->value[OPT_QUIET]) {
        writer_safe(&c->out, bytes_of(results));
        writer_print(&c->out, ": %" PRIu64 " sources\n", totals.done);
    }
    batch_outcomes_of(c, results);
    if (c->value[OPT_EXIT_VERDICT]) cli_fail(c, totals.exit_max);
}

static void batch_report(struct cli *c, const char *results)
{
    penta_buffer page = {0};
    penta_error err;
    const char *path = c->value[OPT_RESULTS];
    batch_outcomes_of(c, results);
    if (!path && (c->sarif || c->junit)) return;
    if (!path) {
        cli_usage(c,
                  "a report is a page for a browser; with --files-to, penta batch report makes a "
                  "page of each source",
                  "penta batch report RESULTS needs -o FILE, --sarif FILE or --junit FILE");
        return;
    }
    if (!penta_batch_report(results, &page, &err)) {
        cli_error(c, NULL, &err);
    } else if (output_write(c, path, (penta_bytes){page.data, page.size}) && c->value[OPT_JSON]) {
        json_text(&c->json, "output", path);
        json_uint(&c->json, "size", page.size);
    }
    penta_buffer_free(&page);
}

static void submit_told(struct cli *c, penta_bytes text)
{
    penta_error err = {0};
    struct json_doc *doc = json_parse(text, &err);
    const struct json_object *root = doc ? json_root(doc) : NULL;
    uint64_t shards = 0;
    if (!doc) {
        cli_error(c, NULL, &err);
        return;
    }
    json_as_uint(json_get(root, "shards"), &shards);
    writer_print(&c->out, "%" PRIu64 " shards: ", shards);
    writer_safe_text(&c->out, json_as_text(json_get(root, "script")));
    if (json_as_bool(json_get(root, "submitted")))
        writer_print(&c->out, ", job %s; job %s merges them\n",
                     json_as_text(json_get(root, "array")), json_as_text(json_get(root, "merge")));
    else
        writer_text(&c->out,
                    ", not submitted: sbatch it, then the merge with --dependency=afterany:ID\n");
    json_doc_free(doc);
}

static void batch_submit(struct cli *c)
{
    penta_batch_job job = {0};
    penta_batch_cluster how = {.dry_run = c->value[OPT_DRY_RUN]};
    penta_buffer text = {0};
    penta_error err;
    if (!c->value[OPT_SLURM]) {
        cli_usage(c, "--slurm; other schedulers start penta batch with --shard auto/N",
                  "penta batch submit: which scheduler?");
        return;
    }
    if (!batch_verb_checked(c) || !batch_job_fill(c, &job) || !batch_sources_fill(c, 2, &job))
        return;
    how.nodes = cli_number(c, OPT_NODES, how.nodes);
    job.planned = how.nodes ? SHARDS_A_NODE * how.nodes : SHARDS_DEFAULT;
    job.program = "/proc/self/exe";
    job.planned = cli_number(c, OPT_SHARDS, job.planned);
    if (!penta_batch_submit(&job, &how, &text, &err))
        cli_error(c, NULL, &err);
    else if (c->value[OPT_JSON])
        json_members_of(&c->json, (penta_bytes){text.data, text.size});
    else
        submit_told(c, (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

bool batch_action(struct cli *c)
{
    const char *word = c->word_count ? c->words[0] : "", *results;
    bool status = !strcmp(word, "status"), merge = !strcmp(word, "merge");
    /* With --files-to it is the verb report, which makes a page of each source. */
    bool report = !strcmp(word, "report") && !c->value[OPT_FILES_TO];
    if (!strcmp(word, "submit")) {
        batch_submit(c);
        return true;
    }
    if (!status && !merge && !report) return false;
    if (!(results = batch_one_word(c))) return true;
    if (status) batch_status(c, results);
    if (merge) batch_merge(c, results);
    if (report) batch_report(c, results);
    return true;
}
