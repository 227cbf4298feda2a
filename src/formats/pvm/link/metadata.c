/* Reads exports and imports (LINK 3), which are small records that guests keep in sections of their
 * own:
 *
 *     export     version u8 = 1 | pointer to metadata | pointer to the function
 *     metadata   version u8 = 1 or 2 | flags u32 = 0 | name length u32 | pointer to the name
 *                | input registers u8 | output registers u8 | version 2: has index u8, index u32
 *
 * The records have no padding. Pointers have the object's word size, and relocations say what they
 * point at. */
#include "base/array.h"
#include "pvm/link/elf_names.h"
#include "pvm/link/link.h"

enum { NAME_MAX_BYTES = 65536, INPUTS_MAX = 9, OUTPUTS_MAX = 2 };

static bool is_record_pointer(uint32_t type)
{
    return type == R_32 || type == R_64 || type == R_PCREL_HI20;
}

/* Finds the place that the pointer at an offset points at. */
static bool metadata_pointer(struct link *l, uint32_t section, uint64_t offset, const char *what,
                             struct link_place *out)
{
    const struct link_reloc *r = link_reloc_at(&l->sections[section], offset, is_record_pointer);
    if (!r) {
        link_report(l, PVM_LINK_NO_RELOCS, section, offset, LINK_RELOCS_NOTE,
                    "%s in section %.40s has no relocation", what, l->sections[section].name);
        return false;
    }
    if (!link_target(l, section, r, out)) return false;
    if (out->section == LINK_NONE) {
        link_report(l, PVM_LINK_METADATA, section, offset, NULL,
                    "%s in section %.40s points nowhere", what, l->sections[section].name);
        return false;
    }
    return true;
}

struct record {
    penta_bytes name;
    uint8_t inputs, outputs;
    bool has_index;
    uint32_t index;
};

static bool record_bad(struct link *l, uint32_t section, uint64_t offset, const char *what)
{
    link_report(l, PVM_LINK_METADATA, section, offset, NULL, "metadata in section %.40s: %s",
                l->sections[section].name, what);
    return false;
}

static bool read_record(struct link *l, struct link_place at, struct record *out)
{
    const struct link_section *s = &l->sections[at.section];
    unsigned word = l->bits / 8;
    uint64_t offset = (uint64_t)at.offset;
    penta_bytes in = bytes_slice(s->data, (size_t)offset, s->data.size);
    struct link_place name;
    if (at.offset < 0 || in.size < 11 + word) return record_bad(l, at.section, offset, "cut short");
    unsigned version = in.data[0];
    if (version != 1 && version != 2)
        return record_bad(l, at.section, offset, "a version other than 1 and 2");
    if (bytes_get32(in.data + 1)) return record_bad(l, at.section, offset, "unknown flags");
    if (version == 2 && in.size < 16 + word) return record_bad(l, at.section, offset, "cut short");
    uint32_t length = bytes_get32(in.data + 5);
    if (!metadata_pointer(l, at.section, offset + 9, "the name", &name)) return false;
    const struct link_section *text = &l->sections[name.section];
    if (name.offset < 0 || (uint64_t)name.offset > text->data.size ||
        length > text->data.size - (uint64_t)name.offset || length > NAME_MAX_BYTES)
        return record_bad(l, at.section, offset, "a name outside of its section");
    *out = (struct record){.name = bytes_slice(text->data, (size_t)name.offset, length),
                           .inputs = in.data[9 + word],
                           .outputs = in.data[10 + word]};
    if (out->inputs > INPUTS_MAX || out->outputs > OUTPUTS_MAX)
        return record_bad(l, at.section, offset, "more than 9 inputs or 2 outputs");
    if (version == 2) {
        out->has_index = in.data[11 + word];
        out->index = bytes_get32(in.data + 12 + word);
    }
    return true;
}

static bool add_export(struct link *l, uint32_t section, uint64_t offset)
{
    unsigned word = l->bits / 8;
    struct link_place record, function;
    struct record r;
    if (l->sections[section].data.data[offset] != 1)
        return record_bad(l, section, offset, "an export of a version other than 1");
    if (!metadata_pointer(l, section, offset + 1, "an export", &record) ||
        !metadata_pointer(l, section, offset + 1 + word, "an export", &function) ||
        !read_record(l, record, &r))
        return false;
    if (l->sections[function.section].use != LINK_CODE)
        return record_bad(l, section, offset, "an export that is not code");
    for (size_t i = 0; i < l->export_count; i++) {
        struct link_export *e = &l->exports[i];
        if (e->name.size != r.name.size || memcmp(e->name.data, r.name.data, r.name.size)) continue;
        if (e->place.section == function.section && e->place.offset == function.offset) return true;
        link_report(l, PVM_LINK_DUPLICATE, section, offset, NULL, "the export %.*s is there twice",
                    BYTES_ARG(r.name, 60));
        return false;
    }
    if (!ARRAY_GROW(l->exports, l->export_capacity, l->export_count, &l->err)) return false;
    l->exports[l->export_count++] = (struct link_export){.name = r.name,
                                                         .place = function,
                                                         .block = LINK_NONE,
                                                         .section = section,
                                                         .offset = offset};
    return true;
}

bool link_read_exports(struct link *l)
{
    unsigned size = 1 + 2 * l->bits / 8;
    bool ok = true;
    for (uint32_t i = 0; i < l->section_count; i++) {
        const struct link_section *s = &l->sections[i];
        if (s->use != LINK_NOTE || strcmp(s->name, ".polkavm_exports")) continue;
        for (uint64_t at = 0; ok && at < s->data.size; at += size)
            ok = s->data.size - at >= size ? add_export(l, i, at)
                                           : record_bad(l, i, at, "an export that is cut short");
    }
    if (ok && !l->export_count) {
        link_report(l, PVM_LINK_NO_EXPORTS, LINK_NONE, 0,
                    "mark functions with the export macro of the guest's header",
                    "nothing is exported: no object has a section .polkavm_exports");
        return false;
    }
    return ok;
}

bool link_read_stack(struct link *l)
{
    uint64_t size = l->stack_min;
    for (uint32_t i = 0; i < l->section_count; i++) {
        const struct link_section *s = &l->sections[i];
        if (s->use != LINK_NOTE || strcmp(s->name, ".polkavm_min_stack_size")) continue;
        for (size_t at = 0; at + 4 <= s->data.size; at += 4)
            if (bytes_get32(s->data.data + at) > size) size = bytes_get32(s->data.data + at);
    }
    size = (size + 4095) / 4096 * 4096;
    if (size > UINT32_MAX) {
        link_report(l, PVM_LINK_MEMORY, LINK_NONE, 0, NULL, "a stack of %llu bytes does not fit",
                    (unsigned long long)size);
        return false;
    }
    l->stack_size = (uint32_t)size;
    return true;
}

uint32_t link_import_at(struct link *l, struct link_place at, uint32_t section, uint64_t offset)
{
    struct record r;
    if (!read_record(l, at, &r)) return LINK_NONE;
    for (uint32_t i = 0; i < l->import_count; i++) {
        struct link_import *m = &l->imports[i];
        if (m->name.size != r.name.size || memcmp(m->name.data, r.name.data, r.name.size)) continue;
        if (m->inputs == r.inputs && m->outputs == r.outputs && m->has_index == r.has_index &&
            (!m->has_index || m->index == r.index))
            return i;
        link_report(l, PVM_LINK_METADATA, section, offset, NULL,
                    "import %.*s is declared in two different ways", BYTES_ARG(r.name, 60));
        return LINK_NONE;
    }
    if (l->import_count >= PVM_IMPORTS_MAX) {
        record_bad(l, at.section, (uint64_t)at.offset, "more than 1024 imports");
        return LINK_NONE;
    }
    if (!ARRAY_GROW(l->imports, l->import_capacity, l->import_count, &l->err)) return LINK_NONE;
    l->imports[l->import_count] = (struct link_import){.name = r.name,
                                                       .index = r.index,
                                                       .has_index = r.has_index,
                                                       .inputs = r.inputs,
                                                       .outputs = r.outputs,
                                                       .section = at.section};
    return (uint32_t)l->import_count++;
}

static int name_order(const struct link_import *a, const struct link_import *b)
{
    size_t n = a->name.size < b->name.size ? a->name.size : b->name.size;
    int order = n ? memcmp(a->name.data, b->name.data, n) : 0;
    return order ? order : (a->name.size > b->name.size) - (a->name.size < b->name.size);
}

/* Numbers the imports that are used. Imports keep the indices that their records ask for. When
 * no record asks for one, they are numbered in the order of their names. */
bool link_number_imports(struct link *l)
{
    bool some = false, all = true;
    for (size_t i = 0; i < l->import_count; i++) {
        if (!l->imports[i].used) continue;
        some = some || l->imports[i].has_index;
        all = all && l->imports[i].has_index;
    }
    for (size_t i = 0; i < l->import_count; i++) {
        struct link_import *m = &l->imports[i];
        if (!m->used) continue;
        uint32_t before = 0;
        for (size_t k = 0; k < l->import_count; k++) {
            const struct link_import *other = &l->imports[k];
            if (k == i || !other->used) continue;
            before += name_order(other, m) < 0;
            if (some && all && other->index == m->index)
                return record_bad(l, m->section, 0, "two imports with the same number");
        }
        if (some && !all) return record_bad(l, m->section, 0, "imports with and without numbers");
        if (!some) m->index = before;
        if (m->index >= PVM_IMPORTS_MAX)
            return record_bad(l, m->section, 0, "an import numbered 1024 or more");
    }
    return true;
}
