/* Prints what the functions for files, folders and descriptors give below the current folder, to
 * be compared with the native library. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static const char *error_text(int n) { return n < 0 ? strerror(errno) : "ok"; }
#define SAY(call) printf("%s: %s\n", #call, error_text((int)(call)))

static void use_descriptors(void)
{
    char text[32] = "";
    struct stat status;
    SAY(open("none", O_RDONLY));
    int fd = open("a.txt", O_RDWR | O_CREAT | O_EXCL, 0666);
    printf("%d\n", fd > 2);
    SAY(open("a.txt", O_WRONLY | O_CREAT | O_EXCL, 0666));
    printf("%ld", (long)write(fd, "hello, world", 12));
    printf(" %ld\n", (long)lseek(fd, 0, SEEK_CUR));
    printf("%ld", (long)pwrite(fd, "W", 1, 7));
    printf(" %ld", (long)pread(fd, text, 5, 7));
    printf(" %s %ld\n", text, (long)lseek(fd, -12, SEEK_END));
    printf("%ld", (long)read(fd, text, sizeof text - 1));
    printf(" %.12s", text);
    printf(" %ld\n", (long)read(fd, text, 4));
    SAY(lseek(fd, -1, SEEK_SET));
    SAY(lseek(fd, 0, 77));
    printf("%ld", (long)lseek(fd, 20, SEEK_SET));
    printf(" %ld\n", (long)write(fd, "x", 1));
    printf("%d", fstat(fd, &status));
    printf(" %ld %d %d\n", (long)status.st_size, S_ISREG(status.st_mode), S_ISDIR(status.st_mode));
    SAY(ftruncate(fd, 5));
    SAY(ftruncate(fd, -1));
    printf("%ld\n", (long)lseek(fd, 0, SEEK_END));
    SAY(fsync(fd));
    printf("%d", isatty(fd));
    printf(" %d\n", errno == ENOTTY);
    printf("%d %d\n", fcntl(fd, F_GETFD) >= 0, fcntl(fd, F_SETFD, FD_CLOEXEC));
    struct flock lock = {.l_type = F_WRLCK};
    printf("%d", fcntl(fd, F_SETLK, &lock));
    printf(" %d", fcntl(fd, F_GETLK, &lock));
    printf(" %d\n", lock.l_type == F_UNLCK);
    SAY(close(fd));
    SAY(close(fd));
    SAY(read(fd, text, 1));
    SAY(fstat(fd, &status));
    fd = open("a.txt", O_WRONLY | O_APPEND);
    printf("%ld\n", (long)write(fd, "!", 1));
    SAY(read(fd, text, 1));
    close(fd);
    fd = open("a.txt", O_RDONLY);
    SAY(write(fd, "x", 1));
    SAY(ftruncate(fd, 1));
    printf("%ld", (long)read(fd, text, 31));
    printf(" %.6s\n", text);
    close(fd);
    SAY(truncate("a.txt", 3));
    fd = creat("a.txt", 0600);
    printf("%d\n", fstat(fd, &status));
    printf("%ld\n", (long)status.st_size);
    close(fd);
}

static void use_names(void)
{
    struct stat status, other;
    SAY(mkdir("d", 0777));
    SAY(mkdir("d", 0777));
    SAY(mkdir("none/d", 0777));
    SAY(mkdir("a.txt/d", 0777));
    SAY(stat("d", &status));
    printf("%d\n", S_ISDIR(status.st_mode));
    SAY(stat("", &status));
    SAY(stat("a.txt/x", &status));
    SAY(access("a.txt", R_OK | W_OK));
    SAY(access("a.txt", X_OK));
    SAY(access("none", F_OK));
    SAY(rename("a.txt", "d/b.txt"));
    SAY(rename("none", "d/c.txt"));
    SAY(stat("a.txt", &status));
    SAY(stat("d/b.txt", &status));
    SAY(lstat("d/../d/./b.txt", &other));
    printf("%d\n", status.st_ino == other.st_ino && status.st_dev == other.st_dev);
    SAY(rename("d", "d/below"));
    SAY(rename("d/b.txt", "d"));
    SAY(rmdir("d"));
    SAY(unlink("d"));
    SAY(open("d", O_WRONLY));
    SAY(rmdir("d/b.txt"));
    SAY(unlink("none"));
    SAY(chmod("d", 0700));
    SAY(chmod("none", 0700));
    char place[4096], *cwd;
    SAY(chdir("d"));
    SAY(chdir("b.txt"));
    SAY(stat("b.txt", &status));
    SAY(access("../d/b.txt", F_OK));
    cwd = getcwd(place, sizeof place);
    printf("%s\n", strrchr(cwd, '/'));
    printf("%d", getcwd(place, 1) == NULL);
    printf(" %d\n", errno == ERANGE);
    FILE *f = fopen("b.txt", "w");
    fputs("in the folder\n", f);
    fclose(f);
    cwd = realpath("../d/./b.txt", NULL);
    printf("%s\n", strrchr(cwd, '/'));
    free(cwd);
    SAY(chdir(".."));
    SAY(stat("d/b.txt", &status));
    printf("%ld\n", (long)status.st_size);
}

static int no_dots(const struct dirent *e) { return *e->d_name != '.'; }

static void use_folders(void)
{
    for (int i = 0; i < 150; i++) {
        char name[64];
        snprintf(name, sizeof name, "d/file with a longer name %03d", i * 7 % 150);
        close(open(name, O_WRONLY | O_CREAT, 0666));
    }
    mkdir("d/sub", 0777);
    DIR *d = opendir("d");
    struct dirent *e;
    int count = 0, dots = 0, folders = 0;
    while ((e = readdir(d))) {
        struct stat status;
        char path[300];
        snprintf(path, sizeof path, "d/%s", e->d_name);
        if (e->d_type != DT_UNKNOWN && !stat(path, &status) &&
            S_ISDIR(status.st_mode) != (e->d_type == DT_DIR))
            puts("kind");
        if (strcmp(e->d_name, "..") && e->d_ino != status.st_ino) puts("number");
        dots += *e->d_name == '.';
        folders += e->d_type == DT_DIR;
        count++;
    }
    printf("%d %d %d\n", count, dots, folders);
    rewinddir(d);
    readdir(d);
    readdir(d);
    readdir(d);
    long at = telldir(d);
    e = readdir(d);
    char name[256];
    strcpy(name, e->d_name);
    while (readdir(d)) continue;
    seekdir(d, at);
    printf("%d\n", strcmp(readdir(d)->d_name, name));
    printf("%d\n", closedir(d));
    struct dirent **list;
    int n = scandir("d", &list, no_dots, alphasort);
    printf("%d %s %s %s\n", n, list[0]->d_name, list[1]->d_name, list[n - 1]->d_name);
    for (int i = 0; i < n; i++) {
        char path[300];
        snprintf(path, sizeof path, "d/%s", list[i]->d_name);
        if (remove(path)) printf("%s: %s\n", path, strerror(errno));
        free(list[i]);
    }
    free(list);
    SAY(rmdir("d"));
    printf("%d\n", opendir("d") == NULL);
    printf("%s\n", error_text(-1));
}

static void print_state(const char *when, FILE *f)
{
    printf("%s: %d%d %d%d", when, __freadable(f) != 0, __fwritable(f) != 0, __freading(f) != 0,
           __fwriting(f) != 0);
    printf(" %d %d\n", __flbf(f) != 0, (int)__fpending(f));
}

/* What programs ask about themselves. */
static void program_names(void)
{
    struct rlimit limit;
    printf("%d", strlen(program_invocation_short_name) > 0);
    printf(" %d", strchr(program_invocation_short_name, '/') == NULL);
    printf(" %d", strstr(program_invocation_name, program_invocation_short_name) != NULL);
    printf(" %d", getrlimit(RLIMIT_NOFILE, &limit));
    printf(" %d", limit.rlim_cur >= 16);
    printf(" %d", limit.rlim_max >= limit.rlim_cur);
    printf(" %d\n", getdtablesize() == (int)limit.rlim_cur);
}

/* What programs ask about the inside of a stream. */
static void stream_states(void)
{
    char line[64];
    FILE *f = fopen("e.txt", "w+");
    fputs("one\n", f);
    print_state("written", f);
    fflush(f);
    fputs("lost", f);
    print_state("more", f);
    __fpurge(f);
    printf("purged: %d\n", (int)__fpending(f));
    rewind(f);
    printf("%s", fgets(line, sizeof line, f));
    print_state("read", f);
    setvbuf(f, NULL, _IOLBF, 0);
    printf("by lines: %d\n", __flbf(f) != 0);
    fclose(f);
    f = fopen("e.txt", "r");
    print_state("to read", f);
    fgets(line, sizeof line, f);
    print_state("to read", f);
    fclose(f);
    remove("e.txt");
}

static void use_streams(void)
{
    FILE *f = tmpfile();
    char line[64];
    if (f) {
        fputs("temporary\n", f);
        rewind(f);
        printf("%s", fgets(line, sizeof line, f));
        fclose(f);
    }
    int fd = open("s.txt", O_RDWR | O_CREAT | O_TRUNC, 0666);
    f = fdopen(fd, "w+");
    printf("%d\n", fileno(f) == fd);
    fprintf(f, "%d lines\n", 2);
    setlinebuf(f);
    fputs("second\n", f);
    fseeko(f, 2, SEEK_SET);
    printf("%s", fgets(line, sizeof line, f));
    printf("%ld\n", (long)ftello(f));
    ungetc('x', f);
    printf("%c", getc_unlocked(f));
    printf("%c\n", getc(f));
    fseek(f, 0, SEEK_END);
    fputs("third", f);
    fflush(f);
    fclose(f);
    f = fopen("s.txt", "a+");
    fputs("!", f);
    rewind(f);
    char *all = NULL;
    size_t size = 0;
    printf("%ld", (long)getdelim(&all, &size, '!', f));
    printf(" %s\n", all);
    free(all);
    fclose(f);
    f = fopen("s.txt", "r");
    printf("%d", fputs("x", f) < 0);
    printf(" %d", ferror(f) != 0);
    printf(" %d\n", fclose(f));
    printf("%d\n", fopen("none/x", "w") == NULL);
    printf("%d\n", fopen("s.txt", "wx") == NULL);
    char path[] = "tXXXXXX", folder[] = "fXXXXXX";
    fd = mkstemp(path);
    printf("%d %d", fd > 2, access(path, F_OK));
    printf(" %d\n", unlink(path));
    printf("%ld", (long)write(fd, "gone", 4)); /* The file has no name any more. */
    printf(" %ld", (long)lseek(fd, 0, SEEK_END));
    printf(" %d\n", close(fd));
    printf("%d", mkdtemp(folder) == folder);
    printf(" %d\n", rmdir(folder));
    remove("s.txt");
    char *memory = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d %d %d\n", memory != MAP_FAILED, memory[9999], (int)((size_t)memory % 4096));
    memory[9999] = 1;
    printf("%d\n", munmap(memory, 10000));
}

int main(void)
{
    use_descriptors();
    use_names();
    use_folders();
    use_streams();
    stream_states();
    program_names();
    return 0;
}
