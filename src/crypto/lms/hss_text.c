/* Writes and reads the text form of private HSS keys (hss.h). Relies on base64. The sum at the
 * end finds damage: a digit that changed in the next place could make a key sign twice with one
 * place. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/codec/base64.h"
#include "base/reader.h"
#include "crypto/lms/hss.h"
#include "crypto/pem.h"

enum { SUM_BYTES = 8, VERSION = 1 };

static void hss_key_bytes(const struct hss_key *key, struct writer *w)
{
    uint8_t sum[HASH_BYTES];
    w->big_endian = true;
    writer_bytes(w, "HSSK", 4);
    writer_uint(w, VERSION, 4);
    writer_uint(w, key->levels, 4);
    for (unsigned i = 0; i < key->levels; i++) {
        writer_uint(w, key->p[i].tree, 4);
        writer_uint(w, key->p[i].ots, 4);
    }
    writer_bytes(w, key->id, LMS_ID);
    writer_bytes(w, key->seed, key->p[0].hash);
    writer_uint(w, key->first, 8);
    writer_uint(w, key->next, 8);
    writer_uint(w, key->end, 8);
    writer_uint(w, key->crowns_at, 8);
    writer_bytes(w, key->crowns, key->crowns_size);
    hash_sha256(writer_view(w), sum);
    writer_bytes(w, sum, SUM_BYTES);
}

void hss_key_pem(const struct hss_key *key, struct writer *out)
{
    struct writer w = {0};
    hss_key_bytes(key, &w);
    out->failed |= w.failed;
    pem_write(out, HSS_PEM_NAME, writer_view(&w));
    if (w.out.data) secret_wipe(w.out.data, w.out.capacity);
    writer_free(&w);
}

/* Reads the fields before the seed. Returns why they are wrong, or NULL. */
static const char *hss_head_read(struct reader *r, struct hss_key *key)
{
    const uint8_t *magic = reader_take(r, 4);
    uint64_t version = reader_uint(r, 4), bits = 0;
    uint64_t levels = reader_uint(r, 4);
    if (!magic || memcmp(magic, "HSSK", 4)) return "not a private HSS key";
    if (version != VERSION) return "a private HSS key of a later version";
    if (!levels || levels > HSS_LEVELS_MAX)
        return "a private HSS key with a wrong number of levels";
    for (key->levels = 0; key->levels < levels; key->levels++) {
        struct lms_parameters *p = &key->p[key->levels];
        uint32_t tree = (uint32_t)reader_uint(r, 4), ots = (uint32_t)reader_uint(r, 4);
        if (!lms_parameters_find(tree, ots, p)) return "a private HSS key of unknown types";
        bits += p->height;
    }
    return bits > 60 ? "a private HSS key with too many places" : NULL;
}

static const char *hss_body_read(struct reader *r, struct hss_key *key)
{
    const uint8_t *id = reader_take(r, LMS_ID), *seed = reader_take(r, key->p[0].hash);
    if (id) memcpy(key->id, id, LMS_ID);
    if (seed) memcpy(key->seed, seed, key->p[0].hash);
    key->first = reader_uint(r, 8);
    key->next = reader_uint(r, 8);
    key->end = reader_uint(r, 8);
    key->crowns_at = reader_uint(r, 8);
    key->crowns_size = 0;
    for (unsigned i = 0; i < key->levels; i++) key->crowns_size += lms_crown_size(&key->p[i]);
    const uint8_t *crowns = reader_take(r, key->crowns_size);
    if (!crowns || r->in.size - r->pos != SUM_BYTES) return "a private HSS key of the wrong size";
    if (key->first > key->next || key->next > key->end || key->end > hss_places(key) ||
        key->crowns_at >= hss_places(key))
        return "a private HSS key with a wrong range";
    key->crowns = malloc(key->crowns_size);
    if (key->crowns) memcpy(key->crowns, crowns, key->crowns_size);
    return NULL;
}

bool hss_key_read(penta_bytes pem, struct hss_key *key, uint32_t rule, penta_error *err)
{
    struct writer w = {0};
    penta_error damaged = {0};
    *key = (struct hss_key){0};
    const char *why = "not a private HSS key in PEM form";
    if (pem_read(pem, HSS_PEM_NAME, &w)) {
        struct reader r = {.in = writer_view(&w), .big_endian = true, .err = &damaged};
        uint8_t sum[HASH_BYTES];
        size_t size = r.in.size < SUM_BYTES ? 0 : r.in.size - SUM_BYTES;
        hash_sha256(bytes_slice(r.in, 0, size), sum);
        if (!size || memcmp(sum, r.in.data + size, SUM_BYTES))
            why = "a damaged private HSS key: its sum is wrong";
        else if (!(why = hss_head_read(&r, key)))
            why = hss_body_read(&r, key);
    }
    if (w.out.data) secret_wipe(w.out.data, w.out.capacity);
    bool memory = w.failed || (!why && !key->crowns);
    writer_free(&w);
    if (!why && !memory) return true;
    hss_key_free(key);
    return memory ? error_at(err, BASE_MEMORY, 0, "no memory for a key")
                  : error_at(err, rule, 0, "%s", why);
}
