/* Reads the lines of source text that start with '%'. assemble.h lists them. */
#include <stdlib.h>
#include "base/number.h"
#include "base/array.h"
#include "base/suggest.h"
#include "pvm/text/assemble.h"

static bool hex_part(struct pvm_assembly *a, struct pvm_hex *part)
{
    bool more = source_accept(a->s, '+');
    if (!source_expect(a->s, '=')) return false;
    if (!more) part->bytes.out.size = 0;
    part->given = true;
    return source_hex(a->s, &part->bytes);
}

static bool directives_number(struct pvm_assembly *a, uint64_t most, uint64_t *value)
{
    struct token t = source_next(a->s);
    if (a->s->err->code) return false;
    if (t.kind != TOKEN_INT) return source_unexpected(a->s, t, "a number");
    *value = t.as.u;
    return t.as.u <= most || error_at(a->s->err, BASE_NUMBER, t.offset, "at most %llu here",
                                      (unsigned long long)most);
}

static bool equals_number(struct pvm_assembly *a, uint64_t most, uint64_t *value)
{
    return source_expect(a->s, '=') && directives_number(a, most, value);
}

static bool equals_u32(struct pvm_assembly *a, uint32_t *out)
{
    uint64_t value = 0;
    if (!equals_number(a, UINT32_MAX, &value)) return false;
    *out = (uint32_t)value;
    return true;
}

/* Reads "= word" and gives the word's index in the list. */
static bool equals_word(struct pvm_assembly *a, const char *const *words, unsigned *index)
{
    if (!source_expect(a->s, '=')) return false;
    struct token t = source_next(a->s);
    struct suggest near = {.word = token_text(a->s, t)};
    for (*index = 0; words[*index]; ++*index) {
        suggest_offer(&near, words[*index]);
        if (t.kind == TOKEN_NAME && token_is(a->s, t, words[*index])) return true;
    }
    source_unexpected(a->s, t, "one of the words that the directive knows");
    return near.best ? error_note(a->s->err, "did you mean '%s'?", near.best) : false;
}

static bool directives_name(struct pvm_assembly *a, penta_bytes *out)
{
    struct token t = source_next(a->s);
    if (a->s->err->code) return false;
    if (t.kind != TOKEN_STRING) return source_unexpected(a->s, t, "a name in double quotes");
    return token_string(a->s, t, &a->labels.arena, out);
}

static bool set_isa(struct pvm_assembly *a)
{
    const char *names[PVM_ISAS + 1] = {0};
    unsigned index;
    for (unsigned i = 0; i < PVM_ISAS; i++) names[i] = pvm_isas[i].name;
    if (!equals_word(a, names, &index)) return false;
    a->program.code.isa = (enum pvm_isa)index;
    a->isa_given = true;
    return true;
}

static bool set_dialect(struct pvm_assembly *a)
{
    unsigned index;
    if (!equals_word(a, pvm_dialect_names, &index)) return false;
    a->program.dialect = (enum pvm_dialect)index;
    return true;
}

static bool set_form(struct pvm_assembly *a)
{
    static const char *const words[] = {"generic", "standard", NULL};
    unsigned index;
    if (!equals_word(a, words, &index)) return false;
    a->program.spi = index == 1;
    return true;
}

static bool set_fields(struct pvm_assembly *a)
{
    unsigned index;
    if (!equals_word(a, pvm_doc_end_names, &index)) return false;
    a->program.doc_end = (enum pvm_doc_end)index;
    a->fields_given = true;
    return true;
}

static bool set_ro_size(struct pvm_assembly *a)
{
    a->sizes_given[0] = true;
    return equals_u32(a, &a->program.ro_size);
}

static bool set_rw_size(struct pvm_assembly *a)
{
    a->sizes_given[1] = true;
    return equals_u32(a, &a->program.rw_size);
}

static bool set_stack(struct pvm_assembly *a) { return equals_u32(a, &a->program.stack_size); }
static bool set_heap(struct pvm_assembly *a) { return equals_u32(a, &a->program.heap_pages); }

static bool set_length(struct pvm_assembly *a)
{
    a->program.length_wrong = true;
    return equals_number(a, UINT64_MAX, &a->program.length);
}

static bool set_entry_size(struct pvm_assembly *a)
{
    uint64_t value = 0;
    a->entry_size_given = true;
    if (!equals_number(a, 8, &value)) return false;
    a->entry_size = (uint8_t)value;
    return true;
}

static bool set_table_count(struct pvm_assembly *a)
{
    a->table_count_given = true;
    return equals_u32(a, &a->table_count_wanted);
}

static bool add_import(struct pvm_assembly *a)
{
    struct pvm_import import = {0};
    struct pvm_program *p = &a->program;
    uint64_t pc = 0;
    if (!directives_name(a, &import.name)) return false;
    bool given = source_accept(a->s, '=');
    if (given && !directives_number(a, UINT32_MAX, &pc)) return false;
    import.pc = (uint32_t)pc;
    if (!ARRAY_GROW(a->imports, a->import_capacity, p->import_count, a->s->err) ||
        !ARRAY_GROW(a->import_given, a->import_given_capacity, p->import_count, a->s->err))
        return false;
    a->import_given[p->import_count] = given;
    a->imports[p->import_count++] = import;
    return true;
}

bool pvm_add_export(struct pvm_assembly *a, penta_bytes text, struct pvm_reference place)
{
    struct pvm_program *p = &a->program;
    if (!ARRAY_GROW(a->exports, a->export_capacity, p->export_count, a->s->err) ||
        !ARRAY_GROW(a->export_places, a->export_place_capacity, p->export_count, a->s->err))
        return false;
    a->exports[p->export_count] = (struct pvm_export){.name = text};
    a->export_places[p->export_count++] = place;
    return true;
}

static bool add_export(struct pvm_assembly *a)
{
    penta_bytes text;
    struct pvm_reference place;
    return directives_name(a, &text) && source_expect(a->s, '=') && pvm_reference_read(a, &place) &&
           (place.value <= UINT32_MAX ||
            error_at(a->s->err, BASE_NUMBER, place.offset, "a code offset has 32 bits")) &&
           pvm_add_export(a, text, place);
}

static bool add_entries(struct pvm_assembly *a)
{
    if (!source_expect(a->s, '=')) return false;
    for (;;) {
        enum token_kind next = source_peek(a->s).kind;
        if (next == TOKEN_LINE || next == TOKEN_END) return true;
        struct pvm_reference entry;
        if (!pvm_reference_read(a, &entry) ||
            !ARRAY_GROW(a->table, a->table_capacity, a->table_count, a->s->err))
            return false;
        a->table[a->table_count++] = entry;
    }
}

static bool add_bytes(struct pvm_assembly *a, enum pvm_item_kind kind)
{
    struct pvm_item item = {.kind = kind, .raw = a->raw.out.size, .label = -1, .offset = a->s->pos};
    if (!source_hex(a->s, &a->raw)) return false;
    size_t size = a->raw.out.size - item.raw;
    if (!size) return error_at(a->s->err, BASE_SYNTAX, item.offset, "expected pairs of hex digits");
    if (kind == PVM_ITEM_RAW && !a->raw.failed)
        item.in.op = pvm_isas[a->program.code.isa].op[a->raw.out.data[item.raw]];
    item.size = (uint32_t)size;
    return pvm_add_item(a, item);
}

static bool add_insn(struct pvm_assembly *a) { return add_bytes(a, PVM_ITEM_RAW); }
static bool add_hole(struct pvm_assembly *a) { return add_bytes(a, PVM_ITEM_HOLE); }

/* Adds a section that is given by its payload. The known sections are the same as for the reader
 * of files. */
static bool add_section(struct pvm_assembly *a)
{
    struct pvm_program *p = &a->program;
    uint64_t id = 0;
    struct writer payload = {0};
    if (!directives_number(a, 255, &id) || !source_expect(a->s, '=')) return false;
    if (!id || (id > PVM_SECTION_CODE && id < PVM_SECTION_OPTIONAL))
        return error_at(a->s->err, PVM_BAD_SECTION, a->s->pos, "there is no section %u",
                        (unsigned)id);
    struct pvm_section s = {.id = (uint8_t)id, .raw = true};
    bool ok = source_hex(a->s, &payload) && writer_ok(&payload, a->s->err);
    if (ok) s.payload.data = arena_copy(&a->labels.arena, writer_view(&payload), a->s->err);
    s.payload.size = payload.out.size;
    writer_free(&payload);
    /* A debug section that is not empty has a directive of its own, so a section here is an
     * unknown one. */
    s.extra = id >= PVM_SECTION_OPTIONAL &&
              (s.payload.size || id > PVM_SECTION_DEBUG_RANGES ||
               (p->section_count && (a->sections[p->section_count - 1].extra ||
                                     a->sections[p->section_count - 1].id >= id)));
    if (!ok || !s.payload.data ||
        !ARRAY_GROW(a->sections, a->section_capacity, p->section_count, a->s->err))
        return false;
    a->sections[p->section_count++] = s;
    return true;
}

static bool add_varint(struct pvm_assembly *a)
{
    struct pvm_program *p = &a->program;
    struct pvm_varint v = {0};
    uint64_t index = 0, at = a->s->pos;
    struct writer bytes = {0};
    if (!directives_number(a, UINT32_MAX, &index) || !source_expect(a->s, '=')) return false;
    bool ok = source_hex(a->s, &bytes) && writer_ok(&bytes, a->s->err);
    if (ok && (!bytes.out.size || bytes.out.size > sizeof v.bytes))
        ok = error_at(a->s->err, BASE_NUMBER, at, "a number has 1 to 10 bytes");
    if (ok && p->varint_count && a->varints[p->varint_count - 1].index >= index)
        ok = error_at(a->s->err, BASE_NUMBER, at, "numbers are given in ascending order");
    v.index = (uint32_t)index;
    if (ok) bytes_copy(v.bytes, (penta_bytes){bytes.out.data, bytes.out.size});
    v.size = (uint8_t)bytes.out.size;
    writer_free(&bytes);
    if (!ok || !ARRAY_GROW(a->varints, a->varint_capacity, p->varint_count, a->s->err))
        return false;
    a->varints[p->varint_count++] = v;
    return true;
}

static bool set_ro_data(struct pvm_assembly *a) { return hex_part(a, &a->ro_data); }
static bool set_rw_data(struct pvm_assembly *a) { return hex_part(a, &a->rw_data); }
static bool set_metadata(struct pvm_assembly *a) { return hex_part(a, &a->metadata); }
static bool set_strings(struct pvm_assembly *a) { return hex_part(a, &a->strings); }
static bool set_lines(struct pvm_assembly *a) { return hex_part(a, &a->lines); }
static bool set_ranges(struct pvm_assembly *a) { return hex_part(a, &a->ranges); }
static bool set_trailing(struct pvm_assembly *a) { return hex_part(a, &a->trailing); }
static bool set_mask(struct pvm_assembly *a) { return hex_part(a, &a->mask); }
static bool set_file(struct pvm_assembly *a) { return hex_part(a, &a->file); }

static const struct directive {
    const char *name;
    bool (*take)(struct pvm_assembly *a);
} directives[] = {
    {"isa", set_isa},
    {"dialect", set_dialect},
    {"ro_data_size", set_ro_size},
    {"rw_data_size", set_rw_size},
    {"stack_size", set_stack},
    {"heap_pages", set_heap},
    {"ro_data", set_ro_data},
    {"rw_data", set_rw_data},
    {"metadata", set_metadata},
    {"debug_strings", set_strings},
    {"debug_lines", set_lines},
    {"debug_ranges", set_ranges},
    {"trailing", set_trailing},
    {"import", add_import},
    {"export", add_export},
    {"jump_table", add_entries},
    {"jump_table_entry_size", set_entry_size},
    {"jump_table_count", set_table_count},
    {"insn", add_insn},
    {"hole", add_hole},
    {"section", add_section},
    {"varint", add_varint},
    {"length", set_length},
    {"form", set_form},
    {"fields", set_fields},
    {"bitmask", set_mask},
    {"file", set_file},
};

bool pvm_directive(struct pvm_assembly *a)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    if (s->err->code) return false;
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (t.kind == TOKEN_NAME && token_is(s, t, directives[i].name))
            return directives[i].take(a);
    struct suggest near = {.word = token_text(s, t)};
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        suggest_offer(&near, directives[i].name);
    error_at(s->err, BASE_MNEMONIC, t.offset, "unknown directive '%%%.*s'",
             BYTES_ARG(near.word, 40));
    return near.best ? error_note(s->err, "did you mean '%%%s'?", near.best) : false;
}
