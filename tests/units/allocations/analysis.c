/* Tries penta/structure.h, penta/profile.h and penta/report.h on a file of any format. */
#include <string.h>
#include "allocations.h"
#include "base/error.h"
#include "penta/debug.h"
#include "penta/profile.h"
#include "penta/report.h"
#include "penta/structure.h"

/* Adds the result of a call. A feature that a format does not have is no failure. */
static void analysis_test_take(struct outcome *o, bool ok, penta_buffer *out,
                               const penta_error *err)
{
    if (!ok && err->code != BASE_UNSUPPORTED) outcome_ok(o, false, err);
    outcome_buffer(o, out);
}

static void analysis_test_edge(void *user, const penta_edge *e)
{
    outcome_bytes(user, &e->kind, sizeof e->kind);
}
static void analysis_test_call(void *user, const penta_call_site *s)
{
    outcome_bytes(user, &s->pc, sizeof s->pc);
}
static void analysis_test_line(void *user, const penta_line *l)
{
    outcome_bytes(user, &l->line, sizeof l->line);
}
static void analysis_test_size(void *user, const penta_size *s)
{
    outcome_bytes(user, s->name, strlen(s->name));
}

static void try_structure(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    size_t number = 0;
    penta_structure *s = penta_structure_new(g->module, &err);
    if (!s) {
        if (err.code != BASE_UNSUPPORTED) outcome_ok(o, false, &err);
        return;
    }
    analysis_test_take(o, penta_structure_json(s, &out, &err), &out, &err);
    const penta_function *f = penta_structure_function_at(s, 0);
    if (f && outcome_ok(o, penta_structure_named(s, f->name, &number, &err), &err))
        outcome_bytes(o, &number, sizeof number);
    for (size_t i = 0; penta_structure_block_at(s, i); i++)
        penta_structure_edges(s, i, analysis_test_edge, o);
    penta_structure_calls(s, analysis_test_call, o);
    analysis_test_take(o, penta_structure_arrows_json(s, 0, UINT64_MAX, 8, &out, &err), &out, &err);
    penta_structure_free(s);
    penta_option arrows = {"arrows", "utf8"};
    analysis_test_take(o, penta_print_code(g->module, &arrows, 1, &out, &err), &out, &err);
}

static void try_report(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_report_input input = {.module = g->module, .title = "title"};
    penta_error err = {0};
    penta_buffer out = {0};
    analysis_test_take(o, penta_report_html(&input, &out, &err), &out, &err);
}

static void try_sizes(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    bool ok = penta_sizes(g->module, analysis_test_size, o, &err);
    if (!ok && err.code != BASE_UNSUPPORTED) outcome_ok(o, false, &err);
}

static void try_places(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    uint64_t pc = 0;
    analysis_test_take(o, penta_parts_json(g->module, &out, &err), &out, &err);
    penta_lines(g->module, analysis_test_line, o);
    bool found = penta_find_code(g->module, "0", &pc, &err);
    if (!found && err.code == BASE_MEMORY) outcome_ok(o, false, &err);
}

void code_scenarios(const struct subject *g)
{
    scenario("structure", try_structure, g);
    scenario("sizes", try_sizes, g);
    scenario("places", try_places, g);
    scenario("report", try_report, g);
}

static void profile_views(struct outcome *o, penta_profile *p)
{
    static const char *const kinds[] = {"function", "block", "line", "instruction"};
    penta_error err = {0};
    penta_buffer out = {0};
    for (size_t i = 0; i < 4; i++) {
        penta_option options[] = {{"by", kinds[i]}, {"json", "1"}};
        analysis_test_take(o, penta_profile_table(p, options, 1 + i % 2, &out, &err), &out, &err);
    }
    analysis_test_take(o, penta_profile_folded(p, NULL, 0, &out, &err), &out, &err);
    analysis_test_take(o, penta_profile_flamegraph(p, NULL, 0, &out, &err), &out, &err);
}

static void coverage_views(struct outcome *o, penta_profile *p)
{
    static const penta_option options[] = {{"uncovered", "1"}, {"json", "1"}};
    penta_error err = {0};
    penta_buffer out = {0};
    for (size_t i = 0; i < 3; i++)
        analysis_test_take(
            o, penta_profile_coverage(p, &options[i ? i - 1 : 0], i != 0, &out, &err), &out, &err);
    analysis_test_take(o, penta_profile_lcov(p, &out, &err), &out, &err);
    analysis_test_take(o, penta_profile_html(p, NULL, 0, &out, &err), &out, &err);
    if (!outcome_ok(o, penta_profile_write(p, &out, &err), &err)) return;
    if (outcome_ok(o, penta_profile_read(p, view_of(&out), &err), &err) &&
        outcome_ok(o, penta_profile_add(p, p, &err), &err)) {
        uint64_t total = penta_profile_total(p);
        outcome_bytes(o, &total, sizeof total);
    }
    penta_buffer_free(&out);
}

static void try_profile(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_stop stop = {0};
    penta_session *s = subject_session(g, g->engine, o);
    if (!s) return;
    if (outcome_ok(o, penta_session_count(s, &err), &err)) {
        penta_session_run(s, 200, &stop);
        outcome_stop(o, &stop);
        outcome_failure(o, s);
        penta_profile *p = penta_profile_new(s, &err);
        if (outcome_ok(o, p, &err)) profile_views(o, p);
        if (p) coverage_views(o, p);
        penta_report_input input = {.module = g->module, .profile = p};
        penta_buffer page = {0};
        if (p) analysis_test_take(o, penta_report_html(&input, &page, &err), &page, &err);
        penta_profile_free(p);
    }
    penta_session_free(s);
}

static void try_samples(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_session *s = subject_session(g, "jit", o);
    if (!s) return;
    if (outcome_ok(o, penta_session_sample(s, &err), &err)) {
        penta_profile *p = penta_profile_new(s, &err);
        if (outcome_ok(o, p, &err)) profile_views(o, p);
        penta_profile_free(p);
    } else if (err.code == BASE_UNSUPPORTED) { /* This host cannot compile. */
        *o = (struct outcome){.ok = true};
    }
    penta_session_free(s);
}

void profile_scenarios(const struct subject *g)
{
    bool compiles = false;
    const char *name;
    for (size_t i = 0; (name = penta_engine_name(g->format, i)); i++)
        compiles |= !strcmp(name, "jit");
    scenario("profile", try_profile, g);
    if (compiles) scenario("samples", try_samples, g);
}
