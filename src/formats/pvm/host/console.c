/* The console (PVM 17) answers what a C program asks of its operating system, as the host calls
 * of console.def.
 *
 * Arguments are in a0 to a3 and results in a0; negative results are errors (pvm/host/files.h).
 * Descriptors 0 to 2 are standard input, output and errors. Unless options ask for the host's
 * own, every run is the same: random numbers follow from a seed, and the clock starts in the
 * year 2000 and moves by a millisecond when it is read, and by what the program sleeps. */
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
#include "pvm/host/files.h"
#include "pvm/host/host.h"

enum { PIECE = 1 << 20, SLEEP_MAX = 1000 * 1000 * 1000 };
static const uint64_t second = 1000 * 1000 * 1000, year_2000 = 946684800;

struct pvm_console {
    struct pvm_files *files;
    int input; /* the descriptor of standard input; 0 is the host's own, which is not closed */
    struct writer arguments, environment;
    bool real_clock, real_random;
    uint64_t random;  /* the state of the generator of random numbers */
    uint64_t elapsed; /* how many nanoseconds have passed on the virtual clock */
    uint64_t start;   /* the time of the host's real clock at the start */
};

struct call {
    struct pvm_console *c;
    struct pvm_vm *vm;
    const uint64_t *a;
    struct answer *out;
};

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

/* Allocates bytes for the host. A lack of the host's memory is no error of the program, so the
 * call gets no answer then. */
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

static int64_t call_write(struct call *q)
{
    uint64_t size = console_piece(q, 2);
    int64_t fd = console_word(q, 0), done = (int64_t)size;
    uint8_t *bytes = console_fetch(q, q->a[1], size);
    if (!bytes) return -PVM_EFAULT;
    if (fd == 1 || fd == 2)
        writer_bytes(fd == 1 ? &q->out->output : &q->out->errors, bytes, (size_t)size);
    else
        done = pvm_files_write(q->c->files, fd, (penta_bytes){bytes, (size_t)size});
    free(bytes);
    return done;
}

static int64_t call_read(struct call *q)
{
    uint64_t size = console_piece(q, 2);
    int64_t fd = console_word(q, 0), done;
    if (!console_writable(q, q->a[1], size)) return -PVM_EFAULT;
    uint8_t *bytes = bytes_for(q, size);
    if (!bytes) return -PVM_EIO;
    if (fd == 0) {
        done = read(q->c->input, bytes, (size_t)size);
        if (done < 0) done = errno == EINTR ? -PVM_EINTR : -PVM_EIO;
    } else {
        done = pvm_files_read(q->c->files, fd, bytes, (size_t)size);
    }
    if (done > 0) console_store(q, q->a[1], bytes, (size_t)done);
    free(bytes);
    return done;
}

static int64_t call_seek(struct call *q)
{
    return pvm_files_seek(q->c->files, console_word(q, 0), console_word(q, 1), q->a[2]);
}

/* Fetches the path whose address and size are arguments i and i + 1, and calls a function with
 * it. */
static int64_t path_call(struct call *q, unsigned i,
                         int64_t (*act)(struct call *q, penta_bytes path))
{
    uint8_t *path = console_fetch(q, q->a[i], q->a[i + 1]);
    if (!path) return -PVM_EFAULT;
    int64_t result = act(q, (penta_bytes){path, (size_t)q->a[i + 1]});
    free(path);
    return result;
}

static int64_t path_open(struct call *q, penta_bytes path)
{
    return pvm_files_open(q->c->files, path, q->a[2] > UINT16_MAX ? 0 : (unsigned)q->a[2]);
}
static int64_t path_remove(struct call *q, penta_bytes path)
{
    return pvm_files_remove(q->c->files, path, false);
}
static int64_t path_remove_folder(struct call *q, penta_bytes path)
{
    return pvm_files_remove(q->c->files, path, true);
}
static int64_t path_make_folder(struct call *q, penta_bytes path)
{
    return pvm_files_make_folder(q->c->files, path);
}

static int64_t call_open(struct call *q) { return path_call(q, 0, path_open); }
static int64_t call_remove(struct call *q) { return path_call(q, 0, path_remove); }
static int64_t call_remove_folder(struct call *q) { return path_call(q, 0, path_remove_folder); }
static int64_t call_make_folder(struct call *q) { return path_call(q, 0, path_make_folder); }
static int64_t call_close(struct call *q)
{
    int64_t fd = console_word(q, 0);
    return fd >= 0 && fd <= 2 ? 0 : pvm_files_close(q->c->files, fd);
}
static int64_t call_sync(struct call *q) { return pvm_files_sync(q->c->files, console_word(q, 0)); }

static int64_t call_rename(struct call *q)
{
    uint8_t *from = console_fetch(q, q->a[0], q->a[1]), *to = console_fetch(q, q->a[2], q->a[3]);
    int64_t error = -PVM_EFAULT;
    if (from && to)
        error = pvm_files_rename(q->c->files, (penta_bytes){from, (size_t)q->a[1]},
                                 (penta_bytes){to, (size_t)q->a[3]});
    free(from);
    free(to);
    return error;
}

static int64_t call_truncate(struct call *q)
{
    uint8_t *size = console_fetch(q, q->a[1], 8);
    int64_t error =
        size ? pvm_files_truncate(q->c->files, console_word(q, 0), bytes_get64(size)) : -PVM_EFAULT;
    free(size);
    return error;
}

/* Stores what is known of a file. Its times are the host's own only with the host's clock. */
static int64_t stat_store(struct call *q, int64_t error, unsigned i, const struct pvm_file_stat *s)
{
    uint8_t bytes[PVM_STAT_BYTES];
    if (error) return error;
    if (!console_writable(q, q->a[i], sizeof bytes)) return -PVM_EFAULT;
    bytes_put64(bytes, s->number);
    bytes_put64(bytes + 8, s->size);
    bytes_put64(bytes + 16, q->c->real_clock ? s->modified : year_2000 * second);
    bytes_put32(bytes + 24, s->mode);
    bytes_put32(bytes + 28, s->folder);
    console_store(q, q->a[i], bytes, sizeof bytes);
    return 0;
}

static int64_t path_stat(struct call *q, penta_bytes path)
{
    struct pvm_file_stat status;
    return stat_store(q, pvm_files_stat(q->c->files, path, &status), 2, &status);
}
static int64_t call_stat(struct call *q) { return path_call(q, 0, path_stat); }

static int64_t call_fstat(struct call *q)
{
    struct pvm_file_stat status;
    return stat_store(q, pvm_files_fstat(q->c->files, console_word(q, 0), &status), 1, &status);
}

static int64_t call_entries(struct call *q)
{
    uint64_t size = console_piece(q, 2);
    if (!console_writable(q, q->a[1], size)) return -PVM_EFAULT;
    uint8_t *bytes = bytes_for(q, size);
    if (!bytes) return -PVM_EIO;
    int64_t done = pvm_files_entries(q->c->files, console_word(q, 0), bytes, (size_t)size);
    if (done > 0) console_store(q, q->a[1], bytes, (size_t)done);
    free(bytes);
    return done;
}

static int64_t words_store(struct call *q, const struct writer *words)
{
    penta_bytes all = writer_view(words);
    size_t size = q->a[1] < all.size ? (size_t)q->a[1] : all.size;
    if (!console_writable(q, q->a[0], size)) return -PVM_EFAULT;
    console_store(q, q->a[0], all.data, size);
    return (int64_t)all.size;
}

static int64_t call_arguments(struct call *q) { return words_store(q, &q->c->arguments); }
static int64_t call_environment(struct call *q) { return words_store(q, &q->c->environment); }

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
    if (!c->real_clock)
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
    if (!q->c->real_clock)
        q->c->elapsed += micro * 1000;
    else if (nanosleep(&t, NULL))
        return -PVM_EINTR;
    return 0;
}

static uint64_t next_random(struct pvm_console *c) /* The generator is splitmix64. */
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
        if (!q->c->real_random)
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
    return console_word(q, 0); /* The exit code is in a0, as if main had returned it. */
}

static const struct {
    const char *name;
    int64_t (*serve)(struct call *q);
} calls[] = {
#define CONSOLE_CALL(number, name, arguments, result) [number] = {"console_" #name, call_##name},
#include "pvm/host/console.def"
#undef CONSOLE_CALL
};
enum { CALLS = sizeof calls / sizeof *calls };

/* Returns the number of the import with this name, or -1 when there is none. */
static int console_find(penta_bytes name)
{
    for (size_t i = 0; i < CALLS; i++)
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
    /* A program that names no imports calls by the numbers of console.def. */
    int at = console_find(pvm_import_name(vm->module, stop->detail));
    if (!pvm_module(vm->module)->program.import_count && stop->detail < CALLS)
        at = (int)stop->detail;
    if (at < 0) return false;
    struct call q = {c, pvm_vm(vm), stop->args, out};
    out->results[0] = (uint64_t)calls[at].serve(&q);
    out->count = 1;
    return true;
}

static bool console_options(struct pvm_console *c, const penta_option *options, size_t count,
                            penta_error *err)
{
    const char *input = option_text(options, count, "stdin");
    c->real_clock = option_is(options, count, "clock", "real");
    c->real_random = option_is(options, count, "random", "real");
    c->random = option_number(options, count, "seed", 0);
    if (c->real_random && option_given(options, count, "seed"))
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'seed': not with real random numbers");
    writer_bytes(&c->arguments, "program", 8);
    for (size_t i = 0; i < count; i++) {
        const char *key = options[i].key, *value = options[i].value;
        if (!strcmp(key, "argv")) writer_bytes(&c->arguments, value, strlen(value) + 1);
        if (!strcmp(key, "env")) writer_bytes(&c->environment, value, strlen(value) + 1);
    }
    if (!writer_ok(&c->arguments, err) || !writer_ok(&c->environment, err)) return false;
    c->files = pvm_files_new(options, count, err);
    if (!c->files) return false;
    if (input) c->input = open(input, O_RDONLY | O_CLOEXEC);
    if (c->input < 0)
        return error_at(err, BASE_IO, 0, "stdin: '%.80s': %s", input, strerror(errno));
    return true;
}

struct pvm_console *pvm_console_new(const penta_option *options, size_t count, penta_error *err)
{
    struct pvm_console *c = zeros_new(sizeof *c, "the console", err);
    if (!c) return NULL;
    c->start = host_clock(CLOCK_MONOTONIC);
    if (console_options(c, options, count, err)) return c;
    pvm_console_free(c);
    return NULL;
}

struct pvm_files *pvm_console_files(struct pvm_console *c) { return c->files; }

void pvm_console_free(struct pvm_console *c)
{
    if (!c) return;
    pvm_files_free(c->files);
    if (c->input > 0) close(c->input);
    writer_free(&c->arguments);
    writer_free(&c->environment);
    free(c);
}
