/* Writes the object as text from which the system's assembler makes the same object. Code is
 * written as bytes, because the assembler could encode the same instructions differently. Places
 * that the linker fills in are written as .reloc. */
#include "coil/native/elf.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct text {
    const struct coil_elf *o;
    struct writer *out;
    uint32_t *order; /* symbols in the order of their sections and values */
    size_t count;
    uint8_t *again; /* per symbol: 1 if it is local and another symbol has its name */
};

static const struct {
    uint32_t type;
    const char *name;
} reloc_names[] = {{COIL_ELF_64, "R_X86_64_64"},
                   {COIL_ELF_PC32, "R_X86_64_PC32"},
                   {COIL_ELF_PLT32, "R_X86_64_PLT32"},
                   {COIL_ELF_32, "R_X86_64_32"},
                   {COIL_ELF_16, "R_X86_64_16"},
                   {COIL_ELF_PC16, "R_X86_64_PC16"},
                   {COIL_ELF_8, "R_X86_64_8"},
                   {COIL_ELF_PC8, "R_X86_64_PC8"},
                   {COIL_ELF_GOTTPOFF, "R_X86_64_GOTTPOFF"},
                   {COIL_ELF_PC64, "R_X86_64_PC64"},
                   {COIL_ELF_REX_GOTPCRELX, "R_X86_64_REX_GOTPCRELX"}};

static void elf_text_name(struct text *t, uint32_t symbol)
{
    const struct coil_elf_symbol *s = &t->o->symbols[symbol];
    if (s->type == COIL_ELF_SECTION) {
        writer_text(t->out, t->o->sections[s->section].name);
        return;
    }
    bool plain = *s->name && !isdigit((unsigned char)*s->name);
    for (const char *c = s->name; *c && plain; c++)
        plain = isalnum((unsigned char)*c) || *c == '_' || *c == '.';
    if (!plain) writer_char(t->out, '"');
    for (const char *c = s->name; *c; c++) {
        if (*c == '"' || *c == '\\') writer_char(t->out, '\\');
        writer_char(t->out, *c);
    }
    if (t->again[symbol]) writer_print(t->out, ".%u", (unsigned)symbol);
    if (!plain) writer_char(t->out, '"');
}

static void elf_text_directive(struct text *t, const char *word, uint32_t symbol)
{
    writer_print(t->out, "\t%s ", word);
    elf_text_name(t, symbol);
}

/* Writes everything about a symbol except its label. */
static void elf_text_declare(struct text *t, uint32_t symbol)
{
    static const char *const visibilities[] = {NULL, ".internal", ".hidden", ".protected"};
    static const char *const types[] = {[COIL_ELF_OBJECT] = "object",
                                        [COIL_ELF_FUNC] = "function",
                                        [COIL_ELF_TLS_SYMBOL] = "tls_object"};
    const struct coil_elf_symbol *s = &t->o->symbols[symbol];
    if (s->type == COIL_ELF_SECTION) return;
    if (s->bind != COIL_ELF_LOCAL) {
        elf_text_directive(t, s->bind == COIL_ELF_WEAK ? ".weak" : ".globl", symbol);
        writer_char(t->out, '\n');
    }
    if (s->visibility) {
        elf_text_directive(t, visibilities[s->visibility & 3], symbol);
        writer_char(t->out, '\n');
    }
    if (s->section == COIL_ELF_IN_COMMON) {
        elf_text_directive(t, ".comm", symbol);
        writer_print(t->out, ", %llu, %llu\n", (unsigned long long)s->size,
                     (unsigned long long)s->value);
        return;
    }
    if (s->section == COIL_ELF_ABSOLUTE) {
        elf_text_directive(t, ".set", symbol);
        writer_print(t->out, ", %llu\n", (unsigned long long)s->value);
        return;
    }
    if (s->section == COIL_ELF_UNDEFINED) return;
    if (s->type < sizeof types / sizeof *types && types[s->type]) {
        elf_text_directive(t, ".type", symbol);
        writer_print(t->out, ", @%s\n", types[s->type]);
    }
    if (s->size) {
        elf_text_directive(t, ".size", symbol);
        writer_print(t->out, ", %llu\n", (unsigned long long)s->size);
    }
}

static void section_head(struct text *t, uint32_t i)
{
    const struct coil_elf_section *s = &t->o->sections[i];
    writer_print(t->out, "\n\t.section %s,\"%s%s%s%s\",@%s\n", s->name,
                 s->flags & COIL_ELF_ALLOC ? "a" : "", s->flags & COIL_ELF_WRITE ? "w" : "",
                 s->flags & COIL_ELF_EXEC ? "x" : "", s->flags & COIL_ELF_TLS ? "T" : "",
                 s->type == COIL_ELF_NOBITS   ? "nobits"
                 : s->type == COIL_ELF_UNWIND ? "unwind"
                                              : "progbits");
    if (s->align > 1) writer_print(t->out, "\t.balign %llu\n", (unsigned long long)s->align);
    if (s->reloc_count) writer_print(t->out, ".Lsection%u:\n", (unsigned)i);
}

static void elf_text_bytes(struct text *t, const uint8_t *data, uint64_t size)
{
    enum { ROW = 16 };
    for (uint64_t at = 0; at < size; at++) {
        writer_print(t->out, at % ROW ? ",0x%02x" : "\t.byte 0x%02x", data[at]);
        if (at % ROW == ROW - 1 || at + 1 == size) writer_char(t->out, '\n');
    }
}

static void elf_text_contents(struct text *t, uint32_t i, size_t *next)
{
    const struct coil_elf_section *s = &t->o->sections[i];
    bool zeros = s->type == COIL_ELF_NOBITS;
    uint64_t size = zeros ? s->zeros : s->data.out.size, at = 0;
    for (;;) {
        for (; *next < t->count; ++*next) {
            const struct coil_elf_symbol *symbol = &t->o->symbols[t->order[*next]];
            if (symbol->section != i || symbol->value > at) break;
            if (symbol->type == COIL_ELF_SECTION) continue;
            elf_text_name(t, t->order[*next]);
            writer_text(t->out, ":\n");
        }
        if (at >= size) return;
        uint64_t end = size;
        if (*next < t->count && t->o->symbols[t->order[*next]].section == i &&
            t->o->symbols[t->order[*next]].value < end)
            end = t->o->symbols[t->order[*next]].value;
        if (zeros)
            writer_print(t->out, "\t.zero %llu\n", (unsigned long long)(end - at));
        else
            elf_text_bytes(t, s->data.out.data + at, end - at);
        at = end;
    }
}

static void elf_text_relocations(struct text *t, uint32_t i)
{
    const struct coil_elf_section *s = &t->o->sections[i];
    for (size_t k = 0; k < s->reloc_count; k++) {
        const struct coil_elf_reloc *r = &s->relocs[k];
        const char *type = "R_X86_64_NONE";
        for (size_t n = 0; n < sizeof reloc_names / sizeof *reloc_names; n++)
            if (reloc_names[n].type == r->type) type = reloc_names[n].name;
        writer_print(t->out, "\t.reloc .Lsection%u+%llu, %s, ", (unsigned)i,
                     (unsigned long long)r->offset, type);
        elf_text_name(t, r->symbol);
        writer_print(t->out, "%+lld\n", (long long)r->addend);
    }
}

struct place { /* the place of a symbol, for sorting */
    uint64_t value;
    uint32_t section, symbol;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* Sorts the symbols that are in sections by their places. */
static bool find_order(struct text *t)
{
    const struct coil_elf *o = t->o;
    struct place *places = calloc(o->symbol_count + 1, sizeof *places);
    t->order = calloc(o->symbol_count + 1, sizeof *t->order);
    t->again = calloc(o->symbol_count + 1, 1);
    bool ok = places && t->order && t->again;
    for (uint32_t i = 1; ok && i < o->symbol_count; i++) {
        const struct coil_elf_symbol *s = &o->symbols[i];
        if (s->section && s->section < o->section_count)
            places[t->count++] = (struct place){s->value, s->section, i};
    }
    if (ok && t->count) qsort(places, t->count, sizeof *places, by_place);
    for (size_t i = 0; ok && i < t->count; i++) t->order[i] = places[i].symbol;
    free(places);
    return ok;
}

struct named {
    const char *name;
    uint32_t symbol;
    bool local;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order) return order;
    if (x->local != y->local) return x->local ? 1 : -1;
    return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* The assembler accepts each name only once. If several symbols have the same name, the first
 * global one keeps it. */
static bool find_names(struct text *t)
{
    const struct coil_elf *o = t->o;
    struct named *all = calloc(o->symbol_count + 1, sizeof *all);
    size_t count = 0;
    if (!all) return false;
    for (uint32_t i = 1; i < o->symbol_count; i++)
        if (o->symbols[i].type != COIL_ELF_SECTION)
            all[count++] =
                (struct named){o->symbols[i].name, i, o->symbols[i].bind == COIL_ELF_LOCAL};
    if (count) qsort(all, count, sizeof *all, by_name);
    for (size_t i = 1; i < count; i++)
        t->again[all[i].symbol] = all[i].local && !strcmp(all[i].name, all[i - 1].name);
    free(all);
    return true;
}

void coil_elf_text(const struct coil_elf *o, struct writer *out)
{
    struct text t = {.o = o, .out = out};
    size_t next = 0;
    bool ok = !o->failed && find_order(&t) && find_names(&t);
    for (uint32_t i = 1; ok && i < o->symbol_count; i++) elf_text_declare(&t, i);
    for (uint32_t i = 1; ok && i < o->section_count; i++) {
        section_head(&t, i);
        elf_text_contents(&t, i, &next);
        elf_text_relocations(&t, i);
        out->failed |= o->sections[i].data.failed;
    }
    out->failed |= !ok;
    free(t.order);
    free(t.again);
}
