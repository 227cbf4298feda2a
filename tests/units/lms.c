/* Tests LMS and HSS signatures: every parameter set of height 5 signs and verifies, keys of
 * several levels go from tree to tree, changed bytes are refused, and the text form of a key
 * gives the key back. The argument is a folder with vectors of verification and of key
 * generation (docs/vectors.md), or absent. */
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/json/json_read.h"
#include "base/number.h"
#include "crypto/lms/hss.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const penta_bytes text = {(const uint8_t *)"a text to sign", 14};

static void key_new(struct hss_key *key, const char *parameters)
{
    penta_error err = {0};
    uint8_t seed[LMS_HASH_MAX], id[LMS_ID];
    for (unsigned i = 0; i < sizeof seed; i++) seed[i] = (uint8_t)(i * 7 + 1);
    for (unsigned i = 0; i < sizeof id; i++) id[i] = (uint8_t)(i + 100);
    *key = (struct hss_key){0};
    REQUIRE(hss_parameters_read(parameters, key, &err), "%s: %s", parameters, err.message);
    REQUIRE(hss_key_from_seed(key, id, seed, NULL, &err), "%s", err.message);
}

static struct writer signature_at(struct hss_key *key, uint64_t place)
{
    penta_error err = {0};
    struct writer w = {0};
    CHECK(hss_key_prepare(key, place, NULL, &err));
    hss_key_sign(key, place, text, &w);
    CHECK(!w.failed && w.out.size == hss_key_signature_size(key));
    return w;
}

/* Signs with each of the places. A signature must be good only for its text and key. */
static void signs_everywhere(const char *parameters, uint64_t step)
{
    struct hss_key key;
    struct writer public = {0};
    key_new(&key, parameters);
    hss_key_public(&key, &public);
    penta_bytes name = writer_view(&public), other = {text.data, text.size - 1};
    CHECK(!hss_public_flaw(name), "%s", parameters);
    for (uint64_t place = 0; place < hss_places(&key); place += step) {
        struct writer w = signature_at(&key, place);
        CHECK(hss_signature_size(writer_view(&w)) == w.out.size);
        CHECK(hss_check(name, text, writer_view(&w)) == VERDICT_GOOD, "%s at %llu", parameters,
              (unsigned long long)place);
        CHECK(hss_check(name, other, writer_view(&w)) == VERDICT_WRONG);
        writer_free(&w);
    }
    writer_free(&public);
    hss_key_free(&key);
}

/* Checks that a change of any byte, or of the size, of a signature or key is refused. */
static void changes_are_refused(const char *parameters)
{
    struct hss_key key;
    struct writer public = {0};
    key_new(&key, parameters);
    hss_key_public(&key, &public);
    struct writer w = signature_at(&key, hss_places(&key) - 1);
    penta_bytes name = writer_view(&public), signature = writer_view(&w);
    for (size_t i = 0; i < w.out.size; i++) {
        w.out.data[i] ^= 1;
        CHECK(hss_check(name, text, signature) == VERDICT_WRONG, "byte %zu of the signature", i);
        w.out.data[i] ^= 1;
        CHECK(hss_check(name, text, (penta_bytes){signature.data, i}) == VERDICT_WRONG);
    }
    for (size_t i = 0; i < public.out.size; i++) {
        public.out.data[i] ^= 1;
        CHECK(hss_check(name, text, signature) == VERDICT_WRONG, "byte %zu of the key", i);
        public.out.data[i] ^= 1;
        CHECK(hss_public_flaw((penta_bytes){name.data, i}) != NULL);
    }
    CHECK(hss_check(name, text, signature) == VERDICT_GOOD);
    writer_free(&w);
    writer_free(&public);
    hss_key_free(&key);
}

/* Checks that a key that is read again signs the same bytes, and that each damage of the text is
 * found. */
static void text_form(const char *parameters)
{
    struct hss_key key, again;
    struct writer pem = {0}, more = {0};
    penta_error err = {0};
    key_new(&key, parameters);
    key.next = 3;
    hss_key_pem(&key, &pem);
    REQUIRE(hss_key_read(writer_view(&pem), &again, 1, &err), "%s", err.message);
    hss_key_pem(&again, &more);
    CHECK(same_buffer(&pem.out, &more.out) && again.next == 3 && again.end == hss_places(&key));
    struct writer a = signature_at(&key, 30), b = signature_at(&again, 30);
    CHECK(same_buffer(&a.out, &b.out));
    hss_key_free(&again);
    unsigned refused = 0;
    for (size_t i = 0; i < pem.out.size; i++) {
        uint8_t old = pem.out.data[i];
        pem.out.data[i] = old == 'A' ? 'B' : 'A';
        err = (penta_error){0};
        bool read = hss_key_read(writer_view(&pem), &again, 1, &err);
        refused += !read;
        CHECK(read == !err.code && !(read && old != '\n'), "letter %zu", i);
        hss_key_free(&again);
        pem.out.data[i] = old;
    }
    CHECK(refused + 30 > pem.out.size);
    writer_free(&a);
    writer_free(&b);
    writer_free(&pem);
    writer_free(&more);
    hss_key_free(&key);
}

static void parameters_by_name(void)
{
    static const char *const bad[] = {"",          "h10",        "w8",      "h10/w3",
                                      "h11/w8",    "h10/w8/n25", "h10/w8,", "h10/w8/n",
                                      "h10/w8/n3", "h5 /w8",     "h010/w8", "h25/w1,h25/w1,h15/w1"};
    struct hss_key key = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        penta_error err = {0};
        CHECK(!hss_parameters_read(bad[i], &key, &err) && err.code, "'%s'", bad[i]);
    }
    penta_error err = {0};
    CHECK(hss_parameters_read("h25/w1,h25/w2/n24,h10/w4", &key, &err) && key.levels == 3);
    CHECK(hss_places(&key) == UINT64_C(1) << 60);
}

/* Checks the keys of both levels of test case 2 in appendix F of RFC 8554, from identifier and
 * seed to the root. */
static void keys_of_the_rfc(void)
{
    static const struct {
        const char *parameters, *id, *seed, *root;
    } rows[] = {
        {"h10/w4", "d08fabd4a2091ff0a8cb4ed834e74534",
         "558b8966c48ae9cb898b423c83443aae014a72f1b1ab5cc85cf1d892903b5439",
         "32a58885cd9ba0431235466bff9651c6c92124404d45fa53cf161c28f1ad5a8e"},
        {"h5/w8", "215f83b7ccb9acbcd08db97b0d04dc2b",
         "a1c4696e2608035a886100d05cd99945eb3370731884a8235e2fb3d4d71f2547",
         "a1cd035833e0e90059603f26e07ad2aad152338e7a5e5984bcd5f7bb4eba40b7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hss_key key = {0};
        struct writer public = {0};
        penta_error err = {0};
        size_t size;
        uint8_t *id = hex_parse(bytes_of(rows[i].id), &size, &err);
        uint8_t *seed = hex_parse(bytes_of(rows[i].seed), &size, &err);
        uint8_t *root = hex_parse(bytes_of(rows[i].root), &size, &err);
        REQUIRE(id && seed && root && hss_parameters_read(rows[i].parameters, &key, &err));
        CHECK(hss_key_from_seed(&key, id, seed, NULL, &err), "%s", err.message);
        hss_key_public(&key, &public);
        CHECK(public.out.size == 60 && !memcmp(public.out.data + 28, root, 32), "%s",
              rows[i].parameters);
        writer_free(&public);
        hss_key_free(&key);
        free(id);
        free(seed);
        free(root);
    }
}

static penta_bytes hex_member(const struct json_object *v, const char *key)
{
    size_t size = 0;
    uint8_t *bytes = json_as_hex(json_get(v, key), &size);
    REQUIRE(bytes != NULL, "%s", key);
    return (penta_bytes){bytes, size};
}

static void bytes_free(penta_bytes b) { free((void *)(uintptr_t)b.data); }

static void vector_verify(const struct json_object *group, const struct json_object *test)
{
    penta_bytes key = hex_member(group, "publicKey"), message = hex_member(test, "message");
    penta_bytes signature = hex_member(test, "signature");
    enum verdict wanted = json_as_bool(json_get(test, "valid")) ? VERDICT_GOOD : VERDICT_WRONG;
    CHECK(lms_check(key, message, signature) == wanted, "%s: %s",
          json_as_text(json_get(group, "lmots")), json_as_text(json_get(test, "reason")));
    bytes_free(key);
    bytes_free(message);
    bytes_free(signature);
}

static void vector_make(const struct json_object *group, const struct json_object *test)
{
    penta_bytes id = hex_member(test, "i"), seed = hex_member(test, "seed");
    penta_bytes wanted = hex_member(test, "publicKey");
    struct hss_key key = {.levels = 1};
    struct writer public = {0};
    penta_error err = {0};
    REQUIRE(lms_parameters_find((uint32_t)bytes_uint(wanted.data, 4, true),
                                (uint32_t)bytes_uint(wanted.data + 4, 4, true), &key.p[0]));
    REQUIRE(id.size == LMS_ID && seed.size == key.p[0].hash);
    CHECK(hss_key_from_seed(&key, id.data, seed.data, NULL, &err), "%s", err.message);
    hss_key_public(&key, &public);
    CHECK(bytes_equal(bytes_slice(writer_view(&public), 4, public.out.size), wanted), "%s",
          json_as_text(json_get(group, "lmots")));
    writer_free(&public);
    hss_key_free(&key);
    bytes_free(id);
    bytes_free(seed);
    bytes_free(wanted);
}

static void vectors_of(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    penta_error err = {0};
    penta_bytes file = file_of(path);
    struct json_doc *doc = json_parse(file, &err);
    REQUIRE(doc != NULL, "%s: %s", path, err.message);
    const struct json_object *groups = json_root(doc);
    for (size_t i = 0; i < json_length(groups); i++) {
        const struct json_object *group = json_item(groups, i), *tests = json_get(group, "tests");
        CHECK(json_length(tests) > 0);
        for (size_t k = 0; k < json_length(tests); k++) {
            const struct json_object *test = json_item(tests, k);
            if (json_has(test, "seed"))
                vector_make(group, test);
            else
                vector_verify(group, test);
        }
    }
    json_doc_free(doc);
    file_free(file);
}

int main(int argc, char **argv)
{
    static const char *const single[] = {"h5/w1",     "h5/w2",     "h5/w4",     "h5/w8",
                                         "h5/w1/n24", "h5/w2/n24", "h5/w4/n24", "h5/w8/n24"};
    if (argc > 1) {
        vectors_of(argv[1], "verify.json");
        vectors_of(argv[1], "keygen.json");
        return checks_end();
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) signs_everywhere(single[i], 5);
    signs_everywhere("h10/w4", 173);
    signs_everywhere("h5/w4,h5/w2", 31);
    signs_everywhere("h5/w4,h5/w4/n24,h5/w4", 1021);
    changes_are_refused("h5/w8");
    changes_are_refused("h5/w8/n24,h5/w8");
    text_form("h5/w4,h5/w4");
    parameters_by_name();
    keys_of_the_rfc();
    return checks_end();
}
