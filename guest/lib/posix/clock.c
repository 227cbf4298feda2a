#include <time.h>
#include "penta_console.h"

static uint64_t now(int which)
{
    uint64_t nanoseconds = 0;
    console_clock(which, &nanoseconds);
    return nanoseconds;
}

time_t time(time_t *into)
{
    time_t t = (time_t)(now(0) / 1000000000);
    if (into) *into = t;
    return t;
}

clock_t clock(void) { return (clock_t)(now(1) / 1000); }
double difftime(time_t a, time_t b) { return (double)(a - b); }

int timespec_get(struct timespec *into, int base)
{
    uint64_t t = now(0);
    *into = (struct timespec){(time_t)(t / 1000000000), (long)(t % 1000000000)};
    return base;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; month 0 is January. Years are counted from
 * March on, so that a leap day is the last day of a year. */
static long long days_of(long long year, int month, int day)
{
    year -= month < 2;
    long long era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int of_year = (153 * ((month + 10) % 12) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct tm *gmtime(const time_t *time)
{
    static struct tm tm;
    long long days = *time / 86400, rest = *time % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    long long shifted = days + 719468, era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    long long of_era = shifted - era * 146097;
    long long years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = (int)(of_era - (365 * years + years / 4 - years / 100));
    int march = (5 * of_year + 2) / 153;
    tm.tm_mday = of_year - (153 * march + 2) / 5 + 1;
    tm.tm_mon = (march + 2) % 12;
    long long year = years + era * 400 + (tm.tm_mon < 2);
    tm.tm_year = (int)(year - 1900);
    tm.tm_yday = (int)(days - days_of(year, 0, 1));
    tm.tm_wday = (int)(((days + 4) % 7 + 7) % 7);
    tm.tm_hour = (int)(rest / 3600);
    tm.tm_min = (int)(rest / 60 % 60);
    tm.tm_sec = (int)(rest % 60);
    return &tm;
}

struct tm *localtime(const time_t *time) { return gmtime(time); }

time_t mktime(struct tm *tm)
{
    long long year = tm->tm_year + 1900LL + tm->tm_mon / 12;
    int month = tm->tm_mon % 12;
    if (month < 0) {
        month += 12;
        year--;
    }
    time_t t = (days_of(year, month, 1) + tm->tm_mday - 1) * 86400 + tm->tm_hour * 3600LL +
               tm->tm_min * 60LL + tm->tm_sec;
    *tm = *gmtime(&t);
    return t;
}
