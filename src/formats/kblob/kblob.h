/* Kernel blobs are programs of a mock GPU (KBLOB 1).
 *
 *     header (16) | gap | instCount x instruction (16) | trailer
 *
 *     instruction:  opcode u8 | flags u8 | reserved u16     | arg0 u64       | arg1 u32
 *     version 2:    opcode u8 | d u8     | a u8    | b u8   | constant u64   | target u32
 *
 *     trailer:      KCRC, CRC-32 | metadata, which may be symbols: KSYM | names | lines | text
 *
 * All numbers are little-endian. arg0 is at offset 4 of its instruction, which is not aligned,
 * so it is read byte by byte. Machines ignore the gap (bytes 16 .. entryOffset) and the trailer;
 * tools keep them. */
#pragma once
#include "base/arena.h"
#include "core/driver.h"
#include "core/engine.h"
#include "core/layout/layout.h"

#define LAYOUT(x) kblob_##x
#define LAYOUT_FILE "kblob/layout.def"
#include "core/layout/structs.h"

#define KBLOB_MAGIC UINT32_C(0xB105B105)
#define KBLOB_TRAILER UINT32_C(0x4352434B)
#define KBLOB_SYMBOLS UINT32_C(0x4D59534B)
enum {
    KBLOB_FORMAT = 1,
    KBLOB_VERSION = 1,
    KBLOB_VERSION_2 = 2,
    KBLOB_FUELLED = 1, /* header flag of version 2: branches may go backwards */
    KBLOB_REGISTERS = 32,
    KBLOB_CONSTANT = 0xff, /* number of register b that stands for the constant in arg0 */
    KBLOB_FIRST_2 = 0x20,  /* first opcode of version 2 */
    KBLOB_INSTRUCTIONS_MAX = 1 << 20,
    KBLOB_BYTES_MAX = 64 << 20,
};

enum kblob_rule {
#define RULE(number, name, ...) KBLOB_##name = KBLOB_FORMAT << 16 | number,
#include "kblob/rules.def"
};
extern const penta_rule kblob_rules[];
extern const penta_trap kblob_traps[];

enum kblob_shape {
#define SHAPE(name, ...) KBLOB_SHAPE_##name,
#include "kblob/shapes.def"
    KBLOB_SHAPES
};
enum kblob_field { /* the fields of an instruction that a shape may use (shapes.def) */
                   KBLOB_FIELD_ARG0 = 1,
                   KBLOB_FIELD_ARG1 = 2,
                   KBLOB_FIELD_D = 4,
                   KBLOB_FIELD_A = 8,
                   KBLOB_FIELD_B = 16,
                   KBLOB_FIELD_B_REGISTER = 32,
                   KBLOB_FIELD_OFFSET = 64,
                   KBLOB_FIELD_TARGET = 128,
                   KBLOB_FIELD_SPECIAL = 256,
};
extern const struct kblob_shape_info {
    const char *operands;
    unsigned fields; /* the fields that the shape uses, as bits of enum kblob_field */
} kblob_shapes[KBLOB_SHAPES];

enum kblob_special {
#define SPECIAL(number, name, ...) KBLOB_SPECIAL_##name = number,
#include "kblob/specials.def"
    KBLOB_SPECIALS
};
/* Names of special values, such as "thread.x". */
extern const char *const kblob_specials[KBLOB_SPECIALS];

enum kblob_op {
    KBLOB_OP_BAD, /* The value is 0, so that an entry which was not filled in traps. */
#define OP(code, name, ...) KBLOB_OP_##name = code,
#include "kblob/isa.def"
    KBLOB_OP_DEFINED,
    /* The interpreter has these additional instructions: KBLOB_OP_END after the last
     * instruction, KBLOB_OP_BREAK at a breakpoint, two for counting, and KBLOB_OP_FUEL when the
     * fuel is used up. */
    KBLOB_OP_END = KBLOB_OP_DEFINED,
    KBLOB_OP_BREAK,
    KBLOB_OP_COUNT,
    KBLOB_OP_COUNT_START,
    KBLOB_OP_FUEL,
    KBLOB_OPS
};
extern const struct kblob_op_info {
    const char *mnemonic; /* NULL if the opcode is not defined */
    enum kblob_shape shape;
    const char *meaning;
} kblob_ops[KBLOB_OP_DEFINED];

/* Returns the row of an opcode in a blob of this version, or NULL if the version does not have
 * it. */
static inline const struct kblob_op_info *kblob_op(unsigned version, unsigned opcode)
{
    if (opcode >= (version == KBLOB_VERSION_2 ? (unsigned)KBLOB_OP_DEFINED : KBLOB_FIRST_2))
        return NULL;
    return kblob_ops[opcode].mnemonic ? &kblob_ops[opcode] : NULL;
}
static inline unsigned kblob_uses(const struct kblob_op_info *op)
{
    return kblob_shapes[op->shape].fields;
}

struct kblob_place { /* a name, and the place that it names */
    uint64_t value;
    uint32_t name;
    bool is_address;
};
/* The debug symbols of a blob, or none if they are damaged. The rows point into the file. */
struct kblob_symbols {
    size_t name_count, line_count;
    const uint8_t *names, *lines; /* the records `name` and `line` as bytes */
    penta_bytes text;             /* the strings, each with a zero byte after it */
    /* Name of the source file, "" if unknown; NULL if there are no symbols. */
    const char *file;
    struct kblob_place *places; /* sorted by place, those of instructions first */
    size_t instruction_count;
};
struct kblob_symbol {
    const char *name;
    uint64_t value, size;
    bool is_address;
};

struct kblob_module {
    penta_module base;
    struct arena arena;
    struct kblob_header header;
    size_t header_size; /* 16, or less if the file is shorter */
    penta_bytes gap;    /* bytes between header and code */
    uint64_t code_offset;
    struct kblob_inst *insts;
    size_t count;         /* number of instructions; less than instCount if the file is damaged */
    penta_bytes tail;     /* bytes after the code */
    bool tail_is_trailer; /* true if the tail has 16 bytes and begins with the magic number KCRC */
    bool check_trailer;   /* true if the caller wants the trailer to be checked */
    penta_error symbol_damage; /* its code is 0 if the symbols are right or there are none */
    struct kblob_symbols symbols;
    uint64_t instructions_max;
};

static inline const struct kblob_module *kblob_module(const penta_module *m)
{
    return (const struct kblob_module *)m;
}

/* container.c defines the functions below. */
int kblob_probe(penta_bytes file, struct writer *evidence);
extern const struct driver_nested kblob_nested;
penta_module *kblob_parse(penta_bytes file, const penta_option *options, size_t count,
                          penta_error *err);
void kblob_describe(const penta_module *module, const penta_visitor *visitor);
void kblob_info(const penta_module *module, const penta_visitor *visitor);
const char *kblob_protection(const penta_module *module, uint64_t offset, uint64_t *end);
bool kblob_encode(const penta_module *module, struct writer *out, penta_error *err);
/* Writes header, gap and instructions as bytes. */
void kblob_write(struct writer *out, const struct kblob_header *header, penta_bytes gap,
                 const struct kblob_inst *insts, size_t count);
void kblob_write_trailer(struct writer *out,
                         penta_bytes metadata); /* its CRC is over the bytes in `out` */
void kblob_close(penta_module *module);

/* These functions return the registers of an instruction of version 2. */
static inline unsigned kblob_d(const struct kblob_inst *in) { return in->flags; }
static inline unsigned kblob_a(const struct kblob_inst *in) { return in->reserved & 0xff; }
static inline unsigned kblob_b(const struct kblob_inst *in) { return in->reserved >> 8; }
/* Returns the metadata that the trailer announces, or as much of them as the file has. */
penta_bytes kblob_metadata(const struct kblob_module *m);

/* symbols.c: reads the metadata of the module if they are symbols. If they are damaged,
 * symbol_damage says why, and the module has no symbols. Returns false if memory ran out. */
bool kblob_symbols_read(struct kblob_module *m, penta_error *err);
struct kblob_symbol kblob_symbol_at(const struct kblob_symbols *s, size_t i);
/* Returns the source line of an instruction, or 0 if it is unknown. */
uint32_t kblob_line_of(const struct kblob_symbols *s, uint64_t pc);
/* Returns the name of an instruction, or the nearest name before it, or NULL. *start is the
 * instruction that has this name. */
const char *kblob_name_of(const struct kblob_symbols *s, uint64_t pc, uint64_t *start);
/* Returns the name of the bytes that contain an address, or NULL. *start is the address of these
 * bytes. */
const char *kblob_name_of_address(const struct kblob_symbols *s, uint64_t address, uint64_t *start);
/* Writes the place of an instruction as "name+2, file:12", without folders. Writes nothing if
 * neither name nor line is known. */
void kblob_write_place(const struct kblob_symbols *s, uint64_t pc, struct writer *out);
/* Tells whether the text may be the name of a source file. */
bool kblob_good_file(const char *name);
struct kblob_symbol_list { /* the symbols that an assembler has collected */
    struct kblob_symbol *names;
    struct kblob_line *lines;
    size_t name_count, name_capacity, line_count, line_capacity;
    const char *file;
};
/* Sorts the names and writes the symbols in the form that the assembler uses. */
void kblob_symbols_write(struct kblob_symbol_list *list, struct writer *out);
void kblob_describe_symbols(const struct kblob_module *m, const penta_visitor *visitor);

/* convert.c defines the function below. */
bool kblob_convert(const penta_module *module, const penta_option *options, size_t count,
                   struct writer *out, struct findings *findings);

/* flow.c has the rules about branches and loops, and finds instructions that never run. */
void kblob_verify_flow(const struct kblob_module *m, struct findings *findings);
void kblob_warn_unreached(const struct kblob_module *m, struct findings *findings);

/* verify.c defines the functions below. */
void kblob_verify(const penta_module *module, struct findings *findings);
/* Finds the first failure in the order of the checks. Returns its number, or 0 if there is none.
 * *instruction becomes the instruction that the rule is about, or UINT32_MAX. */
unsigned kblob_verdict(const penta_module *module, uint32_t *instruction);

/* print.c, assemble.c and isa.c define the functions below. */
bool kblob_print(const penta_module *module, const penta_option *options, size_t count,
                 struct writer *out, penta_error *err);
bool kblob_print_at(const penta_module *module, uint64_t pc, struct writer *out);
bool kblob_assemble_source(struct source *source, const penta_option *options, size_t count,
                           struct writer *out, struct findings *findings);
void kblob_isa(const penta_visitor *visitor);

/* driver.c defines kblob_driver. */
extern const struct driver kblob_driver;
