/* The sections of a module have addresses when it runs. In a relocatable file these are the ones
 * that the linker would give them. */
#pragma once
#include "coil/coil.h"

enum { COIL_PAGE = 0x1000 };

/* Returns the address of section i. In an executable it is the section's own, otherwise the one
 * that the section would get if this file were linked alone. */
uint64_t coil_section_address(const struct coil_module *m, size_t i);
/* Stores the addresses of all sections in `out`, and returns the first free address after them. */
uint64_t coil_section_addresses(const struct coil_module *m, uint64_t *out);
/* Returns the type, flags and alignment that a section with this name has by default. */
struct coil_section coil_section_kind(penta_bytes name);
/* Returns the rank of a section type in the order of addresses: TEXT, INIT, FINI, RODATA, DATA,
 * BSS, others. */
unsigned coil_section_rank(uint32_t type);
/* Finds the function that is the entry of a relocatable file, as a section (from 0) and an
 * offset. The header has section number << 32 | offset, as relocations have; a header with only
 * the offset of a FUNC symbol is accepted too. */
bool coil_reloc_entry(const struct coil_module *m, size_t *section, uint64_t *offset);
/* Finds the source line of an offset in a section (counted from 0). Returns false if .coil.line
 * does not have it. */
bool coil_source_line(const struct coil_module *m, size_t section, uint64_t offset,
                      penta_bytes *file, uint64_t *line);
/* Returns the width in bytes of the field that a relocation changes, or 0 if the static linker
 * does not know the relocation. */
unsigned coil_reloc_width(uint32_t type);
/* Tells whether the value of a relocation fits into its field. */
bool coil_reloc_fits(uint32_t type, uint64_t value);
