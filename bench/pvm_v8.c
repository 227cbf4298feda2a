/* The same C as WebAssembly under V8: a node that stays for all rounds of a program, so that its
 * compiler is as warm as the others and rounds can be interleaved. */
#include "pvm_bench.h"
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct v8 {
    pid_t child;
    FILE *to;
    int from;
};

#if defined BENCH_NODE && defined BENCH_WASM
const char *v8_missing(void) { return access(BENCH_NODE, X_OK) ? "node" : NULL; }

/* Compiled by the optimising compiler from the start. */
static const char script[] =
    "const fs = require('fs'), lines = require('readline').createInterface({input: process.stdin});"
    "const instance = new WebAssembly.Instance("
    "    new WebAssembly.Module(fs.readFileSync(process.argv[1])), {});"
    "const {initialize, run} = instance.exports;"
    "lines.on('line', () => {"
    "    initialize();"
    "    const start = process.cpuUsage();"
    "    const result = run();"
    "    const {user, system} = process.cpuUsage(start);"
    "    console.log(`${(user + system) / 1e6} ${BigInt.asUintN(64, result)}`);"
    "});";

static void become_node(const char *program, int in, int out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.wasm", BENCH_WASM, program);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    for (int fd = 3; fd < 64; fd++) close(fd);
    execl(BENCH_NODE, "node", "--no-liftoff", "--no-wasm-lazy-compilation", "-e", script, path,
          (char *)NULL);
    _exit(127);
}

struct v8 *v8_start(const char *program)
{
    int down[2], up[2];
    struct v8 *v8 = calloc(1, sizeof *v8);
    if (!v8 || pipe(down) || pipe(up)) bench_die("node", "no pipe");
    fflush(stdout);
    signal(SIGPIPE, SIG_IGN);
    v8->child = fork();
    if (v8->child == 0) become_node(program, down[0], up[1]);
    close(down[0]);
    close(up[1]);
    v8->to = fdopen(down[1], "w");
    v8->from = up[0];
    return v8;
}
#else
const char *v8_missing(void)
{
#ifdef BENCH_NODE
    return "a clang for wasm32";
#else
    return "node";
#endif
}
struct v8 *v8_start(const char *program)
{
    (void)program;
    return NULL;
}
#endif

/* The line that it answers with; false: none in time. */
static bool read_line(const struct v8 *v8, char *line, size_t capacity, double limit)
{
    double until = bench_now() + limit;
    for (size_t n = 0; n + 1 < capacity; n++) {
        struct pollfd look = {.fd = v8->from, .events = POLLIN};
        int wait = (int)((until - bench_now()) * 1000);
        if (wait <= 0 || poll(&look, 1, wait) <= 0 || read(v8->from, line + n, 1) != 1)
            return false;
        if (line[n] != '\n') continue;
        line[n] = 0;
        return true;
    }
    return false;
}

double v8_run(struct v8 *v8, double limit, uint64_t expected, char *note, size_t capacity)
{
    char line[128];
    double took;
    uint64_t result;
    fputs("run\n", v8->to);
    fflush(v8->to);
    if (!read_line(v8, line, sizeof line, limit) ||
        sscanf(line, "%lf %" SCNu64, &took, &result) != 2)
        return snprintf(note, capacity, "no time") * -1.0;
    if (result != expected) bench_die("node", "another result than native code");
    return took;
}

void v8_end(struct v8 *v8)
{
    if (!v8) return;
    fclose(v8->to);
    close(v8->from);
    kill(v8->child, SIGKILL);
    waitpid(v8->child, NULL, 0);
    free(v8);
}
