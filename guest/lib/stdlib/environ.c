/* Implements the environment, a list of texts NAME=VALUE, which the start-up code reads from the
 * host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "system/weak.h"

static char **own; /* the list that this library allocated, when `environ` points to it */

char *getenv(const char *name)
{
    size_t size = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (!strncmp(*e, name, size) && (*e)[size] == '=') return *e + size + 1;
    return NULL;
}

static int environ_bad_name(const char *name)
{
    if (name && *name && !strchr(name, '=')) return 0;
    errno = EINVAL;
    return 1;
}

WEAK int unsetenv(const char *name)
{
    if (environ_bad_name(name)) return -1;
    size_t size = strlen(name);
    char **to = environ;
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, size) || (*e)[size] != '=') *to++ = *e;
    if (to) *to = NULL;
    return 0;
}

/* Puts the text itself into the list, not a copy. */
static int environ_add(char *assignment, size_t name_size)
{
    size_t count = 0;
    for (char **e = environ; e && *e; e++, count++)
        if (!strncmp(*e, assignment, name_size + 1)) {
            *e = assignment;
            return 0;
        }
    char **list = realloc(environ == own ? own : NULL, (count + 2) * sizeof *list);
    if (!list) return -1;
    if (environ != own && count) memcpy(list, environ, count * sizeof *list);
    list[count] = assignment;
    list[count + 1] = NULL;
    environ = own = list;
    return 0;
}

WEAK int setenv(const char *name, const char *value, int replace)
{
    if (environ_bad_name(name)) return -1;
    if (!replace && getenv(name)) return 0;
    size_t size = strlen(name), rest = strlen(value);
    char *text = malloc(size + rest + 2);
    if (!text) return -1;
    memcpy(text, name, size);
    text[size] = '=';
    memcpy(text + size + 1, value, rest + 1);
    return environ_add(text, size);
}

WEAK int putenv(char *assignment)
{
    char *equals = strchr(assignment, '=');
    if (equals) return environ_add(assignment, (size_t)(equals - assignment));
    return unsetenv(assignment);
}

WEAK int clearenv(void)
{
    environ = NULL;
    return 0;
}
