/* Builds an object and writes it as a file (elf.h): header, contents of sections, relocations,
 * symbols, names, section table. */
#include "coil/native/elf.h"
#include "base/array.h"
#include "base/bytes.h"
#include <stdlib.h>
#include <string.h>

void coil_elf_init(struct coil_elf *o)
{
    *o = (struct coil_elf){0};
    o->failed = !ARRAY_RESERVE(o->sections, o->section_capacity, 1) ||
                !ARRAY_RESERVE(o->symbols, o->symbol_capacity, 1);
    if (o->failed) return;
    o->sections[0] = (struct coil_elf_section){0};
    o->symbols[0] = (struct coil_elf_symbol){0};
    o->section_count = o->symbol_count = 1;
}

void coil_elf_free(struct coil_elf *o)
{
    for (size_t i = 0; i < o->section_count; i++) {
        free(o->sections[i].name);
        free(o->sections[i].relocs);
        writer_free(&o->sections[i].data);
    }
    for (size_t i = 0; i < o->symbol_count; i++) free(o->symbols[i].name);
    free(o->sections);
    free(o->symbols);
    *o = (struct coil_elf){0};
}

static char *elf_copy(penta_bytes name)
{
    char *text = malloc(name.size + 1);
    if (!text) return NULL;
    bytes_copy(text, name);
    text[name.size] = 0;
    return text;
}

uint32_t coil_elf_section(struct coil_elf *o, const char *name, uint32_t type, uint32_t flags,
                          uint64_t align)
{
    char *own = o->failed ? NULL : strdup(name);
    if (!own || !ARRAY_RESERVE(o->sections, o->section_capacity, o->section_count + 1)) {
        free(own);
        o->failed = true;
        return 0;
    }
    o->sections[o->section_count] = (struct coil_elf_section){
        .name = own, .type = type, .flags = flags, .align = align ? align : 1};
    return (uint32_t)o->section_count++;
}

uint32_t coil_elf_symbol(struct coil_elf *o, penta_bytes name, struct coil_elf_symbol symbol)
{
    char *own = o->failed ? NULL : elf_copy(name);
    if (!own || !ARRAY_RESERVE(o->symbols, o->symbol_capacity, o->symbol_count + 1)) {
        free(own);
        o->failed = true;
        return 0;
    }
    symbol.name = own;
    o->symbols[o->symbol_count] = symbol;
    return (uint32_t)o->symbol_count++;
}

void coil_elf_reloc(struct coil_elf *o, uint32_t section, struct coil_elf_reloc reloc)
{
    struct coil_elf_section *s = &o->sections[section];
    if (!o->failed && ARRAY_RESERVE(s->relocs, s->reloc_capacity, s->reloc_count + 1))
        s->relocs[s->reloc_count++] = reloc;
    else
        o->failed = true;
}

enum { HEADER = 64, ENTRY = 64, SYMBOL = 24, RELOC = 24 };
enum { SYMTAB = 2, STRTAB = 3, RELA = 4, INFO_LINK = 0x40 };

struct file {
    const struct coil_elf *o;
    struct writer *out;
    struct writer names, table; /* names: the names of sections; table: the section table */
    /* These are the numbers that symbols have in the file, where local symbols come first. */
    uint32_t *numbers;
    /* `locals` is the number of the first symbol that is not local, and `symtab` the number of
     * the section with the symbols. */
    uint32_t locals, symtab;
};

static void elf_entry(struct file *f, const char *name, uint32_t type, uint64_t flags,
                      uint64_t offset, uint64_t size, uint32_t link, uint32_t info, uint64_t align,
                      uint64_t each)
{
    writer_uint(&f->table, f->names.out.size, 4);
    writer_text(&f->names, name);
    writer_uint(&f->names, 0, 1);
    writer_uint(&f->table, type, 4);
    writer_uint(&f->table, flags, 8);
    writer_uint(&f->table, 0, 8);
    writer_uint(&f->table, offset, 8);
    writer_uint(&f->table, size, 8);
    writer_uint(&f->table, link, 4);
    writer_uint(&f->table, info, 4);
    writer_uint(&f->table, align, 8);
    writer_uint(&f->table, each, 8);
}

static void align_to(struct writer *out, uint64_t align)
{
    writer_fill(out, 0, (size_t)(-out->out.size & (align - 1)));
}

static void elf_contents(struct file *f)
{
    for (uint32_t i = 1; i < f->o->section_count; i++) {
        const struct coil_elf_section *s = &f->o->sections[i];
        bool bytes = s->type != COIL_ELF_NOBITS;
        if (bytes) align_to(f->out, s->align);
        elf_entry(f, s->name, s->type, s->flags, f->out->out.size,
                  bytes ? s->data.out.size : s->zeros, 0, 0, s->align, 0);
        if (bytes) writer_append(f->out, &s->data);
        f->out->failed |= s->data.failed;
    }
}

static void elf_relocations(struct file *f)
{
    for (uint32_t i = 1; i < f->o->section_count; i++) {
        const struct coil_elf_section *s = &f->o->sections[i];
        struct writer name = {0};
        if (!s->reloc_count) continue;
        writer_print(&name, ".rela%s%c", s->name, 0);
        align_to(f->out, 8);
        elf_entry(f, name.failed ? "" : (const char *)name.out.data, RELA, INFO_LINK,
                  f->out->out.size, s->reloc_count * RELOC, f->symtab, i, 8, RELOC);
        f->out->failed |= name.failed;
        writer_free(&name);
        for (size_t k = 0; k < s->reloc_count; k++) {
            const struct coil_elf_reloc *r = &s->relocs[k];
            writer_uint(f->out, r->offset, 8);
            writer_uint(f->out, (uint64_t)f->numbers[r->symbol] << 32 | r->type, 8);
            writer_uint(f->out, (uint64_t)r->addend, 8);
        }
    }
}

static void number_symbols(struct file *f)
{
    uint32_t next = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 1; i < f->o->symbol_count; i++)
            if ((f->o->symbols[i].bind == COIL_ELF_LOCAL) == !pass) f->numbers[i] = next++;
        if (!pass) f->locals = next;
    }
}

static void elf_symbols(struct file *f)
{
    struct writer strings = {0};
    align_to(f->out, 8);
    uint64_t at = f->out->out.size;
    writer_fill(f->out, 0, SYMBOL);
    writer_uint(&strings, 0, 1);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 1; i < f->o->symbol_count; i++) {
            const struct coil_elf_symbol *s = &f->o->symbols[i];
            if ((s->bind == COIL_ELF_LOCAL) != !pass) continue;
            bool named = s->name && *s->name;
            writer_uint(f->out, named ? strings.out.size : 0, 4);
            if (named) writer_bytes(&strings, s->name, strlen(s->name) + 1);
            writer_uint(f->out, (uint64_t)s->bind << 4 | s->type, 1);
            writer_uint(f->out, s->visibility, 1);
            writer_uint(f->out, s->section, 2);
            writer_uint(f->out, s->value, 8);
            writer_uint(f->out, s->size, 8);
        }
    elf_entry(f, ".symtab", SYMTAB, 0, at, f->o->symbol_count * SYMBOL, f->symtab + 1, f->locals, 8,
              SYMBOL);
    elf_entry(f, ".strtab", STRTAB, 0, f->out->out.size, strings.out.size, 0, 0, 1, 0);
    writer_append(f->out, &strings);
    f->out->failed |= strings.failed;
    writer_free(&strings);
}

static void elf_head(struct file *f, size_t start, uint64_t table, uint32_t count)
{
    struct writer h = {0};
    writer_bytes(&h,
                 "\x7f"
                 "ELF\x02\x01\x01\0\0\0\0\0\0\0\0",
                 16);
    writer_uint(&h, 1, 2);  /* ELF type 1: a relocatable object */
    writer_uint(&h, 62, 2); /* ELF machine 62: x86-64 */
    writer_uint(&h, 1, 4);
    writer_uint(&h, 0, 8);
    writer_uint(&h, 0, 8);
    writer_uint(&h, table, 8);
    writer_uint(&h, 0, 4);
    writer_uint(&h, HEADER, 2);
    writer_uint(&h, 0, 2);
    writer_uint(&h, 0, 2);
    writer_uint(&h, ENTRY, 2);
    writer_uint(&h, count, 2);
    writer_uint(&h, count - 1, 2); /* the last section has the names of sections */
    if (!h.failed && !f->out->failed) memcpy(f->out->out.data + start, h.out.data, HEADER);
    f->out->failed |= h.failed;
    writer_free(&h);
}

void coil_elf_write(const struct coil_elf *o, struct writer *out)
{
    struct writer file = {0};
    struct file f = {
        .o = o, .out = &file, .numbers = calloc(o->symbol_count + 1, sizeof *f.numbers)};
    uint32_t count = (uint32_t)o->section_count;
    if (!f.numbers || o->failed) {
        out->failed = true;
        free(f.numbers);
        return;
    }
    for (uint32_t i = 1; i < o->section_count; i++) count += o->sections[i].reloc_count != 0;
    f.symtab = count;
    count += 3;
    writer_fill(&file, 0, HEADER);
    number_symbols(&f);
    elf_entry(&f, "", 0, 0, 0, 0, 0, 0, 0, 0);
    elf_contents(&f);
    elf_relocations(&f);
    elf_symbols(&f);
    /* This is the size of the names without .shstrtab, whose name is added below. */
    uint64_t names = f.names.out.size;
    elf_entry(&f, ".shstrtab", STRTAB, 0, file.out.size, names + sizeof ".shstrtab", 0, 0, 1, 0);
    writer_append(&file, &f.names);
    align_to(&file, 8);
    uint64_t table = file.out.size;
    writer_append(&file, &f.table);
    file.failed |= f.names.failed | f.table.failed;
    elf_head(&f, 0, table, count);
    writer_append(out, &file);
    out->failed |= file.failed;
    writer_free(&file);
    writer_free(&f.names);
    writer_free(&f.table);
    free(f.numbers);
}
