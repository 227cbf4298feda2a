/* Compiles an object, or a text that is assembled first, to a native object. The result must be
 * an error, or an ELF object that libelf reads, whose sections, symbols and relocations are
 * consistent. The same input must give the same bytes twice. */
#include "fuzz.h"
#include "coil/coil.h"
#include "penta/coil.h"
#include <gelf.h>

static void check_relocs(Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
    Elf_Data *rows = elf_getdata(section, NULL), *symbols;
    Elf_Scn *target = elf_getscn(elf, head->sh_info), *table = elf_getscn(elf, head->sh_link);
    GElf_Shdr to, names;
    if (!rows || !target || !table || !gelf_getshdr(target, &to) || !gelf_getshdr(table, &names))
        check_failed("relocations of nothing", head->sh_info, head->sh_link);
    symbols = elf_getdata(table, NULL);
    for (size_t i = 0; i < head->sh_size / head->sh_entsize; i++) {
        GElf_Rela r;
        GElf_Sym s;
        if (!gelf_getrela(rows, (int)i, &r) || r.r_offset >= to.sh_size)
            check_failed("a relocation outside its section", r.r_offset, to.sh_size);
        if (!gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &s))
            check_failed("a relocation without a symbol", GELF_R_SYM(r.r_info), i);
    }
}

static void check_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
    Elf_Data *rows = elf_getdata(section, NULL);
    for (size_t i = 0; i < head->sh_size / head->sh_entsize; i++) {
        GElf_Sym s;
        if (!gelf_getsym(rows, (int)i, &s)) check_failed("a symbol that is not there", i, 0);
        if (!elf_strptr(elf, head->sh_link, s.st_name)) check_failed("a name", i, s.st_name);
        bool local = GELF_ST_BIND(s.st_info) == STB_LOCAL;
        if (local != (i < head->sh_info)) check_failed("a symbol on the wrong side", i, 0);
        Elf_Scn *in = s.st_shndx && s.st_shndx < SHN_LORESERVE ? elf_getscn(elf, s.st_shndx) : NULL;
        GElf_Shdr there;
        if (in && (!gelf_getshdr(in, &there) || s.st_value > there.sh_size))
            check_failed("a symbol outside its section", s.st_value, i);
    }
}

static void check_object(penta_buffer *out)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)out->data, out->size);
    Elf_Scn *section = NULL;
    GElf_Shdr head;
    if (!elf || elf_kind(elf) != ELF_K_ELF) check_failed("no object", out->size, 0);
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &head)) check_failed("a section without a head", 0, 0);
        if (head.sh_type != SHT_NOBITS && head.sh_offset + head.sh_size > out->size)
            check_failed("a section outside the file", head.sh_offset, head.sh_size);
        if (head.sh_type == SHT_RELA) check_relocs(elf, section, &head);
        if (head.sh_type == SHT_SYMTAB) check_symbols(elf, section, &head);
    }
    elf_end(elf);
}

static void native_compile(const penta_module *m)
{
    penta_buffer one = {0}, two = {0}, text = {0};
    penta_error err = {0};
    penta_option as_text = {"emit", "asm"};
    bool ok = penta_coil_compile(m, NULL, 0, NULL, &one, &err);
    if (ok == (err.code != 0)) check_failed("no object, no error", ok, err.code);
    if (ok) {
        check_object(&one);
        if (!penta_coil_compile(m, NULL, 0, NULL, &two, &err) || !same_buffer(&one, &two))
            check_failed("compiling twice gives other bytes", one.size, two.size);
        if (!penta_coil_compile(m, &as_text, 1, NULL, &text, &err))
            check_failed("no text", err.code, 0);
    }
    penta_buffer_free(&one);
    penta_buffer_free(&two);
    penta_buffer_free(&text);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_error err = {0};
    penta_bytes input = {data, size};
    bool object = size > 4 && !memcmp(data, "COIL", 4);
    penta_module *m = object ? penta_open(input, "coil", NULL, 0, &err)
                             : penta_assemble(input, "coil", NULL, 0, ignore_finding, NULL);
    if (m) native_compile(m);
    penta_close(m);
}
