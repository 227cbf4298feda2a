/* The addresses that a module's sections have when it runs. In a relocatable file they are those
 * that the linker would give. */
#pragma once
#include "coil/coil.h"

enum { COIL_PAGE = 0x1000 };

/* Returns the address of section i: its own in an executable, else the one that it would get if
 * this file alone were linked. */
uint64_t coil_section_address(const struct coil_module *m, size_t i);
/* Stores the addresses of all sections in `out`, and returns the first free address after them. */
uint64_t coil_section_addresses(const struct coil_module *m, uint64_t *out);
/* Returns the type, flags and alignment of a section that has this name if nothing else is said
 * about it. */
struct coil_section coil_section_kind(penta_bytes name);
/* Returns the place of a section type in the order of an address space: TEXT, INIT, FINI, RODATA,
 * DATA, BSS, others. */
unsigned coil_section_rank(uint32_t type);
/* Finds the function that a relocatable file names as its entry, by section (from 0) and offset.
 * The header has section number << 32 | offset, as relocations have; the offset of a FUNC symbol
 * alone is accepted too. */
bool coil_reloc_entry(const struct coil_module *m, size_t *section, uint64_t *offset);
/* Finds the source line of an offset in a section (from 0). Returns false if .coil.line has
 * none. */
bool coil_source_line(const struct coil_module *m, size_t section, uint64_t offset,
                      penta_bytes *file, uint64_t *line);
/* Returns the field width of a relocation in bytes, or 0 if the static linker does not know the
 * relocation. */
unsigned coil_reloc_width(uint32_t type);
/* Tells whether the value of a relocation fits its field. */
bool coil_reloc_fits(uint32_t type, uint64_t value);
