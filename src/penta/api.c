/* Implements penta.h with the drivers: finds the format, checks options, and keeps the promises that are the same for
 * all formats (damaged modules, refusal to run, ownership of assembled bytes). */
#include <stdlib.h>
#include <string.h>
#include "base/json/json_visit.h"
#include "base/long_work.h"
#include "core/snapshot.h"
#include "core/engine.h"
#include "core/host.h"
#include "penta/open_machine.h"
#include "penta/registry.h"
#include "text/lexer.h"

const char *penta_version(void) { return PENTA_VERSION_TEXT; }

size_t penta_detect(penta_bytes file, penta_guess *guesses, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; drivers[i]; i++) {
        int confidence = drivers[i]->probe ? drivers[i]->probe(file, NULL) : 0;
        if (confidence <= 0) continue;
        size_t at = count < max ? count : max;
        while (at && guesses[at - 1].confidence < confidence) at--;
        if (at >= max) continue;
        size_t kept = count < max ? count : max - 1;
        memmove(&guesses[at + 1], &guesses[at], (kept - at) * sizeof *guesses);
        guesses[at] = (penta_guess){drivers[i]->name, confidence};
        if (count < max) count++;
    }
    return count;
}

int penta_probe(penta_bytes file, const char *format, penta_buffer *evidence)
{
    const struct driver *driver = driver_find(format);
    struct writer w = {0};
    penta_error err = {0};
    int confidence = driver && driver->probe ? driver->probe(file, evidence ? &w : NULL) : 0;
    if (evidence) writer_give(&w, true, evidence, &err);
    return confidence;
}

static const struct driver *api_choose(penta_bytes file, const char *format,
                                       const penta_option *options, size_t option_count,
                                       penta_error *err)
{
    for (size_t i = 0; !format && i < option_count; i++)
        format = penta_option_chooses(options[i].key);
    if (format) {
        const struct driver *driver = driver_find(format);
        if (!driver) error_at(err, BASE_UNKNOWN_FORMAT, 0, "no format is called '%.40s'", format);
        return driver;
    }
    penta_guess guesses[2];
    size_t count = penta_detect(file, guesses, 2);
    if (!count) {
        error_at(err, BASE_UNKNOWN_FORMAT, 0,
                 file.size ? "no format recognises these bytes" : "the file is empty");
        return NULL;
    }
    if (count == 2 && guesses[0].confidence == guesses[1].confidence) {
        error_at(err, BASE_AMBIGUOUS, 0, "this could be %s or %s", guesses[0].format,
                 guesses[1].format);
        error_note(err, "name the format");
        return NULL;
    }
    return driver_find(guesses[0].format);
}

penta_module *penta_open(penta_bytes file, const char *format, const penta_option *options,
                         size_t count, penta_error *err)
{
    *err = (penta_error){0};
    const struct driver *driver = api_choose(file, format, options, count, err);
    if (!driver || !options_check(options, count, driver->options, OPTION_OPEN, err)) return NULL;
    return driver->parse(file, options, count, err);
}

void penta_close(penta_module *module)
{
    if (!module) return;
    void *owned = module->owned;
    module->driver->close(module);
    free(owned);
}

const char *penta_module_format(const penta_module *module) { return module->driver->name; }

const penta_error *penta_module_damage(const penta_module *module)
{
    return module->damage.code ? &module->damage : NULL;
}

const uint8_t *penta_module_bytes(const penta_module *module, size_t *size)
{
    *size = module->file.size;
    return module->file.data;
}

void penta_describe(const penta_module *module, const penta_visitor *visitor)
{
    module->driver->describe(module, visitor);
}

void penta_info(const penta_module *module, const penta_visitor *visitor)
{
    if (module->driver->info) module->driver->info(module, visitor);
}

typedef void walk_fn(const void *what, const penta_visitor *visitor);

static bool walk_json(const void *what, walk_fn *walk, bool tree, penta_buffer *out,
                      penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct json json = {.out = &w};
    penta_visitor visitor = tree ? json_tree_visitor(&json) : json_state_visitor(&json);
    if (tree)
        json_list(&json, NULL);
    else
        json_object(&json, NULL);
    walk(what, &visitor);
    json_finish(&json);
    return writer_give(&w, true, out, err);
}

static void walk_file(const void *what, const penta_visitor *visitor)
{
    penta_describe(what, visitor);
}
static void walk_info(const void *what, const penta_visitor *visitor) { penta_info(what, visitor); }
static void walk_vm(const void *what, const penta_visitor *visitor)
{
    penta_vm_describe(what, visitor);
}

bool penta_describe_json(const penta_module *module, penta_buffer *out, penta_error *err)
{
    return walk_json(module, walk_file, true, out, err);
}

bool penta_info_json(const penta_module *module, penta_buffer *out, penta_error *err)
{
    return walk_json(module, walk_info, false, out, err);
}

bool penta_vm_describe_json(const penta_vm *vm, penta_buffer *out, penta_error *err)
{
    return walk_json(vm, walk_vm, false, out, err);
}

bool penta_validate(const penta_module *module, penta_report *report, void *user)
{
    struct findings f = {.rules = module->driver->rules, .report = report, .user = user};
    module_verify(module, &f);
    return !f.errors;
}

bool penta_encode(const penta_module *module, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    return writer_give(&w, module->driver->encode(module, &w, err), out, err);
}

static bool api_whole(const penta_module *module, penta_error *err)
{
    if (!module->damage.code) return true;
    const penta_rule *rule = penta_rule_find(module->damage.code);
    if (rule && rule->kind != PENTA_CLASS_INVALID) {
        *err = module->damage; /* Not every error is damage. A key may be missing, for example. */
        return false;
    }
    error_at(err, BASE_DAMAGED, module->damage.offset, "%.100s", module->damage.message);
    return error_note(err, "the file is damaged here; inspect shows what is readable");
}

static bool api_printable(const penta_module *module, const penta_option *options, size_t count,
                          penta_error *err)
{
    const struct driver *driver = module->driver;
    *err = (penta_error){0};
    if (!driver->print)
        return error_at(err, BASE_UNSUPPORTED, 0, "%s has no text form", driver->name);
    return options_check(options, count, driver->options, OPTION_PRINT, err) &&
           api_whole(module, err);
}

bool penta_print(const penta_module *module, const penta_option *options, size_t count,
                 penta_buffer *out, penta_error *err)
{
    if (!api_printable(module, options, count, err)) return false;
    struct writer w = {0};
    return writer_give(&w, module->driver->print(module, options, count, &w, err), out, err);
}

bool penta_print_pieces(const penta_module *module, const penta_option *options, size_t count,
                        penta_piece *take, void *user, penta_error *err)
{
    if (!api_printable(module, options, count, err)) return false;
    struct writer w = {.sink = take, .user = user};
    bool ok = module->driver->print(module, options, count, &w, err) && writer_ok(&w, err);
    if (ok) writer_flush(&w);
    writer_free(&w);
    return ok;
}

penta_module *penta_assemble(penta_bytes text, const char *format, const penta_option *options,
                             size_t count, penta_report *report, void *user)
{
    penta_error err = {0};
    const struct driver *driver = api_choose((penta_bytes){0}, format ? format : "", NULL, 0, &err);
    struct findings f = {.rules = driver ? driver->rules : NULL, .report = report, .user = user};
    if (driver && !driver->assemble)
        error_at(&err, BASE_UNSUPPORTED, 0, "%s has no assembler", driver->name);
    if (text.size > UINT32_MAX) error_at(&err, BASE_LIMIT, 0, "a source text of more than 4 GiB");
    if (!err.code) options_check(options, count, driver->options, OPTION_ASSEMBLE, &err);
    if (err.code) {
        findings_pass(&f, &err);
        return NULL;
    }
    struct writer out = {0};
    struct source source = {.text = text, .comment = driver->comment, .err = &err};
    penta_module *module = NULL;
    if (driver->assemble(&source, options, count, &out, &f)) {
        err = (penta_error){0};
        module = driver->parse(writer_view(&out), NULL, 0, &err);
        if (!module) findings_pass(&f, &err);
    }
    if (!module) {
        writer_free(&out);
        return NULL;
    }
    module->owned = out.out.data;
    return module;
}

static bool api_transform(const penta_module *module, unsigned use, const char *cannot,
                          const penta_option *options, size_t count, penta_buffer *out,
                          penta_report *report, void *user)
{
    const struct driver *driver = module->driver;
    const struct driver_other *other = driver->others;
    while (other && other->make && other->use != use) other++;
    driver_change *fn = other ? other->make : NULL;
    struct findings f = {.rules = driver->rules, .report = report, .user = user};
    struct writer w = {0};
    penta_error err = {0};
    if (!fn)
        error_at(&err, BASE_UNSUPPORTED, 0, "%s files cannot be %s", driver->name, cannot);
    else if (api_whole(module, &err))
        options_check(options, count, driver->options, use, &err);
    bool ok = !err.code && fn(module, options, count, &w, &f) && !f.errors;
    if (writer_give(&w, ok, out, &err)) return true;
    if (err.code) findings_pass(&f, &err);
    return false;
}

bool penta_convert(const penta_module *module, const penta_option *options, size_t count,
                   penta_buffer *out, penta_report *report, void *user)
{
    return api_transform(module, OPTION_CONVERT, "converted", options, count, out, report, user);
}

bool penta_seal(const penta_module *module, const penta_option *options, size_t count,
                penta_buffer *out, penta_report *report, void *user)
{
    return api_transform(module, OPTION_SEAL, "sealed", options, count, out, report, user);
}

bool penta_unseal(const penta_module *module, const penta_option *options, size_t count,
                  penta_buffer *out, penta_report *report, void *user)
{
    return api_transform(module, OPTION_UNSEAL, "opened: they are never sealed", options, count,
                         out, report, user);
}

const char *penta_stop_name(penta_stop_kind kind)
{
    static const char *const names[] = {
        [PENTA_STOP_FUEL] = "fuel",        [PENTA_STOP_BREAK] = "break",
        [PENTA_STOP_HOST] = "host",        [PENTA_STOP_HALT] = "halt",
        [PENTA_STOP_TRAP] = "trap",        [PENTA_STOP_FAULT] = "fault",
        [PENTA_STOP_GAS] = "gas",          [PENTA_STOP_INTERRUPT] = "interrupt",
        [PENTA_STOP_DISAGREE] = "disagree"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

const char *penta_vm_engine(const penta_vm *vm) { return vm->engine->name; }

const char *penta_vm_detail_name(const penta_vm *vm, const penta_stop *stop)
{
    if (stop->kind == PENTA_STOP_TRAP && vm->module)
        return trap_name(vm->module->driver->traps, stop->detail);
    return vm->engine->detail ? vm->engine->detail(vm, stop) : NULL;
}

static void api_refuse(void *user, const penta_error *finding)
{
    if (finding->code == BASE_MEMORY) error_keep_first(user, finding);
    if (!breaks_container(penta_rule_find(finding->code), finding)) return;
    char code[24];
    penta_code_text(finding->code, code);
    error_at(user, BASE_CONTAINER, finding->offset, "%s: %.90s", code, finding->message);
}

static bool api_sound(const penta_module *module, const volatile int *stop, penta_error *err)
{
    struct flag_work checking;
    struct findings f = {.rules = module->driver->rules,
                         .report = api_refuse,
                         .user = err,
                         .work = flag_work_begin(&checking, stop)};
    module_verify(module, &f);
    if (checking.work.ended)
        error_at(err, BASE_STATE, 0, "interrupted before the program could run");
    return !err->code;
}

static const struct engine *find_engine(const struct driver *driver, const char *name,
                                        penta_error *err)
{
    if (!driver->engines) {
        error_at(err, BASE_UNSUPPORTED, 0, "%s has no machine", driver->name);
        return NULL;
    }
    for (size_t i = 0; driver->engines[i]; i++)
        if (!name || !strcmp(driver->engines[i]->name, name)) return driver->engines[i];
    error_at(err, BASE_OPTION_VALUE, 0, "%s has no engine '%.40s'", driver->name, name);
    return NULL;
}

/* Opens the machine with the options of its host and of the caller. */
static penta_vm *engine_open(const struct engine *engine, const penta_module *module,
                             const struct started_host *host, const penta_option *options,
                             size_t count, const volatile int *stop, penta_error *err)
{
    size_t all_count = host->count + count;
    penta_option *all = NULL;
    if (host->count) {
        all = calloc(all_count, sizeof *all);
        if (!all) {
            error_at(err, BASE_MEMORY, 0, "no memory for the options");
            return NULL;
        }
        memcpy(all, host->options, host->count * sizeof *all);
        if (count) memcpy(all + host->count, options, count * sizeof *all);
        options = all;
    }
    penta_vm *vm = engine->open_until ? engine->open_until(module, options, all_count, stop, err)
                                      : engine->open(module, options, all_count, err);
    free(all);
    return vm;
}

penta_vm *penta_vm_new(const penta_module *module, const char *engine, const penta_option *options,
                       size_t count, const volatile int *stop, penta_error *err)
{
    void *state = NULL;
    penta_vm *vm = vm_open(module, engine, options, count, stop, &state, err);
    if (state) module->driver->host->close(state);
    return vm;
}

penta_vm *vm_open(const penta_module *module, const char *engine, const penta_option *options,
                  size_t count, const volatile int *stop, void **host_state, penta_error *err)
{
    const struct driver *driver = module->driver;
    *err = (penta_error){0};
    const struct engine *found = find_engine(driver, engine, err);
    if (!found || !options_check(options, count, driver->options, OPTION_RUN, err) ||
        !api_whole(module, err))
        return NULL;
    if (!module->sound && !api_sound(module, stop, err)) return NULL;
    const struct host *host = driver->host;
    struct started_host started = {0};
    if (host && host->start && !host->start(module, options, count, &started, err)) return NULL;
    penta_vm *vm = engine_open(found, module, &started, options, count, stop, err);
    arena_free(&started.texts);
    *host_state = started.state;
    if (vm && stop && *stop) {
        penta_vm_free(vm);
        error_at(err, BASE_STATE, 0, "interrupted before the program could run");
        return NULL;
    }
    return vm;
}

void penta_vm_free(penta_vm *vm)
{
    if (vm) vm->engine->close(vm);
}

void penta_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop)
{
    vm->engine->run(vm, fuel, stop);
}

bool penta_vm_answer(penta_vm *vm, const uint64_t *results, size_t count, penta_error *err)
{
    *err = (penta_error){0};
    return vm->engine->answer(vm, results, count, err);
}

void penta_vm_interrupt(penta_vm *vm)
{
    atomic_store_explicit(&vm->interrupt, true, memory_order_seq_cst);
    if (vm->engine->interrupt) vm->engine->interrupt(vm);
}

void penta_vm_describe(const penta_vm *vm, const penta_visitor *visitor)
{
    vm->engine->describe(vm, visitor);
}

bool penta_vm_peek(const penta_vm *vm, uint64_t address, void *into, size_t size)
{
    return vm->engine->peek && vm->engine->peek(vm, address, into, size);
}

bool penta_vm_poke(penta_vm *vm, uint64_t address, const void *from, size_t size)
{
    return vm->engine->poke && vm->engine->poke(vm, address, from, size);
}

bool penta_vm_mark(penta_vm *vm, uint64_t pc, bool on)
{
    return vm->engine->mark && !vm->counts && vm->engine->mark(vm, pc, on);
}

void penta_vm_findings(const penta_vm *vm, penta_report *report, void *user)
{
    struct findings f = {.rules = vm->module->driver->rules, .report = report, .user = user};
    if (vm->findings) vm->findings(vm, &f);
}

bool penta_vm_save(const penta_vm *vm, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    snapshot_save(vm, &w);
    return writer_give(&w, true, out, err);
}

bool penta_vm_load(penta_vm *vm, penta_bytes saved, penta_error *err)
{
    *err = (penta_error){0};
    return snapshot_load(vm, saved, err);
}
