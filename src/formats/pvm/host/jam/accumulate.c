/* Runs accumulate (JAM 8.4): prepares what a service starts with, and decides whether its state
 * or its last checkpoint is kept. */
#include "base/bytes.h"
#include "crypto/hash.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

static uint64_t accumulate_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t accumulate_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t jam_threshold(const struct jam_chain *chain, const struct jam_account *account)
{
    uint64_t need =
        accumulate_add(accumulate_add(chain->base_deposit,
                                      accumulate_multiply(chain->item_deposit, account->items)),
                       accumulate_multiply(chain->byte_deposit, account->octets));
    return need > account->gratis ? need - account->gratis : 0;
}

/* Returns the id that the next new service gets. */
static uint32_t service_first_id(struct jam_run *run)
{
    struct writer w = {0};
    uint8_t hash[JAM_HASH];
    jam_put_nat(&w, run->service);
    writer_bytes(&w, run->entropy, JAM_HASH);
    jam_put_nat(&w, run->slot);
    hash_blake2b256(writer_view(&w), hash);
    writer_free(&w);
    return jam_free_id(run, (uint64_t)run->host->version->first_id + bytes_get32(hash));
}

/* Adds the amounts of all transfers to the balance, whatever the program does with them. */
static void accumulate_credit(struct jam_run *run)
{
    struct jam_account own;
    bool tagged = !run->host->version->on_transfer;
    uint64_t sum = 0;
    for (size_t i = 0; i < run->item_count; i++) {
        penta_bytes item = run->items[i];
        if (run->context == JAM_ON_TRANSFER && item.size == JAM_TRANSFER)
            sum = accumulate_add(sum, bytes_get64(item.data + 8));
        if (tagged && item.size == JAM_TRANSFER + 1 && item.data[0] == 1)
            sum = accumulate_add(sum, bytes_get64(item.data + 9));
    }
    if (!sum || !jam_account_get(run->layer, run->service, &own)) return;
    own.balance = accumulate_add(own.balance, sum);
    jam_account_set(run->layer, run->service, &own);
}

void jam_accumulate_begin(struct jam_run *run, const penta_jam_accumulation *input)
{
    run->service = input->service;
    run->slot = input->slot;
    run->entropy = input->entropy;
    run->items = input->items;
    run->item_count = input->item_count;
    accumulate_credit(run);
    jam_layer_mark(run->layer);
    run->now.next_id = service_first_id(run);
    run->marked = run->now;
}

void jam_accumulate_arguments(const struct jam_run *run, struct writer *out)
{
    jam_put_nat(out, run->slot);
    jam_put_nat(out, run->service);
    jam_put_nat(out, run->item_count);
}

/* Ends accumulate. Unless the program halted, the state goes back to the last checkpoint. A
 * result of 32 bytes is the yield of the service. */
void jam_accumulate_end(struct jam_run *run, penta_jam_result *out)
{
    if (out->exit == PENTA_JAM_HALT) {
        if (out->output.size == JAM_HASH) {
            run->now.has_yield = true;
            memcpy(run->now.yield, out->output.data, JAM_HASH);
        }
    } else if (run->context == JAM_ACCUMULATE) {
        jam_layer_rollback(run->layer);
        for (size_t i = run->marked.provisions; i < run->now.provisions; i++)
            free(run->provisions[i].blob);
        run->now = run->marked;
    }
}

bool jam_accumulate(struct jam_run *run, const penta_jam_accumulation *input, uint32_t pc,
                    penta_jam_result *out)
{
    struct jam_account own;
    penta_bytes preimage, code;
    jam_accumulate_begin(run, input);
    out->exit = PENTA_JAM_NO_CODE;
    out->gas_used = 0;
    if (!jam_account_get(run->layer, run->service, &own) ||
        !jam_preimage_get(run->layer, run->service, own.code_hash, &preimage) ||
        !jam_code(preimage, &code))
        return true;
    out->exit = PENTA_JAM_BIG_CODE;
    if (code.size > run->host->chain.code_size) return true;
    struct jam_program *program = jam_program_get(run->host, own.code_hash, code, run->err);
    if (!program) return false;
    struct writer arguments = {0};
    jam_accumulate_arguments(run, &arguments);
    bool ok = writer_ok(&arguments, run->err) &&
              jam_run_program(run, program, pc, writer_view(&arguments), input->gas, out);
    writer_free(&arguments);
    if (ok) jam_accumulate_end(run, out);
    return ok;
}
