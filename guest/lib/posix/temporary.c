/* Makes names of temporary files in /tmp, or in / when the program has no /tmp. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "penta_console.h"
#include "stdio/file.h"
#include "system/system.h"
#include "system/weak.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
enum { LETTERS = sizeof letters - 1, NAME = 6, TRIES = 100 };

/* Writes random letters. The host gives the numbers, so that two programs with one folder do not
 * get the same names. */
static void temporary_letters(char *to)
{
    unsigned char bytes[NAME] = {0};
    console_random(bytes, sizeof bytes);
    for (int i = 0; i < NAME; i++) to[i] = letters[bytes[i] % LETTERS];
}

/* Calls `create` with names until one is new. A name replaces the XXXXXX at the end of the path. */
static long temporary_create(char *path, long (*create)(const char *path))
{
    size_t size = strlen(path);
    if (size < NAME || strcmp(path + size - NAME, "XXXXXX")) return penta_system_result(-EINVAL);
    long result = -EEXIST;
    for (int i = 0; i < TRIES && result == -EEXIST; i++) {
        temporary_letters(path + size - NAME);
        result = create(path);
    }
    if (result < 0) memset(path + size - NAME, 'X', NAME);
    return penta_system_result(result);
}

static long temporary_file(const char *path)
{
    return penta_system_open(path,
                             CONSOLE_READ | CONSOLE_WRITE | CONSOLE_CREATE | CONSOLE_EXCLUSIVE);
}
static long temporary_folder(const char *path)
{
    struct penta_path p;
    return penta_path_of(path, &p) ? console_make_folder(p.text, p.size) : -ENAMETOOLONG;
}

WEAK int mkstemp(char *path) { return (int)temporary_create(path, temporary_file); }
WEAK char *mkdtemp(char *path)
{
    return temporary_create(path, temporary_folder) < 0 ? NULL : path;
}

static const char *temporary_place(void)
{
    struct console_stat status;
    return console_stat(P_tmpdir, sizeof P_tmpdir - 1, &status) < 0 ? "" : P_tmpdir;
}

char *tmpnam(char *to)
{
    static char own[L_tmpnam];
    struct console_stat status;
    if (!to) to = own;
    for (int i = 0; i < TRIES; i++) {
        strcpy(to, temporary_place());
        strcat(to, "/tXXXXXX");
        temporary_letters(to + strlen(to) - NAME);
        if (console_stat(to, strlen(to), &status) == -ENOENT) return to;
    }
    return NULL;
}

/* The file loses its name at once, and is removed when it is closed. */
FILE *tmpfile(void)
{
    char path[L_tmpnam];
    FILE *f = penta_file_place();
    if (!f) return NULL;
    strcpy(path, temporary_place());
    strcat(path, "/tXXXXXX");
    long fd = temporary_create(path, temporary_file);
    if (fd < 0) return NULL;
    console_remove(path, strlen(path));
    return penta_file_on(f, (int)fd, penta_file_flags("w+"));
}
