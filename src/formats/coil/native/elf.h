/* An x86-64 object file under construction (ELF, System V ABI): sections with relocations, and
 * symbols. elf.c writes it as a file, and elf_text.c as text for the system's assembler. */
#pragma once
#include "base/writer.h"

enum coil_elf_section_type {
    COIL_ELF_PROGBITS = 1,
    COIL_ELF_NOBITS = 8,
    COIL_ELF_UNWIND = 0x70000001
};
enum { COIL_ELF_WRITE = 1, COIL_ELF_ALLOC = 2, COIL_ELF_EXEC = 4, COIL_ELF_TLS = 0x400 };
enum coil_elf_reloc_type {
    COIL_ELF_64 = 1,
    COIL_ELF_PC32 = 2,
    COIL_ELF_PLT32 = 4,
    COIL_ELF_32 = 10,
    COIL_ELF_32S = 11,
    COIL_ELF_16 = 12,
    COIL_ELF_PC16 = 13,
    COIL_ELF_8 = 14,
    COIL_ELF_PC8 = 15,
    COIL_ELF_GOTTPOFF = 22,
    COIL_ELF_PC64 = 24,
    COIL_ELF_REX_GOTPCRELX = 42,
};
enum coil_elf_symbol_type {
    COIL_ELF_NOTYPE,
    COIL_ELF_OBJECT,
    COIL_ELF_FUNC,
    COIL_ELF_SECTION,
    COIL_ELF_FILE,
    COIL_ELF_COMMON,
    COIL_ELF_TLS_SYMBOL
};
enum coil_elf_bind { COIL_ELF_LOCAL, COIL_ELF_GLOBAL, COIL_ELF_WEAK };
enum { COIL_ELF_UNDEFINED = 0, COIL_ELF_ABSOLUTE = 0xfff1, COIL_ELF_IN_COMMON = 0xfff2 };

struct coil_elf_reloc {
    uint64_t offset;
    uint32_t symbol, type;
    int64_t addend;
};
struct coil_elf_section {
    char *name;
    uint32_t type, flags;
    uint64_t align, zeros; /* zeros: size of a section of type NOBITS */
    struct writer data;
    struct coil_elf_reloc *relocs;
    size_t reloc_count, reloc_capacity;
};
struct coil_elf_symbol {
    char *name; /* name of the symbol; NULL for the symbol of a section */
    /* This is the number of the section in the object (from 1), or one of the three constants
     * above. */
    uint32_t section;
    uint64_t value, size;
    uint8_t type, bind, visibility;
};
struct coil_elf {
    struct coil_elf_section *sections; /* sections[0] is not used, as in ELF */
    struct coil_elf_symbol *symbols;   /* symbols[0] is not used, as in ELF */
    size_t section_count, section_capacity, symbol_count, symbol_capacity;
    bool failed; /* true if memory has run out */
};

void coil_elf_init(struct coil_elf *o);
void coil_elf_free(struct coil_elf *o);
/* These functions add a section or a symbol and return its number, or 0 if there is no memory.
 * They copy the name. */
uint32_t coil_elf_section(struct coil_elf *o, const char *name, uint32_t type, uint32_t flags,
                          uint64_t align);
uint32_t coil_elf_symbol(struct coil_elf *o, penta_bytes name, struct coil_elf_symbol symbol);
void coil_elf_reloc(struct coil_elf *o, uint32_t section, struct coil_elf_reloc reloc);
void coil_elf_write(const struct coil_elf *o, struct writer *out);
void coil_elf_text(const struct coil_elf *o, struct writer *out);
