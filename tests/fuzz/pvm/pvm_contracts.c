/* Runs hostile contracts on the contract host: any host calls with any registers, in a contract
 * that is called, calls itself and others, and makes contracts. Nothing may crash, the sum of all
 * balances must stay the same, and both engines must end with the same chain.
 *
 *     byte 0           how many of the host calls belong to the constructor
 *     7 bytes a call   its number, and indices into the table of values below for a0 to a5 */
#include <unistd.h>
#include "fuzz.h"
#include "penta/session.h"
#include "pvm/host/keccak.h"
#include "pvm/host/revive/revive.h"

enum { CALLS_MAX = 40, RECORD = 7 };
#define OWNED "1000000"

static const char *const names[] = {
#define CALL(name) #name,
#define MISSING(name) #name,
#include "pvm/host/revive/calls.def"
};
enum { NAMES = sizeof names / sizeof *names };

/* These are addresses in the contract's data, for registers to point to. */
enum {
    AT = 0x20000,
    AT_SELF = AT + 0x20,
    AT_OTHER = AT + 0x40,
    AT_PRECOMPILE = AT + 0x60, /* 16 addresses, 32 bytes apart */
    AT_FIVE = AT + 0x260,      /* the number 5 */
    AT_HASH = AT + 0x280,      /* the hash of the other contract's code, then data */
    AT_LENGTH = AT + 0x2e0,    /* the number 64 */
    AT_OUT = AT + 0x300,
};
#define PAIR(high, low) ((uint64_t)(high) << 32 | (low))

/* clang-format off */
static const uint64_t values[] = {
    0, 1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 64, 128, 129, 416, 417, 4096, 65536, AT, AT_SELF, AT_OTHER,
    AT_FIVE, AT_HASH, AT_LENGTH, AT_OUT, AT + 0xfff, AT + 0x1000, 0xfffdff00, 0x10000, 0xffff,
    0x7fffffff, 0xffffffff, UINT64_MAX, 0xfffffffffffdff80, PAIR(0, AT_SELF), PAIR(8, AT_SELF),
    PAIR(24, AT_SELF), PAIR(8, AT_OTHER), PAIR(12, AT_OTHER), PAIR(1, AT_OTHER), PAIR(2, AT_SELF),
    PAIR(AT, AT), PAIR(AT, AT_FIVE), PAIR(32, AT_HASH), PAIR(64, AT_HASH), PAIR(4, AT),
    PAIR(AT_LENGTH, AT_OUT), PAIR(AT_OUT, 0xffffffff), PAIR(AT_OUT, AT_HASH),
    PAIR(0xffffffff, 0xffffffff), PAIR(8, AT_PRECOMPILE), PAIR(8, AT_PRECOMPILE + 32),
    PAIR(8, AT_PRECOMPILE + 64), PAIR(8, AT_PRECOMPILE + 96), PAIR(8, AT_PRECOMPILE + 128),
    PAIR(8, AT_PRECOMPILE + 160), PAIR(8, AT_PRECOMPILE + 192), PAIR(8, AT_PRECOMPILE + 224),
    PAIR(8, AT_PRECOMPILE + 256), PAIR(128, AT), PAIR(213, AT), PAIR(192, AT), PAIR(1, AT),
    PAIR(31, AT), PAIR(0x7fffffff, AT)};
/* clang-format on */
enum { VALUES = sizeof values / sizeof *values };

static unsigned number_of(const char *name)
{
    unsigned i = 0;
    while (strcmp(names[i], name)) i++;
    return i;
}

static void write_calls(struct writer *out, const uint8_t *data, size_t count)
{
    for (size_t i = 0; i < count; i++, data += RECORD) {
        for (unsigned k = 0; k < 6; k++)
            writer_print(out, "a%u = 0x%llx\n", k,
                         (unsigned long long)values[data[1 + k] % VALUES]);
        writer_print(out, "ecalli %u\n", data[0] % NAMES);
    }
    writer_print(out, "a0 = 0\na1 = 0x20300\na2 = 32\necalli %u\nret\n", number_of("seal_return"));
}

static void write_data(struct writer *out, const uint8_t hash[HASH])
{
    uint8_t bytes[0x400] = {0};
    memset(bytes + 0x20, 0x22, ADDRESS);
    memset(bytes + 0x40, 0x33, ADDRESS);
    for (unsigned i = 0; i < 16; i++) bytes[0x60 + 32 * i + 19] = (uint8_t)(i + 1);
    bytes[0x260] = 5;
    memcpy(bytes + 0x280, hash, HASH);
    bytes[0x2e0] = 64;
    writer_text(out, "%rw_data = ");
    writer_hex(out, (penta_bytes){bytes, sizeof bytes});
    writer_char(out, '\n');
}

static penta_module *pvm_contracts_assemble(struct writer *text)
{
    penta_module *module = penta_assemble(writer_view(text), "pvm", NULL, 0, NULL, NULL);
    CHECK(module);
    writer_free(text);
    return module;
}

static void pvm_contracts_head(struct writer *text)
{
    writer_text(text, "%isa = revive_v1\n%stack_size = 4096\n%rw_data_size = 4096\n");
    for (unsigned i = 0; i < NAMES; i++) writer_print(text, "%%import \"%s\"\n", names[i]);
}

struct trial {
    penta_buffer state, output;
    penta_stop stop;
};

static void check_balances(const char *json)
{
    static const char member[] = "\"balance\":";
    uint64_t sum = 0;
    while ((json = strstr(json, member))) sum += strtoull(json += sizeof member - 1, NULL, 10);
    CHECK(sum == 2 * strtoull(OWNED, NULL, 10));
}

static void pvm_contracts_run(const penta_module *module, const char *engine, const char *other,
                              struct trial *out)
{
    const penta_option options[] = {{"host", "revive"},
                                    {"gas", "200000"},
                                    {"balance", "1111111111111111111111111111111111111111=" OWNED},
                                    {"balance", "3333333333333333333333333333333333333333=" OWNED},
                                    {"contract", other},
                                    {"call", "deploy"},
                                    {"value", "100"},
                                    {"call", "call"},
                                    {"value", "7"},
                                    {"call", "call"},
                                    {"calldata", "0102030405"}};
    penta_buffer state = {0};
    penta_error err = {0};
    penta_session *s =
        penta_session_new(module, engine, options, sizeof options / sizeof *options, NULL, &err);
    CHECK(s);
    penta_session_run(s, UINT64_MAX, &out->stop);
    CHECK(out->stop.kind != PENTA_STOP_DISAGREE && out->stop.kind != PENTA_STOP_FUEL);
    if (out->stop.kind != PENTA_STOP_HOST) { /* A stop at a host call means that the host does
                                              * not support the call. */
        CHECK(penta_session_save_host(s, &state, &err));
        penta_buffer_append(&state, (penta_bytes){(const uint8_t *)"", 1});
        check_balances((const char *)state.data);
    }
    CHECK(penta_session_output(s, &out->output, NULL, &err));
    penta_session_free(s);
    out->state = state;
}

/* The other contract is at address 3333.. from the start, and its code can be instantiated
 * again. */
static char other_option[256];
static uint8_t other_hash[HASH];

static void make_other(void)
{
    struct writer text = {0};
    char path[] = "/tmp/penta-fuzz-XXXXXX";
    pvm_contracts_head(&text);
    writer_print(&text,
                 "pub @call:\na0 = 0x%llx\na1 = -1\na2 = -1\na3 = 0x%llx\na4 = 0\n"
                 "a5 = -1\necalli %u\nret\npub @deploy:\nret\n",
                 (unsigned long long)PAIR(8, AT_SELF), (unsigned long long)PAIR(AT, AT),
                 number_of("call"));
    penta_module *module = pvm_contracts_assemble(&text);
    penta_bytes code = module->file;
    keccak256_digest(code, other_hash);
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, code.data, code.size) == (ssize_t)code.size && !close(fd));
    snprintf(other_option, sizeof other_option, "3333333333333333333333333333333333333333=%s",
             path);
    penta_close(module);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    if (!*other_option) make_other();
    if (size < 1 + RECORD) return;
    size_t count = (size - 1) / RECORD;
    if (count > CALLS_MAX) count = CALLS_MAX;
    size_t first = data[0] % (count + 1);
    struct writer text = {0};
    pvm_contracts_head(&text);
    write_data(&text, other_hash);
    writer_text(&text, "pub @deploy:\n");
    write_calls(&text, data + 1, first);
    writer_text(&text, "pub @call:\n");
    write_calls(&text, data + 1 + first * RECORD, count - first);
    penta_module *module = pvm_contracts_assemble(&text);
    struct trial a = {0}, b = {0};
    pvm_contracts_run(module, "interp", other_option, &a);
    pvm_contracts_run(module, "jit", other_option, &b);
    CHECK(a.stop.kind == b.stop.kind && a.stop.pc == b.stop.pc);
    CHECK(same_buffer(&a.output, &b.output) && same_buffer(&a.state, &b.state));
    penta_buffer_free(&a.output);
    penta_buffer_free(&b.output);
    penta_buffer_free(&a.state);
    penta_buffer_free(&b.state);
    penta_close(module);
}
