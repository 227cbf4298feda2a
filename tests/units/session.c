/* Tests penta.h, session.h and views.h as a program uses them: what failed calls leave, who
 * answers host calls, marks, watches, recorded answers, traces, lists. */
#include "support.h"
#include <stdio.h>
#include <string.h>
#include "base/json/json_read.h"
#include "base/writer.h"
#include "core/driver.h"
#include "cvbc/vm/vm.h"
#include "penta/debug.h"
#include "penta/record.h"
#include "penta/results.h"
#include "penta/views.h"

static penta_error err;

static bool is_json(penta_buffer *b)
{
    penta_error wrong = {0};
    struct json_doc *document = json_parse((penta_bytes){b->data, b->size}, &wrong);
    bool ok = document != NULL;
    b->size = 0;
    json_doc_free(document);
    return ok;
}

static const struct sample {
    const char *format, *text;
} samples[] = {
    {"kblob", "WRITE8 0x10000, 1\nSLEEP 5\nWRITE8 0x10001, 2\nHALT\n"},
    {"pvm", "%isa = latest64\n%stack_size = 4096\n%import \"ask\"\n%export \"main\" = @main\n"
            "@main:\na0 = 1\na1 = 2\necalli 0\na0 = a0 + a1\nret\n"},
    {"cvbc", ".string \"hello\\n\"\nPUSH 0\nPRINTF 0\nHALT\n"},
    {"tvmr", ".program\nhalt\n"},
    {"coil", ".global main\n.func main\n    MOV v0, i64 7\n    OUTPORT 2, v0\n    RET\n.endfunc\n"},
    {"kblob", "MOV r1, 0x10000\nloop r2, 3\nST8 [r1], r2\nBAR\nSLEEP 2\nendloop\nHALT\n"},
};
enum { SAMPLES = sizeof samples / sizeof *samples, PVM = 1, CVBC = 2, COIL = 4 };

static size_t options_of(const struct sample *s, penta_option *options)
{
    if (!strcmp(s->format, "kblob")) *options = (penta_option){"map", "0x10000:64"};
    if (!strcmp(s->format, "pvm")) *options = (penta_option){"call", "main"};
    return !strcmp(s->format, "kblob") || !strcmp(s->format, "pvm");
}

static penta_session *session_of(const penta_module *m, const struct sample *s)
{
    penta_option option;
    size_t count = options_of(s, &option);
    penta_session *session = penta_session_new(m, "interp", &option, count, NULL, &err);
    REQUIRE(session);
    return session;
}

static bool session_test_enter(void *user, const penta_node *node)
{
    (void)user;
    return node != NULL;
}
static void session_test_field(void *user, const penta_field *f)
{
    ++*(size_t *)user;
    (void)f;
}
static void session_test_leave(void *user, const penta_node *node) { (void)user, (void)node; }

static void session_test_visitors(const penta_module *m, const struct sample *s)
{
    size_t fields = 0;
    penta_session *session = session_of(m, s);
    penta_visitor some[] = {{0},
                            {.enter = session_test_enter},
                            {.leave = session_test_leave},
                            {.user = &fields, .field = session_test_field},
                            {&fields, session_test_enter, session_test_field, session_test_leave}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        penta_describe(m, &some[i]);
        penta_info(m, &some[i]);
        penta_vm_describe(penta_session_vm(session), &some[i]);
        CHECK(penta_instructions(s->format, &some[i]));
        CHECK(penta_describe_part(m, NULL, 1, &some[i]));
        CHECK(!penta_describe_part(m, "/nothing", 0, &some[i]));
    }
    CHECK(fields);
    penta_session_free(session);
}

static void session_test_buffers(const penta_module *m)
{
    penta_buffer out = {0};
    penta_option wrong = {"nonsense", "1"};
    penta_buffer_append(&out, bytes_of("kept"));
    CHECK(!penta_print(m, &wrong, 1, &out, &err) && out.size == 4);
    CHECK(!penta_tree(m, &wrong, 1, &out, &err) && out.size == 4);
    CHECK(!penta_convert(m, &wrong, 1, &out, NULL, NULL) && out.size == 4);
    CHECK(penta_encode(m, &out, &err) && out.size > 4 && !memcmp(out.data, "kept", 4));
    size_t size;
    const uint8_t *file = penta_module_bytes(m, &size);
    CHECK(size == out.size - 4 && !memcmp(file, out.data + 4, size));
    out.size = 0;
    CHECK(penta_describe_json(m, &out, &err) && is_json(&out));
    CHECK(penta_info_json(m, &out, &err) && is_json(&out));
    CHECK(penta_parts_json(m, &out, &err) && is_json(&out));
    CHECK(penta_roundtrip(m, &err));
    penta_buffer_free(&out);
}

static void session_test_views(const penta_module *m)
{
    penta_buffer out = {0}, deep = {0};
    penta_option depth = {"depth", "1"}, nowhere = {"select", "/nowhere"}, json = {"json", "1"};
    penta_option colors = {"colors", ""};
    CHECK(penta_tree(m, &depth, 1, &out, &err) && penta_tree(m, NULL, 0, &deep, &err));
    CHECK(out.size && out.size < deep.size);
    deep.size = 0;
    CHECK(penta_tree_pieces(m, NULL, 0, penta_buffer_append, &deep, &err) && deep.size);
    CHECK(!penta_tree(m, &nowhere, 1, &out, &err) && !penta_hex(m, &nowhere, 1, &out, &err));
    CHECK(penta_hex(m, &colors, 1, &out, &err) && contains(&out, "\033["));
    CHECK(penta_info_text(m, NULL, 0, &out, &err));
    out.size = 0;
    CHECK(penta_tree(m, &json, 1, &out, &err) && is_json(&out));
    size_t differences = 1;
    CHECK(penta_diff(m, m, &json, 1, &out, &differences, &err) && !differences && is_json(&out));
    penta_buffer_free(&out);
    penta_buffer_free(&deep);
}

/* Is an encoder that forgets the last byte, which `penta_roundtrip` must find. */
static bool encode_less(const penta_module *module, struct writer *out, penta_error *e)
{
    (void)e;
    writer_bytes(out, module->file.data, module->file.size - 1);
    return true;
}

static bool encode_not(const penta_module *module, struct writer *out, penta_error *e)
{
    writer_bytes(out, module->file.data, module->file.size);
    return error_at(e, BASE_MEMORY, 0, "no memory");
}

static void session_test_roundtrips(penta_module *m)
{
    const struct driver *right = m->driver;
    struct driver wrong = *right;
    wrong.print = NULL; /* This format can only parse and encode. */
    m->driver = &wrong;
    CHECK(penta_roundtrip(m, &err));
    wrong.encode = encode_less;
    err = (penta_error){0};
    CHECK(!penta_roundtrip(m, &err) && err.code == BASE_BUG && err.offset == m->file.size - 1);
    wrong.encode = encode_not;
    err = (penta_error){0};
    CHECK(!penta_roundtrip(m, &err) && err.code == BASE_MEMORY);
    err = (penta_error){0};
    m->driver = right;
}

static bool answer_ten(void *user, penta_session *session, const penta_stop *stop)
{
    uint64_t ten = 10;
    ++*(size_t *)user;
    return stop->kind == PENTA_STOP_HOST && penta_session_answer(session, &ten, 1, &err);
}

static void count_calls(void *user, const penta_call *call) { *(size_t *)user += call->answered; }

static void session_test_callbacks(const penta_module *m)
{
    penta_session *s = session_of(m, &samples[PVM]);
    penta_buffer log = {0};
    penta_stop stop;
    size_t asked = 0, told = 0;
    uint64_t unused = 0;
    CHECK(!penta_session_answer(s, &unused, 1, &err)); /* No host call waits for an answer. */
    penta_session_set_host(s, answer_ten, &asked);
    penta_session_on_call(s, count_calls, &told);
    penta_session_keep_log(s, 10, true);
    penta_session_run(s, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && stop.args[0] == 12 && asked == 1 && told == 1);
    CHECK(penta_session_calls(s) == 1 && !penta_session_failure(s));
    CHECK(penta_session_log(s, &log, &err) && contains(&log, "\"results\":[\"0xa\"]"));
    CHECK(log.data[log.size - 1] == '\n'); /* The log has a line for each call. */
    CHECK(is_json(&log) && penta_session_log(s, &log, &err) && !log.size);
    penta_buffer_free(&log);
    penta_session_free(s);
}

/* Answers without a callback. What is changed before the answer belongs to it. */
static void own_answers(const penta_module *m)
{
    penta_session *s = session_of(m, &samples[PVM]);
    penta_stop stop;
    uint64_t many[17] = {5};
    penta_session_stop_at_calls(s, true);
    penta_session_run(s, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && !penta_session_calls(s));
    CHECK(!penta_session_answer(s, many, 17, &err) && penta_session_answer(s, many, 1, &err));
    CHECK(!penta_session_answer(s, many, 1, &err));
    penta_session_run(s, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && stop.args[0] == 7);
    penta_session_free(s);
}

/* Checks that the answer of a cvbc call is an error number, and the result of a call that has
 * one. */
static void errors_as_answers(void)
{
    const struct sample clock = {"cvbc", "MILLIS\nHALT\n"};
    penta_module *m = assembled(clock.format, clock.text);
    static const uint64_t wrong[][3] = {
        {CVBC_TRAPS}, {CVBC_TRAPS + 1}, {UINT64_MAX}, {0}, {0, 1, 2}};
    static const size_t counts[] = {1, 1, 2, 1, 3};
    for (uint64_t error = 0; error < CVBC_TRAPS; error++) {
        penta_session *s = session_of(m, &clock);
        penta_stop stop;
        uint64_t right[] = {error, 99};
        penta_session_stop_at_calls(s, true);
        penta_session_run(s, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_HOST && !penta_session_answer(s, right, 0, &err));
        for (int i = 0; i < 5; i++) CHECK(!penta_session_answer(s, wrong[i], counts[i], &err));
        CHECK(penta_session_answer(s, right, error ? 1 : 2, &err));
        penta_session_run(s, UINT64_MAX, &stop);
        CHECK(stop.kind == (error ? PENTA_STOP_TRAP : PENTA_STOP_HALT));
        penta_session_free(s);
    }
    penta_close(m);
}

struct parts {
    const penta_vm *vm;
    size_t count, inner, same; /* `same` counts parts whose expression evaluates to their value. */
};

static void part_told(void *user, const penta_child *child)
{
    struct parts *p = user;
    penta_value value;
    p->count++;
    p->inner += child->inner;
    CHECK(child->expression[0] == '/' && strstr(child->expression, child->name));
    if (!child->inner && penta_vm_eval(p->vm, child->expression, &value, &err))
        p->same += value.as.u == child->value.as.u;
}

/* Reads the state level by level: what is in each node, from some child on, and that a wrong
 * name is no node. */
static void state_by_parts(void)
{
    static const char text[] = "%isa = latest64\n%export \"main\" = @main\n@main:\na0 = 3\nret\n";
    penta_module *m = penta_assemble(bytes_of(text), "pvm", NULL, 0, NULL, NULL);
    penta_vm *vm = penta_vm_new(m, "interp", NULL, 0, NULL, &err);
    struct parts top = {.vm = vm}, registers = {.vm = vm}, two = {.vm = vm}, none = {.vm = vm};
    CHECK(penta_vm_children(vm, "", 0, UINT64_MAX, part_told, &top, &err) && top.inner);
    CHECK(penta_vm_children(vm, "/registers", 0, UINT64_MAX, part_told, &registers, &err));
    CHECK(registers.count > 3 && !registers.inner && registers.same == registers.count);
    CHECK(penta_vm_children(vm, "/registers", 1, 2, part_told, &two, &err) && two.count == 2);
    CHECK(penta_vm_children(vm, "/registers", registers.count, 9, part_told, &none, &err));
    CHECK(!penta_vm_children(vm, "/register", 0, 9, part_told, &none, &err) && err.code);
    CHECK(!penta_vm_children(vm, "/registers/a0/b", 0, 9, part_told, &none, &err) && !none.count);
    penta_vm_free(vm);
    penta_close(m);
}

static void session_test_output(const penta_module *m)
{
    penta_session *s = session_of(m, &samples[CVBC]);
    penta_buffer out = {0}, errors = {0};
    penta_stop stop;
    penta_session_keep_log(s, 1, false);
    penta_session_run(s, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT);
    CHECK(penta_session_output(s, &out, NULL, &err) && contains(&out, "hello"));
    out.size = 0;
    CHECK(penta_session_output(s, &out, &errors, &err) && !out.size && !errors.size);
    CHECK(penta_session_log(s, &out, &err) && contains(&out, "host "));
    CHECK(penta_session_finish(s, &stop, false, &errors, &err));
    out.size = 0;
    CHECK(penta_session_finish(s, &stop, true, &out, &err) && is_json(&out));
    CHECK(!penta_session_save_host(s, &out, &err) && !penta_session_is_console(s));
    CHECK(penta_vm_text(penta_session_vm(s), NULL, 0, &out, &err) && out.size);
    penta_buffer_free(&out);
    penta_buffer_free(&errors);
    penta_session_free(s);
}

static void session_test_traces(const penta_module *m)
{
    static const struct {
        penta_option option;
        bool ok;
        size_t lines;
    } rows[] = {{{"count", "2"}, true, 2},       {{"last", "1"}, true, 1},
                {{"match", "OUTPORT"}, true, 1}, {{"from", "2"}, true, 1},
                {{"json", "1"}, true, 3},        {{"last", "99999999"}, false, 0},
                {{"count", "many"}, false, 0},   {{"nonsense", "1"}, false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        penta_session *s = session_of(m, &samples[COIL]);
        penta_buffer out = {0};
        penta_stop stop;
        size_t lines = 0;
        CHECK(penta_trace(s, UINT64_MAX, &rows[i].option, 1, &out, &stop, &err) == rows[i].ok);
        for (size_t k = 0; k < out.size; k++) lines += out.data[k] == '\n';
        CHECK(lines == rows[i].lines);
        CHECK(penta_session_steps(s) == (rows[i].ok ? 3 : 0));
        penta_buffer_free(&out);
        penta_session_free(s);
    }
}

/* Checks that a trace remembers more values than it has room for at first. */
static void large_trace(void)
{
    const struct sample large = {
        "tvmr", ".registers\nH0: i32[64]\nH1: i32[64]\nH2: i32[64]\nH3: i32[64]\nH4: i32[64]\n"
                "H5: i32[64]\nH6: i32[64]\nH7: i32[64]\nH8: i32[64]\nH9: "
                "i32[64]\n.program\nnop\nset H9, 7\nhalt\n"};
    penta_module *m = assembled(large.format, large.text);
    penta_session *s = session_of(m, &large);
    penta_buffer out = {0};
    penta_stop stop;
    CHECK(penta_trace(s, UINT64_MAX, NULL, 0, &out, &stop, &err));
    CHECK(contains(&out, "registers/H9/data") && !contains(&out, "registers/H8"));
    penta_buffer_free(&out);
    penta_session_free(s);
    penta_close(m);
}

static void marks_and_watches(const penta_module *m)
{
    penta_session *s = session_of(m, &samples[COIL]);
    penta_debugger *d = penta_debugger_new(s, &err);
    penta_stop stop;
    uint64_t pcs[4], second;
    CHECK(penta_debugger_goto(d, 1, &stop, &err));
    second = stop.pc;
    CHECK(penta_debugger_goto(d, 0, &stop, &err));
    CHECK(!penta_debugger_mark(d, second + 1, true));
    CHECK(penta_debugger_mark(d, second, true) && penta_debugger_mark(d, stop.pc, true));
    CHECK(penta_debugger_marks(d, pcs, 4) == 2 && pcs[0] == stop.pc && pcs[1] == second);
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_BREAK && stop.pc == second && !penta_debugger_watch_hit(d));
    CHECK(penta_debugger_mark(d, second, false) && penta_debugger_marks(d, NULL, 0) == 1);

    CHECK(!penta_debugger_watch(d, "zzz", true, &err) &&
          !penta_debugger_watch(d, "1:0", true, &err));
    CHECK(!penta_debugger_watch(d, "/registers/v0", false, &err));
    CHECK(penta_debugger_watch(d, "/registers/v0", true, &err) &&
          penta_debugger_watch(d, "/registers/v0", true, &err) &&
          penta_debugger_watch(d, "/registers/v0", false, &err));
    CHECK(!penta_debugger_watch(d, "/registers/v0", false, &err)); /* The value was watched once. */
    CHECK(penta_debugger_watch(d, "/registers/v0=8", true, &err));
    CHECK(penta_debugger_goto(d, 0, &stop, &err) && penta_debugger_forward(d, 100, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_HALT); /* The value never becomes 8. */
    CHECK(penta_debugger_watch(d, "/registers/v0=0x7", true, &err));
    CHECK(penta_debugger_goto(d, 0, &stop, &err) && penta_debugger_forward(d, 100, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_BREAK && penta_session_steps(s) == 1);
    CHECK(penta_debugger_watch_hit(d) && !strcmp(penta_debugger_watch_hit(d), "/registers/v0=0x7"));
    CHECK(penta_debugger_watch_at(d, 1) && !penta_debugger_watch_at(d, 2));
    CHECK(penta_debugger_back(d, 9, &stop, &err) && !penta_session_steps(s));
    CHECK(!penta_debugger_goto(d, 99, &stop, &err) && !err.code && stop.kind == PENTA_STOP_HALT);
    penta_debugger_free(d);
    penta_session_free(s);
}

/* Tests a debugger of a session that has run already. Its history begins there. */
static void late_debugger(const penta_module *m)
{
    penta_session *s = session_of(m, &samples[COIL]);
    penta_stop stop;
    penta_session_run(s, 2, &stop);
    penta_debugger *d = penta_debugger_new(s, &err);
    CHECK(penta_debugger_goto(d, 2, &stop, &err));
    uint64_t start = stop.pc;
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err) && stop.kind == PENTA_STOP_HALT);
    CHECK(!penta_debugger_goto(d, 1, &stop, &err) && !err.code);
    CHECK(stop.kind == PENTA_STOP_FUEL && stop.pc == start && penta_session_steps(s) == 2);
    penta_debugger_free(d);
    penta_session_free(s);
}

/* Checks that, back at a step before the call, nothing waits for an answer, and an edit there is
 * kept. */
static void back_from_a_call(const penta_module *m)
{
    penta_session *s = session_of(m, &samples[PVM]);
    penta_debugger *d = penta_debugger_new(s, &err);
    penta_stop stop;
    uint64_t result = 5;
    penta_value nine = {.kind = PENTA_UINT, .as.u = 9}, kept;
    penta_session_stop_at_calls(s, true);
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err) && stop.kind == PENTA_STOP_HOST);
    CHECK(penta_debugger_goto(d, 0, &stop, &err) && !penta_session_answer(s, &result, 1, &err));
    CHECK(penta_debugger_set(d, "a5", &nine, &err)); /* The register is not part of any answer. */
    CHECK(penta_debugger_goto(d, 1, &stop, &err) && penta_debugger_goto(d, 0, &stop, &err));
    CHECK(penta_vm_eval(penta_session_vm(s), "a5", &kept, &err) && kept.as.u == 9);
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err) && stop.kind == PENTA_STOP_HOST);
    CHECK(penta_session_answer(s, &result, 1, &err));
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err) && stop.args[0] == 7);
    penta_debugger_free(d);
    penta_session_free(s);
}

/* Checks that a move with a limit, continued until it ends, arrives where one without a limit
 * does. */
static void session_test_limited(penta_debugger *d, const penta_session *s, bool finishes,
                                 uint64_t from)
{
    penta_stop whole, stop;
    CHECK(penta_debugger_goto(d, from, &stop, &err));
    CHECK(finishes ? penta_debugger_finish(d, &whole, &err) : penta_debugger_next(d, &whole, &err));
    uint64_t steps = penta_session_steps(s);
    for (uint64_t limit = 1; limit < 15; limit++) {
        penta_debugger_limit(d, limit);
        CHECK(penta_debugger_goto(d, from, &stop, &err));
        CHECK(finishes ? penta_debugger_finish(d, &stop, &err)
                       : penta_debugger_next(d, &stop, &err));
        while (stop.kind == PENTA_STOP_INTERRUPT)
            if (!penta_debugger_resume(d, &stop, &err)) break;
        CHECK(!err.code && stop.kind == whole.kind && stop.pc == whole.pc);
        CHECK(penta_session_steps(s) == steps && !penta_debugger_resume(d, &stop, &err));
    }
    penta_debugger_limit(d, 0);
}

static void session_test_limits(void)
{
    static const struct sample program = {
        "coil", ".global main\n.func main\n    MOV v1, i64 1\n    CALL @loop\n    MOV v0, v1\n    "
                "RET\n.endfunc\n.func loop\n.again:\n    INC v1\n    CMP v1, 4\n    BR LT, "
                "@.again\n    RET\n.endfunc\n"};
    penta_module *m = assembled(program.format, program.text);
    penta_session *s = session_of(m, &program);
    penta_debugger *d = penta_debugger_new(s, &err);
    penta_stop stop;
    CHECK(!penta_debugger_resume(d, &stop, &err) && err.code);
    session_test_limited(d, s, false, 1);
    session_test_limited(d, s, true, 3);
    penta_debugger_limit(d, 2);
    CHECK(penta_debugger_goto(d, 1, &stop, &err) && penta_debugger_next(d, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_INTERRUPT && penta_debugger_back(d, 1, &stop, &err));
    CHECK(!penta_debugger_resume(d, &stop, &err) && err.code);
    CHECK(penta_debugger_goto(d, 5, &stop, &err) && penta_debugger_mark(d, stop.pc, true));
    penta_debugger_limit(d, 0);
    session_test_limited(d, s, false, 1); /* The move ends at the mark. */
    session_test_limited(d, s, true, 3);
    penta_debugger_free(d);
    penta_session_free(s);
    penta_close(m);
}

static void memory_watch(const penta_module *m)
{
    uint64_t next = 0;
    CHECK(penta_next_pc(m, 3, &next) && next == 4 && !penta_next_pc(m, 4, &next) && next == 4);
    penta_session *s = session_of(m, &samples[0]);
    penta_debugger *d = penta_debugger_new(s, &err);
    penta_stop stop;
    CHECK(penta_debugger_watch(d, "0x10001:1", true, &err));
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_BREAK && penta_session_steps(s) == 3);
    penta_debugger_free(d);
    penta_session_free(s);
}

static void keep_line(void *user, penta_bytes line) { writer_bytes(user, line.data, line.size); }

/* Repeats a run whose answers came from outside from its record, in a debugger. */
static void session_test_records(const penta_module *m, const penta_module *other)
{
    penta_session *s = session_of(m, &samples[PVM]);
    struct writer text = {0};
    penta_buffer ends[2] = {{0}}, report = {0};
    penta_stop stop;
    uint64_t result = 30;
    uint8_t byte = 77;
    penta_option option;
    size_t count = options_of(&samples[PVM], &option);
    CHECK(penta_session_record(s, &option, count, keep_line, &text, &err));
    penta_debugger *d = penta_debugger_new(s, &err);
    penta_session_stop_at_calls(s, true);
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err) && stop.kind == PENTA_STOP_HOST);
    CHECK(penta_vm_poke(penta_session_vm(s), 0xfffdfff0, &byte,
                        1)); /* The stack is not in the answer. */
    CHECK(penta_session_answer(s, &result, 1, &err));
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err) && stop.args[0] == 32);
    CHECK(penta_debugger_back(d, UINT64_MAX, &stop, &err)); /* What is repeated is in the record
                                                             * once. */
    CHECK(penta_debugger_forward(d, UINT64_MAX, &stop, &err) && stop.args[0] == 32);
    CHECK(penta_vm_save(penta_session_vm(s), &ends[0], &err));
    penta_debugger_free(d);
    CHECK(penta_session_finish(s, &stop, false, &report, &err));
    penta_record *record = penta_record_new(writer_view(&text), &err);
    CHECK(record && penta_record_calls(record) == 1 && penta_record_is_of(record, m));
    CHECK(!penta_session_replay(other, NULL, record, &err) && err.code);
    penta_session *t = penta_session_replay(m, "interp", record, &err);
    penta_debugger *e = t ? penta_debugger_new(t, &err) : NULL;
    CHECK(e && penta_debugger_forward(e, UINT64_MAX, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_HALT && stop.args[0] == 32);
    CHECK(penta_vm_save(penta_session_vm(t), &ends[1], &err));
    CHECK(ends[0].size == ends[1].size && !memcmp(ends[0].data, ends[1].data, ends[0].size));
    for (size_t i = 0; i < 2; i++) penta_buffer_free(&ends[i]);
    penta_buffer_free(&report);
    writer_free(&text);
    penta_debugger_free(e);
    penta_session_free(t);
    penta_record_free(record);
    penta_session_free(s);
}

static bool answer_for_gas(void *user, penta_session *session, const penta_stop *stop)
{
    penta_session_settle(session, 7, PENTA_CALL_GOES_ON);
    return answer_ten(user, session, stop);
}

/* Checks that the gas that a host takes for its calls is in the record, and that the repeated
 * run pays it. */
static void recorded_gas(const penta_module *m)
{
    penta_option options[] = {{"call", "main"}, {"gas", "1000"}};
    penta_session *s = penta_session_new(m, "interp", options, 2, NULL, &err);
    struct writer text = {0};
    penta_buffer ends[2] = {{0}}, report = {0};
    penta_stop stop;
    size_t asked = 0;
    CHECK(s && penta_session_record(s, options, 2, keep_line, &text, &err));
    penta_session_set_host(s, answer_for_gas, &asked);
    penta_session_run(s, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && asked == 1);
    CHECK(penta_vm_save(penta_session_vm(s), &ends[0], &err));
    CHECK(penta_session_finish(s, &stop, false, &report, &err));
    CHECK(contains(&text.out, "\"gas\":7"));
    penta_record *record = penta_record_new(writer_view(&text), &err);
    penta_session *t = record ? penta_session_replay(m, "interp", record, &err) : NULL;
    CHECK(t);
    penta_session_run(t, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && penta_vm_save(penta_session_vm(t), &ends[1], &err));
    CHECK(bytes_equal(view_of(&ends[0]), view_of(&ends[1])));
    for (size_t i = 0; i < 2; i++) penta_buffer_free(&ends[i]);
    penta_buffer_free(&report);
    writer_free(&text);
    penta_session_free(t);
    penta_record_free(record);
    penta_session_free(s);
}

static void session_test_lists(void)
{
    penta_buffer out = {0};
    const char *format;
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", PENTA_VERSION_MAJOR, PENTA_VERSION_MINOR,
             PENTA_VERSION_PATCH);
    CHECK(!strcmp(version, penta_version()) && !strcmp(version, PENTA_VERSION_TEXT));
    for (size_t i = 0; (format = penta_format_name(i)); i++) {
        CHECK(penta_format_title(format) && penta_format_uses(format) & PENTA_USE_OPEN);
        CHECK(!(penta_format_uses(format) & PENTA_USE_RUN) == !penta_engine_name(format, 0));
        const char *quick = penta_engine_for_run(format, false),
                   *stepped = penta_engine_for_run(format, true);
        CHECK(stepped == penta_engine_name(format, 0) && !quick == !stepped);
        CHECK(!penta_engine_name(format, 99) && !penta_option_at(format, 999));
        const penta_rule *rule = penta_rule_at(format, 0);
        CHECK(!rule || penta_rule_find(rule->code) == rule);
        CHECK(!penta_rule_at(format, 9999));
    }
    CHECK(!penta_format_title("none") && !penta_format_uses("none") && !penta_rule_at("none", 0));
    CHECK(penta_option_find("kblob", "map", PENTA_USE_RUN));
    CHECK(!penta_option_find("kblob", "map", PENTA_USE_PRINT));
    CHECK(penta_formats_json(&out, &err) && is_json(&out));
    CHECK(penta_rules_json(&out, &err) && is_json(&out));
    CHECK(penta_instructions_json("coil", &out, &err) && is_json(&out));
    CHECK(!penta_instructions_json("nothing", &out, &err) && !out.size);
    CHECK(!strcmp(penta_stop_name(PENTA_STOP_HALT), "halt"));
    CHECK(!penta_stop_name((penta_stop_kind)99));
    penta_buffer_free(&out);
}

static void count_parts(void *user, const penta_part *part) { ++((size_t *)user)[part->kind]; }

static void session_test_code(const penta_module *m)
{
    penta_buffer out = {0};
    penta_option function = {"function", "mian"}, range = {"range", "0..3"};
    size_t kinds[4] = {0};
    uint64_t next = 0, number, column;
    penta_bytes line;
    penta_parts(m, count_parts, kinds);
    CHECK(kinds[PENTA_PART_CODE] == 1 && kinds[PENTA_PART_FUNCTION] == 1);
    CHECK(kinds[PENTA_PART_EXPORT] == 1 && kinds[PENTA_PART_IMPORT] == 1);
    CHECK(!penta_print_code(m, &function, 1, &out, &err) && strstr(err.note, "main"));
    CHECK(penta_print_code(m, &range, 1, &out, &err) && contains(&out, "main:"));
    CHECK(penta_next_pc(m, 0, &next) && next > 0 && !penta_print_at(m, next + 1, &out));
    penta_source_place(bytes_of("one\ntwo\n"), 5, &number, &column, &line);
    CHECK(number == 2 && column == 2 && line.size == 3);
    penta_buffer_free(&out);
}

/* The documents of penta/results.h; what no command reaches: no place, a document that is none. */
static void outcome_files(const penta_findings *f, const penta_module *m)
{
    penta_buffer out = {0};
    penta_sarif *sarif = penta_sarif_new();
    penta_junit *junit = penta_junit_new();
    REQUIRE(sarif && junit);
    CHECK(penta_sarif_write(sarif, &out, &err) && contains(&out, "\"results\":[]") &&
          is_json(&out));
    CHECK(penta_sarif_findings(sarif, "a", f, m, NULL, &err));
    penta_sarif_add(sarif, penta_findings_at(f, 0), NULL);
    CHECK(!penta_sarif_document(sarif, (penta_bytes){(const uint8_t *)"{", 1}, &err) && err.code);
    CHECK(penta_sarif_write(sarif, &out, &err) && contains(&out, "toolExecutionNotifications") &&
          contains(&out, "\"ruleIndex\":0") && is_json(&out));
    CHECK(!penta_junit_line(junit, "s", (penta_bytes){(const uint8_t *)"{}", 2}, &err) && err.code);
    penta_junit_add(junit, &(penta_case){.suite = "s", .name = "n", .verdict = PENTA_CASE_SKIPPED});
    CHECK(penta_junit_write(junit, &out, &err) && contains(&out, "tests=\"1\"") &&
          contains(&out, "<skipped/>"));
    penta_sarif_free(sarif);
    penta_junit_free(junit);
    penta_sarif_free(NULL);
    penta_junit_free(NULL);
    penta_buffer_free(&out);
}

static void session_test_findings(void)
{
    static const uint8_t blob[] = {0x05, 0xb1, 0x05, 0xb1, 1, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0,
                                   0x63, 0,    0,    0,    0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0};
    penta_bytes file = {blob, sizeof blob};
    penta_buffer out = {0};
    uint8_t inside[sizeof blob];
    memcpy(inside, blob, sizeof blob);
    inside[8] = 8;
    penta_module *m = penta_open((penta_bytes){inside, sizeof inside}, "kblob", NULL, 0, &err);
    CHECK(m && penta_info_json(m, &out, &err) && contains(&out, "\"code_offset\":16"));
    penta_close(m); /* Its code would begin inside the header, so it is shown as empty, after the
                     * header. */
    out.size = 0;
    m = penta_open(file, "kblob", NULL, 0, &err);
    penta_findings *f = penta_findings_new();
    CHECK(m && !penta_validate(m, penta_findings_add, f) && penta_findings_count(f));
    CHECK(!penta_findings_at(f, penta_findings_count(f)));
    CHECK(penta_findings_json(f, m, &out, &err) && contains(&out, "\"path\":\"/") && is_json(&out));
    CHECK(penta_findings_json(f, NULL, &out, &err) && !contains(&out, "\"path\"") && is_json(&out));
    CHECK(!penta_check_run(m, true, NULL, NULL));
    CHECK(!penta_session_new(m, NULL, NULL, 0, NULL, &err) && err.code);
    CHECK(penta_probe(file, "kblob", &out) > 0 && out.size && !penta_probe(file, "none", NULL));
    outcome_files(f, m);
    penta_findings_free(f);
    penta_buffer_free(&out);
    penta_close(m);
}

int main(void)
{
    check_note = err.message;
    penta_module *modules[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++) {
        modules[i] = assembled(samples[i].format, samples[i].text);
        session_test_visitors(modules[i], &samples[i]);
        session_test_buffers(modules[i]);
        session_test_views(modules[i]);
    }
    session_test_roundtrips(modules[0]);
    session_test_callbacks(modules[PVM]);
    own_answers(modules[PVM]);
    errors_as_answers();
    state_by_parts();
    session_test_output(modules[CVBC]);
    session_test_traces(modules[COIL]);
    large_trace();
    marks_and_watches(modules[COIL]);
    late_debugger(modules[COIL]);
    back_from_a_call(modules[PVM]);
    session_test_limits();
    memory_watch(modules[0]);
    session_test_records(modules[PVM], modules[COIL]);
    recorded_gas(modules[PVM]);
    session_test_lists();
    session_test_code(modules[PVM]);
    session_test_findings();
    for (size_t i = 0; i < SAMPLES; i++) penta_close(modules[i]);
    return checks_end();
}
