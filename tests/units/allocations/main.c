/* Lets every allocation fail once: for each scenario and each n, the nth request for memory is
 * refused, and then all from the nth on. The outcome must be the undisturbed one, or the error that
 * memory ran out. Nothing may crash or leak, and the same call must succeed afterwards.
 *
 *     allocations [--every N] [--only TEXT] [FILE...]
 *
 * Files are FORMAT-anything.bin, binary. --every N tries one in N of the requests after the first
 * hundred. --only TEXT runs only scenarios with that text in their name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "allocations.h"
#include "base/error.h"
#include "base/file/file.h"

static unsigned long tried, failed, every = 1;
static const char *only;
static char subject[128]; /* the name of the file in use */
static bool own_only;

void outcome_bytes(struct outcome *o, const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++) o->hash = (o->hash ^ p[i]) * UINT64_C(0x100000001b3);
    o->hash = (o->hash ^ size) * UINT64_C(0x100000001b3);
}

void outcome_buffer(struct outcome *o, penta_buffer *buffer)
{
    outcome_bytes(o, buffer->data, buffer->size);
    penta_buffer_free(buffer);
}

bool outcome_ok(struct outcome *o, bool ok, const penta_error *err)
{
    if (ok) return true;
    o->ok = false;
    if (!o->code) o->code = err->code;
    if (!err->code) o->code = UINT32_MAX; /* The call failed without a reason. */
    return false;
}

/* Adds a stop. A machine that gets no memory traps, or stops as if it were interrupted. */
void outcome_stop(struct outcome *o, const penta_stop *stop)
{
    penta_error no = {.code = BASE_MEMORY};
    outcome_ok(o, stop->kind != PENTA_STOP_TRAP && stop->kind != PENTA_STOP_INTERRUPT, &no);
    outcome_bytes(o, &stop->kind, sizeof stop->kind);
    outcome_bytes(o, &stop->pc, sizeof stop->pc);
    outcome_bytes(o, &stop->detail, sizeof stop->detail);
}

void outcome_finding(void *outcome, const penta_error *finding)
{
    struct outcome *o = outcome;
    outcome_bytes(o, &finding->code, sizeof finding->code);
    outcome_bytes(o, finding->message, strlen(finding->message));
    if (finding->code == BASE_MEMORY || (!o->code && finding->severity == PENTA_ERROR))
        o->code = finding->code;
}

void outcome_link_finding(void *outcome, const char *object, const penta_error *finding)
{
    (void)object;
    outcome_finding(outcome, finding);
}

penta_session *subject_session(const struct subject *g, const char *engine, struct outcome *o)
{
    penta_error err = {0};
    hook_pause();
    penta_session *s = penta_session_new(g->module, engine, g->options, g->count, NULL, &err);
    hook_resume();
    outcome_ok(o, s, &err);
    return s;
}

void libraries_take_no(bool yes) { own_only = !yes; }

struct trial {
    const char *name;
    scenario_fn *fn;
    const void *given;
    bool own_only;
    struct outcome wanted;
};

static struct outcome main_test_once(const struct trial *t, unsigned long nth, bool rest,
                                     struct hook_result *result)
{
    struct outcome o = {.ok = true};
    hook_start(nth, rest, t->own_only);
    t->fn(t->given, &o);
    *result = hook_stop();
    return o;
}

static bool main_test_same(const struct outcome *a, const struct outcome *b)
{
    return a->ok == b->ok && a->code == b->code && a->hash == b->hash;
}

static void main_test_complain(const struct trial *t, unsigned long nth, bool rest,
                               const char *what, const struct hook_result *r, uint32_t code)
{
    char text[24] = "";
    penta_code_text(code, text);
    fprintf(stderr, "FAIL %s: %s, request %lu%s refused%s: %s (%s, live %lu):", subject, t->name,
            nth, rest ? " and all after it" : "", r->foreign ? " to a library" : "", what,
            code ? text : "no code", r->live);
    hook_print(r, stderr);
    fputc('\n', stderr);
    failed++;
}

static void main_test_judge(const struct trial *t, unsigned long nth, bool rest)
{
    struct hook_result r, again;
    struct outcome o = main_test_once(t, nth, rest, &r);
    tried++;
    if (!main_test_same(&o, &t->wanted)) {
        if (o.ok)
            main_test_complain(t, nth, rest, "a wrong result", &r, o.code);
        else if (!o.code || o.code == UINT32_MAX)
            main_test_complain(t, nth, rest, "no reason given", &r, 0);
        else if (o.code != BASE_MEMORY && !r.foreign)
            main_test_complain(t, nth, rest, "another reason than memory", &r, o.code);
    }
    /* Memory that is kept for later is allocated once, but a leak happens again. */
    if (r.live) {
        main_test_once(t, nth, rest, &again);
        if (again.live) main_test_complain(t, nth, rest, "a leak", &again, o.code);
    }
}

void scenario(const char *name, scenario_fn *fn, const void *given)
{
    enum { FIRST = 100 };
    struct trial t = {name, fn, given, own_only, {0}};
    struct hook_result r;
    char whole[160];
    snprintf(whole, sizeof whole, "%s %s", subject, name);
    if (only && !strstr(whole, only)) return;
    main_test_once(&t, 0, false, &r); /* This run makes what is made once in a process. */
    t.wanted = main_test_once(&t, 0, false, &r);
    if (r.live) main_test_complain(&t, 0, false, "a leak", &r, 0);
    unsigned long count = r.made;
    for (unsigned long n = 1; n <= count; n += n < FIRST ? 1 : every) {
        main_test_judge(&t, n, false);
        main_test_judge(&t, n, true);
    }
    struct outcome after = main_test_once(&t, 0, false, &r);
    if (!main_test_same(&after, &t.wanted))
        main_test_complain(&t, 0, false, "afterwards it fails", &r, after.code);
    if (getenv("ALLOCATIONS_VERBOSE")) printf("%s: %s: %lu requests\n", subject, name, count);
}

/* The kblob example needs this option. */
static const penta_option define = {"define", "buf=0x10000:64"};

penta_module *tree_assembled(const char *path, const char *format)
{
    penta_bytes text = file_of(path);
    penta_module *module =
        assembled_with(format, (const char *)text.data, &define, !strcmp(format, "kblob"));
    file_free(text);
    return module;
}

/* Returns FORMAT of ".../FORMAT-name.bin", or NULL. */
static const char *format_in_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; penta_format_name(i); i++) {
        const char *format = penta_format_name(i);
        if (!strncmp(name, format, strlen(format)) && name[strlen(format)] == '-') return format;
    }
    return NULL;
}

static void one_file(const char *path)
{
    penta_bytes file = file_of(path);
    snprintf(subject, sizeof subject, "%s", path);
    general_scenarios(file, format_in_name(path));
    file_free(file);
}

static void one_text(const char *path, const char *format)
{
    penta_bytes text = file_of(path);
    penta_module *module = tree_assembled(path, format);
    penta_buffer file = {0};
    penta_error err = {0};
    snprintf(subject, sizeof subject, "%s", path);
    text_scenarios(text, format, &define, !strcmp(format, "kblob"));
    if (!penta_encode(module, &file, &err)) exit(2);
    general_scenarios(view_of(&file), format);
    penta_buffer_free(&file);
    penta_close(module);
    file_free(text);
}

static void main_test_formats(void)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } all[] = {{"penta", list_scenarios}, {"cvbc", cvbc_scenarios}, {"pvm", pvm_scenarios},
               {"jam", jam_scenarios},    {"tvmr", tvmr_scenarios}, {"coil", coil_scenarios}};
    one_text("examples/kblob/fill.kasm", "kblob");
    one_text("tests/units/allocations/grid.kasm", "kblob");
    one_text("examples/pvm/fibonacci.pvmasm", "pvm");
    one_text("examples/cvbc/hello.cvasm", "cvbc");
    one_text("examples/tvmr/relu.tasm", "tvmr");
    one_text("examples/coil/squares.casm", "coil");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        snprintf(subject, sizeof subject, "penta/%s.h", all[i].name);
        all[i].fn();
    }
}

int main(int argc, char **argv)
{
    hook_init();
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (!strcmp(argv[i], "--every")) every = strtoul(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--only")) only = argv[i + 1];
    }
    if (!every) return 2;
    if (i >= argc) main_test_formats();
    for (; i < argc; i++) one_file(argv[i]);
    printf("%lu requests refused\n%lu failed\n", tried, failed);
    return failed || !tried;
}
