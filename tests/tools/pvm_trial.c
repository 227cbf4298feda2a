/* Checks that both engines agree on registers, pc, gas, memory and stop. They are compared after
 * every block (engine "both"), and at every stop when compiled code runs freely, is interrupted,
 * or continues with a machine of the interpreter. */
#include "pvm_trial.h"
#include "pvm/jit/jit.h"
#include "pvm/vm/snapshot.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, DRIP_ROUNDS = 250, STEPS = 600 };

struct trial {
    const struct program *p;
    struct pvm_config config;
    uint64_t regs[PVM_REGISTERS];
    uint32_t start;
    bool drip;        /* Gas is given in small amounts, so that it runs out before every block. */
    bool interrupted; /* An interrupt comes before every run. */
    struct choices *c;
    struct tally *tally;
};

#define CHECK(t, condition) ((condition) ? (void)0 : trial_failed(#condition, (t)->p))

static struct pvm_vm *pvm_trial_machine(const struct trial *t, const char *engine)
{
    penta_error err = {0};
    struct pvm_config config = t->config;
    CHECK(t, pvm_engine_find(engine, &config.adopt));
    struct pvm_vm *vm = pvm_vm_create(NULL, &t->p->view, &config, NULL, &err);
    CHECK(t, vm && !strcmp(vm->base.engine->name, engine));
    penta_bytes none = {0};
    bool ok = pvm_memory_map(&vm->memory, 0x10000, 0x1000, true, none, false) &&
              pvm_memory_map(&vm->memory, 0x20000, 0x1000, false,
                             (penta_bytes){(const uint8_t *)"read-only", 9}, true) &&
              pvm_memory_map(&vm->memory, 0x30000, 0x2000, true, none, false);
    CHECK(t, ok);
    vm->layout.heap_base = 0x32100;
    vm->layout.rw = 0x30000;
    vm->layout.rw_length = 0x2000;
    vm->layout.heap_max = 0x8000;
    for (unsigned i = 0; i < PVM_REGISTERS; i++) pvm_vm_set_reg(vm, i, t->regs[i]);
    pvm_vm_jump(vm, t->start);
    if (t->tally) t->tally->machines++;
    return vm;
}

/* Acts as the host at a stop. Returns false when the run is over. */
static bool pvm_trial_settle(const struct trial *t, struct pvm_vm *vm, const penta_stop *stop,
                             unsigned round)
{
    penta_error err = {0};
    uint64_t answer = stop->args[0] + 1;
    uint32_t page = (uint32_t)stop->args[0];
    switch (stop->kind) {
    case PENTA_STOP_HOST: CHECK(t, penta_vm_answer(&vm->base, &answer, 1, &err)); return true;
    case PENTA_STOP_FAULT:
        if (stop->args[2]) return pvm_memory_protect(&vm->memory, page, 0x1000, true);
        return pvm_memory_map(&vm->memory, page, 0x1000, true, (penta_bytes){0}, false);
    case PENTA_STOP_GAS:
        if (!t->drip && round > ROUNDS / 2) return false;
        vm->state->gas += t->drip ? 1 + round % 3 : 100 + round;
        return true;
    default: return false;
    }
}

static void pvm_trial_same(const struct trial *t, struct pvm_vm *a, const penta_stop *sa,
                           struct pvm_vm *b, const penta_stop *sb)
{
    penta_buffer x = {0}, y = {0};
    penta_error err = {0};
    CHECK(t, sa->kind == sb->kind && sa->detail == sb->detail && sa->pc == sb->pc);
    CHECK(t, !memcmp(sa->args, sb->args, sizeof sa->args));
    a->executed = b->executed = 0;
    CHECK(t, penta_vm_save(&a->base, &x, &err) && penta_vm_save(&b->base, &y, &err));
    CHECK(t, x.size == y.size && !memcmp(x.data, y.data, x.size));
    penta_buffer_free(&x);
    penta_buffer_free(&y);
}

static void count_stop(const struct trial *t, const penta_stop *stop)
{
    if (!t->tally) return;
    t->tally->stops[stop->kind & 15]++;
    if (stop->kind == PENTA_STOP_TRAP) t->tally->traps[stop->detail & 3]++;
    if (stop->kind == PENTA_STOP_GAS) t->tally->gas_places++;
}

/* Tells whether native code is in the order of its instructions. */
static bool pvm_trial_rises(const struct pvm_native *n)
{
    uint32_t last = 0;
    for (uint32_t i = 0; n && i < n->count; i++) {
        if (!n->offsets[i]) continue;
        if (n->offsets[i] < last) return false;
        last = n->offsets[i];
    }
    return true;
}

/* Checks the gas model `step`, in which each instruction costs one, also the one that trapped or
 * faulted. memset, which not every ISA has, costs more for its bytes. */
static void pvm_trial_counted(const struct trial *t, int64_t spent, const penta_stop *stop)
{
    if (t->config.model != PVM_GAS_STEP || !t->config.metered) return;
    int64_t least =
        (int64_t)stop->steps + (stop->kind == PENTA_STOP_TRAP || stop->kind == PENTA_STOP_FAULT);
    CHECK(t, spent >= least);
    CHECK(t, spent == least || pvm_ops[PVM_OP_memset].number[t->p->isa] >= 0);
}

/* Runs both engines freely and compares them at every stop. With `swap`, the interpreter
 * continues from every other stop of the compiler's machine. */
static void pvm_trial_race(const struct trial *t, bool swap)
{
    struct pvm_vm *a = pvm_trial_machine(t, "interp"), *b = pvm_trial_machine(t, "jit");
    penta_stop x, y;
    for (unsigned round = 0; round < (t->drip ? DRIP_ROUNDS : ROUNDS); round++) {
        if (t->interrupted) {
            penta_vm_interrupt(&b->base);
            penta_vm_run(&b->base, UINT64_MAX, &y);
            CHECK(t, y.kind == PENTA_STOP_INTERRUPT);
        }
        int64_t gas = a->state->gas;
        pvm_vm_run(&a->base, UINT64_MAX, &x);
        pvm_trial_counted(t, gas - a->state->gas, &x);
        if (swap && round & 1)
            pvm_vm_run(&b->base, UINT64_MAX, &y);
        else
            penta_vm_run(&b->base, UINT64_MAX, &y);
        pvm_trial_same(t, a, &x, b, &y);
        count_stop(t, &x);
        bool more = pvm_trial_settle(t, a, &x, round);
        CHECK(t, more == pvm_trial_settle(t, b, &y, round));
        if (!more) break;
    }
    CHECK(t, pvm_trial_rises(b->cells->native));
    penta_vm_free(&a->base);
    penta_vm_free(&b->base);
}

static void lock_step(const struct trial *t)
{
    struct pvm_vm *vm = pvm_trial_machine(t, "both");
    penta_stop stop;
    for (unsigned round = 0; round < ROUNDS; round++) {
        penta_vm_run(&vm->base, UINT64_MAX, &stop);
        if (stop.kind == PENTA_STOP_DISAGREE) {
            fprintf(stderr, "%s at %llu\n", vm->base.engine->detail(&vm->base, &stop),
                    (unsigned long long)stop.pc);
            trial_failed("the engines agree", t->p);
        }
        if (!pvm_trial_settle(t, vm, &stop, round)) break;
    }
    penta_vm_free(&vm->base);
}

static void count_compiled(const struct trial *t)
{
    const struct program *p = t->p;
    for (uint32_t pc = 0; pc < p->size; pc++) {
        if (!pvm_starts(&p->view, pc)) continue;
        struct pvm_insn in;
        pvm_decode(&p->view, pc, &in);
        t->tally->compiled[p->isa][in.op]++;
    }
}

/* Runs the program again by single steps, to count what was executed. */
static void count_executed(const struct trial *t)
{
    const struct program *p = t->p;
    struct pvm_vm *vm = pvm_trial_machine(t, "interp");
    penta_stop stop;
    unsigned round = 0, slot = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        struct pvm_insn in;
        uint32_t pc = vm->state->pc;
        if (pc < p->size && pvm_starts(&p->view, pc)) {
            pvm_decode(&p->view, pc, &in);
            t->tally->executed[p->isa][in.op]++;
            while (slot < p->count && p->starts[slot] < pc) slot++;
            while (slot && (slot == p->count || p->starts[slot] > pc)) slot--;
            if (p->starts[slot] == pc) t->tally->patterns[p->slots[slot].pattern]++;
        }
        pvm_vm_run(&vm->base, 1, &stop);
        if (stop.kind != PENTA_STOP_FUEL &&
            (round++ > ROUNDS || !pvm_trial_settle(t, vm, &stop, round)))
            break;
    }
    penta_vm_free(&vm->base);
}

unsigned tally_print(const struct tally *tally, FILE *out)
{
    static const char *const kinds[] = {"fuel",  "break", "host",      "halt",    "trap",
                                        "fault", "gas",   "interrupt", "disagree"};
    static const char *const traps[] = {"trap", "jump", "access", "start"};
    unsigned missing = 0, all = 0;
    for (int isa = 0; isa < PVM_ISAS; isa++) {
        for (int op = 1; op < PVM_OPS; op++) {
            if (pvm_ops[op].number[isa] < 0) continue;
            all++;
            if (tally->compiled[isa][op] && tally->executed[isa][op]) continue;
            missing++;
            fprintf(out, "not %s: %s of %s\n", tally->compiled[isa][op] ? "executed" : "compiled",
                    pvm_ops[op].name, pvm_isas[isa].name);
        }
    }
    fprintf(out, "%u of %u instructions of %d ISAs compiled and executed\n", all - missing, all,
            PVM_ISAS);
    fprintf(out, "stops:");
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tally->stops[i])
            fprintf(out, " %s %llu", kinds[i], (unsigned long long)tally->stops[i]);
    fprintf(out, "; traps:");
    for (unsigned i = 0; i < 4; i++)
        fprintf(out, " %s %llu", traps[i], (unsigned long long)tally->traps[i]);
    fprintf(out, "\npatterns, instructions seen:");
    for (unsigned i = 1; i < PATTERN_COUNT; i++) {
        fprintf(out, " %s %llu", pattern_names[i], (unsigned long long)tally->patterns[i]);
        missing += !tally->patterns[i];
    }
    fprintf(out, "\n");
    return missing;
}

static void pvm_trial_configure(struct trial *t)
{
    struct choices *c = t->c;
    const struct program *p = t->p;
    bool metered = !p->forward || choices_below(c, 2);
    static const enum pvm_gas_model models[] = {PVM_GAS_NAIVE, PVM_GAS_STEP, PVM_GAS_FULL_L2};
    t->config = (struct pvm_config){.profile = &pvm_profiles[choices_below(c, 4)],
                                    .metered = metered,
                                    .paging = choices_below(c, 2),
                                    .poll = !choices_below(c, 8),
                                    .gas = metered ? 100 + (int64_t)choices_below(c, 2000) : 0,
                                    .model = models[choices_below(c, 3)]};
    t->drip = metered && !choices_below(c, 6);
    t->interrupted = !choices_below(c, 16);
    if (t->drip) t->config.gas = (int64_t)choices_below(c, 4);
    if (p->forward && metered && choices_below(c, 2) &&
        t->config.model != PVM_GAS_STEP) { /* Gas that never runs out is the same in the model
                                            * async. */
        t->config.async = true;
        t->config.gas = INT64_MAX / 4;
        t->drip = false;
    }
    for (unsigned i = 0; i < PVM_REGISTERS; i++)
        t->regs[i] = i < 2 ? 0x30000 + choices_below(c, 0x2000) : choices_number(c);
    if (!choices_below(c, 8) && !(p->forward && p->loops))
        t->start = choices_below(c, 8) ? p->starts[choices_below(c, p->count)]
                                       : (uint32_t)choices_below(c, p->size + 2);
}

struct program trial_program;

bool trial_run(struct choices *c, struct tally *tally)
{
    pvm_adopt_fn *adopt;
    if (!pvm_engine_find("jit", &adopt) || !adopt) return false;
    program_generate(c, &trial_program);
    struct trial t = {.p = &trial_program, .c = c, .tally = tally};
    pvm_trial_configure(&t);
    if (tally) {
        tally->programs++;
        count_compiled(&t);
        if (tally->programs % 4 == 1) count_executed(&t);
    }
    pvm_trial_race(&t, false);
    pvm_trial_race(&t, true);
    if (!t.config.async) lock_step(&t);
    return true;
}
