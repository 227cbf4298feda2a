/* Tries penta/pvm.h: linking, pools, memory of machines, hosts with scripts. */
#include "penta/pvm.h"
#include "allocations.h"
#include <stdio.h>

struct linking {
    penta_object object;
    penta_option options[3];
    size_t count;
};

static void try_link(const void *user, struct outcome *o)
{
    const struct linking *l = user;
    penta_buffer out = {0}, map = {0};
    o->ok =
        penta_pvm_link(&l->object, 1, l->options, l->count, &out, &map, outcome_link_finding, o);
    outcome_buffer(o, &out);
    if (o->ok) outcome_bytes(o, map.data, map.size);
    penta_buffer_free(&map);
}

static void link_scenarios(void)
{
    static const char *const names[] = {"object", "archive", "import", "switches32", "lines4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64], name[64];
        snprintf(path, sizeof path, "tests/fuzz/seeds/pvm_link/%s", names[i]);
        snprintf(name, sizeof name, "link %s", names[i]);
        struct linking l = {.object = {.name = names[i], .bytes = file_of(path)}};
        scenario(name, try_link, &l);
        file_free(l.object.bytes);
    }
}

static void try_pool(const void *user, struct outcome *o, const char *engine)
{
    penta_error err = {0};
    penta_stop stop;
    penta_pvm_pool *pool = penta_pvm_pool_new(user, engine, NULL, 0, &err);
    if (!outcome_ok(o, pool, &err)) return;
    penta_vm *one = penta_pvm_pool_take(pool, &err);
    penta_vm *two = one ? penta_pvm_pool_take(pool, &err) : NULL;
    uint32_t pc = 0;
    uint64_t arg = 10;
    if (outcome_ok(o, two, &err) && penta_pvm_export(user, "fibonacci", &pc) &&
        penta_pvm_call(two, pc, &arg, 1)) {
        penta_vm_run(two, UINT64_MAX, &stop);
        outcome_stop(o, &stop);
    }
    penta_vm_free(one);
    penta_vm_free(two);
    penta_pvm_pool_free(pool);
}

static void try_pool_interp(const void *user, struct outcome *o) { try_pool(user, o, "interp"); }
static void try_pool_fastest(const void *user, struct outcome *o) { try_pool(user, o, NULL); }

/* Tries memory that a machine cannot get. The host is told so and may ask again. */
static void try_memory(const void *user, struct outcome *o)
{
    penta_error err = {0};
    hook_pause();
    penta_vm *vm = penta_vm_new(user, NULL, NULL, 0, NULL, &err);
    hook_resume();
    penta_error no = {.code = 3};
    outcome_ok(o, penta_pvm_map(vm, 0x40000000, 0x4000, true), &no);
    outcome_ok(o, penta_pvm_protect(vm, 0x40001000, 0x1000, false), &no);
    outcome_ok(o, penta_pvm_unmap(vm, 0x40002000, 0x1000), &no);
    uint8_t byte = 7;
    outcome_ok(o, penta_pvm_write(vm, 0x40000000, &byte, 1), &no);
    penta_pvm_reset(vm);
    penta_vm_free(vm);
}

static void try_compile(const void *user, struct outcome *o)
{
    penta_error err = {0};
    penta_pvm_compilation result = {0};
    penta_pvm_compiled *compiled = penta_pvm_compile(user, NULL, 0, NULL, &result, &err);
    if (outcome_ok(o, compiled, &err))
        outcome_bytes(o, &result.native_bytes, sizeof result.native_bytes);
    penta_pvm_compiled_free(compiled);
}

void pvm_scenarios(void)
{
    libraries_take_no(false);
    link_scenarios();
    libraries_take_no(true);
    penta_module *module = tree_assembled("examples/pvm/fibonacci.pvmasm", "pvm");
    scenario("pool (interp)", try_pool_interp, module);
    scenario("pool", try_pool_fastest, module);
    scenario("memory", try_memory, module);
    scenario("compile", try_compile, module);
    penta_close(module);
}
