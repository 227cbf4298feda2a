/* CockpitVM bytecode containers (CVBC 1) are signed, sealed and compressed programs for small
 * boards.
 *
 *     header (64) | metadata | security | programs | bytecode | debug
 *
 *     metadata   core (92) | pins (16 each) | dependencies (32 each) | hints (4 + n each) | custom
 *                | directory (36) | entries (68 each)        with flag 32, from 1.2 on
 *     security   security (20) | integrity (108) | public key | signature
 *     programs   containers, one for each entry: all programs but the first
 *     bytecode   stored: nonce (12) | ciphertext | tag (16) when encrypted; DEFLATE when compressed
 *                decoded: bytecode (16) | instructions (4 each) | strings {u32 length, text, NUL}
 *     debug      debug (24) | symbols | lines | variables
 *
 * All numbers are little-endian. penta writes sections at multiples of 4 and in the order above.
 * It reads sections anywhere after the header, when they do not overlap. The signature covers the
 * whole file, with the two CRCs and the signature itself as zeros; the AEAD covers the stored
 * bytecode.
 *
 * Reading goes from the outside in: verify.c checks the container; verify_protection.c the
 * signature, then the cipher, then DEFLATE; program.c parses the program, verify_program.c
 * checks it. Bytes are decoded only when they are needed, and only after their protection was
 * checked. */
#pragma once
#include "base/arena.h"
#include "base/thread/lock.h"
#include "core/driver.h"
#include "core/engine.h"
#include "core/layout/layout.h"
#include "crypto/keys.h"

#define LAYOUT(x) cvbc_##x
#define LAYOUT_FILE "cvbc/layout.def"
#include "core/layout/structs.h"

enum { CVBC_FORMAT = 3 };
enum {
    CVBC_MAJOR = 1,
    CVBC_MINOR_PROGRAMS = 2, /* the first minor version with several programs */
    CVBC_MINOR_ENFORCED = 3, /* the first minor version whose declarations are enforced */
    CVBC_MINOR_LMS = 4,      /* the first minor version with signatures of LMS */
    CVBC_PROGRAMS_MAX = 255, /* largest number of programs after the first one */
    CVBC_NAME_BYTES = 32,
    CVBC_SIZE_MIN = 128,
    /* Size of the two records of the security section: 128 bytes. */
    CVBC_PROTECTION_BYTES = cvbc_security_bytes + cvbc_integrity_bytes,
    CVBC_SEAL_BYTES = 28, /* size of nonce and tag */
    CVBC_PINS_MAX = 255,
    CVBC_STACK_MAX = 1023,
    CVBC_GLOBALS = 64,
    CVBC_ARRAYS = 16,
    CVBC_INFLATE_MAX = 16 << 20,
    CVBC_ITERATIONS_MAX = 10000000,
    CVBC_BUDGET = 10000000,
};
#define CVBC_MAGIC_NUMBER UINT32_C(0x43564243)

/* clang-format off */
enum cvbc_flag {
    CVBC_ENCRYPTED = 1, CVBC_COMPRESSED = 2, CVBC_SIGNED = 4, CVBC_HAS_DEBUG = 8,
    CVBC_DETERMINISTIC = 16, CVBC_FLAGS = 31, /* CVBC_FLAGS: the flags of version 1.0 */
    CVBC_HAS_PROGRAMS = 32,
};
/* clang-format on */
enum cvbc_inst_flag { CVBC_S = 0x01, CVBC_W = 0x02, CVBC_V = 0x40 };
/* The switch of minor version 3 is a dependency with this criticality and this name (CVBC 3.12).
 * Its required_features are bits of enum cvbc_need. */
enum { CVBC_ENFORCED = 4 };
#define CVBC_ENFORCED_NAME "cvbc"
enum cvbc_need {
    CVBC_NEED_DECLARED = 1, /* the program may use only what is declared; always set */
    CVBC_NEED_ANY_PIN = 2,  /* exception: the program may use any pin */
    CVBC_NEEDS = 3,         /* all bits that are defined */
};
enum cvbc_derivation { CVBC_KEY_RAW, CVBC_KEY_HKDF, CVBC_KEY_PBKDF2 };

enum cvbc_rule {
#define RULE(number, name, ...) CVBC_##name = CVBC_FORMAT << 16 | number,
#include "cvbc/rules.def"
};
extern const penta_rule cvbc_rules[];
extern const penta_trap cvbc_traps[];

/* clang-format off */
enum cvbc_operand {
    CVBC_OPERAND_NONE, CVBC_OPERAND_VALUE, CVBC_OPERAND_TARGET, CVBC_OPERAND_GLOBAL,
    CVBC_OPERAND_DEPTH, CVBC_OPERAND_ARRAY, CVBC_OPERAND_STRING,
};
/* clang-format on */
enum cvbc_op {
#define OP(code, name, ...) CVBC_OP_##name = code,
#include "cvbc/isa.def"
};
extern const struct cvbc_op_info {
    const char *mnemonic; /* NULL if the opcode is not defined */
    enum cvbc_operand operand;
    uint8_t flags, pops, pushes;
    uint8_t minor; /* the minor version that has the instruction; 0: all have it */
    const char *stack, *meaning;
} cvbc_ops[256];

/* names.c has the words of names.def. */
/* Returns NULL if the value has no word. */
const char *cvbc_name(const char *field, uint64_t value);
bool cvbc_value(const char *field, penta_bytes word, uint64_t *value);
/* These functions return the words of options, one at each call, and NULL after the last one. */
word_list cvbc_cipher_name, cvbc_derivation_name, cvbc_hash_name, cvbc_language_name,
    cvbc_pin_function_name, cvbc_hint_name, cvbc_pin_mode_name, cvbc_compatibility_name,
    cvbc_criticality_name;
const char *cvbc_feature(unsigned bit);
/* Gives a note for the value of a field, or NULL. */
const char *cvbc_note(const char *field, uint64_t value);

/* policy.c has the policy for keys, signatures and limits. */
struct cvbc_secret {
    uint8_t *bytes; /* the bytes are overwritten before they are freed */
    size_t size;
};
struct cvbc_board; /* struct cvbc_board is defined in format/hardware/board.h. */
struct cvbc_policy {
    struct public_key *trusted;
    size_t trusted_count;
    bool require_signature, require_low_s, has_secret;
    struct cvbc_secret secret;
    uint64_t inflate_max, iterations_max;
    struct cvbc_board *board; /* the board that the program must fit, or NULL */
};
bool cvbc_policy_options(struct cvbc_policy *policy, const penta_option *options, size_t count,
                         penta_error *err);
void cvbc_policy_free(struct cvbc_policy *policy);
/* Reads a key or a password from a file, for the options 'key-file' and 'password-file'. */
bool cvbc_secret_read(const char *path, bool password, struct cvbc_secret *out, penta_error *err);
void cvbc_secret_free(struct cvbc_secret *secret);
bool cvbc_public_key_file(const char *path, struct public_key *out, penta_error *err);
/* Reads the private key of option 'sign-key'. Option 'key-state' says where the state of an LMS
 * key is kept. */
struct private_key *cvbc_private_key_option(const penta_option *options, size_t count,
                                            penta_error *err);

struct cvbc_hint_row {
    struct cvbc_hint head;
    penta_bytes data;
};

struct cvbc_metadata {
    struct cvbc_core core;
    struct cvbc_pin *pins;
    struct cvbc_dependency *dependencies;
    struct cvbc_hint_row *hints;
    /* These count the items that the section really has. */
    size_t pin_count, dependency_count, hint_count;
    penta_bytes custom, rest;
    /* This is true if the counts fit the bytes; `rest` has the bytes after the items. */
    bool whole;
    bool has_directory; /* true if the flag of a directory is set */
    /* This is true if the directory and its entries are complete, without other bytes. */
    bool directory_whole;
    penta_bytes directory; /* the directory with its entries */
    struct cvbc_directory programs;
    struct cvbc_entry *entries;
    size_t entry_count;
    bool enforced;  /* true if the switch of minor version 3 exists */
    uint32_t needs; /* the bits of the switch, of enum cvbc_need */
};

struct cvbc_program { /* a decoded bytecode section */
    penta_bytes image;
    struct cvbc_bytecode head;
    const uint8_t *code; /* the instructions, each of 4 bytes */
    size_t count;
    penta_bytes *strings; /* the strings without their NUL */
    size_t string_count;
    penta_error flaw; /* why the section is malformed, or code 0; its offset is one in the image */
    uint8_t minor;    /* the minor version whose instructions the program may have */
};

enum cvbc_trust { CVBC_TRUST_NONE, CVBC_TRUST_EMBEDDED, CVBC_TRUST_KEY };

struct cvbc_opened {       /* the results of verification, in the order in which they are found */
    penta_error failure;   /* code 0 if no check has failed */
    enum cvbc_trust trust; /* the trust in the signature, set when it has been checked */
    size_t trusted_key;    /* for CVBC_TRUST_KEY: the number of the key in the policy */
    bool signature_good, contents_checked;
    /* The structure and the signature are checked first. signature_passed is true if they are
     * good, or if there is no signature. */
    bool signature_checked, signature_passed;
    struct cvbc_program program;
    bool has_program; /* true if there is an image, well-formed or not */
};

struct cvbc_debug_tables {
    penta_bytes symbols, lines, variables; /* the tables in the debug section */
    bool whole;
};

struct cvbc_module {
    penta_module base;
    struct arena arena;
    struct cvbc_policy policy;
    struct cvbc_header header;
    size_t header_size; /* 64, or less if the file is shorter */
    penta_bytes metadata, security, programs, stored,
        debug; /* the sections in the file; a section that does not exist is empty */
    struct cvbc_metadata meta;
    bool has_protection; /* true if the file has the two records below */
    struct cvbc_security protection;
    struct cvbc_integrity integrity;
    penta_bytes public_key, signature;
    struct cvbc_module **inner; /* a module for each entry if all programs exist, else NULL */
    /* This is the program that the option 'program' chooses, or NULL for the first program,
     * which is the file itself. */
    struct cvbc_module *chosen;
    bool is_inner;

    struct lock lock; /* protects `opened`, which is filled at its first use */
    bool is_opened;
    struct cvbc_opened opened;
    /* The decoded bytes if they are not those of the file; overwritten before they are freed. */
    uint8_t *image;
    size_t image_size;
};

static inline const struct cvbc_module *cvbc_module(const penta_module *m)
{
    return (const struct cvbc_module *)m;
}
/* Returns the minor version whose instructions the program may have (CVBC 3.12). */
static inline uint8_t cvbc_program_minor(const struct cvbc_module *m)
{
    return m->meta.enforced ? CVBC_MINOR_ENFORCED : 0;
}
static inline bool cvbc_plain(const struct cvbc_module *m)
{
    return !(m->header.flags & (CVBC_ENCRYPTED | CVBC_COMPRESSED));
}
static inline uint64_t cvbc_offset(const struct cvbc_module *m, const uint8_t *p)
{
    return (uint64_t)(p - m->base.file.data);
}

/* container.c defines the functions below. */
int cvbc_probe(penta_bytes file, struct writer *evidence);
extern const struct driver_nested cvbc_nested;
penta_module *cvbc_parse(penta_bytes file, const penta_option *options, size_t count,
                         penta_error *err);
bool cvbc_encode(const penta_module *module, struct writer *out, penta_error *err);
void cvbc_close(penta_module *module);
/* Parses a container inside another one. The inner container uses the policy of the outer one,
 * which sets it before the inner one is opened. */
struct cvbc_module *cvbc_parse_inner(penta_bytes file, penta_error *err);
/* These functions list the pieces after the header in the order of the file, with the gaps
 * between them. */
/* clang-format off */
enum cvbc_piece_kind {
    CVBC_PIECE_METADATA, CVBC_PIECE_SECURITY, CVBC_PIECE_PROGRAMS, CVBC_PIECE_BYTECODE,
    CVBC_PIECE_DEBUG, CVBC_PIECE_GAP,
};
/* Most pieces: each section with a gap before it, and a gap at the end. */
enum { CVBC_PIECES = 2 * CVBC_PIECE_GAP + 1 };
/* clang-format on */
struct cvbc_piece {
    enum cvbc_piece_kind kind;
    penta_bytes bytes;
};
size_t cvbc_pieces(const struct cvbc_module *m, struct cvbc_piece pieces[CVBC_PIECES]);

/* programs.c handles the programs after the first one. Each is a module of its own, whose
 * offsets count from the start of its container. Findings and descriptions have the offsets in
 * the file. */
/* Returns false if memory ran out. */
bool cvbc_programs_find(struct cvbc_module *m, penta_error *err);
void cvbc_programs_free(struct cvbc_module *m);
void cvbc_programs_check(const struct cvbc_module *m, struct findings *f);
bool cvbc_programs_digests(const struct cvbc_module *m, struct cvbc_opened *o);
/* Returns false if a program failed. */
bool cvbc_programs_open(struct cvbc_module *m, struct cvbc_opened *o);
void cvbc_programs_verify(const struct cvbc_module *m, struct findings *f);
void cvbc_programs_fit(const struct cvbc_module *m, const struct cvbc_board *board,
                       struct findings *f); /* checks that every program fits the board */
void cvbc_programs_describe(const struct cvbc_module *m, const penta_visitor *visitor);
/* Returns the program with a name, which is m for the first program, or NULL if there is none. */
struct cvbc_module *cvbc_program_named(const struct cvbc_module *m, const char *name,
                                       penta_error *err);
/* Chooses a program, or the first one if `name` is NULL. It must be called before anything is
 * opened. */
bool cvbc_program_choose(struct cvbc_module *m, const char *name, penta_error *err);
bool cvbc_program_name_good(const uint8_t name[CVBC_NAME_BYTES]);
/* Returns the name of program i, where 0 is the first one, or NULL if there is none. */
const char *cvbc_program_name(const struct cvbc_module *m, size_t i);
/* Returns the offset of the next container after one of this size, counted from the first byte
 * of all containers. */
static inline size_t cvbc_program_next(size_t at, uint32_t size)
{
    return (at + size + 3) & ~(size_t)3;
}
/* Returns the module of the program that machines and listings use. */
const struct cvbc_module *cvbc_chosen(const struct cvbc_module *m);

/* program.c parses decoded sections and debug tables. */
bool cvbc_program_parse(penta_bytes image, struct arena *arena, struct cvbc_program *out,
                        /* Returns false if memory ran out; a flaw of the program is stored in
                         * *out. */
                        penta_error *err);
/* Tells whether a program may have this opcode. */
static inline bool cvbc_op_known(const struct cvbc_program *p, uint8_t opcode)
{
    return cvbc_ops[opcode].mnemonic && cvbc_ops[opcode].minor <= p->minor;
}
static inline struct cvbc_inst cvbc_inst_at(const struct cvbc_program *p, size_t i)
{
    const uint8_t *at = p->code + 4 * i;
    return (struct cvbc_inst){at[0], at[1], bytes_get16(at + 2)};
}
struct cvbc_debug_tables cvbc_debug_split(penta_bytes debug);
/* These functions read the next row of a table. They return false at the end, and at a row that
 * is damaged (*pos < size). */
bool cvbc_symbol_next(penta_bytes table, size_t *pos, struct cvbc_symbol *out, penta_bytes *name);
bool cvbc_variable_next(penta_bytes table, size_t *pos, struct cvbc_variable *out,
                        penta_bytes *name);
/* Finds the source file and line of an instruction in the debug tables. Returns false if they
 * are unknown. */
bool cvbc_line_of(const struct cvbc_module *m, uint64_t pc, penta_bytes *file, uint32_t *line);

/* verify.c defines the functions below. */
void cvbc_check_quick(const struct cvbc_module *m, struct findings *f);
void cvbc_check_full(const struct cvbc_module *m,
                     struct findings *f); /* The full check includes the quick check. */
/* verify_program.c has the rules of a program, which must be well-formed. */
struct cvbc_flow {
    /* This is true if no stack check is needed: depths are known, and calls and returns match. */
    bool proved;
    uint32_t stack;   /* depth of the deepest stack if known, else 0 */
    uint32_t globals; /* 1 + the highest slot that is used */
};
bool cvbc_verify_program(const struct cvbc_program *p, struct findings *f, uint64_t origin,
                         /* Returns false if memory ran out. */
                         bool decoded, struct cvbc_flow *flow);
/* Finds for each instruction how many words of its function are on the stack, including the
 * return index, or -1 if unknown, and the number of its function, where 0 is the program itself.
 * The caller frees both arrays. */
bool cvbc_stack_depths(const struct cvbc_program *p, int32_t **depths, uint32_t **functions);
void cvbc_verify(const penta_module *module, struct findings *findings);

/* verify_protection.c verifies the file under the policy of the module, once. */
const struct cvbc_opened *cvbc_open(const struct cvbc_module *m);
/* Tells whether the signature satisfies these requirements. It does not check other requirements
 * of the file, and returns true if the signature is wrong or cannot be checked: cvbc_open then
 * reports that. */
bool cvbc_meets(const struct cvbc_module *module, bool require_signature, bool require_low_s,
                penta_error *why);
/* Returns why the file should not be used even if its program does not matter, or NULL. It is no
 * reason that contents are sealed and there is no key. A signature that cannot be checked is a
 * reason only if a signature is required. */
const penta_error *cvbc_objection(const struct cvbc_module *m);
/* cvbc_tbs computes the message that is signed, with the digest in it. */
void cvbc_tbs(penta_bytes file, uint64_t signature_offset, uint64_t signature_size,
              uint8_t hash_algorithm, uint8_t out[40]);
void cvbc_digest(penta_bytes bytes, uint8_t out[32]); /* computes a SHA-256 digest */
struct cvbc_sealing {
    uint8_t flags, algorithm;
    uint32_t params; /* value of the field key_derivation_params */
};
void cvbc_aad(const struct cvbc_sealing *s, penta_bytes metadata, uint8_t out[48]);
/* Derives the AEAD key. Returns false if the derivation failed or is not allowed. */
bool cvbc_derive(const struct cvbc_sealing *s, const struct cvbc_secret *secret,
                 const uint8_t nonce[12], uint64_t iterations_max, uint8_t key[32],
                 penta_error *err);

/* describe.c defines the functions below. */
void cvbc_describe(const penta_module *module, const penta_visitor *visitor);
void cvbc_info(const penta_module *module, const penta_visitor *visitor);
const char *cvbc_protection(const penta_module *module, uint64_t offset, uint64_t *end);
/* Tells whether the file is encrypted and not signed, so that anybody could have changed what
 * the encryption does not cover (CVBC 8.9). *warning gets the warning. */
bool cvbc_sealed_only(const struct cvbc_module *m, penta_error *warning);

/* print.c and assemble.c define the functions below. */
bool cvbc_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err);
bool cvbc_print_at(const penta_module *module, uint64_t pc, struct writer *out);
void cvbc_isa(const penta_visitor *visitor);
bool cvbc_assemble(struct source *source, const penta_option *options, size_t count,
                   struct writer *out, struct findings *findings);

/* seal.c has these functions of the driver. */
driver_change cvbc_seal, cvbc_unseal;

extern const struct engine cvbc_interp;
extern const struct host cvbc_host;
extern const struct driver cvbc_driver, cvbc_legacy_driver;
