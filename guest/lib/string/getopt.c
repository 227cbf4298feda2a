/* Reads options of a command line, short and long. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "system/weak.h"

WEAK char *optarg;
WEAK int optind = 1, opterr = 1, optopt;
/* the next letter of a group such as -abc, or NULL at the start of a word */
static char *next_letter;

static void getopt_complain(int quiet, char *const list[], const char *what, const char *name,
                            int letter)
{
    if (quiet || !opterr) return;
    if (name)
        fprintf(stderr, "%s: %s '%s'\n", list[0], what, name);
    else
        fprintf(stderr, "%s: %s -- '%c'\n", list[0], what, letter);
}

static int getopt_letter(int count, char *const list[], const char *options)
{
    int quiet = *options == ':', letter = (unsigned char)*next_letter++;
    const char *found = letter == ':' ? NULL : strchr(options, letter);
    optarg = NULL;
    if (!*next_letter) {
        next_letter = NULL;
        optind++;
    }
    if (!found) {
        optopt = letter;
        getopt_complain(quiet, list, "invalid option", NULL, letter);
        return '?';
    }
    if (found[1] != ':') return letter;
    if (next_letter) {
        optarg = next_letter;
        optind++;
    } else if (found[2] != ':' && optind < count) {
        optarg = list[optind++];
    } else if (found[2] != ':') {
        optopt = letter;
        getopt_complain(quiet, list, "option requires an argument", NULL, letter);
        letter = quiet ? ':' : '?';
    }
    next_letter = NULL;
    return letter;
}

WEAK int getopt(int count, char *const list[], const char *options)
{
    if (optind < 1) optind = 1, next_letter = NULL;
    if (*options == '+') options++;
    if (!next_letter) {
        const char *word = optind < count ? list[optind] : NULL;
        if (!word || *word != '-' || !word[1]) return -1;
        if (!strcmp(word, "--")) {
            optind++;
            return -1;
        }
        next_letter = list[optind] + 1;
    }
    return getopt_letter(count, list, options);
}

/* Returns the option that `name` (size bytes) names, or that alone begins with it; -1 for none,
 * -2 for several. */
static int getopt_find(const struct option *names, const char *name, size_t size)
{
    int found = -1;
    for (int i = 0; names[i].name; i++) {
        if (strncmp(names[i].name, name, size)) continue;
        if (!names[i].name[size]) return i;
        if (found < 0)
            found = i;
        else if (names[i].has_arg != names[found].has_arg || names[i].flag != names[found].flag ||
                 names[i].val != names[found].val)
            found = -2;
        if (found == -2) break;
    }
    for (int i = 0; found == -2 && names[i].name; i++)
        if (!strncmp(names[i].name, name, size) && !names[i].name[size]) return i;
    return found;
}

static int getopt_name(int count, char *const list[], const char *options,
                       const struct option *names, int *which, int found, size_t size)
{
    const char *word = list[optind++], *name = word + (word[1] == '-' ? 2 : 1);
    int quiet = *options == ':';
    const struct option *o = &names[found];
    optarg = NULL;
    if (name[size] == '=') {
        if (o->has_arg == no_argument) {
            optopt = o->flag ? 0 : o->val;
            getopt_complain(quiet, list, "option takes no argument", word, 0);
            return '?';
        }
        optarg = (char *)name + size + 1;
    } else if (o->has_arg == required_argument) {
        if (optind >= count) {
            optopt = o->flag ? 0 : o->val;
            getopt_complain(quiet, list, "option requires an argument", word, 0);
            return quiet ? ':' : '?';
        }
        optarg = list[optind++];
    }
    if (which) *which = found;
    if (!o->flag) return o->val;
    *o->flag = o->val;
    return 0;
}

/* Moves the word at `from` to `to`, before the operands that were there. */
static void getopt_move(char *const list[], int from, int to)
{
    char **words = (char **)list, *word = words[from];
    for (; from > to; from--) words[from] = words[from - 1];
    words[to] = word;
}

static int getopt_words(int count, char *const list[], const char *options,
                        const struct option *names, int *which, int single)
{
    if (optind < 1) optind = 1, next_letter = NULL;
    optarg = NULL;
    int in_order = *options == '+' || *options == '-', start = optind;
    if (in_order) options++;
    if (next_letter) return getopt_letter(count, list, options);
    while (optind < count && (list[optind][0] != '-' || !list[optind][1]))
        if (in_order)
            return -1;
        else
            optind++;
    if (optind >= count) {
        optind = start;
        return -1;
    }
    int option = optind, result;
    const char *word = list[option];
    if (!strcmp(word, "--")) {
        optind++;
        result = -1;
    } else {
        int is_long = word[1] == '-', found = -1;
        const char *name = word + 1 + is_long;
        size_t size = strcspn(name, "=");
        if (is_long || (single && (word[2] || !strchr(options, word[1]))))
            found = getopt_find(names, name, size);
        if (found >= 0) {
            result = getopt_name(count, list, options, names, which, found, size);
        } else if (is_long || found == -2) {
            getopt_complain(*options == ':', list,
                            found == -2 ? "option is ambiguous" : "unrecognized option", word, 0);
            optopt = 0;
            optind++;
            result = '?';
        } else {
            next_letter = list[option] + 1;
            result = getopt_letter(count, list, options);
        }
    }
    int used = optind - option; /* The words of this option go before the operands. */
    if (next_letter) used = 0;
    if (option > start) {
        if (next_letter) { /* The group is not finished, but its word moves now. The rest of the
                            * group is found there. */
            getopt_move(list, option, start);
            optind = start;
        } else {
            for (int i = 0; i < used; i++) getopt_move(list, option + i, start + i);
            optind = start + used;
        }
    }
    return result;
}

WEAK int getopt_long(int count, char *const list[], const char *options, const struct option *names,
                     int *which)
{
    return getopt_words(count, list, options, names, which, 0);
}

WEAK int getopt_long_only(int count, char *const list[], const char *options,
                          const struct option *names, int *which)
{
    return getopt_words(count, list, options, names, which, 1);
}
