/* Finds the source lines of code with libdw. It keeps a table of lines and a tree of functions;
 * inlined functions are below the functions that contain them. */
#include "base/array.h"
#include "pvm/link/elf_names.h"
#include "pvm/link/link.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 };

struct line_row {
    uint64_t address;
    const char *file; /* the source file; NULL: this row ends a sequence */
    uint32_t line, column;
};

/* A struct scope is a range of code of a function, which may be inlined in another one. */
struct scope {
    uint64_t low, high;
    uint32_t parent; /* the index of the scope around this one, or LINK_NONE when there is none */
    uint32_t depth;
    const char *function, *file;
    uint32_t line;
    const char *call_file; /* the source place where the function is inlined */
    uint32_t call_line, call_column;
};

struct dwarf_lines {
    Elf *elf;
    Dwarf *dwarf;
    uint8_t *copy; /* a copy of a relocatable object, with its debug sections relocated */
    struct line_row *rows;
    size_t row_count, row_capacity;
    struct scope *scopes;
    size_t scope_count, scope_capacity;
    penta_error err;
};

/* The functions below relocate the debug sections of a relocatable object. */

static uint64_t symbol_address(const struct link *l, const struct link_object *o,
                               const struct link_reloc *r)
{
    const struct link_symbol *s = &o->symbols[r->symbol];
    uint64_t base = s->place == LINK_DEFINED ? l->sections[s->section].address : 0;
    return base + s->value + (uint64_t)r->addend;
}

/* Replaces a LEB128 number by another one that takes the same number of bytes. */
static void relocate_leb(uint8_t *at, uint8_t *end, uint64_t value, bool subtract)
{
    uint64_t old = 0;
    unsigned n = 0;
    for (; at + n < end && n < 9; n++) {
        old |= (uint64_t)(at[n] & 0x7f) << 7 * n;
        if (!(at[n] & 0x80)) break;
    }
    value = subtract ? old - value : value;
    for (unsigned i = 0; i <= n && at + i < end; i++)
        at[i] = (uint8_t)((value >> 7 * i & 0x7f) | (i < n ? 0x80 : 0));
}

/* Returns the address that is given to code which a joining linker has left out. The debug
 * information of such code stays, with relocations that name no symbol. No code of an object has
 * this address, and lines and ranges may count on from it without reaching 0. */
static uint64_t absent_address(unsigned size) { return UINT64_C(1) << (8 * size - 1); }

static void dwarf_relocate(const struct link *l, const struct link_object *o,
                           const struct link_section *s, uint8_t *bytes)
{
    static const struct {
        uint8_t type, size;
        int8_t sign; /* 1: the relocation adds to the value, -1: subtracts from it, 0: sets it */
    } kinds[] = {{R_32, 4, 0},    {R_64, 8, 0},    {R_SET8, 1, 0},   {R_SET16, 2, 0},
                 {R_SET32, 4, 0}, {R_ADD8, 1, 1},  {R_ADD16, 2, 1},  {R_ADD32, 4, 1},
                 {R_ADD64, 8, 1}, {R_SUB8, 1, -1}, {R_SUB16, 2, -1}, {R_SUB32, 4, -1},
                 {R_SUB64, 8, -1}};
    for (size_t i = 0; i < s->reloc_count; i++) {
        const struct link_reloc *r = &s->relocs[i];
        uint64_t value = symbol_address(l, o, r);
        if (r->offset >= s->data.size) continue;
        uint8_t *at = bytes + r->offset, *end = bytes + s->data.size;
        if (r->type == R_SET_ULEB128 || r->type == R_SUB_ULEB128)
            relocate_leb(at, end, value, r->type == R_SUB_ULEB128);
        if (r->type == R_SET6) *at = (uint8_t)((*at & 0xc0) | (value & 0x3f));
        if (r->type == R_SUB6) *at = (uint8_t)((*at & 0xc0) | ((*at - value) & 0x3f));
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (kinds[k].type != r->type || end - at < kinds[k].size) continue;
            uint64_t old = kinds[k].sign ? bytes_uint(at, kinds[k].size, false) : 0;
            uint64_t now = kinds[k].sign < 0 ? old - value : old + value;
            if (!r->symbol && (r->type == R_32 || r->type == R_64))
                now = absent_address(kinds[k].size);
            for (unsigned n = 0; n < kinds[k].size; n++) at[n] = (uint8_t)(now >> 8 * n);
        }
    }
}

static bool open_image(struct link *l, const struct link_object *o, struct dwarf_lines *d)
{
    penta_bytes file = o->file;
    if (o->relocatable) {
        d->copy = malloc(file.size);
        if (!d->copy) return error_at(&d->err, BASE_MEMORY, 0, "no memory for source lines");
        bytes_copy(d->copy, file);
        for (uint32_t i = 0; i < o->section_count; i++) {
            const struct link_section *s = &l->sections[o->section_first + i];
            if (s->reloc_count && s->data.size && !strncmp(s->name, ".debug", 6))
                dwarf_relocate(l, o, s, d->copy + s->file_offset);
        }
        file.data = d->copy;
    }
    d->elf = elf_memory((char *)(uintptr_t)file.data, file.size);
    d->dwarf = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
    return d->dwarf != NULL;
}

static bool read_lines(struct dwarf_lines *d, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count)) return true;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0, column = 0;
        bool end = false;
        if (!line || dwarf_lineaddr(line, &address)) continue;
        dwarf_lineno(line, &number);
        dwarf_linecol(line, &column);
        dwarf_lineendsequence(line, &end);
        if (!ARRAY_GROW(d->rows, d->row_capacity, d->row_count, &d->err)) return false;
        const char *file = end ? NULL : dwarf_linesrc(line, NULL, NULL);
        d->rows[d->row_count++] =
            (struct line_row){address, file, (uint32_t)number, (uint32_t)column};
    }
    return true;
}

static int rows_by_address(const void *a, const void *b)
{
    const struct line_row *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return !!x->file - !!y->file; /* The end of a sequence comes before the start of the next. */
}

/* Finds an attribute of the function, which its abstract or declared form may have instead. */
static bool dwarf_attribute(Dwarf_Die *die, unsigned name, uint32_t *out)
{
    Dwarf_Attribute attr;
    Dwarf_Word value = 0;
    if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &value)) return false;
    *out = (uint32_t)value;
    return true;
}

/* Returns the name of the attribute's file. The function of libdw takes file 0 to mean that
 * there is no file, but since DWARF 5 file 0 is the source file itself. */
static const char *attribute_file(Dwarf_Die *die, Dwarf_Die *unit, unsigned name)
{
    Dwarf_Files *files;
    size_t count;
    uint32_t index = 0;
    if (!dwarf_attribute(die, name, &index) || dwarf_getsrcfiles(unit, &files, &count) ||
        index >= count)
        return "";
    const char *file = dwarf_filesrc(files, index, NULL, NULL);
    return file ? file : "";
}

static const char *die_name(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
    return name ? name : "";
}

static bool add_scope(struct dwarf_lines *d, Dwarf_Die *die, Dwarf_Die *unit, uint32_t depth)
{
    struct scope s = {.parent = LINK_NONE, .depth = depth, .function = die_name(die)};
    s.file = attribute_file(die, unit, DW_AT_decl_file);
    dwarf_attribute(die, DW_AT_decl_line, &s.line);
    if (dwarf_tag(die) == DW_TAG_inlined_subroutine) {
        s.call_file = attribute_file(die, unit, DW_AT_call_file);
        dwarf_attribute(die, DW_AT_call_line, &s.call_line);
        dwarf_attribute(die, DW_AT_call_column, &s.call_column);
    }
    Dwarf_Addr base;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &s.low, &s.high)) > 0) {
        if (s.low >= s.high) continue;
        if (!ARRAY_GROW(d->scopes, d->scope_capacity, d->scope_count, &d->err)) return false;
        d->scopes[d->scope_count++] = s;
    }
    return true;
}

static bool dwarf_walk(struct dwarf_lines *d, Dwarf_Die *parent, Dwarf_Die *unit, uint32_t depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dwarf_child(parent, &die)) return true;
    do {
        int tag = dwarf_tag(&die);
        bool scope = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        bool inside = scope || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
                      tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
        if (scope && !add_scope(d, &die, unit, depth)) return false;
        if (inside && !dwarf_walk(d, &die, unit, depth + 1)) return false;
    } while (!dwarf_siblingof(&die, &die));
    return true;
}

static int scopes_by_range(const void *a, const void *b)
{
    const struct scope *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high > y->high ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Finds the parent of each scope. The scopes are sorted so that each comes after the scope
 * around it. */
static void dwarf_nest(struct dwarf_lines *d)
{
    uint32_t open = LINK_NONE;
    if (d->scope_count) qsort(d->scopes, d->scope_count, sizeof *d->scopes, scopes_by_range);
    for (uint32_t i = 0; i < d->scope_count; i++) {
        while (open != LINK_NONE && d->scopes[open].high <= d->scopes[i].low)
            open = d->scopes[open].parent;
        d->scopes[i].parent = open;
        open = i;
    }
}

static void read_units(struct dwarf_lines *d)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit, sub;
    uint8_t type;
    while (!dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &unit, &sub))
        if (type == DW_UT_compile && (!read_lines(d, &unit) || !dwarf_walk(d, &unit, &unit, 0)))
            return;
    if (d->row_count) qsort(d->rows, d->row_count, sizeof *d->rows, rows_by_address);
    dwarf_nest(d);
}

static const struct dwarf_lines *object_lines(struct link *l, uint32_t object)
{
    struct link_object *o = &l->objects[object];
    if (o->lines_tried) return o->lines;
    o->lines_tried = true;
    o->lines = calloc(1, sizeof *o->lines);
    if (!o->lines) {
        error_at(&l->err, BASE_MEMORY, 0, "no memory for source lines");
        return NULL;
    }
    if (open_image(l, o, o->lines)) read_units(o->lines);
    error_keep_first(&l->err, &o->lines->err);
    return o->lines;
}

void link_source_free(struct link_object *object)
{
    struct dwarf_lines *d = object->lines;
    if (!d) return;
    if (d->dwarf) dwarf_end(d->dwarf);
    if (d->elf) elf_end(d->elf);
    free(d->copy);
    free(d->rows);
    free(d->scopes);
    free(d);
    object->lines = NULL;
}

static const struct line_row *line_row_at(const struct dwarf_lines *d, uint64_t address)
{
    size_t low;
    ARRAY_SEARCH(low, 0, d->row_count, d->rows[low].address > address);
    return low && d->rows[low - 1].file ? &d->rows[low - 1] : NULL;
}

static uint32_t scope_at(const struct dwarf_lines *d, uint64_t address)
{
    size_t low;
    ARRAY_SEARCH(low, 0, d->scope_count, d->scopes[low].low > address);
    uint32_t i = low ? (uint32_t)low - 1 : LINK_NONE;
    while (i != LINK_NONE && d->scopes[i].high <= address) i = d->scopes[i].parent;
    return i;
}

unsigned link_source_at(struct link *l, uint32_t object, uint64_t address,
                        struct source_place places[LINK_FRAMES])
{
    const struct dwarf_lines *d = object_lines(l, object);
    const struct line_row *row = d ? line_row_at(d, address) : NULL;
    if (!d || (!row && !d->scope_count)) return 0;
    struct source_place inner[DEPTH_MAX + 1];
    unsigned count = 0;
    struct source_place at = {
        .file = row ? row->file : "", .line = row ? row->line : 0, .column = row ? row->column : 0};
    for (uint32_t i = scope_at(d, address); i != LINK_NONE && count <= DEPTH_MAX;
         i = d->scopes[i].parent) {
        const struct scope *s = &d->scopes[i];
        at.function = s->function;
        at.function_file = s->file;
        at.function_line = s->line;
        inner[count++] = at;
        at = (struct source_place){.file = s->call_file ? s->call_file : "",
                                   .line = s->call_line,
                                   .column = s->call_column};
        if (!s->call_line) break; /* This function is not inlined. */
    }
    if (!count && row) {
        at.function = at.function_file = "";
        inner[count++] = at;
    }
    unsigned kept = count < LINK_FRAMES ? count : LINK_FRAMES;
    /* `inner` starts with the innermost function; `places` starts with the outermost. */
    for (unsigned i = 0; i < kept; i++) places[i] = inner[count - 1 - i];
    return kept;
}
