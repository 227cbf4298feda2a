/* Runs one call (CONTRACT 7): moves the value, runs the code, and keeps or undoes the effects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm/host/revive/revive.h"

/* Ends the run because the contract asks for something that is valid and that this host does not
 * support. */
static bool run_stop_here(struct pvm_revive *r, const char *what)
{
    return error_at(&r->failure, BASE_UNSUPPORTED, 0, "the contract host does not support %.80s",
                    what);
}

void revive_frame_free(struct frame *f)
{
    free(f->input.data);
    free(f->returned.data);
    free(f->output.data);
    f->input = f->returned = f->output = (struct blob){0};
}

bool revive_frame_answer(struct pvm_revive *r, struct frame *f, const penta_stop *stop,
                         struct answer *out)
{
    struct request q = {r, f, stop->args, out};
    const struct code *c = f->code_now;
    if (stop->detail >= c->call_count || !c->calls[stop->detail].answer) {
        char name[80] = "a host call without a name";
        penta_bytes import = pvm_import_name(c->module, stop->detail);
        if (import.size) snprintf(name, sizeof name, "'%.*s'", BYTES_ARG(import, 60));
        return run_stop_here(r, name);
    }
    if (!c->calls[stop->detail].answer(&q) && !r->interrupted) {
        uint64_t gas = out->gas; /* An inner call may have used some of the gas. */
        answer_clear(out);
        out->gas = gas;
        f->refused = true;
        out->end = CALL_TRAPS;
    }
    if (r->chain.failure.code) r->failure = r->chain.failure;
    return !r->failure.code && !r->interrupted;
}

static bool frames_disagreement(struct pvm_revive *r, const penta_vm *vm, const penta_stop *stop)
{
    const char *detail = vm->engine->detail(vm, stop);
    return error_at(&r->failure, BASE_STATE, 0, "in an inner call the engines disagree: %.60s",
                    detail ? detail : "");
}

/* Handles a stop of the machine. *over says whether the machine has ended. Returns false when
 * the run cannot go on. */
static bool handle_stop(struct pvm_revive *r, struct frame *f, const penta_stop *stop,
                        struct answer *answer, bool *over)
{
    *over = true;
    switch (stop->kind) {
    case PENTA_STOP_HOST:
        *over = false;
        answer_clear(answer);
        return revive_frame_answer(r, f, stop, answer) && answer_apply(answer, f->vm, &r->failure);
    case PENTA_STOP_HALT:
        if (f->outcome == FRAME_RUNS) f->outcome = FRAME_SUCCESS;
        return true;
    case PENTA_STOP_GAS: f->outcome = FRAME_NO_GAS; return true;
    case PENTA_STOP_INTERRUPT: r->interrupted = true; return false;
    case PENTA_STOP_DISAGREE: return frames_disagreement(r, f->vm, stop);
    default: f->outcome = FRAME_TRAP; return true;
    }
}

/* Sets the machine to which interrupts are passed on. */
static void runs_for(struct pvm_revive *r, penta_vm *vm)
{
    struct pvm_vm *inner = vm == &r->outer->base ? NULL : pvm_vm(vm);
    atomic_store(&r->outer->inner, inner);
}

static bool run_machine(struct pvm_revive *r, struct frame *f)
{
    struct answer answer = {0};
    bool over = false, ok = true;
    while (ok && !over) {
        runs_for(r, f->vm);
        if (atomic_load(&r->outer->base.interrupt)) {
            r->interrupted = true;
            ok = false;
            break;
        }
        f->vm->engine->run(f->vm, UINT64_MAX, &f->trap);
        ok = handle_stop(r, f, &f->trap, &answer, &over);
    }
    answer_free(&answer);
    return ok;
}

/* Runs the code in a machine of its own, which may use `gas`. *used is how much it used. */
static bool frame_run(struct pvm_revive *r, struct frame *f, uint64_t gas, uint64_t *used)
{
    struct code *c = (struct code *)f->code_now;
    *used = 0;
    if (!(f->deploy ? c->has_deploy : c->has_call)) {
        f->outcome = FRAME_TRAP;
        return true;
    }
    struct pvm_vm *vm = revive_code_machine(r, c);
    if (!vm) return false;
    if (gas > INT64_MAX) gas = INT64_MAX;
    vm->state->gas = vm->metered ? (int64_t)gas : 0;
    pvm_vm_call_registers(vm, vm->state->regs);
    pvm_vm_jump(vm, f->deploy ? c->deploy_pc : c->call_pc);
    f->vm = &vm->base;
    bool ok = run_machine(r, f);
    runs_for(r, f->parent ? f->parent->vm : &r->outer->base);
    if (vm->metered) *used = gas - (uint64_t)(vm->state->gas > 0 ? vm->state->gas : 0);
    f->vm = NULL;
    revive_code_release(c, vm);
    return ok;
}

/* The functions below keep or undo the effects of a call. */

/* Makes the account a contract. The account gets its code only when the constructor has
 * succeeded. */
static bool frames_create(struct pvm_revive *r, struct frame *f)
{
    if (f->parent) {
        struct account *creator = f->parent->account;
        if (!revive_chain_touch(&r->chain, creator)) return false;
        creator->is.nonce++;
    }
    if (!revive_chain_touch(&r->chain, f->account)) return false;
    f->account->is.contract = true;
    f->account->is.nonce = 1;
    f->account->is.created = r->chain.transaction;
    return true;
}

static bool move_value(struct pvm_revive *r, struct frame *f, bool *moved)
{
    struct account *from = revive_chain_account(&r->chain, f->caller);
    *moved = true;
    if (!from) return false;
    if (!f->parent && !from->counted && !from->is.contract &&
        revive_u256_compare(&from->is.balance, &f->value) < 0) {
        if (!revive_chain_touch(&r->chain, from)) return false;
        from->is.balance = f->value;
    }
    return revive_chain_transfer(&r->chain, from, f->account, &f->value, moved);
}

bool revive_frame_begin(struct pvm_revive *r, struct frame *f, enum result_code *code)
{
    bool moved = true;
    f->mark = revive_chain_mark(&r->chain);
    f->outcome = FRAME_RUNS;
    f->reentry = true;
    if ((f->deploy && !frames_create(r, f)) || (!f->delegate && !move_value(r, f, &moved))) {
        r->failure = r->chain.failure;
        return false;
    }
    *code = moved ? RESULT_SUCCESS : RESULT_TRANSFER_FAILED;
    if (!moved) revive_chain_undo(&r->chain, f->mark);
    return true;
}

bool revive_frame_end(struct pvm_revive *r, struct frame *f, enum result_code *code)
{
    static const enum result_code codes[] = {
        [FRAME_SUCCESS] = RESULT_SUCCESS,
        [FRAME_REVERT] = RESULT_REVERTED,
        [FRAME_TRAP] = RESULT_TRAPPED,
        [FRAME_NO_GAS] = RESULT_OUT_OF_RESOURCES,
    };
    *code = codes[f->outcome];
    if (f->outcome != FRAME_SUCCESS) {
        revive_chain_undo(&r->chain, f->mark);
    } else if (f->deploy) {
        if (!revive_chain_touch(&r->chain, f->account)) {
            r->failure = r->chain.failure;
            return false;
        }
        f->account->is.code = (struct code *)f->code_now;
    }
    return true;
}

static bool frames_work_over(void *user, uint64_t units)
{
    struct pvm_revive *r = user;
    if (vm_work(&r->outer->base, units)) r->interrupted = true;
    return r->interrupted;
}

struct long_work revive_work(struct pvm_revive *r)
{
    return (struct long_work){.over = frames_work_over, .user = r};
}

static bool run_precompile(struct pvm_revive *r, struct frame *f)
{
    const char *name = NULL;
    penta_bytes in = {f->input.data, f->input.size};
    struct long_work work = revive_work(r);
    switch (
        revive_precompile_run(revive_account_address(f->code_of), in, &f->output, &work, &name)) {
    case PRECOMPILE_DONE: f->outcome = FRAME_SUCCESS; return true;
    case PRECOMPILE_FAILED: f->outcome = FRAME_TRAP; return true;
    case PRECOMPILE_ENDED: return false;
    case PRECOMPILE_UNSUPPORTED: break;
    }
    return run_stop_here(r, name);
}

bool revive_frame_execute(struct pvm_revive *r, struct frame *f, uint64_t gas, uint64_t *used,
                          enum result_code *code)
{
    *used = 0;
    if (!revive_frame_begin(r, f, code)) return false;
    if (*code) return true;
    bool ok = true;
    if (!f->deploy && revive_precompile_is(revive_account_address(f->code_of)))
        ok = run_precompile(r, f);
    else if (f->code_now)
        ok = frame_run(r, f, gas, used);
    else
        f->outcome = FRAME_SUCCESS;
    return ok && revive_frame_end(r, f, code);
}
