/* Tries penta.h on a file of any format. */
#include <stdio.h>
#include <string.h>
#include "allocations.h"
#include "base/error.h"
#include "base/writer.h"
#include "penta/record.h"
#include "penta/results.h"
#include "penta/views.h"

enum { FUEL = 2000 };

static void try_open(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_module *m = penta_open(g->file, g->format, NULL, 0, &err);
    if (!outcome_ok(o, m, &err)) return;
    const penta_error *damage = penta_module_damage(m);
    if (damage) outcome_ok(o, false, damage);
    penta_close(m);
}

static void try_validate(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    o->ok = penta_validate(g->module, outcome_finding, o);
}

/* Findings and cases as documents. */
static void try_outcomes(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    static const penta_error wrong = {.code = BASE_RANGE, .offset = 3, .message = "a finding"};
    penta_error err = {.code = BASE_MEMORY};
    penta_buffer out = {0};
    penta_findings *findings = penta_findings_new();
    penta_sarif *sarif = penta_sarif_new();
    penta_junit *junit = penta_junit_new();
    if (outcome_ok(o, findings && sarif && junit, &err)) {
        penta_findings_add(findings, &wrong);
        bool ok = penta_findings_count(findings) == 1 &&
                  penta_sarif_findings(sarif, "a", findings, g->module, NULL, &err);
        if (outcome_ok(o, ok, &err) && outcome_ok(o, penta_sarif_write(sarif, &out, &err), &err))
            outcome_buffer(o, &out);
        penta_junit_add(junit, &(penta_case){.suite = "s", .name = "n", .message = wrong.message});
        if (outcome_ok(o, penta_junit_write(junit, &out, &err), &err)) outcome_buffer(o, &out);
    }
    penta_buffer_free(&out);
    penta_findings_free(findings);
    penta_sarif_free(sarif);
    penta_junit_free(junit);
}

static bool general_test_enter(void *user, const penta_node *node)
{
    outcome_bytes(user, node->name, strlen(node->name));
    return true;
}

static void general_test_field(void *user, const penta_field *f)
{
    penta_error incomplete = {.code = BASE_MEMORY};
    outcome_ok(user, strcmp(f->name, "incomplete"), &incomplete);
    outcome_bytes(user, f->name, strlen(f->name));
    if (f->kind == PENTA_TEXT || f->kind == PENTA_RAW)
        outcome_bytes(user, f->as.bytes.data, f->as.bytes.size);
    else
        outcome_bytes(user, &f->as.u, sizeof f->as.u);
}

static void general_test_leave(void *user, const penta_node *node) { (void)user, (void)node; }

static void try_describe(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_visitor visitor = {o, general_test_enter, general_test_field, general_test_leave};
    penta_describe(g->module, &visitor);
    penta_info(g->module, &visitor);
}

static void try_json(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    if (outcome_ok(o, penta_describe_json(g->module, &out, &err), &err)) outcome_buffer(o, &out);
    if (outcome_ok(o, penta_info_json(g->module, &out, &err), &err)) outcome_buffer(o, &out);
}

static void try_encode(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    if (outcome_ok(o, penta_encode(g->module, &out, &err), &err)) outcome_buffer(o, &out);
}

static void try_print(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    if (outcome_ok(o, penta_print(g->module, g->options, g->count, &out, &err), &err))
        outcome_buffer(o, &out);
}

static void general_test_piece(void *user, penta_bytes bytes) { (void)user, (void)bytes; }

static void try_pieces(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    outcome_ok(o, penta_print_pieces(g->module, NULL, 0, general_test_piece, NULL, &err), &err);
}

static void try_assemble(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_module *m = penta_assemble(g->text, g->format, g->options, g->count, outcome_finding, o);
    o->ok = m;
    size_t size;
    const uint8_t *bytes = m ? penta_module_bytes(m, &size) : NULL;
    if (m) outcome_bytes(o, bytes, size);
    penta_close(m);
}

static void try_convert(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_buffer out = {0};
    o->ok = penta_convert(g->module, g->options, g->count, &out, outcome_finding, o);
    outcome_buffer(o, &out);
}

static void try_roundtrip(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    outcome_ok(o, penta_roundtrip(g->module, &err), &err);
}

static void try_run_check(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    o->ok = penta_check_run(g->module, false, outcome_finding, o);
}

static void file_scenarios(struct subject *g)
{
    static const struct {
        const char *name;
        penta_option options[2];
    } prints[] = {{"print", {{0}}},
                  {"print flat", {{"style", "flat"}, {"gas", "1"}}},
                  {"print upstream", {{"style", "upstream"}, {"source", "1"}}}};
    scenario("open", try_open, g);
    scenario("validate", try_validate, g);
    scenario("outcomes", try_outcomes, g);
    scenario("describe", try_describe, g);
    scenario("describe as JSON", try_json, g);
    scenario("encode", try_encode, g);
    for (size_t i = 0; i < (strcmp(g->format, "pvm") ? 1 : 3); i++) {
        g->options = prints[i].options;
        g->count = i ? 2 : 0;
        scenario(prints[i].name, try_print, g);
    }
    g->count = 0;
    scenario("print in pieces", try_pieces, g);
    if (g->text.size) scenario("assemble the listing", try_assemble, g);
    if (g->text.size) scenario("roundtrip", try_roundtrip, g);
}

static void convert_scenarios(struct subject *g)
{
    static const struct {
        const char *format, *name;
        penta_option option;
    } all[] = {{"pvm", "convert to jam", {"to", "jam"}},
               {"pvm", "convert to doc", {"to", "doc"}},
               {"pvm", "convert to polkavm", {"to", "polkavm"}},
               {"tvmr", "convert to compressed", {"compress", "1"}},
               {"tvmr", "convert to tvmr", {"to", "tvmr"}},
               {"coil", "convert to big endian", {"endian", "big"}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(g->format, all[i].format)) continue;
        g->options = &all[i].option;
        g->count = 1;
        scenario(all[i].name, try_convert, g);
    }
    g->count = 0;
}

static void try_vm(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_stop stop;
    penta_vm *vm = penta_vm_new(g->module, g->engine, g->options, g->count, NULL, &err);
    if (!outcome_ok(o, vm, &err)) return;
    penta_vm_run(vm, FUEL, &stop);
    outcome_stop(o, &stop);
    penta_vm_free(vm);
}

static void try_state(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0}, no = {.code = BASE_MEMORY};
    penta_buffer one = {0}, two = {0};
    penta_stop stop;
    hook_pause();
    penta_vm *vm = penta_vm_new(g->module, g->engine, g->options, g->count, NULL, &err);
    if (vm) penta_vm_run(vm, 5, &stop);
    hook_resume();
    if (!outcome_ok(o, vm, &err)) return;
    bool ok = outcome_ok(o, penta_vm_describe_json(vm, &one, &err), &err);
    outcome_buffer(o, &one);
    ok = ok && outcome_ok(o, penta_vm_save(vm, &one, &err), &err);
    if (ok && outcome_ok(o, penta_vm_load(vm, view_of(&one), &err), &err) &&
        outcome_ok(o, penta_vm_save(vm, &two, &err), &err))
        outcome_buffer(o, &two);
    if (ok) outcome_ok(o, penta_vm_mark(vm, stop.pc, true), &no);
    penta_vm_findings(vm, outcome_finding, o);
    penta_buffer_free(&one);
    penta_vm_free(vm);
}

void outcome_failure(struct outcome *o, const penta_session *s)
{
    const penta_error *failure = penta_session_failure(s);
    if (failure) outcome_ok(o, false, failure);
}

static void try_session(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    penta_stop stop;
    penta_session *s = penta_session_new(g->module, g->engine, g->options, g->count, NULL, &err);
    if (!outcome_ok(o, s, &err)) return;
    penta_session_keep_log(s, 10, true);
    penta_session_run(s, FUEL, &stop);
    outcome_stop(o, &stop);
    outcome_failure(o, s);
    if (outcome_ok(o, penta_session_output(s, &out, NULL, &err), &err)) outcome_buffer(o, &out);
    if (outcome_ok(o, penta_session_log(s, &out, &err), &err)) outcome_buffer(o, &out);
    if (outcome_ok(o, penta_session_finish(s, &stop, false, &out, &err), &err))
        outcome_buffer(o, &out);
    penta_buffer_free(&out);
    penta_session_free(s);
}

static void try_trace(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    penta_stop stop = {0};
    penta_session *s = subject_session(g, g->engine, o);
    if (!s) return;
    if (outcome_ok(o, penta_trace(s, 30, NULL, 0, &out, &stop, &err), &err)) {
        outcome_buffer(o, &out);
        outcome_stop(o, &stop);
    }
    outcome_failure(o, s);
    penta_session_free(s);
}

/* Tells whether a machine arrived. A machine that gets no memory on the way stops there. */
static bool general_test_arrived(struct outcome *o, bool ok, const penta_stop *stop,
                                 const penta_error *err)
{
    if (!ok && !err->code) outcome_stop(o, stop);
    return ok || (err->code && outcome_ok(o, ok, err));
}

static void try_debugger(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_stop stop = {0};
    penta_session *s = subject_session(g, g->engine, o);
    if (!s) return;
    penta_debugger *d = penta_debugger_new(s, &err);
    bool ok =
        outcome_ok(o, d, &err) && outcome_ok(o, penta_debugger_forward(d, 40, &stop, &err), &err);
    uint64_t reached = ok ? penta_session_steps(s) : 0;
    if (ok) outcome_stop(o, &stop);
    if (ok && reached)
        ok = general_test_arrived(o, penta_debugger_goto(d, reached / 2, &stop, &err), &stop,
                                  &err) &&
             general_test_arrived(o, penta_debugger_goto(d, reached, &stop, &err), &stop, &err);
    outcome_failure(o, s);
    penta_debugger_free(d);
    penta_session_free(s);
}

static void append_piece(void *user, penta_bytes bytes)
{
    writer_bytes(user, bytes.data, bytes.size);
}

/* Records a run and repeats it. */
static void try_record(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer report = {0};
    penta_stop stop = {0};
    penta_session *s = subject_session(g, g->engine, o);
    if (!s) return;
    struct writer lines = {0};
    bool ok = outcome_ok(
        o, penta_session_record(s, g->options, g->count, append_piece, &lines, &err), &err);
    if (ok) penta_session_run(s, 40, &stop);
    ok = ok && outcome_ok(o, penta_session_finish(s, &stop, false, &report, &err), &err);
    outcome_failure(o, s);
    ok = ok && outcome_ok(o, writer_ok(&lines, &err), &err) && !penta_session_failure(s);
    penta_session_free(s);
    hook_pause(); /* json-c uses memory that it could not allocate. */
    penta_record *record = ok ? penta_record_new(writer_view(&lines), &err) : NULL;
    hook_resume();
    if (ok && outcome_ok(o, record, &err)) {
        s = penta_session_replay(g->module, g->engine, record, &err);
        if (outcome_ok(o, s, &err)) {
            penta_session_run(s, 40, &stop);
            outcome_stop(o, &stop);
            outcome_failure(o, s);
        }
        penta_session_free(s);
    }
    penta_record_free(record);
    writer_free(&lines);
    penta_buffer_free(&report);
}

static void try_vm_text(const void *user, struct outcome *o);

static void machine_scenarios(struct subject *g)
{
    static const struct {
        const char *format;
        penta_option option;
    } needs[] = {{"kblob", {"map", "0x10000:64"}}, {"coil", {"stack", "4096"}}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!strcmp(g->format, needs[i].format)) {
            g->options = &needs[i].option;
            g->count = 1;
        }
    static const penta_option seed = {"seed", "7"}; /* Programs of the console need a seed. */
    penta_error err;
    penta_session *console =
        strcmp(g->format, "pvm") ? NULL : penta_session_new(g->module, NULL, &seed, 1, NULL, &err);
    if (console) {
        g->options = &seed;
        g->count = 1;
    }
    penta_session_free(console);
    for (size_t i = 0; (g->engine = penta_engine_name(g->format, i)); i++) {
        char name[40];
        snprintf(name, sizeof name, "machine (%s)", g->engine);
        scenario(name, try_vm, g);
        snprintf(name, sizeof name, "state (%s)", g->engine);
        scenario(name, try_state, g);
    }
    scenario("check before a run", try_run_check, g);
    scenario("session", try_session, g);
    scenario("trace", try_trace, g);
    scenario("debugger", try_debugger, g);
    scenario("record", try_record, g);
    scenario("state as text", try_vm_text, g);
    g->engine = penta_engine_name(g->format, 0);
    session_scenarios(g);
    profile_scenarios(g);
    g->count = 0;
}

static void try_views(const void *user, struct outcome *o)
{
    static const penta_option json = {"json", "1"}, colors = {"colors", ""};
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    size_t differences;
    if (outcome_ok(o, penta_tree(g->module, &colors, 1, &out, &err), &err)) outcome_buffer(o, &out);
    if (outcome_ok(o, penta_tree(g->module, &json, 1, &out, &err), &err)) outcome_buffer(o, &out);
    if (outcome_ok(o, penta_hex(g->module, NULL, 0, &out, &err), &err)) outcome_buffer(o, &out);
    if (outcome_ok(o, penta_info_text(g->module, NULL, 0, &out, &err), &err))
        outcome_buffer(o, &out);
    if (outcome_ok(o, penta_diff(g->module, g->module, &json, 1, &out, &differences, &err), &err))
        outcome_buffer(o, &out);
}

static void try_vm_text(const void *user, struct outcome *o)
{
    const struct subject *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    penta_stop stop;
    hook_pause();
    penta_vm *vm = penta_vm_new(g->module, NULL, g->options, g->count, NULL, &err);
    if (vm) penta_vm_run(vm, 5, &stop);
    hook_resume();
    if (!outcome_ok(o, vm, &err)) return;
    if (outcome_ok(o, penta_vm_text(vm, NULL, 0, &out, &err), &err)) outcome_buffer(o, &out);
    penta_vm_free(vm);
}

static void try_lists(const void *user, struct outcome *o)
{
    penta_error err = {0};
    penta_buffer out = {0};
    (void)user;
    if (outcome_ok(o, penta_formats_json(&out, &err), &err)) outcome_buffer(o, &out);
    if (outcome_ok(o, penta_rules_json(&out, &err), &err)) outcome_buffer(o, &out);
    for (size_t i = 0; penta_format_name(i); i++)
        if (penta_instructions_json(penta_format_name(i), &out, &err))
            outcome_buffer(o, &out);
        else if (err.code != BASE_UNSUPPORTED)
            outcome_ok(o, false, &err);
}

void list_scenarios(void) { scenario("lists", try_lists, NULL); }

void general_scenarios(penta_bytes file, const char *format)
{
    penta_error err = {0};
    penta_buffer text = {0};
    penta_module *module = penta_open(file, format, NULL, 0, &err);
    if (!module) return;
    struct subject g = {.file = file, .module = module, .format = penta_module_format(module)};
    if (penta_print(module, NULL, 0, &text, &err)) g.text = view_of(&text);
    libraries_take_no(strcmp(g.format, "tvmr")); /* The metadata of tvmr is JSON. */
    file_scenarios(&g);
    convert_scenarios(&g);
    machine_scenarios(&g);
    scenario("views", try_views, &g);
    code_scenarios(&g);
    libraries_take_no(true);
    penta_buffer_free(&text);
    penta_close(module);
}

void text_scenarios(penta_bytes text, const char *format, const penta_option *options, size_t count)
{
    struct subject g = {.format = format, .text = text, .options = options, .count = count};
    scenario("assemble", try_assemble, &g);
}
