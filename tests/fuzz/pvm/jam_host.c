/* Runs hostile services: programs of host calls with any numbers, registers and memory, as
 * accumulate and as refine. Nothing may crash, and the host may not fail. Interpreter and compiler
 * must end with the same result, gas and state. A program that panics before a checkpoint must
 * change nothing, and the counts of items and octets in accounts must be right.
 *
 *     byte 0           bit 0: refine, bit 1: which service runs, bit 3: little gas
 *     7 bytes a call   its number, and indices into the table of values for r7 to r12
 *     the rest         writable memory, up to 512 bytes */
#include "fuzz.h"
#include "pvm/host/jam_json/json.h"

enum { CALLS = 48, CALL_BYTES = 7, MEMORY = 512, RW = 0x20000, ENGINES = 2 };

/* clang-format off */
static const uint64_t values[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 16, 17, 20, 32, 50, 80, 100, 112, 128, 255, 256, 4096, 65535,
    65536, RW, RW + 8, RW + 32, RW + 64, RW + 128, RW + 256, RW + 384, RW + 511, RW + 4090, RW + 8190,
    RW - 1, 0x10000, 0xfeff0000, 0xfefe0000 - 64, 0xfefdf000, 0xffff0000, 0xffffffff,
    UINT64_C(0x100000000), UINT64_C(0x100020000), UINT64_C(1) << 62, UINT64_MAX - 8, UINT64_MAX - 1,
    UINT64_MAX, 1000, 1000000, 14, 15, 0xfffff, 0x100000, 4104, 2560};
/* clang-format on */
enum { VALUES = sizeof values / sizeof *values };

static const char state_text[] =
    "{\"chain\":\"tiny\",\"slot\":49,\"privileges\":{\"bless\":7,\"assign\":[7,8],\"designate\":7,"
    "\"register\":7,\"always_acc\":[]},\"accounts\":["
    "{\"id\":7,\"balance\":100000,\"storage\":{\"6b\":\"01\",\"00\":\"0203\"},"
    "\"preimages\":[\"01020304\"],\"requests\":["
    "{\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\","
    "\"length\":4,\"slots\":[]},"
    "{\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\","
    "\"length\":5,\"slots\":[1,2]},"
    "{\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\","
    "\"length\":7,\"slots\":[1,2,3]},"
    "{\"hash\":\"28517e4cdf6c90798c1a983b03727ca7743c21a3880672429ccfc5bd15ea5f72\","
    "\"length\":4,\"slots\":[40]}]},"
    "{\"id\":8,\"balance\":1000},{\"id\":9,\"balance\":300,\"min_memo_gas\":100},"
    "{\"id\":10,\"balance\":500,"
    "\"code_hash\":\"0700000000000000000000000000000000000000000000000000000000000000\","
    "\"requests\":[{\"hash\":"
    "\"0000000000000000000000000000000000000000000000000000000000000000\",\"length\":3,"
    "\"slots\":[5,17]}]}]}";

static void put_jump(struct writer *w)
{
    writer_uint(w, 40, 1);
    writer_uint(w, w->out.size == 1 ? 10 : 5, 4);
}

/* Writes code in which both entries jump to the host calls. Registers are loaded before each
 * call. */
static void put_code(struct writer *code, struct writer *mask, const uint8_t *calls, size_t count)
{
    uint8_t bits[8 * 1024] = {0};
    size_t starts[CALLS * 8 + 8], n = 0;
    starts[n++] = 0;
    put_jump(code);
    starts[n++] = code->out.size;
    put_jump(code);
    for (size_t i = 0; i < count; i++, calls += CALL_BYTES) {
        for (unsigned r = 0; r < 6; r++) {
            starts[n++] = code->out.size;
            writer_uint(code, 20, 1); /* load_imm_64 */
            writer_uint(code, 7 + r, 1);
            writer_uint(code, values[calls[1 + r] % VALUES], 8);
        }
        starts[n++] = code->out.size;
        writer_uint(code, 10, 1); /* ecalli */
        writer_uint(code, calls[0] % 32 == 31 ? 100 : calls[0] % 32, 1);
    }
    starts[n++] = code->out.size;
    writer_uint(code, 50, 1); /* jump_indirect to ra; r7 and r8 of the last call are the output */
    writer_uint(code, 0, 1);
    for (size_t i = 0; i < n; i++) bits[starts[i] / 8] |= (uint8_t)(1u << starts[i] % 8);
    writer_bytes(mask, bits, (code->out.size + 7) / 8);
}

static void make_program(struct writer *out, const uint8_t *calls, size_t count, penta_bytes memory)
{
    struct writer code = {0}, mask = {0}, program = {0};
    put_code(&code, &mask, calls, count);
    writer_uint(&program, 0, 2); /* no jump table */
    jam_put_nat(&program, code.out.size);
    writer_bytes(&program, code.out.data, code.out.size);
    writer_bytes(&program, mask.out.data, mask.out.size);
    writer_uint(out, 0, 1); /* no metadata */
    writer_uint(out, 0, 3);
    writer_uint(out, MEMORY, 3);
    writer_uint(out, 1, 2);
    writer_uint(out, 4096, 3);
    writer_bytes(out, memory.data, memory.size);
    writer_fill(out, 0, MEMORY - memory.size);
    writer_uint(out, program.out.size, 4);
    writer_bytes(out, program.out.data, program.out.size);
    writer_free(&code);
    writer_free(&mask);
    writer_free(&program);
}

struct outcome {
    penta_jam_result result;
    penta_buffer state; /* the state as JSON */
    bool checkpoint;    /* A checkpoint was made. */
};

static void jam_host_called(void *user, uint32_t service, const char *line)
{
    struct outcome *o = user;
    (void)service;
    if (!strncmp(line, "checkpoint ->", 13)) o->checkpoint = true;
}

static void set_code(penta_jam_state *state, uint32_t service, penta_bytes code, uint8_t *hash)
{
    struct jam_layer *l = &state->changes;
    struct jam_account account;
    struct jam_request since = {.count = 1};
    uint8_t key[JAM_KEY];
    penta_jam_hash(code, hash);
    CHECK(jam_account_get(l, service, &account));
    memcpy(account.code_hash, hash, JAM_HASH);
    account.items += 2;
    account.octets += 81 + code.size;
    account.balance += 100 + code.size;
    jam_account_set(l, service, &account);
    jam_request_set(l, service, hash, (uint32_t)code.size, &since);
    penta_jam_preimage_key(service, hash, key);
    jam_layer_set(l, key, (penta_bytes){0}, code);
}

/* Checks the counts in each account's record against its entries. */
static void check_accounts(penta_jam_state *state)
{
    size_t count;
    const struct jam_entry **list = jam_layer_sorted(&state->base, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t id, other;
        struct jam_account a;
        uint64_t items = 0, octets = 0;
        if (!list[i]->value || jam_key_kind(list[i]->key, list[i]->value, &id) != JAM_IS_RECORD)
            continue;
        CHECK(jam_account_decode(jam_value_bytes(list[i]->value), &a));
        for (size_t k = 0; k < count; k++) {
            const struct jam_value *v = list[k]->value;
            enum jam_kind kind = v ? jam_key_kind(list[k]->key, v, &other) : JAM_IS_CHAPTER;
            if (!v || other != id) continue;
            items += kind == JAM_IS_STORAGE ? 1 : kind == JAM_IS_REQUEST ? 2 : 0;
            if (kind == JAM_IS_STORAGE) octets += 34 + v->name_size + v->size;
            if (kind == JAM_IS_REQUEST) octets += 81 + (uint64_t)bytes_get32(v->bytes + JAM_HASH);
        }
        CHECK(items == a.items && octets == a.octets);
    }
    free(list);
}

static void jam_host_refine(penta_jam_host *host, penta_jam_state *state, uint32_t service,
                            uint64_t gas, const uint8_t *hash, penta_jam_result *out)
{
    struct writer w = {0};
    penta_error err;
    uint8_t segment[PENTA_JAM_SEGMENT] = {1};
    penta_bytes import = {segment, sizeof segment}, extrinsic = {segment, 3};
    writer_uint(&w, service, 4);
    writer_bytes(&w, hash, JAM_HASH);
    writer_fill(&w, 2, 4 * JAM_HASH);
    writer_uint(&w, 45, 4);
    writer_uint(&w, 0, 1);
    jam_put_var(&w, bytes_of("token"));
    jam_put_var(&w, bytes_of("config"));
    jam_put_nat(&w, 1);
    writer_uint(&w, service, 4);
    writer_bytes(&w, hash, JAM_HASH);
    writer_uint(&w, gas, 8);
    writer_uint(&w, 1, 8);
    writer_uint(&w, 1, 2);
    jam_put_var(&w, bytes_of("payload"));
    jam_put_nat(&w, 1);
    writer_fill(&w, 0, JAM_HASH + 2);
    jam_put_nat(&w, 1);
    writer_fill(&w, 0, JAM_HASH + 4);
    penta_jam_package given = {.encoded = writer_view(&w),
                               .extrinsics = &extrinsic,
                               .extrinsic_count = 1,
                               .imports = &import,
                               .import_count = 1};
    CHECK(penta_jam_refine(host, state, &given, 0, out, &err));
    writer_free(&w);
}

static void jam_host_run(penta_jam_host *host, const uint8_t *data, penta_bytes code,
                         struct outcome *o)
{
    penta_error err;
    uint8_t hash[JAM_HASH];
    uint32_t service = 7 + (*data >> 1 & 1);
    uint64_t gas = *data & 8 ? 300 : 20000;
    penta_buffer before = {0};
    penta_jam_state *state = penta_jam_state_new(host, NULL, &err);
    CHECK(state && penta_jam_state_read(state, bytes_of(state_text), NULL, &err));
    set_code(state, service, code, hash);
    CHECK(penta_jam_state_commit(state, &err));
    CHECK(penta_jam_state_write(state, &before, &err));
    penta_jam_on_call(host, jam_host_called, o);
    if (*data & 1) {
        jam_host_refine(host, state, service, gas, hash, &o->result);
    } else {
        uint8_t item[153] = {1, 9, 0, 0, 0, (uint8_t)service};
        penta_bytes items[1] = {{item, sizeof item}};
        penta_jam_accumulation input = {
            .slot = 50, .service = service, .gas = gas, .items = items, .item_count = 1};
        CHECK(penta_jam_accumulate(host, state, &input, &o->result, &err));
    }
    CHECK(o->result.gas_used <= gas);
    CHECK(penta_jam_state_commit(state, &err));
    CHECK(penta_jam_state_write(state, &o->state, &err));
    if (*data & 1 || (o->result.exit != PENTA_JAM_HALT && !o->checkpoint))
        CHECK(same_buffer(&before, &o->state));
    check_accounts(state);
    penta_buffer_free(&before);
    penta_jam_state_free(state);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static penta_jam_host *hosts[ENGINES];
    static const char *const engines[ENGINES] = {"interp", "jit"};
    struct outcome outcomes[ENGINES] = {0};
    struct writer code = {0};
    if (size < 1 + CALL_BYTES) return;
    size_t count = (size - 1) / CALL_BYTES;
    if (count > CALLS) count = CALLS;
    penta_bytes memory = {data + 1 + count * CALL_BYTES, size - 1 - count * CALL_BYTES};
    if (memory.size > MEMORY) memory.size = MEMORY;
    make_program(&code, data + 1, count, memory);
    for (unsigned i = 0; i < ENGINES; i++) {
        penta_error err;
        penta_option options[] = {{"chain", "tiny"}, {"engine", engines[i]}};
        if (!hosts[i]) hosts[i] = penta_jam_host_new((penta_bytes){0}, options, 2, &err);
        CHECK(hosts[i]);
        jam_host_run(hosts[i], data, writer_view(&code), &outcomes[i]);
    }
    const penta_jam_result *a = &outcomes[0].result, *b = &outcomes[1].result;
    CHECK(a->exit == b->exit && a->gas_used == b->gas_used);
    CHECK(same_buffer(&a->output, &b->output) && same_buffer(&a->exports, &b->exports));
    CHECK(same_buffer(&a->transfers, &b->transfers) &&
          same_buffer(&outcomes[0].state, &outcomes[1].state));
    for (unsigned i = 0; i < ENGINES; i++) {
        penta_jam_result_free(&outcomes[i].result);
        penta_buffer_free(&outcomes[i].state);
    }
    writer_free(&code);
}
