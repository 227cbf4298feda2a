/* These functions of penta/coil.h show compiled code: the names of passes, facts about the
 * compilation, and the code after a pass. */
#include "coil/jit/jit.h"
#include "penta/coil.h"
#include <stdlib.h>
#include <string.h>

/* The compiler of COIL has these passes of its own, which come before the passes of src/ssa. */
static const char *const own[] = {"lower", "inline"};
enum { OWN = sizeof own / sizeof *own };

const char *penta_coil_pass_name(size_t number)
{
    if (number < OWN) return own[number];
    for (size_t i = 0; ssa_passes[i].name; i++)
        if (i == number - OWN) return ssa_passes[i].name;
    return NULL;
}

static const struct coil_jit *jit_compiled(const penta_vm *vm)
{
    bool jit = vm->engine == &coil_jit_engine || vm->engine == &coil_both;
    return jit ? (const struct coil_jit *)vm : NULL;
}

bool penta_coil_compiled(const penta_vm *vm, penta_coil_compilation *result)
{
    const struct coil_jit *j = jit_compiled(vm);
    if (!j || !j->code) return false;
    *result = (penta_coil_compilation){.functions = (uint32_t)j->vm.program.function_count,
                                       .interpreted = j->interpreted,
                                       .native_bytes = (uint32_t)j->code_used,
                                       .nanoseconds = j->nanoseconds,
                                       .work = j->work_done,
                                       .simple = j->simple};
    for (uint32_t c = 0; c < j->vm.program.count; c++)
        result->instructions += j->vm.program.cells[c].op != COIL_CELL_END;
    return true;
}

struct dump {
    const struct coil_module *m;
    const struct coil_program *p;
    const char *pass;
    struct writer *out;
};

static void print_after(void *user, const char *pass, const struct ssa_function *f)
{
    struct dump *d = user;
    if (strcmp(pass, d->pass)) return;
    uint64_t address = d->p->functions[f->number].address;
    writer_print(d->out, "function 0x%llx", (unsigned long long)address);
    for (size_t i = 0; i < d->m->symbol_count; i++)
        if (d->p->symbols[i] == address && coil_symbol_name(d->m, i).size) {
            penta_bytes name = coil_symbol_name(d->m, i);
            writer_print(d->out, " %.*s", (int)name.size, (const char *)name.data);
            break;
        }
    writer_text(d->out, "\n");
    ssa_print(f, d->out);
}

bool penta_coil_pass_text(const penta_vm *vm, const char *pass, penta_buffer *out, penta_error *err)
{
    const struct coil_jit *j = jit_compiled(vm);
    size_t n = 0;
    *err = (penta_error){0};
    while (penta_coil_pass_name(n) && strcmp(penta_coil_pass_name(n), pass)) n++;
    if (!penta_coil_pass_name(n))
        return error_at(err, BASE_OPTION_VALUE, 0, "no pass is called '%.20s'", pass);
    if (!j || !j->code)
        return error_at(err, BASE_UNSUPPORTED, 0, "the machine has no compiled code");
    struct writer w = {0};
    /* `again` is a second compiler for the same program. The machine keeps its own code. */
    struct coil_jit *again = calloc(1, sizeof *again);
    if (!again) return error_at(err, BASE_MEMORY, 0, "no memory to compile");
    struct dump d = {j->vm.m, &j->vm.program, pass, &w};
    again->vm = j->vm;
    again->level = j->level;
    again->sse2 = j->sse2;
    again->after = print_after;
    again->after_user = &d;
    bool ok = coil_jit_compile(again);
    coil_jit_release(again);
    free(again);
    if (!ok) error_at(err, BASE_MEMORY, 0, "no memory to compile");
    return writer_give(&w, ok, out, err);
}
