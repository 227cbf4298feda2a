/* Implements include/penta/cvbc.h with the functions of the format: the state of machines, the
 * simulator, the table of boards, and the files of trinity. */
#include "cvbc/api.h"
#include "base/array.h"
#include "cvbc/host/trinity.h"
#include "cvbc/vm/vm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cvbc_vm *cvbc_machine_of(const penta_vm *vm)
{
    return vm->engine == &cvbc_interp ? (const struct cvbc_vm *)vm : NULL;
}

bool penta_cvbc_vm_state(const penta_vm *base, penta_cvbc_state *out)
{
    const struct cvbc_vm *vm = cvbc_machine_of(base);
    if (!vm) return false;
    *out = (penta_cvbc_state){.pc = vm->pc,
                              .sp = vm->sp,
                              .error = vm->error,
                              .executed = vm->executed,
                              .waiting = vm->waiting,
                              .final = vm->final,
                              .ran_off = vm->ran_off};
    return true;
}

bool penta_cvbc_vm_stack(const penta_vm *base, size_t i, int32_t *out)
{
    const struct cvbc_vm *vm = cvbc_machine_of(base);
    if (!vm || i >= vm->sp) return false;
    *out = vm->stack[CVBC_GUARD + i];
    return true;
}

bool penta_cvbc_vm_global(const penta_vm *base, size_t slot, int32_t *out)
{
    const struct cvbc_vm *vm = cvbc_machine_of(base);
    if (!vm || slot >= CVBC_GLOBALS) return false;
    *out = vm->globals[slot];
    return true;
}

bool penta_cvbc_vm_element(const penta_vm *base, size_t array, size_t i, int32_t *out)
{
    const struct cvbc_vm *vm = cvbc_machine_of(base);
    if (!vm || array >= CVBC_ARRAYS || i >= vm->arrays[array].size) return false;
    *out = vm->pool[vm->arrays[array].from + i];
    return true;
}

const char *penta_cvbc_vm_error_name(uint32_t error) { return cvbc_error_name(error); }

struct penta_cvbc_simulator {
    struct cvbc_board_state *board;
};

penta_cvbc_simulator *penta_cvbc_simulator_new(bool trace, const penta_cvbc_hal *hal,
                                               penta_error *err)
{
    *err = (penta_error){0};
    penta_cvbc_simulator *s = zeros_new(sizeof *s, "a board", err);
    if (!s) return NULL;
    s->board = cvbc_board_new(trace, NULL, err);
    if (!s->board) {
        free(s);
        return NULL;
    }
    if (hal) cvbc_board_set_hal(s->board, hal);
    return s;
}

void penta_cvbc_simulator_free(penta_cvbc_simulator *s)
{
    if (s) cvbc_board_free(s->board);
    free(s);
}

uint64_t penta_cvbc_simulator_micros(const penta_cvbc_simulator *s)
{
    return cvbc_board_micros(s->board);
}

bool penta_cvbc_simulator_answer(penta_cvbc_simulator *s, penta_vm *base, penta_buffer *output,
                                 penta_error *err)
{
    struct cvbc_vm *vm = cvbc_machine_of(base) ? cvbc_vm(base) : NULL;
    *err = (penta_error){0};
    if (!vm || !vm->waiting)
        return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    uint64_t results[2] = {0};
    size_t count = 0;
    struct writer w = {0};
    if (!cvbc_board_answer(s->board, vm, results, &count, &w)) {
        atomic_store(&vm->base.interrupt, false);
        writer_free(&w);
        return error_at(err, BASE_STATE, 0, "the machine was interrupted: answer again");
    }
    return writer_give(&w, cvbc_interp.answer(base, results, count, err), output, err);
}

const char *penta_cvbc_board_name(size_t i) { return cvbc_board_name(i); }

bool penta_cvbc_board_text(const char *name, penta_buffer *out, penta_error *err)
{
    struct cvbc_board board;
    struct writer w = {0};
    *err = (penta_error){0};
    for (size_t i = 0; cvbc_board_name(i); i++) {
        if (strcmp(cvbc_board_name(i), name)) continue;
        penta_bytes text = cvbc_board_text(i);
        writer_bytes(&w, text.data, text.size);
        return writer_give(&w, true, out, err);
    }
    if (cvbc_board_find(name, &board, err)) /* The board is a file, which the caller has. */
        error_at(err, BASE_OPTION_VALUE, 0, "'%.60s' is no board with a name", name);
    return false;
}

bool penta_cvbc_board_find(const char *name, penta_cvbc_board *out, penta_error *err)
{
    struct cvbc_board b;
    *err = (penta_error){0};
    if (!cvbc_board_find(name, &b, err)) return false;
    *out = (penta_cvbc_board){.architecture = b.architecture,
                              .family = b.family,
                              .variant = b.variant,
                              .features = b.features,
                              .flash_kb = b.flash_kb,
                              .ram_kb = b.ram_kb,
                              .ports = b.ports,
                              .pins = b.pins,
                              .any = b.any};
    memcpy(out->name, b.name, sizeof out->name);
    return true;
}

bool penta_cvbc_board_check(const penta_module *module, const char *name, penta_report *report,
                            void *user)
{
    const struct cvbc_module *m = cvbc_module(module);
    struct findings f = {.rules = cvbc_rules, .report = report, .user = user};
    struct cvbc_board board;
    penta_error err = {0};
    if (!cvbc_board_find(name, &board, &err))
        findings_pass(&f, &err);
    else
        cvbc_check_full(m, &f);
    const penta_error *objection = f.errors ? NULL : cvbc_objection(m);
    if (objection) findings_pass(&f, objection);
    if (!f.errors) cvbc_programs_fit(m, &board, &f);
    return !f.errors;
}

const char *penta_cvbc_trinity_name(size_t i)
{
    return i < TRINITY_FILES ? cvbc_trinity_names[i] : NULL;
}

_Static_assert((int)PENTA_CVBC_TRINITY_FILES == (int)TRINITY_FILES,
               "the public header counts them too");

/* Lists all programs: each container, followed by its other programs. */
static const struct cvbc_module **every_program(const penta_module *const *modules, size_t count,
                                                size_t *programs, penta_error *err)
{
    size_t most = count + 1, n = 0;
    for (size_t i = 0; i < count; i++) most += cvbc_module(modules[i])->meta.entry_count;
    const struct cvbc_module **all = calloc(most, sizeof *all);
    if (!all) error_at(err, BASE_MEMORY, 0, "no memory for the programs");
    for (size_t i = 0; all && i < count; i++) {
        const struct cvbc_module *m = cvbc_module(modules[i]);
        all[n++] = m;
        for (size_t k = 0; m->inner && k < m->meta.entry_count; k++) all[n++] = m->inner[k];
    }
    *programs = n;
    return all;
}

bool penta_cvbc_trinity(const penta_module *const *modules, size_t count, const char *name,
                        penta_buffer out[PENTA_CVBC_TRINITY_FILES], penta_error *err)
{
    struct cvbc_board board;
    *err = (penta_error){0};
    if (name && !cvbc_board_find(name, &board, err)) return false;
    for (size_t i = 0; i < count; i++) {
        struct findings f = {.rules = cvbc_rules, .report = error_keep_first, .user = err};
        cvbc_check_full(cvbc_module(modules[i]), &f);
        const penta_error *objection = f.errors ? err : cvbc_objection(cvbc_module(modules[i]));
        if (!objection) continue;
        *err = *objection;
        return error_note(err, "container %zu of %zu", i + 1, count);
    }
    struct writer w[TRINITY_FILES] = {{.sink = NULL}};
    size_t before[TRINITY_FILES], programs = 0;
    const struct cvbc_module **all = every_program(modules, count, &programs, err);
    bool ok = all && cvbc_trinity(all, programs, name ? &board : NULL, w, err);
    free(all);
    for (int i = 0; i < TRINITY_FILES; i++) {
        before[i] = out[i].size;
        ok = writer_give(&w[i], ok, &out[i], err);
    }
    for (int i = 0; i < TRINITY_FILES && !ok; i++) out[i].size = before[i];
    return ok;
}
