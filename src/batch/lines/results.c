/* Writes lines in the order of the sources and in large pieces. A kill at any moment leaves
 * whole lines and perhaps an incomplete one, which is not read. The lines of an earlier run are
 * first moved to the file of waiting lines and looked up there, so that all are in one place,
 * even when the list of sources has changed. */
#include "batch/lines/results.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"

enum { RESULTS_PIECE = 1 << 16 };

struct mapped_file {
    const uint8_t *data;
    size_t size;
};

struct earlier_entry {
    uint64_t hash; /* the hash of the key; 0 when the entry is free */
    const uint8_t *line;
};

struct results {
    char *path, *times_path, *ahead_path, *final_path; /* final_path is NULL when `path` is the
                                                        * final name */
    int file, times, ahead;
    struct writer lines, micros;
    uint64_t ahead_size;
    struct mapped_file *earlier; /* files with lines of earlier runs */
    size_t earlier_count, earlier_capacity;
    struct earlier_entry *table;
    size_t table_size, table_used; /* a power of 2 */
};

static bool results_failed(const char *path, const char *what, penta_error *err)
{
    return error_at(err, BASE_IO, 0, "cannot %s '%.60s': %s", what, path, strerror(errno));
}

static bool results_write(int fd, const char *path, struct writer *text, penta_error *err)
{
    penta_bytes left = writer_view(text);
    while (left.size) {
        ssize_t n = write(fd, left.data, left.size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return results_failed(path, "write", err);
        left = bytes_slice(left, (size_t)n, left.size - (size_t)n);
    }
    text->out.size = 0;
    return writer_ok(text, err);
}

static uint64_t results_hash(penta_bytes key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < key.size; i++) hash = (hash ^ key.data[i]) * UINT64_C(0x100000001b3);
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

static size_t results_line_size(const uint8_t *line, const uint8_t *end)
{
    const uint8_t *stop = memchr(line, '\n', (size_t)(end - line));
    return stop ? (size_t)(stop - line) : 0;
}

static const struct mapped_file *results_map_of(const struct results *r, const uint8_t *line)
{
    for (size_t i = 0; i < r->earlier_count; i++)
        if (line >= r->earlier[i].data && line < r->earlier[i].data + r->earlier[i].size)
            return &r->earlier[i];
    return NULL;
}

static bool results_head_at(const struct results *r, const uint8_t *line, struct record_head *head)
{
    const struct mapped_file *file = results_map_of(r, line);
    size_t size = file ? results_line_size(line, file->data + file->size) : 0;
    return size && record_head_read((penta_bytes){line, size}, head);
}

/* Returns the entry of a key, or the free entry where the key belongs. */
static struct earlier_entry *results_entry(struct results *r, uint64_t hash, penta_bytes key)
{
    struct record_head head;
    for (size_t at = hash & (r->table_size - 1);; at = (at + 1) & (r->table_size - 1)) {
        struct earlier_entry *e = &r->table[at];
        if (!e->hash) return e;
        if (e->hash == hash && results_head_at(r, e->line, &head) && bytes_equal(head.key, key))
            return e;
    }
}

static bool results_table_grow(struct results *r, penta_error *err)
{
    struct earlier_entry *old = r->table;
    size_t old_size = r->table_size;
    if (r->table_used * 2 < old_size) return true;
    r->table_size = old_size ? old_size * 2 : 1024;
    r->table = zeros_new(r->table_size * sizeof *r->table, "earlier results", err);
    if (!r->table) {
        r->table = old;
        r->table_size = old_size;
        return false;
    }
    for (size_t i = 0; i < old_size; i++) {
        if (!old[i].hash) continue;
        size_t at = old[i].hash & (r->table_size - 1);
        while (r->table[at].hash) at = (at + 1) & (r->table_size - 1);
        r->table[at] = old[i];
    }
    free(old);
    return true;
}

/* Enters a line into the table. A later line of the same source replaces an earlier one. *fresh
 * tells whether the table had no line of the source. */
static bool results_index(struct results *r, const uint8_t *line, const struct record_head *head,
                          bool *fresh, penta_error *err)
{
    if (!results_table_grow(r, err)) return false;
    uint64_t hash = results_hash(head->key);
    struct earlier_entry *e = results_entry(r, hash, head->key);
    struct record_head before;
    *fresh =
        !e->hash || !results_head_at(r, e->line, &before) || !bytes_equal(before.rest, head->rest);
    r->table_used += !e->hash;
    if (*fresh) *e = (struct earlier_entry){hash, line};
    return true;
}

/* Maps a file and enters its whole lines. Lines of new sources are appended to `fresh_lines`,
 * unless it is NULL. */
static bool results_earlier_add(struct results *r, const char *path, struct writer *fresh_lines,
                                penta_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT || results_failed(path, "read", err);
    bool ok = !fstat(fd, &st) && S_ISREG(st.st_mode);
    void *data = ok && st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                                  : MAP_FAILED;
    close(fd);
    if (!ok) return error_at(err, BASE_IO, 0, "'%.60s' is no file of results", path);
    if (data == MAP_FAILED) return !st.st_size || results_failed(path, "read", err);
    if (!ARRAY_GROW(r->earlier, r->earlier_capacity, r->earlier_count, err)) return false;
    struct mapped_file file = {data, (size_t)st.st_size};
    r->earlier[r->earlier_count++] = file;
    for (size_t at = 0, size; at < file.size; at += size + 1) {
        struct record_head head;
        bool fresh;
        size = results_line_size(file.data + at, file.data + file.size);
        if (!size && file.data[at] != '\n') break; /* The line is incomplete. */
        if (!record_head_read((penta_bytes){file.data + at, size}, &head) || !head.digested)
            continue;
        if (!results_index(r, file.data + at, &head, &fresh, err)) return false;
        if (fresh && fresh_lines) writer_bytes(fresh_lines, file.data + at, size + 1);
        if (fresh_lines && fresh_lines->out.size > RESULTS_PIECE &&
            !results_write(r->ahead, r->ahead_path, fresh_lines, err))
            return false;
    }
    return true;
}

bool results_has_earlier(const struct results *r) { return r->table_used > 0; }

bool results_earlier(struct results *r, penta_bytes key, struct earlier_line *out)
{
    struct record_head head;
    if (!r->table) return false;
    struct earlier_entry *e = results_entry(r, results_hash(key), key);
    if (!e->hash || !results_head_at(r, e->line, &head)) return false;
    out->rest = (penta_bytes){head.rest.data, head.rest.size + 1};
    memcpy(out->digest, head.digest, BATCH_DIGEST);
    return true;
}

static char *results_name(const char *path, const char *end)
{
    char *name = malloc(strlen(path) + strlen(end) + 1);
    if (name) strcat(strcpy(name, path), end);
    return name;
}

/* Uses what earlier attempts at this shard have done. Each attempt writes files of its own. */
static bool results_earlier_attempts(struct results *r, penta_error *err)
{
    char *copy = strdup(r->final_path), *copy2 = strdup(r->final_path);
    const char *folder = copy ? dirname(copy) : NULL, *base = copy2 ? basename(copy2) : NULL;
    DIR *d = folder && base ? opendir(folder) : NULL;
    bool ok = results_earlier_add(r, r->final_path, NULL, err);
    for (struct dirent *e; ok && d && (e = readdir(d));) {
        char path[PATH_MAX];
        size_t size = strlen(base);
        const char *end = strrchr(e->d_name, '.');
        if (strncmp(e->d_name, base, size) || e->d_name[size] != '.' || !end ||
            (strcmp(end, ".part") && strcmp(end, ".ahead")))
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) continue;
        if (!strcmp(path, r->path) || !strcmp(path, r->ahead_path)) continue;
        ok = results_earlier_add(r, path, NULL, err);
    }
    if (d) closedir(d);
    free(copy);
    free(copy2);
    return ok;
}

/* Moves the lines of RESULTS to the file of waiting lines, before RESULTS is emptied. */
static bool results_take_over(struct results *r, penta_error *err)
{
    struct writer fresh = {0};
    bool ok = results_earlier_add(r, r->ahead_path, NULL, err);
    ok = ok && results_earlier_add(r, r->path, &fresh, err) &&
         results_write(r->ahead, r->ahead_path, &fresh, err);
    writer_free(&fresh);
    if (!ok) return false;
    if (fsync(r->ahead)) return results_failed(r->ahead_path, "write", err);
    /* From now on the lines of RESULTS are looked up in the file of waiting lines. */
    for (size_t i = 0; i < r->earlier_count; i++)
        munmap((void *)(uintptr_t)r->earlier[i].data, r->earlier[i].size);
    r->earlier_count = r->table_used = 0;
    if (r->table_size) memset(r->table, 0, r->table_size * sizeof *r->table);
    if (!results_earlier_add(r, r->ahead_path, NULL, err)) return false;
    off_t end = lseek(r->ahead, 0, SEEK_END);
    r->ahead_size = end > 0 ? (uint64_t)end : 0;
    if (ftruncate(r->file, 0) || lseek(r->file, 0, SEEK_SET))
        return results_failed(r->path, "empty", err);
    return true;
}

/* Cuts an incomplete line off the end of the waiting lines, because the next line would be
 * appended to it. */
static bool results_ahead_cut(struct results *r, penta_error *err)
{
    off_t size = lseek(r->ahead, 0, SEEK_END);
    char last = '\n';
    if (size > 0 && pread(r->ahead, &last, 1, size - 1) == 1 && last != '\n' &&
        write(r->ahead, "\n", 1) != 1)
        return results_failed(r->ahead_path, "write", err);
    return true;
}

static bool results_files(struct results *r, penta_error *err)
{
    r->file = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (r->file < 0) return results_failed(r->path, "write", err);
    if (flock(r->file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        error_at(err, BASE_IO, 0, "'%.60s' is being written by another run", r->path);
        return error_note(err, "wait for it, or choose another name");
    }
    r->times = open(r->times_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    r->ahead = open(r->ahead_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (r->times < 0) return results_failed(r->times_path, "write", err);
    if (r->ahead < 0) return results_failed(r->ahead_path, "write", err);
    if (!results_ahead_cut(r, err)) return false;
    return r->final_path ? results_earlier_attempts(r, err) : results_take_over(r, err);
}

static void results_free(struct results *r)
{
    for (size_t i = 0; i < r->earlier_count; i++)
        munmap((void *)(uintptr_t)r->earlier[i].data, r->earlier[i].size);
    if (r->file >= 0) close(r->file);
    if (r->times >= 0) close(r->times);
    if (r->ahead >= 0) close(r->ahead);
    writer_free(&r->lines);
    writer_free(&r->micros);
    free(r->earlier);
    free(r->table);
    free(r->path);
    free(r->times_path);
    free(r->ahead_path);
    free(r->final_path);
    free(r);
}

struct results *results_open(const char *path, const char *shard, penta_error *err)
{
    struct results *r = zeros_new(sizeof *r, "results", err);
    char end[240] = "", host[65] = "host";
    struct timespec now;
    if (!r) return NULL;
    r->file = r->times = r->ahead = -1;
    if (*shard) {
        const char *slash = strchr(shard, '/');
        snprintf(end, sizeof end, ".shard-%.*s-of-%s", (int)(slash - shard), shard, slash + 1);
        r->final_path = results_name(path, end);
        if (gethostname(host, sizeof host - 1)) strcpy(host, "host");
        size_t size = strlen(end);
        /* Process numbers are not unique in time, nor among containers that run at once. */
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(end + size, sizeof end - size, ".%.64s-%d-%lx.part", host, (int)getpid(),
                 (unsigned long)now.tv_sec << 20 | (unsigned long)now.tv_nsec >> 10);
    }
    r->path = results_name(path, end);
    r->times_path = r->path ? results_name(r->path, ".times") : NULL;
    r->ahead_path = r->path ? results_name(r->path, ".ahead") : NULL;
    if (!r->path || !r->times_path || !r->ahead_path || (*shard && !r->final_path))
        error_at(err, BASE_MEMORY, 0, "no memory for results");
    else if (results_files(r, err))
        return r;
    results_free(r);
    return NULL;
}

/* Gives a complete shard its final name. Another attempt may have done the same with the same
 * lines. */
static bool results_publish(struct results *r, penta_error *err)
{
    char *times = results_name(r->final_path, ".times");
    bool ok = times && !rename(r->times_path, times) && !rename(r->path, r->final_path);
    if (!ok) results_failed(r->final_path, "rename to", err);
    free(times);
    return ok;
}

bool results_close(struct results *r, bool complete, penta_error *err)
{
    bool ok = results_flush(r, err);
    if (ok && complete && (fsync(r->file) || fsync(r->times)))
        ok = results_failed(r->path, "write", err);
    if (ok && complete && r->final_path) ok = results_publish(r, err);
    if (ok && complete) unlink(r->ahead_path);
    results_free(r);
    return ok;
}

bool results_flush(struct results *r, penta_error *err)
{
    return results_write(r->file, r->path, &r->lines, err) &&
           results_write(r->times, r->times_path, &r->micros, err);
}

bool results_lines(struct results *r, penta_bytes lines, penta_bytes times, penta_error *err)
{
    writer_bytes(&r->lines, lines.data, lines.size);
    writer_bytes(&r->micros, times.data, times.size);
    if (r->lines.failed || r->micros.failed)
        return error_at(err, BASE_MEMORY, 0, "no memory for results");
    return r->lines.out.size < RESULTS_PIECE || results_flush(r, err);
}

bool results_ahead(struct results *r, penta_bytes lines, uint64_t *at, penta_error *err)
{
    struct writer text = {.out = {(uint8_t *)(uintptr_t)lines.data, lines.size, lines.size}};
    *at = r->ahead_size;
    if (lseek(r->ahead, (off_t)r->ahead_size, SEEK_SET) < 0)
        return results_failed(r->ahead_path, "write", err);
    if (!results_write(r->ahead, r->ahead_path, &text, err)) return false;
    r->ahead_size += lines.size;
    return true;
}

bool results_ahead_read(struct results *r, uint64_t at, size_t size, uint8_t *to, penta_error *err)
{
    while (size) {
        ssize_t n = pread(r->ahead, to, size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return results_failed(r->ahead_path, "read", err);
        to += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}
