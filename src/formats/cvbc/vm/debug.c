/* Answers questions of a debugger about CockpitVM programs. It uses the debug tables, and finds
 * frames by the depth of the stack that the verifier computes for each instruction. */
#include "base/bytes.h"
#include "core/debug/debug_info.h"
#include "cvbc/vm/vm.h"

static void cvbc_debug_lines(const penta_module *module, penta_line_report *report, void *user)
{
    const struct cvbc_module *m = cvbc_chosen(cvbc_module(module));
    const struct cvbc_opened *o = cvbc_open(m);
    penta_bytes rows = cvbc_debug_split(m->debug).lines;
    for (size_t at = 0; at + cvbc_line_bytes <= rows.size; at += cvbc_line_bytes) {
        bool last = at + 2 * cvbc_line_bytes > rows.size;
        uint64_t from = bytes_get16(rows.data + at),
                 to = last ? o->program.count : bytes_get16(rows.data + at + cvbc_line_bytes);
        penta_line line = {.from = from, .to = to};
        uint32_t number;
        if (to <= from || !cvbc_line_of(m, from, &line.file, &number)) continue;
        line.line = number;
        report(user, &line);
    }
}

static bool cvbc_debug_branch(const penta_module *module, uint64_t pc, penta_branch *out)
{
    const struct cvbc_opened *o = cvbc_open(cvbc_chosen(cvbc_module(module)));
    if (!o->has_program || pc >= o->program.count) return false;
    struct cvbc_inst in = cvbc_inst_at(&o->program, (size_t)pc);
    bool sometimes = in.opcode == CVBC_OP_JMP_TRUE || in.opcode == CVBC_OP_JMP_FALSE;
    bool jump = in.opcode == CVBC_OP_JMP || sometimes, ret = in.opcode == CVBC_OP_RET;
    bool call = in.opcode == CVBC_OP_CALL;
    *out = (penta_branch){.next = !ret && in.opcode != CVBC_OP_JMP && in.opcode != CVBC_OP_HALT,
                          .jump = jump,
                          .call = call,
                          .ret = ret,
                          .indirect = ret,
                          .has_target = jump || call,
                          .target = jump || call ? in.immediate : 0};
    return true;
}

struct frame {
    uint32_t pc;
    uint32_t base; /* index of its first word on the stack */
    bool function; /* true if the first of these words is the return index */
};

/* Calls `take` with each frame, from the innermost one outward, until it returns false. */
static void each_frame(const struct cvbc_vm *vm, bool (*take)(void *user, struct frame f),
                       void *user)
{
    struct frame f = {.pc = vm->pc, .base = vm->sp};
    struct cvbc_depths *d = vm->depths;
    if (!d->depths && !cvbc_stack_depths(vm->program, &d->depths, &d->functions)) return;
    for (;;) {
        int32_t depth = f.pc < vm->count ? d->depths[f.pc] : -1;
        bool known = depth >= 0 && (uint32_t)depth <= f.base;
        if (known) f.base -= (uint32_t)depth;
        f.function = known && depth && d->functions[f.pc];
        if (!take(user, f) || !f.function) break;
        uint32_t back = (uint32_t)vm->stack[CVBC_GUARD + f.base];
        if (!back || back > vm->count) break;
        f.pc = back - 1;
    }
}

struct frame_list {
    penta_frame *out;
    size_t count, max;
};

static bool list_frame(void *user, struct frame f)
{
    struct frame_list *l = user;
    if (l->count < l->max) l->out[l->count] = (penta_frame){f.pc, (uint64_t)f.base + f.function};
    l->count++;
    return true;
}

static size_t cvbc_debug_frames(const penta_vm *base, penta_frame *out, size_t max)
{
    struct frame_list l = {out, 0, max};
    each_frame((const struct cvbc_vm *)base, list_frame, &l);
    return l.count;
}

struct frame_wanted {
    size_t left;
    struct frame found;
    bool is_found;
};

static bool find_frame(void *user, struct frame f)
{
    struct frame_wanted *w = user;
    w->found = f;
    w->is_found = !w->left;
    return w->left--;
}

/* Finds the address of a variable and its first word. Arguments have negative places. */
static const int32_t *place_of(const struct cvbc_vm *vm, const struct cvbc_variable *v,
                               const struct frame *f, uint64_t *address)
{
    const char *storage = cvbc_name("storage", v->storage);
    if (!storage) return NULL;
    if (!strcmp(storage, "global") && v->slot < CVBC_GLOBALS) {
        *address = CVBC_GLOBALS_WINDOW + UINT64_C(4) * v->slot;
        return &vm->globals[v->slot];
    }
    if (!strcmp(storage, "array") && v->slot < CVBC_ARRAYS && vm->arrays[v->slot].size) {
        *address = CVBC_POOL_WINDOW + UINT64_C(4) * vm->arrays[v->slot].from;
        return &vm->pool[vm->arrays[v->slot].from];
    }
    int64_t at = (int64_t)f->base + f->function + (int16_t)v->slot;
    if (strcmp(storage, "stack") || at < 0 || at >= vm->sp) return NULL;
    *address = CVBC_STACK_WINDOW + (uint64_t)at * 4;
    return vm->stack + CVBC_GUARD + at;
}

static void cvbc_debug_variables(const penta_vm *base, size_t frame, penta_variable_report *report,
                                 void *user)
{
    const struct cvbc_vm *vm = (const struct cvbc_vm *)base;
    struct frame_wanted wanted = {.left = frame};
    struct cvbc_variable v;
    penta_bytes name;
    if (!frame)
        variable_report(report, user, PENTA_VARIABLE_REGISTER,
                        (penta_field){.name = "sp", .kind = PENTA_UINT, .as.u = vm->sp});
    if (!base->module) return;
    each_frame(vm, find_frame, &wanted);
    if (!wanted.is_found) return;
    struct cvbc_debug_tables t = cvbc_debug_split(cvbc_chosen(cvbc_module(base->module))->debug);
    for (size_t pos = 0; cvbc_variable_next(t.variables, &pos, &v, &name);) {
        char text[64] = "";
        penta_variable out = {.scope = PENTA_VARIABLE_GLOBAL, .in_memory = true, .size = 4};
        if (wanted.found.pc < v.first || (v.last != UINT16_MAX && wanted.found.pc > v.last))
            continue;
        const int32_t *word = place_of(vm, &v, &wanted.found, &out.address);
        if (!word) continue;
        bytes_copy(text, bytes_slice(name, 0, sizeof text - 1));
        if (v.last != UINT16_MAX) out.scope = PENTA_VARIABLE_LOCAL;
        out.value = (penta_field){.name = text, .kind = PENTA_SINT, .as.i = *word};
        if (v.elements > 1) {
            out.value.note = "array";
            out.elements = v.elements;
            out.size = UINT64_C(4) * v.elements;
        }
        report(user, &out);
    }
}

/* Reports accesses. Everything is in memory except sp, which nearly every instruction changes. */
static void cvbc_debug_accesses(const penta_vm *base, uint64_t pc, penta_access_report *report,
                                void *user)
{
    const struct cvbc_vm *vm = (const struct cvbc_vm *)base;
    if (pc >= vm->count) return;
    uint8_t opcode = vm->program->code[4 * pc];
    bool host = (opcode >= CVBC_OP_DIGITAL_WRITE && opcode <= CVBC_OP_MICROS);
    if (host) report(user, &(penta_access){.host = true});
    access_name(report, user, "sp", false);
    access_name(report, user, "sp", true);
}

static void cvbc_debug_regions(const penta_vm *base, penta_region_report *report, void *user)
{
    const struct cvbc_vm *vm = (const struct cvbc_vm *)base;
    region_report(report, user, CVBC_STACK_WINDOW, UINT64_C(4) * vm->capacity, true);
    region_report(report, user, CVBC_GLOBALS_WINDOW, 4 * CVBC_GLOBALS, true);
    region_report(report, user, CVBC_POOL_WINDOW, 4 * CVBC_POOL, true);
    /* This window has the arguments of a host call. */
    region_report(report, user, 3 << 24, sizeof vm->args, true);
}

const struct debug_info cvbc_debug = {DEBUG_INFO_CALLS(cvbc), .lines = cvbc_debug_lines,
                                      .frames = cvbc_debug_frames};
