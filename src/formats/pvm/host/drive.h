/* A drive is one folder with everything in it, to which a program's paths can lead. It is a
 * folder of the host (drive_host.c) or lies in memory (drive_memory.c). Paths have no '/' at
 * either end, no empty names, no "." or ".."; the empty path is the folder itself. Errors are
 * those of pvm/host/files.h. */
#pragma once
#include "pvm/host/files.h"

struct pvm_entry {
    uint64_t number;
    uint8_t kind; /* the kind as in POSIX: 4 folder, 8 file, 0 another */
    char *name;
};

struct pvm_list { /* A struct pvm_list has the entries of a folder. */
    struct pvm_entry *items;
    size_t count, capacity;
    size_t bytes; /* how many bytes names and items take */
};
/* Adds an entry. Returns false when the folder has more entries than a program may list, or
 * memory ran out. */
bool pvm_list_add(struct pvm_list *list, uint64_t number, uint8_t kind, const char *name);
void pvm_list_sort(struct pvm_list *list); /* Sorts the entries by name. */
void pvm_list_free(struct pvm_list *list);

struct pvm_drive;
struct pvm_file { /* A struct pvm_file is an open file. */
    struct pvm_drive *drive;
    unsigned flags;
    int fd;                   /* the host's descriptor, for a file of the host */
    struct memory_node *node; /* the node, for a file in memory */
    /* `position` is the position in a file in memory; in a folder the index of the next entry. */
    uint64_t position;
    struct pvm_list list; /* the entries, for a folder */
    struct pvm_file_stat folder;
};

struct pvm_drive_calls {
    int (*open)(struct pvm_drive *d, const char *path, unsigned flags, struct pvm_file *out);
    void (*close)(struct pvm_file *f);
    int64_t (*read)(struct pvm_file *f, uint8_t *to, size_t size);
    int64_t (*write)(struct pvm_file *f, penta_bytes bytes);
    int64_t (*seek)(struct pvm_file *f, int64_t offset, int whence);
    int (*truncate)(struct pvm_file *f, uint64_t size);
    int (*sync)(struct pvm_file *f);
    /* fstat and stat give the rights as on a drive that may be written; files.c takes away those
     * that the program does not have. */
    int (*fstat)(struct pvm_file *f, struct pvm_file_stat *out);
    int (*stat)(struct pvm_drive *d, const char *path, struct pvm_file_stat *out);
    int (*list)(struct pvm_drive *d, const char *path, struct pvm_list *out);
    int (*remove)(struct pvm_drive *d, const char *path, bool folder);
    int (*make_folder)(struct pvm_drive *d, const char *path);
    int (*rename)(struct pvm_drive *d, const char *from, const char *to);
    void (*free)(struct pvm_drive *d);
};

struct pvm_drive {
    const struct pvm_drive_calls *calls;
    struct pvm_files *files; /* the files of the program to which the drive belongs */
};

/* Turns the host's number of a file into a number that follows from the run alone: the first
 * file that is seen is 1. */
uint64_t pvm_files_number(struct pvm_files *f, uint64_t device, uint64_t number);

/* These functions make a drive. They return NULL with an error when they cannot. */
struct pvm_drive *pvm_drive_host_new(struct pvm_files *files, const char *path, penta_error *err);
struct pvm_drive *pvm_drive_memory_new(struct pvm_files *files, penta_error *err);
/* Writes path and size of every file of a drive in memory as JSON objects, and nothing for other
 * drives. */
bool pvm_drive_memory_list(struct pvm_drive *d, const char *front, struct json *json,
                           penta_error *err);
