/* Writes the names of compiled functions for `perf report` to /tmp/perf-PID.map (PVM 21.8),
 * which perf reads by itself. Each line is "start size name". Functions are the ranges of the
 * debug sections where there are some; elsewhere they are the code between two exports. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "pvm/format/functions.h"
#include "pvm/jit/jit.h"
#include "pvm/jit/tools.h"

/* Returns the native offset of the first block at or after pc. */
static uint32_t block_native_start(const struct pvm_native *n, uint64_t pc)
{
    for (; pc <= n->size; pc++) {
        uint32_t at = pvm_native_offset(n, (uint32_t)pc);
        if (at) return at - (pvm_bit(n->block_starts, (uint32_t)pc) ? n->charge_size : 0);
    }
    return n->cold_start;
}

static void perf_map_other(uint32_t from, uint32_t to, const char *name, pvm_function_fn *fn,
                           void *user)
{
    struct pvm_function f = {.from = from, .to = to, .name = bytes_of(name), .range = SIZE_MAX};
    if (from < to) fn(user, &f);
}

bool pvm_functions_each(const struct pvm_native *n, const struct pvm_program *p,
                        pvm_function_fn *fn, void *user)
{
    size_t count = 0;
    struct pvm_named_code *functions = pvm_functions(p, &count);
    if (!functions) return false;
    uint32_t first = count ? block_native_start(n, functions[0].pc) : n->cold_start;
    perf_map_other(1, n->body, "entry and exits", fn, user);
    perf_map_other(n->body, first, "code", fn, user);
    for (size_t i = 0; i < count; i++) {
        struct pvm_function f = {.pc = functions[i].pc,
                                 .end = i + 1 < count ? functions[i + 1].pc : n->size,
                                 .space = functions[i].space,
                                 .name = functions[i].name,
                                 .range = functions[i].range};
        f.from = block_native_start(n, f.pc);
        f.to = i + 1 < count ? block_native_start(n, f.end) : n->cold_start;
        if (f.from < f.to) fn(user, &f);
    }
    perf_map_other(n->cold_start, n->used, "cold places", fn, user);
    free(functions);
    return true;
}

struct map {
    FILE *file;
    const uint8_t *code;
};

static void perf_map_text(FILE *f, penta_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++) fputc(bytes.data[i] < ' ' ? '?' : bytes.data[i], f);
}

static void perf_map_line(void *user, const struct pvm_function *f)
{
    struct map *map = user;
    fprintf(map->file, "%" PRIxPTR " %x guest ", (uintptr_t)(map->code + f->from),
            (unsigned)(f->to - f->from));
    perf_map_text(map->file, f->space);
    if (f->space.size) fputs("::", map->file);
    perf_map_text(map->file, f->name);
    fputc('\n', map->file);
}

/* Opens the file with care: its name can be guessed and everybody may write to the folder. So a
 * link or a file of another user could redirect what we write, and a pipe could block us. */
int pvm_perf_file(const char *path, bool first)
{
    struct stat st;
    int fd = open(
        path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    if (fd < 0) return fd;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
        (!first || !ftruncate(fd, 0)))
        return fd;
    close(fd);
    return -1;
}

void pvm_perf_map(const struct pvm_native *n, const struct pvm_program *p)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    int fd = pvm_perf_file(path, false);
    struct map map = {fd < 0 ? NULL : fdopen(fd, "a"), n->code};
    if (map.file) {
        pvm_functions_each(n, p, perf_map_line, &map);
        fclose(map.file);
    } else if (fd >= 0) {
        close(fd);
    }
}
