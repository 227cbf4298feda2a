#include "coil_programs.h"
#include "core/engine.h"
#include <stdio.h>
#include <string.h>

struct first {
    char *note;
    size_t room;
};

static void coil_trial_keep(void *user, const penta_error *found)
{
    struct first *f = user;
    if (found->severity == PENTA_ERROR && !f->note[0])
        snprintf(f->note, f->room, "%s", found->message);
}

static bool coil_trial_skip(void *user, const penta_node *node)
{
    (void)user, (void)node;
    return false;
}
static void coil_trial_nothing(void *user, const penta_node *node) { (void)user, (void)node; }

static void coil_trial_difference(void *user, const penta_field *field)
{
    struct first *f = user;
    if (field->kind == PENTA_TEXT && !strcmp(field->name, "difference"))
        snprintf(f->note, f->room, "%.*s", (int)field->as.bytes.size,
                 (const char *)field->as.bytes.data);
}

const char *coil_trial(penta_bytes text, bool *ran, char *note, size_t room)
{
    struct first first = {note, room};
    penta_error err = {0};
    /* One program in four is compiled with the least effort, and one in three for any processor. */
    penta_option limits[] = {{"heap", "65536"},
                             {"stack", "4096"},
                             {"frames", "65536"},
                             {"depth", "20"},
                             {"optimize", text.size % 4 ? "2" : "1"},
                             {"vectors", text.size % 3 ? "avx2" : "sse2"}};
    *ran = false;
    note[0] = 0;
    penta_module *module = penta_assemble(text, "coil", NULL, 0, coil_trial_keep, &first);
    if (!module) return NULL;
    penta_vm *vm = penta_vm_new(module, "both", limits, 6, NULL, &err);
    const char *wrong = NULL;
    if (vm && vm->engine->name[0] == 'b') {
        penta_stop stop = {0};
        *ran = true;
        for (int i = 0; i < 100000; i++) {
            penta_vm_run(vm, UINT64_MAX, &stop);
            if (stop.kind != PENTA_STOP_HOST) break;
            uint64_t answer = (uint64_t)i * 3;
            penta_vm_answer(vm, &answer, stop.detail == 2 ? 1 : 0, &err);
        }
        if (stop.kind == PENTA_STOP_DISAGREE) {
            penta_visitor visitor = {&first, coil_trial_skip, coil_trial_difference,
                                     coil_trial_nothing};
            vm->engine->describe(vm, &visitor);
            wrong = "the engines differ";
        }
    }
    penta_vm_free(vm);
    penta_close(module);
    return wrong;
}
