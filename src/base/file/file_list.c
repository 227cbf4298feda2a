/* Keeps for each thread the list of the files that it reads and writes. */
#include "base/file/file_list.h"
#include <stdlib.h>
#include "base/array.h"

/* Each thread has its own list, so that a program with several commands at once does not mix
 * their files. */
static _Thread_local struct file_list *current;

void file_list_begin(struct file_list *list) { current = list; }

void file_list_read(const struct stat *st)
{
    if (current) file_list_add(current, st, false);
}

const struct file_listed *file_list_find(const struct file_list *list, const struct stat *st)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->files[i].device == st->st_dev && list->files[i].inode == st->st_ino)
            return &list->files[i];
    return NULL;
}

void file_list_add(struct file_list *list, const struct stat *st, bool written)
{
    if (!S_ISREG(st->st_mode) || file_list_find(list, st)) return;
    list->lost |= !ARRAY_RESERVE(list->files, list->capacity, list->count + 1);
    if (list->lost) return;
    list->files[list->count++] = (struct file_listed){st->st_dev, st->st_ino, written};
}

void file_list_free(struct file_list *list)
{
    free(list->files);
    *list = (struct file_list){0};
}
