/* Tells which instructions of the program are being executed. A profiler calls these functions
 * from a signal handler that has interrupted native code. */
#include "base/array.h"
#include "coil/jit/jit.h"

struct sample {
    const struct coil_jit *j;
    uint64_t *pcs;
    size_t count, max;
};

static void sample_add(struct sample *s, uint32_t cell)
{
    const struct coil_program *p = &s->j->vm.program;
    if (s->count < s->max && cell < p->count) s->pcs[s->count++] = p->pcs[cell];
}

/* Adds the cell whose code is at an offset to the sample. If the cell belongs to an inlined
 * function, the function also adds a cell of the function that contains the inlined code. */
static void add_code(struct sample *s, uint32_t offset)
{
    const struct coil_jit *j = s->j;
    const struct coil_program *p = &j->vm.program;
    size_t line, i;
    ARRAY_SEARCH(i, 0, p->function_count, j->entries[i] > offset);
    ARRAY_SEARCH(line, 0, j->line_count, j->lines[line].native > offset);
    uint32_t function = (uint32_t)i - 1, cell = p->functions[function].first;
    if (line && j->lines[line - 1].native >= j->entries[function])
        cell = j->lines[line - 1].position;
    sample_add(s, cell);
    if (cell < p->count && p->owners[cell] != function) sample_add(s, p->functions[function].first);
}

/* Adds the callers, from the innermost out, by the return addresses on the stack, as
 * open_functions in state.c does. A word that is no return address belongs to a call that is
 * just beginning or ending. */
static void add_callers(struct sample *s, const uint64_t *at)
{
    enum { INLINED = 8 };
    const struct coil_jit *j = s->j;
    const uint64_t *end = (const uint64_t *)(uintptr_t)(j->stack_memory + j->stack_bytes) - 1;
    while (at < end && s->count < s->max) {
        struct coil_open open[INLINED];
        const struct ssa_site *site = coil_jit_site(j, *at);
        size_t n = site ? coil_jit_open_at(j, site, 0, NULL) : 0;
        if (n && n <= INLINED) coil_jit_open_at(j, site, 0, open);
        for (size_t i = 0; n <= INLINED && i < n; i++) sample_add(s, open[i].position);
        bool call = site && (site->kind & 0xff) == COIL_EXIT_CALL;
        at += call ? n : 1;
    }
}

static bool on_stack(const struct coil_jit *j, uint64_t address)
{
    return address - (uint64_t)(uintptr_t)j->stack_memory < j->stack_bytes && !(address & 7);
}

/* Returns how many words that are no return addresses the code around `pc` has put on the stack. */
static size_t words_at(const struct coil_jit *j, uint64_t pc)
{
    enum { CALL = 5 }; /* number of bytes of a call instruction */
    const struct ssa_site *site = coil_jit_site(j, pc);
    if (!site) site = coil_jit_site(j, pc + CALL);
    bool call = site && (site->kind & 0xff) == COIL_EXIT_CALL;
    return call ? coil_jit_open_at(j, site, 0, NULL) - 1 : 0;
}

size_t coil_jit_sample(const penta_vm *base, const struct native_state *at,
                       const struct code_map *map, uint64_t *pcs, size_t max)
{
    const struct coil_jit *j = (const struct coil_jit *)base;
    struct sample s = {.j = j, .pcs = pcs, .max = max};
    uint64_t offset = at->pc - (uint64_t)(uintptr_t)j->code, stack = at->regs[RSP];
    (void)map;
    if (!j->code) return 0;
    if (offset < j->code_used && j->vm.program.function_count && offset >= j->entries[0]) {
        add_code(&s, (uint32_t)offset);
        stack += 8 * words_at(j, at->pc);
        /* The C functions that native code calls run on the host's stack. */
    } else if (!on_stack(j, stack)) {
        stack = j->inside || j->suspended ? j->stack : 0;
    }
    if (on_stack(j, stack)) add_callers(&s, (const uint64_t *)(uintptr_t)stack);
    if (!s.count) sample_add(&s, j->vm.pc); /* The interpreter is running and not native code. */
    return s.count;
}
