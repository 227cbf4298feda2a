/* Implements the command batch: the command line of a batch, its progress, and its last lines. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/batch/batch.h"
#include "cli/batch/shards.h"
#include "cli/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"

bool batch_job_fill(struct cli *c, penta_batch_job *job)
{
    if (!c->value[OPT_RESULTS]) {
        cli_usage(c, NULL,
                  "penta batch needs -o RESULTS, the file that gets a line for each source");
        return false;
    }
    job->verb = commands[c->verb].name;
    job->arguments = c->verb_words;
    job->argument_count = c->verb_word_count;
    job->results = c->value[OPT_RESULTS];
    job->jobs = (unsigned)cli_number(c, OPT_JOBS, 0);
    job->file_memory = cli_number(c, OPT_FILE_MEMORY, job->file_memory);
    job->file_timeout = cli_seconds(c, OPT_FILE_TIMEOUT, job->file_timeout);
    job->from = c->value[OPT_NAMES_FROM];
    job->shard = c->value[OPT_SHARD];
    job->fields = c->value[OPT_FIELDS];
    job->files_to = c->value[OPT_FILES_TO];
    job->cache = c->value[OPT_CACHE];
    job->grid = c->value[OPT_GRID];
    return true;
}

/* Takes the words after `first` as sources. */
bool batch_sources_fill(struct cli *c, size_t first, penta_batch_job *job)
{
    job->sources = c->words + first;
    job->source_count = c->word_count - first;
    if (job->source_count || job->from) return true;
    cli_usage(c, "files, folders, archives, or --from FILE with their names",
              "penta batch %s needs sources", job->verb);
    return false;
}

/* Checks the options of the verb. The worker would refuse wrong ones, too, but could not report
 * them. */
bool batch_verb_checked(struct cli *c)
{
    struct cli parsed;
    char **argv = NULL;
    if (c->verb == COMMANDS || !batch_verb_find(c->verb)) {
        const char *verb = c->word_count ? c->words[0] : "";
        cli_usage(c, "penta help batch lists the verbs: detect, info, validate, dis, run ...",
                  *verb ? "penta batch does not run '%.40s'" : "penta batch needs a verb%s", verb);
        return false;
    }
    bool ok = batch_verb_parse(&parsed, commands[c->verb].name, c->verb_words, c->verb_word_count,
                               NULL, &argv);
    for (size_t i = 0; i < parsed.diagnostic_count; i++) {
        cli_error(c, NULL, &parsed.diagnostics[i].error);
        free(parsed.diagnostics[i].file);
        free(parsed.diagnostics[i].path);
    }
    ok = ok && batch_options_allowed(c, &parsed);
    if (!ok) cli_fail(c, EXIT_USAGE);
    free(parsed.diagnostics);
    writer_free(&parsed.codes);
    cli_parse_free(&parsed);
    for (char **word = argv; word && *word; word++) free(*word);
    free(argv);
    return ok;
}

static volatile sig_atomic_t batch_interrupted;

static void batch_interrupt(int number)
{
    (void)number;
    batch_interrupted = 1;
}

struct batch_watch {
    struct cli *cli;
    struct timespec start;
    double said, every; /* times in seconds: when the last line was printed, and the interval
                         * between lines */
    bool terminal;
};

static double batch_elapsed(const struct batch_watch *w)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - w->start.tv_sec) + (double)(now.tv_nsec - w->start.tv_nsec) / 1e9;
}

/* Writes a text such as "yes 120, no 3". */
static void batch_verdicts(char *text, size_t size, const penta_batch_totals *t)
{
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < 256 && used < size; i++) {
        const char *name = cli_exit_name(i);
        char word[24];
        if (!t->exits[i]) continue;
        if (name)
            snprintf(word, sizeof word, "%s", name);
        else
            snprintf(word, sizeof word, "signal %d", i - 128);
        for (char *p = word; *p; p++) *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        used += (size_t)snprintf(text + used, size - used, "%s%s %" PRIu64, used ? ", " : "", word,
                                 t->exits[i]);
    }
}

static void batch_progress_line(struct batch_watch *w, const penta_batch_totals *t, char *line,
                                size_t size)
{
    char verdicts[200], left[40] = "";
    double seconds = batch_elapsed(w),
           rate = seconds > 0 ? (double)(t->done - t->reused) / seconds : 0;
    batch_verdicts(verdicts, sizeof verdicts, t);
    double part = t->listed ? t->part * (double)t->done / (double)t->listed : 0;
    if (part > 0.01 && part < 1)
        snprintf(left, sizeof left, ", %.0f s left", seconds * (1 - part) / part);
    snprintf(line, size, "%" PRIu64 " of %" PRIu64 "%s files, %.0f a second%s: %s", t->done,
             t->listed, t->part < 1 ? "+" : "", rate, left, verdicts);
}

static bool batch_tick(void *user, const penta_batch_totals *t)
{
    struct batch_watch *w = user;
    char line[400];
    double seconds = batch_elapsed(w);
    if (!w->cli->value[OPT_QUIET] && w->terminal && seconds > 0.5) {
        batch_progress_line(w, t, line, sizeof line);
        progress_text(w->cli, line);
    } else if (!w->cli->value[OPT_QUIET] && !w->terminal && seconds - w->said >= w->every) {
        w->said = seconds;
        batch_progress_line(w, t, line, sizeof line);
        terminal_say(w->cli, "%s", line);
    }
    return !batch_interrupted;
}

static void batch_summary(struct cli *c, const penta_batch_job *job, const penta_batch_totals *t)
{
    char verdicts[200];
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "results", job->results);
        json_uint(&c->json, "sources", t->done);
        json_uint(&c->json, "reused", t->reused);
        json_bool(&c->json, "complete", t->complete);
        json_object(&c->json, "exits");
        for (int i = 0; i < 256; i++) {
            char name[8];
            snprintf(name, sizeof name, "%d", i);
            if (t->exits[i]) json_uint(&c->json, name, t->exits[i]);
        }
        json_end(&c->json);
        return;
    }
    if (c->value[OPT_QUIET]) return;
    batch_verdicts(verdicts, sizeof verdicts, t);
    writer_safe(&c->out, bytes_of(job->results));
    writer_print(&c->out, ": %" PRIu64 " sources", t->done);
    if (t->reused) writer_print(&c->out, " (%" PRIu64 " from before)", t->reused);
    writer_print(&c->out, ": %s%s\n", *verdicts ? verdicts : "nothing",
                 t->complete ? "" : "; not complete");
}

static void batch_run(struct cli *c, const penta_batch_job *given)
{
    penta_batch_job job = *given;
    penta_batch_totals totals;
    penta_error err;
    struct sigaction stop = {.sa_handler = batch_interrupt}, before, before_term;
    struct batch_watch watch = {.cli = c, .every = 30};
    watch.every = cli_seconds(c, OPT_PROGRESS, watch.every);
    clock_gettime(CLOCK_MONOTONIC, &watch.start);
    progress_begin(c, "batch", false);
    watch.terminal = c->progress;
    batch_interrupted = 0;
    sigaction(SIGINT, &stop, &before);
    sigaction(SIGTERM, &stop, &before_term);
    job.tick = batch_tick;
    job.user = &watch;
    job.program = "/proc/self/exe";
    bool ok = penta_batch_run(&job, &totals, &err);
    sigaction(SIGINT, &before, NULL);
    sigaction(SIGTERM, &before_term, NULL);
    progress_end(c);
    if (!ok) cli_error(c, NULL, &err);
    if (ok) batch_summary(c, &job, &totals);
    if (ok && totals.complete) batch_outcomes(c, job.verb, job.results);
    if (ok && !totals.complete) {
        if (!c->value[OPT_QUIET])
            terminal_say(c, "interrupted: the same command continues where this one stopped");
        cli_fail(c, EXIT_INTERRUPTED);
    }
    if (ok && c->value[OPT_EXIT_VERDICT]) cli_fail(c, totals.exit_max);
}

void command_BATCH(struct cli *c)
{
    penta_batch_job job = {0};
    if (batch_action(c)) return;
    if (!batch_verb_checked(c) || !batch_job_fill(c, &job) || !batch_sources_fill(c, 1, &job))
        return;
    if (job.shard && (c->sarif || c->junit))
        cli_usage(c, "give it to penta batch merge", "--%s is for the results of all shards",
                  c->sarif ? "sarif" : "junit");
    else
        batch_run(c, &job);
}
