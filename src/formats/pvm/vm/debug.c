/* Answers what a debugger asks of PolkaVM programs: lines of the debug sections, registers, and
 * frames. Frames are found by reading the start of each function as a compiler writes it. */
#include "core/debug/debug_info.h"
#include <stdlib.h>
#include "base/array.h"
#include "pvm/format/debug_info.h"
#include "pvm/format/functions.h"
#include "pvm/vm/ops.h"
#include "pvm/vm/vm.h"

/* Reports the source lines. A region of inlined code gets the innermost frame that has a file. */
static void pvm_debug_line_report(const penta_module *module, penta_line_report *report, void *user)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    for (size_t i = 0; i < p->debug_ranges.size / PVM_DEBUG_RANGE_BYTES; i++) {
        struct pvm_debug_lines l;
        pvm_debug_start(p, i, &l);
        while (!l.broken && pvm_debug_next(&l)) {
            size_t at = l.depth < PVM_DEBUG_FRAMES ? l.depth : PVM_DEBUG_FRAMES;
            while (at && (!l.frames[at - 1].path || !l.frames[at - 1].line)) at--;
            if (!at || l.from == l.to) continue;
            report(user, &(penta_line){.file = pvm_debug_string(p, l.frames[at - 1].path),
                                       .line = l.frames[at - 1].line,
                                       .from = l.from,
                                       .to = l.to});
        }
    }
}

/* Tells whether an instruction is a call or a return. By convention a call leaves its return
 * address in ra, and a function jumps to that address at its end. */
static bool pvm_debug_branch(const penta_module *module, uint64_t pc, penta_branch *out)
{
    const struct pvm_code *code = &pvm_module(module)->program.code;
    struct pvm_insn in;
    if (pc >= code->bytes.size || !pvm_starts(code, (uint32_t)pc)) return false;
    pvm_decode(code, (uint32_t)pc, &in);
    bool dynamic = pvm_ops[in.op].flow == PVM_FLOW_DYNAMIC;
    bool call = (in.op == PVM_OP_load_imm_and_jump || in.op == PVM_OP_load_imm_and_jump_indirect) &&
                in.a == PVM_RA;
    bool ret = in.op == PVM_OP_jump_indirect && in.a == PVM_RA;
    *out = (penta_branch){.next = pvm_falls_through(in.op) || call,
                          .jump = (pvm_has_target(in.op) || dynamic) && !call && !ret,
                          .call = call,
                          .ret = ret,
                          .indirect = dynamic,
                          .has_target = pvm_has_target(in.op),
                          .target = pvm_has_target(in.op) ? in.target : 0};
    return true;
}

/* The functions below find frames. */

/* A struct unwound says how to leave a function from one of its instructions. */
struct unwound {
    uint64_t frame; /* how many bytes the function has taken from the stack so far */
    bool saved;     /* The register ra is saved in memory. */
    uint64_t at;    /* how far above the sp at the function's start ra is saved, modulo 2^64 */
};

/* Reads the instructions from the start of a function up to `to`. After a jump or return in the
 * middle, the state is again the one that the start of the function has made. */
static void read_start(const struct pvm_code *code, uint32_t from, uint32_t to, struct unwound *u)
{
    struct pvm_insn in;
    struct unwound body = *u;
    for (uint32_t pc = from; pc < to; pc += in.length) {
        pvm_decode(code, pc, &in);
        bool adds = in.op == PVM_OP_add_imm_64 || in.op == PVM_OP_add_imm_32;
        bool stores = in.op == PVM_OP_store_indirect_u64 || in.op == PVM_OP_store_indirect_u32;
        bool loads = in.op == PVM_OP_load_indirect_u64 || in.op == PVM_OP_load_indirect_u32 ||
                     in.op == PVM_OP_load_indirect_i32;
        if (adds && in.a == PVM_SP && in.b == PVM_SP) u->frame -= in.imm1;
        if (adds && in.a == PVM_SP && in.b == PVM_SP && (int64_t)in.imm1 < 0) body = *u;
        if (stores && in.a == PVM_RA && in.b == PVM_SP) {
            u->saved = true;
            u->at = in.imm1 - u->frame;
            body = *u;
        }
        if (loads && in.a == PVM_RA && in.b == PVM_SP) u->saved = false;
        if (!pvm_falls_through(in.op)) *u = body;
    }
}

/* Finds the call after which control returns to an address that ra has. */
static bool call_before(const struct pvm_vm *vm, uint64_t address, uint64_t *pc)
{
    const struct pvm_code *code = &pvm_module(vm->base.module)->program.code;
    uint64_t to;
    if (!address || address % 2 || address / 2 > code->table_count ||
        !pvm_table_entry(code, (uint32_t)(address / 2 - 1), &to) || !to)
        return false;
    uint32_t at = (uint32_t)to - 1;
    while (at && !pvm_starts(code, at)) at--;
    *pc = at;
    penta_branch b;
    return pvm_debug_branch(vm->base.module, at, &b) && b.call;
}

static bool load_word(const struct pvm_vm *vm, uint64_t address, uint64_t *value)
{
    uint8_t bytes[8] = {0};
    if (!pvm_memory_read(&vm->memory, address, bytes, vm->w32 ? 4 : 8)) return false;
    *value = bytes_get64(bytes);
    return true;
}

bool pvm_vm_unwind(const struct pvm_vm *vm, uint32_t start, bool innermost, struct pvm_frame *f)
{
    struct unwound u = {0};
    read_start(&pvm_module(vm->base.module)->program.code, start, (uint32_t)f->pc, &u);
    f->sp += u.frame;
    if (u.saved && !load_word(vm, f->sp + u.at, &f->ra)) return false;
    return (innermost || u.saved) && call_before(vm, f->ra, &f->pc);
}

static size_t pvm_debug_frames(const penta_vm *base, penta_frame *out, size_t max)
{
    enum { MOST = 4096 };
    const struct pvm_vm *vm = pvm_vm_const(base);
    const struct pvm_program *p = &pvm_module(base->module)->program;
    struct pvm_frame f = {vm->state->pc, vm->state->regs[PVM_SP], vm->state->regs[PVM_RA]};
    size_t functions = 0, n = 0, i;
    struct pvm_named_code *names = max > 1 ? pvm_functions(p, &functions) : NULL;
    for (;;) {
        if (n < max) out[n] = (penta_frame){f.pc, UINT64_MAX - f.sp};
        if (++n >= max || n >= MOST) break;
        ARRAY_SEARCH(i, 0, functions, names[i].pc > f.pc);
        uint32_t start = i ? names[i - 1].pc : (uint32_t)f.pc;
        if (!pvm_vm_unwind(vm, start, n == 1, &f)) break;
    }
    free(names);
    return n;
}

static void pvm_debug_variables(const penta_vm *base, size_t frame, penta_variable_report *report,
                                void *user)
{
    const struct pvm_vm *vm = pvm_vm_const(base);
    for (unsigned i = 0; !frame && i < PVM_REGISTERS; i++)
        variable_report(report, user, PENTA_VARIABLE_REGISTER,
                        (penta_field){.name = pvm_register_names[i],
                                      .kind = PENTA_WORD,
                                      .as.u = vm->state->regs[i]});
}

static bool pvm_debug_set(penta_vm *base, penta_bytes name, const penta_value *value)
{
    uint8_t number;
    uint64_t integer = value_integer(value);
    struct pvm_vm *vm = pvm_vm(base);
    if (!pvm_register_parse(name, &number)) return false;
    vm->state->regs[number] = vm->w32 ? (uint32_t)integer : integer;
    return true;
}

/* A struct use has what is needed to report the registers of an instruction by their places in
 * it (ops.h). */
struct use {
    const struct pvm_insn *in;
    penta_access_report *report;
    void *user;
};

static void use_place(const struct use *u, unsigned place, bool write)
{
    const uint8_t two[] = {u->in->d, u->in->a, 0}, others[] = {u->in->a, u->in->b, u->in->d};
    uint8_t number = pvm_ops[u->in->op].shape == PVM_REG_REG ? two[place] : others[place];
    if (number < PVM_REGISTERS) access_name(u->report, u->user, pvm_register_names[number], write);
}

static void use_memset(const struct use *u)
{
    static const struct {
        uint8_t number;
        bool write;
    } uses[] = {{PVM_A0, false}, {PVM_A1, false}, {PVM_A2, false}, {PVM_A0, true}, {PVM_A2, true}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        access_name(u->report, u->user, pvm_register_names[uses[i].number], uses[i].write);
}

/* Reports the registers that an instruction uses. Accesses to memory are not reported here,
 * because a debugger finds them by the rights of pages. */
static void pvm_debug_accesses(const penta_vm *base, uint64_t pc, penta_access_report *report,
                               void *user)
{
    struct pvm_insn in;
    if (pc > UINT32_MAX) return;
    pvm_decode(&pvm_module(base->module)->program.code, (uint32_t)pc, &in);
    struct use u = {&in, report, user};
    const struct pvm_uses *uses = &pvm_uses[in.op];
    bool keeps = uses->kind == PVM_DO_CMOV3 || uses->kind == PVM_DO_CMOVI;
    if (uses->kind == PVM_DO_ECALLI) report(user, &(penta_access){.host = true});
    if (uses->kind == PVM_DO_MEMSET) use_memset(&u);
    if (uses->reads & PVM_READS_0) use_place(&u, 0, false);
    if (uses->reads & PVM_READS_1) use_place(&u, 1, false);
    if (uses->writes && keeps) use_place(&u, uses->writes - 1u, false);
    if (uses->writes) use_place(&u, uses->writes - 1u, true);
}

/* Reports the areas of memory. After the area that ends where the heap begins, it reports all
 * memory to which the heap can grow. */
static void pvm_debug_regions(const penta_vm *base, penta_region_report *report, void *user)
{
    const struct pvm_vm *vm = pvm_vm_const(base);
    const struct pvm_memory *m = &vm->memory;
    uint64_t heap = vm->layout.heap_base, heap_end = heap + vm->layout.heap_max, told = 0;
    bool heap_told = !vm->layout.heap_max;
    if (vm->paging) { /* The host may map any page. */
        region_report(report, user, 0, UINT64_C(1) << 32, true);
        return;
    }
    for (size_t i = 0; i <= m->area_count; i++) {
        bool last = i == m->area_count;
        uint64_t from = last ? UINT64_MAX : m->areas[i].address;
        if (!heap_told && heap < from) {
            uint64_t start = told > heap ? told : heap;
            if (start < heap_end) region_report(report, user, start, heap_end - start, true);
            if (start < heap_end) told = heap_end;
            heap_told = true;
        }
        if (last || from < told) continue;
        region_report(report, user, from, m->areas[i].length, m->areas[i].writable);
        told = from + m->areas[i].length;
    }
}

const struct debug_info pvm_debug = {DEBUG_INFO_CALLS(pvm), .lines = pvm_debug_line_report,
                                     .frames = pvm_debug_frames, .set = pvm_debug_set};
