/* Opens and writes compressed and encrypted files (TVMR 4.6), and implements the commands seal,
 * open and convert. */
#include "base/file/file.h"
#include "base/number.h"
#include "tvmr/format/weights.h"
#include <stdlib.h>
#include <string.h>

enum { KEY = 32, NONCE = 12, TAG = 16, LZ4_RATIO = 255 };

/* Reads a key from a file of 32 bytes or 64 hex digits. */
static bool read_key(const char *path, uint8_t key[KEY], penta_error *err)
{
    penta_buffer file = {0};
    if (!file_read(path, 4096, &file, err)) return false;
    bool ok = file.size == KEY;
    if (ok) {
        memcpy(key, file.data, KEY);
    } else {
        size_t size = 0;
        uint8_t *bytes = hex_parse((penta_bytes){file.data, file.size}, &size, err);
        ok = bytes && size == KEY;
        if (ok) memcpy(key, bytes, KEY);
        if (bytes) tvmr_wipe(bytes, size);
        free(bytes);
    }
    tvmr_wipe(file.data, file.size);
    penta_buffer_free(&file);
    return ok || error_at(err, BASE_OPTION_VALUE, 0,
                          "key file '%.60s' holds neither 32 bytes nor 64 hex digits", path);
}

static bool envelope_decrypt(struct tvmr_module *m, const char *key_file, penta_bytes *payload,
                             struct writer *plain, penta_error *damage, penta_error *err)
{
    uint8_t key[KEY];
    if (m->stored.size < NONCE + TAG)
        return error_at(damage, TVMR_ENVELOPE, 0x38, "an encrypted payload has 28 bytes or more");
    if (!key_file) {
        error_at(damage, TVMR_KEY, 0x3c, "the file is encrypted");
        return error_note(damage, "give its key with the option 'key-file'");
    }
    if (!read_key(key_file, key, err)) return false;
    writer_fill(plain, 0,
                m->stored.size - NONCE - TAG + 1); /* One byte more, because the buffer must not
                                                    * be empty. */
    plain->out.size--;
    bool ok = writer_ok(plain, err);
    enum verdict verdict = VERDICT_FAILED;
    if (ok)
        verdict = tvmr_cipher_open(key, bytes_slice(m->base.file, 0, tvmr_header_bytes), m->stored,
                                   plain->out.data);
    if (ok && verdict == VERDICT_FAILED) /* The library failed, which tells nothing about the
                                          * file. */
        ok = error_at(err, BASE_MEMORY, 0x3c, "the crypto library failed");
    else if (verdict == VERDICT_WRONG)
        ok = error_at(damage, TVMR_KEY, 0x3c, "the key is wrong, or the file was changed");
    tvmr_wipe(key, sizeof key);
    *payload = writer_view(plain);
    return ok;
}

bool tvmr_envelope_open(struct tvmr_module *m, const char *key_file, penta_error *damage,
                        penta_error *err)
{
    const struct tvmr_envelope_head *e = &m->envelope;
    penta_bytes payload = m->stored;
    struct writer plain = {0};
    if (e->cipher && !envelope_decrypt(m, key_file, &payload, &plain, damage, err)) {
        writer_free(&plain);
        return false;
    }
    bool ok = true;
    if (e->codec ? e->plain_size / LZ4_RATIO > payload.size : e->plain_size != payload.size)
        ok = error_at(damage, TVMR_ENVELOPE, 0x34, "%u bytes cannot come out of %zu", e->plain_size,
                      payload.size);
    writer_bytes(&m->expanded, m->base.file.data, tvmr_header_bytes);
    if (ok && e->codec) {
        writer_fill(&m->expanded, 0, e->plain_size);
        ok = writer_ok(&m->expanded, err) &&
             (tvmr_lz4_expand(payload, m->expanded.out.data + tvmr_header_bytes, e->plain_size) ||
              error_at(damage, TVMR_ENVELOPE, 0x3c, "the payload does not expand to %u bytes",
                       e->plain_size));
    } else if (ok) {
        writer_bytes(&m->expanded, payload.data, payload.size);
        ok = writer_ok(&m->expanded, err);
    }
    writer_free(&plain);
    if (ok) m->image = writer_view(&m->expanded);
    return ok;
}

bool tvmr_envelope_write(struct writer *out, penta_bytes plain, bool compress, const uint8_t *key,
                         const uint8_t *nonce, penta_error *err)
{
    uint8_t header[tvmr_header_bytes];
    memcpy(header, plain.data, sizeof header);
    unsigned flags = (bytes_get16(header + 6) & ~3u) | (compress ? TVMR_COMPRESSED : 0) |
                     (key ? TVMR_ENCRYPTED : 0);
    bytes_put16(header + 6, (uint16_t)flags);
    writer_bytes(out, header, sizeof header);
    penta_bytes content = bytes_slice(plain, sizeof header, plain.size);
    if (content.size > UINT32_MAX)
        return error_at(err, BASE_LIMIT, 0, "the packed form holds less than 4 GiB");
    if (!compress && !key) {
        writer_bytes(out, content.data, content.size);
        return writer_ok(out, err);
    }
    struct writer packed = {0}, sealed = {0};
    penta_bytes payload = content;
    bool ok = true;
    if (compress) {
        ok = tvmr_lz4_pack(content, &packed);
        if (!ok && writer_ok(&packed, err))
            error_at(err, BASE_UNSUPPORTED, 0, "this build cannot compress");
        payload = writer_view(&packed);
    }
    if (ok && key) {
        ok = tvmr_cipher_seal(key, nonce, (penta_bytes){header, sizeof header}, payload, &sealed,
                              err);
        payload = writer_view(&sealed);
    }
    struct tvmr_envelope_head e = {.codec = compress,
                                   .cipher = key != NULL,
                                   .plain_size = (uint32_t)content.size,
                                   .stored_size = (uint32_t)payload.size};
    tvmr_envelope_head_write(out, &e);
    writer_bytes(out, payload.data, payload.size);
    writer_free(&packed);
    writer_free(&sealed);
    return ok && writer_ok(out, err);
}

/* The functions below implement the commands. */

static bool envelope_finish(bool ok, const penta_error *err, struct findings *findings)
{
    if (!ok || err->code) findings_pass(findings, err);
    return ok && !findings->errors;
}

bool tvmr_seal(const penta_module *module, const penta_option *options, size_t count,
               struct writer *out, struct findings *findings)
{
    const struct tvmr_module *m = tvmr_module(module);
    const char *path = option_text(options, count, "key-file");
    const char *text = option_text(options, count, "nonce");
    penta_error err = {0};
    uint8_t key[KEY], *nonce = NULL;
    size_t size = 0;
    bool ok = path ? read_key(path, key, &err)
                   : error_at(&err, BASE_OPTION_VALUE, 0, "sealing needs the option 'key-file'");
    if (ok && text) {
        nonce = hex_parse(bytes_of(text), &size, &err);
        if (!nonce || size != NONCE)
            ok = error_at(&err, BASE_OPTION_VALUE, 0, "the nonce is not 12 bytes of hex");
    }
    bool compress = option_text(options, count, "compress") || (m->header.flags & TVMR_COMPRESSED);
    ok = ok && tvmr_envelope_write(out, m->image, compress, key, nonce, &err);
    tvmr_wipe(key, sizeof key);
    free(nonce);
    return envelope_finish(ok, &err, findings);
}

bool tvmr_unseal(const penta_module *module, const penta_option *options, size_t count,
                 struct writer *out, struct findings *findings)
{
    (void)options, (void)count;
    const struct tvmr_module *m = tvmr_module(module);
    penta_error err = {0};
    bool ok = (m->header.flags & TVMR_ENCRYPTED) ||
              error_at(&err, BASE_STATE, 6, "the file is not sealed");
    ok = ok && tvmr_envelope_write(out, m->image, (m->header.flags & TVMR_COMPRESSED) != 0, NULL,
                                   NULL, &err);
    return envelope_finish(ok, &err, findings);
}

static bool convert_weights(const struct tvmr_module *m, const char *to,
                            const penta_option *options, size_t count, struct writer *out,
                            struct findings *findings)
{
    penta_error err = {0};
    const char *key = option_text(options, count, "entry");
    bool ok = !to || !strcmp(to, "tvmw")
                  ? tvmr_weights_merge(m, option_text(options, count, "merge"), out, &err)
              : !strcmp(to, "json") || !strcmp(to, "npy") || !strcmp(to, "csv")
                  ? tvmr_weights_to(m, to, key, out, findings, &err)
                  : error_at(&err, BASE_OPTION_VALUE, 0,
                             "weights become tvmw, json, npy or csv, not '%.40s'", to);
    return envelope_finish(ok, &err, findings);
}

bool tvmr_convert(const penta_module *module, const penta_option *options, size_t count,
                  struct writer *out, struct findings *findings)
{
    const struct tvmr_module *m = tvmr_module(module);
    const char *to = option_text(options, count, "to");
    penta_error err = {0};
    if (m->is_weights) return convert_weights(m, to, options, count, out, findings);
    bool ok = !to || !strcmp(to, "tvmr") ||
              error_at(&err, BASE_OPTION_VALUE, 0, "'%.40s' is for weight files, not programs", to);
    for (size_t i = 0; i < m->loss_count; i++)
        findings_add(findings, TVMR_LEGACY_LOST, tvmr_insn_offset(m, m->losses[i].index), NULL,
                     "instruction %u loses its %s", (unsigned)m->losses[i].index,
                     m->losses[i].what);
    bool compress = option_text(options, count, "compress") != NULL;
    struct writer fresh = {0};
    penta_bytes plain = m->image;
    if (ok && m->mixed) { /* The checksum that penta writes replaces the one of the upstream
                           * writer. */
        writer_bytes(&fresh, plain.data, plain.size);
        writer_patch(&fresh, 0x20, m->checksum, 8);
        ok = writer_ok(&fresh, &err);
        plain = writer_view(&fresh);
    }
    ok = ok && tvmr_envelope_write(out, plain, compress, NULL, NULL, &err);
    writer_free(&fresh);
    return envelope_finish(ok, &err, findings);
}
