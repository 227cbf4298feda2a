/* Has the part of PKCS #11 (OASIS, version 2.40) that signing needs. Numbers and the order of
 * functions are those of the standard, so no header of it is needed. */
#include "cli/cvbc/pkcs11.h"
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"

typedef unsigned long number; /* CK_ULONG of the standard */

enum { SERIAL_SESSION = 4, USER = 1, SIGNATURE_MAX = 1024, SLOTS_MAX = 64 };
enum { CLASS = 0, LABEL = 3, KEY_TYPE = 0x100, PRIVATE_KEY = 3 };
enum { RSA = 0, EC = 3, EDWARDS = 0x40 };
enum { SHA256_RSA_PKCS = 0x40, SHA256 = 0x250, ECDSA = 0x1041, EDDSA = 0x1057 };
enum { ALREADY_INITIALIZED = 0x191, ALREADY_LOGGED_IN = 0x100, NO_PIN = 0x102 };

struct attribute {
    number type;
    void *value;
    number size;
};
struct mechanism {
    number type;
    void *parameter;
    number size;
};
/* The functions in the order of the standard. Functions that are not called have no names. */
struct function_list {
    unsigned char version[2];
    number (*initialize)(void *);
    number (*finalize)(void *);
    void *unused_2[2];
    number (*get_slot_list)(unsigned char, number *, number *);
    void *unused_5[7];
    number (*open_session)(number, number, void *, void *, number *);
    number (*close_session)(number);
    void *unused_14[4];
    number (*login)(number, number, const uint8_t *, number);
    void *unused_19[5];
    number (*get_attribute)(number, number, struct attribute *, number);
    void *unused_25;
    number (*find_init)(number, struct attribute *, number);
    number (*find)(number, number *, number, number *);
    number (*find_final)(number);
    void *unused_29[8];
    number (*digest_init)(number, struct mechanism *);
    number (*digest)(number, const uint8_t *, number, uint8_t *, number *);
    void *unused_39[3];
    number (*sign_init)(number, struct mechanism *, number);
    number (*sign)(number, const uint8_t *, number, uint8_t *, number *);
};
_Static_assert(offsetof(struct function_list, sign) == 44 * sizeof(void *),
               "after version and 43 others");

/* Returns the meaning of an error number of PKCS #11 in words, or NULL for a number that is
 * printed as it is. */
static const char *code_words(number code)
{
    switch (code) {
    case 0x54: return "it has no such function";
    case 0xa0: return "it is a wrong PIN";
    case 0xa1:
    case 0xa2: return "the PIN has a length or characters that it does not take";
    case 0xa3: return "the PIN has expired";
    case 0xa4: return "the PIN is locked";
    case 0xe0: return "it is not there";
    case NO_PIN: return "it has no PIN yet";
    default: return NULL;
    }
}

static bool pkcs11_failed(penta_error *err, const char *what, number code)
{
    const char *words = code_words(code);
    if (words) return error_at(err, BASE_IO, 0, "the token refuses to %s: %s", what, words);
    return error_at(err, BASE_IO, 0, "the token refuses to %s: error 0x%lx", what, code);
}

static bool find_key(const struct function_list *f, number session, const char *label, number *key,
                     penta_error *err)
{
    number private_key = PRIVATE_KEY, found = 0;
    struct attribute wanted[] = {{CLASS, &private_key, sizeof private_key},
                                 {LABEL, (void *)(uintptr_t)label, strlen(label)}};
    number code = f->find_init(session, wanted, 2);
    if (!code) code = f->find(session, key, 1, &found);
    f->find_final(session);
    if (code) return pkcs11_failed(err, "look for a key", code);
    return found ||
           error_at(err, BASE_OPTION_VALUE, 0, "the token has no private key '%.40s'", label);
}

/* Computes the digest that ECDSA signs. The token computes it, too. */
static bool pkcs11_digest(const struct function_list *f, number session, penta_bytes *message,
                          uint8_t out[32], penta_error *err)
{
    struct mechanism sha = {SHA256, NULL, 0};
    number size = 32;
    number code = f->digest_init(session, &sha);
    if (!code) code = f->digest(session, message->data, message->size, out, &size);
    *message = (penta_bytes){out, size};
    return !code || pkcs11_failed(err, "compute a digest", code);
}

static bool pkcs11_sign_raw(const struct function_list *f, number session, number key,
                            penta_bytes message, penta_buffer *signature, penta_error *err)
{
    number kind = 0, size = SIGNATURE_MAX;
    uint8_t hash[32], bytes[SIGNATURE_MAX];
    struct attribute type = {KEY_TYPE, &kind, sizeof kind};
    number code = f->get_attribute(session, key, &type, 1);
    if (code) return pkcs11_failed(err, "name the kind of the key", code);
    if (kind != RSA && kind != EC && kind != EDWARDS)
        return error_at(err, BASE_UNSUPPORTED, 0, "keys of kind 0x%lx cannot sign containers",
                        kind);
    struct mechanism how = {kind == RSA ? SHA256_RSA_PKCS : kind == EC ? ECDSA : EDDSA, NULL, 0};
    if (kind == EC && !pkcs11_digest(f, session, &message, hash, err)) return false;
    code = f->sign_init(session, &how, key);
    if (!code) code = f->sign(session, message.data, message.size, bytes, &size);
    if (code) return pkcs11_failed(err, "sign", code);
    signature->data = malloc(size + 1);
    if (!signature->data) return error_at(err, BASE_MEMORY, 0, "no memory for a signature");
    memcpy(signature->data, bytes, size);
    signature->size = signature->capacity = size;
    return true;
}

/* Finds the first token that accepts the PIN and has a key of this label. */
static bool sign_in_slots(const struct function_list *f, const struct pkcs11_key *key,
                          penta_bytes pin, penta_bytes message, penta_buffer *signature,
                          penta_error *err)
{
    number slots[SLOTS_MAX], count = SLOTS_MAX;
    number code = f->get_slot_list(1, slots, &count);
    if (code) return pkcs11_failed(err, "list tokens", code);
    if (!count) return error_at(err, BASE_IO, 0, "there is no token");
    for (number i = 0; i < count; i++) {
        number session = 0, object = 0;
        penta_error one = {0};
        code = f->open_session(slots[i], SERIAL_SESSION, NULL, NULL, &session);
        if (code) {
            pkcs11_failed(&one, "open a session", code);
            if (!err->code) *err = one; /* The slot has no token, but others may have one. */
            continue;
        }
        code = f->login(session, USER, pin.data, pin.size);
        bool ok = !code || code == ALREADY_LOGGED_IN || pkcs11_failed(&one, "take the PIN", code);
        ok = ok && find_key(f, session, key->label, &object, &one) &&
             pkcs11_sign_raw(f, session, object, message, signature, &one);
        f->close_session(session);
        if (ok || code != NO_PIN || !err->code)
            *err = one; /* A token without a PIN reports
                                                             * nothing. */
        if (ok) return true;
    }
    return false;
}

bool pkcs11_sign(const struct pkcs11_key *key, penta_bytes message, penta_buffer *signature,
                 penta_error *err)
{
    penta_buffer pin = {0};
    struct function_list *f = NULL;
    number (*get_list)(struct function_list **) = NULL;
    if (!file_read(key->pin_file, 256, &pin, err)) return false;
    if (pin.size && pin.data[pin.size - 1] == '\n') pin.size--;
    void *library = dlopen(key->module, RTLD_NOW | RTLD_LOCAL);
    if (library) *(void **)&get_list = dlsym(library, "C_GetFunctionList");
    bool ok = get_list && !get_list(&f) && f;
    if (!ok) error_at(err, BASE_IO, 0, "'%.60s' is not a PKCS #11 library", key->module);
    number code = ok ? f->initialize(NULL) : 0;
    if (ok && code && code != ALREADY_INITIALIZED) ok = pkcs11_failed(err, "start", code);
    if (ok) {
        ok = sign_in_slots(f, key, (penta_bytes){pin.data, pin.size}, message, signature, err);
        f->finalize(NULL);
    }
    if (library) dlclose(library);
    if (pin.data) explicit_bzero(pin.data, pin.capacity);
    penta_buffer_free(&pin);
    return ok;
}
