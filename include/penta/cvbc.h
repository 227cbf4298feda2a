/* Offers firmware tools what they need for CockpitVM containers beyond penta.h: keys,
 * verification under a policy, parts, writing, sealing, old programs, the simulated board,
 * boards and their generated files.
 *
 * Modules here are of format "cvbc", of which callers make sure; machines are made with
 * penta_vm_new on them. Keys are PEM texts in memory and secrets are bytes: whoever has read
 * them must wipe them, which penta_cvbc_wipe does for a buffer. Bytes that are handed out
 * (parts, strings, names) belong to the module. A builder belongs to one thread.
 *
 * The rules of penta.h about errors, buffers, NULL and options hold. Options that are a file
 * have its path as value. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A status is a number from 0 (OK) to 26 that the format defines; a finding's code has one. */

PENTA_API uint32_t penta_cvbc_status(uint32_t code);
/* Returns a name such as "CVBC_ERR_KEY", never NULL. */
PENTA_API const char *penta_cvbc_status_name(uint32_t status);
PENTA_API uint32_t penta_cvbc_crc32(penta_bytes bytes);

/* The declarations below give the format as data: records, enumerated values, instructions. */

typedef struct penta_cvbc_field {
    const char *name;
    /* `offset` and `size` say where the field is in its record, in bytes; integers are
     * little-endian. */
    uint32_t offset, size;
    penta_kind kind; /* the kind of the value; PENTA_RAW: bytes as they are */
} penta_cvbc_field;

/* Gives field i of a record: header, core, pin, dependency, hint, security, integrity, bytecode,
 * inst, debug, symbol, line or variable. Returns false after the last field, and for another
 * name. */
PENTA_API bool penta_cvbc_record(const char *record, size_t i, penta_cvbc_field *out);
/* Returns the name of a field's value, or NULL when it has none. */
PENTA_API const char *penta_cvbc_name(const char *field, uint64_t value);
/* Gives the value that has this name in a field, upper and lower case alike. Returns false when
 * there is no such name. */
PENTA_API bool penta_cvbc_value(const char *field, const char *name, uint64_t *value);
/* Returns NULL when the opcode is not defined. */
PENTA_API const char *penta_cvbc_mnemonic(uint8_t opcode);

/* Returns the bits of target_features for which a pin of this function asks. */
PENTA_API uint32_t penta_cvbc_pin_features(uint8_t function);

/* The declarations below are about keys. */

/* These are the values of the field signature_algorithm. LMS is that of RFC 8554 (HSS) over
 * SHA-256; the last type has both keys, and both signatures must hold. */
enum {
    PENTA_CVBC_ED25519 = 1,
    PENTA_CVBC_P256,
    PENTA_CVBC_RSA2048,
    PENTA_CVBC_LMS,
    PENTA_CVBC_ED25519_LMS
};
/* Returns a name such as "p256", or NULL when there is no such type. */
PENTA_API const char *penta_cvbc_key_name(uint32_t type);

typedef struct penta_cvbc_key {
    uint32_t type, size;
    /* `raw` is the public half as containers embed it, `fingerprint` the SHA-256 of `raw`. */
    uint8_t raw[260], fingerprint[32];
} penta_cvbc_key;

/* A private key. A key of LMS makes a limited number of signatures; `parameters` of
 * penta_cvbc_key_generate_lms are the height of its tree and the bits of a digit, "h10/w8" (the
 * default), "h10/w8/n24" for shorter hashes, or several levels, "h10/w8,h5/w8". Such a key signs
 * only as a file, which option 'sign-key' names: the file counts the signatures. */
PENTA_API bool penta_cvbc_key_generate(uint32_t type, penta_buffer *pem, penta_error *err);
PENTA_API bool penta_cvbc_key_generate_lms(uint32_t type, const char *parameters, penta_buffer *pem,
                                           penta_error *err);
/* Takes `count` signatures from the LMS key in the file, for another signer: appends a private key
 * that makes only these. `state` is the folder of option 'key-state', or NULL for the default. When
 * it fails, nothing is taken, unless the folder could not be written: then they are lost. */
PENTA_API bool penta_cvbc_key_reserve(const char *path, const char *state, uint64_t count,
                                      penta_buffer *pem, penta_error *err);
/* Gives how many signatures a private key can still make. UINT64_MAX means that there is no
 * limit. */
PENTA_API bool penta_cvbc_key_left(penta_bytes pem, uint64_t *left, penta_error *err);
/* These functions take a public key, or the public half of a private one. */
PENTA_API bool penta_cvbc_key_public(penta_bytes pem, penta_buffer *public_pem, penta_error *err);
PENTA_API bool penta_cvbc_key_read(penta_bytes pem, penta_cvbc_key *out, penta_error *err);
/* Overwrites the bytes, then frees the buffer. */
PENTA_API void penta_cvbc_wipe(penta_buffer *buffer);

/* The declarations below are for opening a file under a policy. */

typedef struct penta_cvbc_policy {
    const penta_bytes *trusted; /* the public keys that are trusted, as PEM */
    size_t trusted_count;
    /* `secret` is a symmetric key or a password; no data means that there is none. */
    penta_bytes secret;
    bool require_signature; /* A signature by a trusted key is required. */
    /* `inflate_max` is the largest decompressed size (0: 16 MiB), `iterations_max` the largest
     * number of PBKDF2 iterations (0: 10 million). */
    uint64_t inflate_max, iterations_max;
    bool require_low_s; /* The second form of ECDSA signatures is refused. */
    /* `program` is the name of the program that is meant, in a file with several; NULL stands
     * for the first. */
    const char *program;
} penta_cvbc_policy;

/* Opens a file as penta_open does, whose options trusted-key, require-signature, require-low-s,
 * key-file, password-file, max-inflate, max-iterations and program give the same policy. Broken
 * files open as well. A policy of NULL has no keys and no requirements. Keys and secret are
 * copied. */
PENTA_API penta_module *penta_cvbc_open(penta_bytes file, const penta_cvbc_policy *policy,
                                        penta_error *err);
/* Makes the quick or the full check. Returns true when nothing was an error. */
PENTA_API bool penta_cvbc_check(const penta_module *module, bool quick, penta_report *report,
                                void *user);

typedef enum penta_cvbc_trust {
    PENTA_CVBC_TRUST_NONE,
    /* The signature is good under the key in the file, which anybody can embed. */
    PENTA_CVBC_TRUST_EMBEDDED,
    PENTA_CVBC_TRUST_KEY, /* The signature is good under a trusted key. */
} penta_cvbc_trust;

typedef struct penta_cvbc_verdict {
    penta_error failure; /* what is wrong; code 0: signature, digests and contents are good */
    uint32_t status;     /* the status of the failure */
    const char *summary; /* a constant text such as "signature and contents good" or "untrusted" */
    penta_cvbc_trust trust;
    bool signature_good, contents_checked;
    uint32_t algorithm; /* the field signature_algorithm; 0: the file is not signed */
    /* With PENTA_CVBC_TRUST_KEY, `trusted_key` is the index of the policy's key that matched. */
    size_t trusted_key;
    uint8_t fingerprint[32]; /* the fingerprint of the key that matched; zeros: none did */
} penta_cvbc_verdict;

/* Verifies a file under the policy of its module, to which require_signature and require_low_s
 * may add a requirement. If neither requires a signature, a file that is not signed may be good,
 * too. */
PENTA_API void penta_cvbc_verify(const penta_module *module, bool require_signature,
                                 bool require_low_s, penta_cvbc_verdict *out);
/* Returns the reason why the file should not be used even where its program does not matter, or
 * NULL. Sealed contents without a key are no reason, nor is a signature that cannot be checked,
 * unless one is required. */
PENTA_API const penta_error *penta_cvbc_objection(const penta_module *module);
/* Tells whether the file is sealed and not signed. The seal then proves the program and its
 * metadata, but the minor version, the timestamps, the build number, the source digest and debug
 * data may be anybody's. If so, `warning` says it. */
PENTA_API bool penta_cvbc_sealed_only(const penta_module *module, penta_error *warning);
/* Tells whether the file was built from these sources: option `source`, once for each file in
 * their order. Without sources the answer is true. For other sources it is false, and the error
 * has the rule HASH. */
PENTA_API bool penta_cvbc_check_source(const penta_module *module, const penta_option *options,
                                       size_t count, penta_error *err);

/* The functions below give what is inside of a file. */

/* Returns the name of part i: bytecode (decoded, after verification), stored, header ... Returns
 * NULL after the last. */
PENTA_API const char *penta_cvbc_part_name(size_t i);
/* Gives a part. Returns false when there is no such part, verification failed, or the policy
 * requires a signature and there is an objection (penta_cvbc_objection). */
PENTA_API bool penta_cvbc_part(const penta_module *module, const char *part, penta_bytes *out,
                               penta_error *err);
/* Gives the 40 bytes that are signed, or that are to be signed for the space that was left for a
 * signature. */
PENTA_API bool penta_cvbc_tbs(const penta_module *module, uint8_t out[40], penta_error *err);

typedef struct penta_cvbc_program {
    penta_bytes code; /* 4 bytes for each instruction: opcode, flags, immediate */
    uint32_t count, entry, stack, variables, string_count;
} penta_cvbc_program;

/* Returns the name of program i in a file that has several, the first one first. Returns NULL
 * when there is no such program, or the file has one program, without a name. Option `program`
 * of penta_open chooses the program that machines, listings and the functions below are about. */
PENTA_API const char *penta_cvbc_program_name(const penta_module *module, size_t i);
PENTA_API bool penta_cvbc_program_get(const penta_module *module, penta_cvbc_program *out,
                                      penta_error *err);
PENTA_API bool penta_cvbc_string(const penta_module *module, size_t id, penta_bytes *text);
PENTA_API bool penta_cvbc_hint(const penta_module *module, size_t i, uint8_t *type,
                               uint8_t *priority, penta_bytes *data);
/* Gives row i of the symbol table. `kind` is 1 for a function, 2 for a global, 3 for an array, 4
 * for a label, 5 for a source file. */
PENTA_API bool penta_cvbc_symbol(const penta_module *module, size_t i, uint8_t *kind,
                                 uint32_t *value, penta_bytes *name);

/* Checks a program without its container. `stack` and `variables`, which may be NULL, get what
 * it needs. */
PENTA_API bool penta_cvbc_verify_code(penta_bytes code, uint32_t entry, uint32_t string_count,
                                      uint32_t *stack, uint32_t *variables, penta_report *report,
                                      void *user);

/* The functions below change a file: all of them write a new one. */

typedef struct penta_cvbc_signing {
    penta_bytes key; /* a private key, as PEM; no data: the result is not signed */
    bool external;   /* The public key is not embedded. */
    uint32_t hash;   /* 1 SHA-256, 2 BLAKE2b-256; 0: the one that the file has, or SHA-256 */
    /* Only penta_cvbc_sign uses the members from here on. */
    /* A wrong signature, or digests of changed contents, are replaced, too. */
    bool replace;
    penta_report *report; /* gets each thing that was replaced; NULL: nobody does */
    void *user;
    /* Without a key, `reserve` is a public key, as PEM, for whose signature space is left. */
    penta_bytes reserve;
} penta_cvbc_signing;

enum { PENTA_CVBC_AES256_GCM = 1, PENTA_CVBC_CHACHA20_POLY1305 };
enum { PENTA_CVBC_KEY_RAW, PENTA_CVBC_KEY_HKDF, PENTA_CVBC_KEY_PBKDF2 };

typedef struct penta_cvbc_sealing {
    penta_bytes secret; /* a secret, which has 32 bytes if it is a raw key */
    uint32_t cipher;    /* the cipher; 0 stands for AES-256-GCM */
    uint32_t derivation;
    uint32_t iterations; /* the iterations of PBKDF2 in thousands; 0 stands for 600 */
    bool keep_debug;     /* Allows sealing a file that has debug data, which is not encrypted. */
} penta_cvbc_sealing;

/* Signs a file. Refuses a file whose signature is wrong or cannot be checked, or whose contents
 * have other digests, unless how->replace is set. The requirements of the module's policy hold
 * in any case. */
PENTA_API bool penta_cvbc_sign(const penta_module *module, const penta_cvbc_signing *how,
                               penta_buffer *out, penta_error *err);
/* Signs a file as the options say: sign-key, or public-key to leave space for a signature,
 * external-key, hash, resign. Each thing that was replaced is reported to `replaced`. */
PENTA_API bool penta_cvbc_sign_options(const penta_module *module, const penta_option *options,
                                       size_t count, penta_buffer *out, penta_report *replaced,
                                       void *user, penta_error *err);
/* Puts a signature over penta_cvbc_tbs that was made elsewhere, raw or DER, into the space that
 * was left for it. A wrong one is refused; so is one that cannot be checked, if the policy
 * requires a good one. */
PENTA_API bool penta_cvbc_attach(const penta_module *module, penta_bytes signature,
                                 penta_buffer *out, penta_error *err);
/* These functions encrypt and decrypt a file. When `signing` is NULL, a signed file is refused,
 * since its signature would not survive. */
PENTA_API bool penta_cvbc_seal(const penta_module *module, const penta_cvbc_sealing *how,
                               const penta_cvbc_signing *signing, penta_buffer *out,
                               penta_error *err);
PENTA_API bool penta_cvbc_unseal(const penta_module *module, const penta_cvbc_signing *signing,
                                 penta_buffer *out, penta_error *err);

/* The declarations below are for writing a file. */

typedef struct penta_cvbc_builder penta_cvbc_builder;

PENTA_API penta_cvbc_builder *penta_cvbc_builder_new(penta_error *err);
/* Frees a builder, which may be NULL, and wipes its keys. */
PENTA_API void penta_cvbc_builder_free(penta_cvbc_builder *b);
/* Sets the core record of 92 bytes. Its counts are computed, and features that pins need are
 * added. */
PENTA_API bool penta_cvbc_builder_core(penta_cvbc_builder *b, penta_bytes record, penta_error *err);
PENTA_API bool penta_cvbc_builder_pin(penta_cvbc_builder *b, penta_bytes record, penta_error *err);
PENTA_API bool penta_cvbc_builder_dependency(penta_cvbc_builder *b, penta_bytes record,
                                             penta_error *err);
PENTA_API bool penta_cvbc_builder_hint(penta_cvbc_builder *b, uint8_t type, uint8_t priority,
                                       penta_bytes data, penta_error *err);
PENTA_API bool penta_cvbc_builder_custom(penta_cvbc_builder *b, penta_bytes data, penta_error *err);
/* These functions append instructions and strings. */
PENTA_API bool penta_cvbc_builder_code(penta_cvbc_builder *b, penta_bytes code, penta_error *err);
PENTA_API bool penta_cvbc_builder_string(penta_cvbc_builder *b, penta_bytes text, penta_error *err);
PENTA_API bool penta_cvbc_builder_entry(penta_cvbc_builder *b, uint32_t entry, penta_error *err);
/* Sets the needs in the header of the program; a negative number stands for what the verifier
 * finds. */
PENTA_API bool penta_cvbc_builder_needs(penta_cvbc_builder *b, int64_t stack, int64_t variables,
                                        penta_error *err);
PENTA_API bool penta_cvbc_builder_symbol(penta_cvbc_builder *b, uint8_t kind, uint32_t value,
                                         penta_bytes name, penta_error *err);
PENTA_API bool penta_cvbc_builder_line(penta_cvbc_builder *b, uint16_t instruction, uint16_t file,
                                       uint32_t line, penta_error *err);
typedef struct penta_cvbc_variable {
    uint8_t storage, type; /* storage: 1 global, 2 stack, 3 array; type: 1 int32 */
    /* When `last` is 65535, the variable is valid in the whole program. */
    uint16_t slot, first, last, elements;
} penta_cvbc_variable;
PENTA_API bool penta_cvbc_builder_variable(penta_cvbc_builder *b,
                                           const penta_cvbc_variable *variable, penta_bytes name,
                                           penta_error *err);
/* Sets a debug section as it is, instead of rows. */
PENTA_API bool penta_cvbc_builder_debug(penta_cvbc_builder *b, penta_bytes section,
                                        penta_error *err);
PENTA_API void penta_cvbc_builder_stamp(penta_cvbc_builder *b, uint64_t timestamp,
                                        uint64_t secure_timestamp, uint32_t build_number,
                                        bool deterministic);
PENTA_API void penta_cvbc_builder_source(penta_cvbc_builder *b, const uint8_t sha256[32]);
/* Sets whether the code is compressed. With `force` it is, even where that makes the file
 * larger. */
PENTA_API void penta_cvbc_builder_compress(penta_cvbc_builder *b, bool compress, bool force);
PENTA_API bool penta_cvbc_builder_sign(penta_cvbc_builder *b, const penta_cvbc_signing *how,
                                       penta_error *err);
PENTA_API bool penta_cvbc_builder_seal(penta_cvbc_builder *b, const penta_cvbc_sealing *how,
                                       penta_error *err);
/* Takes code, strings, debug tables, source hash and compiler fields from a program in the small
 * C-like language; `file` is its name in the debug tables. The caller declares pins and
 * features, unless the program has instructions of minor version 3: then it is declared as
 * penta_cvbc_compile does it. */
PENTA_API bool penta_cvbc_builder_compile(penta_cvbc_builder *b, penta_bytes text, const char *file,
                                          bool portable, bool strip, penta_report *report,
                                          void *user);
/* Appends the file, which passes the full check. If it cannot be written, the error says why.
 * The function may be called again, and appends the file again. */
PENTA_API bool penta_cvbc_builder_finish(penta_cvbc_builder *b, penta_buffer *out,
                                         penta_error *err);

typedef struct penta_cvbc_named {
    /* `name` has 1 to 31 letters, digits, '_', '-' and '.'; it is NULL for a single program
     * without a name. */
    const char *name;
    const penta_module *module;
} penta_cvbc_named;

/* Makes a container from others, with what the options of `create` say: target, pin, dependency,
 * min-flash, min-ram, max-steps, build-number, language, compress, source; sign-key,
 * external-key, hash; key-file, password-file, cipher, derive, iterations, keep-debug. Programs
 * with names become one file with 2 or more programs, which gets one signature; the options are
 * about the file and its first program, those of encryption about all programs. The timestamp is
 * SOURCE_DATE_EPOCH of the environment, else 0. */
PENTA_API bool penta_cvbc_create(const penta_cvbc_named *programs, size_t program_count,
                                 const penta_option *options, size_t count, penta_buffer *out,
                                 penta_error *err);
/* Makes a container from a source, with the hardware that it uses declared. Options are those of
 * penta_cvbc_create, portable and strip. Findings in the text go to `report`; `err` is about
 * everything else, and has code 0 when there were findings only. `stop` is as for penta_vm_new
 * and may be NULL. */
PENTA_API bool penta_cvbc_compile(penta_bytes source, const char *name, const penta_option *options,
                                  size_t count, const volatile int *stop, penta_buffer *out,
                                  penta_report *report, void *user, penta_error *err);

/* The declarations below are about programs from before the container. */

typedef struct penta_cvbc_legacy {
    const char *wrapper; /* the wrapper around the program: "conc-ccitt", "conc-modbus" or NULL */
    /* `layout` is the layout of instructions: "raw-words", "raw-struct", "counted-words" or
     * "counted-struct". */
    const char *layout;
    size_t instructions, strings;
} penta_cvbc_legacy;

PENTA_API bool penta_cvbc_legacy_detect(penta_bytes file, penta_cvbc_legacy *out);
/* Converts an old program to a container. Unless `keep` is true, mistakes are repaired; each
 * repair goes to `report`. A target of NULL means any board. */
PENTA_API bool penta_cvbc_legacy_convert(penta_bytes file, const char *target, bool keep,
                                         penta_buffer *out, penta_report *report, void *user);

/* The declarations below are about machines. */

typedef struct penta_cvbc_state {
    uint32_t pc, sp;
    uint32_t error; /* the error of the machine: 0 none, 1 stack overflow ... 16 budget */
    uint64_t executed;
    /* The machine may be waiting for the host's answer, its run may be over, and its pc may be
     * after the last instruction. */
    bool waiting, final, ran_off;
} penta_cvbc_state;

PENTA_API bool penta_cvbc_vm_state(const penta_vm *vm, penta_cvbc_state *out);
/* These functions give a word of the stack, from its bottom, the value of a global variable, and
 * a word of an array. */
PENTA_API bool penta_cvbc_vm_stack(const penta_vm *vm, size_t i, int32_t *out);
PENTA_API bool penta_cvbc_vm_global(const penta_vm *vm, size_t slot, int32_t *out);
PENTA_API bool penta_cvbc_vm_element(const penta_vm *vm, size_t array, size_t i, int32_t *out);
/* Returns a name such as "STACK_OVERFLOW", never NULL. */
PENTA_API const char *penta_cvbc_vm_error_name(uint32_t error);

/* A penta_cvbc_hal is the board that answers host calls. Ranges, pin numbers and pin modes are
 * checked before a callback sees them. When a callback returns false, the machine gets error 9.
 * When it is NULL, the simulated board answers. */
typedef struct penta_cvbc_hal {
    void *user;
    bool (*pin_mode)(void *user, uint8_t pin, uint8_t mode);
    bool (*digital_write)(void *user, uint8_t pin, bool high);
    bool (*digital_read)(void *user, uint8_t pin, bool *high);
    bool (*analog_write)(void *user, uint8_t pin, uint16_t value);
    bool (*analog_read)(void *user, uint8_t pin, uint16_t *value);
    bool (*delay)(void *user, uint32_t ms);
    bool (*millis)(void *user, uint32_t *ms);
    bool (*micros)(void *user, uint32_t *us);
    /* The text has no terminating zero. */
    bool (*print)(void *user, const char *text, size_t size);
} penta_cvbc_hal;

typedef struct penta_cvbc_simulator penta_cvbc_simulator;

/* Makes a simulated board. With `trace` it writes a line of output for each event. `hal` is
 * copied; when it is NULL, everything is simulated. */
PENTA_API penta_cvbc_simulator *penta_cvbc_simulator_new(bool trace, const penta_cvbc_hal *hal,
                                                         penta_error *err);
/* `simulator` may be NULL. */
PENTA_API void penta_cvbc_simulator_free(penta_cvbc_simulator *simulator);
/* Answers the host call for which the machine waits. What the program prints by it is appended
 * to `output`. */
PENTA_API bool penta_cvbc_simulator_answer(penta_cvbc_simulator *simulator, penta_vm *vm,
                                           penta_buffer *output, penta_error *err);
PENTA_API uint64_t penta_cvbc_simulator_micros(const penta_cvbc_simulator *simulator);

/* The declarations below are about boards. */

typedef struct penta_cvbc_board {
    char name[32];
    uint64_t architecture, family, variant, features, flash_kb, ram_kb, ports, pins;
    bool any; /* The board takes every program. */
} penta_cvbc_board;

PENTA_API const char *penta_cvbc_board_name(size_t i); /* Returns NULL after the last name. */
/* Appends the board file of a board, with which one can begin a board file of one's own. Returns
 * false when no board has this name. */
PENTA_API bool penta_cvbc_board_text(const char *name, penta_buffer *out, penta_error *err);
/* Finds a board. `board` is a name, or the path of a board file. */
PENTA_API bool penta_cvbc_board_find(const char *board, penta_cvbc_board *out, penta_error *err);
/* Reports every reason why the program does not fit the board. A bad board, findings of the full
 * check and an objection are reported, too. */
PENTA_API bool penta_cvbc_board_check(const penta_module *module, const char *board,
                                      penta_report *report, void *user);

enum { PENTA_CVBC_TRINITY_FILES = 4 };
/* Returns a name such as "trinity_board.h". */
PENTA_API const char *penta_cvbc_trinity_name(size_t i);
/* Writes the code of a firmware with these containers. When `board` is NULL, it is for the board
 * that they name. Containers with errors or an objection are refused; the note says which. */
PENTA_API bool penta_cvbc_trinity(const penta_module *const *modules, size_t count,
                                  const char *board, penta_buffer out[PENTA_CVBC_TRINITY_FILES],
                                  penta_error *err);

#ifdef __cplusplus
}
#endif
