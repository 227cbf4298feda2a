/* Makes HSS keys and signs with them (RFC 8554, 6). The trees of lower levels follow from the
 * seed of the topmost one, so a key needs no memory of the trees below it but the crowns of
 * those that sign now. */
#include "crypto/lms/hss.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

/* The places of a key are counted in 64 bits, so all levels together have at most so many. */
enum { LEVEL_BITS_MAX = 60 };

static unsigned hss_height_below(const struct hss_key *key, unsigned level)
{
    unsigned bits = 0;
    for (unsigned i = level; i < key->levels; i++) bits += key->p[i].height;
    return bits;
}

uint64_t hss_places(const struct hss_key *key) { return UINT64_C(1) << hss_height_below(key, 0); }

/* Returns the leaf that leads to a place in the tree of this level. */
static uint32_t place_leaf(const struct hss_key *key, unsigned level, uint64_t place)
{
    place >>= hss_height_below(key, level + 1);
    return (uint32_t)(place & ((UINT64_C(1) << key->p[level].height) - 1));
}

static bool hss_parameters_fail(penta_error *err, penta_bytes word)
{
    error_at(err, BASE_OPTION_VALUE, 0, "'%.*s' names no LMS parameters", BYTES_ARG(word, 40));
    return error_note(
        err, "heights are 5, 10, 15, 20 and 25, digits 1, 2, 4 and 8 bits: h10/w8, or h10/w8/n24 "
             "for hashes of 24 bytes");
}

bool hss_parameters_read(const char *text, struct hss_key *key, penta_error *err)
{
    key->levels = 0;
    for (;;) {
        size_t size = strcspn(text, ",");
        penta_bytes word = {(const uint8_t *)text, size};
        if (key->levels == HSS_LEVELS_MAX)
            return error_at(err, BASE_OPTION_VALUE, 0, "an HSS key has at most %d levels",
                            HSS_LEVELS_MAX);
        if (!lms_parameters_read(word, &key->p[key->levels++]))
            return hss_parameters_fail(err, word);
        if (!text[size]) break;
        text += size + 1;
    }
    if (hss_height_below(key, 0) <= LEVEL_BITS_MAX) return true;
    return error_at(err, BASE_OPTION_VALUE, 0, "the heights add up to more than %d",
                    LEVEL_BITS_MAX);
}

size_t hss_key_signature_size(const struct hss_key *key)
{
    size_t size = 4;
    for (unsigned i = 0; i < key->levels; i++)
        size += lms_signature_size(&key->p[i]) + (i ? lms_public_size(&key->p[i]) : 0);
    return size;
}

static bool hss_crowns_allocate(struct hss_key *key, penta_error *err)
{
    key->crowns_size = 0;
    for (unsigned i = 0; i < key->levels; i++) key->crowns_size += lms_crown_size(&key->p[i]);
    key->crowns = malloc(key->crowns_size);
    return key->crowns || error_at(err, BASE_MEMORY, 0, "no memory for a key");
}

/* Finds the tree of a level that leads to a place, from the topmost tree down. */
static void hss_tree_at(const struct hss_key *key, unsigned level, uint64_t place,
                        struct lms_tree *out)
{
    out->p = key->p[0];
    memcpy(out->id, key->id, LMS_ID);
    memcpy(out->seed, key->seed, sizeof out->seed);
    for (unsigned i = 0; i < level; i++) {
        struct lms_tree parent = *out;
        lms_tree_below(&parent, place_leaf(key, i, place), &key->p[i + 1], out);
        secret_wipe(&parent, sizeof parent);
    }
}

/* Computes the crowns of the trees from level `from` on. */
static bool hss_crowns_make(struct hss_key *key, unsigned from, uint64_t place,
                            struct long_work *work, penta_error *err)
{
    struct lms_tree tree;
    uint8_t *crown = key->crowns;
    bool ok = true;
    for (unsigned i = 0; ok && i < key->levels; crown += lms_crown_size(&key->p[i++])) {
        if (i < from) continue;
        hss_tree_at(key, i, place, &tree);
        ok = lms_tree_crown(&tree, crown, work);
    }
    secret_wipe(&tree, sizeof tree);
    key->crowns_at = place;
    return ok || error_at(err, BASE_LIMIT, 0, "making the key was ended");
}

bool hss_key_prepare(struct hss_key *key, uint64_t place, struct long_work *work, penta_error *err)
{
    unsigned same = 1; /* how many trees lead to both places; the topmost one always does */
    while (same < key->levels && !((place ^ key->crowns_at) >> hss_height_below(key, same))) same++;
    if (same == key->levels) {
        key->crowns_at = place;
        return true;
    }
    return hss_crowns_make(key, same, place, work, err);
}

bool hss_key_from_seed(struct hss_key *key, const uint8_t *id, const uint8_t *seed,
                       struct long_work *work, penta_error *err)
{
    memcpy(key->id, id, LMS_ID);
    memset(key->seed, 0, sizeof key->seed);
    memcpy(key->seed, seed, key->p[0].hash);
    key->first = key->next = 0;
    key->end = hss_places(key);
    return hss_crowns_allocate(key, err) && hss_crowns_make(key, 0, 0, work, err);
}

bool hss_key_make(struct hss_key *key, struct long_work *work, penta_error *err)
{
    uint8_t id[LMS_ID], seed[LMS_HASH_MAX];
    bool ok = random_bytes(id, sizeof id) && random_bytes(seed, sizeof seed);
    ok = ok ? hss_key_from_seed(key, id, seed, work, err)
            : error_at(err, BASE_MEMORY, 0, "the system has no random bytes for a key");
    secret_wipe(seed, sizeof seed);
    return ok;
}

bool hss_key_copy(const struct hss_key *from, struct hss_key *to, penta_error *err)
{
    *to = *from;
    if (!hss_crowns_allocate(to, err)) return false;
    memcpy(to->crowns, from->crowns, to->crowns_size);
    return true;
}

void hss_key_sign(const struct hss_key *key, uint64_t place, penta_bytes message,
                  struct writer *out)
{
    uint8_t number[4];
    struct lms_tree tree, next;
    const uint8_t *crown = key->crowns;
    bytes_put_big(number, key->levels - 1, 4);
    writer_bytes(out, number, 4);
    hss_tree_at(key, 0, place, &tree);
    for (unsigned i = 0; i < key->levels; i++, tree = next) {
        const uint8_t *below = crown + lms_crown_size(&key->p[i]);
        uint32_t leaf = place_leaf(key, i, place);
        if (i + 1 == key->levels) {
            lms_tree_sign(&tree, crown, leaf, message, out);
            break;
        }
        uint8_t public[LMS_PUBLIC_MAX];
        struct writer w = writer_into(public, sizeof public);
        lms_tree_below(&tree, leaf, &key->p[i + 1], &next);
        lms_tree_public(&next, below, &w);
        lms_tree_sign(&tree, crown, leaf, writer_view(&w), out);
        writer_append(out, &w);
        crown = below;
    }
    secret_wipe(&tree, sizeof tree);
    secret_wipe(&next, sizeof next);
}

void hss_key_public(const struct hss_key *key, struct writer *out)
{
    struct lms_tree tree;
    uint8_t number[4];
    bytes_put_big(number, key->levels, 4);
    writer_bytes(out, number, 4);
    hss_tree_at(key, 0, 0, &tree);
    lms_tree_public(&tree, key->crowns, out);
    secret_wipe(&tree, sizeof tree);
}

void hss_key_free(struct hss_key *key)
{
    free(key->crowns);
    secret_wipe(key, sizeof *key);
    *key = (struct hss_key){0};
}
