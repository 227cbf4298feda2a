/* Implements the command profile, which shows where a run spends its instructions. */
#include <stdio.h>
#include <string.h>
#include "cli/analysis/counted.h"
#include "cli/output.h"
#include "cli/terminal/terminal.h"

enum { ROWS_SHOWN = 40 };

struct options {
    penta_option items[6];
    size_t count;
};

static void profile_add(struct options *o, const char *key, const char *value)
{
    if (value) o->items[o->count++] = (penta_option){key, value};
}

typedef bool view(const penta_profile *profile, const penta_option *options, size_t count,
                  penta_buffer *out, penta_error *err);

/* Makes the text of a profile. Returns false when an error has been reported. */
static bool profile_make(struct cli *c, const struct counted *run, view *what,
                         const struct options *o, penta_buffer *text)
{
    penta_error err = {0};
    bool ok = what(run->profile, o->items, o->count, text, &err);
    if (!ok) cli_error(c, NULL, &err);
    return ok;
}

static void profile_flamegraph(struct cli *c, const struct counted *run)
{
    struct options o = {0};
    penta_buffer text = {0};
    profile_add(&o, "weight", c->value[OPT_WEIGHT]);
    profile_add(&o, "title", run->machine.in.name);
    if (profile_make(c, run, penta_profile_flamegraph, &o, &text))
        output_write(c, c->value[OPT_FLAMEGRAPH], (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

static void profile_folded(struct cli *c, const struct counted *run)
{
    struct options o = {0};
    penta_buffer text = {0};
    profile_add(&o, "weight", c->value[OPT_WEIGHT]);
    if (profile_make(c, run, penta_profile_folded, &o, &text))
        cli_text(c, (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}

static void profile_table(struct cli *c, const struct counted *run)
{
    struct options o = {0};
    penta_buffer text = {0};
    char rows[16];
    bool all = c->value[OPT_ALL] || c->value[OPT_JSON];
    snprintf(rows, sizeof rows, "%d", ROWS_SHOWN);
    profile_add(&o, "by", c->value[OPT_BY]);
    profile_add(&o, "weight", c->value[OPT_WEIGHT]);
    profile_add(&o, "top", c->value[OPT_TOP] ? c->value[OPT_TOP] : all ? NULL : rows);
    profile_add(&o, "json", c->value[OPT_JSON]);
    if (profile_make(c, run, penta_profile_table, &o, &text)) {
        penta_bytes bytes = {text.data, text.size};
        if (c->value[OPT_JSON])
            json_members_of(&c->json, bytes);
        else
            writer_bytes(&c->out, bytes.data, bytes.size);
    }
    penta_buffer_free(&text);
}

static void told_samples(struct cli *c, const struct counted *run)
{
    if (strcmp(penta_profile_unit(run->profile), "samples") || c->value[OPT_QUIET]) return;
    if (!penta_profile_total(run->profile))
        terminal_say(c, "note: the run ended before the first sample; engine interp counts every "
                        "instruction");
}

static bool outputs_allowed(struct cli *c)
{
    const char *path = c->value[OPT_FLAMEGRAPH];
    return !path || output_allowed(c, path);
}

void command_PROFILE(struct cli *c)
{
    struct counted run;
    if (!outputs_allowed(c) || !sampled_run(c, &run)) return;
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "file", run.machine.in.name);
        json_text(&c->json, "stop", stop_name(&run.machine, &run.stop));
    }
    told_samples(c, &run);
    if (c->value[OPT_FLAMEGRAPH]) profile_flamegraph(c, &run);
    if (c->value[OPT_FOLDED])
        profile_folded(c, &run);
    else
        profile_table(c, &run);
    counted_end(c, &run);
}
