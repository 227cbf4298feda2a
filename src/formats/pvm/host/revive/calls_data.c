/* Answers the host calls of CONTRACT 6.2: input and output of a call, events, immutable data,
 * hashes, and the ends of a call. */
#include <stdlib.h>
#include <string.h>
#include "pvm/host/keccak.h"
#include "pvm/host/revive/calls.h"

bool revive_call_call_data_size(const struct request *q)
{
    return !q->frame->input_given && revive_result(q, q->frame->input.size);
}

/* Copies `size` bytes of the input from the offset on. Bytes after the end of the input are
 * zeros. */
static void input_part(const struct frame *f, uint32_t offset, uint8_t *into, size_t size)
{
    memset(into, 0, size);
    if (offset >= f->input.size) return;
    size_t left = f->input.size - offset;
    memcpy(into, f->input.data + offset, left < size ? left : size);
}

bool revive_call_call_data_load(const struct request *q)
{
    uint8_t word[WORD], reversed[WORD];
    if (q->frame->input_given) return false;
    input_part(q->frame, (uint32_t)q->a[1], word, WORD);
    for (size_t i = 0; i < WORD; i++) reversed[i] = word[WORD - 1 - i];
    return revive_give(q, q->a[0], reversed, WORD);
}

bool revive_call_call_data_copy(const struct request *q)
{
    size_t size = (uint32_t)q->a[1];
    if (q->frame->input_given || size > BYTES_MAX) return false;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) return false;
    input_part(q->frame, (uint32_t)q->a[2], bytes, size);
    bool ok = revive_give(q, q->a[0], bytes, size);
    free(bytes);
    return ok;
}

bool revive_call_return_data_size(const struct request *q)
{
    return revive_result(q, q->frame->returned.size);
}

bool revive_call_return_data_copy(const struct request *q)
{
    const struct blob *data = &q->frame->returned;
    uint32_t offset = (uint32_t)q->a[2];
    if (offset > data->size) return false;
    return revive_give_sized(q, q->a[0], q->a[1], data->data ? data->data + offset : NULL,
                             data->size - offset);
}

bool revive_call_hash_keccak_256(const struct request *q)
{
    struct blob in;
    uint8_t hash[HASH];
    if (!revive_fetch(q, q->a[0], (uint32_t)q->a[1], &in)) return false;
    struct long_work work = revive_work(q->r);
    keccak256_work((penta_bytes){in.data, in.size}, hash, &work);
    free(in.data);
    return !work.ended && revive_give(q, q->a[2], hash, HASH);
}

bool revive_call_deposit_event(const struct request *q)
{
    struct blob topics = {0}, data = {0};
    uint32_t count = (uint32_t)q->a[1], size = (uint32_t)q->a[3];
    if (q->frame->read_only || count > TOPICS_MAX || size > EVENT_BYTES_MAX) return false;
    if (!revive_fetch(q, q->a[0], (uint64_t)count * HASH, &topics) ||
        !revive_fetch(q, q->a[2], size, &data)) {
        free(topics.data);
        return false;
    }
    return revive_chain_event(&q->r->chain, revive_account_address(q->frame->account), topics,
                              data);
}

bool revive_call_set_immutable_data(const struct request *q)
{
    struct blob bytes;
    uint32_t size = (uint32_t)q->a[1];
    if (!q->frame->deploy || !size || size > IMMUTABLE_BYTES_MAX) return false;
    if (!revive_fetch(q, q->a[0], size, &bytes)) return false;
    bool ok = revive_chain_set_immutable(&q->r->chain, q->frame->account, bytes.data, bytes.size);
    free(bytes.data);
    return ok;
}

bool revive_call_get_immutable_data(const struct request *q)
{
    const struct blob *data = &q->frame->code_of->immutable;
    if (q->frame->deploy || !data->size) return false;
    return revive_give_sized(q, q->a[0], q->a[1], data->data, data->size);
}

bool revive_call_seal_return(const struct request *q)
{
    struct blob output;
    uint32_t flags = (uint32_t)q->a[0], size = (uint32_t)q->a[2];
    if (flags > 1 || size > RETURN_BYTES_MAX || !revive_fetch(q, q->a[1], size, &output))
        return false;
    return revive_end_frame(q, flags ? FRAME_REVERT : FRAME_SUCCESS, output);
}

static unsigned times_on_stack(const struct frame *f)
{
    unsigned count = 0;
    for (const struct frame *p = f; p; p = p->parent) count += p->account == f->account;
    return count;
}

/* Ends the contract. Its balance moves at once. The contract itself is removed at the end of the
 * transaction, and only if that transaction made it. */
bool revive_call_terminate(const struct request *q)
{
    struct frame *f = q->frame;
    uint8_t address[ADDRESS];
    bool moved;
    if (f->read_only || f->deploy || times_on_stack(f) > 1) return false;
    if (!revive_fetch_address(q, q->a[0], address)) return false;
    struct account *to = revive_chain_account(&q->r->chain, address), *from = f->account;
    struct u256 all = from->is.balance;
    if (!to || !revive_chain_transfer(&q->r->chain, from, to, &all, &moved)) return false;
    if (!moved || !revive_chain_touch(&q->r->chain, from)) return false;
    from->is.doomed = from->is.created == q->r->chain.transaction;
    return revive_end_frame(q, FRAME_SUCCESS, (struct blob){0});
}

bool revive_call_consume_all_gas(const struct request *q)
{
    q->out->gas = revive_gas_left(q);
    return revive_end_frame(q, FRAME_REVERT, (struct blob){0});
}
