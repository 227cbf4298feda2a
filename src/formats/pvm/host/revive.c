/* A chain of one contract: what Solidity programs compiled for PolkaVM ask of their host.
 *
 * Arguments are a0 .. a5; addresses are the low 32 bits. 256-bit numbers cross the border
 * little-endian, byte strings as they are. Storage and immutable data outlive calls, and a call
 * that reverts leaves storage as it was. There are no other contracts: calling out succeeds and
 * returns nothing, as for an account without code. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "pvm/host/host.h"
#include "pvm/host/keccak.h"

enum { WORD = 32, ADDRESS = 20, BYTES_MAX = 1 << 24, NO_KEY = 3 };
#define NOTHING_THERE UINT64_C(0xffffffff) /* length of a value that is absent */

struct blob {
    uint8_t *data;
    size_t size;
};

struct slot {
    struct blob key, value;
    bool present;
    struct slot *next;
};

struct change { /* undone when the call reverts */
    struct slot *slot;
    struct blob value;
    bool present;
};

struct call_input {
    size_t at; /* place among the calls, counted from 0 */
    struct blob data;
    uint8_t value[WORD];
};

struct pvm_revive {
    struct slot *buckets[1024];
    struct change *changes;
    size_t change_count, change_capacity;
    struct blob immutable;
    struct call_input *inputs; /* by place; the last one serves later calls, too */
    size_t input_count;
    size_t call; /* the call under way */
    uint8_t caller[ADDRESS], address[ADDRESS], time[WORD];
};

/* One host call under way. */
struct request {
    struct pvm_revive *r;
    penta_vm *vm;
    const uint64_t *a;
    struct answer *out;
};

/* ---- bytes ---- */

static bool blob_set(struct blob *b, const void *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy) return false;
    if (size) memcpy(copy, data, size);
    free(b->data);
    *b = (struct blob){copy, size};
    return true;
}

static bool fetch(const struct request *q, uint64_t address, uint64_t size, struct blob *out)
{
    *out = (struct blob){0};
    if (size > BYTES_MAX) return false;
    out->data = malloc((size_t)size + 1);
    out->size = (size_t)size;
    if (out->data && penta_vm_peek(q->vm, (uint32_t)address, out->data, out->size)) return true;
    free(out->data);
    return false;
}

static void give(const struct request *q, uint64_t address, const void *bytes, size_t size)
{
    answer_poke(q->out, (uint32_t)address, (penta_bytes){bytes, size});
}

static bool result(const struct request *q, uint64_t value)
{
    q->out->results[0] = value;
    q->out->count = 1;
    return true;
}

static bool give_number(const struct request *q, uint64_t address, uint64_t number)
{
    uint8_t word[WORD] = {0};
    put64(word, number);
    give(q, address, word, WORD);
    return true;
}

/* Bytes into a guest buffer whose capacity, then length, is the u32 at length_at. */
static bool give_sized(const struct request *q, uint64_t out, uint64_t length_at,
                       const uint8_t *data, size_t size)
{
    uint8_t length[4];
    if (!penta_vm_peek(q->vm, (uint32_t)length_at, length, 4)) return false;
    if (size > get32(length)) size = get32(length);
    put32(length, (uint32_t)size);
    give(q, out, data, size);
    give(q, length_at, length, 4);
    return true;
}

static const struct call_input *input(const struct pvm_revive *r)
{
    static const struct call_input none;
    const struct call_input *best = &none;
    for (size_t i = 0; i < r->input_count; i++)
        if (r->inputs[i].at <= r->call) best = &r->inputs[i];
    return best;
}

/* ---- storage ---- */

static struct slot *find_slot(struct pvm_revive *r, const uint8_t *key, size_t size, bool make)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ key[i]) * 16777619u;
    struct slot **at = &r->buckets[hash % (sizeof r->buckets / sizeof *r->buckets)];
    for (; *at; at = &(*at)->next)
        if ((*at)->key.size == size && !memcmp((*at)->key.data, key, size)) return *at;
    struct slot *slot = make ? calloc(1, sizeof *slot) : NULL;
    if (!slot) return NULL;
    if (!blob_set(&slot->key, key, size)) {
        free(slot);
        return NULL;
    }
    return *at = slot;
}

static bool remember(struct pvm_revive *r, struct slot *slot)
{
    if (r->change_count == r->change_capacity) {
        size_t capacity = 2 * r->change_capacity + 16;
        struct change *more = realloc(r->changes, capacity * sizeof *more);
        if (!more) return false;
        r->changes = more;
        r->change_capacity = capacity;
    }
    r->changes[r->change_count++] = (struct change){slot, slot->value, slot->present};
    slot->value = (struct blob){0};
    return true;
}

static void forget_changes(struct pvm_revive *r)
{
    for (size_t i = 0; i < r->change_count; i++) free(r->changes[i].value.data);
    r->change_count = 0;
}

static void undo_changes(struct pvm_revive *r)
{
    while (r->change_count) {
        struct change *c = &r->changes[--r->change_count];
        free(c->slot->value.data);
        c->slot->value = c->value;
        c->slot->present = c->present;
    }
}

static bool fetch_key(const struct request *q, uint64_t key, uint64_t size, struct blob *out)
{
    return fetch(q, key, (uint32_t)size == UINT32_MAX ? WORD : (uint32_t)size, out);
}

/* Stores a value (NULL data: removes it); the length of the old one goes to *old. */
static bool store(struct pvm_revive *r, const struct blob *key, const struct blob *value, bool keep,
                  uint64_t *old)
{
    struct slot *slot = find_slot(r, key->data, key->size, true);
    if (!slot) return false;
    *old = slot->present ? slot->value.size : NOTHING_THERE;
    if (!remember(r, slot)) return false;
    slot->present = keep;
    return !keep || blob_set(&slot->value, value->data, value->size);
}

static bool set_slot(const struct request *q, uint64_t key_at, uint64_t key_size, uint64_t value_at,
                     uint64_t value_size, bool clear_zero)
{
    struct blob key = {0}, value = {0};
    uint64_t old = 0;
    bool ok =
        fetch_key(q, key_at, key_size, &key) && fetch(q, value_at, (uint32_t)value_size, &value);
    bool zero = clear_zero;
    for (size_t i = 0; ok && i < value.size; i++) zero = zero && !value.data[i];
    ok = ok && store(q->r, &key, &value, !zero, &old) && result(q, old);
    free(key.data);
    free(value.data);
    return ok;
}

static bool do_set_storage(const struct request *q)
{
    return set_slot(q, q->a[1], q->a[2], q->a[3], q->a[4], false);
}
static bool do_set_storage_or_clear(const struct request *q)
{
    return set_slot(q, q->a[1], WORD, q->a[2], WORD, true);
}

static bool do_get_storage(const struct request *q)
{
    struct blob key;
    if (!fetch_key(q, q->a[1], q->a[2], &key)) return false;
    struct slot *slot = find_slot(q->r, key.data, key.size, false);
    free(key.data);
    if (!slot || !slot->present) return result(q, NO_KEY);
    return give_sized(q, q->a[3], q->a[4], slot->value.data, slot->value.size) && result(q, 0);
}

static bool do_get_storage_or_zero(const struct request *q)
{
    struct blob key;
    uint8_t word[WORD] = {0};
    if (!fetch_key(q, q->a[1], WORD, &key)) return false;
    struct slot *slot = find_slot(q->r, key.data, key.size, false);
    free(key.data);
    if (slot && slot->present)
        memcpy(word, slot->value.data, slot->value.size < WORD ? slot->value.size : WORD);
    give(q, q->a[2], word, WORD);
    return true;
}

static bool do_clear_storage(const struct request *q)
{
    struct blob key = {0};
    uint64_t old = 0;
    bool ok = fetch_key(q, q->a[1], q->a[2], &key) && store(q->r, &key, NULL, false, &old) &&
              result(q, old);
    free(key.data);
    return ok;
}

static bool do_contains_storage(const struct request *q)
{
    struct blob key;
    if (!fetch_key(q, q->a[1], q->a[2], &key)) return false;
    struct slot *slot = find_slot(q->r, key.data, key.size, false);
    free(key.data);
    return result(q, slot && slot->present ? slot->value.size : NOTHING_THERE);
}

/* ---- the call and its surroundings ---- */

static bool do_call_data_size(const struct request *q) { return result(q, input(q->r)->data.size); }

/* size bytes of the input from offset on, zeros after its end. */
static uint8_t *input_part(const struct request *q, uint64_t offset, size_t size)
{
    const struct blob *data = &input(q->r)->data;
    uint8_t *bytes = calloc(1, size + 1);
    if (bytes && offset < data->size) {
        size_t n = data->size - (size_t)offset;
        memcpy(bytes, data->data + offset, n < size ? n : size);
    }
    return bytes;
}

static bool do_call_data_load(const struct request *q)
{
    uint8_t *bytes = input_part(q, q->a[1], WORD);
    uint8_t word[WORD];
    if (!bytes) return false;
    for (size_t i = 0; i < WORD; i++) word[i] = bytes[WORD - 1 - i];
    free(bytes);
    give(q, q->a[0], word, WORD);
    return true;
}

static bool do_call_data_copy(const struct request *q)
{
    size_t size = (uint32_t)q->a[1];
    uint8_t *bytes = size <= BYTES_MAX ? input_part(q, q->a[2], size) : NULL;
    if (!bytes) return false;
    give(q, q->a[0], bytes, size);
    free(bytes);
    return true;
}

static bool do_value_transferred(const struct request *q)
{
    give(q, q->a[0], input(q->r)->value, WORD);
    return true;
}
static bool do_caller(const struct request *q)
{
    give(q, q->a[0], q->r->caller, ADDRESS);
    return true;
}
static bool do_address(const struct request *q)
{
    give(q, q->a[0], q->r->address, ADDRESS);
    return true;
}
static bool do_now(const struct request *q)
{
    give(q, q->a[0], q->r->time, WORD);
    return true;
}
static bool do_block_author(const struct request *q)
{
    static const uint8_t none[ADDRESS];
    give(q, q->a[0], none, ADDRESS);
    return true;
}
static bool do_zero_word(const struct request *q) { return give_number(q, q->a[0], 0); }
static bool do_chain_id(const struct request *q) { return give_number(q, q->a[0], 1); }
static bool do_zero_word_of(const struct request *q) { return give_number(q, q->a[1], 0); }
static bool do_zero(const struct request *q) { return result(q, 0); }
static bool do_gas_limit(const struct request *q) { return result(q, UINT32_MAX); }

/* The code of an account that has none hashes to Keccak-256 of nothing. */
static bool do_code_hash(const struct request *q)
{
    uint8_t hash[WORD];
    keccak256((penta_bytes){0}, hash);
    give(q, q->a[1], hash, WORD);
    return true;
}

static bool do_code_size(const struct request *q)
{
    uint8_t address[ADDRESS];
    if (!penta_vm_peek(q->vm, (uint32_t)q->a[0], address, ADDRESS)) return false;
    return result(q, memcmp(address, q->r->address, ADDRESS) ? 0 : q->vm->module->file.size);
}

static bool do_return_data_copy(const struct request *q)
{
    return give_sized(q, q->a[0], q->a[1], NULL, 0);
}

static bool do_hash_keccak_256(const struct request *q)
{
    struct blob in;
    uint8_t hash[WORD];
    if (!fetch(q, q->a[0], (uint32_t)q->a[1], &in)) return false;
    keccak256((penta_bytes){in.data, in.size}, hash);
    free(in.data);
    give(q, q->a[2], hash, WORD);
    return true;
}

static bool do_set_immutable_data(const struct request *q)
{
    struct blob bytes;
    if (!fetch(q, q->a[0], (uint32_t)q->a[1], &bytes)) return false;
    free(q->r->immutable.data);
    q->r->immutable = bytes;
    return true;
}
static bool do_get_immutable_data(const struct request *q)
{
    return give_sized(q, q->a[0], q->a[1], q->r->immutable.data, q->r->immutable.size);
}

static bool do_deposit_event(const struct request *q)
{
    struct blob topics = {0}, data = {0};
    uint32_t count = (uint32_t)q->a[1];
    bool ok = count <= 4 && fetch(q, q->a[0], (uint64_t)count * WORD, &topics) &&
              fetch(q, q->a[2], (uint32_t)q->a[3], &data);
    if (ok) {
        writer_text(&q->out->output, "event");
        for (uint32_t i = 0; i < count; i++) {
            writer_text(&q->out->output, " topic 0x");
            writer_hex(&q->out->output, (penta_bytes){topics.data + (size_t)i * WORD, WORD});
        }
        writer_text(&q->out->output, " data 0x");
        writer_hex(&q->out->output, (penta_bytes){data.data, data.size});
        writer_char(&q->out->output, '\n');
    }
    free(topics.data);
    free(data.data);
    return ok;
}

static bool end_call(const struct request *q, bool reverted)
{
    if (reverted)
        undo_changes(q->r);
    else
        forget_changes(q->r);
    q->out->end = CALL_ENDS;
    return true;
}

static bool do_seal_return(const struct request *q)
{
    struct blob bytes;
    if (!fetch(q, q->a[1], (uint32_t)q->a[2], &bytes)) return false;
    writer_print(&q->out->output, "return %llu 0x", (unsigned long long)(uint32_t)q->a[0]);
    writer_hex(&q->out->output, (penta_bytes){bytes.data, bytes.size});
    writer_char(&q->out->output, '\n');
    free(bytes.data);
    return end_call(q, q->a[0] & 1);
}

static bool do_terminate(const struct request *q)
{
    writer_text(&q->out->output, "terminate\n");
    return end_call(q, false);
}

static bool do_consume_all_gas(const struct request *q)
{
    writer_text(&q->out->output, "consume_all_gas\n");
    struct pvm_vm *vm = pvm_vm(q->vm);
    if (vm->metered) vm->state->gas = 0;
    return end_call(q, true);
}

static const struct {
    const char *name;
    bool (*answer)(const struct request *q);
} functions[] = {
    {"address", do_address},
    {"balance", do_zero_word},
    {"balance_of", do_zero_word_of},
    {"base_fee", do_zero_word},
    {"block_author", do_block_author},
    {"block_hash", do_zero_word_of},
    {"block_number", do_zero_word},
    {"call", do_zero},
    {"call_data_copy", do_call_data_copy},
    {"call_data_load", do_call_data_load},
    {"call_data_size", do_call_data_size},
    {"call_evm", do_zero},
    {"caller", do_caller},
    {"chain_id", do_chain_id},
    {"clear_storage", do_clear_storage},
    {"code_hash", do_code_hash},
    {"code_size", do_code_size},
    {"consume_all_gas", do_consume_all_gas},
    {"contains_storage", do_contains_storage},
    {"delegate_call", do_zero},
    {"delegate_call_evm", do_zero},
    {"deposit_event", do_deposit_event},
    {"gas_limit", do_gas_limit},
    {"gas_price", do_zero},
    {"get_immutable_data", do_get_immutable_data},
    {"get_storage", do_get_storage},
    {"get_storage_or_zero", do_get_storage_or_zero},
    {"hash_keccak_256", do_hash_keccak_256},
    {"now", do_now},
    {"origin", do_caller},
    {"ref_time_left", do_gas_limit},
    {"return_data_copy", do_return_data_copy},
    {"return_data_size", do_zero},
    {"seal_return", do_seal_return},
    {"set_immutable_data", do_set_immutable_data},
    {"set_storage", do_set_storage},
    {"set_storage_or_clear", do_set_storage_or_clear},
    {"terminate", do_terminate},
    {"value_transferred", do_value_transferred},
    {"weight_to_fee", do_zero_word_of},
};

bool pvm_revive_answer(struct pvm_revive *r, penta_vm *vm, const penta_stop *stop,
                       struct answer *out)
{
    struct request q = {r, vm, stop->args, out};
    penta_bytes name = pvm_import_name(vm->module, stop->detail);
    size_t now = pvm_vm(vm)->next_call ? pvm_vm(vm)->next_call - 1 : 0;
    if (now != r->call) forget_changes(r);
    r->call = now;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == name.size &&
            !memcmp(functions[i].name, name.data, name.size))
            return functions[i].answer(&q);
    return false;
}

/* ---- options ---- */

static bool hex_option(const char *key, const char *text, uint8_t *into, size_t size,
                       penta_error *err)
{
    size_t count = 0;
    const char *digits = !strncmp(text, "0x", 2) ? text + 2 : text;
    uint8_t *bytes = hex_parse((penta_bytes){(const uint8_t *)digits, strlen(digits)}, &count);
    bool ok = bytes && count == size;
    if (ok) memcpy(into, bytes, size);
    free(bytes);
    return ok || error_at(err, BASE_OPTION_VALUE, 0, "%s is not %zu bytes in hex", key, size);
}

static bool number_option(const char *key, const char *text, uint8_t *into, penta_error *err)
{
    uint64_t number;
    if (!number_parse(text, &number))
        return error_at(err, BASE_OPTION_VALUE, 0, "%s is not a number", key);
    memset(into, 0, WORD);
    put64(into, number);
    return true;
}

static struct call_input *input_for(struct pvm_revive *r, size_t at)
{
    if (r->input_count && r->inputs[r->input_count - 1].at == at)
        return &r->inputs[r->input_count - 1];
    struct call_input *more = realloc(r->inputs, (r->input_count + 1) * sizeof *more);
    if (!more) return NULL;
    r->inputs = more;
    r->inputs[r->input_count] = (struct call_input){.at = at};
    return &r->inputs[r->input_count++];
}

static bool input_option(struct pvm_revive *r, const penta_option *o, size_t at, penta_error *err)
{
    struct call_input *in = input_for(r, at);
    if (!in) return error_at(err, BASE_MEMORY, 0, "no memory for the call data");
    if (!strcmp(o->key, "value")) return number_option(o->key, o->value, in->value, err);
    const char *digits = !strncmp(o->value, "0x", 2) ? o->value + 2 : o->value;
    free(in->data.data);
    in->data.data =
        hex_parse((penta_bytes){(const uint8_t *)digits, strlen(digits)}, &in->data.size);
    return in->data.data || error_at(err, BASE_OPTION_VALUE, 0, "calldata is not hex");
}

static bool read_options(struct pvm_revive *r, const penta_option *options, size_t count,
                         penta_error *err)
{
    size_t calls = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const penta_option *o = &options[i];
        if (!strcmp(o->key, "call") || !strcmp(o->key, "pc"))
            calls++;
        else if (!strcmp(o->key, "calldata") || !strcmp(o->key, "value"))
            ok = input_option(r, o, calls ? calls - 1 : 0, err);
        else if (!strcmp(o->key, "caller"))
            ok = hex_option("caller", o->value, r->caller, ADDRESS, err);
        else if (!strcmp(o->key, "address"))
            ok = hex_option("address", o->value, r->address, ADDRESS, err);
        else if (!strcmp(o->key, "time"))
            ok = number_option("time", o->value, r->time, err);
    }
    return ok;
}

void pvm_revive_free(struct pvm_revive *r)
{
    if (!r) return;
    forget_changes(r);
    for (size_t i = 0; i < sizeof r->buckets / sizeof *r->buckets; i++)
        for (struct slot *s = r->buckets[i], *next; s; s = next) {
            next = s->next;
            free(s->key.data);
            free(s->value.data);
            free(s);
        }
    for (size_t i = 0; i < r->input_count; i++) free(r->inputs[i].data.data);
    free(r->inputs);
    free(r->changes);
    free(r->immutable.data);
    free(r);
}

struct pvm_revive *pvm_revive_new(const penta_option *options, size_t count, penta_error *err)
{
    struct pvm_revive *r = calloc(1, sizeof *r);
    if (!r) {
        error_at(err, BASE_MEMORY, 0, "no memory for the contract host");
        return NULL;
    }
    memset(r->caller, 0x11, ADDRESS);
    memset(r->address, 0x11, ADDRESS);
    if (read_options(r, options, count, err)) return r;
    pvm_revive_free(r);
    return NULL;
}
