/* Applies relocations of data (LINK 4.2), and finds the places at which they point. Addresses
 * that are already in the bytes are not used, because in a linked file they belong to another
 * layout. */
#include "pvm/link/elf_names.h"
#include "base/array.h"
#include "pvm/link/link.h"

bool link_reloc_is_pointer(uint32_t type) { return type == R_32 || type == R_64; }

/* Returns the first relocation at or after an offset. */
static size_t reloc_first_at(const struct link_section *s, uint64_t offset)
{
    size_t low;
    ARRAY_SEARCH(low, 0, s->reloc_count, s->relocs[low].offset >= offset);
    return low;
}

const struct link_reloc *link_reloc_at(const struct link_section *s, uint64_t offset,
                                       bool (*kind)(uint32_t type))
{
    for (size_t i = reloc_first_at(s, offset); i < s->reloc_count && s->relocs[i].offset == offset;
         i++)
        if (kind(s->relocs[i].type)) return &s->relocs[i];
    return NULL;
}

/* A struct change says how a relocation changes data: the number of bytes, whether the symbol is
 * added or subtracted, and whether the value is relative to the place of the data. */
struct change {
    uint8_t bytes;
    int8_t sign;
    bool relative;
};

static struct change reloc_change(uint32_t type)
{
    switch (type) {
    case R_64: return (struct change){8, 1, false};
    case R_32: return (struct change){4, 1, false};
    case R_32_PCREL:
    case R_PLT32: return (struct change){4, 1, true};
    case R_ADD8:
    case R_SET8: return (struct change){1, 1, false};
    case R_ADD16:
    case R_SET16: return (struct change){2, 1, false};
    case R_ADD32:
    case R_SET32: return (struct change){4, 1, false};
    case R_ADD64: return (struct change){8, 1, false};
    case R_SUB8: return (struct change){1, -1, false};
    case R_SUB16: return (struct change){2, -1, false};
    case R_SUB32: return (struct change){4, -1, false};
    case R_SUB64: return (struct change){8, -1, false};
    default: return (struct change){0, 0, false};
    }
}

static bool relocate_ignored(uint32_t type)
{
    return type == R_NONE || type == R_RELAX || type == R_ALIGN;
}

bool link_data_targets(struct link *l, uint32_t section,
                       bool (*visit)(struct link *l, struct link_place place, void *user),
                       void *user)
{
    bool ok = true;
    for (size_t i = 0; i < l->sections[section].reloc_count; i++) {
        const struct link_section *s = &l->sections[section];
        const struct link_reloc *r = &s->relocs[i];
        struct link_place place;
        struct change c = reloc_change(r->type);
        if (relocate_ignored(r->type)) continue;
        if (!c.bytes || r->offset + c.bytes > s->size || !s->data.size) {
            link_report(l, PVM_LINK_RELOCATION, section, r->offset, NULL,
                        "relocation %u in section %.40s is not supported for data",
                        (unsigned)r->type, s->name);
            ok = false;
        } else if (!link_target(l, section, r, &place) || !visit(l, place, user)) {
            ok = false;
        }
    }
    return ok;
}

/* Returns the address of a place in the program. For code it is the dynamic address. */
static uint32_t place_address(const struct link *l, struct link_place place)
{
    if (place.section == LINK_NONE) return (uint32_t)place.offset;
    if (l->sections[place.section].use != LINK_CODE)
        return l->sections[place.section].placed + (uint32_t)place.offset;
    uint32_t block = link_block_at(l, place);
    return block == LINK_NONE ? 0 : 2 * l->blocks[block].table;
}

/* Tells whether a sum fits its bytes, signed or unsigned. Only differences of labels can fail: they
 * are other numbers here than the assembler expected. */
static bool relocate_fits(uint64_t value, unsigned bytes)
{
    if (bytes >= 4) return true;
    return value + (UINT64_C(1) << (8 * bytes - 1)) < UINT64_C(3) << (8 * bytes - 1);
}

static void relocate_apply(struct link *l, uint32_t section, uint8_t *bytes)
{
    const struct link_section *s = &l->sections[section];
    uint64_t last = UINT64_MAX, value = 0;
    for (size_t i = 0; i < s->reloc_count; i++) {
        const struct link_reloc *r = &s->relocs[i];
        struct link_place place;
        struct change c = reloc_change(r->type);
        if (!c.bytes || !link_target(l, section, r, &place)) continue;
        /* A symbol that is a number is not cut to the size of an address. */
        uint64_t part =
            place.section == LINK_NONE ? (uint64_t)place.offset : place_address(l, place);
        if (c.relative) part -= s->placed + r->offset;
        /* Several relocations of one place add up. The bytes that the file has there do not
         * count. */
        value = (r->offset == last ? value : 0) + (c.sign < 0 ? 0 - part : part);
        last = r->offset;
        bool whole = i + 1 == s->reloc_count || s->relocs[i + 1].offset != r->offset;
        if (whole && !relocate_fits(value, c.bytes))
            link_report(l, PVM_LINK_RELOCATION, section, r->offset, NULL,
                        "a difference of addresses in section %.40s does not fit %u byte%s",
                        s->name, (unsigned)c.bytes, c.bytes == 1 ? "" : "s");
        for (unsigned k = 0; k < c.bytes; k++) bytes[r->offset + k] = (uint8_t)(value >> 8 * k);
    }
}

static void relocate_trim(struct writer *w)
{
    while (w->out.size && !w->out.data[w->out.size - 1]) w->out.size--;
}

static bool write_uses(struct link *l, enum link_use use, uint32_t from, struct writer *w)
{
    for (size_t i = 0; i < l->order_count; i++) {
        uint32_t index = l->order[i];
        const struct link_section *s = &l->sections[index];
        if (s->use != use || !s->reached) continue;
        writer_fill(w, 0, s->placed - from - w->out.size);
        size_t at = w->out.size;
        writer_bytes(w, s->data.data, s->data.size);
        writer_fill(w, 0, (size_t)s->size - s->data.size);
        if (!writer_ok(w, &l->err)) return false;
        if (w->out.size) relocate_apply(l, index, w->out.data + at);
    }
    relocate_trim(w);
    return true;
}

bool link_write_data(struct link *l)
{
    return write_uses(l, LINK_RO_DATA, 0x10000, &l->ro_data) &&
           write_uses(l, LINK_RW_DATA, l->rw_address, &l->rw_data);
}
