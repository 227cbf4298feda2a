/* Finds which files of shards exist by reading the folder of the results. No list of them is
 * kept, because a list could be wrong after a crash. */
#include "batch/after/shards.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "batch/lines/job.h"
#include "batch/list/shard.h"

bool batch_lines_open(const char *path, struct batch_lines *out, penta_error *err)
{
    struct stat st;
    *out = (struct batch_lines){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return true;
    bool ok = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
    if (!ok) error_at(err, BASE_IO, 0, "cannot read '%.60s'", path);
    void *data =
        ok && st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (data == MAP_FAILED)
        ok = error_at(err, BASE_IO, 0, "cannot read '%.60s': %s", path, strerror(errno));
    if (ok && data) *out = (struct batch_lines){data, (size_t)st.st_size};
    if (fd >= 0) close(fd);
    return ok;
}

void batch_lines_close(struct batch_lines *f)
{
    if (f->data) munmap((void *)(uintptr_t)f->data, f->size);
    *f = (struct batch_lines){0};
}

bool batch_lines_next(const struct batch_lines *f, size_t *at, penta_bytes *line)
{
    if (*at >= f->size) return false;
    const uint8_t *start = f->data + *at, *end = memchr(start, '\n', f->size - *at);
    if (!end) return false;
    *line = (penta_bytes){start, (size_t)(end - start)};
    *at += line->size + 1;
    return true;
}

char *shard_path(const char *results, uint64_t number, uint64_t count, const char *end,
                 penta_error *err)
{
    char text[80];
    snprintf(text, sizeof text, ".shard-%" PRIu64 "-of-%" PRIu64 "%s", number, count, end);
    return job_path(results, text, err);
}

void shard_files_free(struct shard_files *f)
{
    for (uint64_t i = 0; f->started && i < f->count; i++) free(f->started[i]);
    free(f->started);
    free(f->states);
    *f = (struct shard_files){0};
}

static bool shard_files_make(struct shard_files *f, uint64_t count, penta_error *err)
{
    f->count = count;
    f->states = zeros_new(count, "shards", err);
    f->started = f->states ? zeros_new(count * sizeof *f->started, "shards", err) : NULL;
    return f->started != NULL;
}

static uint64_t shard_file_size(const char *path)
{
    struct stat st;
    return path && !stat(path, &st) ? (uint64_t)st.st_size : 0;
}

/* Adds a file whose name ends in ".shard-3-of-8", or in that and ".HOST-PID.part". */
static bool shard_files_add(struct shard_files *f, const char *folder, const char *name,
                            const char *end, penta_error *err)
{
    uint64_t number, count;
    int used = 0;
    if (sscanf(end, ".shard-%" SCNu64 "-of-%" SCNu64 "%n", &number, &count, &used) != 2 ||
        number >= count || count > SHARD_MAX)
        return true;
    const char *rest = end + used, *dot = strrchr(rest, '.');
    bool part = dot && !strcmp(dot, ".part");
    if (*rest && !part) return true;
    if (!f->count && !shard_files_make(f, count, err)) return false;
    if (f->count != count)
        return error_at(err, BASE_STATE, 0, "there are shards of %" PRIu64 " and of %" PRIu64,
                        f->count, count);
    if (!part) {
        f->states[number] = SHARD_DONE;
        return true;
    }
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return true;
    if (f->states[number] == SHARD_MISSING) f->states[number] = SHARD_STARTED;
    if (f->started[number] && shard_file_size(path) <= shard_file_size(f->started[number]))
        return true;
    free(f->started[number]);
    f->started[number] = strdup(path);
    return true;
}

bool shard_files_find(const char *results, uint64_t planned, struct shard_files *out,
                      penta_error *err)
{
    char *copy = strdup(results), *copy2 = strdup(results);
    const char *folder = copy ? dirname(copy) : "", *base = copy2 ? basename(copy2) : "";
    bool ok = copy && copy2;
    *out = (struct shard_files){0};
    if (!ok) error_at(err, BASE_MEMORY, 0, "no memory for shards");
    if (ok && planned) ok = shard_files_make(out, planned, err);
    DIR *d = ok ? opendir(folder) : NULL;
    if (ok && !d)
        ok = error_at(err, BASE_IO, 0, "cannot read the folder '%.60s': %s", folder,
                      strerror(errno));
    size_t size = strlen(base);
    for (struct dirent *e; ok && (e = readdir(d));)
        if (!strncmp(e->d_name, base, size))
            ok = shard_files_add(out, folder, e->d_name, e->d_name + size, err);
    if (d) closedir(d);
    free(copy);
    free(copy2);
    if (!ok) shard_files_free(out);
    return ok;
}
