/* Makes the data of the object: those sections of the module that are in memory, and their
 * relocations. */
#include "coil/format/section_layout.h"
#include "coil/native/native.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Gives the name that sections with such contents usually have, or the module's own name if it
 * is the usual name followed by a dot and more. */
static void name_of(const struct coil_module *m, size_t i, bool addresses, char *name, size_t room)
{
    const struct coil_section *s = &m->sections[i];
    penta_bytes own = coil_string(m, s->name_idx);
    const char *stem = s->type == COIL_S_BSS   ? ".bss"
                       : s->flags & COIL_WRITE ? ".data"
                       : addresses             ? ".data.rel.ro"
                                               : ".rodata";
    size_t n = strlen(stem);
    snprintf(name, room, "%s", stem);
    bool plain =
        own.size > n && own.size < room && !memcmp(own.data, stem, n) && own.data[n] == '.';
    for (size_t k = 0; plain && k < own.size; k++)
        plain = isalnum(own.data[k]) || own.data[k] == '.' || own.data[k] == '_';
    if (plain) snprintf(name, room, "%.*s", (int)own.size, (const char *)own.data);
}

static void copy_section(struct coil_native *n, size_t i, bool addresses)
{
    const struct coil_section *s = &n->m->sections[i];
    char name[64];
    bool bss = s->type == COIL_S_BSS, writable = s->flags & COIL_WRITE || addresses;
    name_of(n->m, i, addresses, name, sizeof name);
    uint32_t made = coil_elf_section(&n->elf, name, bss ? COIL_ELF_NOBITS : COIL_ELF_PROGBITS,
                                     COIL_ELF_ALLOC | (writable ? COIL_ELF_WRITE : 0u), s->align);
    n->sections[i] = made;
    if (!made) return;
    penta_bytes bytes = coil_contents(n->m, i);
    if (bss)
        n->elf.sections[made].zeros = s->size;
    else
        writer_bytes(&n->elf.sections[made].data, bytes.data, bytes.size);
}

static uint32_t type_of(uint32_t type)
{
    bool relative = (type & 255) == COIL_RELOC_REL;
    switch (coil_reloc_width(type)) {
    case 1: return relative ? COIL_ELF_PC8 : COIL_ELF_8;
    case 2: return relative ? COIL_ELF_PC16 : COIL_ELF_16;
    case 4: return relative ? COIL_ELF_PC32 : COIL_ELF_32;
    default: return relative ? COIL_ELF_PC64 : COIL_ELF_64;
    }
}

static void sections_relocate(struct coil_native *n, const struct coil_reloc *r)
{
    uint32_t section = n->sections[(r->offset >> 32) - 1];
    if (!section || (r->type & 255) == COIL_RELOC_NONE) return;
    struct coil_native_ref to = coil_native_ref(n, r->symbol_idx);
    uint32_t type = type_of(r->type);
    if (!to.symbol && !n->absolute)
        n->absolute = coil_elf_symbol(&n->elf, bytes_of("coil.zero"),
                                      (struct coil_elf_symbol){.section = COIL_ELF_ABSOLUTE});
    coil_elf_reloc(&n->elf, section,
                   (struct coil_elf_reloc){r->offset & UINT32_MAX,
                                           to.symbol ? to.symbol : n->absolute, type,
                                           (int64_t)((uint64_t)to.addend + r->addend)});
}

bool coil_native_sections(struct coil_native *n)
{
    /* addresses[i] is 1 if section i contains addresses. */
    uint8_t *addresses = calloc(n->m->section_count + 1, 1);
    if (!addresses) return false;
    for (size_t i = 0; i < n->m->reloc_count; i++)
        if ((n->m->relocs[i].type & 255) != COIL_RELOC_NONE)
            addresses[(n->m->relocs[i].offset >> 32) - 1] = 1;
    for (size_t i = 0; i < n->m->section_count; i++)
        if (n->m->sections[i].flags & COIL_ALLOC && !coil_is_code(&n->m->sections[i]))
            copy_section(n, i, addresses[i]);
    free(addresses);
    for (size_t i = 0; i < n->m->reloc_count && !n->elf.failed; i++)
        sections_relocate(n, &n->m->relocs[i]);
    /* Every symbol that is defined here gets a symbol of the object, even if this object does
     * not use it, because other objects may. */
    for (uint32_t i = 0; i < n->m->symbol_count && !n->elf.failed; i++) {
        const struct coil_symbol *s = &n->m->symbols[i];
        bool data = s->section_idx && s->section_idx <= n->m->section_count &&
                    n->sections[s->section_idx - 1];
        if (s->bind != COIL_LOCAL && (data || (s->type == COIL_COMMON && !s->section_idx)))
            coil_native_ref(n, i);
    }
    return !n->elf.failed;
}
