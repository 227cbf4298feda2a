/* Implements the command dap: the adapter on standard input and output, or for one client over
 * TCP. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/file/file.h"
#include "cli/cli.h"
#include "cli/dap/dap.h"
#include "cli/server/server.h"
#include "cli/terminal/terminal.h"

struct wire {
    int in, out;
    const struct server *server; /* the server for TCP, or NULL */
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
    return server_knows(((const struct wire *)user)->server, token);
}

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
    enum { EVERY = 20000 }; /* the interval in microseconds */
    struct itimerval timer = {.it_interval = {0, vm ? EVERY : 0}, .it_value = {0, vm ? EVERY : 0}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    running_fd = ((const struct wire *)user)->in;
    running_vm = vm;
    if (vm) sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

struct guest {
    struct wire wire;
    struct dap_io io;
    struct dap *dap;
};

static struct dap_io io_of(struct wire *w, bool tcp)
{
    return (struct dap_io){.user = w,
                           .read = wire_read,
                           .pending = wire_pending,
                           .write = wire_write,
                           .file = wire_file,
                           .knows = tcp ? wire_knows : NULL,
                           .running = wire_running,
                           .steps_max = UINT64_MAX};
}

static void *guest_open(void *user, int fd)
{
    struct guest *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->wire = (struct wire){fd, fd, user};
    g->io = io_of(&g->wire, true);
    g->dap = dap_begin(&g->io);
    if (g->dap) return g;
    free(g);
    return NULL;
}

static enum guest_state guest_hear(void *guest, penta_bytes bytes)
{
    struct guest *g = guest;
    bool known = dap_hear(g->dap, bytes);
    return known ? GUEST_IS_CLIENT : g->dap->ended ? GUEST_LEAVES : GUEST_STAYS;
}

static void guest_close(void *guest)
{
    struct guest *g = guest;
    dap_end(g->dap);
    free(g);
}

static bool serve_tcp(struct cli *c, penta_error *err)
{
    struct server server;
    if (!server_open(&server, c->value[OPT_LISTEN], err)) return true;
    writer_print(&c->out, "listening on %s token %s\n", server.address, server.token);
    cli_flush(c);
    struct guest *client = server_choose(
        &server, &(struct server_guests){&server, guest_open, guest_hear, guest_close}, err);
    bool ok = !client || dap_converse(client->dap);
    if (client) guest_close(client);
    server_close(&server);
    return ok;
}

static bool serve_standard(penta_error *err)
{
    struct wire w = {-1, -1, NULL};
    struct dap_io io = io_of(&w, false);
    bool ok = true;
    if (terminal_give_up(&w.in, &w.out))
        ok = dap_serve(&io);
    else
        error_at(err, BASE_IO, 0, "standard input and output cannot be used");
    terminal_take_back(w.in, w.out);
    return ok;
}

void command_DAP(struct cli *c)
{
    penta_error err = {0};
    signal(SIGPIPE, SIG_IGN);
    if (!(c->value[OPT_LISTEN] ? serve_tcp(c, &err) : serve_standard(&err)))
        error_at(&err, BASE_JSON, 0, "the client sent bytes that are not a message");
    if (err.code) cli_error(c, NULL, &err);
}
