/* Compiles all functions of a COIL object to an object file: it decides which registers functions
 * pass, compiles one function after the other, and puts the object together. lower_native.c and
 * jit/lower.c make the SSA form. */
#include "coil/native/native.h"
#include "coil/format/target.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { RESERVE = 1 << 16, SECTIONS_MAX = 30000, FRAME_MAX = 1 << 26, ALIGN_MAX = 1 << 20 };
enum { FUNCTION_UNITS = 64 }; /* units of work that each function takes once */

static void native_compile_touch(void *user, uint8_t at, uint32_t slot, bool write)
{
    unsigned *most = user;
    (void)write;
    if (at == COIL_AT_REGISTER && slot < COIL_PASSED && slot + 1 > *most) *most = slot + 1;
}

/* Returns the function that an instruction calls or jumps to by its name, or UINT32_MAX if there
 * is none. */
static uint32_t native_compile_callee(const struct coil_native *n, size_t cell)
{
    const struct coil_program *p = &n->vm->program;
    const struct coil_cell *c = &p->cells[cell];
    const struct coil_step *s = p->steps[cell];
    if (c->op == COIL_CELL_CALL || c->op == COIL_CELL_CALL_IF) return c->a;
    if (c->op != COIL_CELL_INDIRECT || !s || !s->count) return UINT32_MAX;
    const struct coil_place *target = &s->places[s->count - 1];
    return target->form == COIL_ADDR ? coil_native_function(n, target->symbol - 1) : UINT32_MAX;
}

static unsigned touched_by(const struct coil_native *n, size_t cell)
{
    const struct coil_program *p = &n->vm->program;
    const struct coil_step *s = p->steps[cell];
    unsigned most = 0;
    if (s) coil_step_touches(s, native_compile_touch, &most);
    if (p->cells[cell].op == COIL_CELL_HALT && !most) most = 1;
    if (p->cells[cell].op != COIL_CELL_INDIRECT || !s || s->opcode == COIL_OP_TRAP ||
        native_compile_callee(n, cell) != UINT32_MAX)
        return most;
    /* The target is a C function with a prototype. A computed address has no prototype. */
    const struct coil_place *target = &s->places[s->count - 1];
    uint32_t proto = target->form == COIL_ADDR && target->symbol <= n->m->symbol_count
                         ? n->proto_of[target->symbol - 1]
                         : 0;
    unsigned passed =
        proto && !n->protos[proto - 1].variadic ? n->protos[proto - 1].count : COIL_PASSED;
    if (!passed) passed = 1;
    return passed > COIL_PASSED ? COIL_PASSED : passed > most ? passed : most;
}

/* Adds the registers that a function passes to those of its callers. Each register is added at
 * most once for each function. */
static bool find_touched(struct coil_native *n)
{
    const struct coil_program *p = &n->vm->program;
    n->touched = calloc(p->function_count + 2, 1);
    if (!n->touched) return false;
    for (size_t c = 0; c < p->count; c++) {
        unsigned most = touched_by(n, c);
        if (most > n->touched[p->owners[c]]) n->touched[p->owners[c]] = (uint8_t)most;
    }
    n->touched[n->trap_function] = 2;
    for (unsigned round = 0, again = 1; again && round < 1000; round++) {
        again = 0;
        for (size_t c = 0; c < p->count && !long_work_over(n->between, 1); c++) {
            uint32_t to = native_compile_callee(n, c);
            if (to == UINT32_MAX || n->touched[to] <= n->touched[p->owners[c]]) continue;
            n->touched[p->owners[c]] = n->touched[to];
            again = 1;
        }
        if (round == 999) memset(n->touched, COIL_PASSED, p->function_count);
    }
    return true;
}

static bool is_small(const struct coil_native *n, uint64_t function)
{
    enum { CELLS = 28 };
    const struct coil_program *p = &n->vm->program;
    if (function >= p->function_count || p->functions[function].bytes) return false;
    uint32_t count = 0;
    for (uint32_t c = p->functions[function].first; c < p->count && p->owners[c] == function;
         c++, count++) {
        uint16_t op = p->cells[c].op;
        bool jumps = op >= COIL_CELL_JMP && op <= COIL_CELL_BR_LTE;
        if (count >= CELLS || (jumps && p->cells[c].a <= c) || op == COIL_CELL_INDIRECT)
            return false;
    }
    return count != 0;
}

/* Replaces calls of small functions by the code of these functions. It does so once: calls
 * inside the inlined code stay calls. */
static void inline_calls(struct coil_native *n, struct ssa_function *f)
{
    enum { MOST = 16 };
    uint32_t calls[MOST], count = 0;
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i && count < MOST; i = f->insns[i].next)
            if (f->insns[i].op == SSA_CALL && is_small(n, (uint64_t)f->insns[i].imm))
                calls[count++] = i;
    for (uint32_t k = 0; k < count && !f->failed; k++) {
        struct ssa_function g;
        ssa_init(&g);
        g.native = true;
        g.work = f->work;
        if (coil_lower_native(n->vm, n, n->touched, (uint32_t)f->insns[calls[k]].imm, &g) &&
            !g.reserved) {
            ssa_pass_copies(&g);
            ssa_pass_fold(&g);
            ssa_pass_dead(&g);
            if (!g.failed) ssa_inline(f, calls[k], &g);
        }
        ssa_fini(&g);
    }
}

/* Tells whether the flag that stops the compiler is set. */
static bool is_interrupted(const struct coil_native *n) { return n->stop && *n->stop; }

static bool no_code(struct coil_native *n, uint32_t function)
{
    enum { SLOTS = 4096, CELLS = 20000 };
    const struct coil_program *p = &n->vm->program;
    const struct coil_function *f = &p->functions[function];
    const char *name = n->elf.symbols[n->function_symbols[function]].name;
    bool large = f->bytes > FRAME_MAX || f->slots > SLOTS ||
                 (f->first + CELLS < p->count && p->owners[f->first + CELLS] == function);
    if (is_interrupted(n)) return false;
    if (n->work.over)
        return error_at(n->err, BASE_LIMIT, 0, "compiling function '%.60s' takes too much work",
                        name);
    if (large)
        return error_at(n->err, BASE_LIMIT, 0, "function '%.60s' is too large to compile", name);
    return error_at(n->err, BASE_MEMORY, 0, "no memory to compile function '%.60s'", name);
}

/* Compiles one function of the program with a limit of work. `optimise` tells whether all passes
 * of the optimiser run, or none. */
static bool compile_within(struct coil_native *n, uint32_t number, uint64_t work, bool optimise)
{
    struct ssa_function f;
    ssa_init(&f);
    n->work = (struct ssa_work){.most = work, .stop = n->stop};
    f.work = &n->work;
    f.native = true;
    f.number = number;
    f.reserved = (uint32_t)n->vm->program.functions[number].bytes;
    bool ok = coil_lower_native(n->vm, n, n->touched, number, &f);
    if (ok && optimise) {
        if (!n->has_lines) inline_calls(n, &f);
        coil_drop_extensions(&f, NULL);
        ssa_optimise(&f, NULL, NULL);
    }
    ok = ok && ssa_emit(&f, number, &n->code);
    ssa_fini(&f);
    return ok;
}

static bool compile_trap_function(struct coil_native *n, uint32_t number)
{
    struct ssa_function f;
    ssa_init(&f);
    f.native = true;
    f.number = number;
    bool ok = coil_native_trap_function(n, &f) && ssa_emit(&f, number, &n->code);
    ssa_fini(&f);
    return ok;
}

static bool compile_function(struct coil_native *n, uint32_t number, struct coil_native_range *r)
{
    /* The limit of work is this many times that of a machine at level 2, because there is no
     * interpreter that could run the function instead. */
    enum { TIMES = 16 };
    struct ssa_code *c = &n->code;
    r->from = x64_here(&c->e);
    r->first_return = (uint32_t)c->return_count;
    bool own = number < n->vm->program.function_count;
    if (own && n->vm->program.functions[number].bytes > FRAME_MAX) return no_code(n, number);
    if (own && n->entered[number]) {
        coil_native_entry(n, number);
        /* This must be checked before ssa_emit, which clears `failed`. */
        if (c->failed) return no_code(n, number);
    }
    r->body = x64_here(&c->e);
    uint64_t most = own ? coil_work_most(&n->vm->program, number) : 0;
    bool ok =
        own ? compile_within(n, number, TIMES * most, true) : compile_trap_function(n, number);
    if (!ok && own && n->work.over && !is_interrupted(n)) {
        ok = compile_within(n, number, TIMES * most, false);
        n->work.over = !ok;
    }
    r->frame = ok ? c->frames[number] : 0;
    r->to = x64_here(&c->e);
    r->return_count = (uint32_t)c->return_count - r->first_return;
    x64_nop(&c->e, -x64_here(&c->e) & 15);
    if (ok || n->elf.failed) return ok;
    return own ? no_code(n, number) : false;
}

/* Adds to the object what the linker must fill in for calls and addresses in the code, and then
 * the code itself. */
static void finish_code(struct coil_native *n)
{
    static const uint8_t types[] = {[SSA_RELOC_CALL] = COIL_ELF_PLT32,
                                    [SSA_RELOC_NEAR] = COIL_ELF_PC32,
                                    [SSA_RELOC_TABLE] = COIL_ELF_REX_GOTPCRELX};
    struct ssa_code *c = &n->code;
    ssa_link(c);
    for (size_t i = 0; i < c->reloc_count; i++)
        coil_elf_reloc(&n->elf, n->text,
                       (struct coil_elf_reloc){c->relocs[i].at, c->relocs[i].symbol,
                                               types[c->relocs[i].kind], -4});
    writer_bytes(&n->elf.sections[n->text].data, c->e.start, x64_here(&c->e));
}

static bool compile_all(struct coil_native *n)
{
    size_t count = n->vm->program.function_count;
    struct coil_native_range *ranges = calloc(count + 1, sizeof *ranges);
    n->code.functions = calloc(count + 2, sizeof *n->code.functions);
    n->code.frames = calloc(count + 2, sizeof *n->code.frames);
    bool ok = ranges && n->code.functions && n->code.frames;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = !long_work_over(n->between, FUNCTION_UNITS) && compile_function(n, i, &ranges[i]);
    if (ok && n->uses_trap) {
        ok = compile_function(n, n->trap_function, &ranges[count]);
        uint32_t symbol = coil_elf_symbol(
            &n->elf, bytes_of("coil.trap"),
            (struct coil_elf_symbol){.section = n->text,
                                     .type = COIL_ELF_FUNC,
                                     .value = ranges[count].from,
                                     .size = ranges[count].to - ranges[count].from});
        ok = ok && symbol;
    }
    if (ok) {
        finish_code(n);
        coil_native_place(n, ranges);
        coil_native_unwind(n, ranges, count + n->uses_trap);
        coil_native_lines(n, ranges, count);
    }
    free(ranges);
    return ok;
}

static void native_compile_release(struct coil_native *n)
{
    coil_elf_free(&n->elf);
    if (n->memory) munmap(n->memory, n->capacity);
    free(n->code.functions);
    free(n->code.frames);
    ssa_emit_free(&n->code);
    free(n->code.sites);
    free(n->code.locations);
    free(n->code.relocs);
    free(n->code.lines);
    free(n->code.returns);
    free(n->touched);
    free(n->entered);
    free(n->symbols);
    free(n->function_symbols);
    free(n->named);
    free(n->protos);
    free(n->proto_of);
    free(n->labels);
    free(n->shadows);
    free(n->sections);
    free(n->kept);
}

static bool native_compile_prepare(struct coil_native *n)
{
    n->capacity = n->vm->program.count * 512 + (size_t)(1 << 20);
    coil_elf_init(&n->elf);
    n->text =
        coil_elf_section(&n->elf, ".text", COIL_ELF_PROGBITS, COIL_ELF_ALLOC | COIL_ELF_EXEC, 32);
    n->trap_function = (uint32_t)n->vm->program.function_count;
    for (size_t i = 0; i < n->m->section_count; i++)
        n->has_lines |=
            bytes_equal(coil_string(n->m, n->m->sections[i].name_idx), bytes_of(".coil.line"));
    if (n->capacity > UINT64_C(1) << 31)
        return error_at(n->err, BASE_LIMIT, 0, "more than 4 million instructions in an object");
    n->memory = mmap(NULL, n->capacity, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (n->memory == MAP_FAILED) n->memory = NULL;
    if (n->elf.failed || !n->memory) return false;
    x64_init(&n->code.e, n->memory, n->capacity - RESERVE);
    return coil_tables_find(n->vm) && coil_native_symbols(n) && find_touched(n) &&
           coil_native_sections(n);
}

static bool native_compile_functions(struct coil_native *n)
{
    if (native_compile_prepare(n) && compile_all(n)) {
        coil_elf_section(&n->elf, ".note.GNU-stack", COIL_ELF_PROGBITS, 0, 1);
        if (!n->elf.failed) return true;
    }
    if (is_interrupted(n)) return error_at(n->err, BASE_STATE, 0, "interrupted while compiling");
    return error_at(n->err, BASE_MEMORY, 0, "no memory for an object");
}

static bool native_compile_check(const struct coil_module *m, penta_error *err)
{
    if (m->raw || !(m->header.flags & COIL_FILE_RELOC)) {
        error_at(err, COIL_LINK_INPUT, 8, "only a relocatable object can be compiled");
        return error_note(err, "an executable has no relocations left: link with option '%s'",
                          "relocatable");
    }
    if (m->big_endian) {
        error_at(err, COIL_LINK_ENDIAN, 76, "native programs are little-endian");
        return error_note(err, "convert it to the other byte order");
    }
    if (m->section_count > SECTIONS_MAX)
        return error_at(err, BASE_LIMIT, 32, "more than %d sections", SECTIONS_MAX);
    for (size_t i = 0; i < m->section_count; i++)
        if (m->sections[i].flags & COIL_ALLOC && m->sections[i].align > ALIGN_MAX)
            return error_at(err, COIL_ALIGN, m->header.section_offset,
                            "an alignment of %llu in an object",
                            (unsigned long long)m->sections[i].align);
    return true;
}

static void first_error(void *user, const penta_error *finding)
{
    penta_error *err = user;
    if (finding->severity == PENTA_ERROR && !err->code) *err = *finding;
}

bool coil_native_compile(const struct coil_module *m, bool text, const volatile int *stop,
                         struct writer *out, penta_error *err)
{
    struct flag_work between;
    struct long_work *work = flag_work_begin(&between, stop);
    struct findings findings = {
        .rules = coil_rules, .report = first_error, .user = err, .work = work};
    findings.lenient = module_lenient(&m->base);
    if (!coil_target_runs(&m->header, err)) return false;
    coil_verify(&m->base, &findings);
    if (work->ended) return error_at(err, BASE_STATE, 0, "interrupted while compiling");
    if (err->code || !native_compile_check(m, err)) return false;
    struct coil_native n = {
        .m = m, .err = err, .stop = stop, .between = work, .vm = coil_vm_open_object(m, err)};
    if (!n.vm) return false;
    bool ok = native_compile_functions(&n);
    /* The entries were written before it was known that the object uses the machine, so
     * everything is compiled again. */
    if (ok && n.bare_entries && n.uses_context) {
        native_compile_release(&n);
        n = (struct coil_native){
            .m = m, .err = err, .stop = stop, .between = work, .vm = n.vm, .uses_context = true};
        ok = native_compile_functions(&n);
    }
    if (ok && text)
        coil_elf_text(&n.elf, out);
    else if (ok)
        coil_elf_write(&n.elf, out);
    native_compile_release(&n);
    coil_vm_close(&n.vm->base);
    return ok && writer_ok(out, err);
}
