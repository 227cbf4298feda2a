/* Walks over folders with one sorted list of names for each open level. Links are followed. A
 * folder that is already open above, under whatever name, is a loop. readdir gives the types of
 * entries, so most files need no call of stat. */
#include "batch/list/folder.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/array.h"
#include "base/writer.h"

enum { FOLDER_DEPTH = 256 };

struct folder_level {
    struct writer text; /* the names, each after a byte for its type and with a 0 at its end */
    size_t *names;      /* offsets of the names in `text`, sorted */
    size_t count, capacity, next;
    size_t path_size; /* length of the path of this folder, with its last slash */
    dev_t device;
    ino_t inode;
};

struct folder_walk {
    struct folder_level levels[FOLDER_DEPTH];
    size_t depth;
    struct writer path; /* path of the entry that was given last */
};

/* This is the text with the names that are being sorted. Not every C library has qsort_r, so the
 * comparison finds them here. */
static _Thread_local const uint8_t *folder_sorted;

static int folder_order(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return strcmp((const char *)folder_sorted + *x + 1, (const char *)folder_sorted + *y + 1);
}

static bool folder_path_set(struct folder_walk *w, size_t keep, const char *name, penta_error *err)
{
    w->path.out.size = keep;
    writer_text(&w->path, name);
    writer_char(&w->path, 0);
    if (!writer_ok(&w->path, err)) return false;
    w->path.out.size--; /* The 0 stays in memory after the end of the path. */
    return true;
}

static bool folder_read_names(struct folder_level *level, DIR *folder, penta_error *problem,
                              penta_error *err)
{
    struct dirent *entry;
    while (errno = 0, (entry = readdir(folder))) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
        if (!ARRAY_GROW(level->names, level->capacity, level->count, err)) return false;
        level->names[level->count++] = level->text.out.size;
        writer_char(&level->text, (char)entry->d_type);
        writer_bytes(&level->text, name, strlen(name) + 1);
    }
    if (errno) error_at(problem, BASE_IO, 0, "cannot read the folder: %s", strerror(errno));
    if (!writer_ok(&level->text, err)) return false;
    folder_sorted = level->text.out.data;
    if (level->count) qsort(level->names, level->count, sizeof *level->names, folder_order);
    return true;
}

/* Opens the folder that w->path names. An error of the folder goes to *problem, and the walk
 * continues. */
static bool folder_enter(struct folder_walk *w, penta_error *problem, penta_error *err)
{
    struct stat st;
    const char *path = (const char *)w->path.out.data;
    DIR *folder = opendir(path);
    if (!folder || fstat(dirfd(folder), &st)) {
        error_at(problem, BASE_IO, 0, "cannot read the folder: %s", strerror(errno));
        if (folder) closedir(folder);
        return true;
    }
    bool loop = false;
    for (size_t i = 0; i < w->depth; i++)
        loop |= w->levels[i].device == st.st_dev && w->levels[i].inode == st.st_ino;
    if (loop || w->depth == FOLDER_DEPTH) {
        error_at(problem, BASE_IO, 0,
                 loop ? "a loop of links: this folder is one of those above"
                      : "folders are nested too deep");
        closedir(folder);
        return true;
    }
    struct folder_level *level = &w->levels[w->depth++];
    *level = (struct folder_level){.device = st.st_dev, .inode = st.st_ino};
    if (w->path.out.data[w->path.out.size - 1] != '/') writer_char(&w->path, '/');
    level->path_size = w->path.out.size;
    bool ok = folder_read_names(level, folder, problem, err);
    closedir(folder);
    return ok;
}

struct folder_walk *folder_open(const char *path, penta_error *err)
{
    struct folder_walk *w = zeros_new(sizeof *w, "a folder", err);
    if (w && folder_path_set(w, 0, path, err)) return w;
    folder_close(w);
    return NULL;
}

static void folder_leave(struct folder_walk *w)
{
    struct folder_level *level = &w->levels[--w->depth];
    writer_free(&level->text);
    free(level->names);
}

void folder_close(struct folder_walk *w)
{
    if (!w) return;
    while (w->depth) folder_leave(w);
    writer_free(&w->path);
    free(w);
}

/* Returns the type of an entry after following links, or 0 for an entry such as a pipe that is
 * neither a file nor a folder. A link to nothing counts as a file, and whoever reads that file
 * finds it missing. */
static unsigned char folder_entry_type(const char *path, unsigned char type)
{
    struct stat st;
    if (type == DT_REG || type == DT_DIR) return type;
    if (type != DT_LNK && type != DT_UNKNOWN) return 0;
    if (stat(path, &st)) return DT_REG;
    return S_ISREG(st.st_mode) ? DT_REG : S_ISDIR(st.st_mode) ? DT_DIR : 0;
}

double folder_part(const struct folder_walk *w)
{
    double part = 0, share = 1;
    for (size_t i = 0; i < w->depth && w->levels[i].count; i++) {
        share /= (double)w->levels[i].count;
        /* The last entry is not done yet when a folder is open below it. */
        part += share * (double)(w->levels[i].next - (i + 1 < w->depth));
    }
    return part;
}

bool folder_next(struct folder_walk *w, const char **path, penta_error *problem, penta_error *err)
{
    bool first = !w->depth && w->path.out.size;
    *problem = (penta_error){0};
    if (first && !folder_enter(w, problem, err)) return false;
    *path = (const char *)w->path.out.data;
    if (first && problem->code) {
        w->path.out.size = 0; /* No more paths follow. */
        return true;
    }
    while (w->depth) {
        struct folder_level *level = &w->levels[w->depth - 1];
        if (level->next == level->count) {
            folder_leave(w);
            if (!w->depth) w->path.out.size = 0;
            continue;
        }
        const uint8_t *entry = level->text.out.data + level->names[level->next++];
        if (!folder_path_set(w, level->path_size, (const char *)entry + 1, err)) return false;
        *path = (const char *)w->path.out.data;
        unsigned char type = folder_entry_type(*path, entry[0]);
        if (type == DT_DIR && !folder_enter(w, problem, err)) return false;
        if (type == DT_DIR && problem->code)
            folder_path_set(w, level->path_size, (const char *)entry + 1, err);
        if (type == DT_REG || problem->code) return true;
    }
    return false;
}
