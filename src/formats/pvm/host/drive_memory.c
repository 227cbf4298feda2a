/* Makes a drive in memory, which is a tree of folders and files. A file that was removed stays
 * as long as it is open. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json/json_write.h"
#include "pvm/host/drive.h"

/* memory_max limits what all files of a drive together take of the host's memory. */
static const uint64_t memory_max = UINT64_C(256) << 20;

struct memory_node {
    uint64_t number;
    bool folder;
    size_t users;   /* how many descriptors refer to the node, and 1 more while it has a name */
    uint8_t *bytes; /* the contents, for a file */
    size_t size, capacity;
    struct memory_child {
        char *name;
        struct memory_node *node;
    } * children; /* the entries, for a folder, sorted by name */
    size_t count, child_capacity;
    struct memory_node *above; /* the folder that has this node; set only while the tree is freed */
};

struct memory_drive {
    struct pvm_drive base;
    struct memory_node root;
    uint64_t last_number, used; /* used: how many bytes all files take */
};

static struct memory_drive *memory_of(struct pvm_drive *d) { return (struct memory_drive *)d; }

static struct memory_node *node_new(struct memory_drive *d, bool folder)
{
    struct memory_node *n = calloc(1, sizeof *n);
    if (n) *n = (struct memory_node){.number = ++d->last_number, .folder = folder, .users = 1};
    return n;
}

static void node_release(struct memory_drive *d, struct memory_node *n)
{
    if (--n->users) return;
    d->used -= n->size;
    free(n->bytes);
    free(n->children);
    free(n);
}

/* Returns the index of the child with this name, or the index where it belongs. */
static size_t child_at(const struct memory_node *folder, const char *name, size_t size, bool *found)
{
    size_t i;
    int order = 1;
    ARRAY_SEARCH(i, 0, folder->count, strncmp(folder->children[i].name, name, size) >= 0);
    /* Names that only start with this name come after it. */
    if (i < folder->count) order = strncmp(folder->children[i].name, name, size);
    *found = !order && !folder->children[i].name[size];
    return i;
}

/* Finds the folder of the last name of the path, and that name. Returns 0 or an error. */
static int node_parent(struct memory_drive *d, const char *path, struct memory_node **folder,
                       const char **name)
{
    struct memory_node *n = &d->root;
    for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        bool found;
        size_t at = child_at(n, path, (size_t)(slash - path), &found);
        if (!found) return -PVM_ENOENT;
        n = n->children[at].node;
        if (!n->folder) return -PVM_ENOTDIR;
    }
    *folder = n;
    *name = path;
    return 0;
}

static int node_find(struct memory_drive *d, const char *path, struct memory_node **out)
{
    const char *name;
    bool found = true;
    int error = node_parent(d, path, out, &name);
    if (error || !*name) return error;
    size_t at = child_at(*out, name, strlen(name), &found);
    if (!found) return -PVM_ENOENT;
    *out = (*out)->children[at].node;
    return 0;
}

static bool child_add(struct memory_node *folder, const char *name, struct memory_node *node)
{
    bool found;
    size_t at = child_at(folder, name, strlen(name), &found);
    char *copy = strdup(name);
    if (!copy || !ARRAY_RESERVE(folder->children, folder->child_capacity, folder->count + 1)) {
        free(copy);
        return false;
    }
    memmove(folder->children + at + 1, folder->children + at,
            (folder->count - at) * sizeof *folder->children);
    folder->children[at] = (struct memory_child){copy, node};
    folder->count++;
    return true;
}

/* Takes a child out of its folder, and returns its node. */
static struct memory_node *child_take(struct memory_node *folder, size_t at)
{
    struct memory_node *node = folder->children[at].node;
    free(folder->children[at].name);
    folder->count--;
    memmove(folder->children + at, folder->children + at + 1,
            (folder->count - at) * sizeof *folder->children);
    return node;
}

static int node_make(struct memory_drive *d, const char *path, bool folder,
                     struct memory_node **out)
{
    struct memory_node *parent;
    const char *name;
    int error = node_parent(d, path, &parent, &name);
    if (error) return error;
    *out = node_new(d, folder);
    if (*out && child_add(parent, name, *out)) return 0;
    free(*out);
    return -PVM_ENOMEM;
}

static int node_resize(struct memory_drive *d, struct memory_node *n, uint64_t size)
{
    if (size > n->size && size - n->size > memory_max - d->used) return -PVM_ENOSPC;
    if (size > n->capacity) {
        uint64_t more = size > 2 * (uint64_t)n->capacity ? size : 2 * (uint64_t)n->capacity;
        uint8_t *bytes = realloc(n->bytes, (size_t)more);
        if (!bytes) return -PVM_ENOSPC;
        n->bytes = bytes;
        n->capacity = (size_t)more;
    }
    if (size > n->size) memset(n->bytes + n->size, 0, (size_t)size - n->size);
    d->used = d->used - n->size + size;
    n->size = (size_t)size;
    return 0;
}

static int memory_open(struct pvm_drive *drive, const char *path, unsigned flags,
                       struct pvm_file *out)
{
    struct memory_drive *d = memory_of(drive);
    struct memory_node *n;
    int error = node_find(d, path, &n);
    if (!error && flags & PVM_FILE_EXCLUSIVE && flags & PVM_FILE_CREATE) return -PVM_EEXIST;
    if (!error && n->folder) return -PVM_EISDIR;
    if (error == -PVM_ENOENT && flags & PVM_FILE_CREATE) error = node_make(d, path, false, &n);
    if (error) return error;
    if (flags & PVM_FILE_TRUNCATE && flags & PVM_FILE_WRITE) node_resize(d, n, 0);
    n->users++;
    out->node = n;
    return 0;
}

static void memory_close(struct pvm_file *f) { node_release(memory_of(f->drive), f->node); }

static int64_t memory_read(struct pvm_file *f, uint8_t *to, size_t size)
{
    uint64_t have = f->position < f->node->size ? f->node->size - f->position : 0;
    if (size > have) size = (size_t)have;
    if (size) memcpy(to, f->node->bytes + f->position, size);
    f->position += size;
    return (int64_t)size;
}

static int64_t memory_write(struct pvm_file *f, penta_bytes bytes)
{
    if (f->flags & PVM_FILE_APPEND) f->position = f->node->size;
    uint64_t end = f->position + bytes.size;
    int error =
        bytes.size && end > f->node->size ? node_resize(memory_of(f->drive), f->node, end) : 0;
    if (error) return error;
    if (bytes.size) bytes_copy(f->node->bytes + f->position, bytes);
    f->position = end;
    return (int64_t)bytes.size;
}

static int64_t memory_seek(struct pvm_file *f, int64_t offset, int whence)
{
    uint64_t from = whence == 0 ? 0 : whence == 1 ? f->position : f->node->size;
    int64_t at;
    if (__builtin_add_overflow((int64_t)from, offset, &at) || at < 0) return -PVM_EINVAL;
    return (int64_t)(f->position = (uint64_t)at);
}

static int memory_truncate(struct pvm_file *f, uint64_t size)
{
    return node_resize(memory_of(f->drive), f->node, size);
}

static int memory_sync(struct pvm_file *f) { return (void)f, 0; }

static void node_stat(const struct memory_node *n, struct pvm_file_stat *out)
{
    *out =
        (struct pvm_file_stat){.number = n->number,
                               .size = n->size,
                               .mode = n->folder ? PVM_MODE_FOLDER | 0755 : PVM_MODE_FILE | 0644};
}

static int memory_fstat(struct pvm_file *f, struct pvm_file_stat *out)
{
    node_stat(f->node, out);
    return 0;
}

static int memory_stat(struct pvm_drive *d, const char *path, struct pvm_file_stat *out)
{
    struct memory_node *n;
    int error = node_find(memory_of(d), path, &n);
    if (!error) node_stat(n, out);
    return error;
}

static int memory_list(struct pvm_drive *d, const char *path, struct pvm_list *out)
{
    struct memory_node *n;
    int error = node_find(memory_of(d), path, &n);
    if (error) return error;
    if (!n->folder) return -PVM_ENOTDIR;
    for (size_t i = 0; i < n->count; i++) {
        const struct memory_child *c = &n->children[i];
        if (!pvm_list_add(out, c->node->number, c->node->folder ? 4 : 8, c->name))
            return -PVM_ENOMEM;
    }
    return 0;
}

static int memory_remove(struct pvm_drive *drive, const char *path, bool folder)
{
    struct memory_drive *d = memory_of(drive);
    struct memory_node *parent;
    const char *name;
    bool found;
    int error = node_parent(d, path, &parent, &name);
    if (error) return error;
    size_t at = child_at(parent, name, strlen(name), &found);
    if (!found) return -PVM_ENOENT;
    const struct memory_node *n = parent->children[at].node;
    if (n->folder != folder) return folder ? -PVM_ENOTDIR : -PVM_EISDIR;
    if (n->count) return -PVM_ENOTEMPTY;
    node_release(d, child_take(parent, at));
    return 0;
}

static int memory_make_folder(struct pvm_drive *d, const char *path)
{
    struct memory_node *n;
    if (!node_find(memory_of(d), path, &n)) return -PVM_EEXIST;
    return node_make(memory_of(d), path, true, &n);
}

static int memory_rename(struct pvm_drive *drive, const char *from, const char *to)
{
    struct memory_drive *d = memory_of(drive);
    struct memory_node *n, *old, *source, *target;
    const char *name, *other;
    bool found;
    size_t size = strlen(from);
    int error = node_find(d, from, &n);
    if (error || (error = node_parent(d, to, &target, &other))) return error;
    if (!strncmp(from, to, strlen(to)) && from[strlen(to)] == '/') return -PVM_ENOTEMPTY;
    if (n->folder && !strncmp(to, from, size) && to[size] == '/')
        return -PVM_EINVAL; /* A folder cannot be moved into itself. */
    error = node_find(d, to, &old);
    if (!error && old == n) return 0;
    if (!error) {
        if (old->folder != n->folder) return old->folder ? -PVM_EISDIR : -PVM_ENOTDIR;
        if (old->count) return -PVM_ENOTEMPTY;
    } else if (error != -PVM_ENOENT) {
        return error;
    }
    bool replaces = !error;
    if (!replaces && !child_add(target, other, n)) return -PVM_ENOMEM;
    if (replaces) {
        size_t at = child_at(target, other, strlen(other), &found);
        node_release(d, old);
        target->children[at].node = n;
    }
    node_parent(d, from, &source, &name);
    child_take(source, child_at(source, name, strlen(name), &found));
    return 0;
}

/* Frees the tree without recursion, because the program decides how deep the tree is: goes down
 * to a folder without children, frees it and goes up again. */
static void memory_free(struct pvm_drive *drive)
{
    struct memory_drive *d = memory_of(drive);
    struct memory_node *n = &d->root;
    while (n != &d->root || n->count) {
        if (n->count) {
            struct memory_node *child = child_take(n, n->count - 1);
            child->above = n;
            n = child;
        } else {
            struct memory_node *above = n->above;
            node_release(d, n);
            n = above;
        }
    }
    free(n->children);
    free(d);
}

static const struct pvm_drive_calls memory_calls = {
    .open = memory_open,
    .close = memory_close,
    .read = memory_read,
    .write = memory_write,
    .seek = memory_seek,
    .truncate = memory_truncate,
    .sync = memory_sync,
    .fstat = memory_fstat,
    .stat = memory_stat,
    .list = memory_list,
    .remove = memory_remove,
    .make_folder = memory_make_folder,
    .rename = memory_rename,
    .free = memory_free,
};

struct pvm_drive *pvm_drive_memory_new(struct pvm_files *files, penta_error *err)
{
    struct memory_drive *d = zeros_new(sizeof *d, "a folder in memory", err);
    if (!d) return NULL;
    d->base = (struct pvm_drive){&memory_calls, files};
    d->root = (struct memory_node){.number = ++d->last_number, .folder = true, .users = 1};
    return &d->base;
}

/* The functions below read the files from outside of the program. */

struct
    /* A level is a folder on the way to the file that is listed, and which of its children comes
     * next. */
    level {
    const struct memory_node *folder;
    size_t next, path; /* path: the size of the path up to and with this folder */
};

static void memory_list_one(struct json *json, const struct writer *path,
                            const struct memory_node *n)
{
    json_object(json, NULL);
    json_string(json, "path", writer_view(path));
    json_uint(json, "size", n->size);
    json_end(json);
}

bool pvm_drive_memory_list(struct pvm_drive *drive, const char *front, struct json *json,
                           penta_error *err)
{
    if (drive->calls != &memory_calls) return true;
    struct writer path = {0};
    struct level *levels = NULL;
    size_t count = 0, capacity = 0;
    bool ok = ARRAY_GROW(levels, capacity, count, err);
    if (*front) writer_bytes(&path, "/", 1), writer_bytes(&path, front, strlen(front));
    if (ok) levels[count++] = (struct level){&memory_of(drive)->root, 0, path.out.size};
    while (ok && count) {
        struct level *top = &levels[count - 1];
        path.out.size = top->path;
        if (top->next == top->folder->count) {
            count--;
            continue;
        }
        const struct memory_child *child = &top->folder->children[top->next++];
        writer_bytes(&path, "/", 1);
        writer_bytes(&path, child->name, strlen(child->name));
        if (!child->node->folder) {
            memory_list_one(json, &path, child->node);
            continue;
        }
        ok = ARRAY_GROW(levels, capacity, count, err);
        if (ok) levels[count++] = (struct level){child->node, 0, path.out.size};
    }
    ok = ok && writer_ok(&path, err);
    writer_free(&path);
    free(levels);
    return ok;
}
