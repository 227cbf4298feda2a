/* penta dap: the adapter on standard input and output, or for one client over TCP. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/file/file.h"
#include "cli/cli.h"
#include "cli/dap/dap.h"
#include "cli/server/server.h"
#include "cli/terminal/terminal.h"

struct wire {
    int in, out;
    struct server server; /* of TCP */
};

static size_t wire_read(void *user, void *into, size_t size)
{
    return server_read(((const struct wire *)user)->in, into, size);
}

static bool wire_write(void *user, penta_bytes bytes)
{
    return server_write(((const struct wire *)user)->out, bytes);
}

static bool wire_pending(void *user) { return server_pending(((const struct wire *)user)->in); }

static bool wire_file(void *user, const char *path, penta_buffer *out, penta_error *err)
{
    enum { LARGEST = 1 << 30 };
    (void)user;
    return file_read(path, LARGEST, out, err);
}

static bool wire_knows(void *user, penta_bytes token)
{
    return server_knows(&((const struct wire *)user)->server, token);
}

/* ---- while the machine runs: looks now and then whether the client has sent something ---- */

static penta_vm *volatile running_vm;
static volatile int running_fd;

static void on_tick(int number)
{
    struct pollfd p = {.fd = running_fd, .events = POLLIN};
    (void)number;
    if (running_vm && poll(&p, 1, 0) > 0) penta_vm_interrupt(running_vm);
}

static void wire_running(void *user, penta_vm *vm)
{
    enum { EVERY = 20000 }; /* microseconds */
    struct itimerval timer = {.it_interval = {0, vm ? EVERY : 0}, .it_value = {0, vm ? EVERY : 0}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    running_fd = ((const struct wire *)user)->in;
    running_vm = vm;
    if (vm) sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- the command ---- */

static bool take_client(struct cli *c, struct wire *w)
{
    penta_error err = {0};
    if (!server_open(&w->server, c->value[OPT_LISTEN], &err)) {
        cli_error(c, NULL, &err);
        return false;
    }
    writer_print(&c->out, "listening on %s token %s\n", w->server.address, w->server.token);
    cli_flush(c);
    if (!server_accept(&w->server, &err)) {
        cli_error(c, NULL, &err);
        return false;
    }
    w->in = w->out = w->server.client;
    return true;
}

void command_DAP(struct cli *c)
{
    struct wire w = {.in = -1, .out = -1, .server = {.listener = -1, .client = -1}};
    bool tcp = c->value[OPT_LISTEN];
    struct dap_io io = {.user = &w,
                        .read = wire_read,
                        .pending = wire_pending,
                        .write = wire_write,
                        .file = wire_file,
                        .knows = tcp ? wire_knows : NULL,
                        .running = wire_running,
                        .steps_max = UINT64_MAX};
    penta_error err = {0};
    signal(SIGPIPE, SIG_IGN);
    if (tcp ? take_client(c, &w) : terminal_give_up(&w.in, &w.out)) {
        if (!dap_serve(&io)) {
            error_at(&err, BASE_JSON, 0, "the client sent something that is no message");
            cli_error(c, NULL, &err);
        }
    } else if (!tcp) {
        error_at(&err, BASE_IO, 0, "standard input and output cannot be used");
        cli_error(c, NULL, &err);
    }
    if (!tcp) terminal_take_back(w.in, w.out);
    server_close(&w.server);
}
