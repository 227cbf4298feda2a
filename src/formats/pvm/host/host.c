/* Chooses the host of a program by option 'host': the scripted host, the console, the contract
 * host or the JAM host. */
#include "pvm/host/host.h"
#include "base/array.h"
#include "pvm/host/console.h"
#include "pvm/host/files.h"
#include "pvm/host/jam_json/session.h"
#include <stdlib.h>
#include <string.h>

penta_bytes pvm_import_name(const penta_module *module, uint32_t number)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    if (number >= p->import_count || p->imports[number].broken) return (penta_bytes){0};
    return p->imports[number].name;
}

struct host_state {
    struct pvm_script *script;
    struct pvm_revive *revive;
    struct pvm_console *console;
    struct pvm_jam *jam;
};

static void host_close(void *state)
{
    struct host_state *h = state;
    if (!h) return;
    pvm_script_free(h->script);
    pvm_revive_free(h->revive);
    pvm_console_free(h->console);
    pvm_jam_free(h->jam);
    free(h);
}

/* Refuses the options that only another host understands. */
static bool options_only_for(const char *host, const char *which, const char *const *keys,
                             const penta_option *options, size_t count, penta_error *err)
{
    if (which && !strcmp(which, host)) return true;
    for (; *keys; keys++)
        if (option_text(options, count, *keys))
            return error_at(err, BASE_OPTION_VALUE, 0, "%s: the program's host is not %s", *keys,
                            strcmp(host, "console") ? host : "the console");
    return true;
}

static bool options_fit(const char *which, const penta_option *options, size_t count,
                        penta_error *err)
{
    static const char *const console[] = {"argv",       "env",   "stdin",  "files", "open-files",
                                          "file-bytes", "clock", "random", "seed",  NULL};
    static const char *const revive[] = {"calldata", "value",  "caller",  "address", "time",
                                         "contract", "upload", "balance", "block",   NULL};
    static const char *const state[] = {"state", "save-state", NULL};
    static const char *const jam[] = {"service",     "slot",  "entropy", "items",
                                      "package",     "item",  "core",    "payload",
                                      "inner-trace", "chain", "gp",      NULL};
    bool is_jam = which && !strcmp(which, "jam");
    return options_only_for("console", which, console, options, count, err) &&
           options_only_for("revive", which, revive, options, count, err) &&
           options_only_for("jam", which, jam, options, count, err) &&
           (is_jam || options_only_for("revive", which, state, options, count, err));
}

static bool revive_save(void *state, struct writer *out, penta_error *err)
{
    return pvm_revive_save(((struct host_state *)state)->revive, out, err);
}

static bool jam_save(void *state, struct writer *out, penta_error *err)
{
    return pvm_jam_save(((struct host_state *)state)->jam, out, err);
}

static bool jam_finish(void *state, penta_vm *vm, const penta_stop *stop, struct writer *text,
                       struct json *json, penta_error *err)
{
    return pvm_jam_finish(((struct host_state *)state)->jam, vm, stop, text, json, err);
}

static struct host_state *host_new(penta_error *err)
{
    return zeros_new(sizeof(struct host_state), "the host", err);
}

/* Makes the JAM host, which says with what its machine starts. For other hosts there is nothing
 * to do before the machine is opened. */
static bool host_start(const penta_module *module, const penta_option *options, size_t count,
                       struct started_host *out, penta_error *err)
{
    const char *which = option_text(options, count, "host");
    if (!which || strcmp(which, "jam")) return true;
    if (!pvm_module(module)->program.spi)
        return error_at(err, BASE_OPTION_VALUE, 0, "the jam host runs standard programs of jam");
    struct host_state *h = host_new(err);
    if (!h) return false;
    h->jam = pvm_jam_new(module, options, count, out, err);
    out->state = h;
    if (h->jam) return true;
    host_close(h);
    out->state = NULL;
    return false;
}

static struct pvm_files *state_files(void *state)
{
    return pvm_console_files(((struct host_state *)state)->console);
}

static bool console_file_put(void *state, const char *path, penta_bytes bytes, penta_error *err)
{
    return pvm_host_files.put(state_files(state), path, bytes, err);
}

static bool console_file_get(void *state, const char *path, struct writer *out, penta_error *err)
{
    return pvm_host_files.get(state_files(state), path, out, err);
}

static bool console_file_list(void *state, struct json *json, penta_error *err)
{
    return pvm_host_files.list(state_files(state), json, err);
}

static const struct host_files console_files = {console_file_put, console_file_get,
                                                console_file_list};

static bool host_open(penta_vm *vm, const penta_option *options, size_t count,
                      struct opened_host *out, penta_error *err)
{
    const penta_module *module = vm->module;
    const char *which = option_text(options, count, "host");
    if (!which && pvm_console_serves(module)) which = "console";
    struct host_state *h = out->state ? out->state : host_new(err);
    if (!h || !options_fit(which, options, count, err)) {
        host_close(h);
        return false;
    }
    out->state = h;
    if (!which) return true; /* Without a host no call is answered. */
    if (!strcmp(which, "revive"))
        h->revive = pvm_revive_new(module, options, count, err);
    else if (!strcmp(which, "console"))
        h->console = pvm_console_new(options, count, err);
    else if (!h->jam)
        h->script = pvm_script_read(module, which, err);
    if (h->revive) pvm_revive_attach(h->revive, vm);
    out->changes_machine = h->jam != NULL;
    out->console = h->console != NULL;
    if (h->console) out->files = &console_files;
    if (h->revive) out->save = revive_save;
    if (h->jam) out->save = jam_save, out->finish = jam_finish;
    if (h->revive || h->console || h->jam || h->script) return true;
    host_close(h);
    return false;
}

static bool host_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    struct host_state *h = state;
    if (h->script) return pvm_script_answer(h->script, vm, stop, out);
    if (h->console) return pvm_console_answer(h->console, vm, stop, out);
    if (h->jam) return pvm_jam_answer(h->jam, vm, stop, out);
    return h->revive && pvm_revive_answer(h->revive, vm, stop, out);
}

const struct host pvm_host = {
    .start = host_start, .open = host_open, .answer = host_answer, .close = host_close};
