/* Implements the command device: scripts of calls on the mock GPU, and replay of its traces. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "cli/terminal/progress.h"
#include "base/sanitize.h"
#include "penta/device.h"

static void device_complain(struct cli *c, const char *name, penta_bytes text,
                            const penta_error *err)
{
    if (err->code == BASE_OPTION_VALUE) { /* The error is about an option, not about the script. */
        cli_error(c, NULL, err);
        return;
    }
    struct finding_sink sink;
    finding_sink_init(&sink, c, name);
    sink.source = &text;
    writer_flush(&c->out);
    finding_sink_add(&sink, err);
    finding_sink_finish(&sink);
    cli_fail(c, cli_exit_of(err->code));
}

/* Returns the folder of a script, to which file names in it are relative. The caller frees it.
 * NULL means the current folder. */
static char *folder_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? strndup(name, slash == name ? 1 : (size_t)(slash - name)) : NULL;
}

/* Writes the calls of a run, as text or into the document. */
static void device_calls(struct cli *c, penta_bytes out)
{
    struct writer calls = {.out = {.data = (uint8_t *)out.data, .size = out.size}};
    struct json made = {.out = &calls};
    if (!c->value[OPT_JSON])
        writer_bytes(&c->out, out.data, out.size);
    else if (out.size)
        json_embed(&c->json, "calls", &made);
}

/* Adds a case to the file of --junit. `name` tells which run of the script or trace it is. */
static void device_case(struct cli *c, const char *file, const char *name, const char *failure)
{
    outcomes_case(c, &(penta_case){.suite = file,
                                   .name = name,
                                   .verdict = failure ? PENTA_CASE_FAILED : PENTA_CASE_PASSED,
                                   .message = failure});
}

static void device_run(struct cli *c, const char *name, penta_bytes text,
                       const penta_device_options *options)
{
    penta_error err = {0};
    penta_buffer out = {0};
    bool ok = penta_device_run(text, options, c->value[OPT_JSON], &out, &err);
    device_calls(c, (penta_bytes){out.data, out.size});
    if (!ok) device_complain(c, name, text, &err);
    device_case(c, name, "run", ok ? NULL : err.message);
    penta_buffer_free(&out);
}

/* Writes a text such as "1 race: write-write, task 1 ...". */
static void device_races_text(char *text, size_t size, const penta_device_races *races)
{
    snprintf(text, size, "%" PRIu64 " race%s: %s", races->count, races->count == 1 ? "" : "s",
             races->first);
}

static void device_seed_case(struct cli *c, const char *name, uint64_t seed, const char *failure)
{
    char one[32];
    snprintf(one, sizeof one, "seed %" PRIu64, seed);
    device_case(c, name, one, failure);
}

/* Runs a script with --seed: prints the calls, and then the races. */
static void device_run_seed(struct cli *c, const char *name, penta_bytes text,
                            const penta_device_options *options)
{
    penta_error err = {0};
    penta_buffer out = {0};
    penta_device_races races;
    char found[256];
    uint64_t seed = cli_number(c, OPT_SEED, 0);
    bool ok = penta_device_check(text, options, seed, c->value[OPT_JSON], &out, &races, &err);
    device_calls(c, (penta_bytes){out.data, out.size});
    device_races_text(found, sizeof found, &races);
    if (!ok) device_complain(c, name, text, &err);
    if (races.count) cli_fail(c, EXIT_NO);
    if (c->value[OPT_JSON]) {
        json_uint(&c->json, "seed", seed);
        json_uint(&c->json, "races", races.count);
        if (races.count) json_text(&c->json, "race", races.first);
    } else if (races.count) {
        cli_unbound(c);
        writer_print(&c->out, "seed %" PRIu64 ": ", seed);
        writer_safe(&c->out, bytes_of(found));
        writer_char(&c->out, '\n');
    }
    device_seed_case(c, name, seed, !ok ? err.message : races.count ? found : NULL);
    penta_buffer_free(&out);
}

struct schedules {
    uint64_t tried, racing, failed, first; /* `first` is the seed of the first schedule that was
                                            * not good. */
    bool has_first;
    penta_error wrong; /* what is wrong with the script itself, or code 0 */
};

/* Prints one schedule that is not good, in a line or an object. */
static void device_tell_seed(struct cli *c, uint64_t seed, const penta_device_races *races,
                             const penta_error *err)
{
    char found[256] = "";
    if (races->count) device_races_text(found, sizeof found, races);
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_uint(&c->json, "seed", seed);
        json_uint(&c->json, "races", races->count);
        if (races->count) json_text(&c->json, "race", races->first);
        if (err->code) json_text(&c->json, "failure", err->message);
        json_end(&c->json);
        return;
    }
    writer_print(&c->out, "seed %" PRIu64 ": ", seed);
    writer_safe(&c->out, bytes_of(found));
    if (races->count && err->code) writer_text(&c->out, "; ");
    writer_safe(&c->out, bytes_of(err->message));
    writer_char(&c->out, '\n');
}

/* Runs a script under one schedule. Returns false when the script itself is wrong, which no
 * other seed changes. */
static bool device_try_seed(struct cli *c, const char *name, penta_bytes text,
                            const penta_device_options *options, uint64_t seed,
                            struct schedules *all)
{
    penta_error err = {0};
    penta_buffer out = {0};
    penta_device_races races;
    char found[256];
    bool ok = penta_device_check(text, options, seed, false, &out, &races, &err);
    penta_buffer_free(&out);
    if (!ok && err.code != BASE_HOST) {
        all->wrong = err;
        device_seed_case(c, name, seed, err.message);
        return false;
    }
    bool good = ok && !races.count;
    all->tried++;
    all->racing += races.count != 0;
    all->failed += !ok;
    progress_count(c, all->tried - all->racing, all->racing);
    device_races_text(found, sizeof found, &races);
    device_seed_case(c, name, seed, good ? NULL : races.count ? found : err.message);
    if (good) return true;
    if (!all->has_first) all->first = seed;
    all->has_first = true;
    device_tell_seed(c, seed, &races, &err);
    cli_fail(c, EXIT_NO);
    return true;
}

static bool device_seeds(struct cli *c, uint64_t *first, uint64_t *last)
{
    penta_bytes given = bytes_of(c->value[OPT_SEEDS]);
    const uint8_t *dots = memmem(given.data, given.size, "..", 2);
    size_t at = dots ? (size_t)(dots - given.data) : 0;
    penta_error err = {0};
    if (dots && number_parse_bytes(bytes_slice(given, 0, at), first) &&
        number_parse_bytes(bytes_slice(given, at + 2, SIZE_MAX), last) && *first <= *last)
        return true;
    error_at(&err, BASE_OPTION_VALUE, 0, "option 'seeds': '%.40s' is not A..B, with A up to B",
             c->value[OPT_SEEDS]);
    cli_error(c, NULL, &err);
    return false;
}

static void device_run_seeds(struct cli *c, const char *name, penta_bytes text,
                             const penta_device_options *options)
{
    uint64_t first, last;
    struct schedules all = {0};
    if (!device_seeds(c, &first, &last)) return;
    progress_begin(c, "schedules", false);
    if (c->value[OPT_JSON]) json_list(&c->json, "schedules");
    for (uint64_t seed = first; device_try_seed(c, name, text, options, seed, &all); seed++)
        if (seed == last) break;
    progress_end(c);
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (all.wrong.code) device_complain(c, name, text, &all.wrong);
    if (c->value[OPT_JSON]) {
        json_uint(&c->json, "tried", all.tried);
        json_uint(&c->json, "with_races", all.racing);
        json_uint(&c->json, "failed", all.failed);
        if (all.has_first) json_uint(&c->json, "first", all.first);
        return;
    }
    if (all.wrong.code) return;
    cli_unbound(c);
    writer_print(&c->out, "%" PRIu64 " schedules, %" PRIu64 " with races, %" PRIu64 " failed",
                 all.tried, all.racing, all.failed);
    if (all.has_first) writer_print(&c->out, "; --seed %" PRIu64 " repeats the first", all.first);
    writer_char(&c->out, '\n');
}

/* Tells whether the options fit this use: a schedule is for a script, and a trace is of one run. */
static bool device_schedule_allowed(struct cli *c, bool replay)
{
    bool one = c->value[OPT_SEED], many = c->value[OPT_SEEDS];
    if (!one && !many) return true;
    const char *wrong = replay        ? "a trace has its schedule: --seed and --seeds are for run"
                        : one && many ? "either --seed or --seeds"
                        : c->value[OPT_MODE] ? "--mode is always seeded with --seed and --seeds"
                        : many && c->value[OPT_TRACE] ? "--trace is for one schedule: --seed"
                                                      : NULL;
    if (wrong) cli_usage(c, NULL, "%s", wrong);
    return !wrong;
}

static void device_script(struct cli *c, const char *name, penta_bytes text)
{
    char *folder = folder_of(name);
    penta_device_options options = {.device_path = c->value[OPT_DEVICE],
                                    .trace_path = c->value[OPT_TRACE],
                                    .mode = c->value[OPT_MODE],
                                    .folder = folder};
    if (c->value[OPT_SEEDS])
        device_run_seeds(c, name, text, &options);
    else if (c->value[OPT_SEED])
        device_run_seed(c, name, text, &options);
    else
        device_run(c, name, text, &options);
    free(folder);
}

static void device_replay(struct cli *c, const char *name, penta_bytes text)
{
    penta_error err = {0};
    penta_device_replayed result;
    penta_buffer differences = {0};
    if (!penta_device_replay(text, c->value[OPT_DEVICE], &differences, &result, &err)) {
        device_complain(c, name, text, &err);
        device_case(c, name, "replay", err.message);
    } else {
        char found[40];
        snprintf(found, sizeof found, "%llu differences", (unsigned long long)result.differences);
        device_case(c, name, "replay", result.differences ? found : NULL);
        if (result.differences) cli_fail(c, EXIT_NO);
        if (c->value[OPT_JSON]) {
            json_uint(&c->json, "calls", result.calls);
            json_uint(&c->json, "events", result.events);
            json_uint(&c->json, "differences", result.differences);
            json_string(&c->json, "report", (penta_bytes){differences.data, differences.size});
        } else {
            writer_bytes(&c->out, differences.data, differences.size);
            cli_unbound(c);
            writer_print(&c->out, "%llu calls, %llu events, %llu differences\n",
                         (unsigned long long)result.calls, (unsigned long long)result.events,
                         (unsigned long long)result.differences);
        }
    }
    penta_buffer_free(&differences);
}

const char *mode_words(enum command command, const char *only, size_t i)
{
    (void)command, (void)only;
    return penta_device_mode_name(i);
}

void command_DEVICE(struct cli *c)
{
    if (c->word_count != 2 || (strcmp(c->words[0], "run") && strcmp(c->words[0], "replay"))) {
        cli_usage(c, "penta device run SCRIPT, or penta device replay TRACE",
                  "penta device needs run or replay, and one file");
        return;
    }
    struct input in = {0};
    bool replay = !strcmp(c->words[0], "replay");
    if (!device_schedule_allowed(c, replay) || !input_read(c, c->words[1], &in)) return;
    (replay ? device_replay : device_script)(c, c->words[1], input_bytes(&in));
    input_close(&in);
}
