/* Lists the files that a thread reads and writes, by inode, because a file may have many names. The tool has one list for
 * a command, and never writes over a file in it, whichever layer has read it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct file_listed {
    dev_t device;
    ino_t inode;
    bool written; /* else it was read */
};
struct file_list {
    struct file_listed *files;
    size_t count, capacity;
    bool lost; /* memory ran out, and a file is missing */
};

/* The functions of file.h that read put files into this list from now on. Each thread has at most one, and none at
 * first; NULL: none. */
void file_list_begin(struct file_list *list);
/* Called for each file that is read. */
void file_list_read(const struct stat *st);
/* Adds a regular file, unless it is there. */
void file_list_add(struct file_list *list, const struct stat *st, bool written);
/* NULL when the file is not there. */
const struct file_listed *file_list_find(const struct file_list *list, const struct stat *st);
void file_list_free(struct file_list *list);
