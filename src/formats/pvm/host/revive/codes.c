/* Keeps the code of contracts. Each code is parsed once, its imports are looked up once, and its
 * machines are used again. */
#include <stdlib.h>
#include <string.h>
#include "base/file/file.h"
#include "base/array.h"
#include "pvm/host/keccak.h"
#include "pvm/host/revive/revive.h"

struct code *revive_code_find(const struct pvm_revive *r, const uint8_t hash[HASH])
{
    return revive_table_find(&r->codes, hash, HASH);
}

static bool find_export(const struct pvm_program *p, const char *name, uint32_t *pc)
{
    for (size_t i = 0; i < p->export_count; i++)
        if (p->exports[i].name.size == strlen(name) &&
            !memcmp(p->exports[i].name.data, name, strlen(name))) {
            *pc = p->exports[i].pc;
            return true;
        }
    return false;
}

static bool codes_prepare(struct pvm_revive *r, struct code *c, penta_error *err)
{
    const struct pvm_program *p = &pvm_module(c->module)->program;
    if (c->module->damage.code)
        return error_at(err, BASE_DAMAGED, c->module->damage.offset, "a contract's code: %.80s",
                        c->module->damage.message);
    if (p->dialect == PVM_JAM || pvm_isas[p->code.isa].bits != 64)
        return error_at(err, BASE_UNSUPPORTED, 0, "a contract's code is not a 64-bit program");
    c->has_call = find_export(p, "call", &c->call_pc);
    c->has_deploy = find_export(p, "deploy", &c->deploy_pc);
    c->calls = calloc(p->import_count + 1, sizeof *c->calls);
    if (!c->calls) return error_at(err, BASE_MEMORY, 0, "no memory for a contract");
    c->call_count = p->import_count;
    for (size_t i = 0; i < p->import_count; i++)
        if (!p->imports[i].broken) revive_call_find(p->imports[i].name, &c->calls[i]);
    return pvm_config_read(&c->config, p, r->options, r->option_count, err);
}

static void code_fini(void *record)
{
    struct code *c = record;
    while (c->idle_count) {
        penta_vm *vm = &c->idle[--c->idle_count]->base;
        vm->engine->close(vm);
    }
    free(c->idle);
    if (c->cells) pvm_cells_free(c->cells);
    free(c->calls);
    if (c->module) c->module->driver->close(c->module);
    penta_buffer_free(&c->bytes);
}

struct code *revive_code_upload(struct pvm_revive *r, penta_buffer *bytes, penta_error *err)
{
    uint8_t hash[HASH];
    keccak256_digest((penta_bytes){bytes->data, bytes->size}, hash);
    struct code *known = revive_code_find(r, hash);
    if (known) {
        penta_buffer_free(bytes);
        return known;
    }
    struct code c = {.bytes = *bytes};
    *bytes = (penta_buffer){0};
    c.module = pvm_parse((penta_bytes){c.bytes.data, c.bytes.size}, NULL, 0, err);
    if (c.module && codes_prepare(r, &c, err)) {
        struct code *new = revive_table_add(&r->codes, hash, HASH, sizeof *new);
        if (new) {
            c.entry = new->entry;
            *new = c;
            return new;
        }
        error_at(err, BASE_MEMORY, 0, "no memory for a contract");
    }
    code_fini(&c);
    return NULL;
}

struct code *revive_code_read(struct pvm_revive *r, const char *path, penta_error *err)
{
    penta_buffer bytes = {0};
    if (!file_read(path, UINT64_C(1) << 28, &bytes, err)) return NULL;
    struct code *c = revive_code_upload(r, &bytes, err);
    if (!c) error_note(err, "in %.100s", path);
    return c;
}

/* Tells whether the compiler must stop, because the outer machine was interrupted. Interrupts
 * are always given to the outer machine, also while the inner one runs. */
static bool code_work_over(void *user, uint64_t units)
{
    struct pvm_vm *outer = user;
    return vm_work(&outer->base, units);
}

struct pvm_vm *revive_code_machine(struct pvm_revive *r, struct code *c)
{
    if (c->idle_count) return c->idle[--c->idle_count];
    const struct pvm_program *p = &pvm_module(c->module)->program;
    penta_error *err = &r->failure;
    c->config.metered = r->outer->metered;
    c->config.gas = 0;
    c->config.adopt = r->adopt;
    c->config.perf_map = false;
    c->config.perf_dump = NULL;
    if (!c->cells)
        c->cells =
            pvm_cells_new(&p->code, c->config.profile, c->config.model, c->config.metered, err);
    struct long_work work = {.over = code_work_over, .user = r->outer};
    c->config.work = &work;
    struct pvm_vm *vm =
        c->cells ? pvm_vm_create(c->module, &p->code, &c->config, c->cells, err) : NULL;
    c->config.work = NULL;
    if (vm && !pvm_vm_populate(vm, p, (penta_bytes){0}, err)) {
        vm->base.engine->close(&vm->base);
        vm = NULL;
    }
    return vm;
}

void revive_code_release(struct code *c, struct pvm_vm *vm)
{
    pvm_vm_reset(vm);
    if (!ARRAY_RESERVE(c->idle, c->idle_capacity, c->idle_count + 1)) {
        vm->base.engine->close(&vm->base);
        return;
    }
    c->idle[c->idle_count++] = vm;
}

void revive_codes_free(struct pvm_revive *r) { revive_table_free(&r->codes, code_fini); }
