/* The linker makes one program from RISC-V objects. Its files do this:
 *
 *     elf.c         reads sections, symbols and relocations from the bytes of an object
 *     symbols.c     decides which objects take part, and what each name stands for
 *     sections.c    decides what each section is used for, and where it is in memory
 *     relocate.c    writes addresses into data, and finds what a relocation points at
 *     metadata.c    reads exports, imports and the stack size
 *     riscv.c       decodes RISC-V instructions by riscv.def
 *     addresses.c   follows addresses of code that have no relocation
 *     lower.c       makes instructions of the machine from RISC-V code, with lower_compute.c
 *     blocks.c      makes basic blocks of instructions, and finds which can be reached
 *     optimise/     has the passes over the blocks, one file each
 *     emit.c        writes the blocks as bytes, bitmask and jump table
 *     lines.c       writes the debug sections from the source lines that dwarf.c reads
 *     link.c        runs all of them in order
 *
 * Until sections.c gives data its address, an instruction that needs the address names a section
 * and an offset; afterwards it holds the address. Addresses of code are known only at the end,
 * since they are positions in the jump table. */
#pragma once
#include "base/arena.h"
#include "penta/pvm.h"
#include "pvm/pvm.h"

enum { LINK_SPILL_SLOTS = 2, LINK_SPILL_BYTES = 8 };
#define LINK_NONE UINT32_MAX

enum link_use {
    LINK_UNUSED, /* The program does not need the section. */
    LINK_CODE,
    LINK_RO_DATA,
    LINK_RW_DATA,
    LINK_ZERO_DATA,
    LINK_NOTE, /* The linker reads the section, and it is not loaded: it has metadata or exports. */
    LINK_DEBUG,
};

struct link_reloc {
    uint64_t offset; /* the offset of the relocated bytes in the section */
    uint32_t type, symbol;
    int64_t addend;
};

struct link_section {
    const char *name;
    uint32_t object;
    uint32_t elf_type;
    uint64_t elf_flags;
    enum link_use use;
    /* An earlier object has the same section group, so this section is not used. */
    bool discarded;
    bool reached;     /* Something that runs or is loaded refers to the section. */
    uint64_t address; /* the address of the section in the object */
    uint64_t file_offset;
    uint64_t size, align;
    penta_bytes data;          /* the bytes of the section; empty when all of them are zero */
    struct link_reloc *relocs; /* The relocations are ordered by offset. */
    size_t reloc_count;
    uint32_t placed; /* the address of the section in the program */
    /* In code sections, insn_at[i] is 1 + the index of the first instruction that was made of
     * the halfword at 2 * i, or 0 when there is none. */
    uint32_t *insn_at;
};

enum link_symbol_place { LINK_DEFINED, LINK_UNDEFINED, LINK_ABSOLUTE, LINK_COMMON };

struct link_symbol {
    const char *name;
    uint64_t value; /* the offset in the section, or a number; for a common symbol the alignment */
    uint64_t size;
    uint32_t section; /* an index in link.sections, for symbols that a section defines */
    uint32_t global;  /* an index in link.globals, or LINK_NONE when the name is local */
    enum link_symbol_place place;
    bool weak, function, section_symbol, tls;
};

struct link_object {
    const char *name;
    penta_bytes file;
    bool is64, relocatable;
    bool lazy; /* The object is a member of an archive that was not needed so far. */
    uint32_t section_first, section_count;
    struct link_symbol *symbols;
    size_t symbol_count;
    /* `functions` has the symbols that can name code, sorted by place (link_function_at). */
    const struct link_symbol **functions;
    size_t function_count;
    void *elf; /* the libelf handle of elf.c, which holds the names */
    /* `lines` are the source lines that dwarf.c has read, or NULL before they are asked for. */
    struct dwarf_lines *lines;
    bool lines_tried;
};

/* A struct link_group is a section group. Several objects may have the same group; only that of
 * the first object is used. */
struct link_group {
    const char *signature;
    uint32_t object;
    const uint32_t *members; /* the sections of this object that are in the group */
    size_t member_count;
};

/* A struct link_global says what a global name stands for. */
struct link_global {
    const char *name;
    uint32_t object, symbol;   /* the definition of the name; object LINK_NONE: it has none */
    uint32_t first_object;     /* the first object that uses or defines the name */
    uint32_t lazy_object;      /* the archive member that could define the name */
    uint32_t group_object;     /* the object whose section group with this signature is used */
    bool weak, common, needed; /* needed: a reference that is not weak exists */
    bool told;                 /* A finding already says that the name is not defined. */
    bool provided;             /* The linker defines the name, with the section and value below. */
    uint32_t section;          /* a section, or LINK_NONE when the value is a number */
    uint64_t value;
};

/* LINK_RELOCS_NOTE is the note of findings about the relocations of linked programs. With -r
 * nothing is moved; with --emit-relocs, ld.lld shortens calls and padding and leaves some
 * relocations where they were. */
#define LINK_RELOCS_NOTE                                                                           \
    "link with ld.lld -r, or --emit-relocs --no-relax (ld: -q), or pass the objects themselves"

/* A struct link_place is what a symbol stands for: a place in a section, or a number when
 * section is LINK_NONE. */
struct link_place {
    uint32_t section;
    int64_t offset;
};

enum link_ref {
    REF_NONE,
    REF_DATA, /* imm1 is an offset in section `to`, and becomes the address of that place. */
    /* imm1 becomes the address of REF_DATA, rounded to the nearest multiple of 4096. */
    REF_DATA_HIGH,
    REF_DATA_LOW, /* imm1 becomes the address of REF_DATA minus the multiple of REF_DATA_HIGH. */
    /* imm1 becomes the dynamic address of code. The code is at offset imm1 in section `to`, or,
     * once there are blocks, it is block `to`. */
    REF_CODE,
    REF_IMPORT, /* imm1 is an index in link.imports */
    REF_HEAP,   /* imm1 becomes the base of the heap */
};

/* A struct link_insn is an instruction with operands as in struct pvm_insn. The target of a jump
 * is offset imm2 in section `to`; once there are blocks, it is block `to`. A call loads the
 * dynamic address of the next block, to which it returns. */
struct link_insn {
    uint8_t op, a, b, d;
    uint8_t ref;   /* a number of enum link_ref */
    uint16_t live; /* the set of registers that are read afterwards (dead.c) */
    uint32_t to;
    int64_t imm1, imm2;
    uint32_t section, offset; /* the place of the RISC-V instruction from which this one was made */
};

struct link_block {
    struct link_insn *insns;
    uint32_t count;
    /* `next` is the block that follows without a jump, or to which the call at the end of this
     * block returns. */
    uint32_t next;
    bool reached;
    bool taken; /* Code or data uses the address of the block, or a call returns to it. */
    bool exported;
    bool in_data;   /* Loaded data holds the address of the block. */
    uint32_t table; /* 1 + the index of the block in the jump table, or 0 when it has no entry */
    uint32_t first; /* the index of the first item of the block */
    uint32_t pc;
};

/* A struct link_span is a function whose instructions keep their distances: the differences of
 * their dynamic addresses are the same as in the object. */
struct link_span {
    uint32_t section;
    uint64_t from, to; /* where the function starts and ends in the section */
};

struct link_item { /* A struct link_item is an instruction in the form in which it is written. */
    struct pvm_insn in;
    uint32_t target; /* the block to which the instruction jumps, or LINK_NONE */
    uint8_t size;    /* the size in bytes, or 0 for as few bytes as possible */
    /* `section` and `offset` are the place of the RISC-V instruction from which the item was
     * made. `section` is LINK_NONE when the linker added it. */
    uint32_t section, offset;
};

struct link_import {
    penta_bytes name;
    /* `index` is the index that the record of the import asks for, or that the linker gives the
     * import. */
    uint32_t index;
    bool has_index, used;
    uint8_t inputs, outputs;
    uint32_t section; /* the section of the import's first record, for messages */
};

struct link_export {
    penta_bytes name;
    struct link_place place;
    uint32_t block;
    uint32_t section; /* the section of the export's record */
    uint64_t offset;
};

struct link {
    struct arena arena;
    struct findings *findings;
    const char **where; /* receives the name of the object that a finding is about */
    penta_error err;    /* the error that is set when memory ran out */

    /* The following members are the options. */
    enum pvm_isa isa;
    bool isa_given, strip, to_jam;
    unsigned level; /* the level of optimisation, from 0 to 2 */
    uint64_t stack_min;
    const char *dispatch;
    /* `metadata` is metadata that comes before a standard program; its data is NULL when there
     * is none. */
    penta_bytes metadata;

    struct link_object *objects;
    size_t object_count, object_capacity;
    struct link_section *sections;
    size_t section_count, section_capacity;
    struct link_global *globals;
    size_t global_count, global_capacity;
    uint32_t *names; /* a hash table of 1 + the index of a global */
    size_t name_slots;
    struct link_group *groups;
    size_t group_count, group_capacity;
    unsigned bits; /* the word size of the objects, 32 or 64 */
    /* `spill` is the section with slots that keep the values of the registers which
     * lower_compute.c borrows. */
    uint32_t spill;

    uint64_t followed; /* how many instructions addresses.c has looked at */
    struct link_span *spans;
    size_t span_count, span_capacity;
    struct link_insn *insns;
    size_t insn_count, insn_capacity;
    struct link_block *blocks;
    size_t block_count, block_capacity;
    uint32_t *block_of; /* for each instruction: the index of its block */
    struct link_item *items;
    size_t item_count, item_capacity;
    struct link_import *imports;
    size_t import_count, import_capacity;
    struct link_export *exports;
    size_t export_count, export_capacity;

    uint32_t *order; /* sections in the order in which they are placed */
    size_t order_count;
    uint32_t ro_size, rw_size, rw_address, heap_base, stack_size;
    struct writer ro_data, rw_data;

    uint32_t *sequence; /* blocks in the order in which they are written */
    size_t sequence_count;
    struct writer code, mask, table;
    uint32_t table_count;
    uint8_t table_entry;
    struct writer debug_strings, debug_lines, debug_ranges;
};

/* Reports a finding about a place in an object, or about the whole program when section is
 * LINK_NONE. */
void link_report(struct link *l, uint32_t code, uint32_t section, uint64_t offset, const char *note,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Reports a finding about an object. */
void link_report_object(struct link *l, uint32_t code, uint32_t object, uint64_t file_offset,
                        const char *note, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Writes where the code at this place comes from, such as "in main at 0x1010, main.c:12".
 * Returns `text`. */
const char *link_where(struct link *l, uint32_t section, uint64_t offset, char *text, size_t size);

/* Adds an object, or reports a finding when the bytes are not an object (elf.c). */
bool link_read_elf(struct link *l, const char *name, penta_bytes file, bool lazy);
void link_close_elf(struct link_object *object);

/* The functions below are in symbols.c. */
bool link_resolve(struct link *l);
/* Finds the place that a relocation's symbol and addend stand for. Returns false, after a
 * finding, when the symbol is not defined. */
bool link_target(struct link *l, uint32_t section, const struct link_reloc *reloc,
                 struct link_place *out);
/* Defines the symbols that only the linker can define, such as __init_array_start. */
void link_provide(struct link *l);
/* Returns the function around a place, or NULL. */
const struct link_symbol *link_function_at(struct link *l, uint32_t section, uint64_t offset);

/* The functions below are in sections.c. */
bool link_classify(struct link *l);
bool link_order(struct link *l); /* Orders the sections; link_provide needs their order. */
bool link_is_data(enum link_use use);
/* Gives data its addresses, and puts them into the instructions. */
bool link_place(struct link *l);

/* The functions below are in relocate.c. */
/* Returns the relocation at an offset whose type the function `kind` accepts, or NULL. */
const struct link_reloc *link_reloc_at(const struct link_section *s, uint64_t offset,
                                       bool (*kind)(uint32_t type));
bool link_reloc_is_pointer(uint32_t type);
/* Calls `visit` with each place that loaded data of this section refers to. */
bool link_data_targets(struct link *l, uint32_t section,
                       bool (*visit)(struct link *l, struct link_place place, void *user),
                       void *user);
/* Writes the bytes of the data sections, with all addresses filled in. */
bool link_write_data(struct link *l);

/* The functions below are in metadata.c. */
bool link_read_exports(struct link *l);
bool link_read_stack(struct link *l);
/* Returns the import whose record is at this place. When the record is malformed, the function
 * reports a finding and returns LINK_NONE. */
uint32_t link_import_at(struct link *l, struct link_place record, uint32_t section,
                        uint64_t offset);
bool link_number_imports(struct link *l);

/* Makes the instructions of the machine from all code (lower.c). */
bool link_lower(struct link *l);

/* The functions below are in blocks.c. */
bool link_make_blocks(struct link *l);
/* Marks the blocks that the exports lead to; at level 0 marks all blocks. */
bool link_reach(struct link *l);
/* Returns the block that starts at a place of code, or LINK_NONE when none starts there. */
uint32_t link_block_from(const struct link *l, struct link_place place);
/* Returns the block at a place of code, or LINK_NONE when there is none. */
uint32_t link_block_at(const struct link *l, struct link_place place);
/* Returns the first block with instructions to which control goes on from an empty block.
 * Returns the block itself when it is not empty, or when only empty blocks follow. */
uint32_t link_through(const struct link *l, uint32_t block);
/* Returns the instruction that ends the block, or NULL when the next block simply follows. */
struct link_insn *link_last(const struct link_block *b);

/* Runs the passes of the optimiser (optimise/). */
bool link_optimise(struct link *l);

/* Writes code, bitmask and jump table (emit.c). */
bool link_emit_code(struct link *l);

/* The functions below are in lines.c and dwarf.c. */
enum { LINK_FRAMES = 8 };
struct source_place {
    const char *function, *function_file;
    uint32_t function_line;
    const char *file;
    uint32_t line, column; /* The line or the column is unknown when it is 0. */
};
bool link_write_lines(struct link *l);
/* Finds where the code at an address of the object comes from: the function, then the functions
 * that are inlined there, each with the line in it. Returns how many functions there are, or 0
 * when nothing is known. */
unsigned link_source_at(struct link *l, uint32_t object, uint64_t address,
                        struct source_place places[LINK_FRAMES]);
void link_source_free(struct link_object *object);

bool pvm_link(const penta_object *objects, size_t count, const penta_option *options,
              size_t option_count, struct writer *out, struct writer *map, const char **where,
              struct findings *findings);
