/* Runs transactions, which are the calls that the options ask for. A call of the program itself
 * runs in the machine that the host serves; a transaction to another contract runs in a machine
 * of the host's own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "pvm/host/revive/revive.h"

static void print_events(const struct chain *c, struct writer *out)
{
    for (size_t i = 0; i < c->event_count; i++) {
        const struct event *e = &c->events[i];
        writer_text(out, "event 0x");
        writer_hex(out, (penta_bytes){e->address, ADDRESS});
        for (size_t at = 0; at < e->topics.size; at += HASH) {
            writer_text(out, " topic 0x");
            writer_hex(out, (penta_bytes){e->topics.data + at, HASH});
        }
        writer_text(out, " data 0x");
        writer_hex(out, (penta_bytes){e->data.data, e->data.size});
        writer_char(out, '\n');
    }
}

static void print_trap(const struct frame *f, struct writer *out)
{
    uint32_t trap = f->refused ? PVM_TRAP_HOST : f->trap.detail;
    const char *why =
        f->refused || f->trap.kind == PENTA_STOP_TRAP ? trap_name(pvm_traps, trap) : NULL;
    if (f->outcome == FRAME_NO_GAS) why = "out of gas";
    writer_print(out, "trap %s pc=%" PRIu64 "\n", why ? why : "trap", f->trap.pc);
}

static void print_outcome(const struct pvm_revive *r, const struct frame *f, uint64_t gas,
                          struct writer *out)
{
    if (f->outcome == FRAME_SUCCESS || f->outcome == FRAME_REVERT) {
        print_events(&r->chain, out);
        writer_print(out, "return %d 0x", f->outcome == FRAME_REVERT);
        writer_hex(out, (penta_bytes){f->output.data, f->output.size});
        writer_char(out, '\n');
    } else {
        print_trap(f, out);
    }
    if (r->outer->metered) writer_print(out, "gas %" PRIu64 "\n", gas);
}

static bool host_fail(struct pvm_revive *r, struct answer *out)
{
    if (r->chain.failure.code && !r->failure.code) r->failure = r->chain.failure;
    out->failure = r->failure;
    out->interrupted = r->interrupted;
    r->interrupted = false;
    if (out->interrupted) atomic_store(&r->outer->base.interrupt, false);
    return false;
}

static bool host_prepare(struct pvm_revive *r, const struct transaction *t, struct account *sender)
{
    struct frame *f = &r->top;
    revive_frame_free(f);
    *f = (struct frame){.value = t->value, .deploy = t->entry == ENTRY_DEPLOY};
    memcpy(f->caller, t->caller, ADDRESS);
    f->account = f->code_of = revive_chain_account(&r->chain, t->address);
    if (!f->account || !revive_blob_set(&f->input, t->input.data, t->input.size)) return false;
    f->code_now = t->entry == ENTRY_CALL ? f->account->is.code : r->program;
    if (!revive_chain_touch(&r->chain, sender)) return false;
    sender->is.nonce++;
    return true;
}

static uint64_t outer_gas(const struct pvm_revive *r)
{
    return r->outer->metered ? (uint64_t)r->outer->state->gas : UINT64_MAX;
}

static bool host_refuse(struct pvm_revive *r, struct answer *out, const char *why)
{
    writer_print(&out->output, "fail %s\n", why);
    out->end = CALL_TRAPS;
    r->now = NULL;
    return revive_chain_commit(&r->chain) || host_fail(r, out);
}

/* Runs the transaction in a machine of the host's own. */
static bool run_transaction(struct pvm_revive *r, struct answer *out, uint64_t gas)
{
    uint64_t used;
    enum result_code code;
    struct frame *f = &r->top;
    if (!revive_frame_execute(r, f, gas, &used, &code)) return host_fail(r, out);
    if (code == RESULT_TRANSFER_FAILED) return host_refuse(r, out, "the balance is too small");
    print_outcome(r, f, used, &out->output);
    out->end = code == RESULT_SUCCESS || code == RESULT_REVERTED ? CALL_ENDS : CALL_TRAPS;
    out->gas = used;
    r->now = NULL;
    return revive_chain_commit(&r->chain) || host_fail(r, out);
}

static bool host_begin(struct pvm_revive *r, struct answer *out)
{
    const struct transaction *t = &r->transactions[r->next];
    struct account *sender = revive_chain_account(&r->chain, t->caller);
    struct frame *f = &r->top;
    enum result_code code;
    out->between = true;
    revive_chain_begin(&r->chain);
    r->now = t;
    if (!sender || !host_prepare(r, t, sender)) return host_fail(r, out);
    if (f->deploy && f->account->is.contract) {
        r->next++;
        return host_refuse(r, out, "a contract lives at the address already");
    }
    uint64_t gas = t->has_gas ? t->gas : outer_gas(r);
    bool inside = t->entry == ENTRY_CALL && f->code_now != r->program;
    bool ok = inside ? run_transaction(r, out, gas)
                     : revive_frame_begin(r, f, &code) || host_fail(r, out);
    if (!ok) {
        /* The chain goes back to the start, so that the transaction may be tried again. */
        revive_chain_undo(&r->chain, 0);
        r->now = NULL;
        return false;
    }
    r->next++;
    if (inside) return true;
    if (code) return host_refuse(r, out, "the balance is too small");
    f->vm = &r->outer->base;
    f->gas_start = gas;
    if (t->has_gas) {
        out->results[0] = t->gas;
        out->count = 1;
    }
    return true;
}

static bool host_end(struct pvm_revive *r, const penta_stop *stop, struct answer *out)
{
    struct frame *f = &r->top;
    enum result_code code;
    out->between = true;
    f->trap = (penta_stop){
        .kind = (penta_stop_kind)stop->args[0], .detail = (uint32_t)stop->args[1], .pc = stop->pc};
    if (f->trap.kind == PENTA_STOP_HALT && f->outcome == FRAME_RUNS) f->outcome = FRAME_SUCCESS;
    if (f->trap.kind == PENTA_STOP_TRAP) f->outcome = FRAME_TRAP;
    if (f->trap.kind == PENTA_STOP_GAS) f->outcome = FRAME_NO_GAS;
    if (!revive_frame_end(r, f, &code)) return host_fail(r, out);
    print_outcome(r, f, f->gas_start - outer_gas(r), &out->output);
    r->now = NULL;
    return revive_chain_commit(&r->chain) || host_fail(r, out);
}

bool pvm_revive_answer(struct pvm_revive *r, penta_vm *vm, const penta_stop *stop,
                       struct answer *out)
{
    struct frame *f = &r->top;
    r->failure = (penta_error){0};
    if (pvm_vm(vm)->announce == PVM_TELL_BEGIN) return host_begin(r, out);
    if (pvm_vm(vm)->announce == PVM_TELL_END) return host_end(r, stop, out);
    size_t mark = revive_chain_mark(&r->chain);
    if (revive_frame_answer(r, f, stop, out)) return true;
    revive_chain_undo(&r->chain, mark);
    answer_clear(out);
    return host_fail(r, out);
}

void pvm_revive_attach(struct pvm_revive *r, penta_vm *vm)
{
    r->outer = pvm_vm(vm);
    r->outer->announce = PVM_TELL_BEGIN;
    pvm_engine_find(vm->engine->name, &r->adopt);
}

bool pvm_revive_save(struct pvm_revive *r, struct writer *out, penta_error *err)
{
    if (r->now || r->next < r->transaction_count)
        return error_at(err, BASE_STATE, 0, "the state is not saved: not all calls are over");
    return revive_state_write(r, out, err);
}

void pvm_revive_free(struct pvm_revive *r)
{
    if (!r) return;
    revive_frame_free(&r->top);
    revive_chain_free(&r->chain);
    revive_codes_free(r);
    for (size_t i = 0; i < r->transaction_count; i++) free(r->transactions[i].input.data);
    free(r->transactions);
    free(r);
}

static struct code *upload_program(struct pvm_revive *r, penta_error *err)
{
    penta_bytes file = r->module->file;
    penta_buffer copy = {malloc(file.size + 1), file.size, file.size + 1};
    if (!copy.data) {
        error_at(err, BASE_MEMORY, 0, "no memory for the contract");
        return NULL;
    }
    bytes_copy(copy.data, file);
    return revive_code_upload(r, &copy, err);
}

struct pvm_revive *pvm_revive_new(const penta_module *module, const penta_option *options,
                                  size_t count, penta_error *err)
{
    struct pvm_revive *r = zeros_new(sizeof *r, "the contract host", err);
    if (!r) return NULL;
    r->module = module;
    r->options = options;
    r->option_count = count;
    r->block = (struct block){
        .chain_id = revive_u256_of(1), .gas_price = 1000, .gas_limit = UINT64_C(2000000000000)};
    r->program = upload_program(r, err);
    bool ok = r->program && revive_options_read(r, options, count, err);
    r->options = NULL;
    if (ok) return r;
    pvm_revive_free(r);
    return NULL;
}
