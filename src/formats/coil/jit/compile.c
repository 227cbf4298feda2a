/* Compiles all functions of a program to native code, with the stubs that enter and leave it.
 * lower.c makes the SSA form of a function, and src/ssa the code. */
#include "base/platform/processor.h"
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

struct touching {
    unsigned most; /* 1 + the highest of the registers V0 to V5 that the function uses */
};

static void compile_touch(void *user, uint8_t at, uint32_t slot, bool write)
{
    struct touching *t = user;
    (void)write;
    if (at == COIL_AT_REGISTER && slot < COIL_PASSED && slot + 1 > t->most) t->most = slot + 1;
}

/* Tells whether an instruction names registers. Most instructions do not, and this function
 * finds that out fast. */
static bool names_registers(const struct coil_step *s)
{
    if (s->opcode == COIL_OP_SIZEOF || s->opcode == COIL_OP_ALIGNOF) return true;
    for (unsigned i = 0; i < s->count; i++) {
        const struct coil_place *p = &s->places[i];
        if (p->at == COIL_AT_REGISTER || p->base.at == COIL_AT_REGISTER ||
            p->index.at == COIL_AT_REGISTER)
            return true;
    }
    return false;
}

static bool is_call(uint16_t op) { return op == COIL_CELL_CALL || op == COIL_CELL_CALL_IF; }

/* Adds the registers that a function uses to those of all its callers. The function visits each
 * caller at most once for each register. */
static bool spread_touched(struct coil_jit *j)
{
    const struct coil_program *p = &j->vm.program;
    uint32_t count = (uint32_t)p->function_count, calls = 0, n = 0;
    for (uint32_t c = 0; c < p->count; c++) calls += is_call(p->cells[c].op);
    /* first[i] says where the callers of function i begin in the list. */
    uint32_t *first = calloc(count + 2, sizeof *first),
             *callers = calloc(calls + 1, sizeof *callers), *work = calloc(count + 1, sizeof *work);
    uint8_t *waits = calloc(count + 1, 1);
    bool ok = first && callers && work && waits;
    for (uint32_t c = 0; ok && c < p->count; c++)
        if (is_call(p->cells[c].op)) first[p->cells[c].a + 2]++;
    for (uint32_t i = 2; ok && i < count + 2; i++) first[i] += first[i - 1];
    for (uint32_t c = 0; ok && c < p->count; c++)
        if (is_call(p->cells[c].op)) callers[first[p->cells[c].a + 1]++] = p->owners[c];
    for (uint32_t i = 0; ok && i < count; i++) work[n++] = i, waits[i] = 1;
    while (ok && n) {
        uint32_t i = work[--n];
        waits[i] = 0;
        for (uint32_t k = first[i]; k < first[i + 1]; k++) {
            uint32_t caller = callers[k];
            if (j->touched[i] <= j->touched[caller]) continue;
            j->touched[caller] = j->touched[i];
            if (!waits[caller]) work[n++] = caller, waits[caller] = 1;
        }
    }
    free(first);
    free(callers);
    free(work);
    free(waits);
    return ok;
}

/* Finds the registers that functions pass. A function takes and gives back the registers from V0
 * to the last one that it may use, or that a function that it calls may use. */
static bool find_touched(struct coil_jit *j)
{
    const struct coil_program *p = &j->vm.program;
    for (uint32_t c = 0; c < p->count; c++) {
        struct touching t = {0};
        if (p->steps[c] && names_registers(p->steps[c]))
            coil_step_touches(p->steps[c], compile_touch, &t);
        /* An instruction that leaves compiled code for the interpreter may come back through any
         * other function. */
        uint16_t op = p->cells[c].op;
        bool stays = op == COIL_CELL_INDIRECT &&
                     (p->steps[c]->opcode == COIL_OP_TRAP || coil_table_of(&j->vm, c));
        if (op == COIL_CELL_INDIRECT && !stays) t.most = COIL_PASSED, j->leaves = true;
        if (t.most > j->touched[p->owners[c]]) j->touched[p->owners[c]] = (uint8_t)t.most;
    }
    return spread_touched(j);
}

static struct x64_mem compile_field(size_t offset)
{
    return (struct x64_mem){.base = R15, .index = X64_NONE, .disp = (int32_t)offset};
}

static void call_reg(struct x64 *e, enum x64_reg reg) { x64_form(e, 0xff, X32, 2, reg, false); }

static const enum x64_reg saved[] = {RBX, RBP, R12, R13, R14, R15};

static void compile_begin(struct x64 *e)
{
    for (int i = 0; i < 6; i++) x64_push(e, saved[i]);
    x64_sub_imm(e, X64, RSP, 8);
    x64_mov(e, X64, R15, RDI);
    x64_mov_store(e, X64, compile_field(offsetof(struct coil_jit, host_stack)), RSP);
}

static void compile_end(struct x64 *e)
{
    x64_mov_load(e, X64, RSP, compile_field(offsetof(struct coil_jit, host_stack)));
    x64_add_imm(e, X64, RSP, 8);
    for (int i = 6; i-- > 0;) x64_pop(e, saved[i]);
    x64_ret(e);
}

static void save_all(struct x64 *e)
{
    for (int i = 0; i < 16; i++)
        if (i != RSP && i != R15)
            x64_mov_store(e, X64, compile_field(offsetof(struct coil_jit, gpr) + 8 * (size_t)i),
                          (enum x64_reg)i);
    for (unsigned i = 0; i < 16; i++)
        x64_movups_store(e, e->vex, compile_field(offsetof(struct coil_jit, xmm) + 32 * (size_t)i),
                         i);
    if (e->vex) x64_vzeroupper(e);
}

static void restore_all(struct x64 *e)
{
    for (unsigned i = 0; i < 16; i++)
        x64_movups_load(e, e->vex, i,
                        compile_field(offsetof(struct coil_jit, xmm) + 32 * (size_t)i));
    for (int i = 0; i < 16; i++)
        if (i != RSP && i != R15)
            x64_mov_load(e, X64, (enum x64_reg)i,
                         compile_field(offsetof(struct coil_jit, gpr) + 8 * (size_t)i));
    x64_mov_load(e, X64, RSP, compile_field(offsetof(struct coil_jit, stack)));
    x64_ret(e);
}

/* Writes three stubs: enter(machine, code), which returns 1 when the function returns and 0 when
 * compiled code has stopped at an exit; the stub that resumes compiled code; and the stub that
 * exits call. */
static void write_stubs(struct coil_jit *j, struct ssa_code *code)
{
    struct x64 *e = &code->e;
    j->enter = x64_here(e);
    compile_begin(e);
    x64_mov(e, X64, R11, RSI);
    x64_mov_load(e, X64, RSP, compile_field(offsetof(struct coil_jit, stack)));
    x64_mov_load(e, X64, R14, compile_field(offsetof(struct coil_jit, linear)));
    x64_mov_load(e, X64, RBP, compile_field(offsetof(struct coil_jit, frame)));
    for (unsigned i = 0; i < COIL_PASSED; i++)
        x64_mov_load(e, X64, (enum x64_reg)ssa_param_registers[i],
                     compile_field(offsetof(struct coil_vm, v) + 8 * i));
    call_reg(e, R11);
    if (e->vex) x64_vzeroupper(e);
    for (unsigned i = 0; i < COIL_PASSED; i++)
        x64_mov_store(e, X64, compile_field(offsetof(struct coil_jit, gpr) + 8 * i),
                      (enum x64_reg)ssa_param_registers[i]);
    x64_mov_imm(e, RAX, 1);
    compile_end(e);

    j->resume = x64_here(e);
    compile_begin(e);
    restore_all(e);

    code->ask = x64_here(e);
    save_all(e);
    x64_mov_store(e, X64, compile_field(offsetof(struct coil_jit, stack)), RSP);
    x64_mov_store(e, X64, compile_field(offsetof(struct coil_jit, frame)), RBP);
    x64_mov_load(e, X64, RSP, compile_field(offsetof(struct coil_jit, host_stack)));
    x64_mov(e, X64, RDI, R15);
    x64_mov_imm(e, R11, (uint64_t)(uintptr_t)coil_jit_ask);
    call_reg(e, R11);
    x64_test(e, X64, RAX, RAX);
    uint32_t stay = x64_jcc_later(e, X64_E);
    x64_mov_imm(e, RAX, 0);
    compile_end(e);
    x64_aim(e, stay, x64_here(e));
    restore_all(e);
}

static struct ssa_region *find_regions(const struct coil_vm *vm, size_t *count)
{
    struct ssa_region *regions = calloc(vm->region_count + 1, sizeof *regions);
    *count = 0;
    for (size_t i = 0; regions && i < vm->region_count; i++) {
        const struct coil_region *r = &vm->regions[i];
        /* The heap is not one of the regions, because it has no size yet. */
        if (r != vm->heap && r->size)
            regions[(*count)++] = (struct ssa_region){r->base, r->size, r->writable};
    }
    return regions;
}

/* Tells whether a function is small enough to be inlined: it has no loops and no variables in
 * memory, and the program cannot end in it. */
static bool is_small(const struct coil_jit *j, uint32_t function)
{
    enum { CELLS = 28 };
    const struct coil_program *p = &j->vm.program;
    const struct coil_function *f = &p->functions[function];
    if (f->bytes || function == p->entry || j->leaves) return false;
    uint32_t n = 0;
    for (uint32_t c = f->first; c < p->count && p->owners[c] == function; c++, n++) {
        uint16_t op = p->cells[c].op;
        bool jumps = op >= COIL_CELL_JMP && op <= COIL_CELL_BR_LTE;
        if (n >= CELLS || (jumps && p->cells[c].a <= c)) return false;
    }
    return n != 0;
}

/* Replaces calls of small functions by the code of these functions. It does so once: calls
 * inside the inlined code stay calls. */
static void inline_calls(struct coil_jit *j, struct ssa_function *f)
{
    enum { MOST = 16 };
    uint32_t calls[MOST], n = 0;
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i && n < MOST; i = f->insns[i].next)
            if (f->insns[i].op == SSA_CALL && is_small(j, (uint32_t)f->insns[i].imm))
                calls[n++] = i;
    for (uint32_t k = 0; k < n && !f->failed; k++) {
        struct ssa_function g;
        uint32_t number = (uint32_t)f->insns[calls[k]].imm;
        ssa_init(&g);
        g.number = number;
        g.avx2 = f->avx2;
        g.work = f->work;
        if (coil_lower_function(&j->vm, number, j->touched, j->leaves,
                                j->slot_types + j->slot_first[number], &g, NULL)) {
            ssa_pass_copies(&g);
            ssa_pass_fold(&g);
            ssa_pass_dead(&g);
            if (!g.failed) ssa_inline(f, calls[k], &g);
        }
        ssa_fini(&g);
    }
}

static size_t stack_depth(const struct coil_jit *j) { return j->vm.depth_max + 8; }

static size_t frame_most(const struct coil_jit *j) { return ((size_t)1 << 34) / stack_depth(j); }

/* Returns how much work compiling a function may take. The work, and the memory for instructions
 * and their lists, grow with the size of the function. */
uint64_t coil_work_most(const struct coil_program *p, uint32_t function)
{
    enum { LEAST = 1 << 21, FIRST = 1 << 14, PER_CELL = 1 << 10, LATER = 1 << 9 };
    uint32_t start = p->functions[function].first, cells = 0;
    while (start + cells < p->count && p->owners[start + cells] == function) cells++;
    uint32_t first = cells < FIRST ? cells : FIRST;
    return LEAST + (uint64_t)first * PER_CELL + (uint64_t)(cells - first) * LATER;
}

static bool compile_at(struct coil_jit *j, uint32_t number, struct ssa_code *code,
                       struct ssa_function *f, bool fast)
{
    bool parts = fast && !j->after;
    f->number = number;
    f->work = &j->work;
    f->apart = fast;
    bool ok = coil_lower_function(&j->vm, number, j->touched, j->leaves,
                                  j->slot_types + j->slot_first[number], f, parts ? code : NULL);
    if (ok && !parts) {
        if (j->after) j->after(j->after_user, "lower", f);
        if (!fast) inline_calls(j, f);
        if (j->after) j->after(j->after_user, "inline", f);
        if (!fast) {
            coil_drop_extensions(f, j);
            ssa_optimise(f, j->after, j->after_user);
        }
        ok = ssa_emit(f, number, code);
    }
    /* A frame may not be larger than the stack divided by the number of calls that may be open. */
    ok = ok && j->frames[number] <= frame_most(j);
    j->framed[number] = ok && fast;
    j->work_done += j->work.done;
    return ok;
}

/* Removes the code of a function whose frame is too large. */
static void forget_code(struct ssa_code *code, const struct ssa_code *before)
{
    code->e.at = before->e.at;
    code->site_count = before->site_count;
    code->location_count = before->location_count;
    code->call_count = before->call_count;
    code->line_count = before->line_count;
}

/* Empties an SSA function as ssa_clear does, but keeps the settings that all functions of the
 * program share. */
static void function_start_again(struct ssa_function *f)
{
    struct ssa_function kept = *f;
    ssa_clear(f);
    f->regions = kept.regions;
    f->region_count = kept.region_count;
    f->limits = kept.limits;
    f->avx2 = kept.avx2;
}

/* Compiles one function. `f` is an empty SSA function with the settings that all functions of
 * the program share. */
static bool compile_function(struct coil_jit *j, uint32_t number, struct ssa_code *code,
                             struct ssa_function *f)
{
    const struct coil_function *function = &j->vm.program.functions[number];
    bool fast = j->level < COIL_LEVEL_FULL, stopped = j->work.stop && *j->work.stop;
    struct ssa_code before = *code;
    j->work.done = j->work.look = 0;
    j->work.most = coil_work_most(&j->vm.program, number);
    bool ok = !stopped && compile_at(j, number, code, f, fast);
    stopped = j->work.stop && *j->work.stop;
    /* The function takes too much work or has too large a frame, so it is compiled at the fast
     * level. */
    if (!ok && !fast && !stopped) {
        j->work = (struct ssa_work){.most = UINT64_MAX, .stop = j->work.stop};
        function_start_again(f);
        forget_code(code, &before);
        ok = compile_at(j, number, code, f, true);
        j->simple += ok;
    }
    j->work.over = false;
    if (ok) return true;
    j->interpreted++;
    function_start_again(f);
    forget_code(code, &before);
    f->number = number;
    coil_lower_stub(function, j->touched[number], f);
    return ssa_emit(f, number, code);
}

static bool number_slots(struct coil_jit *j)
{
    const struct coil_program *p = &j->vm.program;
    size_t total = 0;
    for (size_t i = 0; i < p->function_count; i++) {
        j->slot_first[i] = (uint32_t)total;
        total += p->functions[i].slots;
    }
    j->slot_types = calloc(total + 1, 1);
    j->kept = calloc(total + 1, 1);
    return j->slot_types && j->kept && total < UINT32_MAX;
}

static bool compile_all(struct coil_jit *j, struct ssa_code *code)
{
    const struct coil_program *p = &j->vm.program;
    size_t regions_count;
    struct ssa_region *regions = find_regions(&j->vm, &regions_count);
    struct ssa_limits limits = {.offset = offsetof(struct coil_jit, limits),
                                .capacity = COIL_LIMITS,
                                .words = j->limit_words};
    bool ok = regions && number_slots(j);
    ok = ok && coil_tables_find(&j->vm) && find_touched(j) && coil_find_callable(j);
    if (ok) write_stubs(j, code);
    struct ssa_function f;
    ssa_init(&f);
    for (uint32_t i = 0; ok && i < p->function_count; i++) {
        ssa_clear(&f);
        f.regions = regions;
        f.region_count = regions_count;
        f.limits = &limits;
        f.avx2 = code->e.vex;
        ok = compile_function(j, i, code, &f);
    }
    ssa_fini(&f);
    j->limit_count = limits.count;
    free(regions);
    return ok;
}

/* Maps the two stacks of compiled code. The first has the return addresses of as many calls as
 * may be open, and space for signal handlers below them; the second has the frames. */
static bool map_stacks(struct coil_jit *j)
{
    enum { SIGNALS = 256 << 10 };
    const struct coil_program *p = &j->vm.program;
    size_t largest = 16, depth = stack_depth(j);
    for (size_t i = 0; i < p->function_count; i++)
        if (j->frames[i] > largest) largest = j->frames[i];
    if (depth > (size_t)1 << 24 || largest > frame_most(j)) return false;
    j->stack_bytes = (depth * 8 + SIGNALS + 4095) / 4096 * 4096;
    j->frame_bytes = (depth * largest + 4095) / 4096 * 4096;
    j->stack_memory = mmap(NULL, j->stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    j->frame_memory = mmap(NULL, j->frame_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return j->stack_memory != MAP_FAILED && j->frame_memory != MAP_FAILED;
}

/* Tells whether a program uses vectors. Programs without vectors get the shorter instructions. */
static bool has_vectors(const struct coil_program *p)
{
    for (size_t c = 0; c < p->count; c++) {
        const struct coil_step *s = p->steps[c];
        for (unsigned i = 0; s && i < s->count; i++)
            if (!coil_is_scalar(s->places[i].op) && coil_is_array(s->places[i].type) &&
                s->places[i].type->size >= 16)
                return true;
    }
    return false;
}

static uint64_t compile_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool coil_jit_compile(struct coil_jit *j)
{
    enum { RESERVE = 1 << 16 }; /* the most bytes that the code of one instruction may take */
    const struct coil_program *p = &j->vm.program;
    size_t capacity = p->count * 256 + (size_t)(1 << 20);
    uint64_t start = compile_now();
    struct ssa_code code = {0};
    if (!processor_has(PROCESSOR_POPCNT | PROCESSOR_BMI2) || j->vm.m->big_endian ||
        capacity > (size_t)1 << 30)
        return false;
    j->frames = calloc(p->function_count + 1, sizeof *j->frames);
    j->entries = calloc(p->function_count + 1, sizeof *j->entries);
    j->touched = calloc(p->function_count + 1, 1);
    j->framed = calloc(p->function_count + 1, 1);
    j->slot_first = calloc(p->function_count + 1, sizeof *j->slot_first);
    j->code = mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (j->code == MAP_FAILED) j->code = NULL;
    j->code_bytes = capacity;
    bool ok = j->frames && j->entries && j->touched && j->framed && j->slot_first && j->code;
    if (ok) {
        x64_init(&code.e, j->code, capacity - RESERVE);
        code.e.vex = !j->sse2 && has_vectors(p) && processor_has(PROCESSOR_AVX2);
        code.frames = j->frames;
        code.functions = j->entries;
        ok = compile_all(j, &code);
    }
    if (ok) ssa_link(&code);
    ssa_emit_free(&code);
    j->sites = code.sites;
    j->locations = code.locations;
    j->site_count = code.site_count;
    j->lines = code.lines;
    j->line_count = code.line_count;
    j->code_used = ok ? x64_here(&code.e) : 0;
    j->nanoseconds = compile_now() - start;
    return ok && map_stacks(j) && !mprotect(j->code, capacity, PROT_READ | PROT_EXEC);
}

void coil_jit_release(struct coil_jit *j)
{
    if (j->code) munmap(j->code, j->code_bytes);
    if (j->stack_memory && j->stack_memory != MAP_FAILED) munmap(j->stack_memory, j->stack_bytes);
    if (j->frame_memory && j->frame_memory != MAP_FAILED) munmap(j->frame_memory, j->frame_bytes);
    free(j->sites);
    free(j->locations);
    free(j->lines);
    free(j->entries);
    free(j->frames);
    free(j->touched);
    free(j->callable);
    free(j->framed);
    free(j->slot_types);
    free(j->kept);
    free(j->slot_first);
    j->code = NULL;
    j->stack_memory = j->frame_memory = NULL;
    j->sites = NULL;
    j->locations = NULL;
    j->lines = NULL;
    j->entries = j->frames = j->slot_first = j->callable = NULL;
    j->callable_count = 0;
    j->touched = j->framed = j->slot_types = j->kept = NULL;
    j->vm.kept = NULL;
}
