/* Tests samples of compiled code: every place of it must belong to the instruction for which it
 * was made, and profiles of samples must not be taken for profiles of counts. */
#include "support.h"
#include <string.h>
#include <ucontext.h>
#include "coil/jit/jit.h"
#include "penta/profile.h"
#include "pvm/jit/jit.h"

static penta_error err;

static const char pvm_text[] =
    "%isa = latest64\n%stack_size = 4096\n%export \"main\" = @main\n"
    "@main:\nsp = sp - 8\nu64 [sp] = ra\na0 = 3\nra = @back, jump @leaf\n@back:\n"
    "ra = u64 [sp]\nsp = sp + 8\nret\n"
    "@leaf:\na1 = a0 /u a1\na0 = a0 - 1\njump @leaf if a0 != 0\nret\n";
static const char coil_text[] =
    ".global main\n.func small\n    MUL v1, v1\n    RET\n.endfunc\n"
    ".func loop\n    VAR %i, i64, 9\n.n:\n    CALL @small\n    DEC %i\n    CMP %i, 0\n"
    "    BR NEQ, @.n\n    RET\n.endfunc\n"
    ".func main\n    MOV v1, 3\n    CALL @loop\n    MOV v0, v1\n    RET\n.endfunc\n";

static size_t samples_test_where(const penta_session *s, uint64_t native, uint64_t stack,
                                 uint64_t *pcs)
{
    static uint64_t nothing[8];
    ucontext_t context;
    memset(&context, 0, sizeof context);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)native;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)(stack ? stack : (uintptr_t)nothing);
    return penta_session_where(s, &context, pcs, 4);
}

static void pvm_places(penta_session *s)
{
    const struct pvm_vm *vm = pvm_vm_const(penta_session_vm(s));
    const struct pvm_native *n = vm->cells->native;
    uint64_t base = (uint64_t)(uintptr_t)n->code, pcs[4];
    unsigned found = 0;
    for (uint32_t pc = 0; pc < n->size; pc++) {
        uint32_t at = pvm_native_offset(n, pc);
        if (!at) continue;
        CHECK(samples_test_where(s, base + at, 0, pcs) && pcs[0] == pc);
        found++;
        /* Shared code that this instruction has called has two words on the stack. */
        uint64_t stack[] = {1, 2, base + at + 1};
        CHECK(samples_test_where(s, base + n->exits_end, (uintptr_t)stack, pcs) && pcs[0] == pc);
    }
    CHECK(found > 6);
    for (uint32_t at = 0; at < n->used; at++) CHECK(samples_test_where(s, base + at, 0, pcs) <= 4);
    CHECK(samples_test_where(s, (uintptr_t)&found, 0, pcs) == 1 && pcs[0] == vm->state->pc);
}

static void coil_places(penta_session *s)
{
    const struct coil_jit *j = (const struct coil_jit *)penta_session_vm(s);
    const struct coil_program *p = &j->vm.program;
    uint64_t base = (uint64_t)(uintptr_t)j->code, pcs[4];
    bool inlined = false;
    CHECK(j->line_count > 6);
    for (size_t i = 0; i < j->line_count; i++) {
        size_t n = samples_test_where(s, base + j->lines[i].native, 0, pcs);
        CHECK(n && pcs[0] == p->pcs[j->lines[i].position]);
        inlined |= n == 2; /* The second pc is that of `small`, inlined into `loop`. */
    }
    CHECK(inlined);
    /* Places of calls are return addresses on the machine's stack. */
    uint64_t *stack = (uint64_t *)(uintptr_t)(j->stack_memory + j->stack_bytes) - 4;
    for (size_t i = 0; i < j->site_count; i++) {
        const struct ssa_site *site = &j->sites[i];
        stack[0] = base + site->native;
        size_t n = samples_test_where(s, base + j->lines[0].native, (uintptr_t)stack, pcs);
        CHECK(n > 1 && pcs[1] == p->pcs[site->position]);
    }
    for (uint64_t at = 0; at < j->code_used; at++)
        CHECK(samples_test_where(s, base + at, (uintptr_t)stack, pcs) <= 4);
}

static void samples_test_profiles(penta_session *s, penta_session *counted)
{
    penta_profile *p = penta_profile_new(s, &err), *other = penta_profile_new(counted, &err);
    penta_buffer out = {0};
    REQUIRE(p && other);
    CHECK(!strcmp(penta_profile_unit(p), "samples") && !penta_profile_total(p));
    CHECK(!strcmp(penta_profile_unit(other), "instructions") && penta_profile_total(other));
    CHECK(!penta_profile_add(p, other, &err) && !penta_profile_add(other, p, &err));
    CHECK(!penta_profile_coverage(p, NULL, 0, &out, &err) && !penta_profile_lcov(p, &out, &err));
    CHECK(!penta_profile_html(p, NULL, 0, &out, &err) && !penta_profile_write(p, &out, &err));
    CHECK(penta_profile_add(p, p, &err) && penta_profile_folded(p, NULL, 0, &out, &err));
    CHECK(!out.size);
    penta_profile_free(p);
    penta_profile_free(other);
}

static void samples_test_one(const char *format, const char *text, void (*places)(penta_session *s))
{
    penta_module *m = assembled(format, text);
    penta_session *s = penta_session_new(m, "jit", NULL, 0, NULL, &err);
    penta_session *counted = penta_session_new(m, "interp", NULL, 0, NULL, &err);
    penta_stop stop;
    REQUIRE(s && counted);
    CHECK(!penta_session_sample(counted, &err) && penta_session_count(counted, &err));
    penta_session_run(counted, UINT64_MAX, &stop);
    /* Without the compiled engine the host cannot compile. */
    if (!strcmp(penta_vm_engine(penta_session_vm(s)), "jit")) {
        uint64_t pc;
        CHECK(!penta_session_where(s, NULL, &pc, 1));
        CHECK(!penta_session_count(s, &err) && penta_session_sample(s, &err));
        places(s);
        samples_test_profiles(s, counted);
    }
    penta_session_free(s);
    penta_session_free(counted);
    penta_close(m);
}

int main(void)
{
    check_note = err.message;
    samples_test_one("pvm", pvm_text, pvm_places);
    samples_test_one("coil", coil_text, coil_places);
    return checks_end();
}
