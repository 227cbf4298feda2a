/* Measures what going back costs in processor time: to the step before, to the middle, and by
 * `reverse` over the whole run. It also measures the memory of snapshots. With a name it prints
 * only the figures of that format. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "base/writer.h"
#include "penta/debug.h"
#include "support.h"

/* A program, the steps for which it runs, and the seconds that going back over them may take. */
static const struct run {
    const char *name, *format, *text; /* a text of NULL is a list of as many instructions as the
                                       * run has steps */
    penta_option option;
    uint64_t steps;
    double limit;
} runs[] = {
    {"pvm",
     "pvm",
     "%isa = latest64\n%stack_size = 65536\n%export \"main\" = @main\n@main:\na0 = 0\na1 = sp - "
     "32768\n"
     "@again:\na0 = a0 + 1\na2 = a0 & 32760\na2 = a2 + a1\nu64 [a2] = a0\njump @again if a0 != "
     "0\nret\n",
     {"call", "main"},
     10000000,
     0.5},
    {"cvbc",
     "cvbc",
     "PUSH 0\nSTORE_GLOBAL 0\nagain:\nLOAD_GLOBAL 0\nPUSH 1\nADD\nSTORE_GLOBAL 0\nJMP again\n",
     {"budget", "20000000"},
     10000000,
     2},
    {"coil",
     "coil",
     ".global main\n.func main\nVAR %i, i64, 0\n.next:\nINC %i\nCMP %i, 0\nBR GT, "
     "@.next\nRET\n.endfunc\n",
     {"stack", "65536"},
     10000000,
     2},
    {"kblob", "kblob", NULL, {"map", "0x10000:65536"}, 1000000, 2},
    {"large", "kblob", NULL, {"map", "0x10000:67108864"}, 200000, 2}, /* writes to 64 MiB */
    {"tvmr",
     "tvmr",
     ".registers\nH0: i32[4]\nH1: i32[4]\n.program\nnop\ntop:\nadd H1, H0, H0\njump top\nhalt\n",
     {"memory", "1M"},
     1000000,
     2},
};

static void going_back_tell(const struct run *r, const char *what, double seconds, double limit)
{
    bool ok = limit <= 0 || seconds <= limit;
    printf("    %-6s %-28s %8.3f s\n", r->name, what, seconds);
    CHECK(ok, "%s: %s takes too long", r->name, what);
}

static penta_module *going_back_make(const struct run *r)
{
    struct writer text = {0};
    bool large = !strcmp(r->name, "large");
    uint64_t apart = large ? 4096 : 8, span = large ? 67108864 : 65536;
    if (r->text) writer_text(&text, r->text);
    for (uint64_t i = 0; !r->text && i < r->steps; i++)
        writer_print(&text, "WRITE64 0x%x, %u\n", (unsigned)(0x10000 + i * apart % span),
                     (unsigned)i + 1);
    if (!r->text) writer_text(&text, "HALT\n");
    penta_module *m = penta_assemble(writer_view(&text), r->format, NULL, 0, print_finding, NULL);
    REQUIRE(m);
    writer_free(&text);
    return m;
}

/* Checks where a move of the debugger leads, and what it costs. */
static uint64_t going_back_moved(const struct run *r, penta_debugger *d, const char *what,
                                 uint64_t step, double limit)
{
    penta_stop stop;
    penta_error err;
    double t = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(penta_debugger_goto(d, step, &stop, &err), "%s: %s", r->name, err.message);
    going_back_tell(r, what, clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - t, limit);
    return stop.pc;
}

/* Measures a debugger. Besides the limit of the format, going back may not take much more than
 * the run itself. */
static void measure_debugger(const struct run *r, penta_session *s, penta_debugger *d, double run)
{
    double limit = r->limit;
    penta_stop stop;
    penta_error err;
    if (1.2 * run + 0.05 < limit) limit = 1.2 * run + 0.05;
    going_back_moved(r, d, "forward", r->steps, 0);
    going_back_moved(r, d, "back by 1", r->steps - 1, limit);
    going_back_moved(r, d, "to the middle", r->steps / 2 - 1, limit);
    going_back_moved(r, d, "to the end again", r->steps, limit);
    uint64_t pc = going_back_moved(r, d, "to the start", 0, limit);
    going_back_moved(r, d, "to the end again", r->steps, limit);
    penta_debugger_mark(d, pc, true); /* No other step reaches this pc. */
    double t = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    penta_debugger_reverse(d, &stop, &err);
    going_back_tell(r, "reverse to the start", clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - t,
                    r->limit);
    CHECK(!penta_session_steps(s), "%s: reverse ends at the start", r->name);
}

static void going_back_measure(const struct run *r)
{
    penta_error err = {0};
    penta_stop stop;
    penta_module *m = going_back_make(r);
    penta_session *s = penta_session_new(m, "interp", &r->option, 1, NULL, &err);
    double t = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (s) penta_session_run(s, r->steps, &stop);
    double run = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - t;
    going_back_tell(r, "forward without a debugger", run, 0);
    penta_session_free(s);
    s = penta_session_new(m, "interp", &r->option, 1, NULL, &err);
    penta_debugger *d = s ? penta_debugger_new(s, &err) : NULL;
    if (CHECK(d, "%s: %s", r->name, err.message)) measure_debugger(r, s, d, run);
    penta_debugger_free(d);
    penta_session_free(s);
    penta_close(m);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (argc < 2 || !strcmp(argv[1], runs[i].name)) going_back_measure(&runs[i]);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    /* The limit covers 256 MiB of snapshots, one that is being made, the machine, and the
     * program as text and bytes. */
    long most = usage.ru_maxrss / 1024;
    printf("    most memory: %ld MiB\n", most);
    CHECK(most < 500);
    return checks_end();
}
