/* Reads keys as text, and LMS signatures. The first byte chooses what the other bytes are. A key
 * that is read is written and read again, and must give the same bytes. No signature is right,
 * because nobody has signed. */
#include "fuzz.h"
#include "crypto/lms/hss.h"
#include "crypto/pem.h"
#include "crypto/sign.h"

static void public_text(penta_bytes text)
{
    struct public_key key, again;
    struct writer pem = {0};
    penta_error err = {0};
    if (!key_public_read(text, &key, 1, &err)) {
        CHECK(err.code);
        return;
    }
    CHECK(key_public_fits(key.type, (penta_bytes){key.bytes, key.size}));
    key_public_pem(&key, &pem);
    CHECK(key_public_read(writer_view(&pem), &again, 1, &err));
    CHECK(again.type == key.type && again.size == key.size &&
          !memcmp(again.bytes, key.bytes, key.size));
    writer_free(&pem);
}

static void private_text(penta_bytes text)
{
    penta_error err = {0};
    struct private_key *key = key_private_read(text, 1, &err);
    CHECK(!key == !!err.code);
    if (key) {
        struct writer signature = {0};
        CHECK(key_private_left(key) == UINT64_MAX || !sign_message(key, text, &signature, &err));
        writer_free(&signature);
    }
    key_private_free(key);
}

/* Reads a binary private key. Its checksum is corrected, so that the bytes after it are also
 * read. */
static void private_bytes(penta_bytes in)
{
    struct writer bytes = {0}, pem = {0}, again = {0};
    uint8_t sum[HASH_BYTES];
    struct hss_key key;
    penta_error err = {0};
    writer_bytes(&bytes, in.data, in.size);
    hash_sha256(in, sum);
    writer_bytes(&bytes, sum, 8);
    pem_write(&pem, HSS_PEM_NAME, writer_view(&bytes));
    if (hss_key_read(writer_view(&pem), &key, 1, &err)) {
        hss_key_pem(&key, &again);
        CHECK(again.out.size == pem.out.size &&
              !memcmp(again.out.data, pem.out.data, pem.out.size));
        hss_key_free(&key);
    } else {
        CHECK(err.code);
    }
    writer_free(&bytes);
    writer_free(&pem);
    writer_free(&again);
}

/* Reads a public key and a signature under it. */
static void signature_bytes(penta_bytes in)
{
    size_t size = in.size && in.data[0] & 1 ? 52 : 60;
    penta_bytes key = bytes_slice(in, 1, size), signature = bytes_slice(in, 1 + size, in.size);
    size_t extent = hss_signature_size(signature);
    CHECK(extent <= signature.size);
    CHECK(hss_check(key, in, signature) == VERDICT_WRONG);
    CHECK(lms_check(bytes_slice(key, 4, key.size), in, bytes_slice(signature, 4, signature.size)) ==
          VERDICT_WRONG);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    if (!size) return;
    penta_bytes rest = {data + 1, size - 1};
    switch (data[0] & 3) {
    case 0: public_text(rest); break;
    case 1: private_text(rest); break;
    case 2: private_bytes(rest); break;
    default: signature_bytes(rest);
    }
}
