/* Prints what the functions for strings, options, paths, numbers and times give, to be compared
 * with the native library. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#if defined __GLIBC__ && (__GLIBC__ < 2 || __GLIBC_MINOR__ < 38)
static size_t strlcpy(char *to, const char *from, size_t size)
{
    return (size_t)snprintf(to, size, "%s", from);
}
static size_t strlcat(char *to, const char *from, size_t size)
{
    size_t have = strnlen(to, size);
    return have + (size_t)snprintf(to + have, size - have, "%s", from);
}
#endif

static int sign_of(int n) { return (n > 0) - (n < 0); }
static long offset_of(const void *p, const void *from)
{
    return p ? (long)((const char *)p - (const char *)from) : -1;
}

/* These are the numbers of the guest's <errno.h>, and some that are not errors. */
static const short errors[] = {-1,  0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,
                               12,  13,  14,  15,  16,  17,  18,  19,  20,  21,  22,  23,  24,
                               25,  26,  27,  28,  29,  30,  31,  32,  33,  34,  35,  36,  37,
                               38,  39,  40,  42,  61,  62,  71,  74,  75,  84,  88,  89,  90,
                               91,  92,  93,  95,  97,  98,  99,  100, 101, 102, 103, 104, 105,
                               106, 107, 110, 111, 113, 114, 115, 116, 122, 125, 130, 131, 1000};

static void use_strings(void)
{
    char a[64], b[64];
    static const char text[] = "one, two;three,,four";
    memset(a, '-', sizeof a);
    printf("%ld %ld\n", offset_of(memccpy(a, text, 't', sizeof text), a),
           offset_of(memccpy(b, text, '#', 6), b));
    printf("%.8s %ld\n", a, offset_of(mempcpy(a, "abc", 3), a));
    printf("%ld %s\n", offset_of(stpcpy(a, "stpcpy"), a), a);
    printf("%ld %ld %.10s|\n", offset_of(stpncpy(a, "ab", 5), a),
           offset_of(stpncpy(b, "abcdef", 3), b), b);
    printf("%zu %s %zu %zu\n", strlcpy(a, text, 8), a, strlcpy(b, "xy", 8), strlcpy(b, "", 1));
    printf("%zu %s %zu\n", strlcat(a, "12345", 10), a, strlcat(a, "123", 3));
    printf("%ld %ld\n", offset_of(strchrnul(text, ';'), text),
           offset_of(strchrnul(text, '#'), text));
    printf("%ld %ld %ld\n", offset_of(memrchr(text, ',', 20), text),
           offset_of(memrchr(text, 'o', 1), text), offset_of(memrchr(text, '#', 20), text));
    printf("%ld %ld %ld\n", offset_of(memmem(text, 20, "three", 5), text),
           offset_of(memmem(text, 12, "three", 5), text), offset_of(memmem(text, 20, "", 0), text));
    printf("%ld %ld %ld\n", offset_of(strcasestr(text, "THREE"), text),
           offset_of(strcasestr(text, "x"), text), offset_of(strcasestr(text, ""), text));
    printf("%ld %ld\n", offset_of(rawmemchr(text, 'w'), text), offset_of(index(text, 't'), text));
    printf("%ld\n", offset_of(rindex(text, 'f'), text));
    char copy[sizeof text], *rest = copy, *word;
    strcpy(copy, text);
    while ((word = strsep(&rest, ",;"))) printf("[%s]", word);
    static const char *const versions[] = {"000", "00", "01", "010", "09",  "0", "1",
                                           "9",   "10", "a1", "a01", "a1b", "",  "jan0"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        for (size_t k = 0; k < sizeof versions / sizeof *versions; k++)
            printf(" %d", sign_of(strverscmp(versions[i], versions[k])));
    printf("\n%d %d %d %d\n", sign_of(strcasecmp("aBc", "AbD")), strncasecmp("aBc", "AbD", 2),
           bcmp("a", "a", 1),
           ffs(0) + 10 * ffs(8) + 100 * ffsl(1l << 20) + 1000 * ffsll(1ll << 40));
    bcopy("12345", a, 6);
    bcopy(a, a + 1, 4);
    bzero(a + 4, 2);
    puts(a);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) puts(strerror(errors[i]));
    for (int i = 1; i < 16; i++) printf("%s\n", strsignal(i));
    for (int i = -2; i < 300; i++) printf("%d", !!isascii(i));
    putchar('\n');
}

static void use_paths(void)
{
    static const char *const all[] = {"",      "/",        "a", "/a", "a/",  "a/b",
                                      "/a/b/", "//a//b//", ".", "..", "a//b"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char one[32], two[32];
        strcpy(one, all[i]);
        strcpy(two, all[i]);
        printf("%s: %s %s\n", all[i], dirname(one), basename(two));
    }
}

static void one_getopt(int count, char **list, const char *options)
{
    static const struct option names[] = {{"help", no_argument, NULL, 'h'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"level", optional_argument, NULL, 'l'},
                                          {"long-help", no_argument, NULL, 'H'},
                                          {NULL, 0, NULL, 0}};
    char *words[16];
    int c, which;
    opterr = 0;
    memcpy(words, list, (size_t)(count + 1) * sizeof *words);
    optind = 0; /* In GNU's library 0 makes getopt start anew. */
    printf("short %s:", options);
    /* A '+' turns off permutation, which getopt of POSIX does not do either. */
    char plain[32] = "+";
    strcat(plain, options);
    while ((c = getopt(count, words, plain)) != -1)
        printf(" %c(%s %d %c)", c, optarg ? optarg : "", optind, optopt ? optopt : '0');
    printf(" %d\nlong %s:", optind, options);
    optind = 0; /* In GNU's library 0 makes getopt start anew. */
    while (which = -1, (c = getopt_long(count, words, options, names, &which)) != -1)
        printf(" %c(%s %d)", c, optarg ? optarg : "", which);
    printf(" %d:", optind);
    for (int i = 0; i < count; i++) printf(" %s", words[i]);
    printf("\nonly %s:", options);
    optind = 0; /* In GNU's library 0 makes getopt start anew. */
    while (which = -1, (c = getopt_long_only(count, words, options, names, &which)) != -1)
        printf(" %c(%s %d)", c, optarg ? optarg : "", which);
    printf(" %d\n", optind);
}

static void use_getopts(void)
{
    char *lines[][8] = {
        {"p", "-a", "-b", "value", "rest", NULL},
        {"p", "-abvalue", "--", "-a", NULL},
        {"p", "one", "-a", "two", "-bx", NULL},
        {"p", "-z", "-b", NULL},
        {"p", "--help", "x", "--output=f", NULL},
        {"p", "x", "--output", "f", "y", "--level", NULL},
        {"p", "--lev=3", "--l", "--unknown", NULL},
        {"p", "--help=x", "--output", NULL},
        {"p", "x", "-aa", "y", "--", "-b", NULL},
        {"p", "-", "-a", NULL},
        {"p", NULL},
        {"p", "-h", "-level", "-output=x", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int n = 0;
        while (lines[i][n]) n++;
        one_getopt(n, lines[i], "ab:h");
        one_getopt(n, lines[i], ":ab:h");
        one_getopt(n, lines[i], "ab::");
    }
}

static int by_more(const void *a, const void *b, void *more)
{
    return (*(const int *)a - *(const int *)b) * *(int *)more;
}

static void use_numbers(void)
{
    char *end;
    printf("%jd %ju %jd\n", strtoimax("-123abc", &end, 10), strtoumax("0xfff", NULL, 0),
           imaxabs(-5));
    imaxdiv_t d = imaxdiv(-17, 5);
    printf("%jd %jd %" PRId64 " %" PRIxMAX " %" PRIu8 "\n", d.quot, d.rem, -((int64_t)1 << 40),
           (uintmax_t)255, (uint8_t)200);
    int list[] = {5, 3, 9, 1, 7}, down = -1;
    qsort_r(list, 5, sizeof *list, by_more, &down);
    for (int i = 0; i < 5; i++) printf("%d ", list[i]);
    srand48(42);
    printf("%ld ", lrand48());
    printf("%ld ", mrand48());
    printf("%.10f\n", drand48());
    void *p = NULL;
    printf("%d %d\n", posix_memalign(&p, 64, 100), (int)((uintptr_t)p % 64));
    free(p);
    p = reallocarray(NULL, (size_t)-1, 16);
    printf("%d %d\n", p == NULL, errno == ENOMEM);
}

static void use_environment(void)
{
    static char assignment[] = "PUT=1";
    printf("%s\n", getenv("NO_SUCH_VARIABLE") ? "?" : "none");
    printf("%d %d\n", setenv("A", "one", 1), setenv("B", "two", 0));
    printf("%s %s\n", getenv("A"), getenv("B"));
    printf("%d %d", setenv("A", "other", 0), putenv(assignment));
    printf(" %s\n", getenv("A"));
    assignment[4] = '2';
    printf("%s", getenv("PUT"));
    printf(" %d\n", unsetenv("A"));
    printf("%d %d %d\n", getenv("A") == NULL, setenv("", "x", 1), setenv("a=b", "x", 1));
    printf("%d %d\n", setenv("A", "again", 1), putenv("B"));
    printf("%s %d\n", getenv("A"), getenv("B") == NULL);
}

static void use_times(void)
{
    static const time_t all[] = {
        0,          1,          951782400, 951868799, 1078012800,   1234567890, 1709164800,
        1735603200, 4102444799, -1,        -86400,    253402300799, 1104537600, 1230768000};
    static const char formats[] = "aAbBcCdDeFgGhHIjmMnprRsStTuUVwWxXyYzkl%";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct tm tm;
        char text[200];
        gmtime_r(&all[i], &tm);
        tm.tm_isdst = 0;
        for (const char *f = formats; *f; f++) {
            char format[3] = {'%', *f, 0};
            size_t n = strftime(text, sizeof text, format, &tm);
            printf("%c%zu:%s ", *f, n, text);
        }
        printf("\n%s%lld\n", asctime(&tm), (long long)timegm(&tm));
        printf("%zu %zu\n", strftime(text, 10, "%Y-%m-%d", &tm) > 10,
               strftime(text, sizeof text, "%Ey %Od %q", &tm));
    }
    struct tm odd = {
        .tm_year = 99, .tm_mon = 14, .tm_mday = 35, .tm_hour = -5, .tm_min = 61, .tm_sec = -1};
    printf("%lld", (long long)timegm(&odd));
    printf(" %d %d %d %d %d\n", odd.tm_year, odd.tm_mon, odd.tm_mday, odd.tm_wday, odd.tm_yday);
    time_t moment = 1e9;
    char text[26];
    printf("%s%s%.0f\n", ctime_r(&moment, text), ctime(&moment), difftime(10, 4));
    time_t far = (time_t)1 << 60;
    struct tm tm;
    errno = 0;
    printf("%d", gmtime_r(&far, &tm) == NULL);
    printf(" %d\n", errno == EOVERFLOW);
    struct timespec t;
    printf("%d %d\n", clock_gettime(99, &t), clock_getres(CLOCK_MONOTONIC, &t));
}

static volatile int caught;
static void on_signal(int number) { caught = caught * 100 + number; }

static void use_signals(void)
{
    printf("%d", signal(SIGINT, on_signal) == SIG_DFL);
    printf(" %d\n", raise(SIGINT));
    printf("%d", signal(SIGINT, SIG_IGN) == on_signal);
    printf(" %d\n", raise(SIGINT));
    struct sigaction new = {0}, old;
    new.sa_handler = on_signal;
    printf("%d", sigaction(SIGTERM, &new, NULL));
    printf(" %d", sigaction(SIGTERM, NULL, &old));
    printf(" %d %d\n", old.sa_handler == on_signal, raise(SIGTERM));
    printf("%d %d %d\n", caught, signal(SIGKILL, on_signal) == SIG_ERR,
           signal(1000, on_signal) == SIG_ERR);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    printf("%d %d", sigismember(&set, SIGINT), sigismember(&set, SIGTERM));
    sigdelset(&set, SIGINT);
    printf(" %d\n", sigismember(&set, SIGINT));
    jmp_buf where;
    int n = setjmp(where);
    if (n < 3) longjmp(where, n + 1);
    printf("%d\n", n);
}

int main(void)
{
    setlocale(LC_ALL, "C");
    use_strings();
    use_paths();
    use_getopts();
    use_numbers();
    use_environment();
    use_times();
    use_signals();
    struct lconv *conv = localeconv();
    printf("%s %d %s\n", conv->decimal_point, conv->frac_digits == CHAR_MAX,
           setlocale(LC_ALL, NULL));
    printf("%d %d %d\n", setlocale(LC_ALL, "no such locale") == NULL, fegetround() == FE_TONEAREST,
           fesetround(12345) != 0);
    printf("%d %d\n", system(NULL) > 1, getpid() > 0);
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) printf("[%s]", line);
    free(line);
    char *made;
    printf("%d", asprintf(&made, "%d-%s", 42, "text"));
    printf(" %s\n", made);
    free(made);
    fflush(stdout);
    dprintf(1, "%s\n", "descriptor");
    return 0;
}
