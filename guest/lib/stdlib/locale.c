/* Implements the only locale, which is that of C with text in UTF-8. */
#include <limits.h>
#include <locale.h>
#include <string.h>

char *setlocale(int category, const char *locale)
{
    static const char *const names[] = {"", "C", "POSIX", "C.UTF-8"};
    if (category < LC_CTYPE || category > LC_ALL) return NULL;
    if (!locale) return (char *)"C";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(locale, names[i])) return (char *)"C";
    return NULL;
}

struct lconv *localeconv(void)
{
    static char point[] = ".", empty[] = "";
    static struct lconv conv = {.decimal_point = point,
                                .thousands_sep = empty,
                                .grouping = empty,
                                .int_curr_symbol = empty,
                                .currency_symbol = empty,
                                .mon_decimal_point = empty,
                                .mon_thousands_sep = empty,
                                .mon_grouping = empty,
                                .positive_sign = empty,
                                .negative_sign = empty,
                                .int_frac_digits = CHAR_MAX,
                                .frac_digits = CHAR_MAX,
                                .p_cs_precedes = CHAR_MAX,
                                .p_sep_by_space = CHAR_MAX,
                                .n_cs_precedes = CHAR_MAX,
                                .n_sep_by_space = CHAR_MAX,
                                .p_sign_posn = CHAR_MAX,
                                .n_sign_posn = CHAR_MAX,
                                .int_p_cs_precedes = CHAR_MAX,
                                .int_p_sep_by_space = CHAR_MAX,
                                .int_n_cs_precedes = CHAR_MAX,
                                .int_n_sep_by_space = CHAR_MAX,
                                .int_p_sign_posn = CHAR_MAX,
                                .int_n_sign_posn = CHAR_MAX};
    return &conv;
}
