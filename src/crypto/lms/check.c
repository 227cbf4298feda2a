/* Verifies LMS and HSS signatures (RFC 8554, 4.6, 5.4 and 6.3). Sizes follow from the types that
 * a signature names, and a signature is read only when it has exactly that size. */
#include <string.h>
#include "base/bytes.h"
#include "crypto/lms/lms.h"

void lms_hash(const uint8_t id[LMS_ID], uint32_t number, enum lms_purpose purpose, penta_bytes a,
              penta_bytes b, uint8_t out[LMS_HASH_MAX])
{
    uint8_t start[LMS_ID + 6];
    memcpy(start, id, LMS_ID);
    bytes_put_big(start + LMS_ID, number, 4);
    bytes_put_big(start + LMS_ID + 4, purpose, 2);
    penta_bytes pieces[] = {{start, sizeof start}, a, b};
    hash_sha256_pieces(pieces, 3, out);
}

void lms_chain(const struct lms_parameters *p, const uint8_t id[LMS_ID], uint32_t q, unsigned chain,
               unsigned from, unsigned to, uint8_t value[LMS_HASH_MAX])
{
    uint8_t block[LMS_ID + 7 + LMS_HASH_MAX];
    memcpy(block, id, LMS_ID);
    bytes_put_big(block + LMS_ID, q, 4);
    bytes_put_big(block + LMS_ID + 4, chain, 2);
    for (unsigned step = from; step < to; step++) {
        block[LMS_ID + 6] = (uint8_t)step;
        memcpy(block + LMS_ID + 7, value, p->hash);
        hash_sha256((penta_bytes){block, LMS_ID + 7 + p->hash}, value);
    }
}

void lms_digits(const struct lms_parameters *p, const uint8_t hash[LMS_HASH_MAX],
                uint8_t digits[LMS_CHAINS_MAX])
{
    uint8_t bytes[LMS_HASH_MAX + 2];
    unsigned count = p->hash * 8 / p->digit, sum = 0;
    memcpy(bytes, hash, p->hash);
    for (unsigned i = 0; i < p->chains; i++) {
        if (i == count) bytes_put_big(bytes + p->hash, sum << p->shift, 2);
        unsigned bit = i * p->digit;
        digits[i] = (uint8_t)(bytes[bit / 8] >> (8 - p->digit - bit % 8) & lms_steps(p));
        if (i < count) sum += lms_steps(p) - digits[i];
    }
}

/* A struct lms_part is a public key or a signature whose types, and so its size, are known. */
struct lms_part {
    struct lms_parameters p;
    const uint8_t *bytes;
    size_t size;
};

/* Reads an LMS public key at the start of the bytes. */
static bool lms_public_take(penta_bytes in, struct lms_part *out)
{
    if (in.size < 8 || !lms_parameters_find((uint32_t)bytes_uint(in.data, 4, true),
                                            (uint32_t)bytes_uint(in.data + 4, 4, true), &out->p))
        return false;
    out->bytes = in.data;
    out->size = lms_public_size(&out->p);
    return out->size <= in.size;
}

/* Reads an LMS signature at the start of the bytes. It names the one-time type first and the
 * type of the tree after the chains, so both types are needed to know where the second one is. */
static bool lms_signature_take(penta_bytes in, struct lms_part *out)
{
    if (in.size < 8) return false;
    uint32_t ots = (uint32_t)bytes_uint(in.data + 4, 4, true);
    size_t at = 0; /* the offset of the type of the tree */
#define LMS_OTS(type, name, hash_bytes, bits, count, left)                                         \
    if (ots == (type)) at = 8 + (size_t)(1 + (count)) * (hash_bytes);
#include "crypto/lms/lms.def"
    if (!at || in.size < at + 4 ||
        !lms_parameters_find((uint32_t)bytes_uint(in.data + at, 4, true), ots, &out->p))
        return false;
    out->bytes = in.data;
    out->size = lms_signature_size(&out->p);
    return out->size <= in.size;
}

/* Computes the root of the tree from a signature. Returns false when the tree has no leaf with
 * the number in the signature. */
static bool signature_root(const struct lms_part *s, const uint8_t id[LMS_ID], penta_bytes message,
                           uint8_t root[LMS_HASH_MAX])
{
    const struct lms_parameters *p = &s->p;
    uint32_t q = (uint32_t)bytes_uint(s->bytes, 4, true);
    if (q >> p->height) return false;
    const uint8_t *random = s->bytes + 8, *chains = random + p->hash;
    const uint8_t *path = chains + (size_t)p->chains * p->hash + 4;
    uint8_t digits[LMS_CHAINS_MAX], ends[LMS_CHAINS_MAX * LMS_HASH_MAX], value[LMS_HASH_MAX];
    lms_hash(id, q, LMS_MESSAGE, (penta_bytes){random, p->hash}, message, value);
    lms_digits(p, value, digits);
    for (unsigned i = 0; i < p->chains; i++) {
        memcpy(value, chains + (size_t)i * p->hash, p->hash);
        lms_chain(p, id, q, i, digits[i], lms_steps(p), value);
        memcpy(ends + (size_t)i * p->hash, value, p->hash);
    }
    const penta_bytes none = {0};
    lms_hash(id, q, LMS_KEY, (penta_bytes){ends, (size_t)p->chains * p->hash}, none, value);
    uint32_t node = (1u << p->height) + q;
    lms_hash(id, node, LMS_LEAF, (penta_bytes){value, p->hash}, none, root);
    for (; node > 1; node /= 2, path += p->hash) {
        penta_bytes here = {root, p->hash}, other = {path, p->hash};
        lms_hash(id, node / 2, LMS_NODE, node & 1 ? other : here, node & 1 ? here : other, root);
    }
    return true;
}

static bool lms_parts_fit(const struct lms_part *key, const struct lms_part *signature,
                          penta_bytes message)
{
    uint8_t root[LMS_HASH_MAX];
    return key->p.tree == signature->p.tree && key->p.ots == signature->p.ots &&
           signature_root(signature, key->bytes + 8, message, root) &&
           !memcmp(root, key->bytes + 8 + LMS_ID, key->p.hash);
}

enum verdict lms_check(penta_bytes key, penta_bytes message, penta_bytes signature)
{
    struct lms_part k, s;
    return lms_public_take(key, &k) && k.size == key.size && lms_signature_take(signature, &s) &&
                   s.size == signature.size && lms_parts_fit(&k, &s, message)
               ? VERDICT_GOOD
               : VERDICT_WRONG;
}

static penta_bytes bytes_after(penta_bytes in, size_t n) { return bytes_slice(in, n, in.size); }

/* Walks over the levels of a signature. With a key, each level is checked; the key of the next
 * level is in the signature. Returns the size of the signature, or 0 when it is malformed or,
 * with a key, wrong. */
static size_t hss_walk(const struct lms_part *key, uint64_t levels, penta_bytes message,
                       penta_bytes signature)
{
    struct lms_part k, s, next;
    penta_bytes rest = bytes_after(signature, 4);
    k = key ? *key : (struct lms_part){0};
    for (uint64_t level = 1; level <= levels; level++) {
        if (!lms_signature_take(rest, &s)) return 0;
        rest = bytes_after(rest, s.size);
        bool last = level == levels;
        if (!last && !lms_public_take(rest, &next)) return 0;
        penta_bytes what = last ? message : (penta_bytes){next.bytes, next.size};
        if (key && !lms_parts_fit(&k, &s, what)) return 0;
        if (last) break;
        rest = bytes_after(rest, next.size);
        k = next;
    }
    return signature.size - rest.size;
}

static uint64_t hss_levels(penta_bytes signature)
{
    uint64_t levels = signature.size < 4 ? 0 : bytes_uint(signature.data, 4, true) + 1;
    return levels > HSS_LEVELS_MAX ? 0 : levels;
}

size_t hss_signature_size(penta_bytes bytes)
{
    uint64_t levels = hss_levels(bytes);
    return levels ? hss_walk(NULL, levels, (penta_bytes){0}, bytes) : 0;
}

const char *hss_public_flaw(penta_bytes key)
{
    struct lms_part part;
    if (key.size < 4) return "the key has the wrong size";
    uint64_t levels = bytes_uint(key.data, 4, true);
    if (!levels || levels > HSS_LEVELS_MAX) return "an HSS key has 1 to 8 levels";
    if (!lms_public_take(bytes_after(key, 4), &part))
        return "the LMS types of the key are not known, or the key is too short";
    return part.size + 4 != key.size ? "the key has the wrong size" : NULL;
}

enum verdict hss_check(penta_bytes key, penta_bytes message, penta_bytes signature)
{
    struct lms_part top;
    if (hss_public_flaw(key) || !lms_public_take(bytes_after(key, 4), &top)) return VERDICT_WRONG;
    uint64_t levels = bytes_uint(key.data, 4, true);
    bool good = hss_levels(signature) == levels &&
                hss_walk(&top, levels, message, signature) == signature.size;
    return good ? VERDICT_GOOD : VERDICT_WRONG;
}
