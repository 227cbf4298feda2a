/* Does everything that a machine does besides running: open, answer, describe, peek, poke,
 * breakpoints, snapshots. */
#include "cvbc/vm/vm.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/codec/checksum.h"
#include "base/reader.h"
#include "core/snapshot.h"
#include "core/structure/counts.h"
#include "core/describe.h"
#include "crypto/hash.h"

static uint8_t cvbc_vm_operation(struct cvbc_inst in)
{
    static const uint8_t plain[256] = {
#define OP(code, name, ...) [code] = CVBC_DO_##name,
#include "cvbc/isa.def"
    };
    bool s = in.flags & CVBC_S;
    switch (in.opcode) {
    case CVBC_OP_PUSH:
        return in.flags & CVBC_W ? CVBC_DO_PUSH_W : s ? CVBC_DO_PUSH_S : CVBC_DO_PUSH;
    case CVBC_OP_LE: return s ? CVBC_DO_LE_S : CVBC_DO_LE;
    case CVBC_OP_GE: return s ? CVBC_DO_GE_S : CVBC_DO_GE;
    case CVBC_OP_STORE_ARRAY:
        return in.flags & CVBC_V ? CVBC_DO_STORE_ARRAY_V : CVBC_DO_STORE_ARRAY;
    default: return plain[in.opcode];
    }
}

/* Decodes an instruction of a program. An instruction that the minor version of the file does
 * not have becomes BAD. */
static struct cvbc_insn cvbc_vm_decoded(const struct cvbc_program *p, size_t i)
{
    struct cvbc_inst in = cvbc_inst_at(p, i);
    uint8_t op = cvbc_op_known(p, in.opcode) ? cvbc_vm_operation(in) : CVBC_DO_BAD;
    return (struct cvbc_insn){in.immediate, op};
}

static const struct {
    uint8_t op, of[4];
} fused[] = {
#define FUSED(name, first, second, third, fourth, ...)                                             \
    {CVBC_DO_##name, {CVBC_DO_##first, CVBC_DO_##second, CVBC_DO_##third, CVBC_DO_##fourth}},
#include "cvbc/fused.def"
};

static uint8_t cvbc_vm_usual(uint8_t op)
{
    return op == CVBC_DO_LT ? CVBC_DO_LT_S : op == CVBC_DO_EQ_S ? CVBC_DO_EQ : op;
}

static void fuse_at(struct cvbc_vm *vm, uint32_t i)
{
    for (size_t k = 0; k < sizeof fused / sizeof *fused; k++) {
        bool same = true;
        for (unsigned n = 0; n < 4; n++)
            same &= cvbc_vm_usual(cvbc_vm_operation(cvbc_inst_at(vm->program, i + n))) ==
                    fused[k].of[n];
        if (!same) continue;
        vm->code[i].op = fused[k].op;
        vm->fused = true;
    }
}

enum { HOT_PATH = 1, COLD_PATH = 2, LOOP_UNROLL = 3 };

/* Marks the regions of a hint, which are pairs of u16; loop_unroll has its factor before them.
 * `work` limits the time that overlapping hints may take. */
static void mark_regions(const struct cvbc_hint_row *hint, bool *hot, uint32_t count,
                         uint64_t *work)
{
    penta_bytes data = hint->data;
    for (size_t at = hint->head.hint_type == LOOP_UNROLL; at + 4 <= data.size; at += 4) {
        uint32_t first = bytes_get16(data.data + at), last = bytes_get16(data.data + at + 2);
        if (last >= count) last = count - 1;
        if (last < first || last - first >= *work) continue;
        *work -= last - first;
        memset(hot + first, hint->head.hint_type != COLD_PATH, last - first + 1);
    }
}

void cvbc_vm_heed_hints(struct cvbc_vm *vm, const struct cvbc_metadata *meta)
{
    uint64_t work = 8 * (uint64_t)vm->count + 64;
    bool *hot = vm->proved && meta->hint_count ? calloc(vm->count, sizeof *hot) : NULL;
    if (!hot) return;
    for (int cold = 0; cold < 2; cold++) /* The second pass removes cold code from hot regions. */
        for (size_t i = 0; i < meta->hint_count; i++) {
            uint8_t type = meta->hints[i].head.hint_type;
            if (cold ? type == COLD_PATH : type == HOT_PATH || type == LOOP_UNROLL)
                mark_regions(&meta->hints[i], hot, vm->count, &work);
        }
    for (uint32_t i = 0; i + 3 < vm->count; i++)
        if (hot[i]) fuse_at(vm, i);
    free(hot);
}

void cvbc_vm_unfuse(struct cvbc_vm *vm)
{
    if (!vm->fused) return;
    vm->fused = false;
    for (uint32_t i = 0; i < vm->count; i++) vm->code[i] = cvbc_vm_decoded(vm->program, i);
}

struct cvbc_vm *cvbc_vm_new(const struct cvbc_program *p, uint32_t capacity, uint64_t budget,
                            bool proved, penta_error *err)
{
    struct cvbc_vm *vm = calloc(1, sizeof *vm);
    if (vm) {
        vm->code = calloc(p->count + 1, sizeof *vm->code);
        vm->stack = calloc(capacity + 2 * CVBC_GUARD, sizeof *vm->stack);
        vm->depths = calloc(1, sizeof *vm->depths);
    }
    if (!vm || !vm->code || !vm->stack || !vm->depths) {
        error_at(err, BASE_MEMORY, 0, "no memory for a machine");
        cvbc_vm_free(vm);
        return NULL;
    }
    atomic_init(&vm->base.interrupt, false);
    vm->base.engine = &cvbc_interp;
    vm->program = p;
    vm->count = (uint32_t)p->count;
    vm->pc = p->head.entry_point_offset;
    vm->capacity = capacity;
    vm->budget = budget;
    vm->proved = proved;
    vm->stack[0] = CVBC_GUARD_LOW;
    vm->stack[capacity + CVBC_GUARD] = CVBC_GUARD_HIGH;
    for (size_t i = 0; i < p->count; i++) vm->code[i] = cvbc_vm_decoded(p, i);
    vm->code[p->count].op = CVBC_DO_END;
    return vm;
}

void cvbc_vm_free(struct cvbc_vm *vm)
{
    if (!vm) return;
    if (vm->stack) secret_wipe(vm->stack, (vm->capacity + 2 * CVBC_GUARD) * sizeof *vm->stack);
    if (vm->depths) {
        free(vm->depths->depths);
        free(vm->depths->functions);
    }
    free(vm->depths);
    free(vm->stack);
    free(vm->code);
    free(vm->clean);
    free(vm->places);
    secret_wipe(vm, sizeof *vm);
    free(vm);
}

static void count_errors(void *user, const penta_error *finding)
{
    if (finding->severity == PENTA_ERROR) ++*(size_t *)user;
}

static penta_vm *vm_open(const penta_module *module, const penta_option *options, size_t count,
                         penta_error *err)
{
    const struct cvbc_module *m = cvbc_chosen(cvbc_module(module));
    const struct cvbc_opened *o = cvbc_open(m);
    const struct cvbc_core *core = &m->meta.core;
    uint64_t stack = option_number(options, count, "stack", CVBC_STACK_MAX),
             budget = core->max_execution_cycles;
    if (!budget) budget = CVBC_BUDGET;
    budget = option_number(options, count, "budget", budget);
    bool undeclared = option_is(options, count, "undeclared", "allow");
    uint32_t needed = core->max_stack_depth_words;
    if (o->program.head.stack_size_required > needed) needed = o->program.head.stack_size_required;
    if (needed > stack) {
        error_at(err, CVBC_LIMIT, 0, "the program needs a stack of %u words, the machine has %llu",
                 (unsigned)needed, (unsigned long long)stack);
        error_note(err, "option 'stack' gives it more");
        return NULL;
    }
    struct cvbc_flow flow = {0};
    size_t errors = 0;
    struct findings f = {.rules = cvbc_rules, .report = count_errors, .user = &errors};
    bool proved = cvbc_verify_program(&o->program, &f, 0, false, &flow) && flow.proved && !errors &&
                  flow.stack <= stack;
    struct cvbc_vm *vm = cvbc_vm_new(&o->program, (uint32_t)stack, budget, proved, err);
    if (!vm) return NULL;
    vm->base.module = module;
    if (&m->base != module) { /* Snapshots belong to one program of the file. */
        vm->base.hash = checksum_xxh64(m->base.file);
        vm->base.hashed = true;
    }
    if (!undeclared) cvbc_declared_read(&m->meta, &vm->declared);
    if (!option_text(options, count, "plain")) cvbc_vm_heed_hints(vm, &m->meta);
    return &vm->base;
}

static void vm_close(penta_vm *base) { cvbc_vm_free(cvbc_vm(base)); }

/* Handles the answer {error} or {error, value}. The program continues if error is 0. */
static bool vm_answer(penta_vm *base, const uint64_t *results, size_t count, penta_error *err)
{
    struct cvbc_vm *vm = cvbc_vm(base);
    if (!vm->waiting) return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    const struct cvbc_op_info *op = &cvbc_ops[vm->program->code[4 * vm->pc]];
    if (!count || results[0] >= CVBC_TRAPS)
        return error_at(err, BASE_STATE, 0, "the first result is an error number, 0 for success");
    if (!results[0] && count != 1u + op->pushes)
        return error_at(err, BASE_STATE, 0, "%s takes %u results", op->mnemonic, 1u + op->pushes);
    vm->waiting = false;
    if (results[0]) {
        vm->error = (uint8_t)results[0];
        vm->final = true;
        return true;
    }
    vm->executed++;
    if (op->pushes) vm->stack[CVBC_GUARD + vm->sp++] = (int32_t)(uint32_t)results[1];
    vm->pc++;
    return true;
}

static void describe_words(const penta_visitor *v, const char *name, const int32_t *words,
                           size_t count)
{
    penta_node list = {.name = name, .list = true};
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i < count; i++)
        describe_field(v, (penta_field){.name = "word", .kind = PENTA_SINT, .as.i = words[i]});
    describe_leave(v, list);
}

static void describe_globals(const struct cvbc_vm *vm, const penta_visitor *v)
{
    penta_node list = {.name = "globals", .list = true};
    if (!describe_enter(v, list)) return;
    for (unsigned i = 0; i < CVBC_GLOBALS; i++) {
        penta_node slot = {.name = "global"};
        if (!vm->globals[i] || !describe_enter(v, slot)) continue;
        describe_uint(v, "slot", i);
        describe_field(v,
                       (penta_field){.name = "value", .kind = PENTA_SINT, .as.i = vm->globals[i]});
        describe_leave(v, slot);
    }
    describe_leave(v, list);
}

static void describe_arrays(const struct cvbc_vm *vm, const penta_visitor *v)
{
    penta_node list = {.name = "arrays", .list = true};
    if (!vm->pool_used || !describe_enter(v, list)) return;
    for (unsigned i = 0; i < CVBC_ARRAYS; i++) {
        penta_node array = {.name = "array"};
        if (!vm->arrays[i].size || !describe_enter(v, array)) continue;
        describe_uint(v, "id", i);
        describe_words(v, "elements", &vm->pool[vm->arrays[i].from], vm->arrays[i].size);
        describe_leave(v, array);
    }
    describe_leave(v, list);
}

static void vm_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct cvbc_vm *vm = (const struct cvbc_vm *)base;
    describe_uint(v, "pc", vm->pc);
    describe_uint(v, "executed", vm->executed);
    if (vm->final) describe_uint(v, "error", vm->error);
    if (vm->final && *vm->refused) describe_text(v, "refused", vm->refused);
    penta_bytes file;
    uint32_t line;
    penta_node source = {.name = "source"};
    if (vm->base.module && cvbc_line_of(cvbc_module(vm->base.module), vm->pc, &file, &line) &&
        describe_enter(v, source)) {
        describe_field(v, (penta_field){.name = "file", .kind = PENTA_TEXT, .as.bytes = file});
        describe_uint(v, "line", line);
        describe_leave(v, source);
    }
    describe_words(v, "stack", vm->stack + CVBC_GUARD, vm->sp);
    describe_globals(vm, v);
    describe_arrays(vm, v);
}

/* Callers see memory as four windows of little-endian words. */

static int32_t *cvbc_vm_window(struct cvbc_vm *vm, uint64_t address, size_t *size)
{
    switch (address >> 24) {
    case 0: *size = vm->capacity; return vm->stack + CVBC_GUARD;
    case 1: *size = CVBC_GLOBALS; return vm->globals;
    case 2: *size = CVBC_POOL; return vm->pool;
    case 3: *size = vm->arg_count; return vm->args;
    default: *size = 0; return NULL;
    }
}

static bool cvbc_vm_touch(struct cvbc_vm *vm, uint64_t address, uint8_t *into, const uint8_t *from,
                          size_t size)
{
    size_t words;
    int32_t *base = cvbc_vm_window(vm, address, &words);
    uint64_t at = address & 0xffffff;
    if (!base || at > words * 4 || size > words * 4 - at) return false;
    for (size_t i = 0; i < size; i++) {
        unsigned shift = (unsigned)(at + i) % 4 * 8;
        uint32_t word = (uint32_t)base[(at + i) / 4];
        if (into) into[i] = (uint8_t)(word >> shift);
        if (from)
            base[(at + i) / 4] =
                (int32_t)((word & ~(UINT32_C(255) << shift)) | (uint32_t)from[i] << shift);
    }
    return true;
}

static bool vm_peek(const penta_vm *base, uint64_t address, void *into, size_t size)
{
    return cvbc_vm_touch((struct cvbc_vm *)base, address, into, NULL, size);
}

/* Writes memory. The new word may be a return index, so the program does not count as proved any
 * more. */
static bool vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    struct cvbc_vm *vm = cvbc_vm(base);
    if (!cvbc_vm_touch(vm, address, NULL, from, size)) return false;
    vm->proved = false;
    return true;
}

/* Keeps a copy of the code as it was before the first breakpoint. */
static bool keep_clean(struct cvbc_vm *vm)
{
    cvbc_vm_unfuse(vm); /* A run would not notice a breakpoint inside a fused operation. */
    if (!vm->clean) vm->clean = array_copy(vm->code, (size_t)vm->count + 1, sizeof *vm->clean);
    return vm->clean != NULL;
}

static bool vm_mark(penta_vm *base, uint64_t pc, bool on)
{
    struct cvbc_vm *vm = cvbc_vm(base);
    if (pc >= vm->count || !keep_clean(vm)) return false;
    vm->code[pc].op = on ? CVBC_DO_BREAK : vm->clean[pc].op;
    return true;
}

static bool vm_count(penta_vm *base, struct counts *counts, penta_error *err)
{
    struct cvbc_vm *vm = cvbc_vm(base);
    uint32_t *places = counts_places(counts, NULL, vm->count);
    if (!places || !keep_clean(vm)) {
        free(places);
        return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    }
    for (uint32_t i = 0; i < vm->count; i++)
        if (places[i]) vm->code[i].op = CVBC_DO_COUNT;
    free(vm->places);
    vm->places = places;
    vm->base.counts = counts;
    return true;
}

static bool cvbc_vm_waits(const struct cvbc_vm *vm)
{
    uint8_t opcode = vm->pc < vm->count ? vm->program->code[4 * vm->pc] : 0;
    _Static_assert(CVBC_OP_DIGITAL_WRITE == 0x10 && CVBC_OP_SERIAL_WRITE == 0x1e &&
                       CVBC_OP_I2C_BEGIN == 0x70 && CVBC_OP_WAIT == 0x7d,
                   "the host calls");
    return (opcode >= CVBC_OP_DIGITAL_WRITE && opcode <= CVBC_OP_SERIAL_WRITE) ||
           (opcode >= CVBC_OP_I2C_BEGIN && opcode <= CVBC_OP_WAIT);
}

/* Saves or loads the busses, devices and watched pins of the board. */
static void vm_walk_busses(struct cvbc_pins *p, struct walk *w)
{
    walk_numbers(w, p->levels, CVBC_PINS, sizeof *p->levels);
    for (unsigned i = 0; i < CVBC_BUSSES_EACH; i++) {
        struct cvbc_i2c *bus = &p->i2c[i];
        WALK_NUMBER(w, bus->address);
        WALK_NUMBER(w, bus->sending);
        WALK_NUMBER(w, bus->count);
        WALK_NUMBER(w, bus->taken);
        walk_numbers(w, bus->sent, CVBC_I2C_BUFFER, sizeof *bus->sent);
        walk_numbers(w, bus->received, CVBC_I2C_BUFFER, sizeof *bus->received);
        if (bus->sending > CVBC_I2C_BUFFER + 1 || bus->count > CVBC_I2C_BUFFER ||
            bus->taken > bus->count)
            walk_wrong(w, "a bus that holds more bytes than it can");
    }
    WALK_NUMBER(w, p->i2c_lines);
    WALK_NUMBER(w, p->device_count);
    if (p->device_count > CVBC_I2C_DEVICES) {
        walk_wrong(w, "more devices than a board has");
        return;
    }
    for (unsigned i = 0; i < p->device_count; i++) {
        WALK_NUMBER(w, p->devices[i].bus);
        WALK_NUMBER(w, p->devices[i].address);
        WALK_NUMBER(w, p->devices[i].at);
        walk_numbers(w, p->devices[i].values, CVBC_I2C_REGISTERS, 1);
    }
    walk_numbers(w, p->spi_given, CVBC_PINS, sizeof *p->spi_given);
    walk_numbers(w, p->watch.handlers, CVBC_PINS, sizeof *p->watch.handlers);
    walk_numbers(w, p->watch.since, CVBC_PINS, sizeof *p->watch.since);
    walk_numbers(w, p->watch.modes, CVBC_PINS, sizeof *p->watch.modes);
    WALK_NUMBER(w, p->watch.seen);
    WALK_NUMBER(w, p->watch.held);
    for (unsigned i = 0; i < CVBC_PINS; i++)
        if (p->watch.modes[i] > 4) walk_wrong(w, "a pin that is watched in no known way");
}

/* Walks over what the board knows of a loop that may only wait. */
static void vm_walk_wait(struct cvbc_pins *p, struct walk *w)
{
    WALK_NUMBER(w, p->wait.state);
    WALK_NUMBER(w, p->wait.at);
    WALK_NUMBER(w, p->wait.us);
    WALK_NUMBER(w, p->wait.reads);
    WALK_NUMBER(w, p->wait.seen);
    WALK_NUMBER(w, p->wait.limit);
}

/* Sets what vm_walk_busses walks over to its state at the start of a machine. */
static void vm_forget_busses(struct cvbc_pins *p)
{
    memset(p->levels, 0, sizeof p->levels);
    memset(p->i2c, 0, sizeof p->i2c);
    p->i2c_lines = p->device_count = 0;
    memset(p->spi_given, 0, sizeof p->spi_given);
    memset(&p->watch, 0, sizeof p->watch);
}

static void vm_walk(penta_vm *base, struct walk *w)
{
    struct cvbc_vm *vm = cvbc_vm(base);
    WALK_NUMBER(w, vm->pc);
    WALK_NUMBER(w, vm->sp);
    WALK_NUMBER(w, vm->pool_used);
    WALK_NUMBER(w, vm->executed);
    WALK_NUMBER(w, vm->waiting);
    WALK_NUMBER(w, vm->final);
    WALK_NUMBER(w, vm->ended);
    WALK_NUMBER(w, vm->ran_off);
    WALK_NUMBER(w, vm->error);
    WALK_NUMBER(w, vm->arg_count);
    if (vm->pc > vm->count || vm->sp > vm->capacity || vm->pool_used > CVBC_POOL ||
        vm->error >= CVBC_TRAPS || vm->arg_count > CVBC_HOST_ARGS || vm->executed > vm->budget ||
        (vm->waiting && !cvbc_vm_waits(vm))) {
        walk_wrong(w, "a state that this program cannot be in");
        return;
    }
    for (size_t i = 0; i < CVBC_ARRAYS; i++) {
        WALK_NUMBER(w, vm->arrays[i].from);
        WALK_NUMBER(w, vm->arrays[i].size);
        if (vm->arrays[i].from + vm->arrays[i].size > vm->pool_used)
            walk_wrong(w, "an array outside the pool");
    }
    walk_numbers(w, vm->args, CVBC_HOST_ARGS, sizeof *vm->args);
    walk_numbers(w, vm->globals, CVBC_GLOBALS, sizeof *vm->globals);
    walk_numbers(w, vm->pool, vm->pool_used, sizeof *vm->pool);
    walk_numbers(w, vm->stack + CVBC_GUARD, vm->sp, sizeof *vm->stack);
    if (walk_loads(w) && !walk_failed(w) && !reader_left(&w->in))
        walk_wrong(w, "it was made by an older penta and lacks the pins of the board");
    WALK_NUMBER(w, vm->pins.us);
    walk_numbers(w, vm->pins.modes, CVBC_PINS, sizeof *vm->pins.modes);
    if (walk_loads(w) && !walk_failed(w) && !reader_left(&w->in))
        walk_wrong(w, "it was made by an older penta and lacks the clock of the board");
    WALK_NUMBER(w, vm->pins.idle);
    if (!w->brief) vm_walk_wait(&vm->pins, w);
    if (walk_loads(w) && !walk_failed(w) && !reader_left(&w->in))
        walk_wrong(w, "it was made by an older penta and lacks the serial ports of the board");
    walk_numbers(w, vm->pins.received, CVBC_PORTS, sizeof *vm->pins.received);
    if (walk_loads(w) && !walk_failed(w) && !reader_left(&w->in))
        vm_forget_busses(&vm->pins); /* An older penta made it, whose programs knew no busses. */
    else
        vm_walk_busses(&vm->pins, w);
    if (!walk_loads(w)) return;
    vm->at_break = false;
    cvbc_vm_refuses(vm);
    vm->proved = false; /* The bytes came from outside, so return indices may be wrong. */
}

const char *cvbc_error_name(unsigned error)
{
    const char *name = error ? trap_name(cvbc_traps, error) : "NONE";
    return name ? name : "RESERVED";
}

static const char *vm_detail(const penta_vm *base, const penta_stop *stop)
{
    (void)base;
    return stop->kind == PENTA_STOP_HOST ? cvbc_ops[stop->detail & 255].mnemonic : NULL;
}

const struct engine cvbc_interp = {
    .name = "interp",
    .heeds_guards = true,
    .open = vm_open,
    .run = cvbc_vm_run,
    ENGINE_CALLS(vm),
    .describe = vm_describe,
    .walk = vm_walk,
    .count = vm_count,
};
