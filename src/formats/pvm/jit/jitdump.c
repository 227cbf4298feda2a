/* Writes compiled code for `perf inject --jit`: names, machine code and source lines, in version 1
 * of perf's jitdump format.
 *
 *   file       header record*                    numbers in the byte order of the host
 *   header     magic version size machine pad pid u64:time u64:flags           u32 unless said
 *   record     kind size u64:time
 *     0 load   pid tid u64:address u64:address u64:size u64:index name 0 code
 *     2 lines  u64:address u64:count (u64:address line discriminator file 0)*  before its load
 *
 * perf finds the file by an executable mapping of it, which perf sees while it records. Times are
 * those of the monotonic clock, so perf must run as `perf record -k mono`. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/writer.h"
#include "pvm/format/debug_info.h"
#include "pvm/jit/jit.h"
#include "pvm/jit/tools.h"

enum { MAGIC = 0x4a695444, VERSION = 1, HEADER = 40, MACHINE_X86_64 = 62, LOAD = 0, LINES = 2 };

struct dump {
    struct writer out;
    const struct pvm_native *native;
    const struct pvm_program *program;
    uint64_t *index; /* the index of the next piece of code, counted through the whole file */
    /* This is how many steps of line programs may still be made, since a file can name one
     * program many times. */
    uint64_t line_budget;
};

static uint64_t jitdump_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static size_t jitdump_begin(struct dump *d, uint32_t kind)
{
    size_t at = d->out.out.size;
    writer_uint(&d->out, kind, 4);
    writer_uint(&d->out, 0, 4);
    writer_uint(&d->out, jitdump_now(), 8);
    return at;
}

static void jitdump_end(struct dump *d, size_t at)
{
    writer_patch(&d->out, at + 4, d->out.out.size - at, 4);
}

static uint64_t jitdump_address(const struct dump *d, uint32_t offset)
{
    return (uint64_t)(uintptr_t)(d->native->code + offset);
}

/* Writes a string. A zero byte inside would end the string early, so control characters become
 * '?'. */
static void jitdump_string(struct dump *d, penta_bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        writer_char(&d->out, text.data[i] < ' ' ? '?' : (char)text.data[i]);
}

/* Writes the source lines of a function: the innermost frame of each region whose first
 * instruction has code of its own. */
static void jitdump_lines(struct dump *d, const struct pvm_function *f)
{
    struct pvm_debug_lines l;
    uint64_t count = 0;
    if (f->range == SIZE_MAX) return;
    pvm_debug_start(d->program, f->range, &l);
    size_t start = d->out.out.size, at = jitdump_begin(d, LINES);
    writer_uint(&d->out, jitdump_address(d, f->from), 8);
    writer_uint(&d->out, 0, 8);
    while (d->line_budget && pvm_debug_next(&l) && l.from < f->end) {
        d->line_budget--;
        unsigned depth = l.depth < PVM_DEBUG_FRAMES ? l.depth : PVM_DEBUG_FRAMES;
        const struct pvm_debug_frame *frame = depth ? &l.frames[depth - 1] : NULL;
        penta_bytes path = pvm_debug_string(d->program, frame ? frame->path : 0);
        uint32_t native = l.from < d->native->size ? pvm_native_offset(d->native, l.from) : 0;
        if (!native || native < f->from || native >= f->to || !path.size || !frame->line) continue;
        writer_uint(&d->out, jitdump_address(d, native), 8);
        writer_uint(&d->out, frame->line, 4);
        writer_uint(&d->out, 0, 4);
        jitdump_string(d, path);
        writer_char(&d->out, 0);
        count++;
    }
    writer_patch(&d->out, at + 24, count, 8);
    jitdump_end(d, at);
    if (!count) d->out.out.size = start;
}

static void jitdump_load(void *user, const struct pvm_function *f)
{
    struct dump *d = user;
    jitdump_lines(d, f);
    size_t at = jitdump_begin(d, LOAD);
    writer_uint(&d->out, (uint32_t)getpid(), 4);
    writer_uint(&d->out, (uint32_t)syscall(SYS_gettid), 4);
    writer_uint(&d->out, jitdump_address(d, f->from), 8);
    writer_uint(&d->out, jitdump_address(d, f->from), 8);
    writer_uint(&d->out, f->to - f->from, 8);
    writer_uint(&d->out, (*d->index)++, 8);
    writer_text(&d->out, "guest ");
    jitdump_string(d, f->space);
    if (f->space.size) writer_text(&d->out, "::");
    jitdump_string(d, f->name);
    writer_char(&d->out, 0);
    writer_bytes(&d->out, d->native->code + f->from, f->to - f->from);
    jitdump_end(d, at);
}

static void jitdump_header(struct writer *out)
{
    writer_uint(out, MAGIC, 4);
    writer_uint(out, VERSION, 4);
    writer_uint(out, HEADER, 4);
    writer_uint(out, MACHINE_X86_64, 4);
    writer_uint(out, 0, 4);
    writer_uint(out, (uint32_t)getpid(), 4);
    writer_uint(out, jitdump_now(), 8);
    writer_uint(out, 0, 8);
}

static bool dump_write_all(int file, penta_bytes bytes)
{
    for (size_t done = 0; done < bytes.size;) {
        ssize_t some = write(file, bytes.data + done, bytes.size - done);
        if (some <= 0) return false;
        done += (size_t)some;
    }
    return true;
}

/* Maps the file, which marks it for perf. The mapping stays until the process ends, because perf
 * may look for it at any time. */
static bool jitdump_mark(int file)
{
    return mmap(NULL, PVM_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED;
}

bool pvm_perf_dump(const struct pvm_native *n, const struct pvm_program *p, const char *folder)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char last[512]; /* the path of the file that this process has begun */
    static uint64_t index;
    char path[sizeof last];
    struct dump d = {.native = n,
                     .program = p,
                     .index = &index,
                     .line_budget = 64 + 4 * (uint64_t)p->debug_lines.size};
    if (snprintf(path, sizeof path, "%s/jit-%d.dump", folder, (int)getpid()) >= (int)sizeof path)
        return false;
    pthread_mutex_lock(&lock);
    bool first = strcmp(path, last) != 0;
    int file = pvm_perf_file(path, first);
    bool ok = file >= 0;
    if (ok && first) {
        jitdump_header(&d.out);
        index = 0;
    }
    ok = ok && pvm_functions_each(n, p, jitdump_load, &d) && !d.out.failed &&
         dump_write_all(file, writer_view(&d.out));
    if (ok && first) {
        ok = jitdump_mark(file);
        memcpy(last, path, sizeof last);
    }
    if (file >= 0) close(file);
    pthread_mutex_unlock(&lock);
    writer_free(&d.out);
    return ok;
}
