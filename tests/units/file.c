/* Tests the replacement of files: what other threads, other processes and the next write after a
 * kill see of it. System calls are replaced here, to count them and to end the process at each
 * of them. */
#include "support.h"
#include "base/file/file.h"
#include "base/file/lock.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned umasks, file_syncs, folder_syncs, calls, last_call;
static bool no_nameless;

/* Ends the process, as a kill would, at call number last_call. */
static void file_test_step(void)
{
    if (++calls == last_call) _exit(9);
}

mode_t umask(mode_t mask)
{
    umasks++;
    return (mode_t)syscall(SYS_umask, mask);
}

int fsync(int fd)
{
    struct stat st;
    file_test_step();
    if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
        folder_syncs++;
    else
        file_syncs++;
    return 0;
}

ssize_t write(int fd, const void *data, size_t size)
{
    if (fd > 2) file_test_step();
    return syscall(SYS_write, fd, data, size);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    file_test_step();
    if (no_nameless) return errno = ENOENT, -1;
    return (int)syscall(SYS_linkat, from, old, to, new, flags);
}

int renameat(int from, const char *old, int to, const char *new)
{
    file_test_step();
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

static char folder[64];

static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void folder_new(void)
{
    strcpy(folder, "/tmp/penta-files-XXXXXX");
    if (!mkdtemp(folder)) abort();
}

/* Returns how many names the folder has. With `clear` it removes all. */
static unsigned file_test_names(bool clear)
{
    DIR *d = opendir(folder);
    unsigned count = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        count++;
        if (clear) unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d) closedir(d);
    return count;
}

static bool file_test_put(const char *path, const char *text)
{
    penta_error err = {0};
    bool ok = file_write(path, bytes_of(text), &err);
    if (!ok) printf("  %s\n", err.message);
    return ok;
}

static bool file_test_holds(const char *path, const char *text)
{
    penta_error err = {0};
    penta_buffer b = {0};
    bool ok = file_read(path, 1 << 20, &b, &err) && b.size == strlen(text) &&
              !memcmp(b.data, text, b.size);
    penta_buffer_free(&b);
    return ok;
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) ? 0 : st.st_mode & 07777;
}

static void test_umask_left_alone(void)
{
    mode_t before = umask(027);
    umasks = 0;
    CHECK(file_test_put(in_folder("new"), "a") && mode_of(in_folder("new")) == 0640,
          "a new file has the mode that the umask leaves (%u)", mode_of(in_folder("new")));
    CHECK(!umasks, "the umask of the process is not touched (%u)", umasks);
    umask(before);
    file_test_names(true);
}

static void test_mode_kept(void)
{
    static const mode_t modes[] = {0600, 0644, 0755, 0400, 0200, 0666, 0};
    const char *path = in_folder("kept");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        if (fd < 0 || fchmod(fd, modes[i]) || close(fd)) abort();
        CHECK(file_test_put(path, "b") && mode_of(path) == modes[i], "the mode stays (%u)",
              mode_of(path));
        file_test_names(true);
    }
}

/* Checks that the owner of a file is kept. Only root may give files away, so only root can test
 * this. */
static void test_owner_kept(void)
{
    struct stat st;
    const char *path = in_folder("owned");
    if (geteuid()) return;
    if (!file_test_put(path, "a") || chown(path, 12345, 23456)) abort();
    CHECK(file_test_put(path, "b") && !stat(path, &st) && st.st_uid == 12345 && st.st_gid == 23456,
          "the owner stays (%u)", st.st_uid);
    file_test_names(true);
}

static void test_links_kept(void)
{
    struct stat st;
    if (!file_test_put(in_folder("target"), "a") || symlink("target", in_folder("two")) ||
        symlink(in_folder("two"), in_folder("one")) || symlink("later", in_folder("dangling")) ||
        symlink("ring", in_folder("ring")))
        abort();
    CHECK(file_test_put(in_folder("one"), "b") && file_test_holds(in_folder("target"), "b") &&
              !lstat(in_folder("one"), &st) && S_ISLNK(st.st_mode) &&
              !lstat(in_folder("two"), &st) && S_ISLNK(st.st_mode),
          "a write goes through links to what they lead to");
    CHECK(file_test_put(in_folder("dangling"), "c") && file_test_holds(in_folder("later"), "c") &&
              !lstat(in_folder("dangling"), &st) && S_ISLNK(st.st_mode),
          "also where that is not there yet");
    penta_error err = {0};
    CHECK(!file_write(in_folder("ring"), bytes_of("d"), &err) && strstr(err.message, "ring"),
          "links in a ring are an error");
    file_test_names(true);
}

/* Checks that links of other users are not followed in a folder like /tmp. Such a link would
 * choose which of the user's own files is replaced. */
static void test_links_of_others(void)
{
    penta_error err = {0};
    if (geteuid()) return;
    if (!file_test_put(in_folder("mine"), "a") || symlink("mine", in_folder("trap")) ||
        lchown(in_folder("trap"), 12345, 12345) || chmod(folder, 01777))
        abort();
    CHECK(!file_write(in_folder("trap"), bytes_of("b"), &err) &&
              file_test_holds(in_folder("mine"), "a"),
          "a link of another user in a shared folder is not followed");
    if (chmod(folder, 0700)) abort();
    file_test_names(true);
}

static void test_synced(void)
{
    file_syncs = folder_syncs = 0;
    CHECK(file_test_put(in_folder("s"), "a") && file_syncs == 1 && folder_syncs == 1,
          "a new file and its folder are synced (%u)", folder_syncs);
    CHECK(file_test_put(in_folder("s"), "b") && file_syncs == 2 && folder_syncs == 2,
          "and a replaced one (%u)", folder_syncs);
    penta_error err = {0};
    CHECK(file_remove(in_folder("s"), &err) && folder_syncs == 3, "and a removed one (%u)",
          folder_syncs);
    CHECK(file_remove(in_folder("s"), &err), "a missing file is removed");
}

static void test_long_names(void)
{
    for (size_t length = 240; length <= 255; length += 5) {
        char name[256];
        memset(name, 'n', length);
        name[length] = 0;
        CHECK(file_test_put(in_folder(name), "a") && file_test_put(in_folder(name), "b") &&
                  file_test_holds(in_folder(name), "b"),
              "a long name (%zu)", length);
    }
    CHECK(file_test_names(true) == 4, "long names leave nothing else");
}

static void test_places(void)
{
    penta_error err = {0};
    CHECK(file_test_put("/dev/null", "a"), "a device");
    CHECK(!file_write("", bytes_of("a"), &err), "no name");
    CHECK(!file_write(folder, bytes_of("a"), &err), "a folder");
    CHECK(!file_write(in_folder("missing/"), bytes_of("a"), &err), "a name that ends in /");
    CHECK(!file_write(in_folder("missing/x"), bytes_of("a"), &err), "a missing folder");
    CHECK(!file_test_names(true), "failures leave nothing");
}

/* Ends a child at its nth system call, for every n. */
static void test_kill_at_every_call(bool nameless, bool exists)
{
    const char *path = in_folder("f");
    unsigned n = 1;
    no_nameless = !nameless;
    for (int status = -1; status && n < 100; n++) {
        if (exists && !file_test_put(path, "old")) abort();
        pid_t child = fork();
        if (!child) {
            calls = 0;
            last_call = n;
            _exit(!file_test_put(path, "new"));
        }
        if (child < 0 || waitpid(child, &status, 0) != child) abort();
        bool whole = file_test_holds(path, "new") ||
                     (exists ? file_test_holds(path, "old") : access(path, F_OK) != 0);
        CHECK(whole, "a kill leaves the old file or the new one (%u)", n);
        CHECK(file_test_names(false) <= 2, "and one temporary at most (%u)", n);
        CHECK(file_test_put(path, "next") && file_test_names(false) == 1,
              "which the next write removes (%u)", n);
        file_test_names(true);
    }
    CHECK(n > 4 && n < 100, "calls of a write (%u)", n);
    no_nameless = false;
}

/* Lets three children write the same file until they are killed at a random moment. */
static void test_kill_at_random(unsigned rounds)
{
    enum { WRITERS = 3, SIZE = 40000 };
    static char text[SIZE + 1];
    uint64_t state = 1;
    const char *path = in_folder("f");
    for (unsigned i = 0; i < rounds; i++) {
        pid_t children[WRITERS];
        no_nameless = i & 1;
        for (int k = 0; k < WRITERS; k++) {
            children[k] = fork();
            if (children[k]) continue;
            for (unsigned n = 0;; n++) {
                memset(text, 'a' + (int)((n + (unsigned)k) % 26), SIZE);
                if (!file_test_put(path, text)) _exit(1);
            }
        }
        usleep(1000 + random_below(&state, 5000));
        int status = 0;
        bool killed = true;
        for (int k = 0; k < WRITERS; k++) {
            kill(children[k], SIGKILL);
            waitpid(children[k], &status, 0);
            killed &= WIFSIGNALED(status);
        }
        CHECK(killed, "no writer fails because of another (%u)", i);
        penta_error err = {0};
        penta_buffer b = {0};
        bool whole = file_read(path, 1 << 20, &b, &err) && b.size == SIZE;
        for (size_t k = 0; whole && k < b.size; k++) whole = b.data[k] == b.data[0];
        CHECK(whole || access(path, F_OK), "the file is one of those that were written (%u)", i);
        penta_buffer_free(&b);
        CHECK(file_test_put(path, "end") && file_test_names(false) == 1,
              "the next write leaves nothing else (%u)", i);
        file_test_names(true);
    }
    no_nameless = false;
}

/* Checks that a temporary file to which another process still writes is not removed. */
static void test_live_temporary_left_alone(void)
{
    const char *path = in_folder("f");
    pid_t child;
    int ready[2], status;
    no_nameless = true; /* The file has its name from the first byte on. */
    if (!file_test_put(path, "old") || pipe(ready) || (child = fork()) < 0) abort();
    if (!child) {
        calls = 0;
        last_call = 0;
        char *big = calloc(1, 50 << 20);
        memset(big, 'x', (50 << 20) - 1);
        if (syscall(SYS_write, ready[1], "", 1) != 1) _exit(2);
        _exit(!file_test_put(path, big));
    }
    char byte;
    if (read(ready[0], &byte, 1) != 1) abort();
    for (unsigned i = 0; i < 50; i++) file_test_put(path, "meanwhile");
    waitpid(child, &status, 0);
    CHECK(!status, "a writer beside other writers succeeds (%d)", status);
    CHECK(file_test_put(path, "end") && file_test_names(true) == 1, "and leaves nothing");
    no_nameless = false;
    close(ready[0]);
    close(ready[1]);
}

static void test_lock(void)
{
    penta_error err = {0};
    char text[40];
    int fd, second, go[2], done[2];
    char byte = 0;
    CHECK(folder_lock(folder, &fd, &err) && fd >= 0, "a lock");
    snprintf(text, sizeof text, "another machine of this process (%d)", (int)getpid());
    CHECK(!folder_lock(folder, &second, &err) && second < 0 && strstr(err.message, text),
          "a process cannot take a lock twice");
    folder_unlock(fd);
    if (pipe(go) || pipe(done)) abort();
    pid_t child = fork();
    if (!child) {
        bool ok = folder_lock(folder, &fd, &err);
        if (syscall(SYS_write, done[1], "", 1) != 1 || read(go[0], &byte, 1) != 1) _exit(2);
        _exit(!ok);
    }
    if (read(done[0], &byte, 1) != 1) abort();
    snprintf(text, sizeof text, "in use by process %d", (int)child);
    err = (penta_error){0};
    CHECK(!folder_lock(folder, &second, &err) && strstr(err.message, text),
          "the holder is named (%d)", child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK(folder_lock(folder, &fd, &err), "a kill frees the lock");
    folder_unlock(fd);
    for (int i = 0; i < 2; i++) close(go[i]), close(done[i]);
    file_test_names(true);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 60;
    folder_new();
    test_umask_left_alone();
    test_mode_kept();
    test_owner_kept();
    test_links_kept();
    test_links_of_others();
    test_synced();
    test_long_names();
    test_places();
    for (int i = 0; i < 4; i++) test_kill_at_every_call(i & 1, i & 2);
    test_kill_at_random(rounds);
    test_live_temporary_left_alone();
    test_lock();
    rmdir(folder);
    return checks_end();
}
