/* Lists the entries of folders. The host gives them sorted by name, and "." and ".." come first. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "penta_console.h"
#include "system/system.h"
#include "system/weak.h"

enum { ROOM = 2048, DOTS = 2, RECORD = 10 };

struct penta_folder {
    int fd;
    long position;  /* position of the next entry; "." is 0 */
    size_t at, end; /* the range of records that were read but not given yet */
    struct dirent entry;
    unsigned char records[ROOM];
};

WEAK DIR *opendir(const char *path)
{
    long fd = penta_system_result(*path ? penta_system_open(path, CONSOLE_FOLDER) : -ENOENT);
    if (fd < 0) return NULL;
    DIR *folder = calloc(1, sizeof *folder);
    if (folder)
        folder->fd = (int)fd;
    else
        console_close((int)fd);
    return folder;
}

WEAK struct dirent *readdir(DIR *folder)
{
    struct dirent *entry = &folder->entry;
    if (folder->position < DOTS) {
        struct console_stat status = {0};
        console_fstat(folder->fd, &status);
        *entry = (struct dirent){.d_ino = status.number, .d_type = DT_DIR};
        strcpy(entry->d_name, folder->position ? ".." : ".");
        folder->position++;
        return entry;
    }
    if (folder->at == folder->end) {
        long size = penta_system_result(console_entries(folder->fd, folder->records, ROOM));
        if (size <= 0) return NULL;
        folder->at = 0;
        folder->end = (size_t)size;
    }
    const unsigned char *record = folder->records + folder->at;
    uint64_t number;
    memcpy(&number, record, sizeof number);
    entry->d_ino = number;
    entry->d_type = record[8];
    memcpy(entry->d_name, record + RECORD, record[9]);
    entry->d_name[record[9]] = 0;
    folder->at += (size_t)RECORD + record[9];
    folder->position++;
    return entry;
}

WEAK long telldir(DIR *folder) { return folder->position; }

WEAK void seekdir(DIR *folder, long position)
{
    folder->position = position;
    folder->at = folder->end = 0;
    console_seek(folder->fd, position < DOTS ? 0 : position - DOTS, 0);
}

WEAK void rewinddir(DIR *folder) { seekdir(folder, 0); }

WEAK int closedir(DIR *folder)
{
    long result = penta_system_result(console_close(folder->fd));
    free(folder);
    return (int)result;
}

WEAK int alphasort(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

typedef int compare_fn(const void *, const void *);

WEAK int scandir(const char *path, struct dirent ***list, int (*wanted)(const struct dirent *),
                 int (*compare)(const struct dirent **, const struct dirent **))
{
    DIR *folder = opendir(path);
    struct dirent **all = NULL, *entry;
    size_t count = 0;
    if (!folder) return -1;
    errno = 0;
    while ((entry = readdir(folder))) {
        if (wanted && !wanted(entry)) continue;
        struct dirent **longer = realloc(all, (count + 1) * sizeof *all);
        if (longer) all = longer;
        struct dirent *copy = longer ? malloc(sizeof *copy) : NULL;
        if (!copy) break;
        *copy = *entry;
        all[count++] = copy;
    }
    int failed = errno;
    closedir(folder);
    if (failed) {
        while (count) free(all[--count]);
        free(all);
        errno = failed;
        return -1;
    }
    if (compare) qsort(all, count, sizeof *all, (compare_fn *)compare);
    *list = all;
    return (int)count;
}
