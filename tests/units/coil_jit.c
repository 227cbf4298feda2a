/* Tests compiled COIL code and its surroundings: interrupts in loops with and without checks and
 * in recursion, continuing after them, a snapshot taken by one engine for the other, marks and
 * fuel. */
#include "support.h"
#include <pthread.h>
#include <time.h>

static void *coil_jit_interrupt(void *vm)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    penta_vm_interrupt(vm);
    return NULL;
}

/* Runs until an interrupt comes, twice. */
static void coil_jit_interrupted(const char *what, const char *text)
{
    penta_error err = {0};
    penta_module *m = assembled("coil", text);
    penta_vm *vm = m ? penta_vm_new(m, "jit", NULL, 0, NULL, &err) : NULL;
    penta_stop stop = {0};
    for (int i = 0; vm && i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, coil_jit_interrupt, vm);
        penta_vm_run(vm, UINT64_MAX, &stop);
        pthread_join(thread, NULL);
        CHECK(stop.kind == PENTA_STOP_INTERRUPT, "%s", what);
    }
    if (vm) { /* The interpreter continues where native code stopped. */
        penta_vm_run(vm, 1000, &stop);
        CHECK(stop.kind == PENTA_STOP_FUEL && stop.steps == 1000, "%s", what);
    }
    CHECK(vm != NULL, "%s", what);
    penta_vm_free(vm);
    penta_close(m);
}

static const char sum[] =
    ".global main\n.func main\n VAR %1, i64, 0\n VAR %2, i64, 0\n"
    ".next:\n ADD %2, %1\n INC %1\n CMP %1, 1000\n BR LT, @.next\n OUTPORT 2, %2\n"
    " MOV v0, %2\n ADD v0, i64 1\n RET\n.endfunc\n";

/* Takes a snapshot at the host call of one engine and loads it into the other. */
static void coil_jit_exchanged(const char *from, const char *to)
{
    penta_error err = {0};
    penta_module *m = assembled("coil", sum);
    penta_vm *a = penta_vm_new(m, from, NULL, 0, NULL, &err),
             *b = penta_vm_new(m, to, NULL, 0, NULL, &err);
    penta_stop stop;
    penta_buffer saved = {0};
    penta_vm_run(a, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && stop.args[1] == 499500, "a host call");
    CHECK(penta_vm_save(a, &saved, &err), "saving");
    CHECK(penta_vm_load(b, view_of(&saved), &err), "loading");
    penta_vm_run(b, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && penta_vm_answer(b, NULL, 0, &err), "the same host call");
    penta_vm_run(b, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && stop.args[0] == 499501, "the end after a snapshot");
    CHECK(penta_vm_answer(a, NULL, 0, &err), "an answer");
    penta_vm_run(a, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && stop.args[0] == 499501, "the end");
    penta_buffer_free(&saved);
    penta_vm_free(a);
    penta_vm_free(b);
    penta_close(m);
}

static void coil_jit_marked(void)
{
    penta_error err = {0};
    penta_module *m = assembled("coil", sum);
    penta_vm *vm = penta_vm_new(m, "jit", NULL, 0, NULL, &err);
    penta_stop stop;
    uint64_t pc;
    penta_vm_run(vm, 3, &stop);
    pc = stop.pc;
    CHECK(stop.kind == PENTA_STOP_FUEL && stop.steps == 3, "fuel");
    CHECK(penta_vm_mark(vm, pc, true), "a mark");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_BREAK && stop.pc == pc, "stops at the mark");
    penta_vm_mark(vm, pc, false);
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && stop.args[1] == 499500, "goes on after it");
    penta_vm_free(vm);
    penta_close(m);
}

int main(void)
{
    coil_jit_interrupted(
        "a loop without checks",
        ".global main\n.func main\n VAR %1, i64, 0\n.next:\n INC %1\n BR @.next\n.endfunc\n");
    coil_jit_interrupted("a loop with a limit",
                         ".global main\n.func main\n VAR %1, i64, 0\n.next:\n MOV u8 [@d + %1], 1\n"
                         " INC %1\n AND %1, 63\n BR @.next\n.endfunc\n.data\nd: .zero 64\n");
    coil_jit_interrupted(
        "a loop with a window",
        ".global main\n.func main\n VAR %1, u64\n VAR %2, i64\n MOV %1, u64 @p\n.next:\n"
        " MOV u8 [%1 + %2], 1\n INC %2\n AND %2, 63\n BR @.next\n.endfunc\n.data\n"
        ".align 8\np: .addr @d\nd: .zero 64\n");
    coil_jit_interrupted(
        "recursion",
        ".global main\n.func f\n MOV v1, v0\n SUB v1, i64 1\n RET LT\n MOV v0, v1\n CALL "
        "@f\n CALL @f\n RET\n"
        ".endfunc\n.func main\n.next:\n MOV v0, 20\n CALL @f\n BR @.next\n.endfunc\n");
    coil_jit_exchanged("jit", "interp");
    coil_jit_exchanged("interp", "jit");
    coil_jit_marked();
    return checks_end();
}
