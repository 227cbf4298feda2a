/* This file declares COIL objects (COIL 1, COIL 8). COIL is an intermediate language with typed,
 * nested operands.
 *
 *     object       header | tables and contents of sections, at the places that the header and the
 *                  section entries give, with zeros between them for alignment
 *     header       84 bytes: magic "COIL", version, flags, target, entry point, counts and
 *                  offsets of the tables, byte order
 *     section      52 bytes: type, flags, offset, size, address, alignment, name, link, info
 *     symbol       32 bytes: name, section (from 1; 0 undefined), value, size, type, binding, ...
 *     strings      zero-terminated, up to whatever comes next; names are offsets into them
 *     relocation   24 bytes: section << 32 | offset, symbol (from 0), type, addend
 *     contents     code: instructions without gaps; others: bytes; BSS has none in the file
 *
 *     instruction  opcode u8 | extended u8, after FF only | count u8 | operand * count
 *     operand      type u8 | ext u8 | type data | data
 *     ext          1 CONST, 2 VOLATILE, 4 ATOMIC, 8 SATURATE, and at most one of:
 *                    10 IMMEDIATE   data is a value of the type
 *                    20 DEFINITION  data is a u64: an id of a definition of the preprocessor
 *                    40 VARIABLE    data is a u64: a variable of the function
 *                    80 SYMBOL      data is a u64: the value at this symbol
 *                  none of them: a type alone, without data
 *     PARAM        type u8 | value u8: for FA to FE the second byte is no ext
 *
 * layout.def has the records field by field, types.def what follows each type, and isa.def the
 * instructions. Every field is in the byte order of the file. In natural layout the header has 88
 * bytes and a section entry 56 (container.c). The length of an operand follows from its own
 * bytes. */
#pragma once
#include "base/arena.h"
#include "coil/format/scopes.h"
#include "core/driver.h"
#include "core/engine.h"
#include "core/layout/layout.h"

#define LAYOUT(x) coil_##x
#define LAYOUT_FILE "coil/layout.def"
#include "core/layout/structs.h"

enum {
    COIL_FORMAT = 5,
    COIL_OPERANDS_MAX = 255,
    COIL_TYPE_LEVELS = 8,
    COIL_VECTOR_LEVELS = 3,
    COIL_REGISTERS = 16,
    COIL_NATURAL_HEADER = 88,
    COIL_NATURAL_SECTION = 56,
};
#define COIL_ABSOLUTE UINT32_C(0xFFFFFFF1)
#define COIL_VERSION_1 UINT32_C(0x00010000)

enum coil_rule {
#define RULE(number, name, ...) COIL_##name = COIL_FORMAT << 16 | number,
#include "coil/rules.def"
};
extern const penta_rule coil_rules[];
extern const penta_trap coil_traps[];

enum coil_type_op {
#define TYPE(code, name, ...) COIL_T_##name = code,
#include "coil/types.def"
};
enum coil_family {
    COIL_F_NONE,
    COIL_F_SIGNED,
    COIL_F_UNSIGNED,
    COIL_F_REAL,
    COIL_F_VECTOR,
    COIL_F_WIDE,
    COIL_F_MATRIX,
    COIL_F_TENSOR,
    COIL_F_AGGREGATE,
    COIL_F_ALIAS,
    COIL_F_SPECIAL,
    COIL_F_VOID,
};
enum coil_data {
    COIL_D_NONE,
    COIL_D_ELEM,
    COIL_D_BITS,
    COIL_D_FLOAT,
    COIL_D_COUNT,
    COIL_D_ROWS,
    COIL_D_DIMS,
    COIL_D_ORDER,
    COIL_D_MEMBERS,
    COIL_D_ALIAS,
    COIL_D_ID,
    COIL_D_MEMORY,
    COIL_D_NUMBER,
    COIL_D_VALUE,
    COIL_D_MEASURED,
};
struct coil_type_info {
    const char *text; /* the type as it is written in text; NULL if no type has this opcode */
    const char *name; /* name in upper case, such as INT32 */
    uint8_t family, bytes, align, data;
};
extern const struct coil_type_info coil_types[256];

enum coil_ext {
    COIL_CONST = 1,
    COIL_VOLATILE = 2,
    COIL_ATOMIC = 4,
    COIL_SATURATE = 8,
    COIL_QUALIFIERS = 15,
    COIL_IMMEDIATE = 16,
    COIL_DEFINITION = 32,
    COIL_VARIABLE = 64,
    COIL_SYMBOL = 128,
    COIL_VALUE_BITS = 240,
};

struct coil_member {
    uint16_t id;
    uint64_t offset;
    const struct coil_type *type;
};
struct coil_type {
    uint8_t op, ext;
    uint8_t rank; /* number of entries of dims in use: counts, rows and columns, or bit widths */
    /* True if the type is a type id or contains one. Its size is then known only when the ids
     * are bound to types. */
    bool open;
    /* True if the type is, or contains, a type that machines do not compute with (COIL 7.17.1). */
    bool bare;
    /* This is true if a struct coil_type_ids owns the type. Everything that names the type then
     * shares it, and it is never copied. */
    bool bound;
    /* counts, rows and columns, or bit widths; for SYMTENSOR the rank and the dimension. */
    uint16_t dims[4];
    uint32_t align, member_count;
    uint64_t size; /* size of a value in bytes, at most 2^48 */
    const struct coil_member *members;
    /* This is the type of the elements, or the type that an alias stands for. It is NULL for an
     * alias of a type id. */
    const struct coil_type *elem;
    uint64_t id; /* the type id that an alias stands for */
    /* The fields below are set only for closed types, which contain no type ids. */
    uint64_t digest; /* digest of the structure of the type; 0 if the type is not closed */
    /* For a type with many members this lists id << 16 | index of every member, in ascending
     * order. Otherwise it is NULL. */
    const uint32_t *by_id;
};
/* This struct has the types to which a program has given ids, in the order in which the text
 * does so. */
struct coil_type_ids {
    struct arena arena;
    struct coil_type_id {
        uint64_t id;
        const struct coil_type *type;
        bool bound;
    } * items;
    size_t count, capacity;
    struct coil_scopes index; /* finds an item by its id */
};

static inline bool coil_is_int(uint8_t op)
{
    return coil_types[op].family == COIL_F_SIGNED || coil_types[op].family == COIL_F_UNSIGNED;
}
static inline bool coil_is_scalar(uint8_t op)
{
    return coil_is_int(op) || coil_types[op].family == COIL_F_REAL;
}

/* Tells whether a type is a CINT or CUNT of a width that the machine computes with. */
enum { COIL_WIDE_BITS = 128 };
static inline bool coil_is_wide(const struct coil_type *t)
{
    return t && coil_types[t->op].data == COIL_D_BITS && t->dims[0] <= COIL_WIDE_BITS;
}

/* These are the types whose opcode needs no data after it, by opcode, with their sizes and
 * alignments. */
extern const struct coil_type coil_scalar_types[256];

/* type.c defines the functions below. */
/* Reads a type: its opcode, its ext byte and its data. If that fails, the error is in the
 * reader. */
const struct coil_type *coil_type_read(struct reader *in, struct arena *arena);
/* Reads the data of a type whose opcode and ext byte have been read already, as in an operand. */
const struct coil_type *coil_type_data(struct reader *in, struct arena *arena, uint8_t op,
                                       uint8_t ext);
void coil_type_write(struct writer *out, const struct coil_type *type);
void coil_type_write_data(struct writer *out, const struct coil_type *type);
/* Computes the size and alignment of a type from its parts. If a limit or a rule is broken, it
 * returns false, and *err has the error, at the offset `at`. */
bool coil_type_finish(struct coil_type *type, uint64_t at, penta_error *err);
bool coil_type_nesting(const struct coil_type *type, uint64_t at, penta_error *err);
/* Gives the rows and columns of a MAT, SQMAT or DIAGMAT, and 0 for other types. */
void coil_matrix_shape(const struct coil_type *t, unsigned *rows, unsigned *columns);
bool coil_type_equal(const struct coil_type *a, const struct coil_type *b);
/* Follows aliases and looks up type ids; ids may be NULL. Returns NULL if an id is not bound to
 * a type. */
const struct coil_type *coil_type_resolve(const struct coil_type_ids *ids,
                                          const struct coil_type *type);
/* Makes a deep copy in which every type id is replaced by its type, so that all sizes are known.
 * Types that `ids` owns are not copied, so the copy must not be used after `ids` is freed.
 * Returns NULL if an id is not bound to a type, or if there is no memory. */
const struct coil_type *coil_type_close(const struct coil_type_ids *ids,
                                        const struct coil_type *type, struct arena *arena,
                                        penta_error *err);
bool coil_type_bind(struct coil_type_ids *ids, uint64_t id, const struct coil_type *type,
                    penta_error *err);
void coil_type_unbind(struct coil_type_ids *ids, uint64_t id);
void coil_type_ids_free(struct coil_type_ids *ids);
/* Returns the member that has an id, or NULL if the type has no such member. */
const struct coil_member *coil_type_member(const struct coil_type *type, uint64_t id);
/* Returns the number of elements of a vector, or 0 for a type that is no vector. */
uint64_t coil_lanes(const struct coil_type *type);
const struct coil_type *coil_scalar(uint8_t op);
/* Reverses the bytes of every scalar in the memory image of a value. */
void coil_image_swap(const struct coil_type *type, uint8_t *image);

enum coil_form {
    COIL_TYPE_ONLY,
    COIL_IMM,
    COIL_DEF,
    COIL_VAR,
    COIL_SYM, /* The forms up to COIL_SYM are in the order of their bits in the ext byte. */
    COIL_ADDR,
    COIL_VARID,
    COIL_DEFID,
    COIL_STRING,
    COIL_MEM,
    COIL_REGISTER,
    COIL_PARAM,
    COIL_MEASURE,
};
struct coil_operand {
    uint8_t op, ext;
    uint8_t form;
    uint8_t parts_count; /* number of parts of a MEM operand: base[, index, scale][, disp] */
    /* These are the operand's offset from the start of the section, and its size in bytes. */
    uint32_t at, size;
    /* A MEM operand points to this type, SIZEOF and ALIGNOF measure it. Other operands have NULL
     * here. */
    const struct coil_type *type;
    uint64_t value;    /* an id, a scalar immediate (zero-extended), a register or a parameter */
    penta_bytes image; /* bytes of an immediate that is not a scalar */
    const struct coil_operand *parts;
};
struct coil_insn {
    uint8_t opcode, extended, count;
    uint32_t at, size;
    struct coil_operand operands[COIL_OPERANDS_MAX];
    struct coil_operand parts[COIL_OPERANDS_MAX * 4];
    size_t parts_count;
    struct arena arena; /* memory for the compound types of the operands */
    size_t arena_used;
};

/* insn.c and container.c define the functions below. */
/* Reads one instruction. It returns false, with the error in the reader, only for errors of the
 * level "bytes". The function empties the arena from time to time, so the types in `out` are
 * valid only until the next call. */
bool coil_insn_read(struct reader *in, struct coil_insn *out);
void coil_insn_write(struct writer *out, const struct coil_insn *insn);
void coil_insn_free(struct coil_insn *insn);

enum coil_group {
    COIL_G_NONE,
    COIL_G_FLOW,
    COIL_G_COMPARE,
    COIL_G_MOVE,
    COIL_G_STACK,
    COIL_G_MEMORY,
    COIL_G_ARITH,
    COIL_G_BITS,
    COIL_G_ATOMIC,
    COIL_G_VECTOR,
    COIL_G_NEVER,
    COIL_G_DEVICE,
    COIL_G_PORT,
    COIL_G_TYPING,
    COIL_G_MEMBER,
    COIL_G_PREPROC,
};
enum coil_op {
#define OP(code, name, ...) COIL_OP_##name = code,
#include "coil/isa.def"
    COIL_OP_VENDOR = 0xFF
};
enum coil_flag {
    COIL_Z = 1,
    COIL_S = 2,
    COIL_C = 4,
    COIL_V = 8,
    COIL_D = 16,
    COIL_N = 32,
    COIL_P = 64,
    COIL_FLAGS = 127,
};
struct coil_op_info {
    const char *name; /* mnemonic; NULL if no instruction has this opcode */
    const char *forms, *flags, *meaning;
    uint8_t group;
    /* These are the flags as bits. A flag that an instruction clears is in `writes` too. */
    uint8_t writes, clears;
};
extern const struct coil_op_info coil_ops[256];
void coil_op_counts(uint8_t opcode, unsigned *least, unsigned *most);
/* Writes a text such as "2 operands", "2 to 3 operands" or "2 or more operands". */
void coil_count_text(unsigned least, unsigned most, char *text, size_t room);
enum coil_unit {
#define UNIT(name) COIL_UNIT_##name,
#include "coil/kinds.def"
    COIL_UNITS,
    COIL_UNIT_ABI = 100
};
enum coil_condition {
#define CONDITION(name) COIL_IF_##name,
#include "coil/kinds.def"
    COIL_CONDITIONS
};
enum coil_memory_order {
#define ORDER(name) COIL_ORDER_##name,
#include "coil/kinds.def"
    COIL_ORDERS
};
struct coil_unit_op {
    uint8_t unit, code;
    const char *name;
    uint8_t least, most;
};
/* The list ends with an entry whose name is NULL. */
extern const struct coil_unit_op coil_unit_ops[];
const struct coil_unit_op *coil_unit_op(unsigned unit, uint8_t code);

extern const char *const coil_conditions[COIL_CONDITIONS], *const coil_orders[COIL_ORDERS];
extern const char *const coil_unit_names[COIL_UNITS], *const coil_qualifiers[4];

enum coil_section_type {
#define SECTION(name) COIL_S_##name,
#include "coil/kinds.def"
    COIL_SECTION_TYPES
};
enum { COIL_WRITE = 1, COIL_ALLOC = 2, COIL_EXEC = 4, COIL_STRINGS = 16, COIL_INFO = 32 };
enum { COIL_FILE_EXEC = 1, COIL_FILE_SHARED = 2, COIL_FILE_DEBUG = 8, COIL_FILE_RELOC = 16 };
enum coil_symbol_type {
#define SYMBOL(name) COIL_##name,
#include "coil/kinds.def"
    COIL_SYMBOL_TYPES
};
enum coil_binding {
#define BINDING(name) COIL_##name,
#include "coil/kinds.def"
    COIL_BINDINGS
};
enum coil_visibility {
#define VISIBILITY(name) COIL_##name,
#include "coil/kinds.def"
    COIL_VISIBILITIES
};
enum coil_reloc_type {
#define RELOC(name) COIL_RELOC_##name,
#include "coil/kinds.def"
    COIL_RELOC_TYPES
};

struct coil_module {
    penta_module base;
    struct arena arena;
    bool raw, natural, big_endian, abi;
    unsigned align; /* alignment that instructions must have; 0 if it is not checked */
    struct coil_header header;
    size_t header_size;
    struct coil_section *sections;
    struct coil_symbol *symbols;
    struct coil_reloc *relocs;
    size_t section_count, symbol_count, reloc_count;
    penta_bytes strings;
    /* This is 1 for each symbol whose name is an identifier that no other symbol has. */
    uint8_t *plain;
};

static inline const struct coil_module *coil_module(const penta_module *m)
{
    return (const struct coil_module *)m;
}
static inline bool coil_is_code(const struct coil_section *s)
{
    return s->type == COIL_S_TEXT || s->type == COIL_S_INIT || s->type == COIL_S_FINI;
}
/* Returns the contents of the section with index i, counted from 0. A BSS section has no
 * contents. */
penta_bytes coil_contents(const struct coil_module *m, size_t i);
/* Returns a reader of the contents of section i, from which instructions are read. */
struct reader coil_code_reader(const struct coil_module *m, size_t i, penta_error *err);
/* Returns the string at an offset of the string table, without its final zero. The result is
 * empty if the offset is bad. */
penta_bytes coil_string(const struct coil_module *m, uint64_t offset);
/* Tells whether a section is data with bytes in the file. */
static inline bool coil_is_data(const struct coil_section *s)
{
    return s->type == COIL_S_DATA || s->type == COIL_S_RODATA;
}
static inline penta_bytes coil_symbol_name(const struct coil_module *m, size_t i)
{
    return coil_string(m, m->symbols[i].name_idx);
}

/* container.c defines the functions below. */
int coil_probe(penta_bytes file, struct writer *evidence);
extern const struct driver_nested coil_nested;
penta_module *coil_parse(penta_bytes file, const penta_option *options, size_t count,
                         penta_error *err);
/* Writes the header in the byte order of the writer. If `natural` is true, the header has four
 * bytes of padding. */
void coil_header_put(struct writer *out, const struct coil_header *header, bool natural);
bool coil_encode(const penta_module *module, struct writer *out, penta_error *err);
void coil_close(penta_module *module);
/* describe.c defines the functions below. */
void coil_describe(const penta_module *module, const penta_visitor *visitor);
void coil_info(const penta_module *module, const penta_visitor *visitor);
extern const char *const coil_section_names[COIL_SECTION_TYPES]; /* names such as "TEXT" */
extern const char *const coil_symbol_names[COIL_SYMBOL_TYPES];
extern const char *const coil_bind_names[COIL_BINDINGS],
    *const coil_visibility_names[COIL_VISIBILITIES];
/* verify.c defines the function below. */
void coil_verify(const penta_module *module, struct findings *findings);
/* print_insn.c defines the functions below. */
/* Prints one instruction as text. If m is NULL, the text has indices in place of the names of
 * symbols and strings. */
void coil_print_insn(struct writer *out, const struct coil_module *m, const struct coil_insn *insn);
void coil_print_operand(struct writer *out, const struct coil_module *m,
                        const struct coil_operand *o);
/* print_real.c defines the function below. */
/* Prints the shortest text from which the same value is read. */
void coil_print_real(struct writer *out, double value, bool single);
/* print.c and assemble_operands.c define the functions below. */
bool coil_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err);
bool coil_print_at(const penta_module *module, uint64_t pc, struct writer *out);
/* Tells whether a word names a register, such as v0, reg300 and %1. */
bool coil_is_register(penta_bytes word);
struct coil_flow_at { /* what an instruction does that may jump */
    uint8_t opcode;
    bool conditional, direct; /* direct: the jump goes to the symbol in the next field */
    uint64_t symbol;
};
bool coil_flow_at(const struct coil_module *m, uint64_t pc, struct coil_flow_at *out);
uint64_t coil_next_pc(const penta_module *module, uint64_t pc);
bool coil_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc);
bool coil_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset);
void coil_isa(const penta_visitor *visitor);
/* assemble.c defines the function below. */
bool coil_assemble(struct source *source, const penta_option *options, size_t count,
                   struct writer *out, struct findings *findings);
/* container.c defines the function below. */
/* Tells whether a name can be written in text without quotes. */
bool coil_is_identifier(penta_bytes name);
driver_change coil_convert;
/* driver.c defines coil_driver. */
extern const struct driver coil_driver;
