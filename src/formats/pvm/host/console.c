/* The console (PVM 17) answers what a C program asks of its operating system, as host calls:
 *
 *     console_write(fd, address, size)            bytes written, at most 1 MiB at a time
 *     console_read(fd, address, size)             bytes read, 0 at the end
 *     console_open(path, size, flags)             a descriptor; flags: pvm/host/files.h
 *     console_close(fd)
 *     console_seek(fd, offset, whence)            0 from the start, 1 from here, 2 from the end
 *     console_remove(path, size)
 *     console_rename(from, size, to, size)
 *     console_arguments(address, size)            their size; as many bytes as fit are stored,
 *                                                 each argument with a zero after it
 *     console_clock(which, address)               nanoseconds as u64: 0 since 1970, 1 since start
 *     console_sleep(microseconds)
 *     console_random(address, size)
 *     console_exit(code)                          does not return
 *
 * Arguments are in a0 to a3 and results in a0; negative results are errors (pvm/host/files.h). Descriptors 0
 * to 2 are standard input, output and errors. With a seed every run is the same: random numbers
 * follow from the seed, and the clock starts in the year 2000 and moves by a millisecond when it is
 * read, and by what the program sleeps. */
#include "pvm/host/console.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "pvm/host/host.h"
#include "pvm/host/files.h"

enum { OPEN_MAX = 64, FIRST = 3, PIECE = 1 << 20, SLEEP_MAX = 1000 * 1000 * 1000 };
static const uint64_t second = 1000 * 1000 * 1000, year_2000 = 946684800;

struct pvm_console {
    int root;  /* folder of the program's files, or -1 */
    int input; /* standard input; 0 is the host's own and not closed */
    /* -1: the place is free; else the file of the program's descriptor FIRST + i. */
    int files[OPEN_MAX];
    struct writer arguments;
    bool seeded;
    uint64_t random;  /* state of the generator */
    uint64_t elapsed; /* with a seed: nanoseconds since the start */
    uint64_t start;   /* without a seed: the host's clock at the start */
};

struct call {
    struct pvm_console *c;
    struct pvm_vm *vm;
    const uint64_t *a;
    struct answer *out;
};

/* ---- memory of the guest ---- */

static int64_t console_word(const struct call *q, unsigned i)
{
    return q->vm->w32 ? (int32_t)q->a[i] : (int64_t)q->a[i];
}

/* Tells whether the guest itself could store to this range. */
static bool console_writable(const struct call *q, uint64_t address, uint64_t size)
{
    const uint64_t end = (uint32_t)address + size;
    if (end > UINT64_C(1) << 32) return false;
    for (uint64_t page = (uint32_t)address / PVM_PAGE; page * PVM_PAGE < end; page++)
        if (!(q->vm->memory.rights[page] & PVM_WRITABLE)) return false;
    return true;
}

static void console_store(const struct call *q, uint64_t address, const void *bytes, size_t size)
{
    answer_poke(q->out, (uint32_t)address, (penta_bytes){bytes, size});
}

/* Allocates bytes for the host. A lack of the host's memory is no error of the program, so then
 * the call gets no answer. */
static uint8_t *bytes_for(const struct call *q, uint64_t size)
{
    uint8_t *bytes = malloc((size_t)size + 8);
    if (!bytes) q->out->pokes.failed = true;
    return bytes;
}

/* Returns a copy of bytes of the guest, which the caller frees, or NULL when they are not
 * mapped. */
static uint8_t *console_fetch(const struct call *q, uint64_t address, uint64_t size)
{
    uint8_t *bytes = size <= PIECE ? bytes_for(q, size) : NULL;
    if (bytes && q->vm->base.engine->peek(&q->vm->base, (uint32_t)address, bytes, (size_t)size))
        return bytes;
    free(bytes);
    return NULL;
}

static uint64_t console_piece(const struct call *q, unsigned i)
{
    return q->a[i] < PIECE ? q->a[i] : PIECE;
}

/* ---- reading and writing ---- */

static int *console_descriptor(const struct call *q)
{
    int64_t fd = console_word(q, 0) - FIRST;
    return fd >= 0 && fd < OPEN_MAX && q->c->files[fd] >= 0 ? &q->c->files[fd] : NULL;
}

static int64_t call_write(struct call *q)
{
    uint64_t size = console_piece(q, 2);
    int64_t fd = console_word(q, 0), done = (int64_t)size;
    int *file = console_descriptor(q);
    if (!file && fd != 1 && fd != 2) return -PVM_EBADF;
    uint8_t *bytes = console_fetch(q, q->a[1], size);
    if (!bytes) return -PVM_EFAULT;
    if (file)
        done = write(*file, bytes, (size_t)size);
    else
        writer_bytes(fd == 1 ? &q->out->output : &q->out->errors, bytes, (size_t)size);
    if (done < 0) done = pvm_file_error(errno);
    free(bytes);
    return done;
}

static int64_t call_read(struct call *q)
{
    uint64_t size = console_piece(q, 2);
    int *file = console_descriptor(q);
    if (!file && console_word(q, 0) != 0) return -PVM_EBADF;
    if (!console_writable(q, q->a[1], size)) return -PVM_EFAULT;
    uint8_t *bytes = bytes_for(q, size);
    if (!bytes) return -PVM_EIO;
    int64_t done = read(file ? *file : q->c->input, bytes, (size_t)size);
    if (done < 0)
        done = pvm_file_error(errno);
    else
        console_store(q, q->a[1], bytes, (size_t)done);
    free(bytes);
    return done;
}

static int64_t call_seek(struct call *q)
{
    static const int how[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    int *file = console_descriptor(q);
    if (!file) return -PVM_EBADF;
    if (q->a[2] > 2) return -PVM_EINVAL;
    off_t at = lseek(*file, (off_t)console_word(q, 1), how[q->a[2]]);
    return at < 0 ? pvm_file_error(errno) : (int64_t)at;
}

/* ---- files ---- */

static int64_t call_open(struct call *q)
{
    int *file = q->c->files, *end = file + OPEN_MAX;
    while (file < end && *file >= 0) file++;
    if (file == end) return -PVM_EMFILE;
    uint8_t *path = console_fetch(q, q->a[0], q->a[1]);
    if (!path) return -PVM_EFAULT;
    int fd = pvm_file_open(q->c->root, (penta_bytes){path, (size_t)q->a[1]},
                           q->a[2] > UINT16_MAX ? 0 : (unsigned)q->a[2]);
    free(path);
    if (fd < 0) return fd;
    *file = fd;
    return FIRST + (file - q->c->files);
}

static int64_t call_close(struct call *q)
{
    int *file = console_descriptor(q);
    if (!file) return -PVM_EBADF;
    int failed = close(*file);
    *file = -1;
    return failed ? pvm_file_error(errno) : 0;
}

static int64_t call_remove(struct call *q)
{
    uint8_t *path = console_fetch(q, q->a[0], q->a[1]);
    if (!path) return -PVM_EFAULT;
    int error = pvm_file_remove(q->c->root, (penta_bytes){path, (size_t)q->a[1]});
    free(path);
    return error;
}

static int64_t call_rename(struct call *q)
{
    uint8_t *from = console_fetch(q, q->a[0], q->a[1]), *to = console_fetch(q, q->a[2], q->a[3]);
    int error = -PVM_EFAULT;
    if (from && to)
        error = pvm_file_rename(q->c->root, (penta_bytes){from, (size_t)q->a[1]},
                                (penta_bytes){to, (size_t)q->a[3]});
    free(from);
    free(to);
    return error;
}

/* ---- arguments, time, random numbers, exit ---- */

static int64_t call_arguments(struct call *q)
{
    penta_bytes all = writer_view(&q->c->arguments);
    size_t size = q->a[1] < all.size ? (size_t)q->a[1] : all.size;
    if (!console_writable(q, q->a[0], size)) return -PVM_EFAULT;
    console_store(q, q->a[0], all.data, size);
    return (int64_t)all.size;
}

static uint64_t host_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec;
}

static int64_t call_clock(struct call *q)
{
    struct pvm_console *c = q->c;
    uint8_t bytes[8];
    if (q->a[0] > 1) return -PVM_EINVAL;
    if (!console_writable(q, q->a[1], sizeof bytes)) return -PVM_EFAULT;
    bool since_1970 = q->a[0] == 0;
    uint64_t now;
    if (c->seeded)
        now = (c->elapsed += second / 1000) + (since_1970 ? year_2000 * second : 0);
    else
        now = since_1970 ? host_clock(CLOCK_REALTIME) : host_clock(CLOCK_MONOTONIC) - c->start;
    bytes_put64(bytes, now);
    console_store(q, q->a[1], bytes, sizeof bytes);
    return 0;
}

static int64_t call_sleep(struct call *q)
{
    uint64_t micro = q->a[0] < SLEEP_MAX ? q->a[0] : SLEEP_MAX;
    struct timespec t = {(time_t)(micro / 1000000), (long)(micro % 1000000 * 1000)};
    if (q->c->seeded)
        q->c->elapsed += micro * 1000;
    else if (nanosleep(&t, NULL))
        return -PVM_EINTR;
    return 0;
}

static uint64_t next_random(struct pvm_console *c) /* splitmix64 */
{
    uint64_t z = c->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t call_random(struct call *q)
{
    uint64_t size = console_piece(q, 1);
    if (!console_writable(q, q->a[0], size)) return -PVM_EFAULT;
    uint8_t *bytes = bytes_for(q, size);
    if (!bytes) return -PVM_EIO;
    for (size_t at = 0; at < size; at += 8) {
        if (q->c->seeded)
            bytes_put64(bytes + at, next_random(q->c));
        else if (getentropy(bytes + at, 8))
            size = 0;
    }
    console_store(q, q->a[0], bytes, (size_t)size);
    free(bytes);
    return size ? (int64_t)size : -PVM_EIO;
}

static int64_t call_exit(struct call *q)
{
    q->out->end = CALL_ENDS;
    return console_word(q, 0); /* the code is in a0, as if main had returned it */
}

/* ---- the host ---- */

static const struct {
    const char *name;
    int64_t (*serve)(struct call *q);
} calls[] = {
    {"console_write", call_write},   {"console_read", call_read},
    {"console_open", call_open},     {"console_close", call_close},
    {"console_seek", call_seek},     {"console_remove", call_remove},
    {"console_rename", call_rename}, {"console_arguments", call_arguments},
    {"console_clock", call_clock},   {"console_sleep", call_sleep},
    {"console_random", call_random}, {"console_exit", call_exit},
};

/* Returns the number of the import with this name, or -1 when there is none. */
static int console_find(penta_bytes name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == name.size && !memcmp(calls[i].name, name.data, name.size))
            return (int)i;
    return -1;
}

bool pvm_console_serves(const penta_module *module)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    for (uint32_t i = 0; i < p->import_count; i++)
        if (console_find(pvm_import_name(module, i)) >= 0) return true;
    return false;
}

bool pvm_console_answer(struct pvm_console *c, penta_vm *vm, const penta_stop *stop,
                        struct answer *out)
{
    int at = console_find(pvm_import_name(vm->module, stop->detail));
    if (at < 0) return false;
    struct call q = {c, pvm_vm(vm), stop->args, out};
    out->results[0] = (uint64_t)calls[at].serve(&q);
    out->count = 1;
    return true;
}

static bool open_files(struct pvm_console *c, const penta_option *options, size_t count,
                       penta_error *err)
{
    const char *folder = option_text(options, count, "files");
    const char *input = option_text(options, count, "stdin");
    if (folder) c->root = pvm_folder_open(folder);
    if (folder && c->root < 0)
        return error_at(err, BASE_IO, 0, "files: '%.80s': %s", folder, strerror(errno));
    if (input) c->input = open(input, O_RDONLY | O_CLOEXEC);
    if (c->input < 0)
        return error_at(err, BASE_IO, 0, "stdin: '%.80s': %s", input, strerror(errno));
    return true;
}

struct pvm_console *pvm_console_new(const penta_option *options, size_t count, penta_error *err)
{
    struct pvm_console *c = zeros_new(sizeof *c, "the console", err);
    if (!c) return NULL;
    c->root = -1;
    for (size_t i = 0; i < OPEN_MAX; i++) c->files[i] = -1;
    c->seeded = option_text(options, count, "seed") != NULL;
    c->start = host_clock(CLOCK_MONOTONIC);
    writer_bytes(&c->arguments, "program", 8);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(options[i].key, "argv"))
            writer_bytes(&c->arguments, options[i].value, strlen(options[i].value) + 1);
    if (option_uint(options, count, "seed", &c->random, err) && writer_ok(&c->arguments, err) &&
        open_files(c, options, count, err))
        return c;
    pvm_console_free(c);
    return NULL;
}

void pvm_console_free(struct pvm_console *c)
{
    if (!c) return;
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (c->files[i] >= 0) close(c->files[i]);
    if (c->root >= 0) close(c->root);
    if (c->input > 0) close(c->input);
    writer_free(&c->arguments);
    free(c);
}
