/* A drive: one folder with what is in it, where a program's paths can lead. It is a folder of the host (drive_host.c) or
 * lies in memory (drive_memory.c). Paths have no '/' at either end, no empty names, no "." or ".."; the empty path
 * is the folder itself. Errors are those of pvm/host/files.h. */
#pragma once
#include "pvm/host/files.h"

struct pvm_entry {
    uint64_t number;
    uint8_t kind; /* 4 folder, 8 file, 0 another: as in POSIX */
    char *name;
};

struct pvm_list { /* the entries of a folder */
    struct pvm_entry *items;
    size_t count, capacity;
    size_t bytes; /* of names and items */
};
/* Returns false when the folder has more entries than a program may list, or memory ran out. */
bool pvm_list_add(struct pvm_list *list, uint64_t number, uint8_t kind, const char *name);
void pvm_list_sort(struct pvm_list *list); /* by name */
void pvm_list_free(struct pvm_list *list);

struct pvm_drive;
struct pvm_file { /* an open file */
    struct pvm_drive *drive;
    unsigned flags;
    int fd;                   /* of the host */
    struct memory_node *node; /* in memory */
    uint64_t position;        /* in memory; in a folder: the next entry */
    struct pvm_list list;     /* of a folder */
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
    /* The rights are those of a drive that may be written; files.c takes them away. */
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
    struct pvm_files *files; /* whose drive it is */
};

/* The host's number of a file, as a number that follows from the run alone: the first file that is seen is 1. */
uint64_t pvm_files_number(struct pvm_files *f, uint64_t device, uint64_t number);

/* Returns NULL, and says why. */
struct pvm_drive *pvm_drive_host_new(struct pvm_files *files, const char *path, penta_error *err);
struct pvm_drive *pvm_drive_memory_new(struct pvm_files *files, penta_error *err);
/* Writes path and size of every file of a drive in memory as objects; nothing for other drives. */
bool pvm_drive_memory_list(struct pvm_drive *d, const char *front, struct json *json,
                           penta_error *err);
