/* Writing containers. A build collects what is chosen; everything else (counts, offsets, digests,
 * CRCs) follows from it in a fixed order (CVBC 8.1): metadata, image, compress, encrypt,
 * digests, sign, CRCs. The assembler may override any field of any record, so that odd files
 * survive as text. */
#pragma once
#include "cvbc/cvbc.h"

struct cvbc_override { /* bytes that replace some of a record */
    uint8_t bytes[cvbc_integrity_bytes], mask[cvbc_integrity_bytes];
    bool used;
};
void cvbc_override_apply(const struct cvbc_override *o, uint8_t *record, size_t size);

enum { CVBC_GAP_MAX = 1 << 20 }; /* zeros between sections that a text need not spell out */
struct cvbc_patch {
    uint32_t offset;
    penta_bytes bytes;
};

struct cvbc_build {
    struct cvbc_core core; /* the counts are computed; language 0 becomes C */
    struct writer pins, dependencies, hints, custom; /* encoded records */
    uint16_t pin_count, dependency_count, hint_count;
    struct writer code;    /* 4 bytes per instruction */
    struct writer strings; /* encoded records */
    uint32_t string_count;
    uint16_t entry;
    /* Programs besides the first: cvbc_build_program. The containers may also be given as they are, with a
     * directory in metadata that is taken as it is. */
    struct writer entries, programs;
    uint16_t program_count;
    uint8_t first_name[CVBC_NAME_BYTES];
    penta_bytes programs_as_they_are;
    penta_bytes debug, trailing; /* trailing: unknown sections, kept after everything */
    uint16_t minor;
    uint64_t timestamp;
    uint32_t build_number;
    uint8_t flags; /* of CVBC_DETERMINISTIC, and CVBC_COMPRESSED: compress if smaller */
    bool force_compression, without_security;
    uint8_t source_sha256[32];
    uint64_t secure_timestamp;
    uint8_t hash_algorithm; /* 0 becomes 1, SHA-256 */
    const struct private_key *sign_key;
    bool external_key;                /* do not embed the public key */
    const struct public_key *reserve; /* leave space for a signature by this key, made elsewhere */
    bool keep_debug;                  /* encrypt other programs although theirs stays readable */
    uint8_t cipher;                   /* 0: none */
    uint32_t derivation;              /* key_derivation_params */
    const struct cvbc_secret *secret;

    /* for the assembler; NULL or empty: as computed */
    struct cvbc_override header_over, directory_over, core_over, bytecode_over, security_over,
        integrity_over;
    bool has_metadata, has_security, has_stored, has_image, has_key, has_signature;
    penta_bytes metadata, security, stored, image, key, signature; /* taken as they are */
    const struct cvbc_patch *patches; /* bytes between and after the sections */
    size_t patch_count;
};

/* debug_info.c: the rows of a debug section, names of at most 65535 bytes; the section; its text. */
struct cvbc_debug_rows {
    struct writer symbols, lines, variables;
};
void cvbc_debug_symbol(struct cvbc_debug_rows *rows, penta_bytes name, uint8_t kind,
                       uint32_t value);
void cvbc_debug_line(struct cvbc_debug_rows *rows, uint16_t instruction, uint16_t file,
                     uint32_t line);
void cvbc_debug_variable(struct cvbc_debug_rows *rows, penta_bytes name, struct cvbc_variable row);
void cvbc_debug_put(const struct cvbc_debug_rows *rows, struct writer *out); /* nothing: no rows */
void cvbc_debug_free(struct cvbc_debug_rows *rows);
bool cvbc_debug_print(penta_bytes section, struct writer *out); /* false: it has no such text */

bool cvbc_build_failed(const struct cvbc_build *b); /* memory ran out for a record */
void cvbc_build_fini(struct cvbc_build *b);
void cvbc_build_string(struct cvbc_build *b, penta_bytes text);
void cvbc_build_inst(struct cvbc_build *b, uint8_t opcode, uint8_t flags, uint16_t immediate);
void cvbc_build_pin(struct cvbc_build *b, const struct cvbc_pin *pin);
void cvbc_build_hint(struct cvbc_build *b, unsigned type, unsigned priority,
                     penta_bytes data);              /* create.c */
uint32_t cvbc_pin_features(uint8_t function);        /* that a pin asks for: CVBC 3.5 */
size_t cvbc_build_count(const struct cvbc_build *b); /* instructions so far */
/* One more program: its container, and what of its entry is not computed (or NULL). */
bool cvbc_build_program(struct cvbc_build *b, const uint8_t name[CVBC_NAME_BYTES],
                        penta_bytes container, const struct cvbc_override *over, penta_error *err);
void cvbc_build_entry(const uint8_t name[CVBC_NAME_BYTES], penta_bytes container,
                      uint8_t out[cvbc_entry_bytes]);
void cvbc_build_directory(const struct cvbc_build *b, uint8_t out[cvbc_directory_bytes]);

bool cvbc_build_write(struct cvbc_build *b, struct writer *out, penta_error *err);

/* The stages, for the disassembler, which prints the differences from their results. */
void cvbc_build_core(const struct cvbc_build *b, uint8_t out[cvbc_core_bytes]);
bool cvbc_build_bytecode(const struct cvbc_build *b, uint8_t out[cvbc_bytecode_bytes]);
void cvbc_build_protection(const struct cvbc_build *b, uint8_t flags, size_t stored_size,
                           size_t key_size, size_t signature_size,
                           uint8_t out[cvbc_security_bytes]);
void cvbc_build_integrity(const struct cvbc_build *b, penta_bytes metadata, penta_bytes image,
                          uint8_t out[cvbc_integrity_bytes]);
struct cvbc_sizes {
    size_t metadata, security, programs, stored, debug, trailing;
};
void cvbc_build_header(const struct cvbc_build *b, uint8_t flags, struct cvbc_sizes sizes,
                       uint8_t out[cvbc_header_bytes]);

/* A build of all that a module holds, to write the file again. The image is the decoded one, borrowed;
 * false if it is not available (err says why). */
bool cvbc_build_from(struct cvbc_build *b, const struct cvbc_module *m, penta_error *err);
/* The other programs of the module too, encrypted as the build says. */
bool cvbc_build_programs_from(struct cvbc_build *b, const struct cvbc_module *m, penta_error *err);
/* A module as another program of the build. */
bool cvbc_build_add(struct cvbc_build *b, const uint8_t name[CVBC_NAME_BYTES],
                    const struct cvbc_module *m, penta_error *err);
/* The two CRCs, over a finished file. */
void cvbc_build_crcs(uint8_t *file, size_t size);
/* seal.c: cipher, derivation and secret as the options say; free the secret afterwards. */
bool cvbc_build_cipher(struct cvbc_build *b, struct cvbc_secret *secret,
                       const penta_option *options, size_t count, penta_error *err);

/* create.c: a build from the options of create and compile. */
struct cvbc_creation {
    struct cvbc_build b;
    struct private_key *key;
    struct cvbc_secret secret;
};
bool cvbc_create_options(struct cvbc_creation *c, const penta_option *options, size_t count,
                         penta_error *err);
/* Code, strings and metadata of a module, before the options change them. */
bool cvbc_create_from(struct cvbc_creation *c, const struct cvbc_module *m, penta_error *err);
void cvbc_creation_fini(struct cvbc_creation *c);
/* SHA-256 of the files one after another: what source_sha256 holds. */
bool cvbc_source_hash(const penta_option *options, size_t count, uint8_t out[32], penta_error *err);

/* resign.c: rewrites a module with its stored bytecode as it is. key: signs with it; reserve: leaves
 * space for a signature by that key; neither: drops the signature. */
struct cvbc_resigning {
    const struct private_key *key;
    const struct public_key *reserve;
    bool external_key;
    uint8_t hash_algorithm; /* 0: as it was */
    /* Sign also over a signature that is wrong or cannot be checked, and over contents that do not
     * have their digests; what is replaced goes to report, one finding each. */
    bool replace;
    penta_report *report;
    void *user;
};
/* A file under the policy of another module, which must outlive it. */
penta_module *cvbc_parse_under(penta_bytes file, const struct cvbc_policy *policy,
                               penta_error *err);
void cvbc_close_under(penta_module *module);
bool cvbc_resign(const struct cvbc_module *m, const struct cvbc_resigning *how, struct writer *out,
                 penta_error *err);
/* Puts a signature that was made elsewhere into the space left for it; raw, or DER for ECDSA. What
 * the module's policy objects to is refused. */
bool cvbc_attach(const struct cvbc_module *m, penta_bytes signature, struct writer *out,
                 penta_error *err);
