/* Tests the repair for fuzzers: a file that was changed and repaired must have no wrong checksum
 * or size. */
#include "support.h"
#include "repair.h"
#include <stdlib.h>
#include <string.h>
#include "coil/coil.h"

static bool is_about_the_container(uint32_t code)
{
    static const char *const rules[] = {"SIZE",     "HEADER_CRC",  "PAYLOAD_CRC",
                                        "CHECKSUM", "BAD_TRAILER", "BAD_LENGTH"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i], penta_code_name(code))) return true;
    return false;
}

struct seen {
    bool wrong;   /* A checksum or size is wrong. */
    bool damaged; /* Nothing after the container was looked at. */
};

static void repair_test_finding(void *user, const penta_error *error)
{
    struct seen *seen = user;
    if (is_about_the_container(error->code)) seen->wrong = true;
}

static struct seen repair_test_look(const char *format, const uint8_t *data, size_t size)
{
    struct seen seen = {0};
    penta_error err;
    penta_option trailer = {"trailer", "1"};
    penta_module *m =
        penta_open((penta_bytes){data, size}, format, &trailer, !strcmp(format, "kblob"), &err);
    if (!m) return (struct seen){.damaged = true};
    seen.damaged = penta_module_damage(m);
    penta_validate(m, repair_test_finding, &seen);
    penta_close(m);
    return seen;
}

static void repair_test_try(const char *format, const char *text, const penta_option *options,
                            size_t count, size_t from, size_t to)
{
    penta_buffer bytes = {0};
    penta_error err = {0};
    penta_module *m = penta_assemble(bytes_of(text), format, options, count, NULL, NULL);
    bool ok = m && penta_encode(m, &bytes, &err);
    CHECK(ok, "%s: assembles", format);
    penta_close(m);
    if (!ok) return;
    if (to > bytes.size) to = bytes.size;
    for (size_t at = from; at < to; at++) {
        uint8_t *copy = malloc(bytes.size);
        if (!copy) break;
        memcpy(copy, bytes.data, bytes.size);
        copy[at] ^= 0x41;
        struct seen before = repair_test_look(format, copy, bytes.size);
        repair(format, copy, bytes.size);
        struct seen after = repair_test_look(format, copy, bytes.size);
        CHECK(before.wrong || before.damaged, "%s: the change is noticed, byte %zu", format, at);
        CHECK(!after.wrong && !after.damaged, "%s: and repaired, byte %zu", format, at);
        free(copy);
    }
    penta_buffer_free(&bytes);
}

/* Tests a section that claims more bytes than the file has. */
static void try_coil(void)
{
    penta_buffer bytes = {0};
    penta_error err = {0};
    penta_module *m =
        penta_assemble(bytes_of(".func main\n    RET\n.endfunc\n"), "coil", NULL, 0, NULL, NULL);
    bool ok = m && penta_encode(m, &bytes, &err);
    CHECK(ok, "coil: assembles");
    size_t at = ok ? (size_t)coil_module(m)->header.section_offset + 16 + 3 : 0;
    if (ok) {
        bytes.data[at] ^= 0x41; /* This is the fourth byte of its size. */
        CHECK(repair_test_look("coil", bytes.data, bytes.size).damaged,
              "coil: the change is noticed, byte %zu", at);
        repair("coil", bytes.data, bytes.size);
        CHECK(!repair_test_look("coil", bytes.data, bytes.size).damaged,
              "coil: and repaired, byte %zu", at);
    }
    penta_close(m);
    penta_buffer_free(&bytes);
}

int main(void)
{
    static const penta_option trailer[] = {{"trailer", "1"}}, isa[] = {{"isa", "latest64"}};
    repair_test_try("cvbc", "PUSH 1\nPOP\nHALT\n", NULL, 0, 8, 16); /* changes size and CRC */
    repair_test_try("kblob", "WRITE8 0x10000, 7\nHALT\n", trailer, 1, 40,
                    44); /* changes an argument */
    repair_test_try("kblob", "WRITE8 0x10000, 7\nHALT\n", trailer, 1, 52, 56); /* changes the CRC */
    repair_test_try("tvmr", ".program\n    halt\n", NULL, 0, 0x20, 0x28); /* changes the checksum */
    repair_test_try("pvm", "%isa = latest64\n    trap\n", isa, 0, 5, 13); /* changes the length */
    try_coil();
    uint8_t noise[64];
    memset(noise, 0xa5, sizeof noise);
    for (size_t n = 0; n <= sizeof noise; n++) {
        repair("cvbc", noise, n), repair("kblob", noise, n), repair("tvmr", noise, n);
        repair("coil", noise, n), repair("pvm", noise, n);
    }
    CHECK(noise[63] == 0xa5, "all: short files keep their ends");
    return checks_end();
}
