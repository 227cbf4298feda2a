/* CockpitVM containers: what firmware tools need beyond penta.h. Keys, verification under a policy,
 * parts, writing, sealing, old programs, the simulated board, boards and their generated files.
 *
 * Modules here are of format "cvbc", which callers make sure of; machines are made with penta_vm_new
 * on them. Keys are PEM texts in memory and secrets are bytes: whoever read them wipes them,
 * penta_cvbc_wipe does it for a buffer. Bytes handed out (parts, strings, names) belong to the
 * module. A builder belongs to one thread.
 *
 * The rules of penta.h about errors, buffers, NULL and options hold. Options that are a file have
 * its path as value. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status: the numbers 0 (OK) to 26 of the format, for codes of findings ---- */

PENTA_API uint32_t penta_cvbc_status(uint32_t code);
PENTA_API const char *penta_cvbc_status_name(uint32_t status); /* "CVBC_ERR_KEY"; never NULL */
PENTA_API uint32_t penta_cvbc_crc32(penta_bytes bytes);

/* ---- the format as data: records, enumerated values, instructions ---- */

typedef struct penta_cvbc_field {
    const char *name;
    uint32_t offset, size; /* bytes; integers are little-endian */
    penta_kind kind;       /* PENTA_RAW: bytes as they are */
} penta_cvbc_field;

/* Field i of a record: header, core, pin, dependency, hint, security, integrity, bytecode, inst,
 * debug, symbol, line or variable. False after the last, or for another name. */
PENTA_API bool penta_cvbc_record(const char *record, size_t i, penta_cvbc_field *out);
PENTA_API const char *penta_cvbc_name(const char *field, uint64_t value); /* NULL: none */
/* The other way, upper and lower case alike; false: no such name. */
PENTA_API bool penta_cvbc_value(const char *field, const char *name, uint64_t *value);
PENTA_API const char *penta_cvbc_mnemonic(uint8_t opcode); /* NULL: not defined */

/* The bits of target_features that a pin of this function asks for. */
PENTA_API uint32_t penta_cvbc_pin_features(uint8_t function);

/* ---- keys ---- */

/* The values of signature_algorithm. LMS is that of RFC 8554 (HSS) over SHA-256; the last type has both keys, and both
 * signatures must hold. */
enum {
    PENTA_CVBC_ED25519 = 1,
    PENTA_CVBC_P256,
    PENTA_CVBC_RSA2048,
    PENTA_CVBC_LMS,
    PENTA_CVBC_ED25519_LMS
};
PENTA_API const char *penta_cvbc_key_name(uint32_t type); /* "p256"; NULL: no such type */

typedef struct penta_cvbc_key {
    uint32_t type, size;
    uint8_t raw[260], fingerprint[32]; /* the public half as containers embed it; its SHA-256 */
} penta_cvbc_key;

/* A private key. A key of LMS makes a limited number of signatures; `parameters` of penta_cvbc_key_generate_lms are the
 * height of its tree and the bits of a digit, "h10/w8" (the default), "h10/w8/n24" for shorter hashes, or several levels,
 * "h10/w8,h5/w8". Such a key signs only as a file, which option 'sign-key' names: the file counts the signatures. */
PENTA_API bool penta_cvbc_key_generate(uint32_t type, penta_buffer *pem, penta_error *err);
PENTA_API bool penta_cvbc_key_generate_lms(uint32_t type, const char *parameters, penta_buffer *pem,
                                           penta_error *err);
/* Takes `count` signatures from the LMS key in the file, for another signer: appends a private key that makes only
 * these. `state` is the folder of option 'key-state'; NULL: the default. When it fails, nothing is taken, unless the
 * folder could not be written: then they are lost. */
PENTA_API bool penta_cvbc_key_reserve(const char *path, const char *state, uint64_t count,
                                      penta_buffer *pem, penta_error *err);
/* How many signatures a private key can still make; UINT64_MAX: there is no limit. */
PENTA_API bool penta_cvbc_key_left(penta_bytes pem, uint64_t *left, penta_error *err);
/* Of a public key, or the public half of a private one. */
PENTA_API bool penta_cvbc_key_public(penta_bytes pem, penta_buffer *public_pem, penta_error *err);
PENTA_API bool penta_cvbc_key_read(penta_bytes pem, penta_cvbc_key *out, penta_error *err);
PENTA_API void penta_cvbc_wipe(penta_buffer *buffer); /* overwrites, then frees */

/* ---- opening under a policy ---- */

typedef struct penta_cvbc_policy {
    const penta_bytes *trusted; /* public keys, PEM */
    size_t trusted_count;
    penta_bytes secret;                   /* symmetric key or password; no data: none */
    bool require_signature;               /* of a trusted key */
    uint64_t inflate_max, iterations_max; /* 0: 16 MiB; 10 million */
    bool require_low_s;                   /* refuse the second form of ECDSA signatures */
    const char *program;                  /* of several: which one is meant; NULL: the first */
} penta_cvbc_policy;

/* As penta_open, whose options trusted-key, require-signature, require-low-s, key-file,
 * password-file, max-inflate, max-iterations and program give the same policy: broken files open as well.
 * policy NULL: no keys, no requirements. Keys and secret are copied. */
PENTA_API penta_module *penta_cvbc_open(penta_bytes file, const penta_cvbc_policy *policy,
                                        penta_error *err);
/* The quick or the full check; true when nothing was an error. */
PENTA_API bool penta_cvbc_check(const penta_module *module, bool quick, penta_report *report,
                                void *user);

typedef enum penta_cvbc_trust {
    PENTA_CVBC_TRUST_NONE,
    PENTA_CVBC_TRUST_EMBEDDED, /* good under the key in the file, which anybody can embed */
    PENTA_CVBC_TRUST_KEY,      /* good under a trusted key */
} penta_cvbc_trust;

typedef struct penta_cvbc_verdict {
    penta_error failure; /* code 0: signature, digests and contents are good */
    uint32_t status;     /* of the failure */
    const char *summary; /* "signature and contents good", "untrusted" ...; constant */
    penta_cvbc_trust trust;
    bool signature_good, contents_checked;
    uint32_t algorithm;      /* signature_algorithm; 0: not signed */
    size_t trusted_key;      /* which of the policy's, with PENTA_CVBC_TRUST_KEY */
    uint8_t fingerprint[32]; /* of the key that matched; zeros: none */
} penta_cvbc_verdict;

/* Under the policy of the module, and as if it also required a signature, or ECDSA signatures in their
 * first form. Where neither requires a signature, a file that is not signed may be good too. */
PENTA_API void penta_cvbc_verify(const penta_module *module, bool require_signature,
                                 bool require_low_s, penta_cvbc_verdict *out);
/* Why the file should not be used even where its program does not matter, or NULL. Sealed contents
 * without a key are no reason, nor is a signature that cannot be checked, unless one is required. */
PENTA_API const penta_error *penta_cvbc_objection(const penta_module *module);
/* Whether the file is sealed and not signed: then the seal proves the program and its metadata, but the minor
 * version, the timestamps, the build number, the source digest and debug data may be anybody's. True: `warning`
 * says so. */
PENTA_API bool penta_cvbc_sealed_only(const penta_module *module, penta_error *warning);
/* Whether the file was built from these sources: option `source`, once for each file in their
 * order; none: true. False with the rule HASH: from others. */
PENTA_API bool penta_cvbc_check_source(const penta_module *module, const penta_option *options,
                                       size_t count, penta_error *err);

/* ---- what is inside ---- */

/* The parts: bytecode (decoded, after verification), stored, header ...; NULL after the last. */
PENTA_API const char *penta_cvbc_part_name(size_t i);
/* False: there is no such part, verification failed, or the policy requires a signature and there is
 * an objection. */
PENTA_API bool penta_cvbc_part(const penta_module *module, const char *part, penta_bytes *out,
                               penta_error *err);
/* The 40 bytes that are signed, or are to be in the space that was left for a signature. */
PENTA_API bool penta_cvbc_tbs(const penta_module *module, uint8_t out[40], penta_error *err);

typedef struct penta_cvbc_program {
    penta_bytes code; /* 4 bytes per instruction: opcode, flags, immediate */
    uint32_t count, entry, stack, variables, string_count;
} penta_cvbc_program;

/* The names of the programs in a file that has several, the first one first; NULL: there is no such, or the
 * file has one program, without a name. The option `program` of penta_open chooses the one that machines,
 * listings and the calls below are about. */
PENTA_API const char *penta_cvbc_program_name(const penta_module *module, size_t i);
PENTA_API bool penta_cvbc_program_get(const penta_module *module, penta_cvbc_program *out,
                                      penta_error *err);
PENTA_API bool penta_cvbc_string(const penta_module *module, size_t id, penta_bytes *text);
PENTA_API bool penta_cvbc_hint(const penta_module *module, size_t i, uint8_t *type,
                               uint8_t *priority, penta_bytes *data);
/* Row i of the symbol table: kind 1 function, 2 global, 3 array, 4 label, 5 source file. */
PENTA_API bool penta_cvbc_symbol(const penta_module *module, size_t i, uint8_t *kind,
                                 uint32_t *value, penta_bytes *name);

/* Checks of a program without its container; stack and variables (may be NULL): its needs. */
PENTA_API bool penta_cvbc_verify_code(penta_bytes code, uint32_t entry, uint32_t string_count,
                                      uint32_t *stack, uint32_t *variables, penta_report *report,
                                      void *user);

/* ---- changing a file: all of these write a new one ---- */

typedef struct penta_cvbc_signing {
    penta_bytes key; /* private, PEM; no data: the result is not signed */
    bool external;   /* do not embed the public key */
    uint32_t hash;   /* 0: as it was, or 1; 1 SHA-256, 2 BLAKE2b-256 */
    /* Of penta_cvbc_sign only: */
    bool replace;         /* also over a wrong signature, or changed contents */
    penta_report *report; /* gets each thing that was replaced; NULL: nobody */
    void *user;
    penta_bytes reserve; /* without key: a public key, PEM, for whose signature space is left */
} penta_cvbc_signing;

enum { PENTA_CVBC_AES256_GCM = 1, PENTA_CVBC_CHACHA20_POLY1305 };
enum { PENTA_CVBC_KEY_RAW, PENTA_CVBC_KEY_HKDF, PENTA_CVBC_KEY_PBKDF2 };

typedef struct penta_cvbc_sealing {
    penta_bytes secret; /* 32 bytes for a raw key */
    uint32_t cipher;    /* 0 becomes AES-256-GCM */
    uint32_t derivation;
    uint32_t iterations; /* of PBKDF2, in thousands; 0 becomes 600 */
    bool keep_debug;     /* although debug data stays readable */
} penta_cvbc_sealing;

/* Refuses a file whose signature is wrong or cannot be checked, or whose contents have other
 * digests, unless how->replace; what the policy of the module requires is required in any case. */
PENTA_API bool penta_cvbc_sign(const penta_module *module, const penta_cvbc_signing *how,
                               penta_buffer *out, penta_error *err);
/* The same by options: sign-key, or public-key to leave space for a signature, external-key, hash,
 * resign. What was replaced goes to replaced. */
PENTA_API bool penta_cvbc_sign_options(const penta_module *module, const penta_option *options,
                                       size_t count, penta_buffer *out, penta_report *replaced,
                                       void *user, penta_error *err);
/* Puts a signature made elsewhere over penta_cvbc_tbs, raw or DER, into the space that was left for
 * it. A wrong one is refused; so is one that cannot be checked, if the policy requires a good one.
 */
PENTA_API bool penta_cvbc_attach(const penta_module *module, penta_bytes signature,
                                 penta_buffer *out, penta_error *err);
/* signing NULL: a signed file is refused, since its signature would not survive. */
PENTA_API bool penta_cvbc_seal(const penta_module *module, const penta_cvbc_sealing *how,
                               const penta_cvbc_signing *signing, penta_buffer *out,
                               penta_error *err);
PENTA_API bool penta_cvbc_unseal(const penta_module *module, const penta_cvbc_signing *signing,
                                 penta_buffer *out, penta_error *err);

/* ---- writing a file ---- */

typedef struct penta_cvbc_builder penta_cvbc_builder;

PENTA_API penta_cvbc_builder *penta_cvbc_builder_new(penta_error *err);
PENTA_API void penta_cvbc_builder_free(penta_cvbc_builder *b); /* NULL is fine; wipes */
/* The 92 bytes of the core record; counts are computed, features that pins need are added. */
PENTA_API bool penta_cvbc_builder_core(penta_cvbc_builder *b, penta_bytes record, penta_error *err);
PENTA_API bool penta_cvbc_builder_pin(penta_cvbc_builder *b, penta_bytes record, penta_error *err);
PENTA_API bool penta_cvbc_builder_dependency(penta_cvbc_builder *b, penta_bytes record,
                                             penta_error *err);
PENTA_API bool penta_cvbc_builder_hint(penta_cvbc_builder *b, uint8_t type, uint8_t priority,
                                       penta_bytes data, penta_error *err);
PENTA_API bool penta_cvbc_builder_custom(penta_cvbc_builder *b, penta_bytes data, penta_error *err);
/* Instructions and strings are appended. */
PENTA_API bool penta_cvbc_builder_code(penta_cvbc_builder *b, penta_bytes code, penta_error *err);
PENTA_API bool penta_cvbc_builder_string(penta_cvbc_builder *b, penta_bytes text, penta_error *err);
PENTA_API bool penta_cvbc_builder_entry(penta_cvbc_builder *b, uint32_t entry, penta_error *err);
/* Header fields of the program; negative: what the verifier finds. */
PENTA_API bool penta_cvbc_builder_needs(penta_cvbc_builder *b, int64_t stack, int64_t variables,
                                        penta_error *err);
PENTA_API bool penta_cvbc_builder_symbol(penta_cvbc_builder *b, uint8_t kind, uint32_t value,
                                         penta_bytes name, penta_error *err);
PENTA_API bool penta_cvbc_builder_line(penta_cvbc_builder *b, uint16_t instruction, uint16_t file,
                                       uint32_t line, penta_error *err);
typedef struct penta_cvbc_variable {
    uint8_t storage, type;                /* 1 global, 2 stack, 3 array; 1 int32 */
    uint16_t slot, first, last, elements; /* last 65535: the whole program */
} penta_cvbc_variable;
PENTA_API bool penta_cvbc_builder_variable(penta_cvbc_builder *b,
                                           const penta_cvbc_variable *variable, penta_bytes name,
                                           penta_error *err);
/* A debug section as it is, instead of rows. */
PENTA_API bool penta_cvbc_builder_debug(penta_cvbc_builder *b, penta_bytes section,
                                        penta_error *err);
PENTA_API void penta_cvbc_builder_stamp(penta_cvbc_builder *b, uint64_t timestamp,
                                        uint64_t secure_timestamp, uint32_t build_number,
                                        bool deterministic);
PENTA_API void penta_cvbc_builder_source(penta_cvbc_builder *b, const uint8_t sha256[32]);
/* force: also where that makes the file larger. */
PENTA_API void penta_cvbc_builder_compress(penta_cvbc_builder *b, bool compress, bool force);
PENTA_API bool penta_cvbc_builder_sign(penta_cvbc_builder *b, const penta_cvbc_signing *how,
                                       penta_error *err);
PENTA_API bool penta_cvbc_builder_seal(penta_cvbc_builder *b, const penta_cvbc_sealing *how,
                                       penta_error *err);
/* Code, strings, debug tables, source hash and compiler fields from a program in the small C-like
 * language; file is its name in the debug tables. Pins and features are the caller's to declare, unless the program has
 * instructions of minor version 3: then it is declared as penta_cvbc_compile does it. */
PENTA_API bool penta_cvbc_builder_compile(penta_cvbc_builder *b, penta_bytes text, const char *file,
                                          bool portable, bool strip, penta_report *report,
                                          void *user);
/* The file, which passes the full check, else why it cannot be written. May be called again, and
 * appends the file again. */
PENTA_API bool penta_cvbc_builder_finish(penta_cvbc_builder *b, penta_buffer *out,
                                         penta_error *err);

typedef struct penta_cvbc_named {
    const char *name; /* 1 to 31 letters, digits, '_', '-' and '.'; NULL: the only one */
    const penta_module *module;
} penta_cvbc_named;

/* A container from others, with what the options of create say: target, pin, dependency, min-flash, min-ram,
 * max-steps, build-number, language, compress, source; sign-key, external-key, hash; key-file, password-file,
 * cipher, derive, iterations, keep-debug. Those with names become one file with 2 or more programs, which gets one
 * signature; the options are about the file and its first program, those of encryption about all.
 * SOURCE_DATE_EPOCH of the environment is the timestamp, else 0. */
PENTA_API bool penta_cvbc_create(const penta_cvbc_named *programs, size_t program_count,
                                 const penta_option *options, size_t count, penta_buffer *out,
                                 penta_error *err);
/* One from a source, with the hardware that it uses declared. Options: the same, portable and strip. What is wrong with the text goes to report; err is about the rest, and has code 0 when there were
 * such findings only. stop: as of penta_vm_new; may be NULL. */
PENTA_API bool penta_cvbc_compile(penta_bytes source, const char *name, const penta_option *options,
                                  size_t count, const volatile int *stop, penta_buffer *out,
                                  penta_report *report, void *user, penta_error *err);

/* ---- programs from before the container ---- */

typedef struct penta_cvbc_legacy {
    const char *wrapper; /* "conc-ccitt", "conc-modbus" or NULL */
    const char *layout;  /* "raw-words", "raw-struct", "counted-words", "counted-struct" */
    size_t instructions, strings;
} penta_cvbc_legacy;

PENTA_API bool penta_cvbc_legacy_detect(penta_bytes file, penta_cvbc_legacy *out);
/* Repaired unless keep; what was repaired goes to report. target NULL: any board. */
PENTA_API bool penta_cvbc_legacy_convert(penta_bytes file, const char *target, bool keep,
                                         penta_buffer *out, penta_report *report, void *user);

/* ---- machines ---- */

typedef struct penta_cvbc_state {
    uint32_t pc, sp;
    uint32_t error; /* of the machine: 0 none, 1 stack overflow ... 16 budget */
    uint64_t executed;
    bool waiting, final, ran_off; /* for the host; over; past the last instruction */
} penta_cvbc_state;

PENTA_API bool penta_cvbc_vm_state(const penta_vm *vm, penta_cvbc_state *out);
/* Word i of the stack from its bottom, a variable slot, the word i of an array. */
PENTA_API bool penta_cvbc_vm_stack(const penta_vm *vm, size_t i, int32_t *out);
PENTA_API bool penta_cvbc_vm_global(const penta_vm *vm, size_t slot, int32_t *out);
PENTA_API bool penta_cvbc_vm_element(const penta_vm *vm, size_t array, size_t i, int32_t *out);
PENTA_API const char *penta_cvbc_vm_error_name(uint32_t error); /* "STACK_OVERFLOW"; never NULL */

/* The board that answers host calls. Ranges, pin numbers and pin modes are checked before a
 * callback sees them; false from it is error 9. A NULL entry: the simulated board does it. */
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
    bool (*print)(void *user, const char *text, size_t size); /* not terminated */
} penta_cvbc_hal;

typedef struct penta_cvbc_simulator penta_cvbc_simulator;

/* trace: a line of output per event. hal is copied; NULL: everything is simulated. */
PENTA_API penta_cvbc_simulator *penta_cvbc_simulator_new(bool trace, const penta_cvbc_hal *hal,
                                                         penta_error *err);
PENTA_API void penta_cvbc_simulator_free(penta_cvbc_simulator *simulator); /* NULL is fine */
/* Answers the host call that the machine waits for; what was printed is appended to output. */
PENTA_API bool penta_cvbc_simulator_answer(penta_cvbc_simulator *simulator, penta_vm *vm,
                                           penta_buffer *output, penta_error *err);
PENTA_API uint64_t penta_cvbc_simulator_micros(const penta_cvbc_simulator *simulator);

/* ---- boards ---- */

typedef struct penta_cvbc_board {
    char name[32];
    uint64_t architecture, family, variant, features, flash_kb, ram_kb, ports, pins;
    bool any; /* takes everything */
} penta_cvbc_board;

PENTA_API const char *penta_cvbc_board_name(size_t i); /* NULL after the last */
/* The board file of a board with a name, which can be the start of one's own. False: no board has it. */
PENTA_API bool penta_cvbc_board_text(const char *name, penta_buffer *out, penta_error *err);
/* board: a name, or the path of a board file. */
PENTA_API bool penta_cvbc_board_find(const char *board, penta_cvbc_board *out, penta_error *err);
/* Every reason why the program does not fit goes to report; a bad board, what the full check finds
 * and an objection too. */
PENTA_API bool penta_cvbc_board_check(const penta_module *module, const char *board,
                                      penta_report *report, void *user);

enum { PENTA_CVBC_TRINITY_FILES = 4 };
PENTA_API const char *penta_cvbc_trinity_name(size_t i); /* "trinity_board.h" ... */
/* Code for a firmware with these containers. board NULL: the one that they name. Containers with
 * errors or an objection are refused; the note says which. */
PENTA_API bool penta_cvbc_trinity(const penta_module *const *modules, size_t count,
                                  const char *board, penta_buffer out[PENTA_CVBC_TRINITY_FILES],
                                  penta_error *err);

#ifdef __cplusplus
}
#endif
