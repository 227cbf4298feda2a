/* Does one thing with files, or asks one thing of the console, for host.py. It prints the result
 * or the error. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int print_error(void)
{
    puts(strerror(errno));
    return 1;
}

static int read_file(const char *path)
{
    char bytes[256];
    int fd = open(path, O_RDONLY);
    long n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (n < 0) return print_error();
    fwrite(bytes, 1, (size_t)n, stdout);
    return 0;
}

static int write_file(const char *path, int flags)
{
    int fd = open(path, O_WRONLY | O_CREAT | flags, 0666);
    return fd < 0 || write(fd, "changed", 7) != 7 ? print_error() : close(fd);
}

static int list_folder(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    if (!d) return print_error();
    while ((e = readdir(d))) printf("%c %s\n", e->d_type == DT_DIR ? 'd' : '-', e->d_name);
    return closedir(d);
}

/* Opens a file many times, while its folder may change in any way. */
static int open_many(const char *path, int count)
{
    char last[256] = "", now[256];
    while (count--) {
        int fd = open(path, O_RDONLY);
        long n = fd < 0 ? -1 : read(fd, now, sizeof now - 1);
        now[n < 0 ? 0 : n] = 0;
        if (strcmp(now, last)) puts(strcpy(last, now));
        close(fd);
    }
    return 0;
}

static int copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"), *out = fopen(to, "wx");
    int c;
    if (!in || !out) return print_error();
    while ((c = getc(in)) != EOF) putc(c, out);
    printf("%ld %s %ld\n", (long)time(NULL), getenv("A"), ftell(out));
    return fclose(in) | fclose(out);
}

static int count_opens(void)
{
    int n = 0, fd;
    while ((fd = open("many", O_RDWR | O_CREAT, 0666)) >= 0) n++;
    printf("%d ", n);
    print_error();
    return 0;
}

static int fill_file(const char *path)
{
    static char bytes[1000];
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    long all = 0, n;
    while ((n = write(fd, bytes, sizeof bytes)) > 0) all += n;
    printf("%ld %s %ld ", all, strerror(errno), (long)lseek(fd, 0, SEEK_END));
    lseek(fd, 0, SEEK_SET);
    printf("%d\n", write(fd, bytes, 100) == 100); /* Bytes that the file has already can be
                                                   * written. */
    return 0;
}

static int write_sparse(void)
{
    int fd = open("sparse", O_RDWR | O_CREAT, 0666);
    if (ftruncate(fd, 1 << 30) < 0) print_error();
    if (ftruncate(fd, (off_t)1 << 50) < 0) print_error();
    lseek(fd, 1 << 30, SEEK_SET);
    if (write(fd, "x", 1) < 0) print_error();
    return 0;
}

static int open_again(void)
{
    int n = 0;
    while (n < 1000 && !mkdir("d", 0777) && !write_file("d/f", 0) && !remove("d/f") && !rmdir("d"))
        n++;
    printf("%d\n", n);
    return 0;
}

static int use_stream(void)
{
    static char text[10000];
    for (int i = 0; i < (int)sizeof text; i++) text[i] = (char)('a' + i % 26);
    FILE *other = fopen("other", "w"), *f = fopen("main", "w+");
    fwrite(text, 1, sizeof text, other);
    fclose(other);
    size_t all = 0, n;
    int part = 777;
    while ((n = fwrite(text, 1, (size_t)part, f)) == (size_t)part) all += n;
    all += n;
    int number = errno;
    printf("short %d error %d %s\n", n < (size_t)part, ferror(f) != 0, strerror(number));
    printf("flush fails %d\n", fflush(f) == EOF);
    remove("other");
    clearerr(f);
    printf("after space %d %d\n", fflush(f), ferror(f) != 0);
    rewind(f);
    size_t at = 0;
    int c;
    while ((c = getc(f)) != EOF && c == text[at % (size_t)part]) at++;
    printf("whole %d\n", c == EOF && at == all);
    return fclose(f);
}

static int print_chance(void)
{
    char text[40];
    unsigned char bytes[8];
    time_t now = time(NULL);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", gmtime(&now));
    puts(text);
    getrandom(bytes, sizeof bytes, 0);
    for (int i = 0; i < 8; i++) printf("%02x", bytes[i]);
    putchar('\n');
    return 0;
}

int main(int argc, char **argv, char **environment)
{
    struct stat status;
    const char *action = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
    if (!strcmp(action, "read")) return read_file(path);
    if (!strcmp(action, "write")) return write_file(path, 0);
    if (!strcmp(action, "append")) return write_file(path, O_APPEND);
    if (!strcmp(action, "truncate")) return truncate(path, 0) < 0 ? print_error() : 0;
    if (!strcmp(action, "remove")) return remove(path) < 0 ? print_error() : 0;
    if (!strcmp(action, "make")) return mkdir(path, 0777) < 0 ? print_error() : 0;
    if (!strcmp(action, "move")) return rename(path, argv[3]) < 0 ? print_error() : 0;
    if (!strcmp(action, "size"))
        return stat(path, &status) < 0 ? print_error() : printf("%ld\n", (long)status.st_size) < 0;
    if (!strcmp(action, "writable")) return access(path, W_OK) < 0 ? print_error() : 0;
    if (!strcmp(action, "list")) return list_folder(path);
    if (!strcmp(action, "many")) return open_many(path, atoi(argv[3]));
    if (!strcmp(action, "copy")) return copy_file(path, argv[3]);
    if (!strcmp(action, "opens")) return count_opens();
    if (!strcmp(action, "fill")) return fill_file(path);
    if (!strcmp(action, "sparse")) return write_sparse();
    if (!strcmp(action, "again")) return open_again();
    if (!strcmp(action, "stream")) return use_stream();
    if (!strcmp(action, "chance")) return print_chance();
    if (!strcmp(action, "env"))
        for (; *environment; environment++) puts(*environment);
    return 0;
}
