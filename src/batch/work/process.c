/* Starts workers with posix_spawn, which is safe in programs with threads. A worker has a
 * process group of its own, so that an interrupt from the terminal reaches only the coordinator,
 * which then ends its workers. */
#include "batch/work/process.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool process_failed(const char *what, int number, penta_error *err)
{
    return error_at(err, BASE_IO, 0, "cannot start a worker: %s: %s", what, strerror(number));
}

static int process_spawn(struct process *p, const char *program, char *const *arguments,
                         int channel, int page)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    /* The two descriptors may already be 3 and 4, in either order, so they are first moved to
     * higher numbers. */
    int high_channel = fcntl(channel, F_DUPFD_CLOEXEC, 10),
        high_page = fcntl(page, F_DUPFD_CLOEXEC, 10);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_adddup2(&actions, high_channel, BATCH_CHANNEL);
    posix_spawn_file_actions_adddup2(&actions, high_page, BATCH_PAGE);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    int result = high_channel < 0 || high_page < 0
                     ? EMFILE
                     : posix_spawn(&p->pid, program, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (high_channel >= 0) close(high_channel);
    if (high_page >= 0) close(high_page);
    return result;
}

bool process_start(struct process *p, const char *program, char *const *arguments, penta_error *err)
{
    int pair[2] = {-1, -1}, page = memfd_create("penta-batch", MFD_CLOEXEC), result = 0;
    *p = (struct process){.channel = -1, .in = p->in, .out = p->out};
    p->in.out.size = p->out.out.size = 0;
    void *mapped = MAP_FAILED;
    if (page >= 0 && !ftruncate(page, sizeof *p->page))
        mapped = mmap(NULL, sizeof *p->page, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    if (mapped == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        result = errno;
    if (!result) {
        int room = 1 << 20; /* Large buffers hold requests and replies of many small files, so that
                      * processes switch less often. */
        for (int i = 0; i < 2; i++) setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        result = process_spawn(p, program, arguments, pair[1], page);
    }
    if (page >= 0) close(page);
    if (pair[1] >= 0) close(pair[1]);
    p->channel = pair[0];
    p->page = mapped == MAP_FAILED ? NULL : mapped;
    if (!result) return true;
    p->pid = 0;
    process_end(p);
    return process_failed(program, result, err);
}

int process_end(struct process *p)
{
    int status = 0;
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    if (p->channel >= 0) close(p->channel);
    if (p->page) munmap(p->page, sizeof *p->page);
    p->pid = 0;
    p->channel = -1;
    p->page = NULL;
    return status;
}

void process_free(struct process *p)
{
    /* A worker without work ends when its channel is closed. */
    if (p->pid > 0 && !p->chunk_count) {
        close(p->channel);
        p->channel = -1;
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        p->pid = 0;
    }
    process_end(p);
    writer_free(&p->in);
    writer_free(&p->out);
}

bool process_program(const char *given, char *path, size_t size, penta_error *err)
{
    const char *named = given ? given : getenv("PENTA_TOOL");
    if (!named) {
        /* lib/libpenta_batch.so and bin/penta are in neighbouring folders, in a build and after
         * installation. */
        Dl_info self;
        char library[PATH_MAX];
        if (dladdr((void *)(uintptr_t)process_program, &self) && self.dli_fname &&
            realpath(self.dli_fname, library)) {
            for (int up = 0; up < 3; up++) {
                char *slash = strrchr(library, '/');
                if (!slash) break;
                *slash = 0;
                if ((size_t)snprintf(path, size, "%s/bin/penta", library) < size &&
                    !access(path, X_OK))
                    return true;
            }
        }
        named = "";
    }
    if (*named && (size_t)snprintf(path, size, "%s", named) < size && !access(path, X_OK))
        return true;
    error_at(err, BASE_IO, 0, "the tool penta is not at '%.60s'",
             *named ? named : "bin beside this library");
    return error_note(err, "PENTA_TOOL names it");
}
