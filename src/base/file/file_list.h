/* Lists the files that a thread reads and writes, by inode, because a file may have many names.
 * The tool has one list for a command, and never writes over a file in it, whichever layer has
 * read it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct file_listed {
    dev_t device;
    ino_t inode;
    bool written; /* true: the file was written; false: it was only read */
};
struct file_list {
    struct file_listed *files;
    size_t count, capacity;
    bool lost; /* Memory ran out, and a file is missing from the list. */
};

/* From now on the functions of file.h that read files put them into this list. A thread has at
 * most one list, and none at first; NULL stands for none. */
void file_list_begin(struct file_list *list);
/* Puts a file that is read into the list of this thread. */
void file_list_read(const struct stat *st);
/* Adds a regular file to the list, unless the list has it already. */
void file_list_add(struct file_list *list, const struct stat *st, bool written);
/* Finds a file in the list. Returns NULL when the list does not have it. */
const struct file_listed *file_list_find(const struct file_list *list, const struct stat *st);
void file_list_free(struct file_list *list);
