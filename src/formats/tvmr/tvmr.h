/* Declares programs of a ternary tensor machine (TVMR 4). layout.def has every field of the fixed
 * records.
 *
 *     image        header (48) | extension (8) ... | definition ... | instruction (8) ... | metadata
 *     extension    id u16 | major u16 | minor u16 | patch u16
 *     definition   register u8 | type u16 | flags u8 | ndims u8 | dim u16 ... | key_len u8 | key
 *     instruction  extension u16 | opcode u16 | A u8 | B u8 | C u8 | D u8          big-endian
 *     metadata     length u32 | JSON | XXH64 u64                    when flag 4 of the header is set
 *
 *     packed       header (48) | codec u8 | cipher u8 | 0 u16 | plain_size u32 | stored_size u32
 *                  | payload                                        when flag 1 or 2 is set
 *     card         "TVMR" | 1 u8 | 0 u8 | flags u16 | length u32 | JSON | image | CRC32 u32
 *     TVMW         version u16 | entries u16 | entry ... | XXH64 u64           weights, no program
 *     TERN         header (32) | definition ... | instruction (8) ...             the legacy format
 *
 * Numbers are little-endian, but the words of an instruction are big-endian. The expanded payload
 * of a packed file takes the place of everything from offset 48 on. TERN files are converted when
 * they are opened: everything but describe and encode sees the image that the program would be in
 * the current format. A card is opened as its image. */
#pragma once
#include "base/arena.h"
#include "base/bytes.h"
#include "core/driver.h"
#include "core/engine.h"
#include "core/layout/layout.h"
#include "crypto/hash.h"

#define LAYOUT(x) tvmr_##x
#define LAYOUT_FILE "tvmr/layout.def"
#include "core/layout/structs.h"

enum {
    TVMR_FORMAT = 4,
    TVMR_VERSION = 1,
    TVMR_COMPRESSED = 1,
    TVMR_ENCRYPTED = 2,
    TVMR_METADATA_FLAG = 4,
    TVMR_NULL = 0xff, /* the register byte that means "no register" */
    TVMR_BANK = 64,   /* number of registers in a bank */
    TVMR_INSN = 8,    /* size of an instruction in bytes */
    TVMR_REGDEF_MIN = 6,
    TVMR_ALLOCATED = 1,
    TVMR_FROZEN = 2, /* flag of a register definition: learning must not change it */
};
#define TVMR_MAGIC UINT32_C(0x524d5654)
#define TERN_MAGIC UINT32_C(0x4e524554)

enum tvmr_rule {
#define RULE(number, name, ...) TVMR_##name = TVMR_FORMAT << 16 | number,
#include "tvmr/rules.def"
};
extern const penta_rule tvmr_rules[];
extern const penta_trap tvmr_traps[];

/* format/isa.c defines the tables of instructions, types and patterns that this block declares. */

enum tvmr_core_op { /* the opcodes of the core; the opcodes of an extension are the row numbers
                     * of its .def file */
#define CORE(code, name, ...) TVMR_OP_##name = code,
#include "tvmr/isa.def"
#define RESERVED(code, name) TVMR_OP_##name = code,
#include "tvmr/reserved.def"
};
/* The group of a core opcode is its upper four bits. */
#define TVMR_GROUP(opcode) ((opcode) >> 12)
enum { TVMR_GROUP_COMPUTE = 3, TVMR_GROUP_TERNARY = 4, TVMR_GROUP_FLOW = 6, TVMR_GROUPS = 8 };

enum tvmr_extension_id {
#define EXTENSION(id, name, text, title) TVMR_ID_##name = id,
#include "tvmr/extensions.def"
    TVMR_ID_USER = 0x0100, /* first id of extensions that users add */
};
enum tvmr_type_id {
#define TYPE(id, name, ...) TVMR_TYPE_##name = id,
#include "tvmr/types.def"
    TVMR_TYPE_OF_USERS = 0x0103, /* first id of types that users add */
};

enum tvmr_pattern {
#define PATTERN(name, ...) TVMR_PATTERN_##name,
#include "tvmr/patterns.def"
};
extern const struct tvmr_pattern_info {
    const char *name;
    uint8_t used; /* how many of the operand bytes are used */
} tvmr_patterns[];

/* A profile selects which implementation to follow where implementations differ (TVMR 6.7). */
enum tvmr_profile { TVMR_PROFILE_PENTA, TVMR_PROFILE_TERNSIG };
const char *tvmr_profile_name(size_t i); /* Returns NULL after the last profile. */
const char *tvmr_dynamic_name(size_t i); /* Returns the name of a number that the default host
                                          * keeps; returns NULL after the last one. */
/* Reads the option 'profile'. *profile keeps its value when the option is absent. */
bool tvmr_profile_option(const penta_option *options, size_t count, enum tvmr_profile *profile,
                         penta_error *err);

struct tvmr_vm;
struct tvmr_insn;
enum tvmr_result { TVMR_NEXT, TVMR_HALTED, TVMR_YIELDED, TVMR_FAILED };
typedef enum tvmr_result tvmr_handler(struct tvmr_vm *vm, const struct tvmr_insn *in);

/* Describes an instruction of the core or of an extension. */
struct tvmr_op {
    uint16_t ext, opcode;
    const char *name; /* the name in capital letters, such as "RELU" */
    /* The mnemonics of a core instruction, such as "concat|cat". NULL for an extension, whose
     * mnemonic is the name in lower case. */
    const char *mnemonic;
    const char *bytes; /* the kinds of the operands, such as "dss-" (isa.def) */
    const char *text;  /* the order of the operands in text, for core instructions; NULL for
                        * extensions */
    uint32_t base;     /* the operand bytes before operands are filled in, for core instructions */
    enum tvmr_pattern pattern;
    tvmr_handler *run;  /* the handler of an instruction that a C program adds; NULL for other
                         * instructions */
    const char *domain; /* the domain operation that the instruction asks the host for, or NULL */
    const char *fields; /* the fields of the domain operation */
    const char *meaning;
};

struct tvmr_type {
    uint16_t id;
    const char *name;
    uint8_t bytes;
    const char *aliases; /* other names of the type, separated by blanks */
};

struct tvmr_extension {
    uint16_t id, major, minor, patch;
    const char *name, *title;
    const struct tvmr_op *ops; /* the instructions in the order of their opcodes */
    size_t count;
    const struct tvmr_type *types; /* the types that the extension adds */
    size_t type_count;
    uint64_t manifest; /* the checksum of the manifest that defines the extension, or 0 */
};

/* Tells whether the instruction has only a number and a name (reserved.def). */
static inline bool tvmr_op_reserved(const struct tvmr_op *op) { return !op->ext && !op->mnemonic; }

extern const struct tvmr_extension tvmr_standard[];       /* The table starts with the core and ends
                                                     * with a row whose name is NULL. */
const struct tvmr_extension *tvmr_extension_at(size_t i); /* Returns extension number i, the core
                                                           * first; returns NULL after the last. */
/* Returns NULL when no extension has this id. */
const struct tvmr_extension *tvmr_extension_find(uint16_t id);
/* The comparison ignores case. */
const struct tvmr_extension *tvmr_extension_named(penta_bytes name);
/* Returns NULL when the opcode has no instruction or is reserved. */
const struct tvmr_op *tvmr_op_find(uint16_t ext, uint16_t opcode);
/* Adds an extension for the rest of the process. Its id is at least TVMR_ID_USER. */
bool tvmr_extension_add(const struct tvmr_extension *extension, penta_error *err);
/* Adds an extension from a text file, so that the assembler, the disassembler, the verifier and
 * hosts know its instructions. The machine asks its host to carry out the instructions. A
 * manifest that is loaded again changes nothing. manifest.c defines both functions. */
bool tvmr_manifest_load(const char *path, penta_error *err);
bool tvmr_manifest_options(const penta_option *options, size_t count, penta_error *err);
/* Returns the id of a domain operation: extension << 16 | opcode of the first instruction that
 * asks for it. */
uint32_t tvmr_domain_id(const struct tvmr_op *op);
const struct tvmr_op *tvmr_domain_op(uint32_t id);
/* Writes the mnemonic, such as "tensor.add" or "relu", into text, which has at least 64 bytes.
 * An instruction of an extension that is not registered gives "0x0b01.add". */
void tvmr_mnemonic(const struct tvmr_op *op, char *text);

const struct tvmr_type *tvmr_type_at(size_t i); /* Returns the type number i, those of extensions
                                                 * too; returns NULL after the last. */
const struct tvmr_type *tvmr_type_named(penta_bytes name); /* Finds a type by its name or another
                                                            * of its names, ignoring case. */
const struct tvmr_type *tvmr_type_find(uint16_t id);

/* Writes "H0", or "null" for TVMR_NULL, into text, which has at least 5 bytes. */
void tvmr_register_name(uint8_t reg, char *text);
bool tvmr_is_register(penta_bytes name);

/* The types below are the parts of a parsed file. */

struct tvmr_regdef {
    const uint8_t *dims; /* ndims dimensions, each a little-endian u16 */
    penta_bytes key;
    uint32_t offset, size; /* where the definition is in the image */
    uint16_t type;
    uint8_t reg, flags, ndims;
};
static inline uint16_t tvmr_dim(const struct tvmr_regdef *r, unsigned i)
{
    return bytes_get16(r->dims + 2 * i);
}

struct tvmr_label {
    const char *name;
    uint32_t index;
};

struct tvmr_projection {
    const char *target, *bundle, *mapping, *modulator; /* the modulator may be NULL */
    int8_t weight;
    uint8_t delay;
    const char *density; /* the text of the number as the JSON has it */
};

/* The contents of the metadata section. Absent members are NULL, 0 or -1. */
struct tvmr_meta {
    const char *name, *domain;
    uint32_t version;
    bool has_version;
    int64_t input_dim, output_dim, skull[3];
    uint32_t *input_shape, *output_shape;
    size_t input_rank, output_rank;
    struct tvmr_label *labels;
    size_t label_count;
    struct tvmr_projection *projections;
    size_t projection_count;
};

/* A card is a package around an image. These are its parts. */
struct tvmr_card {
    penta_bytes json, image;
    size_t at;            /* offset of the image in the card */
    size_t sum_size;      /* size of the CRC32 after the image: 4, or 0 when the card has none */
    const char *id;       /* may be NULL */
    int64_t payload_size; /* size of the image as the JSON gives it; -1 when the JSON does not
                           * give it */
    penta_error error;    /* the error in the JSON; its code is 0 when the JSON is correct */
};

/* An entry of a weight file: the weights that have a key. Its members point into the file. */
struct tvmr_entry {
    penta_bytes key, dims, weights, temps;
    uint8_t has_temps; /* the byte of the file that tells whether temperatures follow */
    uint64_t offset, size;
};

struct tvmr_module {
    penta_module base;
    bool is_weights;
    struct tvmr_entry *entries; /* the entries, when the file is a weight file */
    size_t entry_count;
    bool is_card;
    struct tvmr_card card;
    struct tvmr_module *inner; /* the module of the image, when the file is a card; else NULL */
    struct arena arena;
    bool legacy, accept_mix, shapes;
    enum tvmr_profile profile;
    struct tvmr_header header;
    size_t header_size; /* 48, or less when the file is shorter than a header */
    struct tvmr_envelope_head envelope;
    penta_bytes stored;     /* the compressed or encrypted bytes of a packed file */
    penta_bytes image;      /* the plain image: the file itself, or its expanded or converted
                             * form */
    struct writer expanded; /* owns the bytes of an expanded or converted image */
    struct tvmr_extension_entry {
        uint16_t id, major, minor, patch;
    } * exts;
    size_t ext_count;
    struct tvmr_regdef *regs;
    size_t reg_count;
    penta_bytes code; /* `count` instructions of 8 bytes */
    size_t count;
    uint64_t checksum;          /* the checksum that the contents should have */
    bool mixed;                 /* The stored checksum is the one that the upstream writer
                                 * computes. */
    penta_bytes metadata;       /* the whole metadata section */
    penta_error metadata_error; /* Its code is 0 when the metadata is correct or absent. */
    struct tvmr_meta meta;
    penta_bytes trailing; /* the bytes of the image after its sections */
    penta_bytes tail;     /* the bytes of the file after the packed contents */
    struct tern_loss {
        uint32_t index;
        const char *what;
    } * losses; /* what the conversion of a legacy file could not keep */
    size_t loss_count;
    uint64_t tern_code; /* in a legacy file: the offset of its instructions */
    uint64_t tern_mix;  /* in a legacy file: the checksum that it should have */
};

/* Returns the version that .requires asks for when it gives only a name. */
struct tvmr_extension_entry tvmr_required_version(uint16_t id);

static inline const struct tvmr_module *tvmr_module(const penta_module *m)
{
    return (const struct tvmr_module *)m;
}
/* Tells whether offsets count in an expanded or converted image and not in the file. */
static inline bool tvmr_decoded(const struct tvmr_module *m)
{
    return m->image.data != m->base.file.data;
}

struct tvmr_words { /* An instruction as the file stores it. */
    uint16_t ext, opcode;
    uint8_t a[4];
};
static inline struct tvmr_words tvmr_word(const uint8_t *p)
{
    return (struct tvmr_words){
        (uint16_t)(p[0] << 8 | p[1]), (uint16_t)(p[2] << 8 | p[3]), {p[4], p[5], p[6], p[7]}};
}
/* Returns A to D as one number, the target of a jump. The lower half of the number is that of C
 * and D. */
static inline uint32_t tvmr_operands(const struct tvmr_words *w)
{
    return (uint32_t)bytes_uint(w->a, 4, true);
}

/* container.c defines what this block declares. */
int tvmr_probe(penta_bytes file, struct writer *evidence);
extern const struct driver_nested tvmr_nested;
penta_module *tvmr_parse(penta_bytes file, const penta_option *options, size_t count,
                         penta_error *err);
bool tvmr_encode(const penta_module *module, struct writer *out, penta_error *err);
void tvmr_close(penta_module *module);
/* Writes the plain image of these sections with its checksum. `metadata` may be empty. */
void tvmr_write(struct writer *out, const struct tvmr_extension_entry *exts, size_t ext_count,
                penta_bytes regdefs, size_t reg_count, penta_bytes code, penta_bytes metadata);
/* Writes a metadata section: length, JSON, hash. */
void tvmr_write_metadata(struct writer *out, penta_bytes json);

/* describe.c defines what this block declares. */
void tvmr_describe(const penta_module *module, const penta_visitor *visitor);
void tvmr_info(const penta_module *module, const penta_visitor *visitor);
const char *tvmr_protection(const penta_module *module, uint64_t offset, uint64_t *end);

/* envelope.c defines what this block declares. */
/* Expands m->stored into m->expanded. Returns false with an error, or without one when memory
 * ran out. */
bool tvmr_envelope_open(struct tvmr_module *m, const char *key_file, penta_error *damage,
                        penta_error *err);
/* Writes a packed form of a plain image, and sets bits 0 and 1 of its flags as needed. The form
 * is not encrypted when `key` is NULL. */
bool tvmr_envelope_write(struct writer *out, penta_bytes plain, bool compress, const uint8_t *key,
                         const uint8_t *nonce, penta_error *err);
driver_change tvmr_seal, tvmr_unseal, tvmr_convert;

/* card.c defines what this block declares. */
bool tvmr_is_card(penta_bytes file);
bool tvmr_card_parse(struct tvmr_module *m, const penta_option *options, size_t count,
                     penta_error *err);
void tvmr_card_verify(const struct tvmr_module *m, struct findings *findings);
void tvmr_card_describe(const struct tvmr_module *m, const penta_visitor *v);

/* weight_file.c defines what this block declares. */
bool tvmr_is_weights(penta_bytes file);
/* Parses a weight file. Returns false when it is damaged, or with an error. */
bool tvmr_weights_parse(struct tvmr_module *m, penta_error *err);
void tvmr_weights_describe(const struct tvmr_module *m, const penta_visitor *v);
void tvmr_weights_info(const struct tvmr_module *m, const penta_visitor *v);
void tvmr_weights_verify(const struct tvmr_module *m, struct findings *findings);

/* legacy.c defines what this block declares. */
/* Converts a TERN file into the image that the program would be in the current format. Returns
 * false with *damage or with an error. */
bool tvmr_legacy(struct tvmr_module *m, penta_error *damage, penta_error *err);
void tvmr_legacy_describe(const struct tvmr_module *m, const penta_visitor *v);

/* codecs.c, or codecs_plain.c when the libraries are missing, defines what this block declares. */
/* Returns false unless the data expands to exactly `size` bytes. */
bool tvmr_lz4_expand(penta_bytes in, uint8_t *out, size_t size);
bool tvmr_lz4_pack(penta_bytes in, struct writer *out);
enum verdict tvmr_cipher_open(const uint8_t key[32], penta_bytes header, penta_bytes in,
                              uint8_t *out);
bool tvmr_cipher_seal(const uint8_t key[32], const uint8_t *nonce, penta_bytes header,
                      penta_bytes in, struct writer *out,
                      penta_error *err); /* A random nonce is made when `nonce` is NULL. */
void tvmr_wipe(void *bytes, size_t size);

/* Computes the checksum of the upstream writer and of TERN files. container.c defines it. */
uint64_t tvmr_mix(penta_bytes bytes);

/* metadata.c, or metadata_plain.c, defines what this block declares. */
bool tvmr_metadata_read(penta_bytes json, struct tvmr_meta *meta, struct arena *arena,
                        penta_error *err);
bool tvmr_card_read(penta_bytes json, struct tvmr_card *card, struct arena *arena,
                    penta_error *err);

/* verify.c defines what this block declares. */
void tvmr_verify(const penta_module *module, struct findings *findings);
/* Returns the offset that findings give for an instruction. It counts in the file or in the
 * decoded image (tvmr_insn_decoded). */
uint64_t tvmr_insn_offset(const struct tvmr_module *m, size_t index);
bool tvmr_insn_decoded(const struct tvmr_module *m);

/* print.c defines what this block declares. */
bool tvmr_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err);
bool tvmr_print_at(const penta_module *module, uint64_t pc, struct writer *out);

/* Lists the instructions. isa.c defines it. */
void tvmr_isa(const penta_visitor *visitor);

/* assemble.c defines what this block declares. */
bool tvmr_assemble(struct source *source, const penta_option *options, size_t count,
                   struct writer *out, struct findings *findings);

/* driver.c defines what this block declares. */
extern const struct driver tvmr_driver;
