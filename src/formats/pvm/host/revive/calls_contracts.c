/* Answers the host calls that call other contracts and make new ones (CONTRACT 6.4 to CONTRACT
 * 6.6). An error before the callee runs traps the caller; an error in the callee is a result
 * code. */
#include <stdlib.h>
#include <string.h>
#include "pvm/host/revive/calls.h"

enum {
    FLAG_FORWARD_INPUT = 1,
    FLAG_CLONE_INPUT = 2,
    FLAG_TAIL_CALL = 4,
    FLAG_REENTRY = 8,
    FLAG_READ_ONLY = 16,
    FLAGS = 31,
};

static uint64_t calls_contracts_high(uint64_t pair) { return pair >> 32; }
static uint64_t calls_contracts_low(uint64_t pair) { return (uint32_t)pair; }

struct call_arguments {
    uint32_t flags;
    uint8_t callee[ADDRESS];
    struct u256 value;
    uint64_t gas;
    uint64_t input_at, input_size;
    uint64_t output_at, output_length_at;
};

/* Unpacks the arguments of a call. Input and output are two numbers each, which are packed into
 * one register. */
static struct call_arguments call_arguments(uint64_t flags, uint64_t gas, uint64_t input,
                                            uint64_t output)
{
    return (struct call_arguments){.flags = (uint32_t)flags,
                                   .gas = gas,
                                   .input_at = calls_contracts_low(input),
                                   .input_size = calls_contracts_high(input),
                                   .output_at = calls_contracts_low(output),
                                   .output_length_at = calls_contracts_high(output)};
}

/* The functions below are common to calls and to making contracts. */

static bool take_input(const struct request *q, const struct call_arguments *a, struct blob *out)
{
    const struct frame *f = q->frame;
    if (!(a->flags & (FLAG_FORWARD_INPUT | FLAG_CLONE_INPUT)))
        return revive_fetch(q, a->input_at, a->input_size, out);
    return !f->input_given && revive_blob_set(out, f->input.data, f->input.size);
}

/* Tells whether a frame of the callee's account is in a call that allows no reentry. */
static bool reentry_denied(const struct frame *f, const struct account *callee)
{
    for (; f; f = f->parent)
        if (f->account == callee && !f->reentry) return true;
    return false;
}

static void frame_set_returned(struct frame *f, struct blob *output)
{
    free(f->returned.data);
    f->returned = *output;
    *output = (struct blob){0};
}

static void calls_contracts_charge(const struct request *q, uint64_t used) { q->out->gas += used; }

/* Returns the gas of an inner call: the gas that it asks for, but at most the gas that is left. */
static uint64_t calls_contracts_limit(const struct request *q, uint64_t wanted)
{
    uint64_t left = revive_gas_left(q);
    return wanted < left ? wanted : left;
}

/* Writes the output of an ended frame to the place that the caller named, and frees the frame. */
static bool frame_hand_over(const struct request *q, struct frame *f, enum result_code code,
                            uint64_t output_at, uint64_t length_at)
{
    bool has_output = code == RESULT_SUCCESS || code == RESULT_REVERTED;
    struct blob none = {0};
    bool ok = !has_output ||
              revive_give_sized_optional(q, output_at, length_at, f->output.data, f->output.size);
    frame_set_returned(q->frame, has_output ? &f->output : &none);
    revive_frame_free(f);
    return ok && revive_result(q, code);
}

/* After a tail call, ends the caller, too, with the callee's output. */
static bool calls_contracts_tail(const struct request *q, enum result_code code)
{
    struct blob output = q->frame->returned;
    q->frame->returned = (struct blob){0};
    return revive_end_frame(q, code ? FRAME_REVERT : FRAME_SUCCESS, output);
}

/* Runs a prepared frame for the caller. */
static bool calls_contracts_execute(const struct request *q, const struct call_arguments *a,
                                    struct frame *f)
{
    uint64_t used = 0;
    enum result_code code;
    if (!revive_frame_execute(q->r, f, calls_contracts_limit(q, a->gas), &used, &code)) {
        revive_frame_free(f);
        return false;
    }
    calls_contracts_charge(q, used);
    if (a->flags & FLAG_FORWARD_INPUT && !(a->flags & FLAG_CLONE_INPUT))
        q->frame->input_given = true;
    bool ended = a->flags & FLAG_TAIL_CALL && (code == RESULT_SUCCESS || code == RESULT_REVERTED);
    if (!ended) return frame_hand_over(q, f, code, a->output_at, a->output_length_at);
    frame_set_returned(q->frame, &f->output);
    revive_frame_free(f);
    return calls_contracts_tail(q, code);
}

static bool calls_too_deep(const struct request *q) { return q->frame->depth == DEPTH_MAX; }

/* The functions below answer call. */

static bool make_call(const struct request *q, const struct call_arguments *a)
{
    struct frame *from = q->frame;
    struct account *callee = revive_chain_account(&q->r->chain, a->callee);
    struct frame f = {.parent = from,
                      .depth = from->depth + 1,
                      .account = callee,
                      .code_of = callee,
                      .value = a->value,
                      .read_only = from->read_only || a->flags & FLAG_READ_ONLY};
    if (!callee) return false;
    f.code_now = callee->is.code;
    memcpy(f.caller, revive_account_address(from->account), ADDRESS);
    if (!revive_precompile_is(a->callee) && (reentry_denied(from, callee) || calls_too_deep(q)))
        return false;
    return take_input(q, a, &f.input) && calls_contracts_execute(q, a, &f);
}

static bool call_with(const struct request *q, const struct call_arguments *a)
{
    struct frame *from = q->frame;
    struct blob none = {0};
    if (a->flags & ~(uint32_t)FLAGS) return false;
    if (!revive_u256_is_zero(&a->value) && (a->flags & FLAG_READ_ONLY || from->read_only))
        return false;
    from->reentry = a->flags & FLAG_REENTRY;
    frame_set_returned(from, &none);
    bool ok = make_call(q, a);
    from->reentry = true;
    return ok;
}

bool revive_call_call(const struct request *q)
{
    struct u256 deposit;
    struct call_arguments a =
        call_arguments(calls_contracts_high(q->a[0]), q->a[1], q->a[4], q->a[5]);
    return revive_fetch_address(q, calls_contracts_low(q->a[0]), a.callee) &&
           revive_fetch_number(q, calls_contracts_high(q->a[3]), &deposit) &&
           revive_fetch_number(q, calls_contracts_low(q->a[3]), &a.value) && call_with(q, &a);
}

bool revive_call_call_evm(const struct request *q)
{
    struct call_arguments a = call_arguments(q->a[0], q->a[3], q->a[4], q->a[5]);
    return revive_fetch_address(q, q->a[1], a.callee) &&
           revive_fetch_number(q, q->a[2], &a.value) && call_with(q, &a);
}

/* The functions below answer delegate_call, which runs the callee's code on the caller's
 * account. */

static bool delegate_with(const struct request *q, const struct call_arguments *a)
{
    struct frame *from = q->frame;
    struct blob none = {0};
    if (a->flags & ~(uint32_t)(FLAG_FORWARD_INPUT | FLAG_CLONE_INPUT | FLAG_TAIL_CALL))
        return false;
    frame_set_returned(from, &none);
    struct account *callee = revive_chain_account(&q->r->chain, a->callee);
    if (!callee) return false;
    struct frame f = {.parent = from,
                      .depth = from->depth + 1,
                      .account = from->account,
                      .code_of = callee,
                      .code_now = callee->is.code,
                      .value = from->value,
                      .delegate = true,
                      .read_only = from->read_only};
    memcpy(f.caller, from->caller, ADDRESS);
    if (!revive_precompile_is(a->callee) && calls_too_deep(q)) return false;
    return take_input(q, a, &f.input) && calls_contracts_execute(q, a, &f);
}

bool revive_call_delegate_call(const struct request *q)
{
    struct u256 deposit;
    struct call_arguments a =
        call_arguments(calls_contracts_high(q->a[0]), q->a[1], q->a[4], q->a[5]);
    return revive_fetch_address(q, calls_contracts_low(q->a[0]), a.callee) &&
           revive_fetch_number(q, q->a[3], &deposit) && delegate_with(q, &a);
}

bool revive_call_delegate_call_evm(const struct request *q)
{
    struct call_arguments a = call_arguments(q->a[0], q->a[2], q->a[3], q->a[4]);
    return revive_fetch_address(q, q->a[1], a.callee) && delegate_with(q, &a);
}

/* The functions below answer instantiate. */

/* Returns the account of the new contract, or NULL when its address cannot be computed. */
static struct account *new_account(const struct request *q, uint64_t salt_at,
                                   const struct code *code, const struct blob *data)
{
    const struct account *creator = q->frame->account;
    uint8_t address[ADDRESS], salt[HASH];
    if (salt_at == NOTHING)
        revive_address_create(revive_account_address(creator), creator->is.nonce, address);
    else if (!revive_fetch_into(q, salt_at, salt, HASH) ||
             !revive_address_create2(revive_account_address(creator), salt,
                                     (penta_bytes){code->bytes.data, code->bytes.size},
                                     (penta_bytes){data->data, data->size}, address))
        return NULL;
    return revive_chain_account(&q->r->chain, address);
}

/* Runs the constructor. The caller gets the address only when the constructor succeeds. */
static bool calls_contracts_construct(const struct request *q, struct frame *f, uint64_t address_at)
{
    uint64_t used = 0, output = q->a[4];
    enum result_code code = RESULT_DUPLICATE_ADDRESS;
    if (!f->account->is.contract &&
        !revive_frame_execute(q->r, f, calls_contracts_limit(q, q->a[0]), &used, &code)) {
        revive_frame_free(f);
        return false;
    }
    calls_contracts_charge(q, used);
    bool ok = code != RESULT_SUCCESS || address_at == NOTHING ||
              revive_give(q, address_at, revive_account_address(f->account), ADDRESS);
    return frame_hand_over(q, f, code, calls_contracts_low(output), calls_contracts_high(output)) &&
           ok;
}

bool revive_call_instantiate(const struct request *q)
{
    struct frame *from = q->frame;
    struct blob none = {0};
    struct u256 deposit;
    uint8_t hash[HASH];
    uint64_t code_at = calls_contracts_low(q->a[3]), size = calls_contracts_high(q->a[3]);
    struct frame f = {.parent = from, .depth = from->depth + 1, .deploy = true};
    if (from->read_only || size < HASH) return false;
    if (!revive_fetch_number(q, calls_contracts_high(q->a[2]), &deposit) ||
        !revive_fetch_number(q, calls_contracts_low(q->a[2]), &f.value) ||
        !revive_fetch_into(q, code_at, hash, HASH))
        return false;
    frame_set_returned(from, &none);
    f.code_now = revive_code_find(q->r, hash);
    if (!f.code_now || calls_too_deep(q)) return false;
    memcpy(f.caller, revive_account_address(from->account), ADDRESS);
    if (!revive_fetch(q, (uint32_t)(code_at + HASH), size - HASH, &f.input)) return false;
    f.account = f.code_of = new_account(q, calls_contracts_low(q->a[5]), f.code_now, &f.input);
    if (f.account) return calls_contracts_construct(q, &f, calls_contracts_high(q->a[5]));
    revive_frame_free(&f);
    return false;
}
