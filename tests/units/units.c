/* Tests parts that no case file can reach, by tables and loops. */
#include "support.h"
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/codec/checksum.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "base/platform/missing.h"
#include "base/platform/processor.h"
#include "base/reader.h"
#include "base/sanitize.h"
#include "base/suggest.h"
#include "core/delta.h"
#include "core/driver.h"
#include "crypto/sign.h"
#include "core/map_option.h"
#include "kblob/vm/memory.h"
#include "text/expr.h"
#include "text/labels.h"

static bool text_is(const struct writer *w, const char *text)
{
    return w->out.size == strlen(text) && !memcmp(w->out.data, text, w->out.size);
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
        /* clang-format off */
    } rows[] = {
        {"0", true, 0},          {"42", true, 42},         {"0x2A", true, 42},
        {"0b101", true, 5},      {"0o17", true, 15},       {"1_000", true, 1000},
        {"0x_1", false, 0},      {"1_", false, 0},         {"", false, 0},
        {"0x", false, 0},        {"12ab", false, 0},       {"-1", false, 0},
        {"18446744073709551615", true, UINT64_MAX},        {"18446744073709551616", false, 0},
        {"0xFFFFFFFFFFFFFFFF", true, UINT64_MAX},          {"0x10000000000000000", false, 0},
        {" 1", false, 0},        {"1 ", false, 0},         {"0b2", false, 0},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 0;
        bool ok = number_parse(rows[i].text, &value);
        CHECK(ok == rows[i].ok && (!ok || value == rows[i].value), "number_parse: %s",
              rows[i].text);
    }
    uint64_t size = 0;
    CHECK(number_parse_size("4K", &size) && size == 4096, "number_parse_size: 4K");
    CHECK(!number_parse_size("17179869184G", &size), "number_parse_size: overflow");
    CHECK(!number_parse_size("K", &size), "number_parse_size: K");
    size_t n = 0;
    uint8_t *bytes = hex_parse(bytes_of("01 02\nfF"), &n, NULL);
    CHECK(bytes && n == 3 && bytes[2] == 0xff, "hex_parse: 01 02 fF");
    free(bytes);
    CHECK(!hex_parse(bytes_of("0 1"), &n, NULL), "hex_parse: split digits");
}

static void test_arrays(void)
{
    uint32_t *items = NULL;
    size_t capacity = 0, count = 0, i;
    penta_error err = {0};
    while (count < 1000 && ARRAY_GROW(items, capacity, count, &err)) {
        items[count] = (uint32_t)(2 * count);
        count++;
    }
    CHECK(count == 1000 && capacity >= count && items[999] == 1998, "array: grown");
    CHECK(!array_reserve(&items, &capacity, SIZE_MAX / 2, 4) && items[999] == 1998,
          "array: a size that overflows changes nothing");
    bool right = true;
    for (uint32_t wanted = 0; wanted < 2010; wanted++) {
        ARRAY_SEARCH(i, 0, count, items[i] >= wanted);
        right = right && i == (wanted > 1998 ? 1000 : (wanted + 1) / 2);
    }
    ARRAY_SEARCH(i, 5, 5, items[i] >= 1);
    CHECK(right && i == 5, "array: searched");
    free(items);
}

static void test_bytes_equal(void)
{
    const penta_bytes nothing = {NULL, 0}, empty = bytes_of(""), one = bytes_of("a");
    CHECK(bytes_equal(nothing, nothing) && bytes_equal(nothing, empty), "bytes_equal: nothing");
    CHECK(!bytes_equal(nothing, one) && bytes_equal(one, bytes_of("a")), "bytes_equal: a");
}

static void test_json_reader(void)
{
    static const struct {
        const char *text;
        bool ok;
        /* clang-format off */
    } rows[] = {
        {"{}", true}, {" [1, 2]\n", true}, {"18446744073709551615", true},
        {"-9223372036854775808", true}, {"18446744073709551616", false},
        {"-9223372036854775809", false}, {"{\"a\":1,}", false}, {"[1 2]", false}, {"", false},
        {"{\"a\":1,\"a\":2}", false}, {"{\"a\":{\"b\":1},\"b\":1}", true}, {"[1] x", false},
        {"// c\n1", false}, {"[0x10]", false}, {"{'a':1}", false}, {"\"\xff\"", false}, {"tru", false},
        {"[1e3, -2.5]", true}, {"nul", false}, {"[\"\\u00e9\\n\"]", true}, {"{\"a\"", false},
        {"01", false}, {"[1,]", false}, {"NaN", false},
        {"{\"a\":1,\"\\u0061\":2}", false}, {"{\"\\n\":1,\"\\u000a\":2}", false},
        {"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", false}, {"{\"a\":1,\"a\\u0000b\":2}", false},
        {"{\"a\":1,\"\\u0041\":2}", true}, {"{\"\\\\u0061\":1,\"a\":2}", true},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        penta_error err = {0};
        struct json_doc *doc = json_parse(bytes_of(rows[i].text), &err);
        CHECK((doc != NULL) == rows[i].ok && (doc || err.code), "json_parse: %s", rows[i].text);
        json_doc_free(doc);
    }
    penta_error err = {0};
    char deep[200];
    memset(deep, '[', sizeof deep);
    CHECK(!json_parse((penta_bytes){(uint8_t *)deep, sizeof deep}, &err), "json_parse: depth");
    err = (penta_error){0};
    struct json_doc *doc =
        json_parse(bytes_of("{\"n\":18446744073709551615,\"h\":\"0x2a\",\"x\":\"0102\"}"), &err);
    uint64_t value = 0;
    const struct json_object *root = doc ? json_root(doc) : NULL;
    CHECK(json_as_uint(json_get(root, "n"), &value) && value == UINT64_MAX, "json_as_uint: exact");
    CHECK(json_as_uint(json_get(root, "h"), &value) && value == 42, "json_as_uint: hex text");
    CHECK(!json_as_uint(json_get(root, "absent"), &value), "json_as_uint: absent");
    json_doc_free(doc);
}

static void test_json_writer(void)
{
    struct writer w = {0};
    struct json j = {.out = &w};
    json_object(&j, NULL);
    json_uint(&j, "small", UINT64_C(1) << 53);
    json_uint(&j, "large", (UINT64_C(1) << 53) + 1);
    json_sint(&j, "low", INT64_MIN);
    json_word(&j, "word", 255);
    json_string(&j, "text", (penta_bytes){(const uint8_t *)"a\"\\\x01\xff\n\xc3\xa9", 8});
    json_float(&j, "third", 1.0 / 3);
    json_float(&j, "inf", -INFINITY);
    json_list(&j, "list");
    json_bool(&j, NULL, true);
    json_null(&j, NULL);
    json_finish(&j);
    CHECK(text_is(&w,
                  "{\"small\":9007199254740992,\"large\":\"9007199254740993\","
                  "\"low\":\"-9223372036854775808\",\"word\":\"0xff\","
                  "\"text\":\"a\\\"\\\\\\u0001\\ufffd\\n\xc3\xa9\",\"third\":0.3333333333333333,"
                  "\"inf\":\"-inf\",\"list\":[true,null]}\n"),
          "json writer: %s", (const char *)w.out.data);
    writer_free(&w);
}

static void test_sanitizer(void)
{
    /* clang-format off */
    static const struct { const char *in, *out; } rows[] = {
        {"plain \xc3\xa9", "plain \xc3\xa9"}, {"\033[31m", "\\x1b[31m"}, {"\xff", "\\xff"},
        {"a\nb", "a\\x0ab"}, {"\xe2\x80\xae", "\\u{202e}"}, {"\xc2\x9b", "\\u{9b}"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, {"\xc0\x80", "\\xc0\\x80"}, {"\x7f", "\\x7f"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct writer w = {0};
        writer_safe(&w, bytes_of(rows[i].in));
        CHECK(text_is(&w, rows[i].out), "writer_safe: %s", rows[i].out);
        writer_free(&w);
    }
}

static void test_colours_of_a_file_are_not_ours(void)
{
    static const struct {
        const char *mark, *in, *out;
    } rows[] = {
        {NULL, "a\033[31mb\n", "a\\x1b[31mb\n"},
        {"k7", "a\033[31mb\tc\n", "a\\x1b[31mb\tc\n"},
        {"k7", "a\033k7[31mb\033k7[0m\n", "a\033[31mb\033[0m\n"},
        {"k7", "a\033k8[31mb\n", "a\\x1bk8[31mb\n"},
        {"k7", "\033k7[2J", "\\x1bk7[2J"},
        {"k7", "\033k7[31", "\\x1bk7[31"},
        {"k7", "\033k7", "\\x1bk7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct writer w = {0};
        writer_safe_lines(&w, bytes_of(rows[i].in), rows[i].mark);
        CHECK(text_is(&w, rows[i].out), "writer_safe_lines: %s", rows[i].out);
        writer_free(&w);
    }
}

static void test_reader(void)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5};
    penta_error err = {0};
    struct reader r = {.in = {bytes, 5}, .origin = 100, .err = &err};
    CHECK(reader_uint(&r, 2) == 0x0201, "reader: little");
    r.big_endian = true;
    CHECK(reader_uint(&r, 2) == 0x0304, "reader: big");
    CHECK(reader_count(&r, 2, 1) == 0 && err.code == BASE_RANGE && err.offset == 104,
          "reader: count");
    CHECK(reader_uint(&r, 1) == 0 && r.pos == 4, "reader: sticky");
    err = (penta_error){0};
    CHECK(!reader_take(&r, SIZE_MAX) && err.code == BASE_TRUNCATED, "reader: too much");
    CHECK(checksum_crc32(bytes_of("123456789")) == UINT32_C(0xCBF43926), "crc32: check value");
    err = (penta_error){0};
    struct arena a = {0};
    CHECK(!arena_alloc(&a, SIZE_MAX / 2, 16, &err) && err.code == BASE_MEMORY, "arena: overflow");
    err = (penta_error){0};
    for (int turn = 0; turn < 3;
         turn++) { /* The memory must be zero again, in one block or several. */
        uint8_t *first = arena_alloc(&a, 3000, 1, &err), *second = arena_alloc(&a, 3000, 1, &err);
        CHECK(first && second && !first[0] && !first[2999] && !second[2999], "arena: cleared");
        if (first && second) memset(first, 1, 3000), memset(second, 1, 3000);
        arena_clear(&a);
    }
    arena_free(&a);
}

static void test_expressions(void)
{
    /* clang-format off */
    static const struct { const char *text; bool ok; uint64_t value; } rows[] = {
        {"1+2*3", true, 7}, {"(1+2)*3", true, 9}, {"1<<4|3&2", true, 18}, {"-1", true, UINT64_MAX},
        {"~0 >> 60", true, 15}, {"10 - 2 - 3", true, 5}, {"1 << 64", true, 0}, {"7 % 4 ^ 1", true, 2},
        {"1 +", false, 0}, {"(1", false, 0}, {"1 / 0", false, 0}, {"x", false, 0}, {"", false, 0},
        {"'A' + 1", true, 66}, {"'\\n'", true, 10}, {"1 < 2", true, 1},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        penta_error err = {0};
        struct source s = {.text = bytes_of(rows[i].text), .comment = ";", .err = &err};
        uint64_t value = 0;
        bool ok = expr_parse(&s, NULL, NULL, &value);
        CHECK(ok == rows[i].ok && (!ok || value == rows[i].value), "expr_parse: %s", rows[i].text);
    }
    char deep[500];
    memset(deep, '(', sizeof deep);
    penta_error err = {0};
    uint64_t value;
    struct source s = {.text = {(uint8_t *)deep, sizeof deep}, .comment = ";", .err = &err};
    CHECK(!expr_parse(&s, NULL, NULL, &value) && err.code == BASE_LIMIT, "expr_parse: depth");
    struct labels labels = {0};
    err = (penta_error){0};
    char name[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "name%d", i);
        labels_define(&labels, bytes_of(name), (uint64_t)i, 0, &err);
    }
    CHECK(!err.code && labels_value(&labels, bytes_of("name777"), &value) && value == 777,
          "labels: find");
    CHECK(!labels_define(&labels, bytes_of("name5"), 1, 9, &err) && err.code == BASE_NAME_TWICE,
          "labels: twice");
    labels_free(&labels);
}

static void test_suggestions(void)
{
    /* clang-format off */
    static const struct { const char *word, *best; } rows[] = {
        {"inspct", "inspect"}, {"vlaidate", "validate"}, {"RUN", "run"}, {"xyzzy", NULL}, {"", NULL}};
    /* clang-format on */
    static const char *const words[] = {"inspect", "validate", "run", "hex"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct suggest s = {.word = bytes_of(rows[i].word)};
        for (size_t k = 0; k < 4; k++) suggest_offer(&s, words[k]);
        CHECK(rows[i].best ? s.best && !strcmp(s.best, rows[i].best) : !s.best, "suggest: %s",
              rows[i].word);
    }
}

/* Checks what docs/formats/kblob.md says: the first addresses of seed 0, classification, and
 * reuse. */
static void test_device_memory(void)
{
    struct kblob_memory m = {0};
    uint64_t a = kblob_memory_alloc(&m, 16), b = kblob_memory_alloc(&m, 1),
             c = kblob_memory_alloc(&m, 8);
    CHECK(a == UINT64_C(0xA8397B1DC000) && b == UINT64_C(0x9E6AA1B96000) &&
              c == UINT64_C(0x5D1880094000),
          "alloc: addresses of seed 0");
    CHECK(!kblob_memory_alloc(&m, 0) && !kblob_memory_alloc(&m, (UINT64_C(1) << 30) + 1),
          "alloc: sizes");
    CHECK(kblob_memory_classify(&m, a + 15, 1) == KBLOB_FAULT_NONE, "classify: last byte");
    CHECK(kblob_memory_classify(&m, a + 15, 2) == KBLOB_FAULT_OUT_OF_BOUNDS, "classify: over");
    CHECK(kblob_memory_classify(&m, a + 8, UINT64_MAX) == KBLOB_FAULT_OUT_OF_BOUNDS,
          "classify: wrap");
    CHECK(kblob_memory_classify(&m, 0, 1) == KBLOB_FAULT_NULL, "classify: null");
    CHECK(kblob_memory_classify(&m, a + 16, 1) == KBLOB_FAULT_UNMAPPED, "classify: unmapped");
    CHECK(!kblob_memory_release(&m, a + 1) && kblob_memory_release(&m, a), "release: base only");
    CHECK(kblob_memory_classify(&m, a + 3, 1) == KBLOB_FAULT_USE_AFTER_FREE, "classify: freed");
    CHECK(!kblob_memory_release(&m, a), "release: twice");
    CHECK(!kblob_memory_alloc_at(&m, b, 1) &&
              !kblob_memory_alloc_at(&m, (UINT64_C(1) << 48) - 1, 2) &&
              kblob_memory_alloc_at(&m, (UINT64_C(1) << 48) - 1, 1),
          "alloc_at: bounds");
    kblob_memory_free(&m);
}

/* Checks that mistakes of a caller of the library give an error, not a crash. */
static void test_machine_states(void)
{
    static const uint8_t blob[] = {0x05, 0xb1, 0x05, 0xb1, 1, 0, 0, 0, 16, 0, 0, 0, 2, 0, 0, 0,
                                   7,    0,    0,    0,    0, 0, 0, 0, 0,  0, 0, 0, 5, 0, 0, 0,
                                   8,    0,    0,    0,    0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0};
    penta_error err = {0};
    penta_option unknown = {"warp", "9"}, map = {"map", "0x1000:4096"};
    CHECK(!penta_open((penta_bytes){blob, sizeof blob}, NULL, &unknown, 1, &err) &&
              err.code == BASE_OPTION,
          "penta_open: unknown option");
    penta_module *module = penta_open((penta_bytes){blob, sizeof blob}, NULL, NULL, 0, &err);
    CHECK(module && !penta_vm_new(module, "warp", NULL, 0, NULL, &err) &&
              err.code == BASE_OPTION_VALUE,
          "penta_vm_new: unknown engine");
    penta_vm *vm = penta_vm_new(module, NULL, &map, 1, NULL, &err);
    penta_stop stop;
    uint64_t slept = 5, one = 1;
    CHECK(!penta_vm_answer(vm, &slept, 1, &err) && err.code == BASE_STATE, "answer: none waits");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && stop.args[0] == 5 && stop.steps == 1, "run: host stop");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && stop.steps == 0, "run: still asks");
    penta_buffer saved = {0};
    CHECK(penta_vm_save(vm, &saved, &err), "save: while it asks");
    CHECK(penta_vm_answer(vm, &slept, 1, &err), "answer: the sleep");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && stop.steps == 1, "run: halt");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && stop.steps == 0, "run: halt again");
    CHECK(penta_vm_load(vm, view_of(&saved), &err), "load: back to the question");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST, "run: asks again");
    CHECK(!penta_vm_load(vm, bytes_of("nonsense"), &err) && err.code == BASE_SNAPSHOT,
          "load: nonsense");
    saved.data[4] ^= 1;
    CHECK(!penta_vm_load(vm, view_of(&saved), &err) && err.code == BASE_SNAPSHOT,
          "load: another program");
    CHECK(!penta_vm_peek(vm, 0x1fff, &one, 2) && penta_vm_poke(vm, 0x1ff8, &one, 8),
          "peek: bounds");
    CHECK(!penta_vm_mark(vm, 2, true) && penta_vm_mark(vm, 1, true), "mark: bounds");
    penta_buffer_free(&saved);
    penta_vm_free(vm);
    penta_close(module);
    struct map_option parsed;
    err = (penta_error){0};
    CHECK(map_option_parse("0x10:2K:ro", &parsed, &err) && parsed.length == 2048 &&
              parsed.read_only,
          "map: ro");
    CHECK(!map_option_parse("0x10", &parsed, &err) && err.code == BASE_OPTION_VALUE,
          "map: no length");
}

/* Tests RFC 6979, appendix A.2.5: P-256 with SHA-256 over two messages. Of the signature of
 * "sample" it has the low form, which is what penta writes. */
static void test_deterministic_ecdsa(void)
{
    static const char pem[] =
        "-----BEGIN EC PRIVATE KEY-----\n"
        "MDECAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49AwEH\n"
        "-----END EC PRIVATE KEY-----\n";
    static const struct {
        const char *message, *signature;
        /* clang-format off */
    } rows[] = {
        {"sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
                   "0834E36AD29A83BF2BC9385E491D6099C8FDF9D1ED67AA7EA5F51F93782857A9"},
        {"test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367"
                 "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"},
    };
    /* clang-format on */
    penta_error err = {0};
    struct private_key *key = key_private_read(bytes_of(pem), BASE_BUG, &err);
    CHECK(key != NULL, "ecdsa: %s", err.message);
    for (size_t i = 0; key && i < sizeof rows / sizeof *rows; i++) {
        uint8_t made[64], changed[64];
        struct writer signature = writer_into(made, sizeof made);
        size_t size = 0;
        uint8_t *want = hex_parse(bytes_of(rows[i].signature), &size, NULL);
        bool ok = sign_message(key, bytes_of(rows[i].message), &signature, &err);
        CHECK(ok && size == 64 && !memcmp(made, want, 64), "ecdsa: %s", rows[i].message);
        penta_bytes message = bytes_of(rows[i].message);
        CHECK(sign_check(key_public_of(key), message, (penta_bytes){made, 64}) == VERDICT_GOOD,
              "ecdsa: verify");
        CHECK(sign_check(key_public_of(key), message, (penta_bytes){made, 63}) == VERDICT_WRONG,
              "ecdsa: short");
        memcpy(changed, made, 64);
        memset(changed, 0, 32);
        CHECK(sign_check(key_public_of(key), message, (penta_bytes){changed, 64}) == VERDICT_WRONG,
              "ecdsa: r = 0");
        memcpy(changed, made, 64);
        memset(changed + 32, 0, 32);
        CHECK(sign_check(key_public_of(key), message, (penta_bytes){changed, 64}) == VERDICT_WRONG,
              "ecdsa: s = 0");
        free(want);
    }
    key_private_free(key);
}

/* Checks that weak raw keys are refused. */
static void test_weak_keys(void)
{
    static const char *const weak[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };
    struct public_key key;
    const char *why = NULL;
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++) {
        size_t size = 0;
        uint8_t *raw = hex_parse(bytes_of(weak[i]), &size, NULL);
        CHECK(!key_public_raw(KEY_ED25519, (penta_bytes){raw, size}, &key, &why), "small order: %s",
              weak[i]);
        free(raw);
    }
    static const char *const beside[] = {
        "0200000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000001",
        "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "efffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7e",
    };
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        size_t size = 0;
        uint8_t *raw = hex_parse(bytes_of(beside[i]), &size, NULL);
        CHECK(key_public_raw(KEY_ED25519, (penta_bytes){raw, size}, &key, &why), "other order: %s",
              beside[i]);
        free(raw);
    }
    uint8_t p256[65] = {4}, rsa[260] = {0x80};
    p256[64] = 5;
    CHECK(!key_public_raw(KEY_P256, (penta_bytes){p256, 65}, &key, &why), "p256: off the curve");
    p256[0] = 2;
    CHECK(!key_public_raw(KEY_P256, (penta_bytes){p256, 65}, &key, &why), "p256: compressed");
    rsa[255] = 1;
    rsa[257] = rsa[259] = 1; /* The exponent is 65537. */
    CHECK(key_public_raw(KEY_RSA2048, (penta_bytes){rsa, 260}, &key, &why), "rsa: 2048 bits");
    rsa[259] = 0;
    CHECK(!key_public_raw(KEY_RSA2048, (penta_bytes){rsa, 260}, &key, &why), "rsa: even exponent");
    rsa[257] = 0, rsa[259] = 3;
    CHECK(!key_public_raw(KEY_RSA2048, (penta_bytes){rsa, 260}, &key, &why), "rsa: exponent 3");
    rsa[257] = rsa[259] = 1, rsa[0] = 0x40;
    CHECK(!key_public_raw(KEY_RSA2048, (penta_bytes){rsa, 260}, &key, &why), "rsa: 2047 bits");
    rsa[0] = 0x80, rsa[255] = 2;
    CHECK(!key_public_raw(KEY_RSA2048, (penta_bytes){rsa, 260}, &key, &why), "rsa: even modulus");
}

static bool delta_makes(penta_bytes old, penta_bytes new, size_t size)
{
    struct writer delta = {0}, made = {0};
    delta_write(old, new, &delta);
    bool ok = delta_apply(old, writer_view(&delta), &made) && delta.out.size == size &&
              bytes_equal(writer_view(&made), new);
    writer_free(&delta);
    writer_free(&made);
    return ok;
}

/* Checks that strings end where their size says. The bytes after them in memory are the same in
 * both. */
static void test_delta(void)
{
    uint8_t old[200], new[200];
    for (int i = 0; i < 200; i++) old[i] = new[i] = (uint8_t)i;
#define DELTA(olds, news, size)                                                                    \
    CHECK(delta_makes((penta_bytes){old, olds}, (penta_bytes){new, news}, size), "delta: %s", #olds)
    DELTA(100, 100, 0);
    DELTA(100, 103, 24 + 3);
    DELTA(103, 100, 24);
    DELTA(0, 4, 24 + 4);
    DELTA(4, 0, 24);
    new[10] = 99;
    DELTA(100, 100, 24 + 1);
    DELTA(100, 101, 24 + 91); /* Records of another size are one change from the first to the
                               * last. */
    new[42] = 98;             /* The equal bytes in between are as long as another record. */
    DELTA(100, 100, 24 + 33);
    new[42] = old[42], new[43] = 98;
    DELTA(100, 100, 24 + 1 + 24 + 1);
    new[199] = 97, new[0] = 96;
    DELTA(200, 200, 3 * 24 + 11 + 1 + 1);
#undef DELTA
    uint8_t wrong[][24] = {{0}, {101}, {0, 0, 0, 0, 0, 0, 0, 0, 101}};
    wrong[0][16] = 1;
    struct writer out = {0};
    for (int i = 0; i < 3; i++)
        CHECK(!delta_apply((penta_bytes){old, 100}, (penta_bytes){wrong[i], 24}, &out),
              "delta: one that fits no string");
    CHECK(!delta_apply((penta_bytes){old, 100}, (penta_bytes){wrong[1], 23}, &out),
          "delta: half a record");
    uint8_t full[25] = {0};
    full[16] = 1, full[24] = 7;
    out.out.size = 0;
    CHECK(delta_apply((penta_bytes){old, 2}, (penta_bytes){full, 25}, &out) && out.out.size == 3 &&
              out.out.data[0] == 7,
          "delta: a byte is added in front");
    full[16] = 2;
    CHECK(!delta_apply((penta_bytes){old, 2}, (penta_bytes){full, 25}, &out),
          "delta: more bytes than there are");
    writer_free(&out);
}

/* Compares the features of the processor with the compiler's own answers. */
static void test_processor(void)
{
#ifdef __x86_64__
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vnni");
    const struct {
        unsigned ability;
        bool has;
    } rows[] = {{PROCESSOR_POPCNT, __builtin_cpu_supports("popcnt")},
                {PROCESSOR_BMI, __builtin_cpu_supports("bmi")},
                {PROCESSOR_BMI2, __builtin_cpu_supports("bmi2")},
                {PROCESSOR_AVX2, __builtin_cpu_supports("avx2")},
                {PROCESSOR_AVX512, avx512}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(processor_has(rows[i].ability) == rows[i].has, "processor: one ability");
        CHECK(processor_has(PROCESSOR_POPCNT | rows[i].ability) == (rows[0].has && rows[i].has),
              "processor: two abilities");
    }
#else
    CHECK(!processor_has(PROCESSOR_AVX2), "processor: AVX2");
#endif
    CHECK(processor_has(0), "processor: nothing asked");
}

static void test_missing_parts(void)
{
    CHECK(!missing_part(), "missing: nothing was refused");
    CHECK(!missing_refuse("machines") && !missing_refuse("crypto"), "missing: refuses");
    const char *part = missing_part();
    CHECK(part && !strcmp(part, "machines"), "missing: the first counts");
    CHECK(!missing_part(), "missing: it is asked once");
}

int main(void)
{
    test_processor();
    test_missing_parts();
    test_delta();
    test_deterministic_ecdsa();
    test_weak_keys();
    test_numbers();
    test_arrays();
    test_bytes_equal();
    test_json_reader();
    test_json_writer();
    test_sanitizer();
    test_colours_of_a_file_are_not_ours();
    test_reader();
    test_expressions();
    test_suggestions();
    test_device_memory();
    test_machine_states();
    return checks_end();
}
