/* The addresses of a module's sections when it runs: those that the linker would give them. */
#pragma once
#include "coil/coil.h"

enum { COIL_PAGE = 0x1000 };

/* The address of section i: its own in an executable, else the one that linking this file alone
 * would give it. */
uint64_t coil_section_address(const struct coil_module *m, size_t i);
/* Addresses of all sections into out; returns the first free address after them. */
uint64_t coil_section_addresses(const struct coil_module *m, uint64_t *out);
/* Type, flags and alignment of a section that has this name and says nothing more. */
struct coil_section coil_section_kind(penta_bytes name);
/* The order of section types in an address space: TEXT, INIT, FINI, RODATA, DATA, BSS, others. */
unsigned coil_section_rank(uint32_t type);
/* The function that a relocatable file names as its entry, by section (from 0) and offset. The header
 * has section number << 32 | offset, as relocations have; the offset of a FUNC symbol alone is accepted,
 * too. */
bool coil_reloc_entry(const struct coil_module *m, size_t *section, uint64_t *offset);
/* The source line of an offset in a section (from 0), where .coil.line has one. */
bool coil_source_line(const struct coil_module *m, size_t section, uint64_t offset,
                      penta_bytes *file, uint64_t *line);
/* Field width of a relocation in bytes; 0: not one the static linker knows. */
unsigned coil_reloc_width(uint32_t type);
/* The value of a relocation, checked against its width. */
bool coil_reloc_fits(uint32_t type, uint64_t value);
