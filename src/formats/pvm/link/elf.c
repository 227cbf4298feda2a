/* Reads ELF objects with libelf into the structs of link.h. Sizes in the file are checked against
 * the bytes that are there before they are used. */
#include "pvm/link/link.h"
#include <stdlib.h>
#include "base/array.h"
#include <gelf.h>

enum { MACHINE_RISCV = 243, ALIGN_MAX = 65536 };

struct elf_reader {
    struct link *l;
    Elf *elf;
    GElf_Ehdr header;
    struct link_object *object;
    uint32_t object_index;
    size_t names; /* the index of the section with the names of sections */
    /* This is how many bytes of the file no section has taken so far. Sections must not overlap,
     * so each takes its bytes from it. */
    size_t data_left;
};

static bool elf_bad_because(struct elf_reader *r, uint64_t offset, const char *what,
                            const char *note)
{
    link_report_object(r->l, PVM_LINK_BAD_ELF, r->object_index, offset, note, "%s", what);
    return false;
}
static bool elf_bad(struct elf_reader *r, uint64_t offset, const char *what)
{
    return elf_bad_because(r, offset, what, NULL);
}

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_386: return "i386";
    case EM_X86_64: return "x86-64";
    case EM_ARM: return "ARM";
    case EM_AARCH64: return "AArch64";
    case EM_MIPS: return "MIPS";
    case EM_PPC64: return "PowerPC";
    case EM_S390: return "S/390";
    case EM_BPF: return "BPF";
    default: return "another machine";
    }
}

static bool read_header(struct elf_reader *r)
{
    struct link *l = r->l;
    if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &r->header))
        return elf_bad(r, 0, "this is not an ELF file");
    if (r->header.e_machine != MACHINE_RISCV || r->header.e_ident[EI_DATA] != ELFDATA2LSB) {
        link_report_object(l, PVM_LINK_MACHINE, r->object_index, 18,
                           "compile with --target=riscv64-unknown-none-elf or riscv32",
                           "an ELF file for %s, machine number %u",
                           r->header.e_machine == MACHINE_RISCV ? "big-endian RISC-V"
                                                                : machine_name(r->header.e_machine),
                           (unsigned)r->header.e_machine);
        return false;
    }
    r->object->is64 = r->header.e_ident[EI_CLASS] == ELFCLASS64;
    r->object->relocatable = r->header.e_type == ET_REL;
    if (r->header.e_type != ET_REL && r->header.e_type != ET_EXEC && r->header.e_type != ET_DYN)
        return elf_bad(r, 16, "the file is neither an object nor a program");
    if (elf_getshdrstrndx(r->elf, &r->names)) return elf_bad(r, 50, "sections have no names");
    return true;
}

static bool read_section(struct elf_reader *r, size_t index, struct link_section *s)
{
    GElf_Shdr h;
    Elf_Scn *scn = elf_getscn(r->elf, index);
    if (!scn || !gelf_getshdr(scn, &h)) return elf_bad(r, 0, "a section header cannot be read");
    const char *name = elf_strptr(r->elf, r->names, h.sh_name);
    if (!name) return elf_bad(r, h.sh_offset, "a section's name lies outside the table of names");
    *s = (struct link_section){.name = name,
                               .object = r->object_index,
                               .elf_type = h.sh_type,
                               .elf_flags = h.sh_flags,
                               .address = h.sh_addr,
                               .file_offset = h.sh_offset,
                               .size = h.sh_size,
                               .align = h.sh_addralign ? h.sh_addralign : 1};
    if (h.sh_type == SHT_NULL || index == 0) {
        s->size = 0;
        return true;
    }
    if (s->align & (s->align - 1) || s->align > ALIGN_MAX) {
        if (h.sh_flags & SHF_ALLOC)
            return elf_bad(r, h.sh_offset, "a section's alignment is no power of two up to 65536");
        s->align = 1;
    }
    if (h.sh_type == SHT_NOBITS) return true;
    size_t size = r->object->file.size;
    if (h.sh_offset > size || h.sh_size > size - h.sh_offset)
        return elf_bad(r, h.sh_offset, "a section lies outside the file");
    if (h.sh_size > r->data_left) return elf_bad(r, h.sh_offset, "sections overlap");
    r->data_left -= (size_t)h.sh_size;
    s->data = bytes_slice(r->object->file, (size_t)h.sh_offset, (size_t)h.sh_size);
    return true;
}

static bool read_sections(struct elf_reader *r)
{
    struct link *l = r->l;
    size_t count = 0;
    if (elf_getshdrnum(r->elf, &count) || !count) return elf_bad(r, 40, "there are no sections");
    if (count > r->object->file.size / 40)
        return elf_bad(r, 60, "more sections than the file can hold");
    r->object->section_first = (uint32_t)l->section_count;
    r->object->section_count = (uint32_t)count;
    r->data_left = r->object->file.size;
    for (size_t i = 0; i < count; i++) {
        if (!ARRAY_GROW(l->sections, l->section_capacity, l->section_count, &l->err)) return false;
        if (!read_section(r, i, &l->sections[l->section_count])) return false;
        l->section_count++;
    }
    return true;
}

/* Finds the place of a symbol. Returns false when the section of the symbol does not exist. */
static bool symbol_place(struct elf_reader *r, const GElf_Sym *sym, size_t index, Elf_Data *wide,
                         struct link_symbol *out)
{
    size_t section = sym->st_shndx;
    if (sym->st_shndx == SHN_XINDEX) {
        Elf32_Word number = 0;
        if (wide && wide->d_size / sizeof number > index)
            memcpy(&number, (const char *)wide->d_buf + index * sizeof number, sizeof number);
        section = number;
    }
    if (sym->st_shndx == SHN_UNDEF) {
        out->place = LINK_UNDEFINED;
    } else if (sym->st_shndx == SHN_COMMON) {
        out->place = LINK_COMMON;
    } else if (sym->st_shndx >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX) {
        out->place = LINK_ABSOLUTE;
    } else if (!section || section >= r->object->section_count) {
        return false;
    } else {
        out->place = LINK_DEFINED;
        out->section = r->object->section_first + (uint32_t)section;
        if (!r->object->relocatable) out->value -= r->l->sections[out->section].address;
    }
    return true;
}

/* Tells whether this is symbol 0, which stands for "no symbol". */
static bool symbol_is_empty(const GElf_Sym *sym)
{
    return !sym->st_name && !sym->st_info && !sym->st_other && !sym->st_shndx && !sym->st_value &&
           !sym->st_size;
}

static Elf_Data *wide_indexes(struct elf_reader *r, size_t table)
{
    for (uint32_t i = 0; i < r->object->section_count; i++) {
        GElf_Shdr h;
        Elf_Scn *scn = elf_getscn(r->elf, i);
        if (scn && gelf_getshdr(scn, &h) && h.sh_type == SHT_SYMTAB_SHNDX && h.sh_link == table)
            return elf_getdata(scn, NULL);
    }
    return NULL;
}

static bool read_symbols(struct elf_reader *r, size_t table)
{
    struct link_object *o = r->object;
    GElf_Shdr h;
    Elf_Scn *scn = elf_getscn(r->elf, table);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    if (!data || !gelf_getshdr(scn, &h)) return elf_bad(r, 0, "the symbol table cannot be read");
    size_t entry = o->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), count = data->d_size / entry;
    Elf_Data *wide = wide_indexes(r, table);
    o->symbols = arena_alloc(&r->l->arena, count, sizeof *o->symbols, &r->l->err);
    if (!o->symbols) return false;
    o->symbol_count = count;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym))
            return elf_bad(r, h.sh_offset, "a symbol cannot be read");
        const char *name = elf_strptr(r->elf, h.sh_link, sym.st_name);
        uint64_t at = h.sh_offset + i * entry;
        if (!name) return elf_bad(r, at, "a symbol's name lies outside the table of names");
        if (!i && !symbol_is_empty(&sym)) return elf_bad(r, at, "symbol 0 is not empty");
        unsigned type = GELF_ST_TYPE(sym.st_info), binding = GELF_ST_BIND(sym.st_info);
        struct link_symbol *out = &o->symbols[i];
        *out = (struct link_symbol){.name = name,
                                    .value = sym.st_value,
                                    .size = sym.st_size,
                                    .section = LINK_NONE,
                                    .global = binding == STB_LOCAL ? LINK_NONE : 0,
                                    .weak = binding == STB_WEAK,
                                    .function = type == STT_FUNC,
                                    .section_symbol = type == STT_SECTION,
                                    .tls = type == STT_TLS};
        if (!symbol_place(r, &sym, i, wide, out))
            return elf_bad(r, at, "a symbol is in a section that is not there");
    }
    return true;
}

static int relocs_by_offset(const void *a, const void *b)
{
    const struct link_reloc *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return 0;
}

static bool read_relocs(struct elf_reader *r, Elf_Scn *scn, const GElf_Shdr *h)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    struct link_section *s = &r->l->sections[r->object->section_first + h->sh_info];
    size_t entry = r->object->is64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
    if (!data) return elf_bad(r, h->sh_offset, "relocations cannot be read");
    if (s->relocs) return elf_bad(r, h->sh_offset, "a section has two tables of relocations");
    size_t count = data->d_size / entry;
    struct link_reloc *relocs = arena_alloc(&r->l->arena, count, sizeof *relocs, &r->l->err);
    if (!relocs) return false;
    bool ordered = true;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        if (!gelf_getrela(data, (int)i, &rela))
            return elf_bad(r, h->sh_offset, "a relocation cannot be read");
        struct link_reloc *out = &relocs[i];
        *out = (struct link_reloc){.offset = rela.r_offset,
                                   .type = (uint32_t)GELF_R_TYPE(rela.r_info),
                                   .symbol = (uint32_t)GELF_R_SYM(rela.r_info),
                                   .addend = rela.r_addend};
        if (!r->object->relocatable) out->offset -= s->address;
        if (out->symbol >= r->object->symbol_count || out->offset > s->size)
            return elf_bad_because(r, h->sh_offset + i * entry,
                                   "a relocation lies outside of what it is about",
                                   r->object->relocatable ? NULL : LINK_RELOCS_NOTE);
        ordered = ordered && (!i || relocs[i - 1].offset <= out->offset);
    }
    if (!ordered) qsort(relocs, count, sizeof *relocs, relocs_by_offset);
    s->relocs = relocs;
    s->reloc_count = count;
    return true;
}

static bool read_group(struct elf_reader *r, Elf_Scn *scn, const GElf_Shdr *h)
{
    struct link *l = r->l;
    Elf_Data *data = elf_getdata(scn, NULL);
    if (!data || data->d_size < 4 || h->sh_info >= r->object->symbol_count)
        return elf_bad(r, h->sh_offset, "a section group has no signature");
    size_t count = data->d_size / 4;
    uint32_t *words = arena_alloc(&l->arena, count, sizeof *words, &l->err);
    if (!words || !ARRAY_GROW(l->groups, l->group_capacity, l->group_count, &l->err)) return false;
    memcpy(words, data->d_buf, count * sizeof *words);
    for (size_t i = 1; i < count; i++)
        if (!words[i] || words[i] >= r->object->section_count || words[i] == elf_ndxscn(scn))
            return elf_bad(r, h->sh_offset + 4 * i,
                           "a section group has a member that is not there");
    if (words[0] & GRP_COMDAT)
        l->groups[l->group_count++] = (struct link_group){r->object->symbols[h->sh_info].name,
                                                          r->object_index, words + 1, count - 1};
    return true;
}

/* Tells whether relocations of this section are used. They are when they belong to code or data,
 * and not to a table of the file. */
static bool section_has_relocs(const struct elf_reader *r, size_t index)
{
    if (!index || index >= r->object->section_count) return false;
    switch (r->l->sections[r->object->section_first + index].elf_type) {
    case SHT_NULL:
    case SHT_SYMTAB:
    case SHT_DYNSYM:
    case SHT_STRTAB:
    case SHT_REL:
    case SHT_RELA:
    case SHT_GROUP:
    case SHT_SYMTAB_SHNDX: return false;
    default: return true;
    }
}

static bool find_symbols(struct elf_reader *r, size_t *table)
{
    *table = 0;
    for (uint32_t i = 0; i < r->object->section_count; i++) {
        const struct link_section *s = &r->l->sections[r->object->section_first + i];
        if (s->elf_type != SHT_SYMTAB) continue;
        if (*table) return elf_bad(r, s->file_offset, "there are two tables of symbols");
        *table = i;
    }
    return true;
}

static bool read_tables(struct elf_reader *r)
{
    struct link_object *o = r->object;
    size_t symbols;
    if (!find_symbols(r, &symbols)) return false;
    if (symbols && !read_symbols(r, symbols)) return false;
    for (uint32_t i = 1; i < o->section_count; i++) {
        GElf_Shdr h;
        Elf_Scn *scn = elf_getscn(r->elf, i);
        if (!scn || !gelf_getshdr(scn, &h)) return elf_bad(r, 0, "a section header cannot be read");
        if (h.sh_type == SHT_REL && h.sh_size && o->relocatable)
            return elf_bad(r, h.sh_offset, "relocations without addends");
        /* Allocated sections of relocations are for a loader, and do not belong to one section. */
        bool relocs = h.sh_type == SHT_RELA && !(h.sh_flags & SHF_ALLOC);
        if (!relocs && h.sh_type != SHT_GROUP) continue;
        if (h.sh_link != symbols)
            return elf_bad(r, h.sh_offset, "a section refers to symbols that are not there");
        if (h.sh_type == SHT_GROUP && !read_group(r, scn, &h)) return false;
        if (!relocs) continue;
        if (!section_has_relocs(r, h.sh_info))
            return elf_bad(r, h.sh_offset, "relocations of a section that cannot have any");
        if (!read_relocs(r, scn, &h)) return false;
    }
    return true;
}

/* Gives the code sections of a relocatable object addresses that debug information can refer to.
 * They have none in the file. */
static void give_addresses(struct elf_reader *r)
{
    uint64_t at = 0x10000;
    for (uint32_t i = 1; r->object->relocatable && i < r->object->section_count; i++) {
        struct link_section *s = &r->l->sections[r->object->section_first + i];
        s->address = 0;
        if (!(s->elf_flags & SHF_EXECINSTR) || s->elf_type == SHT_NOBITS) continue;
        s->address = at;
        at += (s->size + 0xffff) & ~UINT64_C(0xffff);
    }
}

bool link_read_elf(struct link *l, const char *name, penta_bytes file, bool lazy)
{
    if (!ARRAY_GROW(l->objects, l->object_capacity, l->object_count, &l->err)) return false;
    struct link_object *o = &l->objects[l->object_count];
    *o = (struct link_object){.name = name, .file = file, .lazy = lazy};
    struct elf_reader r = {.l = l, .object = o, .object_index = (uint32_t)l->object_count++};
    elf_version(EV_CURRENT);
    /* The names of symbols and sections point into the libelf handle, so it is closed only after
     * linking. */
    r.elf = elf_memory((char *)(uintptr_t)file.data, file.size);
    o->elf = r.elf;
    if (!r.elf) return elf_bad(&r, 0, "this is not an ELF file");
    if (file.size >= 4 && !memcmp(file.data, "BC\xc0\xde", 4))
        return elf_bad_because(&r, 0, "this is LLVM bitcode, not an ELF file",
                               "compile without -flto");
    if (!read_header(&r) || !read_sections(&r) || !read_tables(&r)) return false;
    give_addresses(&r);
    return true;
}

void link_close_elf(struct link_object *object)
{
    if (object->elf) elf_end(object->elf);
    object->elf = NULL;
}
