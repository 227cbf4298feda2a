/* Implements the commands seal and open, which rewrite a file with its bytecode encrypted or
 * decrypted. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/format/build.h"

struct sealing {
    struct cvbc_build b;
    struct cvbc_secret secret;
    struct private_key *key;
};

/* Replaces the old signature, which is no longer valid: makes a new one, or removes it with a
 * finding. */
static bool new_signature(struct sealing *s, const struct cvbc_module *m,
                          const penta_option *options, size_t count, penta_error *err)
{
    const char *path = option_text(options, count, "sign-key");
    bool drop = option_text(options, count, "drop-signature") != NULL;
    if (path && drop)
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "sign-key and drop-signature exclude each other");
    if (m->header.flags & CVBC_SIGNED && !path && !drop) {
        error_at(err, CVBC_SEALED, 56, "the file is signed, and the signature would no longer fit");
        return error_note(err,
                          "sign again with option 'sign-key', or give option 'drop-signature'");
    }
    if (!path) return true;
    s->key = cvbc_private_key_option(options, count, err);
    s->b.sign_key = s->key;
    s->b.external_key = m->header.flags & CVBC_SIGNED && !m->public_key.size;
    return s->key != NULL;
}

static const struct {
    const char *name;
    uint32_t method;
} derivations[] = {{"raw", CVBC_KEY_RAW}, {"hkdf", CVBC_KEY_HKDF}, {"pbkdf2", CVBC_KEY_PBKDF2}};
enum { DERIVATIONS = sizeof derivations / sizeof *derivations };

const char *cvbc_derivation_name(size_t i) { return i < DERIVATIONS ? derivations[i].name : NULL; }

static bool derivation_named(const char *name, uint32_t *method, penta_error *err)
{
    for (size_t i = 0; i < DERIVATIONS; i++) {
        if (strcmp(name, derivations[i].name)) continue;
        *method = derivations[i].method;
        return true;
    }
    return error_not_in(err, "derive", name, cvbc_derivation_name);
}

/* Copies cipher, derivation and secret from the options into a build. */
bool cvbc_build_cipher(struct cvbc_build *b, struct cvbc_secret *secret,
                       const penta_option *options, size_t count, penta_error *err)
{
    const char *cipher = option_text(options, count, "cipher"),
               *derive = option_text(options, count, "derive");
    const char *key = option_text(options, count, "key-file");
    const char *password = option_text(options, count, "password-file");
    uint64_t algorithm = 1, iterations = 600;
    if (cipher && (!cvbc_value("encryption_algorithm", bytes_of(cipher), &algorithm) || !algorithm))
        return error_not_in(err, "cipher", cipher, cvbc_cipher_name);
    if (!option_uint(options, count, "iterations", &iterations, err)) return false;
    if (!iterations || iterations > UINT16_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "iterations are 1 to 65535 thousand");
    if (!key == !password) {
        error_at(err, CVBC_DECRYPT, 0,
                 key ? "either a key-file or a password-file" : "no key was given");
        return error_note(err, "option 'key-file' or option 'password-file' names it");
    }
    uint32_t method = password ? CVBC_KEY_PBKDF2 : CVBC_KEY_RAW;
    if (derive && !derivation_named(derive, &method, err)) return false;
    b->cipher = (uint8_t)algorithm;
    b->derivation = method == CVBC_KEY_PBKDF2 ? method | (uint32_t)iterations << 8 : method;
    b->secret = secret;
    return cvbc_secret_read(key ? key : password, !key, secret, err);
}

static bool seal_finish(struct sealing *s, const struct cvbc_module *m, struct writer *out,
                        struct findings *f, penta_error *err)
{
    bool ok =
        !err->code && cvbc_build_programs_from(&s->b, m, err) && cvbc_build_write(&s->b, out, err);
    if (err->code) findings_pass(f, err);
    cvbc_secret_free(&s->secret);
    key_private_free(s->key);
    cvbc_build_fini(&s->b);
    return ok;
}

bool cvbc_seal(const penta_module *module, const penta_option *options, size_t count,
               struct writer *out, struct findings *f)
{
    const struct cvbc_module *m = cvbc_module(module);
    struct sealing s = {0};
    penta_error err = {0};
    if (m->header.flags & CVBC_ENCRYPTED) {
        error_at(&err, CVBC_SEALED, 56, "the bytecode is encrypted already");
        error_note(&err, "penta open decrypts it");
    } else if (m->debug.size && !option_text(options, count, "keep-debug")) {
        error_at(&err, CVBC_SEALED, cvbc_offset(m, m->debug.data),
                 "debug data would stay readable");
        error_note(&err, "option 'keep-debug' allows it");
    }
    if (!err.code && cvbc_build_from(&s.b, m, &err) && new_signature(&s, m, options, count, &err))
        cvbc_build_cipher(&s.b, &s.secret, options, count, &err);
    s.b.keep_debug = option_text(options, count, "keep-debug") != NULL;
    return seal_finish(&s, m, out, f, &err);
}

bool cvbc_unseal(const penta_module *module, const penta_option *options, size_t count,
                 struct writer *out, struct findings *f)
{
    const struct cvbc_module *m = cvbc_module(module);
    struct sealing s = {0};
    penta_error err = {0};
    if (!(m->header.flags & CVBC_ENCRYPTED))
        error_at(&err, CVBC_SEALED, 56, "the bytecode is not encrypted");
    else if (cvbc_build_from(&s.b, m, &err))
        new_signature(&s, m, options, count, &err);
    penta_error warning;
    if (!seal_finish(&s, m, out, f, &err)) return false;
    if (cvbc_sealed_only(m, &warning)) findings_pass(f, &warning);
    return true;
}
