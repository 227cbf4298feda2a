/* Runs other implementations. Nothing they do ends the benchmark: one that fails, hangs or prints
 * something else gets a note in its cell of the table. */
#include "pvm_bench.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *text_trimmed(char *text)
{
    char *end = text + strlen(text);
    while (end > text && strchr(" \t\r\n", end[-1])) *--end = 0;
    return text + strspn(text, " \t");
}

size_t peers_read(const char *path, struct peer **out)
{
    enum { LINE_MAX_BYTES = 4096 };
    char line[LINE_MAX_BYTES], problem[64];
    size_t count = 0, number = 0;
    FILE *f = fopen(path, "r");
    if (!f) bench_die(path, strerror(errno));
    *out = NULL;
    while (fgets(line, sizeof line, f)) {
        number++;
        bool whole = strchr(line, '\n') || feof(f);
        char *text = text_trimmed(line), *is = strchr(text, '=');
        if (whole && (!*text || *text == '#')) continue;
        snprintf(problem, sizeof problem, "line %zu is not NAME=COMMAND", number);
        if (!whole || !is || is == text || !*text_trimmed(is + 1)) bench_die(path, problem);
        *is = 0;
        *out = realloc(*out, (count + 1) * sizeof **out);
        if (!*out) bench_die(path, "no memory");
        (*out)[count++] = (struct peer){strdup(text_trimmed(text)), strdup(text_trimmed(is + 1))};
    }
    fclose(f);
    return count;
}

/* In its own process group, so that all processes that it starts can be ended. */
static pid_t peer_start(const struct peer *peer, const char *blob, int *from)
{
    int ends[2];
    if (pipe(ends)) return -1;
    pid_t child = fork();
    if (child == 0) {
        char command[8192];
        setpgid(0, 0);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        snprintf(command, sizeof command, "%s \"$1\"", peer->command);
        execl("/bin/sh", "sh", "-c", command, "sh", blob, (char *)NULL);
        _exit(127);
    }
    if (child > 0) setpgid(child, child);
    close(ends[1]);
    if (child < 0)
        close(ends[0]);
    else
        *from = ends[0];
    return child;
}

/* Everything it prints until it closes its output; false: it was too slow. */
static bool peer_collect(int from, char *text, size_t capacity, double until)
{
    size_t size = 0;
    for (;;) {
        char more[256];
        double left = until - bench_now();
        struct pollfd look = {.fd = from, .events = POLLIN};
        if (left <= 0 || poll(&look, 1, (int)(left * 1000) + 1) == 0) return false;
        ssize_t got = read(from, more, sizeof more);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size_t fits = (size_t)got < capacity - 1 - size ? (size_t)got : capacity - 1 - size;
        memcpy(text + size, more, fits);
        size += fits;
    }
    text[size] = 0;
    return true;
}

static bool peer_ended(pid_t child, int *status, double until)
{
    while (waitpid(child, status, WNOHANG) != child) {
        if (bench_now() >= until) return false;
        usleep(1000);
    }
    return true;
}

double peer_run(const struct peer *peer, const char *blob, double limit, char *note,
                size_t capacity)
{
    char text[256], *end;
    int from = -1, status = 0;
    double until = bench_now() + limit;
    fflush(stdout);
    pid_t child = peer_start(peer, blob, &from);
    if (child < 0) {
        snprintf(note, capacity, "no start");
        return -1;
    }
    bool done = peer_collect(from, text, sizeof text, until) && peer_ended(child, &status, until);
    close(from);
    kill(-child, SIGKILL);
    if (!done) {
        waitpid(child, &status, 0);
        snprintf(note, capacity, "> %.0f s", limit);
        return -1;
    }
    double seconds = strtod(text, &end);
    if (WIFSIGNALED(status))
        snprintf(note, capacity, "signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        snprintf(note, capacity, "exit %d", WEXITSTATUS(status));
    else if (end == text || *text_trimmed(end) || !isfinite(seconds) || seconds <= 0)
        snprintf(note, capacity, "no time");
    else
        return seconds;
    return -1;
}
