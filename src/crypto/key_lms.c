/* Reads and writes LMS keys as text. Public keys are a SubjectPublicKeyInfo with the object
 * identifier of RFC 9708, which libcrypto does not know; private keys have penta's own form
 * (lms/hss.h). A text with an Ed25519 key and an LMS key is a key of both kinds. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "crypto/internal.h"
#include "crypto/lms/state.h"
#include "crypto/pem.h"

#define PUBLIC_NAME "PUBLIC KEY"

/* The bytes are SEQUENCE { SEQUENCE { OBJECT IDENTIFIER 1.2.840.113549.1.9.16.3.17 }, BIT STRING
 * { the raw key } }. The two lengths that depend on the key are zeros here. */
enum { OUTER_LENGTH = 1, BITS_LENGTH = 18, INFO_HEAD = 20 };
static const uint8_t info_head[INFO_HEAD] = {0x30, 0,    0x30, 0x0d, 0x06, 0x0b, 0x2a,
                                             0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09,
                                             0x10, 0x03, 0x11, 0x03, 0,    0};

static void info_head_of(size_t raw_size, uint8_t out[INFO_HEAD])
{
    memcpy(out, info_head, INFO_HEAD);
    out[OUTER_LENGTH] = (uint8_t)(INFO_HEAD - 2 + raw_size);
    out[BITS_LENGTH] = (uint8_t)(1 + raw_size);
}

void key_lms_public_pem(penta_bytes raw, struct writer *out)
{
    uint8_t bytes[INFO_HEAD + HSS_PUBLIC_MAX];
    info_head_of(raw.size, bytes);
    bytes_copy(bytes + INFO_HEAD, raw);
    pem_write(out, PUBLIC_NAME, (penta_bytes){bytes, INFO_HEAD + raw.size});
}

/* Returns the raw HSS key in a SubjectPublicKeyInfo, or nothing. RFC 8708 was read as wrapping
 * the key in an OCTET STRING, so that form is read, too. */
static penta_bytes info_key(penta_bytes info)
{
    uint8_t head[INFO_HEAD];
    if (info.size < INFO_HEAD || info.size > INFO_HEAD + HSS_PUBLIC_MAX + 2)
        return (penta_bytes){0};
    info_head_of(info.size - INFO_HEAD, head);
    if (memcmp(info.data, head, INFO_HEAD)) return (penta_bytes){0};
    penta_bytes key = bytes_slice(info, INFO_HEAD, info.size);
    if (key.size > 2 && key.data[0] == 4 && key.data[1] == key.size - 2)
        key = bytes_slice(key, 2, key.size);
    return key;
}

bool key_lms_cut_public(penta_bytes pem, struct public_key *out, struct writer *rest,
                        const char **why)
{
    penta_bytes before, after, all = pem;
    while (pem_around(pem, PUBLIC_NAME, &before, &after)) {
        struct writer info = {0};
        penta_bytes key = {0};
        if (pem_read(pem, PUBLIC_NAME, &info)) key = info_key(writer_view(&info));
        if (key.size) {
            *why = hss_public_flaw(key);
            *out = (struct public_key){.type = KEY_LMS, .size = key.size};
            if (!*why) bytes_copy(out->bytes, key);
            writer_free(&info);
            if (*why) return false;
            writer_bytes(rest, all.data, (size_t)(before.data - all.data) + before.size);
            writer_bytes(rest, after.data, after.size);
            return true;
        }
        writer_free(&info);
        pem = after;
    }
    return false;
}

bool key_lms_cut_private(penta_bytes pem, struct hss_key **out, struct writer *rest, uint32_t rule,
                         penta_error *err)
{
    penta_bytes before, after;
    *out = NULL;
    if (!pem_around(pem, HSS_PEM_NAME, &before, &after)) return false;
    *out = calloc(1, sizeof **out);
    if (!*out) return error_at(err, BASE_MEMORY, 0, "no memory for a key");
    if (!hss_key_read(pem, *out, rule, err)) {
        free(*out);
        *out = NULL;
        return false;
    }
    writer_bytes(rest, before.data, before.size);
    writer_bytes(rest, after.data, after.size);
    return true;
}

/* The rest of the file, such as the Ed25519 half of a key of both kinds, belongs to the new key,
 * too. */
bool key_private_reserve(const char *path, const char *folder, uint64_t count, uint32_t rule,
                         struct writer *pem, penta_error *err)
{
    struct hss_file file = {path, folder, rule};
    struct hss_key part = {0};
    struct writer rest = {0};
    bool ok = hss_file_cut(&file, count, &part, &rest, err);
    writer_append(pem, &rest);
    if (ok) hss_key_pem(&part, pem);
    hss_key_free(&part);
    if (rest.out.data) secret_wipe(rest.out.data, rest.out.capacity);
    writer_free(&rest);
    return ok && writer_ok(pem, err);
}
