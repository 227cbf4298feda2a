/* Runs vectors on another implementation, with one process for each case and one line for each
 * request and reply. docs/conform-protocol.md describes the lines. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/number.h"
#include "conform/pvm_runner.h"

enum { PATIENCE_MS = 30000 };

struct remote {
    pid_t pid;
    int fd;
    struct writer request, reply;
};

static bool pvm_exec_gone(penta_error *err, const char *what)
{
    return error_at(err, BASE_HOST, 0, "the implementation %s", what);
}

/* Makes the error that the process has ended. The error is the same whether sending or receiving
 * failed, because which of them fails depends on when the process ended. */
static bool pvm_exec_ended(penta_error *err)
{
    return pvm_exec_gone(err, "ended without an answer");
}

static bool send_all(struct remote *r, penta_error *err)
{
    penta_bytes left = writer_view(&r->request);
    if (!writer_ok(&r->request, err)) return false;
    while (left.size) {
        ssize_t n = send(r->fd, left.data, left.size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return pvm_exec_ended(err);
        left.data += n;
        left.size -= (size_t)n;
    }
    r->request.out.size = 0;
    return true;
}

/* Reads the next line of the reply, without its newline, as a C string. */
static bool pvm_exec_receive(struct remote *r, penta_error *err)
{
    r->reply.out.size = 0;
    for (;;) {
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        int ready = poll(&p, 1, PATIENCE_MS);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return pvm_exec_gone(err, "does not answer");
        char c;
        ssize_t n = recv(r->fd, &c, 1, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return pvm_exec_ended(err);
        if (c == '\n') break;
        writer_char(&r->reply, c);
    }
    writer_char(&r->reply, 0);
    return writer_ok(&r->reply, err);
}

/* Sends the request and reads the reply, which is "ok", "ok VALUE..", "skip WHY" or "error WHY". */
static const char *pvm_exec_ask(struct remote *r, penta_error *err)
{
    writer_char(&r->request, '\n');
    if (!send_all(r, err) || !pvm_exec_receive(r, err)) return NULL;
    const char *text = (const char *)r->reply.out.data;
    if (!strncmp(text, "ok", 2) && (!text[2] || text[2] == ' '))
        return text[2] ? text + 3 : text + 2;
    if (!strncmp(text, "skip", 4) && (!text[4] || text[4] == ' '))
        error_at(err, BASE_UNSUPPORTED, 0, "%.100s", text[4] ? text + 5 : "without a reason");
    else
        error_at(err, BASE_HOST, 0, "the implementation answered '%.100s'", text);
    return NULL;
}

static bool pvm_exec_start(void *state, const struct pvm_case *c, penta_error *err)
{
    struct remote *r = state;
    writer_print(&r->request, "start %s %s %s %llu %llu ", c->isa, c->gas_model, c->profile,
                 (unsigned long long)c->pc, (unsigned long long)c->gas);
    writer_hex(&r->request, c->program);
    return pvm_exec_ask(r, err) != NULL;
}

static bool pvm_exec_map(void *state, uint64_t address, uint64_t length, bool writable,
                         penta_error *err)
{
    struct remote *r = state;
    writer_print(&r->request, "map %llu %llu %s", (unsigned long long)address,
                 (unsigned long long)length, writable ? "rw" : "ro");
    return pvm_exec_ask(r, err) != NULL;
}

static bool write_bytes(void *state, uint64_t address, penta_bytes bytes, penta_error *err)
{
    struct remote *r = state;
    writer_print(&r->request, "write %llu ", (unsigned long long)address);
    writer_hex(&r->request, bytes);
    return pvm_exec_ask(r, err) != NULL;
}

static bool set_reg(void *state, unsigned reg, uint64_t value, penta_error *err)
{
    struct remote *r = state;
    writer_print(&r->request, "reg %u %llu", reg, (unsigned long long)value);
    return pvm_exec_ask(r, err) != NULL;
}

static bool pvm_exec_number(const char **text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    bool ok = end != *text && !errno;
    *text = *end == ' ' ? end + 1 : end;
    return ok;
}

static bool pvm_exec_run(void *state, struct pvm_outcome_seen *out, penta_error *err)
{
    struct remote *r = state;
    writer_text(&r->request, "run");
    const char *text = pvm_exec_ask(r, err);
    if (!text) return false;
    *out = (struct pvm_outcome_seen){.pc = 0};
    size_t n = strcspn(text, " ");
    if (n >= sizeof out->status) return pvm_exec_gone(err, "answered an unknown status");
    memcpy(out->status, text, n);
    text += text[n] ? n + 1 : n;
    uint64_t extra = 0;
    bool ok = pvm_exec_number(&text, &out->gas) && pvm_exec_number(&text, &out->pc);
    for (unsigned i = 0; ok && i < 13; i++) ok = pvm_exec_number(&text, &out->regs[i]);
    if (ok && *text) ok = pvm_exec_number(&text, &extra);
    out->fault = out->host = extra;
    return ok || pvm_exec_gone(err, "answered run with too few numbers");
}

static bool read_bytes(void *state, uint64_t address, uint8_t *into, size_t size, penta_error *err)
{
    struct remote *r = state;
    writer_print(&r->request, "read %llu %zu", (unsigned long long)address, size);
    const char *text = pvm_exec_ask(r, err);
    if (!text) return false;
    size_t count = 0;
    uint8_t *bytes = hex_parse((penta_bytes){(const uint8_t *)text, strlen(text)}, &count, err);
    if (bytes && count == size) memcpy(into, bytes, size);
    bool ok = bytes && count == size;
    free(bytes);
    return ok || pvm_exec_gone(err, "answered read with other bytes");
}

static bool pvm_exec_cost(void *state, uint32_t pc, uint64_t *out, penta_error *err)
{
    struct remote *r = state;
    writer_print(&r->request, "cost %u", pc);
    const char *text = pvm_exec_ask(r, err);
    return text &&
           (pvm_exec_number(&text, out) || pvm_exec_gone(err, "answered cost without a number"));
}

static void close_remote(void *state)
{
    struct remote *r = state;
    close(r->fd);
    kill(r->pid, SIGTERM);
    while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    writer_free(&r->request);
    writer_free(&r->reply);
    free(r);
}

bool pvm_runner_exec(struct pvm_runner *out, const char *command, penta_error *err)
{
    int ends[2];
    struct remote *r = calloc(1, sizeof *r);
    if (!r || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
        free(r);
        return error_at(err, BASE_HOST, 0, "no connection to the implementation");
    }
    r->pid = fork();
    if (!r->pid) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    r->fd = ends[0];
    if (r->pid < 0) {
        close(r->fd);
        free(r);
        return error_at(err, BASE_HOST, 0, "cannot start the implementation");
    }
    *out = (struct pvm_runner){r,           pvm_exec_start, pvm_exec_map,
                               write_bytes, set_reg,        pvm_exec_run,
                               read_bytes,  pvm_exec_cost,  close_remote};
    return true;
}
