/* Decides what each section is used for, in which order the loaded ones come, and at which
 * addresses (LINK 4.1, LINK 4.4). Read-only data starts at 0x10000. Read-write data follows
 * after a guard zone; zero data comes last, so that it need not be stored. */
#include "base/array.h"
#include "base/number.h"
#include "pvm/link/elf_names.h"
#include "pvm/link/link.h"
#include <stdlib.h>

enum { RO_ADDRESS = 0x10000, ZONE = 0x10000 };

static bool sections_starts(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix));
}

/* Tells whether a name belongs to the family of `base`: for ".data", ".data" and ".data.x" do,
 * but not ".database". */
static bool sections_family(const char *name, const char *base)
{
    size_t n = strlen(base);
    return sections_starts(name, base) && (!name[n] || name[n] == '.');
}

static bool name_in_families(const char *name, const char *const *bases)
{
    for (; *bases; bases++)
        if (sections_family(name, *bases)) return true;
    return false;
}

static enum link_use section_use_by_name(const struct link_section *s)
{
    static const char *const ro[] = {".rodata", ".srodata",       ".data.rel.ro",
                                     ".got",    ".relro_padding", NULL};
    static const char *const rw[] = {".data", ".sdata", NULL};
    static const char *const zero[] = {".bss", ".sbss", NULL};
    static const char *const ignored[] = {".eh_frame", ".eh_frame_hdr", ".dynsym", ".dynstr",
                                          ".dynamic",  ".interp",       ".note",   ".hash",
                                          ".gnu",      ".plt",          NULL};
    if (name_in_families(s->name, ignored)) return LINK_UNUSED;
    if (name_in_families(s->name, ro)) return LINK_RO_DATA;
    if (name_in_families(s->name, zero) && s->elf_type == ELF_NOBITS) return LINK_ZERO_DATA;
    if (name_in_families(s->name, rw)) return LINK_RW_DATA;
    if (s->elf_flags & ELF_EXECINSTR) return LINK_CODE;
    return LINK_NOTE; /* The name tells nothing about the use of the section. */
}

static enum link_use section_use(struct link *l, uint32_t index)
{
    const struct link_section *s = &l->sections[index];
    bool writable = s->elf_flags & ELF_WRITE;
    if (l->objects[s->object].lazy || s->discarded || !s->elf_type) return LINK_UNUSED;
    if (sections_starts(s->name, ".polkavm_")) return LINK_NOTE;
    if (sections_starts(s->name, ".debug") || sections_starts(s->name, ".zdebug"))
        return LINK_DEBUG;
    if (!(s->elf_flags & ELF_ALLOC)) return s->elf_type == ELF_PROGBITS ? LINK_NOTE : LINK_UNUSED;
    if (s->elf_flags & ELF_TLS) {
        if (s->size)
            link_report(l, PVM_LINK_SECTION, index, 0, "the machine has one thread",
                        "section %.60s holds thread-local data", s->name);
        return LINK_UNUSED;
    }
    enum link_use use = section_use_by_name(s);
    if (use == LINK_CODE && writable && s->size) {
        link_report(l, PVM_LINK_SECTION, index, 0, NULL, "section %.60s is code and writable",
                    s->name);
        return LINK_UNUSED;
    }
    /* Zeros are not stored: others may be placed after them, so they come last whatever their name. */
    if ((use == LINK_RO_DATA || use == LINK_RW_DATA) && s->elf_type == ELF_NOBITS)
        return LINK_ZERO_DATA;
    if (use != LINK_NOTE) return use;
    switch (s->elf_type) {
    case ELF_PROGBITS:
    case ELF_INIT_ARRAY:
    case ELF_FINI_ARRAY:
    case ELF_PREINIT_ARRAY: return writable ? LINK_RW_DATA : LINK_RO_DATA;
    case ELF_NOBITS: return LINK_ZERO_DATA;
    case ELF_NOTE:
    case ELF_HASH:
    case ELF_GNU_HASH:
    case ELF_DYNAMIC:
    case ELF_DYNSYM:
    case ELF_STRTAB:
    case ELF_RELA:
    case ELF_REL:
    case ELF_RISCV_ATTRIBUTES: return LINK_UNUSED;
    default:
        link_report(l, PVM_LINK_SECTION, index, 0, NULL, "section %.60s has the unknown type 0x%x",
                    s->name, (unsigned)s->elf_type);
        return LINK_UNUSED;
    }
}

bool link_classify(struct link *l)
{
    for (uint32_t i = 0; i < l->section_count; i++)
        if (l->sections[i].elf_type || !l->sections[i].use) l->sections[i].use = section_use(l, i);
    l->spill = (uint32_t)l->section_count;
    if (!ARRAY_GROW(l->sections, l->section_capacity, l->section_count, &l->err)) return false;
    l->sections[l->section_count++] =
        (struct link_section){.name = ".spill",
                              .use = LINK_ZERO_DATA,
                              .size = LINK_SPILL_SLOTS * LINK_SPILL_BYTES,
                              .align = LINK_SPILL_BYTES};
    return true;
}

bool link_is_data(enum link_use use)
{
    return use == LINK_RO_DATA || use == LINK_RW_DATA || use == LINK_ZERO_DATA;
}

/* The functions below put the sections in order. */

struct placing { /* A struct placing is the key by which sections are sorted. */
    uint32_t section;
    enum link_use use;
    /* The name is set if a program can ask for the bounds of the sections of this name; then
     * these sections must be adjacent. */
    const char *name;
};

static bool section_is_array(const char *name)
{
    return sections_family(name, ".init_array") || sections_family(name, ".fini_array") ||
           sections_family(name, ".preinit_array");
}

/* Compares names so that .init_array.100 comes before .init_array.200, and that before
 * .init_array. */
static int names_by_priority(const char *a, const char *b)
{
    if (!section_is_array(a) || !section_is_array(b)) return strcmp(a, b);
    size_t base = strcspn(a + 1, ".") + 1, n = strlen(a), m = strlen(b);
    if (strncmp(a, b, base)) return strcmp(a, b);
    if (n != m) return n > m ? -1 : 1;
    return strcmp(a, b);
}

static int placings_by_place(const void *a, const void *b)
{
    const struct placing *x = a, *y = b;
    if (x->use != y->use) return x->use < y->use ? -1 : 1;
    if (!x->name != !y->name) return !x->name ? -1 : 1;
    int names = x->name ? names_by_priority(x->name, y->name) : 0;
    if (names) return names;
    return x->section < y->section ? -1 : x->section > y->section;
}

bool link_order(struct link *l)
{
    struct placing *list = calloc(l->section_count + 1, sizeof *list);
    l->order = arena_alloc(&l->arena, l->section_count, sizeof *l->order, &l->err);
    if (!list || !l->order) {
        free(list);
        return error_at(&l->err, BASE_MEMORY, 0, "no memory for sections");
    }
    size_t count = 0;
    for (uint32_t i = 0; i < l->section_count; i++) {
        const struct link_section *s = &l->sections[i];
        if (!link_is_data(s->use)) continue;
        bool bounded = *s->name != '.' || section_is_array(s->name);
        list[count++] = (struct placing){i, s->use, bounded ? s->name : NULL};
    }
    qsort(list, count, sizeof *list, placings_by_place);
    for (size_t i = 0; i < count; i++) l->order[i] = list[i].section;
    l->order_count = count;
    free(list);
    return true;
}

/* The functions below give the sections addresses. */

static bool sections_too_large(struct link *l)
{
    link_report(l, PVM_LINK_MEMORY, LINK_NONE, 0, NULL, "the data does not fit 32 bits of address");
    return false;
}

/* Places the sections of this use from address `at` on. Returns the end, or UINT64_MAX when they
 * are too large. */
static uint64_t place_uses(struct link *l, enum link_use use, uint64_t at)
{
    for (size_t i = 0; i < l->order_count; i++) {
        struct link_section *s = &l->sections[l->order[i]];
        if (s->use != use || !s->reached) continue;
        at = round_up(at, s->align);
        s->placed = (uint32_t)at;
        if (s->size > UINT32_MAX - at) return UINT64_MAX;
        at += s->size;
    }
    return at;
}

/* Replaces sections and offsets in instructions by addresses. */
static void resolve_refs(struct link *l)
{
    for (size_t i = 0; i < l->block_count; i++)
        for (uint32_t k = 0; k < l->blocks[i].count; k++) {
            struct link_insn *in = &l->blocks[i].insns[k];
            if (in->ref == REF_HEAP) {
                in->imm1 = (int32_t)l->heap_base;
            } else if (in->ref == REF_DATA || in->ref == REF_DATA_HIGH || in->ref == REF_DATA_LOW) {
                uint32_t address = l->sections[in->to].placed + (uint32_t)in->imm1;
                uint32_t high = (address + 0x800) & ~UINT32_C(0xfff);
                in->imm1 = (int32_t)(in->ref == REF_DATA        ? address
                                     : in->ref == REF_DATA_HIGH ? high
                                                                : address - high);
            } else {
                continue;
            }
            in->ref = REF_NONE;
        }
}

bool link_place(struct link *l)
{
    uint64_t ro_end = place_uses(l, LINK_RO_DATA, RO_ADDRESS);
    if (ro_end == UINT64_MAX) return sections_too_large(l);
    l->ro_size = (uint32_t)ro_end - RO_ADDRESS;
    uint64_t rw = RO_ADDRESS + round_up(l->ro_size, ZONE) + ZONE;
    uint64_t rw_end = place_uses(l, LINK_RW_DATA, rw);
    if (rw_end == UINT64_MAX) return sections_too_large(l);
    uint64_t end = place_uses(l, LINK_ZERO_DATA, rw_end);
    if (end == UINT64_MAX) return sections_too_large(l);
    uint64_t stack = round_up(l->stack_size, ZONE);
    if (round_up(end, ZONE) + stack + 4 * ZONE > UINT64_C(1) << 32) return sections_too_large(l);
    l->rw_address = (uint32_t)rw;
    l->rw_size = (uint32_t)(end - rw);
    l->heap_base = (uint32_t)end;
    resolve_refs(l);
    return true;
}
