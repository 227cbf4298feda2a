/* Writes instructions as data for the runtime: the interpreter's own structs, with everything
 * that they point to, in a section of the object. Compiler and runtime must come from the same
 * build; the name of the runtime's machine has a number that changes with these structs
 * (runtime.h). */
#include "coil/native/native.h"
#include <stdlib.h>

struct describing {
    struct coil_native *n;
    uint32_t section;
};

static struct writer *dwarf_type_out(struct describing *d)
{
    return &d->n->elf.sections[d->section].data;
}

static uint64_t dwarf_type_start(struct describing *d)
{
    writer_fill(dwarf_type_out(d), 0, -dwarf_type_out(d)->out.size & 15);
    return dwarf_type_out(d)->out.size;
}

/* Makes the pointer at offset `at` of the section point to offset `to` of the same section. */
static void dwarf_type_point(struct describing *d, uint64_t at, uint64_t to)
{
    coil_elf_reloc(&d->n->elf, d->section,
                   (struct coil_elf_reloc){at, d->n->data, COIL_ELF_64, (int64_t)to});
}

static struct coil_native_kept *dwarf_type_find(struct coil_native *n, const void *what)
{
    if (n->kept_count * 2 >= n->kept_size) {
        size_t size = n->kept_size ? n->kept_size * 2 : 64, before = n->kept_size;
        struct coil_native_kept *old = n->kept, *made = calloc(size, sizeof *made);
        if (!made) {
            n->elf.failed = true;
            return NULL;
        }
        n->kept = made;
        n->kept_size = size;
        for (size_t i = 0; i < before; i++)
            if (old[i].what) *dwarf_type_find(n, old[i].what) = old[i];
        free(old);
    }
    size_t at = ((uintptr_t)what >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (n->kept_size - 1);
    while (n->kept[at].what && n->kept[at].what != what) at = (at + 1) & (n->kept_size - 1);
    return &n->kept[at];
}

static bool type_is_kept(struct describing *d, const void *what, uint64_t *at)
{
    struct coil_native_kept *k = dwarf_type_find(d->n, what);
    if (!k || k->what) {
        *at = k ? k->at : 0;
        return true;
    }
    *at = dwarf_type_start(d);
    *k = (struct coil_native_kept){what, *at};
    d->n->kept_count++;
    return false;
}

static uint64_t dwarf_type_of(struct describing *d, const struct coil_type *t);

static void dwarf_type_members(struct describing *d, uint64_t owner, const struct coil_type *t)
{
    uint64_t at = dwarf_type_start(d);
    for (uint32_t i = 0; i < t->member_count; i++) {
        struct coil_member m = t->members[i];
        m.type = NULL;
        writer_bytes(dwarf_type_out(d), &m, sizeof m);
    }
    dwarf_type_point(d, owner + offsetof(struct coil_type, members), at);
    for (uint32_t i = 0; i < t->member_count && !d->n->elf.failed; i++)
        dwarf_type_point(d,
                         at + i * sizeof(struct coil_member) + offsetof(struct coil_member, type),
                         dwarf_type_of(d, t->members[i].type));
    if (!t->by_id) return;
    uint64_t ids = dwarf_type_start(d);
    writer_bytes(dwarf_type_out(d), t->by_id, t->member_count * sizeof *t->by_id);
    dwarf_type_point(d, owner + offsetof(struct coil_type, by_id), ids);
}

static uint64_t dwarf_type_of(struct describing *d, const struct coil_type *t)
{
    uint64_t at;
    if (type_is_kept(d, t, &at)) return at;
    struct coil_type bare = *t;
    bare.members = NULL;
    bare.elem = NULL;
    bare.by_id = NULL;
    writer_bytes(dwarf_type_out(d), &bare, sizeof bare);
    if (t->elem)
        dwarf_type_point(d, at + offsetof(struct coil_type, elem), dwarf_type_of(d, t->elem));
    if (t->members) dwarf_type_members(d, at, t);
    return at;
}

static void dwarf_type_address(struct describing *d, uint64_t at, uint32_t symbol)
{
    if (!symbol) return;
    struct coil_native_ref ref = coil_native_ref(d->n, symbol - 1);
    if (ref.symbol)
        coil_elf_reloc(&d->n->elf, d->section,
                       (struct coil_elf_reloc){at, ref.symbol, COIL_ELF_64, ref.addend});
    else
        writer_patch(dwarf_type_out(d), (size_t)at, (uint64_t)ref.addend, 8);
}

static void dwarf_type_place(struct describing *d, uint64_t at, const struct coil_place *p)
{
    if (p->type)
        dwarf_type_point(d, at + offsetof(struct coil_place, type), dwarf_type_of(d, p->type));
    if (p->image && p->type) {
        uint64_t image = dwarf_type_start(d);
        writer_bytes(dwarf_type_out(d), p->image, (size_t)p->type->size);
        dwarf_type_point(d, at + offsetof(struct coil_place, image), image);
    }
    dwarf_type_address(d, at + offsetof(struct coil_place, value), p->symbol);
    dwarf_type_address(d,
                       at + offsetof(struct coil_place, base) + offsetof(struct coil_term, value),
                       p->base.symbol);
    dwarf_type_address(d,
                       at + offsetof(struct coil_place, index) + offsetof(struct coil_term, value),
                       p->index.symbol);
}

static uint32_t make_section(struct coil_native *n)
{
    uint32_t section = coil_elf_section(&n->elf, ".data.rel.ro.coil", COIL_ELF_PROGBITS,
                                        COIL_ELF_ALLOC | COIL_ELF_WRITE, 16);
    n->data =
        coil_elf_symbol(&n->elf, bytes_of("coil.steps"),
                        (struct coil_elf_symbol){.section = section, .type = COIL_ELF_OBJECT});
    return section;
}

struct coil_native_ref coil_native_describe(struct coil_native *n, const struct coil_step *s)
{
    struct describing d = {n, n->data ? n->elf.symbols[n->data].section : make_section(n)};
    if (n->elf.failed) return (struct coil_native_ref){0};
    uint64_t at = dwarf_type_start(&d);
    struct coil_step head = {
        .opcode = s->opcode, .count = s->count, .extended = s->extended, .written = s->written};
    writer_bytes(dwarf_type_out(&d), &head, offsetof(struct coil_step, places));
    for (unsigned i = 0; i < s->count; i++) {
        struct coil_place bare = s->places[i];
        bare.type = NULL;
        bare.image = NULL;
        writer_bytes(dwarf_type_out(&d), &bare, sizeof bare);
    }
    for (unsigned i = 0; i < s->count; i++)
        dwarf_type_place(&d,
                         at + offsetof(struct coil_step, places) + i * sizeof(struct coil_place),
                         &s->places[i]);
    if (s->form) {
        uint64_t form = dwarf_type_start(&d);
        writer_bytes(dwarf_type_out(&d), s->form, strlen(s->form) + 1);
        dwarf_type_point(&d, at + offsetof(struct coil_step, form), form);
    }
    return (struct coil_native_ref){n->data, false, (int64_t)at};
}

struct coil_native_ref coil_native_text(struct coil_native *n, const char *text)
{
    if (!n->strings) {
        uint32_t section =
            coil_elf_section(&n->elf, ".rodata.coil", COIL_ELF_PROGBITS, COIL_ELF_ALLOC, 1);
        n->strings =
            coil_elf_symbol(&n->elf, bytes_of("coil.strings"),
                            (struct coil_elf_symbol){.section = section, .type = COIL_ELF_OBJECT});
    }
    if (n->elf.failed) return (struct coil_native_ref){0};
    struct writer *w = &n->elf.sections[n->elf.symbols[n->strings].section].data;
    size_t size = strlen(text) + 1;
    for (size_t at = 0; at + size <= w->out.size; at++)
        if (!memcmp(w->out.data + at, text, size))
            return (struct coil_native_ref){n->strings, false, (int64_t)at};
    uint64_t at = w->out.size;
    writer_bytes(w, text, size);
    return (struct coil_native_ref){n->strings, false, (int64_t)at};
}
