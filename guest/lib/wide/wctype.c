/* Implements classes of wide characters, which are those of ASCII. */
#include <ctype.h>
#include <string.h>
#include <wctype.h>

#define CLASS(name)                                                                                \
    int isw##name(wint_t c) { return c < 128 && is##name((int)c); }
CLASS(alnum)
CLASS(alpha)
CLASS(blank)
CLASS(cntrl)
CLASS(digit)
CLASS(graph)
CLASS(lower)
CLASS(print)
CLASS(punct)
CLASS(space)
CLASS(upper)
CLASS(xdigit)
wint_t towlower(wint_t c) { return c < 128 ? (wint_t)tolower((int)c) : c; }
wint_t towupper(wint_t c) { return c < 128 ? (wint_t)toupper((int)c) : c; }

static const struct {
    char name[8];
    int (*is)(wint_t c);
} classes[] = {{"alnum", iswalnum}, {"alpha", iswalpha}, {"blank", iswblank},
               {"cntrl", iswcntrl}, {"digit", iswdigit}, {"graph", iswgraph},
               {"lower", iswlower}, {"print", iswprint}, {"punct", iswpunct},
               {"space", iswspace}, {"upper", iswupper}, {"xdigit", iswxdigit}};
enum { CLASSES = sizeof classes / sizeof *classes };

wctype_t wctype(const char *name)
{
    for (wctype_t i = 0; i < CLASSES; i++)
        if (!strcmp(classes[i].name, name)) return i + 1;
    return 0;
}

int iswctype(wint_t c, wctype_t type) { return type - 1 < CLASSES && classes[type - 1].is(c); }

wctrans_t wctrans(const char *name)
{
    return !strcmp(name, "tolower") ? 1 : !strcmp(name, "toupper") ? 2 : 0;
}

wint_t towctrans(wint_t c, wctrans_t change)
{
    return change == 1 ? towlower(c) : change == 2 ? towupper(c) : c;
}
