/* Converts counts of seconds to dates and text, and back. The time zone is UTC. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include "system/weak.h"

/* Returns the days from 1970-01-01 to a date of the Gregorian calendar; month 0 is January.
 * Years are counted from March on, so that a leap day is the last day of a year. */
static long long days_of(long long year, int month, int day)
{
    year -= month < 2;
    long long era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int of_year = (153 * ((month + 10) % 12) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Fills the date of a time. Returns NULL with EOVERFLOW when the year does not fit an int. */
static struct tm *tm_of(time_t time, struct tm *tm)
{
    long long days = time / 86400, rest = time % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    long long shifted = days + 719468, era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    long long of_era = shifted - era * 146097;
    long long years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = (int)(of_era - (365 * years + years / 4 - years / 100));
    int march = (5 * of_year + 2) / 153;
    tm->tm_mday = of_year - (153 * march + 2) / 5 + 1;
    tm->tm_mon = (march + 2) % 12;
    long long year = years + era * 400 + (tm->tm_mon < 2);
    if (year - 1900 < INT_MIN || year - 1900 > INT_MAX) {
        errno = EOVERFLOW;
        return NULL;
    }
    tm->tm_year = (int)(year - 1900);
    tm->tm_yday = (int)(days - days_of(year, 0, 1));
    tm->tm_wday = (int)(((days + 4) % 7 + 7) % 7);
    tm->tm_hour = (int)(rest / 3600);
    tm->tm_min = (int)(rest / 60 % 60);
    tm->tm_sec = (int)(rest % 60);
    tm->tm_isdst = 0;
    tm->tm_gmtoff = 0;
    tm->tm_zone = "UTC";
    return tm;
}

static struct tm shared;
struct tm *gmtime(const time_t *time) { return tm_of(*time, &shared); }
struct tm *localtime(const time_t *time) { return tm_of(*time, &shared); }
WEAK struct tm *gmtime_r(const time_t *time, struct tm *into) { return tm_of(*time, into); }
WEAK struct tm *localtime_r(const time_t *time, struct tm *into) { return tm_of(*time, into); }

time_t mktime(struct tm *tm)
{
    struct tm normal;
    long long year = tm->tm_year + 1900LL + tm->tm_mon / 12;
    int month = tm->tm_mon % 12;
    if (month < 0) {
        month += 12;
        year--;
    }
    time_t t = (days_of(year, month, 1) + tm->tm_mday - 1) * 86400 + tm->tm_hour * 3600LL +
               tm->tm_min * 60LL + tm->tm_sec;
    if (!tm_of(t, &normal)) return -1;
    *tm = normal;
    return t;
}

WEAK time_t timegm(struct tm *tm) { return mktime(tm); }

static char zone_name[] = "UTC";
WEAK char *tzname[2] = {zone_name, zone_name};
WEAK long timezone;
WEAK int daylight;
WEAK void tzset(void) {}

static const char *const day_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};
static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};

struct time_text {
    char *to;
    size_t used, size;
};

static void time_put(struct time_text *t, const char *text, size_t size)
{
    if (size > t->size - t->used) /* The text stays full, which tells that the result does not
                                   * fit. */
        t->used = t->size;
    else
        memcpy(t->to + t->used, text, size), t->used += size;
}

/* Writes a number with at least `width` characters, filled up with `fill`. */
static void time_number(struct time_text *t, long long number, int width, char fill)
{
    char digits[24], *p = digits + sizeof digits;
    unsigned long long left =
        number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
    do *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0) width--;
    while (digits + sizeof digits - p < width) *--p = fill;
    if (number < 0) *--p = '-';
    time_put(t, p, (size_t)(digits + sizeof digits - p));
}

static void time_name(struct time_text *t, const char *const *names, int count, int at,
                      int short_name)
{
    const char *name = at >= 0 && at < count ? names[at] : "?";
    size_t size = strlen(name);
    time_put(t, name, short_name && size > 3 ? 3 : size);
}

static int leap_year(long long year) { return !(year % 4) && (year % 100 || !(year % 400)); }

/* Returns the number of the week of ISO 8601. *year is the year to which the week belongs. */
static int iso_week(const struct tm *tm, long long *year)
{
    *year = tm->tm_year + 1900LL;
    /* The Thursday of the same week is given as a day of the year. */
    int thursday = tm->tm_yday + 3 - (tm->tm_wday + 6) % 7;
    if (thursday < 0) {
        --*year;
        thursday += leap_year(*year) ? 366 : 365;
    } else if (thursday >= (leap_year(*year) ? 366 : 365)) {
        thursday -= leap_year(*year) ? 366 : 365;
        ++*year;
    }
    return thursday / 7 + 1;
}

static int hour_of_12(int hour) { return hour % 12 ? hour % 12 : 12; }

static void time_format(struct time_text *t, const char *format, const struct tm *tm);

static void time_convert(struct time_text *t, char kind, const struct tm *tm)
{
    long long year = tm->tm_year + 1900LL, week_year;
    switch (kind) {
    case 'a': time_name(t, day_names, 7, tm->tm_wday, 1); break;
    case 'A': time_name(t, day_names, 7, tm->tm_wday, 0); break;
    case 'b':
    case 'h': time_name(t, month_names, 12, tm->tm_mon, 1); break;
    case 'B': time_name(t, month_names, 12, tm->tm_mon, 0); break;
    case 'c': time_format(t, "%a %b %e %H:%M:%S %Y", tm); break;
    case 'C': time_number(t, year / 100 - (year % 100 < 0), 2, '0'); break;
    case 'd': time_number(t, tm->tm_mday, 2, '0'); break;
    case 'D':
    case 'x': time_format(t, "%m/%d/%y", tm); break;
    case 'e': time_number(t, tm->tm_mday, 2, ' '); break;
    case 'F': time_format(t, "%Y-%m-%d", tm); break;
    case 'g':
        iso_week(tm, &week_year);
        time_number(t, (week_year % 100 + 100) % 100, 2, '0');
        break;
    case 'G':
        iso_week(tm, &week_year);
        time_number(t, week_year, 1, '0');
        break;
    case 'H': time_number(t, tm->tm_hour, 2, '0'); break;
    case 'I': time_number(t, hour_of_12(tm->tm_hour), 2, '0'); break;
    case 'j': time_number(t, tm->tm_yday + 1, 3, '0'); break;
    case 'k': time_number(t, tm->tm_hour, 2, ' '); break;
    case 'l': time_number(t, hour_of_12(tm->tm_hour), 2, ' '); break;
    case 'm': time_number(t, tm->tm_mon + 1, 2, '0'); break;
    case 'M': time_number(t, tm->tm_min, 2, '0'); break;
    case 'n': time_put(t, "\n", 1); break;
    case 'p': time_put(t, tm->tm_hour < 12 ? "AM" : "PM", 2); break;
    case 'r': time_format(t, "%I:%M:%S %p", tm); break;
    case 'R': time_format(t, "%H:%M", tm); break;
    case 's': {
        struct tm copy = *tm;
        time_number(t, mktime(&copy), 1, '0');
        break;
    }
    case 'S': time_number(t, tm->tm_sec, 2, '0'); break;
    case 't': time_put(t, "\t", 1); break;
    case 'T':
    case 'X': time_format(t, "%H:%M:%S", tm); break;
    case 'u': time_number(t, tm->tm_wday ? tm->tm_wday : 7, 1, '0'); break;
    case 'U': time_number(t, (tm->tm_yday + 7 - tm->tm_wday) / 7, 2, '0'); break;
    case 'V': time_number(t, iso_week(tm, &week_year), 2, '0'); break;
    case 'w': time_number(t, tm->tm_wday, 1, '0'); break;
    case 'W': time_number(t, (tm->tm_yday + 7 - (tm->tm_wday + 6) % 7) / 7, 2, '0'); break;
    case 'y': time_number(t, (year % 100 + 100) % 100, 2, '0'); break;
    case 'Y': time_number(t, year, 1, '0'); break;
    case 'z': time_put(t, "+0000", 5); break;
    case 'Z': time_put(t, "UTC", 3); break;
    case '%': time_put(t, "%", 1); break;
    default: {
        char unknown[2] = {'%', kind};
        time_put(t, unknown, 2);
    }
    }
}

static void time_format(struct time_text *t, const char *format, const struct tm *tm)
{
    for (; *format; format++) {
        if (*format != '%' || !format[1]) {
            time_put(t, format, 1);
            continue;
        }
        format++;
        /* E and O ask for other calendars and digits, which this locale does not have. */
        if ((*format == 'E' && format[1] && strchr("cCxXyY", format[1])) ||
            (*format == 'O' && format[1] && strchr("deHImMSuUVwWy", format[1])))
            format++;
        time_convert(t, *format, tm);
    }
}

size_t strftime(char *to, size_t size, const char *format, const struct tm *tm)
{
    struct time_text t = {to, 0, size};
    time_format(&t, format, tm);
    if (t.used >= size) return 0;
    to[t.used] = 0;
    return t.used;
}

WEAK char *asctime_r(const struct tm *tm, char *to)
{
    return strftime(to, 26, "%a %b %e %H:%M:%S %Y\n", tm) ? to : NULL;
}

WEAK char *ctime_r(const time_t *time, char *to)
{
    struct tm tm;
    return tm_of(*time, &tm) ? asctime_r(&tm, to) : NULL;
}

char *asctime(const struct tm *tm)
{
    static char text[26];
    return asctime_r(tm, text);
}

char *ctime(const time_t *time)
{
    struct tm tm;
    return tm_of(*time, &tm) ? asctime(&tm) : NULL;
}
