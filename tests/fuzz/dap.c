/* Sends any messages to the debug adapter, which must answer or end, and never crash. A line of
 * the input is the JSON of one message. An input that starts with '!' is what the client sends,
 * byte by byte. */
#include "fuzz.h"
#include "cli/dap/dap.h"

/* These programs end, whatever a client sets. The path in a message is the name of one of them. */
static const struct {
    const char *format, *text;
    penta_option option;
} programs[] = {
    {"coil",
     ".global main\n.func square\n    MUL v1, v1\n    RET\n.endfunc\n.func main\n    VAR %i, i32, "
     "1\n"
     "    VAR %f, fp64, 1.5\n    MOV v1, %i\n    CALL @square\n    ADD %i, 2\n    MOV v0, %i\n    "
     "RET\n.endfunc\n",
     {"debug-lines", "1"}},
    {"kblob",
     "WRITE64 0x10000, 0x11223344\nREAD64 0x10000\nSLEEP 5\nMEMSET 0x10000, 4\nHALT\n",
     {NULL, NULL}},
    {"pvm",
     "%isa = latest64\n%stack_size = 4096\n%import \"report\"\n%export \"main\" = @main\n%export "
     "\"leaf\" = @leaf\n"
     "@main:\nsp = sp - 16\nu64 [sp + 8] = ra\na0 = 3\nra = @back, jump @leaf\n@back:\necalli 0\n"
     "ra = u64 [sp + 8]\nsp = sp + 16\nret\n@leaf:\na0 = a0 + a0\nret\n",
     {NULL, NULL}},
    {"tvmr",
     ".registers\n    H0: i32[40]\n    H1: i32[40]\n.program\n    call double\n    halt\ndouble:\n"
     "    add H1, H0, H0\n    return\n",
     {"metadata", "1"}},
    {"cvbc", "PUSH 3\nSTORE_GLOBAL 0\nLOAD_GLOBAL 0\nMILLIS\nADD\nHALT\n", {NULL, NULL}},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static bool give_file(void *user, const char *path, penta_buffer *out, penta_error *err)
{
    static penta_module *modules[PROGRAMS];
    (void)user;
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (strcmp(path, programs[i].format)) continue;
        size_t size;
        if (!modules[i])
            modules[i] = penta_assemble(bytes_of(programs[i].text), path, &programs[i].option,
                                        programs[i].option.key != NULL, NULL, NULL);
        if (!modules[i]) check_failed(path, i, 0);
        const uint8_t *bytes = penta_module_bytes(modules[i], &size);
        penta_buffer_append(out, (penta_bytes){bytes, size});
        return true;
    }
    return error_at(err, BASE_IO, 0, "no such file");
}

struct feed {
    penta_buffer bytes;
    size_t at;
};

static size_t feed_read(void *user, void *into, size_t size)
{
    struct feed *f = user;
    size_t n = f->bytes.size - f->at < size ? f->bytes.size - f->at : size;
    if (n) memcpy(into, f->bytes.data + f->at, n);
    f->at += n;
    return n;
}

static bool feed_pending(void *user)
{
    const struct feed *f = user;
    return f->at < f->bytes.size;
}

/* Checks what the adapter sends: one message each time, with its length in the header. */
static bool feed_write(void *user, penta_bytes bytes)
{
    size_t length = 0;
    int header = 0;
    (void)user;
    char start[64] = "";
    memcpy(start, bytes.data, bytes.size < 63 ? bytes.size : 63);
    if (sscanf(start, "Content-Length: %zu\r\n\r\n%n", &length, &header) != 1)
        check_failed("no header", 0, 0);
    const uint8_t *body = memmem(bytes.data, bytes.size, "\r\n\r\n", 4);
    if (!body || (size_t)(bytes.data + bytes.size - body) != length + 4)
        check_failed("wrong length", length, bytes.size);
    return true;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct feed f = {0};
    struct dap_io io = {.user = &f,
                        .read = feed_read,
                        .pending = feed_pending,
                        .write = feed_write,
                        .file = give_file,
                        .steps_max = 5000};
    if (size && *data == '!') penta_buffer_append(&f.bytes, (penta_bytes){data + 1, size - 1});
    for (size_t at = 0; size && *data != '!' && at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        char header[48];
        int n = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", length);
        penta_buffer_append(&f.bytes, (penta_bytes){(const uint8_t *)header, (size_t)n});
        penta_buffer_append(&f.bytes, (penta_bytes){data + at, length});
        at += length + 1;
    }
    dap_serve(&io);
    penta_buffer_free(&f.bytes);
}
