/* Declares PolkaVM programs, which have three dialects.
 *
 * polkavm is the dialect that the tool chain writes. v is the prefix varint of varint.h:
 *     50 56 4d 00 | isa u8 | length of the file u64 | section* | 00 | trailing bytes
 *     section:  id u8 | v length | payload, in this order, each at most once:
 *       1 memory   v ro size, v rw size, v stack size
 *       2 ro data  3 rw data
 *       4 imports  v count, count x u32 offset, names
 *       5 exports  v count, count x (v pc, v length, name)
 *       6 code     program, the only section that must be there
 *     128 debug strings, 129 line programs, 130 line program ranges, then others from 128 on
 *     program:  v N | Z u8 | v L | N x Z jump table | L code | (L+7)/8 bitmask
 *
 * jam is the dialect of the Gray Paper:
 *     program                                                         a generic program
 *     [v size, metadata] | u24 ro, u24 rw, u16 heap pages, u24 stack | ro | rw | u32 size | program
 *
 * doc is a flat layout (leb is LEB128):
 *     isa u8 | leb ro, rw, stack | ro | rw | leb L, code | leb size, jump table | Z u8
 *     | leb size, bitmask | leb size, leb pc* | leb size, (leb size, name)*
 *     | (leb size, name, leb pc)* | 00 | 3 x (leb size, debug bytes)
 *   A doc file may end after the bitmask and after each part that follows.
 *
 * A module is a program and the file that it was read from. The assembler and the converter make
 * programs, and one writer turns programs into bytes. */
#pragma once
#include "base/arena.h"
#include "core/driver.h"
#include "core/engine.h"
#include "pvm/format/decode.h"

enum {
    PVM_FORMAT = 2,
    PVM_CODE_MAX = 1 << 25,
    PVM_JUMP_TABLE_MAX = 1 << 24,
    PVM_IMPORTS_MAX = 1024,
    PVM_PAGE = 4096,
    PVM_PAGE_MAX = 65536,
};

enum pvm_rule {
#define RULE(number, name, ...) PVM_##name = PVM_FORMAT << 16 | number,
#include "pvm/rules.def"
};
extern const penta_rule pvm_rules[];
extern const penta_trap pvm_traps[];

enum pvm_dialect { PVM_POLKAVM, PVM_DOC, PVM_JAM };
extern const char *const pvm_dialect_names[];

/* clang-format off */
enum pvm_section_id {
    PVM_SECTION_END = 0, PVM_SECTION_MEMORY, PVM_SECTION_RO_DATA, PVM_SECTION_RW_DATA,
    PVM_SECTION_IMPORTS, PVM_SECTION_EXPORTS, PVM_SECTION_CODE,
    PVM_SECTION_OPTIONAL = 128, PVM_SECTION_DEBUG_STRINGS = 128, PVM_SECTION_DEBUG_LINES,
    PVM_SECTION_DEBUG_RANGES,
};
/* clang-format on */

struct pvm_section { /* A struct pvm_section is a section as it is in the file. */
    uint8_t id;
    uint64_t offset; /* the offset of the id byte */
    uint64_t payload_offset;
    penta_bytes payload;
    bool raw;    /* A writer would make other bytes from the fields of the section. */
    bool extra;  /* The kind of the section is unknown; the section is kept and never read. */
    size_t used; /* how many bytes of the payload were needed to read the section */
};

struct pvm_import {
    penta_bytes name;
    uint32_t pc; /* doc: the pc where the import is first used; other dialects: 0 */
    /* The range of the import lies outside of the names; for the host there is no such import. */
    bool broken;
};

struct pvm_export {
    penta_bytes name;
    uint32_t pc;
};

struct pvm_varint { /* A struct pvm_varint is a number that is not stored in its shortest form. */
    uint32_t index; /* the index of the number, in file order */
    uint8_t size, bytes[10];
};

/* An enum pvm_doc_end is the last part that a doc file has. */
/* clang-format off */
enum pvm_doc_end {
    PVM_DOC_BITMASK, PVM_DOC_IMPORT_OFFSETS, PVM_DOC_IMPORT_SYMBOLS, PVM_DOC_EXPORTS, PVM_DOC_DEBUG,
};
extern const char *const pvm_doc_end_names[]; /* The list ends with NULL. */
/* clang-format on */

struct pvm_program {
    enum pvm_dialect dialect;
    /* In jam, `spi` tells whether it is a standard program, and `has_metadata` whether metadata
     * comes before the program. */
    bool spi, has_metadata;
    penta_bytes metadata;
    uint32_t ro_size, rw_size, stack_size; /* sizes in memory; the data may be shorter */
    uint32_t heap_pages;                   /* jam: how many zero pages follow the rw data */
    penta_bytes ro_data, rw_data;
    struct pvm_import *imports;
    size_t import_count;
    struct pvm_export *exports;
    size_t export_count;
    struct pvm_code code; /* the code with its bitmask, jump table and ISA */
    penta_bytes debug_strings, debug_lines, debug_ranges;
    enum pvm_doc_end doc_end;
    /* `sections` has all sections of a polkavm file but the end section; the writer reads `raw`
     * and `extra`. */
    struct pvm_section *sections;
    size_t section_count;
    bool has_code;        /* polkavm: whether the code section is there */
    bool length_wrong;    /* polkavm: the length in the header is not that of the file */
    uint64_t length;      /* polkavm: the length in the header */
    penta_bytes trailing; /* polkavm: bytes after the end section */
    struct pvm_varint *varints;
    size_t varint_count;
};

struct pvm_module {
    penta_module base;
    struct arena arena;
    struct pvm_program program;
    /* These are the offsets of the parts in the file. */
    uint64_t ro_offset, rw_offset, code_offset, mask_offset, table_offset;
    /* Findings in doc and polkavm files are reported at these offsets. */
    uint64_t memory_offset, exports_offset, imports_offset;
    uint64_t varint_offset; /* the offset of the first number that is not in its shortest form */
    uint64_t parsed;        /* a damaged module is sound up to this offset */
};

static inline const struct pvm_module *pvm_module(const penta_module *m)
{
    return (const struct pvm_module *)m;
}

/* The functions below are in container.c. */
int pvm_probe(penta_bytes file, struct writer *evidence);
extern const struct driver_nested pvm_nested;
/* These functions return the words that an option may have, by index, from the table that reads
 * them. NULL comes after the last word. */
word_list pvm_dialect_name, pvm_isa_name, pvm_entry_name, pvm_style_name, jam_version_name,
    jam_chain_name;
bool pvm_dialect_of(const char *name, enum pvm_dialect *out, penta_error *err);
bool pvm_isa_of(const char *name, enum pvm_isa *out, penta_error *err);
penta_module *pvm_parse(penta_bytes file, const penta_option *options, size_t count,
                        penta_error *err);
bool pvm_encode(const penta_module *module, struct writer *out, penta_error *err);
/* Writes the program as a file of its dialect. */
bool pvm_write(const struct pvm_program *program, struct writer *out, penta_error *err);
void pvm_close(penta_module *module);

/* Returns the ISA of a version byte from 0 to 3 (dialect_polkavm.c). */
enum pvm_isa pvm_isa_of_version(uint8_t version);

/* Reads a generic program (N, Z, L, jump table, code, bitmask) in the form that test vectors
 * have. `out` points into the bytes. Returns false when the lengths do not fit (dialect_jam.c). */
bool pvm_generic_program(penta_bytes bytes, enum pvm_isa isa, struct pvm_code *out);

/* Tells whether a name is UTF-8, not empty, and without control characters (dialect_doc.c). */
bool pvm_doc_name_ok(penta_bytes name);
/* Returns the first field after which the file may end without losing anything (PVM 13.6,
 * dialect_doc.c). */
enum pvm_doc_end pvm_doc_shortest_end(const struct pvm_program *p);

/* The functions below are in describe.c and info.c. */
void pvm_describe(const penta_module *module, const penta_visitor *visitor);
void pvm_info(const penta_module *module, const penta_visitor *visitor);
void pvm_isa_list(const penta_visitor *visitor);

/* The functions below are in verify.c and verify_code.c. */
void pvm_verify(const penta_module *module, struct findings *findings);
void pvm_verify_code(const struct pvm_module *m, struct findings *findings);

/* The functions below are in reachable_blocks.c. */
struct pvm_code_bits;
void pvm_reach_verify(const struct pvm_module *m, const struct pvm_code_bits *bits,
                      struct findings *findings);

/* The functions below are in print.c. */
bool pvm_print(const penta_module *module, const penta_option *options, size_t count,
               struct writer *out, penta_error *err);
bool pvm_print_at(const penta_module *module, uint64_t pc, struct writer *out);
bool pvm_print_mnemonic_at(const penta_module *module, uint64_t pc, struct writer *out);
bool pvm_gas_at(const penta_module *module, uint64_t pc, const penta_option *options, size_t count,
                uint64_t *gas);

/* The functions below are in assemble.c. */
bool pvm_assemble(struct source *source, const penta_option *options, size_t count,
                  struct writer *out, struct findings *findings);

/* The functions below are in convert.c. */
driver_change pvm_convert;

/* The driver is in driver.c. */
extern const struct driver pvm_driver;
