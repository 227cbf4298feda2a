/* Makes machines from preimages. A program is prepared once and kept as long as it is used. */
#include "base/bytes.h"
#include "pvm/host/jam/host.h"
#include "pvm/vm/machine_pool.h"
#include <stdlib.h>
#include <string.h>

enum { HEADER = 11 };

bool jam_code(penta_bytes preimage, penta_bytes *code)
{
    penta_error err = {0};
    struct reader r = {.in = preimage, .err = &err};
    jam_take_var(&r);
    *code = bytes_slice(preimage, r.pos, preimage.size);
    return !err.code;
}

static void init_module(struct pvm_module *m, penta_bytes bytes)
{
    *m = (struct pvm_module){.base = {.driver = &pvm_driver, .file = bytes}};
    m->program.dialect = PVM_JAM;
    m->program.has_code = true;
}

bool jam_generic(const struct penta_jam_host *host, penta_bytes bytes, struct pvm_module *m)
{
    init_module(m, bytes);
    return pvm_generic_program(bytes, host->version->isa, &m->program.code);
}

static bool program_standard(const struct penta_jam_host *host, penta_bytes bytes,
                             struct pvm_module *m)
{
    struct pvm_program *p = &m->program;
    penta_error err = {0};
    struct reader r = {.in = bytes, .err = &err};
    struct pvm_layout layout;
    init_module(m, bytes);
    p->spi = true;
    p->ro_size = (uint32_t)reader_uint(&r, 3);
    p->rw_size = (uint32_t)reader_uint(&r, 3);
    p->heap_pages = (uint32_t)reader_uint(&r, 2);
    p->stack_size = (uint32_t)reader_uint(&r, 3);
    p->ro_data = reader_bytes(&r, p->ro_size);
    p->rw_data = reader_bytes(&r, p->rw_size);
    uint64_t size = reader_uint(&r, 4);
    return !err.code && size == reader_left(&r) &&
           pvm_generic_program(bytes_slice(bytes, r.pos, (size_t)size), host->version->isa,
                               &p->code) &&
           pvm_layout(p, 0, 0, &layout, &err);
}

static bool host_in_lock_step(const struct penta_jam_host *host)
{
    return host->engine && !strcmp(host->engine, "both");
}

static struct pvm_vm *open_machine(const struct penta_jam_host *host, const penta_module *module,
                                   bool paging, penta_error *err)
{
    const penta_option options[] = {
        {"profile", host->version->profile}, {"gas", "0"}, {"paging", "1"}};
    pvm_adopt_fn *adopt = NULL;
    pvm_engine_find(host->engine ? host->engine : "jit", &adopt);
    penta_vm *vm = pvm_vm_open_with(module, options, paging ? 3 : 2, adopt, NULL, err);
    return vm ? pvm_vm(vm) : NULL;
}

struct pvm_vm *jam_inner_machine(struct penta_jam_host *host, struct pvm_module *module,
                                 penta_error *err)
{
    return open_machine(host, &module->base, true, err);
}

struct pvm_vm *jam_program_take(struct penta_jam_host *host, struct jam_program *program,
                                penta_error *err)
{
    if (program->pool) return pvm_pool_take(program->pool, err);
    return open_machine(host, &program->module.base, false, err);
}

void jam_program_return(struct pvm_vm *vm)
{
    /* This call unmaps only the pages of the arguments. So the other pages can be reset instead
     * of mapped again. */
    pvm_memory_unmap(&vm->memory, vm->layout.aux, UINT64_C(1) << 24);
    vm->base.engine->close(&vm->base);
}

/* The functions below keep the prepared programs of the host. */

void jam_program_free(struct jam_program *program)
{
    pvm_pool_free(program->pool);
    free(program->bytes);
    *program = (struct jam_program){0};
}

/* Returns a free place for a program, or, when there is none, the place of the program that was
 * not used for the longest time. */
static struct jam_program *program_place(struct penta_jam_host *host)
{
    if (host->program_count < JAM_PROGRAMS) return &host->programs[host->program_count++];
    struct jam_program *oldest = host->programs;
    for (size_t i = 1; i < JAM_PROGRAMS; i++)
        if (host->programs[i].used < oldest->used) oldest = &host->programs[i];
    jam_program_free(oldest);
    return oldest;
}

struct jam_program *jam_program_get(struct penta_jam_host *host, const uint8_t *hash,
                                    penta_bytes code, penta_error *err)
{
    for (size_t i = 0; i < host->program_count; i++) {
        struct jam_program *p = &host->programs[i];
        if (p->used && p->module.base.file.size == code.size && !memcmp(p->hash, hash, JAM_HASH)) {
            p->used = ++host->clock;
            return p;
        }
    }
    struct jam_program *p = program_place(host);
    memcpy(p->hash, hash, JAM_HASH);
    p->bytes = malloc(code.size + 1);
    if (!p->bytes) {
        error_at(err, BASE_MEMORY, 0, "no memory for a program");
        return NULL;
    }
    p->used = ++host->clock;
    bytes_copy(p->bytes, code);
    p->valid = program_standard(host, (penta_bytes){p->bytes, code.size}, &p->module);
    if (p->valid && !host_in_lock_step(host)) {
        const penta_option options[] = {{"profile", host->version->profile}, {"gas", "0"}};
        p->pool = pvm_pool_new(&p->module.base, host->engine, options, 2, err);
    }
    if (!err->code) return p;
    jam_program_free(p); /* The place stays and is unused. */
    return NULL;
}
