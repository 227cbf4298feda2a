/* Finds, starts, watches and ends the device process. Relies on posix_spawn, on Linux's prctl
 * and on /proc for the processor time of the child. */
#include "gpu/host/child_process.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "gpu/child/device.h"

extern char **environ;

enum {
    FIRST_FREE = 10, /* first descriptor that may be used, above 0, 1, 2 and the child's 3 */
    TRACE_FD = 3,
    SOCKET_BUFFER = 1 << 20,
};

/* The functions below run in the child process. */

int child_main(int in, int out, int trace)
{
    signal(SIGINT, SIG_IGN); /* The host handles Ctrl-C: it shuts the device down or ends. */
    signal(SIGPIPE, SIG_IGN);
    /* A stopped process does not notice that its host has ended, so the kernel continues it
     * then. */
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    struct device device;
    struct channel channel;
    if (!channel_init(&channel, ROLE_DEVICE, in, out)) return 1;
    if (!device_init(&device, trace)) {
        channel_fini(&channel);
        return 1;
    }
    device_serve(&device, &channel);
    /* After this, the host need not wait while tasks are joined and memory is released. */
    close(in);
    if (out != in) close(out);
    device_fini(&device);
    channel_fini(&channel);
    return 0;
}

/* The functions below find the executable of the device. */

static bool child_process_executable(const char *path) { return !access(path, X_OK); }

/* Looks for the executable in the folder of a file and in the libexec folders relative to it. */
static bool child_process_beside(const char *file, char *path, size_t size)
{
    char real[PATH_MAX];
    if (!realpath(file, real)) return false;
    char *slash = strrchr(real, '/');
    if (!slash) return false;
    *slash = 0;
    static const char *const places[] = {"penta-device", "../libexec/penta/penta-device",
                                         "../../libexec/penta/penta-device"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if ((size_t)snprintf(path, size, "%s/%s", real, places[i]) < size &&
            child_process_executable(path))
            return true;
    return false;
}

/* Finds the program to start. The path is empty if there is none. A path that the caller chose
 * is not checked. */
static void find_device(const char *chosen, char *path, size_t size)
{
    const char *environment = getenv("PENTA_DEVICE");
    if (!chosen && environment && *environment) chosen = environment;
    if (chosen) {
        snprintf(path, size, "%s", chosen);
        return;
    }
#ifdef PENTA_LIBEXECDIR
    snprintf(path, size, "%s/penta/penta-device", PENTA_LIBEXECDIR);
    if (child_process_executable(path)) return;
#endif
    Dl_info self;
    if (dladdr((void *)(uintptr_t)child_start, &self) && self.dli_fname &&
        child_process_beside(self.dli_fname, path, size))
        return;
    if (!child_process_beside("/proc/self/exe", path, size)) path[0] = 0;
}

static int descriptor_moved_up(int fd)
{
    int up = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);
    close(fd);
    return up;
}

static bool channel_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = descriptor_moved_up(ends[i]);
        int bytes = SOCKET_BUFFER;
        if (ends[i] >= 0) setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    if (ends[0] >= 0 && ends[1] >= 0) return true;
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
    return false;
}

static bool child_process_spawn(const char *path, int end, int trace, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions)) return false;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
    if (trace >= 0) posix_spawn_file_actions_adddup2(&actions, trace, TRACE_FD);
    posix_spawn_file_actions_addclosefrom_np(&actions, trace >= 0 ? TRACE_FD + 1 : TRACE_FD);
    char name[] = "penta-device", option[] = "--trace-fd", number[] = "3";
    char *with[] = {name, option, number, NULL}, *without[] = {name, NULL};
    int failed =
        posix_spawn(pid, path, &actions, &attributes, trace >= 0 ? with : without, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return !failed;
}

static bool single_threaded(void)
{
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return false;
    unsigned count = 0;
    for (struct dirent *e; (e = readdir(tasks));) count += e->d_name[0] != '.';
    closedir(tasks);
    return count == 1;
}

/* Forks the device if this process has only one thread. In a forked process, locks held by other
 * threads would never be released. */
static bool fork_device(int end, int trace, pid_t *pid)
{
    if (!single_threaded()) return false;
    *pid = fork();
    if (*pid) return *pid > 0;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(end, STDIN_FILENO) < 0 || dup2(end, STDOUT_FILENO) < 0) _exit(1);
    if (trace >= 0 && dup2(trace, TRACE_FD) < 0) _exit(1);
    close_range(trace >= 0 ? TRACE_FD + 1 : TRACE_FD, ~0U, 0);
    _exit(child_main(STDIN_FILENO, STDOUT_FILENO, trace >= 0 ? TRACE_FD : -1));
}

bool child_start(struct child *child, const char *device_path, int trace)
{
    *child = (struct child){.socket = -1};
    int ends[2];
    char path[PATH_MAX];
    if (!channel_pair(ends)) return false;
    find_device(device_path, path, sizeof path);
    bool ok = path[0] ? child_process_spawn(path, ends[1], trace, &child->pid)
                      : fork_device(ends[1], trace, &child->pid);
    close(ends[1]);
    if (!ok) {
        child->pid = 0;
        close(ends[0]);
        return false;
    }
    child->socket = ends[0];
    return true;
}

bool child_works(struct child *child)
{
    clockid_t clock;
    struct timespec used;
    if (child->pid <= 0 || clock_getcpuclockid(child->pid, &clock) || clock_gettime(clock, &used))
        return false;
    uint64_t before = child->worked_ns;
    child->worked_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
    return child->worked_ns != before;
}

static bool child_process_reaped(pid_t pid)
{
    pid_t got = waitpid(pid, NULL, WNOHANG);
    /* ECHILD: the application has waited for the process already. */
    return got == pid || (got < 0 && errno == ECHILD);
}

/* Waits for the end of the process. After it has returned true, the process id may belong to
 * another process, so the caller must not use it again. */
static bool await_exit(pid_t pid, uint64_t ms)
{
    if (child_process_reaped(pid)) return true;
    int fd = pidfd_open(pid, 0);
    uint64_t until = clock_ms() + ms;
    bool gone = false;
    for (uint64_t now = clock_ms(); !gone && now < until; now = clock_ms()) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, fd >= 0 ? (int)(until - now) : 1);
        gone = child_process_reaped(pid);
    }
    if (fd >= 0) close(fd);
    return gone;
}

void child_end(struct child *child, uint64_t patience_ms)
{
    if (child->socket >= 0) close(child->socket);
    child->socket = -1;
    if (child->pid > 0 && !await_exit(child->pid, patience_ms)) {
        kill(child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    child->pid = 0;
}
