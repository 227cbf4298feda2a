/* Prints what the functions for wide characters and UTF-8 give, to be compared with the native
 * library. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uchar.h>
#include <wchar.h>
#include <wctype.h>

static const char text[] = "aä€𝄞z";

static void decode_text(const char *from, size_t size)
{
    mbstate_t state = {0};
    for (size_t i = 0; i <= size;) {
        wchar_t c = 0;
        errno = 0;
        size_t used = mbrtowc(&c, from + i, size - i ? size - i : 1, &state);
        printf(" %ld:%lx:%d", (long)used, (unsigned long)c, errno == EILSEQ);
        if (used == (size_t)-1 || used == (size_t)-2 || !used) break;
        i += used;
    }
    putchar('\n');
}

static void use_multibyte(void)
{
    static const char *const all[] = {"",
                                      "a",
                                      text,
                                      "\xc3",
                                      "\xe2\x82",
                                      "\xf0\x9d\x84",
                                      "\x80",
                                      "\xc0\x80",
                                      "\xed\xa0\x80",
                                      "\xe0\x80\x80",
                                      "\xc3(",
                                      "\xff",
                                      "\xef\xbf\xbf"};
    printf("%d %d %d\n", (int)MB_CUR_MAX >= 4, mblen(NULL, 0), mbtowc(NULL, NULL, 0));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        wchar_t wide[16];
        decode_text(all[i], strlen(all[i]));
        printf("%ld %ld %d\n", (long)mbstowcs(wide, all[i], 16), (long)mbstowcs(NULL, all[i], 0),
               mblen(all[i], strlen(all[i]) + 1));
    }
    mbstate_t state = {0};
    for (const char *p = text; *p; p++) { /* The text is read a byte at a time. */
        wchar_t c = 0;
        long used = (long)mbrtowc(&c, p, 1, &state);
        printf("%ld %lx %d\n", used, (unsigned long)c, mbsinit(&state) != 0);
    }
    static const wchar_t codes[] = {0,      'a',     0x7f,     0x80,   0x7ff, 0x800,
                                    0xffff, 0x10000, 0x10ffff, 0xd800, -1};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char bytes[8] = "";
        errno = 0;
        int n = wctomb(bytes, codes[i]);
        printf("%d %d", n, errno == EILSEQ);
        for (int k = 0; k < n; k++) printf(" %02x", (unsigned char)bytes[k]);
        putchar('\n');
    }
    wchar_t wide[16];
    char bytes[16];
    const char *from = text;
    printf("%ld", (long)mbsrtowcs(wide, &from, 3, &state));
    printf(" %ld", (long)(from - text));
    printf(" %ld", (long)mbsrtowcs(wide + 3, &from, 13, &state));
    printf(" %d\n", from == NULL);
    const wchar_t *other = wide;
    printf("%ld", (long)wcsrtombs(bytes, &other, 5, &state));
    printf(" %ld", (long)(other - wide));
    printf(" %ld", (long)wcsrtombs(bytes + 5, &other, 11, &state));
    printf(" %d\n", other == NULL);
    printf("%ld %d %d %d %d\n", (long)wcstombs(NULL, wide, 0), btowc('a'), btowc(200) == WEOF,
           wctob(L'b'), wctob(0x20ac));
    char16_t c16;
    char32_t c32;
    mbstate_t s16 = {0};
    for (const char *p = text; *p;) {
        size_t used = mbrtoc16(&c16, p, strlen(p), &s16);
        printf("%ld:%x ", (long)used, c16);
        if (used < 5) p += used;
        if (*p == 0) break;
    }
    long used = (long)mbrtoc32(&c32, text + 1, 2, NULL);
    printf("%ld:%x\n", used, (unsigned)c32);
    mbstate_t back = {0};
    printf("%ld", (long)c16rtomb(bytes, 0xd834, &back));
    printf(" %ld", (long)c16rtomb(bytes, 0xdd1e, &back));
    printf(" %d", memcmp(bytes, "𝄞", 4));
    printf(" %ld\n", (long)c32rtomb(bytes, 0x20ac, NULL));
}

static int sign_of(int n) { return (n > 0) - (n < 0); }

static void use_strings(void)
{
    wchar_t a[32], b[32], *rest;
    wcscpy(a, L"wide ");
    wcscat(a, L"text");
    wcsncat(a, L"!!!!", 2);
    wcsncpy(b, a, 20);
    printf("%zu %d %d\n", wcslen(a), wcscmp(a, b), (int)b[15]);
    printf("%d %d %d\n", sign_of(wcscmp(L"a", L"b")), sign_of(wcsncmp(L"ab", L"aa", 1)),
           sign_of(wcscoll(L"b", L"a")));
    printf("%d %d %d\n", (int)(wcschr(a, 't') - a), (int)(wcsrchr(a, 't') - a),
           (int)(wcsstr(a, L"ex") - a));
    printf("%zu %zu %d\n", wcsspn(a, L"diw"), wcscspn(a, L"tx"), (int)(wcspbrk(a, L"xt") - a));
    for (wchar_t *w = wcstok(a, L" !", &rest); w; w = wcstok(NULL, L" !", &rest))
        printf("[%ls]", w);
    wmemset(a, L'x', 4);
    wmemcpy(a + 4, b, 5);
    wmemmove(a + 1, a, 8);
    printf("%.9ls %d %d\n", a, sign_of(wmemcmp(L"ab", L"ac", 2)),
           (int)(wmemchr(L"abc", 'c', 3) - L"abc") >= 0);
    printf("%zu %zu\n", wcsxfrm(b, L"abc", 3), wcsnlen(L"abcdef", 4));
    wchar_t *copy = wcsdup(L"copy");
    printf("%ls\n", copy);
    free(copy);
    printf("%ld", wcstol(L" -12x", &rest, 10));
    printf(" %ls %llu %lld", rest, wcstoull(L"0x1f", NULL, 0), wcstoll(L"077", NULL, 0));
    printf(" %lu %jd %ju\n", wcstoul(L"zz", NULL, 36), wcstoimax(L"-5", NULL, 10),
           wcstoumax(L"5", NULL, 10));
    printf("%g", wcstod(L"1.5e3ä", &rest));
    printf(" %ls %g %g\n", rest, (double)wcstof(L"0.25", NULL), (double)wcstold(L"-8", NULL));
    struct tm tm = {.tm_year = 100, .tm_mon = 1, .tm_mday = 29, .tm_wday = 2};
    size_t n = wcsftime(a, 32, L"ä%Y-%m-%d %a", &tm), small = wcsftime(b, 5, L"%Y-%m-%d", &tm);
    printf("%zu %ls %zu\n", n, a, small);
}

static void use_classes(void)
{
    static const char *const names[] = {"alnum", "alpha",  "blank", "cntrl", "digit",
                                        "graph", "lower",  "print", "punct", "space",
                                        "upper", "xdigit", "none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wctype_t type = wctype(names[i]);
        for (wint_t c = 0; c < 128; c++) putchar(type && iswctype(c, type) ? '1' : '0');
        putchar('\n');
    }
    for (wint_t c = 0; c < 128; c++)
        printf("%d%d%d%d%d%d%d%d%d%d%d%d %d %d\n", !!iswalnum(c), !!iswalpha(c), !!iswblank(c),
               !!iswcntrl(c), !!iswdigit(c), !!iswgraph(c), !!iswlower(c), !!iswprint(c),
               !!iswpunct(c), !!iswspace(c), !!iswupper(c), !!iswxdigit(c), (int)towlower(c),
               (int)towctrans(c, wctrans("toupper")));
    printf("%d %d\n", (int)towupper('q'), iswalpha(WEOF));
}

static void use_formats(void)
{
    wchar_t out[64];
    char narrow[64];
    printf("%lc|%5lc|%-5lc|%ls|%12ls|%-12ls|%.4ls|\n", (wint_t)0x20ac, (wint_t)0xe4, (wint_t)0xe4,
           L"aä€", L"aä€", L"aä€", L"aä€");
    printf("%d\n", snprintf(narrow, sizeof narrow, "%.3ls|%.2ls", L"aä€", L"€"));
    puts(narrow);
    errno = 0;
    printf("%d", snprintf(narrow, sizeof narrow, "%lc", (wint_t)0xd800));
    printf(" %d\n", errno == EILSEQ);
    int count = -1;
    printf("%d", swprintf(out, 64, L"ä%d|%5s|%.2s|%ls|%6ls|%-4c|%lc|%.3f%n", 42, "ä", "äöü", L"€",
                          L"€", 'x', (wint_t)0x20ac, 1.5, &count));
    printf(" %d %ls\n", count, out);
    printf("%d", swprintf(out, 4, L"%d", 1234));
    printf(" %d", swprintf(out, 5, L"%d", 1234));
    printf(" %zu\n", wcslen(out));
    int n = 0, m = 0;
    wchar_t w[16] = L"", v[16] = L"";
    char s[16] = "";
    printf("%d", swscanf(L"12 wört €ß x", L"%d %ls %2lc%n %s", &n, w, v, &m, s));
    printf(" %d %ls %ls %d %s\n", n, w, v, m, s);
    printf("%d", swscanf(L"äöü123", L"%l[ä-ü]%d", w, &n));
    printf(" %ls %d\n", w, n);
    printf("%d", swscanf(L"ä=7", L"ä=%d", &n));
    printf(" %d\n", n);
    printf("%d", sscanf("wört ab", "%ls %2lc", w, v));
    printf(" %ls %.2ls\n", w, v);
}

/* Uses a stream of its own, because a stream is either wide or narrow. */
static void use_streams(void)
{
    FILE *f = fopen("wide.txt", "w+");
    wchar_t line[32];
    int n = 0;
    if (!f) return;
    printf("%d\n", fwide(f, 0));
    fputwc(L'ä', f);
    fputws(L"€uro\n", f);
    fwprintf(f, L"%d %ls\n", 7, L"sieben");
    printf("%d\n", fwide(f, 0) > 0);
    rewind(f);
    printf("%lx", (unsigned long)fgetwc(f));
    printf(" %lx", (unsigned long)ungetwc(0x1d11e, f));
    printf(" %lx", (unsigned long)getwc(f));
    printf(" %ls", fgetws(line, 32, f));
    printf("%d", fwscanf(f, L"%d %ls", &n, line));
    printf(" %d %ls %d", n, line, fgetwc(f) == '\n');
    printf(" %d\n", fgetwc(f) == WEOF);
    printf("%d %d\n", feof(f) != 0, ferror(f) != 0);
    fclose(f);
    f = fopen("wide.txt", "w+");
    if (!f) return;
    fputs("a\xff", f);
    rewind(f);
    f = freopen("wide.txt", "r", f);
    errno = 0;
    printf("%d", (int)fgetwc(f));
    printf(" %d", fgetwc(f) == WEOF);
    printf(" %d %d\n", ferror(f) != 0, errno == EILSEQ);
    fclose(f);
    remove("wide.txt");
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    use_multibyte();
    use_strings();
    use_classes();
    use_formats();
    use_streams();
    return 0;
}
