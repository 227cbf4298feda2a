/* Writes containers. A build collects what the caller chooses. Everything else (counts, offsets,
 * digests, CRCs) is computed in a fixed order (CVBC 8.1): metadata, image, compress, encrypt,
 * digests, sign, CRCs. The assembler may override any field of any record, so that unusual files
 * can be written as text and back. */
#pragma once
#include "cvbc/cvbc.h"
#include "cvbc/format/hardware/board.h"

struct cvbc_override { /* bytes that replace a part of a record */
    uint8_t bytes[cvbc_integrity_bytes], mask[cvbc_integrity_bytes];
    bool used;
};
void cvbc_override_apply(const struct cvbc_override *o, uint8_t *record, size_t size);

enum {
    CVBC_GAP_MAX = 1 << 20
}; /* CVBC_GAP_MAX: most zeros between sections that a text need not contain */
struct cvbc_patch {
    uint32_t offset;
    penta_bytes bytes;
};

struct cvbc_build {
    struct cvbc_core core; /* its counts are computed; language 0 becomes C */
    struct writer pins, dependencies, hints, custom; /* encoded records of each list */
    uint16_t pin_count, dependency_count, hint_count;
    struct writer code; /* the instructions, each of 4 bytes */
    /* For a compiled program: per instruction 1 plus the offset of its call in the source, or 0. */
    struct writer places;
    struct writer strings; /* encoded records of the strings */
    uint32_t string_count;
    uint16_t entry;
    /* These are the programs after the first one (cvbc_build_program). The containers may also
     * be given as bytes, with a directory in `metadata` that is not changed. */
    struct writer entries, programs;
    uint16_t program_count;
    uint8_t first_name[CVBC_NAME_BYTES];
    penta_bytes programs_as_they_are;
    penta_bytes debug, trailing; /* trailing: unknown sections, which stay at the end of the file */
    uint16_t minor;
    uint64_t timestamp;
    uint32_t build_number;
    /* CVBC_DETERMINISTIC, and CVBC_COMPRESSED to compress if the result is smaller. */
    uint8_t flags;
    bool force_compression, without_security;
    uint8_t source_sha256[32];
    uint64_t secure_timestamp;
    uint8_t hash_algorithm; /* algorithm of the digest for the signature; 0 becomes 1, SHA-256 */
    struct private_key *sign_key;
    bool external_key; /* true if the public key is not embedded */
    /* If this is set, space is left for a signature by this key, which is made elsewhere. */
    const struct public_key *reserve;
    bool keep_debug;     /* Allows sealing other programs that have debug data, which is not
                          * encrypted. */
    uint8_t cipher;      /* algorithm for encryption, or 0 for none */
    uint32_t derivation; /* how the key is derived: a value of key_derivation_params */
    const struct cvbc_secret *secret;

    /* The assembler sets these fields; NULL or empty if the computed value is used. */
    struct cvbc_override header_over, directory_over, core_over, bytecode_over, security_over,
        integrity_over;
    bool has_metadata, has_security, has_stored, has_image, has_key, has_signature;
    penta_bytes metadata, security, stored, image, key, signature; /* used without changes */
    const struct cvbc_patch *patches; /* the bytes between and after the sections */
    size_t patch_count;
};

/* debug_info.c makes the rows of a debug section, whose names have at most 65535 bytes, the
 * section, and its text. */
struct cvbc_debug_rows {
    struct writer symbols, lines, variables;
};
void cvbc_debug_symbol(struct cvbc_debug_rows *rows, penta_bytes name, uint8_t kind,
                       uint32_t value);
void cvbc_debug_line(struct cvbc_debug_rows *rows, uint16_t instruction, uint16_t file,
                     uint32_t line);
void cvbc_debug_variable(struct cvbc_debug_rows *rows, penta_bytes name, struct cvbc_variable row);
void cvbc_debug_put(const struct cvbc_debug_rows *rows,
                    struct writer *out); /* writes nothing if there are no rows */
void cvbc_debug_free(struct cvbc_debug_rows *rows);
bool cvbc_debug_print(penta_bytes section,
                      struct writer *out); /* returns false if rows cannot express the section */

bool cvbc_build_failed(const struct cvbc_build *b); /* tells whether memory ran out for a record */
void cvbc_build_fini(struct cvbc_build *b);
void cvbc_build_string(struct cvbc_build *b, penta_bytes text);
void cvbc_build_inst(struct cvbc_build *b, uint8_t opcode, uint8_t flags, uint16_t immediate);
void cvbc_build_pin(struct cvbc_build *b, const struct cvbc_pin *pin);
/* pin.c reads pins from text. The place of a pin, such as C13, is written to the start of its
 * record. */
penta_bytes cvbc_option_part(penta_bytes *rest); /* takes the part before the next colon */
/* Reads a word of an enumerated field, or its number. */
bool cvbc_option_word(const char *field, penta_bytes text, uint64_t *value);
/* Appends pairs of a logical pin and a pin record to the custom metadata (CVBC 3.11). */
void cvbc_build_map(struct cvbc_build *b, const struct writer *pairs);
/* `logical` has a bit for each logical pin. Those pins whose places on the board have records,
 * and which are not mapped yet, are mapped. */
void cvbc_build_places(struct cvbc_build *b, const struct cvbc_board *board, uint32_t logical);
/* Gives what the build declares so far, as a file of minor version 3 would. Returns false if
 * memory ran out. */
struct cvbc_declared;
bool cvbc_build_declared(const struct cvbc_build *b, bool any_pin, struct cvbc_declared *out);
/* Adds the pins of the options. On a board that maps logical pins, a logical pin gets its place
 * and its pair in the map. */
bool cvbc_create_pins(struct cvbc_build *b, const struct cvbc_board *board,
                      const penta_option *options, size_t count, penta_error *err);
bool cvbc_pin_place(penta_bytes text, uint8_t *record);
void cvbc_build_pin_record(struct cvbc_build *b, const uint8_t *record);
/* Finds a field by its name. With a prefix, the name is the part after the prefix ("pin_",
 * drive). */
const struct layout_field *cvbc_field_find(const struct layout_field *fields, const char *prefix,
                                           penta_bytes name, size_t *offset);
/* Writes the value of a field. Returns false if the value does not fit. */
bool cvbc_field_put(const struct layout_field *field, uint64_t value, uint8_t *out);
void cvbc_build_hint(struct cvbc_build *b, unsigned type, unsigned priority,
                     penta_bytes data); /* defined in create.c */
/* Returns the features that a pin needs (CVBC 3.5) */
uint32_t cvbc_pin_features(uint8_t function);
size_t cvbc_build_count(const struct cvbc_build *b); /* returns the number of instructions so far */
/* Tells whether the switch of minor version 3 is among the dependencies; the header then has at
 * least that version. */
bool cvbc_build_enforced(const struct cvbc_build *b);
/* Adds a program: its container, and those fields of its entry that are not computed (or NULL). */
bool cvbc_build_program(struct cvbc_build *b, const uint8_t name[CVBC_NAME_BYTES],
                        penta_bytes container, const struct cvbc_override *over, penta_error *err);
void cvbc_build_entry(const uint8_t name[CVBC_NAME_BYTES], penta_bytes container,
                      uint8_t out[cvbc_entry_bytes]);
void cvbc_build_directory(const struct cvbc_build *b, uint8_t out[cvbc_directory_bytes]);

bool cvbc_build_write(struct cvbc_build *b, struct writer *out, penta_error *err);

/* These functions are the stages of a build. The disassembler uses them too, to print only what
 * differs from their results. */
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

/* declare.c and build.c define the functions below. */
struct cvbc_declaring {
    const struct cvbc_board *board;     /* the board that is the target, or NULL */
    const struct cvbc_program *program; /* set if the build has an image and no code, else NULL */
    bool any_pin;                       /* true if the program may use pins that are not known */
    bool enforce;                       /* true to set the switch of minor version 3 */
    /* Used for messages: the source, and a debug section; may be empty. */
    penta_bytes source, debug;
    struct findings *f;
};
/* Finds what the program of the build uses, and declares it in the build. If the build has pin
 * records already, they are compared with the uses instead. Uses that are not allowed, and those
 * that the board does not have, are findings. Returns false if there are any; *err has a code if
 * memory ran out. */
bool cvbc_declare(struct cvbc_build *b, const struct cvbc_declaring *how, penta_error *err);

/* Fills a build with everything that a module has, to write the file again. The build points to
 * the decoded image of the module. Returns false, with an error, if there is no decoded image. */
bool cvbc_build_from(struct cvbc_build *b, const struct cvbc_module *m, penta_error *err);
/* Adds the other programs of the module, encrypted as the build says. */
bool cvbc_build_programs_from(struct cvbc_build *b, const struct cvbc_module *m, penta_error *err);
/* Adds a module as another program. */
bool cvbc_build_add(struct cvbc_build *b, const uint8_t name[CVBC_NAME_BYTES],
                    const struct cvbc_module *m, penta_error *err);
/* Writes the two CRCs of a finished file. */
void cvbc_build_crcs(uint8_t *file, size_t size);
/* seal.c sets cipher, derivation and secret according to the options. The caller frees the
 * secret. */
bool cvbc_build_cipher(struct cvbc_build *b, struct cvbc_secret *secret,
                       const penta_option *options, size_t count, penta_error *err);

/* create.c fills a build from the options of create and compile, including pins. */
struct cvbc_creation {
    struct cvbc_build b;
    struct private_key *key;
    struct cvbc_secret secret;
};
bool cvbc_create_options(struct cvbc_creation *c, const penta_option *options, size_t count,
                         penta_error *err);
/* Copies code, strings and metadata of a module, before the options change them. */
bool cvbc_create_from(struct cvbc_creation *c, const struct cvbc_module *m, penta_error *err);
void cvbc_creation_fini(struct cvbc_creation *c);
/* Computes source_sha256, the SHA-256 of all source files one after another. */
bool cvbc_source_hash(const penta_option *options, size_t count, uint8_t out[32], penta_error *err);

/* resign.c rewrites a module without changing its stored bytecode. If `key` is set, it signs the
 * file; if `reserve` is set, it leaves space for a signature by that key; if neither is set, it
 * removes the signature. */
struct cvbc_resigning {
    struct private_key *key;
    const struct public_key *reserve;
    bool external_key;
    uint8_t hash_algorithm; /* 0 to keep the algorithm of the file */
    /* If this is true, the file is signed even if the old signature is wrong or cannot be
     * checked, and if digests do not fit the contents. `report` gets a finding for each value
     * that is replaced. */
    bool replace;
    penta_report *report;
    void *user;
};
/* Parses a file under the policy of another module, which must exist longer than the result. */
penta_module *cvbc_parse_under(penta_bytes file, const struct cvbc_policy *policy,
                               penta_error *err);
void cvbc_close_under(penta_module *module);
bool cvbc_resign(const struct cvbc_module *m, const struct cvbc_resigning *how, struct writer *out,
                 penta_error *err);
/* Puts a signature that was made elsewhere into the space left for it. The signature is raw, or
 * DER for ECDSA. It is refused if the policy of the module refuses the signed file. */
bool cvbc_attach(const struct cvbc_module *m, penta_bytes signature, struct writer *out,
                 penta_error *err);
