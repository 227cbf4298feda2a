/* Keeps the paths, descriptors and limits of a program's files. Contents are kept by drives
 * (drive.h), each of which has a path: a path leads to the drive with the longest path with
 * which it starts. Folders above the path of a drive that no drive has are made up here, so that
 * every path can be found from the root. */
#include "pvm/host/files.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file/file.h"
#include "base/number.h"
#include "base/options.h"
#include "core/host.h"
#include "pvm/host/drive.h"

enum {
    FIRST = 3, /* The descriptors before FIRST are standard input, output and errors. */
    OPEN_FILES = 64,
    NAME_BYTES = 256,
    PATH_BYTES = 4096,
    LIST_BYTES = 8 << 20, /* the most bytes that the entries of one folder take */
    FILE_COST = 4096,     /* how many bytes a file or folder counts besides its contents */
};
static const uint64_t file_bytes = UINT64_C(1) << 30;

struct mount {
    char *path; /* the path of the drive, without '/' at either end */
    struct pvm_drive *drive;
    bool read_only;
};

struct seen { /* A struct seen is a file of the host; number 0 means that the place is free. */
    uint64_t device, inode, number;
};

struct pvm_files {
    struct mount *mounts;
    size_t mount_count, mount_capacity;
    /* `open` has the open files of the descriptors from FIRST on; NULL means that the descriptor
     * is free. */
    struct pvm_file **open;
    size_t open_max;
    /* `grown` and `grown_max` say how many bytes the program has stored, and how many it may
     * store. */
    uint64_t grown, grown_max;
    struct seen *seen; /* a hash table of a power of two of places, at most half full */
    size_t seen_places, seen_count;
};

bool pvm_list_add(struct pvm_list *list, uint64_t number, uint8_t kind, const char *name)
{
    size_t size = strlen(name) + 1;
    list->bytes += size + sizeof *list->items;
    if (list->bytes > LIST_BYTES || !ARRAY_RESERVE(list->items, list->capacity, list->count + 1))
        return false;
    char *copy = malloc(size);
    if (!copy) return false;
    memcpy(copy, name, size);
    list->items[list->count++] = (struct pvm_entry){number, kind, copy};
    return true;
}

static int entry_order(const void *a, const void *b)
{
    return strcmp(((const struct pvm_entry *)a)->name, ((const struct pvm_entry *)b)->name);
}

void pvm_list_sort(struct pvm_list *list)
{
    if (list->count) qsort(list->items, list->count, sizeof *list->items, entry_order);
}

void pvm_list_free(struct pvm_list *list)
{
    for (size_t i = 0; i < list->count; i++) free(list->items[i].name);
    free(list->items);
    *list = (struct pvm_list){0};
}

static struct seen *seen_place(struct seen *places, size_t count, uint64_t device, uint64_t inode)
{
    uint64_t hash = (inode ^ device << 32) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (count - 1);
    while (places[at].number && (places[at].inode != inode || places[at].device != device))
        at = (at + 1) & (count - 1);
    return &places[at];
}

static bool seen_grow(struct pvm_files *f)
{
    size_t places = f->seen_places ? 2 * f->seen_places : 64;
    struct seen *more = calloc(places, sizeof *more);
    if (!more) return false;
    for (size_t i = 0; i < f->seen_places; i++)
        if (f->seen[i].number)
            *seen_place(more, places, f->seen[i].device, f->seen[i].inode) = f->seen[i];
    free(f->seen);
    f->seen = more;
    f->seen_places = places;
    return true;
}

/* Without memory for its number, a file gets the number 0, which no known file has. */
uint64_t pvm_files_number(struct pvm_files *f, uint64_t device, uint64_t number)
{
    if (2 * f->seen_count >= f->seen_places && !seen_grow(f)) return 0;
    struct seen *place = seen_place(f->seen, f->seen_places, device, number);
    if (!place->number) *place = (struct seen){device, number, ++f->seen_count};
    return place->number;
}

/* Writes the path without "/" at its ends, empty names, "." and ".."; the root is its own "..".
 * Returns 0 or an error. `out` has PATH_BYTES + 1 bytes. */
static int path_clean(penta_bytes path, char *out)
{
    size_t used = 0;
    *out = 0;
    if (!path.size) return -PVM_ENOENT;
    if (path.size > PATH_BYTES) return -PVM_ENAMETOOLONG;
    if (memchr(path.data, 0, path.size)) return -PVM_EINVAL;
    for (size_t at = 0, end; at < path.size; at = end + 1) {
        const char *name = (const char *)path.data + at;
        const char *slash = memchr(name, '/', path.size - at);
        end = slash ? (size_t)(slash - (const char *)path.data) : path.size;
        size_t size = end - at;
        if (!size || (size == 1 && *name == '.')) continue;
        if (size >= NAME_BYTES) return -PVM_ENAMETOOLONG;
        if (size == 2 && name[0] == '.' && name[1] == '.') {
            while (used && out[--used] != '/') continue;
        } else {
            if (used) out[used++] = '/';
            memcpy(out + used, name, size);
            used += size;
        }
        out[used] = 0;
    }
    return 0;
}

/* Returns the rest of `path` after `front` if `path` is at or below `front`, else NULL. */
static const char *path_below(const char *path, const char *front)
{
    size_t size = strlen(front);
    if (!size) return path;
    if (strncmp(path, front, size) || (path[size] && path[size] != '/')) return NULL;
    return path + size + (path[size] == '/');
}

struct place { /* A struct place says where a path leads. */
    struct mount *mount;
    const char *rest; /* the rest of the path, in the drive; it points into `path` */
    bool above;       /* The path of another drive starts with this path, and more follows. */
    char path[PATH_BYTES + 1];
};

/* Finds where a path leads. Returns 0 or an error. Without an error, a mount was found or
 * `above` is true. */
static int place_find(struct pvm_files *f, penta_bytes path, struct place *out)
{
    int error = path_clean(path, out->path);
    out->mount = NULL;
    out->rest = NULL;
    out->above = false;
    if (error) return error;
    if (!f->mount_count) return -PVM_EACCES;
    for (size_t i = 0; i < f->mount_count; i++) {
        struct mount *m = &f->mounts[i];
        const char *rest = path_below(out->path, m->path), *more = path_below(m->path, out->path);
        if (rest && (!out->mount || strlen(m->path) > strlen(out->mount->path))) {
            out->mount = m;
            out->rest = rest;
        }
        if (more && *more) out->above = true;
    }
    return out->mount || out->above ? 0 : -PVM_ENOENT;
}

/* Finds where a path leads, for calls that change what is there. */
static int place_to_change(struct pvm_files *f, penta_bytes path, struct place *out)
{
    int error = place_find(f, path, out);
    if (error) return error;
    /* A drive has this path, or a path below it. */
    if (out->above || !*out->rest) return -PVM_EBUSY;
    return out->mount->read_only ? -PVM_EROFS : 0;
}

static uint64_t grown_room(const struct pvm_files *f) { return f->grown_max - f->grown; }

static void grown_change(struct pvm_files *f, uint64_t before, uint64_t after)
{
    if (after >= before)
        f->grown += after - before < grown_room(f) ? after - before : grown_room(f);
    else
        f->grown -= before - after < f->grown ? before - after : f->grown;
}

static struct pvm_file *descriptor_file(struct pvm_files *f, int64_t fd)
{
    return fd >= FIRST && fd - FIRST < (int64_t)f->open_max ? f->open[fd - FIRST] : NULL;
}

static void file_close(struct pvm_file *file)
{
    if (file->flags != PVM_FILE_FOLDER) file->drive->calls->close(file);
    pvm_list_free(&file->list);
    free(file);
}

static void stat_finish(const struct pvm_files *f, const struct mount *m, struct pvm_file_stat *s)
{
    s->folder = m ? (uint32_t)(m - f->mounts) : 0;
    if (!m || m->read_only) s->mode &= ~0222u;
}

static int64_t place_stat(struct pvm_files *f, const struct place *p, struct pvm_file_stat *out)
{
    int error =
        p->mount ? p->mount->drive->calls->stat(p->mount->drive, p->rest, out) : -PVM_ENOENT;
    if (!error) stat_finish(f, p->mount, out);
    if (!error || !p->above) return error;
    /* This folder exists only because it leads to a drive. */
    *out = (struct pvm_file_stat){.mode = PVM_MODE_FOLDER | 0555};
    return 0;
}

/* Adds the names with which the paths of drives continue after `path`. */
static bool list_mounts(struct pvm_files *f, const char *path, struct pvm_list *list)
{
    for (size_t i = 0; i < f->mount_count; i++) {
        const char *more = path_below(f->mounts[i].path, path);
        char name[NAME_BYTES];
        size_t size = more ? strcspn(more, "/") : 0;
        bool known = !size;
        if (!known) memcpy(name, more, size);
        name[size] = 0;
        for (size_t k = 0; k < list->count && !known; k++)
            known = !strcmp(list->items[k].name, name);
        if (!known && !pvm_list_add(list, 0, 4, name)) return false;
    }
    return true;
}

static int folder_open(struct pvm_files *f, const struct place *p, struct pvm_file *file)
{
    int error = (int)place_stat(f, p, &file->folder);
    if (error) return error;
    if ((file->folder.mode & 0170000) != PVM_MODE_FOLDER) return -PVM_ENOTDIR;
    if (p->mount) {
        error = p->mount->drive->calls->list(p->mount->drive, p->rest, &file->list);
        if (error && !(p->above && error == -PVM_ENOENT)) return error;
    }
    if (!list_mounts(f, p->path, &file->list)) return -PVM_ENOMEM;
    pvm_list_sort(&file->list);
    return 0;
}

static int file_open(struct pvm_files *f, const struct place *p, unsigned flags,
                     struct pvm_file *file)
{
    const unsigned changes = PVM_FILE_WRITE | PVM_FILE_CREATE | PVM_FILE_TRUNCATE;
    struct pvm_drive *d = p->mount ? p->mount->drive : NULL;
    struct pvm_file_stat before;
    if (!(flags & (PVM_FILE_READ | PVM_FILE_WRITE))) return -PVM_EINVAL;
    if (!d || p->above) return -PVM_EISDIR;
    int known = d->calls->stat(d, p->rest, &before);
    if (p->mount->read_only && flags & changes)
        return known == -PVM_ENOENT && !(flags & PVM_FILE_CREATE) ? known : -PVM_EROFS;
    if (known == -PVM_ENOENT && flags & PVM_FILE_CREATE && grown_room(f) < FILE_COST)
        return -PVM_ENOSPC;
    int error = d->calls->open(d, p->rest, flags, file);
    if (error) return error;
    if (known == -PVM_ENOENT) grown_change(f, 0, FILE_COST);
    if (!known && flags & PVM_FILE_TRUNCATE && flags & PVM_FILE_WRITE)
        grown_change(f, before.size, 0);
    return 0;
}

int64_t pvm_files_open(struct pvm_files *f, penta_bytes path, unsigned flags)
{
    struct place p;
    size_t at = 0;
    int error = place_find(f, path, &p);
    if (!flags || flags > PVM_FILE_FOLDER) return -PVM_EINVAL;
    if (error) return error;
    while (at < f->open_max && f->open[at]) at++;
    if (at == f->open_max) return -PVM_EMFILE;
    struct pvm_file *file = calloc(1, sizeof *file);
    if (!file) return -PVM_ENOMEM;
    *file = (struct pvm_file){.drive = p.mount ? p.mount->drive : NULL, .flags = flags, .fd = -1};
    error = flags == PVM_FILE_FOLDER ? folder_open(f, &p, file) : file_open(f, &p, flags, file);
    if (error) {
        pvm_list_free(&file->list);
        free(file);
        return error;
    }
    f->open[at] = file;
    return FIRST + (int64_t)at;
}

int64_t pvm_files_close(struct pvm_files *f, int64_t fd)
{
    struct pvm_file *file = descriptor_file(f, fd);
    if (!file) return -PVM_EBADF;
    file_close(file);
    f->open[fd - FIRST] = NULL;
    return 0;
}

int64_t pvm_files_read(struct pvm_files *f, int64_t fd, uint8_t *to, size_t size)
{
    struct pvm_file *file = descriptor_file(f, fd);
    if (file && file->flags == PVM_FILE_FOLDER) return -PVM_EISDIR;
    if (!file || !(file->flags & PVM_FILE_READ)) return -PVM_EBADF;
    return file->drive->calls->read(file, to, size);
}

/* Writes as many bytes as the file may grow by. */
int64_t pvm_files_write(struct pvm_files *f, int64_t fd, penta_bytes bytes)
{
    struct pvm_file *file = descriptor_file(f, fd);
    struct pvm_file_stat status;
    if (!file || !(file->flags & PVM_FILE_WRITE)) return -PVM_EBADF;
    const struct pvm_drive_calls *calls = file->drive->calls;
    int error = calls->fstat(file, &status);
    if (error) return error;
    int64_t at = file->flags & PVM_FILE_APPEND ? (int64_t)status.size : calls->seek(file, 0, 1);
    if (at < 0) return at;
    uint64_t end = status.size + grown_room(f), size = bytes.size;
    uint64_t most = end > (uint64_t)at ? end - (uint64_t)at : 0;
    if (size && !most) return -PVM_ENOSPC;
    if (size > most) size = most;
    int64_t done = calls->write(file, (penta_bytes){bytes.data, (size_t)size});
    if (done > 0 && (uint64_t)(at + done) > status.size)
        grown_change(f, status.size, (uint64_t)(at + done));
    return done;
}

int64_t pvm_files_seek(struct pvm_files *f, int64_t fd, int64_t offset, uint64_t whence)
{
    struct pvm_file *file = descriptor_file(f, fd);
    if (!file) return fd >= 0 && fd < FIRST ? -PVM_ESPIPE : -PVM_EBADF;
    if (whence > 2) return -PVM_EINVAL;
    if (file->flags != PVM_FILE_FOLDER) return file->drive->calls->seek(file, offset, (int)whence);
    if (whence || offset < 0 || (uint64_t)offset > file->list.count) return -PVM_EINVAL;
    return (int64_t)(file->position = (uint64_t)offset);
}

int64_t pvm_files_truncate(struct pvm_files *f, int64_t fd, uint64_t size)
{
    struct pvm_file *file = descriptor_file(f, fd);
    struct pvm_file_stat status;
    if (!file) return -PVM_EBADF;
    if (!(file->flags & PVM_FILE_WRITE) || size > INT64_MAX) return -PVM_EINVAL;
    int error = file->drive->calls->fstat(file, &status);
    if (!error && size > status.size && size - status.size > grown_room(f)) error = -PVM_ENOSPC;
    if (!error) error = file->drive->calls->truncate(file, size);
    if (!error) grown_change(f, status.size, size);
    return error;
}

int64_t pvm_files_sync(struct pvm_files *f, int64_t fd)
{
    struct pvm_file *file = descriptor_file(f, fd);
    if (!file) return fd >= 0 && fd < FIRST ? -PVM_EINVAL : -PVM_EBADF;
    return file->flags == PVM_FILE_FOLDER ? 0 : file->drive->calls->sync(file);
}

int64_t pvm_files_fstat(struct pvm_files *f, int64_t fd, struct pvm_file_stat *out)
{
    struct pvm_file *file = descriptor_file(f, fd);
    *out = (struct pvm_file_stat){.mode = PVM_MODE_PIPE | 0600};
    if (fd >= 0 && fd < FIRST) return 0;
    if (!file) return -PVM_EBADF;
    if (file->flags == PVM_FILE_FOLDER) {
        *out = file->folder;
        return 0;
    }
    int error = file->drive->calls->fstat(file, out);
    for (size_t i = 0; !error && i < f->mount_count; i++)
        if (f->mounts[i].drive == file->drive) stat_finish(f, &f->mounts[i], out);
    return error;
}

int64_t pvm_files_stat(struct pvm_files *f, penta_bytes path, struct pvm_file_stat *out)
{
    struct place p;
    int error = place_find(f, path, &p);
    return error ? error : place_stat(f, &p, out);
}

int64_t pvm_files_entries(struct pvm_files *f, int64_t fd, uint8_t *to, size_t size)
{
    struct pvm_file *file = descriptor_file(f, fd);
    size_t used = 0;
    if (!file) return -PVM_EBADF;
    if (file->flags != PVM_FILE_FOLDER) return -PVM_ENOTDIR;
    for (; file->position < file->list.count; file->position++) {
        const struct pvm_entry *entry = &file->list.items[file->position];
        size_t name = strlen(entry->name);
        if (size - used < PVM_ENTRY_BYTES + name) return used ? (int64_t)used : -PVM_EINVAL;
        bytes_put64(to + used, entry->number);
        to[used + 8] = entry->kind;
        to[used + 9] = (uint8_t)name;
        memcpy(to + used + PVM_ENTRY_BYTES, entry->name, name);
        used += PVM_ENTRY_BYTES + name;
    }
    return (int64_t)used;
}

int64_t pvm_files_remove(struct pvm_files *f, penta_bytes path, bool folder)
{
    struct place p;
    struct pvm_file_stat status;
    int error = place_to_change(f, path, &p);
    if (error == -PVM_EBUSY && !folder) return -PVM_EISDIR;
    if (error) return error;
    struct pvm_drive *d = p.mount->drive;
    int known = d->calls->stat(d, p.rest, &status);
    error = d->calls->remove(d, p.rest, folder);
    if (!error && !known) grown_change(f, FILE_COST + status.size, 0);
    return error;
}

int64_t pvm_files_make_folder(struct pvm_files *f, penta_bytes path)
{
    struct place p;
    int error = place_to_change(f, path, &p);
    if (error == -PVM_EBUSY) return -PVM_EEXIST;
    if (error) return error;
    if (grown_room(f) < FILE_COST) return -PVM_ENOSPC;
    error = p.mount->drive->calls->make_folder(p.mount->drive, p.rest);
    if (!error) grown_change(f, 0, FILE_COST);
    return error;
}

int64_t pvm_files_rename(struct pvm_files *f, penta_bytes from, penta_bytes to)
{
    struct place p, q;
    int error = place_to_change(f, from, &p);
    if (!error) error = place_to_change(f, to, &q);
    if (error) return error;
    if (p.mount != q.mount) return -PVM_EXDEV;
    struct pvm_drive *d = p.mount->drive;
    struct pvm_file_stat old;
    bool replaces = !d->calls->stat(d, q.rest, &old) && strcmp(p.path, q.path);
    error = d->calls->rename(d, p.rest, q.rest);
    if (!error && replaces) grown_change(f, FILE_COST + old.size, 0);
    return error;
}

/* The functions below are for the world outside of the program. */

static bool files_refuse(penta_error *err, const char *path, int64_t error)
{
    static const struct {
        int number;
        const char *text;
    } texts[] = {{PVM_ENOENT, "there is no such file"},
                 {PVM_EACCES, "not permitted"},
                 {PVM_EEXIST, "it exists already"},
                 {PVM_ENOTDIR, "a part of the path is no folder"},
                 {PVM_EISDIR, "it is a folder"},
                 {PVM_EROFS, "the folder is read-only"},
                 {PVM_ENOSPC, "no space is left"},
                 {PVM_EMFILE, "too many files are open"},
                 {PVM_EBUSY, "it is one of the folders"},
                 {PVM_ENAMETOOLONG, "a name is too long"},
                 {PVM_EINVAL, "it is no path"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (error == -texts[i].number)
            return error_at(err, BASE_IO, 0, "'%.80s': %s", path, texts[i].text);
    return error_at(err, BASE_IO, 0, "'%.80s': error %d of the console", path, (int)-error);
}

/* Makes the folders above the file. */
static int64_t folders_make(struct pvm_files *f, penta_bytes path)
{
    struct pvm_file_stat status;
    int64_t error = 0;
    for (size_t i = 1; i < path.size && !error; i++) {
        penta_bytes above = bytes_slice(path, 0, i);
        if (path.data[i] != '/' || !pvm_files_stat(f, above, &status)) continue;
        error = pvm_files_make_folder(f, above);
    }
    return error;
}

static bool files_put(void *state, const char *path, penta_bytes bytes, penta_error *err)
{
    struct pvm_files *f = state;
    int64_t done = folders_make(f, bytes_of(path)), fd = done;
    if (!done)
        fd =
            pvm_files_open(f, bytes_of(path), PVM_FILE_WRITE | PVM_FILE_CREATE | PVM_FILE_TRUNCATE);
    if (fd < 0) return files_refuse(err, path, fd);
    while (bytes.size && (done = pvm_files_write(f, fd, bytes)) > 0)
        bytes = bytes_slice(bytes, (size_t)done, bytes.size);
    pvm_files_close(f, fd);
    return !bytes.size || files_refuse(err, path, done ? done : -PVM_EIO);
}

static bool files_get(void *state, const char *path, struct writer *out, penta_error *err)
{
    struct pvm_files *f = state;
    uint8_t piece[4096];
    int64_t fd = pvm_files_open(f, bytes_of(path), PVM_FILE_READ), done = 0;
    if (fd < 0) return files_refuse(err, path, fd);
    while ((done = pvm_files_read(f, fd, piece, sizeof piece)) > 0)
        writer_bytes(out, piece, (size_t)done);
    pvm_files_close(f, fd);
    if (done < 0) return files_refuse(err, path, done);
    return writer_ok(out, err);
}

static int mount_order(const void *a, const void *b)
{
    const struct mount *const *x = a, *const *y = b;
    return strcmp((*x)->path, (*y)->path);
}

static bool files_list(void *state, struct json *json, penta_error *err)
{
    struct pvm_files *f = state;
    const struct mount **sorted =
        zeros_new((f->mount_count + 1) * sizeof(struct mount *), "a list", err);
    bool ok = sorted != NULL;
    for (size_t i = 0; ok && i < f->mount_count; i++) sorted[i] = &f->mounts[i];
    if (ok) qsort(sorted, f->mount_count, sizeof *sorted, mount_order);
    for (size_t i = 0; ok && i < f->mount_count; i++)
        ok = pvm_drive_memory_list(sorted[i]->drive, sorted[i]->path, json, err);
    free(sorted);
    return ok;
}

const struct host_files pvm_host_files = {.put = files_put, .get = files_get, .list = files_list};

/* Reads HOST[:GUEST][:ro], which gives the program a folder. GUEST starts with '/'; an empty
 * HOST is a folder in memory. */
static bool mount_add(struct pvm_files *f, const char *text, penta_error *err)
{
    if (!ARRAY_GROW(f->mounts, f->mount_capacity, f->mount_count, err)) return false;
    size_t size = strlen(text);
    bool read_only = size >= 3 && !strcmp(text + size - 3, ":ro"), made = false;
    char guest[PATH_BYTES + 1] = "", *host = strdup(text);
    if (!host) return error_at(err, BASE_MEMORY, 0, "no memory for option 'files'");
    if (read_only) host[size - 3] = 0;
    char *colon = strrchr(host, ':');
    if (colon && colon[1] == '/') {
        *colon = 0;
        if (path_clean(bytes_of(colon + 1), guest)) {
            error_at(err, BASE_OPTION_VALUE, 0, "files: '%.80s' is no path", colon + 1);
            free(host);
            return false;
        }
    }
    bool twice = false;
    for (size_t i = 0; i < f->mount_count; i++) twice |= !strcmp(f->mounts[i].path, guest);
    struct mount m = {strdup(guest), NULL, read_only};
    if (twice)
        error_at(err, BASE_OPTION_VALUE, 0, "files: two folders have the path '/%.80s'", guest);
    else if (!m.path)
        error_at(err, BASE_MEMORY, 0, "no memory for option 'files'");
    else
        m.drive = *host ? pvm_drive_host_new(f, host, err) : pvm_drive_memory_new(f, err);
    made = m.drive != NULL;
    if (made)
        f->mounts[f->mount_count++] = m;
    else
        free(m.path);
    free(host);
    return made;
}

/* Reads GUEST=FILE, which gives the program a file at path GUEST. When there is no folder, one
 * in memory becomes the root. */
static bool file_preload(struct pvm_files *f, const char *text, penta_error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return error_at(err, BASE_OPTION_VALUE, 0, "file: '%.80s' is not GUEST=FILE", text);
    if (!f->mount_count && !mount_add(f, "", err)) return false;
    char *path = strdup(text);
    if (!path) return error_at(err, BASE_MEMORY, 0, "no memory for option 'file'");
    path[equals - text] = 0;
    penta_buffer contents = {0};
    bool ok = file_read(equals + 1, file_bytes, &contents, err) &&
              files_put(f, path, (penta_bytes){contents.data, contents.size}, err);
    penta_buffer_free(&contents);
    free(path);
    return ok;
}

static bool files_options(struct pvm_files *f, const penta_option *options, size_t count,
                          penta_error *err)
{
    f->grown_max = option_number(options, count, "file-bytes", file_bytes);
    if (f->grown_max > INT64_MAX / 2) f->grown_max = INT64_MAX / 2;
    f->open_max = (size_t)option_number(options, count, "open-files", OPEN_FILES);
    f->open = zeros_new((f->open_max + 1) * sizeof(struct pvm_file *), "open files", err);
    if (!f->open) return false;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(options[i].key, "files") && !mount_add(f, options[i].value, err)) return false;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(options[i].key, "file") && !file_preload(f, options[i].value, err))
            return false;
    return true;
}

struct pvm_files *pvm_files_new(const penta_option *options, size_t count, penta_error *err)
{
    struct pvm_files *f = zeros_new(sizeof *f, "the files", err);
    if (f && files_options(f, options, count, err)) return f;
    pvm_files_free(f);
    return NULL;
}

void pvm_files_free(struct pvm_files *f)
{
    if (!f) return;
    for (size_t i = 0; f->open && i < f->open_max; i++)
        if (f->open[i]) file_close(f->open[i]);
    for (size_t i = 0; i < f->mount_count; i++) {
        f->mounts[i].drive->calls->free(f->mounts[i].drive);
        free(f->mounts[i].path);
    }
    free(f->mounts);
    free(f->open);
    free(f->seen);
    free(f);
}
