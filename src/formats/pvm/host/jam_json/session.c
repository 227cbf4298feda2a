/* Runs one invocation of a program in a session. The options give the state, the program's
 * arguments and the context of its calls. At the end finish.c reports the changes. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"
#include "crypto/hash.h"
#include "pvm/host/jam_json/session_state.h"

enum { FILE_MAX = 1 << 28 };
/* This is the balance of a service that is not in the state. */
static const uint64_t new_balance = 1000000000;

static const char *session_text(const struct pvm_jam *s, const char *key)
{
    return option_text(s->options, s->option_count, key);
}

static uint64_t session_number(struct pvm_jam *s, const char *key, uint64_t missing, uint64_t most)
{
    uint64_t n = missing;
    if (option_uint(s->options, s->option_count, key, &n, s->err) && n > most)
        error_at(s->err, BASE_OPTION_VALUE, 0, "%s is more than %llu", key,
                 (unsigned long long)most);
    return s->err->code ? 0 : n;
}

static bool read_file(struct pvm_jam *s, const char *key, penta_buffer *out, char *folder,
                      size_t size)
{
    const char *path = session_text(s, key);
    char copy[4096];
    if (!path) return false;
    snprintf(copy, sizeof copy, "%s", path);
    snprintf(folder, size, "%s", dirname(copy));
    return file_read(path, FILE_MAX, out, s->err);
}

/* Reads option 'chain': the name of a chain, or a file with the differences from a known chain. */
static bool read_chain(struct pvm_jam *s, penta_buffer *out)
{
    const char *chain = session_text(s, "chain");
    struct writer w = {0};
    penta_buffer file = {0};
    if (!strcmp(chain, "full") || !strcmp(chain, "tiny")) {
        writer_text(&w, chain);
    } else if (file_read(chain, FILE_MAX, &file, s->err)) {
        writer_bytes(&w, file.data, file.size);
        penta_buffer_free(&file);
    }
    writer_char(&w, 0);
    *out = w.out;
    return writer_ok(&w, s->err) && !s->err->code;
}

static bool open_state(struct pvm_jam *s)
{
    penta_buffer file = {0}, chain = {0};
    char folder[4096];
    penta_option options[2];
    size_t count = 0;
    bool given = read_file(s, "state", &file, folder, sizeof folder);
    if (s->err->code) return false;
    if (session_text(s, "chain") && read_chain(s, &chain))
        options[count++] = (penta_option){"chain", (const char *)chain.data};
    if (session_text(s, "gp")) options[count++] = (penta_option){"version", session_text(s, "gp")};
    penta_bytes document = {file.data, file.size};
    if (!s->err->code) s->host = penta_jam_host_new(document, options, count, s->err);
    if (s->host) s->state = penta_jam_state_new(s->host, NULL, s->err);
    bool ok = s->state && (!given || penta_jam_state_read(s->state, document, folder, s->err));
    penta_buffer_free(&file);
    penta_buffer_free(&chain);
    return ok && !s->err->code;
}

/* Adds the service with this code and a balance, unless the state has it. */
static void add_service(struct pvm_jam *s, uint32_t id, penta_bytes file)
{
    struct jam_layer *l = &s->state->changes;
    struct jam_account account = {.items = 2, .octets = 81 + file.size, .balance = new_balance};
    struct jam_request request = {.count = 1};
    uint8_t key[JAM_KEY];
    if (jam_account_exists(l, id)) return;
    memcpy(account.code_hash, s->code_hash, JAM_HASH);
    jam_account_set(l, id, &account);
    jam_request_set(l, id, s->code_hash, (uint32_t)file.size, &request);
    penta_jam_preimage_key(id, s->code_hash, key);
    jam_layer_set(l, key, (penta_bytes){0}, file);
}

/* The functions below prepare accumulate. */

static void read_items(struct pvm_jam *s)
{
    penta_buffer file = {0};
    char folder[4096];
    struct jam_json j = {.folder = folder, .err = s->err};
    struct json_doc *doc = NULL;
    if (read_file(s, "items", &file, folder, sizeof folder))
        doc = json_parse((penta_bytes){file.data, file.size}, s->err);
    const struct json_object *list = doc ? json_root(doc) : NULL;
    if (doc && !json_is_list(list)) error_at(s->err, BASE_JSON, 0, "items are a JSON list");
    for (size_t i = 0; i < json_length(list) && !s->err->code; i++) {
        size_t mark = jam_json_enter(&j, "", i);
        jam_json_item(&j, json_item(list, i), s->host, &s->items.bytes);
        jam_slices_end(&j, &s->items);
        jam_json_leave(&j, mark);
    }
    if (jam_json_done(&j)) jam_slices_done(&j, &s->items);
    json_doc_free(doc);
    penta_buffer_free(&file);
    s->input.items = s->items.list;
    s->input.item_count = s->items.count;
}

static void read_entropy(struct pvm_jam *s)
{
    const char *hex = session_text(s, "entropy");
    size_t size = 0;
    uint8_t *bytes = hex ? hex_parse(bytes_of(hex), &size, s->err) : NULL;
    if (bytes && size == JAM_HASH)
        memcpy(s->input.entropy, bytes, JAM_HASH);
    else if (hex)
        error_at(s->err, BASE_OPTION_VALUE, 0, "entropy '%.40s' is not 32 bytes in hex", hex);
    free(bytes);
}

/* The functions below prepare packages. */

static void read_pieces(struct jam_json *j, const struct json_object *list, const char *key,
                        struct jam_slices *out)
{
    for (size_t i = 0; i < json_length(list) && !j->err->code; i++) {
        size_t mark = jam_json_enter(j, key, i);
        jam_json_bytes(j, json_item(list, i), "a piece", JAM_ANY_SIZE, &out->bytes);
        jam_slices_end(j, out);
        jam_json_leave(j, mark);
    }
    if (!j->err->code) jam_slices_done(j, out);
}

/* Makes a package of one item with this code and the payload of option 'payload', for runs
 * without a package file. */
static void make_package(struct pvm_jam *s, uint32_t service)
{
    struct writer *w = &s->package_bytes;
    const char *hex = session_text(s, "payload");
    size_t size = 0;
    uint8_t *payload = hex ? hex_parse(bytes_of(hex), &size, s->err) : NULL;
    if (hex && !payload) error_at(s->err, BASE_OPTION_VALUE, 0, "payload '%.40s' is not hex", hex);
    writer_uint(w, service, 4);
    writer_bytes(w, s->code_hash, JAM_HASH);
    writer_fill(w, 0, 4 * JAM_HASH);
    writer_uint(w, session_number(s, "slot", 0, UINT32_MAX), 4);
    /* The three zeros stand for no prerequisites, no token and no configuration. */
    writer_fill(w, 0, 3);
    jam_put_nat(w, 1);
    writer_uint(w, service, 4);
    writer_bytes(w, s->code_hash, JAM_HASH);
    writer_uint(w, s->host->chain.refine_gas, 8);
    writer_uint(w, s->host->chain.report_gas, 8);
    writer_uint(w, 0, 2);
    jam_put_var(w, (penta_bytes){payload, size});
    writer_fill(w, 0, 2); /* The two zeros stand for no imports and no extrinsics. */
    free(payload);
}

static void read_package(struct pvm_jam *s, uint32_t service)
{
    penta_buffer file = {0};
    char folder[4096];
    struct jam_json j = {.folder = folder, .err = s->err};
    if (read_file(s, "package", &file, folder, sizeof folder)) {
        struct json_doc *doc = json_parse((penta_bytes){file.data, file.size}, s->err);
        const struct json_object *root = doc ? json_root(doc) : NULL;
        const struct json_object *inner = json_get(root, "package");
        if (doc) jam_json_package(&j, inner ? inner : root, &s->package_bytes);
        read_pieces(&j, jam_json_list(&j, root, "extrinsics"), "extrinsics", &s->extrinsics);
        read_pieces(&j, jam_json_list(&j, root, "imports"), "imports", &s->imports);
        if (json_get(root, "trace"))
            jam_json_bytes(&j, json_get(root, "trace"), "trace", JAM_ANY_SIZE, &s->trace);
        s->earlier = jam_json_uint_or(&j, root, "earlier_output", 32, 0);
        jam_json_done(&j);
        json_doc_free(doc);
    } else {
        make_package(s, service);
    }
    penta_buffer_free(&file);
    if (s->err->code || !jam_package_read(writer_view(&s->package_bytes), &s->package, s->err))
        return;
    s->given = (penta_jam_package){.encoded = s->package.encoded,
                                   .core = (uint16_t)session_number(s, "core", 0, UINT16_MAX),
                                   .trace = writer_view(&s->trace),
                                   .extrinsics = s->extrinsics.list,
                                   .extrinsic_count = s->extrinsics.count,
                                   .imports = s->imports.list,
                                   .import_count = s->imports.count};
}

static bool choose_entry(struct pvm_jam *s)
{
    static const struct {
        const char *name;
        enum jam_context context;
        uint32_t pc;
    } entries[] = {{"accumulate", JAM_ACCUMULATE, 5},
                   {"refine", JAM_REFINE, 0},
                   {"is-authorized", JAM_AUTHORIZE, 0},
                   {"on-transfer", JAM_ON_TRANSFER, 10}};
    const char *name = session_text(s, "entry");
    for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!strcmp(name ? name : "accumulate", entries[i].name)) {
            s->context = entries[i].context;
            s->pc = entries[i].pc;
            if (s->context != JAM_ON_TRANSFER || s->host->version->on_transfer) return true;
            return error_at(s->err, BASE_OPTION_VALUE, 0, "version %s has no entry on-transfer",
                            s->host->version->name);
        }
    return error_at(s->err, BASE_OPTION_VALUE, 0,
                    "entry '%.40s' is none of accumulate, refine, is-authorized, on-transfer",
                    name);
}

static void session_start(struct pvm_jam *s, uint32_t service)
{
    jam_layer_init(&s->layer, &s->state->changes);
    jam_run_init(&s->run, s->host, s->context, &s->layer, s->err);
    if (pvm_jam_on_chain(s)) {
        jam_accumulate_begin(&s->run, &s->input);
        return;
    }
    size_t item = (size_t)session_number(s, "item", 0, 1 << 16);
    if (s->context == JAM_REFINE && item >= s->package.item_count) {
        error_at(s->err, BASE_OPTION_VALUE, 0, "the package has no item %zu", item);
        return;
    }
    jam_refine_begin(&s->run, &s->package, &s->given, item);
    s->packaged = session_text(s, "package");
    if (!s->packaged) s->run.service = service;
    s->gas = s->context == JAM_AUTHORIZE ? s->host->chain.authorize_gas
                                         : s->package.items[item].refine_gas;
}

/* Refuses code that is larger than the chain allows. Metadata counts only for refine. */
static void check_size(struct pvm_jam *s, const penta_module *module)
{
    const struct pvm_program *program = &pvm_module(module)->program;
    const struct jam_chain *chain = &s->host->chain;
    uint64_t most = s->context == JAM_AUTHORIZE ? chain->authorizer_size : chain->code_size;
    struct writer metadata = {0};
    if (program->has_metadata && s->context != JAM_REFINE)
        jam_put_var(&metadata, program->metadata);
    size_t size = module->file.size - metadata.out.size;
    writer_free(&metadata);
    if (size > most)
        error_at(s->err, BASE_LIMIT, 0, "%s: %zu bytes, of %llu that the chain runs",
                 penta_jam_exit_name(PENTA_JAM_BIG_CODE), size, (unsigned long long)most);
}

/* Does everything up to the first instruction. Returns NULL with an error when that fails. */
static struct pvm_jam *open_session(const penta_module *module, const penta_option *options,
                                    size_t count, penta_error *err)
{
    struct pvm_jam *s = zeros_new(sizeof *s, "the host", err);
    if (!s) return NULL;
    s->options = options;
    s->option_count = count;
    s->err = err;
    uint32_t service = (uint32_t)session_number(s, "service", 0, UINT32_MAX);
    hash_blake2b256(module->file, s->code_hash);
    if (open_state(s) && choose_entry(s)) {
        s->gas = s->host->chain.report_gas;
        s->input.slot = (uint32_t)session_number(s, "slot", 0, UINT32_MAX);
        s->input.service = service;
        check_size(s, module);
        add_service(s, service, module->file);
        if (pvm_jam_on_chain(s))
            read_items(s);
        else
            read_package(s, service);
        read_entropy(s);
        if (!err->code) penta_jam_state_commit(s->state, err);
        if (!err->code) session_start(s, service);
    }
    if (!err->code) return s;
    pvm_jam_free(s);
    return NULL;
}

void pvm_jam_free(struct pvm_jam *s)
{
    if (!s) return;
    jam_run_fini(&s->run);
    jam_layer_fini(&s->layer);
    jam_package_free(&s->package);
    jam_slices_free(&s->items);
    jam_slices_free(&s->extrinsics);
    jam_slices_free(&s->imports);
    writer_free(&s->package_bytes);
    writer_free(&s->trace);
    penta_jam_state_free(s->state);
    penta_jam_host_free(s->host);
    free(s);
}

static void session_called(void *user, uint32_t service, const char *line)
{
    struct pvm_jam *s = user;
    (void)service;
    if (s->answer) writer_text(&s->answer->note, line);
}

static void session_logged(void *user, uint32_t service, uint64_t level, penta_bytes target,
                           penta_bytes message)
{
    struct pvm_jam *s = user;
    (void)service;
    if (!s->answer) return;
    writer_print(&s->answer->output, "log %llu ", (unsigned long long)level);
    writer_bytes(&s->answer->output, target.data, target.size);
    writer_text(&s->answer->output, target.size ? ": " : "");
    writer_bytes(&s->answer->output, message.data, message.size);
    writer_char(&s->answer->output, '\n');
}

static void session_stepped(void *user, size_t machine, const struct pvm_vm *vm)
{
    struct pvm_jam *s = user;
    if (!s->answer) return;
    struct writer *w = &s->answer->output;
    writer_print(w, "inner %zu %6u  ", machine, vm->state->pc);
    if (!pvm_print_at(vm->base.module, vm->state->pc, w)) writer_text(w, "no instruction");
    writer_char(w, '\n');
}

static void start_option(struct started_host *out, const char *key, const char *value)
{
    out->options[out->count++] = (penta_option){key, value};
}

/* Copies a text into the arena of the options. Returns NULL when memory ran out. */
static const char *start_text(struct started_host *out, const struct writer *w, penta_error *err)
{
    return writer_ok(w, err) ? arena_copy(&out->texts, writer_view(w), err) : NULL;
}

/* Gives the options with which the machine starts. */
static bool start_machine(struct pvm_jam *s, bool called, struct started_host *out,
                          penta_error *err)
{
    struct writer arguments = {0}, gas = {0}, hex = {0};
    if (pvm_jam_on_chain(s))
        jam_accumulate_arguments(&s->run, &arguments);
    else
        jam_refine_arguments(&s->run, &arguments);
    writer_print(&gas, "%llu", (unsigned long long)s->gas);
    writer_hex(&hex, writer_view(&arguments));
    start_option(out, "profile", s->host->version->profile);
    start_option(out, "gas", start_text(out, &gas, err));
    start_option(out, "spi-args", start_text(out, &hex, err));
    if (!called) start_option(out, "entry", "accumulate");
    bool ok = writer_ok(&arguments, err) && !err->code;
    writer_free(&arguments);
    writer_free(&gas);
    writer_free(&hex);
    return ok;
}

struct pvm_jam *pvm_jam_new(const penta_module *module, const penta_option *options, size_t count,
                            struct started_host *out, penta_error *err)
{
    bool called = false;
    for (size_t i = 0; i < count; i++) called |= pvm_starts_call(&options[i]);
    struct pvm_jam *s = open_session(module, options, count, err);
    if (!s) return NULL;
    if (!start_machine(s, called, out, err)) {
        pvm_jam_free(s);
        return NULL;
    }
    penta_jam_on_call(s->host, session_called, s);
    penta_jam_on_log(s->host, session_logged, s);
    if (session_text(s, "inner-trace")) {
        s->host->inner_step = session_stepped;
        s->host->inner_user = s;
    }
    s->options = NULL; /* The options belong to the caller. */
    s->err = NULL;
    return s;
}

bool pvm_jam_answer(struct pvm_jam *s, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    penta_error err = {0};
    (void)stop;
    s->run.vm = pvm_vm(vm);
    s->run.err = &err;
    s->answer = out;
    enum jam_end end = jam_call(&s->run);
    s->answer = NULL;
    s->run.err = NULL;
    if (end == JAM_END_PANIC) out->end = CALL_TRAPS;
    if (end == JAM_END_GAS) out->end = CALL_UNPAID;
    if (end == JAM_END_ERROR) out->failure = err;
    out->interrupted = end == JAM_END_INTERRUPT;
    if (out->interrupted) atomic_store(&vm->interrupt, false);
    return end != JAM_END_ERROR && !out->interrupted;
}
