/* Opens and runs a machine, and has the functions by which its host changes it. */
#include "tvmr/vm/vm.h"
#include "base/array.h"
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "core/host.h"
#include "core/structure/counts.h"
#include "tvmr/vm/ops.h"
#include <stdio.h>
#include <stdlib.h>

const char *tvmr_fault_name(enum tvmr_fault fault)
{
    const char *name = fault ? trap_name(tvmr_traps, fault) : "none";
    return name ? name : "unknown";
}

/* Returns the handler of an instruction. An instruction with the null register as a source does
 * nothing. Operations of the host are an exception, because the host decides what the null
 * register means. */
static tvmr_handler *handler_of(const struct tvmr_insn *in)
{
    if (!in->op)
        return !in->ext || tvmr_extension_find(in->ext) ? op_unknown_opcode : op_unknown_extension;
    if (tvmr_op_reserved(in->op)) return op_unknown_opcode;
    tvmr_handler *run = tvmr_op_handler(in->op);
    if (run == op_core_matrix_product)
        return run; /* The handler itself must look at the profile
                                                    * first. */
    for (unsigned k = 0; k < 4 && !in->op->domain; k++)
        if ((in->op->bytes[k] == 's' || in->op->bytes[k] == 'm') && in->a[k] == TVMR_NULL)
            return op_nop;
    return run;
}

/* Pairs each LOOP with its END_LOOP, if a LOOP 0 needs that. A LOOP without END_LOOP goes to the
 * end. The open loops are linked through their entries, which are filled when the loop ends. */
static bool pair_loops(const struct tvmr_insn *code, size_t count, uint32_t **out)
{
    bool needed = false;
    for (size_t i = 0; i < count && !needed; i++)
        needed = !code[i].ext && code[i].opcode == TVMR_OP_LOOP && !code[i].a[2] && !code[i].a[3];
    *out = NULL;
    if (!needed) return true;
    uint32_t *after = malloc(count * sizeof *after), open = UINT32_MAX;
    if (!after) return false;
    for (size_t i = 0; i < count; i++) {
        if (code[i].ext) continue;
        if (code[i].opcode == TVMR_OP_LOOP) {
            after[i] = open;
            open = (uint32_t)i;
        } else if (code[i].opcode == TVMR_OP_END_LOOP && open != UINT32_MAX) {
            uint32_t loop = open;
            open = after[loop];
            after[loop] = (uint32_t)i + 1;
        }
    }
    while (open != UINT32_MAX) {
        uint32_t loop = open;
        open = after[loop];
        after[loop] = (uint32_t)count;
    }
    *out = after;
    return true;
}

static bool vm_decode(struct tvmr_vm *vm, const struct tvmr_module *m, penta_error *err)
{
    struct tvmr_insn *code = calloc(m->count + 1, sizeof *code);
    if (!code) return error_at(err, BASE_MEMORY, 0, "no memory for %zu instructions", m->count);
    for (size_t i = 0; i < m->count; i++) {
        struct tvmr_words w = tvmr_word(m->code.data + i * TVMR_INSN);
        struct tvmr_insn *in = &code[i];
        in->ext = w.ext;
        in->opcode = w.opcode;
        memcpy(in->a, w.a, 4);
        in->op = tvmr_op_find(w.ext, w.opcode);
        in->run = in->plain = handler_of(in);
    }
    uint32_t *after_loop;
    if (!pair_loops(code, m->count, &after_loop)) {
        free(code);
        return error_at(err, BASE_MEMORY, 0, "no memory for the loops");
    }
    free(vm->code);
    free(vm->after_loop);
    vm->code = code;
    vm->after_loop = after_loop;
    vm->count = m->count;
    return true;
}

static bool vm_define(struct tvmr_vm *vm, const struct tvmr_regdef *r)
{
    uint32_t dims[255];
    uint64_t count = 1;
    unsigned index = r->reg & 63u;
    for (unsigned i = 0; i < r->ndims; i++) {
        dims[i] = tvmr_dim(r, i);
        /* A product above UINT32_MAX is more than any budget. */
        count = count > UINT32_MAX ? count : count * dims[i];
    }
    for (unsigned i = 0; i < r->ndims; i++)
        if (!dims[i]) count = 0;
    if (r->reg == TVMR_NULL || !(r->flags & TVMR_ALLOCATED)) return true;
    switch (r->reg >> 6) {
    case 2: vm->param[index] = 0; return true;
    case 3: return tvmr_shape_set(vm, &vm->shape[index], dims, r->ndims);
    default: break;
    }
    size_t elements = (size_t)count;
    if (elements != count) { /* A 32-bit host cannot count so many elements. */
        ops_fail(vm, TVMR_E_LIMIT, "%llu elements are over the memory budget",
                 (unsigned long long)count);
        return false;
    }
    if (r->reg >> 6 == 0) {
        vm->declared[index] = elements;
        return tvmr_hot_set(vm, index, NULL, elements, dims, r->ndims);
    }
    struct tvmr_cold *c = &vm->cold[index];
    if (!tvmr_cold_new(vm, index, elements, dims, r->ndims)) return false;
    c->frozen = r->flags & TVMR_FROZEN;
    c->key_size = (uint8_t)r->key.size;
    bytes_copy(c->key, r->key);
    return true;
}

static bool define_all(struct tvmr_vm *vm, const struct tvmr_module *m, penta_error *err)
{
    for (size_t i = 0; i < m->reg_count; i++)
        if (!vm_define(vm, &m->regs[i])) {
            char name[8];
            tvmr_register_name(m->regs[i].reg, name);
            error_at(err, tvmr_memory_code(vm), m->regs[i].offset, "register %s: %.90s", name,
                     vm->fault_text);
            return error_note(err, "the option memory raises the budget");
        }
    return true;
}

static void vm_close(penta_vm *base)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    tvmr_pool_free(vm->pool);
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        free(vm->hot[i].data);
        free(vm->hot[i].shape.dims);
        free(vm->shape[i].dims);
        tvmr_cold_drop(vm, &vm->cold[i]);
        tvmr_cold_drop(vm, &vm->checkpoints[i]);
        free(vm->pressure[i].data);
        free(vm->snapshots[i].data);
        free(vm->chl_free[i].data);
        free(vm->chl_clamped[i].data);
    }
    free(vm->scratch.data);
    for (unsigned i = 0; i < 3; i++) free(vm->aux[i].data);
    free(vm->input.data);
    free(vm->output.data);
    free(vm->target.data);
    free(vm->inputs.data);
    free(vm->input_ends);
    free(vm->outputs.data);
    free(vm->output_ends);
    free(vm->save_weights);
    free(vm->output_path);
    free(vm->code);
    free(vm->after_loop);
    free(vm->places);
    free(vm->works);
    free(vm);
}

static bool next_input(struct tvmr_vm *vm)
{
    size_t i = vm->input_next++, from = i ? vm->input_ends[i - 1] : 0;
    return tvmr_vm_begin(vm, vm->inputs.data + from, vm->input_ends[i] - from);
}

static penta_vm *vm_open(const penta_module *module, const penta_option *options, size_t count,
                         penta_error *err)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (m->is_weights) {
        error_at(err, BASE_UNSUPPORTED, 0, "a weight file has no program to run");
        return NULL;
    }
    const char *memory = option_text(options, count, "memory");
    struct tvmr_vm *vm = zeros_new(sizeof *vm, "a machine", err);
    if (!vm) return NULL;
    vm->base.engine = &tvmr_interp;
    vm->base.findings = tvmr_vm_findings;
    vm->base.module = module;
    atomic_init(&vm->base.interrupt, false);
    vm->memory_max = UINT64_C(1) << 30;
    memset(vm->chem, 128, sizeof vm->chem);
    vm->profile = m->profile;
    if (memory && !number_parse_size(memory, &vm->memory_max))
        error_at(err, BASE_OPTION_VALUE, 0, "option 'memory': '%.40s' is no size", memory);
    if (err->code || !tvmr_profile_option(options, count, &vm->profile, err) ||
        !vm_decode(vm, m, err) || !define_all(vm, m, err) ||
        !tvmr_vm_options(vm, options, count, err) || (vm->input_count && !next_input(vm))) {
        if (!err->code) error_at(err, tvmr_memory_code(vm), 0, "%.100s", vm->fault_text);
        vm_close(&vm->base);
        return NULL;
    }
    vm->fault = TVMR_E_NONE;
    return &vm->base;
}

bool tvmr_vm_begin(struct tvmr_vm *vm, const int32_t *input, size_t count)
{
    vm->pc = 0;
    vm->loop_depth = vm->call_depth = 0;
    vm->final = vm->waiting = vm->at_break = vm->halted = vm->begun = false;
    vm->progress = 0;
    vm->fault = TVMR_E_NONE;
    return tvmr_buffer_set(vm, &vm->input, input, count);
}

bool tvmr_vm_set_target(struct tvmr_vm *vm, const int32_t *values, size_t count)
{
    return tvmr_buffer_set(vm, &vm->target, values, count);
}

HANDLER(mark)
{
    (void)vm, (void)in;
    return TVMR_FAILED; /* This function is never called, because the loop of the machine sees
                         * the breakpoint first. */
}

/* Keeps the output of a run that ended, after the earlier outputs. */
static bool keep_output(struct tvmr_vm *vm)
{
    size_t at = vm->outputs.count;
    if (!ARRAY_RESERVE(vm->output_ends, vm->output_capacity, vm->output_count + 1) ||
        !tvmr_reserve(vm, &vm->outputs.data, &vm->outputs.capacity, at + vm->output.count,
                      sizeof(int32_t)))
        return false;
    if (vm->output.count)
        memcpy(vm->outputs.data + at, vm->output.data, vm->output.count * sizeof(int32_t));
    vm->outputs.count = vm->output_ends[vm->output_count++] = at + vm->output.count;
    vm->outputs.stamp++;
    return true;
}

static void number_list_json(struct json *j, const int32_t *data, size_t count)
{
    json_list(j, NULL);
    for (size_t i = 0; i < count; i++) json_sint(j, NULL, data[i]);
    json_end(j);
}

/* Writes the outputs as an array of arrays, one for each run. */
static bool write_outputs(const struct tvmr_vm *vm, penta_error *err)
{
    struct writer out = {0};
    struct json j = {.out = &out};
    json_list(&j, NULL);
    for (size_t i = 0, from = 0; i < vm->output_count; from = vm->output_ends[i++])
        number_list_json(&j, vm->outputs.data + from, vm->output_ends[i] - from);
    if (!vm->input_count) number_list_json(&j, vm->output.data, vm->output.count);
    json_finish(&j);
    bool ok = writer_ok(&out, err) && file_write(vm->output_path, writer_view(&out), err);
    writer_free(&out);
    return ok;
}

/* Ends a run and starts the next one, when there is another input. */
static void end_run(struct tvmr_vm *vm)
{
    if (vm->input_count && !keep_output(vm)) vm->fault = TVMR_E_LIMIT;
    if (!vm->fault && vm->input_next < vm->input_count && next_input(vm)) return;
    vm->final = true;
    penta_error err = {0};
    if (!vm->fault && vm->save_weights && !tvmr_weights_save(vm, vm->save_weights, &err))
        ops_fail(vm, TVMR_E_HOST, "%s", err.message);
    if (!vm->fault && vm->output_path && !write_outputs(vm, &err))
        ops_fail(vm, TVMR_E_HOST, "%s", err.message);
}

static void vm_tell(struct tvmr_vm *vm, penta_stop *stop)
{
    stop->pc = vm->waiting || vm->final ? vm->at : vm->pc;
    if (vm->waiting) {
        stop->kind = PENTA_STOP_HOST;
        stop->detail = tvmr_domain_id(vm->yield_op);
        memcpy(stop->args, vm->yield_args, sizeof stop->args);
    } else if (vm->final) {
        stop->kind = vm->fault ? PENTA_STOP_TRAP : PENTA_STOP_HALT;
        stop->detail = vm->fault;
        if (!vm->fault && vm->output.count) stop->args[0] = (uint64_t)(int64_t)vm->output.data[0];
    }
}

static void count_after(struct tvmr_vm *vm, const struct tvmr_insn *in, enum tvmr_result result)
{
    size_t pc = (size_t)(in - vm->code);
    const struct tvmr_work *work = &vm->works[pc];
    if (result == TVMR_FAILED) {
        counts_leave(vm->base.counts, pc);
        return;
    }
    uint64_t operations = work->product || work->count ? tvmr_operations(vm, in, work) : 1;
    counts_work(vm->base.counts, counts_stretch(vm->base.counts, vm->places[pc]), operations);
}

static bool vm_count(penta_vm *base, struct counts *counts, penta_error *err)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    uint32_t *all = calloc(vm->count + 1, sizeof *all), *places = NULL;
    for (size_t i = 0; all && i < vm->count; i++) all[i] = (uint32_t)i;
    counts->works = true;
    counts->cost_name = "operations";
    bool ok = all && counts_cut(counts, all, counts->map->count, err);
    struct tvmr_work *works = ok ? calloc(vm->count + 1, sizeof *works) : NULL;
    if (works) places = counts_places(counts, NULL, vm->count);
    free(all);
    if (!places) {
        free(works);
        return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    }
    for (size_t i = 0; i < vm->count; i++) works[i] = tvmr_work_of(&vm->code[i]);
    free(vm->places);
    free(vm->works);
    vm->places = places;
    vm->works = works;
    vm->base.counts = counts;
    return true;
}

void tvmr_vm_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    uint64_t steps = 0;
    *stop = (penta_stop){.kind = PENTA_STOP_FUEL};
    bool over = vm->at_break && fuel;
    if (fuel) vm->at_break = false;
    while (!vm->final && !vm->waiting) {
        vm->at = vm->pc;
        if (vm->pc >= vm->count) {
            end_run(vm);
            continue;
        }
        if (steps == fuel) break;
        if (atomic_load_explicit(&base->interrupt, memory_order_relaxed) &&
            atomic_exchange_explicit(&base->interrupt, false, memory_order_relaxed)) {
            stop->kind = PENTA_STOP_INTERRUPT;
            break;
        }
        const struct tvmr_insn *in = &vm->code[vm->pc];
        if (in->run == op_mark && !over) {
            stop->kind = PENTA_STOP_BREAK;
            vm->at_break = true;
            break;
        }
        over = false;
        if (vm->base.counts && !vm->begun)
            counts_arrive(vm->base.counts, vm->places[vm->pc], vm->call_depth + 1);
        vm->pc++;
        enum tvmr_result result = in->plain(vm, in);
        if (vm->paused) { /* The interrupted instruction runs again later. */
            vm->paused = false;
            vm->begun = true;
            vm->pc = vm->at;
            atomic_store_explicit(&base->interrupt, false, memory_order_relaxed);
            stop->kind = PENTA_STOP_INTERRUPT;
            break;
        }
        vm->begun = false;
        vm->progress = 0;
        steps++;
        if (vm->base.counts) count_after(vm, in, result);
        if (result == TVMR_HALTED) {
            end_run(vm);
        } else if (result == TVMR_FAILED) {
            vm->final = true;
            vm->executed++; /* The instruction counts here, because the steps of the stop do not
                             * include it. */
            steps--;
        }
    }
    vm->executed += steps;
    stop->steps = steps;
    vm_tell(vm, stop);
}

void tvmr_vm_stop(struct tvmr_vm *vm)
{
    vm->waiting = false;
    vm->settled = true;
    end_run(vm);
}

void tvmr_vm_fail(struct tvmr_vm *vm, const char *text)
{
    vm->waiting = false;
    vm->settled = true;
    ops_fail(vm, TVMR_E_HOST, "%s", text);
    vm->final = true;
}

static bool vm_answer(penta_vm *base, const uint64_t *results, size_t count, penta_error *err)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    bool settled = vm->settled;
    vm->settled = false;
    if (!vm->waiting) {
        if (!count && settled) return true;
        return error_at(err, BASE_STATE, 0, "no domain operation waits for an answer");
    }
    if (count > 1 || (count && results[0] > 2))
        return error_at(err, BASE_STATE, 0,
                        "the answer is nothing or 0 to go on, 1 to stop, 2 to fail");
    vm->waiting = false;
    if (count && results[0] == 1) tvmr_vm_stop(vm);
    if (count && results[0] == 2) tvmr_vm_fail(vm, "refused");
    vm->settled = false;
    return true;
}

static bool vm_mark(penta_vm *base, uint64_t pc, bool on)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    if (pc >= vm->count) return false;
    vm->code[pc].run = on ? op_mark : vm->code[pc].plain;
    return true;
}

/* Finds an element by its address. Registers are memory at the byte address register << 32 |
 * offset, with elements in the byte order of the host. */
static bool element_at(const struct tvmr_vm *vm, uint64_t address, size_t size, const uint8_t **at)
{
    uint64_t reg = address >> 32, offset = address & UINT32_MAX, bytes;
    const void *data;
    if (reg < 64) {
        bytes = vm->hot[reg].present ? vm->hot[reg].count * 4 : 0;
        data = vm->hot[reg].data;
    } else if (reg < 128) {
        bytes = vm->cold[reg - 64].present ? vm->cold[reg - 64].count * 2 : 0;
        data = vm->cold[reg - 64].weights;
    } else if (reg < 192) {
        bytes = 4;
        data = &vm->param[reg - 128];
    } else {
        return false;
    }
    if (offset > bytes || size > bytes - offset) return false;
    *at = size ? (const uint8_t *)data + offset
               : NULL; /* An empty register may have a NULL pointer. */
    return true;
}

static bool vm_peek(const penta_vm *base, uint64_t address, void *into, size_t size)
{
    const uint8_t *at;
    if (!element_at((const struct tvmr_vm *)base, address, size, &at)) return false;
    if (size) memcpy(into, at, size);
    return true;
}

static bool vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    const uint8_t *at;
    struct tvmr_vm *vm = tvmr_vm(base);
    if (!element_at(vm, address, size, &at)) return false;
    if (size) memcpy((uint8_t *)(uintptr_t)at, from, size);
    if (address >> 38 == 0) vm->hot[address >> 32 & 63].stamp++;
    if (address >> 38 == 1) tvmr_cold_changed(&vm->cold[address >> 32 & 63]);
    return true;
}

static bool same_shape(const struct tvmr_cold *a, const struct tvmr_cold *b)
{
    return a->shape.rank == b->shape.rank && a->count == b->count &&
           (!a->shape.rank ||
            !memcmp(a->shape.dims, b->shape.dims, a->shape.rank * sizeof *a->shape.dims));
}

static bool same_key(const struct tvmr_cold *a, const struct tvmr_cold *b)
{
    return a->key_size && a->key_size == b->key_size && !memcmp(a->key, b->key, a->key_size);
}

bool tvmr_vm_reload(struct tvmr_vm *vm, const penta_module *module, bool *kept, penta_error *err)
{
    *kept = false;
    if (vm->base.counts)
        return error_at(err, BASE_STATE, 0, "the instructions of the program are being counted");
    struct tvmr_cold *old = calloc(TVMR_BANK, sizeof *old);
    if (!old) return error_at(err, BASE_MEMORY, 0, "no memory to keep the weights");
    bool ok = true;
    vm->note_count = 0; /* The notes and the weight files belonged to the other program. */
    vm->keyed = vm->filled = 0;
    *vm->unused = *vm->warning = 0;
    for (unsigned i = 0; ok && i < TVMR_BANK; i++)
        if (vm->cold[i].present) ok = tvmr_cold_copy(vm, &old[i], &vm->cold[i]);
    if (!ok) error_at(err, tvmr_memory_code(vm), 0, "no room to keep the weights");
    if (ok) memset(vm->declared, 0, sizeof vm->declared);
    ok = ok && vm_decode(vm, tvmr_module(module), err) && define_all(vm, tvmr_module(module), err);
    for (unsigned i = 0; ok && i < TVMR_BANK; i++) {
        struct tvmr_cold *c = &vm->cold[i];
        if (!old[i].present || !c->present || !same_shape(&old[i], c)) continue;
        if (old[i].key_size && !same_key(&old[i], c)) continue;
        if (c->count) memcpy(c->weights, old[i].weights, c->count * sizeof *c->weights);
        tvmr_cold_changed(c);
        *kept = true;
    }
    for (unsigned i = 0; i < TVMR_BANK; i++) tvmr_cold_drop(vm, &old[i]);
    free(old);
    if (!ok) return false;
    vm->base.module = module;
    vm->pc = 0;
    vm->loop_depth = vm->call_depth = 0;
    vm->final = vm->waiting = vm->at_break = vm->begun = false;
    vm->progress = 0;
    vm->fault = TVMR_E_NONE;
    return true;
}

static const char *vm_detail(const penta_vm *vm, const penta_stop *stop)
{
    (void)vm;
    const struct tvmr_op *op = stop->kind == PENTA_STOP_HOST ? tvmr_domain_op(stop->detail) : NULL;
    return op ? op->domain : NULL;
}

/* Passes an interrupt on to the model that the host runs for this machine. */
static void vm_interrupt(penta_vm *base)
{
    penta_vm *inner = atomic_load(&tvmr_vm(base)->inner);
    if (!inner) return;
    atomic_store(&inner->interrupt, true);
    vm_interrupt(inner);
}

const struct engine tvmr_interp = {
    .name = "interp",
    .open = vm_open,
    ENGINE_CALLS(vm),
    .run = tvmr_vm_run,
    .interrupt = vm_interrupt,
    .describe = tvmr_vm_describe,
    .walk = tvmr_vm_walk,
    .count = vm_count,
};
